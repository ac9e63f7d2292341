"""The rows of an input as one document, `calibcli.summary/2`: the table that all numbers come from."""

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, cast

import numpy as np
import numpy.typing as npt

from calibcli.codec import (
    ABSENT,
    DIGEST,
    LOOSE,
    Among,
    Between,
    Declared,
    Digest,
    Kept,
    Key,
    Node,
    Since,
    Size,
    Thing,
    version_of,
)
from calibcli.documents.sealed import MOST_BYTES, eight_bytes, in_file, read_document, sealed_text
from calibcli.errors import DocumentProblem, InputProblem
from calibcli.names import LEAST_TWIN_ROWS, Scale, WeightMeaning
from calibcli.options.rows import DocumentSource, RowSource
from calibcli.reports.input import InputSummary, SelectedRows
from calibcli.stats.table import Floats, Integers, ScoreTable, WeightColumns
from calibcli.stats.table import grid as cells
from calibcli.stats.table.grid import CODES, GridTable, Table, digest
from calibcli.values import dataclass, fields, replace
from calibcli.version import __version__

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

# Rounding of sums of squares, and of the few digits that squares of tiny weights have.
_MORE, _TINY = 1.0 + 1e-6, 1e-300


def columns_of(table: Table) -> dict[Column, str]:
    names = _GRID if isinstance(table, GridTable) else (*_EXACT, *(_WEIGHTS if table.weighted else ()))
    return {name: _text(column) for name, column in zip(names, table.columns, strict=True)}


def table_of(node: Node, *, kind: str, distinct: int) -> Table:
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
        _check_weights(sums, rows, positive, node)
    try:
        return ScoreTable(_real(node.child("score"), distinct), rows, positive, sums)
    except ValueError as error:
        raise node.problem(str(error)) from None


def _text(column: npt.NDArray[np.generic]) -> str:
    return base64.b64encode(column.astype(column.dtype.newbyteorder("<"), copy=False).tobytes()).decode(
        "ascii"
    )


def _whole(node: Node, count: int) -> Integers:
    return np.frombuffer(eight_bytes(node, count), "<i8").astype(np.int64)


def _real(node: Node, count: int) -> Floats:
    column = np.frombuffer(eight_bytes(node, count), "<f8").astype(np.float64)
    if not np.isfinite(column).all():
        msg = "holds a number that is not finite"
        raise node.problem(msg)
    return column


def _check_counts(rows: Integers, positive: Integers, node: Node, *, least: int) -> None:
    if rows.size and (rows.min() < least or rows.max() >= _MOST_ROWS):
        msg = f"has a number of rows that is not between {least} and {_MOST_ROWS - 1:,}"
        raise node.child("rows").problem(msg)
    if float(rows.sum(dtype=np.float64)) >= _MOST_ROWS:
        msg = f"adds up to {_MOST_ROWS:,} rows or more"
        raise node.child("rows").problem(msg)
    if np.any(positive < 0) or np.any(positive > rows):
        msg = "lies outside 0 .. rows"
        raise node.child("positive_rows").problem(msg)


def _check_weights(sums: WeightColumns, rows: Integers, positive: Integers, node: Node) -> None:
    """Refuse sums of weights that so many rows, and so many with label 1, cannot have."""
    for whole, part in (("weight", "positive"), ("weight_sq", "positive_sq")):
        most, some = getattr(sums, whole), getattr(sums, part)
        all_of_it = some == most
        if np.any(some < 0.0) or np.any(some > most) or not all_of_it[positive == rows].all():
            msg = f"lies outside 0 .. {whole}, or is less of it where every row has label 1"
            raise node.child(part).problem(msg)
    for total, squares, counted, name in (
        (sums.weight, sums.weight_sq, rows, "weight_sq"),
        (sums.positive, sums.positive_sq, positive, "positive_sq"),
    ):
        # Of weights that add up to the same, one alone has the largest squares, and equal ones the least.
        most = total**2
        least = np.where(counted > 0, most / np.maximum(counted, 1), np.where(total > 0.0, np.inf, 0.0))
        if np.any(squares > _MORE * most + _TINY) or np.any(squares < least / _MORE - _TINY):
            msg = "is no sum of squares of as many weights as there are rows"
            raise node.child(name).problem(msg)


