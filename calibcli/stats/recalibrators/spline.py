"""Spline recalibration: log odds that are a natural cubic spline of the score's."""

from functools import partial
from itertools import pairwise
from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import INLINE, Ascending, Between, Node, Size
from calibcli.errors import NotConverged
from calibcli.names import FitLoss, RecalibratorName
from calibcli.options.fitting import DEFAULT_FIT, FitOptions
from calibcli.stats.recalibrators import require_both_labels
from calibcli.stats.recalibrators.logistic import (
    Coefficient,
    LogitMap,
    Record,
    Solution,
    solved,
    solved_or_smoothed,
)
from calibcli.stats.recalibrators.newton import LARGEST_LOGIT, Aim, Family, Labelled, logit
from calibcli.stats.table import Floats, Integers
from calibcli.stats.table.again import Rows, reread
from calibcli.stats.table.bins import NEARLY
from calibcli.stats.table.grid import GridTable, Table
from calibcli.values import dataclass


def natural(z: Floats, knots: Floats, *, values: Floats) -> Floats:
    """Return natural cubic splines with the same knots, shape (m, n).

    Args:
        z: Where, shape (n,).
        knots: Strictly ascending, shape (k,), at least two.
        values: What each spline is there, shape (m, k).

    References:
        De Boor (2001), A Practical Guide to Splines, chapter IV.
    """
    inside = np.clip(z, knots[0], knots[-1])
    left = np.zeros(z.size, np.intp)
    for knot in knots[1:-1]:
        left += inside >= knot
    width = np.diff(knots)
    after = (inside - knots.take(left)) / width.take(left)
    before = (knots[1:].take(left) - inside) / width.take(left)
    sixth = (width * width / 6.0).take(left)
    first, second = before * (before * before - 1.0) * sixth, after * (after * after - 1.0) * sixth
    # Both are 0 inside.
    below, above = np.minimum(z - knots[0], 0.0), np.maximum(z - knots[-1], 0.0)
    found = np.empty((values.shape[0], z.size))
    for row, level in enumerate(values):
        bends, slopes = bends_at_knots(knots, level), slopes_at_knots(knots, level)
        np.multiply(before, level.take(left), out=found[row])
        found[row] += after * level[1:].take(left)
        found[row] += first * bends.take(left) + second * bends[1:].take(left)
        found[row] += slopes[0] * below + slopes[-1] * above
    return found


def slopes_at_knots(knots: Floats, values: Floats) -> Floats:
    """Return the first derivative of the spline at each knot."""
    bends, width = bends_at_knots(knots, values), np.diff(knots)
    rise = np.diff(values) / width
    from_right = rise - width / 6.0 * (2.0 * bends[:-1] + bends[1:])
    last = rise[-1] + width[-1] / 6.0 * (bends[-2] + 2.0 * bends[-1])
    return np.append(from_right, last)


def falls(knots: Floats, values: Floats) -> bool:
    """Whether the spline falls anywhere; its slope is a parabola between knots, least at one or a vertex."""
    bends, slopes = bends_at_knots(knots, values), slopes_at_knots(knots, values)
    left, right = bends[:-1], bends[1:]
    dips = (left < 0.0) & (right > 0.0)
    # Where the bend crosses 0 after a share of the way, the slope has lost bend times half of that way.
    way = np.diff(knots) * left / np.where(dips, left - right, 1.0)
    least = np.where(dips, slopes[:-1] + left * way / 2.0, slopes[:-1])
    return bool(min(float(least.min()), float(slopes[-1])) < 0.0)


def bends_at_knots(knots: Floats, values: Floats) -> Floats:
    """Return the second derivative at each knot, 0 at the first and the last."""
    bends = np.zeros(knots.size)
    inner = knots.size - 2
    if inner:
        width = np.diff(knots)
        rise = np.diff(values) / width
        system = np.diag((width[:-1] + width[1:]) / 3.0)
        for i in range(inner - 1):
            system[i, i + 1] = system[i + 1, i] = width[i + 1] / 6.0
        bends[1:-1] = np.linalg.solve(system, np.diff(rise))
    return bends


