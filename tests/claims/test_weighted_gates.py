"""Gates under importance weights: a verdict at the limit is seldom wrong, in worlds hard for weights."""

from itertools import cycle, product, repeat

import numpy as np

from calibcli.names import Binning, Bound, ClassMeasure, MeasureName, Relation, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.gates import judge
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.other_rules import class_rule
from calibcli.stats.measures.bias import bias
from calibcli.stats.measures.classes.scores import class_brier
from calibcli.stats.measures.differences import PairedSums
from calibcli.stats.measures.scores import brier, log_loss
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.bins import ATOMS, Bins, bin_index, equal_width_edges
from calibcli.stats.table.kernel import cosine_series, fixpoint
from claims.simulation import generator_of, most_misses, short_and_full
from class_rows import labels_of, softmax, views_of

FIFTEEN = Bins(Binning.EQUAL_WIDTH, equal_width_edges(15))
DELTA = 0.05
WORLDS = (
    "few heavy rows",
    "heavier still",
    "rare events",
    "saturated",
    "one bad bin",
    "weights against the error",
)
M, C = MeasureName, ClassMeasure
BY_VALUE = (M.LINF, M.L2)
MEASURES = (M.ECE, M.BIAS, M.SMECE, M.CUTOFF, M.BRIER, M.LOG_LOSS, *BY_VALUE)
CLASSES = (C.CLASSWISE_ECE, C.TOP_LABEL_ECE, C.ACCURACY, C.CLASS_BRIER, C.CLASS_LOG_LOSS)


