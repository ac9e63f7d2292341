"""The text reliability diagram: where the score says so much, how often was it so?"""

from calibcli.curves.reliability import ReliabilityCurve
from calibcli.render.blocks import Bar, Column, Grid, Line, Tone
from calibcli.render.words import between, count, distinct_labels, four, percent

MOST_BINS = 50


def reliability_grid(curve: ReliabilityCurve) -> tuple[Grid, ...]:
    """Return the diagram, one row per bin with rows; of more than 50 bins the first and last 25."""
    bins = curve.binned
    total = len(bins.rows)
    shown = list(range(total))
    if total > MOST_BINS:
        shown = shown[: MOST_BINS // 2] + shown[-(MOST_BINS // 2) :]
    labels = _places(bins.lower.tolist(), bins.upper.tolist())
    rows = tuple(
        (
            labels[k],
            count(int(bins.rows[k])),
            four(float(bins.score[k])),
            four(float(bins.rate[k])),
            between(float(bins.rate_lower[k]), float(bins.rate_upper[k])),
            _bar(curve, k),
        )
        for k in shown
    )
    interval = Column(f"{percent(curve.confidence)} interval")
    columns = (
        Column("score range"),
        Column("rows", numeric=True),
        Column("mean"),
        Column("observed"),
        interval,
        Column("reliability"),
    )
    return (Grid(columns, rows, _notes(curve, total - len(shown))),) if rows else ()


def _notes(curve: ReliabilityCurve, hidden: int) -> tuple[Line, ...]:
    notes = [Line(f"Observed rates: {curve.binned.band}.", Tone.FAINT)]
    if hidden:
        omitted = f"{count(hidden)} bins in the middle are not shown; --format json holds them all."
        notes.insert(0, Line(omitted, Tone.NOTE))
    return tuple(notes)


def _places(lower: list[float], upper: list[float]) -> list[str]:
    """Return the value of an atom, and both edges of any other bin."""
    labels = dict(zip(edges := sorted({*lower, *upper}), distinct_labels(edges), strict=True))
    return [
        labels[low] if low == high else f"{labels[low]} to {labels[high]}"
        for low, high in zip(lower, upper, strict=True)
    ]


def _bar(curve: ReliabilityCurve, k: int) -> Bar:
    bins = curve.binned
    return Bar(
        float(bins.score[k]), float(bins.rate[k]), float(bins.rate_lower[k]), float(bins.rate_upper[k])
    )
