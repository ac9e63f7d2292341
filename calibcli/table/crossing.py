"""Where an increasing function changes sign, in few evaluations and with both sides known."""

import math
from collections.abc import Callable


def crossing(
    rises: Callable[[float], float], low: float, high: float, *, within: float = 1e-9
) -> tuple[float, float]:
    """
    Enclose the point where an increasing function changes sign.

    Args:
        rises: The function.

        low: Left end; returned twice if the function is not negative there.

        high: Right end; returned twice if the function is not positive there.

        within: Largest distance between the two ends returned.
    """
    at_low, at_high = rises(low), rises(high)
    if at_low >= 0.0:
        return low, low
    if at_high <= 0.0:
        return high, high
    # The Illinois variant of false position: an end that stays put counts half at the next turn. Where the
    # bracket is not halved in three turns, or a value is infinite, its middle is taken instead.
    turn, width, last = 0, high - low, 0
    while high - low > within and low < 0.5 * (low + high) < high:
        turn += 1
        middle = 0.5 * (low + high)
        if math.isfinite(at_low) and math.isfinite(at_high) and (turn % 3 or high - low <= 0.5 * width):
            middle = min(max(low - at_low * (high - low) / (at_high - at_low), low), high)
            # Never on an end, and never nearer to it than half of what is asked.
            middle = min(max(middle, low + 0.4 * within), high - 0.4 * within)
        if turn % 3 == 0:
            width = high - low
        value = rises(middle)
        side = -1 if value < 0.0 else 1
        if side < 0:
            low, at_low = middle, value
            at_high *= 0.5 if last == side else 1.0
        else:
            high, at_high = middle, value
            at_low *= 0.5 if last == side else 1.0
        last = side
    return low, high
