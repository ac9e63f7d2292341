"""What `docs/test_sizes.md` tells: every cell, the worst first, and what is above its level in bold."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from claims.simulation import generator_of
from claims.sizes import BATCH, LEVELS, NAMES, Cell, cells, scores_of

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
