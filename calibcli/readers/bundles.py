"""
Fragments that one worker elsewhere counts one after the other, onto tables that are handed back once.

What travels is a table for each fragment, tens of megabytes where every score is another one. Thousands of
them would pass through the one place where they are added up; a bundle sends one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibcli.errors import CalibcliError
from calibcli.names import WeightMeaning
from calibcli.readers.beside import Aside, Beside
from calibcli.readers.pieces import Piece
from calibcli.readers.tally import Refused, Tally, TallyWork
from calibcli.table.grid import GridAccumulator
from calibcli.table.running import Partial, RunningTable

# At most so many tables travel, however many fragments there are.
MOST_BUNDLES = 512


@dataclass(frozen=True, slots=True)
class BundleWork:
    """
    The work on one bundle: called by an engine with the fragments of each.

    Args:
        work: The work on one fragment.
    """

    work: TallyWork

    def __call__(self, bundle: Sequence[Piece]) -> list[Tally | Refused]:
        """Tally the fragments in their order; what was counted of all comes with the last."""
        onto = {key: RunningTable(self.work.limit) for key in self.work.keys}
        for key in self.work.signals.grids & onto.keys():
            onto[key].become_grid()
        counted = replace(self.work, onto=onto)
        classes = bundle[0].columns.classes
        aside = Aside.start(self.work.beside, limit=self.work.limit, classes=classes)
        results = [_merged(counted(piece), aside, piece) for piece in bundle]
        last = results[-1]
        if isinstance(last, Tally):
            tables = {key: _packed(table.partial()) for key, table in onto.items()}
            results[-1] = replace(last, tables=tables, aside=aside)
        return results


def bundles_of(pieces: Sequence[Piece], beside: Beside) -> list[list[Piece]]:
    """
    Return the fragments in bundles; each by itself while they are few.

    Importance weights and the losses of clusters are added up as floating point numbers, whose sum depends
    on how they are grouped: such fragments stay by themselves, so that an engine changes no digit.
    """
    asked = pieces[0].columns.asked if pieces else None
    weighted = asked is not None and asked.weight is not None
    floating = weighted and asked is not None and asked.weights_are is not WeightMeaning.FREQUENCY
    size = 1 if floating or beside.clustered else max(1, -(-len(pieces) // MOST_BUNDLES))
    return [list(pieces[start : start + size]) for start in range(0, len(pieces), size)]


def _merged(result: Tally | Refused, aside: Aside, piece: Piece) -> Tally | Refused:
    """Add what a fragment gave beside its tables to that of those before it."""
    if isinstance(result, Refused) or result.aside is None:
        return result
    try:
        aside.merge(result.aside, piece.columns)
    except CalibcliError as problem:
        return Refused(problem)
    return replace(result, aside=None)


def _packed(table: Partial) -> Partial:
    """Return a grid by its occupied cells where that is less than all of its cells."""
    if not isinstance(table, GridAccumulator):
        return table
    occupied = table.table()
    every = sum(column.nbytes for column in table.sums())
    return occupied if 2 * sum(column.nbytes for column in occupied.columns) < every else table
