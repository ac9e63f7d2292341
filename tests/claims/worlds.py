"""The worlds that promises are simulated in, the hardest first, and what every measure is in them.

A world says how scores fall and how often a row of each score has label 1. A law is a world at so many
quantiles: at 200,000 of them it stands for the population, at the quantiles of n rows for these n scores.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtri, xlogy

from calibcli.names import Binning, MeasureName
from calibcli.stats.measures.distance import LOWER_CELLS, LabelledPlaces, largest_smooth_sum, least_move
from calibcli.stats.measures.smooth_ece import Axis, logit_axis, probit_axis
from calibcli.stats.recalibrators.newton import NEAREST
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS, BinnedTable, Bins, binned, bins_of, looks_discrete
from calibcli.stats.table.kernel import cosine_series, fixpoint

M = MeasureName
Floats = np.ndarray
Map = Callable[[Floats], Floats]
# What a measure is: a number, or all numbers from the first to the second where it has several forms.
Truth = tuple[float, float]
FINE = 200_000


def quantiles(rows: int) -> Floats:
    """Return so many numbers, evenly over (0, 1)."""
    return (np.arange(rows) + 0.5) / rows


def itself(score: Floats) -> Floats:
    """Return calibrated rates."""
    return score


def bent(slope: float, shift: float = 0.0) -> Map:
    """Return a map that is linear in log odds."""
    return lambda score: expit(shift + slope * logit(np.clip(score, 1e-12, 1 - 1e-12)))


@dataclass(frozen=True, slots=True)
class World:
    """How scores fall and what they are worth.

    Args:
        about: In words.

        quantile: Scores as a function of a uniform number; shares of atoms are multiples of 1 in 200,000.

        truth: Probability of label 1 at a score.

        second: Another score of the same rows, as a function of the first, to compare it with.
    """

    about: str
    quantile: Map
    truth: Map = itself
    second: Map = field(default_factory=lambda: bent(0.9, 0.1))

    @property
    def calibrated(self) -> bool:
        """Whether rates are the scores."""
        return self.truth is itself


def atoms(scores: list[float], shares: list[float]) -> Map:
    """Return the quantiles of a few scores, shares rounded to 1 in 200,000."""
    ends = np.rint(np.cumsum(shares) * FINE) / FINE
    place = np.asarray(scores)
    return lambda u: place[np.minimum(np.searchsorted(ends, u, side="right"), place.size - 1)]


def of_values(rates: dict[float, float]) -> Map:
    """Return rates of the nearest of a few scores."""
    scores, found = (np.array(one) for one in (sorted(rates), [rates[score] for score in sorted(rates)]))
    middles = (scores[1:] + scores[:-1]) / 2.0
    return lambda score: found[np.searchsorted(middles, score)]


def _near_the_ends(u: Floats) -> Floats:
    # Half of the rows near 0, half near 1, from 1e-9 to 0.1 away, evenly in the logarithm.
    away = 10.0 ** (-1.0 - 8.0 * np.abs(2.0 * u - 1.0))
    return np.where(u < 0.5, away, 1.0 - away)


def _few_open(u: Floats) -> Floats:
    # One row in a thousand is open, all others lie within 1e-9 of 0 or 1.
    shut = 1e-9 * (0.5 + 0.5 * u)
    score = np.where(u < 0.001, 0.05 + 100.0 * u, shut)
    return np.where((u * 7919.0) % 1.0 < 0.5, score, 1.0 - score)


def _bimodal(u: Floats) -> Floats:
    side = u < 0.5
    part = np.where(side, 2.0 * u, 2.0 * u - 1.0)
    return expit(np.where(side, -3.0, 3.0) + ndtri(np.clip(part, 1e-9, 1 - 1e-9)))


def _one_bad(u: Floats) -> Floats:
    return np.where(u < 0.005, 0.97, 0.9 * (u - 0.005) / 0.995)


def _twelve_each(u: Floats) -> Floats:
    away = np.exp(np.linspace(-11.0, -1.0, 12))[np.minimum((12.0 * (2.0 * u % 1.0)).astype(int), 11)]
    return np.where(u < 0.5, away, 1.0 - away)


def _as_their_roots(score: Floats) -> Floats:
    return np.where(score < 0.5, np.sqrt(score), 1.0 - np.sqrt(1.0 - score))


def _heavy_ties(u: Floats) -> Floats:
    # Three rows in five share one score, the others lie on hundredths.
    return np.where(u < 0.6, 0.1, np.clip(np.round((u - 0.6) / 0.4, 2), 0.01, 0.99))


TEN = quantiles(10)

HARD = {
    "confident, rare costly errors": World(
        "score 0.99999 for 90 % of rows, of which 99.9 % have label 1; 0.6 for the rest, rightly; the second "
        "score says 0.998 instead, and is better",
        atoms([0.6, 0.99999], [0.1, 0.9]),
        of_values({0.6: 0.6, 0.99999: 0.999}),
        of_values({0.6: 0.6, 0.99999: 0.998}),
    ),
    "fraud, calibrated": World(
        "score 0.0005 for 99.7 % of rows, 0.5 for 0.3 %, labels follow them",
        atoms([0.0005, 0.5], [0.997, 0.003]),
        second=of_values({0.0005: 0.0002, 0.5: 0.7}),
    ),
    "fraud, five times too high": World(
        "the same scores, labels a fifth as frequent, two events in three in rows a sample may lack",
        atoms([0.0005, 0.5], [0.997, 0.003]),
        lambda score: score / 5.0,
    ),
    "few rows open": World(
        "99.9 % of scores within 1e-9 of 0 or 1, the others 0.05 to 0.15 away; labels follow them",
        _few_open,
    ),
    "near 0 and 1, calibrated": World(
        "scores from 1e-9 to 0.1 away from 0 and 1, evenly in the logarithm, labels follow them",
        _near_the_ends,
    ),
    "near 0 and 1, wrong": World(
        "the same scores, one label in a hundred turned; the second score is kept 0.001 away from both ends",
        _near_the_ends,
        lambda score: 0.01 + 0.98 * score,
        lambda score: np.clip(score, 1e-3, 1.0 - 1e-3),
    ),
    "sure and wrong": World(
        "scores 1e-9 (70 % of rows) and 1 - 1e-9, rates 0.02 and 0.97",
        atoms([1e-9, 1.0 - 1e-9], [0.7, 0.3]),
        of_values({1e-9: 0.02, 1.0 - 1e-9: 0.97}),
    ),
    "overconfident": World(
        "twelve values 1.7e-5 to 0.37 away from 0, as many from 1, the rarer label as often as their root",
        _twelve_each,
        _as_their_roots,
    ),
    "scores near 9e-5": World(
        "scores from 4.5e-5 to 1.35e-4, labels follow them", lambda u: 9e-5 * (0.5 + u)
    ),
    "base rate 1e-4": World(
        "scores log-uniform from 1e-6 to 1e-3, labels two thirds as frequent: 1 in 10,000",
        lambda u: 1e-6 * 1000.0**u,
        lambda score: 0.69 * score,
        lambda score: 0.3 * score,
    ),
    "one bad bin": World(
        "score 0.97 for 0.5 % of rows, of which half have label 1; the others uniform up to 0.9, rightly; "
        "the second score says 0.01 instead of 0.97",
        _one_bad,
        lambda score: np.where(score > 0.95, 0.5, score),
        lambda score: np.where(score > 0.95, 0.01, score**1.05),
    ),
    "bimodal, rates clipped": World(
        "log-odds normal around -3 and 3, rates clipped to 0.1 to 0.9",
        _bimodal,
        lambda score: np.clip(score, 0.1, 0.9),
    ),
    "label noise": World(
        "log-odds normal with deviation 2, one label in ten turned",
        lambda u: expit(2.0 * ndtri(np.clip(u, 1e-9, 1 - 1e-9))),
        lambda score: 0.1 + 0.8 * score,
    ),
    "two values, 40 % noise": World(
        "scores 0.02 and 0.98, equally likely, rates 0.408 and 0.592",
        atoms([0.02, 0.98], [0.5, 0.5]),
        lambda score: 0.4 + 0.2 * score,
    ),
    "turned round": World("scores uniform, rates 1 less the score", itself, lambda score: 1.0 - score),
    "heavy ties": World(
        "score 0.1 for 60 % of rows, hundredths for the rest, logit slope 0.8", _heavy_ties, bent(0.8)
    ),
    "two values": World(
        "scores 0.1 and 0.7, equally likely, both 0.05 too low",
        atoms([0.1, 0.7], [0.5, 0.5]),
        lambda score: score + 0.05,
    ),
    "three values": World(
        "scores 0.1 (60 % of rows), 0.5 (35 %) and 0.95, rates 0.3, 0.3 and 0.5: on no line",
        atoms([0.1, 0.5, 0.95], [0.6, 0.35, 0.05]),
        of_values({0.1: 0.3, 0.5: 0.3, 0.95: 0.5}),
    ),
    "rare, one value": World(
        "score 0.02, rate 0.03", lambda u: np.full(u.size, 0.02), lambda score: score + 0.01
    ),
}
FRIENDLY = {
    "one atom": World(
        "every score 0.5, labels 0.45: the hardest for one-sided bounds",
        lambda u: np.full(u.size, 0.5),
        lambda score: score - 0.05,
    ),
    "rare, 15 atoms": World(
        "fifteen atoms from 0.002 to 0.2, labels follow them",
        lambda u: np.geomspace(0.002, 0.2, 15)[np.minimum((u * 15).astype(int), 14)],
    ),
    "rare, wrong": World(
        "scores log-uniform from 0.002 to 0.2, labels half as frequent",
        lambda u: 0.002 * 100.0**u,
        lambda score: 0.5 * score,
    ),
    "rare": World("scores log-uniform from 0.002 to 0.2, labels follow them", lambda u: 0.002 * 100.0**u),
    "disc4": World(
        "ten atoms, off by 0.04 up and down in turn",
        lambda u: TEN[np.minimum((u * 10).astype(int), 9)],
        lambda score: score + 0.04 * np.where(np.rint(score * 10 - 0.5).astype(int) % 2 == 0, 1, -1),
    ),
    "discrete": World("ten atoms, labels follow them", lambda u: TEN[np.minimum((u * 10).astype(int), 9)]),
    "tied": World(
        "scores uniform on hundredths, logit slope 0.8",
        lambda u: np.clip(np.round(u, 2), 0.01, 0.99),
        bent(0.8),
    ),
    "strong": World("scores uniform, logit slope 0.4", itself, bent(0.4)),
    "mild": World("scores uniform, logit slope 0.8", itself, bent(0.8)),
    "calibrated": World("scores uniform, labels follow them", itself),
}
WORLDS = HARD | FRIENDLY

# Sizes of clusters of dependent rows. The unequal ones count as 10.9, 12.2 and 19.7 of equal weight.
EQUAL = {
    "20 clusters of 20": np.full(20, 20),
    "50 clusters of 20": np.full(50, 20),
    "200 clusters of 5": np.full(200, 5),
}
UNEQUAL = {
    "20 unequal clusters": (400 * np.arange(1, 21) ** -0.8).astype(int),
    "50 unequal clusters": (400 * np.arange(1, 51) ** -1.0).astype(int),
    "200 unequal clusters": (400 * np.arange(1, 201) ** -1.0).astype(int),
}
CLUSTERS = {
    "one cluster of 400, 39 of 10": np.array([400, *[10] * 39]),
    "five clusters of 100, 95 of 10": np.array([*[100] * 5, *[10] * 95]),
    **UNEQUAL,
    **EQUAL,
}


def usual_bins(table: ScoreTable) -> Bins:
    """Return the bins that `measure` takes by default."""
    return ATOMS if looks_discrete(table) else bins_of(Binning.EQUAL_WIDTH, 15, table=table)


@dataclass(frozen=True)
class Law:
    """Scores, how many rows have them, and how often these have label 1.

    Args:
        table: Scores and rows, without labels.

        rate: Probability of label 1 at each score of the table.
    """

    table: ScoreTable
    rate: Floats

    @classmethod
    def of(cls, world: World, rows: int = FINE, *, second: bool = False) -> "Law":
        """Return a world at so many quantiles; of its second score where asked."""
        score, count = np.unique(world.quantile(quantiles(rows)), return_counts=True)
        rate = world.truth(score)
        if second:
            score, place = np.unique(world.second(score), return_inverse=True)
            rate = np.bincount(place, count * rate) / np.bincount(place, count)
            count = np.bincount(place, count).astype(np.int64)
        return cls(ScoreTable(score, count, np.zeros_like(count)), rate)

    @property
    def share(self) -> Floats:
        """Share of the rows at each score."""
        return self.table.rows / self.table.total_rows

    @property
    def mass(self) -> Floats:
        """Expected residual at each score."""
        return self.share * (self.rate - self.table.score)

    @cached_property
    def usual(self) -> Mapping[str, Truth]:
        """What is cheap to know, over the usual bins."""
        return self.truths(atomic=looks_discrete(self.table))

    def truths(self, *, atomic: bool) -> dict[str, Truth]:
        """Return every number that needs no smoothing; over atoms, or over 15 bins."""
        width = ATOMS if atomic else bins_of(Binning.EQUAL_WIDTH, 15, table=self.table)
        over = errors_over(self.sums(width))
        equal_mass = errors_over(self.sums(bins_of(Binning.EQUAL_MASS, 15, table=self.table)))
        found = over | {M.ACE: equal_mass[M.ACE], M.ECE_EQUAL_MASS: equal_mass[M.ECE]}
        found |= self.means() | self.coefficients()
        return {name: (value, value) for name, value in found.items() if np.isfinite(value)}

    def sums(self, bins: Bins) -> BinnedTable:
        """Return the sums over bins that labels equal to their probabilities would give."""
        sums = binned(self.table, bins)
        error = self.table.rows * (self.rate - self.table.score)
        residual = np.array([error[a:b].sum() for a, b in pairwise(sums.starts)])
        return replace(sums, residual=residual)

    def means(self) -> dict[str, float]:
        """Return proper scores, skill, uncertainty and bias."""
        f, p, share = self.table.score, self.rate, self.share
        rate, length = float(share @ p), np.hypot(f, 1 - f)
        brier = float(share @ (p * (1 - f) ** 2 + (1 - p) * f**2))
        with np.errstate(divide="ignore"):
            log_loss = float(share @ (-xlogy(p, f) - xlogy(1 - p, 1 - f)))
        unc, entropy = rate * (1 - rate), float(-xlogy(rate, rate) - xlogy(1 - rate, 1 - rate))
        return {
            M.BIAS: float(self.mass.sum()),
            M.CUTOFF: float(np.ptp(np.append(0.0, np.cumsum(self.mass)))),
            M.OE: rate / float(share @ f),
            M.OBSERVED_RATE: rate,
            M.MEAN_SCORE: float(share @ f),
            **self.areas(),
            M.AURC: self.risk_over_coverage(),
            M.BRIER: brier,
            M.LOG_LOSS: log_loss,
            M.SPHERICAL: float(1 - share @ ((p * f + (1 - p) * (1 - f)) / length)),
            M.BRIER_SKILL: 1 - brier / unc,
            M.LOG_LOSS_SKILL: 1 - log_loss / entropy,
            **dict.fromkeys((M.BRIER_UNCERTAINTY, M.BRIER_UNCERTAINTY_CORRECTED, M.BRIER_UNC), unc),
            M.LOG_LOSS_UNC: entropy,
        }

    def areas(self) -> dict[str, float]:
        """Return the area under the ROC curve, pair by pair of scores, and Gini's coefficient."""
        ones, zeros = self.share * self.rate, self.share * (1 - self.rate)
        below = np.cumsum(zeros) - 0.5 * zeros
        area = float(ones @ below) / float(ones.sum() * zeros.sum())
        return {M.AUROC: area, M.GINI: 2 * area - 1}

    def risk_over_coverage(self) -> float:
        """Return the area under the risk-coverage curve: the mean of -ln u over rows with label 0."""
        kept = np.cumsum(self.share[::-1])
        kept /= kept[-1]
        before = np.append(0.0, kept[:-1])
        area = kept - xlogy(kept, kept) - before + xlogy(before, before)
        return float((1 - self.rate[::-1]) @ area)

    def coefficients(self) -> dict[str, float]:
        """Return Cox's coefficients."""
        return best_lines(self.table.score, self.share, self.rate)

    @cached_property
    def smooth(self) -> Mapping[str, Truth]:
        """What takes seconds to know: SmoothECE on its scales, and the forms of the distances."""
        found = {M.SMECE.value: smooth_truth(self.table.score, self.mass)}
        for name, axis_of in ((M.SMECE_LOGIT, logit_axis), (M.SMECE_PROBIT, probit_axis)):
            axis: Axis = axis_of(self.table)
            found[name.value] = smooth_truth(axis.places, self.mass, axis.length)
        return {name: (value, value) for name, value in found.items()} | self.distances()

    def distances(self) -> dict[str, Truth]:
        """Return for each distance a value below its lower and one above its upper form.

        For the distance to calibration: the programme on 1,008 cells less its rounding, or |E r| where that
        is more; and the best partition of few atoms, or else E|rate - score|.
        """
        score, share, rate = self.table.score, self.share, self.rate
        many = score.size > LOWER_CELLS
        cell = (
            np.minimum((score * LOWER_CELLS).astype(int), LOWER_CELLS - 1) if many else np.arange(score.size)
        )
        keys, index = np.unique(cell, return_inverse=True)
        weight = np.bincount(index, share, keys.size)
        place = np.bincount(index, share * score, keys.size) / weight
        moved = float((share * np.abs(score - place[index])).sum())
        positive = np.bincount(index, share * rate, keys.size)
        value, rounding = least_move(LabelledPlaces(place, positive, weight - positive, moved))
        low = max(value - rounding, abs(float(self.mass.sum())))
        high = float(np.abs(self.mass).sum())
        if score.size <= 10:
            high = least_upper_distance(score, share, rate)
        thin = slice(None, None, 10) if score.size == FINE else slice(None)
        mass = self.mass.reshape(-1, 10).sum(axis=1) if score.size == FINE else self.mass
        smooth = largest_smooth_sum(score[thin], mass)
        return {"dce": (low, high), "dce_lower": (low, value + rounding), "smce": (smooth, smooth)}


