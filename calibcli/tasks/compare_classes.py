"""Compare two recalibrations of several classes, or one with the raw probabilities, on the same rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibcli.documents.class_artifact import ClassArtifact
from calibcli.documents.store import read_class_artifact
from calibcli.errors import EmptyTable, UsageProblem
from calibcli.measures.classes import ClassViews, class_measure
from calibcli.measures.classes.differences import JOINT
from calibcli.measures.paired import PAIRED, Compared, PairedSums
from calibcli.measures.unpaired import difference_of_intervals
from calibcli.names import DEFAULT_LEAST_ROWS, Binning, MeasureName, Scale
from calibcli.options.comparing import CompareOptions
from calibcli.options.measuring import MeasureOptions
from calibcli.options.rows import Columns, Reading, SeveralClasses
from calibcli.readers.beside import Beside
from calibcli.readers.class_compared import ClassesCompared
from calibcli.readers.tally import Unchanged
from calibcli.recalibrators.classes.outputs import outputs_of
from calibcli.reports.compare import CompareReport
from calibcli.reports.compare_classes import ClassComparison, ClassesComparison, ViewComparison
from calibcli.reports.comparison import Comparison
from calibcli.table.digest import digest
from calibcli.table.grid import Table
from calibcli.tasks.class_map import ClassMap
from calibcli.tasks.classes import (
    KEYS,
    MOST_IN_FULL,
    ClassGroups,
    class_groups,
    class_views,
    judged_view,
    views_shown,
)
from calibcli.tasks.compare import Seen, comparisons, fit_note, side_of
from calibcli.tasks.gather import RAW, Gathered
from calibcli.tasks.judged import refuse_applied_twice
from calibcli.tasks.reading import read_tables
from calibcli.tasks.right_scale import class_table_notes
from calibcli.tasks.slices import Group, level_of, refuse_cut_cells
from calibcli.view_names import ClassMeasure, ViewName

_FIRST, _SECOND = "first", "second"
EACH = (MeasureName.BRIER, MeasureName.LOG_LOSS, MeasureName.ECE)
FEW = (MeasureName.BRIER, MeasureName.ECE)
_OTHER_CLASS = (
    "the largest probability then speaks of another class, and only measures of all classes together say "
    "which side is better"
)
_OTHER_ROWS = "where the sides have other rows, losses are compared by both intervals and not row by row"
_PROPER = (ClassMeasure.CLASS_LOG_LOSS, ClassMeasure.CLASS_BRIER)


@dataclass(frozen=True, slots=True)
class _Sides:
    """
    What was read of both sides.

    Args:
        first: All rows of the view on the first side.

        second: Likewise on the second.

        compared: Every class, and differences row by row.

        names: What the classes are called.
    """

    first: Seen
    second: Seen
    compared: ClassesCompared
    names: tuple[str, ...]

    @property
    def tables(self) -> tuple[Table, Table]:
        """The rows of both."""
        return self.first.table, self.second.table


def compare_classes(
    inputs: Sequence[str],
    columns: Columns,
    artifacts: Sequence[str],
    *,
    options: CompareOptions,
    reading: Reading,
) -> CompareReport:
    """
    Compare two sides of several classes; the first is the baseline.

    Args:
        inputs: Files, "-" for standard input.

        columns: Which column is which.

        artifacts: Paths of recalibrators: two, or one to be compared with the raw probabilities.

        options: What is asked.

        reading: How to read.

    Raises:
        CalibcliError: For input that cannot be compared, with what, where and how many.
    """
    several = columns.several
    if several is None:
        msg = "these columns are of one score"
        raise TypeError(msg)
    loaded = {path: read_class_artifact(path) for path in artifacts}
    maps = [ClassMap(one, path) for path, one in loaded.items()]
    said = columns.scale is not None
    columns = replace(
        columns,
        scale=_scale(columns.scale, loaded),
        several=replace(several, change=maps[-1], base=maps[0] if len(maps) > 1 else None),
    )
    gathered = read_tables(
        inputs,
        columns,
        reading=reading,
        transforms={RAW: Unchanged.CONFIDENCE, _FIRST: Unchanged.VIEW, _SECOND: None},
        beside=Beside(compared=True, one_class=several.one_class),
    )
    notes = _checked(gathered, loaded, options)
    for artifact in () if said else loaded.values():
        notes += class_table_notes(gathered, RAW, artifact)
    sides = _sides(gathered, several, loaded)
    whole = comparisons(sides.first, sides.second, _paired(sides, several), options=options)
    classes = _classes(sides, columns, options) if several.one_class is None else None
    return CompareReport(
        input=gathered.input,
        first=side_of(sides.first, sides.second, options),
        second=side_of(sides.second, sides.first, options),
        confidence=options.confidence,
        chosen=bool(options.metrics),
        comparisons=whole,
        gate=options.gate(_usual_gate(columns)),
        notes=(*dict.fromkeys(notes), *_change_notes(sides, several)),
        classes=classes,
    )


def _scale(asked: Scale | None, loaded: dict[str, ClassArtifact]) -> Scale:
    """Read the columns as the fits did where the user does not say otherwise."""
    if asked is not None:
        return asked
    scales = {one.scale for one in loaded.values()}
    if len(scales) > 1:
        msg = f"{' and '.join(loaded)} were fitted to another scale"
        raise UsageProblem(msg, "only maps of the same columns, read in one way, can be compared")
    return scales.pop()


def _checked(gathered: Gathered, loaded: dict[str, ClassArtifact], options: CompareOptions) -> list[str]:
    """Refuse what cannot be compared, and return what is said of rows that were seen before."""
    notes = [doubt for artifact in loaded.values() for doubt in artifact.doubts]
    found = digest(gathered.tables[RAW])
    for path, artifact in loaded.items():
        outputs = outputs_of(
            artifact.recalibrator, artifact.classes, view=ViewName.CONFIDENCE, one_class=None
        )
        refuse_applied_twice(gathered, outputs, path)
        if found == artifact.fit.table_digest:
            notes.append(fit_note(path, artifact.fit.rows, options))
    if not gathered.tables[_FIRST].total_rows:
        msg = (
            f"none of {gathered.tables[RAW].total_rows:,} rows predicts the class asked for on the first side"
        )
        raise EmptyTable(msg)
    return notes


def _sides(gathered: Gathered, several: SeveralClasses, loaded: dict[str, ClassArtifact]) -> _Sides:
    score, chosen, compared = gathered.input.score, gathered.chosen, gathered.aside.compared
    if chosen is None or compared is None:
        msg = "these rows were not gathered to be compared"
        raise TypeError(msg)
    sides = [
        Seen(path, score, path, gathered.tables[_SECOND], discrete=_discrete(artifact, several))
        for path, artifact in loaded.items()
    ]
    first = Seen(score, score, None, gathered.tables[_FIRST], discrete=False)
    if len(sides) > 1:
        first = replace(sides[0], table=gathered.tables[_FIRST])
    return _Sides(first, sides[-1], compared, chosen.classes)


def _discrete(artifact: ClassArtifact, several: SeveralClasses) -> bool:
    view, one = several.view, several.one_class
    return outputs_of(artifact.recalibrator, artifact.classes, view=view, one_class=one) is not None


def _paired(sides: _Sides, several: SeveralClasses) -> PairedSums | None:
    """Return the differences of what the whole shows; None where the sides have other rows."""
    differences = sides.compared.differences
    if several.one_class is None:
        return differences.confidence
    place = sides.names.index(several.one_class)
    if several.view is ViewName.ONE_VS_REST:
        return differences.against_rest(place)
    return differences.predicting(place)


def _usual_gate(columns: Columns) -> tuple[Compared, ...]:
    """Return what a gate looks at by default: proper scores of what was asked for."""
    one_view = columns.several is not None and columns.several.one_class is not None
    return PAIRED if one_view or judged_view(columns) is not None else _PROPER


def _change_notes(sides: _Sides, several: SeveralClasses) -> tuple[str, ...]:
    """Say what it means where rows predict another class on the second side."""
    changed = sides.compared.differences.changed
    same_rows = several.one_class is not None and several.view is ViewName.ONE_VS_REST
    if not changed or same_rows:
        return ()
    rows = "1 row predicts" if changed == 1 else f"{changed:,} rows predict"
    if several.one_class is None:
        return (f"{rows} another class on the second side: {_OTHER_CLASS}",)
    return (f"{rows} another class on the second side: {_OTHER_ROWS}",)


def _classes(sides: _Sides, columns: Columns, options: CompareOptions) -> ClassesComparison:
    """Compare all classes together, and each by itself in the views that are shown."""
    many = len(sides.names) > MOST_IN_FULL
    names = options.shown if options.metrics else (FEW if many else EACH)
    each = replace(options, metrics=names, binning=options.binning or Binning.EQUAL_WIDTH)
    views = views_shown(columns) if names else ()
    return ClassesComparison(
        sides.names,
        sides.compared.differences.changed,
        _joint(sides, options) if options.joint else (),
        tuple(_view(sides, view, each) for view in views),
        gated=judged_view(columns) is not None,
        few=many and options.metrics is None,
    )


def _joint(sides: _Sides, options: CompareOptions) -> tuple[Comparison, ...]:
    """Compare measures of all classes together."""
    confidence = options.confidence
    plain = _views(sides, options)
    # Each of two intervals may miss half as often as both together.
    safer = [replace(one, confidence=1.0 - (1.0 - confidence) / 2.0) for one in plain]
    found = []
    for name in options.joint:
        first, second = (class_measure(name, one) for one in plain)
        if name in JOINT:
            difference = sides.compared.differences.joint_difference(name, confidence=confidence)
        else:
            wide = [class_measure(name, one) for one in safer]
            difference = difference_of_intervals(*wide, confidence=confidence)
        found.append(Comparison(first, second, difference))
    return tuple(found)


def _views(sides: _Sides, options: CompareOptions) -> list[ClassViews]:
    """Return what measures of several classes are computed from, of both sides."""
    inside = MeasureOptions(bins=options.bins, binning=options.binning, confidence=options.confidence)
    found = []
    for table, aside in zip(sides.tables, (sides.compared.first, sides.compared.second), strict=True):
        if aside is not None:
            both = class_groups(aside, ViewName.ONE_VS_REST), class_groups(aside, ViewName.TOP_LABEL)
            found.append(class_views(table, both, aside.sums, options=inside))
    return found


def _view(sides: _Sides, view: ViewName, options: CompareOptions) -> ViewComparison:
    """Compare every class with enough rows on both sides."""
    compared = sides.compared
    parts = [class_groups(one, view) for one in (compared.first, compared.second) if one is not None]
    first, second = ({one.key: one for one in part.measured(DEFAULT_LEAST_ROWS)} for part in parts)
    level = level_of(options.confidence, len(first.keys() & second.keys()))
    inside, rest = replace(options, confidence=level), view is ViewName.ONE_VS_REST
    found, left_out = {}, {}
    for place, name in enumerate(sides.names):
        key = f"{KEYS[view]}={name}"
        if key not in first or key not in second:
            left_out[key] = min(_rows(part, key) for part in parts)
            continue
        sums = compared.differences.against_rest(place) if rest else compared.differences.predicting(place)
        found[key] = _class(sides, (first[key], second[key]), sums, options=inside)
    return ViewComparison(view, found, left_out, DEFAULT_LEAST_ROWS, level)


def _class(
    sides: _Sides, groups: tuple[Group, Group], paired: PairedSums | None, *, options: CompareOptions
) -> ClassComparison:
    """Compare one class."""
    for group in groups:
        refuse_cut_cells(group, options.bins, None)
    first, second = (group.table for group in groups)
    both = replace(sides.first, table=first), replace(sides.second, table=second)
    return ClassComparison(first.total_rows, second.total_rows, comparisons(*both, paired, options=options))


def _rows(part: ClassGroups, key: str) -> int:
    """Return how many rows a class has on a side."""
    return next((one.table.total_rows for one in part.groups if one.key == key), 0)
