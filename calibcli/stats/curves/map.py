"""A fitted map as a curve: what it makes of every score, with its steps where they are."""

from collections.abc import Callable

import numpy as np

from calibcli.names import PlotKind, RecalibratorName
from calibcli.stats.curves.limits import Spread
from calibcli.stats.curves.reliability import BinnedCurve
from calibcli.stats.recalibrators import Recalibrator
from calibcli.stats.recalibrators.venn_abers import VennAbers
from calibcli.stats.table import Arrays, Floats
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass

Map = Callable[[Floats], Floats]
_EVEN, _CLOSE, _FARTHEST_LOGIT = 513, 257, 14.0
# A change of the output that can be seen, and what of it is left between neighbouring doubles at a step.
_SEEN, _LEFT = 1e-4, 0.2
_HALVINGS = 54
_MOST_CUTS = 1_024
# So few scores are marked one by one.
_MOST_MARKS = 40


@dataclass(frozen=True, slots=True, eq=False)
class MapCurve(Arrays):
    """A map on [0, 1], and what was observed where it is applied.

    Args:
        score: Ascending, shape (n,); two neighbouring doubles where the map steps.
        lower: Lower end of what surrounds the output, NaN where nothing does.
        band: What surrounds the output, or why nothing does.
        marks: Where the outputs are marked, because rows have these few scores only; places in `score`.
        randomised: Whether the map adds noise, which the curve leaves out.
        spread: Where the rows lie, or None without rows.
        points: Observed rates over bins of the score, or None without rows.
        partition: What has a point, in words, such as "each of 15 bins".
    """

    method: RecalibratorName
    score: Floats
    output: Floats
    lower: Floats
    upper: Floats
    band: str
    marks: np.ndarray[tuple[int], np.dtype[np.intp]]
    randomised: bool
    spread: Spread | None
    points: BinnedCurve | None
    partition: str

    kind = PlotKind.MAP


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """What surrounds a map that has no ends itself; `words` say what the band is, or why there is none."""

    of: Callable[[Floats], tuple[Floats, Floats]] | None
    words: str


def map_curve(
    recalibrator: Recalibrator,
    *,
    band: Band,
    table: Table | None = None,
    points: BinnedCurve | None = None,
    partition: str = "",
) -> MapCurve:
    """Return a map as a curve, with its own ends where it has some."""
    marked = _cuts(recalibrator) if table is None else table.score
    if marked.size > _MOST_MARKS:
        marked = np.zeros(0)
    score = np.union1d(with_steps(recalibrator.predict, _places(recalibrator, table)), marked)
    words, nothing = band.words, np.full_like(score, np.nan)
    lower, upper = nothing, nothing
    if recalibrator.brackets:
        lower, upper = recalibrator.ends(score)
        words = "the ends p0 and p1 of Venn-Abers, of which one is calibrated; no confidence interval"
    elif band.of is not None:
        lower, upper = band.of(score)
    return MapCurve(
        method=recalibrator.name,
        score=score,
        output=recalibrator.predict(score),
        lower=lower,
        upper=upper,
        band=words,
        marks=np.searchsorted(score, marked),
        randomised=recalibrator.drawn,
        spread=None if table is None else Spread.of(table.score, table.weight),
        points=points,
        partition=partition,
    )


def with_steps(found: Map, at: Floats) -> Floats:
    """Add to ascending places both sides of every step between them; of several steps in a gap the largest.

    A change is halved in place again and again: where the function is continuous the change vanishes with the
    width, where it steps it stays.
    """
    left, right = at[:-1].copy(), at[1:].copy()
    values = found(at)
    low, high = values[:-1], values[1:]
    seen = np.abs(high - low) > _SEEN
    left, right, low, high = left[seen], right[seen], low[seen], high[seen]
    change = np.abs(high - low)
    for _ in range(_HALVINGS):
        middle = left + (right - left) / 2.0
        value = found(middle)
        first = np.abs(value - low) >= np.abs(high - value)
        right, high = np.where(first, middle, right), np.where(first, value, high)
        left, low = np.where(first, left, middle), np.where(first, low, value)
    steps = np.abs(high - low) >= _LEFT * change
    return np.unique(np.concatenate((at, left[steps], right[steps])))


def _places(recalibrator: Recalibrator, table: Table | None) -> Floats:
    """Return scores close enough for a picture of all of [0, 1], of the scores there are, and by log-odds."""
    log_odds = np.linspace(-_FARTHEST_LOGIT, _FARTHEST_LOGIT, _CLOSE)
    parts = [np.linspace(0.0, 1.0, _EVEN), 1.0 / (1.0 + np.exp(-log_odds))]
    if table is not None:
        parts.append(np.linspace(table.score[0], table.score[-1], _CLOSE))
    cuts = _cuts(recalibrator)
    parts += [cuts, np.nextafter(cuts, 0.0), np.nextafter(cuts, 1.0)]
    return np.unique(np.concatenate(parts))


def _cuts(recalibrator: Recalibrator) -> Floats:
    """Return where Venn-Abers changes: there it has outputs of its own, since fit rows have these scores."""
    if not isinstance(recalibrator, VennAbers):
        return np.zeros(0)
    parts = [part for fold in recalibrator.folds for part in (fold.first, fold.last)]
    cuts = np.unique(np.concatenate(parts))
    return cuts[:: -(-cuts.size // _MOST_CUTS)] if cuts.size else cuts
