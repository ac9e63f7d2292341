"""Both ends of the 95 % intervals of `measure`, slowly and from their formulas; calibcli is not imported."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta, norm

import added_row
from oracles.slow_values import BINS, Values, smece_with, smooth_error, wide_index

DELTA = 0.025
LEVEL = math.log(1.0 / DELTA)


def slow_bounds(score: np.ndarray, label: np.ndarray) -> Values:
    """Return the ends as `name.lower` and `name.upper`, over 15 equal-width bins where there are bins."""
    y = label.astype(float)
    residual = y - score
    found = of_ece(score, label, residual) | of_bias(score, label, residual) | of_l2(score, residual)
    found |= {
        "smece.upper": min(1.0, smece_with(score, y, "smece", excess=partial(spare, residual), most=3.0)),
        "smce.upper": least(lambda eps: LEVEL + spare(residual, eps, smooth_error(score, y)), 0.0),
    }
    given = np.where(label == 1, score, 1 - score)
    losses = {"brier": (residual**2, 1.0)}
    if score.min() > 0.0 and score.max() < 1.0:
        losses["log_loss"] = (-np.log(given), -np.log(min(score.min(), 1.0 - score.max())))
    for name, (loss, most) in losses.items():
        ends = added_row.bounds(loss, least=0.0, most=most, confidence=1.0 - 2.0 * DELTA)
        found |= dict(zip((f"{name}.lower", f"{name}.upper"), ends, strict=True))
    return {name: float(value) for name, value in found.items()}


def spare(residual: np.ndarray, eps: float, norm: float) -> float:
    """By how much bets on residual times a function of this mean here refute that its mean is eps."""
    size, terms = np.abs(residual), []
    for guess, share in ((1 / 4, 1 / 2), (1 / 16, 1 / 4), (1 / 64, 1 / 8), (1 / 256, 1 / 8)):
        bet = min(0.9, math.sqrt(2 * LEVEL / size.size / guess))
        # log(1 - bet (x - eps)) for |x| <= size and a known sum of x is least where it is bent most.
        slope = bet / (1 + bet * eps)
        rows = math.log1p(bet * eps) - slope * norm + np.log1p(-slope * size) + slope * size
        terms.append(math.log(share) + rows.sum())
    return mixed(terms) - LEVEL


def stakes(score: np.ndarray) -> list[tuple[float, float]]:
    """Bets for one look, with their shares."""
    variance = min(max(float((score * (1 - score)).mean()), 1e-12), 0.25)
    guesses = (variance, min(0.25, 4 * variance), variance / 4)
    sizes = [min(0.9, math.sqrt(2 * LEVEL / score.size / v)) for v in guesses]
    return list(zip(sizes, (0.8, 0.1, 0.1), strict=True))


def least(evidence: Callable[[float], float], low: float) -> float:
    """Where evidence that grows reaches the level; 1 where it never does."""
    return brentq(lambda m: evidence(m) - LEVEL, low, 1.0, xtol=1e-12) if evidence(1.0) > LEVEL else 1.0


def mixed(terms: list[float]) -> float:
    """Log of a sum of exponentials."""
    return float(np.logaddexp.reduce(terms))


def of_ece(score: np.ndarray, label: np.ndarray, residual: np.ndarray) -> Values:
    """Betting or d* above; below, McDiarmid at a quarter of the error or |bias| at the rest."""
    n, index = score.size, wide_index(score, BINS)
    groups = [residual[index == k] for k in np.unique(index)]
    value = sum(abs(group.sum()) for group in groups) / n

    def evidence(eps: float) -> float:
        terms = []
        for size, share in stakes(score):
            lost = [min(np.log1p(-size * (sign * group - eps)).sum() for sign in (1, -1)) for group in groups]
            terms.append(math.log(share) + sum(lost))
        return mixed(terms)

    variance = float((score * (1 - score)).mean())
    if norm.isf(DELTA) / 2 <= 1.02 * math.sqrt(2 * variance * LEVEL):
        x = np.arange(n)
        upper = min(1.0, value + float((beta.ppf(1 - DELTA, x + 1, n - x) - x / n).max()))
    else:
        upper = least(evidence, 0.0)
    # A bin of equal width may hold several scores: its noise is taken at its largest, sqrt(n_k) / 2.
    noise = sum(math.sqrt(group.size) / 2 for group in groups) / n
    beyond_noise = value - noise - math.sqrt(math.log(4 / DELTA) / (2 * n))
    mean = of_bias(score, label, residual, 0.375 * DELTA)
    clear = n * abs(residual.mean()) > norm.isf(0.375 * DELTA) * math.sqrt((residual**2).sum())
    lower = max(0.0, beyond_noise, *((mean["bias.lower"], -mean["bias.upper"]) if clear else ()))
    return {"ece.lower": lower, "ece.upper": max(value, upper)}


def of_bias(score: np.ndarray, label: np.ndarray, residual: np.ndarray, delta: float = DELTA) -> Values:
    """Counts, the normal law with its error, or bets and counts: the shortest by what scores announce."""
    n, center, average = score.size, float(residual.mean()), float(score.mean())
    scatter, squares = float((score * (1 - score)).sum()), float((residual**2).sum())
    z, twice = norm.isf(delta), math.log(2 / delta)
    expected = [
        math.sqrt(z**2 * n * average * (1 - average) + math.log(1 / delta) ** 2 / 4),
        normal_margin(scatter, delta),
        math.sqrt(2 * scatter * twice + twice**2),
    ]
    choice = expected.index(min(expected))
    if choice == 0:
        low, high = by_counts(label, residual, delta)
    elif choice == 1:
        low, high = (center + sign * normal_margin(squares, delta) / n for sign in (-1, 1))
    else:
        low, high = by_counts(label, residual, 0.1 * delta)
        margin = normal_margin(squares, 0.1 * delta) / n
        low = max(low, center - margin, -by_bets(-residual, scatter, 0.8 * delta))
        high = min(high, center + margin, by_bets(residual, scatter, 0.8 * delta))
    return {"bias.lower": max(-average, low), "bias.upper": min(1 - average, high)}


def by_counts(label: np.ndarray, residual: np.ndarray, delta: float) -> tuple[float, float]:
    """Clopper and Pearson, further out where residuals scatter more than labels do."""
    n, x = label.size, int(label.sum())
    low = 0.0 if x == 0 else float(beta.ppf(delta, x, n - x + 1))
    high = 1.0 if x == n else float(beta.ppf(1 - delta, x + 1, n - x))
    low, high = min(low, delta / n) if x == 1 else low, max(high, 1 - delta / n) if x == n - 1 else high
    more = n * (float(residual.var()) - float(label.var())) - 1
    out = norm.isf(delta) ** 2 * max(0.0, more) / n**2
    center, rate = float(residual.mean()), x / n
    return center - math.sqrt((rate - low) ** 2 + out), center + math.sqrt((high - rate) ** 2 + out)


def normal_margin(squares: float, delta: float = DELTA) -> float:
    """How far a sum of unlike labels strays, their variance known by the sum of squared residuals only."""
    half = math.log(20 / delta) / 2
    spread, left = math.sqrt(half) + math.sqrt(squares + half), 0.95 * delta
    floor = max(10.0, 0.32 / left)

    def bennett(t: float) -> float:
        u = t / floor
        return floor * ((1 + u) * math.log(1 + u) - u) + math.log(left)

    margin = brentq(bennett, 0.0, 1e4, xtol=1e-12)
    if spread**2 <= floor:
        return margin

    def over(x: float) -> float:
        return norm.sf(x) + abs(x * x - 1) * norm.pdf(x) / (6 * spread) + 0.08 / spread**2 - left

    return max(margin, 0.5 + spread * brentq(over, 0.0, 30.0, xtol=1e-12))


def by_bets(values: np.ndarray, scatter: float, delta: float) -> float:
    """The least mean that bets on a smaller one refute, cut so that a row never takes more than 95 %."""
    n, log_odds = values.size, math.log(1 / delta)
    guesses = [max(scatter, log_odds / 20)]
    while guesses[-1] < n / 4:
        guesses.append(4 * guesses[-1])
    shares = [2.0 ** -(j + 1) for j in range(len(guesses) - 1)]
    shares.append(1.0 - sum(shares))
    strays = [math.sqrt(2 * log_odds * one) + log_odds / 3 for one in guesses]
    sizes = [stray / (one + stray) for one, stray in zip(guesses, strays, strict=True)]

    def evidence(m: float) -> float:
        bets = [min(one, 0.95 / (1 - m) if m < 1 else 1.0) for one in sizes]
        gains = [np.log(1 + bet * (m - values)).sum() for bet in bets]
        return mixed([math.log(share) + gain for share, gain in zip(shares, gains, strict=True)]) - log_odds

    return brentq(evidence, -1.0, 1.0, xtol=1e-12)


def of_l2(score: np.ndarray, residual: np.ndarray) -> Values:
    """Where |T - theta| is z standard deviations of T at theta."""
    n, index = score.size, wide_index(score, BINS)
    t = a = energy = noisy = fourth = 0.0
    for k in np.unique(index):
        r, f = residual[index == k], score[index == k]
        if r.size >= 2:
            share, gap, null = r.size / n, r.mean(), float((f * (1 - f)).mean())
            t += (r.sum() ** 2 - (r**2).sum()) / (r.size - 1) / n
            a += 2 / n**2 * r.size / (r.size - 1) * null**2
            energy += share * gap**2
            fourth += share * gap**4
            noisy += share * gap**2 * max(r.var(ddof=1), null, min(1 / r.size, 0.25))
    z, d = norm.isf(DELTA), max(fourth - energy**2, 0.0) / n

    def strayed(theta: float) -> float:
        return abs(t - theta) - z * math.sqrt(a + d + 4 * noisy / energy / n * theta)

    low = brentq(strayed, 0.0, max(t, 0.0), xtol=1e-15) if t > 0 and strayed(0.0) > 0 else 0.0
    high = brentq(strayed, max(t, 0.0), 50.0, xtol=1e-15) if strayed(max(t, 0.0)) < 0 else max(t, 0.0)
    return {"l2.lower": math.sqrt(low), "l2.upper": math.sqrt(min(1.0, high))}
