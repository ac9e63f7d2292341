"""The best coefficients of a linear map of log-probabilities, and the penalty that cross-validation likes."""

from functools import partial

import numpy as np

from calibcli.errors import InputProblem, NotConverged
from calibcli.recalibrators.classes.linear_curve import newton_step
from calibcli.recalibrators.classes.linear_models import LinearModel
from calibcli.recalibrators.classes.log_rows import LogRows, mean_loss
from calibcli.recalibrators.classes.softmax import losses_and_softmax
from calibcli.table.score_table import Floats

# From strong to weak, so that each start is near its end.
PENALTIES = tuple(10.0**power for power in range(2, -6, -1))
# Weaker penalties are not tried once the loss has risen so often.
_RISES = 2
_MOST_STEPS = 2_000
_MOST_POLISHES = 30
_MOST_HALVES = 12
_ROUNDING = 1e-14
_FLAT = 1e-8
# Enough to compare penalties by.
_NEARLY_FLAT = 1e-5
# The mean log loss of rows that a map can make as sure as it likes.
_NO_LOSS = 1e-6
_FEWER = "use --multiclass structured or temperature, which need fewer rows"
# Coefficients that grow beyond this have no end.
_RUNAWAY = 1e4


def fitted(model: LinearModel, whole: LogRows, *, folds: int) -> tuple[Floats, float | None]:
    """
    Return the coefficients, and the penalty that was chosen, None where there is none.

    Args:
        model: What is free.

        whole: The fit rows.

        folds: Folds of the cross-validation; rows fall into them by their numbers.

    Raises:
        NotConverged: If the loss has no minimum that can be reached.
    """
    if not model.penalised:
        return _minimum(model, whole, model.start(), penalty=0.0), None
    chosen = _chosen_penalty(model, whole, folds=folds)
    return _minimum(model, whole, model.start(), penalty=chosen), chosen


def _chosen_penalty(model: LinearModel, whole: LogRows, *, folds: int) -> float:
    """Return the penalty with the least cross-validated log loss, the strongest of several."""
    sides = [
        tuple(whole.of_fold((place, folds, inside)) for inside in (False, True)) for place in range(folds)
    ]
    parts = [(fit, judge) for fit, judge in sides if fit.total > 0.0 and judge.total > 0.0]
    if len(parts) < 2:
        msg = f"these rows do not part into {folds} folds to choose a penalty by"
        raise InputProblem(msg, "fit on more different rows, or use --multiclass temperature")
    weight = sum(judge.total for _, judge in parts)
    starts = [model.start() for _ in parts]
    losses: list[float] = []
    rises = 0
    for penalty in PENALTIES:
        try:
            starts = [
                _minimum(model, fit, start, penalty=penalty, flat=_NEARLY_FLAT)
                for (fit, _), start in zip(parts, starts, strict=True)
            ]
        except NotConverged:
            # Where a penalty is too weak to hold the coefficients, weaker ones are too.
            if not losses:
                raise
            break
        total = 0.0
        for (_, judge), found in zip(parts, starts, strict=True):
            total += judge.total * mean_loss(judge, partial(model.logits, found))
        losses.append(total / weight)
        rises = rises + 1 if losses[-1] > min(losses) else 0
        if rises == _RISES:
            break
    return PENALTIES[int(np.argmin(losses))]


def _minimum(
    model: LinearModel, rows: LogRows, start: Floats, *, penalty: float, flat: float = _FLAT
) -> Floats:
    """Return the coefficients of least penalised mean log loss, by L-BFGS with the exact gradient."""
    from scipy.optimize import minimize

    shares = penalty * model.shares()
    found = minimize(
        partial(_loss_and_pull, model, rows, shares),
        start,
        method="L-BFGS-B",
        jac=True,
        options={"maxiter": _MOST_STEPS, "maxfun": 2 * _MOST_STEPS, "gtol": flat, "ftol": 0.0, "maxcor": 30},
    )
    best, loss, pull = np.asarray(found.x), float(found.fun), np.asarray(found.jac)
    for _ in range(_MOST_POLISHES):
        if np.abs(pull).max() <= flat or np.abs(best).max() > _RUNAWAY:
            break
        # Rounding of the loss keeps a line search from the last digits; Newton's steps need none.
        step = newton_step(model, rows, best, shares=shares, pull=pull)
        for _ in range(_MOST_HALVES):
            nearer, bent = _loss_and_pull(model, rows, shares, best + step)
            if nearer <= loss + _ROUNDING * abs(loss):
                best, loss, pull = best + step, nearer, bent
                break
            step *= 0.5
        else:
            break
    if np.abs(best).max() > _RUNAWAY:
        msg = "the fit has no end: its coefficients grow while the loss hardly falls"
        raise NotConverged(msg, _FEWER)
    if not np.abs(pull).max() <= flat:
        msg = f"the fit did not settle: its gradient is {np.abs(pull).max():.1g} after {found.nit:,} steps"
        raise NotConverged(msg, _FEWER)
    if not model.penalised and loss < _NO_LOSS:
        msg = "the map can make every row right for certain, so that no coefficients are best"
        raise NotConverged(msg, "fit on more rows, or on rows the model has not been trained on")
    return best


def _loss_and_pull(
    model: LinearModel, rows: LogRows, shares: Floats, coefficients: Floats
) -> tuple[float, Floats]:
    """Return the penalised mean log loss, and its derivative by the coefficients."""
    total = float(shares @ coefficients**2)
    pull = 2.0 * shares * coefficients
    for block in rows:
        loss, excess = losses_and_softmax(model.logits(coefficients, block.log), block.label)
        total += float(block.weight @ loss)
        excess[np.arange(block.label.size), block.label] -= 1.0
        excess *= block.weight[:, None]
        pull = pull + model.pull(excess, block)
    return total, pull
