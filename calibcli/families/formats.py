"""Formats of rows: what each is known by, and what reads and writes it."""

from typing import NamedTuple

from calibcli.families import Known

# The beginning of Arrow that comes as a stream.
STREAM = b"\xff\xff\xff\xff"


class FormatFacts(NamedTuple):
    """What is particular to a format of rows, for reading and for writing.

    Args:
        suffixes: Of its files, in lower case.
        reader: The module of `calibcli.data.readers` that reads it.
        writer: The module of `calibcli.data.writers` that writes it; none where it is read alone.
        starts: What gives its files away by their first bytes, whatever they are called.
        seeks: Whether it is read from places all over the file, and so from within no compression.
        text: Whether it is text, whose encoding may be said.
    """

    suffixes: tuple[str, ...]
    reader: str
    writer: str = ""
    starts: tuple[bytes, ...] = ()
    seeks: bool = False
    text: bool = False


class DataFormat(Known):
    """Data files that can be read, and mostly written."""

    facts: FormatFacts

    CSV = "csv", FormatFacts((".csv",), "csv", "csv", text=True)
    TSV = "tsv", FormatFacts((".tsv", ".tab"), "csv", "csv", text=True)
    JSONL = "jsonl", FormatFacts((".jsonl", ".ndjson"), "jsonl", "jsonl", text=True)
    PARQUET = "parquet", FormatFacts((".parquet", ".pq"), "parquet", "parquet", (b"PAR1",), seeks=True)
    ARROW = (
        "arrow",
        FormatFacts((".arrow", ".arrows", ".feather", ".ipc"), "arrow", "arrow_ipc", (b"ARROW1", STREAM)),
    )
    # An archive by another name may hold anything.
    NPZ = "npz", FormatFacts((".npz",), "npz", seeks=True)

    @property
    def is_text(self) -> bool:
        return self.facts.text

    @property
    def is_written(self) -> bool:
        return bool(self.facts.writer)

    @property
    def is_csv(self) -> bool:
        """Whether it is text with a separator between values."""
        return self.facts.reader == "csv"
