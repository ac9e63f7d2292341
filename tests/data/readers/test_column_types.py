"""Scores, labels and weights of every type that files hold."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.commands.gathering import gather
from calibcli.data.arrays import floats
from calibcli.data.engines import ThreadEngine
from calibcli.data.fields import on_scale
from calibcli.errors import InputProblem
from calibcli.names import OnMissing, Scale, WeightMeaning
from calibcli.options.numerals import number_name
from calibcli.options.rows import Columns
from calibcli.stats.table import ScoreTable, Weighing

SCORES = [0.25, 0.5, 0.25, 1.0]
LABELS = [0, 1, 1, 0]
EXPECTED = ScoreTable.from_rows(np.array(SCORES), np.array(LABELS) == 1)


def table_of(path: Path, columns: dict[str, Any], **requested: Any) -> Any:
    pq.write_table(pa.table(columns), path / "a.parquet")
    return gather([str(path / "a.parquet")], Columns("s", "y", **requested), engine=ThreadEngine(1)).tables[
        "raw"
    ]


@pytest.mark.parametrize(
    "kind",
    [
        pa.float64(),
        pa.float32(),
        pa.float16(),
        pa.decimal128(5, 3),
        pa.dictionary(pa.int8(), pa.float64()),
    ],
    ids=str,
)
def test_scores_of_any_number_type(kind: pa.DataType, tmp_path: Path) -> None:
    """They become the doubles they are."""
    if pa.types.is_decimal(kind):
        scores = pa.array([Decimal(str(score)) for score in SCORES], kind)
    elif isinstance(kind, pa.DictionaryType):
        scores = pa.array(SCORES).dictionary_encode()
    else:
        scores = pa.array(np.array(SCORES, kind.to_pandas_dtype()))
    assert table_of(tmp_path, {"s": scores, "y": LABELS}) == EXPECTED


@pytest.mark.parametrize(
    "kind",
    [
        pa.decimal32(9, 3),
        pa.decimal64(18, 3),
        pa.decimal128(15, 3),
        pa.decimal128(38, 18),
        pa.decimal128(9, 30),
        pa.decimal256(70, 60),
    ],
    ids=str,
)
def test_decimals_are_the_doubles_that_their_digits_read_as(kind: Any) -> None:
    """As those of CSV are: 0.3 is not 0.30000000000000004, which is in another of ten bins."""
    units = np.random.default_rng(3).integers(-(10**9) + 1, 10**9, 200).tolist()
    exact = [*(Decimal(one).scaleb(-kind.scale) for one in (*units, 3 * 10 ** min(kind.scale - 1, 8))), None]
    wide = pa.array(exact, kind if kind.bit_width > 128 else pa.decimal128(38, kind.scale)).cast(kind)
    for column, values in ((wide, exact), (wide.slice(7), exact[7:]), (wide.slice(0, 0), [])):
        found = floats(column)
        missing = np.zeros(len(values), np.bool_) if found.missing is None else found.missing
        assert missing.tolist() == [one is None for one in values]
        assert found.values[~missing].tolist() == [float(one) for one in values if one is not None]


@pytest.mark.parametrize(
    "labels",
    [
        pa.array(LABELS, pa.int8()),
        pa.array(LABELS, pa.uint64()),
        pa.array([0.0, 1.0, 1.0, 0.0]),
        pa.array(np.array(LABELS, np.float16)),
        pa.array([Decimal(0), Decimal(1), Decimal(1), Decimal(0)], pa.decimal128(3, 1)),
        pa.array([False, True, True, False]),
        pa.array(["0", "1", "1.0", "0.0"]),
        pa.array(["false", "True", "TRUE", "False"]),
        pa.array(["0", "true", "1", "false"], pa.large_string()),
        pa.array([" 0", "1 ", "1e0", "-0"]).dictionary_encode(),
        pa.array(LABELS).dictionary_encode(),
        pa.array([False, True, True, False]).dictionary_encode(),
    ],
    ids=lambda labels: str(labels.type),
)
def test_labels_of_any_type(labels: Any, tmp_path: Path) -> None:
    """0 and 1, true and false, as numbers, booleans, text or categories."""
    assert table_of(tmp_path, {"s": SCORES, "y": labels}) == EXPECTED


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (pa.array([1, 2, 2, 1]), "2"),
        (pa.array([1.0, 2.0, 2.0, 1.0]), "2"),
        (pa.array(["no", "yes", "yes", "maybe"]), "yes"),
        (pa.array(["1", "2", "2", "02"]), "2"),
        (pa.array([True, False, False, True]), "false"),
        (pa.array([True, False, False, True]), "0"),
        (pa.array([False, True, True, False]), "1"),
        (pa.array([1, 0, 0, 1]), "0"),
    ],
    ids=str,
)
def test_positive_names_the_label_that_counts_as_one(labels: Any, positive: str, tmp_path: Path) -> None:
    """The same text, or the same number; every other label counts as 0."""
    assert table_of(tmp_path, {"s": SCORES, "y": labels}, positive=positive) == EXPECTED


@pytest.mark.parametrize(
    "labels", [[0, 1, 1, 0, None], [False, True, True, False, None], ["0", "1", "1", "0", None]]
)
@pytest.mark.parametrize("category", [False, True])
def test_missing_labels_of_any_type(labels: list[Any], category: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """Nulls are missing whatever stands in their place; NaN scores are missing too."""
    column = pa.array(labels).dictionary_encode() if category else pa.array(labels)
    columns = {"s": [*SCORES, 0.5], "y": column}
    with pytest.raises(InputProblem, match="column 'y': 1 of 5 values is missing; the first is at row 5"):
        table_of(tmp_path, columns)
    assert table_of(tmp_path, columns, on_missing=OnMissing.DROP) == EXPECTED
    nan = {"s": pa.array(np.array([*SCORES, np.nan])), "y": [*labels[:4], labels[1]]}
    assert table_of(tmp_path, nan, on_missing=OnMissing.DROP) == EXPECTED


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"s": ["a"], "y": [1]}, "column 's': it holds string, not numbers"),
        ({"s": [True], "y": [1]}, "column 's': it holds bool, not numbers"),
        ({"s": [[0.5]], "y": [1]}, "column 's': it holds list<element: double>, not numbers"),
        ({"s": [0.5], "y": [[1]]}, "column 'y': it holds list<element: int64>, not labels"),
        ({"s": [0.5], "y": pa.array([None], pa.null())}, "column 'y': 1 of 1 values is missing"),
        ({"s": pa.array([None], pa.null()), "y": [1]}, "column 's': 1 of 1 values is missing"),
        ({"s": [0.5], "y": pa.array([None], pa.string())}, "column 'y': 1 of 1 values is missing"),
        (
            {"s": [0.5], "y": pa.array([None]).cast(pa.string()).dictionary_encode()},
            "1 of 1 values is missing",
        ),
        ({"s": [0.5, 0.5], "y": [True, False], "z": [1, 2]}, "no label is 'maybe', as --positive says"),
    ],
)
def test_types_that_cannot_be_are_named(columns: dict[str, Any], message: str, tmp_path: Path) -> None:
    """The message says what the column holds."""
    requested = {"positive": "maybe"} if "z" in columns else {}
    with pytest.raises(InputProblem) as caught:
        table_of(tmp_path, columns, **requested)
    assert message in caught.value.message
    # Only text may be phrases.
    assert ("--score-map" in str(caught.value.hint)) == ("string, not numbers" in message)


def test_frequency_weights_count_rows(tmp_path: Path) -> None:
    """Weight 3 is three rows; weight 0 is none."""
    columns = {"s": [0.25, 0.5, 0.75], "y": [1, 0, 1], "w": pa.array([3.0, 2.0, 0.0])}
    table = table_of(tmp_path, columns, weight="w", weights_are=WeightMeaning.FREQUENCY)
    scores, labels = np.repeat([0.25, 0.5], [3, 2]), np.repeat([True, False], [3, 2])
    assert table == ScoreTable.from_rows(scores, labels)


def test_importance_weights_are_kept_with_their_squares(tmp_path: Path) -> None:
    """As `ScoreTable.from_rows` sums them."""
    columns = {"s": [0.25, 0.25, 0.75], "y": [1, 0, 1], "w": [0.5, 2.0, 1.5]}
    table = table_of(tmp_path, columns, weight="w")
    expected = ScoreTable.from_rows(
        np.array([0.25, 0.25, 0.75]),
        np.array([True, False, True]),
        Weighing(weight=np.array([0.5, 2.0, 1.5])),
    )
    assert table == expected


def test_logits_do_not_overflow() -> None:
    """The logistic function at its ends is exact, and symmetric in between."""
    logits = np.array([-np.inf, -1000.0, -1.0, 0.0, 1.0, 1000.0, np.inf])
    scores = on_scale(logits, Scale.LOGIT)
    assert scores.tolist()[:2] + scores.tolist()[-2:] == [0.0, 0.0, 1.0, 1.0]
    assert scores[3] == 0.5
    assert scores[2] == pytest.approx(1 - scores[4], abs=1e-16)
    assert on_scale(np.array([-np.inf, 0.0]), Scale.LOGPROB).tolist() == [0.0, 1.0]


def test_numbers_are_shown_short() -> None:
    """Whole numbers without a point, others with all digits they need."""
    assert [number_name(x) for x in (1.0, -2.0, 0.1, 1e22, float("inf"))] == [
        "1",
        "-2",
        "0.1",
        "1" + "0" * 22,
        "inf",
    ]
