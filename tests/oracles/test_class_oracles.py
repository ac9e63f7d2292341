"""
Measures and maps of several classes agree with those of other packages on the digits.

The comparisons are in `peer_classes.py`, `class_peers.py` tells how the others' numbers were made, and
docs/agreement_classes.md has the largest differences.
"""

import pytest

from oracles.class_agreement import ClassComparison, largest
from oracles.peer_classes import OWN


def named(comparison: ClassComparison) -> str:
    """A test id."""
    return f"{comparison.name} ({comparison.theirs})"


@pytest.mark.parametrize("comparison", OWN, ids=named)
def test_numbers_are_those_of_the_peer(comparison: ClassComparison) -> None:
    """Within what the comparison allows, which is rounding unless it says why."""
    found = largest(comparison)
    assert found.size <= comparison.allowed, found


@pytest.mark.parametrize("comparison", [one for one in OWN if one.why], ids=named)
def test_reasons_are_given_for_differences_only(comparison: ClassComparison) -> None:
    """Where a reason is given there is something to give it for."""
    assert largest(comparison).size > 1e-10
