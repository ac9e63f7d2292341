"""The areas under the ROC and the risk-coverage curve, and Gini's coefficient: are labels told apart?"""

import math
from typing import Self

import numpy as np

from calibcli.names import MeasureName, Target
from calibcli.options.numerals import rough_percent
from calibcli.stats.bounds import Interval
from calibcli.stats.bounds.proportion import clopper_pearson
from calibcli.stats.measures import (
    HELD_OUT,
    NO_WEIGHTED_INTERVAL,
    UNKNOWN,
    Estimate,
    Reference,
    effective_rows,
    on_line,
)
from calibcli.stats.measures.if_calibrated import MANY_EVENTS, Measures, of_mean
from calibcli.stats.measures.scores import gathered, interval_of_mean
from calibcli.stats.numerics import Booleans, Floats, summed_products
from calibcli.stats.table.grid import MOST_HIDDEN, Table, hidden_share, open_variance
from calibcli.values import dataclass

METHOD = "Gaffke's bounds of both labels, put together"

RISK_METHOD = "Gaffke's bound on the influence of each row"


def auroc(table: Table, *, confidence: float = 0.95) -> Estimate:
    """Probability that a row of label 1 has a higher score than one of label 0, ties counting half.

    References:
        van Klaveren, Gönen, Steyerberg & Vergouwe (2016), Statistics in Medicine 35, for the value if
        calibrated; others in the entry of the family.
    """
    positive, negative = table.positive, table.weight - table.positive
    if not (positive.any() and negative.any()):
        because = HELD_OUT, "no interval: one label only, so that it is undefined"
        return Estimate.of(MeasureName.AUROC, table, math.nan, because=because)
    ranked = _Ranked.of(positive, negative)
    if why := _why_none(table):
        return Estimate.of(MeasureName.AUROC, table, ranked.area, because=(HELD_OUT, why))
    interval, null = ranked.interval(confidence), _if_calibrated(table)
    return Estimate.of(MeasureName.AUROC, table, ranked.area, interval, null=null)


# What cells of a grid may hide of an area, beside its standard error.
_MOST_HIDDEN = 0.5


def _why_none(table: Table) -> str:
    """Return why an area has no interval, or nothing."""
    if table.weighted:
        return NO_WEIGHTED_INTERVAL
    ones, others = table.positive, table.weight - table.positive
    less = table.kind == "grid" and _hidden(table) > _MOST_HIDDEN * _error_by_chance(table)
    tied = hidden_share(table, ones, others)
    share = f"{rough_percent(tied)} of the pairs of both labels share"
    none = tied > (0.0 if less else MOST_HIDDEN)
    return f"no interval: {share} a cell of the grid; --exact tells them apart" if none else ""


def _hidden(table: Table) -> float:
    """Return by how much the cells of a grid change an area, where scores are even in them: there the area
    within a cell is off one half by what the labels are apart on average, in widths of a cell.
    """
    ones, others = table.positive, table.weight - table.positive
    apart = (table.score_of_positive - table.score_of_negative) / table.resolution
    return abs(summed_products(ones * others, apart)) / max(float(ones.sum()) * float(others.sum()), 1.0)


def _error_by_chance(table: Table) -> float:
    """Return the standard error of the area of a score that says nothing of the label.

    References:
        Mann & Whitney (1947), Annals of Mathematical Statistics 18; ties make it no larger.
    """
    ones, rows = table.total_positive_rows, table.total_rows
    return math.sqrt((rows + 1.0) / (12.0 * max(1, ones * (rows - ones))))


def gini(table: Table, *, confidence: float = 0.95) -> Estimate:
    """2 AUROC - 1: the accuracy ratio of credit scoring, Somers' D of the score for the label."""
    return on_line(auroc(table, confidence=confidence), MeasureName.GINI, slope=2.0, offset=-1.0)


# An area is clearly below one half by so many standard errors of ranks by chance, and by so much; it is about
# one half within half as many. Of scores that are right it would be so many larger, and so much; beside the
# labels of other rows they stay right on average, as confidences that say too much do not.
_STANDARD_ERRORS, _CLEARLY = 4.0, 0.05
_FAR_ERRORS, _FAR, _NEAR_RATE = 8.0, 0.15, 0.05


def odd_area(table: Table) -> tuple[float, float | None] | None:
    """Return the area under the ROC curve where the score ranks the wrong way, or by chance alone, else None.

    Where it is about one half, and far larger on average if the scores are right, that as well.
    """
    ones, rows = table.total_positive_rows, table.total_rows
    if table.weighted or not 0 < ones < rows:
        return None
    error = _error_by_chance(table)
    area = _area(table.positive, table.weight - table.positive)[0]
    if 0.5 - area > max(_CLEARLY, _STANDARD_ERRORS * error):
        return area, None
    off = abs(float((table.positive - table.weight * table.score).sum())) / rows
    if off > _NEAR_RATE or abs(area - 0.5) > min(_CLEARLY, _STANDARD_ERRORS / 2.0 * error):
        return None
    right = _if_calibrated(table)[0]
    return None if right is None or right - area <= max(_FAR, _FAR_ERRORS * error) else (area, right)


