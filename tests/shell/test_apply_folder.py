"""`apply --out-dir`: an output for each file, whole or not at all, and a restart that goes on."""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.commands.apply import NAME, FileWork, output_pairs
from calibcli.data.engines import failed
from calibcli.documents.sealed import canonical_text
from calibcli.errors import UsageProblem
from calibcli.names import DataFormat, EngineName
from calibcli.options.rows import Reading
from calibcli.shell.app import main
from command_line import SAMPLE, Run

APPLY = ("apply", "cal.json", "preds", "--out-dir", "out", "-q")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory of two partitions, and a fitted artifact beside it."""
    rng = np.random.default_rng(2)
    for day in (1, 2):
        folder = Path(f"preds/day={day}")
        folder.mkdir(parents=True)
        table = pa.table({"score": rng.random(500), "id": np.arange(500), "label": rng.integers(0, 2, 500)})
        pq.write_table(table, folder / "part.parquet", row_group_size=200)
    Path("preds/day=2/more.csv").write_text("score,id\n0.25,007\n0.75,008\n")
    Path("preds/_SUCCESS").touch()
    assert main(["fit", "preds/day=1", "-m", "platt", "-q", "-o", "cal.json"]) == 0
    return tmp_path


def files(folder: Path) -> list[str]:
    """Return what is below a directory, less the note of the map that made it."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != NAME)
    return sorted(str(path.relative_to(folder)) for path in paths)


def test_partitions_stay_partitions(run: Run, place: Path) -> None:
    """Each output is what `apply -o` writes for the file."""
    run(*APPLY, code=0)
    names = ["day=1/part.parquet", "day=2/more.csv", "day=2/part.parquet"]
    assert files(place / "out") == names
    for name in names:
        one = Path(f"one{Path(name).suffix}")
        run("apply", "cal.json", f"preds/{name}", "-o", one, "-q", "--force", code=0)
        assert one.read_bytes() == Path("out", name).read_bytes()


def test_damaged_files_are_named_in_one_go(run: Run, place: Path) -> None:
    """Those of an output that is there are not looked at again; whatever reads all names all, up to ten."""
    run(*APPLY, code=0)
    (place / "out/day=2/more.csv").unlink()
    part = Path("preds/day=2/part.parquet")
    whole = part.read_bytes()
    part.write_bytes(whole[:-20])
    first = next(one for one in sorted(Path("preds").rglob("*")) if one.is_file())
    kept = first.read_bytes()
    first.write_bytes(b"")
    run(*APPLY, "--skip-existing", code=0)
    run(*APPLY, "--skip-existing", code=0)
    first.write_bytes(kept)
    Path("preds/day=2/part2.parquet").write_bytes(whole[:-20])
    for command in ("measure", "inspect", "verify --max-ece 0.5", "fit -o new.json"):
        said = run(*command.split(), "preds", code=3).err
        assert "error: 2 files cannot be used: preds/day=2/part.parquet cannot be read as Parquet" in said
        assert "; preds/day=2/part2.parquet cannot be read as Parquet" in said
        assert said.count("hint:") == 1
    for number in range(3, 12):
        Path(f"preds/day=2/part{number}.parquet").write_bytes(whole[:-20])
    assert "error: 10 or more files cannot be used: " in run("measure", "preds", code=3).err


def test_a_restart_goes_on(run: Run, place: Path) -> None:
    """Outputs that are there stay as they are; the others are made."""
    run(*APPLY, code=0)
    kept, gone = place / "out/day=1/part.parquet", place / "out/day=2/part.parquet"
    whole, before = gone.read_bytes(), kept.stat().st_mtime_ns
    gone.unlink()
    said = "hint: pass --skip-existing to leave it as it is, or --force to replace it"
    assert said in run(*APPLY, code=5).err
    assert not gone.exists()
    run(*APPLY, "--skip-existing", code=0)
    assert gone.read_bytes() == whole
    assert kept.stat().st_mtime_ns == before
    for changed, said in (
        ((), ""),
        (("1",), "1 input is newer than its output"),
        (("1", "2"), "2 inputs are"),
    ):
        for day in changed:
            os.utime(place / f"preds/day={day}/part.parquet")
        err = run(*APPLY[:-1], "--skip-existing", code=0).err
        assert (said in err) if said else ("newer" not in err)
    assert "the first preds/day=1/part.parquet: --force" in err
    assert kept.stat().st_mtime_ns == before


