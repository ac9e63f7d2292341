"""A gate on segments that keeps a state is wrong in at most 5 % of streams, over all segments and looks."""

import math

import numpy as np
import pytest

from calibcli.stats.gates.any_time import frozen_stakes
from calibcli.stats.gates.segment_bets import SegmentBets
from claims.simulation import generator_of, most_misses
from claims.test_segment_gate_claims import world
from stats.segment_rows import counted, frozen_by

pytestmark = pytest.mark.slow

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
            if name == "ties":
                score = rng.choice([0.2, 0.4, 0.6], each)
                wrong = np.where((level[0] == 0) | (off == "all"), limit, 0.0)
                chance = score + np.where(level[0] % 2 == 0, wrong, -wrong)
            else:
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
