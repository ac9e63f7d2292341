"""Files to tables: read, counted, added up in the order of the input, and seen
a second time where that is asked for.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
import pyarrow as pa

from calibcli.ahead import Advance, Progress, unseen
from calibcli.data import fault_words
from calibcli.data.columns import ResolvedColumns, counted, listing
from calibcli.data.engines import Engine, ThreadEngine
from calibcli.data.faults import FaultKind, Findings, RowSums
from calibcli.data.files import shown_files, shown_path
from calibcli.data.fragments import Piece, batches_of, columns_of, found_for, list_fragments, pieces_of
from calibcli.data.intake import Rows
from calibcli.data.readers import Fragment, keep, reader_of, refuse_pipes, unchanged
from calibcli.data.row_ids import Fingerprints
from calibcli.data.selection import Sampling, lowest
from calibcli.data.tally import (
    NOTHING,
    BundleWork,
    Extras,
    GatherRequest,
    RowMap,
    Signals,
    Tally,
    TallyWork,
    Unchanged,
    bundles_of,
    changed,
    taken,
)
from calibcli.errors import CalibcliError, EmptyTable, InputProblem
from calibcli.names import EXACT_LIMIT, DataFormat, IdKind, OnMissing, Sign, WeightMeaning
from calibcli.options.numerals import agreeing
from calibcli.options.rows import AS_FOUND, Columns, InputFormat, RowSelection, RowSource
from calibcli.reports.input import (
    ClassesRead,
    InputSummary,
    SelectedRows,
    pooled_words,
    unopened_words,
    weightless_words,
)
from calibcli.stats.table import Booleans, Floats, Integers, ScoreTable, Weighing, merge_all
from calibcli.stats.table.again import RowWork
from calibcli.stats.table.grid import Table, is_of_rows
from calibcli.stats.table.running import RunningTable
from calibcli.values import dataclass, replace

if TYPE_CHECKING:
    from calibcli.documents.artifact import AnyArtifact
    from calibcli.stats.measures.differences import PairedSums, RankedSums
    from calibcli.stats.table.crossed import CrossedCells, RunningCrossed
    from calibcli.stats.table.finer import CountedParts, Tree
    from calibcli.stats.table.levels import Levels
    from calibcli.stats.table.sliced import KeyedSums, RunningSlices

_LISTED = 10
_OF_SCORES = (FaultKind.MISSING_SCORE, FaultKind.OUTSIDE, FaultKind.NO_SCORE)


def nothing_left(files: Sequence[str], resolved: ResolvedColumns, findings: Findings) -> EmptyTable:
    shown = ", ".join(shown_path(file) for file in files[:3]) + (", ..." if len(files) > 3 else "")
    if findings.rows == 0:
        other = f"; {unopened_words(findings.unopened)}" if findings.unopened else ""
        return EmptyTable(f"{shown}: there are no rows{other}")
    requested = findings.rows - findings.unselected
    conditions = resolved.requested.rows.where
    if requested == 0 and conditions:
        where = " and ".join(repr(one.text) for one in conditions)
        msg = f"{shown}: none of {findings.rows:,} rows satisfies {where}"
        if findings.unopened:
            msg += f"; {unopened_words(findings.unopened)}"
        exact = any(
            one.sign in (Sign.EQUAL, Sign.IN) and any(value.number is None for value in one.values)
            for one in conditions
        )
        alike = "values must match the file exactly, upper and lower case included"
        return EmptyTable(msg, alike if exact else None)
    if findings.dropped == requested:
        msg = f"{shown}: none of {requested:,} rows has a value in every column that is read"
        empty = [
            fault_words.column_of(kind, resolved, place)
            for (kind, place), one in findings.missing.items()
            if one.count == requested
        ]
        names = ", ".join(map(repr, empty[:_LISTED])) + (", ..." if len(empty) > _LISTED else "")
        some = "every column has values, but never in the same row: name fewer columns at once"
        pairs = "; compare takes --on-missing pairwise" if resolved.others and resolved.probs is None else ""
        late = "have its labels not come in yet, or is another column the label?"
        way = late if resolved.label in empty else "leave out such columns"
        hint = f"always empty: {names}; {way}" if empty else some
        return EmptyTable(msg, hint + pairs)
    if findings.dropped + findings.elsewhere == requested:
        return EmptyTable(f"{shown}: none of {requested:,} rows predicts the requested class")
    return EmptyTable(f"{shown}: every weight is 0")


def summary_of_input(
    files: Sequence[str], resolved: ResolvedColumns, findings: Findings, *, notes: Sequence[str] = ()
) -> InputSummary:
    notes = [*notes, *resolved.notes]
    if resolved.weights_are is WeightMeaning.IMPORTANCE and resolved.requested.weights_are is None:
        notes.append("weights were taken as importance weights; --weights-are frequency for repeated rows")
    # Notes of several parts stand side by side, each of the same words once.
    shown = shown_files(files)
    if findings.alike:
        differs = agreeing(len(findings.alike), "differs")
        said = f"{listing([*findings.alike])} {differs} from a value of --where in capitals alone"
        further = " or files not opened" if findings.unopened else ""
        notes.append(f"{shown}{further}: {said}: is that meant to be the same?")
    if findings.weightless:
        notes.append(f"{shown}: {weightless_words(findings.weightless)}")
    lacking = {FaultKind.MISSING_SCORE if kind in _OF_SCORES else kind for kind, _ in findings.missing}
    if lacking and (resolved.further or len(lacking) > 1 or FaultKind.MISSING_GROUP in lacking):
        notes.append(f"{shown}: values are missing in {_missing_words(resolved, findings)}")
    if findings.pooled_rows:
        notes.append(f"{shown}: {pooled_words(findings.pooled_rows, findings.pooled)}")
    notes += [*fault_words.strange_words(findings), *fault_words.phrase_words(findings, resolved)]
    if findings.soft:
        said = f"{fault_words.soft_words(findings.soft)} {fault_words.by_positive(resolved.requested)}"
        notes.append(f"{shown}, column {resolved.label!r}: {said}; {fault_words.SOFT}")
    elif resolved.requested.positive is not None:
        others = fault_words.other_labels_words(findings, resolved.requested)
        notes += [f"{shown}, column {resolved.label!r}: {others}"] if others else []
    if findings.counted_classes:
        named = [f"{place} = {name}" for place, name in enumerate(resolved.classes[:_LISTED])]
        more = [] if len(resolved.classes) <= _LISTED else ["..."]
        listed = ", ".join([*named, *more])
        notes.append(f"labels are numbers, read as places from 0: {listed}; --classes names them otherwise")
    if counted := fault_words.counted_from_one(findings, resolved):
        notes.append(f"column {resolved.label!r}: {counted}")
    return InputSummary(
        files=tuple(str(file) for file in files),
        score=resolved.shown_score,
        label=resolved.label,
        weight=resolved.weight,
        rows=findings.rows - findings.dropped - findings.elsewhere - findings.unselected,
        dropped=findings.dropped,
        clipped=findings.clipped,
        notes=tuple(notes),
        classes=_classes_read(resolved, findings),
        selected=_selected(resolved.requested.rows, findings),
        positive=resolved.requested.positive,
    )


def _missing_words(resolved: ResolvedColumns, findings: Findings) -> str:
    """Return how many values each column lacks, of several scores, the most first."""
    missing, everywhere = findings.missing.items(), []
    if resolved.requested.on_missing is OnMissing.PAIRWISE:
        # Rows that lack some scores are used: those that lack all are dropped, and counted in each.
        nowhere = {one.count for (kind, _), one in missing if kind in _OF_SCORES}
        everywhere = [(count, "every score at once") for count in nowhere]
    each = everywhere + [
        (one.count, repr(fault_words.column_of(kind, resolved, place)))
        for (kind, place), one in missing
        if not (everywhere and kind in _OF_SCORES)
    ]
    each.sort(key=lambda one: (-one[0], one[1]))
    shown = [f"{name} ({count:,})" for count, name in each[:_LISTED]]
    return ", ".join([*shown, *([f"{len(each) - _LISTED:,} more"] if len(each) > _LISTED else [])])


def _selected(rows: RowSelection, findings: Findings) -> SelectedRows | None:
    if not rows.options:
        return None
    seed = None if rows.sample is None else rows.seed
    return SelectedRows(
        tuple(one.text for one in rows.where),
        rows.limit,
        rows.sample,
        seed,
        findings.unselected,
        findings.unopened,
    )


def selection_notes(source: InputSummary) -> tuple[str, ...]:
    """Return what an artifact must say of rows that were selected, or nothing."""
    return () if source.selected is None else (f"fitted on selected rows only: {source.selected.options()}",)


def _classes_read(resolved: ResolvedColumns, findings: Findings) -> ClassesRead | None:
    several = resolved.requested.several
    if several is None:
        return None
    return ClassesRead(
        len(resolved.classes),
        several.view,
        several.one_class,
        findings.tied,
        findings.normalised,
        findings.elsewhere,
    )


# Keys of tables: scores as they were read, after an artifact, and of several classes the largest of each row
# before it, by which the rows of a fit are told.
RAW = "raw"
RECALIBRATED = "recalibrated"
CONFIDENCE = "raw confidence"


@dataclass(frozen=True, slots=True)
class Gathered:
    """All rows of the input, raw and through an artifact side by side.

    Args:
        tables: A table for each key of the transforms.
        resolved: The columns, by their names in the first file.
        extras: What else was asked for: differences between scores, slices, clusters.
        groups: How many different groups there are, 100 standing for more.
        again: The same rows once more; None for an input that can be read only once.
        sums: What rows of several classes that were read as logits sum to; None where there are none.
        id_kinds: What the identities of rows are written as.
        ids_renamed: Whether they had other names in the first version of states.
        artifact: The map that was applied while reading, or None.
        outputs: Every value that the recalibrated score can have, ascending; None where there are too many.
        notes: What must be said of the scores, and of the artifact.
    """

    tables: dict[str, Table]
    input: InputSummary
    resolved: ResolvedColumns
    extras: Extras = Extras()
    groups: int = 0
    again: "SecondPass | None" = None
    sums: RowSums | None = None
    id_kinds: frozenset[IdKind] = frozenset()
    ids_renamed: bool = False
    artifact: "AnyArtifact | None" = None
    through: str | None = None
    outputs: tuple[float, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def paired(self) -> "PairedSums | None":
        return self.extras.paired[0] if self.extras.paired else None

    @property
    def recalibrated(self) -> bool:
        return self.artifact is not None

    @property
    def key(self) -> str:
        """The key of the table that is judged: the recalibrated one, or the raw one without an artifact."""
        return RAW if self.artifact is None else RECALIBRATED

    @property
    def table(self) -> Table:
        return self.tables[self.key]

    @property
    def table_again(self) -> "SecondPass | None":
        """The rows of that table once more; None after a map."""
        return self.again if self.artifact is None else None

    @property
    def as_fitted(self) -> Table:
        """The table by which the rows of a fit are told."""
        return self.tables.get(CONFIDENCE, self.tables[RAW])

    @property
    def fitted_rows(self) -> bool:
        return self.fitted_to(self.as_fitted)

    def fitted_to(self, table: Table) -> bool:
        """Whether the rows of a table, such as that of several files together, are those of the fit."""
        one = None if self.artifact is None else self.artifact.of_all_rows
        return one is not None and is_of_rows(one.fit.table_digest, table)

    @property
    def fit_notes(self) -> tuple[str, ...]:
        return (FIT_ROWS,) if self.fitted_rows else ()


FIT_ROWS = "these are the rows that the artifact was fitted on: the numbers flatter it"


def gather(
    inputs: Sequence[RowSource],
    columns: Columns,
    *,
    engine: Engine,
    limit: int | None = EXACT_LIMIT,
    input_format: InputFormat = AS_FOUND,
    gather_request: GatherRequest = NOTHING,
    progress: Progress = unseen,
) -> Gathered:
    """Read files into tables."""
    found = found_for(inputs, columns, input_format=input_format)
    fragments = list_fragments(found, input_format=input_format)
    if not engine.shares_interpreter:
        refuse_pipes(fragments)
    # Where each score has rows of its own, no table holds the rows that two have.
    own_rows = columns.on_missing is OnMissing.PAIRWISE
    ranked = () if own_rows or not gather_request.pairs else gather_request.ranked
    if gather_request.twice or ranked:
        keep(fragments)
    with unchanged(fragments):
        resolved = choose_columns(fragments, columns)
        if columns.rows.counted:
            places = {path: at for at, path in enumerate(dict.fromkeys(file.path for file in found.files))}
            fragments, resolved = with_rows(fragments, resolved, columns.rows, places=places, engine=engine)
        several = fragments[0].path != fragments[-1].path
        work = TallyWork(limit, Signals(), gather_request=gather_request, by_file=several)
        with progress(len(fragments)) as advance:
            tables, findings, extras = _reduced(pieces_of(fragments, resolved), work, engine, advance=advance)
    findings.unopened = len(found.unopened)
    findings.note_first("alike", found.alike)
    files = tuple(dict.fromkeys(fragment.path for fragment in fragments))
    first = resolved[files[0]]
    changes = gather_request.transforms.items()
    empty = [not tables[key].total_rows for key, one in changes if not isinstance(one, Unchanged)]
    # Scores that each have rows of their own are told apart by whoever asked for them.
    none = all(empty) if columns.on_missing is OnMissing.PAIRWISE else any(empty)
    if findings.rows == findings.dropped + findings.unselected or none:
        raise nothing_left(files, first, findings)
    problem = fault_words.never_positive(findings, first, shown=shown_files(files))
    problem = None if gather_request.part else problem
    problem = problem or fault_words.other_outcome(findings, first, shown=shown_files(files))
    if problem is not None:
        raise problem
    further: dict[str, list[str]] = {}
    for file in files[1:]:
        for note in resolved[file].notes:
            further.setdefault(note, []).append(file)
    again = SecondPass(fragments, resolved, engine, findings.rows)
    if ranked:
        _compare_ranks(extras, _Ranked(replace(gather_request, ranked=ranked), tables), again)
    notes = [f"{shown_files(paths)}: {note}" for note, paths in further.items()]
    return Gathered(
        tables,
        summary_of_input(
            files, first, findings, notes=(*found.notes(), *notes, *fault_words.notes_of_files(findings))
        ),
        first,
        extras,
        len(findings.groups),
        again if gather_request.twice else None,
        findings.sums,
        findings.kinds_of(first.identity),
        not findings.renamed.isdisjoint(first.identity),
    )


def _compare_ranks(extras: Extras, work: "_Ranked", again: "SecondPass") -> None:
    """Add to the differences of each pair of scores those of areas of their ranks."""
    for paired, sums in zip(extras.paired, again.ranked(work), strict=True):
        if sums is not None:
            paired.also(sums.sums)


def choose_columns(fragments: Sequence[Fragment], columns: Columns) -> dict[str, ResolvedColumns]:
    """Find the columns in the first file, and the same ones in every other."""
    resolved: dict[str, ResolvedColumns] = {}
    first: ResolvedColumns | None = None
    for fragment in fragments:
        if fragment.path in resolved:
            continue
        found = columns_of(fragment, columns, first=first)
        if first is None:
            first = found = with_counted(found, *fragments)
        resolved[fragment.path] = found
    return resolved


def with_counted(resolved: ResolvedColumns, *fragments: Fragment) -> ResolvedColumns:
    """Return columns whose classes are known where they are one column of lists, by the first one that some
    file holds: Spark writes files without rows, too.
    """
    probs, several = resolved.probs, resolved.requested.several
    if probs is None or several is None or not probs.in_list:
        return resolved
    name, length = probs.names[0], None
    if not probs.classes:
        lengths = (one.list_length(name) for one in map(reader_of, fragments) if name in one.header())
        length = next((one for one in lengths if one is not None), None)
    return replace(resolved, probs=counted(probs, length, several=several, path=fragments[0].shown))


def _reduced(
    pieces: Sequence[Piece], work: TallyWork, engine: Engine, *, advance: Advance
) -> tuple[dict[str, Table], Findings, Extras]:
    """Tally the fragments and add them up in order, stopping at the end of the first file with faults."""
    running = {key: RunningTable(work.limit) for key in work.keys}
    extras = Extras.start(work.gather_request, limit=work.limit, classes=pieces[0].columns.classes)
    total, of_file = Findings(), Findings()
    results = _first_alone(pieces, work, engine, running=running)
    try:
        for place, piece in enumerate(pieces):
            tally = _taken(next(results), piece, running=running, of_file=of_file)
            advance(tally.findings.rows)
            if tally.extras is not None and not of_file.refused:
                extras.merge(tally.extras, piece.columns)
            work.signals.grids.update(key for key, table in running.items() if table.is_grid)
            if place + 1 == len(pieces) or pieces[place + 1].fragment.path != piece.fragment.path:
                _close(of_file, piece, total=total)
                of_file = Findings()
    finally:
        work.signals.stopped = True
        results.close()
    # What pyarrow keeps of the memory of batches that are done with.
    pa.default_memory_pool().release_unused()
    return {key: running.pop(key).table() for key in work.keys}, total, extras


def _first_alone(
    pieces: Sequence[Piece], work: TallyWork, engine: Engine, *, running: dict[str, RunningTable]
) -> Generator[Tally | CalibcliError, None, None]:
    """Tally the first fragment before the others start.

    If its distinct scores pass the limit, the others go straight into grids, which take a fraction of the
    memory of tables that turn out too large. More than one grid would only multiply that memory: in this
    process the others are then taken one by one, onto one grid, and elsewhere in bundles.
    """
    yield from engine.map(work, pieces[:1])
    if engine.shares_interpreter and work.signals.grids:
        yield from replace(work, onto=running).each(pieces[1:])
    elif engine.shares_interpreter:
        yield from engine.map(work, pieces[1:])
    else:
        bundles = bundles_of(pieces[1:], work.gather_request)
        with closing(engine.map(BundleWork(work), bundles)) as results:
            for bundle in results:
                yield from bundle


def _taken(
    result: Tally | CalibcliError, piece: Piece, *, running: dict[str, RunningTable], of_file: Findings
) -> Tally:
    """Add to the tables what a fragment gave; raise what stopped it, unless its file had faults before."""
    if isinstance(result, CalibcliError):
        earlier = fault_words.problem_of(of_file, piece.columns, shown=piece.fragment.shown, partly=True)
        raise earlier or result
    of_file.add(result.findings)
    if not of_file.refused:
        for key, table in result.tables.items():
            running[key].add(table)
    return result


_OTHER_CLASSES = (
    "the probability of a class is lower there where it is the label: do all files have the same classes in "
    "one order?"
)


def _close(of_file: Findings, last: Piece, *, total: Findings) -> None:
    """Add the findings of a file to those of the input, or raise what is wrong with its values."""
    shown = last.fragment.shown
    problem = fault_words.problem_of(of_file, last.columns, shown=shown)
    lacking = fault_words.never_positive(of_file, last.columns, shown=shown)
    if problem is None and lacking is not None:
        of_file.without.append(f"{lacking.message}: {lacking.hint}")
    if fault_words.tells(of_file):
        of_file.files = 1
        for said in fault_words.odd_scores(of_file, last.columns):
            of_file.note_unlike(said, shown)
        if of_file.by_class is not None:
            from calibcli.commands.row_checks import lower_where_seen

            observed, given = of_file.by_class.observed, of_file.by_class.given
            if lower_where_seen(last.columns.classes, observed, given, rows=int(observed.sum())):
                of_file.note_unlike(_OTHER_CLASSES, shown)
    of_file.by_class = None
    total.add(of_file)
    problem = problem or fault_words.too_many(total, last.columns, shown=shown) or fault_words.mixed(total)
    if problem is not None:
        raise problem


ResolvedByFile = Mapping[str, ResolvedColumns]


def with_rows(
    fragments: Sequence[Fragment],
    resolved: ResolvedByFile,
    rows: RowSelection,
    *,
    places: Mapping[str, int],
    engine: Engine,
) -> tuple[list[Fragment], dict[str, ResolvedColumns]]:
    """Return the fragments that hold rows that are meant, and for each file its columns with those rows.

    Its place among all files says how the rows of a file are drawn.
    """
    if rows.limit is not None:
        return _first(fragments, resolved, rows.limit)
    if rows.sample is not None:
        lots = {path: Sampling(places[path], rows.seed) for path in resolved}
        return list(fragments), _drawn(fragments, resolved, rows.sample, lots=lots, engine=engine)
    return list(fragments), dict(resolved)


def _first(
    fragments: Sequence[Fragment], resolved: ResolvedByFile, limit: int
) -> tuple[list[Fragment], dict[str, ResolvedColumns]]:
    """Return the fragments up to the one with the last row; the files behind it are not read."""
    kept: list[Fragment] = []
    found: dict[str, ResolvedColumns] = {}
    left = limit
    for fragment in fragments:
        columns = resolved[fragment.path]
        until = None
        if fragment is fragments[-1] and not columns.rows.chooses:
            until = fragment.first_row + left
        else:
            left, until = _counted_off(fragment, columns, left)
        kept.append(fragment)
        found[fragment.path] = replace(columns, rows=replace(columns.rows, until=until))
        if until is not None:
            break
    return kept, found


def _counted_off(fragment: Fragment, columns: ResolvedColumns, left: int) -> tuple[int, int | None]:
    """Return how many rows are lacking after a fragment, or how many rows its file has up to the last one."""
    if fragment.format is DataFormat.PARQUET and not columns.rows.chooses:
        rows = _stored_rows(fragment)
        return (left - rows, None) if rows < left else (0, fragment.first_row + left)
    keep([fragment])
    for first_row, count, requested in _requested(fragment, columns):
        rows = count if requested is None else int(np.count_nonzero(requested))
        if rows >= left:
            within = left - 1 if requested is None else int(np.flatnonzero(requested)[left - 1])
            return 0, first_row + within + 1
        left -= rows
    return left, None


def _drawn(
    fragments: Sequence[Fragment],
    resolved: ResolvedByFile,
    sample: int,
    *,
    lots: Mapping[str, Sampling],
    engine: Engine,
) -> dict[str, ResolvedColumns]:
    """Return for each file which of its rows are among those with the lowest lots."""
    keep(fragments)
    numbered = {
        path: replace(columns, rows=replace(columns.rows, sampling=lots[path]))
        for path, columns in resolved.items()
    }
    draws = np.zeros(0, np.uint64)
    for found in engine.map(_Lowest(sample), pieces_of(fragments, numbered)):
        if isinstance(found, CalibcliError):
            raise found
        draws = lowest(np.concatenate((draws, found)), sample)
    highest = int(draws.max()) if draws.size == sample else None
    return {
        path: replace(columns, rows=replace(columns.rows, sampling=replace(lots[path], highest=highest)))
        for path, columns in resolved.items()
    }


@dataclass(frozen=True, slots=True)
class _Lowest:
    """The lowest lots of the rows of a fragment, the same work for all; a problem is returned, not raised."""

    count: int

    def __call__(self, piece: Piece) -> Fingerprints | CalibcliError:
        fragment, columns = piece.fragment, piece.columns
        draws = np.zeros(0, np.uint64)
        own = columns.rows.sampling
        try:
            for first_row, count, requested in self._batches(fragment, columns):
                drawn = np.zeros(0, np.uint64) if own is None else own.of(first_row, count)
                draws = lowest(
                    np.concatenate((draws, drawn if requested is None else drawn[requested])), self.count
                )
        except CalibcliError as problem:
            return problem
        return draws

    def _batches(
        self, fragment: Fragment, columns: ResolvedColumns
    ) -> Iterator[tuple[int, int, Booleans | None]]:
        if fragment.format is not DataFormat.PARQUET or columns.rows.conditions:
            yield from _requested(fragment, columns)
            return
        rows, at = _stored_rows(fragment), 0
        while at < rows:
            count = min(1 << 17, rows - at)
            yield fragment.first_row + at, count, None
            at += count


def _requested(fragment: Fragment, columns: ResolvedColumns) -> Iterator[tuple[int, int, Booleans | None]]:
    """Yield for each batch the rows of the file before it, its rows, and which of them are asked for."""
    first_row = fragment.first_row
    for batch in batches_of(fragment, columns):
        requested = columns.rows.of(batch, first_row=first_row, shown=fragment.shown, decimal=columns.decimal)
        yield first_row, batch.num_rows, requested
        first_row += batch.num_rows


def _stored_rows(fragment: Fragment) -> int:
    """Return how many rows a fragment of a Parquet file has, by its footer."""
    sizes = reader_of(fragment).row_group_rows()
    return sum(sizes if fragment.row_groups is None else (sizes[group] for group in fragment.row_groups))


Result = TypeVar("Result")

# Rows looked up at once: they fit the processor's cache.
_CHUNK = 1 << 16

# Rows sorted at once: one sort beats merging the tables of fragments.
_SORTED = 1 << 24


@dataclass(frozen=True, slots=True)
class _Pass(Generic[Result]):
    """What is made of the batches of one fragment, the same for all; a problem is returned, not raised."""

    change: RowMap | None
    made: Callable[[Iterator[Rows]], Result]

    def __call__(self, piece: Piece) -> tuple[int, Result] | CalibcliError:
        try:
            # Few ahead: other workers read beside this one.
            with closing(taken([piece], 2)) as read:
                _, intake, batches = next(read)
                # What is wrong with values was found by the first pass.
                found = (rows for rows in batches if rows is not None)
                result = self.made(replace(rows, score=changed(rows, self.change)) for rows in found)
        except CalibcliError as problem:
            return problem
        return intake.findings.rows, result


@dataclass(frozen=True, slots=True)
class SecondPass:
    """Passes over rows that were gathered before; see `calibcli.stats.table.again.Rows`.

    Args:
        fragments: The input, none of them a stream that can be read only once.
        rows: How many rows the first pass read, dropped ones included.
        change: The map that scores go through first; None for none.
    """

    fragments: Sequence[Fragment]
    resolved: Mapping[str, ResolvedColumns]
    engine: Engine
    rows: int
    change: RowMap | None = None

    def summed(self, work: RowWork) -> Integers:
        total: Integers = np.zeros(1, np.int64)
        for part in self._over(partial(_summed, work)):
            total = total + part
        return total

    def in_open(self, tree: "Tree") -> ScoreTable:
        tables: list[ScoreTable] = []
        held: list[Rows] = []
        for some in self._over(partial(_in_open, tree)):
            held.append(some)
            if sum(part.score.size for part in held) >= _SORTED:
                tables.append(_table_of(held))
                held = []
        return merge_all([*tables, *([_table_of(held)] if held else [])])

    def in_parts(self, tree: "Tree") -> "CountedParts":
        """Return the rows in the parts of a tree that were made last, counted."""
        from calibcli.stats.table.finer import CountedParts

        total = CountedParts(tree)
        onto = total if self.engine.shares_interpreter else None
        for part in self._over(partial(_in_parts, tree, onto)):
            if part is not total:
                total.add(part)
        return total

    def crossed(
        self, levels: "tuple[Levels, ...]", *, depth: int, limit: int | None
    ) -> "KeyedSums | CrossedCells":
        """Return the rows by levels and score: exact, or in cells for every set of so many columns."""
        crossed = _Crossed(levels, depth, limit)
        total = crossed.none_yet(0)
        if self.engine.shares_interpreter:
            # Onto one table: those of several fragments at once would take as much memory each.
            one_by_one = replace(self, engine=ThreadEngine(1))
            deque(one_by_one._over(replace(crossed, onto=total)), maxlen=0)  # noqa: SLF001 - its own kind
        else:
            for part in self._over(crossed):
                total.add(part)
        return total.result()

    def by_levels(
        self, levels: "tuple[Levels, ...]", *, limit: int | None = None, coarse: bool = False
    ) -> "RunningSlices":
        """Return the rows by the levels of their columns and by score, or by cell where that is coarse."""
        counted = _InLeaves(levels, limit, coarse=coarse)
        total = counted.none_yet()
        for part in self._over(counted):
            total.add(part)
        return total

    def ranked(self, work: "_Ranked") -> "list[RankedSums | None]":
        total = work.none_yet()
        for part in self._over(work):
            for mine, theirs in zip(total, part, strict=True):
                if mine is not None and theirs is not None:
                    mine.sums.merge(theirs.sums)
        return total

    def in_order(self) -> tuple[Floats, Booleans]:
        """Return score and label of every row in the order of the input, repeated by its frequency."""
        parts = list(self._over(_listed))
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _over(self, made: Callable[[Iterator[Rows]], Result]) -> Iterator[Result]:
        rows = 0
        pieces = pieces_of(self.fragments, self.resolved)
        with unchanged(self.fragments):
            for found in self.engine.map(_Pass(self.change, made), pieces):
                if isinstance(found, CalibcliError):
                    raise found
                rows += found[0]
                yield found[1]
            # What pyarrow keeps of the memory of batches that are done with.
            pa.default_memory_pool().release_unused()
            self._refuse_others(rows)

    def in_turn(self) -> Iterator[Rows]:
        """Yield the rows as they are read, in the order of the input."""
        seen = 0
        with closing(taken(pieces_of(self.fragments, self.resolved))) as read:
            for _, intake, batches in read:
                yield from (rows for rows in batches if rows is not None)
                seen += intake.findings.rows
        self._refuse_others(seen)

    def _refuse_others(self, rows: int) -> None:
        if rows != self.rows:
            changed = f"{shown_path(self.fragments[0].path)} changed while it was read"
            msg = f"{changed}: {self.rows:,} rows at first, then {rows:,}"
            raise InputProblem(msg, "run again when nothing writes to it")


def _summed(work: RowWork, batches: Iterator[Rows]) -> Integers:
    total: Integers = np.zeros(1, np.int64)
    for rows in batches:
        total = total + work(rows.score, rows.label, rows.counts)
    return total


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Two scores of each pair, by what every row adds to areas of their ranks; tables are of all rows."""

    request: GatherRequest
    tables: Mapping[str, Table]

    def none_yet(self) -> "list[RankedSums | None]":
        """Return nothing yet of every pair; None where there will be nothing."""
        from calibcli.stats.measures.differences import ranked_sums

        pairs = self.request.pairs
        return [ranked_sums(self.request.ranked, *(self.tables[key] for key in pair)) for pair in pairs]

    def __call__(self, batches: Iterator[Rows]) -> "list[RankedSums | None]":
        total = self.none_yet()
        for rows in batches:
            seen = self.seen(rows)
            for pair, sums in zip(self.request.pairs, total, strict=True):
                if sums is not None:
                    one, two = (seen[key] for key in pair)
                    sums.add((one, rows.label), (two, rows.label), Weighing(rows.counts))
        return total

    def seen(self, rows: Rows) -> dict[str, Floats]:
        return {
            key: changed(rows.seen(self.request.columns.get(key, 0)), change)
            for key in dict.fromkeys(chain(*self.request.pairs))
            if not isinstance(change := self.request.transforms[key], Unchanged)
        }


