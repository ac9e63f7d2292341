"""Plan a gate: how many labelled rows it will take, before any are collected."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibcli.commands.evaluation import as_fitted, as_transform
from calibcli.commands.gathering import choose_columns
from calibcli.commands.partition import chosen_bins
from calibcli.commands.right_scale import ScaleCheck
from calibcli.commands.verify import refuse_continuous
from calibcli.data.columns import refuse_null
from calibcli.data.faults import Findings
from calibcli.data.files import found_in, shown_path
from calibcli.data.fragment import unchanged
from calibcli.data.fragments import list_fragments
from calibcli.data.intake import Intake
from calibcli.data.readers import reader_of
from calibcli.data.tally import AtPlaces, Transform
from calibcli.documents.artifact import Artifact, read_artifact
from calibcli.errors import EmptyTable, UsageProblem
from calibcli.names import MeasureName, Purpose, VerdictName
from calibcli.options.gating import PlanOptions
from calibcli.options.rows import Columns, Reading
from calibcli.options.sources import DocumentSource, RowSource
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
from calibcli.stats.numerics import stream
from calibcli.stats.recalibrators.interface import randomised, values_of
from calibcli.stats.table.bins import ATOMS, Bins
from calibcli.stats.table.grid import LEVELS, Table
from calibcli.stats.table.kernel import LEAST_BANDWIDTH
from calibcli.stats.table.running import RunningTable
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


def plan_rows(
    options: PlanOptions,
    *,
    artifact: DocumentSource | None = None,
    like: str | None = None,
    columns: Columns | None = None,
    reading: Reading | None = None,
) -> PlanReport:
    """Find how many labelled rows a gate takes, by simulating it."""
    if options.measure is MeasureName.SMECE and options.wanted is VerdictName.PASS:
        _refuse_unresolved(options.rule.limit)
    loaded = None if artifact is None else read_artifact(artifact)
    if like is None:
        scores = _of_fit(options, loaded, artifact)
    else:
        scores = _of_file(options, like, loaded, columns=columns or Columns(), reading=reading or Reading())
    generator = stream(options.seed, Purpose.PLAN)
    asked = Gate(options.rule, _ground(options, loaded, scores.bins), options.wanted)
    patterns = erring(scores.population, options.measure, options.error)
    found = planned(asked, patterns, power=options.power, again=options.any_time, generator=generator)
    example = _example(asked, found, generator, any_time=options.any_time)
    return PlanReport(
        measure=example.claim.measure,
        limit=options.rule.limit,
        error=options.error,
        wanted=options.wanted,
        power=options.power,
        confidence=options.confidence,
        any_time=options.any_time,
        method=example.method,
        partition=example.partition,
        values=scores.population.score.size,
        least_rows=options.least_rows,
        scores_from=scores.known_from,
        found=found,
        artifact=None if artifact is None else str(artifact),
        input=scores.input,
        seed=options.seed,
        assumptions=(f"the rows to come have scores as {scores.known_from}", *example.assumptions),
        notes=(
            *(() if loaded is None else loaded.doubts),
            *_notes(found, options),
            *_of_values(found, example),
        ),
    )


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


def _of_file(
    options: PlanOptions, like: str, artifact: Artifact | None, *, columns: Columns, reading: Reading
) -> _Scores:
    """Take the scores of a file for those of the rows to come."""
    change, discrete, check = None, False, None
    if artifact is not None:
        check = ScaleCheck(artifact) if columns.scale is None else None
        columns = as_fitted(columns, artifact)
        change = as_transform(artifact.recalibrator)
        discrete = artifact.recalibrator.bins is not None
    table, source = read_scores([like], columns, reading=reading, change=change, check=check)
    bins = chosen_bins(table, bins=options.bins, binning=options.binning, discrete=discrete)
    if bins is ATOMS and not discrete:
        refuse_continuous(table)
    known = f"the {source.rows:,} rows of {like}"
    return _Scores(population_like(table, bins=bins), bins, known, source)


def _ground(options: PlanOptions, artifact: Artifact | None, bins: Bins) -> Ground:
    return Ground(
        bins,
        variance=None if artifact is None else artifact.fit.mean_variance,
        outputs=None if artifact is None else values_of(artifact.recalibrator.bins),
        least_rows=options.least_rows,
        confidence=options.confidence,
    )


def _example(asked: Gate, found: Plan, generator: np.random.Generator, *, any_time: bool) -> Verdict:
    """Return one verdict of the gate, which says by which method and over which bins it decides."""
    rows = min(found.rows or MOST_ROWS, MOST_ROWS)
    if asked.rule.subject is MeasureName.SMECE:
        # The method is that of any number of rows, and the more there are the longer the estimate takes.
        rows = min(rows, _EXAMPLE_ROWS)
    count, ones = found.population.drawn(rows, times=1, generator=generator)
    ground = replace(asked.ground, variance=None) if any_time else asked.ground
    return judge(found.population.table(count[0], ones[0]), asked.rule, ground=ground)


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
        return (f"{found.times:,} simulations reached a power of {found.reached:.3g} only: take more rows",)
    return ()


def read_scores(
    inputs: Sequence[RowSource],
    columns: Columns,
    *,
    reading: Reading,
    change: Transform | AtPlaces | None = None,
    check: ScaleCheck | None = None,
) -> tuple[Table, InputSummary]:
    """Read a score column; no label is needed, and every row of the table has label 0."""
    refuse_null(columns)
    found = found_in(inputs)
    fragments = list_fragments(found, input_format=reading.input_format)
    running, total = RunningTable(reading.limit), Findings()
    with unchanged(fragments):
        chosen = choose_columns(fragments, columns, labelled=False)
        for fragment in fragments:
            of_file = chosen[fragment.path]
            intake = Intake(of_file, shown=fragment.shown, first_row=fragment.first_row)
            for batch in reader_of(fragment.format).batches(fragment, of_file):
                score, places = intake.scores_of(batch.column(of_file.score))
                if check is not None:
                    check.add(score)
                if isinstance(change, AtPlaces):
                    score = change.change(score, places.numbers(score.size))
                elif change is not None:
                    score = change(score)
                running.add_rows(score, np.zeros(score.size, np.bool_))
            total.add(intake.findings)
    table = running.table()
    if table.total_rows == 0:
        msg = f"{shown_path(fragments[0].path)}: there are no rows with a score"
        raise EmptyTable(msg)
    first = chosen[fragments[0].path]
    files = tuple(dict.fromkeys(fragment.path for fragment in fragments))
    kept = total.rows - total.dropped
    notes = () if check is None else check.notes(intake)
    return table, InputSummary(
        files,
        first.score,
        None,
        None,
        kept,
        total.dropped,
        total.clipped,
        (*found.notes(), *first.notes, *notes),
    )
