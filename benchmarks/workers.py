"""Memory of the workers of a cluster, and of the process where the command was typed; and what many cost
there.

    python benchmarks/workers.py [--rows 1e6,1e7,1e8] [--engines dask,spark] [--write]

For each number of rows, in files of at most two million, `measure` and `apply --out-dir` run without an
engine, on a Dask scheduler with two worker processes of one thread each, and on Spark in local mode with two
Python workers, all started anew. Figures are the peak of resident memory that the kernel kept of each process
(VmHWM), of workers the larger one. Every score is another one, so that tables are grids with nearly every
cell taken. More than ten million rows are copies of the same ten million. Then `measure` of a thousand groups
and of ten thousand files, made as for `bench.py`: time, memory, and in a run of its own how many tasks there
were and what came back, packed once more to be counted. Needs `/proc`, and for Spark Java. `--write` stores
benchmarks/WORKERS.md.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from processes import CALIBCLI, machine, make_scores

HERE = Path(__file__).parent
FILE_ROWS, DIFFERENT = 2_000_000, 5
WORKERS = 2
_SECONDS = 0.02


@dataclass(frozen=True)
class Peaks:
    """Peak memory in MiB.

    Args:
        idle: Of a worker before it had work; 0 where workers are started with it.

        worker: Of a worker in the end.

        here: Of the process where the command was typed.

        between: Of the scheduler, or of the JVM of Spark.
        seconds: How long the command took, a cluster of Dask being there already.
    """

    idle: float
    worker: float
    here: float
    between: float
    seconds: float = 0.0


@dataclass(frozen=True)
class Asked:
    """A command on some rows, and the engine it runs on."""

    engine: str
    command: str
    rows: int


# What many there are: the folder that `bench_files.py` makes, and what is asked of it.
MANY = {
    "20,000 rows in 1,000 groups, 10 files": ("groups", ("--by", "group", "--min-group-rows", "1")),
    "1,000,000 rows in 10,000 files": ("10000", ()),
}
# A command as it is typed, which counts tasks and the bytes of what is sent with them and of what comes back.
COUNTED = """
import json, pickle, sys
from calibcli.data.engines.dask import DaskEngine
from calibcli.data.engines.spark import SparkEngine
from calibcli.shell.app import main

told = {"tasks": 0, "sent": 0, "back": 0}

def counting(plain):
    def counted(self, work, items):
        def sent():
            for item in items:
                told["tasks"] += 1
                told["sent"] += len(pickle.dumps(item))
                yield item
        for result in plain(self, work, sent()):
            told["back"] += len(pickle.dumps(result))
            yield result
    return counted

for engine in (DaskEngine, SparkEngine):
    engine.map = counting(engine.map)
code = main(sys.argv[2:])
open(sys.argv[1], "w").write(json.dumps(told))
sys.exit(code)
"""


def make_files(folder: Path, rows: int) -> Path:
    """Write rows in files of two million, the sixth and later ones being the first five again."""
    whole = folder / f"{rows}"
    whole.mkdir()
    for number, start in enumerate(range(0, rows, FILE_ROWS)):
        count = min(FILE_ROWS, rows - start)
        source = folder / f"rows-{number % DIFFERENT}-{count}.parquet"
        if not source.exists():
            make_scores(source, count, 2)
        shutil.copyfile(source, whole / f"{number:05}.parquet")
    return whole


def peak_of(process: int) -> float:
    """Return the peak of resident memory of a process in MiB, 0 where it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)


def below(process: int) -> Iterator[tuple[int, str]]:
    """Yield the processes that descend from one, each with its command line."""
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found = [int(word) for word in children.read_text(encoding="ascii").split()]
        except OSError:
            continue
        for child in found:
            try:
                words = Path(f"/proc/{child}/cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            yield child, words
            yield from below(child)


def watched(command: list[str], environment: dict[str, str]) -> dict[tuple[int, str], float]:
    """Run a command, and return the peak of each process of it; one that became another program is two."""
    peaks: dict[tuple[int, str], float] = {}
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=errors)
        while process.poll() is None:
            for one, words in [(process.pid, "here"), *below(process.pid)]:
                peaks[one, words] = max(peak_of(one), peaks.get((one, words), 0.0))
            time.sleep(_SECONDS)
        if process.returncode not in (0, 1, 4):
            errors.seek(0)
            msg = f"{' '.join(command)}: exit {process.returncode}\n{errors.read().decode()}"
            raise SystemExit(msg)
    return peaks


