"""What was read and with which settings, as every report states it, and what kinds of reports there are."""

import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Annotated, Literal, Self

from calibcli.codec import ABSENT, HIDDEN, ROOT, Declared, Key
from calibcli.errors import without_secrets
from calibcli.names import ViewName
from calibcli.options.numerals import agreeing, plural
from calibcli.values import dataclass, replace
from calibcli.version import __version__

# So many groups that a fit has not seen are kept.
MOST_POOLED = 100

_FEW = 3


@dataclass(frozen=True, slots=True)
class ClassesRead(Declared):
    """How rows of several classes were seen as rows of one score."""

    count: Annotated[int, "How many classes there are."]
    view: Annotated[ViewName, "How they were seen."]
    one_class: Annotated[str | None, Key("class"), "The class that was looked at, or null."]
    tied: Annotated[int, "Rows in which several classes are the most probable; the first counts."]
    normalised: Annotated[int, "Rows divided by the sum of their probabilities (`--on-sum normalise`)."]
    elsewhere: Annotated[int, "Rows left out because they predict another class."]


@dataclass(frozen=True, slots=True)
class SelectedRows(Declared):
    """Which rows of the input were asked for, where that was not all of them."""

    where: Annotated[tuple[str, ...], "The conditions they satisfy."]
    limit: Annotated[
        int | None, "Only the first so many; rows behind the last were neither read nor counted."
    ]
    sample: Annotated[int | None, "Only so many, drawn without replacement."]
    seed: Annotated[int | None, "Seed of the draw."]
    unselected: Annotated[int, "Rows read that a condition or the draw left out."]
    unopened: Annotated[
        int,
        ABSENT,
        "Files that were not opened, as by their paths no row satisfies the conditions; such rows are not "
        "counted. Absent where all files were opened.",
    ] = 0

    def options(self) -> str:
        """Return the options that say so."""
        requested = [f"--where {one!r}" for one in self.where]
        requested += [] if self.limit is None else [f"--limit {self.limit}"]
        requested += [] if self.sample is None else [f"--sample {self.sample} --seed {self.seed}"]
        return " ".join(requested)


@dataclass(frozen=True, slots=True)
class InputSummary(Declared):
    """The input: rows in = rows used + rows dropped + rows of other classes + rows not selected, always."""

    files: Annotated[tuple[str, ...], "As the user named them; - is standard input."]
    score: Annotated[str, "Name of the score column, or what --probs named."]
    label: Annotated[str | None, "Name of the label column."]
    weight: Annotated[str | None, "Name of the weight column."]
    rows: Annotated[int, "Rows used."]
    dropped: Annotated[int, "Rows left out because a value was missing (`--on-missing drop`)."]
    clipped: Annotated[int, "Scores moved to 0 or 1 (`--on-range clip`)."]
    notes: Annotated[tuple[str, ...], "Choices made for the user, such as a guessed column."] = ()
    classes: Annotated[
        ClassesRead | None, ABSENT, "How several classes were seen; absent where there is one score."
    ] = None
    selected: Annotated[
        SelectedRows | None, ABSENT, "Which rows were asked for; absent where all of them were."
    ] = None
    positive: Annotated[
        str | None,
        ABSENT,
        "The label that counts as 1, by `--positive` or the fit of a map; absent where none was named.",
    ] = None


def together(parts: Sequence[InputSummary]) -> InputSummary:
    first, selected = parts[0], [one.selected for one in parts if one.selected is not None]
    classes = [one.classes for one in parts if one.classes is not None]
    return replace(
        first,
        files=tuple(name for one in parts for name in one.files),
        rows=sum(one.rows for one in parts),
        dropped=sum(one.dropped for one in parts),
        clipped=sum(one.clipped for one in parts),
        notes=tuple(dict.fromkeys(note for one in parts for note in one.notes)),
        classes=replace(
            classes[0],
            tied=sum(one.tied for one in classes),
            normalised=sum(one.normalised for one in classes),
            elsewhere=sum(one.elsewhere for one in classes),
        )
        if classes
        else None,
        selected=None
        if first.selected is None
        else SelectedRows(
            first.selected.where,
            None,
            None,
            None,
            sum(one.unselected for one in selected),
            sum(one.unopened for one in selected),
        ),
    )


