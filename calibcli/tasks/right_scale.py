"""Whether scores can be on the scale that a map was fitted to."""

import math

from calibcli.names import Scale

# So few rows may well lie in [0, 1] by chance.
_FEWEST = 100
# What logits of 0 and 1 are as probabilities.
_LOWEST, _HIGHEST = 0.5, 1.0 / (1.0 + math.exp(-1.0))
_ROUNDING = 1e-12
PROBABILITIES = (
    "every value lies in [0, 1], and the map was fitted to logits: is it the right column?"
    " probabilities need a map that was fitted to them"
)


def scale_notes(
    scale: Scale, *, rows: int, lowest: float, highest: float, resolution: float = 0.0
) -> tuple[str, ...]:
    """
    Say in a sentence that scores read as logits look like probabilities; nothing where they do not.

    Args:
        scale: The scale of the fit, which the scores were read on.

        rows: How many scores there are.

        lowest: The lowest, as the probability that was read.

        highest: The highest one.

        resolution: By how much they may have moved.
    """
    spare = resolution + _ROUNDING
    within = _LOWEST - spare <= lowest and highest <= _HIGHEST + spare
    return (PROBABILITIES,) if scale is Scale.LOGIT and rows >= _FEWEST and within else ()
