"""A fragment to the sums of its rows: what an engine runs for every fragment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from calibcli.errors import CalibcliError
from calibcli.readers import reader_of
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.faults import Findings
from calibcli.readers.fragments import Fragment
from calibcli.readers.intake import Intake, Rows
from calibcli.table.running import Partial, RunningTable
from calibcli.table.score_table import Floats

Transform = Callable[[Floats], Floats]
Transforms = Mapping[str, Transform | None]


@dataclass(slots=True)
class Signals:
    """
    What running tallies may learn from outside; it changes how they work and never what they find.

    Args:
        grids: Keys whose table is known to become a grid, so that it may as well start as one.

        stopped: Whether nobody waits for the result any more.
    """

    grids: set[str] = field(default_factory=set)
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Tally:
    """
    The rows of one fragment.

    Args:
        tables: A table for each key; empty ones where the rows are refused.

        findings: Rows read, dropped and clipped, and what is wrong with the values.
    """

    tables: Mapping[str, Partial]
    findings: Findings


@dataclass(frozen=True, slots=True)
class Refused:
    """
    A fragment that could not be read to its end: an error as a value, which every engine carries unharmed.

    Args:
        problem: What was wrong.
    """

    problem: CalibcliError


@dataclass(frozen=True, slots=True)
class TallyWork:
    """
    The work on one fragment, the same for all: called by an engine with each of them.

    Args:
        chosen: For every input file its columns.

        limit: Most distinct scores of an exact table; None for no limit.

        transforms: For each key the map that scores go through before they are counted; None for none.

        signals: What the tallies learn on the way.
    """

    chosen: Mapping[str, ChosenColumns]
    limit: int | None
    transforms: Transforms
    signals: Signals

    def __call__(self, fragment: Fragment) -> Tally | Refused:
        """Tally a fragment; a problem with it is returned, not raised."""
        try:
            return tally(
                fragment,
                self.chosen[fragment.path],
                limit=self.limit,
                transforms=self.transforms,
                signals=self.signals,
            )
        except CalibcliError as problem:
            return Refused(problem)


def tally(
    fragment: Fragment,
    chosen: ChosenColumns,
    *,
    limit: int | None,
    transforms: Transforms,
    signals: Signals,
) -> Tally:
    """
    Count the rows of a fragment.

    Args:
        fragment: What to read.

        chosen: The columns of its file.

        limit: Most distinct scores of an exact table; None for no limit.

        transforms: For each key the map that scores go through before they are counted; None for none.

        signals: What the tally learns on the way.

    Raises:
        InputProblem: If the fragment cannot be read. Wrong values are not raised but found, since a
            message speaks of the whole file.
    """
    tables = {key: RunningTable(limit) for key in transforms}
    for key in signals.grids & tables.keys():
        tables[key].become_grid()
    intake = Intake(chosen, shown=fragment.shown, first_row=fragment.first_row)
    for batch in reader_of(fragment.format).batches(fragment, chosen):
        if signals.stopped:
            break
        rows = intake.rows_of(batch)
        if rows is not None:
            for key, change in transforms.items():
                _add(tables[key], rows, change)
    refused = intake.findings.refused
    return Tally(
        {key: RunningTable().partial() if refused else table.partial() for key, table in tables.items()},
        intake.findings,
    )


def _add(table: RunningTable, rows: Rows, change: Transform | None) -> None:
    score = rows.score if change is None else change(rows.score)
    table.add_rows(score, rows.label, counts=rows.counts, weight=rows.weight)
