"""Drawing the isotonic fit with its consistency band."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.options.numerals import percent
from calibcli.show.figures import bars
from calibcli.show.figures.look import Look
from calibcli.show.figures.page import Entry, Panel, Words, inches_wide
from calibcli.show.figures.panels import panels_figure
from calibcli.show.figures.reliability import draw_binned
from calibcli.show.words import capital
from calibcli.stats.curves import Picture, curves_of
from calibcli.stats.curves.isotonic import IsotonicCurve
from calibcli.stats.curves.limits import Extent, Limits, has_band
from calibcli.stats.curves.reliability import BinnedCurve
from calibcli.stats.numerics import Floats
from calibcli.values import dataclass

_MESH = 256
# How dark a place is drawn, rows within this part of the axis to both sides decide.
_BLUR = 0.03
_MOST_NEEDLES = 250
# Up to so many scores, such as those of a forecast that says yes or no, are not joined.
_FEWEST = 2


def isotonic_figure(picture: Picture, words: Words, look: Look) -> Figure:
    return panels_figure(picture, IsotonicPlots(curves_of(picture, IsotonicCurve)), words, look)


@dataclass(frozen=True, slots=True)
class IsotonicPlots:
    curves: tuple[IsotonicCurve, ...]

    rate_label = "recalibrated rate of label 1"
    strip_label = "rows"

    @property
    def extents(self) -> list[Extent]:
        return [Extent(one.at, one.level, one.share, one.lower, one.upper) for one in self.curves]

    def notes(self) -> list[str]:
        fit = (
            "Isotonic regression of the labels: the rising curve that fits them best. Coloured: what "
            f"recalibration to it would change. {bars.DARKER}"
        )
        return [fit, *dict.fromkeys(_about_band(one) for one in self.curves)]

    def key(self, look: Look) -> list[Entry]:
        palette = look.palette
        curve = next((one for one in self.curves if one.points is None), self.curves[0])
        few = curve.points is not None
        line = Line2D(
            [], [], color=palette.ink, linewidth=look.points(0.8 if few else 1.5),
            linestyle="" if _apart(curve) else "-", marker="o" if few else "", markersize=look.points(4.5),
        )  # fmt: skip
        entries: list[Entry] = [(line, "isotonic fit")]
        if any(np.any(one.upper > one.lower) for one in self.curves):
            word = "by chance" if curve.p_value is None else f"{percent(curve.confidence)} band"
            entries.append((Patch(facecolor=palette.edge if few else palette.band, edgecolor="none"), word))
        return [*entries, *bars.area_key(look)]

    def draw(self, place: int, panel: Panel) -> None:
        """Draw the fit, the error as area, the band about the diagonal and, below, where the rows lie."""
        curve, held, look = self.curves[place], panel.limits.held, panel.look
        if curve.points is not None:
            draw_binned(panel, curve.points, counted=len(self.curves) == 1)
            _draw_points(panel, curve, curve.points)
            return
        bars.draw_band(panel, *map(held, (curve.at, curve.lower, curve.upper)))
        _draw_error(panel, curve)
        ink = look.stroke(look.palette.ink, 1.5)
        panel.main.plot(held(curve.x), held(curve.rate), **ink, solid_joinstyle="miter", zorder=3.0)
        bars.draw_diagonal(panel)
        if panel.strip is not None and not _draw_needles(panel.strip, panel, curve):
            bars.draw_spread(panel, curve.spread)


def _about_band(curve: IsotonicCurve) -> str:
    band = f"{capital(curve.band)}."
    if not has_band(curve.lower):
        return band
    if curve.p_value is not None:
        return f"{band} If rates rise with the score, all of them lie in it at once, at any number of rows."
    often = f"about {percent(curve.confidence)} of the time"
    seldom = ", near the ends less often" if curve.coarse else ""
    return f"{band} If the scores were calibrated, the fit at any one score would lie in it {often}{seldom}."


def _apart(curve: IsotonicCurve) -> bool:
    """Whether there are too few scores for a line between them: it would show rates of scores no row has."""
    return curve.points is not None and curve.points.rows.size <= _FEWEST


def _draw_points(panel: Panel, curve: IsotonicCurve, points: BinnedCurve) -> None:
    """Join few distinct scores; the band of each is a bar across the diagonal."""
    held, look = panel.limits.held, panel.look
    if has_band(curve.lower):
        edge = look.uprights(look.palette.edge, 3.0)
        at, low, high = map(held, (curve.at, curve.lower, curve.upper))
        panel.main.vlines(at, low, high, **edge, zorder=2.2)
    if not _apart(curve):
        ink = look.stroke(look.palette.ink, 0.8)
        panel.main.plot(held(points.score), held(points.rate), **ink, zorder=2.9)


def _draw_error(panel: Panel, curve: IsotonicCurve) -> None:
    """Fill what lies between fit and diagonal, in strips that end where the fit crosses it or bends."""
    limits = panel.limits
    mesh = _mesh(curve, limits)
    if mesh.size < 2:
        return
    density = _density(curve, limits, mesh)
    x, y = limits.held(mesh), limits.held(np.interp(mesh, curve.x, curve.rate))
    across, up = ((one[:-1], one[1:]) for one in (x, y))
    if np.any(density > 0.0):
        bars.draw_area(panel, across, across, up, dark=bars.strength(density, even=1.0))


def _density(curve: IsotonicCurve, limits: Limits, mesh: Floats) -> Floats:
    """Return how densely rows lie along the axis around each strip, against rows spread evenly over it."""
    edges = bars.evenly(limits, limits.x, parts=_MESH)
    reached = np.concatenate(([0.0], np.cumsum(curve.spread.between(edges))))
    ends = limits.shares(edges)
    middle = 0.5 * (limits.shares(mesh[:-1]) + limits.shares(mesh[1:]))
    left, right = np.maximum(middle - _BLUR, 0.0), np.minimum(middle + _BLUR, 1.0)
    return np.asarray((np.interp(right, ends, reached) - np.interp(left, ends, reached)) / (right - left))


def _mesh(curve: IsotonicCurve, limits: Limits) -> Floats:
    """Return ascending scores: evenly along the axis, where the fit crosses the diagonal, and its corners."""
    first, last = max(curve.x[0], limits.x[0]), min(curve.x[-1], limits.x[1])
    if not last > first:
        return np.zeros(0)
    corners = curve.x[(curve.x > first) & (curve.x < last)]
    mesh = np.unique(np.concatenate((bars.evenly(limits, (first, last), parts=_MESH), corners)))
    over = np.interp(mesh, curve.x, curve.rate) - mesh
    turn = np.flatnonzero(over[:-1] * over[1:] < 0.0)
    part = over[turn] / (over[turn] - over[turn + 1])
    return np.union1d(mesh, mesh[turn] + part * (mesh[turn + 1] - mesh[turn]))


def _draw_needles(axes: Axes, panel: Panel, curve: IsotonicCurve) -> bool:
    """Draw a line for each score where they can be told apart, for bars would beat; return whether."""
    spread, limits, look = curve.spread, panel.limits, panel.look
    shown = (spread.score >= limits.x[0]) & (spread.score <= limits.x[1])
    score, share = spread.score[shown], (spread.upto - spread.below)[shown]
    apart = np.diff(limits.shares(score)).min(initial=1.0)
    if not shown.all() or apart < 1.0 / _MOST_NEEDLES:
        return False
    width = min(0.6 * apart * inches_wide(axes) * 72.0, look.points(4.0))
    axes.vlines(score, 0.0, share, colors=look.palette.rows, linewidth=width)
    bars.show_shares(axes, share)
    return True