def without_slash(value: str) -> str:
    """Return a value whose slashes do not look like the next column; no two values become one."""
    return re.sub("/|%(?=(?:25)*2F)", lambda found: "%2F" if found[0] == "/" else "%25", value)


def with_slash(value: str) -> str:
    return re.sub("%2F|%25(?=(?:25)*2F)", lambda found: "/" if found[0] == "%2F" else "%", value)


def readable_keys(keys: Collection[str], columns: Collection[str]) -> dict[str, str]:
    """Return what groups by several columns are called where people read it: as their keys, but for slashes
    within values; as their keys where two would be called alike.
    """
    names = {key: with_slash(key) for key in keys} if len(columns) > 1 else {}
    return names if len(set(names.values())) == len(names) else {}


def in_several(parts: Sequence[InputSummary]) -> tuple[str, ...]:
    """Return what is said of files of one name in several summaries: the same rows, or other ones."""
    found = Counter(name for one in parts for name in dict.fromkeys(one.files))
    twice = [name for name, times in found.items() if times > 1]
    if not twice:
        return ()
    which = f"{twice[0]} is" if len(twice) == 1 else f"{len(twice):,} files such as {twice[0]} are"
    return (f"{which} in several summaries: the rows of one file would count twice",)


def unopened_words(files: int) -> str:
    return f"{plural(files, 'file')} not opened, ruled out by {'its path' if files == 1 else 'their paths'}"


def weightless_words(rows: int) -> str:
    return f"{plural(rows, 'row', 'has')} weight 0 and {agreeing(rows, 'counts')} for nothing"


def pooled_words(rows: int, groups: Collection[str]) -> str:
    few = ", ".join(repr(group) for group in sorted(groups)[:_FEW]) + (", ..." if len(groups) > _FEW else "")
    many = f"{len(groups):,} group{'s' * (len(groups) != 1)}{' or more' * (len(groups) >= MOST_POOLED)}"
    of = f"{plural(rows, 'row')} of {many} that the fit has not seen ({few})"
    return f"{of} took the map of all rows (--unseen pooled)"


@dataclass(frozen=True, slots=True)
class Setting(Declared):
    """The value of an option that does not come from the command line."""

    key: Annotated[str, Key("option"), "The option, without dashes."]
    value: Annotated[str | int | float | bool | list[str], HIDDEN]
    source: Annotated[str, "The file or the variable."]

    @property
    def plain(
        self,
    ) -> Annotated[str | int | float | bool | list[str], Key("value"), "The value, without secrets."]:
        found: str | int | float | bool | list[str] = (
            json.loads(self.shown) if isinstance(self.value, str | list) else self.value
        )
        return found

    @property
    def shown(self) -> str:
        """The value as a file would have it, without secrets."""
        return without_secrets(json.dumps(self.value, ensure_ascii=False))


def settings_said(settings: Sequence[Setting]) -> list[str]:
    """Return a sentence for each file and variable that sets something: what, and to which value."""
    by_source: dict[str, list[str]] = {}
    for one in sorted(settings, key=lambda one: (one.source, one.key)):
        by_source.setdefault(one.source, []).append(f"{one.key} = {one.shown}")
    return [f"{source} sets {', '.join(said)}" for source, said in by_source.items()]


# What the reader of a report should not miss, and where it comes from.
Notes = Annotated[tuple[str, ...], "What the reader should not miss."]

ArtifactPath = Annotated[str | None, "Path of the recalibrator that was applied first, or null."]


@dataclass(frozen=True, slots=True)
class Tool(Declared):
    """What wrote a report."""

    name: Literal["calibcli"] = "calibcli"
    version: str = __version__


class KeptReport(Declared):
    """A report that is kept as a document."""

    __slots__ = ()

    @property
    def tool(self) -> Annotated[Tool, ROOT]:
        return Tool()

    def readable(self) -> Self:
        """Return it with groups called as people read them."""
        return self
