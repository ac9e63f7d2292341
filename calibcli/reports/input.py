"""What was read, as every report states it."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated

from calibcli.codec import ABSENT, Declared, Key
from calibcli.view_names import ViewName

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

    def options(self) -> str:
        """Return the options that say so."""
        asked = [f"--where {one!r}" for one in self.where]
        asked += [] if self.limit is None else [f"--limit {self.limit}"]
        asked += [] if self.sample is None else [f"--sample {self.sample} --seed {self.seed}"]
        return " ".join(asked)


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


def together(parts: Sequence[InputSummary]) -> InputSummary:
    """
    Return what was read of all parts.

    Args:
        parts: In the order of the rows; they were read alike, and there is at least one.
    """
    first = parts[0]
    selected = first.selected
    if selected is not None:
        unselected = sum(one.selected.unselected for one in parts if one.selected is not None)
        selected = SelectedRows(selected.where, None, None, None, unselected)
    return InputSummary(
        files=tuple(name for one in parts for name in one.files),
        score=first.score,
        label=first.label,
        weight=first.weight,
        rows=sum(one.rows for one in parts),
        dropped=sum(one.dropped for one in parts),
        clipped=sum(one.clipped for one in parts),
        notes=tuple(dict.fromkeys((*(note for one in parts for note in one.notes), *_in_several(parts)))),
        selected=selected,
    )


def _in_several(parts: Sequence[InputSummary]) -> tuple[str, ...]:
    """Return what is said of files of one name in several parts, which may be the same rows or other ones."""
    found = Counter(name for one in parts for name in dict.fromkeys(one.files))
    twice = [name for name, times in found.items() if times > 1]
    if not twice:
        return ()
    which = f"{twice[0]} is" if len(twice) == 1 else f"{len(twice):,} files such as {twice[0]} are"
    return (f"{which} in several summaries: the rows of one file would count twice",)


def weightless_words(rows: int) -> str:
    """Return that rows are there and count for nothing."""
    have, counts = ("rows have", "count") if rows != 1 else ("row has", "counts")
    return f"{rows:,} {have} weight 0 and {counts} for nothing"


def pooled_words(rows: int, groups: Collection[str]) -> str:
    """
    Return that rows of groups that a fit has not seen took the map of all rows.

    Args:
        rows: How many there are.

        groups: Their groups, as many as were kept.
    """
    few = ", ".join(repr(group) for group in sorted(groups)[:_FEW]) + (", ..." if len(groups) > _FEW else "")
    many = f"{len(groups):,} group{'s' * (len(groups) != 1)}{' or more' * (len(groups) >= MOST_POOLED)}"
    of = f"{rows:,} row{'s' * (rows != 1)} of {many} that the fit has not seen ({few})"
    return f"{of} took the map of all rows (--unseen pooled)"
