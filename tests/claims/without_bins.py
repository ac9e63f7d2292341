"""
Simulations of the bounds of distances to calibration and of SmoothECE on bent scales.

An interval speaks of several quantities at once: its lower end must not exceed the least of them, its upper
end not fall below the largest.
"""

from collections.abc import Callable
from functools import cache

from calibcli.measures.distance import distance
from calibcli.measures.smooth_calibration import smooth_calibration_error
from calibcli.measures.smooth_ece import smooth_ece_on_logit, smooth_ece_on_probit
from calibcli.measures.smooth_scales import Axis, logit_axis, probit_axis
from calibcli.table.grid import Table
from calibcli.table.score_table import ScoreTable
from claims.simulation import SCENARIOS, Cell, Tally, generator_of
from claims.worlds import Law, smooth_truth

# The lower distance is printed with the interval of `dce`.
DISTANCES = ("dce", "dce_lower", "smce")
SCALES: dict[str, tuple[Callable[..., Axis], Callable[..., object]]] = {
    "smece_logit": (logit_axis, smooth_ece_on_logit),
    "smece_probit": (probit_axis, smooth_ece_on_probit),
}
MEASURES = {"dce": distance, "dce_lower": distance, "smce": smooth_calibration_error}


@cache
def truths_of(scenario: str) -> dict[str, tuple[float, float]]:
    """Return what is true of the population: each a value below its lower and one above its upper form."""
    return dict(Law.of(SCENARIOS[scenario]).smooth)


def simulate(
    scenario: str, rows: int, *, confidence: float, repetitions: int, names: tuple[str, ...]
) -> dict[str, Tally]:
    """Draw rows and count the intervals that miss, at either end and at each."""
    rng, world, cell = (
        generator_of("smooth", scenario, rows, confidence),
        SCENARIOS[scenario],
        Cell(confidence),
    )
    for _ in range(repetitions):
        score = world.quantile(rng.random(rows))
        table = ScoreTable.from_rows(score, rng.random(rows) < world.truth(score))
        for name in names:
            low, high, below, above = _bounds_and_truth(scenario, table, name=name, confidence=confidence)
            # Where the lower end holds, the upper one decides.
            decisive = below if low > below + 1e-6 else max(above, low)
            cell.add(name, lower=low, upper=high, truth=decisive)
            cell.add_bound(f"{name} upper", high, truth=above)
            cell.add_bound(f"{name} lower", low, truth=below)
    return cell.tallies


def _bounds_and_truth(
    scenario: str, table: Table, *, name: str, confidence: float
) -> tuple[float, float, float, float]:
    """Return both bounds, and what the lower must not exceed and the upper not fall below."""
    below, above = truths_of(scenario)[name]
    if name in MEASURES:
        interval = MEASURES[name](table, confidence=confidence).interval
    else:
        to_axis, measure = SCALES[name]
        interval = measure(table, confidence=confidence).interval
        mass = table.weight * (SCENARIOS[scenario].truth(table.score) - table.score) / table.total_rows
        axis = to_axis(table)
        below = smooth_truth(axis.places, mass, axis.length)
    return interval.lower, interval.upper, below, above
