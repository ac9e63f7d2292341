"""Object stores: read, write, and nothing left of a write that was given up, against a server on loopback."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from calibcli.data.files import found_in
from calibcli.data.fragments import list_fragments
from calibcli.data.objects import is_object, objects_below
from calibcli.data.outputs import new_file, refuse_existing
from calibcli.data.readers import unchanged
from calibcli.documents.state import refuse_state
from calibcli.errors import CalibcliError, InputProblem, OutputProblem, UsageProblem

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(importlib.util.find_spec("moto") is None, reason="moto is not installed"),
]

SAMPLE = Path(__file__).parents[2] / "sample_data"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A store on the loopback address, with a bucket of three files."""
    from moto.server import ThreadedMotoServer

    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    running.start()
    try:
        yield "http://{}:{}".format(*running.get_host_and_port())
    finally:
        running.stop()


@pytest.fixture(autouse=True)
def bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket with the churn predictions in two places; emptied afterwards."""
    import boto3

    for name, value in {
        "AWS_ENDPOINT_URL": server,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3")
    client.create_bucket(Bucket="preds")
    for name in ("churn_evaluation.parquet", "breast_cancer_evaluation.csv", "breast_cancer_calibration.csv"):
        client.put_object(Bucket="preds", Key=f"in/{name}", Body=(SAMPLE / name).read_bytes())
    client.put_object(Bucket="preds", Key="in/_SUCCESS", Body=b"")
    yield "s3://preds"
    for one in client.list_objects_v2(Bucket="preds").get("Contents", []):
        client.delete_object(Bucket="preds", Key=one["Key"])


def keys() -> list[str]:
    """Return what is in the bucket outside `in/`."""
    import boto3

    found = boto3.client("s3").list_objects_v2(Bucket="preds").get("Contents", [])
    return [one["Key"] for one in found if not one["Key"].startswith("in/")]


def calibcli(*words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command as a user does."""
    command = [sys.executable, "-m", "calibcli", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("name", ["churn_evaluation.parquet", "breast_cancer_evaluation.csv"])
def test_an_object_is_measured_as_the_file_is(bucket: str, name: str) -> None:
    """Byte for byte but for its name."""
    there = calibcli("measure", f"{bucket}/in/{name}", "--json")
    here = calibcli("measure", str(SAMPLE / name), "--json")
    assert there.returncode == 0, there.stderr
    reports = [json.loads(one.stdout) for one in (there, here)]
    for report in reports:
        del report["input"]["files"], report["digest"]
    assert reports[0] == reports[1]


def test_a_prefix_is_a_directory(bucket: str) -> None:
    """In the order of names, and those that start with an underscore are skipped and counted."""
    found = found_in([f"{bucket}/in"])
    assert found.notes() == (
        f"{bucket}/in: 3 files read, 1 name skipped: 1 starting with _ or . ({bucket}/in/_SUCCESS)",
    )
    assert [one.path for one in found.files] == [
        f"{bucket}/in/breast_cancer_calibration.csv",
        f"{bucket}/in/breast_cancer_evaluation.csv",
        f"{bucket}/in/churn_evaluation.parquet",
    ]
    assert objects_below(f"{bucket}/in/churn_evaluation.parquet") is None


def test_an_object_that_is_replaced_while_it_is_read_is_refused(bucket: str) -> None:
    """Also by one of the same size: told by time and ETag."""
    import boto3

    fragments = list_fragments([f"{bucket}/in/breast_cancer_evaluation.csv"])
    content = (SAMPLE / "breast_cancer_evaluation.csv").read_bytes()
    place = {"Bucket": "preds", "Key": "in/breast_cancer_evaluation.csv"}
    with unchanged(fragments):
        pass
    boto3.client("s3").put_object(**place, Body=content.replace(b",1\n", b",0\n"))
    with pytest.raises(InputProblem, match="changed while it was read"), unchanged(fragments):
        pass


def test_fit_and_apply_write_objects(bucket: str, tmp_path: Path) -> None:
    """The artifact and the rows are those that files would hold."""
    rows = f"{bucket}/in/churn_evaluation.parquet"
    assert calibcli("fit", rows, "-m", "platt", "-o", f"{bucket}/cal.json").returncode == 0
    done = calibcli("apply", f"{bucket}/cal.json", rows, "-o", f"{bucket}/out/rows.parquet")
    assert done.returncode == 0, done.stderr
    assert keys() == ["cal.json", "out/rows.parquet"]
    local = tmp_path / "rows.parquet"
    assert calibcli("apply", f"{bucket}/cal.json", rows, "-o", str(local)).returncode == 0
    import boto3

    body = boto3.client("s3").get_object(Bucket="preds", Key="out/rows.parquet")["Body"].read()
    assert body == local.read_bytes()


def test_an_object_is_not_replaced_unasked(bucket: str) -> None:
    """Nor is an input ever."""
    name = f"{bucket}/there"
    with new_file(name) as out:
        out.write(b"first")
    with pytest.raises(OutputProblem, match="exists already"):
        refuse_existing(name, force=False)
    refuse_existing(name, force=True)
    with pytest.raises(OutputProblem, match="also an input"):
        refuse_existing(name, force=True, inputs=[name])


def test_a_write_that_is_given_up_leaves_no_object(bucket: str) -> None:
    """Whatever ended it, and however much was written; what stood there stays."""

    def give_up(name: str) -> None:
        with new_file(f"{bucket}/{name}") as out:
            out.write(b"x" * 12_000_000)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        give_up("half")
    assert keys() == []
    with new_file(f"{bucket}/whole") as out:
        out.write(b"all of it")
    with pytest.raises(KeyboardInterrupt):
        give_up("whole")
    assert keys() == ["whole"]


def test_bad_input_in_the_middle_leaves_no_object(bucket: str, tmp_path: Path) -> None:
    """A score outside [0, 1] in the last row."""
    bad = tmp_path / "bad.csv"
    bad.write_text("score\n" + "0.5\n" * 200_000 + "7\n")
    cal = tmp_path / "cal.json"
    fit = calibcli("fit", str(SAMPLE / "breast_cancer_calibration.csv"), "-m", "platt", "-o", str(cal))
    assert fit.returncode == 0
    done = calibcli("apply", str(cal), str(bad), "-o", f"{bucket}/rows.csv")
    assert done.returncode == 3
    assert keys() == []


def test_a_full_temporary_disk_is_said_of_the_object(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line with exit code 5, and nothing is uploaded."""
    real = tempfile.mkstemp

    def full(**words: str) -> tuple[int, str]:
        os.unlink((made := real(**words))[1])  # noqa: PTH108 - a descriptor comes with it
        os.symlink("/dev/full", made[1])  # noqa: PTH211 - as above
        return made

    monkeypatch.setattr("tempfile.mkstemp", full)

    def write() -> None:
        with new_file(f"{bucket}/full") as out:
            out.write(b"x" * 5_000_000)

    with pytest.raises(OutputProblem, match=r"s3://preds/full cannot be written: no space"):
        write()
    assert keys() == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["measure", "s3://preds/none.csv"], 3, "no such object"),
        (["measure", "s3://nobody/none.csv"], 3, "no such object"),
        (["fit", "s3://preds/in/breast_cancer_evaluation.csv", "-o", "s3://nobody/a.json"], 5, "written"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(words: list[str], code: int, said: str) -> None:
    """With the exit code of files."""
    done = calibcli(*words)
    assert done.returncode == code, done.stderr
    assert said in done.stderr.splitlines()[0]
    assert "Traceback" not in done.stderr


def test_a_state_cannot_be_kept_in_a_store(bucket: str) -> None:
    """It is locked while it changes."""
    with pytest.raises(UsageProblem, match="locked"):
        refuse_state(f"{bucket}/gate.json")


def test_only_addresses_are_objects() -> None:
    """A colon in a file name is none."""
    assert is_object("s3://a/b")
    assert is_object("gs://a/b")
    assert not any(is_object(name) for name in ("a/b", "s3:/a", "path:csv", "-", "http://a/b", "://x"))


def test_an_empty_store_has_no_such_object() -> None:
    """A prefix nobody wrote to is an error, not an empty directory."""
    with pytest.raises(InputProblem):
        objects_below("s3://preds/nothing/")
    assert issubclass(InputProblem, CalibcliError)


def test_every_format_is_read_from_a_bucket(bucket: str) -> None:
    """Also by a pattern, and with columns that stand in the names of objects."""
    import boto3
    import numpy as np
    import pyarrow as pa
    from pyarrow import feather

    rows = {"score": [0.25, 0.75], "label": [0, 1]}
    made = {name: tempfile.mkstemp(suffix=name)[1] for name in (".npz", ".feather", ".arrows")}
    np.savez(made[".npz"], **{name: np.array(values) for name, values in rows.items()})
    feather.write_feather(pa.table(rows), made[".feather"])
    with pa.ipc.new_stream(made[".arrows"], pa.table(rows).schema) as out:
        out.write_table(pa.table(rows))
    bodies = {suffix: Path(path).read_bytes() for suffix, path in made.items()}
    bodies[".jsonl"] = b'{"score": 0.25, "label": 0}\n{"score": 0.75, "label": 1}\n'
    client = boto3.client("s3")
    for suffix, body in bodies.items():
        client.put_object(Bucket="preds", Key=f"all/kind={suffix[1:]}/rows{suffix}", Body=body)
    for path in made.values():
        Path(path).unlink()
    words = [sys.executable, "-m", "calibcli", "measure", f"{bucket}/all/**/r*s.*", "--by", "kind", "--json"]
    ended = subprocess.run([*words, "--min-group-rows", "1"], capture_output=True, text=True, check=False)
    assert ended.stderr == "" or "note" in ended.stderr
    report = json.loads(ended.stdout)
    assert report["input"]["rows"] == 8
    assert {f"{bucket}/all/kind={suffix[1:]}/rows{suffix}" for suffix in bodies} == set(
        report["input"]["files"]
    )


def test_objects_that_their_paths_rule_out_are_not_opened(bucket: str) -> None:
    """As files are: one of them is cut short."""
    import boto3

    whole = (SAMPLE / "breast_cancer_evaluation.csv").read_bytes()
    for key, body in (("day=1/a.parquet", b"PAR1 cut short"), ("day=2/a.csv", whole)):
        boto3.client("s3").put_object(Bucket="preds", Key=f"parts/{key}", Body=body)
    ended = calibcli("measure", f"{bucket}/parts", "--json", "--where", "day==2")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)["input"]
    assert (found["files"], found["selected"]["unopened"]) == ([f"{bucket}/parts/day=2/a.csv"], 1)
