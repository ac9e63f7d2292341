"""Spline recalibration: log odds that are a natural cubic spline of the score's."""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated, Self

import numpy as np

from calibcli.codec import INLINE, Ascending, Between, Declared, Node, Size
from calibcli.names import RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.recalibrators.design import LARGEST_LOGIT, Family, Labelled, logit, require_distinct
from calibcli.recalibrators.interface import Continuum, require_both_labels
from calibcli.recalibrators.logistic import Coefficient, Record, each_chunk, solved_or_smoothed
from calibcli.recalibrators.natural import falls, natural, slopes_at_knots
from calibcli.table.grid import GridTable, Table
from calibcli.table.reread import reread
from calibcli.table.rows import Rows
from calibcli.table.score_table import Floats, Integers

# Harrell (2015), table 2.3, for 3 to 5 knots; two, at the ends of the scores, make a straight line.
# In thousandths, so that comparing them with whole weights is exact.
_SHARES = ((50, 275, 500, 725, 950), (50, 350, 650, 950), (100, 500, 900), (0, 1000))

# Logits of doubles that differ are at least 2^-54 apart.
_LEAST_WIDTH = 2.0**-56


@dataclass(frozen=True, slots=True)
class Spline(Declared, Continuum):
    """
    1 / (1 + exp(-s(logit(score)))), s a natural cubic spline: straight outside its knots.

    References:
        Harrell (2015), Regression Modeling Strategies, 2nd edition, section 2.4.5.
    """

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
    def fit(cls, table: Table, *, options: FitOptions | None = None, rows: Rows | None = None) -> Self:
        """
        Fit by maximum likelihood, or by least squares started from there.

        There are at most 5 knots, at quantiles of the fit scores; where ties make some of them meet, fewer.
        Where a spline parts the labels, the targets are smoothed, as they always are on request.

        Args:
            table: The fit rows. On a grid table each cell counts as two points, the mean scores of its
                labels.

            options: The loss, and whether to smooth the targets in any case.

            rows: The rows behind a grid table; the knots and the fit are then those of the rows.

        Raises:
            EmptyTable: If there are no rows.

            InputProblem: If there is one label only.

            NotConverged: If there is one score only, or the loss has no minimum that can be reached.
        """
        require_both_labels(table)
        points = Labelled.of(table)
        require_distinct(RecalibratorName.SPLINE, points, table=table, least=2)
        knots = knots_of(table, rows, points=points)
        family = Family(RecalibratorName.SPLINE, partial(spline_features, knots=knots))
        found = solved_or_smoothed(family, table, points=points, options=options or FitOptions())
        found = found.over(table, rows)
        intercept, slope, *bumps = found.coefficients
        values = intercept + slope * np.array(knots) + np.array([0.0, *bumps, 0.0])
        return cls(knots, tuple(values.tolist()), found.record(table))

    def check(self, node: Node) -> None:
        """Refuse knots so near to each other that slopes between them overflow."""
        for place, (before, after) in enumerate(pairwise(self.knots), 1):
            if after - before < _LEAST_WIDTH:
                msg = f"is {after!r}, too near to {before!r}, the number before it"
                raise node.child("knots").items()[place].problem(msg)

    def predict(self, scores: Floats) -> Floats:
        """Return the recalibrated probability of each score, the same bits however scores are grouped."""
        knots, values = np.array(self.knots), np.array([self.values])
        return each_chunk(scores, lambda part: natural(logit(part), knots, values=values)[0])

    @property
    def name(self) -> RecalibratorName:
        """The method."""
        return RecalibratorName.SPLINE

    @property
    def increasing(self) -> bool:
        """Whether a higher score never gets a lower probability, anywhere in [0, 1]."""
        return not falls(np.array(self.knots), np.array(self.values))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the fit that its user should read."""
        own = [] if self.increasing else [self._falling()]
        return self.record.notes(*own, parting="A spline of the logit of the score")

    def _falling(self) -> str:
        """Say where the map falls."""
        first, *_, last = slopes_at_knots(np.array(self.knots), np.array(self.values)).tolist()
        ends = [word for word, slope in (("first", first), ("last", last)) if slope < 0.0]
        where = f"beyond the {' and the '.join(ends)} knot" if ends else "between knots"
        return f"The map is not increasing: {where} a higher score gets a lower probability."


def knots_of(table: Table, rows: Rows | None, *, points: Labelled) -> tuple[float, ...]:
    """
    Return the knots: logits of as many quantiles of the scores as differ, 5 at most.

    Where all quantiles meet, in one row that outweighs the rest by far or in one cell, they are the ends of
    the points.
    """
    found = (_quantiles(table, np.array(shares), rows=rows) for shares in _SHARES)
    enough = (knots for knots, shares in zip(found, _SHARES, strict=True) if len(knots) == len(shares))
    return next(enough, None) or tuple(logit(np.array([points.score.min(), points.score.max()])).tolist())


def spline_features(scores: Floats, *, knots: tuple[float, ...]) -> Floats:
    """Return 1, z, and for each inner knot the spline that is 1 there and 0 at the others, shape (k, n)."""
    z, places = logit(scores), np.array(knots)
    inner = natural(z, places, values=np.eye(places.size)[1:-1])
    return np.concatenate((np.ones((1, z.size)), z[np.newaxis], inner))


def _quantiles(table: Table, shares: Integers, *, rows: Rows | None) -> tuple[float, ...]:
    """Return the logits that differ among the first scores up to which so many thousandths of weight lie."""
    reached = 1000.0 * np.cumsum(table.weight)
    asked = np.maximum(shares * (reached[-1] / 1000.0), np.finfo(np.float64).tiny)
    places = np.minimum(np.searchsorted(reached, asked, side="left"), table.distinct - 1)
    return tuple(np.unique(logit(_scores_at(table, places, asked=asked, rows=rows))).tolist())


def _scores_at(
    table: Table, places: np.ndarray[tuple[int], np.dtype[np.intp]], *, asked: Floats, rows: Rows | None
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
    return inside.score[np.searchsorted(reached, asked - before + 1000.0 * skipped, side="left")]
