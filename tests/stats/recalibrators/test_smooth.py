"""The kernel regression, and the noise of its randomised form."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from calibcli.codec import Node
from calibcli.options.fitting import FitOptions
from calibcli.stats.measures.smooth_ece import reflected_gaussian, smooth_ece
from calibcli.stats.recalibrators.smooth import LEAST_BANDWIDTH, Smooth, normal_noise
from calibcli.stats.table import ScoreTable, Weighing


def drawn(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores that are too sure by half."""
    rng = np.random.default_rng(seed)
    score = rng.beta(0.8, 2.0, rows)
    return score, rng.random(rows) < 0.25 + 0.5 * score


def made(rows: int = 2000, seed: int = 0) -> ScoreTable:
    return ScoreTable.from_rows(*drawn(rows, seed))


FROZEN = [
    -0.15898581917779112,
    0.40969345979392086,
    0.001529744948650109,
    -0.8569273961382339,
    -0.3123798874702473,
]
RANDOMISED = FitOptions(randomised=True, seed=3)


@pytest.mark.parametrize("rows", [20, 300, 5000])
def test_it_is_the_kernel_regression_at_the_bandwidth_of_smece(rows: int) -> None:
    """Against the kernel summed image by image, for every row and every place."""
    score, label = drawn(rows)
    fitted = Smooth.fit(ScoreTable.from_rows(score, label))
    assert fitted.bandwidth == pytest.approx(smooth_ece(ScoreTable.from_rows(score, label)).value, abs=1e-12)
    at = np.linspace(0, 1, 129)
    kernel = reflected_gaussian(score, at, bandwidth=fitted.bandwidth)
    mass = kernel.sum(axis=0)
    seen = mass * fitted.bandwidth > 1e-7 * rows
    assert seen.sum() > 100
    expected = (kernel * label[:, None]).sum(axis=0)[seen] / mass[seen]
    np.testing.assert_allclose(fitted.predict(at)[seen], expected, rtol=0, atol=2e-6)


def test_importance_weights_weigh() -> None:
    """Rows of weight 3 are three rows."""
    score, label = drawn(200)
    weight = 1.0 + 2.0 * (np.arange(200) % 2)
    weighted = Smooth.fit(ScoreTable.from_rows(score, label, Weighing(weight=weight)))
    repeated = Smooth.fit(ScoreTable.from_rows(score, label, Weighing(counts=weight.astype(np.int64))))
    assert weighted.bandwidth == pytest.approx(repeated.bandwidth, abs=1e-12)
    np.testing.assert_allclose(weighted.values, repeated.values, rtol=0, atol=1e-12)


def test_a_stretch_without_rows_is_bridged_and_the_ends_are_level() -> None:
    """Straight between the nearest places the kernel sees, and never anything but a mean of labels there."""
    score = np.concatenate((np.full(400, 0.3), np.full(400, 0.7))) + np.linspace(0, 1e-3, 800)
    label = np.concatenate((np.arange(400) % 10 < 3, np.arange(400) % 10 < 7))
    fitted = Smooth.fit(ScoreTable.from_rows(score, label))
    assert fitted.bandwidth < 0.01
    at = np.array([0.0, 0.1, 0.3, 0.45, 0.5, 0.55, 0.7, 0.9, 1.0])
    low, _, left, before, middle, after, right, _, high = fitted.predict(at).tolist()
    assert (low, high) == (pytest.approx(left, abs=0.11), pytest.approx(right, abs=0.11))
    assert middle == pytest.approx((low + high) / 2, abs=0.11)
    assert after - middle == pytest.approx(middle - before, abs=1e-9)
    assert np.ptp(fitted.values[:200]) == 0.0


def test_a_well_calibrated_score_gets_the_least_bandwidth_and_a_note() -> None:
    """Half the labels at each score are what the score says."""
    table = ScoreTable(np.array([0.25, 0.5, 0.75]), np.full(3, 1 << 22), np.array([1, 2, 3]) << 20)
    fitted = Smooth.fit(table)
    assert fitted.bandwidth == LEAST_BANDWIDTH
    np.testing.assert_allclose(fitted.predict(table.score), table.score, rtol=0, atol=1e-9)
    assert any("1/2,048" in note for note in fitted.notes)
    assert Smooth.from_dict(Node(fitted.to_dict())) == fitted


