"""Plan a gate: how many labelled rows it will take, before any are collected."""

import math
import shlex
from typing import TYPE_CHECKING, cast

import numpy as np

from calibcli.commands.bins import CUT, chosen_bins, refuse_idle_bins
from calibcli.commands.cutting import segments_in
from calibcli.commands.gathering import Gathered
from calibcli.commands.measure import class_groups
from calibcli.commands.reading import read_rows, with_classes_of_map
from calibcli.commands.scale_checks import table_scale_notes, unfitted_notes
from calibcli.commands.through_maps import outputs_through, through
from calibcli.commands.verify import refuse_continuous, refuse_segment_rules
from calibcli.data.tally import NOTHING, TWICE, GatherRequest
from calibcli.documents.artifact import (
    AnyArtifact,
    Artifact,
    ClassArtifact,
    GroupArtifact,
    of_one_score,
    read_any_map,
    read_class_artifact,
)
from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import (
    DEFAULT_BINS,
    DEFAULT_LEAST_ROWS,
    Binning,
    MeasureName,
    Purpose,
    VerdictName,
    ViewName,
)
from calibcli.options.gating import PlanOptions
from calibcli.options.numerals import in_full, rough_percent
from calibcli.options.rows import DocumentSource, RowRequest
from calibcli.reports.input import InputSummary
from calibcli.reports.plan import PlanReport, give_or_take
from calibcli.stats.gates import judge, plan
from calibcli.stats.gates.claim import Ground, Verdict
from calibcli.stats.gates.segments import SEGMENT_METHOD
from calibcli.stats.measures.segments import subset
from calibcli.stats.numerics import stream
from calibcli.stats.table import Floats, ScoreTable
from calibcli.stats.table.bins import ATOMS, FEW_VALUES, ROWS_EACH, Bins
from calibcli.stats.table.grid import LEVELS
from calibcli.stats.table.kernel import LEAST_BANDWIDTH
from calibcli.values import dataclass, replace

if TYPE_CHECKING:
    from calibcli.data.tally import ClassExtras

_EXAMPLE_ROWS = 100_000
# Of the fit rows of a continuous map, whose scores are known by a few quantiles.
_BETWEEN_QUANTILES = 10_000
# They are a poor guide if labels would vary so many times as much, or as little, as those of the fit rows.
_FAR_OFF = 1.2

_WAYS = "--artifact cal.json, or --like preds.csv -s score"


@dataclass(frozen=True, slots=True)
class _Scores:
    """Where scores fall: the population, the bins that judge it, and how that is known."""

    population: plan.Population
    bins: Bins
    known_from: str
    input: InputSummary | None = None
    outputs: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Made:
    """What was planned, and what it rests on."""

    found: plan.Plan
    measure: str
    method: str
    partition: str
    values: int
    known_from: str
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    input: InputSummary | None


def plan_rows(options: PlanOptions, rows: RowRequest) -> PlanReport:
    """Find how many labelled rows a gate takes, by simulating it; else by what an artifact knows."""
    rows = with_classes_of_map(rows)
    artifact = rows.artifact
    if options.measure is MeasureName.SMECE and options.wanted is VerdictName.PASS:
        _refuse_unresolved(options.rule.limit)
    refuse_segment_rules(options, rows)
    refuse_idle_bins((options.measure,), options.bins, options.binning)
    loaded = None if artifact is None else _loaded(artifact, rows)
    if loaded is not None and not rows.inputs:
        _refuse_without_rows(rows)
    made = _made(options, rows, loaded)
    found = made.found
    return PlanReport(
        measure=made.measure,
        limit=options.rule.limit,
        error=options.error,
        wanted=options.wanted,
        power=options.power,
        confidence=options.confidence,
        any_time=options.any_time,
        method=made.method,
        partition=made.partition,
        values=made.values,
        least_rows=options.least_rows,
        scores_from=made.known_from,
        pattern=found.population.words,
        rows=found.rows,
        reached=found.reached,
        simulations=found.times,
        rows_for_half=found.half,
        rows_by_theorem_12_4=found.by_theorem,
        rows_between_looks=found.step,
        artifact=None if artifact is None else str(artifact),
        input=made.input,
        seed=options.seed,
        assumptions=made.assumptions,
        notes=(*(() if loaded is None else loaded.doubts), *_notes(found, options), *made.notes),
    )


