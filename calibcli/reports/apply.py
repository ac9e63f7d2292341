"""What `apply` hands back."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from calibcli.codec import HIDDEN, Declared
from calibcli.reports.page_names import PageName


@dataclass(frozen=True, slots=True)
class ApplyReport(Declared):
    """
    Rows in are rows out: applying never drops one.

    Args:
        files: The files as the user named them; "-" is standard input.

        score: Name of the score column.

        output: Where the rows went; "-" is standard output.

        column: Name of the column that was added.

        rows: Rows written.

        clipped: Scores moved to 0 or 1 before they were recalibrated, on request (`--on-range clip`).

        lowest: The smallest recalibrated probability, or None without rows.

        highest: The largest, or None without rows.

        notes: Sentences about choices made for the user, such as a guessed column.

        ends: Names of the columns with the lower and the upper end of each probability, where there are.

        prior: Base rate that probabilities were shifted to, or None.

        fitted_rate: Base rate of the fit rows where they were shifted from it, or None.

        pooled_rows: Rows of groups that the fit has not seen, which took the map of all rows, on request.

        pooled_groups: The first of these groups.
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
