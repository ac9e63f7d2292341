"""
Our numbers of several classes equal those of independent implementations on real predictions.

The comparisons are in `golden_classes.py`, and docs/agreement_classes.md has their largest differences.
"""

import pytest

from oracles.class_agreement import ClassComparison, largest
from oracles.golden_classes import GOLDEN, left_out


def named(comparison: ClassComparison) -> str:
    """A test id."""
    return f"{comparison.name} ({comparison.theirs})"


@pytest.mark.parametrize("comparison", GOLDEN, ids=named)
@pytest.mark.usefixtures("shared_data")
def test_numbers_are_those_of_others(comparison: ClassComparison) -> None:
    """Within what the comparison allows, which is rounding unless it says why."""
    found = largest(comparison)
    assert found.size <= comparison.allowed, found


@pytest.mark.usefixtures("shared_data")
def test_every_record_of_ten_classes_is_compared() -> None:
    """None is left out."""
    assert left_out() == []


@pytest.mark.usefixtures("shared_data")
def test_no_other_temperature_has_a_lower_loss() -> None:
    """Ours is the least log loss of the fit rows, whosever temperature stands beside it."""
    beside = [one for one in GOLDEN if "log loss of the fit rows at theirs" in one.name]
    pairs = [pair for one in beside for pair in one.pairs()]
    assert len(pairs) == 5
    assert all(ours <= theirs + 1e-15 for _, ours, theirs in pairs)
