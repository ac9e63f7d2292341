"""Judge a claim by the rows of this call and of all calls before, which a state has counted."""

import hashlib
import math
import shlex
from collections.abc import Sequence
from decimal import Decimal
from pathlib import PurePath

import numpy as np

from calibcli.commands.bins import lenient_limits, parted, shared_bins_notes, summary_of
from calibcli.commands.cutting import MOST_SEGMENTS, cut_columns, rows_again, spelling_notes
from calibcli.commands.gathering import RAW, RECALIBRATED, Gathered
from calibcli.commands.reading import read_evaluation, with_classes_of_map
from calibcli.commands.through_maps import outputs_through
from calibcli.data.columns import ResolvedColumns, listing
from calibcli.data.fields import on_scale
from calibcli.data.files import InputFile, file_word, refuse_read_once, shown_path
from calibcli.data.fragments import found_for
from calibcli.data.pipes import STDIN
from calibcli.data.readers import partitions_of
from calibcli.data.tally import GatherRequest
from calibcli.documents.artifact import Artifact, ClassArtifact, read_artifact, read_class_artifact
from calibcli.documents.sealed import canonical_text, trust
from calibcli.documents.state import locked, read_state, refuse_state, save_state
from calibcli.errors import EmptyTable, IdleOption, InputProblem, UsageProblem
from calibcli.names import (
    DEFAULT_BINS,
    DEFAULT_CONFIDENCE,
    MISSING,
    Binning,
    Bound,
    DataFormat,
    MeasureName,
    Relation,
    Scale,
    SegmentMeasure,
    Sign,
)
from calibcli.options.conditions import Condition, Literal
from calibcli.options.declaring import is_share, refuse_number
from calibcli.options.gating import StateOptions, VerifyOptions
from calibcli.options.numerals import folded, in_full, in_order, number_of, percent, phrases_said, plural
from calibcli.options.rows import Columns, DocumentSource, RowRequest, RowSource, SeveralClasses
from calibcli.options.rules import Rule, limit_option
from calibcli.reports.input import ClassesRead, InputSummary, together
from calibcli.reports.maps import InspectReport
from calibcli.reports.measure import TableSummary
from calibcli.reports.verify import StateSummary, VerifyReport
from calibcli.show.words import field_name
from calibcli.stats.gates.any_time import frozen_stakes
from calibcli.stats.gates.cells import FrozenSegments, Partition, Sums, sums_of_leaves, table_of
from calibcli.stats.gates.claim import Verdict
from calibcli.stats.gates.growth import Growth, Incoming, Rows, chance_of_twin, grown
from calibcli.stats.gates.segments import segments_of_sums
from calibcli.stats.gates.state import (
    Batch,
    GateState,
    SeenClasses,
    Terms,
    differences,
    measure_word,
    verdict_of,
    verdict_on_file,
)
from calibcli.stats.measures.distance import number_of_bins
from calibcli.stats.recalibrators.segments import completed
from calibcli.stats.table import grid as cells
from calibcli.stats.table.bins import NO_ATOMS, Bins, looks_discrete
from calibcli.stats.table.grid import GridTable, Table, digest
from calibcli.stats.table.running import RunningTable
from calibcli.values import dataclass, replace

GateMap = Artifact | ClassArtifact


@dataclass(frozen=True, slots=True)
class _Call:
    """What is asked of a state: the rows that it is given, how they are judged, and what it holds already."""

    rows: RowRequest
    options: VerifyOptions
    state: StateOptions
    loaded: GateMap | None
    before: GateState | None

    @property
    def rule(self) -> Rule | None:
        """The one rule; None for an alarm."""
        return self.options.rules[0] if self.options.rules else None

    @property
    def columns(self) -> Columns:
        return self.rows.columns


# What `of_columns` finds out, beside the classes.
_OF_COLUMNS = ("score", "label", "weight", "scale", "positive", "score_map")
# What was said of rows that a state keeps, and is held against it where no rows are read.
_KEPT = frozenset(
    {*_OF_COLUMNS, "score-map", "weights-are", "where", "on", "probs", "class", "classes", "view"}
)


