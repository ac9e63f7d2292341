"""
Rows of several classes: columns of numbers, lists or Spark vectors to
checked probabilities, and what they predict.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calibcli.data.arrays import (
    Booleans,
    Column,
    Decoded,
    floats,
    is_number,
    nulls,
    plain,
    value_type,
    without_nulls,
)
from calibcli.names import Scale
from calibcli.stats.table.score_table import Floats, Integers
from calibcli.values import dataclass

_PLAIN = ({pa.float32()}, {pa.float64()})

_VECTOR = {"type", "size", "indices", "values"}


def is_list_of_numbers(kind: pa.DataType) -> bool:
    """Whether a column type holds a list of numbers, or a Spark vector, for every row."""
    kind = value_type(kind)
    if _is_list(kind):
        return is_number(value_type(cast("Any", kind).value_type))
    return pa.types.is_struct(kind) and {field.name for field in kind} == _VECTOR


def matrix_of_batch(batch: pa.RecordBatch, names: Sequence[str]) -> Floats | None:
    """Return columns side by side, shape (n, K), in one go; None where it takes a look at each."""
    some = batch.select(list(names))
    if not batch.num_rows or set(some.schema.types) not in _PLAIN:
        return None
    matrix = np.array(some.to_tensor(null_to_nan=True, row_major=True).to_numpy(), np.float64, order="C")
    # A minimum is NaN if anything is.
    return None if np.isnan(matrix.min()) else matrix


def lists_of(column: Column) -> Column:
    """Return a column of lists or vectors without what may stand around them, views as plain lists."""
    column = plain(column)
    if isinstance(column, pa.DictionaryArray):
        column = plain(column.dictionary_decode())
    views = pa.types.is_list_view(column.type) or pa.types.is_large_list_view(column.type)
    return _without_views(column) if views else column


def list_lengths(column: Column) -> Integers:
    """Return how many numbers each row's list holds, 0 where there is none; shape (n,)."""
    if pa.types.is_struct(column.type):
        struct = cast("pa.StructArray", column)
        dense = _offsets_lengths(struct.field("values"))
        size = floats(struct.field("size"))
        whole = size.values if size.missing is None else np.where(size.missing, dense, size.values)
        return np.asarray(whole, np.int64)
    if pa.types.is_fixed_size_list(column.type):
        lengths = np.full(len(column), cast("Any", column.type).list_size, np.int64)
    else:
        lengths = _offsets_lengths(column)
    lost = nulls(column)
    return lengths if lost is None else np.where(lost, 0, lengths)


def matrix_of_lists(column: Column, count: int) -> Decoded[np.float64]:
    """
    Return the lists of a column as the rows of a matrix, shape (n,
    count), and the rows that lack a value.
    """
    lost = nulls(column)
    missing = np.zeros(len(column), np.bool_) if lost is None else lost
    if pa.types.is_struct(column.type):
        matrix, gaps = _of_vectors(cast("pa.StructArray", column), count)
    else:
        matrix = np.zeros((len(column), count))
        gaps = np.zeros(len(column), np.bool_)
        flat = floats(_flattened(column.filter(column.is_valid()) if lost is not None else column))
        matrix[~missing] = flat.values.reshape(-1, count)
        if flat.missing is not None:
            gaps[~missing] = flat.missing.reshape(-1, count).any(axis=1)
    missing = missing | gaps
    return Decoded(matrix, missing if missing.any() else None)


