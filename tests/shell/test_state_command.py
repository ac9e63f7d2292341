"""`verify --state` and `merge`: batches that come one by one, told from the outside."""

import itertools
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from calibcli.commands import gate
from calibcli.commands.gathering import Gathered
from calibcli.commands.reading import read_evaluation
from calibcli.documents.state import locked, read_state
from calibcli.options.rows import RowRequest
from command_line import CHURN, SAMPLE, Make, Run, in_csv
from published import state_of

GATE = [*CHURN, "--max-ece", "0.05"]


@pytest.fixture
def batch_of() -> Make:
    """Write a CSV file of rows with identities; `off` is by how much scores are too low."""

    def write(name: str, count: int = 400, *, seed: int = 0, off: float = 0.0, first: int = 0) -> Path:
        generator = np.random.default_rng(seed)
        score = np.round(generator.random(count), 6)
        label = generator.random(count) < score + off
        ids = [f"r{first + place}" for place in range(count)]
        return in_csv(Path(name), {"id": ids, "score": score, "label": label})

    return write


@pytest.mark.parametrize(("kind", "more"), [("csv", ()), ("parquet", ("--id", "id", "--where", "half==x"))])
def test_months_of_one_file_are_batches_in_the_order_of_time(
    run: Run, kind: str, more: tuple[str, ...]
) -> None:
    """The state is that of a call for each month's file, byte for byte, and again nothing is counted."""
    rng = np.random.default_rng(4)
    months = ["Nov 2023", "Dec 2023", "Jan 2024", "Feb 2024", "Mar 2024", "Apr 2024"]
    month, score = rng.integers(0, len(months), 6_000), np.round(rng.uniform(0.05, 0.5, 6_000), 6)
    label = rng.random(month.size) < np.where(month > 3, 0.3, 0.0) + score
    columns = {
        "id": [f"r{place}" for place in range(month.size)],
        "month": [months[place] for place in month],
        "half": rng.choice(["x", "y"], month.size).tolist(),
        "score": score,
        "label": label.astype(int),
    }
    rows = pa.table(columns)
    write = pq.write_table if kind == "parquet" else pa.csv.write_csv
    write(rows, f"all.{kind}")
    words = [*CHURN, "--alarm", "--max-ece", "0.05", *more]
    for month_name in months:
        chosen = np.array(columns["month"]) == month_name
        write(rows.filter(pa.array(chosen)), f"month.{kind}")
        one = run("verify", f"month.{kind}", *words, "--state", "each.json", "--batch", month_name)
        assert one.code in (0, 1), one.err
    little = ("--memory", "1KB")
    whole = run("verify", f"all.{kind}", *words, "--state", "whole.json", "--by", "month", *little)
    assert whole.code == one.code == 1
    # Every batch is counted by itself, so that nothing was rounded.
    assert "did not fit in memory" not in whole.out
    assert Path("whole.json").read_bytes() == Path("each.json").read_bytes()
    assert "ALARM  since batch 5 (Mar 2024)" in whole.out
    assert "ECE was above 0.05 in the population of some of these rows, the latest or not" in whole.out
    count = columns["half"].count("x") if "--where" in more else len(rows)
    assert f"{count:,} rows in 6 batches" in whole.out
    again = run("verify", f"all.{kind}", *words, "--state", "whole.json", "--by", "month")
    assert "6 batches, 'Nov 2023' to 'Apr 2024', were counted before and are not counted again" in again.out
    assert Path("whole.json").read_bytes() == Path("each.json").read_bytes()


@pytest.mark.parametrize(
    "values",
    [
        [b"\xff", b"\xfe"],
        [True, False],
        [0.1, 1e300],
        [None, "a"],
        [None, 0.1],
        [date(2024, 1, 31), date(2023, 1, 1)],
    ],
)
def test_every_row_is_in_a_batch_whatever_tells_them(run: Run, values: list[object]) -> None:
    """Bytes, booleans, numbers and dates; rows without a value are refused, and left out as is said."""
    path, state = Path("a.parquet"), Path("s.json")
    pq.write_table(pa.table({"score": [0.5, 0.2] * 9, "label": [1, 0] * 9, "part": values * 9}), path)
    ended = run("verify", path, *GATE, "--state", state, "--by", "part")
    assert (ended.code, state.exists()) == ((3, False) if None in values else (4, True)), ended.err
    if None in values:
        assert "leave them out: --where 'part!=-'" in ended.err
        ended = run("verify", path, *GATE, "--state", state, "--by", "part", "--where", "part!=-", code=4)
    rows, batches = (9, "1 batch") if None in values else (18, "2 batches")
    assert f"{rows} rows in {batches}, {rows} of them new" in ended.out


