"""What `apply` costs in each format, as ratios of whole processes taken in one interleaved run.

    python benchmarks/apply_formats.py [--rows 10000000] [--lines 1000000] [--rounds 5] [--write]

Files have 12 columns, scores as in `processes.py`: Parquet (snappy, row groups of a million rows) and
Arrow (lz4, batches of 131,072 rows) of `--rows` rows, CSV and JSON Lines of `--lines`. `--write` stores the
table in benchmarks/APPLY.md. pandas and polars join where they are installed.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from processes import CALIBCLI, HERE, REENCODE, Job, Spent, machine, make_scores, spend, table_of

CSV_TYPED = """
import sys, pyarrow.csv as csv
reader = csv.open_csv(sys.argv[1])
with csv.CSVWriter(sys.argv[2], reader.schema) as out:
    for batch in reader:
        out.write_batch(batch)
"""
JSON_READ = """
import sys, pyarrow.json as json
rows = sum(batch.num_rows for batch in json.open_json(sys.argv[1]))
"""
ARROW_COPY = """
import sys, pyarrow as pa, pyarrow.ipc as ipc
codec = None if sys.argv[3] == "uncompressed" else sys.argv[3]
with ipc.open_file(pa.OSFile(sys.argv[1])) as file:
    with ipc.new_file(sys.argv[2], file.schema, options=ipc.IpcWriteOptions(compression=codec)) as out:
        for place in range(file.num_record_batches):
            out.write_batch(file.get_batch(place))
"""
PANDAS = """
import sys, pandas
rows = pandas.{read}
rows["p"] = rows["score"] / 2
rows.{write}
"""
POLARS = """
import sys, polars
polars.{read}.with_columns(p=polars.col("score") / 2).{write}
"""
WITH_PANDAS = {
    "csv": ("read_csv(sys.argv[1])", "to_csv(sys.argv[2], index=False)"),
    "jsonl": ("read_json(sys.argv[1], lines=True)", "to_json(sys.argv[2], orient='records', lines=True)"),
    "parquet": ("read_parquet(sys.argv[1])", "to_parquet(sys.argv[2])"),
    "arrow": ("read_feather(sys.argv[1])", "to_feather(sys.argv[2])"),
}
WITH_POLARS = {
    "csv": ("read_csv(sys.argv[1])", "write_csv(sys.argv[2])"),
    "jsonl": ("read_ndjson(sys.argv[1])", "write_ndjson(sys.argv[2])"),
    "parquet": ("read_parquet(sys.argv[1])", "write_parquet(sys.argv[2], compression='snappy')"),
    "arrow": ("read_ipc(sys.argv[1])", "write_ipc(sys.argv[2], compression='lz4')"),
}


def jobs_of(folder: Path, rows: int, lines: int) -> list[Job]:
    """Return every process, after the one that it is compared with."""
    plain = {
        "parquet": ("pyarrow re-encode", REENCODE, rows),
        "csv": ("pyarrow typed rewrite", CSV_TYPED, lines),
        "jsonl": ("pyarrow reading alone", JSON_READ, lines),
        "arrow": ("pyarrow copy, lz4", ARROW_COPY, rows),
    }
    jobs: list[Job] = []
    for kind, (name, program, count) in plain.items():
        source, out = str(folder / f"wide.{kind}"), str(folder / f"out.{kind}")
        first = f"{kind}, {count:,} rows: {name}"
        jobs.append(Job(f"{kind}: cp", ["cp", source, out], None))
        jobs.append(Job(first, [sys.executable, "-c", program, source, out, "lz4"], f"{kind}: cp"))
        apply = [*CALIBCLI, "apply", str(folder / "cal.json"), source, "-s", "score", "--force", "-q", "-o"]
        jobs.append(Job(f"{kind}: apply", [*apply, out], first))
        jobs.append(Job(f"{kind}: apply --keep none", [*apply, out, "--keep", "none"], first))
        for library, template, words in (
            ("pandas", PANDAS, WITH_PANDAS),
            ("polars", POLARS, WITH_POLARS),
        ):
            if find_spec(library) is not None:
                read, write = words[kind]
                program_of = template.format(read=read, write=write)
                jobs.append(Job(f"{kind}: {library}", [sys.executable, "-c", program_of, source, out], first))
    return jobs


def prepare(folder: Path, rows: int, lines: int) -> None:
    """Make the files that the processes read."""
    import json

    import pyarrow.csv as pa_csv
    import pyarrow.feather
    import pyarrow.parquet as pq

    make_scores(folder / "wide.parquet", rows, 12)
    make_scores(folder / "lines.parquet", lines, 12)
    pyarrow.feather.write_feather(
        pq.read_table(folder / "wide.parquet"), folder / "wide.arrow", compression="lz4", chunksize=1 << 17
    )
    text = pq.read_table(folder / "lines.parquet")
    pa_csv.write_csv(text, folder / "wide.csv")
    with (folder / "wide.jsonl").open("w") as out:
        for batch in text.to_batches(max_chunksize=1 << 14):
            out.writelines(json.dumps(row) + "\n" for row in batch.to_pylist())
    make_scores(folder / "calibration.parquet", 50_000, 2)
    command = [*CALIBCLI, "fit", str(folder / "calibration.parquet"), "-s", "score", "-y", "label"]
    command += ["--method", "scaling-binning", "-o", str(folder / "cal.json")]
    subprocess.run(command, check=True, capture_output=True)


def main() -> None:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description="Time apply in each format, interleaved.")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--prepare", metavar="DIR", help="only make the files")
    parser.add_argument("--write", action="store_true", help="store the table in benchmarks/APPLY.md")
    asked = parser.parse_args()
    if asked.prepare:
        prepare(Path(asked.prepare), asked.rows, asked.lines)
        return
    folder = Path(tempfile.mkdtemp(prefix="calibcli-bench-"))
    try:
        # In a process of its own: a child's peak memory counts that of the process that started it.
        command = [sys.executable, __file__, "--prepare", str(folder)]
        command += ["--rows", str(asked.rows), "--lines", str(asked.lines)]
        subprocess.run(command, check=True)
        jobs = jobs_of(folder, asked.rows, asked.lines)
        spent: dict[str, list[Spent]] = {job.name: [] for job in jobs}
        for _ in range(asked.rounds):
            for job in jobs:
                spent[job.name].append(spend(job))
        text = f"{machine()}\nMedian of {asked.rounds} interleaved rounds.\n\n{table_of(jobs, spent)}\n"
        print(text)
        if asked.write:
            head = "# What apply costs\n\nMade by `python benchmarks/apply_formats.py --write`.\n\n"
            (HERE / "APPLY.md").write_text(head + text, encoding="utf-8")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
