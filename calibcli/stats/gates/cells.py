"""What a gate counts rows by, and the sums it keeps: whole numbers, which add exactly in any order.

For a discrete artifact these are its outputs, with the rows and the positive rows of each. For any other
score [0, 1] is cut into bins fixed in advance and every bin into equal cells; of a cell the rows are kept by
label, and how far their scores lie below its upper edge, summed in units of 2^-52. A row's distance is
rounded by itself, so the sums are those of the rows, however they were split, ordered or tabled. Where
segments are judged there are such cells for every combination of the values of their columns.
"""

from collections.abc import Iterable, Sequence
from math import prod
from operator import add
from typing import Annotated, Self

import numpy as np

from calibcli.codec import ABSENT, DIFFERENT, OR_NULL, Ascending, Between, Declared, Kept, Node, Size
from calibcli.errors import UsageProblem
from calibcli.names import Binning
from calibcli.options.numerals import plural
from calibcli.stats.recalibrators.segments import SegmentColumn
from calibcli.stats.table import Floats, Indices, Integers, ScoreTable, run_starts, sliced
from calibcli.stats.table import grid as cells
from calibcli.stats.table.bins import ATOMS, NO_ATOMS, Bins, bin_index, equal_width_edges, segment_sums
from calibcli.stats.table.grid import UNIT, GridTable, Table, placed
from calibcli.values import dataclass

# Scores are known to a cell: of so many the loss of evidence is beyond notice (see `Bets`).
_LEAST_CELLS = 720
# A state may have so many.
_MOST = 1_000_000


# Scores of segments are known to a cell of so many: bounds of a bias use its mean and its ends.
_SEGMENT_CELLS = 16


