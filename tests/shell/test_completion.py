"""What the shell is told of the columns of a file that is typed already."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.shell.door import column_names, metric_names


@pytest.fixture(params=["_TYPER_COMPLETE_ARGS", "COMP_WORDS"])
def line(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> pytest.MonkeyPatch:
    """A folder to stand in, and where the shell puts its line."""
    monkeypatch.delenv("_TYPER_COMPLETE_ARGS", raising=False)
    monkeypatch.delenv("COMP_WORDS", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.variable = request.param  # type: ignore[attr-defined]
    return monkeypatch


def typed(line: pytest.MonkeyPatch, words: str) -> None:
    """Put words where the shell does."""
    line.setenv(line.variable, words)  # type: ignore[attr-defined]


def test_columns_come_in_the_order_of_the_file(line: pytest.MonkeyPatch) -> None:
    """What has been typed of the name limits them."""
    Path("p.csv").write_text('\ufeffscore,"a label",second\n0.5,1,2\n', encoding="utf-8")
    typed(line, "calibcli measure p.csv -s ")
    assert column_names("") == ["score", "a label", "second"]
    assert column_names("s") == ["score", "second"]
    assert column_names("z") == []


def test_parquet_and_several_files(line: pytest.MonkeyPatch) -> None:
    """Names of all files on the line are told, each once; an open quote is no obstacle."""
    pq.write_table(pa.table({"score": [0.5], "q": [1]}), "p.parquet")
    Path("t.tsv").write_text("score\tlabel\n0.5\t1\n", encoding="utf-8")
    typed(line, "calibcli measure p.parquet t.tsv --by 'q")
    assert column_names("") == ["score", "q", "label"]


def test_partitions_and_separators_are_known_and_the_index_is_left_out(line: pytest.MonkeyPatch) -> None:
    """Columns of a path count as columns, text is read as the line says, and pandas' index is no column."""
    Path("d/country=DE").mkdir(parents=True)
    pq.write_table(pa.table({"score": [0.5], "__index_level_0__": [1]}), "d/country=DE/p.parquet")
    typed(line, "calibcli measure d --by ")
    assert column_names("") == ["score", "country"]
    Path("s.csv").write_text("punkte;größe\n0.5;1\n", encoding="latin-1")
    for word in ("--delimiter ';' --encoding latin-1", "--delimiter=';' --encoding=latin-1"):
        typed(line, f"calibcli measure d s.csv {word} -s ")
        assert column_names("") == ["score", "country", "punkte", "größe"]


def test_measures_are_told() -> None:
    """What `--metric` takes is completed: measures, tests and groups."""
    assert metric_names("spieg") == ["spiegelhalter"]
    assert {"ece", "ece_equal_mass"} <= set(metric_names("ece"))
    assert "corp" in metric_names("")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"\x00\x01,\xfe"])
@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.json"])
def test_what_cannot_be_read_has_no_columns(line: pytest.MonkeyPatch, name: str, content: bytes) -> None:
    """A line that is being typed is no place for an error."""
    Path(name).write_bytes(content)
    typed(line, f"calibcli measure {name} absent.csv -s ")
    assert column_names("") == []


def test_bash_asks_without_a_heavy_import(tmp_path: Path) -> None:
    """The whole way from the shell's variables to the names; CSV takes no numpy and no pyarrow."""
    (tmp_path / "p.csv").write_text("score,label\n0.5,1\n", encoding="utf-8")
    words = "calibcli measure p.csv -y l"
    code = (
        "import sys\nfrom calibcli.shell.app import main\ncode = main([])\n"
        "assert not {'numpy', 'pyarrow', 'pandas'} & set(sys.modules), 'heavy'\nsys.exit(code)"
    )
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(shlex.split(words)) - 1)}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, **asked, "_CALIBCLI_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.split() == ["label"], ran.stderr
