"""Which rows `--limit` and `--sample` mean: counted in the order of the input before anything is tallied."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibcli.engines.interface import Engine
from calibcli.errors import CalibcliError
from calibcli.names import DataFormat
from calibcli.options.rows import RowsAsked
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.decode import Booleans
from calibcli.readers.files_with_paths import batches_of
from calibcli.readers.fingerprints import Fingerprints
from calibcli.readers.fragments import Fragment, keep
from calibcli.readers.lots import Lots, lowest
from calibcli.readers.pieces import Piece, pieces_of

Chosen = Mapping[str, ChosenColumns]


def with_rows(
    fragments: Sequence[Fragment], chosen: Chosen, rows: RowsAsked, *, engine: Engine
) -> tuple[list[Fragment], dict[str, ChosenColumns]]:
    """
    Return the fragments that hold rows that are meant, and for each file its columns with those rows.

    Args:
        fragments: The input.

        chosen: For each file its columns.

        rows: Which rows are asked for.

        engine: Where fragments are read, if rows are drawn.

    Raises:
        InputProblem: If a fragment cannot be read.
    """
    if rows.limit is not None:
        return _first(fragments, chosen, rows.limit)
    if rows.sample is not None:
        return list(fragments), _drawn(fragments, chosen, rows.sample, seed=rows.seed, engine=engine)
    return list(fragments), dict(chosen)


def _first(
    fragments: Sequence[Fragment], chosen: Chosen, limit: int
) -> tuple[list[Fragment], dict[str, ChosenColumns]]:
    """Return the fragments up to the one with the last row; the files behind it are not read."""
    kept: list[Fragment] = []
    found: dict[str, ChosenColumns] = {}
    left = limit
    for fragment in fragments:
        columns = chosen[fragment.path]
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


def _counted_off(fragment: Fragment, columns: ChosenColumns, left: int) -> tuple[int, int | None]:
    """Return how many rows are lacking after a fragment, or how many rows its file has up to the last one."""
    if fragment.format is DataFormat.PARQUET and not columns.rows.chooses:
        rows = _stored_rows(fragment)
        return (left - rows, None) if rows < left else (0, fragment.first_row + left)
    keep([fragment])
    for first_row, count, asked in _asked(fragment, columns):
        rows = count if asked is None else int(np.count_nonzero(asked))
        if rows >= left:
            within = left - 1 if asked is None else int(np.flatnonzero(asked)[left - 1])
            return 0, first_row + within + 1
        left -= rows
    return left, None


def _drawn(
    fragments: Sequence[Fragment], chosen: Chosen, sample: int, *, seed: int, engine: Engine
) -> dict[str, ChosenColumns]:
    """Return for each file which of its rows are among those with the lowest lots."""
    keep(fragments)
    numbered = {
        path: replace(columns, rows=replace(columns.rows, lots=Lots(place, seed)))
        for place, (path, columns) in enumerate(chosen.items())
    }
    lots = np.zeros(0, np.uint64)
    for found in engine.map(_Lowest(sample), pieces_of(fragments, numbered)):
        if isinstance(found, CalibcliError):
            raise found
        lots = lowest(np.concatenate((lots, found)), sample)
    highest = int(lots.max()) if lots.size == sample else None
    return {
        path: replace(columns, rows=replace(columns.rows, lots=Lots(place, seed, highest)))
        for place, (path, columns) in enumerate(numbered.items())
    }


@dataclass(frozen=True, slots=True)
class _Lowest:
    """The lowest lots of the rows of a fragment, the same work for all; a problem is returned, not raised."""

    count: int

    def __call__(self, piece: Piece) -> Fingerprints | CalibcliError:
        fragment, columns = piece.fragment, piece.columns
        lots = np.zeros(0, np.uint64)
        own = columns.rows.lots
        try:
            for first_row, count, asked in self._batches(fragment, columns):
                drawn = np.zeros(0, np.uint64) if own is None else own.of(first_row, count)
                lots = lowest(np.concatenate((lots, drawn if asked is None else drawn[asked])), self.count)
        except CalibcliError as problem:
            return problem
        return lots

    def _batches(
        self, fragment: Fragment, columns: ChosenColumns
    ) -> Iterator[tuple[int, int, Booleans | None]]:
        if fragment.format is not DataFormat.PARQUET or columns.rows.conditions:
            yield from _asked(fragment, columns)
            return
        rows, at = _stored_rows(fragment), 0
        while at < rows:
            count = min(1 << 17, rows - at)
            yield fragment.first_row + at, count, None
            at += count


def _asked(fragment: Fragment, columns: ChosenColumns) -> Iterator[tuple[int, int, Booleans | None]]:
    """Yield for each batch the rows of the file before it, its rows, and which of them are asked for."""
    first_row = fragment.first_row
    for batch in batches_of(fragment, columns):
        asked = columns.rows.of(batch, first_row=first_row, shown=fragment.shown)
        yield first_row, batch.num_rows, asked
        first_row += batch.num_rows


def _stored_rows(fragment: Fragment) -> int:
    """Return how many rows a fragment of a Parquet file has, by its footer."""
    from calibcli.readers.parquet import row_group_rows

    sizes = row_group_rows(fragment)
    return sum(sizes if fragment.row_groups is None else (sizes[group] for group in fragment.row_groups))
