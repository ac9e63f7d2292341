"""Numbers along an axis of letters."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.show.letters import numbers_line, round_numbers
from calibcli.show.words import number_text


@given(low=st.floats(0.0, 0.9), span=st.floats(1e-6, 1.0), most=st.integers(2, 9))
def test_numbers_are_round_even_and_within_the_ends(low: float, span: float, most: int) -> None:
    """At least one and no more than asked."""
    found = round_numbers(low, low + span, most=most)
    assert 1 <= len(found) <= most
    assert all(low - 1e-6 * span <= one <= low + span + 1e-6 * span for one in found)
    steps = {round((b - a) / span, 6) for a, b in pairwise(found)}
    assert len(steps) <= 1


@pytest.mark.parametrize(
    ("ends", "most", "texts"),
    [
        ((0.0, 1.0), 6, "0 0.2 0.4 0.6 0.8 1"),
        ((0.0, 1.0), 3, "0 0.5 1"),
        ((0.0, 0.01), 6, "0 0.002 0.004 0.006 0.008 0.01"),
        ((0.365, 0.626), 4, "0.4 0.5 0.6"),
    ],
)
def test_usual_axes_have_usual_numbers(ends: tuple[float, float], most: int, texts: str) -> None:
    """As one would write them by hand."""
    assert " ".join(map(number_text, round_numbers(*ends, most=most))) == texts


def test_numbers_without_room_are_left_out() -> None:
    """Two blanks lie between them, and none leaves the line."""
    assert numbers_line([0, 3, 19], ["0", "0.25", "1"], width=20) == "0                  1"
    assert numbers_line([0, 6, 19], ["0", "0.25", "0.75"], width=20) == "0   0.25        0.75"
