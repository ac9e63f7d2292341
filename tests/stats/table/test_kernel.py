"""The reflected Gaussian kernel in the cosine basis, against direct sums over its images."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.stats.measures.smooth_ece import smooth_ece
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.kernel import (
    LEAST_BANDWIDTH,
    CosineSeries,
    cosine_series,
    cosine_series_in_cells,
    cosine_series_of_cells,
    fixpoint,
    l1_of_polyline,
)

SEEDS = st.integers(0, 10_000)


def test_fixpoint_ends_at_the_ends() -> None:
    """With nothing to smooth the fixpoint is the least bandwidth; with 2 added it is 1."""
    nothing = cosine_series(np.array([0.5]), np.array([0.0]))
    assert fixpoint(nothing) == pytest.approx(LEAST_BANDWIDTH, rel=1e-6)
    assert fixpoint(nothing, added=2.0) == pytest.approx(1.0, abs=1e-9)


@settings(max_examples=3)
@given(seed=SEEDS)
def test_few_masses_have_the_series_of_many(seed: int) -> None:
    """Summed one by one or transformed in cells, coefficients, norms and fixpoint are equal to rounding."""
    rng = np.random.default_rng(seed)
    score, mass = rng.random(20), rng.normal(size=(3, 20)) / 20
    # Masses of nothing make them many.
    many = cosine_series(np.concatenate((score, rng.random(50))), np.pad(mass, ((0, 0), (0, 50))))
    assert many.whole is None
    alone = [cosine_series(score, one) for one in mass]
    few = cosine_series(score, mass)
    assert few.whole is not None
    count = few.coefficients.shape[-1]
    assert few.coefficients == pytest.approx(many.coefficients[:, :count], abs=1e-12)
    for bandwidth in (LEAST_BANDWIDTH, 0.004, 0.03, 0.5):
        norms = many.l1_norm(bandwidth)
        assert few.l1_norm(bandwidth) == pytest.approx(norms, abs=1e-11)
        assert [float(one.l1_norm(bandwidth)) for one in alone] == pytest.approx(norms, abs=1e-11)
    expected = [fixpoint(CosineSeries(one)) for one in many.coefficients]
    assert [fixpoint(one) for one in alone] == pytest.approx(expected, abs=2e-13)


@settings(max_examples=15)
@given(seed=SEEDS, count=st.sampled_from([30, 100, 1_024]))
def test_masses_in_few_cells_have_the_series_of_all_cells(seed: int, count: int) -> None:
    """Whether their cells are few or many, they have the series that is transformed with all empty ones."""
    rng = np.random.default_rng(seed)
    for some in (1, 25, min(count, 80)):
        cell = np.sort(rng.choice(count, some, replace=False))
        mass = rng.normal(size=(4, some)) / some
        held = np.zeros((4, count))
        held[:, cell] = mass
        found, expected = cosine_series_in_cells(cell, mass, count), cosine_series_of_cells(held)
        for bandwidth in (LEAST_BANDWIDTH, 0.02, 0.09, 0.5):
            np.testing.assert_allclose(found.smoothed(bandwidth), expected.smoothed(bandwidth), atol=1e-9)


@settings(max_examples=30)
@given(
    seed=SEEDS,
    count=st.integers(1, 70),
    bandwidth=st.floats(0.02, 2.0),
    oversampling=st.sampled_from([1, 2, 3, 4, 8, 32, 37]),
)
def test_every_place_has_the_sum_of_its_cosines(
    seed: int, count: int, bandwidth: float, oversampling: int
) -> None:
    """Short transforms of turned coefficients give at each place what all cosines there add up to."""
    coefficients = np.random.default_rng(seed).normal(size=(2, 3, count))
    found = CosineSeries(coefficients).smoothed(bandwidth, oversampling=oversampling)
    k, places = np.arange(count), np.linspace(0.0, 1.0, found.shape[-1])
    damped = coefficients * np.exp(-0.5 * (bandwidth * np.pi * k) ** 2) * np.where(k > 0, 2.0, 1.0)
    # What is left out is damped by more than e^-38.
    np.testing.assert_allclose(found, damped @ np.cos(np.pi * k[:, None] * places), atol=1e-12)


def test_no_norm_is_worked_out_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of smECE and its bounds ask for norms at the same first bandwidths, of long transforms."""
    seen = []
    smoothed = CosineSeries.smoothed

    def counted(series: CosineSeries, bandwidth: float, **options: int) -> np.ndarray:
        seen.append((id(series), bandwidth, *options.values()))
        return smoothed(series, bandwidth, **options)

    monkeypatch.setattr(CosineSeries, "smoothed", counted)
    score = np.linspace(1e-4, 2e-4, 300)
    found = smooth_ece(ScoreTable.from_rows(score, np.arange(300) == 7))
    assert found.interval is not None
    assert len(seen) == len(set(seen)) > 10


def test_several_measures_at_once_are_each_by_itself() -> None:
    """Leading axes of the masses are kept, and each measure has its own norm."""
    rng = np.random.default_rng(0)
    score, mass = rng.random(30), rng.normal(size=(2, 3, 30)) / 30
    norms = cosine_series(score, mass).l1_norm(0.05)
    assert norms.shape == (2, 3)
    for i in range(2):
        for j in range(3):
            alone = cosine_series(score, mass[i, j])
            assert isinstance(alone, CosineSeries)
            assert norms[i, j] == pytest.approx(float(alone.l1_norm(0.05)), rel=1e-12)


def test_polyline_area_is_exact() -> None:
    """The area under |line| counts both sides of a crossing."""
    assert float(l1_of_polyline(np.array([1.0, -1.0]))) == pytest.approx(0.5)
    assert float(l1_of_polyline(np.array([3.0, -1.0]))) == pytest.approx(1.25)
    assert float(l1_of_polyline(np.array([2.0, 2.0, 0.0]))) == pytest.approx(1.5)
    assert float(l1_of_polyline(np.array([0.0, 0.0]))) == 0.0
