"""Files to tables: the one place where the tables of fragments are added up, in the order of the input."""

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from calibcli.engines.interface import Engine
from calibcli.gate_names import IdKind
from calibcli.names import EXACT_LIMIT
from calibcli.options.rows import AS_FOUND, Columns, InputFormat
from calibcli.progress import Advance, Progress, unseen
from calibcli.readers import reader_of
from calibcli.readers.beside import NOTHING, Aside, Beside
from calibcli.readers.bundles import BundleWork, bundles_of
from calibcli.readers.class_columns import counted
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.decode import release_unused
from calibcli.readers.fault_words import mixed, never_positive, note_without, problem_of, too_many
from calibcli.readers.faults import Findings, RowSums
from calibcli.readers.files import found_in, shown_path
from calibcli.readers.files_with_paths import columns_of
from calibcli.readers.fragments import Fragment, keep, list_fragments, refuse_pipes
from calibcli.readers.pieces import Piece, pieces_of
from calibcli.readers.tally import Refused, Signals, Tally, TallyWork, Transforms, Unchanged
from calibcli.readers.unchanged import unchanged
from calibcli.reports.input import InputSummary
from calibcli.table.grid import Table
from calibcli.table.running import RunningTable
from calibcli.tasks.what_was_read import nothing_left, summary_of_input

if TYPE_CHECKING:
    from calibcli.measures.paired import PairedSums
    from calibcli.tasks.second_pass import SecondPass

RAW = "raw"


@dataclass(frozen=True, slots=True)
class Gathered:
    """
    All rows of the input.

    Args:
        tables: A table for each key of the transforms.

        input: What was read.

        aside: What else was asked for: differences between scores, slices, clusters.

        groups: How many different groups there are, 100 standing for more.

        again: The same rows once more; None for an input that can be read only once.

        chosen: The columns, by their names in the first file.

        sums: What rows of several classes that were read as logits sum to; None where there are none.

        id_kinds: What the identities of rows are written as.

        ids_renamed: Whether they had other names in the first version of states.
    """

    tables: dict[str, Table]
    input: InputSummary
    aside: Aside = Aside()  # noqa: RUF009 - frozen, and of nothing
    groups: int = 0
    again: "SecondPass | None" = None
    chosen: ChosenColumns | None = None
    sums: RowSums | None = None
    id_kinds: frozenset[IdKind] = frozenset()
    ids_renamed: bool = False

    @property
    def paired(self) -> "PairedSums | None":
        """Differences between the first pair of scores, or None where none were asked for."""
        return self.aside.paired[0] if self.aside.paired else None

    @property
    def others(self) -> tuple[str, ...]:
        """Further score columns."""
        return () if self.chosen is None else self.chosen.further


def gather(  # noqa: PLR0913 - one for each way in which readings differ
    inputs: Sequence[str],
    columns: Columns,
    *,
    engine: Engine,
    limit: int | None = EXACT_LIMIT,
    transforms: Transforms | None = None,
    input_format: InputFormat = AS_FOUND,
    beside: Beside = NOTHING,
    twice: bool = False,
    progress: Progress = unseen,
) -> Gathered:
    """
    Read files into tables.

    Args:
        inputs: Files, directories, "-" for standard input; `path:fmt` forces a format.

        columns: Which column is which.

        engine: Where fragments are read; it never changes a digit.

        limit: Most distinct scores of an exact table; None for no limit.

        transforms: For each key the map that scores go through before they are counted, None for none;
            by default one table, "raw".

        input_format: The format of every input that does not force its own, and how text is written.

        beside: What is gathered beside the tables of the transforms.

        twice: Whether rows may be wanted once more, so that what comes through a pipe is kept in a file.

        progress: Who is told how far it is.

    Raises:
        InputProblem: If something is wrong with a file, a column or a value; the first in the order of the
            input.

        EmptyTable: If no row is left.
    """
    found = found_in(inputs)
    fragments = list_fragments(found, input_format=input_format)
    if not engine.shares_interpreter:
        refuse_pipes(fragments)
    if twice:
        keep(fragments)
    with unchanged(fragments):
        chosen = choose_columns(fragments, columns)
        if columns.rows.counted:
            from calibcli.tasks.row_choice import with_rows

            fragments, chosen = with_rows(fragments, chosen, columns.rows, engine=engine)
        wanted = {RAW: None} if transforms is None else transforms
        work = TallyWork(limit, wanted, Signals(), beside=beside)
        with progress(len(fragments)) as advance:
            tables, findings, aside = _reduced(pieces_of(fragments, chosen), work, engine, advance=advance)
    files = tuple(dict.fromkeys(fragment.path for fragment in fragments))
    first = chosen[files[0]]
    if findings.rows == findings.dropped + findings.unselected or not all(
        tables[key].total_rows for key, change in wanted.items() if not isinstance(change, Unchanged)
    ):
        raise nothing_left(files, first, findings)
    problem = never_positive(findings, first, shown=shown_path(files[0]))
    if problem is not None and not beside.part:
        raise problem
    again = None
    if twice:
        from calibcli.tasks.second_pass import SecondPass

        again = SecondPass(fragments, chosen, engine, findings.rows)
    return Gathered(
        tables,
        summary_of_input(files, first, findings, notes=(*found.notes(), *note_without(findings))),
        aside,
        len(findings.groups),
        again,
        first,
        findings.sums,
        findings.kinds_of(first.identity),
        first.identity in findings.renamed,
    )


