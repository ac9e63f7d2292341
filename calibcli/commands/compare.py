"""Compare two scores, or two recalibrations of one score, on the same rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from calibcli.commands.bins import refuse_idle_bins
from calibcli.commands.gathering import CONFIDENCE, RAW, Gathered
from calibcli.commands.measure import (
    KEYS,
    MOST_IN_FULL,
    class_groups,
    class_views,
    refuse_class_measures,
    views_shown,
)
from calibcli.commands.reading import read_tables, with_classes_of_map, with_scores
from calibcli.commands.row_checks import read_notes, repeated_notes, two_classes_notes
from calibcli.commands.scale_checks import sure_notes, table_scale_notes
from calibcli.commands.slices import Group, level_of, refuse_cut_cells
from calibcli.commands.through_maps import (
    ClassMap,
    as_fitted,
    map_columns,
    note_reach,
    outputs_through,
    refuse_applied_twice,
    row_map,
)
from calibcli.commands.two_tables import Seen, compared_by, comparisons, shared_bins_of, side_of
from calibcli.data.tally import Change, ClassesCompared, GatherRequest, Unchanged
from calibcli.documents.artifact import (
    Artifact,
    ClassArtifact,
    OneScore,
    read_class_artifact,
    read_one_or_members,
)
from calibcli.errors import EmptyTable, IdleOption, InputProblem, UsageProblem
from calibcli.names import DEFAULT_LEAST_ROWS, Binning, ClassMeasure, MeasureName, OnMissing, ViewName
from calibcli.options.measuring import CompareOptions, MeasureOptions, Metrics, refuse_fit_rows
from calibcli.options.numerals import plural
from calibcli.options.rows import Columns, DocumentSource, RowRequest, SeveralClasses
from calibcli.reports.compare import (
    ClassComparison,
    ClassesComparison,
    CompareReport,
    Comparison,
    ViewComparison,
)
from calibcli.stats.measures import ClassEstimate
from calibcli.stats.measures.classes import ClassViews, class_measure
from calibcli.stats.measures.classes.differences import JOINT
from calibcli.stats.measures.differences import PAIRED, Difference, PairedSums
from calibcli.stats.table.grid import is_of_rows
from calibcli.values import dataclass, replace

if TYPE_CHECKING:
    from calibcli.reports.leaderboard import LeaderboardReport

_FIRST, _SECOND = "first", "second"

Loaded = Mapping[str, OneScore | ClassArtifact]


def compare_files(
    rows: RowRequest, *, artifacts: Sequence[DocumentSource] = (), options: CompareOptions | None = None
) -> "CompareReport | LeaderboardReport":
    """Compare two sides, of which the first is the baseline, or more scores as a leaderboard."""
    requested = options or CompareOptions()
    refuse_fit_rows(artifacts, allowed=requested.allow_fit_rows, gate=requested.fail_if_worse)
    rows = with_scores(with_classes_of_map(rows, maps=artifacts))
    columns = rows.columns
    many = _is_leaderboard(columns, artifacts, requested)
    # Of two scores the usual measures are over bins as well.
    usual = PAIRED if many else (MeasureName.ECE,)
    refuse_idle_bins(requested.metrics or usual, requested.bins, requested.binning)
    if many:
        from calibcli.commands.leaderboard import leaderboard

        return leaderboard(rows, options=requested)
    if requested.metrics and requested.joint:
        refuse_class_measures(columns, Metrics((), (), requested.joint))
    _require_two(columns, artifacts)
    several = columns.several
    read: Callable[[DocumentSource], OneScore | ClassArtifact] = (
        read_one_or_members if several is None else read_class_artifact
    )
    loaded: Loaded = {str(path): read(path) for path in artifacts}
    said, columns = columns.scale is not None, _as_all_fitted(columns, loaded)
    gathered = _gathered(replace(rows, columns=columns), loaded, requested.ranked)
    raw = gathered.as_fitted
    notes = list(repeated_notes(gathered))
    paired: PairedSums | None
    if not loaded:
        names = {_SECOND: gathered.resolved.further[0]}
        notes += read_notes(gathered, names)
        notes += sure_notes(gathered, names)
    for path, artifact in loaded.items():
        notes += artifact.doubts
        fit = artifact.of_all_rows.fit
        outputs = outputs_through(artifact, None)
        refuse_applied_twice(raw, outputs, column=gathered.input.score, path=path)
        if is_of_rows(fit.table_digest, raw):
            notes.append(fit_note(path, fit.rows, requested))
        notes += () if said else table_scale_notes(gathered, artifact)
    sides = _sides(gathered, loaded, several)
    first, second = sides.first, sides.second
    if not first.table.total_rows:
        msg = f"none of {raw.total_rows:,} rows predicts the requested class on the first side"
        raise EmptyTable(msg)
    if several is None:
        for one, other in ((first, second), (second, first)):
            notes += shared_bins_of(one, other, requested)
        paired = gathered.paired or PairedSums()
        maps = [one.recalibrator for one in loaded.values() if isinstance(one, Artifact)]
        if maps and len(maps) == len(loaded):
            note_reach(paired, maps, raw, sides=(first.table, second.table))
    else:
        notes += two_classes_notes(gathered.input, gathered.resolved.classes)
        notes += _change_notes(sides, several)
        paired = _paired(sides, several)
    return CompareReport(
        input=gathered.input,
        first=side_of(first, second, requested),
        second=side_of(second, first, requested),
        confidence=requested.confidence,
        selected=bool(requested.metrics),
        comparisons=comparisons(first, second, paired, options=requested),
        gate=requested.gate(_PROPER if columns.sees_all_classes and columns.each_in is None else PAIRED),
        notes=tuple(dict.fromkeys(notes)),
        classes=_classes(sides, columns, requested) if columns.sees_all_classes else None,
    )


def _is_leaderboard(columns: Columns, artifacts: Sequence[DocumentSource], requested: CompareOptions) -> bool:
    """Whether more than a baseline and another are compared; refuse what would then have no effect."""
    in_rows = columns.by and columns.identity is not None
    if MeasureName.OBSERVED_RATE in (requested.metrics or ()) and not in_rows:
        msg = "observed_rate is the share of label 1, which is the same for every score of the same rows"
        raise UsageProblem(msg, "compare models in rows with --by and --id, or ask for another measure")
    said = {"by": columns.by or None, "reference": requested.reference, "cluster": columns.cluster}
    named = next((name for name, value in said.items() if value is not None), None)
    if artifacts and named is not None:
        msg = f"--{named} compares scores as they are, and --artifact recalibrates them"
        hint = "leave out one of them, or `apply` the artifact first and compare the column that it adds"
        raise IdleOption(msg, hint, options=(named, "artifact"))
    if columns.identity is not None and not columns.by:
        msg = "--id matches the rows of models, and --by names none"
        raise IdleOption(msg, "name the column of models with --by", options=("id",))
    few = len(columns.others) < 2 and columns.on_missing is not OnMissing.PAIRWISE
    # One score, by whatever options, is none to compare with itself.
    others = columns.by or columns.others or requested.reference not in (None, columns.score)
    many = not artifacts and bool(others) and (named is not None or not few)
    if requested.pairs and not many:
        msg = "--pairs lists the pairs of more than two scores"
        raise IdleOption(msg, "leave it out, or name more scores", options=("pairs",))
    return many


def fit_note(path: str, rows: int, requested: CompareOptions) -> str:
    """Refuse a gate on rows that an artifact was fitted on; return what is said of them elsewhere."""
    if requested.fail_if_worse and not requested.allow_fit_rows:
        msg = f"these are the {rows:,} rows that {path} was fitted on"
        raise InputProblem(msg, "use rows that it was not fitted on, or pass --allow-fit-rows to go on")
    return f"these are the rows that {path} was fitted on: the comparison flatters it"


def _require_two(columns: Columns, artifacts: Sequence[DocumentSource]) -> None:
    scores = len(columns.others) + 1
    if scores > 1 and artifacts:
        msg = "two scores and an artifact: which are to be compared?"
        raise UsageProblem(msg, "name two scores, or one score and one or two artifacts")
    if len(artifacts) > 2:
        msg = f"{len(artifacts)} artifacts are named, and two are compared"
        raise UsageProblem(msg, "name the baseline first, then the other; run once for each pair")
    if scores == 1 and not artifacts:
        two = "" if columns.several is not None else "name two scores (-s a -s b), or "
        msg = "nothing to compare with"
        raise UsageProblem(msg, f"{two}add --artifact cal.json")
    if len(set(artifacts)) < len(artifacts):
        msg = f"{artifacts[0]} would be compared with itself"
        raise UsageProblem(msg, "--artifact takes two different files")


def _as_all_fitted(columns: Columns, loaded: Loaded) -> Columns:
    ways = {path: as_fitted(columns, artifact) for path, artifact in loaded.items()}
    if len({one.fitted for one in ways.values()}) > 1:
        # Which of them is meant nobody says.
        ways = {path: replace(one, fitted=None) for path, one in ways.items()}
    every = [one for one in loaded.values() if not isinstance(one, ClassArtifact)]
    members = [map_columns(one, columns.on_unseen) for one in every]
    looked_at = [one for one in members if one is not None]
    if len({(one.option, one.names) for one in looked_at}) > 1:
        msg = f"{' and '.join(ways)} use different columns in addition to the score"
        raise UsageProblem(msg, "write the rows of one with `calibcli apply`, and compare two scores")
    if len(set(ways.values())) > 1:
        here, there = ways.values()
        ways_apart = {
            "scale": here.read_as is not there.read_as,
            "score map": here.score_map != there.score_map,
        }
        what = next((name for name, apart in ways_apart.items() if apart), "positive label")
        of = "one score column" if columns.several is None else "the same columns"
        msg = f"{' and '.join(ways)} were fitted to another {what}"
        raise UsageProblem(msg, f"only maps of {of}, read in one way, can be compared")
    found = next(iter(ways.values()), columns)
    return replace(found, member=looked_at[0]) if looked_at else found


def _gathered(rows: RowRequest, loaded: Loaded, ranked: tuple[MeasureName, ...]) -> Gathered:
    """Read both sides at once, and the differences of their losses and ranks row by row."""
    transforms: dict[str, Change | None] = {RAW: None}
    maps = [row_map(one) for one in loaded.values() if not isinstance(one, ClassArtifact)]
    several = rows.columns.several
    if several is not None:
        changes = [ClassMap(one, path) for path, one in loaded.items() if isinstance(one, ClassArtifact)]
        base = changes[0] if len(changes) > 1 else None
        several = replace(several, change=changes[-1], base=base, mapped=True)
        rows = replace(rows, columns=replace(rows.columns, several=several))
        transforms = {CONFIDENCE: Unchanged.CONFIDENCE, RAW: Unchanged.VIEW, _SECOND: None}
        gather_request = GatherRequest(transforms, compared=True, one_class=several.one_class)
    elif len(maps) > 1:
        transforms[_FIRST], transforms[_SECOND] = maps
        gather_request = GatherRequest(transforms, pairs=((_FIRST, _SECOND),), ranked=ranked)
    else:
        transforms[_SECOND] = maps[0] if maps else None
        columns = {} if maps else {_SECOND: 1}
        gather_request = GatherRequest(transforms, columns, pairs=((RAW, _SECOND),), ranked=ranked)
    return read_tables(rows, gather_request)


@dataclass(frozen=True, slots=True)
class _Sides:
    """All rows of the view on both sides, the baseline first; classes are `compared` row by row, if any."""

    first: Seen
    second: Seen
    compared: ClassesCompared | None
    names: tuple[str, ...]

    @property
    def classes(self) -> ClassesCompared:
        if self.compared is None:
            msg = "these rows were not gathered to be compared class by class"
            raise TypeError(msg)
        return self.compared


def _sides(gathered: Gathered, loaded: Loaded, several: SeveralClasses | None) -> _Sides:
    score, tables = gathered.input.score, gathered.tables
    one, two = tables.get(_FIRST, tables[RAW]), tables[_SECOND]
    sides = [
        Seen(path, score, two, path, discrete=outputs_through(artifact, several) is not None)
        for path, artifact in loaded.items()
    ]
    if len(sides) < 2:
        sides.insert(0, Seen(score, score, one))
    if len(sides) < 2:
        other = gathered.resolved.further[0]
        sides.append(Seen(other, other, two))
    return _Sides(replace(sides[0], table=one), sides[1], gathered.extras.compared, gathered.resolved.classes)


EACH = (MeasureName.BRIER, MeasureName.LOG_LOSS, MeasureName.ECE)

FEW = (MeasureName.BRIER, MeasureName.ECE)

_OTHER_CLASS = (
    "their largest probabilities are about different classes, so only measures of all classes together show "
    "which side is better"
)

_OTHER_ROWS = "the two sides have different rows, so losses are compared by their intervals, not row by row"

_PROPER = (ClassMeasure.CLASS_LOG_LOSS, ClassMeasure.CLASS_BRIER)


def _paired(sides: _Sides, several: SeveralClasses) -> PairedSums | None:
    """Return the differences of what the whole shows; None where the sides have other rows."""
    differences = sides.classes.differences
    if several.one_class is None:
        return differences.confidence
    place = sides.names.index(several.one_class)
    if several.view is ViewName.ONE_VS_REST:
        return differences.against_rest(place)
    return differences.predicting(place)


def _change_notes(sides: _Sides, several: SeveralClasses) -> tuple[str, ...]:
    """Say what it means where rows predict another class on the second side."""
    changed = sides.classes.differences.changed
    same_rows = several.one_class is not None and several.view is ViewName.ONE_VS_REST
    if not changed or same_rows:
        return ()
    what = _OTHER_CLASS if several.one_class is None else _OTHER_ROWS
    return (f"{plural(changed, 'row', 'predicts')} another class on the second side: {what}",)


def _classes(sides: _Sides, columns: Columns, options: CompareOptions) -> ClassesComparison:
    """Compare all classes together, and each by itself in the views that are shown."""
    gated = columns.each_in is not None
    # A gate looks at all of its measures in every class, however many there are.
    few = (
        len(sides.names) > MOST_IN_FULL and options.metrics is None and not (gated and options.fail_if_worse)
    )
    names = options.shown if options.metrics else (FEW if few else EACH)
    each = replace(options, metrics=names, binning=options.binning or Binning.EQUAL_WIDTH)
    views = views_shown(columns) if names else ()
    return ClassesComparison(
        sides.names,
        sides.classes.differences.changed,
        _joint(sides, options) if options.joint else (),
        tuple(_view(sides, view, each) for view in views),
        gated=gated,
        few=few,
    )


def _joint(sides: _Sides, options: CompareOptions) -> tuple[Comparison, ...]:
    views, confidence = _views(sides, options), options.confidence

    def measured(name: ClassMeasure, side: int, confidence: float) -> ClassEstimate:
        return class_measure(name, replace(views[side], confidence=confidence))

    def row_by_row(name: ClassMeasure) -> Difference | None:
        differences = sides.classes.differences
        return differences.joint.difference(name, confidence=confidence) if name in JOINT else None

    return compared_by(options.joint, measured, row_by_row, confidence=confidence)


def _views(sides: _Sides, options: CompareOptions) -> list[ClassViews]:
    inside = MeasureOptions(bins=options.bins, binning=options.binning, confidence=options.confidence)
    found = []
    for side, extras in zip((sides.first, sides.second), sides.classes.sides, strict=False):
        both = class_groups(extras, ViewName.ONE_VS_REST), class_groups(extras, ViewName.TOP_LABEL)
        found.append(class_views(side.table, both, extras.sums, options=inside))
    return found


def _view(sides: _Sides, view: ViewName, options: CompareOptions) -> ViewComparison:
    compared = sides.classes
    parts = [class_groups(one, view) for one in compared.sides]
    first, second = ({one.key: one for one in part.measured(DEFAULT_LEAST_ROWS)} for part in parts)
    level = level_of(options.confidence, len(first.keys() & second.keys()))
    inside, rest = replace(options, confidence=level), view is ViewName.ONE_VS_REST
    found, left_out = {}, {}
    for place, name in enumerate(sides.names):
        key = f"{KEYS[view]}={name}"
        if key not in first or key not in second:
            left_out[key] = min(part.left_out(()).get(key, 0) for part in parts)
            continue
        sums = compared.differences.against_rest(place) if rest else compared.differences.predicting(place)
        found[key] = _class(sides, (first[key], second[key]), sums, options=inside)
    return ViewComparison(view, found, left_out, DEFAULT_LEAST_ROWS, level)


def _class(
    sides: _Sides, groups: tuple[Group, Group], paired: PairedSums | None, *, options: CompareOptions
) -> ClassComparison:
    for group in groups:
        refuse_cut_cells(group, options.bins, None)
    first, second = (group.table for group in groups)
    both = replace(sides.first, table=first), replace(sides.second, table=second)
    return ClassComparison(first.total_rows, second.total_rows, comparisons(*both, paired, options=options))
