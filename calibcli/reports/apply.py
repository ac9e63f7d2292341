"""What `apply` hands back."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from calibcli.reports.page_names import PageName


@dataclass(frozen=True, slots=True)
class ApplyReport:
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
    pooled_groups: tuple[str, ...] = ()

    @property
    def dropped(self) -> int:
        """Rows left out: none, ever."""
        return 0

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "files": list(self.files),
            "score": self.score,
            "output": self.output,
            "column": self.column,
            "ends": list(self.ends),
            "rows": self.rows,
            "dropped": self.dropped,
            "clipped": self.clipped,
            "lowest": self.lowest,
            "highest": self.highest,
            "prior": self.prior,
            "fitted_rate": self.fitted_rate,
            "pooled_rows": self.pooled_rows,
            "notes": list(self.notes),
        }