@dataclass(frozen=True, slots=True)
class FrozenSegments(Declared):
    """Segments as they were when a state was begun; nothing is frozen before a file is read."""

    on: Annotated[tuple[str, ...], Size(1), DIFFERENT, "The columns whose values make segments."]
    depth: Annotated[int, Between(1), "Intersections of the values of up to so many columns."]
    most_values: Annotated[int, Between(1), "Most frequent values of a column that are segments."]
    least_rows: Annotated[int, Between(1), "Segments with so many rows at the first look are tested."]
    categorical: Annotated[tuple[str, ...], "Columns of numbers that are names."] = ()
    numeric: Annotated[tuple[str, ...], "Columns of few whole numbers that are cut all the same."] = ()
    columns: Annotated[tuple[SegmentColumn, ...], "How the values of each column are told apart."] = ()
    judged: Annotated[
        tuple[tuple[int, ...], ...],
        Between(-1),
        "The segments that are tested: the level of each column, -1 where it is any.",
    ] = ()

    def check(self, node: Node) -> None:
        """Refuse columns that are not those named, and segments that there are not."""
        names = tuple(one.name for one in self.columns)
        if names != self.on:
            msg = f"has columns {', '.join(names)}, should have {', '.join(self.on)}"
            raise node.child("columns").problem(msg)
        place = node.child("judged")
        within = all(
            len(level) == len(self.sizes)
            and all(-1 <= one < size for one, size in zip(level, self.sizes, strict=True))
            and sum(one >= 0 for one in level) <= self.depth
            for level in self.judged
        )
        if not self.judged or not within or len(set(self.judged)) < len(self.judged):
            msg = "should name different segments of these columns, one at least"
            raise place.problem(msg)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many levels each column has."""
        return tuple(one.sizes[0] for one in self.columns)

    @property
    def words(self) -> str:
        """What was asked, in words."""
        kinds = (("categorical", self.categorical), ("numeric", self.numeric))
        told = [f"--{name} {','.join(found)}" for name, found in kinds if found]
        requested = (
            f"--depth {self.depth} --max-values {self.most_values} --min-segment-rows {self.least_rows}"
        )
        return " ".join((f"--on {','.join(self.on)}", requested, *told))


@dataclass(frozen=True, slots=True)
class Partition(Declared):
    """What rows are counted by."""

    outputs: Annotated[
        tuple[float, ...],
        Between(0.0, 1.0),
        Size(1),
        Ascending(),
        OR_NULL,
        "All values that the score can have, ascending; null where bins are used.",
    ] = ()
    bins: Annotated[int, Between(0, _MOST), "Number of equal-width bins; 0 where outputs are listed."] = 0
    per_bin: Annotated[int, Between(1, _MOST), "Equal cells in each bin."] = 1
    segments: Annotated[
        FrozenSegments | None,
        ABSENT,
        "The columns by whose values, too, rows are counted; absent where no rule speaks of segments. Cells "
        "are numbered by the levels of the columns, the first first, and then by the score.",
    ] = None

    def check(self, node: Node) -> None:
        """Refuse bins beside outputs, and more cells than a state may have."""
        if self.outputs:
            node.child("bins").expect(0)
            node.child("per_bin").expect(1)
            if self.segments is not None:
                msg = "is there, and outputs are listed"
                raise node.child("segments").problem(msg)
            return
        node.child("bins").whole(1, _MOST)
        if self.size > _MOST:
            msg = f"has {self.size:,} cells, should have at most {_MOST:,}"
            raise node.problem(msg)

    @classmethod
    def of_bins(cls, bins: int, *, halved: bool = False) -> Self:
        """Return a partition of bins whose cells nest those of a grid table where any such cells do."""
        step = 2 if halved else 1
        least = max(step, -(-_LEAST_CELLS // bins))
        least += least % step
        nested = (n for n in range(least, 4 * least + 1, step) if cells.CELLS % (bins * n) == 0)
        return cls(bins=bins, per_bin=next(nested, least))

    @classmethod
    def of_segments(cls, segments: FrozenSegments) -> Self:
        """Return cells for every combination of the values of some columns."""
        found = cls(bins=_SEGMENT_CELLS, segments=segments)
        if found.size > _MOST:
            msg = (
                f"--on {','.join(segments.on)} makes {found.size // _SEGMENT_CELLS:,} combinations of values"
            )
            most = f"a state keeps {_MOST // _SEGMENT_CELLS:,} at most"
            hint = f"{most}: lower --max-values, or name fewer columns"
            raise UsageProblem(msg, hint)
        return found

    @property
    def size(self) -> int:
        """Number of outputs or cells."""
        return len(self.outputs) or self.cells * (1 if self.segments is None else prod(self.segments.sizes))

    @property
    def cells(self) -> int:
        """Number of cells that [0, 1] is cut into."""
        return self.bins * self.per_bin

    @property
    def width(self) -> float:
        """Width of a cell; 0 where scores are known exactly."""
        return 0.0 if self.outputs else 1.0 / self.cells

    @property
    def upper(self) -> Floats:
        """The output, or the upper edge of the cell; shape (n_outputs,) or (cells,)."""
        return np.array(self.outputs) if self.outputs else self.edges[1:]

    @property
    def as_bins(self) -> Bins:
        """The outputs by themselves, or the bins."""
        return ATOMS if self.outputs else Bins(Binning.EQUAL_WIDTH, equal_width_edges(self.bins))

    @property
    def places(self) -> Floats:
        """The output, or the right edge of the bin."""
        return np.array(self.outputs) if self.outputs else equal_width_edges(self.bins)[1:]

    @property
    def edges(self) -> Floats:
        """The edges of the cells, shape (cells + 1,)."""
        return equal_width_edges(self.cells)

    @property
    def described(self) -> str:
        """The words reports use for what error is judged over."""
        if self.segments is not None:
            many = len(self.segments.judged)
            return f"{plural(many, 'segment')} by {', '.join(self.segments.on)}"
        if self.outputs:
            if (many := len(self.outputs)) == 1:
                return "the one value of the score"
            return f"each of the {many:,} values of the score by itself"
        return f"{self.bins} equal-width {'bin' if self.bins == 1 else 'bins'}"


@dataclass(frozen=True, slots=True)
class Sums:
    """Rows counted by a partition; every tuple has its size.

    Args:
        below_positive: Sum over rows with label 1 of the distance from the score up to the cell's upper edge,
            in units of 2^-52; 0 where scores are outputs.
        below_negative: The same over rows with label 0.
    """

    rows: tuple[int, ...]
    positive: tuple[int, ...]
    below_positive: tuple[int, ...]
    below_negative: tuple[int, ...]

    @classmethod
    def none(cls, size: int) -> Self:
        return cls.at((), ((),) * 4, size=size)

    @classmethod
    def at(cls, cells: Sequence[int], columns: Iterable[Sequence[int]], *, size: int) -> Self:
        """Return sums of some cells, all others without rows."""
        found = []
        for values in columns:
            column = [0] * size
            for place, value in zip(cells, values, strict=True):
                column[place] = value
            found.append(tuple(column))
        return cls(*found)

    @property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """The four columns in the order of the constructor."""
        return self.rows, self.positive, self.below_positive, self.below_negative

    @property
    def total_rows(self) -> int:
        return sum(self.rows)

    @property
    def total_positive(self) -> int:
        return sum(self.positive)

    def __add__(self, other: "Sums") -> "Sums":
        pairs = zip(self.columns, other.columns, strict=True)
        if len(self.rows) != len(other.rows):
            msg = f"sums of {len(self.rows):,} and of {len(other.rows):,} cells"
            raise ValueError(msg)
        return Sums(*(tuple(map(add, mine, theirs)) for mine, theirs in pairs))


_Count = Annotated[int, Between(0, 2**127)]
_Distance = Annotated[int, Between(-(2**53), 2**127)]
_EACH = Size(of="cells", reason="one for each cell")


@dataclass(frozen=True, slots=True)
class OccupiedCells(Declared):
    """Rows counted by a partition, of the outputs or cells that hold some."""

    cells: Annotated[tuple[int, ...], Ascending(), "Places of the outputs or cells, from 0 on."]
    rows: Annotated[tuple[_Count, ...], _EACH, "Number of rows."]
    positive: Annotated[tuple[_Count, ...], _EACH, "How many of them have label 1."]
    below_positive: Annotated[
        tuple[_Distance, ...],
        _EACH,
        "Sums over rows with label 1 of the distance from the score up to the edge of its cell, in units of "
        "2^-52; 0 where scores are outputs.",
    ]
    below_negative: Annotated[tuple[_Distance, ...], _EACH, "The same over rows with label 0."]

    @classmethod
    def of(cls, sums: Sums) -> Self:
        some = tuple(place for place, rows in enumerate(sums.rows) if rows)
        return cls(some, *(tuple(column[place] for place in some) for column in sums.columns))

    def sums(self, node: Node) -> Sums:
        """Return the sums over every cell of the partition that is given."""
        columns = (self.rows, self.positive, self.below_positive, self.below_negative)
        return Sums.at(self.cells, columns, size=node.given["partition"].size)

    def check(self, node: Node) -> None:
        """Refuse places that there are not, more positive rows than rows, and distances that no score has."""
        partition = node.given["partition"]
        if self.cells and self.cells[-1] >= partition.size:
            msg = f"is {self.cells[-1]}, should be below {partition.size}"
            raise node.child("cells").items()[-1].problem(msg)
        columns = (self.rows, self.positive, self.below_positive, self.below_negative)
        for rows, ones, *below in zip(*columns, strict=True):
            if ones > rows:
                msg = f"has {ones:,} of {rows:,} rows in one place"
                raise node.child("positive").problem(msg)
            names = ("below_positive", "below_negative")
            for name, found, count in zip(names, below, (ones, rows - ones), strict=True):
                if not plausible_distance(found, count, width=partition.width):
                    msg = f"has {found:,} for {count:,} rows of one place, which no scores there give"
                    raise node.child(name).problem(msg)


# Sums as a document keeps them.
SPARSE = Kept(OccupiedCells, OccupiedCells.of, OccupiedCells.sums)


def plausible_distance(found: int, count: int, *, width: float) -> bool:
    """Whether a sum of distances may be that of so many rows of one cell; outputs have none."""
    if width == 0.0:
        return found == 0
    # Each is rounded twice.
    return -count <= found <= count * (width * UNIT + 1.0)


def sums_of(table: Table, partition: Partition) -> Sums:
    if table.weighted:
        msg = "a state counts rows, and importance weights are no counts"
        raise UsageProblem(msg, "leave out --state, or pass --weights-are frequency if weights count rows")
    return _sums_by_output(table, partition) if partition.outputs else _sums_by_cell(table, partition)


def table_of(sums: Sums, partition: Partition) -> ScoreTable:
    """Return a table of one score for each output or cell that holds rows: the output, or the mean there."""
    rows, ones = (
        np.array(one, np.int64).reshape(-1, partition.upper.size).sum(axis=0) for one in sums.columns[:2]
    )
    some = rows > 0
    score = partition.upper
    if not partition.outputs:
        both = np.array([a + b for a, b in zip(*sums.columns[2:], strict=True)], np.float64)
        below = both.reshape(-1, partition.cells).sum(axis=0)
        mean = score - below / np.maximum(rows, 1) / UNIT
        edges = partition.edges
        score = np.clip(mean, np.append(0.0, np.nextafter(edges[1:-1], 1.0)), edges[1:])
    return ScoreTable(score[some], rows[some], ones[some])


def sums_of_leaves(leaves: sliced.KeyedSums, partition: Partition) -> Sums:
    """Count rows that were added up by the levels of columns and by the cells of coarse grids."""
    fine = cells.upper_edge(leaves.point)
    place = leaves.part * partition.cells + bin_index(partition.edges, fine)
    rows, ones, *below = leaves.whole
    return _summed_at(place, fine, rows, ones, [(one, None) for one in below], partition)


def _sums_by_output(table: Table, partition: Partition) -> Sums:
    if isinstance(table, GridTable):
        raise UsageProblem(NO_ATOMS, "pass --exact")
    outputs = np.array(partition.outputs)
    place = np.minimum(np.searchsorted(outputs, table.score), outputs.size - 1)
    if not np.array_equal(outputs[place], table.score):
        msg = "a score is none of the outputs that the gate counts by"
        raise ValueError(msg)
    nothing = [0] * place.size
    counts = (table.rows.tolist(), table.positive_rows.tolist(), nothing, nothing)
    return Sums.at(place.tolist(), counts, size=outputs.size)


def _sums_by_cell(table: Table, partition: Partition) -> Sums:
    rows, ones = table.rows, table.positive_rows
    below: list[tuple[Integers, Integers | None]]
    if isinstance(table, GridTable):
        fine, below = table.edge, [(table.below_positive, None), (table.below_negative, None)]
    else:
        # Through the same fine cells as a grid table, so that it does not matter which the table was.
        code, distance = placed(table.score)
        fine, whole = cells.upper_edge(code), distance.astype(np.int64)
        below = [(whole, ones), (whole, rows - ones)]
    return _summed_at(bin_index(partition.edges, table.upper), fine, rows, ones, below, partition)


def _summed_at(
    place: Integers,
    fine: Floats,
    rows: Integers,
    ones: Integers,
    below: Sequence[tuple[Integers, Integers | None]],
    partition: Partition,
) -> Sums:
    """Return sums over cells; `place` is the cell of each entry, ascending, `fine` the edge of the finer cell
    that distances are to, and `below` those of label 1 and of label 0, with how often each counts.
    """
    up = np.rint((partition.edges[1:][place % partition.cells] - fine) * UNIT).astype(np.int64)
    starts = run_starts(place)
    ends = np.append(starts, place.size)
    columns = [segment_sums(rows, ends).tolist(), segment_sums(ones, ends).tolist()]
    for distance, many in zip(below, (ones, rows - ones), strict=True):
        both = zip(_summed(*distance, ends), _summed(up, many, ends), strict=True)
        columns.append([a + b for a, b in both])
    return Sums.at(place[starts].tolist(), columns, size=partition.size)


def _summed(value: Integers, rows: Integers | None, starts: Indices) -> list[int]:
    """Return the sum of value * rows over each segment exactly, whatever its size.

    Values are cut into pieces of so few bits that no sum of them times their rows passes 62 bits.
    """
    count = np.ones_like(value) if rows is None else rows
    bits = 62 - int(count.sum()).bit_length()
    totals = [0] * (starts.size - 1)
    for shift in range(0, 64, bits):
        last = shift + bits >= 64
        piece = value >> shift if last else (value >> shift) & ((1 << bits) - 1)
        found: Sequence[int] = segment_sums(piece * count, starts).tolist()
        totals = [total + (part << shift) for total, part in zip(totals, found, strict=True)]
    return totals
