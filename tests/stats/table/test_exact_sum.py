"""Sums of doubles that no order changes."""

import math
import pickle
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.stats.numerics import ExactSum

FINITE = st.floats(allow_nan=False, allow_infinity=False)
MODERATE = st.one_of(st.just(0.0), st.floats(1e-200, 1e200), st.floats(-1e200, -1e-200))


def summed(*parts: list[float]) -> ExactSum:
    """Add each part by itself and merge."""
    whole = ExactSum()
    for part in parts:
        one = ExactSum()
        one.add(np.array(part, dtype=float))
        whole.merge(one)
    return whole


@settings(deadline=None, max_examples=40)
@given(values=st.lists(FINITE, max_size=40), cut=st.integers(0, 40), order=st.randoms())
def test_sum_is_exact_in_every_order_and_cut(
    values: list[float], cut: int, order: "st.random.Random"
) -> None:
    """Doubles of any size add up as fractions do, subnormal ones included."""
    expected = sum((Fraction(value) for value in values), Fraction(0))
    shuffled = list(values)
    order.shuffle(shuffled)
    assert summed(values).exact() == expected
    assert summed(shuffled[:cut], shuffled[cut:]).exact() == expected


@settings(deadline=None, max_examples=40)
@given(rows=st.lists(st.tuples(MODERATE, st.integers(0, 2**53 - 1)), max_size=20))
def test_repeated_values_are_exact(rows: list[tuple[float, int]]) -> None:
    """A value counted so many times adds its product with the count, without rounding."""
    whole = ExactSum()
    whole.add_repeated(
        np.array([value for value, _ in rows]), np.array([count for _, count in rows], np.int64)
    )
    assert whole.exact() == sum((Fraction(value) * count for value, count in rows), Fraction(0))


def test_many_rows_agree_with_fsum() -> None:
    """A million terms of both signs give the correctly rounded sum."""
    values = np.random.default_rng(1).normal(size=1_000_000)
    assert float(summed(values.tolist()).exact()) == math.fsum(values)


def test_sum_survives_the_way_to_another_process() -> None:
    """Pickled and back it is the same sum."""
    whole = summed([0.1, 0.2, -1e300])
    assert pickle.loads(pickle.dumps(whole)).exact() == whole.exact()  # noqa: S301 - our own sum
