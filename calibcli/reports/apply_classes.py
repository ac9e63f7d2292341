"""What `apply` hands back of several classes."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from calibcli.codec import Declared
from calibcli.reports.page_names import PageName
from calibcli.view_names import ClassMethod


@dataclass(frozen=True, slots=True)
class ClassApplyReport(Declared):
    """
    Rows in are rows out: applying never drops one.

    Args:
        files: The files as the user named them; "-" is standard input.

        probs: The columns of the classes, as they are said.

        output: Where the rows went; "-" is standard output.

        columns: Names of the columns that were added.

        method: The method of the map.

        classes: What the classes are called, in the order of the columns.

        rows: Rows written.

        changed: Rows whose most probable class is another one than before.

        tied: Rows where several classes were the most probable before, the first of which counts.

        keeps_prediction: Whether no row whatever can change its most probable class.

        clipped: Probabilities moved to 0 or 1 before they were recalibrated, on request.

        normalised: Rows divided by their sum before they were recalibrated, on request.

        notes: Sentences the user should not miss.
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
