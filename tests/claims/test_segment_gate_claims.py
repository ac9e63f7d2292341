"""A gate on the bias of segments is wrong in at most 5 % of tables, over all segments together."""

from collections import Counter

import numpy as np
import pytest

from calibcli.names import Bound, Relation, SegmentMeasure, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.segments import RowsBySegment, segment_rule
from calibcli.stats.measures.segments import segments_of
from calibcli.stats.table.bins import ATOMS
from calibcli.stats.table.score_table import ScoreTable
from claims.simulation import generator_of, most_misses
from stats.segment_rows import entries_of

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
]


def world(
    name: str, limit: float, level: np.ndarray, off: str, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and chances of label 1 that are off by the limit on average, in one value or in all."""
    rows = level.shape[1]
    sign = np.where(level[0] % 2 == 0, 1.0, -1.0)
    wrong = np.where((level[0] == 0) | (off == "all"), limit, 0.0)
    if name == "spread":
        score = rng.uniform(0.2, 0.8, rows)
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
    score, chance = world(name, limit, level, off, rng)
    rule = Rule("max-segment-bias", SegmentMeasure.SEGMENT_BIAS, Bound.UPPER, Relation.AT_MOST, limit)
    ground = Ground(ATOMS, least_rows=1, rows_wanted=False)
    found = Counter[VerdictName]()
    for _ in range(repetitions):
        label = rng.random(score.size) < chance
        entries = entries_of(level, score, label, sizes)
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