def world(name: str, rows: int, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores, rates of label 1, and weights."""
    score, weight = draw.random(rows), draw.lognormal(0.0, 2.0, rows)
    if name == "few heavy rows":
        return score, np.clip(score + 0.1, 0.0, 1.0), weight
    if name == "heavier still":
        # Without a mean: one row of many weighs as much as the others.
        return score, np.clip(score + 0.1, 0.0, 1.0), draw.pareto(0.9, rows) + 1.0
    if name == "rare events":
        score = draw.beta(0.1, 5.0, rows)
        return score, np.minimum(1.0, 2.0 * score), draw.choice([1.0, 50.0], rows, p=[0.95, 0.05])
    if name == "saturated":
        score = np.where(draw.random(rows) < 0.3, 1.0 - 1e-9, 1e-9)
        return score, np.where(score > 0.5, 0.95, 0.02), draw.exponential(size=rows)
    if name == "one bad bin":
        return score, np.where(np.abs(score - 0.5) < 1 / 30, 0.9, score), draw.exponential(size=rows)
    # The rows that the score is wrong about weigh most.
    wrong = draw.random(rows) < 0.1
    return score, np.where(wrong, 1.0 - score, score), np.where(wrong, 20.0, 1.0)


def mean_losses(measure: MeasureName, score: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return what each row loses on average over its label."""
    if measure is M.BRIER:
        return rate * (1.0 - score) ** 2 + (1.0 - rate) * score**2
    return -rate * np.log(score) - (1.0 - rate) * np.log1p(-score)


def truth(measure: MeasureName, score: np.ndarray, rate: np.ndarray, weight: np.ndarray) -> float:
    """The error of these scores and weights, straight from its definition."""
    place = bin_index(FIFTEEN.edges, score)
    if measure in (M.BRIER, M.LOG_LOSS):
        return float((weight * mean_losses(measure, score, rate)).sum() / weight.sum())
    if measure is M.SMECE:
        return fixpoint(cosine_series(score, weight * (rate - score) / weight.sum()))
    if measure in (M.BIAS, M.CUTOFF):
        path = np.append(0.0, np.cumsum((weight * (rate - score))[np.argsort(score)]))
        return float(path[-1] if measure is M.BIAS else np.ptp(path)) / float(weight.sum())
    if measure in BY_VALUE:
        place = np.unique(score, return_inverse=True)[1]
    gap, total = np.bincount(place, weight * (rate - score)), np.bincount(place, weight)
    if measure is M.L2:
        return float(np.sqrt((gap[total > 0.0] ** 2 / total[total > 0.0]).sum() / total.sum()))
    if measure is MeasureName.LINF:
        return float(np.max(np.abs(gap[total > 0.0]) / total[total > 0.0]))
    return float(np.abs(gap).sum() / total.sum())


def wrong_verdicts(name: str, measure: MeasureName, rows: int, repetitions: int) -> tuple[int, int]:
    """Return how often a limit that is the truth is passed, and how often it is failed."""
    draw = generator_of("weighted gates", name, measure.value, rows)
    passes, fails, few = 0, 0, measure in BY_VALUE
    for _ in range(repetitions):
        score, rate, weight = world(name, rows, draw)
        # The largest error of a value can be bounded where there are few.
        score = np.round(score, 1) if few else score
        table = ScoreTable.from_rows(score, draw.random(rows) < rate, Weighing(weight=weight))
        rule = Rule("rule", measure, Bound.UPPER, Relation.AT_MOST, truth(measure, score, rate, weight))
        outcome = judge(table, rule, ground=Ground(ATOMS if few else FIFTEEN, least_rows=10)).outcome
        passes += outcome is VerdictName.PASS
        fails += outcome is VerdictName.FAIL
    return passes, fails


@short_and_full(
    "name measure rows times",
    # Each measure in two worlds, each world with several measures.
    [(WORLDS[(place + off) % 6], one, 300, 20) for place, one in enumerate(MEASURES) for off in (0, 3)],
    [
        (w, m, rows, 300 if m is M.SMECE else 2_000)
        for w in WORLDS
        for m in MEASURES
        for rows in (30, 300, 3_000)
    ],
)
def test_weighted_verdicts_at_the_limit_are_seldom_wrong(
    name: str, measure: MeasureName, rows: int, times: int
) -> None:
    """In at most 5 % of the tables; the limit is the truth itself."""
    assert max(wrong_verdicts(name, measure, rows, times)) <= most_misses(times, DELTA)


def wrong_comparisons(name: str, measure: MeasureName, rows: int, repetitions: int) -> tuple[int, int]:
    """Return how often a difference to another score, row by row, lies below its interval, and above."""
    draw, below, above = generator_of("weighted baseline", name, measure.value, rows), 0, 0
    for _ in range(repetitions):
        score, rate, weight = world(name, rows, draw)
        other = np.clip(0.9 * score + 0.05 * draw.random(rows), 1e-9, 1.0 - 1e-9)
        sums = PairedSums()
        sums.add(other, score, draw.random(rows) < rate, Weighing(weight=weight))
        found = sums.difference_here(measure, confidence=1.0 - 2.0 * DELTA)
        mean = mean_losses(measure, score, rate) - mean_losses(measure, other, rate)
        if found.interval is not None:
            lower, upper = found.interval.ends
            below += float(weight @ mean / weight.sum()) < lower
            above += float(weight @ mean / weight.sum()) > upper
    return below, above


def wrong_verdicts_on_classes(measure: ClassMeasure, rows: int, repetitions: int) -> tuple[int, int]:
    """Return how often a limit that is the truth is passed, and failed, with weights that have no mean."""
    draw, passes, fails = generator_of("weighted classes", measure.value, rows), 0, 0
    for _ in range(repetitions):
        logits = 1.5 * draw.standard_normal((rows, 4))
        probability, chance, weight = softmax(2.0 * logits), softmax(logits), draw.pareto(0.9, rows) + 1.0
        top, share = probability.argmax(axis=1), weight / weight.sum()
        place = np.stack([bin_index(FIFTEEN.edges, column) for column in probability.T], axis=1)
        gap = share[:, None] * (chance - probability)
        each = np.arange(rows)
        squares = (probability**2).sum(axis=1) - 2.0 * (probability * chance).sum(axis=1) + 1.0
        limit = {
            C.CLASSWISE_ECE: np.mean([np.abs(np.bincount(place[:, k], gap[:, k])).sum() for k in range(4)]),
            C.TOP_LABEL_ECE: np.abs(np.bincount(15 * top + place[each, top], gap[each, top])).sum(),
            C.ACCURACY: share @ chance[each, top],
            C.CLASS_BRIER: share @ squares,
            C.CLASS_LOG_LOSS: -(share @ (chance * np.log(probability)).sum(axis=1)),
        }[measure]
        views = views_of(probability, labels_of(chance, draw), bins=FIFTEEN, weight=weight)
        rule = Rule("rule", measure, Bound.UPPER, Relation.AT_MOST, float(limit))
        verdict = class_rule(views, rule, ground=Ground(FIFTEEN, least_rows=10))
        assert verdict.finite_sample
        passes += verdict.outcome is VerdictName.PASS
        fails += verdict.outcome is VerdictName.FAIL
    return passes, fails


@short_and_full(
    "name measure rows times",
    list(zip(WORLDS, cycle((M.BRIER, M.LOG_LOSS)), repeat(300), repeat(20), strict=False)),
    product(WORLDS, (M.BRIER, M.LOG_LOSS), (30, 300, 3_000), (2_000,)),
)
def test_weighted_comparisons_with_a_baseline_are_seldom_wrong(
    name: str, measure: MeasureName, rows: int, times: int
) -> None:
    """In at most 5 % of the tables."""
    assert max(wrong_comparisons(name, measure, rows, times)) <= most_misses(times, DELTA)


@short_and_full(
    "name rows times", product(("rare events",), (300,), (50,)), product(WORLDS, (30, 3_000), (2_000,))
)
def test_weighted_intervals_of_the_bias_seldom_miss(name: str, rows: int, times: int) -> None:
    """Of the bias of these scores and weights, in 5 % of tables at most; rare events are taken for rare."""
    draw, missed = generator_of("bias", name, rows), 0
    for _ in range(times):
        score, rate, weight = world(name, rows, draw)
        label = draw.random(rows) < rate
        table = ScoreTable.from_rows(score, label, Weighing(weight=weight))
        interval = bias(table, confidence=1.0 - DELTA).interval
        assert interval is not None
        lower, upper = interval.ends
        missed += not lower <= float(weight @ (rate - score)) / float(weight.sum()) <= upper
    assert missed <= most_misses(times, DELTA)


@short_and_full("measure rows times", product(CLASSES, (200,), (20,)), product(CLASSES, (30, 300), (2_000,)))
def test_weighted_verdicts_on_classes_are_seldom_wrong(measure: ClassMeasure, rows: int, times: int) -> None:
    """In at most 5 % of the tables."""
    assert max(wrong_verdicts_on_classes(measure, rows, times)) <= most_misses(times, DELTA)


def test_a_weighted_gate_can_pass_and_fail() -> None:
    """Twice as far from the truth as its margin, it decides."""
    draw = np.random.default_rng(0)
    score, rate, weight = world("one bad bin", 20_000, draw)
    table = ScoreTable.from_rows(score, draw.random(20_000) < rate, Weighing(weight=weight))
    error = truth(MeasureName.ECE, score, rate, weight)
    for limit, outcome in ((error + 0.03, VerdictName.PASS), (error / 20.0, VerdictName.FAIL)):
        rule = Rule("rule", MeasureName.ECE, Bound.UPPER, Relation.AT_MOST, limit)
        verdict = judge(table, rule, ground=Ground(FIFTEEN))
        assert (verdict.outcome, verdict.finite_sample) == (outcome, True)
        assert "the weights of rows must not depend on their labels" in verdict.assumptions


@short_and_full(
    "rows spread times",
    [(1_000, 0.5, 20)],
    product((60, 1_000), (0.0, 0.5), (2_000,)),
)
def test_intervals_of_weighted_losses_hold_where_few_rows_are_costly(
    rows: int, spread: float, times: int
) -> None:
    """Each end, at 95 and at 99 %, where on average 12 of these rows are sure and wrong."""
    draw, error = generator_of("weighted losses", rows, str(spread)), 12.0 / rows
    truth = {M.BRIER: error * 0.99**2 + (1.0 - error) * 0.01**2}
    truth[M.LOG_LOSS] = -error * np.log(0.01) - (1.0 - error) * np.log(0.99)
    missed = np.zeros((2, 2, 2))
    for _ in range(times):
        score = np.where(draw.random(rows) < 0.5, 0.01, 0.99)
        label = (score > 0.5) != (draw.random(rows) < error)
        table = ScoreTable.from_rows(score, label, Weighing(weight=draw.lognormal(0.0, spread, rows)))
        for place, (name, measure) in enumerate(((M.BRIER, brier), (M.LOG_LOSS, log_loss))):
            for level, confidence in enumerate((0.95, 0.99)):
                interval = measure(table, confidence=confidence).interval
                assert interval is not None
                lower, upper = interval.ends
                missed[level, place] += lower > truth[name], upper < truth[name]
    assert missed[0].max() <= most_misses(times, 0.025)
    assert missed[1].max() <= most_misses(times, 0.005)


@short_and_full("spread times", [(1.0, 20)], [(0.5, 2_000), (1.0, 4_000)])
def test_intervals_of_weighted_losses_of_classes_and_of_differences_hold(spread: float, times: int) -> None:
    """Each end, at 95 and at 99 %, of 200 rows whose mean loss, and difference, is far from 0."""
    draw, missed = generator_of("weighted classes and differences", str(spread)), np.zeros((2, 2, 2))
    # Of Dirichlet(2, 2, 2), and of Beta(2, 2) against always 0.5.
    truth = 4.0 / 7.0, 0.25 - 0.2
    for _ in range(times):
        weight = draw.lognormal(0.0, spread, 200)
        probability, score = draw.dirichlet((2.0, 2.0, 2.0), 200), draw.beta(2.0, 2.0, 200)
        label, sums = labels_of(probability, draw), PairedSums()
        sums.add(score, np.full(200, 0.5), draw.random(200) < score, Weighing(weight=weight))
        for level, confidence in enumerate((0.95, 0.99)):
            views = views_of(probability, label, weight=weight, confidence=confidence)
            pair = class_brier(views), sums.difference(M.BRIER, confidence=confidence)
            for place, one in enumerate(pair):
                assert one.interval is not None
                lower, upper = one.interval.ends
                missed[level, place] += lower > truth[place], upper < truth[place]
    assert missed[0].max() <= most_misses(times, 0.025)
    assert missed[1].max() <= most_misses(times, 0.005)