def _grid(columns: Mapping[str, Integers], node: Node) -> GridTable:
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


_MOST_DISTINCT = 1 << 23

# The schema stands behind the names and marks of files.
_HEAD = 1 << 24

_FAMILY = "calibcli.summary/"

_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class How(Declared):
    """How rows were read, as far as others must be read alike to be added."""

    scale: Annotated[Scale, "What the score column held."] = Scale.PROB
    positive: Annotated[str | None, "The label that counted as 1."] = None
    weights_are: Annotated[WeightMeaning | None, "What a weight stands for; null where there was none."] = (
        None
    )
    score_map: Annotated[
        Mapping[str, float] | None,
        ABSENT,
        "The numbers of scores in words, by phrase; absent where scores were numbers.",
    ] = None


@dataclass(frozen=True, slots=True)
class SummaryInput(Declared):
    """What was read, as a summary says it."""

    files: Annotated[tuple[str, ...], Size(1)]
    score: str
    label: str | None
    weight: str | None
    rows: Annotated[int, Between(1)]
    dropped: int
    clipped: int
    notes: tuple[str, ...]
    where: Annotated[tuple[str, ...], "The conditions that rows satisfy."]
    unselected: Annotated[int, "Rows that a condition left out."]
    unopened: Annotated[
        int, ABSENT, "Files that were not opened, as by their paths no row satisfies the conditions."
    ] = 0

    @classmethod
    def of(cls, source: InputSummary) -> Self:
        selected = source.selected
        shared: Any = {one.name: getattr(source, one.name) for one in fields(cls)[:-3]}
        if selected is None:
            return cls(**shared, where=(), unselected=0)
        return cls(**shared, where=selected.where, unselected=selected.unselected, unopened=selected.unopened)

    def source(self, _: Node) -> InputSummary:
        shared: Any = {one.name: getattr(self, one.name) for one in fields(self)[:-3]}
        counted = self.unselected, self.unopened
        selected = SelectedRows(self.where, None, None, None, *counted) if self.where else None
        return InputSummary(**shared, selected=selected)

    def check(self, node: Node) -> None:
        for name, what in (("unselected", "rows"), ("unopened", "files")):
            if getattr(self, name) and not self.where:
                msg = f"counts {what} that no condition left out"
                raise node.child(name).problem(msg)


@dataclass(frozen=True, slots=True)
class StoredTable(Declared):
    """A table in text."""

    kind: Annotated[str, Among(("exact", "grid"))]
    distinct: Annotated[int, Between(1, _MOST_DISTINCT), "How long each column is."]
    columns: Annotated[
        Mapping[Column, str],
        "Base64 of little-endian numbers of eight bytes: doubles score, weight, positive, weight_sq, "
        "positive_sq; whole numbers all others. score, rows and positive_rows, with importance weights the "
        "four of these; or code, rows, positive_rows, below_positive and below_negative.",
    ]
    digest: Annotated[Digest, Since(2), "Fingerprint of the table."]

    @classmethod
    def of(cls, table: Table) -> Self:
        return cls(table.kind, table.distinct, columns_of(table), digest(table))

    def table(self, node: Node) -> Table:
        found = table_of(node.child("columns"), kind=self.kind, distinct=self.distinct)
        if self.digest != digest(found):
            msg = "is not that of the table: the document was changed"
            place = node.child("digest") if node.has("digest") else Node(self.digest, "$.digest")
            raise place.problem(msg, "write it again with `calibcli measure --summary-out`")
        return found

    def check(self, node: Node) -> None:
        if self.kind == "grid":
            node.child("distinct").whole(1, CODES)


