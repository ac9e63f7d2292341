"""A fit depends on the rows alone: neither their order nor the files they come in change a byte."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.commands.fit import fit_files
from calibcli.names import FitMethod, RecalibratorName, WeightMeaning
from calibcli.options.fitting import FitOptions, MapOptions
from calibcli.options.rows import Columns, Reading, RowRequest
from score_rows import scored

R = RecalibratorName
ASKED = Columns("score", "label")
EXACT, GRID = Reading(exact=True), Reading(memory="64KiB", jobs=2)


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    """Four thousand rows, a tenth of them tied."""
    score, label = scored(4_000, lambda score: score**1.3, seed=11, beta=(0.8, 2.0))
    score[::10] = np.round(score[::10], 1)
    return score, label


def write(path: Path, score: np.ndarray, label: np.ndarray, **more: np.ndarray) -> str:
    """Write rows to Parquet in several row groups."""
    pq.write_table(pa.table({"score": score, "label": label, **more}), path, row_group_size=700)
    return str(path)


def artifact(inputs: list[str], method: FitMethod, reading: Reading, columns: Columns = ASKED) -> str:
    """The artifact that a fit writes."""
    return fit_files(RowRequest(inputs, columns, reading=reading), MapOptions(method), FitOptions())[1]


@pytest.mark.parametrize("reading", [EXACT, GRID], ids=["exact", "grid"])
@pytest.mark.parametrize("name", RecalibratorName)
def test_shuffled_sorted_and_sharded_rows_give_the_same_bytes(
    name: RecalibratorName, reading: Reading, rows: tuple[np.ndarray, np.ndarray]
) -> None:
    """One file, its rows sorted, and shuffled into three files: three times the same artifact."""
    score, label = rows
    method = FitMethod(name.value)
    expected = artifact([write(Path("rows.parquet"), score, label)], method, reading)
    order = np.argsort(score)
    path = write(Path("sorted.parquet"), score[order], label[order])
    assert artifact([path], method, reading) == expected
    shards = [
        write(Path(f"{k}.parquet"), score[part], label[part])
        for k, part in enumerate(np.array_split(np.random.default_rng(6).permutation(score.size), 3))
    ]
    assert artifact(shards, method, reading) == expected


@pytest.mark.parametrize("reading", [EXACT, GRID], ids=["exact", "grid"])
@pytest.mark.parametrize("name", [R.PLATT, R.ISOTONIC, R.SCALING_BINNING, R.VENN_ABERS, R.SMOOTH])
def test_row_of_frequency_three_is_three_rows(
    name: RecalibratorName, reading: Reading, rows: tuple[np.ndarray, np.ndarray]
) -> None:
    """Counting rows in a column gives the artifact of the rows written out, byte for byte."""
    score, label = rows
    count = 1 + np.arange(score.size) % 3
    counted = write(Path("counted.parquet"), score, label, times=count)
    repeated = write(Path("repeated.parquet"), np.repeat(score, count), np.repeat(label, count))
    weighed = Columns("score", "label", "times", WeightMeaning.FREQUENCY)
    method = FitMethod(name.value)
    assert artifact([counted], method, reading, weighed) == artifact([repeated], method, reading)
