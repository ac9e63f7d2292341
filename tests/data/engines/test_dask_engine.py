"""Work on a real Dask scheduler with two worker processes, one of which is killed."""

import importlib.metadata
import importlib.util
import logging.handlers
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from calibcli.commands.measure import measure_files
from calibcli.data.engines import engine_named, refuse_other_versions
from calibcli.data.engines.dask import _versions
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import EngineName
from calibcli.options.rows import Columns, Reading, RowRequest
from calibcli.version import __version__
from same_bytes import COMMANDS, differing, make_files, written
from work_elsewhere import broken, refused, squared

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="distributed is not installed"
)


QUICK = ("csv apply", "fit by", "segments grid", "verify state", "apply fault")


@dataclass
class Cluster:
    """A scheduler with its file, and the workers."""

    scheduler: subprocess.Popen[bytes]
    file: str
    workers: list[subprocess.Popen[bytes]]


def started(*words: str) -> subprocess.Popen[bytes]:
    """Start a program of Dask whose workers find the work of these tests."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler with two workers on the loopback address; it ends with these tests."""
    folder = tmp_path_factory.mktemp("dask")
    scheduler, file = scheduled(folder)
    made = Cluster(scheduler, file, [worker(file, folder) for _ in range(2)])
    try:
        wait_for(file, 2)
        yield made
    finally:
        for process in (*made.workers, scheduler):
            process.kill()
            process.wait()