def judge_with_state(rows: RowRequest, options: VerifyOptions, state: StateOptions) -> VerifyReport:
    """Count the rows of the inputs that a state does not know yet, and judge by all it holds.

    Every file is a batch. All files are read before the state is locked, and all are counted or none:
    whatever goes wrong, the state is what it was before or what it is after.
    """
    rows = with_classes_of_map(rows)
    columns, artifact = rows.columns, rows.artifact
    _refuse_options(columns, options, state)
    found = found_for(rows.inputs, columns, input_format=rows.reading.input_format)
    files = found.opened
    if state.batch is not None and not files:
        msg = f"--batch {state.batch} names rows, and there are none to count"
        raise IdleOption(msg, "name the files, or leave it out", options=("batch",))
    if not files and (idle := tuple(name for name in rows.options_given if name not in _KEPT)):
        msg = f"--{idle[0]} speaks of rows to read, and there are none"
        raise IdleOption(msg, "name the files, or leave it out", options=idle)
    given = [file.path for file in found.files] + ([] if artifact is None else [str(artifact)])
    refuse_state(state.path, inputs=given)
    loaded = gate_map(artifact, columns.several)
    before = read_state(state.path)
    call = _Call(rows, options, state, loaded, before)
    terms = terms_of(call)
    if before is not None:
        terms = as_before(terms, before.terms)
        terms = terms if files else _as_named(terms, columns)
        refuse_other_terms(state.path, before.terms, terms)
    elif not files:
        msg = f"{state.path}: there is no state yet, and no rows to begin one"
        raise InputProblem(msg, "name the files to count")
    read = ReadBatches(terms)
    if files:
        parts, whole = _parts(files, rows)
        read = read_batches(call, parts, terms)
        if whole is not None and read.source is not None:
            read = replace(read, source=whole)
        if read.source is not None:
            said = tuple(dict.fromkeys((*found.notes(), *read.source.notes)))
            selected = read.source.selected
            selected = None if selected is None else replace(selected, unopened=len(found.unopened))
            read = replace(read, source=replace(read.source, notes=said, selected=selected))
    growth, rows_before = update_state(state.path, read, least_rows=options.least_rows)
    report = _report(call, growth, read, rows_before)
    # Where rows were read, what is said of the artifact stands beside them.
    doubts = loaded.doubts if loaded is not None and not files else ()
    return replace(report, notes=(*doubts, *report.notes))


def _refuse_options(columns: Columns, options: VerifyOptions, state: StateOptions) -> None:
    if state.batch is not None and not (state.batch and state.batch.isprintable()):
        msg = f"a batch named {state.batch!r}"
        raise UsageProblem(msg, "--batch takes a name that can be printed")
    if columns.by and (len(columns.by) > 1 or state.batch is not None):
        msg = "--state with --by takes one column, whose values name the batches"
        raise UsageProblem(msg, "leave out --batch, and name one column such as --by month")
    view = columns.each_in
    if view is not None:
        msg = f"--state with --view {view.value} of every class"
        raise UsageProblem(msg, "name one with --class, and keep a state for each: all of them must pass")
    if options.allow_fit_rows:
        msg = "--state with --allow-fit-rows"
        raise UsageProblem(msg, "a state keeps what it counts: give it rows that the artifact has not seen")


def gate_map(path: DocumentSource | None, several: SeveralClasses | None) -> GateMap | None:
    if path is None:
        return None
    if several is None:
        return read_artifact(path)
    loaded = read_class_artifact(path)
    if several.one_class is not None and several.one_class not in loaded.classes:
        msg = f"{path}: there is no class {several.one_class!r}; the classes are {listing(loaded.classes)}"
        raise UsageProblem(msg, "name one of them with --class")
    return loaded


def fingerprint_of(artifact: GateMap) -> str:
    """Return what tells the map of an artifact: of its method, parameters and columns, not of its wording."""
    document = artifact.to_dict()
    told = canonical_text({key: document[key] for key in ("method", "parameters", "input")})
    return f"sha256:{hashlib.sha256(told.encode()).hexdigest()}"


MOST_BINS = 10_000

# Variance of a label, of which bets on segments are sharp from 250 rows on: many segments are small.
_OF_A_SEGMENT = 0.04


def terms_of(call: _Call) -> Terms:
    """Return the terms of a call; those of its columns are added when the first file is read."""
    artifact, before, options, several = call.loaded, call.before, call.options, call.columns.several
    measure, limit = _measure_and_limit(call.rule)
    if isinstance(measure, SegmentMeasure):
        partition = _of_segments(call)
    else:
        values = _known_values(call)
        partition = _of_distance(call) if measure is MeasureName.DCE else _partition(call, values)
    if before is not None:
        # The bets of the state, whatever a later version would choose.
        stakes = before.terms.stakes
    else:
        variance = artifact.fit.mean_variance if isinstance(artifact, Artifact) else None
        variance = _OF_A_SEGMENT if partition.segments is not None else variance
        stakes = frozen_stakes(delta=1.0 - options.confidence, variance=variance)
    return Terms(
        measure=measure,
        limit=limit,
        confidence=options.confidence,
        partition=partition,
        stakes=stakes,
        alarm=call.state.alarm,
        artifact=None if artifact is None else fingerprint_of(artifact),
        by_id=call.state.id_column is not None,
        classes=None if several is None else SeenClasses(several.view, several.one_class),
        where=tuple(sorted(one.text.strip() for one in call.columns.rows.where)),
    )


def _of_segments(call: _Call) -> Partition:
    """Return the columns that make segments; their values are frozen when the first file is read."""
    options, state, columns = call.options, call.state, call.columns
    if state.id_column is not None:
        msg = "--id with a limit for segments: such a state recognises whole batches, not single rows"
        raise UsageProblem(msg, "leave it out, and name batches with --batch")
    if state.planned_rows is not None or options.bins is not None or options.binning is not None:
        msg = "--bins, --binning or --planned-rows with --max-segment-bias, which has no bins"
        raise IdleOption(msg, "leave it out", options=("bins", "binning", "planned-rows"))
    cut = options.segments.cut
    depth = min(cut.depth, len(columns.on))
    least = options.segments.least_rows
    kinds = tuple(sorted(cut.categorical)), tuple(sorted(cut.numeric))
    return Partition.of_segments(FrozenSegments(columns.on, depth, cut.most_values, least, *kinds))


