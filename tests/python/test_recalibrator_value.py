"""A fitted map as a value: what it predicts, for whom, and how it travels."""

import json
import math
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calibcli
from calibcli.shell.app import main
from same_rows import MAKES, drawn_rows, written

ROWS = drawn_rows(11, 900)


@pytest.fixture(scope="module")
def fitted() -> calibcli.Recalibrator:
    """Return a Venn-Abers map, which has ends."""
    return calibcli.fit(ROWS["score"], ROWS["label"], method="venn-abers")


@pytest.fixture(scope="module")
def classes() -> tuple[calibcli.Recalibrator, pd.DataFrame]:
    """Return a map of three classes and the frame it was fitted to."""
    generator = np.random.default_rng(3)
    matrix = generator.dirichlet([1.0, 2.0, 0.5], 500)
    frame = pd.DataFrame(matrix, columns=["p_cat", "p_dog", "p_emu"])
    place = (matrix.cumsum(1) > generator.random((500, 1))).argmax(1)
    frame["label"] = np.array(["cat", "dog", "emu"])[place]
    return calibcli.fit(frame, probs="p_*", label="label", multiclass="vector"), frame


def test_saved_map_is_the_artifact_and_predicts_the_same_bits(
    fitted: calibcli.Recalibrator, tmp_path: Path
) -> None:
    """What was saved is loaded as the same map, and is not replaced unasked."""
    path = tmp_path / "cal.json"
    fitted.save(path)
    again = calibcli.load(path)
    assert isinstance(again, calibcli.Recalibrator)
    assert path.read_text() == fitted.to_json() == again.to_json()
    assert json.loads(path.read_text()) == fitted.to_dict()
    assert (again.predict(ROWS["score"]) == fitted.predict(ROWS["score"])).all()
    assert again.name == str(path)
    assert again.report is None
    assert fitted.report is not None
    with pytest.raises(calibcli.OutputProblem, match="exists already"):
        fitted.save(path)
    fitted.save(path, force=True)


