"""Which column is which, in one table and of two scores."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.commands.gathering import Gathered, gather
from calibcli.data.columns import LABEL_NAMES, SCORE_NAMES, Header, resolve, same_again
from calibcli.data.engines import ThreadEngine
from calibcli.data.fragments import columns_of, list_fragments
from calibcli.data.readers import reader_of
from calibcli.data.tally import GatherRequest
from calibcli.errors import InputProblem
from calibcli.names import MeasureName, OnMissing, OnRange, Scale, WeightMeaning
from calibcli.options.rows import Columns
from calibcli.stats.measures.differences import PairedSums
from calibcli.stats.table import ScoreTable


@pytest.mark.parametrize(
    ("header", "score", "label"),
    [
        (("pd", "default"), "pd", "default"),
        (("Risk", "Death"), "Risk", "Death"),
        (("p", "rain"), "p", "rain"),
        (("score", "pd", "risk", "label", "default"), "score", "label"),
    ],
)
def test_names_of_trades_count_where_no_usual_one_is(header: tuple[str, ...], score: str, label: str) -> None:
    """A file that was read before they were known is read as before."""
    resolved = resolve(Columns(), Header(header, "a.csv"))
    assert (resolved.score, resolved.label) == (score, label)


def test_a_document_in_the_place_of_rows_is_named() -> None:
    """The keys of a map are no columns that one could choose from."""
    with pytest.raises(InputProblem) as problem:
        resolve(Columns(), Header(["calibcli", "digest", "method", "schema"], "cal.json"))
    assert "maps go to --artifact" in str(problem.value.hint)


@pytest.mark.parametrize("name", [*SCORE_NAMES, "y_proba"])
def test_the_one_usual_score_name_is_taken(name: str) -> None:
    """A usual name is found whatever its case, and the guess is said."""
    resolved = resolve(Columns(), Header(["id", name.upper(), "label"], "p.csv"))
    assert (resolved.score, resolved.label) == (name.upper(), "label")
    assert resolved.notes == (
        f"column {name.upper()!r} was taken as the score; --score names another",
        "column 'label' was taken as the label; --label names another",
    )


@pytest.mark.parametrize("name", [*LABEL_NAMES, "y_true"])
def test_the_one_usual_label_name_is_taken(name: str) -> None:
    """As for scores; a name that was given is no guess."""
    resolved = resolve(Columns(score="a"), Header(["a", name], "p.csv"))
    assert resolved.label == name
    assert len(resolved.notes) == 1


def test_names_match_without_case_and_blanks_when_unique() -> None:
    """An exact match comes first."""
    resolved = resolve(Columns("SCORE", "label"), Header(["score", " Label", "Score2"], "p.csv"))
    assert (resolved.score, resolved.label) == ("score", " Label")
    assert resolve(Columns("A", "y"), Header(["a", "A", "y"], "p.csv")).score == "A"


def test_weights_are_importance_unless_said() -> None:
    """Without a weight column they are nothing."""
    header = ["score", "label", "w"]
    assert resolve(Columns(weight="w"), Header(header, "")).weights_are is WeightMeaning.IMPORTANCE
    assert resolve(Columns(), Header(header, "")).weights_are is None
    counted = Columns(weight="w", weights_are=WeightMeaning.FREQUENCY)
    assert resolve(counted, Header(header, "")).weights_are is WeightMeaning.FREQUENCY


def test_apply_needs_no_label() -> None:
    """A header without a label is enough."""
    resolved = resolve(Columns(labelled=False), Header(["p"], "p.csv"))
    assert (resolved.score, resolved.label, resolved.weight) == ("p", None, None)


def test_a_further_file_must_have_the_same_columns() -> None:
    """The first file decides; nothing is guessed twice."""
    first = resolve(Columns(), Header(["p", "y"], "a.csv"))
    assert same_again(first, Header(["Y", "id", "P"], "b.csv")).score == "P"
    assert same_again(first, Header(["p", "y"], "b.csv")).notes == ()
    with pytest.raises(InputProblem, match=r"b.csv: there is no column 'p'"):
        same_again(first, Header(["prob", "y"], "b.csv"))


BOTH = Columns("a", "label", others=("b",))


def read(path: Path, columns: Columns = BOTH) -> Gathered:
    """Read both columns, and their differences."""
    return gather(
        [str(path)],
        columns,
        engine=ThreadEngine(1),
        gather_request=GatherRequest(
            {"raw": None, "second": None}, columns={"second": 1}, pairs=(("raw", "second"),)
        ),
    )


def write(path: Path, *rows: str) -> Path:
    """Write a CSV file of two scores."""
    path.write_text("a,label,b\n" + "".join(f"{row}\n" for row in rows))
    return path


def test_each_column_has_its_table_and_rows_stay_together(tmp_path: Path) -> None:
    """Two tables, and differences of the losses of one row after the other."""
    gathered = read(write(tmp_path / "p.csv", "0.1,0,0.3", "0.9,1,0.6", "0.1,1,0.2"))
    label = np.array([False, True, True])
    first, second = np.array([0.1, 0.9, 0.1]), np.array([0.3, 0.6, 0.2])
    assert gathered.tables == {
        "raw": ScoreTable.from_rows(first, label),
        "second": ScoreTable.from_rows(second, label),
    }
    expected = PairedSums()
    expected.add(first, second, label)
    assert gathered.paired is not None
    assert gathered.resolved.further == ("b",)
    for name in (MeasureName.BRIER, MeasureName.LOG_LOSS):
        assert gathered.paired.difference(name, confidence=0.9) == expected.difference(name, confidence=0.9)


def test_batches_of_many_scores_are_not_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch costs by its scores, too: with ever fewer rows their cost would grow with their square."""
    rows = np.random.default_rng(0).random(50)
    pq.write_table(pa.table({"a": rows, "b": rows, "label": rows > 0.5}), tmp_path / "p.parquet")
    monkeypatch.setattr("calibcli.data.readers._BATCH_NUMBERS", 50)
    (fragment,) = list_fragments([str(tmp_path / "p.parquet")])
    resolved = columns_of(fragment, BOTH)
    for least, sizes in ((25, [25, 25]), (10, [16, 16, 16, 2])):
        monkeypatch.setattr("calibcli.data.readers._ROWS_OF_SCORES", least)
        assert [one.num_rows for one in reader_of(fragment).batches(resolved)] == sizes


