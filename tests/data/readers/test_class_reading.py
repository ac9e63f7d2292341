"""Rows of several classes: which columns, which labels, which numbers, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.commands.cutting import rows_again
from calibcli.commands.fit import ClassSource
from calibcli.commands.reading import read_tables
from calibcli.data.columns import Header, columns_of_classes
from calibcli.data.tally import TWICE
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import OnMissing, OnSum, Scale
from calibcli.options.rows import Columns, RowRequest, RowSelection, SeveralClasses, bytes_of
from calibcli.stats.table.again import ClassBlock

ROWS = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5], [0.4, 0.4, 0.2]])
LABELS = ["ant", "bee", "cat", "bee"]
NAMES = ("ant", "bee", "cat")
Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write columns as Parquet."""

    def call(columns: dict[str, Any], name: str = "p.parquet") -> str:
        path = tmp_path / name
        pq.write_table(pa.table(columns), path)
        return str(path)

    return call


def wide(rows: np.ndarray = ROWS, labels: Any = LABELS) -> dict[str, Any]:
    """A column for each class."""
    return {f"p_{name}": rows[:, place] for place, name in enumerate(NAMES)} | {"label": labels}


def read(*paths: str, probs: str = "p_*", **requested: Any) -> ClassBlock:
    """The rows of files as a fit sees them, in one block."""
    several = SeveralClasses(probs, requested.pop("classes", None), requested.pop("on_sum", OnSum.ERROR))
    gathered = read_tables(
        RowRequest(paths, Columns(label="label", several=several, **requested)), gather_request=TWICE
    )
    blocks = list(ClassSource(rows_again(gathered), bytes_of("64MiB")).blocks())
    return ClassBlock(
        np.concatenate([one.probability for one in blocks]), np.concatenate([one.label for one in blocks])
    )


def test_columns_of_a_second_file_may_stand_in_another_order(write: Write) -> None:
    """They are matched by name, and a further class is refused."""
    columns = wide()
    moved = {name: columns[name] for name in ("label", "p_cat", "p_ant", "p_bee")}
    first, second = write(columns), write(moved, "q.parquet")
    block = read(first, second)
    assert np.array_equal(block.probability, np.vstack([ROWS, ROWS]))
    assert block.label.tolist() == [0, 1, 2, 1] * 2
    more = write(columns | {"p_dog": np.zeros(4)}, "r.parquet")
    with pytest.raises(InputProblem, match="'p_dog' would be classes that the first file does not have"):
        read(first, more)


LISTS = [
    pa.list_(pa.float64()),
    pa.large_list(pa.float64()),
    pa.list_(pa.float64(), 3),
    pa.list_(pa.float32()),
]


@pytest.mark.parametrize("kind", LISTS, ids=str)
def test_one_column_of_lists_is_a_row_of_numbers_each(kind: pa.DataType, write: Write) -> None:
    """Every kind of list; classes are called by their places, or as the user says."""
    columns = {"probs": pa.array(ROWS.tolist(), kind), "label": [0, 1, 2, 1]}
    block = read(write(columns), probs="probs")
    np.testing.assert_allclose(block.probability, ROWS, rtol=0, atol=1e-7)
    assert block.label.tolist() == [0, 1, 2, 1]
    named = read(write({**columns, "label": LABELS}), probs="probs", classes=NAMES)
    assert named.label.tolist() == [0, 1, 2, 1]


@given(data=st.data())
def test_wide_columns_and_lists_hold_the_same_rows(data: st.DataObject, tmp_path_factory: Any) -> None:
    """Whatever the probabilities, to the last bit."""
    count = data.draw(st.integers(2, 6))
    weights = data.draw(
        st.lists(st.lists(st.floats(1e-6, 1.0), min_size=count, max_size=count), min_size=2, max_size=12)
    )
    rows = np.array(weights)
    rows /= rows.sum(axis=1, keepdims=True)
    label = [place % count for place in range(len(rows))]
    folder = tmp_path_factory.mktemp("rows")
    wide_path, list_path = folder / "w.parquet", folder / "l.parquet"
    pq.write_table(pa.table({f"c{k}": rows[:, k] for k in range(count)} | {"label": label}), wide_path)
    pq.write_table(pa.table({"v": rows.tolist(), "label": label}), list_path)
    one, other = read(str(wide_path), probs="c[0-9]"), read(str(list_path), probs="v")
    assert one.probability.tobytes() == other.probability.tobytes() == rows.tobytes()
    assert one.label.tolist() == other.label.tolist() == label