def test_probabilities_are_those_that_the_command_writes(
    fitted: calibcli.Recalibrator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`apply` on a frame gives the columns of the command's output, bit for bit, prior shift included."""
    path, artifact, out = written(ROWS, tmp_path), tmp_path / "cal.json", tmp_path / "out.parquet"
    fitted.save(artifact)
    for keywords, words in (({}, []), ({"prior": 0.1, "name": "p"}, ["--prior", "0.1", "--name", "p"])):
        requested = ["apply", str(artifact), str(path), "-s", "score", "-o", str(out), "--force", *words]
        assert main(requested) == 0, capsys.readouterr().err
        expected = pq.read_table(out)
        found = calibcli.apply(fitted, ROWS, score="score", **keywords)
        added = [name for name in expected.column_names if name not in ROWS]
        assert list(found) == expected.column_names
        assert len(added) == 3
        for name in added:
            assert (found[name] == expected[name].to_numpy()).all()
        assert (
            calibcli.apply(str(artifact), ROWS["score"], prior=keywords.get("prior")) == found[added[0]]
        ).all()
    lower, upper = fitted.ends(ROWS["score"])
    assert (lower <= fitted.predict(ROWS["score"])).all()
    assert (fitted.predict(ROWS["score"]) <= upper).all()


def test_result_is_of_the_make_of_what_was_given(fitted: calibcli.Recalibrator) -> None:
    """An array for an array, a Series with its index and name for a Series."""
    score = ROWS["score"][:5]
    expected = fitted.predict(score)
    assert type(expected) is np.ndarray
    assert type(fitted.predict(score.tolist())) is np.ndarray
    series = fitted.predict(pd.Series(score, index=list("abcde"), name="old"))
    assert series.index.tolist() == list("abcde")
    assert series.name == "old"
    assert (series.to_numpy() == expected).all()
    assert fitted.predict(pl.Series("old", score)).equals(pl.Series("old", expected), check_names=True)
    assert fitted.predict(pa.array(score)).to_pylist() == expected.tolist()
    assert fitted.predict(pa.chunked_array([score[:2], score[2:]])).to_pylist() == expected.tolist()
    gone = [*score[:2], math.nan]
    for one in (pl.Series(gone), pa.array(gone), pa.chunked_array([gone])):
        found = fitted.predict(one, on_missing="null")
        assert (found.null_count() if isinstance(one, pl.Series) else found.null_count) == 1
    assert (
        fitted.predict(score.astype(np.float32)) == fitted.predict(score.astype(np.float32).astype(float))
    ).all()


@pytest.mark.parametrize("make", MAKES)
def test_frame_gets_a_column_and_stays_as_it_is(make: str, fitted: calibcli.Recalibrator) -> None:
    """A frame of any make comes back wider, and the one that was given is not touched."""
    rows = {key: ROWS[key] for key in ("score", "device")}
    given = MAKES[make](rows)
    found = calibcli.apply(fitted, given)
    names = (
        list(found)
        if isinstance(found, dict)
        else list(getattr(found, "column_names", None) or found.columns)
    )
    assert names == ["score", "device", "calibrated", "calibrated_lower", "calibrated_upper"]
    assert np.array_equal(np.asarray(found["calibrated"]), fitted.predict(ROWS["score"]))
    if make != "reader":
        same = type(given) if make not in ("table", "chunks", "batch") else pa.Table
        assert type(found) is same
        left = (
            given.schema.names
            if isinstance(given, pa.Table | pa.RecordBatch)
            else list(given if make == "mapping" else given.columns)
        )
        assert left == ["score", "device"]


class Own(pd.DataFrame):
    """A frame of a class of one's own, as packages on top of pandas have them."""

    @property
    def _constructor(self) -> type["Own"]:
        return Own


def test_a_frame_of_a_class_that_extends_pandas_stays_one(fitted: calibcli.Recalibrator) -> None:
    """With its index, which is held against that of other rows as well."""
    frame = Own({"score": ROWS["score"], "label": ROWS["label"]}).iloc[::-1]
    found = calibcli.apply(fitted, frame)
    assert type(found) is Own
    assert found.index.equals(frame.index)
    with pytest.raises(calibcli.UsageProblem, match="different orders"):
        calibcli.measure(frame, score="score", label="label", weight=pd.Series(np.ones(len(frame))))


def test_a_frame_with_columns_of_several_levels_gets_a_column_of_as_many(
    fitted: calibcli.Recalibrator,
) -> None:
    """Once: another of that name is refused."""
    frame = pd.DataFrame({("a", "score"): ROWS["score"]})
    found = calibcli.apply(fitted, frame, score="('a', 'score')")
    assert list(found.columns[:2]) == [("a", "score"), ("calibrated", "")]
    with pytest.raises(calibcli.UsageProblem, match="already"):
        calibcli.apply(fitted, found, score="('a', 'score')")


def test_rows_of_several_classes_come_back_as_they_went(
    classes: tuple[calibcli.Recalibrator, pd.DataFrame],
) -> None:
    """Arrays give arrays of shape (n, K), frames the columns of their classes, in any order."""
    found, frame = classes
    matrix = frame[["p_cat", "p_dog", "p_emu"]].to_numpy()
    expected = found.predict(matrix)
    assert found.classes == ("cat", "dog", "emu")
    assert expected.shape == matrix.shape
    assert np.allclose(expected.sum(1), 1.0)
    turned = frame[["p_emu", "label", "p_cat", "p_dog"]]
    assert np.array_equal(found.predict(turned)[["p_cat", "p_dog", "p_emu"]].to_numpy(), expected)
    assert list(found.predict(turned)) == ["p_emu", "p_cat", "p_dog"]
    assert np.array_equal(found.predict(matrix[:, ::-1], classes=["emu", "dog", "cat"]), expected[:, ::-1])
    assert np.array_equal(found.predict(pl.from_pandas(frame)).to_numpy(), expected)
    assert np.array_equal(found.predict(matrix.tolist()), expected)
    gone = np.vstack((matrix[:1], np.full(3, math.nan)))
    frame_of = dict(zip(found.classes, gone.T, strict=True))
    for rows in (
        pl.DataFrame(frame_of),
        pa.table(frame_of),
        pl.Series(gone.tolist()),
        pa.array(gone.tolist()),
    ):
        given = found.predict(rows, on_missing="null")
        whole = (
            [given] if isinstance(given, pl.Series | pa.Array) else [given[name] for name in found.classes]
        )
        assert [one.to_list()[1] if isinstance(one, pl.Series) else one.to_pylist()[1] for one in whole] == [
            None for _ in whole
        ]
    wide = calibcli.apply(found, pl.from_pandas(frame))
    assert wide["calibrated_class"].to_list() == [found.classes[one] for one in expected.argmax(1)]
    assert np.array_equal(wide["calibrated_dog"].to_numpy(), expected[:, 1])
    lists = calibcli.apply(
        found, {"p": pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), 3)}, probs="p"
    )
    assert np.array_equal(np.array(lists["calibrated"].tolist()), expected)


