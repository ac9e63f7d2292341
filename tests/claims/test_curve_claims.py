"""Curves and bands: how often intervals of indices, simultaneous bands and bounds at a threshold hold."""

import math
from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import pytest
from scipy.special import expit, gammaln, logit, xlogy

from calibcli.names import Band, MeasureName
from calibcli.stats.bounds.means import Kinds
from calibcli.stats.curves.cumulative import risk_coverage_curve
from calibcli.stats.curves.isotonic import isotonic_curve
from calibcli.stats.curves.reliability import smooth_curve
from calibcli.stats.curves.thresholds import standardised_ends
from calibcli.stats.measures import UNKNOWN
from calibcli.stats.measures.if_calibrated import Shared, expected_smece, expected_smece_along
from calibcli.stats.measures.smooth import calibration_index
from calibcli.stats.measures.smooth_ece import (
    logit_axis,
    probit_axis,
    score_axis,
    smooth_ece,
    smooth_ece_along,
)
from calibcli.stats.recalibrators.spline import Spline
from calibcli.stats.table import ScoreTable, Weighing
from claims.simulation import generator_of, most_misses, short_and_full

M = MeasureName
Floats = np.ndarray
NAMES = (M.ICI, M.E50, M.E90, M.EMAX)
SCORES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "usual": lambda rng, rows: rng.beta(1.2, 2.0, rows),
    "rare": lambda rng, rows: np.maximum(rng.beta(1.0, 60.0, rows), 1e-6),
    "tied": lambda rng, rows: rng.choice([0.05, 0.1, 0.2, 0.35, 0.5, 0.7], rows),
    "sure": lambda rng, rows: np.abs(rng.integers(2, size=rows) - 10.0 ** rng.uniform(-9.0, -1.0, rows)),
}
RATES: dict[str, Callable[[Floats], Floats]] = {
    "calibrated": lambda f: f,
    "a little overconfident": lambda f: expit(0.9 * logit(f)),
    "overconfident": lambda f: expit(0.7 * logit(f)),
    "too low": lambda f: expit(logit(f) + 0.4),
    "a wave": lambda f: np.clip(f + 0.08 * np.sin(6 * np.pi * f) * 4 * f * (1 - f), 0, 1),
}
# 100 rows of rare events hold one or two.
ROWS = (300, 1_000, 5_000)
TURNED = "turned round"
# Gaps about as large as they can be; the median of the ties would lie on the jump between two of them.
AS_LARGE = [(scores, TURNED, rows, 100) for scores in ("usual", "rare", "sure") for rows in ROWS[:2]]
# Where intervals begin: some tables have none.
LEAST = [("usual", 30), ("usual", 40), ("rare", 200)]
# Below this an end on the wrong side of the truth is a matter of the places that are looked at.
SLACK = 1e-4


def values_of(table: ScoreTable) -> list[tuple[float, float, float]]:
    """Return value and ends of each index; without an interval the widest, which is never wrong."""
    shared = Shared()
    found = [calibration_index(table, name=name, shared=shared) for name in NAMES]
    return [(one.value, *(one.interval.ends if one.interval else (0.0, 1.0))) for one in found]


def misses(scores: str, rates: str, rows: int, *, repetitions: int) -> Floats:
    """Count how often the lower end lies above the truth of each index, and the upper below, shape (4, 2)."""
    rng = generator_of("curve", scores, rates, rows)
    draw, rate = SCORES[scores], RATES.get(rates, lambda f: 1.0 - f)
    many = draw(rng, 20_000)
    counts = np.rint(10_000 * rate(many)).astype(np.int64)
    both = np.column_stack((10_000 - counts, counts)).ravel()
    limit = ScoreTable.from_rows(np.repeat(many, 2), np.tile([False, True], many.size), Weighing(counts=both))
    spline = Spline.fit(limit)
    gaps = np.abs(spline.predict(many) - many)
    truth = np.array([gaps.mean(), *np.quantile(gaps, (0.5, 0.9, 1.0), method="inverted_cdf")])
    found = np.zeros((4, 2), np.int64)
    for _ in range(repetitions):
        score = draw(rng, rows)
        # The largest gap is that over these scores.
        truth[NAMES.index(M.EMAX)] = np.abs(spline.predict(score) - score).max()
        ends = np.array(values_of(ScoreTable.from_rows(score, rng.random(rows) < rate(score))))
        found += np.column_stack((ends[:, 1] > truth + SLACK, ends[:, 2] < truth - SLACK))
    return found


