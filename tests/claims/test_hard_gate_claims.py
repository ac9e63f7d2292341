"""Gates on the ECE and on smECE at the limit, in worlds that are hard on them: how often a verdict is wrong.

And how often lower ends, by which other gates fail, lie above the error of the scores given.

The worlds are those of few values, and labels that the score settles. Scores and labels are drawn anew, the
limit being the error of the population, or the scores are given and the limit is their error.
"""

import math
from dataclasses import replace
from itertools import product

import numpy as np

from calibcli.names import Binning, Bound, ClassMeasure, MeasureName, Relation, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.bounds.betting import Stakes, stakes_for_any_time, stakes_for_one_look
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.plan import (
    Gate,
    Population,
    erring,
    is_given,
    log_evidence,
    planned,
    population_of,
)
from calibcli.stats.measures import measure_named
from calibcli.stats.measures.classes import class_measure
from calibcli.stats.measures.if_calibrated import Settings
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS, binned, bins_of, segment_sums
from calibcli.stats.table.kernel import cosine_series, fixpoint
from claims import worlds
from claims.cells import FEW
from claims.simulation import generator_of, most_misses, short_and_full
from claims.worlds import Law
from class_rows import views_of

DELTA = 0.05


def population(law: Law) -> Population:
    """Return a law of few values as plans know it."""
    return replace(population_of(law.table.score, law.share, bins=ATOMS), rate=law.rate)


WORLDS = {name: population(Law.of(worlds.WORLDS[name])) for name in FEW if not worlds.WORLDS[name].calibrated}
TWO = ScoreTable(np.array([0.48, 0.52]), np.array([1, 1]), np.array([0, 0]))
WORLDS["labels that the score settles"] = population(Law(TWO, np.array([0.0, 1.0])))


def off(scores: float | np.ndarray, rates: float | np.ndarray) -> Population:
    """Return a law of scores that are as frequent as each other."""
    score, each = np.atleast_1d(scores), np.ones(np.size(scores), np.int64)
    return population(Law(ScoreTable(score, each, 0 * each), np.atleast_1d(rates)))


RARE = 0.001 * 1.3 ** np.arange(15)
# Errors of one sign: their size is the distance to calibration, in every form.
ONE_SIGN = {
    "one value of .5": off(0.5, 0.53),
    "one value of .02, twice as often": off(0.02, 0.04),
    "one value of .001, twice as often": off(0.001, 0.002),
    "ten values, all too low": off(worlds.TEN, worlds.TEN + 0.05),
    "rare, twice as often": off(RARE, 2.0 * RARE),
}
EVERY = WORLDS | ONE_SIGN