def test_a_restart_with_another_map_is_refused(run: Run, place: Path) -> None:
    """Files of two maps never stand in one folder unsaid, also after one that ended early."""
    run(*APPLY, code=0)
    other = json.loads((place / "cal.json").read_text())
    gone = place / "out/day=2/part.parquet"
    gone.unlink()
    said = run(*APPLY, "--prior", "0.2", "--skip-existing", code=2).err
    changed = "2 outputs were made by another artifact, --prior, --name or --keep, or of scores that were"
    assert changed in said
    assert "; the first is out/day=1" in said
    assert not gone.exists()
    read = (["--scale", "percent"], ["-s", "id", "--scale", "logit"], ["--score-map", "rare=.1"])
    for more in (*read, ["--keep", "none"]):
        assert "of scores that were read otherwise" in run(*APPLY, *more, "--skip-existing", code=2).err
    (place / "again.json").write_text(json.dumps(other, indent=4))
    run(*APPLY, "-s", "score", "--scale", "prob", "--skip-existing", "--on-missing", "null", code=0)
    gone.unlink()
    run("apply", "again.json", *APPLY[2:], "--skip-existing", code=0)
    assert gone.exists()
    (place / "out" / NAME).unlink()
    unsaid = run(*APPLY[:-1], "--prior", "0.2", "--skip-existing", code=0).err
    assert "nothing says which artifact made 3 outputs" in unsaid
    run(*APPLY, "--prior", "0.2", "--force", code=0)
    run(*APPLY, "--skip-existing", code=2)
    # Files without a score out of range, or missing, are the same; those that have some may not be.
    for how, other in ((["--on-range", "clip"], ["--on-range", "null"]), (["--on-missing", "null"], [])):
        run(*APPLY, "--force", code=0)
        gone.unlink()
        for more, code in ((how, 0), (other, 2), (how, 0)):
            run(*APPLY, *more, "--skip-existing", code=code)


def test_outputs_of_earlier_versions_are_left_out(run: Run, place: Path) -> None:
    """They did not say what --keep was: a run that goes on every night goes on; today's outputs say it."""
    gone, note = place / "out/day=2/part.parquet", place / "out" / NAME
    run(*APPLY, "--keep", "id", code=0)
    (of_now,) = set(json.loads(note.read_text()).values())
    document = json.loads((place / "cal.json").read_text())
    same = {key: one for key, one in document.items() if key not in {"calibcli", "digest", "schema", "fit"}}
    told = canonical_text({"map": same, "prior": None, "name": "calibrated"})
    note.write_text(note.read_text().replace(of_now, f"sha256:{hashlib.sha256(told.encode()).hexdigest()}"))
    gone.unlink()
    run(*APPLY, "--keep", "id", "--skip-existing", code=0)
    assert json.loads(note.read_text())["day=2/part.parquet"] == of_now
    run(*APPLY, "--keep", "id", "--force", code=0)
    for more, code in (([], 2), (["--keep", "none"], 2), (["--keep", "id"], 0)):
        run(*APPLY, *more, "--skip-existing", code=code)


