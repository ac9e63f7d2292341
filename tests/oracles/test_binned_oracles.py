"""Measures over bins beside plain recomputation, closed forms by quadrature, and what other packages say.

Values of others were made by `peers()` below, run as `PYTHON tests/oracles/test_binned_oracles.py` with a
Python that has numpy, netcal 1.4.0 and uncertainty-calibration 0.1.4, on the rows of `rows_for_peers()`.
"""

import math
import sys

import numpy as np


def rows_for_peers() -> tuple[np.ndarray, np.ndarray]:
    """Rows without a score on an edge of ten bins, rates bent away from the scores."""
    k = np.arange(500)
    score = (k * 0.6180339887498949 + 0.05) % 1.0
    label = ((k * 0.7548776662466927 + 0.3) % 1.0) < 0.15 + 0.6 * score
    return score, label


# netcal: MCE(10) and ACE(10), whose bins are of equal width; uncertainty-calibration: normal_debiased_ce over
# ten values of the score, power 1, mean of 400,000 resamples, seed 0.
NETCAL_MCE = 0.22496679536625497
NETCAL_ACE = 0.09819692322806238
KUMAR_L1 = 0.08445123048209792


def peers() -> None:
    """Print the values that the others give."""
    import calibration.utils as kumar
    from netcal.metrics import ACE, MCE

    score, label = rows_for_peers()
    sys.stdout.write(f"MCE {MCE(10).measure(score, label.astype(int))!r}\n")
    sys.stdout.write(f"ACE {ACE(10).measure(score, label.astype(int))!r}\n")
    np.random.seed(0)  # noqa: NPY002 - what the package draws from
    rounded = np.ceil(score * 10) / 10 - 0.05
    cells = [list(zip(rounded[rounded == v], label[rounded == v], strict=True)) for v in np.unique(rounded)]
    sys.stdout.write(f"L1 {kumar.normal_debiased_ce(cells, power=1, resamples=400_000)!r}\n")


if __name__ == "__main__":
    peers()
    sys.exit()

import pytest  # noqa: E402 - the recipe above runs where neither pytest nor calibcli is
from scipy.integrate import quad  # noqa: E402
from scipy.special import logsumexp  # noqa: E402
from scipy.stats import binom, norm  # noqa: E402

from calibcli.names import Binning  # noqa: E402
from calibcli.stats.bounds.chernoff import Counts, least_energy, most_energy  # noqa: E402
from calibcli.stats.measures.binned import (  # noqa: E402
    adaptive_error,
    debiased_ece,
    mean_size,
    worst_bin,
)
from calibcli.stats.measures.l2 import (  # noqa: E402
    null_variance_of_t,
)
from calibcli.stats.table import ScoreTable  # noqa: E402
from calibcli.stats.table.bins import ATOMS, Bins, binned, equal_width_edges  # noqa: E402

TEN = Bins(Binning.EQUAL_WIDTH, equal_width_edges(10))


def rounded_to_ten(score: np.ndarray) -> np.ndarray:
    """The ten values that the recipe rounds scores to."""
    return np.ceil(score * 10) / 10 - 0.05


def test_netcal_has_the_same_plain_mean_and_largest_gap() -> None:
    """Over equal-width bins netcal's ACE and MCE are ours, where no score lies on an edge."""
    table = ScoreTable.from_rows(*rows_for_peers())
    assert adaptive_error(table, bins=TEN).value == pytest.approx(NETCAL_ACE, abs=1e-12)
    assert worst_bin(table, bins=TEN).value == pytest.approx(NETCAL_MCE, abs=1e-12)


def test_kumar_draws_the_same_debiased_ece() -> None:
    """With one score in a bin, the closed form is what uncertainty-calibration finds by 400,000 draws."""
    score, label = rows_for_peers()
    table = ScoreTable.from_rows(rounded_to_ten(score), label)
    found = debiased_ece(table, bins=ATOMS)
    assert found.details["unclipped"] == pytest.approx(KUMAR_L1, abs=1e-4)
    assert found.details["plug_in"] > found.value + 1e-3


@pytest.mark.parametrize(("mean", "spread"), [(0.0, 0.3), (0.1, 0.05), (-0.4, 0.2), (0.2, 1e-3)])
def test_mean_size_is_the_integral(mean: float, spread: float) -> None:
    """E|m + s Z| by quadrature on either side of 0."""
    parts = [quad(lambda x: abs(x) * norm.pdf(x, mean, spread), a, b)[0] for a, b in ((-3, 0), (0, 3))]
    if spread > 0.01:
        assert float(mean_size(np.array([mean]), np.array([spread]))[0]) == pytest.approx(
            sum(parts), abs=1e-9
        )
    else:
        assert float(mean_size(np.array([mean]), np.array([spread]))[0]) == pytest.approx(
            abs(mean), abs=1e-12
        )