def _refuse_without_rows(rows: RowRequest) -> None:
    """Refuse what is said of columns and files where an artifact alone says how scores fall."""
    idle = tuple(option for option in rows.options_given if option not in ("on", "probs"))
    if idle:
        msg = f"--{idle[0]} speaks of rows, and the plan is made from {rows.artifact} alone"
        raise IdleOption(msg, "leave it out, or name rows too: --like preds.csv", options=idle)


def _loaded(path: DocumentSource, rows: RowRequest) -> AnyArtifact:
    """Return the artifact; one of several classes says where the largest probability of a row falls."""
    several = rows.columns.several
    loaded = read_any_map(path) if several is None else read_class_artifact(path)
    if not isinstance(loaded, ClassArtifact):
        return loaded
    if rows.inputs and several is None:
        return of_one_score(path, loaded)
    largest = several is None or (several.view is ViewName.CONFIDENCE and several.one_class is None)
    if rows.inputs or (largest and loaded.fit.output_quantiles is not None):
        return loaded
    what = "their scores fall" if largest else "those of each class fall"
    msg = f"{path}: it was fitted to {len(loaded.classes):,} classes, and does not say where {what}"
    raise UsageProblem(msg, f"name rows that do: `calibcli plan ROWS --artifact {shlex.quote(str(path))}`")


def _made(options: PlanOptions, rows: RowRequest, loaded: AnyArtifact | None) -> _Made:
    columns = rows.columns
    if options.rule.of_segments:
        if isinstance(loaded, ClassArtifact) or columns.several is not None:
            msg = f"{options.rule.key}: segments of several classes are not planned"
            raise UsageProblem(msg, "plan for one score, such as the confidence that apply writes")
        return _by_segments(options, rows, loaded)
    if columns.each_in is None:
        return _by_scores(options, rows, loaded)
    if options.any_time:
        msg = (
            f"plan --any-time speaks of one score, and --view {columns.each_in.value} has one for each class"
        )
        raise UsageProblem(msg, "name one class with --class, or leave out --view")
    return _by_classes(options, rows, loaded, columns.each_in)


def _by_classes(options: PlanOptions, rows: RowRequest, loaded: AnyArtifact | None, view: ViewName) -> _Made:
    """Plan a gate that every class must pass, as `verify --view` asks."""
    read = _read(rows, loaded, GatherRequest(classes=True))
    source = cast("ClassExtras", read.extras.classes)
    groups = [one for one in class_groups(source, view).groups if one.table.total_rows]
    bins = _bins_of(options, read)
    ground = replace(_ground(options, loaded, bins, read.outputs), claims=len(groups))
    requested = plan.Gate(options.rule, ground, options.wanted)
    measure = MeasureName(options.measure)
    parts = [
        plan.Part(
            one.key,
            one.table.total_rows / read.table.total_rows,
            plan.erring(plan.population_like(one.table, bins=bins, measure=measure), measure, options.error),
        )
        for one in groups
    ]
    generator = stream(options.seed, Purpose.PLAN)
    found, hardest, simulated = plan.planned_together(
        requested, parts, power=options.power, generator=generator
    )
    example = _example(requested, found, generator, any_time=False)
    known = _known(rows, read.input)
    every = f"all {len(parts):,} classes must pass; {hardest.name} is the hardest, and fewer rows may do"
    any_one = f"any of {len(parts):,} classes may be off, and it takes longest to show of {hardest.name}"
    some = f"simulated for the {simulated:,} classes that take most by a formula"
    return _Made(
        found,
        example.claim.measure,
        example.method,
        example.partition,
        hardest.patterns[0].score.size,
        known,
        (f"the rows to come have scores as {known}", *example.assumptions),
        (
            every if options.wanted is VerdictName.PASS else any_one,
            *([some] if simulated < len(parts) else []),
        ),
        read.input,
    )


def _by_scores(options: PlanOptions, rows: RowRequest, loaded: AnyArtifact | None) -> _Made:
    scores = _of_file(options, rows, loaded) if rows.inputs else _of_fit(options, loaded, rows.artifact)
    generator = stream(options.seed, Purpose.PLAN)
    ground = _ground(options, loaded, scores.bins, scores.outputs)
    requested = plan.Gate(options.rule, ground, options.wanted)
    patterns = plan.erring(scores.population, MeasureName(options.measure), options.error)
    found = plan.planned(
        requested, patterns, power=options.power, again=options.any_time, generator=generator
    )
    example = _example(requested, found, generator, any_time=options.any_time)
    known = scores.known_from
    return _Made(
        found,
        example.claim.measure,
        example.method,
        example.partition,
        scores.population.score.size,
        known,
        (f"the rows to come have scores as {known}", *example.assumptions),
        (
            *_of_values(found, example),
            *_of_binning(found, options, scores),
            *_of_state(options, scores),
            *_of_continuous(options, scores, loaded),
            *_of_rare_outputs(scores, loaded),
        ),
        scores.input,
    )


