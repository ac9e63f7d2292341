"""
Speed, memory and start-up on this machine, as ratios of whole processes taken in one interleaved run.

    python benchmarks/run.py [--rows 10000000] [--rounds 5] [--write]

`--write` stores the table in benchmarks/RESULTS.md. Data: scores 0.7 Beta(0.8, 3) + 0.3 Beta(4, 1.5), labels
Bernoulli(sigmoid(0.85 logit - 0.1)), in Parquet with row groups of one million rows.
"""

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
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
SKLEARN = """
import sys, pyarrow.parquet as pq
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss
table = pq.read_table(sys.argv[1], columns=["score", "label"])
f, y = table["score"].to_numpy(), table["label"].to_numpy()
calibration_curve(y, f, n_bins=15), brier_score_loss(y, f), log_loss(y, f)
"""
SKLEARN_ISOTONIC = """
import sys, pyarrow.parquet as pq
from sklearn.isotonic import IsotonicRegression
table = pq.read_table(sys.argv[1], columns=["score", "label"])
IsotonicRegression(out_of_bounds="clip").fit(table["score"].to_numpy(), table["label"].to_numpy())
"""


@dataclass(frozen=True)
class Job:
    """
    A process to time.

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


def jobs_of(folder: Path, rows: int) -> list[Job]:
    """Return every process, comparisons after what they are compared with."""
    data, wide = str(folder / "scores.parquet"), str(folder / "wide.parquet")
    small, cal, copy = str(folder / "small.csv"), str(folder / "cal.json"), str(folder / "copy.parquet")
    columns = ["-s", "score", "-y", "label"]
    python, million = sys.executable, f"{rows:,} rows"
    fit = [*CALIBCLI, "fit", data, *columns, "--force", "-o", str(folder / "fitted.json"), "--method"]
    return [
        Job("bare python", [python, "-c", "pass"], None),
        Job("--version", [*CALIBCLI, "--version"], "bare python"),
        Job("--help", [*CALIBCLI, "--help"], "bare python"),
        Job("measure --help", [*CALIBCLI, "measure", "--help"], "bare python"),
        Job("measure, 1,000 rows of CSV", [*CALIBCLI, "measure", small, *columns], "bare python"),
        Job(
            "verify, 1,000 rows of CSV",
            [*CALIBCLI, "verify", small, *columns, "--max-ece", "0.1"],
            "bare python",
        ),
        Job(f"read two columns, {million}", [python, "-c", READ, data], None),
        Job(
            "measure, one worker",
            [*CALIBCLI, "measure", data, *columns, "-j", "1"],
            f"read two columns, {million}",
        ),
        Job(
            "measure, two workers",
            [*CALIBCLI, "measure", data, *columns, "-j", "2"],
            f"read two columns, {million}",
        ),
        Job(
            "scikit-learn: curve, Brier, log loss",
            [python, "-c", SKLEARN, data],
            f"read two columns, {million}",
        ),
        Job(
            "verify --artifact",
            [*CALIBCLI, "verify", data, *columns, "--artifact", cal, "--max-ece", "0.02"],
            f"read two columns, {million}",
        ),
        Job("fit platt", [*fit, "platt"], f"read two columns, {million}"),
        Job("fit scaling-binning", [*fit, "scaling-binning"], f"read two columns, {million}"),
        Job("fit isotonic", [*fit, "isotonic"], f"read two columns, {million}"),
        Job(
            "scikit-learn: isotonic fit",
            [python, "-c", SKLEARN_ISOTONIC, data],
            f"read two columns, {million}",
        ),
        Job(
            "plot",
            [*CALIBCLI, "plot", data, *columns, "--force", "-o", str(folder / "r.png")],
            f"read two columns, {million}",
        ),
        Job("cp, 12 columns", ["cp", wide, copy], None),
        Job("pyarrow re-encode, 12 columns", [python, "-c", REENCODE, wide, copy], "cp, 12 columns"),
        Job(
            "apply, 12 columns",
            [*CALIBCLI, "apply", cal, wide, "-s", "score", "-o", copy, "--force"],
            "pyarrow re-encode, 12 columns",
        ),
    ]


def prepare(folder: Path, rows: int) -> None:
    """Make the files that the processes read."""
    import pyarrow.parquet as pq

    make_scores(folder / "scores.parquet", rows, 2)
    make_scores(folder / "wide.parquet", rows, 12)
    make_scores(folder / "small.parquet", 1_000, 2)
    pq.read_table(folder / "small.parquet").to_pandas().to_csv(folder / "small.csv", index=False)
    make_scores(folder / "calibration.parquet", 50_000, 2)
    command = [*CALIBCLI, "fit", str(folder / "calibration.parquet"), "-s", "score", "-y", "label"]
    command += ["--method", "scaling-binning", "-o", str(folder / "cal.json")]
    subprocess.run(command, check=True, capture_output=True)


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


def main() -> None:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description="Time whole processes, interleaved.")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--prepare", metavar="DIR", help="only make the files")
    parser.add_argument("--write", action="store_true", help="store the table in benchmarks/RESULTS.md")
    asked = parser.parse_args()
    if asked.prepare:
        prepare(Path(asked.prepare), asked.rows)
        return
    folder = Path(tempfile.mkdtemp(prefix="calibcli-bench-"))
    try:
        # In a process of its own: a child's peak memory counts that of the process that started it.
        command = [sys.executable, __file__, "--prepare", str(folder), "--rows", str(asked.rows)]
        subprocess.run(command, check=True)
        jobs = jobs_of(folder, asked.rows)
        spent: dict[str, list[Spent]] = {job.name: [] for job in jobs}
        for _ in range(asked.rounds):
            for job in jobs:
                spent[job.name].append(spend(job))
        text = f"{machine()}\nMedian of {asked.rounds} interleaved rounds.\n\n{table_of(jobs, spent)}\n"
        print(text)
        if asked.write:
            head = "# Benchmarks\n\nMade by `python benchmarks/run.py --write`. The result is the ratios.\n\n"
            (HERE / "RESULTS.md").write_text(head + text, encoding="utf-8")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