def _of_vectors(column: pa.StructArray, count: int) -> tuple[Floats, Booleans]:
    """Return Spark vectors, dense (type 1) and sparse (type 0), as rows."""
    values, indices = column.field("values"), column.field("indices")
    sparse = floats(column.field("type")).values == 0
    lengths = _offsets_lengths(values)
    row = np.repeat(np.arange(len(column)), lengths)
    within = np.arange(row.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    flat = floats(_flattened(values))
    place = within.astype(np.int64)
    if sparse.any():
        place[sparse[row]] = floats(_flattened(indices)).values.astype(np.int64)
    matrix = np.zeros((len(column), count))
    matrix[row, place] = flat.values
    gaps = np.zeros(len(column), np.bool_)
    if flat.missing is not None:
        gaps[row[flat.missing]] = True
    return matrix, gaps


def _without_views(column: Column) -> Column:
    """Return views of lists as lists; pyarrow 26's own cast gets the end of the last one wrong."""
    lost = nulls(column)
    valid = None if lost is None else pa.py_buffer(np.packbits(~lost, bitorder="little").data)
    ends = np.concatenate(([0], np.cumsum(_offsets_lengths(column))))
    kind = pa.large_list(cast("Any", column.type).value_type)
    return pa.Array.from_buffers(
        kind, len(column), [valid, pa.py_buffer(ends.data)], children=[_flattened(column)]
    )


def _is_list(kind: pa.DataType) -> bool:
    plain_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return plain_list or pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind)


def _flattened(column: Column) -> Column:
    return cast("Column", cast("Any", column).flatten())


def _offsets_lengths(column: Column) -> Integers:
    """Return the lengths of the lists of a column, 0 where there is none."""
    lengths = cast("Column", cast("Any", column).value_lengths())
    lost = nulls(lengths)
    values = np.from_dlpack(without_nulls(lengths)).astype(np.int64)
    return values if lost is None else np.where(lost, 0, values)


# How far a row's probabilities may be from summing to one: float32 exports are off by 1e-6.
SUM_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class ClassRows:
    """
    Rows with a probability for each class.

    Args:
        label: Shape (n,), the place of the class that is right.
        predicted: Shape (n,), the place of the most probable class, the first of several.
        tied: Rows where several classes are the most probable.
    """

    probability: Floats
    label: Integers
    predicted: Integers
    tied: int

    @classmethod
    def of(cls, probability: Floats, label: Integers) -> "ClassRows":
        """Return rows with what they predict."""
        predicted = probability.argmax(axis=1)
        top = probability[np.arange(label.size), predicted]
        tied = int(np.count_nonzero((probability == top[:, None]).sum(axis=1) > 1))
        return cls(probability, label, predicted, tied)

    @property
    def confidence(self) -> Floats:
        """The largest probability of each row, shape (n,)."""
        return np.asarray(self.probability[np.arange(self.label.size), self.predicted])

    @property
    def correct(self) -> Booleans:
        """Whether the most probable class is the right one, shape (n,)."""
        return np.asarray(self.predicted == self.label)

    def some(self, which: npt.NDArray[np.intp]) -> "ClassRows":
        """Return some of the rows."""
        return ClassRows(self.probability[which], self.label[which], self.predicted[which], self.tied)

    def of_class(self, place: int) -> tuple[Floats, Booleans]:
        """Return the probability of one class, and whether it is the right one; each of shape (n,)."""
        return self.probability[:, place], self.label == place


def on_class_scale(values: Floats, scale: Scale) -> Floats:
    """Return rows of scores as rows of probabilities, shape (n, K): logits by the softmax."""
    match scale:
        case Scale.PROB:
            return values
        case Scale.LOGPROB:
            with np.errstate(over="ignore"):
                return np.asarray(np.exp(values))
        case Scale.PERCENT:
            return np.asarray(values / 100.0)
        case Scale.LOGIT:
            top = values.max(axis=1, keepdims=True)
            # A row whose largest logit is infinite is certain of that class.
            with np.errstate(invalid="ignore"):
                shifted = np.where(np.isinf(top) & (values == top), 0.0, values - top)
            power = np.exp(shifted)
            return np.asarray(power / power.sum(axis=1, keepdims=True))


def sums_off(probability: Floats) -> tuple[Booleans, Floats]:
    """Return which rows do not sum to one within 1e-3, shape (n,), and the sums."""
    total = probability.sum(axis=1)
    return np.asarray(~(np.abs(total - 1.0) <= SUM_TOLERANCE)), total


def normalised(probability: Floats, which: Booleans, total: Floats) -> Floats:
    """Return rows divided by their sums where that was asked for; such a sum must be above 0 and finite."""
    if not which.any():
        return probability
    result = probability.copy()
    result[which] /= total[which, None]
    return result
