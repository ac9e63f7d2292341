"""Paired differences: how seldom equally good scores, and maps of rare and costly ones, are told apart."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import expit, logit

from calibcli.names import RANKED, ComparisonName, MeasureName
from calibcli.stats.measures.differences import (
    PAIRED,
    PairedSums,
    influences_of,
    ranked_sums,
    reach_of_maps,
)
from calibcli.stats.measures.discrimination import Influence
from calibcli.stats.measures.scores import NO_MORE_EXTREME
from calibcli.stats.table import ScoreTable, Weighing
from claims.simulation import generator_of, most_misses
from claims.worlds import WORLDS, Law


def usual(u: np.ndarray) -> np.ndarray:
    """Return label probabilities all over the interval."""
    return 0.02 + 0.96 * u


@pytest.mark.parametrize("times", [40, pytest.param(2_000, marks=pytest.mark.slow)])
def test_gate_rarely_fails_a_score_that_is_no_worse(times: int) -> None:
    """With two equally good scores `worse by either loss` is said at most 5 % of the time in all."""
    rng = generator_of("paired", "gate")
    wrong = 0
    for _ in range(times):
        p = usual(rng.random(1000))
        # Errors of one size in opposite directions, at random by row: neither score is better.
        turn = np.where(rng.random(1000) < 0.5, 0.3, -0.3)
        sums = PairedSums()
        sums.add(expit(logit(p) + turn), expit(logit(p) - turn), rng.random(1000) < p)
        verdicts = [sums.difference(name, confidence=0.95).verdict for name in PAIRED]
        wrong += ComparisonName.WORSE in verdicts
    assert wrong <= most_misses(times, 0.05)


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_that_are_as_often_certain_are_not_told_apart(*, weighted: bool) -> None:
    """Both say 0 of half of the rows, in which 1 of 100 is an event: which of them met one is chance."""
    rng, told, met = generator_of("paired", "certain", weighted), 0, 0
    for _ in range(200):
        label, sums = rng.random(100) < 0.01, PairedSums()
        first, second = np.where(rng.random((2, 100)) < 0.5, 0.0, 0.02)
        sums.add(first, second, label, Weighing(None, rng.random(100)) if weighted else Weighing())
        found = sums.difference(MeasureName.LOG_LOSS, confidence=0.95)
        told += found.verdict is not ComparisonName.NOT_TOLD_APART
        met += bool(label[first == 0.0].any() != label[second == 0.0].any())
    assert met > 40
    assert told <= most_misses(200, 0.05)


@pytest.mark.parametrize(("rows", "told"), [(5, False), (6, True), (20, True)])
def test_a_score_that_is_often_certain_and_wrong_is_worse(rows: int, *, told: bool) -> None:
    """Than one that says 0 or 1 as well: as a sign test has it. Than one that never does in a single row."""
    label, sums = np.arange(100) < rows, PairedSums()
    sums.add(np.where(label, 0.0, 0.5), np.where(label, 0.5, 0.0), label)
    found = sums.difference(MeasureName.LOG_LOSS, confidence=0.95)
    assert (found.verdict is ComparisonName.BETTER) is told
    assert (found.value == -np.inf) is told
    assert ("not compared" in found.reasons[0]) is not told
    never = PairedSums()
    never.add(np.where(label & (np.arange(100) < 1), 0.0, 0.5), np.full(100, 0.5), label)
    assert never.difference(MeasureName.LOG_LOSS, confidence=0.95).verdict is ComparisonName.BETTER


@pytest.mark.parametrize("rows", [30, pytest.param(1_000, marks=pytest.mark.slow)])
def test_a_verdict_by_an_infinite_loss_says_what_it_takes_for_granted(rows: int) -> None:
    """Where both say 0 now and then, and wrongly, what one of them has not shown makes verdicts wrong."""
    rng, told = generator_of("paired", "rarely certain", rows), 0
    for _ in range(300):
        # So often one score was wrong and the other never said 0 as often as can be.
        first, second = np.where(rng.random((2, rows)) < 2.0 * np.log(1.5) / rows, 0.0, 0.5)
        sums = PairedSums()
        sums.add(first, second, rng.random(rows) < 0.5)
        found = sums.difference(MeasureName.LOG_LOSS, confidence=0.95)
        if found.verdict is not ComparisonName.NOT_TOLD_APART:
            told += 1
            assert (NO_MORE_EXTREME in found.assumptions) is (
                0.0 not in (second if found.value < 0 else first)
            )
    assert told


def test_pairing_is_worth_it() -> None:
    """The paired interval is a small part of what the two intervals by themselves would give."""
    rng = generator_of("paired", "width")
    p = usual(rng.random(5000))
    first, second, label = expit(1.02 * logit(p)), p, rng.random(5000) < p
    sums = PairedSums()
    sums.add(first, second, label)
    interval = sums.difference(MeasureName.BRIER, confidence=0.95).interval
    assert interval is not None
    paired = (interval.upper or 0.0) - (interval.lower or 0.0)
    alone = 2 * 1.96 * np.hypot(*(np.std((score - label) ** 2) for score in (first, second))) / np.sqrt(5000)
    assert paired < 0.15 * alone


@pytest.mark.parametrize("times", [20, pytest.param(1_000, marks=pytest.mark.slow)])
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
            sums.add(np.tile(score, 2), np.tile(shift, 2), label, Weighing(np.append(ones, count - ones)))
            sums.reach = reach_of_maps(np.asarray, moved, score[count > 0])
            for place, measure in enumerate(PAIRED):
                true = after[measure] - law.means()[measure]
                interval = sums.difference(measure, confidence=0.95).interval
                missed[place] += interval.upper < true, interval.lower > true
        assert missed.max() <= most_misses(times, 0.025)


@pytest.mark.parametrize("times", [20, pytest.param(1_000, marks=pytest.mark.slow)])
def test_maps_that_rank_a_score_apart_that_few_rows_have_are_compared_as_promised(times: int) -> None:
    """Where no row shows that score, as in six tables of ten, both have the same ranks."""

    def moved(score: np.ndarray) -> np.ndarray:
        return np.where(score > 0.9, 0.02, score)

    def drawn(rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        score = np.where(rng.random(rows) < 0.005, 0.95, rng.choice([0.1, 0.3, 0.5, 0.7], rows))
        return score, rng.random(rows) < score

    rng, missed, truth = generator_of("maps", "ranks"), np.zeros((len(RANKED), 2)), {}
    score, label = drawn(1_000_000, rng)
    for name in RANKED:
        sides = [Influence.of(name, ScoreTable.from_rows(one, label)) for one in (score, moved(score))]
        values = [
            side.of_rows(one, label).mean() for side, one in zip(sides, (score, moved(score)), strict=True)
        ]
        truth[name] = values[1] - values[0]
    for _ in range(times):
        score, label = drawn(100, rng)
        tables = ScoreTable.from_rows(score, label), ScoreTable.from_rows(moved(score), label)
        ranked = ranked_sums(RANKED, *tables)
        ranked.add((score, label), (moved(score), label))
        reach = reach_of_maps(np.asarray, moved, score, ranked=influences_of(RANKED, *tables))
        ranked.sums.reaches({name: reach[name] for name in RANKED})
        for place, name in enumerate(RANKED):
            low, high = ranked.sums.difference(name, confidence=0.95).interval.ends
            missed[place] += high < truth[name], low > truth[name]
    assert missed.max() <= most_misses(times, 0.025)


def ranked_world(kind: str, rows: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return two scores and the labels of each, which are the same but of models that are right or wrong."""
    common, share = rng.normal(size=rows), 0.05 if kind == "rare" else 0.4
    base = np.log(share / (1 - share))
    first, second = (common + 0.4 * rng.normal(size=rows) for _ in range(2))
    if kind in ("nearly one", "rare and nearly one"):
        # Two rows in a hundred are ranked anew, and nothing tells of those that none of these rows shows.
        moved = rng.random(rows) < 0.02
        first, second = common, np.where(moved, rng.normal(size=rows), common)
        base = base if kind == "nearly one" else -3.0
    if kind == "ties":
        first, second = np.round(first), np.round(2 * second) / 2
    label = rng.random(rows) < expit(base + 1.3 * common)
    if kind == "models":
        return first, second, rng.random(rows) < expit(1 + first), rng.random(rows) < expit(1 + second)
    return first, second, label, label


