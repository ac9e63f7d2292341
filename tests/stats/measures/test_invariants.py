"""The 25 invariants of the statistics sheet, one to one: `test_07_...` is invariant 7.

Each is a Hypothesis law over the rows of `score_rows`, on exact tables and on grids; what 4, 5 and 23 say
of every measure stands in `test_every_measure`.
Grids have no part in 25, which knows no table. In 8, 11, 12, 21 and 22 no cell moves a score.

1 refinement. 2 order of bias, ECE, l2, linf. 3 l2^2 <= ECE linf. 4 row order. 5 frequency weights. 6 shards.
7 T <= l2^2. 8 T in Kumar's form. 9 T unbiased. 10 KS and Kuiper. 11 Kuiper, other label. 12 Spiegelhalter,
other label. 13 Murphy. 14 Ferro-Fricker. 15 PAV twice. 16 PAV levels. 17 CORP. 18 ECE after PAV. 19
Venn-Abers. 20 smECE by bandwidth. 21 smECE, other label. 22 distances. 23 evidence and bounds. 24 never both
verdicts. 25 deviations and laws.
"""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, example, given, is_hypothesis_test, settings
from hypothesis import strategies as st

from calibcli.errors import InputProblem
from calibcli.names import Binning, Bound, MeasureName, Relation, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.bounds.betting import stakes_for_any_time, stakes_for_one_look
from calibcli.stats.bounds.means import bounded_differences
from calibcli.stats.bounds.proportion import deviation_of_a_mean, hoeffding_deviation
from calibcli.stats.bounds.resampling import excursion_tail, range_tail
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.ece import ece_below
from calibcli.stats.measures import Estimate
from calibcli.stats.measures.bias import bias
from calibcli.stats.measures.binned import adaptive_error, binned_ece, grouped_residuals, lp_error, worst_bin
from calibcli.stats.measures.decompositions import corp_part, murphy_part
from calibcli.stats.measures.distance import distance, lower_distance, smooth_calibration_error
from calibcli.stats.measures.l2 import l2_squared_plug_in, t_statistic
from calibcli.stats.measures.scores import brier, log_loss
from calibcli.stats.measures.smooth_ece import (
    logit_axis,
    probit_axis,
    score_axis,
    smooth_ece,
    smooth_ece_on,
)
from calibcli.stats.measures.tests import ks_and_kuiper, spiegelhalter
from calibcli.stats.recalibrators.isotonic import Isotonic
from calibcli.stats.recalibrators.pooling import entries_to_pool, pooled
from calibcli.stats.recalibrators.venn_abers import VennAbers
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS, Bins, binned, bins_of
from calibcli.stats.table.derived import with_scores
from calibcli.stats.table.grid import GridAccumulator, Table, grid_of, residuals
from calibcli.stats.table.kernel import cosine_series
from score_rows import (
    ANY_TABLES,
    COUNTS,
    EVEN_SCORES,
    EVEN_TABLES,
    SCORES,
    TABLES,
    Rows,
    some_rows,
    turned,
    wide,
)

M = MeasureName
SLOW_LAW = settings(max_examples=8)
PARTITIONS = st.tuples(st.sampled_from(list(Binning)), st.sampled_from(COUNTS))
Partition = tuple[Binning, int]


def cut(table: Table, partition: Partition) -> Bins:
    """The partition of a table."""
    return bins_of(partition[0], partition[1], table=table)


def columns_of(table: Table) -> list[np.ndarray]:
    """Everything a table holds."""
    if isinstance(table, ScoreTable):
        return list(table.columns)
    return [table.code, table.rows, table.positive_rows, table.below_positive, table.below_negative]


@given(table=TABLES, coarse=st.integers(1, 4), times=st.integers(1, 4))
def test_01_refining_never_lowers_ece_or_l2(table: Table, coarse: int, times: int) -> None:
    """A refined partition has at least the ECE and the plug-in l2 of the coarse one, up to single scores."""
    for power in (1.0, 2.0):
        partitions = (wide(coarse), wide(coarse * times), ATOMS)
        values = [lp_error(table, bins=bins, power=power).value for bins in partitions]
        for smaller, larger in pairwise(values):
            assert smaller <= larger + 1e-12


