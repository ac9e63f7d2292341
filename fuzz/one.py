"""Knock at one door with inputs that atheris finds by coverage, until told to stop.

    python fuzz/one.py DOOR SEEDS CORPUS FINDINGS [libFuzzer's options]

What breaks a promise is kept under FINDINGS once for each place in the code, and the search goes on; a crash
of the interpreter, a hang and memory beyond 3 GiB end the process, and `fuzz/run.py` starts it again.
"""

import faulthandler
import mmap
import os
import pkgutil
import re
import resource
import signal
import sys
import traceback
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

faulthandler.register(signal.SIGUSR1)
# When an input has taken its time, atheris asks for this within the command, whose standard error is no file.
faulthandler.dump_traceback = partial(faulthandler.dump_traceback, file=sys.__stderr__)
# Whole commands run through so much that watching it costs more than it finds.
_WATCHED = [] if sys.argv[1] in ("command", "report", "summary") else ["calibcli"]

with atheris.instrument_imports(include=_WATCHED or ["nothing"]):
    import calibcli

    # Bodies import as they run, which would be too late to be watched.
    for module in pkgutil.walk_packages(calibcli.__path__, "calibcli."):
        if not module.name.endswith(("__main__", ".dask", ".spark")):
            import_module(module.name)

from command_words import scrambled
from doors import Broken, Door, knock, scratch
from mutations import damaged, replaced, tail_damaged

# The fuzzer itself takes a part of it.
MEMORY = 3 << 30
_DOCUMENTS = (Door.ARTIFACT, Door.STATE, Door.REPORT, Door.SUMMARY)
_DESCRIBED_AT_THE_END = (Door.PARQUET, Door.ARROW, Door.NPZ)


def main() -> None:
    """Fuzz the door that the command line names."""
    door = Door(sys.argv[1])
    seeds, corpus, findings = (Path(word).resolve() for word in sys.argv[2:5])
    findings.mkdir(parents=True, exist_ok=True)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    _make_commands_once()
    os.chdir(scratch())
    valid = [path.read_bytes() for path in sorted(seeds.iterdir())]
    count = _counter(findings.parent / f"{door.value}.count")

    def one(content: bytes) -> None:
        count[:8] = (int.from_bytes(count[:8], "little") + 1).to_bytes(8, "little")
        try:
            taken = knock(door, content)
            count[8:] = (int.from_bytes(count[8:], "little") + taken).to_bytes(8, "little")
        except BaseException as error:  # noqa: BLE001 - whatever comes is a finding
            _keep(content, error, findings)

    def mutate(content: bytes, most: int, seed: int) -> bytes:
        random = Random(seed)
        if random.random() < 0.4:
            # What is wrong already seldom gets past the first check.
            content = random.choice(valid)
        elif random.random() < 0.4:
            return atheris.Mutate(content, most)
        if door is Door.COMMAND:
            words = content.decode("utf-8", "replace").split("\n")
            return "\n".join(scrambled(words, random)).encode("utf-8", "replace")[:most]
        change = damaged
        if door in _DOCUMENTS and random.random() < 0.8:
            change = replaced
        elif door in _DESCRIBED_AT_THE_END and random.random() < 0.6:
            change = tail_damaged
        return change(content, random)[:most]

    options = [f"-artifact_prefix={findings}/", "-timeout=20", "-rss_limit_mb=2048", "-max_len=20000"]
    atheris.Setup(
        [sys.argv[0], str(corpus), str(seeds), *options, *sys.argv[5:]],
        one,
        custom_mutator=mutate,
        internal_libfuzzer=True,
    )
    atheris.Fuzz()


def _make_commands_once() -> None:
    """Keep typer from building the tree of commands for every input."""
    from functools import cache

    import typer.main

    typer.main.get_command = cache(typer.main.get_command)


def _counter(path: Path) -> mmap.mmap:
    """Return sixteen bytes that outlive the process: how many inputs were tried, how many were taken."""
    if not path.exists():
        path.write_bytes(bytes(16))
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), 16)


def _keep(content: bytes, error: BaseException, findings: Path) -> None:
    """Write down an input, once for each place and kind of error."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if "/calibcli/" in one.filename]
    place = f"{Path(frames[-1].filename).stem}-{frames[-1].lineno}" if frames else "door"
    said = re.sub(r"[^a-z0-9]+", "-", str(error).lower().rpartition("stderr")[2])[:60]
    name = f"{type(error).__name__}-{place}" + (f"-{said}" if isinstance(error, Broken) else "")
    target = findings / name
    if not target.exists():
        target.write_bytes(content)
        (findings / f"{name}.txt").write_text("".join(traceback.format_exception(error))[-6000:])
        print(f"FINDING {name}: {str(error)[:300]}", flush=True)


if __name__ == "__main__":
    main()
