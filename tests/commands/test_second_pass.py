"""The input read once more, where the cells of a grid cannot settle a fit or a partition."""

import io
import json
from collections.abc import Callable, Generator, Iterable
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.codec import Node
from calibcli.commands.bins import chosen_bins, parted
from calibcli.commands.fit import fit_files
from calibcli.commands.gathering import RAW
from calibcli.commands.measure import measure_files
from calibcli.commands.reading import read_tables
from calibcli.commands.verify import verify_files
from calibcli.data.engines import Engine, ThreadEngine
from calibcli.data.tally import TWICE
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import Binning, FitMethod, MeasureName, RecalibratorName
from calibcli.options.fitting import FitOptions, MapOptions
from calibcli.options.gating import VerifyOptions
from calibcli.options.measuring import MeasureOptions, Metrics
from calibcli.options.rows import Columns, Reading, RowRequest
from calibcli.options.rules import largest
from calibcli.stats.recalibrators import pooling, recalibrator_class
from calibcli.stats.recalibrators.isotonic import Isotonic
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.finer import Tree
from calibcli.stats.table.grid import grid_of

ASKED = Columns("score", "label")
# About 1,000 distinct scores: everything here becomes a grid.
GRID = Reading(memory="256KiB")
EXACT = Reading(exact=True)


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Five thousand rows in a narrow range, so that cells are shared, in five row groups."""
    generator = np.random.default_rng(3)
    score = 0.3 + 1e-3 * generator.random(5_000)
    label = generator.random(5_000) < 0.2 + 400.0 * (score - 0.3)
    path = tmp_path_factory.mktemp("again") / "rows.parquet"
    pq.write_table(pa.table({"score": score, "label": label}), path, row_group_size=1_000)
    return str(path)


@pytest.fixture
def piped(parquet: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same rows as CSV on standard input, which can be read only once."""
    rows = pq.read_table(parquet).to_pylist()
    text = "score,label\n" + "".join(f"{row['score']!r},{row['label']:d}\n" for row in rows)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    return "-"


def fitted(path: str, method: FitMethod, reading: Reading, options: FitOptions | None = None) -> dict:
    """The parameters that a fit comes to."""
    _, text = fit_files(
        RowRequest([path], ASKED, reading=reading), MapOptions(method), options or FitOptions()
    )
    document = json.loads(text)
    assert document["fit"]["table"] == ("exact" if reading.exact else "grid")
    return document["parameters"]


def test_isotonic_on_a_grid_is_that_of_the_rows(parquet: str) -> None:
    """Knots and levels are those of the exact table, digit for digit."""
    on_grid = fitted(parquet, FitMethod.ISOTONIC, GRID)
    assert len(on_grid["knots"]) > 20
    assert on_grid == fitted(parquet, FitMethod.ISOTONIC, EXACT)


class Elsewhere:
    """An engine whose workers share nothing with this process."""

    shares_interpreter: ClassVar[bool] = False

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Generator[Any, None, None]:
        """Yield the result for each item; everything travels as it would be pickled."""
        for item in items:
            yield deepcopy(deepcopy(work)(item))


