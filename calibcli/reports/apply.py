"""What `apply` hands back."""

from typing import ClassVar

from calibcli.codec import Declared
from calibcli.names import ClassMethod
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class ClassesApplied(Declared):
    """
    What became of rows of several classes.

    Args:
        names: What the classes are called, in the order of the columns.
        tied: Rows where several classes were the most probable before, the first of which counts.
        keeps_prediction: Whether no row whatever can change its most probable class.
        normalised: Rows divided by their sum before they were recalibrated, on request.
    """

    method: ClassMethod
    names: tuple[str, ...]
    changed: int
    tied: int
    keeps_prediction: bool
    normalised: int


@dataclass(frozen=True, slots=True)
class ApplyReport(Declared):
    """
    Rows in are rows out: applying never drops one.

    Args:
        score: The score column, or the columns of classes as they are said.
        output: Where the rows went; "-" is standard output.
        columns: Names of the columns that were added.
        clipped: Scores moved to 0 or 1 before they were recalibrated, on request (`--on-range clip`).
        without_score: Rows that got null on request: without a score (`--on-missing null`), or with one that
            gets no probability (`--on-range null`, `--on-sum null`).
        gaps: What kept them from having one, by column, with how many rows and the first.
        lowest: The smallest recalibrated probability, or None without rows and for several classes.
        notes: Sentences about choices made for the user, such as a guessed column.
        prior: Base rate that probabilities were shifted to, or None.
        fitted_rate: Base rate of the fit rows where they were shifted from it, or None.
        pooled_rows: Rows of groups that the fit has not seen, which took the map of all rows, on request.
        classes: What became of several classes, or None for one score.
    """

    page: ClassVar[str] = "apply"
    files: tuple[str, ...]
    score: str
    output: str
    columns: tuple[str, ...]
    rows: int
    clipped: int
    lowest: float | None = None
    highest: float | None = None
    notes: tuple[str, ...] = ()
    prior: float | None = None
    fitted_rate: float | None = None
    pooled_rows: int = 0
    pooled_groups: tuple[str, ...] = ()
    classes: ClassesApplied | None = None
    without_score: int = 0
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FolderApplyReport(Declared):
    """
    An output for each input file: rows in are rows out in every one of them.

    Args:
        parts: A report of each file that was written, in the order of the input.
        skipped: Outputs that were there already, left as they are on request (`--skip-existing`).
        found: What is said of the files that were found, and of names that were passed over.
    """

    page: ClassVar[str] = "apply_folder"
    folder: str
    parts: tuple[ApplyReport, ...]
    skipped: tuple[str, ...] = ()
    found: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Rows written."""
        return sum(part.rows for part in self.parts)

    @property
    def clipped(self) -> int:
        """Values moved to 0 or 1 before they were recalibrated, on request."""
        return sum(part.clipped for part in self.parts)

    @property
    def without_score(self) -> int:
        """Rows that got null on request."""
        return sum(part.without_score for part in self.parts)

    @property
    def pooled_rows(self) -> int:
        """Rows of groups that the fit has not seen, which took the map of all rows, on request."""
        return sum(part.pooled_rows for part in self.parts)

    @property
    def pooled_groups(self) -> tuple[str, ...]:
        """The first of these groups."""
        return tuple(dict.fromkeys(group for part in self.parts for group in part.pooled_groups))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that were added."""
        return self.parts[0].columns if self.parts else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What is said of what was found, and what the reports of files say, each sentence once."""
        return tuple(dict.fromkeys((*self.found, *(note for part in self.parts for note in part.notes))))