def test_columns_that_nobody_asks_for_may_hold_anything() -> None:
    """Such as shapes of geopandas beside probabilities of classes; they come back as they were."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.dirichlet(np.ones(3), 90), columns=["p_a", "p_b", "p_c"])
    label = generator.choice(list("abc"), 90)
    fitted = calibcli.fit(frame.assign(y=label), probs="p_*", label="y", multiclass="vector")
    frame["shape"] = [object() for _ in range(90)]
    found = calibcli.apply(fitted, frame)
    assert (found["shape"] == frame["shape"]).all()
    assert (
        found["calibrated_a"] == calibcli.apply(fitted, frame.drop(columns="shape"))["calibrated_a"]
    ).all()
    assert calibcli.measure(frame.assign(y=label), label="y", artifact=fitted, metric="ece").rows == 90
    with pytest.raises(calibcli.UsageProblem, match="shape: Series cannot be read as a column"):
        calibcli.measure(frame.assign(y=label), score="p_a", label="y", positive="a", by="shape")


def test_groups_have_maps_of_their_own(tmp_path: Path) -> None:
    """A map by groups predicts by the map of each score's group, and travels as any other."""
    found = calibcli.fit(ROWS, score="score", label="label", by="country")
    groups = ROWS["country"]
    expected = np.empty(900)
    for one in ("UK", "US", "a/b"):
        which = groups == one
        alone = calibcli.fit(ROWS["score"][which], ROWS["label"][which])
        expected[which] = alone.predict(ROWS["score"][which])
    assert np.array_equal(found.predict(ROWS["score"], by=groups), expected)
    assert np.array_equal(calibcli.apply(found, ROWS, score="score")["calibrated"], expected)
    found.save(tmp_path / "groups.json")
    again = calibcli.load(tmp_path / "groups.json")
    assert isinstance(again, calibcli.Recalibrator)
    assert again.by == "country"
    assert again.to_json() == found.to_json()
    through = {"score": "score", "label": "label", "metric": "ece"}
    assert (
        calibcli.measure(ROWS, **through, artifact=found).ece
        == calibcli.measure(ROWS, **through, artifact=tmp_path / "groups.json").ece
    )
    with pytest.raises(calibcli.InputProblem, match=r"1 of the first 1 rows is of a group .* 'FR' at"):
        found.predict([0.5], by=["FR"])
    with pytest.raises(calibcli.InputProblem, match=r"^frame, column 'p': 1 of the first 2 values"):
        calibcli.apply(found, {"p": [0.5, None], "country": ["UK", "US"]}, score="p")
    pooled = calibcli.fit(ROWS["score"], ROWS["label"]).predict([0.5])
    assert found.predict([0.5], by=["FR"], unseen="pooled") == pooled


def test_ends_of_groups_are_those_of_the_command(tmp_path: Path) -> None:
    """Venn-Abers by groups has its ends in Python too, as columns and as arrays."""
    found = calibcli.fit(ROWS, score="score", label="label", by="country", method="venn-abers")
    found.save(tmp_path / "groups.json")
    pd.DataFrame(ROWS).to_parquet(tmp_path / "rows.parquet")
    files = [str(tmp_path / name) for name in ("groups.json", "rows.parquet", "out.parquet")]
    assert main(["apply", *files[:2], "-s", "score", "-o", files[2]]) == 0
    wide = pd.read_parquet(files[2])
    names = ["calibrated", "calibrated_lower", "calibrated_upper"]
    frame = pd.DataFrame(calibcli.apply(found, ROWS, score="score"))[names]
    assert frame.equals(wide[names])
    lower, upper = found.ends(ROWS["score"], by=ROWS["country"])
    assert np.array_equal(np.column_stack((lower, upper)), wide[names[1:]].to_numpy())


