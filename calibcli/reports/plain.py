"""Plain values for JSON, which has neither infinity nor NaN."""

import math


def number(value: float | None) -> float | str | None:
    """Return a finite number as it is and any other as the string that names it."""
    if value is None or math.isfinite(value):
        return value
    return str(value)