def scheduled(folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Start a scheduler, and return it with its file once that is there."""
    file = str(folder / "scheduler.json")
    scheduler = started(
        "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", file
    )
    deadline = time.monotonic() + 60.0
    while not Path(file).exists():
        assert scheduler.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return scheduler, file


def worker(file: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a worker that nothing restarts."""
    return started(
        "dask_worker",
        "--scheduler-file",
        file,
        "--nthreads",
        "1",
        "--no-nanny",
        "--no-dashboard",
        "--local-directory",
        str(folder),
    )


def wait_for(file: str, workers: int) -> None:
    """Wait until so many workers are there."""
    import distributed

    client_of: Any = distributed.Client
    with client_of(scheduler_file=file, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=60)


def parts(folder: Path, files: int) -> list[str]:
    """Write some files of rows."""
    rng = np.random.default_rng(5)
    names = []
    for index in range(files):
        score = np.round(rng.random(4_000), 3)
        label = (rng.random(4_000) < score).astype(int)
        path = folder / f"part-{index:02}.csv"
        rows = "\n".join(f"{s},{y}" for s, y in zip(score, label, strict=True))
        path.write_text(f"score,label\n{rows}\n")
        names.append(str(path))
    return names


def test_results_come_in_the_order_of_the_items(cluster: Cluster) -> None:
    """From both workers."""
    engine = engine_named(EngineName.DASK, address=cluster.file)
    results = list(engine.map(squared, range(12)))
    assert [square for square, _ in results] == [item * item for item in range(12)]
    assert {process for _, process in results} == {one.pid for one in cluster.workers}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files for the commands of `same_bytes`."""
    made = tmp_path_factory.mktemp("rows")
    make_files(made)
    return made


def elsewhere_on(cluster: Cluster) -> list[str]:
    """Return the options that send work to the cluster."""
    return ["--engine", "dask", "--engine-address", cluster.file]


@pytest.mark.untraced
def test_commands_write_the_same_bytes(
    cluster: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few of each kind; every one of them under `make test-system`."""
    monkeypatch.chdir(folder)
    assert differing(elsewhere_on(cluster), QUICK) == []


@pytest.mark.system
def test_every_command_writes_the_same_bytes(
    cluster: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From partitions in three formats, from grids, groups, classes and more files than there are bundles."""
    monkeypatch.chdir(folder)
    assert differing(elsewhere_on(cluster), COMMANDS) == []


def test_a_problem_with_a_file_is_the_one_that_is_reported_here(cluster: Cluster, tmp_path: Path) -> None:
    """With file, row and hint, and the exit code of bad input."""
    files = parts(tmp_path, 3)
    elsewhere = Reading(engine=EngineName.DASK, engine_address=cluster.file)
    for text in ("score,label\n0.5,1\n1.5,0\n", 'score,label,c\n0.5,1,"x\n0.25,0,y\n'):
        Path(files[1]).write_text(text)
        with pytest.raises(InputProblem) as here:
            measure_files(RowRequest(files, Columns("score", "label")))
        with pytest.raises(InputProblem) as there:
            measure_files(RowRequest(files, Columns("score", "label"), reading=elsewhere))
        assert (here.value.message, here.value.hint) == (there.value.message, there.value.hint)


def test_what_work_raises_arrives_in_one_line(cluster: Cluster) -> None:
    """An error of ours as it is, a bug as the engine's failure."""
    engine = engine_named(EngineName.DASK, address=cluster.file)
    with pytest.raises(InputProblem, match="item 3 is wrong"):
        list(engine.map(refused, range(5)))
    with pytest.raises(UsageProblem, match="ZeroDivisionError"):
        list(engine.map(broken, range(5)))


def test_a_scheduler_file_that_is_none_is_refused(tmp_path: Path) -> None:
    """Dask would wait for one that is not there for ever, and stumbles over another document."""
    (tmp_path / "cal.json").write_text("{}")
    for name, said in (("cal.json", "there is no scheduler at"), ("gone.json", "there is no scheduler file")):
        engine = engine_named(EngineName.DASK, address=str(tmp_path / name))
        with pytest.raises(UsageProblem, match=said):
            next(engine.map(squared, range(3)))


def test_closing_early_leaves_nothing_running(cluster: Cluster) -> None:
    """The next job starts at once."""
    engine = engine_named(EngineName.DASK, address=cluster.file)
    results = engine.map(squared, range(10_000))
    assert next(results)[0] == 0
    results.close()
    assert [square for square, _ in engine.map(squared, range(3))] == [0, 1, 4]


def test_pipes_stay_in_this_process(cluster: Cluster, tmp_path: Path) -> None:
    """Workers could not read them."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["sh", "-c", f"printf 'score,label\\n0.5,1\\n' > {pipe}"])
    with pytest.raises(UsageProblem, match="pipe"):
        measure_files(RowRequest([str(pipe)], reading_columns(), reading=elsewhere(cluster)))
    writer.wait(timeout=10)


def reading_columns() -> Columns:
    """The usual columns."""
    return Columns("score", "label")


def elsewhere(cluster: Cluster) -> Reading:
    """Read on the cluster."""
    return Reading(engine=EngineName.DASK, engine_address=cluster.file)


def test_an_absent_scheduler_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the address, and what to do."""
    monkeypatch.setattr("calibcli.data.engines.dask._CONNECT_SECONDS", 1)
    engine = engine_named(EngineName.DASK, address="tcp://127.0.0.1:9")
    with pytest.raises(UsageProblem, match=r"no scheduler at tcp://127\.0\.0\.1:9"):
        list(engine.map(squared, range(3)))
    monkeypatch.delenv("DASK_SCHEDULER_ADDRESS", raising=False)
    with pytest.raises(UsageProblem, match="where its scheduler is"):
        list(engine_named(EngineName.DASK).map(squared, range(3)))


def test_other_versions_on_workers_are_refused() -> None:
    """They could find other numbers; so are workers without calibcli, and no workers."""
    refuse_other_versions({"a": __version__}, EngineName.DASK)
    for found in ({"a": __version__, "b": "0.0.1"}, {"a": None}, {}):
        with pytest.raises(UsageProblem, match="dask"):
            refuse_other_versions(found, EngineName.DASK)


def test_a_worker_that_is_gone_has_no_version() -> None:
    """One that cannot import calibcli is another matter: that is None, and refused."""
    told = {
        "a": __version__,
        "b": OSError("closed"),
        "c": importlib.metadata.PackageNotFoundError("calibcli"),
    }
    client = SimpleNamespace(run=lambda *_, **__: told)
    assert _versions(client) == {"a": __version__, "c": None}


def killed_soon(cluster: Cluster) -> threading.Thread:
    """Kill the first worker once it has begun with tasks of a job, and start another in its place."""

    def kill() -> None:
        import distributed

        client_of: Any = distributed.Client
        with client_of(scheduler_file=cluster.file, set_as_default=False) as client:
            deadline = time.monotonic() + 60.0
            while not any(client.has_what().values()) and time.monotonic() < deadline:
                time.sleep(0.005)
        cluster.workers[0].kill()

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


@pytest.mark.system
def test_a_worker_killed_among_bundles_changes_no_byte(
    cluster: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With conditions on rows, from more files than there are bundles; another worker takes its place."""
    monkeypatch.chdir(folder)
    words = COMMANDS["many where"]
    here = written(words)
    thread = killed_soon(cluster)
    there = written([*words, *elsewhere_on(cluster)])
    thread.join()
    assert cluster.workers[0].wait(timeout=60) == -signal.SIGKILL
    cluster.workers[0] = worker(cluster.file, Path(cluster.file).parent)
    wait_for(cluster.file, 2)
    assert there == here


def test_a_worker_killed_in_the_middle_changes_nothing(cluster: Cluster) -> None:
    """The other one does its work; what comes after this test has one worker."""
    engine = engine_named(EngineName.DASK, address=cluster.file)
    results = engine.map(squared, range(40))
    found = [next(results) for _ in range(5)]
    os.kill(cluster.workers[0].pid, signal.SIGKILL)
    found += results
    assert [square for square, _ in found] == [item * item for item in range(40)]
    assert {process for _, process in found[-5:]} == {cluster.workers[1].pid}


def test_a_scheduler_that_dies_is_said_in_one_line(cluster: Cluster) -> None:
    """Last: without the traceback that Dask logs where it is closed while it looks for the scheduler."""
    logged = logging.handlers.BufferingHandler(1_000)
    logging.getLogger("distributed.client").addHandler(logged)
    results = engine_named(EngineName.DASK, address=cluster.file).map(squared, range(1_000))
    next(results)
    cluster.scheduler.kill()
    with pytest.raises(UsageProblem, match="dask gave up"):
        list(results)
    assert [record.getMessage() for record in logged.buffer if record.exc_info] == []
