"""Every test rejects calibrated labels as seldom as its level says; `docs/test_sizes.md` tells each cell."""

import json
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom

from claims.simulation import generator_of, short_and_full
from claims.sizes import BATCH, LEVELS, NAMES, Cell, cells, rejections, scores_of

# The worlds in which limit laws fail, and those in which they are just taken.
HARDEST = [
    Cell(1000, 0.09, "alike", "distinct"),
    Cell(30, 1.0, "one heavy", "distinct"),
    Cell(300, 20.0, "few open", "ten values"),
    Cell(5000, 0.43, "few open", "distinct"),
    Cell(3000, 5.0, "alike", "distinct"),
    Cell(3000, 401.0, "alike", "distinct"),
    Cell(3000, 401.0, "one heavy", "two values"),
    Cell(30_000, 3.0, "few open", "distinct"),
    Cell(30_000, 100.0, "alike", "distinct"),
    Cell(30_000, 401.0, "few open", "distinct"),
    Cell(30_000, 1000.0, "one heavy", "ten values"),
    Cell(1_000_000, 1.0, "alike", "ten values"),
]


@short_and_full("cell times", [(HARDEST[0], 40)], product(HARDEST, (500,)))
def test_tests_keep_their_levels(cell: Cell, times: int) -> None:
    """No more rejections at 1, 5 and 10 % than chance gives with probability 1e-6, of each test."""
    for name, counts in rejections(cell, repetitions=times).items():
        for count, level in zip(counts, LEVELS, strict=True):
            assert count <= binom.isf(1e-6, times, level), (name, level)


@pytest.mark.slow
def test_tests_have_their_size_where_enough_is_open() -> None:
    """Levels are kept without being wasted: at 5 % each test rejects 3.5 % of calibrated labels or more."""
    found = rejections(Cell(3000, 100.0, "alike", "distinct"), repetitions=2000)
    assert all(
        counts[1] >= binom.ppf(1e-6, 2000, 0.045) for name, counts in found.items() if name != "combined"
    )


ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the script that writes the page."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import write_sizes

    return write_sizes


def test_worlds_are_what_they_say() -> None:
    """Rows, information and number of different scores of every cell, but for the largest."""
    for cell in cells():
        if cell.rows > 30_000:
            continue
        score = scores_of(cell, generator_of(cell))
        assert score.size == cell.rows
        assert ((score > 0.0) & (score < 1.0)).all()
        assert float((score * (1 - score)).sum()) == pytest.approx(cell.information, rel=0.6)
        distinct = len(set(score.tolist()))
        most = {"two values": 2, "ten values": 10}.get(cell.ties, cell.rows)
        assert 2 <= distinct <= most


def test_batches_of_a_cell_add_up(writer: Any, tmp_path: Path) -> None:
    """What an earlier run kept is not run again, and batches are added."""
    cell, keep = Cell(30, 1.0, "alike", "distinct"), tmp_path / "kept.jsonl"
    jobs = [(cell, 0), (cell, 1)]
    rejected = [{name: [batch, 5, 9] for name in NAMES} for batch in range(2)]
    lines = [{"cell": asdict(cell), "batch": k, "rejected": rejected[k]} for k in range(2)]
    keep.write_text("".join(json.dumps(line) + "\n" for line in lines))
    results = writer.simulated(jobs, keep=keep, workers=1)
    assert results[cell].repetitions == 2 * BATCH
    assert results[cell].rejected == {name: [1, 10, 18] for name in NAMES}


def test_the_worst_cell_comes_first_and_in_bold(writer: Any) -> None:
    """A size above its level by more than chance is bold, counted, and its cell leads."""
    good, bad = Cell(30, 1.0, "alike", "distinct"), Cell(300, 1.0, "alike", "distinct")
    fine = {name: [10, 50, 100] for name in NAMES}
    results = {
        good: writer.Sizes(1000, fine),
        bad: writer.Sizes(1000, fine | {"ks": [10, 50, 160]}),
    }
    text = writer.document(results, command="python benchmarks/write_sizes.py")
    worst = text.split("## The 2 cells")[1]
    assert "| 300 | 1 | alike | distinct | 1.0 / 5.0 / **16.0** |" in worst
    assert worst.index("| 300 |") < worst.index("| 30 |")
    assert f"Of {2 * len(NAMES) * len(LEVELS)} numbers 1 are bold" in " ".join(text.split())


def test_the_published_page_has_every_cell() -> None:
    """The page is whole, and no test rejects too often in it."""
    text = (ROOT / "docs" / "test_sizes.md").read_text(encoding="utf-8")
    table = text.split("## Every cell")[1]
    for cell in cells():
        assert f"| {cell.rows:,} | {cell.information:g} | {cell.concentration} | {cell.ties} |" in table
    assert "**" not in table