def polynomials(knots: Floats, values: Floats) -> tuple[tuple[float, ...], Floats]:
    """Return the cuts between pieces, and each piece by the powers of the way from a knot.

    References:
        De Boor (2001), A Practical Guide to Splines, chapter IV.
    """
    slopes, bends = slopes_at_knots(knots, values), bends_at_knots(knots, values)
    turns = np.append(np.diff(bends) / (6.0 * np.diff(knots)), 0.0)
    pieces = np.column_stack((values, slopes, bends / 2.0, turns))
    first, last = pieces[:1].copy(), pieces[-1:]
    for line in (first, last):
        line[:, 2:] = 0.0
    return tuple(knots.tolist()), np.concatenate((first, pieces[:-1], last))


def turning_points(knots: Floats, values: Floats) -> Floats:
    """Return the knots and where the spline turns round, ascending: between them it is monotone."""
    _, coefficients = polynomials(knots, values)
    found = [knots]
    for about, (_, slope, bend, turn) in zip(knots, coefficients[1:].tolist(), strict=True):
        roots = np.roots([3.0 * turn, 2.0 * bend, slope]) if turn or bend else np.zeros(0)
        found.append(about + roots.real[np.isreal(roots)])
    return np.unique(np.concatenate(found))


def spline_family(table: Table, points: Labelled) -> tuple[tuple[float, ...], Family]:
    """Return the knots of a table, and what is fitted: a constant where all scores have one logit."""
    if points.one_logit:
        return (), Family(RecalibratorName.SPLINE, lambda score: np.ones((1, score.size)))
    knots = knots_of(table, None)
    return knots, Family(RecalibratorName.SPLINE, partial(spline_features, knots=knots))


# How far targets are from 0 and 1, in the order in which they are tried: the labels as they are, and where a
# curve parts them, so that none is the best, a little apart from them. Where a curve parts them only in part,
# it still moves a little from one of these distances to the next.
_NEAR = (0.0, 1e-8, 1e-6, 1e-4, 1e-2)


def nearest_fit(family: Family, points: Labelled) -> tuple[Solution, float] | None:
    """Return the curve of the largest likelihood, and how far its targets are from 0 and 1; or None."""
    for limit in _NEAR:
        try:
            aim = Aim(FitLoss.LOG, limit, 1.0 - limit, smoothed=False, separated=False)
            return solved(family, points, aim=aim), limit
        except NotConverged:
            continue
    return None


# Harrell (2015), table 2.3, for 3 to 5 knots; two, at the ends of the scores, make a straight line.
# In thousandths, so that comparing them with whole weights is exact.
_SHARES = ((50, 275, 500, 725, 950), (50, 350, 650, 950), (100, 500, 900), (0, 1000))

# Logits of doubles that differ are at least 2^-54 apart.
_LEAST_WIDTH = 2.0**-56


