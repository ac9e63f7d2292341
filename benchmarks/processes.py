"""Whole processes that are timed beside each other, the rows they read, and the name of the machine."""

import os
import platform
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
CALIBCLI = [sys.executable, "-m", "calibcli"]
READ = """
import sys, pyarrow.parquet as pq
file = pq.ParquetFile(sys.argv[1], pre_buffer=False, buffer_size=1 << 20)
batches = file.iter_batches(batch_size=131072, columns=["score", "label"], use_threads=False)
rows = sum(batch.num_rows for batch in batches)
"""
REENCODE = """
import sys, pyarrow.parquet as pq
file = pq.ParquetFile(sys.argv[1])
with pq.ParquetWriter(sys.argv[2], file.schema_arrow, compression="snappy") as out:
    for group in range(file.num_row_groups):
        out.write_table(file.read_row_group(group), row_group_size=1 << 20)
"""


@dataclass(frozen=True)
class Job:
    """A process to time.

    Args:
        name: What the table calls it.

        command: The command line.

        against: Name of the job it is compared with, or None.
    """

    name: str
    command: list[str]
    against: str | None


@dataclass(frozen=True)
class Spent:
    """Wall seconds, processor seconds and peak memory in MiB of one process."""

    wall: float
    cpu: float
    peak: float


def make_scores(path: Path, rows: int, columns: int) -> None:
    """Write a Parquet file of scores and labels, with further columns for `apply` to carry."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    generator = np.random.default_rng(0)
    kinds = [pa.field("score", pa.float64()), pa.field("label", pa.int64())]
    kinds += [pa.field(f"x{i}", pa.float64() if i % 2 else pa.int64()) for i in range(columns - 2)]
    with pq.ParquetWriter(path, pa.schema(kinds), compression="snappy") as out:
        for start in range(0, rows, 1_000_000):
            count = min(1_000_000, rows - start)
            second = generator.random(count) < 0.3
            f = np.where(second, generator.beta(4, 1.5, count), generator.beta(0.8, 3, count))
            chance = 1 / (1 + np.exp(0.1) * ((1 - f) / f) ** 0.85)
            y = (generator.random(count) < chance).astype(np.int64)
            more = [generator.integers(0, 10_000, count) / (1.0 if i % 2 else 1) for i in range(columns - 2)]
            arrays = [pa.array(f), pa.array(y)]
            arrays += [pa.array(x, kind.type, safe=False) for x, kind in zip(more, kinds[2:], strict=True)]
            out.write_table(pa.table(arrays, schema=pa.schema(kinds)), row_group_size=1 << 20)


def spend(job: Job) -> Spent:
    """Run one process and say what it took."""
    began = time.perf_counter()
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    # As an installed program starts: with its modules compiled.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with subprocess.Popen(
        job.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
    ) as process:
        errors = process.stderr.read() if process.stderr else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1, 4):
        msg = f"{job.name}: exit {process.returncode}\n{errors.decode()}"
        raise SystemExit(msg)
    return Spent(time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def table_of(jobs: list[Job], spent: dict[str, list[Spent]]) -> str:
    """Return the results as a Markdown table: medians, and ratios of medians of the same run."""
    lines = ["| process | wall s | cpu s | peak MiB | wall ratio | against |", "|---|---|---|---|---|---|"]
    wall = {name: statistics.median(one.wall for one in runs) for name, runs in spent.items()}
    for job in jobs:
        runs = spent[job.name]
        cpu = statistics.median(one.cpu for one in runs)
        peak = statistics.median(one.peak for one in runs)
        ratio = f"{wall[job.name] / wall[job.against]:.2f}" if job.against else ""
        lines.append(
            f"| {job.name} | {wall[job.name]:.3f} | {cpu:.3f} | {peak:.0f} | {ratio} | {job.against or ''} |"
        )
    return "\n".join(lines)


def machine() -> str:
    """Name the machine and the versions."""
    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    versions = f"Python {platform.python_version()}, numpy {version('numpy')}, pyarrow {version('pyarrow')}"
    return f"{model}, {os.cpu_count()} processors; {versions}"