@pytest.mark.parametrize(
    ("labels", "places"),
    [(LABELS, [0, 1, 2, 1]), ([0, 1, 2, 1], [0, 1, 2, 1]), (["0", "1", "2", "1"], [0, 1, 2, 1])],
)
def test_labels_are_names_or_places(labels: list[object], places: list[int], write: Write) -> None:
    """Names of classes as text; places counted from 0 as numbers or text."""
    assert read(write(wide(labels=labels))).label.tolist() == places


def test_classes_called_by_numbers_are_named_by_labels_and_not_counted(write: Write) -> None:
    """With classes 1, 2 and 3 a label of 3 is the last class, and 0 is none."""
    columns = {f"p_{place + 1}": ROWS[:, place] for place in range(3)}
    assert read(write({**columns, "label": [1, 2, 3, 2]})).label.tolist() == [0, 1, 2, 1]
    with pytest.raises(InputProblem, match="1 of 4 labels names none of the 3 classes '1', '2', '3'"):
        read(write({**columns, "label": [1, 2, 0, 2]}))


def test_labels_outside_the_classes_are_listed(write: Write) -> None:
    """How many, the first with its row, and all that there are."""
    with pytest.raises(InputProblem, match="2 of 4 labels name none of the 3 classes") as problem:
        read(write(wide(labels=["ant", "yak", "cat", "zebu"])))
    assert "'yak' at row 2" in problem.value.message
    assert "'yak' and 'zebu'" in problem.value.message


@pytest.mark.parametrize(
    ("labels", "classes", "hint"),
    [
        (["p_ant", "p_cat"], None, "labels seem to name them otherwise: --classes p_ant,p_bee,p_cat"),
        (["ANT", "CAT", "BEE", "CAT"], None, "labels seem to name them otherwise: --classes ANT,BEE,CAT"),
        (["Bee", "Cat"], None, "labels seem to name them otherwise: --classes Ant,Bee,Cat"),
        (["1", "3"], ("0", "1", "2"), "labels seem to be counted from 1: --classes 1,2,3"),
        (["1", "3"], ("0", "2", "1"), "labels seem to be counted from 1: --classes 1,3,2"),
        (["1", "3"], None, "labels seem to be counted from 1: --classes 1,2,3"),
        (["0", "3"], None, "--classes a,b,c names the classes in the order of their columns"),
        (["ANT", "yak"], None, "--classes a,b,c names the classes in the order of their columns"),
        (["H", "A"], ("B365H", "B365D", "B365A"), "labels seem to name them otherwise: --classes H,D,A"),
        (["yH"], ("y", "yy", "yyH"), "--classes a,b,c names the classes in the order of their columns"),
        (["A,B"], ("a,b", "b", "c"), """labels seem to name them otherwise: --classes '"A,B",B,C'"""),
    ],
)
def test_names_that_labels_have_are_offered(
    labels: list[str], classes: tuple[str, ...] | None, hint: str, write: Write
) -> None:
    """As columns are called, in other letters, or counted from 1; only where it fits every label seen."""
    with pytest.raises(InputProblem) as problem:
        read(write(wide(labels=(labels * 4)[:4])), classes=classes)
    assert problem.value.hint == hint


def changed(place: tuple[int, int], value: float | None) -> np.ndarray:
    rows = ROWS.astype(object)
    rows[place] = value
    return rows


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (changed((1, 2), None), "column 'p_cat': 1 of 4 values is missing; the first is at row 2"),
        (changed((3, 0), float("nan")), "column 'p_ant': 1 of 4 values is missing; the first is at row 4"),
        (
            changed((0, 1), 1.5),
            "column 'p_bee': 1 of 4 values lies outside [0, 1]; the first is 1.5 at row 1",
        ),
        (
            changed((2, 2), 0.3),
            "1 of 4 rows does not sum to 1 within 0.001; the first is a sum of 0.8 at row 3",
        ),
        (
            changed((2, 2), 0.75),
            "1 of 4 rows does not sum to 1 within 0.001; the first is a sum of 1.25 at row 3",
        ),
    ],
)
def test_wrong_numbers_are_refused_with_column_and_row(rows: np.ndarray, said: str, write: Write) -> None:
    """One line says what, where and how many; sums that fall short ask for the other classes."""
    columns = {f"p_{name}": pa.array(rows[:, k].tolist(), pa.float64()) for k, name in enumerate(NAMES)}
    with pytest.raises(InputProblem) as problem:
        read(write({**columns, "label": LABELS}))
    assert said in problem.value.message
    assert problem.value.hint
    assert ("is every class among them?" in problem.value.hint) == ("a sum of 0.8" in said)