def test_null_variance_of_t_is_that_of_draws() -> None:
    """The exact variance of T for calibrated labels, against 20,000 draws over rows."""
    rng = np.random.default_rng(1)
    score = np.sort(rng.random(60))
    table = ScoreTable.from_rows(score, rng.random(60) < score)
    bins = Bins(Binning.EQUAL_WIDTH, equal_width_edges(4))
    residual = (rng.random((20_000, 60)) < score) - score
    inside = np.eye(4)[np.minimum((score * 4).astype(int), 3)]
    n, s, q = inside.sum(axis=0), residual @ inside, residual**2 @ inside
    drawn = ((s**2 - q) / (n - 1)).sum(axis=1) / 60
    expected = null_variance_of_t(table, binned(table, bins))
    assert drawn.var() == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize(
    ("rows", "announced", "positive"),
    [
        ((40.0, 60.0), (0.3, 0.7), (12.0, 44.0)),
        ((30.0,), (0.05,), (9.0,)),
        pytest.param((150.0, 5.0), (0.5, 0.2), (90.0, 3.0), marks=pytest.mark.slow),
        pytest.param((400.0, 3.0), (0.01, 0.6), (6.0, 1.0), marks=pytest.mark.slow),
    ],
)
def test_chernoff_bounds_are_those_of_dense_search(
    rows: tuple[float, ...], announced: tuple[float, ...], positive: tuple[float, ...]
) -> None:
    """Exact binomial sums over many rates, bets, prices and caps: within two per cent, and hardly sharper."""
    counts = Counts(*(np.array(column) for column in (rows, positive, announced)))
    level, found = math.log(20.0), counts.statistic
    rate = np.concatenate((np.geomspace(1e-9, 1e-3, 60), np.linspace(1e-3, 1 - 1e-3, 500), [1 - 1e-9]))
    noise = max(v * (1 - v) for v in announced)
    bins = []
    for n, v in zip(rows, announced, strict=True):
        x = np.arange(n + 1)
        g = ((x - n * v) ** 2 - x * (1 - v) ** 2 - (n - x) * v**2) / (n - 1)
        bins.append((n, (rate - v) ** 2, g, binom.logpmf(x, n, rate[:, None])))
    least = [float(g.min()) for _, _, g, _ in bins]

    def capped(parts: list[np.ndarray], price: float, cap: float) -> float:
        """The least sum that is refuted where errors pay the logarithm, up to the cap."""
        total = bet * found + level
        for part, (n, square, _, _) in zip(parts, bins, strict=True):
            paid = -n * np.log1p(-np.minimum(price * square, 1 - 1e-15))
            total += float((part + np.minimum(paid, cap)).max())
        left = math.exp(-total) - math.exp(-cap)
        return -math.log(left) / price if left > 0.0 else math.inf

    upper, lower = math.inf, 0.0
    for bet in np.geomspace(0.02, 1.5, 24) / (
        sum(n * v * (1 - v) for n, v in zip(rows, announced, strict=True)) / sum(rows)
    ):
        parts = [logsumexp(pmf - bet * g, axis=1) for _, _, g, pmf in bins]
        for price in np.geomspace(bet / (2 + bet), 1.3 * bet, 16):
            pairs = zip(parts, bins, strict=True)
            plain = sum(float((m + price * n * square).max()) for m, (n, square, _, _) in pairs)
            upper = min(upper, (bet * found + level + plain) / price)
            for cap in np.geomspace(3, 40, 7):
                upper = min(upper, capped(parts, price, cap))
    for bet in np.geomspace(0.02, 2, 24) / noise:
        parts = []
        for number, (_, _, g, pmf) in enumerate(bins):
            decisive = found - sum(least) + least[number]
            parts.append(logsumexp(pmf + bet * np.minimum(g, decisive), axis=1))
        for price in np.geomspace(0.5, 20, 30) * bet:
            pairs = zip(parts, bins, strict=True)
            total = sum(float((m - n * np.log1p(price * square)).max()) for m, (n, square, _, _) in pairs)
            lower = max(lower, (bet * found - level - total) / price)
    mine = most_energy(counts, delta=0.05)
    assert upper * 0.96 <= mine <= upper * 1.02 + 0.02
    mine = least_energy(counts, delta=0.05)
    assert lower * 0.96 - 0.02 <= mine <= lower * 1.02 + 0.005
