"""Columns of tables as text: base64 of little-endian numbers, and back with every invariant checked."""

import base64
import binascii
from collections.abc import Mapping
from typing import Literal

import numpy as np
import numpy.typing as npt

from calibcli.codec import Node
from calibcli.errors import InputProblem
from calibcli.table import cells
from calibcli.table.grid import GridTable, Table
from calibcli.table.score_table import Floats, Integers, ScoreTable, WeightColumns

# Whole numbers below this are exact as doubles, and so are sums of them that stay below.
_MOST_ROWS = 1 << 53
Column = Literal[
    "score", "rows", "positive_rows", "weight", "positive", "weight_sq", "positive_sq",
    "code", "below_positive", "below_negative",
]  # fmt: skip
_EXACT: tuple[Column, ...] = ("score", "rows", "positive_rows")
_WEIGHTS: tuple[Column, ...] = ("weight", "positive", "weight_sq", "positive_sq")
_GRID: tuple[Column, ...] = ("code", "rows", "positive_rows", "below_positive", "below_negative")
_UNIT = float(1 << 52)


def columns_of(table: Table) -> dict[Column, str]:
    """Return every stored column of a table as text, by name."""
    names = _GRID if isinstance(table, GridTable) else (*_EXACT, *(_WEIGHTS if table.weighted else ()))
    return {name: _text(column) for name, column in zip(names, table.columns, strict=True)}


def table_of(node: Node, *, kind: str, distinct: int) -> Table:
    """
    Return the table whose columns a document has.

    Args:
        node: The columns by name.

        kind: "exact" or "grid".

        distinct: How long each column is.

    Raises:
        DocumentProblem: If they are no table, with the column.
    """
    if kind == "grid":
        node.only(*_GRID)
        return _grid({name: _whole(node.child(name), distinct) for name in _GRID}, node)
    weighted = "weight" in node.members()
    node.only(*_EXACT, *(_WEIGHTS if weighted else ()))
    rows, positive = (_whole(node.child(name), distinct) for name in _EXACT[1:])
    _check_counts(rows, positive, node, least=0 if weighted else 1)
    sums = None
    if weighted:
        sums = WeightColumns(*(_real(node.child(name), distinct) for name in _WEIGHTS))
        _check_weights(sums, node)
    try:
        return ScoreTable(_real(node.child("score"), distinct), rows, positive, sums)
    except ValueError as error:
        raise node.problem(str(error)) from None


def _text(column: npt.NDArray[np.generic]) -> str:
    return base64.b64encode(column.astype(column.dtype.newbyteorder("<"), copy=False).tobytes()).decode(
        "ascii"
    )


def _bytes(node: Node, count: int) -> bytes:
    try:
        content = base64.b64decode(node.text(), validate=True)
    except (binascii.Error, ValueError):
        content = b"?"
    if len(content) != 8 * count:
        msg = f"is not the base64 text of {count:,} numbers of eight bytes"
        raise node.problem(msg)
    return content


def _whole(node: Node, count: int) -> Integers:
    return np.frombuffer(_bytes(node, count), "<i8").astype(np.int64)


def _real(node: Node, count: int) -> Floats:
    column = np.frombuffer(_bytes(node, count), "<f8").astype(np.float64)
    if not np.isfinite(column).all():
        msg = "holds a number that is not finite"
        raise node.problem(msg)
    return column


def _check_counts(rows: Integers, positive: Integers, node: Node, *, least: int) -> None:
    """Refuse numbers of rows that no rows have."""
    if rows.size and (rows.min() < least or rows.max() >= _MOST_ROWS):
        msg = f"has a number of rows that is not between {least} and {_MOST_ROWS - 1:,}"
        raise node.child("rows").problem(msg)
    if float(rows.sum(dtype=np.float64)) >= _MOST_ROWS:
        msg = f"adds up to {_MOST_ROWS:,} rows or more"
        raise node.child("rows").problem(msg)
    if np.any(positive < 0) or np.any(positive > rows):
        msg = "lies outside 0 .. rows"
        raise node.child("positive_rows").problem(msg)


def _check_weights(sums: WeightColumns, node: Node) -> None:
    """Refuse sums of weights that no weights have."""
    for whole, part in (("weight", "positive"), ("weight_sq", "positive_sq")):
        most, some = getattr(sums, whole), getattr(sums, part)
        if np.any(some < 0.0) or np.any(some > most):
            msg = f"lies outside 0 .. {whole}"
            raise node.child(part).problem(msg)


def _grid(columns: Mapping[str, Integers], node: Node) -> GridTable:
    """Return a grid table whose every number some rows have."""
    code, rows, positive = (columns[name] for name in _GRID[:3])
    if code.size and (code[0] < 0 or code[-1] >= cells.CODES or np.any(code[1:] <= code[:-1])):
        msg = f"does not ascend within 0 .. {cells.CODES - 1}"
        raise node.child("code").problem(msg)
    _check_counts(rows, positive, node, least=1)
    # A distance within a cell is below its width; one unit more for rounding.
    widest = np.ceil(cells.WIDTH * _UNIT) + 1.0
    for name, count in (("below_positive", positive), ("below_negative", rows - positive)):
        if np.any(columns[name] < 0) or np.any(columns[name] > count * widest):
            msg = "has a sum of distances that is larger than its cell"
            raise node.child(name).problem(msg)
    try:
        return GridTable(*(columns[name] for name in _GRID))
    except InputProblem as problem:
        raise node.problem(problem.message) from None