def test_many_names_mean_what_each_of_them_does() -> None:
    """Those that are in the header are found at once, and the others one by one."""
    header, names = Header(("a", "B ", "c"), "p"), ("c", "b", " A", "a")
    assert header.all_named(names) == tuple(map(header.named, names))
    with pytest.raises(InputProblem, match="no column 'd'"):
        header.all_named(("a", "d"))


def test_faults_name_the_column_that_has_them(tmp_path: Path) -> None:
    """Out of range or missing in the second column is said of the second column."""
    with pytest.raises(InputProblem, match="column 'b': 1 of 2 values lies outside"):
        read(write(tmp_path / "p.csv", "0.1,0,0.3", "0.9,1,1.6"))
    with pytest.raises(InputProblem, match="column 'b': 1 of 2 values is missing; the first is at row 1"):
        read(write(tmp_path / "p.csv", "0.1,0,", "0.9,1,0.6"))
    with pytest.raises(InputProblem, match="column 'a': 1 of 2 values lies outside"):
        read(write(tmp_path / "p.csv", "0.1,0,7", "9,1,0.6"))


def test_rows_are_dropped_and_clipped_in_both_columns(tmp_path: Path) -> None:
    """A row without either score is dropped for both; clipped scores are counted in both."""
    columns = Columns("a", "label", others=("B",), on_missing=OnMissing.DROP, on_range=OnRange.CLIP)
    gathered = read(write(tmp_path / "p.csv", "0.1,0,", "1.5,1,-1", "0.2,0,0.3"), columns)
    assert (gathered.input.rows, gathered.input.dropped, gathered.input.clipped) == (2, 1, 2)
    assert gathered.tables["raw"].score.tolist() == [0.2, 1.0]
    assert gathered.tables["second"].score.tolist() == [0.0, 0.3]


def test_both_columns_are_on_the_scale_named(tmp_path: Path) -> None:
    """--scale speaks of every score column."""
    gathered = read(
        write(tmp_path / "p.csv", "0,0,0", "2,1,0"), Columns("a", "label", others=("b",), scale=Scale.LOGIT)
    )
    assert gathered.tables["second"].score.tolist() == [0.5]
