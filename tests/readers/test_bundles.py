"""Fragments that travel in bundles: fewer tables, the same numbers and the same refusals."""

import json
import pickle
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.errors import InputProblem
from calibcli.names import WeightMeaning
from calibcli.readers import bundles
from calibcli.readers.columns import Columns
from calibcli.readers.fragments import list_fragments
from calibcli.table.digest import digest
from calibcli.tasks.gather import RAW, Gathered, gather


def copied(thing: Any) -> Any:
    """Return what arrives elsewhere."""
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - packed on this line


@dataclass
class Elsewhere:
    """An engine whose work and results travel as bytes; counts the results."""

    results: list[Any] = field(default_factory=list)
    shares_interpreter: bool = False

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Generator[Any, None, None]:
        """Run the work on copies."""
        for item in items:
            copy, there = copied((work, item))
            self.results.append(copied(copy(there)))
            yield self.results[-1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Eleven files of forty rows, with whole and broken weights."""
    generator = np.random.default_rng(3)
    for name in range(11):
        columns = {
            "score": generator.random(40),
            "label": generator.integers(0, 2, 40),
            "count": generator.integers(1, 4, 40),
            "weight": generator.random(40) + 0.1,
        }
        pq.write_table(pa.table(columns), tmp_path / f"{name:02}.parquet")
    return tmp_path


def gathered(folder: Path, engine: Elsewhere, columns: Columns, *, limit: int = 1_000) -> Gathered:
    """Read the folder on an engine."""
    return gather([str(folder)], columns, engine=engine, limit=limit)


@pytest.mark.parametrize("limit", [1_000, 50], ids=["exact", "grid"])
@pytest.mark.parametrize("weights", [{}, {"weight": "count", "weights_are": WeightMeaning.FREQUENCY}])
def test_bundles_change_no_number(
    folder: Path, monkeypatch: pytest.MonkeyPatch, limit: int, weights: dict[str, Any]
) -> None:
    """Three tables travel after the first in place of ten, and the whole is the same, with its accounts."""
    columns = Columns("score", "label", **weights)
    alone = gathered(folder, Elsewhere(), columns, limit=limit)
    monkeypatch.setattr(bundles, "MOST_BUNDLES", 3)
    engine = Elsewhere()
    together = gathered(folder, engine, columns, limit=limit)
    assert [len(one) for one in engine.results[1:]] == [4, 4, 2]
    assert [sum(bool(one.tables) for one in bundle) for bundle in engine.results[1:]] == [1, 1, 1]
    assert digest(together.tables[RAW]) == digest(alone.tables[RAW])
    assert together.tables[RAW].kind == ("grid" if limit == 50 else "exact")
    assert json.dumps(together.input.to_dict()) == json.dumps(alone.input.to_dict())


def test_sums_of_importance_weights_are_not_grouped_otherwise(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such fragments stay by themselves: the last digit of a sum depends on the order of adding."""
    monkeypatch.setattr(bundles, "MOST_BUNDLES", 3)
    fragments = list_fragments([str(folder)])
    assert [len(one) for one in bundles.bundles_of(fragments, Columns("score", "label"))] == [4, 4, 3]
    alone = bundles.bundles_of(fragments, Columns("score", "label", weight="weight"))
    assert [len(one) for one in alone] == [1] * 11


def test_the_first_fault_in_the_order_of_the_input_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two files with faults in one bundle the first is named, as without bundles."""
    monkeypatch.setattr(bundles, "MOST_BUNDLES", 3)
    for name in ("06", "07"):
        pq.write_table(pa.table({"score": [0.5, 1.5], "label": [0, 1]}), folder / f"{name}.parquet")
    with pytest.raises(InputProblem, match=r"06\.parquet.*1\.5 at row 2"):
        gathered(folder, Elsewhere(), Columns("score", "label"))
