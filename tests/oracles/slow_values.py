"""Every measure and test once more, slowly, from its definition: rows, loops, dense kernels, linear
programmes.

Nothing of calibcli is imported. `test_slow_values.py` holds the program to these numbers on rows that sit on
bin edges, on 0 and on 1; `benchmarks/agreement.py` writes the differences on those and on the sample data.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq, linprog, minimize
from scipy.sparse import csr_array, diags_array, vstack
from scipy.special import expit, log_expit, logit
from scipy.stats import norm

Values = dict[str, float]
# Logits are those of scores at least this far from 0 and from 1.
NEAREST = 2.0**-53
# Above so many distinct scores the linear programme over joint laws is too large.
MOST_PLACES = 60
# On the scales of logit and probit scores are limited so far from 0 and from 1.
LIMIT = 1e-4
BINS = 15


def slow_values(score: np.ndarray, label: np.ndarray) -> Values:
    """Return every measure and statistic over 15 bins; NaN or no entry where there is none."""
    y = label.astype(float)
    found = (
        dict.fromkeys(("binomial", "binomial_two_sided", "jeffreys", "jeffreys_two_sided"), float(y.sum()))
        | over_bins(score, y)
        | losses(score, y)
        | decompositions(score, y)
    )
    found |= (
        pairs(score, y) | cumulative(score, y) | logistic(score, y) | smooth(score, y) | distances(score, y)
    )
    return found


def pairs(score: np.ndarray, y: np.ndarray) -> Values:
    """Events over the sum of scores, and the share of pairs of both labels that are in order."""
    expected = math.fsum(score)
    found = {"oe": math.fsum(y) / expected} if expected > 0 else {}
    found |= {"observed_rate": math.fsum(y) / y.size, "mean_score": expected / y.size}
    found["aurc"] = risk_over_coverage(score, y)
    ones, zeros = score[y == 1], score[y == 0]
    if not ones.size or not zeros.size:
        return found
    wins = sum(float((f > zeros).sum()) + 0.5 * float((f == zeros).sum()) for f in ones)
    area = wins / (ones.size * zeros.size)
    return found | {"auroc": area, "gini": 2 * area - 1}


def risk_over_coverage(score: np.ndarray, y: np.ndarray) -> float:
    """Mean risk of the highest scores, kept one by one, ties with their mean number of errors."""
    risks: list[float] = []
    wrong, kept = 0.0, 0
    for value in np.unique(score)[::-1]:
        errors = 1.0 - y[score == value]
        risks += [(wrong + k * errors.mean()) / (kept + k) for k in range(1, errors.size + 1)]
        wrong, kept = wrong + errors.sum(), kept + errors.size
    return math.fsum(risks) / y.size


def wide_index(score: np.ndarray, count: int) -> np.ndarray:
    """The least i with score <= i / count as doubles, from 1, one score at a time."""
    return np.array([next(i for i in range(1, count + 1) if f <= i / count) for f in score.tolist()])


def mass_index(score: np.ndarray, count: int) -> np.ndarray:
    """Equal shares of the sorted rows, larger ones first; a score goes with the first share that holds it."""
    shares = np.array_split(np.sort(score), count)
    ends = np.unique([share[-1] for share in shares if share.size])
    return np.searchsorted(ends, score, side="left")


def gaps_of(score: np.ndarray, y: np.ndarray, index: np.ndarray) -> list[tuple[float, float, float, float]]:
    """Share, rate less mean score, mean score, mean square of label - score of every bin with rows."""
    found = []
    for k in np.unique(index):
        f, one = score[index == k].tolist(), y[index == k].tolist()
        square = math.fsum((b - a) ** 2 for a, b in zip(f, one, strict=True)) / len(f)
        gap = math.fsum(b - a for a, b in zip(f, one, strict=True)) / len(f)
        found.append((len(f) / score.size, gap, math.fsum(f) / len(f), square))
    return found


def over_bins(score: np.ndarray, y: np.ndarray) -> Values:
    """Measures of gaps of bins."""
    gaps = gaps_of(score, y, wide_index(score, BINS))
    mass = gaps_of(score, y, mass_index(score, BINS))
    n = score.size
    two = [(p, gap, square) for p, gap, _, square in gaps if p * n > 1.5]
    t = sum(p * n * (gap**2 * p * n - square) / (p * n - 1) for p, gap, square in two) / n
    l1 = 0.0
    for p, gap, _, square in gaps:
        spread = math.sqrt(max(square - gap**2, 0.0) / (p * n))
        l1 += p * (2 * abs(gap) - (folded_mean(gap, spread) if spread > 0 else abs(gap)))
    over = sum(p * abs(g) for p, g, f, _ in gaps if (f > 0.5 and g < 0) or (f < 0.5 and g > 0))
    ece = sum(p * abs(g) for p, g, _, _ in gaps)
    return {
        "ece": ece,
        "ece_equal_mass": sum(p * abs(g) for p, g, _, _ in mass),
        "ace": sum(abs(g) for _, g, _, _ in mass) / len(mass),
        "ece_sweep": sweep(score, y),
        "l1_debiased": max(l1, 0.0),
        "l2": math.sqrt(max(t, 0.0)) if two else math.nan,
        "t": t if two else math.nan,
        "l2_plug_in": math.sqrt(sum(p * g * g for p, g, _, _ in gaps)),
        "lp": math.sqrt(sum(p * g * g for p, g, _, _ in gaps)),
        "linf": max(abs(g) for _, g, _, _ in gaps),
        "overconfidence": over,
        "underconfidence": ece - over,
        "bias": math.fsum(y - score) / n,
    }


def folded_mean(mean: float, spread: float) -> float:
    """E|m + s Z| by Simpson's rule on either side of 0."""
    total = 0.0
    for low, high in ((min(mean - 12 * spread, 0.0), 0.0), (0.0, max(mean + 12 * spread, 0.0))):
        at = np.linspace(low, high, 40_001)
        weight = np.full(at.size, 2.0)
        weight[1::2], weight[0], weight[-1] = 4.0, 1.0, 1.0
        total += float((np.abs(at) * norm.pdf(at, mean, spread) * weight).sum()) * (high - low) / 40_000 / 3
    return total