@pytest.mark.parametrize("kind", ["artifact", "report"])
def test_a_document_is_loaded_through_a_pipe(kind: str) -> None:
    """What stands in a pipe is read once."""
    fitted, measured = (
        calibcli.fit(ROWS["score"], ROWS["label"]),
        calibcli.measure(ROWS["score"], ROWS["label"]),
    )
    text = fitted.to_json() if kind == "artifact" else measured.to_json()
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(text.encode())

    # A pipe may hold less than the text.
    writer = threading.Thread(target=write)
    writer.start()
    found = calibcli.load(f"/dev/fd/{reading}")
    writer.join()
    os.close(reading)
    assert found.to_json() == text


REFUSED: list[tuple[str, dict[str, Any], str, str | None]] = [
    ("score", {"prior": 1.5}, "a base rate of 1.5", None),
    ("score", {"classes": ["a", "b"]}, "classes is for several classes",
     "leave it out, or fit a map of classes with probs"),
    ("score", {"on_missing": "drop"}, "on_missing='drop' leaves rows out", None),
    ("score", {"by": ["a"] * 900}, "by speaks of groups, and there is one map for all", None),
    ("score", {"unseen": "pooled"}, "unseen speaks of groups, and there is one map for all", None),
    ("score", {"on_range": "clamp"}, "on_range='clamp'", "one of 'error', 'clip', 'null'"),
]  # fmt: skip


@pytest.mark.parametrize(("column", "keywords", "message", "hint"), REFUSED)
def test_what_a_map_has_no_use_for_is_refused(
    column: str, keywords: dict[str, Any], message: str, hint: str | None, fitted: calibcli.Recalibrator
) -> None:
    """A keyword that does not fit the map is a UsageProblem, and never passed over; of a frame neither."""
    in_frame = {**keywords, **({"by": "device"} if "by" in keywords else {})}
    for ask in (
        lambda: fitted.predict(ROWS[column], **keywords),
        lambda: calibcli.apply(fitted, ROWS, **in_frame),
    ):
        with pytest.raises(calibcli.UsageProblem) as caught:
            ask()
        assert message in caught.value.message
        assert hint is None or caught.value.hint == hint


def test_classes_of_a_frame_are_those_of_its_columns(
    classes: tuple[calibcli.Recalibrator, pd.DataFrame],
) -> None:
    """Other names for them are refused where nothing says which columns are meant."""
    fitted, frame = classes
    names = list(fitted.classes or ())[::-1]
    with pytest.raises(calibcli.UsageProblem, match="classes names the classes of the columns of probs"):
        calibcli.apply(fitted, frame, classes=names)
    with pytest.raises(calibcli.UsageProblem, match="classes names the columns of an array"):
        fitted.predict(frame, classes=names)


def test_bad_scores_are_named_with_their_rows(
    fitted: calibcli.Recalibrator, classes: tuple[calibcli.Recalibrator, pd.DataFrame]
) -> None:
    """Every row gets a value, or the first that cannot is said."""
    for scores, said in (
        ([0.1, float("nan")], "1 of the first 2 values is missing; the first is at row 2"),
        (np.array([0.1, 7.0, 9.0]), "2 of the first 3 values lie outside [0, 1]; the first is 7.0 at row 2"),
    ):
        with pytest.raises(calibcli.InputProblem) as caught:
            fitted.predict(scores)
        assert said in caught.value.message
    with pytest.raises(calibcli.UsageProblem, match="one score, and vector map was fitted to 3 classes"):
        classes[0].predict([0.5])
    with pytest.raises(calibcli.UsageProblem, match="several columns, and the map was fitted to one score"):
        fitted.predict(np.ones((2, 2)))
    with pytest.raises(calibcli.UsageProblem, match="apply takes rows in memory"):
        calibcli.apply(fitted, "preds.csv")
    with pytest.raises(calibcli.UsageProblem, match="has a column 'device' already"):
        calibcli.apply(fitted, ROWS, score="score", name="device")


def test_rows_that_another_base_rate_does_not_move_are_counted() -> None:
    """Odds of 0 and of infinity stay what they are."""
    isotonic = calibcli.fit([0.1, 0.2, 0.3, 0.9], [0, 1, 0, 1], method="isotonic")
    with pytest.warns(UserWarning, match=r"^3 rows got 0 or 1, which another base rate does not move"):
        assert isotonic.predict([0.1, 0.25, 0.9, 0.95], prior=0.1).tolist() == pytest.approx([0, 0.1, 1, 1])