def _area(positive: Floats, negative: Floats) -> tuple[float, Floats]:
    """Return the area, and the share of label 0 with less than each score, ties counting half."""
    below = (np.cumsum(negative) - 0.5 * negative) / float(negative.sum())
    return min(1.0, summed_products(positive, below) / float(positive.sum())), below


@dataclass(frozen=True, slots=True, eq=False)
class _Ranked:
    """Rows of both labels, by ascending distinct score.

    Args:
        positive: How many rows have label 1, shape (n,); with weights, how much they count for.
        negative: The same of label 0.
        below_positive: The share of label 0 with less than each score, ties counting half, shape (n,).
        above_negative: The share of label 1 with more than each score, likewise.
    """

    positive: Floats
    negative: Floats
    below_positive: Floats
    above_negative: Floats
    area: float

    @classmethod
    def of(cls, positive: Floats, negative: Floats) -> Self:
        """Rank rows; some have either label."""
        area, below = _area(positive, negative)
        reached = np.cumsum(positive)
        above = (float(reached[-1]) - reached + 0.5 * positive) / float(reached[-1])
        return cls(positive, negative, below, above, area)

    def added(self, placed: Floats, share: float) -> Floats:
        """Return what rows, a `share` of their label, add by the share of others that they beat."""
        found: Floats = self.area + (placed - self.area) / share
        return found

    def interval(self, confidence: float) -> Interval:
        """Return the interval of the area: distances to the bounds of its parts, by squares added up.

        The area is the mean of what each row of a label leaves behind it of the other label. Given the other
        label it has a bound as the mean of one label's rows, and DeLong's variance is the sum of two such. On
        the side of 0 or 1, where few rows are misplaced, the bound of the mean of what rows add counts if it
        is farther away: where one row of either label is misplaced, squares keep the sum of both away from
        none.
        """
        below = above = 0.0
        parts = (self.below_positive, self.positive), (self.above_negative, self.negative)
        for beaten, rows in parts:
            least, most = interval_of_mean(
                gathered((1.0 - beaten, rows)), most=1.0, confidence=confidence
            ).ends
            below += (self.area - (1.0 - most)) ** 2
            above += (1.0 - least - self.area) ** 2
        low, high = self.area - math.sqrt(below), self.area + math.sqrt(above)
        ones, others = float(self.positive.sum()), float(self.negative.sum())
        if math.sqrt(ones * others) * min(self.area, 1.0 - self.area) < _FEW_MISPLACED:
            total, delta = ones + others, (1.0 - confidence) / 2.0
            values = gathered(
                *((self.added(beaten, float(rows.sum()) / total), rows) for beaten, rows in parts)
            )
            if self.area <= 0.5:
                low = min(low, values.lower_bound(least=float(values.value.min()), delta=delta))
            if self.area >= 0.5:
                high = max(high, values.upper_bound(most=float(values.value.max()), delta=delta))
        return Interval(
            max(0.0, low), min(1.0, high), confidence, METHOD, Target.POPULATION, finite_sample=False
        )


# So many rows of either label that are on the wrong side, by the geometric mean of how many have each label.
_FEW_MISPLACED = 20.0


@dataclass(frozen=True, slots=True, eq=False)
class Influence:
    """What rows add to an area: their mean is the area, and to first order it is off by as much.

    Args:
        upper: The largest score of each entry of a table, ascending, shape (n,).
        if_label: What a row of label 0 adds, and one of label 1, by entry, shape (2, n).
        ends: The least and the most that any row can add, of label 0 and of label 1.
    """

    upper: Floats
    if_label: Floats
    ends: tuple[tuple[float, float], tuple[float, float]]

    @classmethod
    def of(cls, name: MeasureName, table: Table) -> "Influence | None":
        """Return that of the rows of a table; None where there is one label only, or no interval of the area.

        References:
            DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44, for that of the area under the ROC curve.
        """
        if _why_none(table) or not 0 < table.total_positive_rows < table.total_rows:
            return None
        if name is MeasureName.AURC:
            kept = RiskCoverage.of(table)
            if_label = kept.area + np.array(kept.influence)[:, ::-1]
            least, most = kept.area + kept.least, kept.area + kept.most
            ends = min(least, float(if_label.min())), max(most, float(if_label.max()))
            return cls(table.upper, if_label, (ends, ends))
        ranked = _Ranked.of(table.positive, table.weight - table.positive)
        scale, offset = (2.0, -1.0) if name is MeasureName.GINI else (1.0, 0.0)
        share = table.total_positive_rows / table.total_rows

        def added(placed: Floats, share: float) -> Floats:
            return offset + scale * ranked.added(placed, share)

        (least, most), (lowest, highest) = (
            added(np.array([0.0, 1.0]), part).tolist() for part in (1.0 - share, share)
        )
        if_label = np.stack((added(ranked.above_negative, 1.0 - share), added(ranked.below_positive, share)))
        return cls(table.upper, if_label, ((least, most), (lowest, highest)))

    def of_rows(self, score: Floats, label: Booleans) -> Floats:
        """Return what rows of the table add, or such as lie between them, shape (n,)."""
        place = np.minimum(np.searchsorted(self.upper, score), self.upper.size - 1)
        found: Floats = self.if_label[label.astype(np.int64), place]
        return found


