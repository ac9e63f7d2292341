"""A fragment to the sums of its rows: what an engine runs for every fragment."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import Enum

import numpy as np

from calibcli.ahead import made_ahead
from calibcli.data.columns import ChosenColumns
from calibcli.data.extras import NOTHING, Aside, Beside
from calibcli.data.faults import Findings
from calibcli.data.fragment import Fragment
from calibcli.data.groups import OfMembers
from calibcli.data.intake import Intake, Rows
from calibcli.data.pieces import Piece, batches_of
from calibcli.data.readers import reader_of
from calibcli.errors import CalibcliError
from calibcli.names import WeightMeaning
from calibcli.stats.table.grid import GridAccumulator
from calibcli.stats.table.running import Partial, RunningTable
from calibcli.stats.table.score_table import Floats, Integers
from calibcli.values import dataclass

Transform = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class AtPlaces:
    """
    A transform that looks at where a row stands in its file as well.

    Args:
        change: From scores, and the rows of the file counted from 0, to scores.
    """

    change: Callable[[Floats, Integers], Floats]


class Unchanged(Enum):
    """Rows of several classes as they were before a map: in the view asked for, or by their confidence."""

    VIEW = "view"
    CONFIDENCE = "confidence"


Change = Transform | AtPlaces | OfMembers | Unchanged

Transforms = Mapping[str, Change | None]


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
        aside: What else was asked for; None where it comes with a later fragment.
    """

    tables: Mapping[str, Partial]
    findings: Findings
    aside: Aside | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """
    A fragment that could not be read to its end: an error as a value,
    which every engine carries unharmed.
    """

    problem: CalibcliError


@dataclass(frozen=True, slots=True)
class TallyWork:
    """
    The work on one fragment, the same for all: called by an engine with each of them.

    Args:
        transforms: For each key the map that scores go through before they are counted; None for none.
        signals: What the tallies learn on the way.
        onto: Tables that rows are added to as they come, for fragments taken one by one; None for tables
            of each fragment's own.
    """

    limit: int | None
    transforms: Transforms
    signals: Signals
    onto: Mapping[str, RunningTable] | None = None
    beside: Beside = NOTHING

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of all tables."""
        return (*self.transforms, *self.beside.fold_keys)

    def __call__(self, piece: Piece) -> Tally | Refused:
        """Tally a fragment; a problem with it is returned, not raised."""
        try:
            return tally(
                piece.fragment,
                piece.columns,
                limit=self.limit,
                transforms=self.transforms,
                signals=self.signals,
                onto=self.onto,
                beside=self.beside,
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
    onto: Mapping[str, RunningTable] | None = None,
    beside: Beside = NOTHING,
) -> Tally:
    """Count the rows of a fragment."""
    keys = (*transforms, *beside.fold_keys)
    tables = {key: RunningTable(limit) for key in keys} if onto is None else dict(onto)
    aside = Aside.start(beside, limit=limit, classes=chosen.classes)
    for key in signals.grids & tables.keys():
        tables[key].become_grid()
    intake = intake_of(chosen, shown=fragment.shown, first_row=fragment.first_row)
    for rows in taken(fragment, intake, chosen):
        if signals.stopped:
            break
        if rows is not None:
            seen = {
                key: _add(tables[key], rows.seen(beside.columns.get(key, 0)), change)
                for key, change in transforms.items()
            }
            aside.add(rows, seen, beside=beside, chosen=chosen)
            _add_folds(rows, beside, tables)
    if onto is not None:
        return Tally({}, intake.findings, aside)
    refused = intake.findings.refused
    return Tally(
        {key: RunningTable().partial() if refused else table.partial() for key, table in tables.items()},
        intake.findings,
        aside,
    )


def intake_of(chosen: ChosenColumns, *, shown: str, first_row: int = 0) -> Intake:
    """Return the intake for the columns of a file."""
    if chosen.probs is None:
        return Intake(chosen, shown=shown, first_row=first_row)
    from calibcli.data.class_intake import ClassIntake

    return ClassIntake(chosen, shown=shown, first_row=first_row)


def taken(fragment: Fragment, intake: Intake, chosen: ChosenColumns) -> Iterator[Rows | None]:
    """
    Yield what an intake makes of each batch of a fragment.

    Batches of most formats are decoded and checked two ahead in a thread. What comes through a pipe may keep
    a reader waiting, and so is read where an interrupt is heard, as is CSV.
    """
    batches = batches_of(fragment, chosen)
    rows = map(intake.rows_of, chosen.rows.first_of(batches, fragment.first_row))
    ahead = reader_of(fragment.format).ahead and not fragment.streams
    return made_ahead(rows, 2) if ahead else rows


def _add(table: RunningTable, rows: Rows, change: Change | None) -> Floats:
    """Add rows to a table, and return the scores they were added with."""
    if isinstance(change, Unchanged):
        if rows.before is not None:
            rows = rows.before.view if change is Unchanged.VIEW else rows.before.confidence
        change = None
    score = changed(rows, change)
    table.add_rows(score, rows.label, counts=rows.counts, weight=rows.weight)
    return score


def changed(rows: Rows, change: Transform | AtPlaces | OfMembers | None) -> Floats:
    """Return the scores of rows after a map, None for none."""
    if change is None:
        return rows.score
    if isinstance(change, OfMembers):
        return change.change(rows.score, rows.members)
    if isinstance(change, AtPlaces):
        return change.change(rows.score, rows.places.numbers(rows.score.size))
    return change(rows.score)


def _add_folds(rows: Rows, beside: Beside, tables: Mapping[str, RunningTable]) -> None:
    """Add rows to the table of the fold that their group falls into."""
    if rows.group is not None and beside.folds:
        fold = rows.group.folds(beside.folds, seed=beside.seed)
        for place, key in enumerate(beside.fold_keys):
            _add(tables[key], rows.kept(np.flatnonzero(fold == place)), None)


# At most so many tables travel, however many fragments there are.
MOST_BUNDLES = 512


@dataclass(frozen=True, slots=True)
class BundleWork:
    """The work on one bundle: called by an engine with the fragments of each."""

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