@contextmanager
def dask_cluster(folder: Path) -> Iterator[tuple[str, int, list[int]]]:
    """Start a scheduler and its workers; yield where it is found, and the processes."""
    where = folder / "scheduler.json"
    program = [sys.executable, "-m"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    words = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    scheduler = subprocess.Popen([*program, *words, "--scheduler-file", str(where)], **quiet)
    while not where.exists():
        time.sleep(0.1)
    words = ["distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    words += ["--scheduler-file", str(where), "--local-directory", str(folder)]
    workers = [subprocess.Popen([*program, *words], **quiet) for _ in range(WORKERS)]
    try:
        import distributed

        client_of: Any = distributed.Client
        with client_of(scheduler_file=str(where), set_as_default=False) as client:
            client.wait_for_workers(WORKERS, timeout=60)
        yield str(where), scheduler.pid, [worker.pid for worker in workers]
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()
        where.unlink()


def on_dask(command: list[str], environment: dict[str, str], folder: Path) -> Peaks:
    """Run a command on a cluster of Dask."""
    with dask_cluster(folder) as (where, scheduler, workers):
        idle = max(peak_of(worker) for worker in workers)
        place = ["--engine", "dask", "--engine-address", where]
        began = time.perf_counter()
        found = watched([*command, *place], environment)
        seconds = time.perf_counter() - began
        here = max(peak for (_, words), peak in found.items() if words == "here")
        worker = max(peak_of(worker) for worker in workers)
        return Peaks(idle, worker, here, peak_of(scheduler), seconds)


def on_spark(command: list[str], environment: dict[str, str]) -> Peaks:
    """Run a command on Spark in local mode, whose workers are children of a daemon of its own."""
    place = ["--engine", "spark", "--engine-address", f"local[{WORKERS}]"]
    began = time.perf_counter()
    found = watched([*command, *place], environment)
    seconds = time.perf_counter() - began
    python = max(
        peak for (_, words), peak in found.items() if "pyspark.daemon" in words and "java" not in words
    )
    java = [peak for (_, words), peak in found.items() if "java" in words.split("\0")[0]]
    here = max(peak for (_, words), peak in found.items() if words == "here")
    return Peaks(0.0, python, here, max(java), seconds)


def measured(asked: Asked, folder: Path, files: Path) -> Peaks:
    """Run one command and return its peaks."""
    out = folder / "out"
    if asked.command == "measure":
        command = [*CALIBCLI, "measure", str(files), "-s", "score", "-y", "label", "--json", "-q"]
    else:
        command = [*CALIBCLI, "apply", str(folder / "cal.json"), str(files), "-s", "score", "-q"]
        command += ["--out-dir", str(out), "--force"]
    try:
        return spent(command, asked.engine, folder)
    finally:
        for written in out.glob("*"):
            written.unlink()


def spent(command: list[str], engine: str, folder: Path) -> Peaks:
    """Run a command on an engine, or on none, and return its peaks and its time."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYSPARK_PYTHON": sys.executable}
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder)}
    if engine == "dask":
        return on_dask(command, environment, folder)
    if engine == "spark":
        return on_spark(command, environment)
    began = time.perf_counter()
    peak = max(watched(command, environment).values())
    return Peaks(0.0, 0.0, peak, 0.0, time.perf_counter() - began)


def many(engines: list[str], folder: Path) -> str:
    """Return as a Markdown table what many groups and files cost on each engine, and what travels."""
    subprocess.run([sys.executable, str(HERE / "bench_files.py"), "dask", str(folder)], check=True)
    head = (
        "measure",
        "engine",
        "wall s",
        "a worker",
        "here",
        "scheduler or JVM",
        "tasks",
        "a task",
        "results",
    )
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for what, (name, words) in MANY.items():
        for engine in engines:
            asked = ["measure", str(folder / name), "-s", "score", "-y", "label", "-q", *words]
            one = spent([*CALIBCLI, *asked], engine, folder)
            cells = [what, engine, f"{one.seconds:.1f}"]
            cells += [f"{peak:.0f}" if peak else "" for peak in (one.worker, one.here, one.between)]
            if engine != "none":
                told = folder / "told.json"
                spent([sys.executable, "-c", COUNTED, str(told), *asked], engine, folder)
                counts = json.loads(told.read_text(encoding="utf-8"))
                cells += [f"{counts['tasks']:,}", f"{counts['sent'] / counts['tasks'] / 1e3:,.1f} kB"]
                cells.append(f"{counts['back'] / 1e6:.2f} MB")
            else:
                cells += ["", "", ""]
            lines.append(f"| {' | '.join(cells)} |")
            sys.stderr.write(f"{lines[-1]}\n")
    return "\n".join(lines)


def table_of(found: dict[Asked, Peaks]) -> str:
    """Return the peaks as a Markdown table."""
    head = ("engine", "command", "rows", "a worker", "of it before work", "here", "scheduler or JVM")
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for asked, one in found.items():
        cells = [asked.engine, asked.command, f"{asked.rows:,}"]
        cells += [f"{peak:.0f}" if peak else "" for peak in (one.worker, one.idle, one.here, one.between)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and store the page if that is asked."""
    parser = argparse.ArgumentParser(description="Measure the memory of workers.")
    parser.add_argument("--rows", default="1e6,1e7,1e8", help="numbers of rows")
    parser.add_argument("--engines", default="none,dask,spark", help="engines, none for this process alone")
    parser.add_argument("--folder", help="where the rows are written: 1.8 GB for 1e8, and 2.6 for apply")
    parser.add_argument("--write", action="store_true", help="store benchmarks/WORKERS.md")
    given = parser.parse_args()
    found: dict[Asked, Peaks] = {}
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        sizes = [int(float(word)) for word in given.rows.split(",")]
        files = {rows: make_files(folder, rows) for rows in sizes}
        fit = ["fit", str(next(iter(files.values()))), "-s", "score", "-y", "label", "-m", "platt", "-q"]
        subprocess.run([*CALIBCLI, *fit, "-o", str(folder / "cal.json")], check=True)
        for engine in given.engines.split(","):
            for command in ("measure", "apply"):
                for rows, whole in files.items():
                    asked = Asked(engine, command, rows)
                    found[asked] = measured(asked, folder, whole)
                    sys.stderr.write(f"{asked}: {found[asked]}\n")
        for whole in files.values():
            shutil.rmtree(whole)
        of_many = many(given.engines.split(","), folder)
    text = f"{machine()}.\n\n{table_of(found)}\n\n{OF_MANY}{of_many}\n"
    sys.stdout.write(text)
    if given.write:
        (HERE / "WORKERS.md").write_text(HEAD + text, encoding="utf-8")


OF_MANY = """## Many groups, many files

Wall time from the start of the command to its end, that of Spark with its JVM; memory as above. "A task" is
what is sent with one of them at the mean, beside the work itself, and "results" all that came back through
the scheduler or the driver, as it is packed there; counted in a run of its own.

"""
HEAD = f"""# What a worker needs

Made by `python benchmarks/workers.py --write`: peaks of resident memory in MiB, as the kernel kept them
(VmHWM), of processes that were started anew for each line. Rows are in Parquet files of at most
{FILE_ROWS:,} with two columns, every score another one: tables are grids with nearly every cell taken.
Dask has a scheduler and {WORKERS} workers of one thread each, Spark is `local[{WORKERS}]` with the memory
that it takes by itself; of workers the figure is that of the larger one, and "before work" what Python and
Dask took before they knew of calibcli. More than {FILE_ROWS * DIFFERENT:,} rows are copies of those.

"""


if __name__ == "__main__":
    main()
