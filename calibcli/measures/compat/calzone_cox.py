"""calzone's regression of the label on the logit of the score."""

import math

import numpy as np

from calibcli.bounds.special import normal_quantile
from calibcli.errors import NotConverged
from calibcli.measures.compat.peer import Counterpart, Part, PeerNumber
from calibcli.names import MeasureName
from calibcli.recalibrators.newton import Points, log_loss, logistic, minimise
from calibcli.table.score_table import Floats, ScoreTable

_CLIP = 1e-7
_NAMES = (
    "COX coef",
    "COX intercept",
    "COX coef lowerci",
    "COX coef upperci",
    "COX intercept lowerci",
    "COX intercept upperci",
)
_BESIDE = (
    Counterpart(MeasureName.COX_SLOPE),
    Counterpart(MeasureName.COX_INTERCEPT),
    Counterpart(MeasureName.COX_SLOPE, Part.LOWER),
    Counterpart(MeasureName.COX_SLOPE, Part.UPPER),
    Counterpart(MeasureName.COX_INTERCEPT, Part.LOWER),
    Counterpart(MeasureName.COX_INTERCEPT, Part.UPPER),
)


def cox_numbers(table: ScoreTable) -> tuple[PeerNumber, ...]:
    """Return slope and intercept with their intervals, and how far the fitted curve is from the score."""
    clipped = "scores are limited to [1e-7, 1 - 1e-7], here to 2^-53"
    wald = f"normal interval, here by profile likelihood; {clipped}"
    curve = f"mean distance of score and fitted logistic curve, which has no measure here; {clipped}"
    score = np.clip(table.score, _CLIP, 1.0 - _CLIP)
    fitted = _fit(table, np.log(score / (1.0 - score)))
    if fitted is None:
        none = "none: the labels have no finite fit, and its steps stop somewhere"
        lines = [PeerNumber(name, None, beside, none) for name, beside in zip(_NAMES, _BESIDE, strict=True)]
        return (*lines, PeerNumber("COX ICI", None, None, none))
    at, spread = fitted
    margin = normal_quantile(0.975) * spread
    values = (at[1], at[0], at[1] - margin[1], at[1] + margin[1], at[0] - margin[0], at[0] + margin[0])
    lines = [
        PeerNumber(name, float(value), beside, clipped if beside.part is Part.VALUE else wald)
        for name, value, beside in zip(_NAMES, values, _BESIDE, strict=True)
    ]
    moved = logistic(at[0] + at[1] * np.log(score / (1.0 - score)))
    ici = float((table.rows * np.abs(moved - score)).sum()) / table.total_rows
    return (*lines, PeerNumber("COX ICI", ici, None, curve))


def _fit(table: ScoreTable, logit: Floats) -> tuple[Floats, Floats] | None:
    """Return intercept and slope of most likelihood and their standard errors, None where there are none."""
    n = table.total_rows
    points = Points(
        np.stack([np.ones(logit.size), logit]), table.positive_rows / table.rows, table.rows / float(n)
    )
    try:
        optimum = minimise(log_loss, points, start=np.zeros(2), what="log loss")
        covariance = np.linalg.inv(optimum.slopes.curvature) / n
    except (NotConverged, np.linalg.LinAlgError):
        return None
    spread = np.sqrt(np.diagonal(covariance))
    return (optimum.at, spread) if math.isfinite(float(spread.sum())) else None
