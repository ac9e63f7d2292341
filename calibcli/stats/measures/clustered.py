"""Rows that come in clusters: intervals for means over rows when only clusters are independent."""

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import Self

import numpy as np

from calibcli.errors import InputProblem
from calibcli.names import MeasureName, Target, TestName
from calibcli.options.numerals import rough_percent
from calibcli.stats.bounds import Interval, stated, why_none
from calibcli.stats.bounds.means import METHOD
from calibcli.stats.measures import HELD_OUT, INDEPENDENT_ROWS, Estimate, TestResult
from calibcli.stats.measures.differences import PAIRED, PAIRED_METHOD, Difference
from calibcli.stats.measures.tests import CombinedTest
from calibcli.stats.numerics import Booleans, Floats, Integers, student_quantile
from calibcli.stats.table.running import Parts
from calibcli.stats.table.sliced import NOTHING, KeyedSums, Name, Registry, summed
from calibcli.values import dataclass, replace

MEANS = (MeasureName.BIAS, MeasureName.OE, MeasureName.OBSERVED_RATE, MeasureName.MEAN_SCORE, *PAIRED)
# Clusters of equal weight; unequal ones count as those that would leave as much noise.
LEAST_CLUSTERS = 20
# As few clusters with a label that its score makes unlikely say too little of those that have not been seen.
LEAST_SURPRISED = 8.0
MOST_CLUSTERS = 5_000_000
INDEPENDENT_CLUSTERS = "clusters are independent; rows of one cluster may depend on each other in any way"
EXACT = "no interval: rows of one cluster are dependent: exact bounds need independent rows"
LIMIT_LAW = "no interval: rows of one cluster are dependent, and this interval needs independent rows"
NO_TEST = "no test: rows of one cluster are dependent, and under the null hypothesis rows are independent"
NO_BAND = "no interval: rows of one cluster are dependent"
_METHOD = "cluster-robust (jackknife sandwich), Student's t"
_BUFFER_ROWS = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Sums over the rows of each cluster; arrays of shape (n_clusters,).

    Args:
        weight: Of the weights; the number of rows where each counts once.
        log: Of weight times log loss, rows that were certain and wrong left out.
        surprised: Of the weights of rows whose label is the less likely one; half of them at a score of 1/2.
        positive: Of the weights of rows with label 1.
    """

    key: Integers
    weight: Floats
    residual: Floats
    squared: Floats
    log: Floats
    surprised: Floats
    positive: Floats

    @property
    def count(self) -> int:
        """How many clusters have weight."""
        return int(np.count_nonzero(self.weight > 0.0))

    @property
    def effective(self) -> float:
        """How many clusters of equal weight would vary as much: (sum w)^2 / sum w^2; 0 without weight."""
        return _effective(self.weight)

    def rarer(self, name: MeasureName) -> tuple[float, str]:
        """How many clusters of equal weight have a row of the rarer kind that a mean rests on, and which."""
        if name is MeasureName.MEAN_SCORE:
            # No label has a say in it.
            return self.effective, ""
        seen, kinds = self.surprised, ("label and score disagree", "label and score agree")
        if name is MeasureName.OBSERVED_RATE:
            seen, kinds = self.positive, ("label 1 occurs", "label 0 occurs")
        sides = zip((seen > 0.0, seen < self.weight), kinds, strict=True)
        found = [(_effective(self.weight[some]), kind) for some, kind in sides]
        if name is MeasureName.OE:
            found.append((_effective(self.base(name)), "events are expected"))
        return min(found)

    def sums(self, name: MeasureName) -> Floats:
        """Return the sums of a measure that is a mean: over rows, or of O/E over the events expected."""
        of = {
            MeasureName.BIAS: self.residual,
            MeasureName.OE: self.positive,
            MeasureName.OBSERVED_RATE: self.positive,
            MeasureName.MEAN_SCORE: self.positive - self.residual,
            MeasureName.BRIER: self.squared,
            MeasureName.LOG_LOSS: self.log,
        }
        return of[name]

    def base(self, name: MeasureName) -> Floats:
        """Return what a mean divides the sums by: the rows of each cluster, or the events expected in it."""
        return self.positive - self.residual if name is MeasureName.OE else self.weight


def _effective(weight: Floats) -> float:
    squares = float((weight**2).sum())
    return float(weight.sum()) ** 2 / squares if squares > 0.0 else 0.0


class ClusterSums:
    """Sums by cluster under construction, apart for each part of the rows, one entry per cluster.

    Sums of doubles are added in the order of the rows: another order may change the last digit.
    """

    def __init__(self) -> None:
        self._registry = Registry()
        self._parts = Parts(summed, attrgetter("size"), least=_BUFFER_ROWS)

    def add_rows(
        self,
        key: Integers,
        score: Floats,
        label: Booleans,
        *,
        names: Sequence[Name] = ((),),
        code: Integers | None = None,
        weight: Integers | Floats | None = None,
    ) -> None:
        residual = label - score
        loss = np.zeros_like(score)
        np.log(score, out=loss, where=label & (score > 0.0))
        np.log1p(-score, out=loss, where=~label & (score < 1.0))
        each = np.ones_like(score) if weight is None else np.asarray(weight, np.float64)
        surprise = 0.5 + 0.5 * np.sign(np.abs(residual) - 0.5)
        columns = (each, each * residual, each * residual**2, -each * loss, each * surprise, each * label)
        places = self._registry.places(names)
        part = np.full(key.size, places[0]) if code is None else places[code]
        self._take(KeyedSums(part, key, real=columns))

    def add(self, other: Self) -> None:
        places = self._registry.places(other._registry.names)
        for part in other._parts:
            self._take(part.moved(places))

    def whole(self) -> Clusters:
        part = self._merged()
        whole = summed([KeyedSums(np.zeros_like(part.part), part.point, real=part.real)])
        return Clusters(whole.point, *whole.real)

    def of(self, name: Name) -> Clusters:
        """Return the clusters of the rows of one part."""
        part = self._merged().of(self._registry.names.index(name))
        return Clusters(part.point, *part.real)

    def _take(self, part: KeyedSums) -> None:
        self._parts.add(part)
        self._look_at_the_bound()

    def _merged(self) -> KeyedSums:
        merged = self._parts.merged()
        self._look_at_the_bound()
        return NOTHING if merged is None else merged

    def _look_at_the_bound(self) -> None:
        if self._parts.merged_size > MOST_CLUSTERS:
            each = ", each counted once in every group" if len(self._registry) > 1 else ""
            msg = f"there are over {MOST_CLUSTERS:,} clusters{each}"
            raise InputProblem(msg, "if nearly every row is a cluster of its own, leave out --cluster")


# Details that rest on independent rows: a cutoff, chosen by bounds, and what an interval over rows rests on.
_OF_ROWS = ("kept", "safe", "standard_error", "costly_rows", "largest_loss", "carried_by")


def with_clusters(estimate: Estimate, clusters: Clusters, *, confidence: float) -> Estimate:
    """Return an estimate with what clusters leave of it.

    A mean over rows gets a cluster-robust interval (the jackknife over clusters, CR3), and so does O/E,
    unless rows that went against their score lie in a few clusters. All other intervals need independent rows
    and are taken away, with the reason, and so is what labels drawn row by row would give.

    References:
        Liang & Zeger (1986), Biometrika 73, for the sandwich; Cameron & Miller (2015), Journal of Human
        Resources 50, for the jackknife form (CR3) and few or unequal clusters; formulas in docs/methods.md.
    """
    details = {name: one for name, one in estimate.details.items() if not name.startswith(_OF_ROWS)}
    details["clusters"] = clusters.count
    kept = [one for one in estimate.assumptions if one not in (INDEPENDENT_ROWS, HELD_OUT)]
    none = why_none(kept)
    interval, null = None, estimate.null
    if estimate.name not in MEANS:
        exact = estimate.interval is not None and estimate.interval.finite_sample
        # What had no interval says so already.
        why = [] if none and estimate.interval is None else [EXACT if exact else LIMIT_LAW]
        null, reasons = None, [*kept, *why]
    elif not math.isfinite(estimate.value):
        reasons = [_approximate(clusters), *none]
    else:
        found, why = _interval(
            estimate.name, estimate.value, clusters.sums(estimate.name), (clusters,), confidence=confidence
        )
        reasons = [_approximate(clusters), *why]
        if found is not None:
            found = _no_narrower(found, estimate.interval)
            least = -1.0 if estimate.name is MeasureName.BIAS else 0.0
            most = math.inf if estimate.name in {MeasureName.LOG_LOSS, MeasureName.OE} else 1.0
            lower, upper = found.ends
            interval = replace(found, lower=stated(max(least, lower)), upper=stated(min(most, upper)))
    return replace(
        estimate,
        interval=interval,
        null=null,
        null_range=None,
        assumptions=(INDEPENDENT_CLUSTERS, HELD_OUT, *reasons),
        details=details,
    )


def _no_narrower(interval: Interval, of_rows: Interval | None) -> Interval:
    """Return an interval over clusters that is nowhere narrower than that over rows, of a loss or a score.

    The costly row that no cluster has shown is missing from the spread of the clusters as well.
    """
    if of_rows is None or of_rows.method not in (METHOD, PAIRED_METHOD):
        return interval
    (low, high), (lowest, highest) = interval.ends, of_rows.ends
    wider = [end for end, by_rows in (("lower", lowest < low), ("upper", highest > high)) if by_rows]
    method = f"{of_rows.method} over rows, wider than {_METHOD}" if len(wider) == 2 else interval.method
    if len(wider) == 1:
        method = f"{method}; {wider[0]} end: {of_rows.method} over rows, which is wider"
    return replace(interval, lower=stated(min(low, lowest)), upper=stated(max(high, highest)), method=method)


def clustered_difference(
    difference: Difference, first: Clusters, second: Clusters, *, confidence: float
) -> Difference:
    """Return the difference of two mean losses of the same rows with its interval over clusters."""
    interval = None
    if difference.value is None or not math.isfinite(difference.value):
        reasons = why_none(difference.assumptions)
        if difference.value is not None and difference.chance:
            # All of these rows may be of one cluster.
            difference = replace(difference, value=None)
            told = (one.replace("no interval", "not compared") for one in reasons)
            reasons = [f"{one}; the other says 0 or 1 too" for one in told]
    else:
        name = MeasureName(difference.name)
        sums = second.sums(name) - first.sums(name)
        interval, reasons = _interval(name, difference.value, sums, (first, second), confidence=confidence)
    if interval is not None:
        interval = _no_narrower(interval, difference.interval)
    assumptions = (INDEPENDENT_CLUSTERS, HELD_OUT, _approximate(first), *reasons)
    return replace(difference, interval=interval, assumptions=assumptions)


def clustered_tests(
    names: Sequence[TestName], *, combined: bool
) -> tuple[tuple[TestResult, ...], CombinedTest | None]:
    """Return the tests, none of them defined for clusters; `combined` if one answer of several was due."""
    results = tuple(TestResult.undefined(name, NO_TEST) for name in names)
    return results, CombinedTest(None, ()) if combined else None


def _interval(
    name: MeasureName, mean: float, sums: Floats, scores: Sequence[Clusters], *, confidence: float
) -> tuple[Interval | None, list[str]]:
    """Return the interval of a mean over rows, by the clusters under each score, or why there is none.

    The end on the side of the longer tail is farther away by what the skewness of the clusters moves it.

    References:
        Hall (1983), Annals of Statistics 11, for the quantiles of a mean by its skewness.
    """
    clusters = scores[0]
    base = clusters.base(name)
    count, effective = clusters.count, clusters.effective
    if count < LEAST_CLUSTERS:
        some = f"{count} cluster" if count == 1 else f"{count} clusters"
        return None, [f"no interval: {some}, fewer than {LEAST_CLUSTERS}"]
    if effective < LEAST_CLUSTERS * (1.0 - 1e-9):
        like = f"{count:,} clusters so unequal that they count as {effective:.3g}"
        return None, [f"no interval: {like}, fewer than {LEAST_CLUSTERS}"]
    rarer, kind = min(one.rarer(name) for one in scores)
    if rarer < LEAST_SURPRISED:
        some = f"only in clusters that count as {rarer:.3g}, fewer than {LEAST_SURPRISED:.0f}"
        return None, [f"no interval: {kind} {some}"]
    total = float(base.sum())
    left_out = 1.0 - base / total
    departure = (sums - mean * base) / left_out
    spread = math.sqrt(float((departure**2).sum()) * (count - 1.0) / count) / total
    if spread <= 1e-12 * abs(mean):
        return None, ["no interval: every cluster has the same mean, so nothing varies"]
    reach = student_quantile(0.5 + confidence / 2.0, _effective(base) - 1.0)
    lean = float(((departure / (total * spread)) ** 3).sum()) * (2.0 * reach**2 + 1.0) / 6.0
    ends = mean - (reach + max(-lean, 0.0)) * spread, mean + (reach + max(lean, 0.0)) * spread
    return Interval(*ends, confidence, _METHOD, Target.POPULATION, finite_sample=False), []


def unlike_share(effective: float) -> float:
    """Return the share that clusters of a kind may have of all while 5 % of samples of so many show none."""
    return -math.expm1(math.log(0.05) / max(effective, 1.0))


def unlike_words(effective: float) -> str:
    """Return what clusters that count as so many of equal weight leave unseen."""
    return f"up to {rough_percent(unlike_share(effective))} of all may be unlike any of these"


def _approximate(clusters: Clusters) -> str:
    effective = clusters.effective
    by = f"approximate, by {clusters.count:,} clusters that count as {effective:.3g} of equal weight"
    return f"{by}; {unlike_words(effective)}"
