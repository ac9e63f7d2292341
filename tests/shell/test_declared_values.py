"""Values of a score that were known before its rows, as those of a rating scale: judged one by one."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import calibcli
from calibcli.documents.state import read_state
from calibcli.stats.gates.state import GateState
from command_line import Run

SCALE = (0.0003, 0.0007, 0.004, 0.011, 0.07)
WORDS = ",".join(map(str, SCALE))
GATE = ("-s", "pd", "-y", "default", "--max-ece", "0.02")


@pytest.fixture(scope="module")
def months(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return six months of loans in files of their own, as probabilities."""
    rng = np.random.default_rng(5)
    folder, found = tmp_path_factory.mktemp("declared"), []
    for month in range(6):
        score = rng.choice(SCALE[: 3 + month // 2], 800)
        found.append(folder / f"m{month}.csv")
        frame = pd.DataFrame({"pd": score, "default": (rng.random(800) < score) * 1})
        frame.assign(percent=100.0 * score).to_csv(found[-1], index=False)
    return found


def kept(state: Path) -> GateState:
    return read_state(str(state))


def test_a_state_counts_by_the_values_declared(months: list[Path], run: Run) -> None:
    """Rows of values not seen yet are counted when they come, and later calls need not name them again."""
    state = Path("gate.json")
    begun = run("verify", str(months[0]), *GATE, "--state", str(state), "--bins", WORDS)
    assert "each of the 5 values of the score by itself" in begun.out
    assert kept(state).terms.partition.outputs == SCALE
    for month in months[1:]:
        told = run("verify", str(month), *GATE, "--state", str(state))
        assert told.code in (0, 4), told.err
    assert kept(state).terms.partition.outputs == SCALE
    counts = pd.concat(map(pd.read_csv, months)).groupby("pd")["default"].agg(["size", "sum"])
    sums = kept(state).sums
    assert sums.rows == tuple(counts["size"])
    assert sums.positive == tuple(counts["sum"])


def test_declared_and_found_values_give_the_same_single_look(months: list[Path]) -> None:
    """Without a state, values that were named are checked and judged as those found."""
    frame = pd.concat(map(pd.read_csv, months))
    named, found = (
        calibcli.verify(frame, score="pd", label="default", max_ece=0.02, bins=bins).to_dict()["rules"]
        for bins in (list(SCALE), "none")
    )
    assert named == found


def test_values_are_written_as_they_stand_in_the_column(months: list[Path], run: Run) -> None:
    """In per cent where the column is."""
    state = Path("gate.json")
    words = ",".join(repr(100.0 * one) for one in SCALE)
    line = ("-s", "percent", "-y", "default", "--max-ece", "0.02", "--scale", "percent")
    told = run("verify", *map(str, months), *line, "--state", str(state), "--bins", words)
    assert told.code in (0, 4), told.err
    assert kept(state).terms.partition.outputs == pytest.approx(SCALE)


@pytest.mark.parametrize("state", [True, False])
def test_a_score_that_was_not_declared_is_refused(months: list[Path], run: Run, *, state: bool) -> None:
    """Nothing of it is counted."""
    path = Path("gate.json")
    where = ("--state", str(path)) if state else ()
    told = run("verify", str(months[0]), *GATE, *where, "--bins", "0.0003,0.0007", code=3)
    rows = int((pd.read_csv(months[0])["pd"] == 0.004).sum())
    assert f"{rows} rows have a score that --bins does not name, such as 0.004" in told.err
    assert told.err.endswith("the nearest named is 0.0007: name every value that the score can have\n")
    told = run(
        "verify", str(months[0]), str(months[5]), *GATE, *where, "--bins", "0.0003,0.0007,0.004", code=3
    )
    assert told.err.startswith(f"error: {months[5] if state else f'{months[0]} and 1 more'}: ")
    asked = ("-s", "percent", "-y", "default", "--max-ece", "0.02", "--scale", "percent")
    told = run("verify", str(months[0]), *asked, *where, "--bins", "0.0003,0.0007,0.004", code=3)
    assert "as it stands in the column (--scale percent)" in told.err
    assert not path.exists()


def test_a_state_of_values_is_another_than_one_of_bins(months: list[Path], run: Run) -> None:
    """Neither takes the rows of the other."""
    state = Path("gate.json")
    run("verify", str(months[0]), *GATE, "--state", str(state), "--bins", WORDS)
    for bins in ("15", "0.0003,0.0007,0.004,0.011,0.5"):
        told = run("verify", str(months[1]), *GATE, "--state", str(state), "--bins", bins, code=2)
        assert "was begun with other options" in told.err
