"""`fit --method auto` leaves calibrated scores as they are, and loses next to nothing where they are not."""

import numpy as np
import pytest

from claims.auto_choice import drawn, mean_of


@pytest.mark.slow
def test_calibrated_scores_are_mostly_left_as_they_are() -> None:
    """Of 60 tables of 1,500 rows at least 45 are, and on fresh rows less is lost than by always repairing."""
    found = [drawn("calibrated", 1_500, place) for place in range(60)]
    assert sum(one.unchanged for one in found) >= 45
    saved, error = mean_of([one.repaired - one.chosen for one in found])
    assert saved > 3.0 * error
    assert mean_of([one.chosen for one in found])[0] < 0.0004


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "rows", "tables"),
    [("mild", 300, 60), ("mild", 1_500, 60), ("mild", 20_000, 8), ("over", 300, 60), ("bent", 1_500, 60)],
)
def test_scores_that_need_repair_get_it(world: str, rows: int, tables: int) -> None:
    """The loss on fresh rows is that of always repairing, within a standard error of it."""
    found = [drawn(world, rows, place) for place in range(tables)]
    repaired, error = mean_of([one.repaired for one in found])
    assert mean_of([one.chosen for one in found])[0] <= repaired + error


def test_a_large_error_is_never_left() -> None:
    """Scores that are twice too sure are repaired in every table."""
    found = [drawn("over", 1_500, place) for place in range(1)]
    assert not any(one.unchanged for one in found)
    assert np.mean([one.chosen for one in found]) < 0.1 * np.mean([one.raw for one in found])