@pytest.mark.parametrize("engine", [ThreadEngine(2), Elsewhere()])
def test_cells_with_too_many_rows_to_keep_are_cut_finer(
    engine: Engine, parquet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ends of blocks are found though a tenth of the rows that share cells with them may be looked at."""
    monkeypatch.setattr(pooling, "_MOST_SEEN", 50)
    rows = pq.read_table(parquet)
    paths = [f"{number}.parquet" for number in range(3)]
    for number, path in enumerate(paths):
        pq.write_table(rows.take(pa.array(range(number, rows.num_rows, 3))), path)
    tables = {}
    for reading in (EXACT, GRID):
        tables[reading] = read_tables(RowRequest(paths, ASKED, reading=reading), gather_request=TWICE)
    again = replace(tables[GRID].again, engine=engine)
    held = []
    monkeypatch.setattr(ScoreTable, "from_rows", partial(kept_in, held, ScoreTable.from_rows))
    found = Isotonic.fit(tables[GRID].tables[RAW], rows=again)
    assert found == Isotonic.fit(tables[EXACT].tables[RAW])
    assert 0 < sum(held) < 0.1 * rows.num_rows


def kept_in(held: list[int], made: Callable[..., ScoreTable], score: Any, *more: Any) -> ScoreTable:
    """Make a table of rows, and note of how many."""
    held.append(score.size)
    return made(score, *more)


def test_isotonic_of_a_pipe_reads_it_twice(piped: str, parquet: str) -> None:
    """What comes through a pipe is kept, so that it can be seen once more."""
    assert fitted(piped, FitMethod.ISOTONIC, GRID) == fitted(parquet, FitMethod.ISOTONIC, EXACT)


@pytest.mark.parametrize("method", [FitMethod.PLATT, FitMethod.BETA, FitMethod.QUADRATIC])
def test_logistic_fit_on_a_grid_is_that_of_the_rows(method: FitMethod, parquet: str) -> None:
    """Maps agree far beyond the width of a cell, by which their log-odds change by up to 6e-4.

    Where scores are so close together the coefficients of a parabola almost cancel each other: their own last
    digits are those of the machine.
    """
    scores = np.linspace(0.3, 0.301, 101)
    on_grid, exact = (
        recalibrator_class(RecalibratorName(method))
        .from_dict(Node(fitted(parquet, method, reading)))
        .predict(scores)
        for reading in (GRID, EXACT)
    )
    assert np.log(on_grid / (1.0 - on_grid)) == pytest.approx(np.log(exact / (1.0 - exact)), abs=5e-8)


def test_equal_width_histogram_on_a_grid_counts_rows_exactly(parquet: str) -> None:
    """Bins that cut cells share them out as the rows lie."""
    options = FitOptions(bins=10_007, binning=Binning.EQUAL_WIDTH)
    assert fitted(parquet, FitMethod.HISTOGRAM, GRID, options) == fitted(
        parquet, FitMethod.HISTOGRAM, EXACT, options
    )


def test_bins_that_cut_cells_are_measured_as_if_exact(parquet: str) -> None:
    """A number of bins that does not divide 720,720 gives the counts and the ECE of the exact table."""
    options = MeasureOptions(Metrics((MeasureName.ECE, MeasureName.L2), ()), bins=20_011)
    on_grid = measure_files(RowRequest([parquet], ASKED, reading=GRID), options=options)
    exact = measure_files(RowRequest([parquet], ASKED, reading=EXACT), options=options)
    assert (on_grid.table.kind, exact.table.kind) == ("grid", "exact")
    assert on_grid.curve.binned.rows.tolist() == exact.curve.binned.rows.tolist()
    assert on_grid.curve.binned.rows.size > 15
    for mine, theirs in zip(on_grid.measures, exact.measures, strict=True):
        assert mine.value == pytest.approx(theirs.value, rel=1e-12)
    assert on_grid.table.digest == exact.table.digest


def test_bins_that_cut_cells_are_judged_as_if_exact(parquet: str) -> None:
    """The bounds of a gate over such bins are those of the exact table."""
    options = VerifyOptions((largest(MeasureName.ECE, 0.3),), bins=49_999)
    on_grid = verify_files(RowRequest([parquet], ASKED, reading=GRID), options=options).verdicts["max-ece"]
    exact = verify_files(RowRequest([parquet], ASKED, reading=EXACT), options=options).verdicts["max-ece"]
    assert on_grid.outcome is exact.outcome
    assert on_grid.upper == pytest.approx(exact.upper, rel=1e-9)


def test_bins_that_cut_cells_need_the_rows() -> None:
    """A grid table without rows to look at refuses them, and says what would do."""
    table = grid_of(ScoreTable.from_rows(np.array([1 / 17 - 1e-9, 1 / 17 + 1e-9]), np.array([True, False])))
    bins = chosen_bins(table, bins=17, binning=None, discrete=False)
    with pytest.raises(UsageProblem, match="17 equal-width bins would cut the cells"):
        parted(table, bins, again=None)


def test_input_that_grows_meanwhile_is_refused() -> None:
    """A second pass over other rows than the first is an error, not a wrong number."""
    path = Path("grows.csv")
    path.write_text("score,label\n0.25,1\n0.5,0\n")
    gathered = read_tables(RowRequest([str(path)], ASKED, reading=Reading()), gather_request=TWICE)
    assert gathered.tables[RAW].total_rows == 2
    path.write_text("score,label\n0.25,1\n0.5,0\n0.75,1\n")
    with pytest.raises(InputProblem, match="changed while it was read"):
        gathered.again.in_open(Tree.over(np.arange(3)))


def test_loss_of_an_isotonic_fit_on_a_grid_is_that_of_its_rows() -> None:
    """A row with label 1 right behind the last score whose rate is 0 does not make the loss infinite."""
    generator = np.random.default_rng(5)
    score = 0.3 + 1e-4 * generator.random(20_000)
    label = (generator.random(20_000) < 0.5) & (score > 0.30002)
    path = "rows.parquet"
    pq.write_table(pa.table({"score": score, "label": label}), path)
    losses = []
    for reading in (EXACT, GRID):
        report, _ = fit_files(
            RowRequest([path], ASKED, reading=reading), MapOptions(FitMethod.ISOTONIC), FitOptions()
        )
        losses.append(report.loss_after)
    assert losses[1] == pytest.approx(losses[0], rel=5e-3)
