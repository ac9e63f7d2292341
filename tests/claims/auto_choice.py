"""What `fit --method auto` costs and saves where nothing is wrong with the scores, and where something is.

    python tests/claims/auto_choice.py [--tables 120] [--rows 300 1500] [--worlds calibrated ...]

prints the rows of the table in docs/methods.md. Labels are drawn at known rates, so that the loss of a map on
fresh rows is known but for the draw of their scores.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from calibcli.commands.fit import drawn_folds, select
from calibcli.names import RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators import fit_recalibrator
from calibcli.stats.table import ScoreTable

SEED, FRESH = 5, 50_000
# From the logit of a score to that of the rate of label 1.
WORLDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "calibrated": lambda z: z,
    "mild": lambda z: 0.87 * z + 0.05,
    "shift": lambda z: z + 0.25,
    "over": lambda z: 0.6 * z,
    "bent": lambda z: z + 0.3 * np.sin(2.0 * z),
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """Losses on fresh rows above that of the true rates: of raw scores, of a repair, of what auto chose."""

    raw: float
    repaired: float
    chosen: float
    unchanged: bool


def drawn(world: str, rows: int, place: int) -> Drawn:
    """Return what becomes of one table."""
    generator = np.random.default_rng([SEED, place])

    def scores(count: int) -> tuple[np.ndarray, np.ndarray]:
        logits = generator.normal(-0.7, 1.5, count)
        return expit(logits), expit(WORLDS[world](logits))

    score, rate = scores(rows)
    table = ScoreTable.from_rows(score, generator.random(rows) < rate)
    options = FitOptions()
    choice = select(drawn_folds(table, 10, seed=0), (), options=options)
    fresh, truth = scores(FRESH)

    def loss(after: np.ndarray) -> float:
        inside = np.clip(after, 1e-15, 1.0 - 1e-15)
        return float(-np.mean(truth * np.log(inside) + (1.0 - truth) * np.log1p(-inside)))

    assert choice.repair is not None
    least, raw = loss(truth), loss(fresh)
    repaired = loss(fit_recalibrator(choice.repair, table, options=options).predict(fresh))
    unchanged = choice.selection.chosen is RecalibratorName.IDENTITY
    assert unchanged or choice.selection.chosen is choice.repair
    return Drawn(raw - least, repaired - least, (raw if unchanged else repaired) - least, unchanged)


def mean_of(values: list[float]) -> tuple[float, float]:
    """Return a mean and its standard error."""
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


def row(world: str, rows: int, tables: int) -> str:
    """Return a row of the table, losses in thousandths."""
    found = [drawn(world, rows, place) for place in range(tables)]
    columns = ([one.raw for one in found], [one.repaired for one in found], [one.chosen for one in found])
    said = " | ".join("{:.2f} ({:.2f})".format(*(1e3 * one for one in mean_of(column))) for column in columns)
    return f"| {world} | {rows:,} | {np.mean([one.unchanged for one in found]):.0%} | {said} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=120)
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1_500])
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS))
    asked = parser.parse_args()
    for one in asked.worlds:
        for count in asked.rows:
            sys.stdout.write(f"{row(one, count, asked.tables)}\n")
            sys.stdout.flush()
