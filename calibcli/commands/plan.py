"""Plan a gate: how many labelled rows it will take, before any are collected."""

import math
import shlex
from dataclasses import replace

import numpy as np

from calibcli.commands.cutting import segments_in
from calibcli.commands.evaluation import through
from calibcli.commands.gathering import RAW, RECALIBRATED
from calibcli.commands.partition import chosen_bins
from calibcli.commands.reading import read_rows
from calibcli.commands.scale_checks import table_scale_notes
from calibcli.commands.verify import refuse_continuous, refuse_segment_rules
from calibcli.documents.artifact import Artifact, read_any_artifact
from calibcli.errors import UsageProblem
from calibcli.names import DEFAULT_LEAST_ROWS, MeasureName, Purpose, VerdictName
from calibcli.options.gating import PlanOptions
from calibcli.options.rows import RowRequest
from calibcli.options.sources import DocumentSource
from calibcli.reports.input import InputSummary
from calibcli.reports.plan import PlanReport
from calibcli.stats.gates import judge
from calibcli.stats.gates.claim import Ground, Verdict
from calibcli.stats.gates.plan import (
    MOST_ROWS,
    Gate,
    Plan,
    Population,
    erring,
    planned,
    population_like,
    population_of,
)
from calibcli.stats.gates.plan_segments import planned_segments
from calibcli.stats.gates.segments import SEGMENT_METHOD
from calibcli.stats.measures.segments import subset
from calibcli.stats.numerics import stream
from calibcli.stats.recalibrators.interface import randomised, values_of
from calibcli.stats.table.bins import ATOMS, Bins
from calibcli.stats.table.grid import LEVELS
from calibcli.stats.table.kernel import LEAST_BANDWIDTH
from calibcli.stats.table.score_table import ScoreTable
from calibcli.values import dataclass

_EXAMPLE_ROWS = 100_000
# Of the fit rows of a continuous map, whose scores are known by a few quantiles.
_BETWEEN_QUANTILES = 10_000

_WAYS = "--artifact cal.json, or --like preds.csv -s score"


@dataclass(frozen=True, slots=True)
class _Scores:
    """Where scores fall: the population, the bins that judge it, and how that is known."""

    population: Population
    bins: Bins
    known_from: str
    input: InputSummary | None = None


@dataclass(frozen=True, slots=True)
class _Made:
    """What was planned, and what it rests on."""

    found: Plan
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
    artifact = rows.artifact
    if options.measure is MeasureName.SMECE and options.wanted is VerdictName.PASS:
        _refuse_unresolved(options.rule.limit)
    refuse_segment_rules(options, rows)
    loaded = None if artifact is None else _one_score(artifact)
    made = (_by_segments if options.rule.of_segments else _by_scores)(options, rows, loaded)
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


def _one_score(path: DocumentSource) -> Artifact:
    """Return the artifact; of several classes a gate is planned on a file that it was applied to."""
    loaded = read_any_artifact(path)
    if isinstance(loaded, Artifact):
        return loaded
    msg = f"{path}: it was fitted to {len(loaded.classes):,} classes, and plan looks at one score"
    file = shlex.quote(str(path))
    hint = f"run calibcli apply {file} ROWS.parquet -o new.parquet; plan new.parquet -s calibrated_confidence"
    raise UsageProblem(msg, hint)


def _by_scores(options: PlanOptions, rows: RowRequest, loaded: Artifact | None) -> _Made:
    """Plan a gate on a measure of the score."""
    scores = _of_file(options, rows, loaded) if rows.inputs else _of_fit(options, loaded, rows.artifact)
    generator = stream(options.seed, Purpose.PLAN)
    requested = Gate(options.rule, _ground(options, loaded, scores.bins), options.wanted)
    patterns = erring(scores.population, MeasureName(options.measure), options.error)
    found = planned(requested, patterns, power=options.power, again=options.any_time, generator=generator)
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
        _of_values(found, example),
        scores.input,
    )


def _by_segments(options: PlanOptions, rows: RowRequest, loaded: Artifact | None) -> _Made:
    """Plan a gate on the segments that a file has: those with enough rows there."""
    if not rows.inputs:
        msg = "how many rows it takes depends on how large segments are, and nothing says so"
        raise UsageProblem(msg, "pass a file of scores and columns: --like preds.csv -s score")
    columns, transforms = rows.columns, None
    if loaded is not None:
        columns, transforms = through(loaded, columns, str(rows.artifact))
    requested = replace(rows, columns=columns)
    read = read_rows(requested, transforms=transforms, labelled=False, twice=True)
    cut = segments_in(replace(read, artifact=loaded), requested, options.segments.cut)
    least, different = options.segments.least_rows, ~cut.found.same
    large = (cut.found.rows >= least) & different
    if not large.any():
        msg = f"no segment of {rows.inputs[0]} has {least:,} rows"
        raise UsageProblem(msg, "give it more rows, or pass a smaller --min-segment-rows")
    places, names = np.flatnonzero(large), cut.names()
    found = planned_segments(
        Gate(options.rule, _ground(options, loaded, ATOMS), options.wanted),
        cut.entries,
        subset(cut.found, places),
        [" and ".join(names[place]) or "all rows" for place in places.tolist()],
        error=options.error,
        power=options.power,
        generator=stream(options.seed, Purpose.PLAN),
    )
    known = f"the {read.input.rows:,} rows of {rows.inputs[0]}"
    smaller = float(cut.found.rows[~large & different].max(initial=0.0))
    return _Made(
        found,
        options.measure.value,
        SEGMENT_METHOD,
        f"{places.size:,} segments by {', '.join(columns.on)}",
        found.population.score.size,
        known,
        (
            f"the rows to come have scores and columns as {known}",
            f"segments are those with {least:,} rows there",
        ),
        _of_smaller(found, float(cut.found.rows[large].min()), smaller, rows=read.input.rows),
        read.input,
    )


