"""Columns of pandas whose indexes differ, and masks of rows of several classes."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import calibcli

ROWS = 60
SCORE = pd.Series(np.linspace(0.05, 0.95, ROWS), name="score")
LABEL = pd.Series(np.arange(ROWS) % 3 == 0, name="label").astype(int)
BACK = list(range(ROWS))[::-1]
NAMED = [f"r{row}" for row in range(ROWS)]


def brier(*rows: object, **words: object) -> float:
    """Return the Brier score of rows."""
    return calibcli.measure(*rows, metric="brier", **words).to_dict()["measures"]["brier"]["value"]  # type: ignore[no-any-return,arg-type]


TRUE = brier(SCORE.to_numpy(), LABEL.to_numpy())


@pytest.mark.parametrize(
    "call",
    [
        lambda: brier(SCORE, LABEL.iloc[BACK]),
        lambda: brier(SCORE.iloc[BACK], LABEL),
        lambda: brier(SCORE.set_axis(NAMED), LABEL.set_axis(NAMED).iloc[BACK]),
        lambda: brier(SCORE.set_axis(NAMED), LABEL.set_axis(range(7, 7 + ROWS))),
        lambda: brier({"score": SCORE, "label": LABEL.iloc[BACK]}),
        lambda: brier(pd.DataFrame({"score": SCORE, "label": LABEL}), weight=SCORE.iloc[BACK]),
        lambda: brier(SCORE, LABEL, by=pd.DataFrame({"g": LABEL.iloc[BACK]})),
        lambda: brier(SCORE, LABEL, by={"g": LABEL.iloc[BACK]}),
        lambda: brier(pd.DataFrame({"a": SCORE, "b": 1.0 - SCORE}), LABEL.iloc[BACK].map({0: "a", 1: "b"})),
        lambda: brier({"a": SCORE, "b": (1.0 - SCORE).iloc[BACK]}, LABEL.map({0: "a", 1: "b"})),
        lambda: calibcli.fit(SCORE, LABEL.iloc[BACK]),
        lambda: calibcli.compare({"a": SCORE, "b": SCORE**2}, LABEL.iloc[BACK]),
        lambda: calibcli.verify(SCORE, LABEL.iloc[BACK], max_ece=0.5),
    ],
)
def test_rows_in_other_orders_are_refused(call: Callable[[], object]) -> None:
    """By every function that pairs columns, since pairing them by place would give other numbers."""
    with pytest.raises(calibcli.CalibcliError, match="index") as problem:
        call()
    assert problem.value.exit_code == 2
    assert ".to_numpy()" in str(problem.value.hint)


def test_predictions_pair_rows_of_one_index() -> None:
    """Scores and their groups, as measurements do, the columns of segments, and those of classes."""
    group = pd.Series(["a", "b"] * (ROWS // 2))
    fitted = calibcli.fit(SCORE, LABEL, by=group, min_group_rows=5)
    assert len(fitted.predict(SCORE, by=group)) == ROWS
    with pytest.raises(calibcli.CalibcliError, match="different orders"):
        fitted.predict(SCORE, by=group.iloc[BACK])
    on = {"score": SCORE, "label": LABEL, "group": group}
    fitted = calibcli.fit(on, score="score", label="label", method="segments", on="group")
    assert len(fitted.predict(SCORE, on={"group": group})) == ROWS
    with pytest.raises(calibcli.CalibcliError, match="different orders"):
        fitted.predict(SCORE, on={"group": group.iloc[BACK]})
    with pytest.raises(calibcli.CalibcliError, match="on has 9 rows for 60 scores"):
        fitted.predict(SCORE, on={"group": group[:9]})
    classes = {"a": SCORE, "b": 1.0 - SCORE}
    fitted = calibcli.fit(classes, LABEL.map({0: "a", 1: "b"}), method="temperature")
    assert len(fitted.predict(classes)["a"]) == ROWS
    with pytest.raises(calibcli.CalibcliError, match="different orders"):
        fitted.predict({**classes, "b": classes["b"].iloc[BACK]})
    for rows in (ROWS - 1, ROWS + 1):
        other = {"a": np.full(ROWS, 0.5), "b": np.full(rows, 0.5)}
        for call in (lambda: fitted.predict(other), lambda: brier(other, LABEL)):  # noqa: B023 - called here
            with pytest.raises(calibcli.CalibcliError, match=f"'b' has {rows} values, and 'a' has 60"):
                call()


@pytest.mark.parametrize(
    ("score", "label"),
    [
        (SCORE, LABEL),
        (SCORE.set_axis(NAMED), LABEL.set_axis(NAMED)),
        (SCORE.set_axis([0] * ROWS), LABEL.set_axis([0] * ROWS)),
        (SCORE, LABEL.set_axis(NAMED)),
        (SCORE.set_axis(np.random.default_rng(0).permutation(4 * ROWS)[:ROWS]), LABEL),
        (SCORE.set_axis(NAMED), LABEL.to_numpy()),
        (SCORE.set_axis(NAMED[::-1]), list(LABEL)),
        (SCORE.set_axis([NAMED, NAMED]), LABEL.set_axis([NAMED, NAMED])),
    ],
)
def test_rows_of_one_order_are_taken(score: pd.Series, label: object) -> None:
    """One index, or a default one beside that of some rows of a larger frame, as a split leaves it."""
    assert brier(score, label) == TRUE


def test_what_is_masked_among_several_classes_is_missing() -> None:
    """It does not come back as the value behind the mask, and complex numbers do not lose a part."""
    rows = np.tile([0.2, 0.3, 0.5], (ROWS, 1))
    masked = np.ma.array(rows, mask=np.arange(ROWS * 3).reshape(ROWS, 3) < 6)
    label = np.array(["0", "1", "2"] * (ROWS // 3))
    with pytest.raises(calibcli.CalibcliError, match="missing"):
        brier(masked, label)
    dropped = calibcli.measure(masked, label, metric="brier", on_missing="drop").to_dict()["input"]
    assert (dropped["rows"], dropped["dropped"]) == (ROWS - 2, 2)
    with pytest.raises(calibcli.CalibcliError, match="complex"):
        brier(rows + 1j, label)


def test_what_is_none_beside_what_is_masked_is_missing() -> None:
    """It was the score 0."""
    score = np.full(ROWS, 0.5, object)
    score[1] = None
    masked = np.ma.array(score, mask=np.arange(ROWS) == 3)
    found = calibcli.measure(masked, np.arange(ROWS) % 2, metric="brier", on_missing="drop").to_dict()
    assert found["input"]["dropped"] == 2


@pytest.mark.parametrize(
    ("index", "shown"), [([3, 1, 2], "row 1 is 3 here and 2 there"), (["c", "a", "b"], "is 'c' here and 'b'")]
)
def test_rows_in_other_orders_are_named_as_python_writes_them(index: list[object], shown: str) -> None:
    """And not as numpy does: np.int64(3)."""
    score = pd.Series([0.1, 0.2, 0.3], index=index)
    with pytest.raises(calibcli.UsageProblem, match=shown):
        calibcli.measure(score, pd.Series([0, 1, 0], index=index[::-1]))


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ([0.0, np.nan, 2.0], [0.0, np.nan, 3.0], "row 3 is 2.0 here and 3.0 there"),
        (
            pd.CategoricalIndex(list("abc")),
            pd.CategoricalIndex(list("abe")),
            "row 3 is 'c' here and 'e' there",
        ),
        ([list("aab"), [1, 2, 3]], list("xyz"), "row 1 is .'a', 1. here and 'x' there"),
        (
            [list("aab"), [1, 2, 3]],
            [list("aab"), [1, 2, 3], [0, 0, 0]],
            "row 1 is .'a', 1. here and .'a', 1, 0.",
        ),
        (pd.date_range("2024", periods=3), [np.nan] * 3, "row 1 is Timestamp.* here and nan there"),
    ],
    ids=["missing", "categories", "levels", "more levels", "dates"],
)
def test_where_indexes_differ_is_named_whatever_their_labels_are(
    one: object, other: object, shown: str
) -> None:
    """A missing label is that of the same row, and labels of two kinds are told apart."""
    with pytest.raises(calibcli.UsageProblem, match=shown):
        brier(SCORE[:3].set_axis(one), LABEL[:3].set_axis(other))
