"""
Simulations of intervals for proper scores, skill, their parts and Cox's coefficients.

Means speak of the population, so rows are drawn anew; coefficients of these scores, so labels are.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import expit, logit

from calibcli.measures.corp import corp_part
from calibcli.measures.cox import cox_measure
from calibcli.measures.murphy import murphy_part
from calibcli.measures.proper_scores import spherical
from calibcli.measures.skill import brier_skill, log_loss_skill
from calibcli.names import MeasureName
from calibcli.recalibrators.design import NEAREST
from calibcli.table.score_table import Floats, ScoreTable
from calibcli.verdicts.interval_rule import LEAST_CARRY
from claims.simulation import SCENARIOS, Cell, generator_of, population_truth, usual_bins
from claims.worlds import Law, best_lines

M = MeasureName
MEANS = {M.SPHERICAL: spherical, M.BRIER_SKILL: brier_skill, M.LOG_LOSS_SKILL: log_loss_skill}
COX = (M.CITL_LOGIT, M.COX_INTERCEPT, M.COX_SLOPE)
SIDES = (" above", " below")
# Scores and the rate of label 1 at them; only the first two have their truth on the line.
OFF_THE_LINE: dict[str, tuple[Callable[[np.random.Generator, int], Floats], Callable[[Floats], Floats]]] = {
    "line": (lambda rng, n: rng.random(n), lambda f: expit(0.3 + 0.7 * logit(f))),
    "calibrated, near the ends": (lambda rng, n: rng.beta(0.2, 0.2, n), lambda f: f),
    "bimodal, clipped": (lambda rng, n: rng.beta(0.2, 0.2, n), lambda f: np.clip(f, 0.05, 0.95)),
    "10 % label noise": (lambda rng, n: rng.beta(0.5, 0.5, n), lambda f: 0.8 * f + 0.1),
    "1 % label noise, bimodal": (lambda rng, n: rng.beta(0.1, 0.1, n), lambda f: 0.98 * f + 0.01),
    "three values": (
        lambda rng, n: rng.choice([0.1, 0.5, 0.95], n, p=[0.6, 0.35, 0.05]),
        lambda f: np.select([f < 0.2, f < 0.6], [0.3, 0.3], 0.5),
    ),
    "one bad bin": (
        lambda rng, n: np.where(rng.random(n) < 0.005, 0.9999, rng.beta(2.0, 2.0, n)),
        lambda f: np.where(f == 0.9999, 0.3, f),
    ),
    "within 1e-9 of both ends": (
        lambda rng, n: np.abs(rng.integers(0, 2, n) - 0.5 * 10.0 ** (-9.0 * rng.random(n))),
        lambda f: 0.99 * f + 0.005,
    ),
    "rare": (lambda rng, n: expit(-6.0 + 1.5 * rng.standard_normal(n)), lambda f: np.maximum(f, 3e-4)),
}
# A single score has no slope, and the line cannot be told from its rate.
WITH_SLOPE = [name for name in SCENARIOS if name != "one atom"]
# The other uncertainties have the same interval of the rate, turned; it takes two milliseconds to find.
UNCERTAINTY_EVERY = 10


def means(scenario: str, rows: int, *, confidence: float, repetitions: int) -> Cell:
    """Simulate the intervals that speak of the population."""
    rng = generator_of("scores", scenario, rows, confidence)
    world, cell, truths = SCENARIOS[scenario], Cell(confidence), population_truth(scenario)
    for index in range(repetitions):
        score = world.quantile(rng.random(rows))
        table = ScoreTable.from_rows(score, rng.random(rows) < world.truth(score))
        found = {name: measure(table, confidence=confidence) for name, measure in MEANS.items()}
        if index % UNCERTAINTY_EVERY == 0:
            bins = usual_bins(table)
            for name in (M.BRIER_UNCERTAINTY, M.BRIER_UNCERTAINTY_CORRECTED):
                found[name] = murphy_part(name, table, bins=bins, confidence=confidence)
            for name in (M.BRIER_UNC, M.LOG_LOSS_UNC):
                found[name] = corp_part(name, table, confidence=confidence)
        for name, estimate in found.items():
            cell.add_interval(name, estimate.interval, truth=truths[name])
    return cell


def coefficients(scenario: str, rows: int, *, confidence: float, repetitions: int) -> Cell:
    """Simulate the intervals of Cox's coefficients: scores held, labels drawn anew."""
    rng = generator_of("cox", scenario, rows, confidence)
    world, cell = SCENARIOS[scenario], Cell(confidence)
    base = ScoreTable.from_rows(world.quantile(rng.random(rows)), np.zeros(rows, bool))
    truth = world.truth(base.score)
    truths = Law(base, truth).coefficients()
    for _ in range(repetitions):
        table = ScoreTable(base.score, base.rows, rng.binomial(base.rows, truth))
        for name in COX:
            cell.add_interval(
                name, cox_measure(name, table, confidence=confidence).interval, truth=truths[name]
            )
    return cell


def off_the_line(world: str, rows: int, *, fresh: bool, repetitions: int) -> dict[str, int]:
    """
    Count on which side intervals of 90 % miss Cox's coefficients, where the truth need not be on a line.

    Each end is what a verdict rests on, and has an error of 5 %. By name and side: all misses, and with
    " verdict" those for which ten rows or more carry the noise, so that a verdict would have been given.

    Args:
        world: Whose scores and rates.

        rows: Number of rows.

        fresh: Whether rows are drawn anew each time and the truth is the population's best line, or scores
            are held and it is the best line of these.

        repetitions: How often.
    """
    rng = generator_of("off the line", world, rows, fresh)
    drawn, truth_of = OFF_THE_LINE[world]
    few = 100_000 if fresh else rows
    held = np.clip(drawn(rng, few), NEAREST, 1.0 - NEAREST)
    truths = best_lines(held, np.full(few, 1.0 / few), truth_of(held))
    counts = {f"{name}{side}{end}": 0 for name in COX for side in SIDES for end in ("", " verdict")}
    for _ in range(repetitions):
        score = np.clip(drawn(rng, rows), NEAREST, 1.0 - NEAREST) if fresh else held
        table = ScoreTable.from_rows(score, rng.random(rows) < truth_of(score))
        for name in COX:
            found = cox_measure(name, table, confidence=0.9)
            if found.interval is None:
                continue
            judged = found.details.get("carried_by", LEAST_CARRY) >= LEAST_CARRY
            missed = truths[name] < found.interval.lower, truths[name] > found.interval.upper
            for side, one in zip(SIDES, missed, strict=True):
                counts[f"{name}{side}"] += one
                counts[f"{name}{side} verdict"] += one and judged
    return counts
