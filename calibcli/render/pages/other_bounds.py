"""The other bounds of a measure, where they were asked for."""

from calibcli.measures.estimate import Estimate
from calibcli.render.blocks import Column, Grid, Line, Tone
from calibcli.render.words import NONE, four, percent
from calibcli.reports.measure import MeasureReport

_SIDES = ("lower", "upper")
_OF_THE_POPULATION = ("theorem_12_4", "empirical_bernstein", "betting_any_time")
_SUN = "sun"


def other_bounds(report: MeasureReport) -> tuple[Grid, ...]:
    """Return a table of every further bound among the details of the measures, or nothing."""
    rows = [row for one in report.measures for row in _rows_of(one)]
    if not rows:
        return ()
    columns = (*map(Column, ("measure", "bound", "lower", "upper")), Column("speaks of"))
    level = percent((1.0 + report.confidence) / 2.0)
    note = f"Each end holds by itself with {level}; choose one before looking, not the best of them."
    return (Grid(columns, tuple(rows), (Line(note, Tone.FAINT),)),)


def _rows_of(estimate: Estimate) -> list[tuple[str, ...]]:
    details = estimate.details
    names = [key.partition("_")[2] for key in details if key.partition("_")[0] in _SIDES]
    rows = [
        (
            estimate.name.value,
            name,
            *(four(float(details[key])) if key in details else NONE for key in _keys(name)),
            "the population, bins fixed before" if name in _OF_THE_POPULATION else "these very scores",
        )
        for name in dict.fromkeys(names)
    ]
    if _SUN in details:
        words = f"{details[_SUN]}, both together, asymptotic"
        rows.append((estimate.name.value, _SUN, "", "", words))
    return rows


def _keys(name: str) -> tuple[str, ...]:
    return tuple(f"{side}_{name}" for side in _SIDES)
