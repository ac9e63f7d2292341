"""What a gate that is asked again has seen, look by look."""

import math

import numpy as np

from calibcli.names import PlotKind
from calibcli.stats.table import Arrays, Booleans, Floats, Integers
from calibcli.values import dataclass, replace


@dataclass(frozen=True, slots=True, eq=False)
class Starts(Arrays):
    """What the bets of an alarm that began with different batches have made by now; arrays of shape
    (n_starts,).

    Args:
        rows: Rows counted before the batch that a bet began with.
        log: Natural logarithm of its wealth, its weight included.
        since: Rows counted before the batches that a change came with, and by their end; None without alarm.
        strongest: Rows counted before the batch since which the evidence is strongest; None likewise.
    """

    rows: Integers
    log: Floats
    since: tuple[int, int] | None = None
    strongest: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MonitorCurve(Arrays):
    """Evidence and estimate over the looks of a gate; all arrays have shape (n_looks,).

    Args:
        rows: Rows counted by then, ascending.
        lower: Lower bound that holds at any time; NaN where none was kept.
        log_pass: Natural logarithm of the e-value against "at least the limit"; NaN in an alarm.
        log_fail: That of the e-value against "at most the limit", or in an alarm "calibrated throughout".
        threshold: What either must reach, log(1 / delta).
        confidence: 1 - delta, of each bound by itself.
        limit: The error that is tolerated, or None.
        own: The error of the last batch of each look by itself; NaN where none was kept.
        stands_out: Which of these chance hardly explains.
        passed_at: Rows counted when a pass was shown, or None.
        failed_at: Rows counted when a fail or an alarm was shown, or None.
        since_first: Whether a look was kept of every batch, so that the first begins at no rows and wealth 1.
        starts: The bets of an alarm by the batch that they began with; None in a gate.
    """

    rows: Integers
    value: Floats
    lower: Floats
    upper: Floats
    log_pass: Floats
    log_fail: Floats
    threshold: float
    confidence: float
    limit: float | None
    measure: str
    own: Floats
    stands_out: Booleans
    passed_at: int | None = None
    failed_at: int | None = None
    since_first: bool = True
    starts: Starts | None = None

    kind = PlotKind.MONITOR

    @property
    def total_rows(self) -> int:
        """Rows counted by the last look."""
        return int(self.rows[-1])

    def powers(self, log: Floats) -> tuple[Floats, Floats]:
        """Return a process, given as logarithms of wealth at each look, as points: rows, and wealth as a
        power of ten. Before the first row everyone has 1, which is known where no look is missing.
        """
        rows, wealth = self.rows.astype(np.float64), log / math.log(10.0)
        if not self.since_first:
            return rows, wealth
        return np.append(0.0, rows), np.append(0.0, wealth)


def with_fewer_looks(curve: MonitorCurve, *, most: int) -> MonitorCurve:
    """Return a curve with about so many looks, evenly among those there are; a picture shows no more.

    The first, the last, those at which a verdict was shown, and those of batches that stand out stay.
    """
    if curve.rows.size <= most:
        return curve
    keep = np.zeros(curve.rows.size, np.bool_)
    keep[np.unique(np.linspace(0, curve.rows.size - 1, most).round().astype(np.int64))] = True
    for at in (curve.passed_at, curve.failed_at):
        if at is not None:
            keep |= curve.rows == at
    keep |= curve.stands_out
    names = ("rows", "value", "lower", "upper", "log_pass", "log_fail", "own", "stands_out")
    columns = {name: getattr(curve, name)[keep] for name in names}
    return replace(curve, **columns)
