"""`--limit` and `--sample`: the rows that are meant, whatever the files and the workers."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.commands.gathering import RAW, Gathered, gather
from calibcli.data import fragments as cut
from calibcli.data.engines import ThreadEngine
from calibcli.data.selection import Sampling, lowest
from calibcli.data.tally import GatherRequest
from calibcli.names import OnMissing
from calibcli.options.rows import Columns, RowSelection

N = 3_000


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the same rows as CSV, Parquet, and three files of Parquet; scores count them."""
    folder = tmp_path_factory.mktemp("rows")
    label = [place % 3 == 0 for place in range(N)]
    label_or_not = [None if place % 10 == 9 else one for place, one in enumerate(label)]
    table = pa.table(
        {
            "score": [(place + 1) / 4096 for place in range(N)],
            "label": [int(one) for one in label],
            "gap": [None if one is None else int(one) for one in label_or_not],
            "third": [("a", "b", "c")[place % 3] for place in range(N)],
        }
    )
    pa_csv.write_csv(table, folder / "p.csv")
    pq.write_table(table, folder / "p.parquet", row_group_size=500)
    for part in range(3):
        pq.write_table(table.slice(part * 1000, 1000), folder / f"part{part}.parquet", row_group_size=300)
    return folder


def read(
    folder: Path,
    names: Sequence[str],
    rows: RowSelection,
    *,
    jobs: int = 1,
    twice: bool = False,
    **said: object,
) -> Gathered:
    """Read files with a selection of rows."""
    columns = Columns("score", **{"label": "label", **said}, rows=rows)
    inputs = [str(folder / name) for name in names]
    return gather(inputs, columns, engine=ThreadEngine(jobs), gather_request=GatherRequest(twice=twice))


def places(found: Gathered) -> list[int]:
    """Return the rows that were read, from 0, which their scores give away."""
    table = found.tables[RAW]
    return np.repeat(np.rint(table.score * 4096).astype(int) - 1, table.rows).tolist()


PARTS = ("part0.parquet", "part1.parquet", "part2.parquet")


@pytest.mark.parametrize("names", [("p.csv",), ("p.parquet",), PARTS])
@pytest.mark.parametrize("limit", [1, 999, 1000, 1001, 2999, 3000, 5000])
def test_a_limit_takes_the_first_rows(
    files: Path, names: tuple[str, ...], limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order of the input, across files and fragments."""
    monkeypatch.setattr(cut, "FRAGMENT_ROWS", 400)
    found = read(files, names, RowSelection(limit=limit))
    assert places(found) == list(range(min(limit, N)))
    third = read(files, names, RowSelection.of(["third==b"], limit=limit, sample=None, seed=0), jobs=2)
    expected = list(range(1, N, 3))[:limit]
    assert places(third) == expected
    assert third.input.rows + third.input.selected.unselected == (N if limit > 1000 else expected[-1] + 1)


def test_files_behind_the_last_row_are_not_read(files: Path) -> None:
    """Though they must have the columns."""
    bad = Path("bad.csv")
    bad.write_text("score,label,gap,third\nnot a number,1,1,a\n")
    columns = Columns("score", "label", rows=RowSelection(limit=10))
    found = gather([str(files / "p.csv"), str(bad)], columns, engine=ThreadEngine(1))
    assert places(found) == list(range(10))
    assert found.input.files == (str(files / "p.csv"),)


@pytest.mark.parametrize("where", [(), ("third in a,c",)])
def test_a_sample_has_its_size_and_does_not_depend_on_workers_formats_or_fragments(
    files: Path, where: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only on the seed and on where rows stand in which file."""
    requested = RowSelection.of(where, limit=None, sample=200, seed=3)
    first = places(read(files, ["p.csv"], requested))
    assert len(set(first)) == 200
    assert all(place % 3 != 1 for place in first) or not where
    assert places(read(files, ["p.parquet"], requested, twice=True)) == first
    assert places(read(files, ["p.parquet"], requested, jobs=2)) == first
    parts = places(read(files, PARTS, requested))
    assert len(set(parts)) == 200
    monkeypatch.setattr(cut, "FRAGMENT_ROWS", 400)
    assert places(read(files, ["p.parquet"], requested, jobs=2)) == first
    assert places(read(files, PARTS, requested, jobs=2)) == parts
    other = places(read(files, ["p.csv"], RowSelection.of(where, limit=None, sample=200, seed=4)))
    assert len(other) == 200
    assert other != first


def test_a_sample_beyond_the_rows_there_are_is_all_of_them(files: Path) -> None:
    """Without complaint, and the report says how many they are."""
    found = read(files, ["p.csv"], RowSelection.of(["third==a"], limit=None, sample=5_000, seed=0))
    assert places(found) == list(range(0, N, 3))
    assert found.input.selected.unselected == 2_000


def test_rows_in_are_rows_used_dropped_and_not_selected(files: Path) -> None:
    """Missing values of rows that are not asked for neither count nor disturb."""
    drop = {"label": "gap", "on_missing": OnMissing.DROP}
    for rows in (
        RowSelection.of(["third==a"], limit=None, sample=None, seed=0),
        RowSelection.of(["third==a"], limit=None, sample=100, seed=0),
        RowSelection.of([], limit=None, sample=100, seed=0),
    ):
        found = read(files, ["p.csv"], rows, **drop).input
        assert found.rows + found.dropped + found.selected.unselected == N
        assert found.rows + found.dropped == (rows.sample or 1_000)
        assert found.dropped > 0
    whole = read(
        files, ["p.csv"], RowSelection.of(["score<0.002"], limit=None, sample=None, seed=0), label="gap"
    )
    assert places(whole) == list(range(8))


def test_samples_are_uniform_over_sets() -> None:
    """Of five rows two are drawn: each of the ten pairs as often as chance allows, over 4,000 seeds."""
    pairs = dict.fromkeys(itertools.combinations(range(5), 2), 0)
    for seed in range(4_000):
        draws = Sampling(seed % 3, seed).of(seed % 7, 5)
        pairs[tuple(np.sort(np.argsort(draws)[:2]).tolist())] += 1
    # Chi-squared of 9 degrees of freedom passes 45.1 with a probability of 1e-6 (R: qchisq(1 - 1e-6, 9)).
    assert sum((count - 400) ** 2 / 400 for count in pairs.values()) < 45.1


@given(st.integers(0, 50), st.integers(0, 2**40), st.integers(0, 300), st.integers(0, 2**32))
def test_lots_differ_and_do_not_depend_on_how_rows_are_cut(
    file: int, first: int, count: int, seed: int
) -> None:
    """They are a bijection of where a row stands."""
    draws = Sampling(file, seed).of(first, count)
    assert np.unique(draws).size == count
    half = count // 2
    parts = [Sampling(file, seed).of(first, half), Sampling(file, seed).of(first + half, count - half)]
    assert np.array_equal(np.concatenate(parts), draws)
    assert not np.intersect1d(draws, Sampling(file + 1, seed).of(first, count)).size
    assert sorted(lowest(draws, half + 1).tolist()) == sorted(draws.tolist())[: half + 1]