def test_notes_on_some_files_name_them(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said of two files alike is not taken for what is said of one, or of all."""
    for name in ("a.csv", "b.csv"):
        (place / "preds" / name).write_text("score,id\n0.2,1\nabc,2\n0.4,3\n")
    (place / "preds" / "c.csv").write_text("score,id\n" + "".join(f"{k / 1e6},{k}\n" for k in range(200)))
    more = ("--out-dir", "out", "--on-missing", "null")
    said = run("apply", "cal.json", "preds", *more, code=0).err
    assert "note: preds/a.csv and preds/b.csv: column 'score': scores counted as missing" in said
    assert "note: preds/c.csv, column 'score': about 100 % of these scores lie" in said
    monkeypatch.chdir(place / "preds")
    (place / "preds" / "a.csv").rename("c")
    said = run("apply", "../cal.json", "c:csv", "c.csv", *more, code=0).err
    assert "note: c: column 'score': scores counted as missing" in said


@pytest.mark.usefixtures("place")
def test_a_restart_at_another_base_rate_of_the_fit_is_refused(run: Run) -> None:
    """Where --prior replaces it, two maps of one curve make other columns."""
    for day in ("1", "2"):
        run("fit", f"preds/day={day}/part.parquet", "-m", "identity", "-q", "-o", f"{day}.json", code=0)
    for prior, code in ((["--prior", "0.2"], 2), ([], 0)):
        run("apply", "1.json", *APPLY[2:], *prior, "--force", code=0)
        run("apply", "1.json", *APPLY[2:], *prior, "--skip-existing", code=0)
        run("apply", "2.json", *APPLY[2:], *prior, "--skip-existing", code=code)


def test_a_bad_file_ends_it_with_what_was_written(run: Run, place: Path) -> None:
    """All other files are whole, it has no output, and the hint says how to go on."""
    bad = place / "preds/day=2/more.csv"
    bad.write_text("score,id\n0.25,007\n75,008\n")
    said = run(*APPLY, code=3).err
    assert files(place / "out") == ["day=1/part.parquet", "day=2/part.parquet"]
    assert "preds/day=2/more.csv" in said.splitlines()[0]
    assert "2 other files are written: --skip-existing goes on from there" in said
    bad.write_text("score,id\n0.25,007\n0.75,008\n")
    run(*APPLY, "--skip-existing", code=0)
    assert len(files(place / "out")) == 3


def test_an_engine_that_gives_up_says_what_was_written(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those files are whole, and the hint says how to go on."""

    class Dying:
        shares_interpreter = False

        def map(self, work: FileWork, items: list[tuple[str, str]]) -> Iterator[object]:
            yield work(items[0])
            raise failed(EngineName.DASK, RuntimeError("all workers died"))

    monkeypatch.setattr("calibcli.commands.apply.engine_named", lambda *_, **__: Dying())
    said = run(*APPLY, code=2).err
    assert said.startswith("error: dask gave up: RuntimeError: all workers died")
    assert "1 other file is written: --skip-existing goes on from there" in said
    assert files(place / "out") == ["day=1/part.parquet"]


def test_two_files_of_one_name_need_directories(place: Path) -> None:
    """Directories that hold columns stay with a file that is named by itself; others do not."""
    pairs = output_pairs(["preds/day=1/part.parquet", "preds/day=2/part.parquet"], "out/")
    assert [output for _, output in pairs] == ["out/day=1/part.parquet", "out/day=2/part.parquet"]
    assert output_pairs(["preds/day=2"], "out")[0] == ("preds/day=2/more.csv", "out/day=2/more.csv")
    assert output_pairs(["preds/*/part.parquet"], "out")[1][1] == "out/day=2/part.parquet"
    for folder in ("one", "two"):
        (place / folder).mkdir()
        (place / folder / "part.csv").write_text("score\n0.5\n")
    with pytest.raises(UsageProblem, match=r"would both be written to out/part\.csv"):
        output_pairs(["one/part.csv", "two/part.csv"], "out")
    assert output_pairs(["one/part.csv"], "out") == [("one/part.csv", "out/part.csv")]


@pytest.mark.parametrize(
    ("name", "to", "expected"),
    [
        ("a.parquet", "csv", "a.csv"),
        ("a.csv.gz", "jsonl", "a.jsonl.gz"),
        ("a.csv.gz", "arrow", "a.arrow"),
        ("a.csv.gz", "csv", "a.csv.gz"),
        ("a.pq", "parquet", "a.pq"),
        ("a.b.tsv", "parquet", "a.b.parquet"),
        ("a.log:csv", "tsv", "a.log.tsv"),
        ("a?.csv", "csv", "a?.csv"),
    ],
)
def test_outputs_of_another_format_are_called_so(name: str, to: str, expected: str, place: Path) -> None:
    """Compressions stay around text alone; names that promise nothing get a suffix."""
    (place / name.partition(":")[0]).write_text("score\n0.5\n")
    assert output_pairs([name], "out", to=DataFormat(to)) == [(name, f"out/{expected}")]


def test_files_of_a_forced_format_are_read_so(run: Run, place: Path) -> None:
    """Below directories too, which they keep."""
    deep = place / "logs" / "x=1"
    deep.mkdir(parents=True)
    (deep / "a.log").write_text("score\n0.5\n")
    run("apply", "cal.json", "logs:csv", "--out-dir", "out", "-q", code=0)
    assert (place / "out/x=1/a.log").read_text().startswith("score,calibrated\n0.5,")


def partitioned(place: Path) -> None:
    """Write nested partitions, one of them without a value."""
    rng = np.random.default_rng(3)
    for country in ("US", "a%20b", "__HIVE_DEFAULT_PARTITION__"):
        for day in ("2024-01-01", "2024-01-02"):
            folder = place / "hive" / f"country={country}" / f"day={day}"
            folder.mkdir(parents=True)
            pq.write_table(pa.table({"score": rng.random(50)}), folder / "part-0.parquet")


@pytest.mark.parametrize("to", ["parquet", "csv", "jsonl", "arrow"])
def test_partitions_are_read_as_such_again(run: Run, to: str, place: Path) -> None:
    """By pyarrow and DuckDB, every row in its partition; a restart with --to leaves out what is there."""
    import duckdb
    import pyarrow.dataset as ds

    partitioned(place)
    words = ["apply", "cal.json", "hive", "--out-dir", "out", "--to", to, "--name", "p", "-q"]
    run(*words, code=0)
    names = files(place / "out")
    assert names == [name.replace(".parquet", f".{to}") for name in files(place / "hive")]
    hive = ds.partitioning(pa.schema([("country", pa.string()), ("day", pa.string())]), flavor="hive")
    rows = []
    if to != "jsonl":
        found = ds.dataset("out", format=to if to != "arrow" else "ipc", partitioning=hive).to_table()
        rows.append([(row["score"], row["day"]) for row in found.to_pylist()])
    if to != "arrow":
        read = {"parquet": duckdb.read_parquet, "csv": duckdb.read_csv, "jsonl": duckdb.read_json}[to]
        rows.append(read("out/*/*/*", hive_partitioning=True).select("score, day::text").fetchall())
    before = ds.dataset("hive", partitioning=hive).to_table().to_pylist()
    for some in rows:
        assert sorted(some) == sorted((row["score"], row["day"]) for row in before)
    kept = {name: (place / "out" / name).stat().st_mtime_ns for name in names[1:]}
    (place / "out" / names[0]).unlink()
    run(*words, code=5)
    run(*words, "--skip-existing", code=0)
    assert files(place / "out") == names
    assert {name: (place / "out" / name).stat().st_mtime_ns for name in names[1:]} == kept


def test_maps_of_several_classes_take_many_files_too(run: Run) -> None:
    """With the same bytes as one by one."""
    source = SAMPLE / "digits_naive_bayes_evaluation.parquet"
    run("fit", source, "--probs", "p_*", "-y", "label", "-q", "-o", "cal.json", code=0)
    run("apply", "cal.json", source, "--out-dir", "out", "-q", code=0)
    run("apply", "cal.json", source, "-o", "one.parquet", "-q", code=0)
    assert Path("out", source.name).read_bytes() == Path("one.parquet").read_bytes()
    columns = ",".join(f"p_{place}" for place in range(10))
    words = ["apply", "cal.json", source, "--out-dir", "named", "-q", "--probs", columns, "--classes"]
    run(*words, "0,1,2,3,4,5,6,7,8,9", code=0)
    run(*words, "1,0,2,3,4,5,6,7,8,9", "--skip-existing", code=2)


def test_the_report_adds_files_up(place: Path) -> None:
    """Rows of all files, and each file by itself."""
    from calibcli.commands.apply import apply_folder
    from calibcli.commands.predicting import ApplyRequest
    from calibcli.documents.artifact import read_any_artifact

    requested = ApplyRequest("cal.json", read_any_artifact("cal.json"))
    found = apply_folder(
        ["preds"], "out", requested=requested, force=False, skip_existing=False, reading=Reading()
    )
    assert found.total.rows == sum(part.rows for part in found.parts) == 1_002
    assert found.total.columns == ("calibrated",)
    assert found.total.lowest == min(part.lowest or 1.0 for part in found.parts)
    assert [part.output for part in found.parts] == [f"out/{name}" for name in files(place / "out")]