def test_batches_add_up_until_the_gate_passes(run: Run, batch_of: Make) -> None:
    """Few rows are inconclusive (4), more of the same pass (0); one call with all gives the same bytes."""
    state, files = Path("gate.json"), [batch_of(f"{day}.csv", seed=day) for day in range(8)]
    codes = [run("verify", file, *GATE, "--state", state).code for file in files]
    assert codes[0] == 4
    assert codes[-1] == 0
    assert set(codes) == {0, 4}
    assert codes == sorted(codes, reverse=True)
    run("verify", *files, *GATE, "--state", "together.json", code=0)
    assert Path("together.json").read_bytes() == state.read_bytes()
    document = state_of(state)
    assert len(document["batches"]) == 8
    assert document["passed_at"] == 400 * (codes.index(0) + 1)


def test_a_state_keeps_the_condition_on_its_rows(run: Run, batch_of: Make) -> None:
    """Rows that satisfy it are counted, it is asked for again, and the command of `inspect` has it."""
    state, first, second = Path("gate.json"), batch_of("a.csv", seed=1), batch_of("b.csv", seed=2)
    below = ["--where", "score<0.5"]
    report = run("verify", first, *GATE, *below, "--state", state, "--json").document
    counted = sum(float(line.split(",")[1]) < 0.5 for line in first.read_text().splitlines()[1:])
    assert report["input"]["rows"] == counted
    assert state_of(state)["input"]["where"] == ["score<0.5"]
    assert "rows: score<0.5, not all" in run("verify", second, *GATE, "--state", state, code=2).err
    suggested = shlex.split(run("inspect", state).out.split("next  ")[1])
    words = [str(second) if word == "NEW.csv" else word for word in suggested[1:]]
    assert run(*words).code in {0, 4}
    assert len(state_of(state)["batches"]) == 2
    chosen = run("measure", first, *CHURN, "--where", "label==1", "-m", "ece")
    assert "--where selects rows by their labels" in chosen.out + chosen.err


def test_a_job_that_is_run_again_changes_nothing(run: Run, batch_of: Make) -> None:
    """The same batch again gives the same verdict and leaves the state as it is, with a note."""
    state, batch = Path("gate.json"), batch_of("a.csv")
    first = run("verify", batch, *GATE, "--state", state, "--json")
    before = state.read_bytes()
    again = run("verify", batch, *GATE, "--state", state, "--json")
    assert (first.code, again.code) == (4, 4)
    assert state.read_bytes() == before
    one, two = first.document, again.document
    assert one["rules"] == two["rules"]
    assert "were counted before and are not counted again" in " ".join(two["notes"])
    assert two["state"]["rows"] == 400
    assert two["state"]["new_rows"] == 0


def test_hints_on_a_state_name_what_it_was_begun_with(run: Run, batch_of: Make) -> None:
    """A call that lacks the rule or options of the state is told them; following the hint works."""
    state, batch = Path("gate.json"), batch_of("a.csv")
    requested = ["verify", batch, *CHURN, "--state", state]
    run(*requested, "--max-ece", "0.3", "--alarm", "--id", "id")
    assert "gate.json` says what to ask" in run(*requested, "--id", "id", code=2).err
    ran = run(*requested, "--max-ece", "0.3")
    assert (ran.code, "ask as before, with --id COL and with --alarm, or begin" in ran.err) == (2, True)
    assert run(*requested, "--max-ece", "0.3", "--alarm", "--id", "id").code == 0
    assert "try --max-ece 0.02" in run(*requested[:-1], "none.json", code=2).err