@given(table=TABLES, partition=PARTITIONS, power=st.floats(1.0, 97.0))
def test_02_bias_ece_l2_and_linf_are_ordered(table: Table, partition: Partition, power: float) -> None:
    """|bias| <= ECE = l1 <= lp <= lq <= linf over any partition, 2 among the powers, and ACE <= linf."""
    bins = cut(table, partition)
    norms = [lp_error(table, bins=bins, power=p).value for p in sorted((1.0, 2.0, power, power + 3.0))]
    assert norms[0] == pytest.approx(binned_ece(table, bins=bins).value, abs=1e-14)
    top = worst_bin(table, bins=bins).value
    for smaller, larger in pairwise((abs(bias(table).value), *norms, top)):
        assert smaller <= larger + 1e-12
    assert adaptive_error(table, bins=bins).value <= top + 1e-12


@given(table=TABLES, partition=PARTITIONS)
def test_03_squared_l2_is_at_most_ece_times_linf(table: Table, partition: Partition) -> None:
    """l2^2 <= ECE linf, with equality where every bin has the same gap."""
    bins = cut(table, partition)
    ece, two = binned_ece(table, bins=bins).value, lp_error(table, bins=bins, power=2.0).value
    sums = binned(table, bins)
    gaps = np.abs(sums.residual[sums.occupied] / sums.weight[sums.occupied])
    assert two**2 <= ece * float(gaps.max()) + 1e-12
    if float(np.ptp(gaps)) == 0.0:
        assert two**2 == pytest.approx(ece * float(gaps[0]), abs=1e-12)