# Occupied cells of grids take as much memory as so many scores.
_CELLS_FOR_A_SCORE = 4


@dataclass(frozen=True, slots=True, eq=False)
class _InLeaves:
    """Rows in parts that share a limit, as grids too."""

    levels: "tuple[Levels, ...]"
    limit: int | None
    coarse: bool = False

    def none_yet(self) -> "RunningSlices":
        from calibcli.stats.table.sliced import RunningSlices

        cells = None if self.limit is None else _CELLS_FOR_A_SCORE * self.limit
        found = RunningSlices(self.limit, most_cells=cells)
        if self.coarse:
            found.become_grid()
        return found

    def __call__(self, batches: Iterator[Rows]) -> "RunningSlices":
        found = self.none_yet()
        for rows in batches:
            part = _combined(rows, self.levels)
            found.add_numbered(rows.score, rows.label, part=part, weighing=Weighing(rows.counts))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Crossed:
    """Rows by levels and score, of every fragment together in `onto`, or of each by itself without."""

    levels: "tuple[Levels, ...]"
    depth: int
    limit: int | None
    onto: "RunningCrossed | None" = None

    def none_yet(self, kept: int) -> "RunningCrossed":
        """Return what no rows add up to, with so many kept exact to be added to others."""
        from calibcli.stats.table.crossed import RunningCrossed

        return RunningCrossed([len(one.words) for one in self.levels], self.depth, self.limit, kept=kept)

    def __call__(self, batches: Iterator[Rows]) -> "RunningCrossed":
        # What travels takes no more than cells would.
        found = self.onto or self.none_yet(_CELLS_FOR_A_SCORE * (self.limit or 0))
        for rows in batches:
            part = _combined(rows, self.levels)
            found.add_rows(rows.score, rows.label, part=part, counts=rows.counts)
        return found