def _by_segments(options: PlanOptions, rows: RowRequest, loaded: AnyArtifact | None) -> _Made:
    """Plan a gate on the segments that a file has: those with enough rows there."""
    if not rows.inputs:
        msg = "how many rows it takes depends on how large segments are, and nothing says so"
        raise UsageProblem(msg, "pass a file of scores and columns: --like preds.csv -s score")
    read = _read(rows, loaded, TWICE)
    source = read.input
    cut = segments_in(read, rows, options.segments.cut)
    least, different = options.segments.least_rows, ~cut.found.same
    large = (cut.found.rows >= least) & different
    if not large.any():
        msg = f"no segment of {rows.inputs[0]} has {least:,} rows"
        raise UsageProblem(msg, "give it more rows, or pass a smaller --min-segment-rows")
    places, names = np.flatnonzero(large), cut.names()
    found = plan.planned_segments(
        plan.Gate(options.rule, _ground(options, loaded, ATOMS, read.outputs), options.wanted),
        cut.entries,
        subset(cut.found, places),
        [" and ".join(names[place]) or "all rows" for place in places.tolist()],
        error=options.error,
        power=options.power,
        generator=stream(options.seed, Purpose.PLAN),
    )
    known = _known(rows, source)
    smaller = float(cut.found.rows[~large & different].max(initial=0.0))
    return _Made(
        found,
        options.measure.value,
        SEGMENT_METHOD,
        f"{places.size:,} segments by {', '.join(rows.columns.on)}",
        found.population.score.size,
        known,
        (
            f"the rows to come have scores and columns as {known}",
            f"segments are those with {least:,} rows there",
        ),
        _of_smaller(found, float(cut.found.rows[large].min()), smaller, rows=source.rows),
        source,
    )


def _of_smaller(found: plan.Plan, least: float, smaller: float, *, rows: int) -> tuple[str, ...]:
    """Return how many rows the smallest segment gets, and what keeps out those that are smaller still."""
    if found.rows is None:
        return ()
    mine, others = (one * found.rows / rows for one in (least, smaller))
    said = f"the smallest of these segments gets about {mine:,.0f} of these rows"
    if others < DEFAULT_LEAST_ROWS:
        return (said,)
    between = float(f"{math.sqrt(mine * others):.2g}")
    return (f"{said}; with verify pass --min-segment-rows {between:.0f}, or it stays inconclusive",)


def _refuse_unresolved(limit: float) -> None:
    if limit < LEAST_BANDWIDTH:
        why = f"less than {LEAST_BANDWIDTH:.2g} is not resolved"
        msg = f"no number of rows passes smece <= {in_full(limit)}: {why}"
        raise UsageProblem(msg, f"ask for --max-smece {1.1 * LEAST_BANDWIDTH:.2g} or more")


def _of_fit(options: PlanOptions, artifact: AnyArtifact | None, path: DocumentSource | None) -> _Scores:
    """Take the fit rows of a recalibrator for the rows to come."""
    if artifact is None:
        msg = "how many rows it takes depends on where the scores fall, and nothing says where"
        raise UsageProblem(msg, f"pass {_WAYS}")
    fitted = artifact.recalibrator.bins if isinstance(artifact, Artifact) else None
    if fitted is None or not isinstance(artifact, Artifact):
        return _of_quantiles(options, artifact, path)
    if options.bins is not None or options.binning is not None:
        msg = "--bins and --binning cut a score that --like would name; an artifact has its outputs"
        raise UsageProblem(msg, "leave them out, or pass --like preds.csv -s score too")
    values, place = np.unique([one.value for one in fitted], return_inverse=True)
    rows = np.zeros(values.size)
    np.add.at(rows, place, [one.rows for one in fitted])
    known = f"the {artifact.fit.rows:,} rows that {path} was fitted on"
    population = plan.population_of(values, rows, bins=ATOMS)
    return _Scores(population, ATOMS, known, outputs=outputs_through(artifact, None))


