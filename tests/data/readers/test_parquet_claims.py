"""Parquet files that cannot be read without keys, or whose footer says what their pages do not hold."""

import base64
import copy
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.commands.gathering import RAW, gather
from calibcli.data.engines import engine_named
from calibcli.errors import InputProblem
from calibcli.names import EngineName, OnMissing
from calibcli.options.rows import Columns
from calibcli.shell.app import main
from calibcli.stats.table.grid import digest
from command_line import ROOT
from doors import ended
from parquet_footer import (
    CHUNK,
    CHUNK_STATISTICS,
    CHUNK_TYPE,
    CHUNK_VALUES,
    GROUP_COLUMNS,
    GROUP_ROWS,
    NUM_ROWS,
    ROW_GROUPS,
    Struct,
    field,
    footer_of,
    leaves,
    put,
    with_footer,
)

ROWS = 90
CAL = ROOT / "tests" / "documents" / "frozen" / "platt.json"
READ = ("-s", "score", "-y", "label", "--on-missing", "drop", "--metric", "brier", "--json")
QUESTIONS = (
    ("--metric", "ece", "--by", "g", "--min-group-rows", "1"),
    ("--where", "x<=0.5", "--where", "g!=g1"),
    ("--limit", "50"),
    ("--sample", "40"),
)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Return rows with a column for every purpose."""
    random = np.random.default_rng(1)
    score = np.round(random.random(ROWS), 2)
    return pa.table(
        {
            "id": np.arange(ROWS),
            "score": [None if row % 13 == 5 else float(one) for row, one in enumerate(score)],
            "label": (random.random(ROWS) < score).astype(np.int64),
            "g": [f"g{row % 3}" for row in range(ROWS)],
            "x": random.random(ROWS),
        }
    )


def written(table: pa.Table, **options: Any) -> bytes:
    """Return a file of three row groups."""
    out = io.BytesIO()
    pq.write_table(table, out, row_group_size=40, **options)
    return out.getvalue()


def answers(path: Path, content: bytes, questions: tuple[tuple[str, ...], ...] = QUESTIONS) -> list[object]:
    """Return what `measure` says to each question, None where it refuses."""
    path.write_bytes(content)
    found: list[object] = []
    for words in questions:
        ran = ended("measure", path, *READ, *words)
        assert ran.code in (0, 3), ran
        report = ran.document if ran.code == 0 else None
        found.append(report if report is None else {"input": report["input"], "measures": report["measures"]})
    return found


# What is encrypted: the footer and every column, the footer and one, one alone.
ENCRYPTED: dict[str, dict[str, Any]] = {
    "uniform": {"uniform_encryption": True},
    "score": {"column_keys": {"c": ["score"]}},
    "label": {"column_keys": {"c": ["label"]}, "plaintext_footer": True},
    "g": {"column_keys": {"c": ["g"]}, "plaintext_footer": True},
}


@pytest.fixture(scope="module")
def encrypted(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an encrypted file of each kind."""
    keys = pytest.importorskip("pyarrow.parquet.encryption")
    if not hasattr(keys.EncryptionConfiguration, "uniform_encryption"):
        pytest.skip("this pyarrow encrypts columns only")

    class Keys(keys.KmsClient):  # type: ignore[misc,name-defined]
        def wrap_key(self, key: bytes, master: str) -> bytes:
            return base64.b64encode(master.encode() + key)

        def unwrap_key(self, key: bytes, master: str) -> bytes:
            return base64.b64decode(key)[len(master) :]

    folder = tmp_path_factory.mktemp("encrypted")
    factory, connection = keys.CryptoFactory(lambda _: Keys()), keys.KmsConnectionConfig()
    for name, options in ENCRYPTED.items():
        requested = keys.EncryptionConfiguration(footer_key="f", **options)
        properties = factory.file_encryption_properties(connection, requested)
        with pq.ParquetWriter(
            folder / f"{name}.parquet", table.schema, encryption_properties=properties
        ) as out:
            out.write_table(table, row_group_size=40)
    return folder


@pytest.mark.parametrize("name", ENCRYPTED)
@pytest.mark.parametrize(
    "words",
    [
        ["measure", "FILE", *READ, "--by", "g"],
        ["verify", "FILE", "--max-ece", "0.5", "--where", "g==g1"],
        ["fit", "FILE", "--on-missing", "drop", "--where", "g==g1"],
        ["apply", CAL, "FILE", "-o", "-", "-f", "parquet", "-s", "x"],
        ["compare", "FILE", "-s", "score", "-s", "x", "--where", "g==g1"],
        ["plan", "--max-ece", "0.1", "--like", "FILE"],
        ["plot", "FILE", "--terminal", "--where", "g==g1"],
        ["report", "FILE", "-o", "-", "--where", "g==g1"],
    ],
    ids=lambda words: words[0],
)
def test_encrypted_columns_are_refused_in_one_line(encrypted: Path, words: list[Any], name: str) -> None:
    """By every command that reads one of them; the process does not end within pyarrow."""
    path = encrypted / f"{name}.parquet"
    if words[0] == "plan" and name == "g":
        pytest.skip("it reads scores and labels alone")
    ran = ended(*(path if word == "FILE" else word for word in words))
    assert ran.code == 3, ran
    assert "encrypted" in ran.err