def sweep(score: np.ndarray, y: np.ndarray) -> float:
    """ECE over the last number of equal-mass bins before rates fall; over single scores where none fall."""

    def rates(index: np.ndarray) -> np.ndarray:
        return np.array([y[index == k].mean() for k in np.unique(index)])

    single = np.unique(score, return_inverse=True)[1]
    last = np.zeros(score.size)
    if (np.diff(rates(single)) >= 0).all():
        last = single
    else:
        for count in range(2, score.size + 1):
            index = mass_index(score, count)
            if (np.diff(rates(index)) < 0).any():
                break
            last = index
    return sum(p * abs(gap) for p, gap, _, _ in gaps_of(score, y, last))


def losses(score: np.ndarray, y: np.ndarray) -> Values:
    """Mean losses, and the share of a constant's loss that they save."""
    given, rate = np.where(y == 1, score, 1 - score), y.mean()
    with np.errstate(divide="ignore"):
        log_loss = float(-np.log(given).mean())
    brier = float(((y - score) ** 2).mean())
    known = 0 < rate < 1
    return {
        "brier": brier,
        "log_loss": log_loss,
        "spherical": float((1 - given / np.sqrt(score**2 + (1 - score) ** 2)).mean()),
        "brier_skill": 1 - brier / (rate * (1 - rate)) if known else math.nan,
        "log_loss_skill": 1 - log_loss / float(entropy(rate)) if known else math.nan,
    }


def entropy(rate: np.ndarray | float) -> np.ndarray:
    """Return -p ln p - (1 - p) ln(1 - p)."""
    inside = np.clip(rate, 1e-300, 1 - 1e-16)
    return -(rate * np.log(inside) + (1 - rate) * np.log1p(-inside))


