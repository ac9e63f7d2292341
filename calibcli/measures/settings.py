"""What the measures of one report share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

from calibcli.measures.calibrated import CalibratedDraws
from calibcli.names import DEFAULT_LP_POWER, DEFAULT_SEED
from calibcli.table.bins import BinnedTable
from calibcli.table.grid import Table

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """
    What several measures of one table are made from, made when the first of them asks.

    Args:
        made: The table and what was made from it, by what that is called.
    """

    made: dict[str, tuple[Table, object]] = field(default_factory=dict)

    def once(self, name: str, table: Table, make: Callable[[], Made]) -> Made:
        """Return what `make` gives; the second time for a table, what it gave the first time."""
        if name not in self.made or self.made[name][0] is not table:
            self.made[name] = table, make()
        return cast("Made", self.made[name][1])


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

        shared: Fits and curves that more than one measure needs.
    """

    bins: BinnedTable
    equal_mass: BinnedTable
    confidence: float
    calibrated: CalibratedDraws | None
    power: float = DEFAULT_LP_POWER
    seed: int = DEFAULT_SEED
    bounds: bool = False
    shared: Shared = field(default_factory=Shared)
