"""Rows told apart by the column that a map of several members was fitted by."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np

from calibcli.options.numerals import number_name, number_of, usual_name
from calibcli.options.rows import MemberOf
from calibcli.readers.faults import Fault, FaultKind, Findings
from calibcli.readers.groups import Groups
from calibcli.readers.places import Places
from calibcli.table.score_table import Floats

_TIME = r"([0-9]{4}-[0-9]{2}-[0-9]{2} )?([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?(Z|[+-][0-9]{4})?"
# No double has digits farther from the point.
_FARTHEST = 400


@dataclass(frozen=True, slots=True)
class MemberColumn:
    """
    The column that says which member of a map a row goes through.

    Args:
        name: Its name.

        known: The groups that the fit has seen.

        pooled: Whether rows of other groups go through the map of all fit rows, or are refused.
    """

    name: str
    known: frozenset[str]
    pooled: bool = False

    def refuses(self, text: str, *, renamed: bool) -> bool:
        """Whether rows of a group are refused: it is new, or one of the fit in other words."""
        return text not in self.known and (
            not self.pooled or self.respelled(text, renamed=renamed) is not None
        )

    def respelled(self, text: str, *, renamed: bool) -> str | None:
        """
        Return the group of the fit from which another differs only as 1.0 does from 1, or None.

        Times are such that differ in zeros at the end of the second, or in how the zone is written: the first
        version of artifacts named them so. It named floats and durations otherwise, too.

        Args:
            text: The other group.

            renamed: Whether it is of a type whose values had other names then.
        """
        usual = _usual(text)
        found = usual and _by_usual_name(self.known).get(usual)
        return _by_later_name(self.known).get(text) if not found and renamed else found


@lru_cache(maxsize=8)
def _by_usual_name(known: frozenset[str]) -> dict[str, str]:
    """Return the first group that a number may be written as."""
    named = ((_usual(one), one) for one in sorted(known, reverse=True))
    return {usual: one for usual, one in named if usual is not None}


@lru_cache(maxsize=8)
def _by_later_name(known: frozenset[str]) -> dict[str, str]:
    """Return the first group that a float or a duration may be, by what it is called since."""
    named = ((later, one) for one in sorted(known, reverse=True) for later in _later_names(one))
    return dict(named)


def _later_names(text: str) -> Iterator[str]:
    """Yield what a number in the words of the first version of artifacts may be called since."""
    number = number_of(text)
    if number is None or abs(number.adjusted()) > _FARTHEST:
        return
    # It was a power of ten, as 1e+10; or one of 32 bits with as many digits as those need;
    yield number_name(number)
    yield number_name(float(np.float32(float(number))))
    # or how many seconds, or thousandths and so on, a duration lasts.
    if number == number.to_integral_value():
        for power in (0, 3, 6, 9):
            yield f"{number_name(number.scaleb(-power))}s"


def _usual(text: str) -> str | None:
    """Return the one name of a number or a time, however it is written; None for other text."""
    number = usual_name(text)
    found = None if number else re.fullmatch(_TIME, text)
    if found is None:
        return number
    day, clock, part, zone = found.groups(default="")
    part = part.rstrip("0").rstrip(".")
    if day and zone:
        with suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(f"{day}{clock}{zone}").astimezone(UTC)
            day, clock, zone = f"{moment.date()} ", f"{moment.time()}", "Z"
    return f"{day}{clock}{part}{zone}"


@dataclass(frozen=True, slots=True)
class OfMembers:
    """
    A transform that looks at the group of a row.

    Args:
        maps: For each group with a map of its own that map.

        pooled: The map of all others.
    """

    maps: Mapping[str, Callable[[Floats], Floats]]
    pooled: Callable[[Floats], Floats]

    def change(self, score: Floats, members: Groups | None) -> Floats:
        """Return the scores after the map of each row's group; a row counts by itself."""
        changed = self.pooled(score)
        if members is None:
            return changed
        changed = np.array(changed)
        for code, text in enumerate(members.text):
            which = np.flatnonzero(members.code == code) if text in self.maps else ()
            if len(which):
                changed[which] = self.maps[text](score[which])
        return changed


def placed_members(
    members: Groups | None, *, column: MemberOf | None, findings: Findings, places: Places
) -> Groups | None:
    """
    Return the groups of the rows that are left, and note those that the fit has not seen.

    Args:
        members: The groups of the rows of a batch, or None where no map has members.

        column: What is known of the column.

        findings: Where faults are noted.

        places: Which rows are left.
    """
    if members is None:
        return None
    renamed = members.spelling.renamed
    members = members.filled().selected(places)
    if column is None:
        return members
    refused = [column.refuses(text, renamed=renamed) for text in members.text]
    unseen = np.array(refused, np.bool_)[members.code]
    if unseen.any():
        first = int(np.argmax(unseen))
        text = members.text[int(members.code[first])]
        fault = Fault(int(np.count_nonzero(unseen)), places.row(first), repr(text))
        findings.note(FaultKind.UNSEEN_GROUP, fault)
    elif column.pooled:
        rows = np.bincount(members.code, minlength=len(members.text)).tolist()
        # A text may stand there twice, as where one reads like what is said of a missing group.
        new = [
            pair for pair in zip(members.text, rows, strict=True) if pair[1] and pair[0] not in column.known
        ]
        findings.note_pooled(sum(many for _, many in new), (text for text, _ in new))
    return members
