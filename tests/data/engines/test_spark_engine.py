"""Work on a real Spark: in local mode, through Spark Connect, and with a worker that is killed."""

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import same_bytes
from calibcli.data.engines import engine_named
from calibcli.errors import UsageProblem
from calibcli.names import EngineName
from same_bytes import COMMANDS, make_files

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed"),
    pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java"),
]

SAMPLE = Path(__file__).parents[3] / "sample_data"
# Spark keeps its session for as long as a process lives, so every test has one of its own.
PROGRAM = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
from calibcli.data.engines import engine_named
from calibcli.names import EngineName
from work_elsewhere import squared
engine = engine_named(EngineName.SPARK, address=sys.argv[1])
for square, process in engine.map(squared, range(int(sys.argv[2]))):
    print(square, process, flush=True)
"""


def environment() -> dict[str, str]:
    """The workers find the work of these tests, and the same Python."""
    tests = str(Path(__file__).parents[2])
    return os.environ | {"PYTHONPATH": tests, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


@pytest.fixture(scope="module")
def connect() -> Iterator[str]:
    """A Spark Connect server on the loopback address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).parent
    server = subprocess.Popen(
        [
            str(home / "bin" / "spark-submit"),
            "--master",
            "local[2,3]",
            "--class",
            "org.apache.spark.sql.connect.service.SparkConnectServer",
            "--conf",
            f"spark.connect.grpc.binding.port={port}",
            "--conf",
            "spark.connect.grpc.binding.address=127.0.0.1",
            "spark-internal",
        ],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 180.0
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        assert server.poll() is None, "the server ended"
        assert time.monotonic() < deadline, "the server did not start"
        time.sleep(0.5)
    try:
        yield f"sc://127.0.0.1:{port}"
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files for the commands of `same_bytes`."""
    made = tmp_path_factory.mktemp("rows")
    make_files(made)
    return made


def differing_from_here(folder: Path, address: str, *names: str) -> list[str]:
    """Return the commands of `same_bytes`, or some of them, that write other bytes on Spark."""
    program = [sys.executable, "-W", "ignore", str(Path(same_bytes.__file__))]
    done = subprocess.run(
        [*program, str(folder), "spark", address, *names],
        capture_output=True,
        text=True,
        timeout=3_000,
        check=False,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_every_command_writes_the_same_bytes_in_local_mode(folder: Path) -> None:
    """From partitions in three formats, from grids, groups, classes and more files than there are bundles."""
    assert differing_from_here(folder, "local[2,3]") == []


def test_every_command_writes_the_same_bytes_through_connect(folder: Path, connect: str) -> None:
    """The same commands from a server, but for most methods of fits, which read as others do."""
    fits = {name for name in COMMANDS if name.startswith("fit ")}
    names = [name for name in COMMANDS if name not in fits - {"fit by", "fit isotonic grid", "fit weights"}]
    assert differing_from_here(folder, connect, *names) == []


def test_a_worker_killed_in_the_middle_changes_nothing() -> None:
    """Its task is run again by another one; results stay complete and in order."""
    command = [sys.executable, "-c", PROGRAM, "local[2,4]", "60"]
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        assert running.stdout is not None
        lines = [running.stdout.readline() for _ in range(2)]
        os.kill(int(lines[1].split()[1]), signal.SIGKILL)
        lines += running.stdout.read().splitlines()
        assert running.wait(timeout=400) == 0
    assert [int(line.split()[0]) for line in lines] == [item * item for item in range(60)]


def test_no_spark_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the package is not installed."""
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(UsageProblem, match="not installed"):
        list(engine_named(EngineName.SPARK).map(str, range(2)))