def frozen(evaluation: Gathered, requested: FrozenSegments, options: VerifyOptions) -> Partition:
    """Return the values of columns and the segments of the first rows, which are the state's for good."""
    levels = cut_columns(evaluation, evaluation.resolved.requested, options.segments.cut)
    columns, whole = completed(levels)
    partition = Partition.of_segments(replace(requested, columns=columns))
    sums = sums_of_leaves(rows_again(evaluation).by_levels(whole, coarse=True).cells(), partition)
    _, found = segments_of_sums(sums, partition, replace(requested, columns=columns))
    large = (found.rows >= requested.least_rows) & ~found.same
    if large.sum() > MOST_SEGMENTS or not large.any():
        msg = f"--on {','.join(requested.on)} makes {large.sum():,} segments of {requested.least_rows:,} rows"
        hint = "begin the state with more rows, or with a smaller --min-segment-rows"
        if large.any():
            hint = f"at most {MOST_SEGMENTS:,}: lower --depth or --max-values, or name fewer"
        raise UsageProblem(msg, hint)
    judged_ones = tuple(map(tuple, found.level[large].tolist()))
    return replace(partition, segments=replace(requested, columns=columns, judged=judged_ones))


def of_columns(terms: Terms, resolved: ResolvedColumns) -> Terms:
    seen = None if terms.classes is None else replace(terms.classes, names=resolved.classes)
    requested = resolved.requested
    return replace(
        terms,
        score=resolved.shown_score,
        label=resolved.label,
        weight=resolved.weight,
        scale=requested.read_as,
        positive=requested.positive,
        score_map=None if requested.score_map is None else dict(requested.score_map),
        classes=seen,
    )


def as_before(terms: Terms, before: Terms) -> Terms:
    """Return terms with the columns of a state, for what can be told before a file is read."""
    seen, partition = terms.classes, terms.partition
    if seen is not None and before.classes is not None:
        seen = replace(seen, names=before.classes.names)
    mine, other = partition.segments, before.partition.segments
    if mine is not None and other is not None:
        partition = Partition.of_segments(replace(mine, columns=other.columns, judged=other.judged))
    known = {name: getattr(before, name) for name in _OF_COLUMNS}
    return replace(terms, classes=seen, partition=partition, **known)


def _as_named(terms: Terms, columns: Columns) -> Terms:
    """Return terms with what was said of columns, where no file tells which they are."""
    named = {name: getattr(columns, name) for name in _OF_COLUMNS}
    if columns.score_map is not None:
        named["score_map"] = dict(columns.score_map)
    return replace(terms, **{name: value for name, value in named.items() if value is not None})


def refuse_other_terms(path: str, before: Terms, now: Terms) -> None:
    """Refuse a call whose rows could not be added to those of the state."""
    found = differences(before, now)
    if None not in (before.artifact, now.artifact) and before.artifact != now.artifact:
        msg = f"{path} counts rows of another artifact than the one given"
        raise UsageProblem(msg, "a new model needs a new --state")
    if found:
        msg = f"{path} was begun with other options: {'; '.join(found)}"
        raise UsageProblem(msg, f"ask as before{_options_before(before, now)}, or begin another --state")


def _options_before(before: Terms, now: Terms) -> str:
    """Return the options that a call lacks, or has too many."""
    pairs = (
        (before.by_id, now.by_id, "--id COL"),
        (before.artifact is not None, now.artifact is not None, "--artifact FILE"),
        (before.alarm, now.alarm, "--alarm"),
    )
    found = [f"{'with' if then else 'without'} {option}" for then, this, option in pairs if then != this]
    return f", {' and '.join(found)}" if found else ""


def _measure_and_limit(rule: Rule | None) -> tuple[MeasureName | SegmentMeasure, float | None]:
    """Return what is judged; without a rule it is an alarm."""
    if rule is None:
        return MeasureName.ECE, None
    subject = rule.subject
    if not isinstance(subject, MeasureName | SegmentMeasure) or not subject.facts.any_time:
        msg = f"--state with {subject.value}, for which no bound holds at any time"
        hint = "a state takes --max-ece, --max-dce or --max-segment-bias; leave out --state for a single look"
        raise UsageProblem(msg, hint)
    if rule.bound is not Bound.UPPER or rule.relation is not Relation.AT_MOST:
        msg = f"--state with {subject.value}.{rule.bound.value}{rule.relation.value}{in_full(rule.limit)}"
        raise UsageProblem(msg, f"a state takes --{limit_option(subject)} {in_full(rule.limit)}")
    if not is_share(rule.limit):
        refuse_number(
            f"--{limit_option(subject)}", rule.limit, is_share, "a number between 0 and 1, such as 0.02"
        )
    return subject, rule.limit


