"""What `apply --out-dir` hands back."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from calibcli.codec import HIDDEN, Declared
from calibcli.reports.apply import ApplyReport
from calibcli.reports.apply_classes import ClassApplyReport
from calibcli.reports.page_names import PageName


@dataclass(frozen=True, slots=True)
class FolderApplyReport(Declared):
    """
    An output for each input file: rows in are rows out in every one of them.

    Args:
        folder: Where the outputs went.

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
