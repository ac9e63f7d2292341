"""What a gate has seen, as points."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.stats.curves.monitor import MonitorCurve, with_fewer_looks


def curve_of(looks: int, *, since_first: bool = True, passed_at: int | None = None) -> MonitorCurve:
    """Return a gate whose evidence grows by one power of ten a look."""
    rows = 100 * np.arange(1, looks + 1)
    log = np.arange(looks) * math.log(10.0)
    value, none = np.full(looks, 0.1), np.full(looks, math.nan)
    return MonitorCurve(
        rows, value, none, none, log, -log, math.log(20.0), 0.95, 0.2, "ECE", passed_at, None, since_first
    )


def test_everyone_begins_with_one_before_the_first_row() -> None:
    """10^0 at no rows, where no look is missing; nothing is made up where batches were merged."""
    rows, wealth = curve_of(3).powers(curve_of(3).log_pass)
    assert rows.tolist() == [0.0, 100.0, 200.0, 300.0]
    assert np.allclose(wealth, [0.0, 0.0, 1.0, 2.0])
    merged = curve_of(3, since_first=False)
    assert merged.powers(merged.log_fail)[0].tolist() == [100.0, 200.0, 300.0]


@settings(deadline=None, max_examples=40)
@given(looks=st.integers(1, 3000), most=st.integers(2, 500), at=st.integers(1, 3000))
def test_thinning_keeps_first_last_and_the_deciding_look(looks: int, most: int, at: int) -> None:
    """Looks that are kept are the curve's own, in order, and no more than asked but the deciding one."""
    whole = curve_of(looks, passed_at=100 * min(at, looks))
    thin = with_fewer_looks(whole, most=most)
    assert thin.rows.size <= max(most + 1, 1)
    assert (thin.rows[0], thin.rows[-1]) == (whole.rows[0], whole.rows[-1])
    assert whole.passed_at in thin.rows
    places = np.searchsorted(whole.rows, thin.rows)
    assert np.array_equal(whole.rows[places], thin.rows)
    assert np.array_equal(whole.log_pass[places], thin.log_pass)
    assert (thin.passed_at, thin.limit, thin.measure) == (whole.passed_at, whole.limit, whole.measure)
