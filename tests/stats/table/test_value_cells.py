"""How many values fall in which cell: the same for ordered values as one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from calibcli.stats.table.value_cells import ValueCells


@settings(max_examples=8)
@given(
    seed=st.integers(0, 1_000), exponent=st.sampled_from((0.3, 1.0, 20.0)), scale=st.sampled_from((1.0, 1e5))
)
@pytest.mark.parametrize("step", [1, -1])
def test_ordered_values_are_counted_as_shuffled_ones(
    step: int, seed: int, exponent: float, scale: float
) -> None:
    generator = default_rng(seed)
    values = np.sort(generator.random(20_000) ** exponent) * scale
    # Ends of cells, zeros and ties.
    values[:50], values[300:400] = 0.0, values[300]
    values = np.sort(np.append(values, 2.0 ** np.arange(-70.0, 14.0)))[::step]
    counts = generator.integers(0, 9, values.size)
    order = generator.permutation(values.size)
    ordered, shuffled = ValueCells(), ValueCells()
    ordered.add(values, counts.astype(np.float64))
    shuffled.add(values[order], counts[order])
    for one, other in zip(ordered.values(), shuffled.values(), strict=True):
        np.testing.assert_array_equal(one, other)