def test_identities_keep_rows_from_counting_twice(run: Run, batch_of: Make) -> None:
    """A batch that has grown brings its new rows only; a repeated identity is exit 3 and changes nothing."""
    state = Path("gate.json")
    short, long = batch_of("log.csv", 300), Path("longer.csv")
    monday = ("--state", state, "--id", "id", "--batch", "monday")
    run("verify", short, *GATE, *monday)
    more = batch_of("more.csv", 200, seed=1, first=300).read_text().splitlines()[1:]
    long.write_text(short.read_text() + "\n".join(more) + "\n")
    for new in (200, 0):
        ran = run("verify", long, *GATE, *monday, "--json")
        told = ran.document["state"]
        assert (told["rows"], told["new_rows"], told["known_rows"]) == (500, new, 500 - new)
    assert [one["key"] for one in state_of(state)["batches"]] == ["monday", "monday/2"]
    before = state.read_bytes()
    long.write_text("id,score,label\na,0.5,1\nb,0.5,1\na,0.7,0\n")
    ran = run("verify", long, *GATE, "--state", state, "--id", "id", code=3)
    assert "1 of 3 rows repeat the identity of an earlier one; the first is row 3" in ran.err
    assert state.read_bytes() == before


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        (pa.int32(), True),
        (pa.large_string(), True),
        (pa.date32(), True),
        (pa.float64(), False),
        (pa.decimal128(12, 2), False),
        (pa.timestamp("ms"), False),
        (pa.time32("ms"), False),
        (pa.duration("s"), False),
    ],
)
def test_ids_that_were_named_otherwise_are_not_added_to_a_state_of_the_first_version(
    run: Run, batch_of: Make, *, kind: pa.DataType, known: bool
) -> None:
    """Their rows would count twice: exit 3, and the state stays; those of other types are known again."""
    state, rows = Path("gate.json"), Path("rows.parquet")
    table = pyarrow.csv.read_csv(batch_of("log.csv", 300))
    ids = pa.array(np.arange(300, dtype=np.int64))
    via = pa.int64() if pa.types.is_timestamp(kind) or pa.types.is_duration(kind) else pa.int32()
    ids = ids.cast(via).cast(kind)
    pq.write_table(table.set_column(0, "id", ids), rows)
    words = ["verify", rows, *GATE, "--state", state, "--id", "id", "--batch"]
    assert run(*words, "monday").code == 4
    document = json.loads(state.read_text())
    document |= {"schema": "calibcli.gate/1"}
    for key in ("digest", "passed_on", "failed_on", "since", "notes", "id_kinds"):
        document.pop(key, None)
    for key in ("label", "weight"):
        del document["input"][key]
    for batch in document["batches"]:
        for key in ("positive", "least"):
            batch["look"].pop(key, None)
    state.write_text(json.dumps(document))
    before = state.read_bytes()
    ran = run(*words, "tuesday", "--json")
    if known:
        assert ran.document["state"]["known_rows"] == 300
    else:
        assert (ran.code, ran.out, state.read_bytes()) == (3, "", before)
        assert f"state {state} was begun by a calibcli that named such ids otherwise" in ran.err
        assert "begin a new state" in ran.err
    if kind not in (pa.large_string(), pa.float64()):
        return
    # Shards are added, as nothing tells which ids the older one holds; said unless the others are text.
    table = pyarrow.csv.read_csv(batch_of("more.csv", 300, seed=1, first=300))
    later = pa.array(np.arange(300, 600, dtype=np.int64)).cast(via).cast(kind)
    columns = ((later, int(not pa.types.is_large_string(kind))), (table["id"], 0))
    for place, (column, said) in enumerate(columns):
        pq.write_table(table.set_column(0, "id", column), rows)
        shard = Path(f"{place}.json")
        state.write_bytes(before)
        assert run("verify", rows, *GATE, "--state", shard, "--id", "id", "--batch", "more").code == 4
        ran = run("merge", shard, state, "-o", f"sum{place}.json")
        assert (ran.code, ran.err.count(f"{state} was begun by a calibcli that named ids otherwise")) == (
            0,
            said,
        )


