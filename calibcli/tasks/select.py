"""Choose a recalibrator by cross-validation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibcli.errors import CalibcliError, InputProblem
from calibcli.measures.proper_scores import brier, log_loss
from calibcli.names import FitLoss, Purpose, RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.recalibrators import brackets, fit_recalibrator
from calibcli.recalibrators.selection import NOTHING_CHANGED, FoldLosses, Selection, choose
from calibcli.table.grid import Table, grid_of
from calibcli.table.moved import with_scores
from calibcli.table.resample import draw_folds
from calibcli.table.running import RunningTable
from calibcli.table.score_table import ScoreTable
from calibcli.table.streams import stream

SHARED_UNCHANGED = (
    "over all rows the raw score is as good as any repair: groups without a map of their own keep it"
)


@dataclass(frozen=True, slots=True)
class Folds:
    """
    The parts of a cross-validation.

    Args:
        tables: The rows of each fold, none empty.

        grouped_by: The column whose equal values stayed in one fold, or None where rows were drawn.

        notes: Sentences about the folds that the user should read.
    """

    tables: tuple[Table, ...]
    grouped_by: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """
    What was chosen by cross-validation.

    Args:
        selection: The choice, with what it rests on.

        repair: The method that would be chosen if the scores could not stay as they are; None where no other
            was tried.

        notes: Sentences about it that the user should read.
    """

    selection: Selection
    repair: RecalibratorName | None
    notes: tuple[str, ...]


def drawn_folds(table: Table, count: int, *, seed: int) -> Folds:
    """
    Draw folds from a table, never from the order of rows.

    Raises:
        CalibcliError: If the rows cannot be shared out.
    """
    return Folds(tuple(draw_folds(table, count, generator=stream(seed, Purpose.FOLDS))))


def grouped_folds(tables: Sequence[Table], *, column: str, groups: int, rounded: bool) -> Folds:
    """
    Take folds that rows were shared out to by the hash of their group.

    Args:
        tables: The rows of every fold.

        column: The group column.

        groups: How many groups there are.

        rounded: Whether the table of all rows is a grid, so that the folds must be grids as well.

    Raises:
        InputProblem: If there are fewer groups than folds, or one fold has all rows.
    """
    asked = len(tables)
    if groups < asked:
        kinds = "1 group" if groups == 1 else f"{groups:,} groups"
        msg = f"column {column!r} has {kinds}, fewer than the {asked:,} folds"
        hint = f"--folds {groups} asks for fewer" if groups > 1 else "group by a column with more values"
        raise InputProblem(msg, hint)
    some = tuple(
        grid_of(table) if rounded and isinstance(table, ScoreTable) else table
        for table in tables
        if table.total_rows and table.weight.sum() > 0.0
    )
    if len(some) < 2:
        msg = f"all groups of column {column!r} fall into one of the {asked:,} folds"
        raise InputProblem(msg, "another --seed or number of --folds shares them out otherwise")
    left_out = f"{asked - len(some):,} of {asked:,} folds got no group and were left out"
    return Folds(some, column, (left_out,) if len(some) < asked else ())


def select(
    folds: Folds, candidates: Sequence[RecalibratorName], *, options: FitOptions, by: bool = False
) -> Choice:
    """
    Compare methods by their loss on rows that their fit has not seen.

    Args:
        folds: The rows.

        candidates: The methods, in any order; to change nothing is always one.

        options: What is asked of each; the loss and the seed are those of the comparison as well.

        by: Whether the choice is for maps by group, where Venn-Abers must bracket the scores of every group.

    Raises:
        InputProblem: If some fold cannot be left out, or no candidate can be fitted.
    """
    asked = replace(options, folds=None)
    losses: dict[RecalibratorName, list[float]] = {
        name: [] for name in candidates if name is not RecalibratorName.IDENTITY
    }
    reasons: dict[RecalibratorName, str] = {}
    for place, fold in enumerate(folds.tables):
        rest = _rest(folds.tables, place)
        for name in [name for name in losses if name not in reasons]:
            try:
                losses[name].append(_loss_after(name, rest, fold, options=asked))
            except CalibcliError as problem:
                reasons[name] = f"without fold {place + 1}: {problem.message}"
    found = FoldLosses(
        weight=np.array([float(fold.weight.sum()) for fold in folds.tables]),
        raw=np.array([_mean_loss(fold, options.loss) for fold in folds.tables]),
        of={name: reasons.get(name) or np.array(some) for name, some in losses.items()},
    )
    selection = Selection(options.loss, len(folds.tables), folds.grouped_by, options.seed, choose(found))
    repair: RecalibratorName | None = None
    if any(losses.size and np.isfinite(losses).all() for losses in found.fitted.values()):
        other = replace(selection, trials=choose(found, unchanged=False))
        repair = other.chosen
        if by and brackets(repair):
            selection = other
    same = selection.chosen is RecalibratorName.IDENTITY
    note = SHARED_UNCHANGED if by else NOTHING_CHANGED
    return Choice(selection, repair, (*folds.notes, note) if same else folds.notes)


def _rest(tables: Sequence[Table], left_out: int) -> Table:
    """Return the rows of all folds but one."""
    running = RunningTable(None)
    for place, table in enumerate(tables):
        if place != left_out:
            running.add(table)
    rest = running.table()
    positive = float(rest.positive.sum())
    if positive <= 0.0 or positive >= float(rest.weight.sum()):
        msg = f"without fold {left_out + 1} of {len(tables):,} every label is {int(positive > 0.0)}"
        raise InputProblem(msg, "ask for fewer folds with --folds, or name a method")
    return rest


def _loss_after(name: RecalibratorName, rest: Table, fold: Table, *, options: FitOptions) -> float:
    """Return the mean loss in a fold of a map that was fitted to the rest."""
    fitted = fit_recalibrator(name, rest, options=options)
    return _mean_loss(with_scores(fold, fitted.predict(fold.score)), options.loss)


def _mean_loss(table: Table, loss: FitLoss) -> float:
    return (brier if loss is FitLoss.BRIER else log_loss)(table).value