def _if_calibrated(table: Table) -> Reference:
    """Return the area on average over labels that follow the scores, and its range, to first order.

    Where fewer than 20 rows of either label are expected, the first order says too little.
    """
    score, weight = table.score, table.weight
    total, expected = float(weight.sum()), float((weight * score).sum())
    if min(expected, total - expected) < MANY_EVENTS:
        return UNKNOWN
    likely = _Ranked.of(weight * score, weight * (1.0 - score))
    # No row is compared with itself: it would be a tie.
    alone = float(open_variance(table).sum())
    pairs = expected * (total - expected)
    mean = (pairs * likely.area - 0.5 * alone) / (pairs - alone)
    # With label 1 in place of 0 a row is compared with those of label 0, and no longer with those of label 1.
    step = (total - expected) * (likely.below_positive - mean) - expected * (likely.above_negative - mean)
    low, high = of_mean(table, mean, step * (total / pairs))
    return mean, (max(0.0, low), min(1.0, high))


def aurc(table: Table, *, confidence: float = 0.95) -> Estimate:
    """Mean share of label 0 among the rows with the highest scores, over every number of rows that are kept.

    Rows of equal scores come in every order equally often.
    """
    kept = RiskCoverage.of(table)
    details = {} if table.weighted else cutoff_for(table, confidence=confidence)
    if why := _why_none(table):
        return Estimate.of(MeasureName.AURC, table, kept.area, because=(HELD_OUT, why), details=details)
    weights = kept.weights[::-1]
    mean = float((weights * table.weight * (1.0 - table.score)).sum()) / float(kept.rows.sum())
    low, high = of_mean(table, mean, -weights)
    return Estimate.of(
        MeasureName.AURC,
        table,
        kept.area,
        kept.interval(confidence),
        null=(mean, (max(0.0, low), min(1.0, high))),
        details=details,
    )


# This share of the rows above a cutoff is to have label 1; one of so many cutoffs is chosen.
ENOUGH, _PLACES = 0.9, 20


