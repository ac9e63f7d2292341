"""JSON Lines of very many keys: time and memory follow the size of the file, or it is refused in one line."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from calibcli.data.fragments import list_fragments
from calibcli.data.readers.jsonl import MOST_KEYS, JsonReader, quick_kinds
from command_line import Ran

Run = Callable[..., Ran]
_SPACE = 3 << 30


@pytest.fixture
def artifact(run: Run) -> str:
    """Return an artifact in the working directory."""
    Path("fit.csv").write_text("score,label\n" + "".join(f"{k / 100},{k % 3 % 2}\n" for k in range(100)))
    assert run("fit", "fit.csv", "-o", "cal.json", "-q").code == 0
    return "cal.json"


def ever_new(rows: int, more: str = "") -> str:
    """Return lines that each have a key that no other has."""
    return "".join(f'{{"score":{k % 97 / 97},"k{k}":{k}{more}}}\n' for k in range(rows))


def test_a_table_that_would_be_empty_is_refused_with_a_way_out(run: Run, artifact: str) -> None:
    """The keys are counted, not the fields: 2,500 rows would be 6 million of these."""
    Path("keys.jsonl").write_text(ever_new(2_500))
    ended = run("apply", artifact, "keys.jsonl", "-o", "out.parquet", code=3)
    assert "2,501 keys, of which a row has 2: nearly all columns are empty" in ended.err
    assert "--keep" in ended.err
    assert not Path("out.parquet").exists()


def test_the_ways_out_lead_out(run: Run, artifact: str) -> None:
    """Lines that stay lines need no columns, and columns that are named are few."""
    Path("keys.jsonl").write_text(ever_new(2_500))
    assert run("apply", artifact, "keys.jsonl", "-o", "out.jsonl", "-q").code == 0
    last = json.loads(Path("out.jsonl").read_text().splitlines()[-1])
    assert (last["k2499"], "calibrated" in last) == (2_499, True)
    assert run("apply", artifact, "keys.jsonl", "--keep", "k249*", "-o", "out.parquet", "-q").code == 0
    table = pq.read_table("out.parquet")
    assert (table.num_rows, table.num_columns) == (2_500, 12)
    assert table.column("k2491").drop_null().to_pylist() == [2_491]


def test_few_keys_and_full_rows_become_columns_as_ever(run: Run, artifact: str) -> None:
    """A thousand keys of rows that lack most of them, and any number that rows do have."""
    Path("some.jsonl").write_text(ever_new(MOST_KEYS - 1) + '{"score":0.5}\n' * 1_000)
    assert run("apply", artifact, "some.jsonl", "-o", "some.parquet", "-q").code == 0
    assert pq.read_metadata("some.parquet").num_columns == MOST_KEYS + 1
    wide = json.dumps({"score": 0.5, **{f"k{k}": k for k in range(2 * MOST_KEYS)}})
    Path("wide.jsonl").write_text(f"{wide}\n" * 20)
    assert run("apply", artifact, "wide.jsonl", "-o", "wide.parquet", "-q").code == 0
    table = pq.read_table("wide.parquet")
    assert (table.num_rows, table.num_columns) == (20, 2 * MOST_KEYS + 2)
    assert table.column(f"k{MOST_KEYS}").to_pylist() == [MOST_KEYS] * 20


def test_kinds_are_the_same_however_lines_are_cut() -> None:
    """Whole blocks, pieces, and values one by one agree on keys, their order and their types."""
    file = Path("rows.jsonl")
    file.write_text("".join(f'{{"score":0.5,"k{k % 300}":{k},"t":"a:b:c"}}\n' for k in range(10_000)))
    fragment = list_fragments([str(file)])[0]
    whole = quick_kinds(file.read_bytes())
    assert JsonReader(fragment).whole_header() == tuple(whole)
    from calibcli.data.columns import ResolvedColumns
    from calibcli.options.rows import Columns

    found = JsonReader(fragment).schema(ResolvedColumns(Columns(), "score", None))
    assert {one.name: one.type for one in found} == whole


def test_very_many_keys_take_little_memory(artifact: str) -> None:
    """Of 2 MB they took 5 GB."""
    Path("keys.jsonl").write_text(ever_new(50_000))
    command = [sys.executable, "-m", "calibcli", "apply", artifact, "keys.jsonl", "-o", "out.parquet"]
    # The shell sets the limit: Python code after a fork can wait for ever for a lock of another thread.
    bounded = ["sh", "-c", f'ulimit -v {_SPACE // 1024} && exec "$@"', "sh", *command]
    ended = subprocess.run(bounded, capture_output=True, check=False, timeout=60)
    assert ended.returncode == 3
    assert b"50,001 keys" in ended.stderr


def test_an_object_with_every_key_twice_is_refused_at_once(run: Run, artifact: str) -> None:
    """Which ones are is found in one pass."""
    twice = ",".join(f'"k{k % 20_000}":1' for k in range(40_000))
    Path("twice.jsonl").write_text(f'{{"score":0.5,{twice}}}\n')
    began = time.process_time()
    run("apply", artifact, "twice.jsonl", "-o", "out.csv")
    assert time.process_time() - began < 10.0


def test_a_request_to_end_is_heard_while_keys_are_looked_for(artifact: str) -> None:
    """And leaves nothing unfinished behind."""
    Path("keys.jsonl").write_text(ever_new(200_000, ',"t":[{"a":1}]'))
    command = [sys.executable, "-m", "calibcli", "apply", artifact, "keys.jsonl", "-o", "out.parquet"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        time.sleep(1.5)
        process.send_signal(signal.SIGTERM)
        began = time.monotonic()
        code = process.wait(timeout=30)
    assert code == 128 + signal.SIGTERM
    # A second on a machine that has nothing else to do.
    assert time.monotonic() - began < 5.0
    assert sorted(path.name for path in Path().iterdir()) == ["cal.json", "fit.csv", "keys.jsonl"]


def test_a_header_of_very_many_columns_is_looked_into_once(run: Run, artifact: str) -> None:
    """However many columns might be the label, and none is; a thousand are shown, and all in JSON."""
    count = 30_000
    line = ",".join(f"c{k}" for k in range(count))
    Path("wide.csv").write_text(f"{line}\n{','.join(['0.5'] * count)}\n")
    began = time.process_time()
    lines = run("inspect", "wide.csv").out.splitlines()
    assert f"{count - 1_000:,} more columns; --json lists all." in lines
    assert len(run("inspect", "wide.csv", "--json").document["columns"]) == count
    names = ",".join(f"c{k}" for k in range(1, count))
    run("apply", artifact, "wide.csv", "-s", "c0", "--keep", names, "-o", "out.csv", "-q", code=0)
    assert time.process_time() - began < 20.0


@pytest.mark.parametrize("depth", [400, 100_000])
def test_values_within_values_end_no_process(run: Run, artifact: str, depth: int) -> None:
    """Whoever makes a type of each level needs room for all; what is not looked into may be as deep."""
    lines = []
    for name, opened, closed in (("objects", '{"a":', "}"), ("lists", "[", "]")):
        deep = opened * depth + "1" + closed * depth
        rows = '{"score":0.5,"label":1}\n{"score":0.25,"label":0}\n' * 20
        Path(f"{name}.jsonl").write_text(f'{rows}{{"score":0.5,"label":1,"x":{deep}}}\n')
        lines += [
            ["apply", artifact, f"{name}.jsonl", "-o", f"{name}.parquet"],
            ["apply", artifact, f"{name}.jsonl", "-o", f"out-{name}.jsonl"],
            ["measure", f"{name}.jsonl", "--metric", "brier"],
        ]
    if depth < 500:
        codes = [run(*words).code for words in lines]
    else:
        # These would end the process of the tests as well.
        program = f"from calibcli.shell.app import main\nexit(repr([main(words) for words in {lines!r}]))"
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, timeout=60)
        codes = json.loads(ended.stderr.splitlines()[-1])
    assert codes[::3] == [0 if depth < 500 else 3] * 2
    assert {*codes} <= {0, 3}
