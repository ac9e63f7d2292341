"""A few hundred wrong inputs at every door; `make fuzz` tries as many as there is time for."""

import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command_line import ROOT
from command_words import scrambled
from doors import Door, knock, scratch
from mutations import damaged, replaced, tail_damaged

FOUND = ROOT / "tests" / "hard" / "found"
DOCUMENTS = (Door.ARTIFACT, Door.STATE, Door.REPORT, Door.SUMMARY)
# Whole commands take long, and their parts have doors of their own.
EXAMPLES = {
    Door.COMMAND: 12,
    Door.REPORT: 3,
    Door.SUMMARY: 6,
    Door.TREE: 10,
    Door.WHERE: 5,
    Door.SETTINGS: 20,
    Door.REPAIR: 25,
    Door.RELATIONS: 5,
}


@cache
def valid(door: Door) -> tuple[bytes, ...]:
    """Return what a door takes; commands that draw or fit are left to `make fuzz`."""
    sys.path.insert(0, str(ROOT / "fuzz"))
    try:
        from seeds import quick_seeds
    finally:
        sys.path.pop(0)
    return tuple(quick_seeds(door))


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random words must not become files of the repository."""
    monkeypatch.chdir(scratch())


@pytest.fixture(scope="module", autouse=True)
def _swept() -> Iterator[None]:
    yield
    shutil.rmtree(scratch(), ignore_errors=True)
    scratch.cache_clear()


@pytest.mark.parametrize("door", Door)
def test_wrong_input_is_refused_politely(door: Door) -> None:
    """Nothing but what the door knows, or an error with an exit code, comes of valid input made wrong."""

    @settings(deadline=None, max_examples=EXAMPLES.get(door, 25), derandomize=True, database=None)
    @given(st.integers(0, 2**32), st.integers(0, 2**16))
    def try_it(number: int, which: int) -> None:
        random, chosen = Random(number), valid(door)[which % len(valid(door))]  # noqa: S311 - mutations
        knock(door, wrong(door, chosen, random))

    try_it()


def wrong(door: Door, content: bytes, random: Random) -> bytes:
    """Return valid input made wrong in the way that suits it."""
    if door is Door.COMMAND:
        return "\n".join(scrambled(content.decode().split("\n"), random)).encode()
    if door in DOCUMENTS and random.random() < 0.8:
        return replaced(content, random)
    return (tail_damaged if random.random() < 0.3 else damaged)(content, random)


@pytest.mark.parametrize(
    "door",
    [
        door
        for door in Door
        if door not in (Door.REPORT, Door.SUMMARY, Door.COMMAND, Door.WHERE, Door.RELATIONS)
    ],
)
@settings(max_examples=15, derandomize=True, database=None)
@given(content=st.binary(max_size=200))
def test_any_bytes_are_refused_politely(door: Door, content: bytes) -> None:
    """Whatever they are."""
    knock(door, content)


@pytest.mark.parametrize(
    "path", sorted(FOUND.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}"
)
def test_what_was_found_once_stays_mended(path: Path) -> None:
    """Inputs that broke a promise when they were found, kept under the name of their door; one took long."""
    began = process_time()
    knock(Door(path.parent.name), path.read_bytes())
    assert process_time() - began < 2.0
