"""Whether scores can be on the scale that a map was fitted to."""

import math
from typing import TYPE_CHECKING

from calibcli.names import Scale

if TYPE_CHECKING:
    from calibcli.table.grid import Table

# So few rows may well lie in [0, 1] by chance.
_FEWEST = 100
# What logits of 0 and 1 are as probabilities.
_LOWEST, _HIGHEST = 0.5, 1.0 / (1.0 + math.exp(-1.0))
_ROUNDING = 1e-12
PROBABILITIES = (
    "every value lies in [0, 1], and the map was fitted to logits: is it the right column?"
    " probabilities need a map that was fitted to them"
)


def table_notes(raw: "Table", scale: Scale, *, classes: int | None = None) -> tuple[str, ...]:
    """
    Say in a sentence that the scores of a table, read as logits, look like probabilities.

    Args:
        raw: The scores before any map; of several classes the largest of each row.

        scale: The scale of the fit, which the scores were read on.

        classes: How many classes there are; None for one score.
    """
    if not raw.total_rows:
        return ()
    lowest, highest = float(raw.score[0]), float(raw.score[-1])
    rows, resolution = raw.total_rows, raw.resolution
    if classes is None:
        return scale_notes(scale, rows=rows, lowest=lowest, highest=highest, resolution=resolution)
    return class_scale_notes(scale, rows=rows, highest=highest - resolution, classes=classes)


def class_scale_notes(scale: Scale, *, rows: int, highest: float, classes: int) -> tuple[str, ...]:
    """
    Say in a sentence that rows of classes read as logits look like probabilities; nothing where they do not.

    Args:
        scale: The scale of the fit, which the rows were read on.

        rows: How many rows there are.

        highest: The largest probability that was read of any.

        classes: How many classes there are.
    """
    # What a logit of 1 beside logits of 0 is as a probability: more than any row of probabilities gives.
    most = math.e / (math.e + classes - 1.0) + _ROUNDING
    return (PROBABILITIES,) if scale is Scale.LOGIT and rows >= _FEWEST and highest <= most else ()


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
