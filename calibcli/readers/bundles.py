"""
Fragments that one worker elsewhere counts one after the other, onto tables that are handed back once.

What travels is a table for each fragment, tens of megabytes where every score is another one. Thousands of
them would pass through the one place where they are added up; a bundle sends one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibcli.names import WeightMeaning
from calibcli.readers.columns import Columns
from calibcli.readers.fragments import Fragment
from calibcli.readers.tally import Refused, Tally, TallyWork
from calibcli.table.running import RunningTable

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

    def __call__(self, bundle: Sequence[Fragment]) -> list[Tally | Refused]:
        """Tally the fragments in their order; the tables of all come with the last."""
        onto = {key: RunningTable(self.work.limit) for key in self.work.keys}
        for key in self.work.signals.grids & onto.keys():
            onto[key].become_grid()
        counted = replace(self.work, onto=onto)
        results = [counted(fragment) for fragment in bundle]
        last = results[-1]
        if isinstance(last, Tally):
            results[-1] = replace(last, tables={key: table.partial() for key, table in onto.items()})
        return results


def bundles_of(fragments: Sequence[Fragment], columns: Columns) -> list[list[Fragment]]:
    """
    Return the fragments in bundles; each by itself while they are few.

    Importance weights are added up as floating point numbers, whose sum depends on how they are grouped:
    their fragments stay by themselves, so that an engine changes no digit.
    """
    floating = columns.weight is not None and columns.weights_are is not WeightMeaning.FREQUENCY
    size = 1 if floating else max(1, -(-len(fragments) // MOST_BUNDLES))
    return [list(fragments[start : start + size]) for start in range(0, len(fragments), size)]
