"""What `fit`, `apply` and `inspect` hand back."""

from typing import Annotated, ClassVar

from calibcli.codec import ABSENT, HIDDEN, AnyNumber, By, Declared, Key
from calibcli.names import ClassMethod, FitMethod, RecalibratorName
from calibcli.reports.input import InputSummary
from calibcli.stats.recalibrators.segments import SegmentMap
from calibcli.stats.recalibrators.selection import Selection
from calibcli.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class GroupFit(Declared):
    """One group of a fit."""

    key: Annotated[str, HIDDEN]
    rows: int
    # Of the raw scores of its rows and after the map of its own; None where it shares the map of all rows.
    loss_before: AnyNumber | None = None
    loss_after: AnyNumber | None = None
    # Why it shares the map of all rows, or None.
    reason: Annotated[str | None, Key("shares")] = None
    method: RecalibratorName | None = None


@dataclass(frozen=True, slots=True)
class FitReport(Declared):
    """The summary of a fit."""

    page: ClassVar[str] = "fit"
    input: InputSummary
    method: FitMethod
    output: str | None
    rows: int
    positive: int
    loss: str
    # Mean losses on the fit rows, the second so optimistic.
    loss_before: AnyNumber
    loss_after: AnyNumber
    outputs: int | None
    notes: tuple[str, ...]
    answer: str | None = None
    selection: Selection | None = None
    by: str | None = None
    groups: Annotated[tuple[GroupFit, ...], By("key")] = ()
    segments: Annotated[SegmentMap | None, ABSENT] = None


@dataclass(frozen=True, slots=True)
class ClassFitReport(Declared):
    """The summary of a fit of several classes."""

    page: ClassVar[str] = "fit_classes"
    input: InputSummary
    method: ClassMethod
    inner: str | None
    output: str | None
    classes: tuple[str, ...]
    rows: int
    loss_before: AnyNumber
    loss_after: AnyNumber
    accuracy_before: float
    accuracy_after: float
    changed: int
    keeps_prediction: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClassesApplied(Declared):
    """What became of rows of several classes.

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
    """Rows in are rows out: applying never drops one.

    Args:
        score: The score column, or the columns of classes as they are said.
        output: Where the rows went; "-" is standard output.
        columns: Names of the columns that were added.
        clipped: Scores moved to 0 or 1 before they were recalibrated, on request (`--on-range clip`).
        without_score: Rows that got null on request: without a score (`--on-missing null`), or with one that
            gets no probability (`--on-range null`, `--on-sum null`).
        gaps: What kept them from having one, by column, with how many rows and the first.
        lowest: The smallest recalibrated probability, or None without rows and for several classes.
        prior: Base rate that probabilities were shifted to, or None.
        fitted_rate: Base rate of the fit rows where they were shifted from it, or None.
        pooled_rows: Rows of groups that the fit has not seen, which took the map of all rows, on request.
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
    """An output for each input file: rows in are rows out in every one of them.

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
    def total(self) -> ApplyReport:
        """What became of the rows of all files; gaps and notes are those of the first."""
        first = self.parts[0]
        ends = [end for part in self.parts for end in (part.lowest, part.highest) if end is not None]
        of_classes = [part.classes for part in self.parts if part.classes is not None]
        return replace(
            first,
            rows=sum(part.rows for part in self.parts),
            clipped=sum(part.clipped for part in self.parts),
            without_score=sum(part.without_score for part in self.parts),
            pooled_rows=sum(part.pooled_rows for part in self.parts),
            pooled_groups=tuple(dict.fromkeys(one for part in self.parts for one in part.pooled_groups)),
            lowest=min(ends, default=None),
            highest=max(ends, default=None),
            classes=first.classes
            and replace(
                first.classes,
                changed=sum(one.changed for one in of_classes),
                tied=sum(one.tied for one in of_classes),
                normalised=sum(one.normalised for one in of_classes),
            ),
        )


@dataclass(frozen=True, slots=True)
class ColumnSummary(Declared):
    """One column of a data file.

    Args:
        kind: Its type, in the file format's words.
        role: "score", "label", "weight", "probs" or "" - what calibcli would take it for unasked.
    """

    name: str
    kind: str
    role: str


@dataclass(frozen=True, slots=True)
class InspectReport(Declared):
    """What is in a file.

    Args:
        kind: What it is, such as "artifact", "report" or "csv".
        facts: Pairs of a word and what is to be said under it, in order.
        suggestion: A command that would make sense next, or None.
    """

    page: ClassVar[str] = "inspect"
    path: str
    kind: str
    facts: Annotated[tuple[tuple[str, str], ...], HIDDEN]
    columns: tuple[ColumnSummary, ...]
    suggestion: str | None

    @property
    def by_word(self) -> Annotated[dict[str, str], Key("facts")]:
        found: dict[str, str] = {}
        for word, said in self.facts:
            # Several notes are one text.
            found[word] = f"{found[word]}; {said}" if word in found else said
        return found