def _known_values(call: _Call) -> tuple[float, ...]:
    """Return the values that the score can have: of a map, as named here, or when a state was begun."""
    options, before, mapped = call.options, call.before, call.loaded is not None
    if call.loaded is not None and (found := outputs_through(call.loaded, call.columns.several)):
        return found
    if options.values or mapped or before is None or before.terms.artifact is not None:
        return declared_values(options, call.columns, mapped=mapped)
    return before.terms.partition.outputs if options.binning is None else ()


def _partition(call: _Call, outputs: tuple[float, ...]) -> Partition:
    options, before = call.options, call.before
    if call.state.planned_rows is not None:
        msg = "--planned-rows without --max-dce"
        why = "the bins of other measures do not depend on the number of rows"
        raise IdleOption(msg, why, options=("planned-rows",))
    if options.bins is None and options.binning is not Binning.EQUAL_WIDTH and outputs:
        return Partition(outputs)
    if options.binning is Binning.ATOMS:
        msg = "a state needs bins that are fixed in advance, and these values are only found in the rows"
        raise UsageProblem(msg, "name the values that the score can have, such as --bins 0.0003,0.001,0.01")
    bins = options.bins
    if bins is None and before is not None and before.terms.partition.bins:
        bins = before.terms.partition.bins
    bins = DEFAULT_BINS if bins is None else bins
    if not 1 <= bins <= MOST_BINS:
        msg = f"{bins:,} bins"
        raise UsageProblem(msg, f"with --state, --bins takes a whole number from 1 to {MOST_BINS:,}")
    return _same_cells(Partition.of_bins(bins), before)


def declared_values(options: VerifyOptions, columns: Columns, *, mapped: bool) -> tuple[float, ...]:
    if options.values and mapped:
        msg = "--bins with values, and --artifact gives other values to the scores"
        raise UsageProblem(msg, "leave out --bins, or write the recalibrated scores to a file first")
    found = on_scale(np.array(options.values), columns.read_as)
    wrong = np.flatnonzero(~((found >= 0.0) & (found <= 1.0)))
    if wrong.size:
        named = in_full(options.values[wrong[0]])
        msg = f"--bins names {named}, which is no score on --scale {columns.read_as.value}"
        raise UsageProblem(msg, "write the values as they stand in the score column")
    return tuple(found.tolist())


def refuse_undeclared(table: Table, values: tuple[float, ...], *, scale: Scale, shown: str) -> None:
    if isinstance(table, GridTable):
        raise UsageProblem(NO_ATOMS, "pass --exact, or a number of bins such as --bins 15")
    other = np.flatnonzero((table.rows > 0) & ~np.isin(table.score, values))
    if other.size:
        found = float(table.score[other[0]])
        near = min(values, key=lambda one: abs(one - found))
        rows = int(table.rows[other].sum())
        msg = f"{shown}: {plural(rows, 'row', 'has')} a score that --bins does not name, such as {found!r}"
        hint = f"the nearest named is {near!r}: name every value that the score can have"
        as_stored = "" if scale is Scale.PROB else f", as it stands in the column (--scale {scale.value})"
        raise InputProblem(msg, f"{hint}{as_stored}")


def _same_cells(partition: Partition, before: GateState | None) -> Partition:
    """Return the partition, with the bins cut into cells as the state has them."""
    if before is not None and before.terms.partition.bins == partition.bins:
        return before.terms.partition
    return partition