def test_a_batch_has_one_name_and_counts_once(run: Run, batch_of: Make) -> None:
    """Equal rows are one batch under one name and refused (3) under two; other rows need another name."""
    state, batch = Path("gate.json"), batch_of("a.csv")
    other, more = batch_of("b.csv", seed=1), batch_of("c.csv", seed=2)
    for name, code in (("monday", 4), ("monday", 4), ("tuesday", 3)):
        ran = run("verify", batch, *GATE, "--state", state, "--batch", name, code=code)
        assert sum(one["rows"] for one in state_of(state)["batches"]) == 400
    assert "these 400 rows have the scores and labels of batch 'monday'" in ran.err
    ran = run("verify", other, *GATE, "--state", state, "--batch", "monday", code=3)
    assert "if its labels came in since, rows would count twice: begin a new state, with --id COL" in ran.err
    run("verify", more, other, *GATE, "--state", state, "--batch", "week 2")
    assert [one["key"] for one in state_of(state)["batches"]] == ["monday", "week 2/1", "week 2/2"]


def test_all_files_of_a_call_count_or_none(run: Run, batch_of: Make) -> None:
    """A fault in the last file leaves the state as it was; a file without rows is left out."""
    state, good = Path("gate.json"), batch_of("a.csv")
    bad, empty = Path("bad.csv"), Path("empty.csv")
    bad.write_text("id,score,label\na,1.5,1\n")
    empty.write_text("id,score,label\n")
    assert run("verify", good, bad, *GATE, "--state", state).code == 3
    assert not state.exists()
    assert run("verify", good, empty, *GATE, "--state", state).code == 4
    assert len(state_of(state)["batches"]) == 1
    assert run("verify", empty, *GATE, "--state", state).code == 3


def test_a_label_may_be_rare_in_a_batch_but_not_unheard_of(run: Run) -> None:
    """Once `--positive` has occurred a batch may lack it; a state that has never seen it is not begun."""
    state, batch = Path("gate.json"), Path("a.csv")
    requested = ["verify", batch, *GATE, "--positive", "fraud", "--state", state]
    batch.write_text("score,label\n0.1,ok\n0.2,ok\n")
    assert "no label is 'fraud'" in run(*requested, code=3).err
    assert not state.exists()
    batch.write_text("score,label\n0.1,ok\n0.2,fraud\n")
    assert run(*requested).code == 4
    batch.write_text("score,label\n0.1,ok\n0.3,ok\n")
    assert run(*requested).code == 4
    assert len(state_of(state)["batches"]) == 2


def test_a_discrete_artifact_is_judged_by_output(run: Run, artifact: Path) -> None:
    """Over an artifact's outputs the state holds counts only; another artifact and fit rows are refused."""
    state = Path("gate.json")
    requested = [*CHURN, "--max-ece", "0.1", "--artifact", artifact, "--state", state]
    ran = run("verify", SAMPLE / "churn_evaluation.parquet", *requested)
    assert ran.code in (0, 4), ran.err
    document = state_of(state)
    outputs = sorted({one["value"] for one in json.loads(artifact.read_text())["bins"]})
    assert document["partition"] == {"outputs": outputs, "bins": 0, "per_bin": 1}
    assert set(document["epochs"][0]["below_positive"]) == {0}
    refitted = Path("other.json")
    run("fit", SAMPLE / "churn_evaluation.parquet", *CHURN, "-m", "histogram", "-o", refitted)
    other = run(
        "verify", SAMPLE / "churn_calibration.parquet", *requested[:-3], refitted, "--state", state, code=2
    )
    assert "counts rows of another artifact" in other.err
    assert "a new model needs a new --state" in other.err
    assert "was fitted on" in run("verify", SAMPLE / "churn_calibration.parquet", *requested, code=3).err


def test_rows_of_a_fit_are_known_in_parts_that_come_together(run: Run, batch_of: Make) -> None:
    """Two files, or the days of one, that are the fit rows together are refused, and nothing is counted."""
    first, second = batch_of("a.csv", 600, seed=1), batch_of("b.csv", 500, seed=2)
    whole, fitted, state = Path("all.csv"), Path("cal.json"), Path("gate.json")
    head, *rows = first.read_text().splitlines() + second.read_text().splitlines()[1:]
    whole.write_text("\n".join([f"{head},day", *(f"{row},{at % 3}" for at, row in enumerate(rows))]))
    run("fit", whole, *CHURN, "-m", "platt", "-o", fitted, code=0)
    words = [*GATE, "--artifact", fitted, "--state", state]
    for call in ([first, second], [whole, "--by", "day"]):
        assert "these are the 1,100 rows" in run("verify", *call, *words, code=3).err
        assert not state.exists()
    assert run("verify", first, *words).code in (0, 1, 4)