def best_lines(score: Floats, share: Floats, rate: Floats) -> dict[str, float]:
    """Return Cox's coefficients: those that fit the label probabilities best, by scipy."""
    z = logit(np.clip(score, NEAREST, 1.0 - NEAREST))
    ones = np.ones_like(z)

    def best(columns: Floats, fixed: Floats, start: list[float]) -> Floats:
        def loss(at: Floats) -> float:
            t = fixed + at @ columns
            return float(share @ (np.logaddexp(0, t) - rate * t))

        def slope(at: Floats) -> Floats:
            return np.asarray(columns @ (share * (expit(fixed + at @ columns) - rate)))

        def curve(at: Floats) -> Floats:
            fit = expit(fixed + at @ columns)
            return np.asarray((columns * (share * fit * (1 - fit))) @ columns.T)

        options = {"gtol": 1e-13}
        return np.asarray(
            minimize(loss, start, jac=slope, hess=curve, method="trust-exact", options=options).x
        )

    found = {M.CITL_LOGIT: float(best(ones[None], z, [0.0])[0])}
    if z.min() < z.max():
        both = best(np.stack((ones, z)), 0.0 * z, [0.0, 1.0])
        found |= {M.COX_INTERCEPT: float(both[0]), M.COX_SLOPE: float(both[1])}
    return found


