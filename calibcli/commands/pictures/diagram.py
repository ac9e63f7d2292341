"""What was asked of a diagram, and what is handed back to be drawn."""

import math
from collections.abc import Sequence
from pathlib import PurePath
from typing import Self

from calibcli.commands.gathering import FIT_ROWS
from calibcli.commands.row_checks import two_classes_notes
from calibcli.documents.summary import is_summary
from calibcli.errors import EmptyTable, IdleOption, UsageProblem
from calibcli.names import PlotKind, ViewName
from calibcli.options.declaring import options_given
from calibcli.options.measuring import MeasureOptions
from calibcli.options.numerals import agreeing, percent, plural
from calibcli.options.pictures import PictureOptions
from calibcli.options.rows import ClassOptions, DocumentSource, RowRequest, SeveralClasses, is_json
from calibcli.options.segmenting import Segmenting
from calibcli.reports.input import InputSummary
from calibcli.reports.measure import MeasureReport, TableSummary
from calibcli.show.words import capital, step_words
from calibcli.stats.bounds import Interval
from calibcli.stats.curves import Picture
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class ClassWords:
    """Words for rows of several classes, none for one score; `added` follows the column in a title."""

    added: str = ""
    meaning: tuple[str, ...] = ()


def class_words(source: InputSummary) -> ClassWords:
    if source.classes is None:
        return ClassWords()
    one_class = source.classes.one_class
    if one_class is None:
        return ClassWords(", the largest probability", ("Label 1: the predicted class is correct.",))
    if source.classes.view is ViewName.TOP_LABEL:
        return ClassWords(
            f", rows that predict {one_class}", (f"Label 1: {one_class} is the right class of the row.",)
        )
    return ClassWords(f", {one_class} against the rest", (f"Label 1: the row is of class {one_class}.",))


@dataclass(frozen=True, slots=True)
class PlotRequest(RowRequest):
    """What was asked of a diagram; of files as for `measure`, or of one document.

    Args:
        kind: Which diagram, or None for smooth, and binned where the score takes few values.
        view: The view of single classes that was asked for, or None.
    """

    kind: PlotKind | None = None
    options: MeasureOptions = field(default_factory=MeasureOptions)
    view: ViewName | None = None
    segments: Segmenting = field(default_factory=Segmenting)
    look: PictureOptions = field(default_factory=PictureOptions)

    @classmethod
    def of(
        cls,
        rows: RowRequest,
        classes: ClassOptions,
        segments: Segmenting,
        options: MeasureOptions,
        picture: PictureOptions,
        kind: PlotKind | None,
    ) -> Self:
        """Return what was asked; a document says itself what its classes are, and a view is asked of them."""
        view = None if classes.view is ViewName.CONFIDENCE else classes.view
        if classes.probs is None and is_json(rows.inputs[0]):
            classes = replace(classes, view=ViewName.CONFIDENCE)
        columns = replace(rows.columns, several=SeveralClasses.of(classes))
        how = options, view, segments, picture
        return cls(rows.inputs, columns, rows.artifact, rows.reading, kind, *how)

    @property
    def document(self) -> DocumentSource | None:
        """The one JSON document among the inputs, if that is what they are."""
        one = self.inputs[0] if len(self.inputs) == 1 else None
        return one if one is not None and is_json(one) and not is_summary(one) else None

    def refuse_document(self, what: str) -> None:
        """Refuse a document where it does not hold what the diagram shows."""
        if self.document is not None:
            msg = f"{self.document}: {what} drawn from the rows"
            raise UsageProblem(msg, "name the files that the report was measured on")

    def refuse_idle(self, *, what: str) -> None:
        """Refuse options that would change nothing in a diagram of a document."""
        single = (("artifact", self.artifact), ("view", self.view))
        names = (
            *options_given(self.segments),
            *(name for name, value in single if value is not None),
            *(name for name in options_given(self.look) if name in ("band", "benefit", "loss")),
            *self.options_given,
            *options_given(self.options),
        )
        if names:
            listed = ", ".join(f"--{name}" for name in names)
            have = agreeing(len(names), "has")
            msg = f"{self.inputs[0]} is {what}, on which {listed} {have} no effect"
            hint = "plot the files it was made of, or keep to --kind and --title"
            raise IdleOption(msg, hint, options=names)


