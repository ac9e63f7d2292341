"""The rows of an input as one document, `calibcli.summary/2`: the table that all numbers come from."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from calibcli.artifacts.fit_record import digest_text
from calibcli.artifacts.store import HeldDocument, in_file, read_document
from calibcli.artifacts.table_columns import columns_of, table_of
from calibcli.codec import Node, version_of
from calibcli.documents import sealed_text
from calibcli.errors import DocumentProblem, InputProblem
from calibcli.gate_names import LEAST_TWIN_ROWS
from calibcli.names import Scale, WeightMeaning
from calibcli.reports.input import InputSummary, SelectedRows
from calibcli.table.cells import CODES
from calibcli.table.digest import digest
from calibcli.table.grid import Table
from calibcli.version import __version__

SCHEMA = "calibcli.summary/2"
MOST_BYTES = 256 * 1024 * 1024
_MOST_DISTINCT = 1 << 23
_KEYS = ("schema", "calibcli", "input", "reading", "table", "parts")
_INPUT = ("files", "score", "label", "weight", "rows", "dropped", "clipped", "notes", "where", "unselected")
# The schema stands behind the names and marks of files.
_HEAD = 1 << 24
_FAMILY = "calibcli.summary/"
_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class How:
    """
    How rows were read, as far as others must be read alike to be added.

    Args:
        scale: What the score column held.

        positive: The label that counted as 1, or None.

        weights_are: What a weight stands for, or None where there was none.
    """

    scale: Scale = Scale.PROB
    positive: str | None = None
    weights_are: WeightMeaning | None = None


@dataclass(frozen=True, slots=True)
class TableDocument:
    """
    What `measure --summary-out` writes.

    Args:
        input: What was read.

        how: How it was read.

        table: The rows by raw score.

        parts: What tells the rows of its files, and of the summaries that this is the sum of, from others;
            empty in older ones.
    """

    input: InputSummary
    how: How
    table: Table
    parts: tuple[str, ...] = ()

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
        version = version_of(
            root, SCHEMA, what="a summary", hint="a summary is what `calibcli measure --summary-out` writes"
        )
        node = root.child("table")
        # In the first version the digest of the table stood at the root.
        where, first = (root, ("digest",)) if version == 1 else (node, ())
        root.only(*_KEYS, *first)
        root.child("calibcli").text()
        node.only("kind", "distinct", "columns", *(() if first else ("digest",)))
        kind = node.child("kind").text()
        if kind not in ("exact", "grid"):
            msg = f"is {kind!r}, should be 'exact' or 'grid'"
            raise node.child("kind").problem(msg)
        distinct = node.child("distinct").whole(1, CODES if kind == "grid" else _MOST_DISTINCT)
        table = table_of(node.child("columns"), kind=kind, distinct=distinct)
        if digest_text(where.child("digest")) != digest(table):
            msg = "is not that of the table: the document was changed"
            raise where.child("digest").problem(msg, "write it again with `calibcli measure --summary-out`")
        parts = tuple(digest_text(part) for part in root.child("parts").items())
        found = cls(_input(root.child("input")), _how(root.child("reading")), table, parts)
        _check_agreement(root, found)
        return found

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        source, selected = self.input, self.input.selected
        weights = self.how.weights_are
        return {
            "schema": SCHEMA,
            "calibcli": __version__,
            "input": {
                "files": list(source.files),
                "score": source.score,
                "label": source.label,
                "weight": source.weight,
                "rows": source.rows,
                "dropped": source.dropped,
                "clipped": source.clipped,
                "notes": list(source.notes),
                "where": [] if selected is None else list(selected.where),
                "unselected": 0 if selected is None else selected.unselected,
            },
            "reading": {
                "scale": self.how.scale.value,
                "positive": self.how.positive,
                "weights_are": None if weights is None else weights.value,
            },
            "table": {
                "kind": self.table.kind,
                "distinct": self.table.distinct,
                "columns": columns_of(self.table),
                "digest": digest(self.table),
            },
            "parts": list(self.parts),
        }


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


def _input(node: Node) -> InputSummary:
    node.only(*_INPUT)
    label, weight = node.optional("label"), node.optional("weight")
    where, unselected = node.child("where").texts(), node.child("unselected").whole()
    if unselected and not where:
        msg = "counts rows that no condition left out"
        raise node.child("unselected").problem(msg)
    return InputSummary(
        files=node.child("files").texts(),
        score=node.child("score").text(),
        label=None if label is None else label.text(),
        weight=None if weight is None else weight.text(),
        rows=node.child("rows").whole(1),
        dropped=node.child("dropped").whole(),
        clipped=node.child("clipped").whole(),
        notes=node.child("notes").texts(),
        selected=SelectedRows(where, None, None, None, unselected) if where else None,
    )


def _how(node: Node) -> How:
    node.only("scale", "positive", "weights_are")
    positive, weights = node.optional("positive"), node.optional("weights_are")
    return How(
        node.child("scale").choice(Scale),
        None if positive is None else positive.text(),
        None if weights is None else weights.choice(WeightMeaning),
    )


def _check_agreement(root: Node, found: TableDocument) -> None:
    """Refuse parts that speak of different rows."""
    source, table = found.input, found.table
    if not source.files:
        msg = "names no file"
        raise root.child("input").child("files").problem(msg)
    if (source.weight is None) != (found.how.weights_are is None):
        msg = "does not fit the weight column"
        raise root.child("reading").child("weights_are").problem(msg)
    if table.weighted != (found.how.weights_are is WeightMeaning.IMPORTANCE):
        msg = "has sums of weights, or lacks them, unlike what weights mean"
        raise root.child("table").problem(msg)
    if found.how.weights_are is not WeightMeaning.FREQUENCY and source.rows != table.total_rows:
        msg = f"is {source.rows:,}, but the table has {table.total_rows:,} rows"
        raise root.child("input").child("rows").problem(msg)
