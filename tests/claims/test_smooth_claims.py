"""
Distances to calibration and SmoothECE on bent scales: how often their bounds hold.

Short cells run always; the full grid is marked slow. The scenarios are those of the other promises.
"""

import numpy as np
import pytest

from claims.simulation import SCENARIOS, check_promises
from claims.without_bins import DISTANCES, SCALES, simulate
from claims.worlds import least_upper_distance


def test_upper_distance_of_few_atoms_is_that_of_the_best_partition() -> None:
    """Two scores with each other's rate pool at the middle; two right ones stay; one moves to its rate."""
    half = np.array([0.5, 0.5])
    assert least_upper_distance(np.array([0.4, 0.6]), half, np.array([0.6, 0.4])) == pytest.approx(0.1)
    assert least_upper_distance(np.array([0.4, 0.6]), half, np.array([0.4, 0.6])) == pytest.approx(0.0)
    assert least_upper_distance(np.array([0.5]), np.array([1.0]), np.array([0.45])) == pytest.approx(0.05)


@pytest.mark.parametrize("confidence", [pytest.param(0.9, marks=pytest.mark.slow), 0.95])
@pytest.mark.parametrize("scenario", ["strong", "disc4", "rare, wrong", "one atom"])
def test_bounds_of_distances_cover(scenario: str, confidence: float) -> None:
    """The interval of dce lies around the lower and the upper distance, that of smce around smCE."""
    tallies = simulate(scenario, 1000, confidence=confidence, repetitions=100, names=DISTANCES)
    assert set(tallies) == {f"{name}{end}" for name in DISTANCES for end in ("", " upper", " lower")}
    check_promises(tallies, rows=1000)
    assert 0.0 < tallies["dce"].width / 100 < 0.2


@pytest.mark.parametrize("name", SCALES)
def test_bounds_on_scales_cover(name: str) -> None:
    """The upper end for the population and the lower one for these scores hold, and are not vacuous."""
    tallies = simulate("strong", 1000, confidence=0.95, repetitions=60, names=(name,))
    check_promises(tallies, rows=1000)
    assert tallies[name].width / 60 < 0.25


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize("rows", [200, 1000, 5000, 50_000])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_bound_covers(scenario: str, rows: int, confidence: float) -> None:
    """All bounds of the family, in every scenario and at any number of rows."""
    times = 400 if rows <= 5000 else 25
    found = simulate(scenario, rows, confidence=confidence, repetitions=times, names=DISTANCES)
    found |= simulate(scenario, rows, confidence=confidence, repetitions=times // 10, names=tuple(SCALES))
    check_promises(found, rows=rows)
