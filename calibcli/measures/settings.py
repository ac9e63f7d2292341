"""What the measures of one report share."""

from dataclasses import dataclass

from calibcli.measures.calibrated import CalibratedDraws
from calibcli.names import DEFAULT_SEED
from calibcli.table.bins import BinnedTable

DEFAULT_POWER = 2.0
MOST_POWER = 100.0


@dataclass(frozen=True, slots=True)
class Settings:
    """
    What the measures of one report share.

    Args:
        bins: The table over the partition of the binned measures.

        equal_mass: The table over the partition of `ece_equal_mass` and `ace`.

        confidence: Coverage asked of every interval.

        calibrated: Labels drawn from the scores, or None where none were drawn.

        power: The p of `lp`.

        seed: Seed of what a measure draws for itself.

        bounds: Whether `ece`, `ece_equal_mass` and `l2` list every other bound there is.
    """

    bins: BinnedTable
    equal_mass: BinnedTable
    confidence: float
    calibrated: CalibratedDraws | None
    power: float = DEFAULT_POWER
    seed: int = DEFAULT_SEED
    bounds: bool = False
