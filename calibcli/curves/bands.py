"""Ends of bands and intervals, which are NaN where there are none, and what is said of them."""

import numpy as np
import numpy.typing as npt

from calibcli.table.score_table import Floats


def has_band(ends: Floats) -> bool:
    """Whether any place has an end."""
    return bool(np.any(~np.isnan(ends)))


def band_sentence(band: str, ends: Floats, *, called: str = "Grey") -> str:
    """
    Return a sentence of small print.

    Args:
        band: What the band is, or why there is none.

        ends: One end of it at each place.

        called: What it is in the picture.
    """
    return f"{called}: {band}." if has_band(ends) else f"{band[:1].upper()}{band[1:]}."


def unbroken(x: Floats) -> list[npt.NDArray[np.intp]]:
    """Return the places of each stretch of a curve without gaps, which are NaN."""
    places = np.flatnonzero(~np.isnan(x))
    breaks = np.flatnonzero(np.diff(places) > 1) + 1
    return [run for run in np.split(places, breaks) if run.size]