@pytest.mark.parametrize("scale", Scale)
def test_lists_of_other_lengths_are_said_whatever_numbers_there_are(scale: Scale, write: Write) -> None:
    """No number of such rows is read; what stands for an option that a question lacks is of the scale."""
    path = write({"p": [[0.5, 0.5], [1.5, 2.5, 0.5]], "label": [0, 1]})
    with pytest.raises(
        InputProblem, match=r"1 of 2 lists does not hold 2 numbers; .* a list of 3 at"
    ) as problem:
        read(path, probs="p", scale=scale)
    lacking = "-inf" if scale in {Scale.LOGIT, Scale.LOGPROB} else "0"
    assert f": {lacking} for each option" in str(problem.value.hint)


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        (
            [[0.5, 0.5], [0.2, 0.3, 0.5]],
            "1 of 2 lists does not hold 2 numbers; the first is a list of 3 at row 2",
        ),
        ([[0.5, 0.5], None], "1 of 2 values is missing; the first is at row 2"),
        ([[0.5, 0.5], [None, 1.0]], "1 of 2 values is missing; the first is at row 2"),
        ([[], []], "its first list holds 0 numbers"),
    ],
)
def test_lists_with_gaps_or_of_other_lengths_are_refused(lists: list[Any], said: str, write: Write) -> None:
    """The row is named, as for columns."""
    with pytest.raises(InputProblem) as problem:
        read(write({"v": pa.array(lists, pa.list_(pa.float64())), "label": [0, 1]}), probs="v")
    assert said in problem.value.message


def test_lists_of_other_lengths_are_refused_where_they_are_asked_for(write: Write) -> None:
    """A row that a condition leaves out may hold anything."""
    lists = [*ROWS.tolist(), [0.5, 0.5], None]
    path = write({"p": lists, "label": [*LABELS, "ant", "ant"], "part": list("aaaabb")})
    rows = RowSelection.of(["part==a"], limit=None, sample=None, seed=0)
    assert np.array_equal(read(path, probs="p", classes=NAMES, rows=rows).probability, ROWS)
    with pytest.raises(InputProblem, match=r"1 of 6 lists does not hold 3 numbers; .* a list of 2 at row 5"):
        read(path, probs="p", classes=NAMES)


VECTOR = pa.struct(
    {"type": pa.int8(), "size": pa.int32(), "indices": pa.list_(pa.int32()), "values": pa.list_(pa.float64())}
)


@pytest.mark.parametrize(
    "vector",
    [
        (0, 3, [0, 5], [0.4, 0.6]),
        (0, 3, [0, -1], [0.4, 0.6]),
        (0, 3, [2, 0], [0.4, 0.6]),
        (0, 3, [1, 1], [0.4, 0.6]),
        (0, 3, [0, None], [0.4, 0.6]),
        (0, 3, [0], [0.4, 0.6]),
        (0, 3, None, [0.4, 0.6]),
        (0, None, [0, 2], [0.4, 0.6]),
        (1, 3, None, [0.4, 0.6]),
        (1, None, [0], [0.2, 0.3, 0.5]),
        (2, 3, None, [0.4, 0.6, 0.0]),
        (None, None, None, [0.4, 0.6, 0.0]),
    ],
)
def test_vectors_that_spark_would_not_write_are_refused(vector: tuple[Any, ...], write: Write) -> None:
    """They would stand for other numbers than whoever wrote them meant, or for none."""
    good = [(1, None, None, [0.2, 0.3, 0.5]), (0, 3, [0, 2], [0.4, 0.6])]
    rows = [dict(zip(VECTOR.names, one, strict=True)) for one in (*good, vector)]
    path = write({"p": pa.array(rows, VECTOR), "label": ["0", "1", "2"]})
    with pytest.raises(InputProblem, match="the first is no vector that Spark writes at row 3"):
        read(path, probs="p")
    path = write({"p": pa.array([*rows[:2], None], VECTOR), "label": ["0", "1", "2"]})
    found = read(path, probs="p", on_missing=OnMissing.DROP).probability
    assert np.array_equal(found, [[0.2, 0.3, 0.5], [0.4, 0.0, 0.6]])