def test_a_damaged_state_is_named_and_kept(run: Run, batch_of: Make) -> None:
    """A state that was cut short is exit 3 with its name, and is not replaced."""
    state, batch = Path("gate.json"), batch_of("a.csv")
    run("verify", batch, *GATE, "--state", state)
    cut = state.read_bytes()[:-300]
    state.write_bytes(cut)
    ran = run("verify", batch, *GATE, "--state", state, code=3)
    assert str(state) in ran.err
    assert "restore it from a copy" in ran.err
    assert state.read_bytes() == cut


@pytest.mark.parametrize("bins", ["15", "17"])
def test_memory_and_workers_do_not_change_a_byte(run: Run, batch_of: Make, bins: str) -> None:
    """A state is the same whether tables were exact or grids, and whether bins cut cells of a grid or not."""
    batch, states = batch_of("a.csv", 3000), [Path("exact.json"), Path("grid.json")]
    for state, words in zip(states, ([], ["--memory", "4KiB", "-j", "2"]), strict=True):
        ran = run("verify", batch, *GATE, "--bins", bins, "--state", state, *words)
        assert ran.code in (0, 4), ran.err
    assert states[0].read_bytes() == states[1].read_bytes()


@pytest.mark.usefixtures("unrendered")
@pytest.mark.untraced
def test_the_alarm_stays_silent_and_then_rings(run: Run, batch_of: Make) -> None:
    """Exit 0 while nothing speaks against calibration, saying that it is no proof; exit 1 after a change."""
    state, codes = Path("watch.json"), []
    for day in range(7):
        batch = batch_of(f"{day}.csv", 1000, seed=day, off=0.2 if day >= 4 else 0.0)
        ran = run("verify", batch, *CHURN, "--alarm", "--state", state, "--batch", f"day {day}")
        codes.append(ran.code)
        if day == 0:
            assert "which is no proof that it is 0." in ran.out
    assert codes[:4] == [0] * 4
    assert codes[-1] == 1
    assert state_of(state)["failed_at"] is not None
    drawn = run("plot", state, "-o", "watch.png")
    assert (drawn.code, "ALARM since " in drawn.out + drawn.err) == (0, True)
    told = run("inspect", state)
    assert "still calibrated exactly?" in told.out
    sentence = "the change came with batch 5 (day 4), or in the batch before (95 % sure if it came at once)"
    assert sentence in told.out


def test_a_silent_alarm_is_no_pass_in_any_report(run: Run, batch_of: Make) -> None:
    """Annotations, summary, JUnit and metrics say NO ALARM; what machines read as the verdict stays."""
    junit, metrics = Path("gate.xml"), Path("gate.prom")
    words = ["verify", batch_of("a.csv", 1000), *CHURN, "--alarm", "--state"]
    reports = ("--report=github", f"--report=junit={junit}", f"--report=openmetrics={metrics}")
    ran = run(*words, "w.json", *reports, code=0)
    assert "title=calibcli%3A NO ALARM 1 claim" in ran.err
    assert "PASS" not in ran.out + ran.err
    assert '<property name="alarm" value="NO ALARM" />' in junit.read_text()
    assert '<property name="verdict" value="pass" />' in junit.read_text()
    assert "calibcli_alarm{" in metrics.read_text()


