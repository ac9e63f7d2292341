"""Numbers along an axis of letters."""

import math
from collections.abc import Sequence

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def round_numbers(low: float, high: float, *, most: int) -> list[float]:
    """
    Return round numbers between two ends, evenly spaced.

    Args:
        low: Left end.

        high: Right end, above it.

        most: How many there may be, at least two.
    """
    least = (high - low) / most
    power = 10.0 ** math.floor(math.log10(least))
    for size in (power * step for step in (*_STEPS, 20.0)):
        first = math.ceil(low / size - 1e-9)
        last = math.floor(high / size + 1e-9)
        if size >= least * (1.0 - 1e-9) and last - first < most:
            return [number * size for number in range(first, last + 1)]
    return [low, high]


def number_text(value: float) -> str:
    """Return a number on an axis."""
    return f"{round(value, 12) + 0.0:.6g}"


def numbers_line(places: Sequence[int], texts: Sequence[str], *, width: int) -> str:
    """
    Return numbers centred under their places, without those that have no room.

    Args:
        places: Columns, ascending.

        texts: What stands there.

        width: Columns there are.
    """
    line = ""
    for place, text in zip(places, texts, strict=True):
        start = min(max(place - len(text) // 2, 0), width - len(text))
        if start >= len(line) + (2 if line else 0):
            line = line.ljust(start) + text
    return line
