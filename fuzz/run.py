"""Fuzz every door in turn, each for some seconds, and print how many inputs it took and what was found.

    python fuzz/run.py --time 60 [DOOR ...] [--work FOLDER]

The corpus and the findings stay in the folder, so that the next run goes on where this one stopped.
"""

import argparse
import hashlib
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import seeds

from doors import Door, scratch

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Return 1 if anything was found, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("doors", nargs="*", type=Door, default=list(Door))
    parser.add_argument("--time", type=float, default=60.0, help="seconds for each door")
    parser.add_argument("--work", type=Path, default=HERE / "work")
    requested = parser.parse_args()
    found = 0
    print("| door | inputs | taken | inputs a second | found |\n|---|---:|---:|---:|---:|", flush=True)
    for door in requested.doors:
        began = time.monotonic()
        before = counted(requested.work, door)
        fuzz(door, requested.work, seconds=requested.time)
        tried, taken = (
            after - earlier for after, earlier in zip(counted(requested.work, door), before, strict=True)
        )
        new = [
            one
            for one in findings(requested.work, door)
            if one.suffix != ".txt" and not one.name.startswith("slow-unit")
        ]
        speed = tried / (time.monotonic() - began)
        print(f"| {door.value} | {tried:,} | {taken:,} | {speed:,.0f} | {len(new)} |", flush=True)
        found += len(new)
    shutil.rmtree(scratch())
    return int(found > 0)


def fuzz(door: Door, work: Path, *, seconds: float) -> None:
    """Run atheris on one door, again where an input ended the process."""
    valid, _, kept = folders = [work / part / door.value for part in ("seeds", "corpus", "findings")]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    for content in seeds.seeds(door):
        (valid / hashlib.sha256(content).hexdigest()[:16]).write_bytes(content)
    end = time.monotonic() + seconds
    while (left := int(end - time.monotonic())) > 0:
        command = [sys.executable, str(HERE / "one.py"), door.value, *map(str, folders)]
        with (work / f"{door.value}.log").open("ab") as log, subprocess.Popen(
            [*command, f"-max_total_time={left}", "-print_final_stats=1"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        ) as process:  # fmt: skip
            try:
                process.wait(left + 300)  # watching the imports takes long on a busy machine
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGUSR1)  # where it hangs, into the log
                time.sleep(1)
                process.kill()
                (kept / "hang").write_text("see the log")
            for left_behind in scratch().parent.glob(f"calibcli-doors-{process.pid}-*"):
                shutil.rmtree(left_behind)


def counted(work: Path, door: Door) -> tuple[int, int]:
    """Return how many inputs were tried and taken so far."""
    path = work / "findings" / f"{door.value}.count"
    content = path.read_bytes() if path.exists() else bytes(16)
    return int.from_bytes(content[:8], "little"), int.from_bytes(content[8:], "little")


def findings(work: Path, door: Door) -> list[Path]:
    """Return what was kept."""
    return sorted((work / "findings" / door.value).iterdir())


if __name__ == "__main__":
    sys.exit(main())