@pytest.mark.untraced
@short_and_full(
    "scores rates rows times",
    [("tied", "calibrated", 300, 6), ("usual", TURNED, 300, 6)],
    [*product(SCORES, RATES, ROWS, (100,)), ("sure", "overconfident", 100, 100), *AS_LARGE],
)
def test_intervals_of_the_curve_hold_as_often_as_documented(
    scores: str, rates: str, rows: int, times: int
) -> None:
    """At 95 % they are wrong at most 8 % of the time in any of the worlds."""
    assert misses(scores, rates, rows, repetitions=times).sum(axis=1).max() <= most_misses(times, 0.08)


@pytest.mark.slow
@pytest.mark.parametrize(("scores", "rows"), LEAST)
def test_intervals_of_few_rows_seldom_call_calibrated_scores_wrong(scores: str, rows: int) -> None:
    """Of tables that have an interval it is above 0 in about one in ten at most, at 95 %."""
    rng, wrong, intervals = generator_of("few", scores, rows), np.zeros(4, np.int64), 0
    for _ in range(300):
        score = SCORES[scores](rng, rows)
        table = ScoreTable.from_rows(score, rng.random(rows) < score)
        found = [calibration_index(table, name=name) for name in NAMES]
        if found[0].interval is not None:
            intervals += 1
            wrong += [one.interval.ends[0] > SLACK for one in found]
    assert intervals > 50
    assert wrong.max() <= most_misses(intervals, 0.1)


@pytest.mark.untraced
@short_and_full("times", [20], [1_000])
def test_calibrated_ties_seldom_fail_at_high_confidence(times: int) -> None:
    """Of tables of one kind an end at .5 % is wrong in .5 %, with the usual seed, too."""
    rng, wrong = generator_of("ties, high"), np.zeros(4, np.int64)
    for _ in range(times):
        score, shared = SCORES["tied"](rng, 300), Shared()
        table = ScoreTable.from_rows(score, rng.random(300) < score)
        found = [calibration_index(table, name=name, confidence=0.99, shared=shared) for name in NAMES]
        wrong += [one.interval is not None and one.interval.ends[0] > SLACK for one in found]
    assert wrong.max() <= most_misses(times, 0.005)


PLACES = np.linspace(0.1, 0.9, 9)


def band_misses(rows: int, *, repetitions: int, between: bool = False) -> np.ndarray:
    """Return how often the fit leaves the band, labels drawn from the scores each time.

    Args:
        rows: How many.

        repetitions: How often labels are drawn.

        between: Whether to look between each two neighbouring cells of the band, and not at nine scores.
    """
    rng = generator_of("isotonic band", rows)
    score = np.sort(rng.beta(0.8, 1.6, rows))
    at = np.quantile(score, PLACES)
    missed, band = np.zeros(0, dtype=int), None
    for _ in range(repetitions):
        curve = isotonic_curve(
            ScoreTable.from_rows(score, rng.random(rows) < score),
            generator=generator_of("draws", rows),
            draws=1_000 if band is None else 1,
        )
        if band is None:
            band = curve
            at = 0.5 * (band.at[1:] + band.at[:-1]) if between else at
            missed = np.zeros(at.size, dtype=int)
        level = np.interp(at, curve.x, curve.rate)
        low, high = (np.interp(at, band.at, end) for end in (band.lower, band.upper))
        missed += (level < low - 1e-12) | (level > high + 1e-12)
    return missed


@short_and_full("rows times", [(400, 30), (5_000, 30)], product((200, 2_000, 20_000, 50_000), (1_000,)))
def test_fits_to_calibrated_labels_lie_in_the_band(rows: int, times: int) -> None:
    """At 95 % and each score by itself, with cells and without; taking 1,000 draws may cost 3 points."""
    assert band_misses(rows, repetitions=times).max() <= most_misses(times, 0.08)


@pytest.mark.slow
def test_between_cells_near_the_ends_fits_leave_the_band_more_often() -> None:
    """On average 5 %, and at the worst of 500 places a few times as often: the small print says so."""
    share = band_misses(50_000, repetitions=200, between=True) / 200.0
    assert share.mean() < 0.065
    assert share.max() < 0.35
    assert min(int(share.argmax()), share.size - 1 - int(share.argmax())) < 25


