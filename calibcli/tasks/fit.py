"""Fit a recalibrator to labelled predictions."""

from collections.abc import Sequence

from calibcli.artifacts.document import Artifact
from calibcli.artifacts.fit_record import FitRecord
from calibcli.artifacts.store import artifact_text
from calibcli.measures.proper_scores import brier, log_loss
from calibcli.names import FitLoss, RecalibratorName, Split
from calibcli.readers.columns import Columns
from calibcli.recalibrators import fit_recalibrator
from calibcli.recalibrators.interface import Recalibrator
from calibcli.recalibrators.options import FitOptions
from calibcli.reports.fit import FitReport
from calibcli.table.grid import Table
from calibcli.table.moved import with_scores
from calibcli.tasks.gather import RAW
from calibcli.tasks.reading import Reading, read_tables


def fit_files(
    inputs: Sequence[str],
    columns: Columns,
    *,
    method: RecalibratorName,
    options: FitOptions,
    output: str | None = None,
    reading: Reading | None = None,
) -> tuple[FitReport, str]:
    """
    Fit a recalibrator.

    Args:
        inputs: Files, "-" for standard input.

        columns: Which column is which.

        method: The method.

        options: What is asked of it.

        output: Where the artifact will be written, for the report.

        reading: How to read.

    Returns:
        The report, and the artifact as canonical JSON: the same rows give the same bytes.

    Raises:
        InputProblem: If the rows cannot be fitted.
    """
    how = reading or Reading()
    if _needs_exact(method, options):
        how = Reading(how.input_format, how.jobs, exact=True)
    gathered = read_tables(inputs, columns, reading=how)
    table = gathered.tables[RAW]
    recalibrator = fit_recalibrator(method, table, options=options)
    losses = _mean_losses(table, recalibrator, options.loss)
    record = FitRecord.of(
        recalibrator, table, options=options.used_by(method), losses=losses, notes=_grid_notes(table)
    )
    artifact = Artifact(recalibrator, record, scale=columns.scale, positive=columns.positive)
    report = FitReport(
        input=gathered.input,
        method=method,
        output=output,
        rows=record.rows,
        positive=record.positive,
        loss="squared error" if options.loss is FitLoss.BRIER else "log loss",
        loss_before=losses[0],
        loss_after=losses[1],
        outputs=None if recalibrator.bins is None else len(recalibrator.bins),
        notes=record.notes,
    )
    return report, artifact_text(artifact)


def _needs_exact(method: RecalibratorName, options: FitOptions) -> bool:
    """Whether a fit turns on the order of single scores, or draws from them, so that no grid will do."""
    return method is RecalibratorName.ISOTONIC or options.split is Split.THREE_WAY


def _mean_losses(table: Table, recalibrator: Recalibrator, loss: FitLoss) -> tuple[float, float]:
    """Return the mean loss on the fit rows before and after."""
    mean_loss = brier if loss is FitLoss.BRIER else log_loss
    after = with_scores(table, recalibrator.predict(table.score))
    return mean_loss(table).value, mean_loss(after).value


def _grid_notes(table: Table) -> tuple[str, ...]:
    if table.kind == "exact":
        return ()
    return (f"fitted on a grid table: scores were kept to {table.resolution:.2g}; --exact keeps all",)