@dataclass(frozen=True, slots=True)
class Spline(LogitMap):
    """1 / (1 + exp(-s(logit(score)))), s a natural cubic spline: straight outside its knots.

    References:
        Harrell (2015), Regression Modeling Strategies, 2nd edition, section 2.4.5.
    """

    name: ClassVar = RecalibratorName.SPLINE
    parting: ClassVar = "A spline of the logit of the score"
    knots: Annotated[
        tuple[float, ...],
        Between(-LARGEST_LOGIT, LARGEST_LOGIT),
        Size(2, len(_SHARES[0])),
        Ascending(),
        "Ascending logits of scores.",
    ]
    values: Annotated[tuple[Coefficient, ...], Size(of="knots"), "What s is there."]
    record: Annotated[Record, INLINE]

    @classmethod
    def fit(cls, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None) -> Self:
        """Fit by maximum likelihood, or by least squares started from there.

        There are at most 5 knots, at quantiles of the fit scores; where ties make some of them meet, fewer.
        Where a spline parts the labels, the targets are smoothed, as they always are on request.
        """
        require_both_labels(table)
        knots = knots_of(table, rows)
        family = Family(cls.name, partial(spline_features, knots=knots))
        found = solved_or_smoothed(family, table, rows, options=options, least=2)
        intercept, slope, *bumps = found.coefficients
        values = intercept + slope * np.array(knots) + np.array([0.0, *bumps, 0.0])
        return cls(knots, tuple(values.tolist()), found.record(table))

    def check(self, node: Node) -> None:
        """Refuse knots so near to each other that slopes between them overflow."""
        for place, (before, after) in enumerate(pairwise(self.knots), 1):
            if after - before < _LEAST_WIDTH:
                msg = f"is {after!r}, too near to {before!r}, the number before it"
                raise node.child("knots").items()[place].problem(msg)

    def log_odds(self, scores: Floats) -> Floats:
        knots, values = np.array(self.knots), np.array([self.values])
        return np.asarray(natural(logit(scores), knots, values=values)[0])

    @property
    def increasing(self) -> bool:
        """Whether a higher score never gets a lower probability, anywhere in [0, 1]."""
        return not falls(np.array(self.knots), np.array(self.values))

    @property
    def notes(self) -> tuple[str, ...]:
        own = [] if self.increasing else [self._falling()]
        return self.record.notes(*own, parting=self.parting)

    def _falling(self) -> str:
        first, *_, last = slopes_at_knots(np.array(self.knots), np.array(self.values)).tolist()
        ends = [word for word, slope in (("first", first), ("last", last)) if slope < 0.0]
        where = f"beyond the {' and the '.join(ends)} knot" if ends else "between knots"
        return f"The map is not increasing: {where} a higher score gets a lower probability."


def knots_of(table: Table, rows: Rows | None) -> tuple[float, ...]:
    """Return the knots: logits of as many quantiles of the scores as differ, 5 at most.

    Where all quantiles meet, in one row that outweighs the rest by far, they are the ends of the points.
    """
    found = (_quantiles(table, np.array(shares), rows=rows) for shares in _SHARES)
    enough = (knots for knots, shares in zip(found, _SHARES, strict=True) if len(knots) == len(shares))
    if (knots := next(enough, None)) is not None:
        return knots
    score = Labelled.of(table).score
    return tuple(logit(np.array([score.min(), score.max()])).tolist())


def spline_features(scores: Floats, *, knots: tuple[float, ...]) -> Floats:
    """Return 1, z, and for each inner knot the spline that is 1 there and 0 at the others, shape (k, n)."""
    z, places = logit(scores), np.array(knots)
    inner = natural(z, places, values=np.eye(places.size)[1:-1])
    return np.concatenate((np.ones((1, z.size)), z[np.newaxis], inner))


def _quantiles(table: Table, shares: Integers, *, rows: Rows | None) -> tuple[float, ...]:
    """Return the logits that differ among the first scores up to which so many thousandths of weight lie."""
    reached = 1000.0 * np.cumsum(table.weight)
    nearly = NEARLY if table.weighted else 1.0
    requested = np.maximum(shares * (reached[-1] / 1000.0) * nearly, np.finfo(np.float64).tiny)
    places = np.minimum(np.searchsorted(reached, requested, side="left"), table.distinct - 1)
    return tuple(np.unique(logit(_scores_at(table, places, requested=requested, rows=rows))).tolist())


def _scores_at(
    table: Table, places: np.ndarray[tuple[int], np.dtype[np.intp]], *, requested: Floats, rows: Rows | None
) -> Floats:
    """Return the score at each place; in a cell of a grid table the exact one, where its rows can be seen."""
    if rows is None or not isinstance(table, GridTable):
        return table.score[places]
    cells = np.unique(places)
    inside = reread(table, cells, rows=rows)
    before = 1000.0 * np.concatenate(([0.0], np.cumsum(table.weight)))[places]
    # Rows of the cells read again that lie below a place: those of the cells below it.
    skipped = np.concatenate(([0.0], np.cumsum(table.weight[cells])))[np.searchsorted(cells, places)]
    reached = 1000.0 * np.cumsum(inside.weight)
    return inside.score[np.searchsorted(reached, requested - before + 1000.0 * skipped, side="left")]