def _of_distance(call: _Call) -> Partition:
    """Return the bins for as many rows as are planned, or those of the state."""
    options, before, planned = call.options, call.before, call.state.planned_rows
    if options.bins is not None or options.binning is not None:
        msg = "--bins or --binning with --max-dce, whose bins follow from --planned-rows"
        raise IdleOption(msg, "leave it out", options=("bins", "binning"))
    if planned is not None:
        return _same_cells(Partition.of_bins(number_of_bins(planned), halved=True), before)
    if before is not None and before.terms.measure is MeasureName.DCE:
        return before.terms.partition
    msg = "--max-dce with a new --state, and nothing says how many rows it will hold"
    raise UsageProblem(msg, "say so with --planned-rows, such as --planned-rows 100000: it fixes the bins")


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the rows, which are a batch of their own.

    Args:
        shown: What they are called in messages.
        where: What tells them from the other rows of their files.
        named: What the batch is called; None for what `--batch` says, or their digest.
        file: The name of their file, where it has one.
    """

    inputs: Sequence[RowSource]
    shown: str
    forced: DataFormat | None = None
    where: tuple[Condition, ...] = ()
    named: str | None = None
    file: str | None = None


def _parts(files: Sequence[InputFile], rows: RowRequest) -> tuple[tuple[Part, ...], InputSummary | None]:
    """Return every file as a part; or of `--by` the rows of each value in order, with all that was read."""
    if not rows.columns.by or not files:
        each = (
            Part([file.rows or file.path], shown_path(file.path), file.forced, file=_file_name(file))
            for file in files
        )
        return tuple(each), None
    refuse_read_once(rows.inputs, "--state with --by reads it batch by batch")
    key = RAW if rows.artifact is None else RECALIBRATED
    whole = read_evaluation(rows, GatherRequest(sliced=(key,), part=True))
    (column,), found = whole.resolved.by, whole.extras.slices[key].tables()
    counts = {name: table.total_rows for (name,), table in found.items()}
    if MISSING in counts:
        one = counts[MISSING] == 1
        rows_are = "1 row has no value, and is" if one else f"{counts[MISSING]:,} rows have no value, and are"
        msg = f"column {column!r}: {rows_are} in no batch"
        raise InputProblem(msg, f"fill them in, or leave them out: --where '{column}!=-'")
    numbers = {name: number_of(name) for name in in_order(list(counts))}
    known: dict[Decimal, str] = {}
    for name, number in numbers.items():
        if number is not None and known.setdefault(number, name) != name:
            msg = (
                f"column {column!r}: {known[number]!r} and {name!r} are one number, and would be two batches"
            )
            raise InputProblem(msg, "write it in one way")
    in_path = [_in_path(file, column) for file in files]
    parts = tuple(
        Part(
            _holding(name, number, files, in_path) or rows.inputs,
            f"{column}={name}",
            where=(Condition(column, Sign.EQUAL, (Literal(name, number),), name),),
            named=name,
        )
        for name, number in numbers.items()
    )
    return parts, replace(whole.input, notes=(*whole.input.notes, *whole.notes))


def _in_path(file: InputFile, column: str) -> str | None:
    """Return the value of a column that the path of a file stands for; None where its rows may have any."""
    if file.rows is not None:
        return None
    return next((text for name, text in partitions_of(file.path) if folded(name) == folded(column)), None)


def _holding(
    name: str, number: Decimal | None, files: Sequence[InputFile], in_path: Sequence[str | None]
) -> list[RowSource]:
    """Return the files that may hold rows of a batch; none where that is not known of any, or is of all.

    A folder of many days would else be read whole for each of them.
    """
    if not any(in_path) or any(file.forced is not None for file in files):
        return []
    told = zip(files, in_path, strict=True)
    return [
        file.rows or file.path
        for file, text in told
        if text is None or text.strip() == name or (number is not None and number_of(text) == number)
    ]


def _file_name(file: InputFile) -> str | None:
    """Return what a file is called in its folder, by which a second run tells it from others."""
    return None if file.rows is not None or file.path == STDIN else PurePath(file.path).name or None


@dataclass(frozen=True, slots=True)
class ReadBatches:
    """Read and not counted yet: a batch for each file with rows, and terms with the columns of the first."""

    terms: Terms
    batches: tuple[Incoming, ...] = ()
    source: InputSummary | None = None


def read_batches(call: _Call, parts: Sequence[Part], terms: Terms) -> ReadBatches:
    rows, requested = call.rows, call.state
    artifact, form = rows.artifact, rows.reading.input_format
    key = RAW if artifact is None else RECALIBRATED
    nested = bool(terms.partition.outputs) or cells.CELLS % terms.partition.size == 0
    twice = not nested or terms.partition.segments is not None
    gather_request = GatherRequest(by_id=key if terms.by_id else None, part=True, twice=twice)
    columns = replace(rows.columns, identity=requested.id_column)
    batches: list[Incoming] = []
    sources: list[InputSummary] = []
    empty: list[EmptyTable] = []
    whole = RunningTable(rows.reading.limit)
    for part in parts:
        how = replace(rows.reading, input_format=replace(form, format=part.forced or form.format))
        resolved = replace(columns.rows, where=(*columns.rows.where, *part.where))
        own = RowRequest(part.inputs, replace(columns, by=(), rows=resolved), artifact, how)
        try:
            evaluation = read_evaluation(own, gather_request)
        except EmptyTable as problem:
            empty.append(problem)
            continue
        if not sources:
            columns, terms = _settled(columns, terms, evaluation, call.options)
        _refuse_other_classes(terms, evaluation, shown=part.shown)
        if evaluation.recalibrated:
            whole.add(_not_of_the_fit(evaluation, evaluation.as_fitted))
        if terms.artifact is None and terms.partition.outputs:
            values, scale = terms.partition.outputs, terms.scale
            refuse_undeclared(evaluation.table, values, scale=scale, shown=part.shown)
        loaded = evaluation.artifact
        if isinstance(loaded, GateMap) and fingerprint_of(loaded) != terms.artifact:
            msg = f"{artifact} changed while it was read"
            raise InputProblem(msg, "run again when nothing writes to it")
        named = part.named or requested.batch
        if requested.batch is not None and len(parts) > 1:
            # Files of one call that share a name are told apart by their order.
            named = f"{named}/{len(batches) + 1}"
        batches.append(_incoming(evaluation, terms, part=part, named=named, alone=len(parts) == 1))
        source = evaluation.input
        sources.append(replace(source, notes=(*source.notes, *evaluation.notes)))
    if empty and not batches:
        raise empty[0]
    if not sources:
        return ReadBatches(terms)
    _not_of_the_fit(evaluation, whole.table())
    source = together(sources)
    segments = terms.partition.segments
    spelled = () if segments is None else spelling_notes(segments.columns)
    notes = (*source.notes, *spelled, *(f"{one.message}: nothing of it is counted" for one in empty))
    return ReadBatches(terms, tuple(batches), replace(source, notes=notes))


def _settled(
    columns: Columns, terms: Terms, evaluation: Gathered, options: VerifyOptions
) -> tuple[Columns, Terms]:
    """Return columns and terms with what the first file settles of them."""
    resolved = evaluation.resolved
    score = None if resolved.probs is not None else resolved.score
    segments = terms.partition.segments
    if segments is not None and not segments.columns:
        terms = replace(terms, partition=frozen(evaluation, segments, options))
    return replace(columns, score=score, label=resolved.label), of_columns(terms, resolved)


def _not_of_the_fit(evaluation: Gathered, table: Table) -> Table:
    """Return a table, and refuse the rows of the fit: a file of them, or all files together."""
    if evaluation.fitted_to(table):
        msg = f"these are the {table.total_rows:,} rows that {evaluation.through} was fitted on"
        raise InputProblem(msg, "judge it by rows it has not seen: a state keeps what it counts")
    return table


def _refuse_other_classes(terms: Terms, evaluation: Gathered, *, shown: str) -> None:
    """Refuse a file whose classes are not those of the files before, or stand in another order."""
    resolved = evaluation.resolved
    if terms.classes is None or resolved.classes == terms.classes.names:
        return
    msg = f"{shown}: its classes are {listing(resolved.classes)}, those before {listing(terms.classes.names)}"
    raise InputProblem(msg, "give all files the same classes in one order: where two tie, the first counts")


def _incoming(evaluation: Gathered, terms: Terms, *, part: Part, named: str | None, alone: bool) -> Incoming:
    """Return a batch with the digest of its rows: of the raw scores, whatever artifact is applied."""
    found = _digest(evaluation)
    by_id = evaluation.extras.by_id
    one = Incoming(
        named or found,
        found,
        part.shown,
        evaluation.table,
        chance=chance_of_twin(evaluation.tables[RAW]),
        file=part.file if named is None else None,
        alone=alone,
    )
    if by_id is None:
        return replace(one, rows=_within(evaluation, terms.partition))
    if len(evaluation.resolved.identity) > 1:
        msg = f"--id {evaluation.resolved.shown_identity}: a state tells rows apart by one column"
        raise UsageProblem(msg, "write both into one column, such as 2024-01-05/7")
    ids, score, label, counts = by_id.columns()
    state = hashlib.sha256(found.encode())
    state.update(np.sort(ids).astype("<u8").tobytes())
    content, found = found, f"sha256:{state.hexdigest()}"
    return replace(
        one,
        key=named or found,
        digest=found,
        rows=Rows(ids, score, label, counts),
        id_kinds=evaluation.id_kinds,
        content=content,
        ids_renamed=evaluation.ids_renamed,
    )


def _digest(evaluation: Gathered) -> str:
    """Return what tells the rows of a batch.

    A map of several classes may move rows into the view that is judged, so that it takes the raw confidence
    and what is judged to tell them.
    """
    tables = evaluation.tables
    if not isinstance(evaluation.artifact, ClassArtifact):
        return digest(tables[RAW])
    state = hashlib.sha256("".join(digest(tables[key]) for key in sorted(tables)).encode())
    return f"sha256:{state.hexdigest()}"


def _within(evaluation: Gathered, partition: Partition) -> Table | Sums:
    """Return the table with no cell of its grid, where it is one, cut by a cell of the partition."""
    if partition.segments is not None:
        levels = tuple(one.levels for one in partition.segments.columns)
        return sums_of_leaves(rows_again(evaluation).by_levels(levels, coarse=True).cells(), partition)
    if partition.outputs:
        return evaluation.table
    return parted(evaluation.table, Bins(Binning.EQUAL_WIDTH, partition.edges), again=evaluation.table_again)


def update_state(path: str, read: ReadBatches, *, least_rows: int) -> tuple[Growth, int]:
    """Add batches to a state while nobody else does."""
    with locked(path):
        # What is read now is what is replaced, and not what others make of it meanwhile without the lock.
        refuse_state(path)
        before = read_state(path)
        if before is not None:
            refuse_other_terms(path, before.terms, read.terms)
        start = GateState(read.terms) if before is None else before
        if start.terms.label is None:
            # A state of version 1 did not say which columns it counts.
            named = replace(start.terms, label=read.terms.label, weight=read.terms.weight)
            start = replace(start, terms=named)
        if start.since == 1 and start.ids.size:
            _refuse_renamed(path, read.batches)
        growth = grown(start, read.batches, least_rows=least_rows)
        found = growth.state
        _refuse_never_positive(found)
        same = before is not None and (found.rows, found.passed_at, found.failed_at) == (
            before.rows,
            before.passed_at,
            before.failed_at,
        )
        # What was edited, or signed otherwise, is taken over where that was asked for.
        if not same or trust().allow_edited:
            save_state(path, found)
    return growth, start.rows


def _refuse_renamed(path: str, batches: Sequence[Incoming]) -> None:
    """Refuse ids that had other names when a state was begun, by which no row would be known again."""
    other = next((batch.shown for batch in batches if batch.ids_renamed), None)
    if other is not None:
        msg = f"{other}: state {path} was begun by a calibcli that named such ids otherwise"
        hint = "begin a new state: floats, decimals, times and durations are known again in that one"
        raise InputProblem(msg, hint)


def _refuse_never_positive(state: GateState) -> None:
    """Refuse a label that is to count as 1 and that no row has had so far: it may be misspelt."""
    positive = state.terms.positive
    if positive is not None and not state.sums.total_positive:
        says = "--positive says" if state.terms.artifact is None else "--positive or the fit of the map says"
        msg = f"no label is {positive!r}, as {says}"
        raise InputProblem(msg, "begin the state with rows that have it")


def _report(call: _Call, growth: Growth, read: ReadBatches, before: int) -> VerifyReport:
    found, rule, artifact = growth.state, call.rule, call.rows.artifact
    verdict = verdict_of(found, least_rows=call.options.least_rows)
    every = list(found.by_name.items())
    # No batch of a merged state came last.
    last = [one for one in every[-1:] if one[1].look is not None]
    told = dict([*(one for one in every if one[1].stands_out), *last])
    summary = StateSummary(
        call.state.path,
        len(found.batches),
        found.rows,
        found.rows - before,
        growth.known,
        growth.known_rows,
        {name: one.own for name, one in told.items() if one.own is not None},
    )
    return VerifyReport(
        input=read.source or _no_input(found.terms),
        table=_table(found),
        artifact=None if artifact is None else str(artifact),
        verdicts={"alarm" if rule is None else rule.key: verdict},
        policy=call.options.policy,
        notes=(
            *found.notes,
            *growth.every_note,
            *_few_values(read, found.terms),
            *_one_bin(found),
            *_lenient(found, rule),
        ),
        state=summary,
    )


def _table(state: GateState) -> TableSummary:
    """Return what is said of all rows counted: outputs are known exactly, other scores to a cell."""
    partition = state.terms.partition
    summary = summary_of(table_of(state.sums, partition), discrete=bool(partition.outputs), fingerprint=False)
    return summary if partition.outputs else replace(summary, kind="cells", resolution=partition.width)


def _lenient(state: GateState, rule: Rule | None) -> tuple[str, ...]:
    """Say that the limit says little; an alarm has another question."""
    partition = state.terms.partition
    if rule is None or partition.segments is not None or not isinstance(rule.subject, MeasureName):
        return ()
    return lenient_limits(table_of(state.sums, partition), [(rule.subject, rule.limit)])


def _one_bin(state: GateState) -> tuple[str, ...]:
    partition = state.terms.partition
    if partition.outputs or partition.segments is not None:
        return ()
    table, bins = table_of(state.sums, partition), partition.as_bins
    measures = (state.terms.measure,)
    return shared_bins_notes(table, bins, requested=True, measures=measures, finer="--max-dce looks closer")


def _few_values(read: ReadBatches, terms: Terms) -> tuple[str, ...]:
    """Say that values which look like all there are were not taken for them."""
    if terms.partition.outputs or terms.artifact is not None:
        return ()
    tables = [batch.rows for batch in read.batches if not isinstance(batch.rows, Rows | Sums)]
    few = [table for table in tables if looks_discrete(table)]
    if not few:
        return ()
    over = terms.partition.described
    how = "if they were known before, a new state takes them: --bins V,V,..."
    return (f"the score has few values, but they were not fixed in advance: the gate uses {over}; {how}",)


def _no_input(terms: Terms) -> InputSummary:
    seen = terms.classes
    classes = None if seen is None else ClassesRead(len(seen.names), seen.view, seen.one_class, 0, 0, 0)
    return InputSummary((), terms.score, None, None, 0, 0, 0, classes=classes)


_LISTED = 10


def report_of(path: str | None, state: GateState) -> InspectReport:
    """Return what a state holds, what it says, and, where it has a path, how to ask it again."""
    terms = state.terms
    word = field_name(measure_word(terms.measure, terms.partition))
    limit = in_full(terms.limit or 0.0)
    within = "exactly" if terms.limit is None else f"within {limit} ({word})"
    question = f"still calibrated {within}?" if terms.alarm else f"{word} <= {limit}?"
    positive = state.sums.total_positive
    facts = [
        ("question", f"{question} at {percent(terms.confidence)} confidence, however often you check"),
        ("judged over", terms.partition.described),
        ("score", f"{terms.score} ({terms.scale.value})"),
        ("label", terms.label or "not known: the state was begun as version 1"),
        *_classes(terms.classes),
        *[("rows where", one) for one in terms.where],
        ("artifact", terms.artifact or "none"),
        ("rows", f"{state.rows:,}, {positive:,} with label 1"),
        ("identities", f"{state.ids.size:,} kept" if terms.by_id else "not kept"),
    ]
    facts.append(("batches", f"{len(state.batches):,}"))
    if state.batches:
        facts += _found(state, verdict_on_file(state))
    every = list(state.by_name.items())
    listed, more = every[-_LISTED:], every[:-_LISTED]
    facts += [("batch", _batch_words(*one)) for one in listed]
    if more:
        facts.append(("...", f"{plural(len(more), 'earlier batch')}, in the file"))
    earlier = [one for one in more if one[1].stands_out]
    facts += [("batch", _batch_words(*one)) for one in earlier[-_LISTED:]]
    if any(one.stands_out for one in state.batches):
        facts.append(("stands out", "at most 1 of 1,000 calibrated batches of these scores is so far off"))
    facts += [("note", note) for note in state.notes]
    again = None if path is None else _again(path, state)
    return InspectReport(path or "", "state of a gate", tuple(facts), (), again)


def _batch_words(name: str, batch: Batch) -> str:
    own = batch.own
    said = f"{name}: {plural(batch.rows, 'row')}"
    if own is None:
        return said
    out = "; stands out" if own.stands_out else ""
    return f"{said}, ECE {own.value:.4g} alone (by chance up to {own.by_chance:.4g}){out}"


def _found(state: GateState, verdict: Verdict) -> list[tuple[str, str]]:
    terms = state.terms
    facts = [("verdict", f"{verdict.outcome.value}{'' if verdict.reason is None else f': {verdict.reason}'}")]
    facts.append(("estimate", f"{verdict.value:.4g}"))
    if verdict.lower is not None and verdict.upper is not None:
        facts.append(("bounds", f"{verdict.lower:.4g} and {verdict.upper:.4g}, one-sided each"))
    evidence = verdict.evidence
    if evidence is None:
        return facts
    needed = f"{_tens(terms.threshold)} decides"
    facts.append(
        ("evidence for an alarm" if terms.alarm else "evidence for a fail", _tens(evidence.log_fail))
    )
    if evidence.log_pass is not None:
        facts.append(("evidence for a pass", _tens(evidence.log_pass)))
    facts[-1] = (facts[-1][0], f"{facts[-1][1]}; {needed}")
    marks = (("passed after", evidence.passed_at), ("failed after", evidence.failed_at))
    facts += [(what, f"{rows:,} rows") for what, rows in marks if rows is not None]
    facts.append(("looks", f"{evidence.looks:,}"))
    return facts


def _tens(log: float) -> str:
    """Return a number from its natural logarithm, as a power of ten where it is large or small."""
    if math.isinf(log):
        return "infinite" if log > 0 else "0"
    if -9.0 < log < 14.0:
        return f"{math.exp(log):.4g}"
    return f"10^{log / math.log(10.0):.1f}"


def _again(path: str, state: GateState) -> str:
    terms = state.terms
    label = "LABEL" if terms.label is None else shlex.quote(terms.label)
    words = f"calibcli verify NEW.csv {_columns(terms)} -y {label}"
    words += "" if terms.weight is None else f" --weight {shlex.quote(terms.weight)} --weights-are frequency"
    words += "" if terms.scale is Scale.PROB else f" --scale {terms.scale.value}"
    phrases = phrases_said(terms.score_map)
    words += "" if terms.score_map is None else f" --score-map {shlex.quote(phrases)}"
    words += "" if terms.positive is None else f" --positive {shlex.quote(terms.positive)}"
    words += "".join(f" --where {shlex.quote(one)}" for one in terms.where)
    words += "" if terms.limit is None else f" --{limit_option(terms.measure)} {terms.limit!r}"
    words += "" if terms.partition.segments is None else f" {terms.partition.segments.words}"
    words += "" if terms.confidence == DEFAULT_CONFIDENCE else f" --confidence {terms.confidence!r}"
    if terms.artifact is not None:
        words += " --artifact CAL.json"
        # Without --bins the outputs of a discrete artifact would be asked for.
        bins = terms.partition.bins if terms.measure is MeasureName.ECE else 0
        words += f" --bins {bins}" if bins else ""
    words += " --alarm" if terms.alarm else ""
    words += " --id COL" if terms.by_id else ""
    return f"{words} --state {file_word(path)}"


def _columns(terms: Terms) -> str:
    seen, score = terms.classes, shlex.quote(terms.score)
    if seen is None:
        return f"-s {score}"
    if seen.one_class is None:
        return f"--probs {score}"
    return f"--probs {score} --view {seen.view.value} --class {shlex.quote(seen.one_class)}"


def _classes(seen: SeenClasses | None) -> list[tuple[str, str]]:
    if seen is None:
        return []
    return [("view", seen.words), ("classes", f"{len(seen.names):,}: {listing(seen.names)}")]
