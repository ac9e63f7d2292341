"""Files to the batches that a gate counts, each with what it is known by."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibcli.errors import EmptyTable, InputProblem
from calibcli.gates.cells import Partition
from calibcli.gates.growth import Incoming, Rows
from calibcli.gates.state import Terms
from calibcli.names import Binning
from calibcli.options.gating import StateOptions
from calibcli.options.rows import Columns, Reading
from calibcli.readers.beside import Beside
from calibcli.readers.files import InputFile, shown_path
from calibcli.readers.names_of_columns import listing
from calibcli.reports.input import ClassesRead, InputSummary
from calibcli.table import cells
from calibcli.table.bins import Bins
from calibcli.table.digest import digest
from calibcli.table.grid import Table
from calibcli.tasks.gate_map import fingerprint_of
from calibcli.tasks.gate_terms import of_columns
from calibcli.tasks.gather import RAW
from calibcli.tasks.judged import RECALIBRATED, Judged, read_judged
from calibcli.tasks.partition import parted


@dataclass(frozen=True, slots=True)
class ReadBatches:
    """
    Files that have been read, and nothing counted yet.

    Args:
        terms: The terms of the call with the columns of the first file.

        batches: One for each file that has rows.

        source: What was read, or None.
    """

    terms: Terms
    batches: tuple[Incoming, ...] = ()
    source: InputSummary | None = None


def read_batches(
    files: Sequence[InputFile],
    columns: Columns,
    terms: Terms,
    *,
    asked: StateOptions,
    artifact: str | None,
    reading: Reading,
) -> ReadBatches:
    """
    Read every file as a batch of its own.

    Args:
        files: At least one.

        columns: Which column is which; what is guessed in the first file holds for the others.

        terms: What the rows are counted by.

        asked: Their name and their identities.

        artifact: Path of a recalibrator to apply first, or None.

        reading: How to read.

    Raises:
        EmptyTable: If no file has rows; one without is left out.

        InputProblem: If something is wrong with a file, or its rows are those the artifact was fitted on.
    """
    key = RAW if artifact is None else RECALIBRATED
    beside = Beside(identified=key if terms.identified else None, part=True)
    columns = replace(columns, identity=asked.id_column)
    batches: list[Incoming] = []
    sources: list[InputSummary] = []
    empty: list[EmptyTable] = []
    for file in files:
        form = replace(reading.input_format, format=file.forced or reading.input_format.format)
        own = replace(reading, input_format=form)
        try:
            judged = read_judged(
                [file.path],
                columns,
                artifact=artifact,
                reading=own,
                twice=not _nested(terms.partition),
                beside=beside,
            )
        except EmptyTable as problem:
            empty.append(problem)
            continue
        if not sources:
            columns, terms = _settled(columns, terms, judged)
        _refuse_other_classes(terms, judged, shown=shown_path(file.path))
        _refuse_fit_rows(judged, artifact)
        loaded = judged.artifact or judged.classes
        if loaded is not None and fingerprint_of(loaded) != terms.artifact:
            msg = f"{artifact} changed while it was read"
            raise InputProblem(msg, "run again when nothing writes to it")
        named = asked.batch
        if named is not None and len(files) > 1:
            # Files of one call that share a name are told apart by their order.
            named = f"{named}/{len(batches) + 1}"
        batches.append(_incoming(judged, terms, shown=shown_path(file.path), named=named))
        source = judged.gathered.input
        sources.append(replace(source, notes=(*source.notes, *judged.notes)))
    if empty and not batches:
        raise empty[0]
    together = _together(sources)
    if together is not None:
        notes = (*together.notes, *(f"{one.message}: nothing of it is counted" for one in empty))
        together = replace(together, notes=notes)
    return ReadBatches(terms, tuple(batches), together)


def _nested(partition: Partition) -> bool:
    return bool(partition.outputs) or cells.CELLS % partition.size == 0


def _settled(columns: Columns, terms: Terms, judged: Judged) -> tuple[Columns, Terms]:
    """Return columns and terms with what the first file settles of them."""
    chosen = judged.gathered.chosen
    if chosen is None:
        return columns, terms
    score = None if chosen.probs is not None else chosen.score
    return replace(columns, score=score, label=chosen.label), of_columns(terms, chosen)


def _refuse_other_classes(terms: Terms, judged: Judged, *, shown: str) -> None:
    """
    Refuse a file whose classes are not those of the files before, or stand in another order.

    Raises:
        InputProblem: If they are not.
    """
    chosen = judged.gathered.chosen
    if terms.classes is None or chosen is None or chosen.classes == terms.classes.names:
        return
    msg = f"{shown}: its classes are {listing(chosen.classes)}, those before {listing(terms.classes.names)}"
    raise InputProblem(msg, "give all files the same classes in one order: where two tie, the first counts")


def _refuse_fit_rows(judged: Judged, artifact: str | None) -> None:
    if judged.fitted_rows:
        msg = f"these are the {judged.table.total_rows:,} rows that {artifact} was fitted on"
        raise InputProblem(msg, "judge it by rows it has not seen: a state keeps what it counts")


def _incoming(judged: Judged, terms: Terms, *, shown: str, named: str | None) -> Incoming:
    """Return a batch with the digest of its rows: of the raw scores, whatever artifact is applied."""
    found = _digest(judged)
    identified = judged.gathered.aside.identified
    if identified is None:
        return Incoming(named or found, found, shown, _within(judged, terms.partition))
    ids, score, label, counts = identified.columns()
    state = hashlib.sha256(found.encode())
    state.update(np.sort(ids).astype("<u8").tobytes())
    content, found = found, f"sha256:{state.hexdigest()}"
    gathered = judged.gathered
    distinct = max(table.distinct for table in gathered.tables.values())
    return Incoming(
        named or found,
        found,
        shown,
        Rows(ids, score, label, counts),
        gathered.id_kinds,
        content=content,
        distinct=distinct,
        ids_renamed=gathered.ids_renamed,
    )


def _digest(judged: Judged) -> str:
    """
    Return what tells the rows of a batch.

    A map of several classes may move rows into the view that is judged, so that it takes the raw confidence
    and what is judged to tell them.
    """
    tables = judged.gathered.tables
    if judged.classes is None:
        return digest(tables[RAW])
    state = hashlib.sha256("".join(digest(tables[key]) for key in sorted(tables)).encode())
    return f"sha256:{state.hexdigest()}"


def _within(judged: Judged, partition: Partition) -> Table:
    """Return the table with no cell of its grid, where it is one, cut by a cell of the partition."""
    if partition.outputs:
        return judged.table
    return parted(judged.table, Bins(Binning.EQUAL_WIDTH, partition.edges), again=judged.again)


def _together(sources: Sequence[InputSummary]) -> InputSummary | None:
    """Return what was read from all files."""
    if not sources:
        return None
    return replace(
        sources[0],
        files=tuple(file for one in sources for file in one.files),
        rows=sum(one.rows for one in sources),
        dropped=sum(one.dropped for one in sources),
        clipped=sum(one.clipped for one in sources),
        notes=tuple(dict.fromkeys(note for one in sources for note in one.notes)),
        classes=_classes_together([one.classes for one in sources if one.classes is not None]),
    )


def _classes_together(read: Sequence[ClassesRead]) -> ClassesRead | None:
    if not read:
        return None
    return replace(
        read[0],
        tied=sum(one.tied for one in read),
        normalised=sum(one.normalised for one in read),
        elsewhere=sum(one.elsewhere for one in read),
    )
