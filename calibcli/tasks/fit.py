"""Fit a recalibrator to labelled predictions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from calibcli.documents.artifact import Artifact
from calibcli.documents.fit_record import FitRecord
from calibcli.documents.store import artifact_text
from calibcli.errors import IdleOption
from calibcli.families import Logistic
from calibcli.measures.losses import log_error, mean_loss, squared_error
from calibcli.names import DEFAULT_FOLDS, Binning, FitLoss, FitMethod, RecalibratorName, Split
from calibcli.options.fitting import FitOptions
from calibcli.options.rows import Columns, Reading
from calibcli.readers.beside import NOTHING, Beside
from calibcli.recalibrators import fit_recalibrator
from calibcli.recalibrators.interface import Recalibrator, distinct_outputs, randomised
from calibcli.recalibrators.selection import DEFAULT_CANDIDATES, NOTHING_CHANGED
from calibcli.reports.fit import FitReport
from calibcli.table.grid import GridTable, Table
from calibcli.table.moved import with_scores
from calibcli.table.rows import Rows
from calibcli.tasks.gather import RAW, Gathered
from calibcli.tasks.reading import read_tables
from calibcli.tasks.right_scale import read_notes
from calibcli.tasks.select import Choice, drawn_folds, grouped_folds, select
from calibcli.tasks.what_was_read import selection_notes

# What the command line calls the options that only some methods heed.
_OPTIONS = {
    "bins": "--bins",
    "binning": "--binning",
    "split": "--split",
    "base": "--base",
    "form": "--beta-form",
    "folds": "--folds",
    "randomised": "--randomised",
    "step": "--step",
    "smooth_targets": "--smooth-targets",
}
_WITHOUT_NOISE = "The loss after is that of the curve; the noise that apply adds to each score raises it."


def fit_files(
    inputs: Sequence[str],
    columns: Columns,
    *,
    method: FitMethod,
    options: FitOptions,
    candidates: Sequence[RecalibratorName] = (),
    output: str | None = None,
    reading: Reading | None = None,
) -> tuple[FitReport, str]:
    """
    Fit a recalibrator.

    Args:
        inputs: Files, "-" for standard input.

        columns: Which column is which.

        method: The method, or auto for the one that cross-validation chooses.

        options: What is asked of it; for auto, `folds` are those of the cross-validation.

        candidates: What auto chooses from; empty for the default candidates.

        output: Where the artifact will be written, for the report.

        reading: How to read.

    Returns:
        The report, and the artifact as canonical JSON: the same rows give the same bytes.

    Raises:
        InputProblem: If the rows cannot be fitted.

        UsageProblem: If candidates or groups are named for a method that does not choose.
    """
    refuse_idle(columns, method, candidates=candidates, options=options)
    how = reading or Reading()
    if needs_exact(method, candidates, options):
        how = replace(how, exact=True)
    gathered = read_tables(inputs, columns, reading=how, beside=_beside(columns, options), twice=True)
    choice: Choice | None = None
    if method is FitMethod.AUTO:
        choice = choice_of(gathered, columns, candidates=candidates, options=options)
    report, artifact = fit_gathered(
        gathered, columns, method=method, choice=choice, options=options, output=output
    )
    return report, artifact_text(artifact)


def fit_gathered(
    gathered: Gathered,
    columns: Columns,
    *,
    method: FitMethod,
    choice: Choice | None,
    options: FitOptions,
    output: str | None,
) -> tuple[FitReport, Artifact]:
    """
    Fit a recalibrator to rows that were read.

    Args:
        gathered: The rows.

        columns: Which column is which.

        method: The method, or auto.

        choice: What auto has chosen, or None.

        options: What is asked of the method.

        output: Where the artifact will be written, for the report.

    Raises:
        InputProblem: If the rows cannot be fitted.
    """
    table = gathered.tables[RAW]
    if choice is not None:
        options = replace(options, folds=None)
    name = RecalibratorName(method) if choice is None else choice.selection.chosen
    notes = (*selection_notes(gathered.input), *_grid_notes(table, name, options))
    notes = (*read_notes(gathered, columns.read_as), *notes)
    artifact = fit_table(
        name, table, columns, options=options, rows=gathered.again, notes=notes, choice=choice
    )
    record, recalibrator = artifact.fit, artifact.recalibrator
    report = FitReport(
        input=gathered.input,
        method=name,
        output=output,
        rows=record.rows,
        positive=record.positive,
        loss="squared error" if options.loss is FitLoss.BRIER else "log loss",
        loss_before=record.loss_before,
        loss_after=record.loss_after,
        outputs=distinct_outputs(recalibrator),
        notes=record.notes,
        answer=NOTHING_CHANGED if NOTHING_CHANGED in record.notes else None,
        selection=record.selection,
    )
    return report, artifact


def fit_table(
    name: RecalibratorName,
    table: Table,
    columns: Columns,
    *,
    options: FitOptions,
    rows: Rows | None = None,
    notes: tuple[str, ...] = (),
    choice: Choice | None = None,
) -> Artifact:
    """
    Fit a recalibrator to a table.

    Args:
        name: The method.

        table: The fit rows.

        columns: How scores and labels were read.

        options: What is asked of the method.

        rows: The rows once more, or None where a grid has to do.

        notes: Sentences that the user of the artifact should read.

        choice: How the method was chosen, or None where the user named it.

    Raises:
        InputProblem: If the rows cannot be fitted.
    """
    recalibrator = fit_recalibrator(name, table, options=options, rows=rows)
    if randomised(recalibrator):
        notes = (*notes, _WITHOUT_NOISE)
    if choice is not None:
        notes = (*notes, *choice.notes)
    record = FitRecord.of(
        recalibrator,
        table,
        options=options.used_by(name),
        losses=_mean_losses(table, recalibrator, options.loss),
        notes=notes,
        selection=None if choice is None else choice.selection,
    )
    return Artifact(recalibrator, record, scale=columns.read_as, positive=columns.positive)


def refuse_idle(
    columns: Columns, method: FitMethod, *, candidates: Sequence[RecalibratorName], options: FitOptions
) -> None:
    """
    Refuse options that would change nothing.

    Args:
        columns: Which column is which.

        method: The method, or auto.

        candidates: What auto chooses from.

        options: What is asked of the method.

    Raises:
        UsageProblem: If there is one.
    """
    _refuse_idle_options(method, candidates, options)
    if method is FitMethod.AUTO:
        return
    for given, option in ((candidates, "--candidate"), (columns.group, "--group")):
        if given:
            msg = f"{option} without --method auto"
            raise IdleOption(msg, f"pass --method auto, or leave out {option}", options=(option[2:],))


def _refuse_idle_options(
    method: FitMethod, candidates: Sequence[RecalibratorName], options: FitOptions
) -> None:
    """Refuse options that change nothing of what is asked for; losses are compared by any method."""
    if method is FitMethod.AUTO:
        if options.randomised:
            msg = "the noise of --randomised is not part of what auto compares"
            raise IdleOption(msg, "leave it out, or fit with --method smooth", options=("randomised",))
        methods, heeded = tuple(candidates) or DEFAULT_CANDIDATES, {"folds", "seed", "loss"}
    else:
        methods, heeded = (RecalibratorName(method),), {"seed", "loss"}
    heeded = heeded.union(*(options.used_by(name) for name in methods))
    default = FitOptions()
    for field, option in _OPTIONS.items():
        if field not in heeded and getattr(options, field) != getattr(default, field):
            msg = f"{method.value} does not heed {option}"
            raise IdleOption(msg, f"leave out {option}, or name a method that does", options=(option[2:],))


def needs_exact(method: FitMethod, candidates: Sequence[RecalibratorName], options: FitOptions) -> bool:
    """
    Whether a fit draws single rows, so that no grid will do.

    Args:
        method: The method, or auto.

        candidates: What auto chooses from.

        options: What is asked of the method.
    """
    binned = method is FitMethod.SCALING_BINNING or RecalibratorName.SCALING_BINNING in candidates
    thirds = binned and options.split is Split.THREE_WAY
    return thirds or (method is FitMethod.VENN_ABERS and options.folds is not None)


def _beside(columns: Columns, options: FitOptions) -> Beside:
    """Return the folds that are gathered while rows are read, if groups are to be kept together."""
    if columns.group is None:
        return NOTHING
    return Beside(folds=options.folds or DEFAULT_FOLDS, seed=options.seed)


def choice_of(
    gathered: Gathered,
    columns: Columns,
    *,
    candidates: Sequence[RecalibratorName],
    options: FitOptions,
    by: bool = False,
) -> Choice:
    """
    Choose among candidates by cross-validation over all rows that were read.

    Args:
        gathered: The rows.

        columns: Which column is which.

        candidates: What is chosen from; empty for the default candidates.

        options: What is asked of each.

        by: Whether the choice is for maps by group.

    Raises:
        InputProblem: If some fold cannot be left out, or no candidate can be fitted.
    """
    count = options.folds or DEFAULT_FOLDS
    if columns.group is None:
        folds = drawn_folds(gathered.tables[RAW], count, seed=options.seed)
    else:
        tables = [gathered.tables[key] for key in _beside(columns, options).fold_keys]
        folds = grouped_folds(
            tables,
            column=columns.group,
            groups=gathered.groups,
            rounded=gathered.tables[RAW].kind == "grid",
        )
    return select(folds, tuple(candidates) or DEFAULT_CANDIDATES, options=options, by=by)


def _mean_losses(table: Table, recalibrator: Recalibrator, loss: FitLoss) -> tuple[float, float]:
    """Return the mean loss on the fit rows before and after."""
    each = squared_error if loss is FitLoss.BRIER else log_error
    if isinstance(table, GridTable):
        # Rows of one cell may lie on both sides of a bend, such as where an isotonic map leaves 0.
        one, other = (recalibrator.predict(at) for at in (table.score_of_positive, table.score_of_negative))
        after = each(one, other, other).mean(table.positive, table.weight - table.positive)
        return mean_loss(table, each), after
    return mean_loss(table, each), mean_loss(with_scores(table, recalibrator.predict(table.score)), each)


def _grid_notes(table: Table, name: RecalibratorName, options: FitOptions) -> tuple[str, ...]:
    """Return what rounding to a grid did to a fit; nothing to those that saw the rows once more."""
    exact = (
        *get_args(Logistic),
        RecalibratorName.IDENTITY,
        RecalibratorName.ISOTONIC,
        RecalibratorName.CENTRED_ISOTONIC,
    )
    by_width = name is RecalibratorName.HISTOGRAM and options.binning is Binning.EQUAL_WIDTH
    if table.kind == "exact" or name in exact or by_width:
        return ()
    return (f"fitted on a grid table: scores were kept to {table.resolution:.2g}; --exact keeps all",)
