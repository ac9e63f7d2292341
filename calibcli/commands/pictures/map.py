"""The map of an artifact, alone or over the rows it is applied to."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import numpy as np

from calibcli.commands.bins import chosen_bins, may_cut_cells, parted
from calibcli.commands.gathering import FIT_ROWS, RAW, Gathered
from calibcli.commands.pictures import diagram
from calibcli.commands.reading import read_evaluation
from calibcli.data.tally import GatherRequest
from calibcli.documents.artifact import Artifact, read_any_artifact
from calibcli.errors import CalibcliError, UsageProblem
from calibcli.names import BetaForm, Binning, FitLoss, Purpose, RecalibratorName, Split
from calibcli.options.fitting import FitOptions
from calibcli.options.measuring import MeasureOptions
from calibcli.options.numerals import percent
from calibcli.options.rows import DocumentSource
from calibcli.stats.bounds.resampling import ends_of_draws
from calibcli.stats.curves.map import Band, map_curve
from calibcli.stats.curves.reliability import binned_curve, refuse_empty
from calibcli.stats.measures.scores import brier
from calibcli.stats.numerics import stream
from calibcli.stats.recalibrators import Recalibrator, fit_recalibrator
from calibcli.stats.recalibrators.logits import Identity
from calibcli.stats.table import Floats, ScoreTable
from calibcli.stats.table.bins import Bins, equal_mass_ends, looks_discrete, segment_sums
from calibcli.stats.table.derived import with_scores
from calibcli.stats.table.grid import Table

_DRAWS, _MOST_SCORES = 100, 512

# Which options are names of something.
_CHOICES: dict[str, type[StrEnum]] = {
    "binning": Binning,
    "loss": FitLoss,
    "form": BetaForm,
    "split": Split,
    "base": RecalibratorName,
}

_NOT_FITTED = "no band: nothing was fitted, so nothing is uncertain"

_NO_ROWS = "no band: it needs the fit rows, which an artifact does not hold"

_OTHER_ROWS = "no band around the map: it needs the fit rows, and these are others"

_WEIGHTED = "no band around the map: rows with importance weights cannot be resampled"


def map_band(
    artifact: Artifact, table: Table | None, *, fitted_rows: bool, confidence: float, seed: int
) -> Band:
    """Return the band of a map, where its fit rows are at hand."""
    if isinstance(artifact.recalibrator, Identity):
        return Band(None, _NOT_FITTED)
    if table is None:
        return Band(None, _NO_ROWS)
    if artifact.recalibrator.brackets or not fitted_rows:
        return Band(None, _OTHER_ROWS)
    if (why := _not_resampled(table, confidence)) is not None:
        return Band(None, why)
    maps = refitted(artifact, table, seed=seed)
    if len(maps) < 0.9 * _DRAWS:
        return Band(None, f"no band around the map: {_DRAWS - len(maps)} of {_DRAWS} refits failed")

    def around(score: Floats) -> tuple[Floats, Floats]:
        outputs = np.array([one.predict(score) for one in maps])
        lower, upper = ends_of_draws(outputs, confidence=confidence)
        return lower, upper

    words = f"pointwise {percent(confidence)} resampling band, {len(maps)} fits to draws from the fit rows"
    return Band(around, words)


def _not_resampled(table: Table, confidence: float) -> str | None:
    if table.weighted:
        return _WEIGHTED
    if (1.0 - confidence) / 2.0 * (_DRAWS + 1) < 1.0:
        return f"no band around the map: {percent(confidence)} takes more than {_DRAWS} refits"
    return None


def refitted(artifact: Artifact, table: Table, *, seed: int) -> list[Recalibrator]:
    """Fit the same method and options to rows drawn with replacement; fits that fail are left out."""
    rows, options = _coarse(table), options_of(artifact.fit.options)
    generator, method = stream(seed, Purpose.MAP_BAND), artifact.recalibrator.name
    maps = []
    for _ in range(_DRAWS):
        try:
            maps.append(fit_recalibrator(method, _drawn(rows, generator), options=options))
        except CalibcliError:
            continue
    return maps


def options_of(plain: Mapping[str, object]) -> FitOptions:
    """Return the options that the record of a fit holds in plain values."""
    known: dict[str, Any] = dict(plain)
    for key, choice in _CHOICES.items():
        if key in known:
            known[key] = choice(known[key])
    return FitOptions(**known)


def _coarse(table: Table) -> ScoreTable:
    """Return a table of at most so many scores, of about equal numbers of rows."""
    if table.distinct <= _MOST_SCORES:
        return with_scores(table, table.score)
    ends = equal_mass_ends(np.cumsum(table.rows), _MOST_SCORES)
    starts = np.concatenate(([0], ends + 1, [table.distinct]))
    means = segment_sums(table.weight * table.score, starts) / segment_sums(table.weight, starts)
    return with_scores(table, np.repeat(np.minimum(means, 1.0), np.diff(starts)))


def _drawn(table: ScoreTable, generator: np.random.Generator) -> ScoreTable:
    """Draw as many rows as there are, with replacement."""
    counts = np.concatenate((table.rows - table.positive_rows, table.positive_rows))
    drawn = generator.multinomial(table.total_rows, counts / table.total_rows)
    negative, positive = drawn[: table.distinct], drawn[table.distinct :]
    kept = negative + positive > 0
    return ScoreTable(table.score[kept], (negative + positive)[kept], positive[kept])


def map_diagram(request: diagram.PlotRequest) -> diagram.Diagram:
    """Return the map of an artifact, with the observed rates of rows where some are given."""
    if request.document is not None:
        artifact = _artifact_of_one_score(request.document)
        request.refuse_idle(what="an artifact")
        return diagram.Diagram(
            _alone(artifact, seed=request.options.seed), str(request.document), artifact.doubts
        )
    if request.artifact is None:
        msg = "--kind map draws the map of an artifact, and none is named"
        raise UsageProblem(msg, "name one with --artifact, or give it in place of the files")
    artifact = _artifact_of_one_score(request.artifact)
    options = request.options
    twice = may_cut_cells(options.bins, options.binning or Binning.EQUAL_MASS)
    evaluation = read_evaluation(request, GatherRequest(twice=twice))
    source, found = evaluation.input, evaluation.fit_notes
    notes = (*source.notes, *evaluation.notes, *found)
    drawn = map_over_rows(artifact, evaluation, fitted_rows=bool(found), options=options)
    return diagram.Diagram(drawn, diagram.title_of(source, artifact=evaluation.through), notes, source)


def _artifact_of_one_score(path: DocumentSource) -> Artifact:
    found = read_any_artifact(path)
    if isinstance(found, Artifact):
        return found
    msg = f"{path}: it maps {len(found.classes):,} probabilities to as many, which is no curve"
    raise UsageProblem(
        msg, "look at one class through it: --kind binned --probs ... --view one-vs-rest --class NAME"
    )


def _alone(artifact: Artifact, *, seed: int) -> diagram.Drawn:
    fit = artifact.fit
    band = map_band(artifact, None, fitted_rows=False, confidence=0.0, seed=seed)
    squared = fit.options.get("loss") == FitLoss.BRIER.value
    loss = "squared error" if squared else "log loss"
    return diagram.Drawn(
        map_curve(artifact.recalibrator, band=band),
        (
            f"{artifact.recalibrator.name.value} map, fitted to {diagram.rows_line(fit.rows, fit.positive)}",
            f"{loss} {fit.loss_before:.4g} before, {fit.loss_after:.4g} after, on the fit rows: optimistic",
        ),
    )


def map_over_rows(
    artifact: Artifact, evaluation: Gathered, *, fitted_rows: bool, options: MeasureOptions
) -> diagram.Drawn:
    raw = evaluation.tables[RAW]
    refuse_empty(raw)
    confidence = options.confidence
    band = map_band(artifact, raw, fitted_rows=fitted_rows, confidence=confidence, seed=options.seed)
    bins = _bins(raw, options)
    points = binned_curve(parted(raw, bins, again=evaluation.again), bins=bins, confidence=confidence)
    before, after = (brier(one, confidence=confidence) for one in (raw, evaluation.table))
    rows = diagram.rows_line(raw.total_rows, raw.total_positive_rows)
    fit_rows = "these rows" if fitted_rows else f"{artifact.fit.rows:,} rows"
    return diagram.Drawn(
        map_curve(artifact.recalibrator, band=band, table=raw, points=points, partition=_each(bins)),
        (
            f"Brier score {after.value:.4g}{diagram.bounds_line(after.interval)} through the map",
            f"before it {before.value:.4g}{diagram.bounds_line(before.interval)}",
            f"{rows}; {artifact.recalibrator.name.value} map fitted to {fit_rows}",
        ),
        diagram.fit_rows_foot((FIT_ROWS,) if fitted_rows else ()),
    )


def _each(bins: Bins) -> str:
    return "each value" if bins.edges is None else f"each of {bins.described}"


def _bins(raw: Table, options: MeasureOptions) -> Bins:
    """Return the bins asked for, of equal mass where nothing was said and scores are not few."""
    few = options.bins is None and looks_discrete(raw)
    binning = options.binning or (None if few else Binning.EQUAL_MASS)
    return chosen_bins(raw, bins=options.bins, binning=binning, discrete=False)