def limits_and_tables(
    name: str, rows: int, *, times: int, given: bool, smooth: bool
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the true error, and how many rows of each value there are, and with label 1, in each table."""
    population, generator = EVERY[name], generator_of("hard gates", name, rows, given, smooth)
    count, ones = population.drawn(rows, times=times, generator=generator)
    share = population.share
    if given:
        count = np.tile(count[0], (times, 1))
        ones = generator.binomial(count, population.rate)
        share = count[0] / rows
    mass = share * (population.rate - population.score)
    error = fixpoint(cosine_series(population.score, mass)) if smooth else float(np.abs(mass).sum())
    return error, count, ones


def wrong_fails_of_ece(name: str, rows: int, stakes: Stakes, *, times: int, given: bool) -> int:
    """Return how many tables fail the true error as a limit."""
    limit, count, ones = limits_and_tables(name, rows, times=times, given=given, smooth=False)
    found = log_evidence(count, ones, population=WORLDS[name], limit=limit, stakes=stakes, above=True)
    return int((found >= math.log(1.0 / DELTA)).sum())


def wrong_verdicts_of_smece(name: str, rows: int, *, times: int, given: bool) -> tuple[int, int]:
    """Return how many tables pass and how many fail the true error as a limit."""
    limit, count, ones = limits_and_tables(name, rows, times=times, given=given, smooth=True)
    rule = Rule("max-smece", MeasureName.SMECE, Bound.UPPER, Relation.AT_MOST, limit)
    found = []
    for wanted in (VerdictName.PASS, VerdictName.FAIL):
        asked = Gate(rule, Ground(ATOMS), wanted)
        tables = zip(count, ones, strict=True)
        found.append(sum(is_given(asked, WORLDS[name].table(*one)) for one in tables))
    return found[0], found[1]


@short_and_full("limit error times", [(0.02, 0.12, 60)], [(0.02, 0.12, 2_000), (0.1, 0.06, 2_000)])
def test_planned_rows_decide_an_l2_error_in_a_value_that_comes_more_or_less_often(
    limit: float, error: float, times: int
) -> None:
    """Nine times in ten: where all of an error is in 2 % of rows, how many these are is chance as well."""
    scores = population_of(np.array([0.05, 0.5, 0.95]), np.array([60, 38, 2]), bins=ATOMS)
    wanted = VerdictName.PASS if error < limit else VerdictName.FAIL
    rule = Rule("max-l2", MeasureName.L2, Bound.UPPER, Relation.AT_MOST, limit)
    asked, generator = Gate(rule, Ground(ATOMS), wanted), generator_of("planned l2", limit, error)
    bad = erring(scores, MeasureName.L2, error)[-1]
    rows = planned(asked, [bad], power=0.9, again=False, generator=generator).rows
    assert rows is not None
    count, ones = bad.drawn(rows, times=times, generator=generator)
    given = sum(is_given(asked, bad.table(*one)) for one in zip(count, ones, strict=True))
    assert times - given <= most_misses(times, 0.1)


@short_and_full(
    "name rows times",
    [(name, 300, 1_000) for name in ("one atom", "two values, 40 % noise", "sure and wrong")],
    [(name, rows, 2_000) for name in WORLDS for rows in (30, 200, 2_000, 20_000)],
)
def test_fails_of_the_ece_are_rarely_wrong(name: str, rows: int, times: int) -> None:
    """At one look, with a variance that is right or four times too large, and at any time: 1 % was seen."""
    variance = WORLDS[name].variance
    for stakes in (
        stakes_for_one_look(rows, variance, delta=DELTA),
        stakes_for_one_look(rows, min(0.25, 4.0 * variance), delta=DELTA),
        stakes_for_any_time(delta=DELTA),
    ):
        for given in (False, True):
            wrong = wrong_fails_of_ece(name, rows, stakes, times=times, given=given)
            assert wrong <= most_misses(times, DELTA)


@short_and_full(
    "name rows times",
    [("one atom", 800, 60), ("two values, 40 % noise", 800, 60)],
    product(("one atom", "two values", "two values, 40 % noise", "three values"), (100, 1_500), (200,)),
)
def test_verdicts_on_smece_are_rarely_wrong(name: str, rows: int, times: int) -> None:
    """Neither verdict at the limit comes more often than promised, scores drawn or given."""
    for given in (False, True):
        wrong = wrong_verdicts_of_smece(name, rows, times=times, given=given)
        assert max(wrong) <= most_misses(times, DELTA)


def wrong_lower_ends(name: str, rows: int, *, times: int) -> dict[MeasureName, int]:
    """Return in how many tables of given scores the lower end of each error lies above the true error."""
    _, count, ones = limits_and_tables(name, rows, times=times, given=True, smooth=False)
    table = ScoreTable(WORLDS[name].score, count[0], ones[0])
    mass = bins_of(Binning.EQUAL_MASS, 4, table=table)
    gap = segment_sums(count[0] * (WORLDS[name].rate - WORLDS[name].score), binned(table, mass).starts)
    held = binned(table, mass).rows > 0
    each = np.abs(gap[held]) / binned(table, mass).rows[held]
    truth = {
        MeasureName.ECE_EQUAL_MASS: float(np.abs(gap).sum()) / rows,
        MeasureName.ACE: float(each.mean()),
        MeasureName.LP: float((binned(table, mass).rows[held] / rows) @ each**3) ** (1 / 3),
    }
    wrong = dict.fromkeys(truth, 0)
    for one in ones:
        drawn = binned(ScoreTable(WORLDS[name].score, count[0], one), mass)
        shared = Settings(drawn, drawn, 1.0 - 2.0 * DELTA, None, power=3.0)
        for measure, value in truth.items():
            found = measure_named(measure, ScoreTable(WORLDS[name].score, count[0], one), settings=shared)
            assert found.interval is not None
            wrong[measure] += found.interval.ends[0] > value + 1e-12
    return wrong


# Probabilities of vectors that rows have, label rates of each, and shares of the rows.
CLASS_WORLDS = {
    "one vector": ([[0.5, 0.3, 0.2]], [[0.59, 0.255, 0.155]], [1.0]),
    "one vector, calibrated": ([[0.5, 0.3, 0.2]], [[0.5, 0.3, 0.2]], [1.0]),
    "errors cancel": ([[0.5, 0.3, 0.2], [0.5, 0.2, 0.3]], [[0.6, 0.2, 0.2], [0.4, 0.3, 0.3]], [0.5, 0.5]),
    "sure and wrong": ([[0.999, 0.0005, 0.0005]], [[0.97, 0.02, 0.01]], [1.0]),
    "a rare class": ([[0.7, 0.299, 0.001], [0.2, 0.799, 0.001]], [[0.7, 0.295, 0.005], [0.2, 0.795, 0.005]],
                     [0.3, 0.7]),
}  # fmt: skip


def wrong_lower_ends_of_classes(name: str, rows: int, *, times: int) -> dict[ClassMeasure, int]:
    """Return in how many tables of given probabilities the lower end of each error lies above it."""
    said, rate, share = map(np.array, CLASS_WORLDS[name])
    generator = generator_of("hard classes", name, rows)
    counts = np.round(rows * share).astype(np.int64)
    gap = counts[:, None] * (rate - said)
    predicted = said.argmax(axis=1)
    own, of_class = gap[np.arange(len(said)), predicted], [np.flatnonzero(predicted == c) for c in range(3)]
    # A bin holds one probability of a class, and one of those that predict it.
    apart = [sum(abs(gap[said[:, c] == p, c].sum()) for p in np.unique(said[:, c])) for c in range(3)]
    sizes = np.array([[abs(own[some].sum()), counts[some].sum()] for some in of_class if some.size])
    truth = {
        ClassMeasure.CLASSWISE_ECE: float(np.mean(apart)) / rows,
        ClassMeasure.TOP_LABEL_ECE: float(sizes[:, 0].sum()) / rows,
        ClassMeasure.TOP_LABEL_ECE_UNWEIGHTED: float((sizes[:, 0] / sizes[:, 1]).mean()),
    }
    wrong = dict.fromkeys(truth, 0)
    for _ in range(times):
        drawn = np.stack([generator.multinomial(*one) for one in zip(counts, rate, strict=True)])
        views = views_of(
            np.repeat(said, 3, axis=0),
            np.tile(np.arange(3), len(said)),
            counts=drawn.ravel(),
            confidence=1.0 - 2.0 * DELTA,
        )
        for measure, value in truth.items():
            found = class_measure(measure, views)
            assert found.interval is not None
            wrong[measure] += found.interval.ends[0] > value + 1e-12
    return wrong


@short_and_full("name rows times", [("three values", 300, 100)], product(WORLDS, (30, 2_000), (2_000,)))
def test_lower_ends_are_rarely_above_the_error(name: str, rows: int, times: int) -> None:
    """Of the ECE over equal-mass bins, ACE and l_p, one-sided: they share it with the mean residual."""
    assert max(wrong_lower_ends(name, rows, times=times).values()) <= most_misses(times, DELTA)


@short_and_full(
    "name rows times", [("errors cancel", 300, 100)], product(CLASS_WORLDS, (30, 2_000), (2_000,))
)
def test_lower_ends_of_classes_are_rarely_above_the_error(name: str, rows: int, times: int) -> None:
    """Class by class and by the class that is predicted, one-sided: the means of all classes share it."""
    assert max(wrong_lower_ends_of_classes(name, rows, times=times).values()) <= most_misses(times, DELTA)


def wrong_verdicts_of_dce(name: str, rows: int, *, times: int) -> tuple[int, int]:
    """Return how many tables pass and how many fail the true distance as a limit."""
    limit, count, ones = limits_and_tables(name, rows, times=times, given=False, smooth=False)
    rule = Rule("max-dce", MeasureName.DCE, Bound.UPPER, Relation.AT_MOST, limit)
    tables = [EVERY[name].table(*one) for one in zip(count, ones, strict=True)]
    passed, failed = (
        sum(is_given(Gate(rule, Ground(ATOMS), wanted), one) for one in tables)
        for wanted in (VerdictName.PASS, VerdictName.FAIL)
    )
    return passed, failed


@short_and_full(
    "name rows times",
    product(ONE_SIGN, (100,), (60,)),
    product(ONE_SIGN, (100, 2_000, 50_000), (2_000,)),
)
def test_verdicts_on_dce_are_rarely_wrong(name: str, rows: int, times: int) -> None:
    """Bets over bins, finer bins and each score keep to the error together, and so do both means."""
    assert max(wrong_verdicts_of_dce(name, rows, times=times)) <= most_misses(times, DELTA)