def choose_columns(
    fragments: Sequence[Fragment], columns: Columns, *, labelled: bool = True
) -> dict[str, ChosenColumns]:
    """
    Find the columns in the first file, and the same ones in every other.

    Args:
        fragments: The input, not empty.

        columns: Which column is which.

        labelled: Whether a label is read at all.

    Returns:
        For each file its columns.
    """
    chosen: dict[str, ChosenColumns] = {}
    first: ChosenColumns | None = None
    for fragment in fragments:
        if fragment.path in chosen:
            continue
        found = columns_of(fragment, columns, first=first, labelled=labelled)
        if first is None:
            first = found = with_counted(found, fragment)
        chosen[fragment.path] = found
    return chosen


def with_counted(chosen: ChosenColumns, fragment: Fragment) -> ChosenColumns:
    """
    Return columns whose classes are known where they are one column of lists.

    Args:
        chosen: The columns.

        fragment: A part of the file, whose first list tells how many classes there are.

    Raises:
        InputProblem: If it does not.
    """
    probs, several = chosen.probs, chosen.asked.several
    if probs is None or several is None or not probs.in_list:
        return chosen
    length = None
    if not probs.classes:
        length = reader_of(fragment.format).list_length(fragment, probs.names[0])
    return replace(chosen, probs=counted(probs, length, several=several, path=fragment.shown))


def _reduced(
    pieces: Sequence[Piece], work: TallyWork, engine: Engine, *, advance: Advance
) -> tuple[dict[str, Table], Findings, Aside]:
    """Tally the fragments and add them up in order, stopping at the end of the first file with faults."""
    running = {key: RunningTable(work.limit) for key in work.keys}
    aside = Aside.start(work.beside, limit=work.limit, classes=pieces[0].columns.classes)
    total, of_file = Findings(), Findings()
    results = _first_alone(pieces, work, engine, running=running)
    try:
        for place, piece in enumerate(pieces):
            tally = _taken(next(results), piece, running=running, of_file=of_file)
            advance(tally.findings.rows)
            if tally.aside is not None and not of_file.refused:
                aside.merge(tally.aside, piece.columns)
            work.signals.grids.update(key for key, table in running.items() if table.is_grid)
            if place + 1 == len(pieces) or pieces[place + 1].fragment.path != piece.fragment.path:
                _close(of_file, piece, total=total)
                of_file = Findings()
    finally:
        work.signals.stopped = True
        results.close()
    release_unused()
    return {key: running.pop(key).table() for key in work.keys}, total, aside


def _first_alone(
    pieces: Sequence[Piece], work: TallyWork, engine: Engine, *, running: dict[str, RunningTable]
) -> Generator[Tally | Refused, None, None]:
    """
    Tally the first fragment before the others start.

    If its distinct scores pass the limit, the others go straight into grids, which take a fraction of the
    memory of tables that turn out too large. A grid counts in a thread of its own, so that more threads
    would only multiply its memory: in this process the others are then taken one by one, onto one grid, and
    elsewhere in bundles.
    """
    yield from engine.map(work, pieces[:1])
    if engine.shares_interpreter and work.signals.grids:
        yield from map(replace(work, onto=running), pieces[1:])
    elif engine.shares_interpreter:
        yield from engine.map(work, pieces[1:])
    else:
        bundles = bundles_of(pieces[1:], work.beside)
        with closing(engine.map(BundleWork(work), bundles)) as results:
            for bundle in results:
                yield from bundle


def _taken(
    result: Tally | Refused, piece: Piece, *, running: dict[str, RunningTable], of_file: Findings
) -> Tally:
    """Add to the tables what a fragment gave; raise what stopped it, unless its file had faults before."""
    if isinstance(result, Refused):
        earlier = problem_of(of_file, piece.columns, shown=piece.fragment.shown, partly=True)
        raise earlier or result.problem
    of_file.add(result.findings)
    if not of_file.refused:
        for key, table in result.tables.items():
            running[key].add(table)
    return result


def _close(of_file: Findings, last: Piece, *, total: Findings) -> None:
    """Add the findings of a file to those of the input, or raise what is wrong with its values."""
    shown = last.fragment.shown
    problem = problem_of(of_file, last.columns, shown=shown)
    lacking = never_positive(of_file, last.columns, shown=shown)
    if problem is None and lacking is not None:
        of_file.without.append(f"{lacking.message}: {lacking.hint}")
    total.add(of_file)
    problem = problem or too_many(total, last.columns, shown=shown) or mixed(total)
    if problem is not None:
        raise problem