def test_it_is_called_increasing_only_where_it_is() -> None:
    """Falling labels get a falling curve, which is said; noise is never increasing."""
    score = np.linspace(0, 1, 400)
    rising = Smooth.fit(ScoreTable.from_rows(score, score > 0.5))
    falling = Smooth.fit(ScoreTable.from_rows(score, score < 0.5))
    assert (rising.increasing, rising.notes) == (True, ())
    assert not falling.increasing
    assert "not increasing" in falling.notes[0]
    noisy = Smooth.fit(ScoreTable.from_rows(score, score > 0.5), options=RANDOMISED)
    assert not noisy.increasing
    assert "place of their row in its file (seed 3)" in noisy.notes[0]


@given(
    seed=st.integers(0, 2**63 - 1),
    start=st.integers(0, 10**12),
    cuts=st.lists(st.integers(0, 300), max_size=4),
)
def test_noise_does_not_depend_on_the_batches(seed: int, start: int, cuts: list[int]) -> None:
    """However 300 rows are cut, each gets the number that is its own; so do some of them alone."""
    places = start + np.arange(300)
    whole = normal_noise(seed, places)
    parts = np.split(places, sorted(cuts))
    assert np.concatenate([normal_noise(seed, part) for part in parts]).tobytes() == whole.tobytes()
    assert normal_noise(seed, places[7::13]).tobytes() == whole[7::13].tobytes()


def test_noise_is_frozen() -> None:
    """These numbers are promised: seed 0, rows 0 to 3 and row 1,000,000."""
    np.testing.assert_allclose(normal_noise(0, np.arange(4)), FROZEN[:4], rtol=1e-14)
    np.testing.assert_allclose(normal_noise(0, np.array([1_000_000])), FROZEN[4:], rtol=1e-14)


def test_noise_is_normal_and_differs_by_seed() -> None:
    """No Kolmogorov-Smirnov test objects to 200,000 numbers; neighbours and seeds do not correlate."""
    one, other = (normal_noise(seed, np.arange(200_000)) for seed in (0, 1))
    assert kstest(one, "norm").pvalue > 1e-3
    for left, right in ((one, other), (one[1:], one[:-1]), (one[2:], one[:-2])):
        assert abs(np.corrcoef(left, right)[0, 1]) < 4 / math.sqrt(200_000)


def test_randomised_output_is_the_curve_where_the_score_lands() -> None:
    """Reflected at both ends; the same whatever the batch; plain predictions do not move."""
    table = made()
    plain, fitted = Smooth.fit(table), Smooth.fit(table, options=RANDOMISED)
    scores, places = np.linspace(0, 1, 1001), np.arange(1001)
    noise = normal_noise(3, places)
    landed = fitted.moved(scores, places)
    beyond = scores + fitted.bandwidth * noise
    expected = np.where(beyond < 0, -beyond, np.where(beyond > 1, 2 - beyond, beyond))
    np.testing.assert_allclose(landed, expected, rtol=0, atol=1e-15)
    assert fitted.predict_at(scores, places).tobytes() == plain.predict(landed).tobytes()
    assert fitted.predict_at(scores[400:], places[400:]).tobytes() == plain.predict(landed[400:]).tobytes()
    np.testing.assert_array_equal(fitted.predict(scores), plain.predict(scores))
    np.testing.assert_array_equal(plain.predict_at(scores, places), plain.predict(scores))
    assert fitted.predict_at(scores[:0], places[:0]).size == 0


def misfit(output: np.ndarray, label: np.ndarray) -> float:
    """Return the chi-squared statistic of labels in 20 bins of a probability, 20 degrees of freedom."""
    bins = np.array_split(np.argsort(output), 20)
    gaps = [(label[one] - output[one]).sum() for one in bins]
    return sum(gap**2 / (output[one] * (1 - output[one])).sum() for gap, one in zip(gaps, bins, strict=True))


def test_randomised_output_is_calibrated_where_it_was_fitted() -> None:
    """For 20,000 rows the mean label is the mean output in each of 20 bins, up to noise; the score was far
    off. Rows move by what the kernel says, and outputs lie within 2.6 smECE of scores on average.
    """
    score, label = drawn(20_000, seed=5)
    fitted = Smooth.fit(ScoreTable.from_rows(score, label), options=RANDOMISED)
    places = np.arange(score.size)
    output = fitted.predict_at(score, places)
    # Chance gives more than 45.3 once in a thousand.
    assert misfit(output, label) < 45.3
    # The curve without the noise is not calibrated at this bandwidth, nor was the score.
    assert misfit(fitted.predict(score), label) > 60
    assert misfit(score, label) > 1000
    assert np.abs(output - score).mean() <= 2.6 * fitted.bandwidth
    moves = np.abs(fitted.moved(score, places) - score).mean()
    assert 0.85 < moves / (fitted.bandwidth * math.sqrt(2 / math.pi)) < 1.01
