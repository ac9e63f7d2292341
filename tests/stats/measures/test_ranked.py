"""Differences of areas of ranks between two scores: laws, and the slow formulas."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from calibcli.names import RANKED, MeasureName
from calibcli.stats.measures import measure_named
from calibcli.stats.measures.differences import (
    Difference,
    PairedSums,
    influences_of,
    ranked_sums,
    reach_of_maps,
)
from calibcli.stats.measures.if_calibrated import Settings
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.bins import ATOMS, binned

M = MeasureName
GRID = st.integers(0, 12).map(lambda one: one / 12)
ROWS = st.lists(st.tuples(GRID, GRID, st.booleans()), min_size=4, max_size=40)


def difference(
    name: MeasureName,
    first: np.ndarray,
    second: np.ndarray,
    label: np.ndarray,
    other: np.ndarray | None = None,
) -> Difference:
    """Return how the second score differs, each with labels of its own where there are others."""
    labels = label, label if other is None else other
    tables = [ScoreTable.from_rows(score, one) for score, one in zip((first, second), labels, strict=True)]
    ranked = ranked_sums([name], *tables, same_labels=other is None)
    assert ranked is not None
    ranked.add((first, labels[0]), (second, labels[1]))
    whole = PairedSums(())
    whole.rows = label.size
    whole.also(ranked.sums)
    return whole.difference(name, confidence=0.95)


def delong(first: np.ndarray, second: np.ndarray, label: np.ndarray) -> tuple[float, float]:
    """Return the difference of the areas and its standard error, from every pair; ties count half."""
    beaten = []
    for score in (first, second):
        ones, zeros = score[label], score[~label]
        apart = ones[:, None] - zeros
        beaten.append((apart > 0.0) + 0.5 * (apart == 0.0))
    apart = beaten[1] - beaten[0]
    parts = [apart.mean(axis=axis) for axis in (1, 0)]
    return float(apart.mean()), float(np.sqrt(sum(one.var() / one.size for one in parts)))


def ends(found: Difference) -> tuple[float, float]:
    """Return both ends."""
    assert found.interval is not None
    return found.interval.ends


@pytest.mark.parametrize("name", RANKED)
@settings(max_examples=settings.default.max_examples // 2)
@given(rows=ROWS, other=st.lists(st.booleans(), min_size=40, max_size=40))
def test_laws(name: MeasureName, rows: list[tuple[float, float, bool]], other: list[bool]) -> None:
    """It is the difference of both values, turned with its interval, and 0 of a monotone map."""
    first, second, label = map(np.array, zip(*rows, strict=True))
    own = np.array(other[: label.size])
    assume(0 < label.sum() < label.size and 0 < own.sum() < own.size)
    for labels in (None, own):
        found, back = difference(name, first, second, label, labels), None
        tables = (
            ScoreTable.from_rows(first, label),
            ScoreTable.from_rows(second, label if labels is None else own),
        )
        values = [
            measure_named(name, one, settings=Settings(binned(one, ATOMS), ATOMS, 0.95, None)).value
            for one in tables
        ]
        assert found.value == pytest.approx(values[1] - values[0], abs=1e-12)
        lower, upper = ends(found)
        assert lower <= found.value <= upper
        back = difference(
            name, second, first, label if labels is None else own, None if labels is None else label
        )
        assert ends(back) == pytest.approx((-upper, -lower), abs=1e-12)
    assert difference(name, first, first**3, label).value == 0.0


@given(rows=ROWS)
def test_values_and_noise_are_those_of_every_pair(rows: list[tuple[float, float, bool]]) -> None:
    """DeLong's, with means in the place of unbiased variances; no narrower, nor nearer towards 0, but beyond
    what can be. Away from 0 it may be nearer: what rows add leans to what cannot be passed.
    """
    first, second, label = map(np.array, zip(*rows, strict=True))
    assume(0 < label.sum() < label.size)
    value, error = delong(first, second, label)
    found = difference(M.AUROC, first, second, label)
    assert found.value == pytest.approx(value, abs=1e-12)
    low, high = value - 1.9 * error, value + 1.9 * error
    lower, upper = ends(found)
    if min(low, -high) >= -1.0:
        assert upper - lower >= high - low - 1e-9
    if value >= 0.0:
        assert lower <= low + 1e-9 or low < -1.0
    if value <= 0.0:
        assert upper >= high - 1e-9 or high > 1.0


def test_many_rows_leave_the_interval_of_delong() -> None:
    """Of 6,000 rows the ends are within a tenth of those of the normal law."""
    rng = np.random.default_rng(1)
    shared = rng.normal(size=6_000)
    label = shared + rng.normal(size=6_000) > 0.0
    first, second = (
        (1 / (1 + np.exp(-shared - rng.normal(size=6_000)))),
        (1 / (1 + np.exp(-shared - rng.normal(size=6_000)))),
    )
    value, error = delong(first, second, label)
    lower, upper = ends(difference(M.AUROC, first, second, label))
    assert (value - lower, upper - value) == pytest.approx((1.96 * error, 1.96 * error), rel=0.1)


def test_one_label_and_weights_leave_none() -> None:
    """Where an area is undefined, or has no interval, its difference is left to others."""
    score, label = np.array([0.1, 0.2]), np.array([True, False])
    one, weighed = (
        ScoreTable.from_rows(score, ~label & label),
        ScoreTable.from_rows(score, label, Weighing(weight=np.array([1.0, 2.5]))),
    )
    for table in (one, weighed):
        assert ranked_sums(RANKED, table, ScoreTable.from_rows(score, label)) is None


@pytest.mark.parametrize("score", [np.linspace(0.1, 0.9, 50), np.arange(1, 1000, 7) / 1000.0])
def test_maps_of_one_score_cannot_be_farther_apart(score: np.ndarray) -> None:
    """A row that no row has shown is ranked by both maps; a monotone one leaves nothing open.

    Of scores with few decimals some are, but for rounding, where the maps are looked at.
    """
    label = np.arange(score.size) % 3 == 0
    tables = ScoreTable.from_rows(score, label), ScoreTable.from_rows(np.sqrt(score), label)
    ranked = ranked_sums(RANKED, *tables)
    assert ranked is not None
    ranked.add((score, label), (np.sqrt(score), label))
    reach = reach_of_maps(np.asarray, np.sqrt, score, ranked=influences_of(RANKED, *tables))
    ranked.sums.reaches({name: reach[name] for name in RANKED})
    assert [ends(ranked.sums.difference(name, confidence=0.95)) for name in RANKED] == [(0.0, 0.0)] * 3
