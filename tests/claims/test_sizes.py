"""Every test rejects calibrated labels at most as often as its level, however little is open."""

import pytest
from scipy.stats import binom

from claims.sizes import LEVELS, Cell, rejections

# The worlds in which limit laws fail, and those in which they are just taken.
HARDEST = [
    Cell(1000, 0.09, "alike", "distinct"),
    Cell(30, 1.0, "one heavy", "distinct"),
    Cell(300, 20.0, "few open", "ten values"),
    Cell(5000, 0.43, "few open", "distinct"),
    Cell(3000, 5.0, "alike", "distinct"),
    Cell(3000, 401.0, "alike", "distinct"),
    Cell(3000, 401.0, "one heavy", "two values"),
    Cell(30_000, 3.0, "few open", "distinct"),
    Cell(30_000, 100.0, "alike", "distinct"),
    Cell(30_000, 401.0, "few open", "distinct"),
    Cell(30_000, 1000.0, "one heavy", "ten values"),
    Cell(1_000_000, 1.0, "alike", "ten values"),
]


def check_levels(cell: Cell, *, repetitions: int) -> None:
    """No more rejections than chance gives with probability 1e-6."""
    for name, counts in rejections(cell, repetitions=repetitions).items():
        for count, level in zip(counts, LEVELS, strict=True):
            assert count <= binom.isf(1e-6, repetitions, level), (name, level)


@pytest.mark.slow
@pytest.mark.parametrize("cell", HARDEST, ids=str)
def test_tests_keep_their_levels(cell: Cell) -> None:
    """500 repetitions at 1, 5 and 10 %, of all six tests and the combined one."""
    check_levels(cell, repetitions=500)


def test_tests_keep_their_levels_in_short() -> None:
    """100 repetitions where limit laws rejected nearly one in ten at 1 %."""
    check_levels(HARDEST[0], repetitions=100)


@pytest.mark.slow
def test_tests_have_their_size_where_enough_is_open() -> None:
    """Levels are kept without being wasted: at 5 % each test rejects 3.5 % of calibrated labels or more."""
    found = rejections(Cell(3000, 100.0, "alike", "distinct"), repetitions=2000)
    assert all(
        counts[1] >= binom.ppf(1e-6, 2000, 0.045) for name, counts in found.items() if name != "combined"
    )