def test_columns_in_clear_are_read_beside_encrypted_ones(
    encrypted: Path, table: pa.Table, tmp_path: Path
) -> None:
    """They give the numbers of a file that is not encrypted."""
    whole = answers(tmp_path / "clear.parquet", written(table), (("--where", "x<=0.5"),))
    assert answers(
        tmp_path / "a.parquet", (encrypted / "g.parquet").read_bytes(), (("--where", "x<=0.5"),)
    ) == [
        {**whole[0], "input": {**whole[0]["input"], "files": [str(tmp_path / "a.parquet")]}}  # type: ignore[dict-item,index]
    ]
    assert ended("inspect", encrypted / "g.parquet").code == 0


def _rows(group: int, change: int) -> Callable[[Struct], None]:
    def lie(footer: Struct) -> None:
        path = (ROW_GROUPS, -1 - group, GROUP_ROWS)
        put(footer, field(footer, *path) + change, *path)

    return lie


def _agreed(lie: Callable[[Struct], None], change: int) -> Callable[[Struct], None]:
    """Let the footer's own count agree."""

    def both(footer: Struct) -> None:
        lie(footer)
        put(footer, field(footer, NUM_ROWS) + change, NUM_ROWS)

    return both


def _chunk(value: int, what: int, columns: tuple[int, ...]) -> Callable[[Struct], None]:
    def lie(footer: Struct) -> None:
        for group in range(3):
            for column in columns:
                put(footer, value, ROW_GROUPS, -1 - group, GROUP_COLUMNS, -1 - column, CHUNK, what)

    return lie


LIES = {
    "fewer rows in all": lambda footer: put(footer, ROWS - 1, NUM_ROWS),
    "no rows in all": lambda footer: put(footer, 0, NUM_ROWS),
    "a row group that counts fewer rows": _rows(0, -1),
    "a row group that counts fewer rows, and the file too": _agreed(_rows(1, -1), -1),
    "a row group that counts no rows": _agreed(_rows(2, -10), -10),
    "a first row group that counts no rows": _agreed(_rows(0, -40), -40),
    "a row group that counts more rows": _agreed(_rows(2, 5), 5),
    "a row group that counts fewer than no rows": _agreed(_rows(2, -11), -11),
    "chunks that count fewer values": _chunk(9, CHUNK_VALUES, (1,)),
    "chunks of another type": _chunk(1, CHUNK_TYPE, (1, 2)),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_footer_that_contradicts_itself_is_refused(table: pa.Table, tmp_path: Path, lie: str) -> None:
    """However rows are chosen; the decoder alone would give other rows without a word."""
    content = written(table)
    footer = footer_of(content)
    LIES[lie](footer)
    found = answers(tmp_path / "a.parquet", with_footer(content, footer))
    assert found[0] is found[1] is found[3] is None
    assert (
        main(["apply", str(CAL), str(tmp_path / "a.parquet"), "-s", "x", "-o", str(tmp_path / "o.csv"), "-q"])
        == 3
    )
    assert not (tmp_path / "o.csv").exists()


def test_statistics_are_not_believed(table: pa.Table, tmp_path: Path) -> None:
    """Least and largest values, nulls and distinct values of every chunk may be anything."""
    content = written(table)
    footer = footer_of(content)
    changed = 0
    for leaf in list(leaves(footer)):
        if len(leaf.path) == 7 and leaf.path[0] == ROW_GROUPS and leaf.path[-2] == CHUNK_STATISTICS:
            leaf.put(leaf.others()[-1])
            changed += 1
    assert changed > 30
    questions = QUESTIONS[:2]
    path = tmp_path / "a.parquet"
    assert answers(path, with_footer(content, footer), questions) == answers(path, content, questions)


def test_pages_are_held_against_their_checksums(table: pa.Table, tmp_path: Path) -> None:
    """Where there are any: a bit that flipped in a score is no other score."""
    content = written(table, write_page_checksum=True, compression="none", use_dictionary=False)
    value = np.float64(table["x"][7].as_py()).tobytes()
    assert content.count(value) == 1
    bad = content.replace(value, bytes([value[0] ^ 1]) + value[1:])
    path = tmp_path / "a.parquet"
    assert answers(path, bad, (("--where", "x<=0.5"),)) == [None]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"use_dictionary": False, "compression": "none"},
        {"compression": "snappy"},
        {"data_page_version": "2.0", "compression": "zstd", "use_dictionary": False},
        {"write_page_index": True, "data_page_size": 64},
    ],
    ids=["plain", "dictionary", "version 2", "index"],
)
def test_no_number_of_a_footer_changes_an_answer(
    table: pa.Table, tmp_path: Path, options: dict[str, Any]
) -> None:
    """Whatever stands in its place: the rows are the same, or the file is refused."""
    path, content = tmp_path / "a.parquet", written(table, **options)
    true, footer = rows_read(path, content), footer_of(content)
    assert None not in true
    for place in range(len(list(leaves(footer)))):
        for which in range(4):
            tree = copy.deepcopy(footer)
            leaf = list(leaves(tree))[place]
            if which < len(others := leaf.others()):
                leaf.put(others[which])
                for mine, one in zip(true, rows_read(path, with_footer(content, tree)), strict=True):
                    assert one is None or one == mine, (leaf.path, others[which])


def rows_read(path: Path, content: bytes) -> list[tuple[str, int, int] | None]:
    """Return the digest and the numbers of rows of two readings, None where one is refused."""
    path.write_bytes(content)
    found: list[tuple[str, int, int] | None] = []
    for columns in (
        Columns("score", "label", on_missing=OnMissing.DROP, by=("g",)),
        Columns("x", "label"),
    ):
        try:
            read = gather([str(path)], columns, engine=engine_named(EngineName.LOCAL, 1), limit=1_000)
        except InputProblem:
            found.append(None)
        else:
            found.append((digest(read.tables[RAW]), read.input.rows, read.input.dropped))
    return found
