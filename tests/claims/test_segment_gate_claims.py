"""A gate on segments is wrong in at most 5 % of tables, and of streams over all looks."""

import math
from collections import Counter

import numpy as np
import pytest

from calibcli.names import Bound, Relation, SegmentMeasure, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.gates.any_time import frozen_stakes
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.segments import RowsBySegment, SegmentBets, mce_rule, segment_rule
from calibcli.stats.measures.segments import segments_of
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS
from claims.simulation import generator_of, most_misses
from stats.segment_rows import added_up, counted, entries_of, frozen_by, true_sigma

pytestmark = pytest.mark.slow
# Scores, limit, values of each of two columns, rows of each pair, which segments are off, repetitions.
CELLS = [
    ("spread", 0.10, (2, 1), 30, "one", 4_000),
    ("spread", 0.10, (2, 1), 30, "all", 4_000),
    ("spread", 0.05, (20, 2), 30, "one", 2_000),
    ("spread", 0.05, (20, 2), 30, "all", 2_000),
    ("spread", 0.02, (200, 2), 30, "all", 400),
    ("spread", 0.05, (10, 2), 1_000, "one", 400),
    ("spread", 0.05, (10, 2), 1_000, "all", 400),
    ("unlike", 0.05, (10, 2), 300, "one", 1_000),
    ("unlike", 0.05, (10, 2), 300, "all", 1_000),
    ("rare", 0.001, (10, 2), 2_000, "one", 400),
    ("rare", 0.001, (10, 2), 2_000, "all", 400),
    ("rare", 0.004, (2, 1), 3_000, "one", 2_000),
    ("spread", 0.05, (4, 1), 4_000, "one", 1_000),
    ("saturated", 0.01, (20, 2), 30, "all", 2_000),
    ("saturated", 0.05, (4, 1), 30, "one", 4_000),
    ("saturated", 0.01, (4, 2), 1_000, "all", 1_000),
    # 504 rows, added up by score and levels as weights of frequency are.
    ("ties", 0.10, (6, 3), 28, "one", 1_000),
    ("ties", 0.10, (6, 3), 28, "all", 1_000),
    ("ties", 0.03, (4, 2), 4_000, "one", 400),
    # Values of the first column that belong to one of the second, so that pairs repeat larger segments.
    ("nested", 0.05, (12, 4), 125, "one", 1_000),
    ("nested", 0.05, (12, 4), 125, "all", 1_000),
]