def _of_quantiles(options: PlanOptions, artifact: AnyArtifact, path: DocumentSource | None) -> _Scores:
    """Take what a map makes of its fit rows, which lie evenly between their quantiles."""
    output = _between_quantiles(artifact, _BETWEEN_QUANTILES)
    if output is None:
        msg = f"{path} does not say where its outputs fall"
        raise UsageProblem(msg, "pass --like preds.csv -s score too")
    outputs = outputs_through(artifact, None)
    if outputs is not None:
        # Nothing lies between two outputs of a discrete map.
        values = np.array(outputs)
        output = values[np.abs(output[:, None] - values).argmin(axis=1)]
    table = ScoreTable.from_rows(output, np.zeros(output.size, np.bool_))
    bins = chosen_bins(table, bins=options.bins, binning=options.binning, discrete=outputs is not None)
    if bins is ATOMS and outputs is None:
        refuse_continuous(table)
    rows = artifact.of_all_rows.fit.rows
    known = f"the {rows:,} rows that {path} was fitted on, by {len(LEVELS)} of their quantiles"
    population = plan.population_like(table, bins=bins, measure=MeasureName(options.measure))
    return _Scores(population, bins, known, outputs=outputs)


def _between_quantiles(artifact: AnyArtifact, count: int) -> Floats | None:
    """Return so many outputs as fit rows have them, or None where the artifact does not say."""
    between = (np.arange(count) + 0.5) * (LEVELS[-1] / count)
    if isinstance(artifact, GroupArtifact):
        maps = [(one, one.fit.rows) for one in artifact.members.values()]
        if artifact.shared:
            maps.append((artifact.pooled, sum(one.rows for one in artifact.shared.values())))
        total = sum(rows for _, rows in maps)
        parts = [_between_quantiles(one, round(count * rows / total)) for one, rows in maps]
        told = [one for one in parts if one is not None]
        return np.concatenate(told) if len(told) == len(parts) else None
    if not isinstance(artifact, Artifact):
        known = artifact.fit.output_quantiles
        return None if known is None else np.interp(between, LEVELS, known)
    known, recalibrator = artifact.fit.score_quantiles, artifact.recalibrator
    if known is None or recalibrator.drawn:
        return None
    return recalibrator.predict(np.interp(between, LEVELS, known))


def _read(rows: RowRequest, loaded: AnyArtifact | None, gather_request: GatherRequest = NOTHING) -> Gathered:
    """Read scores without labels, through the map where there is one."""
    columns, outputs = replace(rows.columns, labelled=False), None
    if loaded is not None:
        columns, transforms = through(loaded, columns, str(rows.artifact))
        gather_request = replace(gather_request, transforms=transforms)
        columns = replace(columns, positive=None)
        outputs = outputs_through(loaded, columns.several)
    gathered = read_rows(replace(rows, columns=columns), gather_request)
    if loaded is None:
        said = unfitted_notes(gathered)
    else:
        gathered = replace(gathered, artifact=loaded, outputs=outputs)
        said = table_scale_notes(gathered, loaded) if rows.columns.scale is None else ()
    return replace(gathered, input=replace(gathered.input, notes=(*gathered.input.notes, *said)))


def _of_file(options: PlanOptions, rows: RowRequest, loaded: AnyArtifact | None) -> _Scores:
    """Take the scores of a file for those of the rows to come."""
    read = _read(rows, loaded)
    bins = _bins_of(options, read)
    population = plan.population_like(read.table, bins=bins, measure=MeasureName(options.measure))
    return _Scores(population, bins, _known(rows, read.input), read.input, read.outputs)


def _bins_of(options: PlanOptions, read: Gathered) -> Bins:
    """Return the bins that the gate would judge these rows by."""
    table, discrete, binning = read.table, read.outputs is not None, options.binning
    if read.resolved.requested.each_in is not None and options.bins is None and binning is None:
        binning = Binning.EQUAL_WIDTH
    bins = chosen_bins(table, bins=options.bins, binning=binning, discrete=discrete)
    if bins is ATOMS and not discrete:
        refuse_continuous(table)
    return bins


def _known(rows: RowRequest, source: InputSummary) -> str:
    count = "the only row" if source.rows == 1 else f"the {source.rows:,} rows"
    return f"{count} of {rows.inputs[0]}"


