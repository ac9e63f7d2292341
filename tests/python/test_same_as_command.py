"""The functions of the package give the numbers of the commands, bit for bit, whatever holds the rows."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calibcli
from command_line import CHURN
from same_rows import MAKES, drawn_rows, in_chunks, without_source, written

FEW = ["ece", "bias", "brier", "kuiper"]
METRICS = [word for name in FEW for word in ("--metric", name)]

Said = Callable[..., str]


OPTIONS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    (
        {"bins": 7, "binning": "equal-mass", "confidence": 0.9, "seed": 3},
        ["--bins", "7", "--binning", "equal-mass", "--confidence", "0.9", "--seed", "3"],
    ),
    ({"weight": "times", "weights_are": "frequency"}, ["-w", "times", "--weights-are", "frequency"]),
    ({"weight": "weight"}, ["-w", "weight"]),
    (
        {"by": ["country", "device"], "min_group_rows": 50},
        ["--by", "country", "--by", "device", "--min-group-rows", "50"],
    ),
    ({"cluster": "patient"}, ["--cluster", "patient"]),
    ({"score": ["score", "other"]}, ["-s", "other"]),
    ({"memory": "40K", "edges": [0, 0.1, 0.5, 1]}, ["--memory", "40K", "--edges", "0,0.1,0.5,1"]),
]


@pytest.mark.parametrize(
    ("keywords", "words"), OPTIONS, ids=lambda one: " ".join(one) if isinstance(one, list) else ""
)
def test_measures_of_every_make_are_those_of_the_file(
    keywords: dict[str, Any], words: list[str], said: Said, tmp_path: Path
) -> None:
    """A frame of any make and a Parquet file of the same rows give one document."""
    rows = drawn_rows(5)
    path = written(rows, tmp_path)
    requested = {"score": "score", "label": "label", "metric": FEW, **keywords}
    expected = said("measure", path, "-s", "score", *words, "-y", "label", *METRICS, "--json")
    # Every make by itself once, and the options with those that share the least code.
    for make in MAKES if not words else ("pandas of Arrow", "chunks"):
        found = calibcli.measure(MAKES[make](rows), **requested)
        assert without_source(found.to_json()) == without_source(expected), make
    if not words:
        assert calibcli.measure(path, **requested).to_json() == expected


@settings(max_examples=12)
@given(
    values=st.lists(
        st.tuples(st.floats(0.0, 1.0), st.booleans(), st.sampled_from("abc")), min_size=1, max_size=40
    ),
    exact=st.booleans(),
    bins=st.sampled_from([None, 4, 15]),
    make=st.integers(0, 4),
)
def test_measures_of_arrays_are_those_of_a_csv_file(
    values: list[tuple[float, bool, str]],
    *,
    exact: bool,
    bins: int | None,
    make: int,
    said: Said,
    tmp_path: Path,
) -> None:
    """Scores survive their text, and arrays of any make give the document of the file."""
    score, label, group = (list(one) for one in zip(*values, strict=True))
    path = written({"score": score, "label": [int(one) for one in label], "g": group}, tmp_path, "csv")
    words = [*(["--exact"] if exact else []), *([] if bins is None else ["--bins", bins])]
    expected = without_source(
        said("measure", path, "--by", "g", "--min-group-rows", 99, *words, *METRICS, "--json")
    )
    expected["input"]["notes"] = []
    for body in expected["slices"].values():
        body["input"]["notes"] = []
    requested = {"exact": exact, "bins": bins, "metric": FEW, "min_group_rows": 99}
    scores, labels, by = (
        (score, label, {"g": group}),
        (np.array(score), np.array(label), pd.Series(group, name="g")),
        (pd.Series(score), pd.Series(label, dtype="boolean"), pd.DataFrame({"g": group})),
        (pl.Series(score, dtype=pl.Float64), pl.Series(label), pl.Series("g", group, dtype=pl.Categorical)),
        (pa.array(score, pa.float64()), pa.chunked_array([label]), {"g": np.array(group)}),
    )[make]
    found = calibcli.measure(scores, labels, by=by, **requested)
    assert without_source(found.to_json()) == expected


@pytest.mark.parametrize(
    ("score", "label", "keywords"),
    [
        ([-2.0, 0.5, 3.0, 0.1], ["good", "bad", "good", "bad"], {"positive": "good", "scale": "logit"}),
        ([0.2, None, 0.9, 0.4], [0, 1, 1, None], {"on_missing": "drop"}),
        ([0.2, 1.0000001, 0.9, 0.4], [False, True, True, False], {"on_range": "clip"}),
        ([0.2, 0.7, 0.9, 0.4], [1, 2, 2, 1], {"positive": 2}),
    ],
)
def test_values_are_read_as_the_command_reads_them(
    score: list[Any], label: list[Any], keywords: dict[str, Any], said: Said, tmp_path: Path
) -> None:
    """Positive labels, scales, gaps and scores out of range mean the same in a list as in a file."""
    path = written({"score": score, "label": label}, tmp_path)
    words = [word for key, value in keywords.items() for word in (f"--{key.replace('_', '-')}", value)]
    expected = said("measure", path, "-s", "score", "-y", "label", *words, *METRICS, "--json")
    found = calibcli.measure(score, label, metric=FEW, **keywords)
    assert without_source(found.to_json()) == without_source(expected)


class Labelled:
    """An array with coordinates, as xarray has them: to Arrow a table of itself and of these."""

    def __init__(self, values: "np.ndarray[Any, Any]") -> None:
        self._values, self.shape = values, values.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> "np.ndarray[Any, Any]":
        return self._values

    def __arrow_c_stream__(self, schema: object = None) -> object:
        return pa.table({"values": self._values}).__arrow_c_stream__(schema)


def test_arrays_with_more_than_values_are_those_values() -> None:
    """What is sparse, and what has coordinates beside its values."""
    rows = drawn_rows(8)
    expected = calibcli.measure(rows["score"], rows["label"], metric=FEW).to_json()
    for made in (pd.arrays.SparseArray, lambda one: pd.Series(pd.arrays.SparseArray(one)), Labelled):
        found = calibcli.measure(made(rows["score"]), made(np.asarray(rows["label"], np.int64)), metric=FEW)
        assert found.to_json() == expected


def test_numbers_of_other_packages_are_the_doubles_that_they_are() -> None:
    """bfloat16, as models run in, which numpy knows from another package; and arrays of one number each."""
    kind = pytest.importorskip("ml_dtypes").bfloat16
    rows = drawn_rows(8)
    half, label = np.array(rows["score"], kind), np.asarray(rows["label"], np.int64)
    expected = calibcli.measure(half.astype(np.float64), label, metric=FEW).to_json()
    assert calibcli.measure(half, label.astype(kind), metric=FEW).to_json() == expected
    assert (
        calibcli.measure([np.array(one) for one in half.astype(float)], label, metric=FEW).to_json()
        == expected
    )
    both = np.stack([1 - half, half], axis=1)
    words: dict[str, Any] = {"metric": FEW, "on_sum": "normalise"}
    there = calibcli.measure(both.astype(np.float64), label, **words)
    assert calibcli.measure(both, label, **words).to_json() == there.to_json()


def test_groups_of_pandas_are_called_by_their_texts() -> None:
    """Intervals, as pd.cut makes them, and periods are no pairs of ends and no numbers of months."""
    rows = drawn_rows(8)
    with pytest.raises(calibcli.InputProblem, match="'1' more than once"):
        calibcli.measure({1: rows["score"], "1": rows["label"]}, score="1", label="y")
    cut = pd.cut(rows["score"], [-1.0, 0.3, 0.7, 1.0])
    months = pd.Series(pd.period_range("2024-01", periods=3, freq="M"))[np.arange(len(rows["score"])) % 3]
    for by, named in ((cut, "(0.3, 0.7]"), (months.array, "2024-02"), (months.astype("category"), "2024-02")):
        for one in (pd.Series(by, name="g"), pd.Series(by, name="g").where(np.arange(len(by)) > 0)):
            found = calibcli.measure(rows["score"], rows["label"], metric="bias", by=one, min_group_rows=1)
            assert f"g={named}" in found.slices
            assert len(found.slices) == 3 + one.isna().any()
            assert sum(part.rows for part in found.slices.values()) == found.rows


@pytest.mark.parametrize("classes", [["0", "1", "2"], [0.0, 1.0, 2.0], [3, 7, 9], ["a", "b", "c"]])
def test_classes_are_named_as_models_list_them(classes: list[Any]) -> None:
    """`classes_` of a model is an array, of numbers where the labels are numbers."""
    generator = np.random.default_rng(2)
    matrix, listed = generator.dirichlet([1.0, 1.0, 1.0], 60), np.array(classes)
    labels = listed[(generator.random((60, 1)) < matrix.cumsum(axis=1)).argmax(axis=1)]
    found = calibcli.measure(matrix, labels, classes=listed, metric="accuracy")
    assert found.accuracy.value == (listed[matrix.argmax(axis=1)] == labels).mean()
    fitted = calibcli.fit(matrix, labels, classes=listed)
    expected = fitted.predict(matrix)
    assert (fitted.predict(matrix[:, ::-1], classes=listed[::-1])[:, ::-1] == expected).all()
    assert (calibcli.apply(fitted, matrix, classes=listed) == expected).all()


def test_rows_of_several_classes_are_those_of_the_file(said: Said, tmp_path: Path) -> None:
    """An array of shape (n, K), a frame and a column of lists give the numbers of columns in a file."""
    generator = np.random.default_rng(2)
    matrix = generator.dirichlet([1.0, 2.0, 0.5], 300)
    label = np.array(["cat", "dog", "emu"])[(matrix.cumsum(1) > generator.random((300, 1))).argmax(1)]
    frame = pd.DataFrame(matrix, columns=["p_cat", "p_dog", "p_emu"])
    path = written({**{name: frame[name].to_numpy() for name in frame}, "label": label}, tmp_path)
    expected = without_source(said("measure", path, "--probs", "p_*", "-y", "label", *METRICS, "--json"))
    named = ["cat", "dog", "emu"]
    lists = pl.DataFrame({"p": matrix.tolist(), "label": label})
    found = [
        calibcli.measure(matrix, label, classes=named, metric=FEW),
        calibcli.measure(np.asfortranarray(matrix).tolist(), label, classes="cat,dog,emu", metric=FEW),
        calibcli.measure([pd.Series(row) for row in matrix], label, classes=named, metric=FEW),
        calibcli.measure(frame.set_axis(named, axis=1), label, metric=FEW),
        calibcli.measure(frame.assign(label=label), probs="p_*", label="label", metric=FEW),
        calibcli.measure(lists, probs="p", classes=named, label="label", metric=FEW),
    ]
    for one in found:
        assert without_source(one.to_json()) == expected
    places = calibcli.measure(matrix, [named.index(one) for one in label], metric=FEW)
    assert places.ece.value == found[0].ece.value


class Exchanged:
    """An array that is read by DLPack alone, as those of array packages that promise no more."""

    def __init__(self, values: "np.ndarray[Any, Any]") -> None:
        self._values, self.shape = values, values.shape

    def __dlpack__(self, **asked: Any) -> object:
        return self._values.__dlpack__(**asked)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._values.__dlpack_device__()


class Streamed:
    """A frame that can be read once."""

    def __init__(self, rows: "np.ndarray[Any, Any]") -> None:
        self._streams = [pa.table(dict(zip("abc", rows.T, strict=True))).__arrow_c_stream__()]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._streams.pop()


LISTS: dict[str, Callable[["np.ndarray[Any, Any]"], Any]] = {
    "DLPack": Exchanged,
    "Arrow": lambda rows: pa.array(rows.tolist()),
    "chunks": lambda rows: pa.chunked_array([pa.array(rows[:3].tolist()), pa.array(rows[3:].tolist())]),
    "pandas": lambda rows: pd.Series(rows.tolist()),
    "pandas of arrays": lambda rows: pd.Series(list(rows), index=np.arange(len(rows))[::-1]),
    "polars": lambda rows: pl.Series(rows.tolist()),
    "polars of width 3": lambda rows: pl.Series(rows.tolist(), dtype=pl.Array(pl.Float64, 3)),
    "lazy": lambda rows: pl.LazyFrame(rows, schema=["a", "b", "c"]),
    "stream": Streamed,
}


@pytest.mark.parametrize("make", LISTS)
def test_rows_of_several_classes_are_read_and_repaired_whatever_holds_them(make: str) -> None:
    """A column of lists is rows of probabilities, to measure, to fit and to predict, and gives a like one."""
    generator = np.random.default_rng(3)
    matrix, named = generator.dirichlet([1.0, 2.0, 0.5], 60), ["a", "b", "c"]
    label = np.array(named)[(matrix.cumsum(1) > generator.random((60, 1))).argmax(1)]
    fitted, frame = calibcli.fit(matrix, label, classes=named), make in {"lazy", "stream"}
    asked: dict[str, Any] = {} if frame else {"classes": named}
    assert calibcli.fit(LISTS[make](matrix), label, **asked).to_json() == fitted.to_json()
    expected = calibcli.measure(matrix, label, classes=named, metric=FEW).to_dict()
    assert calibcli.measure(LISTS[make](matrix), label, **asked, metric=FEW).to_dict() == expected
    given = LISTS[make](matrix)
    expected, found = fitted.predict(matrix), fitted.predict(given)
    assert np.array_equal(np.array(found if frame else list(map(_plain, found))), expected)
    if isinstance(given, pd.Series):
        assert found.index.equals(given.index)
    if make == "DLPack":
        one, other = (calibcli.measure(of(matrix[:, 0].copy()), label == "a") for of in (Exchanged, np.array))
        assert one.to_dict() == other.to_dict()


def _plain(row: Any) -> Any:
    return row.as_py() if isinstance(row, pa.Scalar) else row


@pytest.mark.parametrize(("memory", "kind"), [("1G", "exact"), ("100K", "grid")])
def test_probabilities_of_half_the_size_are_the_doubles_that_they_are(memory: str, kind: str) -> None:
    """float32 is read batch by batch: the same from exact tables and from grids, the rows untouched."""
    generator = np.random.default_rng(7)
    half = generator.dirichlet(np.full(12, 0.3), 1_000).astype(np.float32)
    label = (half.cumsum(1) < generator.random((len(half), 1))).sum(axis=1).clip(max=11)
    before = half.copy()
    own, doubled = (
        calibcli.measure(rows, label, metric=FEW, memory=memory) for rows in (half, half.astype(np.float64))
    )
    assert own.to_dict() == doubled.to_dict()
    assert own.to_dict()["slices"]["class=3"]["table"]["kind"] == kind
    assert np.array_equal(half, before)
    map_of_classes = calibcli.fit(half, label, method="temperature")
    assert np.array_equal(map_of_classes.predict(half), map_of_classes.predict(half.astype(np.float64)))


def test_more_rows_than_a_fragment_add_up_as_in_a_file(said: Said, tmp_path: Path) -> None:
    """Importance weights, whose sums depend on the order of adding, are added as in Parquet."""
    generator = np.random.default_rng(4)
    size = 2_300_000
    score = generator.integers(0, 1000, size) / 999
    rows = {
        "score": score,
        "label": (generator.random(size) < score).astype(np.int8),
        "weight": generator.exponential(1.0, size),
    }
    path = written(rows, tmp_path)
    expected = said("measure", path, *CHURN, "-w", "weight", "--metric", "ece", "--metric", "brier", "--json")
    table = in_chunks(pa.table(rows))
    found = calibcli.measure(table, score="score", label="label", weight="weight", metric=["ece", "brier"])
    assert without_source(found.to_json()) == without_source(expected)


@pytest.mark.parametrize("method", ["platt", "isotonic", "venn-abers", "auto"])
def test_artifact_is_that_of_the_command(method: str, said: Said, tmp_path: Path) -> None:
    """The same rows give the same bytes, in memory and on file."""
    rows = drawn_rows(6)
    path = written(rows, tmp_path)
    words = ["--group", "patient", "--folds", 3] if method == "auto" else []
    expected = said("fit", path, "-s", "score", "-y", "label", "-m", method, *words)
    grouped = {"group": pd.Series(rows["patient"], name="patient"), "folds": 3}
    keywords = grouped if method == "auto" else {}
    found = calibcli.fit(pd.Series(rows["score"], name="score"), rows["label"], method=method, **keywords)
    assert found.to_json() == expected


def test_verdicts_and_comparisons_are_those_of_the_commands(said: Said, tmp_path: Path) -> None:
    """`verify` and `compare` give the documents of the commands, an artifact in memory as its file."""
    rows, fit_rows = drawn_rows(7, 1_500), drawn_rows(8, 1_500)
    path, artifact = written(rows, tmp_path), tmp_path / "cal.json"
    fitted = calibcli.fit(fit_rows["score"], fit_rows["label"], method="beta")
    fitted.save(artifact)
    named = ["-s", "score", "-y", "label"]
    gate = said(
        "verify",
        path,
        *named,
        "--artifact",
        artifact,
        "--max-ece",
        "0.08",
        "--rule",
        "ks.p>=0.001",
        "--by",
        "country",
        "--json",
    )
    verdict = calibcli.verify(
        rows["score"], rows["label"], artifact=fitted, max_ece=0.08, rule="ks.p>=0.001",
        by={"country": rows["country"]},
    )  # fmt: skip
    assert without_source(verdict.to_json()) == without_source(gate)
    compared = said("compare", path, "-s", "score", "-s", "other", "-y", "label", "--json")
    found = calibcli.compare({"score": rows["score"], "other": rows["other"]}, rows["label"])
    assert without_source(found.to_json()) == without_source(compared)
    through = said("compare", path, *named, "--artifact", artifact, "--json")
    again = calibcli.compare(rows["score"], rows["label"], artifact=fitted)
    assert without_source(again.to_json()) == without_source(through)
    assert json.loads(through)["measures"]["brier"]["second"]["value"] == again["brier"].second.value
    # A map that was loaded, and what stands in its file now.
    held, other = calibcli.load(artifact), calibcli.fit(fit_rows["score"], fit_rows["label"])
    other.save(artifact, force=True)
    expected = calibcli.compare(rows["score"], rows["label"], artifact=[fitted, other])["brier"].difference
    for turn, maps in ((1.0, [held, artifact]), (-1.0, [artifact, held])):
        found = calibcli.compare(rows["score"], rows["label"], artifact=maps)["brier"].difference
        assert turn * found.value == expected.value


def test_threads_of_linear_algebra_change_no_digit() -> None:
    """The command has one thread for it, as tests do; a process that has loaded numpy has one a core."""
    code = (
        "import calibcli, numpy as np\n"
        "from calibcli.stats.measures import smooth\n"
        "smooth._DRAWS = 99\n"  # as in this process (`few_draws`)
        "rng = np.random.default_rng(3)\n"
        "score = rng.beta(0.5, 0.7, 11_000)\n"
        "label = rng.random(score.size) < score**1.1\n"
        "report = calibcli.measure(score, label, metric=['auroc', 'aurc', 'ici'])\n"
        "found = report.to_dict()['digest']\n"
    )
    here: dict[str, Any] = {}
    exec(code, here)  # noqa: S102 - the same lines, with the threads of this process
    env = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    command = [sys.executable, "-c", f"{code}print(found)"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    assert ended.stdout.strip() == here["found"]
