"""Drawing several reliability curves side by side, on axes that they share."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from calibcli.curves.bands import has_band
from calibcli.curves.limits import Limits, limits_of
from calibcli.curves.panels import CurvePanels
from calibcli.curves.reliability import BinnedCurve, ReliabilityCurve, SmoothCurve
from calibcli.errors import UsageProblem
from calibcli.figures.axes import show_limits
from calibcli.figures.binned import binned_key, draw_binned
from calibcli.figures.error_area import DARKER
from calibcli.figures.grid import Heading, dress_grid, sheet_of, write_headings
from calibcli.figures.key import Entry
from calibcli.figures.look import Look
from calibcli.figures.page import new_page
from calibcli.figures.sheet import Words
from calibcli.figures.smooth import draw_smooth, smooth_key
from calibcli.picture_names import AxisScale

# Marks are this much smaller where three panels stand beside each other.
_SMALLER = 0.75
_ROWS = "Beside each name: its rows."


def panels_figure(
    picture: CurvePanels, words: Words, *, look: Look, scale: AxisScale = AxisScale.LINEAR
) -> Figure:
    """
    Draw reliability diagrams side by side.

    Args:
        picture: The curves.

        words: Title and caption; small print follows.

        look: Size and colours.

        scale: How all axes are laid out.

    Raises:
        UsageProblem: If a curve without bins is to be drawn, and there is none.
    """
    curves = [one.curve for one in picture.panels]
    smooth = _smooth_curves(curves) if picture.smooth else None
    binned = [one.binned for one in curves]
    limits = _limits_of_smooth(smooth, scale) if smooth else _limits_of_binned(binned, scale)
    notes = _smooth_notes(smooth) if smooth else _binned_notes(binned)
    headings = [Heading(one.name, one.rows, one.error, one.against) for one in picture.panels]
    sheet = sheet_of(headings, look)
    marks = replace(look, scale=look.scale * _SMALLER) if sheet.columns > 2 else look
    own = " ".join(one for one in (*notes, _ROWS, limits.sentence) if one)
    page = new_page(
        Words(words.title, words.caption, [own, *words.foot]),
        look=look,
        sheet=sheet,
        key=_key(curves, smooth, look),
    )
    if smooth:
        for panel, curve in zip(page.panels, smooth, strict=True):
            draw_smooth(panel, curve, limits=limits, look=marks)
    else:
        for panel, points in zip(page.panels, binned, strict=True):
            draw_binned(panel, points, limits=limits, look=marks, counted=False)
    for panel in page.panels:
        show_limits(panel.main, limits)
    dress_grid(page, limits)
    write_headings(page, headings)
    return page.figure


def _smooth_curves(curves: Sequence[ReliabilityCurve]) -> list[SmoothCurve]:
    found = [one.smooth for one in curves if one.smooth is not None]
    if len(found) < len(curves):
        msg = "there is no smooth curve to draw"
        raise UsageProblem(msg, "draw the files that the report was measured on")
    return found


def _key(curves: Sequence[ReliabilityCurve], smooth: Sequence[SmoothCurve] | None, look: Look) -> list[Entry]:
    """Return what the marks mean, in the words of the first curve that has a band."""
    confidence = curves[0].confidence
    if smooth:
        return smooth_key(
            next((one for one in smooth if has_band(one.lower)), smooth[0]), look, confidence=confidence
        )
    binned = [one.binned for one in curves]
    shown = next((one for one in binned if has_band(one.rate_lower)), binned[0])
    return binned_key(shown, look, confidence=confidence)


def _limits_of_smooth(curves: Sequence[SmoothCurve], scale: AxisScale) -> Limits:
    """Return how much of the unit square all curves need, each counting as much as any other."""
    parts = []
    for curve in curves:
        seen = ~np.isnan(curve.x) & ~np.isnan(curve.y)
        total = float(curve.density[seen].sum())
        if total > 0.0:
            rows = (curve.x, curve.y, curve.density / total, curve.lower, curve.upper)
            parts.append(np.stack([row[seen] for row in rows]))
    return _limits(parts, scale)


def _limits_of_binned(curves: Sequence[BinnedCurve], scale: AxisScale) -> Limits:
    parts = [
        np.stack((one.score, one.rate, one.rows / one.rows.sum(), one.rate_lower, one.rate_upper))
        for one in curves
    ]
    return _limits(parts, scale)


def _limits(parts: Sequence[np.ndarray[tuple[int, int], np.dtype[np.float64]]], scale: AxisScale) -> Limits:
    if not parts:
        return Limits(scale=AxisScale.LINEAR)
    every = np.concatenate(parts, axis=1)
    score, rate, mass, lower, upper = every[:, np.argsort(every[0], kind="stable")]
    return limits_of(score, rate, mass=mass, lower=lower, upper=upper, scale=scale)


def _smooth_notes(curves: Sequence[SmoothCurve]) -> list[str]:
    """Return what the picture shows, for the small print."""
    widths = [f"{one.bandwidth:.3g}" for one in (min(curves, key=_width), max(curves, key=_width))]
    kernels = (
        f"a bandwidth of {widths[0]}" if len(set(widths)) == 1 else f"bandwidths of {' to '.join(widths)}"
    )
    bands = dict.fromkeys(f"grey: {one.band}" if has_band(one.lower) else one.band for one in curves)
    said = [f"Mean label against mean score, Gaussian kernels of {kernels}; {'; '.join(bands)}.", DARKER]
    if any(np.isnan(one.x).any() for one in curves):
        said.append("Curves are broken where no score lies within three bandwidths.")
    return said


def _width(curve: SmoothCurve) -> float:
    return curve.bandwidth


def _binned_notes(curves: Sequence[BinnedCurve]) -> list[str]:
    atoms = [bool(np.all(one.lower == one.upper)) for one in curves]
    fewest, most = (size(one.rows.size for one in curves) for size in (min, max))
    many = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    what = "distinct scores is a point" if all(atoms) else "occupied bins is a point at its mean score"
    bands = dict.fromkeys(f"whiskers: {one.band}" if has_band(one.rate_lower) else one.band for one in curves)
    return [f"Each of {many} {what}; {'; '.join(bands)}.", DARKER]
