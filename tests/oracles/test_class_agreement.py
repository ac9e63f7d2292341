"""Our numbers of several classes equal those of other packages, and the page on agreement says so.

`golden_classes.py` compares on real predictions, `peer_classes.py` on the digits; `class_peers.py` tells how
the others' numbers of these were made, and docs/agreement_classes.md has the largest differences.
"""

import math
from pathlib import Path

import pytest

from oracles.class_agreement import ROUNDING, ClassComparison, largest
from oracles.golden_classes import GOLDEN, left_out
from oracles.peer_classes import OWN

PAGE = Path(__file__).resolve().parents[2] / "docs" / "agreement_classes.md"


def named(comparison: ClassComparison) -> str:
    """A test id."""
    return f"{comparison.name} ({comparison.theirs})"


@pytest.mark.parametrize("comparison", OWN, ids=named)
def test_numbers_on_the_digits_are_those_of_the_peer(comparison: ClassComparison) -> None:
    """Within what is allowed: rounding, or more for a reason, and none is given without a difference."""
    found = largest(comparison)
    assert found.size <= comparison.allowed, found
    assert not comparison.why or found.size > 1e-10, found


@pytest.mark.parametrize("comparison", GOLDEN, ids=named)
@pytest.mark.usefixtures("shared_data")
def test_numbers_of_real_predictions_are_those_of_others(comparison: ClassComparison) -> None:
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


def rows_of_page() -> list[list[str]]:
    """Return the cells of every comparison on the page."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "| whose " not in line]


def test_page_has_every_comparison_with_its_reason() -> None:
    """In order, each with what its test allows."""
    found = [(name, theirs, allowed, why) for name, theirs, _, _, _, allowed, why in rows_of_page()]
    assert found == [
        (one.name, one.theirs, f"{one.allowed:.2g}", one.why or "rounding") for one in (*GOLDEN, *OWN)
    ]


def test_differences_of_the_page_are_allowed() -> None:
    """None is larger than its test allows, nor than rounding where no reason is given."""
    for one, cells in zip((*GOLDEN, *OWN), rows_of_page(), strict=True):
        shown = float(cells[3])
        assert shown <= one.allowed, cells
        assert one.why or shown <= ROUNDING, cells


def test_page_of_the_digits_is_what_the_tests_compare() -> None:
    """As many numbers, and differences that are no rounding are those of the page."""
    for one, cells in zip(OWN, rows_of_page()[len(GOLDEN) :], strict=True):
        found = largest(one)
        assert cells[2] == f"{found.count:,}", cells
        if found.size > 1e-5:
            assert cells[3] == f"{found.size:.1e}", cells


def test_largest_difference_is_found_where_it_is() -> None:
    """The largest of all pairs, with its place."""
    pairs = [("here", 1.0, 1.25), ("there", 2.0, 1.0), ("nowhere", 0.0, 0.0)]
    found = largest(ClassComparison("made up", "nobody", 1.0, lambda: pairs))
    assert (found.size, found.where, found.count) == (1.0, "there", 3)


def test_number_that_is_none_is_no_agreement() -> None:
    """Where one side has no number the difference is infinite; where nothing is compared there is none."""
    found = largest(ClassComparison("made up", "nobody", 1.0, lambda: [("here", math.nan, 0.5)]))
    assert found.size == math.inf
    with pytest.raises(ValueError, match="empty"):
        largest(ClassComparison("made up", "nobody", 1.0, list))