def world(
    name: str, limit: float, level: np.ndarray, off: str, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and chances of label 1 that are off by the limit on average, in one value or in all."""
    rows = level.shape[1]
    sign = np.where(level[0] % 2 == 0, 1.0, -1.0)
    wrong = np.where((level[0] == 0) | (off == "all"), limit, 0.0)
    if name in ("spread", "nested"):
        score = rng.uniform(0.2, 0.8, rows)
        return score, score + sign * wrong
    if name == "crossing":
        # Too low below one half and too high above, so that nothing shows on average.
        score = rng.uniform(0.2, 0.8, rows)
        return score, np.clip(score + np.where(score < 0.5, wrong, -wrong), 0.0, 1.0)
    if name == "ties":
        score = rng.choice([0.2, 0.4, 0.6], rows)
        return score, score + sign * wrong
    if name == "unlike":
        # Chances near 0 and 1 that scores tell apart, so that the sum scatters less than a binomial's.
        score = rng.choice([0.06, 0.94], rows)
        return score, score + sign * wrong
    if name == "rare":
        score = rng.uniform(0.0005, 0.0015, rows) + (sign < 0.0) * wrong
        return score, score + sign * wrong
    score = np.where(sign > 0.0, 0.0, 1.0)
    return score, np.abs(score - wrong)


def verdicts(
    name: str, limit: float, sizes: tuple[int, int], each: int, off: str, repetitions: int
) -> Counter[VerdictName]:
    """Count the verdicts of a gate whose limit is the truth."""
    rng = generator_of("segment gate", name, limit, sizes, each, off)
    level = np.stack([one.ravel() for one in np.indices((*sizes, each))[:2]])
    if name == "nested":
        level[1] = level[0] // 3
    score, chance = world(name, limit, level, off, rng)
    rule = Rule("max-segment-bias", SegmentMeasure.SEGMENT_BIAS, Bound.UPPER, Relation.AT_MOST, limit)
    ground = Ground(ATOMS, least_rows=1, rows_wanted=False)
    found = Counter[VerdictName]()
    for _ in range(repetitions):
        label = rng.random(score.size) < chance
        entries = (added_up if name == "ties" else entries_of)(level, score, label, sizes)
        segments = segments_of(entries, depth=2)
        names = [()] * segments.size
        rows = RowsBySegment(ScoreTable.from_rows(score, label), segments, entries, names, ("a", "b"), 2, 30)
        found[segment_rule(rows, rule, ground=ground).outcome] += 1
    return found


@pytest.mark.untraced
@pytest.mark.parametrize(("name", "limit", "sizes", "each", "off", "repetitions"), CELLS)
def test_wrong_verdicts_at_the_limit_are_as_rare_as_promised(
    name: str, limit: float, sizes: tuple[int, int], each: int, off: str, repetitions: int
) -> None:
    """A pass and a fail, each wrong at the limit, come in at most 5 % of tables."""
    found = verdicts(name, limit, sizes, each, off, repetitions)
    most = most_misses(repetitions, 0.05)
    assert found[VerdictName.PASS] <= most
    assert found[VerdictName.FAIL] <= most


# Scores, how far off, values of each of two columns, rows of each pair, which segments are off, repetitions.
RANGES = [
    ("spread", 0.10, (2, 1), 30, "one", 2_000),
    ("spread", 0.10, (20, 2), 30, "all", 400),
    ("spread", 0.20, (200, 2), 30, "all", 100),
    ("crossing", 0.10, (2, 1), 250, "all", 2_000),
    ("crossing", 0.15, (10, 2), 100, "one", 400),
    ("crossing", 0.0, (10, 2), 100, "all", 400),
    ("crossing", 0.3, (2, 1), 2_000, "one", 1_000),
    ("spread", 0.2, (2, 1), 4_000, "one", 1_000),
    ("ties", 0.10, (6, 3), 100, "one", 400),
    ("unlike", 0.05, (10, 2), 300, "all", 300),
    ("rare", 0.001, (2, 2), 5_000, "all", 300),
    ("rare", 0.004, (2, 1), 5_000, "one", 300),
]


@pytest.mark.untraced
@pytest.mark.parametrize(("name", "off_by", "sizes", "each", "off", "repetitions"), RANGES)
def test_wrong_verdicts_on_ranges_are_as_rare_as_promised(
    name: str, off_by: float, sizes: tuple[int, int], each: int, off: str, repetitions: int
) -> None:
    """Where the limit is the largest range in truth, a pass and a fail come in at most 5 % of tables."""
    rng = generator_of("segment ranges", name, off_by, sizes, each, off)
    level = np.stack([one.ravel() for one in np.indices((*sizes, each))[:2]])
    score, chance = world(name, off_by, level, off, rng)
    found = Counter[VerdictName]()
    table = ScoreTable.from_rows(score, chance > rng.random(score.size))
    truth = true_sigma(level, score, chance, least=30)
    rule = Rule("mce", SegmentMeasure.MCE_SIGMA, Bound.UPPER, Relation.AT_MOST, truth)
    ground = Ground(ATOMS, least_rows=1)
    for _ in range(repetitions):
        entries = entries_of(level, score, rng.random(score.size) < chance, sizes)
        segments = segments_of(entries, depth=2)
        rows = RowsBySegment(table, segments, entries, [()] * segments.size, ("a", "b"), 2, 30)
        found[mce_rule(rows, rule, ground=ground).outcome] += 1
    most = most_misses(repetitions, 0.05)
    assert found[VerdictName.PASS] <= most
    assert found[VerdictName.FAIL] <= most


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("name", "sizes", "each", "level_of_test", "repetitions"),
    [
        ("spread", (20, 2), 30, 0.05, 150),
        ("ties", (3, 2), 84, 0.05, 400),
        ("ties", (3, 2), 84, 0.01, 400),
    ],
)
def test_calibrated_segments_fail_a_rule_on_p_no_more_often_than_it_says(
    name: str, sizes: tuple[int, int], each: int, level_of_test: float, repetitions: int
) -> None:
    """Over all segments at once a rule `mce_p>=A` fails at most a share A of calibrated tables."""
    rng = generator_of("segment p", name, sizes, each, level_of_test)
    level = np.stack([one.ravel() for one in np.indices((*sizes, each))[:2]])
    score, chance = world(name, 0.0, level, "all", rng)
    table = ScoreTable.from_rows(score, chance > rng.random(score.size))
    rule = Rule("mce", SegmentMeasure.MCE, Bound.P_VALUE, Relation.AT_LEAST, level_of_test)
    failed = 0
    for _ in range(repetitions):
        entries = entries_of(level, score, rng.random(score.size) < chance, sizes)
        segments = segments_of(entries, depth=2)
        rows = RowsBySegment(table, segments, entries, [()] * segments.size, ("a", "b"), 2, 30)
        failed += mce_rule(rows, rule, ground=Ground(ATOMS, least_rows=1)).outcome is VerdictName.FAIL
    assert failed <= most_misses(repetitions, level_of_test)


# Scores, limit, values of each of two columns, rows of a batch, batches, which segments are off, repetitions.
STREAMS = [
    ("spread", 0.10, (2, 1), 100, 30, "one", 400),
    ("spread", 0.10, (2, 1), 100, 30, "all", 400),
    ("spread", 0.05, (10, 2), 500, 30, "one", 200),
    ("spread", 0.05, (10, 2), 500, 30, "all", 200),
    ("unlike", 0.05, (10, 2), 500, 30, "one", 200),
    ("unlike", 0.05, (10, 2), 500, 30, "all", 200),
    ("rare", 0.001, (10, 2), 5_000, 20, "all", 200),
    ("rare", 0.004, (2, 1), 500, 30, "one", 400),
    ("saturated", 0.05, (4, 1), 500, 30, "one", 400),
    ("saturated", 0.01, (4, 2), 500, 30, "all", 400),
    ("ties", 0.05, (6, 3), 500, 30, "one", 200),
    ("ties", 0.05, (6, 3), 500, 30, "all", 200),
]


def stream_ends(
    name: str, limit: float, sizes: tuple[int, int], each: int, batches: int, off: str, repetitions: int
) -> tuple[int, int]:
    """Count the streams that ever pass, and those that ever fail, where the limit is the truth."""
    rng = generator_of("segment state", name, limit, sizes, each, off)
    # Values are as unlike in number as 1, 1/2, 1/3 and so on.
    share = 1.0 / np.arange(1, sizes[0] + 1)
    passes = fails = 0
    stakes, level_of_proof = frozen_stakes(delta=0.05, variance=0.04), math.log(20.0)
    for _ in range(repetitions):
        partition, sums = None, None
        passed = failed = False
        for _look in range(batches):
            level = np.stack(
                [rng.choice(sizes[0], each, p=share / share.sum()), rng.integers(0, sizes[1], each)]
            )
            score, chance = world(name, limit, level, off, rng)
            if partition is None:
                partition = frozen_by(level, sizes)
            batch = counted(level, score, rng.random(each) < chance, partition)
            sums = batch if sums is None else sums + batch
            assert partition.segments is not None
            bets = SegmentBets(sums, partition, partition.segments)
            passed = passed or bets.log_pass(limit, stakes) >= level_of_proof
            failed = failed or bets.log_fail(limit, stakes) >= level_of_proof
        passes, fails = passes + passed, fails + failed
    return passes, fails


@pytest.mark.untraced
@pytest.mark.parametrize(("name", "limit", "sizes", "each", "batches", "off", "repetitions"), STREAMS)
def test_wrong_verdicts_over_all_looks_are_as_rare_as_promised(
    name: str, limit: float, sizes: tuple[int, int], each: int, batches: int, off: str, repetitions: int
) -> None:
    """A pass and a fail, each wrong at the limit, ever come in at most 5 % of streams."""
    found = stream_ends(name, limit, sizes, each, batches, off, repetitions)
    assert max(found) <= most_misses(repetitions, 0.05)
