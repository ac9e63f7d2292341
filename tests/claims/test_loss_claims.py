"""A map of rare and costly scores is told apart from them as rarely as promised."""

from dataclasses import replace

import numpy as np
import pytest

from calibcli.stats.measures.differences import PAIRED, PairedSums, reach_of_maps
from claims.simulation import generator_of, most_misses
from claims.worlds import WORLDS, Law


@pytest.mark.parametrize("times", [60, pytest.param(1_000, marks=pytest.mark.slow)])
def test_maps_of_one_score_are_compared_as_promised(times: int) -> None:
    """Where 0.3 % of scores are rare and costly, a map of all is told apart wrongly as rarely as promised."""

    def moved(f: np.ndarray) -> np.ndarray:
        return f / (f + (1 - f) * 0.43)

    law = Law.of(WORLDS["fraud, calibrated"])
    score, shift = law.table.score, moved(law.table.score)
    after = Law(replace(law.table, score=shift), law.rate).means()
    for rows in (300, 3_000):
        rng, missed = generator_of("maps", rows), np.zeros((2, 2))
        for _ in range(times):
            count = rng.multinomial(rows, law.share)
            ones = rng.binomial(count, law.rate)
            sums = PairedSums()
            label = np.repeat([True, False], 2)
            sums.add(np.tile(score, 2), np.tile(shift, 2), label, counts=np.append(ones, count - ones))
            sums.reach = reach_of_maps(np.asarray, moved, score[count > 0])
            for place, measure in enumerate(PAIRED):
                true = after[measure] - law.means()[measure]
                interval = sums.difference(measure, confidence=0.95).interval
                missed[place] += interval.upper < true, interval.lower > true
        assert missed.max() <= most_misses(times, 0.025)