@dataclass(frozen=True, slots=True)
class TableDocument(Declared):
    """What `measure --summary-out` writes."""

    SCHEMA: ClassVar = "calibcli.summary/2"
    ORIGIN: ClassVar = {
        "what": "a summary",
        "hint": "a summary is what `calibcli measure --summary-out` writes",
    }

    input: Annotated[InputSummary, Kept(SummaryInput, SummaryInput.of, SummaryInput.source), "What was read."]
    how: Annotated[How, Key("reading"), "How it was read; parts that are added must agree."]
    table: Annotated[Table, Kept(StoredTable, StoredTable.of, StoredTable.table)]
    parts: Annotated[
        tuple[Digest, ...],
        "What tells the rows of each file, or part of a sum, from others: hashes of files and tables. "
        "Empty in older summaries of files.",
    ] = ()

    @property
    def calibcli(self) -> Annotated[str, LOOSE, "The version that wrote it."]:
        """This version, whichever wrote what was read."""
        return __version__

    @property
    def identities(self) -> tuple[str, ...]:
        """What tells the rows of each part from others.

        Where no parts are known, a hash of the table and the names of the files; of many scores the digest of
        the table as well, which summaries with parts have among them.
        """
        return self.parts or (self.first_identity, *self.digest_of_many)

    @property
    def first_identity(self) -> str:
        """What the first version of sums called the rows: a hash of the table and the names of the files."""
        text = "\n".join((digest(self.table), *self.input.files))
        return f"sha256:{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()}"

    @property
    def digest_of_many(self) -> tuple[str, ...]:
        """The digest of the table, where its scores are too many to be alike by chance."""
        return (digest(self.table),) if self.table.distinct >= LEAST_TWIN_ROWS else ()

    @classmethod
    def from_dict(cls, root: Node) -> Self:
        if version_of(root, cls.SCHEMA, **cls.ORIGIN) == 1:
            # In the first version the digest of the table stood at the root.
            stated = DIGEST.read(root.child("digest"))
            rest = {key: member.value for key, member in root.members().items() if key != "digest"}
            root = Node(rest, root.path).knowing(digest=stated)
        return cast("Self", Thing(cls).restored(root))

    def check(self, node: Node) -> None:
        """Refuse parts that speak of different rows."""
        node.child("calibcli").text()
        weights, table = self.how.weights_are, self.table
        if (self.input.weight is None) != (weights is None):
            msg = "does not fit the weight column"
            raise node.child("reading").child("weights_are").problem(msg)
        if table.weighted != (weights is WeightMeaning.IMPORTANCE):
            msg = "has sums of weights, or lacks them, unlike what weights mean"
            raise node.child("table").problem(msg)
        # Rows of weight 0 are in no table, and a frequency stands for more rows than one.
        lost = self.input.rows - table.total_rows
        if (weights is None and lost) or (weights is WeightMeaning.IMPORTANCE and lost < 0):
            msg = f"is {self.input.rows:,}, but the table has {table.total_rows:,} rows"
            raise node.child("input").child("rows").problem(msg)


def summary_text(document: TableDocument) -> str:
    """Return the text of a summary: the same rows give the same bytes."""
    text = sealed_text(document.to_dict())
    if len(text) > MOST_BYTES or document.table.distinct > _MOST_DISTINCT:
        msg = f"the summary of {document.table.distinct:,} distinct scores takes {len(text) // 2**20:,} MiB"
        raise InputProblem(msg, "leave out --exact, or lower --memory: a grid takes 40 MiB at most")
    return text


def read_summary(path: DocumentSource) -> TableDocument:
    try:
        found, doubts = read_document(path).built(TableDocument.from_dict)
        notes = (*found.input.notes, *(f"{path} {one}" for one in doubts))
        return replace(found, input=replace(found.input, notes=notes))
    except DocumentProblem as problem:
        raise in_file(path, problem) from None


def is_summary(path: RowSource) -> bool:
    """Whether a file says that it is a summary; its shape is checked when it is read."""
    if not isinstance(path, str) or not path.endswith(_SUFFIX):
        return False
    try:
        with Path(path).open("rb") as file:
            return f'"{_FAMILY}'.encode() in file.read(_HEAD)
    except (OSError, ValueError):
        return False
