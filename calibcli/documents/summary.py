"""The rows of an input as one document, `calibcli.summary/2`: the table that all numbers come from."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, cast

from calibcli.codec import (
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
    thing,
    version_of,
)
from calibcli.documents.fit_record import digest_text
from calibcli.documents.sealed import sealed_text
from calibcli.documents.store import HeldDocument, in_file, read_document
from calibcli.documents.table_columns import Column, columns_of, table_of
from calibcli.errors import DocumentProblem, InputProblem
from calibcli.gate_names import LEAST_TWIN_ROWS
from calibcli.names import Scale, WeightMeaning
from calibcli.reports.input import InputSummary, SelectedRows
from calibcli.table.cells import CODES
from calibcli.table.digest import digest
from calibcli.table.grid import Table
from calibcli.version import __version__

MOST_BYTES = 256 * 1024 * 1024
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

    @classmethod
    def of(cls, source: InputSummary) -> Self:
        """Return what a report says of an input."""
        selected = source.selected
        where, unselected = ((), 0) if selected is None else (selected.where, selected.unselected)
        shared: Any = {one.name: getattr(source, one.name) for one in fields(cls)[:-2]}
        return cls(**shared, where=where, unselected=unselected)

    def source(self, _: Node) -> InputSummary:
        """Return what a report says of it."""
        shared: Any = {one.name: getattr(self, one.name) for one in fields(self)[:-2]}
        selected = SelectedRows(self.where, None, None, None, self.unselected) if self.where else None
        return InputSummary(**shared, selected=selected)

    def check(self, node: Node) -> None:
        """Refuse rows that nothing left out."""
        if self.unselected and not self.where:
            msg = "counts rows that no condition left out"
            raise node.child("unselected").problem(msg)


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
        """Return the text of a table."""
        return cls(table.kind, table.distinct, columns_of(table), digest(table))

    def table(self, node: Node) -> Table:
        """
        Return the table.

        Raises:
            DocumentProblem: If the columns are none, or another one than the digest is of.
        """
        found = table_of(node.child("columns"), kind=self.kind, distinct=self.distinct)
        if self.digest != digest(found):
            msg = "is not that of the table: the document was changed"
            place = node.child("digest") if node.has("digest") else Node(self.digest, "$.digest")
            raise place.problem(msg, "write it again with `calibcli measure --summary-out`")
        return found

    def check(self, node: Node) -> None:
        """Refuse more cells than there are."""
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
        """
        What tells the rows of each part from others.

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
        """
        Restore what `to_dict` returned.

        Raises:
            DocumentProblem: If no reading can have written this, with the place.
        """
        if version_of(root, cls.SCHEMA, **cls.ORIGIN) == 1:
            # In the first version the digest of the table stood at the root.
            stated = digest_text(root.child("digest"))
            rest = {key: member.value for key, member in root.members().items() if key != "digest"}
            root = Node(rest, root.path).knowing(digest=stated)
        return cast("Self", thing(cls).read(root))

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
        if weights is not WeightMeaning.FREQUENCY and self.input.rows != table.total_rows:
            msg = f"is {self.input.rows:,}, but the table has {table.total_rows:,} rows"
            raise node.child("input").child("rows").problem(msg)


def summary_text(document: TableDocument) -> str:
    """
    Return the text of a summary: the same rows give the same bytes.

    Raises:
        InputProblem: If it is so long that it could not be read again.
    """
    text = sealed_text(document.to_dict())
    if len(text) > MOST_BYTES or document.table.distinct > _MOST_DISTINCT:
        msg = f"the summary of {document.table.distinct:,} distinct scores takes {len(text) // 2**20:,} MiB"
        raise InputProblem(msg, "leave out --exact, or lower --memory: a grid takes 40 MiB at most")
    return text


def read_summary(path: Path | str) -> TableDocument:
    """
    Read a summary.

    Raises:
        InputProblem: If the file cannot be opened.

        DocumentProblem: If what it holds is none, with the file and the place in it.
    """
    try:
        found, doubts = read_document(path, most=MOST_BYTES).built(TableDocument.from_dict)
        notes = (*found.input.notes, *(f"{path} {one}" for one in doubts))
        return replace(found, input=replace(found.input, notes=notes))
    except DocumentProblem as problem:
        raise in_file(path, problem) from None


def is_summary(path: str) -> bool:
    """Whether a file says that it is a summary; its shape is checked when it is read."""
    if isinstance(path, HeldDocument):
        return str(path.document.get("schema")).startswith(_FAMILY)
    if not path.endswith(_SUFFIX):
        return False
    try:
        with Path(path).open("rb") as file:
            return f'"{_FAMILY}'.encode() in file.read(_HEAD)
    except (OSError, ValueError):
        return False