def _ground(
    options: PlanOptions,
    loaded: AnyArtifact | None,
    bins: Bins,
    outputs: tuple[float, ...] | None,
) -> Ground:
    return Ground(
        bins,
        variance=loaded.fit.mean_variance if isinstance(loaded, Artifact) else None,
        outputs=outputs,
        least_rows=options.least_rows,
        confidence=options.confidence,
    )


def _example(
    requested: plan.Gate, found: plan.Plan, generator: np.random.Generator, *, any_time: bool
) -> Verdict:
    """Return one verdict of the gate, which says by which method and over which bins it decides."""
    rows = min(found.rows or plan.MOST_ROWS, plan.MOST_ROWS)
    if requested.rule.subject is MeasureName.SMECE:
        # The method is that of any number of rows, and the more there are the longer the estimate takes.
        rows = min(rows, _EXAMPLE_ROWS)
    count, ones = found.population.drawn(rows, times=1, generator=generator)
    ground = replace(requested.ground, variance=None) if any_time else requested.ground
    return judge(found.population.table(count[0], ones[0]), requested.rule, ground=ground)


def _of_values(found: plan.Plan, example: Verdict) -> tuple[str, ...]:
    """Return what a gate on every value will speak of, where nothing lists the values there are."""
    if example.unseen_share is None or found.rows is None:
        return ()
    rarest = int(found.population.share.argmin())
    rows = max(1, round(found.rows * float(found.population.share[rarest])))
    others = f"up to {rough_percent(example.unseen_share)} of later rows may have others"
    rare = f"the rarest value, {found.population.score[rarest]:.4g}, gets about {rows:,} of these rows"
    return (f"{rare}; the gate will speak of the values seen, and {others}",)


def _of_binning(found: plan.Plan, options: PlanOptions, scores: _Scores) -> tuple[str, ...]:
    """Return how values are judged by themselves of so few rows that nobody would take them for few."""
    values = scores.population.score.size
    if scores.bins is not ATOMS or scores.outputs is not None or options.any_time or found.rows is None:
        return ()
    if options.binning is Binning.ATOMS or found.rows >= ROWS_EACH * values:
        return ()
    fewer = f"of fewer than {ROWS_EACH * values:,} rows verify would not judge each of the {values:,} values"
    return (f"{fewer} by itself: pass it --binning atoms",)


def _of_state(options: PlanOptions, scores: _Scores) -> tuple[str, ...]:
    """Return what a state needs to judge each value by itself, as was planned: nobody fixed the values."""
    if not options.any_time or scores.bins is not ATOMS or scores.outputs is not None:
        return ()
    named = "verify --state judges each value only if they are named, --bins V,V,..."
    return (f"{named}, and else {DEFAULT_BINS} bins: --bins {DEFAULT_BINS} plans for those",)


def _of_continuous(options: PlanOptions, scores: _Scores, loaded: AnyArtifact | None) -> tuple[str, ...]:
    """Return what `verify` does with few values, which quantiles of the fit rows cannot show."""
    cut = MeasureName(options.measure) in CUT and (options.bins, options.binning) == (None, None)
    if scores.input is not None or scores.bins is ATOMS or not cut or options.any_time:
        return ()
    if isinstance(loaded, ClassArtifact):
        return ()
    few = f"if the map gives at most {FEW_VALUES} values, as of grades, verify judges each by itself"
    return (
        f"{few}, which can take more rows: plan with --like preds.csv, or pass verify --binning equal-width",
    )


def _of_rare_outputs(scores: _Scores, loaded: AnyArtifact | None) -> tuple[str, ...]:
    """Return that rare outputs lie otherwise than evenly between quantiles, where the fit rows show it."""
    if scores.input is not None or not isinstance(loaded, Artifact) or loaded.recalibrator.bins is not None:
        return ()
    here, there = scores.population.variance, loaded.fit.mean_variance
    if max(here, there) <= _FAR_OFF * min(here, there):
        return ()
    said = (
        f"their labels would vary {here / there:.2g} times as much as those of the fit rows"
        if there > 0.0
        else "every fit row got 0 or 1"
    )
    guide = f"the quantiles in the artifact are a poor guide to its outputs ({said})"
    return (f"{guide}: pass --like preds.csv -s score",)


def _notes(found: plan.Plan, options: PlanOptions) -> tuple[str, ...]:
    reached, times = found.reached, found.times
    if reached is not None and reached < options.power - give_or_take(reached, times):
        return (f"{times:,} simulations reached only power {reached:.3g}: collect more rows",)
    return ()
