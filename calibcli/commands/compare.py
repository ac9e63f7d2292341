"""Compare two scores, or two recalibrations of one score, on the same rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from calibcli.commands.comparing import Seen, _shared_bins, comparisons, side_of
from calibcli.commands.evaluation import ClassMap, as_fitted, as_transform, refuse_applied_twice
from calibcli.commands.gathering import RAW, Gathered
from calibcli.commands.measure import (
    KEYS,
    MOST_IN_FULL,
    ClassGroups,
    class_groups,
    class_views,
    judged_view,
    refuse_class_measures,
    views_shown,
)
from calibcli.commands.reading import read_tables
from calibcli.commands.right_scale import class_table_notes, table_scale_notes
from calibcli.commands.slices import Group, level_of, refuse_cut_cells
from calibcli.data.extras import Beside, ClassesCompared
from calibcli.data.tally import AtPlaces, Transform, Unchanged
from calibcli.documents.artifact import Artifact, ClassArtifact, read_artifact, read_class_artifact
from calibcli.errors import EmptyTable, InputProblem, UsageProblem
from calibcli.names import DEFAULT_LEAST_ROWS, Binning, ClassMeasure, MeasureName, Scale, ViewName
from calibcli.options.comparing import CompareOptions
from calibcli.options.measuring import MeasureOptions
from calibcli.options.metrics import Metrics
from calibcli.options.rows import Columns, Reading, SeveralClasses
from calibcli.reports.compare import (
    ClassComparison,
    ClassesComparison,
    CompareReport,
    Comparison,
    ViewComparison,
)
from calibcli.stats.measures.classes import ClassViews, class_measure
from calibcli.stats.measures.classes.differences import JOINT
from calibcli.stats.measures.differences import (
    PAIRED,
    Compared,
    PairedSums,
    difference_of_intervals,
    reach_of_maps,
)
from calibcli.stats.recalibrators.classes.family import outputs_of
from calibcli.stats.recalibrators.interface import Recalibrator, values_of
from calibcli.stats.table.grid import Table, digest
from calibcli.values import dataclass

_FIRST, _SECOND = "first", "second"


def compare_files(
    inputs: Sequence[str],
    columns: Columns,
    *,
    artifacts: Sequence[str] = (),
    options: CompareOptions | None = None,
    reading: Reading | None = None,
) -> CompareReport:
    """Compare two scores of the same rows; the first is the baseline."""
    asked = options or CompareOptions()
    if asked.metrics and asked.joint:
        refuse_class_measures(columns, Metrics((), (), asked.joint))
    _require_two(columns, artifacts)
    if columns.several is not None:
        return compare_classes(inputs, columns, artifacts, options=asked, reading=reading or Reading())
    loaded = {path: read_artifact(path) for path in artifacts}
    said, columns = columns.scale is not None, _as_all_fitted(columns, loaded)
    gathered = _gathered(inputs, columns, list(loaded.values()), reading=reading or Reading())
    notes: list[str] = []
    paired = gathered.paired or PairedSums()
    if loaded:
        paired.reach = reach_between([one.recalibrator for one in loaded.values()], gathered.tables[RAW])
    for path, artifact in loaded.items():
        notes += artifact.doubts
        refuse_applied_twice(gathered, values_of(artifact.recalibrator.bins), path)
        if digest(gathered.tables[RAW]) == artifact.fit.table_digest:
            notes.append(fit_note(path, artifact.fit.rows, asked))
        notes += () if said else table_scale_notes(gathered, artifact)
    first, second = _sides(gathered, loaded)
    for one, other in ((first, second), (second, first)):
        notes += _shared_bins(one, other, asked)
    return CompareReport(
        input=gathered.input,
        first=side_of(first, second, asked),
        second=side_of(second, first, asked),
        confidence=asked.confidence,
        chosen=bool(asked.metrics),
        comparisons=comparisons(first, second, paired, options=asked),
        gate=asked.gate(),
        notes=tuple(dict.fromkeys(notes)),
    )


def reach_between(recalibrators: Sequence[Recalibrator], raw: Table) -> dict[Compared, tuple[float, float]]:
    """Return how far apart losses can be by two maps, or by a score and its map; {} where maps have noise."""
    maps = [as_transform(one) for one in recalibrators]
    plain = [one for one in maps if not isinstance(one, AtPlaces)]
    if len(plain) < len(maps) or not raw.total_rows:
        return {}
    return reach_of_maps(plain[0] if len(plain) > 1 else np.asarray, plain[-1], raw.score)


def fit_note(path: str, rows: int, asked: CompareOptions) -> str:
    """Return what is said of rows that an artifact was fitted on."""
    if asked.fail_if_worse and not asked.allow_fit_rows:
        msg = f"these are the {rows:,} rows that {path} was fitted on"
        raise InputProblem(msg, "judge it by rows it has not seen, or pass --allow-fit-rows to insist")
    return f"these are the rows that {path} was fitted on: the comparison flatters it"


def _require_two(columns: Columns, artifacts: Sequence[str]) -> None:
    scores = len(columns.others) + 1
    if scores > 1 and artifacts:
        msg = "two scores and an artifact: which are to be compared?"
        raise UsageProblem(msg, "name two scores, or one score and one or two artifacts")
    if scores > 2 or len(artifacts) > 2:
        many = f"{scores} scores" if scores > 2 else f"{len(artifacts)} artifacts"
        msg = f"{many} are named, and two are compared"
        raise UsageProblem(msg, "name the baseline first, then the other; run once for each pair")
    if scores == 1 and not artifacts:
        two = "" if columns.several is not None else "name two scores (-s a -s b), or "
        msg = "nothing to compare with"
        raise UsageProblem(msg, f"{two}add --artifact cal.json")
    if len(set(artifacts)) < len(artifacts):
        msg = f"{artifacts[0]} would be compared with itself"
        raise UsageProblem(msg, "--artifact takes two different files")


def _as_all_fitted(columns: Columns, loaded: Mapping[str, Artifact]) -> Columns:
    """Read the columns as the fits did where the user does not say otherwise."""
    ways = {path: as_fitted(columns, artifact) for path, artifact in loaded.items()}
    if len(set(ways.values())) > 1:
        (one, here), (two, there) = ways.items()
        what = "scale" if here.read_as is not there.read_as else "positive label"
        msg = f"{one} and {two} were fitted to another {what}"
        raise UsageProblem(msg, "only maps of one score column, read in one way, can be compared")
    return next(iter(ways.values()), columns)


def _gathered(
    inputs: Sequence[str], columns: Columns, loaded: Sequence[Artifact], *, reading: Reading
) -> Gathered:
    """Read both sides at once, and the differences of their losses row by row."""
    transforms: dict[str, Transform | AtPlaces | None] = {RAW: None}
    if not loaded:
        transforms[_SECOND] = None
        beside = Beside(columns={_SECOND: 1}, pairs=((RAW, _SECOND),))
    elif len(loaded) == 1:
        transforms[_SECOND] = as_transform(loaded[0].recalibrator)
        beside = Beside(pairs=((RAW, _SECOND),))
    else:
        transforms[_FIRST], transforms[_SECOND] = (as_transform(one.recalibrator) for one in loaded)
        beside = Beside(pairs=((_FIRST, _SECOND),))
    return read_tables(inputs, columns, reading=reading, transforms=transforms, beside=beside)


def _sides(gathered: Gathered, loaded: Mapping[str, Artifact]) -> tuple[Seen, Seen]:
    """Return the baseline and the other."""
    score, tables = gathered.input.score, gathered.tables
    recalibrated = [
        Seen(path, score, path, tables[key], discrete=artifact.recalibrator.bins is not None)
        for (path, artifact), key in zip(loaded.items(), (_FIRST, _SECOND)[-len(loaded) :], strict=False)
    ]
    raw = Seen(score, score, None, tables[RAW], discrete=False)
    if not recalibrated:
        other = gathered.others[0]
        return raw, Seen(other, other, None, tables[_SECOND], discrete=False)
    return recalibrated[0] if len(recalibrated) == 2 else raw, recalibrated[-1]


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
        compared: Every class, and differences row by row.
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
    """Compare two sides of several classes; the first is the baseline."""
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
    sides = _class_sides(gathered, several, loaded)
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


def _class_sides(gathered: Gathered, several: SeveralClasses, loaded: dict[str, ClassArtifact]) -> _Sides:
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