def _of_smaller(found: Plan, least: float, smaller: float, *, rows: int) -> tuple[str, ...]:
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
        msg = f"no number of rows passes smece <= {limit:g}: less than {LEAST_BANDWIDTH:.2g} is not resolved"
        raise UsageProblem(msg, f"ask for --max-smece {1.1 * LEAST_BANDWIDTH:.2g} or more")


def _of_fit(options: PlanOptions, artifact: Artifact | None, path: DocumentSource | None) -> _Scores:
    """Take the fit rows of a recalibrator for the rows to come."""
    if artifact is None:
        msg = "how many rows it takes depends on where the scores fall, and nothing says where"
        raise UsageProblem(msg, f"pass {_WAYS}")
    fitted = artifact.recalibrator.bins
    if fitted is None:
        return _of_quantiles(options, artifact, path)
    if options.bins is not None or options.binning is not None:
        msg = "--bins and --binning cut a score that --like would name; an artifact has its outputs"
        raise UsageProblem(msg, "leave them out, or pass --like preds.csv -s score too")
    values, place = np.unique([one.value for one in fitted], return_inverse=True)
    rows = np.zeros(values.size)
    np.add.at(rows, place, [one.rows for one in fitted])
    known = f"the {artifact.fit.rows:,} rows that {path} was fitted on"
    return _Scores(population_of(values, rows, bins=ATOMS), ATOMS, known)


def _of_quantiles(options: PlanOptions, artifact: Artifact, path: DocumentSource | None) -> _Scores:
    """Take what a continuous map makes of its fit rows, which lie evenly between their quantiles."""
    quantiles, recalibrator = artifact.fit.score_quantiles, artifact.recalibrator
    if quantiles is None or randomised(recalibrator) is not None:
        msg = f"{path} does not say where its outputs fall"
        raise UsageProblem(msg, "pass --like preds.csv -s score too")
    between = (np.arange(_BETWEEN_QUANTILES) + 0.5) * (LEVELS[-1] / _BETWEEN_QUANTILES)
    output = recalibrator.predict(np.interp(between, LEVELS, quantiles))
    table = ScoreTable.from_rows(output, np.zeros(output.size, np.bool_))
    bins = chosen_bins(table, bins=options.bins, binning=options.binning, discrete=False)
    if bins is ATOMS:
        refuse_continuous(table)
    known = f"the {artifact.fit.rows:,} rows that {path} was fitted on, by {len(LEVELS)} of their quantiles"
    return _Scores(population_like(table, bins=bins), bins, known)


def _of_file(options: PlanOptions, rows: RowRequest, artifact: Artifact | None) -> _Scores:
    """Take the scores of a file for those of the rows to come."""
    columns, transforms, key, discrete = rows.columns, None, RAW, False
    if artifact is not None:
        columns, transforms = through(artifact, columns, str(rows.artifact))
        key, discrete = RECALIBRATED, artifact.recalibrator.bins is not None
    gathered = read_rows(replace(rows, columns=columns), transforms=transforms, labelled=False)
    table, source = gathered.tables[key], gathered.input
    if artifact is not None and rows.columns.scale is None:
        source = replace(source, notes=(*source.notes, *table_scale_notes(gathered, artifact)))
    bins = chosen_bins(table, bins=options.bins, binning=options.binning, discrete=discrete)
    if bins is ATOMS and not discrete:
        refuse_continuous(table)
    known = f"the {source.rows:,} rows of {rows.inputs[0]}"
    return _Scores(population_like(table, bins=bins), bins, known, source)


def _ground(options: PlanOptions, artifact: Artifact | None, bins: Bins) -> Ground:
    return Ground(
        bins,
        variance=None if artifact is None else artifact.fit.mean_variance,
        outputs=None if artifact is None else values_of(artifact.recalibrator.bins),
        least_rows=options.least_rows,
        confidence=options.confidence,
    )


def _example(requested: Gate, found: Plan, generator: np.random.Generator, *, any_time: bool) -> Verdict:
    """Return one verdict of the gate, which says by which method and over which bins it decides."""
    rows = min(found.rows or MOST_ROWS, MOST_ROWS)
    if requested.rule.subject is MeasureName.SMECE:
        # The method is that of any number of rows, and the more there are the longer the estimate takes.
        rows = min(rows, _EXAMPLE_ROWS)
    count, ones = found.population.drawn(rows, times=1, generator=generator)
    ground = replace(requested.ground, variance=None) if any_time else requested.ground
    return judge(found.population.table(count[0], ones[0]), requested.rule, ground=ground)


def _of_values(found: Plan, example: Verdict) -> tuple[str, ...]:
    """Return what a gate on every value will speak of, where nothing lists the values there are."""
    if example.unseen_share is None or found.rows is None:
        return ()
    rarest = int(found.population.share.argmin())
    rows = max(1, round(found.rows * float(found.population.share[rarest])))
    others = f"up to {100.0 * example.unseen_share:.2g} % of later rows may have others"
    rare = f"the rarest value, {found.population.score[rarest]:.4g}, gets about {rows:,} of these rows"
    return (f"{rare}; the gate will speak of the values seen, and {others}",)


def _notes(found: Plan, options: PlanOptions) -> tuple[str, ...]:
    if found.reached is not None and found.reached < options.power:
        return (f"{found.times:,} simulations reached only power {found.reached:.3g}: collect more rows",)
    return ()
