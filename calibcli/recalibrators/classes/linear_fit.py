"""The best coefficients of a linear map of log-probabilities, and the penalty that cross-validation likes."""

from dataclasses import dataclass

import numpy as np

from calibcli.errors import InputProblem, NotConverged
from calibcli.recalibrators.classes.linear_loss import PenalisedLoss
from calibcli.recalibrators.classes.linear_models import LinearModel
from calibcli.recalibrators.classes.linear_newton import NEARLY, minimum, near_minimum
from calibcli.recalibrators.classes.log_rows import LogRows
from calibcli.table.score_table import Floats

# The strongest penalty, as a power of ten of what falls on each coefficient, and the weakest of all.
_STRONGEST, _WEAKEST = 1, -5
# Weaker penalties are not tried once the loss has risen so often, by more than steps that are left out win.
_RISES = 2
# Rows times coefficients, over all folds: what is judged on every fold takes no more.
_MOST_WORK = 5e9


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """
    What was found.

    Args:
        coefficients: Shape (m,).

        penalty: The strength that was chosen; None where there is none.

        judged: On how many folds penalties were judged.
    """

    coefficients: Floats
    penalty: float | None = None
    judged: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Path:
    """
    Penalties from strong to weak, on one fold.

    Args:
        weight: Of the rows that were held out.

        losses: Their mean log loss by penalty.

        found: The coefficients by penalty.
    """

    weight: float
    losses: list[float]
    found: list[Floats]


def fitted(model: LinearModel, whole: LogRows, *, folds: int) -> Fitted:
    """
    Return the best coefficients, at the penalty with the least cross-validated log loss.

    Args:
        model: What is free.

        whole: The fit rows.

        folds: Folds of the cross-validation; rows fall into them by their numbers. Where rows times
            coefficients are so many that all folds would take long, penalties are judged on the first only.

    Raises:
        InputProblem: If the rows do not part into folds.

        NotConverged: If the loss has no minimum that can be reached.
    """
    rough = whole.rough()
    if not model.penalised:
        return Fitted(minimum(PenalisedLoss(model, whole), model.start(), by=rough))
    judged = _judged(model, whole, folds)
    paths = _paths(model, rough, folds=folds, judged=judged)
    tried = min(len(path.losses) for path in paths)
    losses = sum(path.weight * np.array(path.losses[:tried]) for path in paths)
    # The strongest of several.
    place = int(np.argmin(losses))
    penalty, start = penalties_of(model)[place], paths[0].found[place]
    del paths
    return Fitted(minimum(PenalisedLoss(model, whole, penalty), start, by=rough), penalty, judged)


def penalties_of(model: LinearModel) -> tuple[float, ...]:
    """Return the penalties that are tried, from strong to weak, so that each start is near its end."""
    strongest = round(np.log10(model.start().size)) + _STRONGEST
    return tuple(10.0**power for power in range(strongest, _WEAKEST - 1, -1))


def _judged(model: LinearModel, whole: LogRows, folds: int) -> int:
    """Return on how many folds penalties are judged."""
    work = float(model.start().size) * whole.count
    return folds if folds * work <= _MOST_WORK else 1


def _paths(model: LinearModel, rough: LogRows, *, folds: int, judged: int) -> list[_Path]:
    """Return the losses of the first folds that have rows; no path is longer than the first."""
    weights = rough.fold_weights(folds)
    places = np.flatnonzero((weights > 0.0) & (weights < weights.sum()))
    if places.size < 2:
        msg = f"these rows do not part into {folds} folds to choose a penalty by"
        raise InputProblem(msg, "fit on more different rows, or use --multiclass temperature")
    paths: list[_Path] = []
    for place in places[:judged].tolist():
        fit, held_out = (rough.of_fold((place, folds, inside)) for inside in (False, True))
        paths.append(_path(model, fit, held_out, like=paths[0] if paths else None))
        if len(paths) > 1:
            paths[-1].found.clear()
    return paths


def _path(model: LinearModel, fit: LogRows, held_out: LogRows, *, like: _Path | None) -> _Path:
    """
    Return what each penalty loses on the rows held out.

    Args:
        model: What is free.

        fit: The rows to fit to.

        held_out: The others.

        like: The path of another fold, whose coefficients are where to begin, and which is no shorter; None
            to begin at the strongest penalty, and to end where the loss has risen twice.
    """
    start, rises = model.start(), 0
    path = _Path(held_out.total, [], [])
    penalties = penalties_of(model)
    for place, penalty in enumerate(penalties if like is None else penalties[: len(like.losses)]):
        try:
            start = near_minimum(
                PenalisedLoss(model, fit, penalty), start if like is None else like.found[place]
            )
        except NotConverged:
            # Where a penalty is too weak to hold the coefficients, weaker ones are too.
            if not path.losses:
                raise
            break
        path.losses.append(PenalisedLoss(model, held_out).mean(start))
        path.found.append(start)
        rises = rises + 1 if path.losses[-1] > min(path.losses) + NEARLY else 0
        if like is None and rises == _RISES:
            break
    return path
