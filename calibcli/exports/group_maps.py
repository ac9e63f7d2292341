"""A map for each group of rows, as every export of one takes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibcli.exports.formula import Formula, Score
from calibcli.exports.maps import formulas_on

if TYPE_CHECKING:
    from calibcli.names import Scale
    from calibcli.recalibrators.interface import Recalibrator


@dataclass(frozen=True, slots=True)
class GroupMaps:
    """
    Maps, and which of them a row of a group goes through.

    Args:
        column: The column of the groups.

        maps: That of all fit rows first.

        places: For each group that the fit has seen the place of its map.

        pooled: Whether rows of other groups go through the first map, or get no probability.
    """

    column: str
    maps: "tuple[Recalibrator, ...]"
    places: Mapping[str, int]
    pooled: bool

    def formulas(self, scale: "Scale") -> list[tuple[Formula, ...]]:
        """
        Return for each map its probability and its ends, of a score on a scale.

        Raises:
            UsageProblem: If a map cannot be written as a function of the score.
        """
        return [formulas_on(one, Score(), scale=scale) for one in self.maps]
