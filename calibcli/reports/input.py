"""What was read, as every report states it."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from calibcli.view_names import ViewName

# So many groups that a fit has not seen are kept.
MOST_POOLED = 100
_FEW = 3


@dataclass(frozen=True, slots=True)
class ClassesRead:
    """
    How rows of several classes were seen as rows of one score.

    Args:
        count: How many classes there are.

        view: How they were seen.

        one_class: The class that was looked at, or None.

        tied: Rows in which several classes are the most probable; the first counts.

        normalised: Rows divided by the sum of their probabilities, on request (`--on-sum normalise`).

        elsewhere: Rows left out because they predict another class than the one that was looked at.
    """

    count: int
    view: ViewName
    one_class: str | None
    tied: int
    normalised: int
    elsewhere: int

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "count": self.count,
            "view": self.view.value,
            "class": self.one_class,
            "tied": self.tied,
            "normalised": self.normalised,
            "elsewhere": self.elsewhere,
        }


@dataclass(frozen=True, slots=True)
class SelectedRows:
    """
    Which rows of the input were asked for, where that was not all of them.

    Args:
        where: The conditions they satisfy.

        limit: Only the first so many of these, or None; rows behind the last are neither read nor counted.

        sample: Only so many of these, drawn without replacement, or None.

        seed: Of the draw; None without one.

        unselected: Rows read that a condition or the draw left out.
    """

    where: tuple[str, ...]
    limit: int | None
    sample: int | None
    seed: int | None
    unselected: int

    def options(self) -> str:
        """Return the options that say so."""
        asked = [f"--where {one!r}" for one in self.where]
        asked += [] if self.limit is None else [f"--limit {self.limit}"]
        asked += [] if self.sample is None else [f"--sample {self.sample} --seed {self.seed}"]
        return " ".join(asked)

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "where": list(self.where),
            "limit": self.limit,
            "sample": self.sample,
            "seed": self.seed,
            "unselected": self.unselected,
        }


@dataclass(frozen=True, slots=True)
class InputSummary:
    """
    The input: rows in = rows used + rows dropped + rows of other classes + rows not selected, always.

    Args:
        files: The files as the user named them; "-" is standard input.

        score: Name of the score column.

        label: Name of the label column, or None where no label was read.

        weight: Name of the weight column, or None.

        rows: Rows used.

        dropped: Rows left out because a value was missing, on request (`--on-missing drop`).

        clipped: Scores moved to 0 or 1, on request (`--on-range clip`).

        notes: Sentences about choices made for the user, such as a guessed column.

        classes: How several classes were seen, or None where there is one score.

        selected: Which rows were asked for, or None for all.
    """

    files: tuple[str, ...]
    score: str
    label: str | None
    weight: str | None
    rows: int
    dropped: int
    clipped: int
    notes: tuple[str, ...] = ()
    classes: ClassesRead | None = None
    selected: SelectedRows | None = None

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        found: dict[str, object] = {
            "files": list(self.files),
            "score": self.score,
            "label": self.label,
            "weight": self.weight,
            "rows": self.rows,
            "dropped": self.dropped,
            "clipped": self.clipped,
            "notes": list(self.notes),
        }
        if self.classes is not None:
            found["classes"] = self.classes.to_dict()
        if self.selected is not None:
            found["selected"] = self.selected.to_dict()
        return found


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
