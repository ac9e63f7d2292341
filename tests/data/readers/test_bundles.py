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

from calibcli.commands.gathering import RAW, Gathered, choose_columns, gather
from calibcli.data import tally as bundles
from calibcli.data.fragments import list_fragments, pieces_of
from calibcli.data.tally import NOTHING, GatherRequest
from calibcli.errors import InputProblem
from calibcli.names import WeightMeaning
from calibcli.options.rows import Columns
from calibcli.stats.table.grid import digest


def copied(thing: Any) -> Any:
    """Return what arrives elsewhere."""
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - packed on this line


@dataclass
class Elsewhere:
    """An engine whose work and results travel as bytes; keeps the results, and the most that was sent."""

    results: list[Any] = field(default_factory=list)
    shares_interpreter: bool = False
    largest: int = 0

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Generator[Any, None, None]:
        """Run the work on copies."""
        for item in items:
            self.largest = max(self.largest, len(pickle.dumps((work, item))))
            copy, there = copied((work, item))
            self.results.append(copied(copy(there)))
            yield self.results[-1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Eleven files of forty rows, with whole and broken weights."""
    generator = np.random.default_rng(3)
    for name in range(11):
        columns: dict[str, Any] = {
            "score": generator.random(40),
            "label": generator.integers(0, 2, 40),
            "count": generator.integers(1, 4, 40),
            "weight": generator.random(40) + 0.1,
            "group": [f"g{place % (name + 2)}" for place in range(40)],
        }
        pq.write_table(pa.table(columns), tmp_path / f"{name:02}.parquet")
    return tmp_path


def gathered(
    folder: Path,
    engine: Elsewhere,
    columns: Columns,
    *,
    limit: int = 1_000,
    gather_request: GatherRequest = NOTHING,
) -> Gathered:
    """Read the folder on an engine."""
    return gather([str(folder)], columns, engine=engine, limit=limit, gather_request=gather_request)


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


@pytest.mark.parametrize("limit", [1_000, 50], ids=["exact", "grid"])
def test_groups_travel_once_for_a_bundle(folder: Path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """Their tables are those of fragments that came one by one, under the same names."""
    columns, gather_request = Columns("score", "label", by=("group",)), GatherRequest(sliced=(RAW,))
    alone = (
        gathered(folder, Elsewhere(), columns, limit=limit, gather_request=gather_request)
        .extras.slices[RAW]
        .tables()
    )
    monkeypatch.setattr(bundles, "MOST_BUNDLES", 3)
    engine = Elsewhere()
    whole = (
        gathered(folder, engine, columns, limit=limit, gather_request=gather_request)
        .extras.slices[RAW]
        .tables()
    )
    assert [sum(one.extras is not None for one in bundle) for bundle in engine.results[1:]] == [1, 1, 1]
    assert list(whole) == list(alone)
    assert sum(table.total_rows for table in whole.values()) == 440
    assert [digest(table) for table in whole.values()] == [digest(table) for table in alone.values()]


def test_what_is_sent_with_a_fragment_does_not_grow_with_the_files(folder: Path) -> None:
    """A worker is told of the columns of its own files only."""
    sent = []
    for inputs in ([str(folder / "00.parquet"), str(folder / "01.parquet")], [str(folder)]):
        engine = Elsewhere()
        gather(inputs, Columns("score", "label"), engine=engine)
        sent.append(engine.largest)
    assert sent[0] == sent[1]


def test_a_grid_of_few_cells_travels_by_its_cells(folder: Path) -> None:
    """Not by all of the 720,720 that it could have."""
    engine = Elsewhere()
    gathered(folder, engine, Columns("score", "label"), limit=50)
    assert all(len(pickle.dumps(result)) < 20_000 for result in engine.results[1:])


def test_sums_of_importance_weights_are_not_grouped_otherwise(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such fragments stay by themselves, as do clusters: the last digit of a sum depends on the order."""
    monkeypatch.setattr(bundles, "MOST_BUNDLES", 3)
    fragments = list_fragments([str(folder)])

    def sizes(gather_request: GatherRequest, **weights: Any) -> list[int]:
        resolved = choose_columns(fragments, Columns("score", "label", **weights))
        return [len(one) for one in bundles.bundles_of(pieces_of(fragments, resolved), gather_request)]

    assert sizes(NOTHING) == sizes(NOTHING, weight="count", weights_are=WeightMeaning.FREQUENCY) == [4, 4, 3]
    assert sizes(NOTHING, weight="weight") == [1] * 11
    assert sizes(GatherRequest(clustered=(RAW,))) == [1] * 11


def test_the_first_fault_in_the_order_of_the_input_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two files with faults in one bundle the first is named, as without bundles."""
    monkeypatch.setattr(bundles, "MOST_BUNDLES", 3)
    for name in ("06", "07"):
        pq.write_table(pa.table({"score": [0.5, 1.5], "label": [0, 1]}), folder / f"{name}.parquet")
    with pytest.raises(InputProblem, match=r"06\.parquet.*1\.5 at row 2"):
        gathered(folder, Elsewhere(), Columns("score", "label"))