@given(rows=some_rows(), seed=st.integers(0, 99))
def test_04_row_order_does_not_matter_to_a_table(rows: Rows, seed: int) -> None:
    """Every column of a table is the same, bit for bit, for shuffled rows."""
    shuffled = rows.taken(np.random.default_rng(seed).permutation(rows.size))
    for mine, theirs in zip(columns_of(rows.table()), columns_of(shuffled.table()), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@given(rows=some_rows())
def test_05_frequency_weight_is_a_repeated_row_of_a_table(rows: Rows) -> None:
    """Rows with counts and rows written out make the same table; on a grid added one by one as well."""
    counted, repeated = columns_of(rows.table()), rows.repeated()
    others = [columns_of(repeated.table())]
    if rows.on_grid:
        cells = GridAccumulator()
        cells.add_rows(repeated.score, repeated.label)
        others.append(columns_of(cells.table()))
    for other in others:
        for mine, theirs in zip(counted, other, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@given(rows=some_rows(), at=st.integers(0, 30), count=st.sampled_from(COUNTS))
def test_06_sums_of_shards_add_up(rows: Rows, at: int, count: int) -> None:
    """Rows, residuals and their squares of shard A and shard B per bin sum to those of both."""
    parts = [rows.taken(places) for places in np.split(np.arange(rows.size), [min(at, rows.size)])]
    bins = wide(count)
    whole, *shards = (binned(one.table(), bins) for one in (rows, *parts))
    for name in ("rows", "positive_rows", "weight", "residual", "residual_sq", "score_sum", "variance"):
        total = sum(getattr(shard, name) for shard in shards)
        np.testing.assert_allclose(total, getattr(whole, name), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(shards[0].rows + shards[1].rows, whole.rows)


@given(table=TABLES, partition=PARTITIONS)
def test_07_debiasing_only_lowers(table: Table, partition: Partition) -> None:
    """T is at most the plug-in l2^2, and equal to it only where no bin of two rows has noise left."""
    sums = binned(table, cut(table, partition))
    assert t_statistic(sums) <= l2_squared_plug_in(sums) + 1e-12
    two = sums.rows >= 2
    spread = sums.residual_sq[two] - sums.residual[two] ** 2 / sums.weight[two]
    if spread.size and float(spread.max()) > 1e-6:
        assert t_statistic(sums) < l2_squared_plug_in(sums)


@given(rows=some_rows(st.integers(0, 12).map(lambda k: k / 12)))
def test_08_t_is_kumars_form_where_a_bin_holds_one_score(rows: Rows) -> None:
    """T is sum p_k [(v - ybar)^2 - ybar (1 - ybar) / (n_k - 1)], and Ferro and Fricker's reliability."""
    table, score = rows.table(), rows.repeated().score
    label, expected = rows.repeated().label, 0.0
    for v in np.unique(score):
        n, mean = int((score == v).sum()), float(label[score == v].mean())
        if n >= 2:
            expected += n / score.size * ((v - mean) ** 2 - mean * (1 - mean) / (n - 1))
    assert t_statistic(binned(table, ATOMS)) == pytest.approx(expected, abs=1e-12)
    if (table.rows >= 2).all():
        corrected = murphy_part(M.BRIER_RELIABILITY_CORRECTED, table, bins=ATOMS).value
        assert corrected == pytest.approx(expected, abs=1e-12)


@settings(max_examples=15)
@given(
    chances=st.lists(st.tuples(SCORES, st.floats(0.0, 1.0)), min_size=2, max_size=6),
    count=st.sampled_from(COUNTS[:4]),
)
def test_09_t_is_unbiased(chances: list[tuple[float, float]], count: int) -> None:
    """The mean of T over all sets of labels, by their chances, is sum p_k e_k^2 over bins of two rows."""
    score, truth = (np.array(column) for column in zip(*chances, strict=True))
    bins, mean, expected = wide(count), 0.0, 0.0
    for labels in product([False, True], repeat=score.size):
        chance = float(np.where(labels, truth, 1.0 - truth).prod())
        table = ScoreTable.from_rows(score, np.array(labels))
        t = t_statistic(binned(table, bins))
        mean += chance * t
        if all(labels):
            assert t_statistic(binned(grid_of(table), bins)) == pytest.approx(t, abs=1e-11)
    inside = np.searchsorted(bins.edges[1:-1], score)
    for k in np.unique(inside):
        own = inside == k
        if own.sum() >= 2:
            expected += own.mean() * float((truth - score)[own].mean()) ** 2
    # Rows of one bin differ in their gaps; pairs of different rows know their product only.
    pairs = 0.0
    for k in np.unique(inside):
        gap = (truth - score)[inside == k]
        if gap.size >= 2:
            pairs += (gap.sum() ** 2 - (gap**2).sum()) / (gap.size - 1) / score.size
    assert mean == pytest.approx(pairs, abs=1e-12)
    if all(np.ptp((truth - score)[inside == k]) < 1e-15 for k in np.unique(inside)):
        assert mean == pytest.approx(expected, abs=1e-12)


@given(table=TABLES)
@example(ScoreTable.from_rows(np.array([0.5, 0.6, 0.7, 0.8]), np.ones(4, bool)))
def test_10_kuiper_is_at_least_ks_and_at_most_twice(table: Table) -> None:
    """KS <= Kuiper <= 2 KS, since the path starts at 0, where MAPIE has 1.510 and 0.970 on the example."""
    ks, kuiper = ks_and_kuiper(table)
    assert (ks.statistic is None) == (kuiper.statistic is None) == (set(table.score) <= {0.0, 1.0})
    if ks.statistic is not None and kuiper.statistic is not None:
        assert ks.statistic <= kuiper.statistic * (1 + 1e-12)
        assert kuiper.statistic <= 2 * ks.statistic * (1 + 1e-12)
        if (table.positive_rows == table.rows).all():
            # The path only rises: both statistics are its end, measured from 0.
            assert ks.statistic >= kuiper.statistic * (1 - 1e-12)


@given(table=EVEN_TABLES)
def test_11_kuiper_is_the_same_from_the_other_label(table: Table) -> None:
    """Kuiper of (f, y) is that of (1 - f, 1 - y)."""
    one, other = (ks_and_kuiper(seen)[1] for seen in (table, turned(table)))
    assert (one.statistic is None) == (other.statistic is None)
    if one.statistic is not None:
        assert one.statistic == pytest.approx(other.statistic, rel=1e-10, abs=1e-10)
        assert one.p_value == pytest.approx(other.p_value, rel=1e-8)


def test_11_ks_is_not_the_same_from_the_other_label() -> None:
    """What ends far from 0 starts far from it when seen from the other side, and KS knows its start only."""
    table = ScoreTable.from_rows(np.array([0.2, 0.4, 0.6]), np.array([True, True, False]))
    one, other = (ks_and_kuiper(seen)[0].statistic for seen in (table, turned(table)))
    assert one == pytest.approx(1.4 / math.sqrt(0.64))
    assert other == pytest.approx(0.8 / math.sqrt(0.64))


@given(table=EVEN_TABLES)
def test_12_spiegelhalters_z_is_the_same_from_the_other_label(table: Table) -> None:
    """Z of (f, y) is that of (1 - f, 1 - y), sign included."""
    one, other = spiegelhalter(table), spiegelhalter(turned(table))
    assert (one.statistic is None) == (other.statistic is None) == (set(table.score) <= {0.0, 0.5, 1.0})
    if one.statistic is not None:
        assert one.statistic == pytest.approx(other.statistic, rel=1e-10, abs=1e-10)


def parts(table: Table, bins: Bins) -> dict[MeasureName, float]:
    """Murphy's parts and those that Ferro and Fricker corrected."""
    return {name: murphy_part(name, table, bins=bins).value for name in MURPHY}


MURPHY = [
    name
    for name in MeasureName
    if name.startswith(("brier_rel", "brier_res", "brier_uncertainty", "brier_within"))
]


@given(table=ANY_TABLES, partition=PARTITIONS)
def test_13_murphys_parts_sum_to_the_brier_score(table: Table, partition: Partition) -> None:
    """BS = REL - RES + UNC + WBV - WBC over any partition; WBV = WBC = 0 where a bin holds one score."""
    found = parts(table, cut(table, partition))
    within = (found[M.BRIER_WITHIN_VARIANCE], found[M.BRIER_WITHIN_COVARIANCE])
    whole = found[M.BRIER_RELIABILITY] - found[M.BRIER_RESOLUTION] + found[M.BRIER_UNCERTAINTY]
    assert whole + within[0] - within[1] == pytest.approx(brier(table).value, abs=1e-12)
    assert found[M.BRIER_RELIABILITY] >= 0.0
    assert found[M.BRIER_RESOLUTION] >= -1e-15
    if partition[0] is Binning.ATOMS and table.kind == "exact":
        assert within == (0.0, 0.0)


@given(table=TABLES, partition=PARTITIONS)
def test_14_corrected_parts_have_the_same_sum(table: Table, partition: Partition) -> None:
    """REL' - RES' + UNC' = REL - RES + UNC, and each correction but that of one row alone goes its way."""
    found = parts(table, cut(table, partition))
    rel, res, unc = (found[name] for name in (M.BRIER_RELIABILITY, M.BRIER_RESOLUTION, M.BRIER_UNCERTAINTY))
    corrected = [found[name] for name in MURPHY if name.endswith("corrected")]
    assume(not any(math.isnan(value) for value in corrected))
    assert corrected[0] - corrected[1] + corrected[2] == pytest.approx(rel - res + unc, abs=1e-12)
    assert corrected[0] <= rel + 1e-15
    rows = table.total_rows
    assert corrected[2] == pytest.approx(unc * rows / (rows - 1), abs=1e-12)


CORP = [name for name in MeasureName if name.endswith(("_mcb", "_dsc", "_unc"))]


def isotonic_levels(table: Table) -> np.ndarray:
    """The isotonic fit at each score or cell, or skip the example where no fit is possible."""
    try:
        return Isotonic.fit(table).predict(table.score)
    except InputProblem:
        assume(condition=False)
        raise


@given(table=TABLES)
def test_15_pooling_twice_is_pooling_once(table: Table) -> None:
    """The isotonic fit of rows moved to their isotonic fit is the identity on them, bit for bit."""
    levels = isotonic_levels(table)
    moved = with_scores(table, levels)
    np.testing.assert_array_equal(isotonic_levels(moved), moved.score)
    again = pooled(moved)
    np.testing.assert_array_equal(again.first, again.last)
    np.testing.assert_array_equal(again.levels, moved.score)


@given(rows=some_rows(), weighted=st.booleans())
def test_16_levels_are_means_of_their_blocks(rows: Rows, weighted: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Levels rise, each is the mean of its block and at most that of any start of it; the mean is kept."""
    table = rows.weighted() if weighted else rows.table()
    assume(0.0 < table.positive.sum() < table.weight.sum())
    entries = entries_to_pool(table, rows=None)
    blocks = pooled(entries)
    assert (np.diff(blocks.levels) > 0.0).all()
    total = held = 0.0
    for first, last, level in zip(blocks.first, blocks.last, blocks.levels, strict=True):
        own = (entries.score >= first) & (entries.score <= last)
        weight, positive = entries.weight[own], entries.positive[own]
        assert level == pytest.approx(positive.sum() / weight.sum(), abs=1e-12)
        # A block that could be split into two rising parts would not be one.
        assert (np.cumsum(positive) / np.cumsum(weight) >= level - 1e-12).all()
        total, held = total + level * weight.sum(), held + weight.sum()
    assert held == pytest.approx(entries.weight.sum())
    assert total == pytest.approx(entries.positive.sum(), abs=1e-12 * held)


@given(table=ANY_TABLES)
def test_17_corp_parts_sum_to_the_score_and_are_not_negative(table: Table) -> None:
    """BS = MCB - DSC + UNC with MCB, DSC >= 0, and so the log loss, infinite with a row surely wrong."""
    for kind, whole in (("brier", brier(table).value), ("log_loss", log_loss(table).value)):
        mcb, dsc, unc = (corp_part(M(f"{kind}_{part}"), table).value for part in ("mcb", "dsc", "unc"))
        assert mcb >= 0.0
        assert 0.0 <= dsc <= unc + 1e-12
        assert mcb - dsc + unc == pytest.approx(whole, rel=1e-12, abs=1e-12)


@given(table=TABLES)
def test_18_isotonic_output_is_calibrated_in_sample(table: Table) -> None:
    """ECE of rows moved to their isotonic fit, by output, is 0, and nothing is left for CORP to save."""
    moved = with_scores(table, isotonic_levels(table))
    assert binned_ece(moved, bins=ATOMS).value == pytest.approx(0.0, abs=1e-12)
    assert corp_part(M.BRIER_MCB, moved).value == pytest.approx(0.0, abs=1e-12)
    if table.kind == "exact":
        # On a grid what moves to a level of another cell joins it.
        before, after = ({part: corp_part(part, seen).value for part in CORP} for seen in (table, moved))
        for part in CORP:
            expected = 0.0 if part.endswith("mcb") else before[part]
            assert after[part] == pytest.approx(expected, abs=1e-12)
    # And it saves what CORP said.
    saved = brier(with_scores(table, table.score)).value - brier(moved).value
    assert corp_part(M.BRIER_MCB, with_scores(table, table.score)).value == pytest.approx(saved, abs=1e-12)


@given(table=TABLES, requested=st.lists(SCORES, min_size=1, max_size=10))
def test_19_venn_abers_ends_are_ordered_and_rise(table: Table, requested: list[float]) -> None:
    """p0 <= p1 / (1 - p0 + p1) <= p1, all nondecreasing in the score; the isotonic fit lies between."""
    levels = isotonic_levels(table)
    fitted = VennAbers.fit(table)
    at = np.unique(np.concatenate((requested, table.score, [0.0, 1.0])))
    (low, high), point = fitted.ends(at), fitted.predict(at)
    assert (low <= point).all()
    assert (point <= high).all()
    np.testing.assert_allclose(point, high / (1.0 - low + high), rtol=0, atol=1e-15)
    for column in (low, high, point):
        assert (np.diff(column) >= 0.0).all()
    # Anywhere in a cell; rounding may put the mean of its rows on the edge of the one before.
    low, high = fitted.ends(table.upper)
    # Another row with label 0 can only lower the level, one with label 1 only raise it.
    assert (low <= levels + 1e-12).all()
    assert (levels <= high + 1e-12).all()
    assert (low < high).all()


BANDWIDTHS = np.geomspace(0.003, 1.0, 25)
AXES = {"score": score_axis, "logit": logit_axis, "probit": probit_axis}
ON_LOGIT, ON_PROBIT = (
    partial(smooth_ece_on, name) for name in (MeasureName.SMECE_LOGIT, MeasureName.SMECE_PROBIT)
)


@pytest.mark.parametrize("scale", AXES)
@SLOW_LAW
@given(table=TABLES)
def test_20_smoothing_more_never_adds(scale: str, table: Table) -> None:
    """The norm never grows with the bandwidth, and lies between |bias| and the sum of |residuals|."""
    axis = AXES[scale](table)
    mass = residuals(table) / table.total_rows
    series = cosine_series(axis.places, mass)
    norms = np.array([float(series.l1_norm(sigma)) for sigma in BANDWIDTHS])
    assert (np.diff(norms) <= 1e-9).all()
    assert norms.min() >= abs(bias(table).value) - 1e-9
    assert norms.max() <= float(np.abs(mass).sum()) + 1e-6
    value = {"score": smooth_ece, "logit": ON_LOGIT, "probit": ON_PROBIT}[scale](table)
    # The fixpoint: above it norms are below the bandwidth, below it they are above.
    for sigma, norm in zip(BANDWIDTHS * axis.length, norms, strict=True):
        assert (norm <= value.value + 1e-9) if sigma >= value.value else (norm >= value.value - 1e-9)


@pytest.mark.parametrize("measure", [smooth_ece, ON_LOGIT, ON_PROBIT])
@SLOW_LAW
@given(table=EVEN_TABLES)
def test_21_smece_is_the_same_from_the_other_label(
    measure: Callable[[Table], Estimate], table: Table
) -> None:
    """SmECE of (f, y) is that of (1 - f, 1 - y), and so are its bounds, the lower one to its rounding."""
    one, other = measure(table), measure(turned(table))
    assert one.value == pytest.approx(other.value, abs=1e-9)
    assert (one.interval is None) == (other.interval is None)
    if one.interval is not None and other.interval is not None:
        # Where it meets the bandwidth is found to some 1e-8.
        assert one.interval.upper == pytest.approx(other.interval.upper, abs=2e-8)
        # Its noise term is gathered in cells counted from 0, within one part in a hundred.
        assert one.interval.lower == pytest.approx(other.interval.lower, abs=5e-3)


# Moves end on steps of 1/400, which adds at most half a square of them to a distance.
GRID_OF_MOVES = 0.5 / 400**2


@SLOW_LAW
@given(rows=some_rows(EVEN_SCORES), seed=st.integers(0, 99), size=st.sampled_from([0.01, 0.1, 0.5]))
def test_22_distance_moves_no_more_than_scores_do(rows: Rows, seed: int, size: float) -> None:
    """|distance of f - that of g| <= mean |f - g|, and smCE / 2 <= lower distance <= 2 smCE, ECE, upper."""
    drawn = np.random.default_rng(seed).normal(size=rows.size)
    moved = replace(rows, score=np.clip(np.rint((rows.score + size * drawn) * 4096) / 4096, 0.0, 1.0))
    step = float(np.average(np.abs(rows.score - moved.score), weights=rows.counts))
    found = []
    for table in (rows.table(), moved.table()):
        lower, smooth = lower_distance(table).value, smooth_calibration_error(table).value
        ece = binned_ece(table, bins=ATOMS).value
        assert max(abs(bias(table).value), smooth / 2.0) <= lower + 1e-9
        assert lower <= min(2.0 * smooth, ece, distance(table).value) + GRID_OF_MOVES + 1e-9
        assert smooth <= ece + 1e-9
        found.append(lower)
    assert abs(found[0] - found[1]) <= step + 2 * GRID_OF_MOVES + 1e-9


@given(table=TABLES, partition=PARTITIONS, delta=st.sampled_from([0.001, 0.025, 0.05, 0.2]))
def test_23_evidence_is_monotone_and_bounds_enclose_the_plug_in(
    table: Table, partition: Partition, delta: float
) -> None:
    """E_pass grows and E_fail falls with eps; lower <= plug-in <= upper, the farther apart the less delta."""
    sums = binned(table, cut(table, partition))
    held, value = grouped_residuals(table, sums), float(np.abs(sums.residual).sum()) / sums.total
    variance = float(sums.variance.sum()) / sums.total
    one_look = stakes_for_one_look(table.total_rows, variance, delta=delta)
    for stakes in (one_look, stakes_for_any_time(delta=delta)):
        limits = np.sort(np.append(np.linspace(0.0, 1.0, 15), value)).tolist()
        below = [held.log_pass(eps, stakes) for eps in limits]
        above = [held.log_fail(eps, stakes) for eps in limits]
        assert (np.diff(below) >= -1e-9).all()
        assert (np.diff(above) <= 1e-9).all()
        lower, upper = held.lower_bound(stakes, delta=delta), held.upper_bound(stakes, delta=delta)
        assert 0.0 <= lower <= value + 1e-9
        assert value - 1e-9 <= upper <= 1.0
        assert upper <= held.upper_bound(stakes, delta=delta / 3.0)
        assert lower >= held.lower_bound(stakes, delta=delta / 3.0)


ORDER = [VerdictName.FAIL, VerdictName.INCONCLUSIVE, VerdictName.PASS]


@given(
    rows=some_rows(),
    times=st.sampled_from([1, 20, 400]),
    partition=PARTITIONS,
    delta=st.sampled_from([0.01, 0.05, 0.3]),
    one_look=st.booleans(),
)
def test_24_pass_and_fail_never_hold_together(
    rows: Rows,
    times: int,
    partition: Partition,
    delta: float,
    one_look: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """At no limit is the evidence enough both ways, and a higher limit never makes a verdict worse."""
    table = replace(rows, counts=rows.counts * times).table()
    sums = binned(table, cut(table, partition))
    held, level = grouped_residuals(table, sums), math.log(1.0 / delta)
    variance = float(sums.variance.sum()) / sums.total if one_look else None
    stakes = stakes_for_any_time(delta=delta)
    if variance is not None:
        stakes = stakes_for_one_look(table.total_rows, variance, delta=delta)
    ground = Ground(sums.bins, variance, least_rows=1, confidence=1.0 - delta, rows_wanted=False)
    found = []
    for eps in np.linspace(0.0, 1.0, 9).tolist():
        # No error is above 1, whatever the evidence.
        passes = eps == 1.0 or held.log_pass(eps, stakes) >= level
        fails = held.log_fail(eps, stakes) >= level
        assert not (passes and fails)
        rule = Rule("max-ece", M.ECE, Bound.UPPER, Relation.AT_MOST, eps)
        outcome = ece_below(table, rule, ground=ground).outcome
        allowed = VerdictName.PASS if passes else VerdictName.FAIL if fails else VerdictName.INCONCLUSIVE
        assert outcome in (allowed, VerdictName.INCONCLUSIVE)
        found.append(ORDER.index(outcome))
    assert found == sorted(found)


@given(
    rows=st.one_of(st.integers(1, 50), st.integers(1, 10**7)),
    delta=st.one_of(st.sampled_from([0.5, 0.05, 0.025]), st.floats(1e-9, 0.5)),
)
def test_25_deviations_are_ordered(rows: int, delta: float) -> None:
    """d* <= sqrt(L / 2n) <= sqrt(2L / n), the last of which is twice the middle one."""
    sharp, hoeffding = deviation_of_a_mean(rows, delta), hoeffding_deviation(rows, delta)
    assert 0.0 <= sharp <= hoeffding * (1 + 1e-12)
    assert bounded_differences(rows, delta) == pytest.approx(2 * hoeffding, rel=1e-12)


@pytest.mark.parametrize(("tail", "switch"), [(excursion_tail, 1.2), (range_tail, 2.0)])
@settings(max_examples=100)
@given(
    x=st.one_of(st.floats(0.0, 4.0), st.floats(0.0, 60.0)),
    step=st.one_of(st.floats(0.0, 1e-9), st.floats(0.0, 3.0)),
)
def test_25_laws_are_laws(tail: Callable[[float], float], switch: float, x: float, step: float) -> None:
    """Tails lie in [0, 1] and never rise, on both sides of the switch and across."""
    for at in (x, switch - step, np.nextafter(switch, 0.0), switch):
        if at >= 0.0:
            assert 0.0 <= tail(at) <= 1.0
            assert tail(at + step) <= tail(at) * (1 + 1e-12) + 1e-15


def test_every_invariant_of_the_sheet_has_its_law() -> None:
    """Numbers 1 to 25 each stand in the name of a test that Hypothesis runs, and no other number does."""
    found = {
        int(match[1])
        for name, test in globals().items()
        if (match := re.match(r"test_(\d+)_", name)) and is_hypothesis_test(test)
    }
    assert found == set(range(1, 26))
