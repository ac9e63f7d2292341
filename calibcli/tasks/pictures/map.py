"""The map of an artifact, alone or over the rows it is applied to."""

from calibcli.curves.map import map_curve
from calibcli.curves.reliability import binned_curve, refuse_empty
from calibcli.documents.artifact import Artifact
from calibcli.documents.store import read_any_artifact
from calibcli.errors import UsageProblem
from calibcli.measures.proper_scores import brier
from calibcli.names import Binning, FitLoss
from calibcli.options.measuring import MeasureOptions
from calibcli.table.bins import Bins, looks_discrete
from calibcli.table.grid import Table
from calibcli.tasks.gather import RAW
from calibcli.tasks.judged import FIT_ROWS, Judged, read_judged
from calibcli.tasks.partition import chosen_bins, may_cut_cells, parted
from calibcli.tasks.pictures.diagram import (
    Diagram,
    Drawn,
    PlotRequest,
    bounds_line,
    fit_rows_foot,
    rows_line,
    title_of,
)
from calibcli.tasks.pictures.map_band import map_band


def map_diagram(request: PlotRequest) -> Diagram:
    """
    Return the map of an artifact, with the observed rates of rows where some are given.

    Raises:
        UsageProblem: If there is no artifact, or one of several classes.

        EmptyTable: If there are files without rows, or without weight.

        CalibcliError: For input that cannot be read.
    """
    if request.document is not None:
        request.refuse_idle(what="an artifact")
        artifact = _artifact_of_one_score(request.document)
        return Diagram(_alone(artifact, seed=request.options.seed), request.document, artifact.doubts)
    if request.artifact is None:
        msg = "--kind map draws the map of an artifact, and none is named"
        raise UsageProblem(msg, "name one with --artifact, or give it in place of the files")
    artifact = _artifact_of_one_score(request.artifact)
    options = request.options
    judged = read_judged(
        request.inputs,
        request.columns,
        artifact=request.artifact,
        reading=request.reading,
        twice=may_cut_cells(options.bins, options.binning or Binning.EQUAL_MASS),
    )
    source, found = judged.gathered.input, judged.fit_notes
    notes = (*source.notes, *judged.notes, *found)
    drawn = map_over_rows(artifact, judged, fitted_rows=bool(found), options=options)
    return Diagram(drawn, title_of(source, artifact=request.artifact), notes, source)


def _artifact_of_one_score(path: str) -> Artifact:
    found = read_any_artifact(path)
    if isinstance(found, Artifact):
        return found
    msg = f"{path}: it maps {len(found.classes):,} probabilities to as many, which is no curve"
    raise UsageProblem(
        msg, "look at one class through it: --kind binned --probs ... --view one-vs-rest --class NAME"
    )


def _alone(artifact: Artifact, *, seed: int) -> Drawn:
    """Return the map without rows."""
    fit = artifact.fit
    band = map_band(artifact, None, fitted_rows=False, confidence=0.0, seed=seed)
    squared = fit.options.get("loss") == FitLoss.BRIER.value
    loss = "squared error" if squared else "log loss"
    return Drawn(
        map_curve(artifact.recalibrator, band=band),
        (
            f"{artifact.recalibrator.name.value} map, fitted to {rows_line(fit.rows, fit.positive)}",
            f"{loss} {fit.loss_before:.4g} before, {fit.loss_after:.4g} after, on the fit rows: optimistic",
        ),
    )


def map_over_rows(artifact: Artifact, judged: Judged, *, fitted_rows: bool, options: MeasureOptions) -> Drawn:
    """Return the map with observed rates over bins of the raw score."""
    raw = judged.gathered.tables[RAW]
    refuse_empty(raw)
    confidence = options.confidence
    band = map_band(artifact, raw, fitted_rows=fitted_rows, confidence=confidence, seed=options.seed)
    bins = _bins(raw, options)
    points = binned_curve(parted(raw, bins, again=judged.gathered.again), bins=bins, confidence=confidence)
    before, after = (brier(one, confidence=confidence) for one in (raw, judged.table))
    rows = rows_line(raw.total_rows, raw.total_positive_rows)
    fit_rows = "these rows" if fitted_rows else f"{artifact.fit.rows:,} rows"
    return Drawn(
        map_curve(artifact.recalibrator, band=band, table=raw, points=points, partition=_each(bins)),
        (
            f"Brier score {after.value:.4g}{bounds_line(after.interval)} through the map",
            f"before it {before.value:.4g}{bounds_line(before.interval)}",
            f"{rows}; {artifact.recalibrator.name.value} map fitted to {fit_rows}",
        ),
        fit_rows_foot((FIT_ROWS,) if fitted_rows else ()),
    )


def _each(bins: Bins) -> str:
    return "each value" if bins.edges is None else f"each of {bins.described}"


def _bins(raw: Table, options: MeasureOptions) -> Bins:
    """Return the bins asked for, of equal mass where nothing was said and scores are not few."""
    few = options.bins is None and looks_discrete(raw)
    binning = options.binning or (None if few else Binning.EQUAL_MASS)
    return chosen_bins(raw, bins=options.bins, binning=binning, discrete=False)