def cutoff_for(table: Table, *, confidence: float) -> dict[str, float | int | str]:
    """Return the cutoff that keeps most rows of those that leave enough of label 1 among the rows above.

    Twenty cutoffs are looked at: the scores at ranks n/20, 2n/20 and so on from the top, and none. Given the
    score at a rank, the rows with higher scores are independent draws from the population above it, tied or
    not, so that both bounds of Clopper and Pearson of their share hold at any number of rows. Each may fail
    with a twentieth of the error, and then all hold at once, whichever is chosen (Bonferroni).

    Returns:
        `kept`, the share of these rows that are kept where these rows alone decide, with `kept_least` and
        `kept_most`, between which it is for shares of label 1 in the population; `kept_above` and
        `safe_above`, the scores above which rows are kept by the first and by the least of them, unless that
        is no row or every row; `kept_label`, the share asked for.
    """
    rows, positive = table.rows[::-1], table.positive_rows[::-1]
    total, after, ones = table.total_rows, np.cumsum(rows), np.cumsum(positive)
    # The score at a rank is the first whose rows reach beyond it: all higher ones stand before.
    ranks = -(-total * np.arange(1, _PLACES) // _PLACES)
    place = np.append(np.searchsorted(after, ranks, side="right"), after.size)
    place = np.unique(place[place > 0])
    kept, right = after[place - 1].astype(np.float64), ones[place - 1].astype(np.float64)
    bounds = clopper_pearson(right, kept, delta_each_side=(1.0 - confidence) / (2.0 * _PLACES))
    found: dict[str, float | int | str] = {"kept_label": ENOUGH}
    for shown, name, above in (
        (right >= ENOUGH * kept, "kept", "kept_above"),
        (bounds[0] >= ENOUGH, "kept_least", "safe_above"),
        (bounds[1] >= ENOUGH, "kept_most", ""),
    ):
        some = np.flatnonzero(shown)
        best = int(place[some[-1]]) if some.size else 0
        found[name] = float(after[best - 1]) / total if best else 0.0
        if above and 0 < best < after.size:
            found[above] = float(table.upper[::-1][best])
    return found


@dataclass(frozen=True, slots=True, eq=False)
class RiskCoverage:
    """Rows by descending distinct score, as they are kept one after the other.

    Args:
        rows: How many rows have each score, shape (n,); with weights, what they count for of so many rows as
            all are worth.
        wrong: How many of them have label 0.
        weights: What a row of label 0 adds to n times the area, on average over the order of equal scores,
            shape (n,). A row at place i is among the k that are kept for every k from i on: it adds the sum
            of 1/k.
        area: The area under the curve, ties in every order.
    """

    rows: Floats
    wrong: Floats
    weights: Floats
    area: float

    @classmethod
    def of(cls, table: Table) -> "RiskCoverage":
        weight, positive = table.weight[::-1], table.positive[::-1]
        some = weight > 0.0
        if not some.all():
            weight, positive = weight[some], positive[some]
        scale = effective_rows(table) / float(weight.sum()) if table.weighted else 1.0
        rows, wrong = scale * weight, scale * (weight - positive)
        after = np.cumsum(rows)
        before, sums = np.maximum(after - rows, 0.0), _harmonic(after)
        weights = sums[-1:] - sums + 1.0 - before / rows * (sums - _harmonic(before))
        return cls(rows, wrong, weights, min(1.0, float((wrong * weights).sum()) / float(rows.sum())))

    @property
    def influence(self) -> tuple[Floats, Floats]:
        """What a row of label 0, and one of label 1, adds to the area and takes from the others (von Mises).

        A row of label 0 adds its weight; every row makes the coverage of those below it larger.
        """
        risk, coverage = self.wrong / self.rows, np.cumsum(self.rows) / float(self.rows.sum())
        # What is lost at each step down from a score to the next lower one, as far as the rows above lose it.
        step = (risk[:-1] - risk[1:]) * -np.log(coverage[:-1])
        passed = np.append(np.cumsum(step[::-1])[::-1], 0.0) - summed_products(step, coverage[:-1])
        return passed + (1.0 - risk) * self.weights, passed - risk * self.weights

    @property
    def most(self) -> float:
        """The influence of one row more, of label 0 and above all others, at most."""
        return 1.0 + math.log(float(self.rows.sum()) + 1.0)

    @property
    def least(self) -> float:
        """The influence of one row more, of label 1, above all: at k rows w/k falls to w/(k + 1)."""
        risk, after = self.wrong / self.rows, np.cumsum(self.rows)
        before = np.maximum(after - self.rows, 0.0)
        ahead = np.cumsum(self.wrong) - self.wrong - before * risk
        falls = ahead * (1.0 / (before + 1.0) - 1.0 / (after + 1.0))
        falls += risk * (_harmonic(after + 1.0) - _harmonic(before + 1.0))
        return -self.area - float(falls.sum())

    def interval(self, confidence: float) -> Interval:
        """Return the interval of the area: Gaffke's bound on the mean influence of a row."""
        wrong, right = self.influence
        values = gathered((wrong, self.wrong), (right, self.rows - self.wrong))
        delta = (1.0 - confidence) / 2.0
        upper = values.upper_bound(most=max(self.most, float(wrong.max())), delta=delta)
        lower = values.lower_bound(least=min(self.least, float(right.min())), delta=delta)
        ends = max(0.0, self.area + lower), min(1.0, self.area + upper)
        return Interval(*ends, confidence, RISK_METHOD, Target.POPULATION, finite_sample=False)


def _harmonic(count: Floats) -> Floats:
    """Return the sums of 1/k for k from 1 to each of some numbers, continued between whole ones."""
    few = np.flatnonzero(count < _FEW_TERMS)
    large = np.asarray(count, np.float64).copy()
    large[few] += _FEW_TERMS
    square = 1.0 / (large * large)
    found: Floats = (
        np.log(large) + np.euler_gamma + 0.5 / large - square * (1 / 12 - square * (1 / 120 - square / 252))
    )
    for term in range(1, _FEW_TERMS + 1):
        found[few] -= 1.0 / (count[few] + term)
    return found


_FEW_TERMS = 64


MEASURES: Measures = {
    MeasureName.AUROC: lambda _, table, settings: auroc(table, confidence=settings.confidence),
    MeasureName.AURC: lambda _, table, settings: aurc(table, confidence=settings.confidence),
    MeasureName.GINI: lambda _, table, settings: gini(table, confidence=settings.confidence),
}