def test_shards_merge_to_the_state_of_all_rows(run: Run, batch_of: Make) -> None:
    """Merged shards hold the sums of all rows in any order; the merged state is asked like any other."""
    shards = []
    for number in range(3):
        shards.append(Path(f"s{number}.json"))
        run("verify", batch_of(f"{number}.csv", 1000, seed=number), *GATE, "--state", shards[-1])
    one, two = Path("one.json"), Path("two.json")
    assert "3,000" in run("merge", *shards, "-o", one, code=0).err
    again = run("merge", *shards[::-1], shards[0], "-o", two, code=0)
    assert f"note: {shards[0]} is given twice: it counts once" in again.err
    assert one.read_bytes() == two.read_bytes()
    assert state_of(one)["passed_at"] is None
    assert "last batch" not in run("verify", "0.csv", *GATE, "--state", one, code=0).out
    assert state_of(one)["passed_at"] == 3000
    assert run("merge", *shards, "-o", two).code == 5
    assert run("merge", *shards, "-o", two, "--force").code == 0
    assert run("merge", *shards, "-o", shards[0], "--force").code == 5


def test_a_state_merged_to_standard_output_has_no_path(run: Run, batch_of: Make) -> None:
    """The summary names no file and no next command, and a copy of a state is said to count once."""
    state, copy = Path("gate.json"), Path("copy.json")
    run("verify", batch_of("a.csv"), *GATE, "--state", state)
    copy.write_bytes(state.read_bytes())
    ran = run("merge", state, copy, "-o", "-", code=0)
    assert ran.document["batches"][0]["rows"] == 400
    assert ran.err.startswith("state of a gate\n")
    assert "--state" not in ran.err
    assert f"note: {copy} is the very state of {state}: it counts once" in ran.err


def test_shards_that_do_not_go_together(run: Run, batch_of: Make) -> None:
    """Other terms are exit 2; a batch in two states, a missing file or one that is no state, exit 3."""
    a, b, c = (Path(f"{name}.json") for name in "abc")
    batch, out = batch_of("a.csv"), Path("out.json")
    run("verify", batch, *GATE, "--state", a)
    run("verify", batch, batch_of("b.csv", seed=1), *GATE, "--state", b)
    run("verify", batch, *GATE[:-1], "0.1", "--state", c)
    other, twice = run("merge", a, c, "-o", out), run("merge", a, b, "-o", out)
    assert (other.code, twice.code) == (2, 3)
    assert "limit: 0.05, not 0.1" in other.err
    assert "1 batch is in more than one state" in twice.err
    assert run("merge", a, "no.json", "-o", out).code == 3
    assert run("merge", a, batch, "-o", out).code == 3
    assert not out.exists()


def test_inspect_says_what_a_state_is(run: Run, batch_of: Make) -> None:
    """Question, rows, evidence and batches are told, and how to ask again."""
    state = Path("gate.json")
    run("verify", batch_of("a.csv"), *GATE, "--state", state, "--batch", "first")
    told = run("inspect", state, "--json").document
    assert told["kind"] == "state of a gate"
    assert told["facts"]["rows"].startswith("400, ")
    assert told["facts"]["verdict"] == "inconclusive"
    assert told["facts"]["batch"].startswith("first: 400 rows, ECE 0.0")
    assert told["suggestion"].startswith("calibcli verify NEW.csv -s score -y label --max-ece 0.05 --state ")


def test_the_command_that_inspect_suggests_is_accepted(run: Run, batch_of: Make) -> None:
    """It asks on the terms of the state: confidence, limit in full and the label that counts as 1."""
    state, batch = Path("gate.json"), batch_of("a.csv")
    requested = [*CHURN, "--max-ece", "0.0512345678", "--confidence", "0.99"]
    run("verify", batch, *requested, "--positive", "1", "--state", state)
    words = shlex.split(run("inspect", state, "--json").document["suggestion"])
    assert words[:2] == ["calibcli", "verify"]
    assert words[words.index("--confidence") + 1] == "0.99"
    again = [{"NEW.csv": str(batch), "LABEL": "label"}.get(word, word) for word in words[1:]]
    assert "are not counted again" in run(*again, code=4).out


def test_what_is_on_file_is_shown_and_nothing_is_concluded_by_looking(run: Run, batch_of: Make) -> None:
    """A gate that wants more rows than there are has not passed, whatever the evidence."""
    state = Path("gate.json")
    words = ["--max-ece", "0.3", *CHURN, "--min-rows", "9999"]
    assert run("verify", batch_of("many.csv", 4000), *words, "--state", state).code == 4
    shown = run("inspect", state).out
    assert "inconclusive" in shown
    assert "passed after" not in shown