@dataclass(frozen=True, slots=True)
class Brief:
    """What is said of a picture that stands beside others.

    Args:
        lines: Up to two, each in wordings of falling length.
        ranked: The number by which it is held against the others, which is the better the lower.
        counted: Whether it is one of those that are as these words say.
    """

    lines: tuple[tuple[str, ...], ...]
    foot: tuple[str, ...] = ()
    ranked: tuple[str, float] | None = None
    counted: tuple[bool, str] | None = None

    @property
    def number(self) -> float:
        """What puts it in order; the same for all that have none."""
        return math.inf if self.ranked is None else self.ranked[1]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture and what is said of it.

    Args:
        caption: What the picture shows with its interval first, then the number of rows and the like; one
            line each.
        brief: What is said of it beside others, or None where it never stands so.
    """

    picture: Picture
    caption: tuple[str, ...]
    foot: tuple[str, ...] = ()
    brief: Brief | None = None


@dataclass(frozen=True, slots=True)
class Diagram:
    """What is to be drawn.

    Args:
        notes: Sentences for the reader of the terminal.
        source: What was read, or None for a document.
        event: Which label was named as the one that counts as 1, or nothing.
    """

    drawn: Drawn
    title: str
    notes: tuple[str, ...] = ()
    source: InputSummary | None = None
    event: str = ""


def notes_of(report: MeasureReport) -> tuple[str, ...]:
    """Return what to say beside a diagram: of classes that were measured the largest alone is drawn."""
    of_two = () if report.classes is None else two_classes_notes(report.input, report.classes.names)
    return (*report.input.notes, *report.notes, *of_two)


def diagram_of_rows(
    drawn: Drawn, source: InputSummary, notes: Sequence[str], *, through: str | None
) -> Diagram:
    """Return a picture of rows with what must be known of their labels, and of rows that the fit has seen."""
    foot = (*drawn.foot, *dropped_foot(source.dropped), *class_words(source).meaning, *fit_rows_foot(notes))
    return Diagram(replace(drawn, foot=foot), title_of(source, artifact=through), tuple(notes), source)


def title_of(source: InputSummary, *, artifact: str | None = None, added: str | None = None) -> str:
    """Return files, conditions on rows and column in a line, and how several classes are seen as one score.

    Folders would crowd out what differs from picture to picture.
    """
    files, path = source.files, PurePath(source.files[0])
    first = path.name or files[0]
    shown = first if len(files) == 1 else f"{first} and {len(files) - 1} more"
    if "=" in path.parent.name:
        # Within partitions such as year=2024 files have names that say nothing.
        whole = next((one.name for one in path.parents if "=" not in one.name), "") or path.parent.name
        shown = f"{whole}, {plural(len(files), 'file')}"
    if source.selected is not None and source.selected.where:
        shown += f" where {' and '.join(source.selected.where)}"
    through = "" if artifact is None else f" through {PurePath(artifact).name}"
    return f"{shown}: {source.score}{through}{class_words(source).added if added is None else added}"


def bounds_line(interval: Interval | None, form: str = ".4g") -> str:
    """Return a two-sided interval as it stands behind its number, or nothing."""
    return f"{bounds_words(interval, form)}{confidence_words(interval)}"


def bounds_words(interval: Interval | None, form: str) -> str:
    """Return the same without its confidence."""
    ends = two_ends(interval)
    return f"  [{ends[0]:{form}}, {ends[1]:{form}}]" if ends else ""


def confidence_words(interval: Interval | None) -> str:
    """Return the confidence of a two-sided interval, or nothing."""
    if interval is None or not two_ends(interval):
        return ""
    return f" at {percent(interval.confidence)} confidence"


def two_ends(interval: Interval | None) -> tuple[float, ...]:
    """Return both ends of an interval, none of one that states one end alone."""
    ends = () if interval is None else interval.ends
    return ends if all(map(math.isfinite, ends)) else ()


def places_for(miscalibration: float) -> int:
    """Return with how many decimals the parts of a Brier score are written, so that they add up to it."""
    return 4 if miscalibration >= 0.001 or miscalibration == 0.0 else 6


def dropped_foot(rows: int) -> tuple[str, ...]:
    return (f"{plural(rows, 'row')} with a missing value left out.",) if rows else ()


def fit_rows_foot(notes: Sequence[str]) -> tuple[str, ...]:
    """Return as small print what notes say of rows that the artifact was fitted on, or nothing."""
    return (f"{capital(FIT_ROWS)}.",) if FIT_ROWS in notes else ()


def rounding_foot(*tables: Table | TableSummary) -> tuple[str, ...]:
    """Return to what scores of tables, or of summaries of them, were rounded to fit in memory."""
    steps = [one.resolution for one in tables]
    return (f"Scores are rounded to {step_words(max(steps))}.",) if any(steps) else ()


def no_group(least_rows: int) -> EmptyTable:
    hint = "pass a smaller --min-group-rows; `segments --on` cuts a column of numbers into ranges"
    return EmptyTable(f"no group has {least_rows:,} rows", hint)


def rows_line(rows: int, positive: int) -> str:
    return f"{plural(rows, 'row')}, {positive:,} with label 1"