@pytest.mark.parametrize("kind", ["usual", "ties", "rare", "nearly one", "rare and nearly one", "models"])
@pytest.mark.parametrize("times", [10, pytest.param(600, marks=pytest.mark.slow)])
def test_areas_differ_as_promised(times: int, kind: str) -> None:
    """Of 100 and of 1,000 rows an end misses the true difference of areas in half of the error at most."""
    confidences = 0.95, 0.99, 0.999
    many, truth = ranked_world(kind, 5_000 + 500 * times, generator_of("ranked", kind)), {}
    for name in RANKED:
        sides = [Influence.of(name, ScoreTable.from_rows(expit(many[at]), many[2 + at])) for at in (0, 1)]
        values = [side.of_rows(expit(many[at]), many[2 + at]).mean() for at, side in enumerate(sides) if side]
        truth[name] = values[1] - values[0]
    for rows in (100, 1_000):
        rng, missed, asked = generator_of("ranked", kind, rows), np.zeros((3, len(RANKED), 2)), 0
        for _ in range(times):
            first, second, label, other = ranked_world(kind, rows, rng)
            one, two = (expit(first), label), (expit(second), other)
            tables = ScoreTable.from_rows(*one), ScoreTable.from_rows(*two)
            ranked = ranked_sums(RANKED, *tables, same_labels=kind != "models")
            if ranked is None:
                continue
            asked += 1
            ranked.add(one, two)
            for (level, confidence), (place, name) in product(enumerate(confidences), enumerate(RANKED)):
                interval = ranked.sums.difference(name, confidence=confidence).interval
                assert interval is not None
                missed[level, place] += interval.ends[1] < truth[name], interval.ends[0] > truth[name]
        for one, confidence in zip(missed, confidences, strict=True):
            assert one.max() <= most_misses(asked, (1.0 - confidence) / 2.0), (rows, confidence, one)