def test_columns_that_are_no_lists_are_refused(write: Write) -> None:
    """One column of numbers is not several classes."""
    with pytest.raises(InputProblem, match="no list of numbers shows how many classes"):
        read(write(wide()), probs="p_ant")
    words = [{"type": "a", "size": "b", "indices": [0], "values": [0.5]}] * 2
    with pytest.raises(InputProblem, match="no list of numbers shows how many classes"):
        read(write({"p": words, "label": ["0", "1"]}), probs="p")


def test_lists_are_counted_in_the_first_file_that_has_some(write: Write) -> None:
    """Spark writes a file without rows for a part that has none."""
    rows = {"p": [[0.2, 0.3, 0.5], [0.5, 0.25, 0.25]], "label": ["0", "1"]}
    nothing = pa.table(rows).slice(0, 0)
    empty, full = write(dict(zip(rows, nothing.columns, strict=True)), "e.parquet"), write(rows)
    assert np.array_equal(read(empty, full, probs="p").probability, rows["p"])


def test_infinite_logits_are_certain(write: Write) -> None:
    """Of what is infinite both ways no sum is told, and nobody is warned of it."""
    logits = np.array([[np.inf, -np.inf, 0.0], [0.0, 0.0, 0.0]])
    found = read(write(wide(logits, ["ant", "bee"])), scale=Scale.LOGIT).probability
    assert found.tolist() == [[1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]]


def test_softmax_in_single_precision_is_taken_as_it_is(write: Write) -> None:
    """Rows that miss 1 by 1e-7 are not touched."""
    rows = ROWS.astype(np.float32)
    assert np.array_equal(read(write(wide(rows))).probability, rows.astype(np.float64))


def test_normalised_rows_are_divided_and_others_stay(write: Write) -> None:
    """Only those that are off by more than 1e-3."""
    rows = ROWS * np.array([[1.0], [2.0], [1.0005], [0.5]])
    found = read(write(wide(np.minimum(rows, 1.0))), on_sum=OnSum.NORMALISE).probability
    assert np.array_equal(found[[0, 2]], np.minimum(rows, 1.0)[[0, 2]])
    np.testing.assert_allclose(found[[1, 3]].sum(axis=1), 1.0, rtol=0, atol=1e-15)


def test_accepted_rows_stay_whatever_they_sum_to(write: Write) -> None:
    """Even to nothing; but each number is still one from 0 to 1."""
    rows = ROWS * np.array([[0.0], [0.5], [1.0], [0.9]])
    assert np.array_equal(read(write(wide(rows)), on_sum=OnSum.ACCEPT).probability, rows)
    with pytest.raises(InputProblem, match="outside"):
        read(write(wide(1.5 + rows)), on_sum=OnSum.ACCEPT)


def test_wide_batches_hold_fewer_rows(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory does not grow with the number of classes; what is read is the same."""
    path = write(wide())
    whole = read(path)
    monkeypatch.setattr("calibcli.data.readers._BATCH_NUMBERS", 8)
    assert np.array_equal(read(path).probability, whole.probability)


@given(
    names=st.lists(st.text("abc_12", min_size=1, max_size=4), min_size=2, max_size=5, unique=True),
    start=st.sampled_from(["p_", "prob.", "", "x"]),
    seed=st.integers(0, 1_000),
)
def test_classes_are_found_by_their_names_or_refused(names: list[str], start: str, seed: int) -> None:
    """Columns found without --probs stand for the classes whose names they end in."""
    header = [f"{start}{name}" for name in names] + ["other", "label"]
    order = np.random.default_rng(seed).permutation(len(header))
    moved = [header[place] for place in order]
    starts = {one[: len(one) - len(name)] for one in header for name in names if one.endswith(name)}
    if sum(all(f"{one}{name}" in header for name in names) for one in starts) > 1:
        with pytest.raises(UsageProblem, match="may begin with"):
            columns_of_classes(tuple(names), Columns(), Header(moved, "p.csv"), lists=())
        return
    found = columns_of_classes(tuple(names), Columns(), Header(moved, "p.csv"), lists=())
    assert found.probs is not None
    assert set(found.classes) == set(names)
    for column, name in zip(found.probs.names, found.classes, strict=True):
        assert column == f"{start}{name}"