def smooth_truth(places: Floats, mass: Floats, length: float = 1.0) -> float:
    """Return the SmoothECE of expected residuals."""
    return fixpoint(cosine_series(places, mass), scale=length) if np.abs(mass).sum() > 1e-9 else 0.0


def errors_over(sums: BinnedTable, *, power: float = 2.0) -> dict[str, float]:
    """Return every error of known gaps."""
    some = sums.occupied
    weight, residual = sums.weight[some], sums.residual[some]
    gap, share, score = residual / weight, weight / weight.sum(), sums.score_sum[some] / weight
    announced = np.where(score > 0.5, gap, np.where(score < 0.5, -gap, np.abs(gap)))
    pairs = sums.rows[some] >= 2
    of_pairs = float((share * gap**2)[pairs].sum())
    plug_in = float(np.sqrt((share * gap**2).sum()))
    return {
        M.ECE: float((share * np.abs(gap)).sum()),
        M.L2: float(np.sqrt(of_pairs)),
        M.BRIER_RELIABILITY_CORRECTED: of_pairs,
        M.L2_PLUG_IN: plug_in,
        M.ACE: float(np.abs(gap).mean()),
        M.LP: float((share * np.abs(gap) ** power).sum()) ** (1 / power),
        M.LINF: float(np.abs(gap).max()),
        M.OVERCONFIDENCE: float((share * np.maximum(-announced, 0)).sum()),
        M.UNDERCONFIDENCE: float((share * np.maximum(announced, 0)).sum()),
    }


def least_upper_distance(score: Floats, share: Floats, rate: Floats) -> float:
    """Return the upper distance of a law on few scores: the best of all ways to pool them."""
    count, sums = score.size, np.zeros((2, 1 << score.size))
    for index in range(count):
        block = np.arange(1 << count) >> index & 1 == 1
        sums[0, block] += share[index]
        sums[1, block] += share[index] * rate[index]
    members = np.arange(1 << count)[:, None] >> np.arange(count) & 1
    level = sums[1] / np.maximum(sums[0], 1e-300)
    cost = (members * share * np.abs(level[:, None] - score)).sum(axis=1)
    best = np.zeros(1 << count)
    for whole in range(1, 1 << count):
        lowest = whole & -whole
        part, found = whole, np.inf
        while part:
            if part & lowest:
                found = min(found, cost[part] + best[whole ^ part])
            part = (part - 1) & whole
        best[whole] = found
    return float(best[-1])