def _rare(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    score = rng.beta(0.3, 60.0, rows)
    return score, score


def _saturated(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scores within 1e-9 of 0 and 1, one row in a hundred being wrong there."""
    score = np.where(rng.random(rows) < 0.5, 1e-9 * rng.random(rows), 1.0 - 1e-9 * rng.random(rows))
    return score, np.where(score < 0.5, 0.01, 0.99)


def _one_bad_score(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ties at ten scores, the highest of which is never right to be so high."""
    score = rng.integers(0, 10, rows) / 10.0
    return score, np.where(score == 0.9, 0.8, score)


def _steep(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a rate that jumps from 0 to 1."""
    score = rng.random(rows)
    return score, (score > 0.5).astype(float)


RISING = {"rare": _rare, "saturated": _saturated, "one bad score": _one_bad_score, "steep": _steep}


def outside(world: str, rows: int, *, repetitions: int) -> int:
    """Return how often some row's rate lies outside the simultaneous band, anywhere."""
    rng, missed = generator_of(f"simultaneous {world}", rows), 0
    for _ in range(repetitions):
        score, rate = RISING[world](rng, rows)
        curve = isotonic_curve(
            ScoreTable.from_rows(score, rng.random(rows) < rate), generator=rng, band=Band.SIMULTANEOUS
        )
        # Of the corners at and before a row, and of those at and after it, one says what holds there.
        before = np.searchsorted(curve.at, score, side="right") - 1
        after = np.searchsorted(curve.at, score)
        wrong = (rate < curve.lower[before] - 1e-12) | (rate > curve.upper[after] + 1e-12)
        missed += bool(np.isnan(curve.lower).any() or wrong.any())
    return missed


@short_and_full(
    "world rows times",
    [*product(RISING, (30,), (10,)), ("saturated", 150, 8)],
    [(one, *size) for one in RISING for size in ((30, 2_000), (300, 500), (10_000, 200))],
)
def test_all_rates_lie_in_the_simultaneous_band(world: str, rows: int, times: int) -> None:
    """At 95 % at once, where events are rare, scores certain, rates steep, and one score is bad."""
    assert outside(world, rows, repetitions=times) <= most_misses(times, 0.05)


def _falling(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    score = rng.random(rows)
    return score, 1.0 - score


def _very_rare(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return one event in 10,000, at scores that know nothing of it."""
    return rng.beta(0.3, 60.0, rows), np.full(rows, 1e-4)


def _two_scores(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    score = np.where(rng.random(rows) < 0.1, 0.9, 0.2)
    return score, np.where(score > 0.5, 0.5, 0.2)


def _uneven(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rates that differ from row to row."""
    score = rng.beta(1.2, 2.0, rows)
    return score, np.clip(score + rng.choice([-0.2, 0.2], rows), 0.0, 1.0)


UNEVEN = {"falling": _falling, "very rare": _very_rare, "two scores": _two_scores, "uneven": _uneven}
WIDTHS = (0.004, 0.02, 0.08, 0.3, 1.0)


def smoothed_rates(at: Floats, score: Floats, rate: Floats, width: float, *, log_odds: bool) -> Floats:
    """Return the mean rate that a kernel sees at each place, row by row."""
    if log_odds:
        at, score = logit(at), logit(np.clip(score, 1e-6, 1.0 - 1e-6))
    apart = [at[:, None] - score]
    if not log_odds:
        both = (at[:, None] - score, at[:, None] + score)
        turns = range(-math.ceil(4.0 * width) - 1, math.ceil(4.0 * width) + 2)
        apart = [one + 2.0 * turn for one in both for turn in turns]
    weight = sum(np.exp(-0.5 * (one / width) ** 2) for one in apart)
    return np.asarray(weight @ rate / weight.sum(axis=1))


def outside_of_curves(world: str, rows: int, *, repetitions: int) -> tuple[int, int]:
    """Count tables in which a curve leaves its band, at any of six bandwidths; and of two along log-odds."""
    rng, missed, missed_by_log_odds = generator_of(f"smoothed {world}", rows), 0, 0
    for _ in range(repetitions):
        score, rate = {**RISING, **UNEVEN}[world](rng, rows)
        table = ScoreTable.from_rows(score, rng.random(rows) < rate)
        wrong = []
        for log_odds, widths in (
            (False, (smooth_ece(table, confidence=None).value, *WIDTHS)),
            (True, (0.0, 0.7)),
        ):
            wrong.append(False)
            for width in widths:
                curve = smooth_curve(table, bandwidth=width, log_odds=log_odds, band=Band.SIMULTANEOUS)
                seen = ~np.isnan(curve.x)
                truth = smoothed_rates(curve.at[seen], score, rate, curve.bandwidth, log_odds=log_odds)
                below, above = truth < curve.lower[seen] - 1e-6, truth > curve.upper[seen] + 1e-6
                wrong[-1] |= bool(np.any(below | above))
        missed, missed_by_log_odds = missed + wrong[0], missed_by_log_odds + wrong[1]
    return missed, missed_by_log_odds


@short_and_full(
    "world rows times",
    [("two scores", 30, 5)],
    [(one, *size) for one in [*RISING, *UNEVEN] for size in ((30, 400), (300, 100), (3_000, 20))],
)
def test_all_smoothed_rates_lie_in_the_simultaneous_band(world: str, rows: int, times: int) -> None:
    """At 95 % at once, at the bandwidth that the labels choose and others; rates may fall from row to row."""
    assert max(outside_of_curves(world, rows, repetitions=times)) <= most_misses(times, 0.05)


def places_missed(scores: str, rates: str, rows: int, *, confidence: float, repetitions: int) -> float:
    """Return the share of rows at whose score the curve of the true rates lies outside of the pointwise band,
    or that of tables where it does at the score that a tenth of the rows exceed, whichever is larger; at the
    bandwidth that the labels choose.
    """
    rng, missed = generator_of("pointwise", scores, rates, rows), np.zeros(2)
    for _ in range(repetitions):
        score = SCORES[scores](rng, rows)
        rate = RATES[rates](score)
        table = ScoreTable.from_rows(score, rng.random(rows) < rate)
        curve = smooth_curve(table, bandwidth=smooth_ece(table, confidence=None).value, confidence=confidence)
        some = np.flatnonzero(~np.isnan(curve.x))[::8]
        truth = smoothed_rates(curve.at[some], score, rate, curve.bandwidth, log_odds=False)
        wrong = (truth < curve.lower[some] - 1e-6) | (truth > curve.upper[some] + 1e-6)
        high = np.abs(curve.at[some] - np.quantile(score, 0.9)).argmin()
        missed += np.average(wrong, weights=curve.density[some]), wrong[high]
    return float(missed.max()) / repetitions


@short_and_full(
    "scores rates rows confidence times",
    [("rare", "calibrated", 200, 0.95, 15)],
    [
        *product(SCORES, ("calibrated", "overconfident"), (100, 400), (0.95,), (200,)),
        *(("usual", rates, 400, 0.95, 200) for rates in RATES if "over" not in rates),
        ("rare", "calibrated", 400, 0.95, 1_500),
        ("rare", "calibrated", 400, 0.99, 600),
        ("usual", "calibrated", 400, 0.99, 600),
    ],
)
def test_smoothed_rates_lie_in_the_pointwise_band(
    scores: str, rates: str, rows: int, confidence: float, times: int
) -> None:
    """At as many places as it says, by rows; where the kernel sees a few events, too."""
    found = places_missed(scores, rates, rows, confidence=confidence, repetitions=times)
    # Places of one table go together: they count as one look at it.
    assert found * times <= most_misses(times, 1.0 - confidence)


REPETITIONS = 4_000
THRESHOLDS = (0.01, 0.1, 0.3, 0.5, 0.8, 0.97)
SHARES = [(p, q) for p, q in product((0.0, 0.002, 0.01, 0.05, 0.2, 0.45), (0.002, 0.01, 0.05, 0.2, 0.5))]
FEW_SHARES = [(0.01, 0.01), (0.05, 0.5), (0.45, 0.2)]


def worst_misses(shares: list[tuple[float, float]], *, rows: int, confidence: float) -> int:
    """Draw rows that are missed, alarms or neither; return the most misses of either curve at a threshold."""
    rng = np.random.default_rng(rows)
    worst = 0
    for p, q in shares:
        drawn = rng.multinomial(rows, [p, q, 1.0 - p - q], size=REPETITIONS)[:, :2]
        pairs, place = np.unique(drawn, axis=0, return_inverse=True)
        for at in THRESHOLDS:
            for a, b in ((2.0 * (1.0 - at), 2.0 * at), (1.0, -at / (1.0 - at))):
                factors = np.stack((np.full(len(pairs), a), np.full(len(pairs), b)))
                kinds = Kinds.of(pairs.T.astype(np.float64), rows=float(rows))
                lower, upper = kinds.bounds(factors, delta=(1.0 - confidence) / 2.0)
                truth = a * p + b * q
                missed = (lower > truth + 1e-12) | (upper < truth - 1e-12)
                worst = max(worst, int(missed[place.reshape(-1)].sum()))
    return worst


@short_and_full(
    "shares rows confidence",
    [(FEW_SHARES, 100, 0.95), (FEW_SHARES[:1], 20, 0.999)],
    [*product((SHARES,), (20, 100, 1_000, 100_000), (0.95,)), (SHARES, 20, 0.999), (SHARES, 1_000, 0.999)],
)
def test_bounds_of_two_shares_cover(shares: list[tuple[float, float]], rows: int, confidence: float) -> None:
    """Every mix of rare and common errors, at thresholds from 0.01 to 0.97: 4,000 repetitions of each."""
    found = worst_misses(shares, rows=rows, confidence=confidence)
    assert found <= most_misses(REPETITIONS, 1.0 - confidence)


def most_missed(rows: int, *, confidence: float) -> float:
    """Return the largest chance that a net benefit or an elementary score is missed, summed over all tables.

    Rows are of three kinds, the last of which is worth nothing.
    """
    first, second = np.indices((rows + 1, rows + 1)).reshape(2, -1)
    counts = np.stack((first, second, rows - first - second))[:, first + second <= rows].astype(np.float64)
    ways = gammaln(rows + 1.0) - gammaln(counts + 1.0).sum(axis=0)
    few = (0.0, 0.05 / rows, 0.3 / rows, 1.0 / rows, 2.5 / rows)
    kinds = {
        order
        for one, other in product(few[1:], (*few, 0.1, 0.5))
        for order in permutations((one, other, 1.0 - one - other))
    }
    kinds_of_rows, worst = Kinds.of(counts[:2], rows=float(rows)), 0.0
    for at, elementary in product((0.001, 0.1, 0.3, 0.5, 0.95), (False, True)):
        factors = np.array([2.0 * (1.0 - at), 2.0 * at] if elementary else [1.0, -at / (1.0 - at)])
        worth = np.tile(factors[:, None], counts.shape[1])
        lower, upper = kinds_of_rows.bounds(worth, delta=(1.0 - confidence) / 2.0)
        for shares in kinds:
            chance = np.exp(ways + xlogy(counts, np.array(shares)[:, None]).sum(axis=0))
            truth = float(factors @ shares[:2])
            missed = (lower > truth + 1e-9) | (upper < truth - 1e-9)
            worst = max(worst, float(chance[missed].sum()))
    return worst


@short_and_full("rows confidence", [(30, 0.999)], [*product((30, 100), (0.95, 0.99, 0.999))])
def test_net_benefit_is_missed_no_more_often_than_it_says(rows: int, confidence: float) -> None:
    """Where one row is of a kind that next to none is of, too."""
    assert most_missed(rows, confidence=confidence) <= 1.0 - confidence


# Label 1 treated and not, label 0 treated: rare events, and tests that are hardly ever right.
TREATED = [
    (0.0005, 0.0005, 0.1),
    (0.0005, 0.002, 0.1),
    *(
        (base * hit, base * (1.0 - hit), (1.0 - base) * alarm)
        for base, hit, alarm in product((0.01, 0.05, 0.2, 0.5), (0.05, 0.3, 0.9, 1.0), (0.005, 0.1, 0.6))
    ),
]
# Rows that only one of two scores treats: label 1 gained and lost, label 0 gained and lost.
MOVED = list(product((0.0, 0.002, 0.05, 0.2), (0.0, 0.01, 0.1), (0.005, 0.1, 0.3), (0.0, 0.02, 0.2)))


def share_misses(shares: tuple[float, ...], *, rows: int, at: float, confidence: float) -> int:
    """Return how often the standardised net benefit (three shares) or a difference (four) was missed."""
    rng = np.random.default_rng(rows)
    drawn = rng.multinomial(rows, [*shares, 1.0 - sum(shares)], size=REPETITIONS)[:, :-1].astype(np.float64).T
    odds, every, delta = at / (1.0 - at), np.ones(REPETITIONS), (1.0 - confidence) / 2.0
    if len(shares) == 3:
        # Without label 1 nothing is said.
        some = drawn[:, drawn[0] + drawn[1] > 0.0]
        kinds = Kinds.of(some, rows=float(rows))
        lower, upper = standardised_ends(kinds, odds * every[: some.shape[1]], delta=delta)
        truth = (shares[0] - odds * shares[2]) / (shares[0] + shares[1])
        return int(((lower > truth + 1e-9) | (upper < truth - 1e-9)).sum())
    factors = np.array([1.0, -1.0, -odds, odds])[:, None] * every
    lower, upper = Kinds.of(drawn, rows=float(rows)).bounds(factors, delta=delta)
    truth = float(factors[:, 0] @ shares)
    return int(((lower > truth + 1e-12) | (upper < truth - 1e-12)).sum())


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.95, 0.999])
@pytest.mark.parametrize("rows", [50, 500, 5_000])
@pytest.mark.parametrize("shares", [TREATED, MOVED], ids=["standardised", "between scores"])
def test_standardised_net_benefit_and_differences_cover(
    shares: list[tuple[float, ...]], rows: int, confidence: float
) -> None:
    """Of every world at thresholds from 0.01 to 0.8: 4,000 repetitions of each."""
    worst = max(
        share_misses(one, rows=rows, at=at, confidence=confidence)
        for one, at in product(shares, (0.01, 0.1, 0.3, 0.5, 0.8))
    )
    assert worst <= most_misses(REPETITIONS, 1.0 - confidence)


@short_and_full("rows times", [(100, 40)], [(100, 1_000), (1_000, 400)])
def test_the_risk_above_a_lowest_score_lies_in_its_band(rows: int, times: int) -> None:
    """At the scores of every tenth rank, where it jumps, too; at a coverage the caption promises nothing."""
    rng, missed, kept = (
        generator_of("risk above", rows),
        np.zeros(10, np.int64),
        np.arange(1, 11) * rows // 10,
    )
    for _ in range(times):
        score = rng.random(rows)
        right = rng.random(rows) < np.where(score > 0.3, 0.99, 0.01)
        curve = risk_coverage_curve(ScoreTable.from_rows(score, right), confidence=0.95)
        assert "risk above a score" in curve.band
        at = np.searchsorted(curve.coverage, kept / rows - 1e-9)
        # The row of that score is there for sure, and all others above it are draws.
        least = np.maximum(curve.score[at], 0.3)
        truth = (0.01 * (1.0 - least) + 0.99 * (least - curve.score[at])) / (1.0 - curve.score[at])
        missed += (truth < curve.lower[at]) | (truth > curve.upper[at])
    assert missed.max() <= most_misses(times, 0.05)


SMOOTHED = {M.SMECE: score_axis, M.SMECE_LOGIT: logit_axis, M.SMECE_PROBIT: probit_axis}
# Rare events, spread over many places and over few; rows whose scores leave 30 to 900 events open.
RARE: dict[str, Callable[[np.random.Generator], Floats]] = {
    "near 0": lambda rng: rng.beta(1.0, 100.0, 10_000),
    "at 0": lambda rng: rng.beta(0.1, 10.0, 10_000),
    "over decades": lambda rng: np.minimum(np.exp(rng.normal(-7.0, 1.5, 20_000)), 1.0),
    "one in 10,000": lambda rng: rng.beta(2.0, 20_000.0, 300_000),
    "at both ends": lambda rng: np.abs(rng.integers(2, size=2_000) - rng.beta(1.0, 60.0, 2_000)),
    "spread": lambda rng: rng.beta(2.0, 8.0, 500),
    "many": lambda rng: rng.beta(0.1, 10.0, 100_000),
}


@short_and_full("name scores times", [(M.SMECE_LOGIT, "near 0", 20)], product(SMOOTHED, RARE, (300,)))
def test_calibrated_tables_lie_in_the_range_by_chance(name: MeasureName, scores: str, times: int) -> None:
    """Nine of ten of them; at most 8 % above it, where 5 % is said: its end is itself by 400 draws."""
    rng = generator_of("range", name.value, scores)
    score = RARE[scores](rng)
    table = ScoreTable.from_rows(score, np.zeros(score.size, bool))
    axis = SMOOTHED[name](table)
    if name is M.SMECE:
        ends = expected_smece(table, generator=rng)[1]
    else:
        ends = expected_smece_along(table, axis.places, length=axis.length)[1]
    assert ends is not None
    values = []
    for _ in range(times):
        drawn = ScoreTable.from_rows(score, rng.random(score.size) < score)
        of = smooth_ece_along(drawn, SMOOTHED[name](drawn), name=name, confidence=None, null=UNKNOWN)
        values.append(of.value)
    for beyond in (np.less(values, ends[0]), np.greater(values, ends[1])):
        assert beyond.sum() <= most_misses(times, 0.08)