def pooled_by_hand(score: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return the isotonic fit at each row by the max-min formula, quadratic in the scores."""
    values, place = np.unique(score, return_inverse=True)
    rows = np.bincount(place).astype(float)
    ones = np.bincount(place, weights=label)
    reached, ones_reached = np.append(0, rows.cumsum()), np.append(0, ones.cumsum())
    levels = np.empty(values.size)
    for i in range(values.size):
        s, t = np.arange(i + 1)[:, None], np.arange(i, values.size)[None, :] + 1
        levels[i] = ((ones_reached[t] - ones_reached[s]) / (reached[t] - reached[s])).min(axis=1).max()
    return levels[place]


def decompositions(score: np.ndarray, y: np.ndarray) -> Values:
    """Murphy's parts, those corrected by Ferro and Fricker, and CORP of both losses."""
    found = murphy(score, y)
    pooled, rate = pooled_by_hand(score, y), np.full(y.size, y.mean())

    def log_loss(p: np.ndarray) -> float:
        with np.errstate(divide="ignore"):
            return float(-np.log(np.where(y == 1, p, 1 - p)).mean())

    def brier(p: np.ndarray) -> float:
        return float(((y - p) ** 2).mean())

    for kind, loss in (("brier", brier), ("log_loss", log_loss)):
        found[f"{kind}_mcb"] = loss(score) - loss(pooled)
        found[f"{kind}_dsc"] = loss(rate) - loss(pooled)
        found[f"{kind}_unc"] = loss(rate)
    return found


def murphy(score: np.ndarray, y: np.ndarray) -> Values:
    """Every part of the Brier score over 15 equal-width bins, bin by bin."""
    n, rate, index = score.size, y.mean(), wide_index(score, BINS)
    found = dict.fromkeys(("reliability", "resolution", "within_variance", "within_covariance"), 0.0)
    noise = 0.0
    for k in np.unique(index):
        f, one = score[index == k], y[index == k]
        found["reliability"] += f.size / n * (f.mean() - one.mean()) ** 2
        found["resolution"] += f.size / n * (one.mean() - rate) ** 2
        found["within_variance"] += ((f - f.mean()) ** 2).sum() / n
        found["within_covariance"] += 2 * ((f - f.mean()) * (one - one.mean())).sum() / n
        noise += f.size / n / (f.size - 1) * one.mean() * (1 - one.mean()) if f.size > 1 else 0.0
    found["uncertainty"] = rate * (1 - rate)
    more = found["uncertainty"] / (n - 1) if n > 1 else math.nan
    found["reliability_corrected"] = found["reliability"] - noise
    found["resolution_corrected"] = found["resolution"] - noise + more
    found["uncertainty_corrected"] = found["uncertainty"] + more
    return {f"brier_{part}": float(value) for part, value in found.items()}


def cumulative(score: np.ndarray, y: np.ndarray) -> Values:
    """Statistics of the path of label - score, Spiegelhalter's Z, Hosmer and Lemeshow's H over 15 bins."""
    spread = math.sqrt(math.fsum(score * (1 - score)))
    path = [0.0]
    for value in np.unique(score):
        path.append(path[-1] + math.fsum((y - score)[score == value]))
    tilt = 1 - 2 * score
    variance = math.fsum(tilt**2 * score * (1 - score))
    index, h = wide_index(score, BINS), 0.0
    for k in np.unique(index):
        own = index == k
        noise = math.fsum((score * (1 - score))[own])
        h += math.fsum((y - score)[own]) ** 2 / noise if noise > 0 else 0.0
    found = {"cutoff": (max(path) - min(path)) / score.size}
    if spread > 0:
        found["hosmer_lemeshow"] = h
        found |= {"ks": max(map(abs, path)) / spread, "kuiper": (max(path) - min(path)) / spread}
    if variance > 0:
        found["spiegelhalter"] = math.fsum((y - score) * tilt) / math.sqrt(variance)
    return found


def logistic(score: np.ndarray, y: np.ndarray) -> Values:
    """Cox's coefficients and U by scipy's optimiser, on logits of limited scores."""
    z, sign = logit(np.clip(score, NEAREST, 1 - NEAREST)), np.where(y == 1, 1.0, -1.0)
    scale = float(np.sqrt((z**2).mean())) or 1.0
    x = np.column_stack((np.ones(z.size), z / scale))

    def loss(b: np.ndarray) -> float:
        return -float(log_expit(sign * (x @ b)).sum())

    def slopes(b: np.ndarray) -> np.ndarray:
        return x.T @ (expit(x @ b) - y)

    def bends(b: np.ndarray) -> np.ndarray:
        p = expit(x @ b)
        return (x * (p * (1 - p))[:, None]).T @ x

    best = minimize(loss, [0.0, scale], jac=slopes, hess=bends, method="trust-exact", options={"gtol": 1e-11})
    shift = brentq(lambda a: float((expit(z + a) - y).sum()), -60.0, 60.0, xtol=1e-14)
    return {
        "cox_intercept": float(best.x[0]),
        "cox_slope": float(best.x[1]) / scale,
        "citl_logit": float(shift),
        "u": 2 * (loss(np.array([0.0, scale])) - float(best.fun)),
    }


def reflected(centres: np.ndarray, points: np.ndarray, *, bandwidth: float, length: float) -> np.ndarray:
    """The Gaussian with its images beyond both ends of [0, length], shape (n, m)."""
    total = np.zeros((centres.size, points.size))
    beyond = max(1, math.ceil(4.0 * bandwidth / length))
    for shift in range(-beyond, beyond + 1):
        for sign in (1.0, -1.0):
            place = 2.0 * shift * length + sign * centres
            total += np.exp(-0.5 * ((points[None, :] - place[:, None]) / bandwidth) ** 2)
    return total / (bandwidth * math.sqrt(2.0 * math.pi))


# Where a score lies on a scale whose unit is that of the score at 1/2, and half of the scale's length.
SCALES: Mapping[str, tuple[Callable[[np.ndarray], np.ndarray], float]] = {
    "smece": (lambda f: f, 0.5),
    "smece_logit": (
        lambda f: logit(np.clip(f, LIMIT, 1 - LIMIT)) / 4 + float(logit(1 - LIMIT)) / 4,
        float(logit(1 - LIMIT)) / 4,
    ),
    "smece_probit": (
        lambda f: (norm.ppf(np.clip(f, LIMIT, 1 - LIMIT)) + norm.ppf(1 - LIMIT)) / math.sqrt(2 * math.pi),
        float(norm.ppf(1 - LIMIT)) / math.sqrt(2 * math.pi),
    ),
}


def smooth(score: np.ndarray, y: np.ndarray) -> Values:
    """SmECE on three scales and MMCE by dense kernels, and the indices of a smooth curve."""
    found = {name: smece(score, y, name) for name in SCALES}
    values, place = np.unique(score, return_inverse=True)
    mass = np.bincount(place, weights=y - score)
    if 0 < y.sum() < y.size:
        gap = np.abs(spline_curve(score, y) - score)
        found |= {"ici": float(gap.mean()), "emax": float(gap.max())}
        for name, share in (("e50", 0.5), ("e90", 0.9)):
            found[name] = float(np.quantile(gap, share, method="inverted_cdf"))
    square = mass @ np.exp(-np.abs(values[:, None] - values) / 0.4) @ mass
    return found | {"mmce": math.sqrt(max(square, 0.0)) / score.size}


# Harrell's quantiles for the knots of a restricted cubic spline, the first list of which all differ.
KNOTS = ((0.05, 0.275, 0.5, 0.725, 0.95), (0.05, 0.35, 0.65, 0.95), (0.1, 0.5, 0.9), (0.0, 1.0), (0.0,))


def spline_curve(score: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rates by a logistic regression on a natural cubic spline of the logit, straight beyond its knots."""
    z = logit(np.clip(score, NEAREST, 1 - NEAREST))
    every = (np.unique(np.quantile(z, shares, method="inverted_cdf")) for shares in KNOTS)
    knots = next(found for found, shares in zip(every, KNOTS, strict=True) if found.size == len(shares))
    x = np.ones((z.size, 1))
    if knots.size > 1:
        basis = CubicSpline(knots, np.eye(knots.size), bc_type="natural")
        inside = np.clip(z, knots[0], knots[-1])
        slope = basis(inside, 1)
        x = basis(inside) + (z - inside)[:, None] * slope
    x = np.linalg.qr(x)[0] * math.sqrt(z.size)
    best = minimize(
        lambda b: -float((y * log_expit(x @ b) + (1 - y) * log_expit(-(x @ b))).mean()),
        np.zeros(x.shape[1]),
        jac=lambda b: x.T @ (expit(x @ b) - y) / z.size,
        hess=lambda b: (x.T * (expit(x @ b) * expit(-x @ b))) @ x / z.size,
        method="trust-exact",
        options={"gtol": 1e-13, "maxiter": 10_000},
    )
    return expit(x @ best.x)


def smece(score: np.ndarray, y: np.ndarray, scale: str) -> float:
    """The bandwidth at which the L1 norm of the smoothed residuals is the bandwidth."""
    return smece_with(score, y, scale) if (score != y).any() else 0.0


def smece_with(
    score: np.ndarray,
    y: np.ndarray,
    scale: str,
    *,
    excess: Callable[[float, float], float] = lambda bandwidth, norm: bandwidth - norm,
    most: float = 1.0,
) -> float:
    """The bandwidth at which something that rises with it, and falls with the norm there, is 0."""
    bend, half = SCALES[scale]
    values, place = np.unique(bend(score), return_inverse=True)
    mass = np.bincount(place, weights=y - score) / score.size
    mass, values = mass[mass != 0.0], values[mass != 0.0]
    points = (np.arange(4000) + 0.5) / 4000 * 2 * half

    def at(bandwidth: float) -> float:
        density = mass @ reflected(values, points, bandwidth=bandwidth, length=2 * half)
        return excess(bandwidth, float(np.abs(density).mean()) * 2 * half)

    return float(brentq(at, 2e-3, most, xtol=1e-9))


def distances(score: np.ndarray, y: np.ndarray) -> Values:
    """The upper estimate of the distance by loops, the smooth error and the lower distance by scipy's LP."""
    n = score.size
    count = next(k for k in range(math.ceil(1.3 * n ** (1 / 3) - 1e-9), n + 20) if 720_720 % k == 0)
    fine = next(k for k in range(count, 2000, count) if k >= 256 and 720_720 % k == 0)
    ways = []
    for bins in (count, fine):
        # Scores of 0 and of 1 are bins of their own, and their own midpoints.
        index = np.where(score == 0, 0, np.where(score == 1, bins + 1, wide_index(score, bins)))
        ways.append((index, np.clip((index - 0.5) / bins, 0.0, 1.0)))
    if np.unique(score).size <= 1024:
        ways.append((np.unique(score, return_inverse=True)[1], score))
    least = min(
        sum(abs((y - middle)[index == k].sum()) for k in np.unique(index)) + np.abs(score - middle).sum()
        for index, middle in ways
    )
    found = {"dce": float(least / n), "smce": smooth_error(score, y)}
    if np.unique(score).size <= MOST_PLACES:
        found["dce_lower"] = best_coupling(score, y)
    return found


def smooth_error(score: np.ndarray, y: np.ndarray) -> float:
    """Largest mean of residual times weight over weights in [-1, 1] of slope at most 1."""
    values, place = np.unique(score, return_inverse=True)
    mass, count = np.bincount(place, weights=y - score) / score.size, values.size
    if count == 1:
        return float(np.abs(mass).sum())
    rise = diags_array([-np.ones(count - 1), np.ones(count - 1)], offsets=[0, 1], shape=(count - 1, count))
    steps = np.diff(values)
    best = linprog(-mass, A_ub=vstack((rise, -rise)), b_ub=np.concatenate((steps, steps)), bounds=(-1, 1))
    return -float(best.fun)


def best_coupling(score: np.ndarray, y: np.ndarray) -> float:
    """Least mean move over joint laws of new score u, score and label with P(label 1 | u) = u."""
    values, place = np.unique(score, return_inverse=True)
    new = np.unique(np.concatenate((np.arange(401) / 400, values)))
    old, size = values.size, values.size * new.size
    shares = np.concatenate([np.bincount(place, weights=y == one, minlength=old) for one in (1, 0)])
    cell = np.arange(size)
    marginal = csr_array((np.ones(size), (cell % old, cell)), shape=(old, size))
    empty = csr_array((old, size))
    rates = [
        csr_array((w[cell // old], (cell // old, cell)), shape=(new.size, size)) for w in (1 - new, -new)
    ]
    laws = vstack((hstacked(marginal, empty), hstacked(empty, marginal), hstacked(*rates)))
    cost = np.tile(np.abs(new[:, None] - values).ravel(), 2)
    limits = np.concatenate((shares / score.size, np.zeros(new.size)))
    return float(linprog(cost, A_eq=laws, b_eq=limits).fun)


def hstacked(left: csr_array, right: csr_array) -> csr_array:
    """Two blocks side by side."""
    from scipy.sparse import hstack

    return csr_array(hstack((left, right)))
