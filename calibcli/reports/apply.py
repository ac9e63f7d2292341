"""What `apply` hands back."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from calibcli.codec import HIDDEN, Declared
from calibcli.names import ClassMethod
from calibcli.reports.input import PageName


@dataclass(frozen=True, slots=True)
class ApplyReport(Declared):
    """
    Rows in are rows out: applying never drops one.

    Args:
        output: Where the rows went; "-" is standard output.
        column: Name of the column that was added.
        clipped: Scores moved to 0 or 1 before they were recalibrated, on request (`--on-range clip`).
        lowest: The smallest recalibrated probability, or None without rows.
        notes: Sentences about choices made for the user, such as a guessed column.
        ends: Names of the columns with the lower and the upper end of each probability, where there are.
        prior: Base rate that probabilities were shifted to, or None.
        fitted_rate: Base rate of the fit rows where they were shifted from it, or None.
        pooled_rows: Rows of groups that the fit has not seen, which took the map of all rows, on request.
    """

    page: ClassVar[Literal[PageName.APPLY]] = PageName.APPLY
    files: tuple[str, ...]
    score: str
    output: str
    column: str
    rows: int
    clipped: int
    lowest: float | None
    highest: float | None
    notes: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    prior: float | None = None
    fitted_rate: float | None = None
    pooled_rows: int = 0
    pooled_groups: Annotated[tuple[str, ...], HIDDEN] = ()

    @property
    def dropped(self) -> Annotated[int, "Always 0."]:
        """Rows left out: none, ever."""
        return 0


@dataclass(frozen=True, slots=True)
class ClassApplyReport(Declared):
    """
    Rows in are rows out: applying never drops one.

    Args:
        probs: The columns of the classes, as they are said.
        output: Where the rows went; "-" is standard output.
        columns: Names of the columns that were added.
        classes: What the classes are called, in the order of the columns.
        tied: Rows where several classes were the most probable before, the first of which counts.
        keeps_prediction: Whether no row whatever can change its most probable class.
        clipped: Probabilities moved to 0 or 1 before they were recalibrated, on request.
        normalised: Rows divided by their sum before they were recalibrated, on request.
    """

    page: ClassVar[Literal[PageName.APPLY_CLASSES]] = PageName.APPLY_CLASSES
    files: tuple[str, ...]
    probs: str
    output: str
    columns: tuple[str, ...]
    method: ClassMethod
    classes: tuple[str, ...]
    rows: int
    changed: int
    tied: int
    keeps_prediction: bool
    clipped: int
    normalised: int
    notes: tuple[str, ...] = ()

    @property
    def dropped(self) -> Annotated[int, "Always 0."]:
        """Rows left out: none, ever."""
        return 0


@dataclass(frozen=True, slots=True)
class FolderApplyReport(Declared):
    """
    An output for each input file: rows in are rows out in every one of them.

    Args:
        parts: A report of each file that was written, in the order of the input.
        skipped: Outputs that were there already, left as they are on request (`--skip-existing`).
        found: What is said of the files that were found, and of names that were passed over.
    """

    page: ClassVar[Literal[PageName.APPLY_FOLDER]] = PageName.APPLY_FOLDER
    folder: str
    parts: tuple[ApplyReport | ClassApplyReport, ...]
    skipped: tuple[str, ...] = ()
    found: Annotated[tuple[str, ...], HIDDEN] = ()

    @property
    def rows(self) -> Annotated[int, ""]:
        """Rows written."""
        return sum(part.rows for part in self.parts)

    @property
    def clipped(self) -> Annotated[int, ""]:
        """Values moved to 0 or 1 before they were recalibrated, on request."""
        return sum(part.clipped for part in self.parts)

    @property
    def pooled_rows(self) -> Annotated[int, ""]:
        """Rows of groups that the fit has not seen, which took the map of all rows, on request."""
        return sum(part.pooled_rows for part in self.parts if isinstance(part, ApplyReport))

    @property
    def pooled_groups(self) -> tuple[str, ...]:
        """The first of these groups."""
        parts = (part for part in self.parts if isinstance(part, ApplyReport))
        return tuple(dict.fromkeys(group for part in parts for group in part.pooled_groups))

    @property
    def columns(self) -> Annotated[tuple[str, ...], ""]:
        """Names of the columns that were added."""
        if not self.parts:
            return ()
        first = self.parts[0]
        return (first.column, *first.ends) if isinstance(first, ApplyReport) else first.columns

    @property
    def notes(self) -> Annotated[tuple[str, ...], ""]:
        """What is said of what was found, and what the reports of files say, each sentence once."""
        return tuple(dict.fromkeys((*self.found, *(note for part in self.parts for note in part.notes))))
