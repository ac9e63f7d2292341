"""scikit-learn's Brier score and log loss, and the shares by which they improve on the base rate."""

import math

import numpy as np

from calibcli.measures.compat.peer import Counterpart, Peer, PeerNumber, ratio
from calibcli.measures.proper_scores import certain_and_wrong
from calibcli.names import MeasureName
from calibcli.table.score_table import Floats, ScoreTable

VERSION = "1.9.1"
CLIP = 2.0**-52


def sklearn_numbers(table: ScoreTable) -> Peer:
    """Return what scikit-learn gives for a score and labels 0 and 1."""
    loss = _log_loss(table, table.score)
    wrong = certain_and_wrong(table)
    clipped = f"scores are limited to [2.2e-16, 1 - 2.2e-16] there{_cost(wrong)}"
    shares = "one less the loss over that of the base rate of these rows"
    numbers = (
        PeerNumber("brier_score_loss", _brier(table), Counterpart(MeasureName.BRIER), "the same formula"),
        PeerNumber("log_loss", loss, Counterpart(MeasureName.LOG_LOSS), clipped),
        PeerNumber("d2_brier_score", _brier_share(table), Counterpart(MeasureName.BRIER_SKILL), shares),
        PeerNumber(
            "d2_log_loss_score",
            _log_share(table, loss),
            Counterpart(MeasureName.LOG_LOSS_SKILL),
            f"{shares}; {clipped}",
        ),
    )
    return Peer("scikit-learn", VERSION, numbers)


def _cost(wrong: int) -> str:
    """Return what certain and wrong rows do."""
    if not wrong:
        return ""
    rows = "1 row that was" if wrong == 1 else f"{wrong:,} rows that were"
    return f": {-math.log(CLIP):.2f} for each of {rows} certain and wrong, infinity here"


def _brier(table: ScoreTable) -> float:
    positive, negative = table.positive, table.weight - table.positive
    squares = positive * (1.0 - table.score) ** 2 + negative * table.score**2
    return float(squares.sum()) / float(table.weight.sum())


def _brier_share(table: ScoreTable) -> float | None:
    """Return 1 - loss / loss of the base rate; -inf where every label is the same and a score is not."""
    if table.total_rows < 2:
        return None
    rate = float(table.positive.sum()) / float(table.weight.sum())
    share = ratio(_brier(table), rate * (1.0 - rate))
    return None if share is None else 1.0 - share


def _log_loss(table: ScoreTable, score: Floats) -> float | None:
    """Return the mean log loss of scores within the limits; None for one label, which is an error there."""
    positive, negative = table.positive, table.weight - table.positive
    if table.total_positive_rows in (0, table.total_rows):
        return None
    costs = positive * -np.log(_limited(score)) + negative * -np.log(_limited(1.0 - score))
    return float(costs.sum()) / float(table.weight.sum())


def _log_share(table: ScoreTable, loss: float | None) -> float | None:
    if loss is None or table.total_rows < 2:
        return None
    rate = float(table.positive.sum()) / float(table.weight.sum())
    base = _log_loss(table, np.full(table.distinct, rate))
    return None if base is None else 1.0 - loss / base


def _limited(score: Floats) -> Floats:
    return np.clip(score, CLIP, 1.0 - CLIP)