def _combined(rows: Rows, levels: "tuple[Levels, ...]") -> Integers:
    """Return one number for the levels of each row, the first column counting most."""
    part = np.zeros(rows.score.size, np.int64)
    for one, values in zip(levels, rows.on, strict=True):
        part *= len(one.words)
        part += one.places(values)
    return part


def _listed(batches: Iterator[Rows]) -> tuple[Floats, Booleans]:
    scores, labels = [np.zeros(0)], [np.zeros(0, np.bool_)]
    for rows in batches:
        times = 1 if rows.counts is None else rows.counts
        scores.append(np.repeat(rows.score, times))
        labels.append(np.repeat(rows.label, times))
    return np.concatenate(scores), np.concatenate(labels)


def _in_parts(tree: "Tree", onto: "CountedParts | None", batches: Iterator[Rows]) -> "CountedParts":
    """Count rows in the parts of a tree, those of every fragment together where they are to be."""
    from calibcli.stats.table.finer import CountedParts

    found = onto or CountedParts(tree)
    for rows in batches:
        found.add_rows(rows.score, rows.label, rows.counts)
    return found


def _in_open(tree: "Tree", batches: Iterator[Rows]) -> Rows:
    scores, labels, counts = [np.zeros(0)], [np.zeros(0, np.bool_)], [np.zeros(0, np.int64)]
    counted = False
    for rows in batches:
        counted = counted or rows.counts is not None
        for start in range(0, rows.score.size, _CHUNK):
            kept = tree.in_open(rows.score[start : start + _CHUNK])[0] + start
            scores.append(rows.score[kept])
            labels.append(rows.label[kept])
            if rows.counts is not None:
                counts.append(rows.counts[kept])
    return Rows(np.concatenate(scores), np.concatenate(labels), np.concatenate(counts) if counted else None)


def _table_of(parts: Sequence[Rows]) -> ScoreTable:
    counts = [part.counts for part in parts if part.counts is not None]
    return ScoreTable.from_rows(
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.label for part in parts]),
        Weighing(counts=np.concatenate(counts) if counts else None),
    )