def test_merging_waits_for_whoever_updates_the_output(
    run: Run, batch_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state that another process holds is not replaced under its hands."""
    monkeypatch.setattr("calibcli.documents.state._PATIENCE", 0.05)
    part, whole = Path("part.json"), Path("whole.json")
    run("verify", batch_of("rows.csv"), *GATE, "--state", part)
    with locked(str(whole)):
        held = run("merge", part, "-o", whole)
    assert held.code == 5
    assert "another process" in held.err
    assert not whole.exists()
    assert run("merge", part, "-o", whole).code == 0


def test_an_artifact_that_is_replaced_meanwhile_is_noticed(
    run: Run, batch_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are not counted by another map than the state is for."""
    fitted = Path("cal.json")
    run("fit", batch_of("fit.csv", seed=9), *CHURN, "-o", fitted)
    marks = itertools.count()
    monkeypatch.setattr("calibcli.commands.gate.fingerprint_of", lambda _: f"another {next(marks)}")
    state = Path("gate.json")
    ended = run("verify", batch_of("rows.csv"), *GATE, "--artifact", fitted, "--state", state, code=3)
    assert "cal.json changed while it was read" in ended.err
    assert not state.exists()


def test_a_file_without_a_row_left_is_said(run: Run, csv_of: Make) -> None:
    """Beside others that have some its rows are counted nowhere else."""
    some = csv_of("score,label", *(f"{i / 100},{i % 3 == 0:d}" for i in range(100)), name="some.csv")
    none = csv_of("score,label", "0.5,", "0.4,", name="none.csv")
    columns = (*CHURN, "--max-ece", "0.9", "--on-missing", "drop")
    report = run("verify", some, none, *columns, "--state", "g.json", "--json").document
    said = f"{none}: none of 2 rows has a value in every column that is read: nothing of it is counted"
    assert said in report["input"]["notes"]


def test_one_bad_batch_is_seen_among_good_ones(run: Run) -> None:
    """The state passes over all rows; the bad night is named by verify, inspect and in JSON, and drawn."""
    rng, state = np.random.default_rng(4), Path("gate.json")
    for night in range(6):
        score = rng.beta(0.6, 1.4, 800)
        label = rng.random(800) < (1.0 - score if night == 3 else score)
        path = in_csv(f"n{night}.csv", {"score": score, "label": label})
        ended = run("verify", path, "--max-ece", "0.3", "--state", state)
        assert ("1 batch stands out: n3.csv" in " ".join(ended.out.split())) is (night >= 3), ended.out
    assert ended.code == 0
    assert "last batch alone, n5.csv: binned ECE 0.0" in ended.out
    own = run("verify", "--state", state, "--max-ece", "0.3", "--json").document["state"]["own_errors"]
    assert list(own) == ["n3.csv", "n5.csv"]
    assert own["n3.csv"]["value"] > own["n3.csv"]["seldom"] > own["n3.csv"]["by_chance"]
    assert "; stands out" in run("inspect", state).out
    assert run("plot", state, "-o", "gate.svg").code == 0
    assert "each batch alone" in Path("gate.svg").read_text()


def test_batches_of_files_of_one_name_are_told_apart(run: Run) -> None:
    """By their numbers: the first of two files of one name stands out, and was lost behind the second."""
    rng, state = np.random.default_rng(4), Path("gate.json")
    for folder in ("bad", "good"):
        score = rng.beta(0.6, 1.4, 800)
        label = rng.random(800) < (1.0 - score if folder == "bad" else score)
        Path(folder).mkdir()
        path = in_csv(Path(folder) / "part.csv", {"score": score, "label": label})
        ended = run("verify", path, "--max-ece", "0.9", "--state", state, "--json")
    own = ended.document["state"]["own_errors"]
    assert [(name, one["value"] > one["seldom"]) for name, one in own.items()] == [
        ("part.csv (batch 1)", True),
        ("part.csv (batch 2)", False),
    ]
    told = run("inspect", state).out
    assert "part.csv (batch 1): 800 rows" in told
    assert "part.csv (batch 2): 800 rows" in told


def test_ids_written_otherwise_do_not_count_rows_again(run: Run, batch_of: Make) -> None:
    """The same rows with every id written otherwise are exit 3, and the state stays as it was."""
    state, first, again = Path("gate.json"), batch_of("a.csv"), Path("b.csv")
    run("verify", first, *GATE, "--state", state, "--id", "id")
    before = state.read_bytes()
    header, *lines = first.read_text().splitlines()
    place = header.split(",").index("id")
    cells = [line.split(",") for line in lines]
    again.write_text(
        "\n".join([header, *(",".join([*row[:place], f"x{row[place]}", *row[place + 1 :]]) for row in cells)])
        + "\n"
    )
    for words in ([], ["--batch", "other"]):
        ran = run("verify", again, *GATE, "--state", state, "--id", "id", *words, code=3)
        assert "have the scores and labels of batch 'a.csv' under other ids" in ran.err
        assert state.read_bytes() == before


def test_rows_that_drift_away_end_a_pass(run: Run, batch_of: Make) -> None:
    """A pass (0) is inconclusive (4) once the estimate over all rows is above the limit, and says so."""
    state = Path("gate.json")
    assert run("verify", batch_of("a.csv", 5000), *GATE, "--state", state).code == 0
    ran = run("verify", batch_of("b.csv", 5000, seed=1, off=0.13), *GATE, "--state", state, code=4)
    assert "it passed at 5,000 rows, but over all 10,000 rows the estimate is above the limit" in ran.out
    assert state_of(state)["passed_at"] == 5000


@pytest.mark.slow
def test_a_killed_gate_completes_when_run_again(batch_of: Make, tmp_path: Path) -> None:
    """Killed at random instants the command has counted all files of the call or none; run again, all."""
    draw = np.random.default_rng(1)
    files = [batch_of(f"{number}.csv", 100, seed=number) for number in range(4)]
    command = [sys.executable, "-m", "calibcli", "verify", *map(str, files), *GATE, "--state", "gate.json"]

    def started() -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    begun = time.perf_counter()
    assert started().wait() == 4
    lasts = time.perf_counter() - begun
    whole = Path("gate.json").read_bytes()
    for _ in range(200):
        Path("gate.json").unlink(missing_ok=True)
        with started() as process:
            time.sleep(draw.uniform(0.5, 1.1) * lasts)
            os.kill(process.pid, signal.SIGKILL)
        state = read_state(Path("gate.json"))
        assert state is None or state.rows == 400
    assert started().wait() == 4
    assert Path("gate.json").read_bytes() == whole
    assert not list(tmp_path.glob(".*.part"))


def test_rows_that_lost_their_name_are_asked_about(run: Run, batch_of: Make) -> None:
    """A retry that drops --batch counts nothing twice, few as the rows may be, and says that it did not."""
    state, rows = Path("gate.json"), batch_of("few.csv", 20)
    run("verify", rows, *GATE, "--state", state, "--batch", "mon")
    before = state.read_bytes()
    again = run("verify", rows, *GATE, "--state", state)
    assert (again.code, "these 20 rows have the scores and labels of batch 'mon'" in again.err) == (3, True)
    assert state.read_bytes() == before


def test_a_batch_of_a_partition_is_read_from_its_own_files(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of many days was read whole for each; numbers are found however the path writes them."""
    asked: list[int] = []

    def seen(rows: RowRequest, *more: Any, **options: Any) -> Gathered:
        asked.append(len(rows.inputs))
        return read_evaluation(rows, *more, **options)

    monkeypatch.setattr(gate, "read_evaluation", seen)
    states = {}
    for key, folder in (("day", "day={}"), ("DAY", "Day={}"), ("hour", "hour={}.0")):
        root = Path(key)
        for day in range(1, 5):
            for part in "ab":
                path = root / folder.format(day) / f"{part}.csv"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("score,label\n" + f"0.{day},1\n0.{day},0\n" * 20 + f"0.5,{part == 'a':d}\n")
        asked.clear()
        state = Path(f"{key}.json")
        run("verify", root, "--by", key, "--max-ece", "0.9", "--state", state)
        assert asked == [1, 2, 2, 2, 2]
        states[key] = json.loads(state.read_text())["epochs"]
    assert states["day"] == states["DAY"] == states["hour"]
