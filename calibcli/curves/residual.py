"""Residuals against the score: a reliability curve less its diagonal."""

from dataclasses import dataclass

import numpy as np

from calibcli.curves.reliability import BinnedCurve, ReliabilityCurve, SmoothCurve
from calibcli.table.score_table import Floats, frozen

_KEYS = ("score", "residual", "lower", "upper", "at", "density")


@dataclass(frozen=True, slots=True, eq=False)
class ResidualCurve:
    """
    Observed rate minus score against score; all arrays have shape (n_points,).

    Args:
        score: Mean score of each point, non-decreasing; NaN in gaps.

        residual: Mean label less mean score there. Of a smooth curve, the integral of density times its
            size over `at` is the smoothed calibration error; of bins, so is the sum of shares times it the
            binned one.

        lower: Lower end of the band or interval; NaN where there is none.

        upper: Upper end.

        at: Where the kernel stands; the mean scores where there are bins.

        density: Of the scores, smoothed by the kernel; the share of the rows in each bin.

        source: The reliability curve this is taken from.

        confidence: Of the band at each single point.
    """

    score: Floats
    residual: Floats
    lower: Floats
    upper: Floats
    at: Floats
    density: Floats
    source: BinnedCurve | SmoothCurve
    confidence: float

    def __post_init__(self) -> None:
        for name in _KEYS:
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))


def residual_curve(curve: ReliabilityCurve, *, by_bins: bool = False) -> ResidualCurve:
    """
    Return a reliability curve less its diagonal.

    Args:
        curve: What was measured.

        by_bins: Whether to take its bins although there is a smooth curve.
    """
    smooth, bins = curve.smooth, curve.binned
    if smooth is not None and not by_bins:
        return _less_score(
            smooth.x,
            (smooth.y, smooth.lower, smooth.upper),
            at=smooth.at,
            density=smooth.density,
            source=smooth,
            confidence=curve.confidence,
        )
    return _less_score(
        bins.score,
        (bins.rate, bins.rate_lower, bins.rate_upper),
        at=bins.score,
        density=bins.rows / bins.total_rows,
        source=bins,
        confidence=curve.confidence,
    )


def _less_score(
    score: Floats,
    rates: tuple[Floats, Floats, Floats],
    *,
    at: Floats,
    density: Floats,
    source: BinnedCurve | SmoothCurve,
    confidence: float,
) -> ResidualCurve:
    """Return rate, lower and upper end less the score."""
    residual, lower, upper = (np.asarray(rate - score) for rate in rates)
    return ResidualCurve(score, residual, lower, upper, at, density, source, confidence)
