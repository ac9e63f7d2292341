"""
What the footer of a Parquet file says of rows and types, held against itself.

Numbers of rows and types stand in several places of a footer; the decoder follows one of them without a word.
"""

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from calibcli.errors import InputProblem

if TYPE_CHECKING:
    import pyarrow.parquet as pq

DAMAGED = "the file may be cut short or damaged: compare its size with the source"


def rows_of_groups(file: "pq.ParquetFile", *, shown: str) -> list[int]:
    """
    Return the number of rows of each row group.

    Raises:
        InputProblem: If the footer counts others in all.
    """
    rows = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    if min(rows, default=0) < 0 or sum(rows) != file.metadata.num_rows:
        total = f"its footer counts {file.metadata.num_rows:,} rows, and its row groups {sum(rows):,}"
        msg = f"{shown} cannot be read as Parquet: {total}"
        raise InputProblem(msg, DAMAGED)
    return rows


def decode_one(file: "pq.ParquetFile", group: int, names: Sequence[str] | None) -> None:
    """
    Decode the first row of a row group, as must be done before a column chunk is looked at.

    pyarrow ends the process where one is looked at that is encrypted, and raises where one is decoded.
    """
    next(file.iter_batches(1, [group], None if names is None else list(names)), None)


def encrypted(error: Exception, *, shown: str) -> InputProblem | None:
    """Return what there is to say where pyarrow lacks a key; None where it says something else."""
    words = str(error)
    if "decrypt" not in words:
        return None
    what = "is encrypted" if "no decryption" in words else "has encrypted columns among those to be read"
    msg = f"{shown} {what}, and calibcli holds no keys"
    return InputProblem(msg, "decrypt it with what wrote it: calibcli reads Parquet in clear")


class Chunks:
    """
    What a footer says of the columns that are read, held against itself as their rows come.

    The decoder takes as many rows of a row group as that group counts, and passes over further values of its
    columns; it takes the type that the schema names. A column chunk is looked at only once it was decoded:
    pyarrow ends the process where one is looked at that is encrypted.

    Args:
        file: The file.

        groups: The row groups that are read, in order.

        names: The columns that are read; None for all.

        shown: The file's name in messages.
    """

    def __init__(
        self, file: "pq.ParquetFile", *, groups: Sequence[int], names: list[str] | None, shown: str
    ) -> None:
        self._file, self._names, self._shown = file, names, shown
        leaves = [(place, file.schema.column(place)) for place in range(len(file.schema))]
        if names is not None:
            known = set(names)
            leaves = [one for one in leaves if {one[1].path, one[1].path.partition(".")[0]} & known]
        self._leaves = [(at, leaf.path, leaf.physical_type, leaf.max_repetition_level) for at, leaf in leaves]
        self._groups = deque((group, file.metadata.row_group(group).num_rows) for group in groups)
        self._ahead = 0

    def came(self, rows: int) -> None:
        """Look at the row groups that so many further rows are from."""
        self._ahead += rows
        while self._ahead > 0 and self._groups:
            group, count = self._groups.popleft()
            self._check(group, count)
            self._ahead -= count

    def end(self) -> None:
        """Look at what is left, which counts no rows; refuse rows that did not come."""
        lost = sum(count for _, count in self._groups) - self._ahead
        if lost:
            msg = f"{self._shown} cannot be read as Parquet: its pages end {lost:,} rows too soon"
            raise InputProblem(msg, DAMAGED)
        for group, count in self._groups:
            decode_one(self._file, group, self._names)
            self._check(group, count)

    def _check(self, group: int, rows: int) -> None:
        about = self._file.metadata.row_group(group)
        for place, path, kind, repeated in self._leaves:
            chunk = about.column(place)
            values, stored = chunk.num_values, chunk.physical_type
            # A list has a value for each of its elements, and one where it is empty.
            if values == rows or (repeated and values > rows > 0):
                if stored == kind:
                    continue
                found = f"{stored} where the schema says {kind}"
            else:
                found = f"{values:,} values for {rows:,} rows"
            msg = f"{self._shown}, column {path!r}: row group {group + 1} has {found}"
            raise InputProblem(msg, DAMAGED)
