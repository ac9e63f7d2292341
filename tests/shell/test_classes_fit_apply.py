"""Several classes from the command line: fit, apply, measure with the artifact."""

import csv
import io
import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.documents.artifact import read_class_artifact
from command_line import Run
from fits_of_classes import drawn

NAMES = ("cat", "dog", "eel", "fox")
PROBS = ("--probs", "p_*", "-y", "label")


def frame(rows: int = 400, seed: int = 0, start: str = "p_") -> dict[str, Any]:
    """Columns of four classes with labels by name, and others that are to stay as they are."""
    found = drawn(seed, rows=rows, classes=4)
    columns: dict[str, Any] = {"id": [f"{place:05}" for place in range(rows)]}
    columns |= {f"{start}{name}": found.probability[:, place] for place, name in enumerate(NAMES)}
    return columns | {
        "label": [NAMES[place] for place in found.label],
        "note": ['a,"b"' for _ in range(rows)],
    }


def csv_text(columns: dict[str, Any]) -> str:
    """Columns as CSV with CRLF line ends, as some programs write it."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows(zip(*(np.asarray(one).tolist() for one in columns.values()), strict=True))
    return text.getvalue()


@pytest.fixture
def preds() -> Path:
    """Return a CSV file of four classes."""
    path = Path("p.csv")
    path.write_text(csv_text(frame()), newline="")
    return path


@pytest.fixture
def cal(preds: Path, run: Run) -> Path:
    """Return a temperature fitted to it."""
    path = Path("cal.json")
    assert run("fit", preds, *PROBS, "-o", path).code == 0
    return path


def matrix(table: Any, start: str = "calibrated_", names: tuple[str, ...] = NAMES) -> np.ndarray:
    """The columns of the classes side by side."""
    return np.column_stack([np.asarray(table[start + name], np.float64) for name in names])


def rows_of(text: str) -> dict[str, list[str]]:
    """CSV text as columns."""
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def test_csv_keeps_every_byte_and_gains_the_new_fields(preds: Path, cal: Path, run: Run) -> None:
    """Each line of the output is that of the input with fields at its end; values are those of the map."""
    out = Path("o.csv")
    assert "keeps the predicted class of every row" in run("apply", cal, preds, "-o", out, code=0).err
    before, after = (path.read_bytes().split(b"\r\n") for path in (preds, out))
    assert len(before) == len(after) == 402
    assert all(one.startswith(other) for one, other in zip(after, before, strict=True))
    table = rows_of(out.read_text())
    artifact = read_class_artifact(cal)
    expected = artifact.recalibrator.predict(matrix(rows_of(preds.read_text()), "p_"))
    assert np.array_equal(matrix(table), expected)
    assert table["calibrated_class"] == [NAMES[place] for place in expected.argmax(axis=1)]
    assert np.array_equal(np.asarray(table["calibrated_confidence"], float), expected.max(axis=1))


def test_no_label_is_needed_and_columns_may_stand_in_any_order(cal: Path, run: Run) -> None:
    """Classes are found by their names; the new columns follow the order of the file."""
    columns = frame(50, seed=3)
    del columns["label"]
    order = ["note", "p_fox", "p_cat", "id", "p_eel", "p_dog"]
    path, out = Path("q.csv"), Path("o.csv")
    path.write_text(csv_text({name: columns[name] for name in order}), newline="")
    assert run("apply", cal, path, "-o", out).code == 0
    table = rows_of(out.read_text())
    assert list(table)[6:10] == ["calibrated_fox", "calibrated_cat", "calibrated_eel", "calibrated_dog"]
    expected = read_class_artifact(cal).recalibrator.predict(matrix(columns, "p_"))
    assert np.array_equal(matrix(table), expected)


def test_standard_input_to_standard_output(preds: Path, cal: Path, run: Run) -> None:
    """A pipe gives the same bytes as files do."""
    out = Path("o.csv")
    run("apply", cal, preds, "-o", out)
    ran = run("apply", cal, "-", "-o", "-", "-q", stdin=preds.read_bytes())
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.encode() == out.read_bytes()


def test_parquet_keeps_schema_row_groups_and_codecs(cal: Path, run: Run) -> None:
    """Other columns, metadata, row groups and codecs stay; the new ones take that of the classes."""
    table = pa.table(frame(300)).replace_schema_metadata({"owner": "us"})
    path, out = Path("p.parquet"), Path("o.parquet")
    pq.write_table(table, path, row_group_size=120, compression="zstd")
    assert run("apply", cal, path, "-o", out, "--name", "q").code == 0
    with pq.ParquetFile(out) as file:
        written, metadata = file.read(), file.metadata
    assert written.select(table.column_names).equals(table)
    assert metadata.metadata[b"owner"] == b"us"
    assert [metadata.row_group(place).num_rows for place in range(3)] == [120, 120, 60]
    last = metadata.row_group(0).column(metadata.num_columns - 1)
    assert (last.path_in_schema, last.compression) == ("q_confidence", "ZSTD")
    expected = read_class_artifact(cal).recalibrator.predict(matrix(table, "p_"))
    assert np.array_equal(matrix(written, "q_"), expected)


def test_wide_row_groups_are_cut_and_say_the_same(
    cal: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the numbers that may be held at once, a row group is cut in smaller ones."""
    path, out = Path("p.parquet"), Path("o.parquet")
    pq.write_table(pa.table(frame(300)), path)
    monkeypatch.setattr("calibcli.data.writers.parquet.MOST_NUMBERS", 1_400)
    assert run("apply", cal, path, "-o", out).code == 0
    with pq.ParquetFile(out) as file:
        written = file.read()
        assert file.metadata.num_row_groups > 3
    expected = read_class_artifact(cal).recalibrator.predict(matrix(frame(300), "p_"))
    assert np.array_equal(matrix(written), expected)


KINDS = {
    "list": pa.list_(pa.float64()),
    "large_list": pa.large_list(pa.float64()),
    "fixed_size_list": pa.list_(pa.float64(), 4),
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_one_column_of_lists_comes_back_as_one(kind: str, cal: Path, run: Run) -> None:
    """The new column is of the same kind, and holds the classes in the order of the fit."""
    probability = matrix(frame(60, seed=4), "p_")
    path, out = Path("l.parquet"), Path("o.parquet")
    pq.write_table(pa.table({"id": range(60), "vector": pa.array(probability.tolist(), KINDS[kind])}), path)
    assert run("apply", cal, path, "-o", out).code == 0
    with pq.ParquetFile(out) as file:
        written = file.read()
    assert written.schema.field("calibrated").type == KINDS[kind]
    expected = read_class_artifact(cal).recalibrator.predict(probability)
    assert np.array_equal(np.array(written["calibrated"].to_pylist()), expected)
    assert written["calibrated_class"].to_pylist() == [NAMES[place] for place in expected.argmax(axis=1)]


def spark(probability: np.ndarray, *, sparse: bool) -> pa.Array:
    """Spark's vectors, dense or sparse by turns."""
    kinds = {"type": pa.int8(), "size": pa.int32(), "indices": pa.list_(pa.int32())}
    vectors: list[dict[str, Any]] = []
    for place, row in enumerate(probability):
        kept = np.flatnonzero(row)
        if sparse and place % 2:
            filled = {"indices": kept.tolist(), "values": row[kept].tolist()}
            vectors.append({"type": 0, "size": row.size, **filled})
        else:
            vectors.append({"type": 1, "size": None, "indices": None, "values": row.tolist()})
    return pa.array(vectors, pa.struct([*kinds.items(), ("values", pa.list_(pa.float64()))]))


@pytest.mark.parametrize("sparse", [False, True])
def test_spark_vectors_come_back_as_dense_ones(*, sparse: bool, cal: Path, run: Run) -> None:
    """Dense and sparse vectors are read, and dense ones written."""
    probability = matrix(frame(40, seed=4), "p_")
    probability[::3] = [0.0, 1.0, 0.0, 0.0]
    path, out = Path("v.parquet"), Path("o.parquet")
    pq.write_table(pa.table({"id": range(40), "probability": spark(probability, sparse=sparse)}), path)
    assert run("apply", cal, path, "-o", out).code == 0
    with pq.ParquetFile(out) as file:
        found = file.read()["calibrated"].to_pylist()
    assert {one["type"] for one in found} == {1}
    expected = read_class_artifact(cal).recalibrator.predict(probability)
    assert np.array_equal(np.array([one["values"] for one in found]), expected)


@pytest.mark.parametrize(
    ("method", "ends"),
    [
        ("one-vs-rest", [f"calibrated_{name}_{end}" for name in NAMES for end in ("lower", "upper")]),
        ("top-label", ["calibrated_confidence_lower", "calibrated_confidence_upper"]),
        ("confidence", ["calibrated_confidence_lower", "calibrated_confidence_upper"]),
    ],
)
def test_ends_stand_beside_what_they_bracket(method: str, ends: list[str], preds: Path, run: Run) -> None:
    """Venn-Abers inside gives the ends of every class, or of the predicted one."""
    cal, out = Path("v.json"), Path("o.csv")
    requested = ("--multiclass", method, "--method", "venn-abers", "--output-sum", "free")
    requested = requested if method == "one-vs-rest" else requested[:4]
    assert run("fit", preds, *PROBS, *requested, "-o", cal).code == 0
    assert run("apply", cal, preds, "-o", out).code == 0
    table = rows_of(out.read_text())
    assert list(table)[-len(ends) :] == ends
    for lower in ends[::2]:
        low, point, high = (
            np.asarray(table[name], float)
            for name in (lower, lower.removesuffix("_lower"), f"{lower.removesuffix('lower')}upper")
        )
        assert np.all((low <= point + 1e-12) & (point <= high + 1e-12))


def test_artifact_and_applied_file_measure_alike(preds: Path, run: Run) -> None:
    """`measure --artifact` on raw columns gives what `measure` gives on the columns that `apply` wrote."""
    cal, out = Path("v.json"), Path("o.csv")
    run("fit", preds, *PROBS, "--multiclass", "one-vs-rest", "-o", cal)
    run("apply", cal, preds, "-o", out, "--name", "q")
    names = ",".join(f"q_{name}" for name in NAMES)
    for view in ((), ("--view", "one-vs-rest", "--class", "dog"), ("--view", "top-label", "--class", "eel")):
        through = run("measure", preds, *PROBS, "--artifact", cal, *view, "--json")
        direct = run("measure", out, "--probs", names, "-y", "label", *view, "--json")
        assert (through.code, direct.code) == (0, 0)
        one, other = through.document, direct.document
        assert one["measures"] == other["measures"]
        assert one["table"]["rows"] == other["table"]["rows"]


def test_measuring_the_fit_rows_is_noticed_in_every_view(preds: Path, cal: Path, run: Run) -> None:
    """The digest is that of the raw confidences, whatever the view."""
    for view in ((), ("--view", "one-vs-rest", "--class", "dog"), ("--view", "top-label", "--class", "eel")):
        ran = run("measure", preds, *PROBS, "--artifact", cal, *view)
        assert "these are the rows that the artifact was fitted on" in ran.out + ran.err


def test_discrete_confidence_is_measured_value_by_value(preds: Path, run: Run) -> None:
    """Scaling-binning of the confidence leaves as many values as bins, and the report says so."""
    cal = Path("b.json")
    requested = ("--multiclass", "confidence", "--method", "scaling-binning", "--bins", 4)
    assert run("fit", preds, *PROBS, *requested, "-o", cal).code == 0
    assert run("measure", preds, *PROBS, "--artifact", cal, "--json").document["table"]["distinct"] == 4
    assert "keeps the predicted class of every row" in run("apply", cal, preds, "-o", "o.csv").err


def test_shards_and_columns_in_another_order_fit_the_same_map(run: Run) -> None:
    """Two halves, the second with its columns moved, give the artifact of the whole, byte for byte."""
    columns = frame(200)
    moved = ["label", "p_eel", "p_cat", "p_fox", "id", "p_dog"]
    whole, one, two = (Path(f"{name}.csv") for name in ("whole", "one", "two"))
    whole.write_text(csv_text(columns))
    one.write_text(csv_text({name: column[:90] for name, column in columns.items()}))
    two.write_text(csv_text({name: columns[name][90:] for name in moved}))
    texts = [
        run("fit", *inputs, *PROBS, "--multiclass", method, "-q", code=0).out
        for inputs in ((whole,), (one, two))
        for method in ("temperature", "vector", "matrix", "one-vs-rest", "one-vs-one")
    ]
    assert texts[:5] == texts[5:]


def test_fits_of_single_scores_say_that_these_were_rounded(run: Run) -> None:
    """Past the memory allowed cells of a grid are fitted to; other methods read the rows once more."""
    path = Path("many.parquet")
    pq.write_table(pa.table(frame(30_000)), path)
    asked = ("fit", path, *PROBS, "--memory", "1M", "-o")
    steps = {
        "confidence": "1.4e-6",
        "top-label": "0.0002",
        "one-vs-rest": "0.0002",
        "one-vs-one": "0.0002",
        "vector": None,
    }
    for method, step in steps.items():
        said = run(*asked, f"{method}.json", "--multiclass", method, code=0).err
        assert (f"scores are rounded to {step}; --exact avoids it" in said) is (step is not None)
    assert "rounded" not in run(*asked, "exact.json", "--multiclass", "one-vs-one", "--exact", code=0).err


def test_weighted_pairs_of_classes_keep_to_the_memory(run: Run) -> None:
    """Importance weights need exact tables: past the memory allowed they are refused."""
    columns, path = frame(3_000), Path("weighted.parquet")
    pq.write_table(pa.table({**columns, "w": np.linspace(0.5, 2.0, 3_000)}), path)
    asked = ("fit", path, *PROBS, "-w", "w", "--multiclass", "one-vs-one")
    asked = (*asked, "--memory", "1M", "-o", "cal.json")
    refused = run(*asked, code=3).err
    assert "those of all groups or classes have over 3,906 distinct scores" in refused
    assert "--exact" in refused
    run(*asked, "--exact", code=0)


def test_frequencies_fit_what_repeated_rows_fit(run: Run) -> None:
    """Artifacts of a frequency column and of the rows written out are the same but for nothing."""
    columns = frame(150)
    times = np.random.default_rng(1).integers(1, 4, 150)
    counted, repeated = Path("c.csv"), Path("r.csv")
    counted.write_text(csv_text({**columns, "n": times}))
    repeated.write_text(csv_text({name: np.repeat(column, times) for name, column in columns.items()}))
    for method in ("temperature", "structured", "top-label", "one-vs-one"):
        requested = (*PROBS, "--multiclass", method, "-q")
        one = run("fit", counted, *requested, "-w", "n", "--weights-are", "frequency")
        other = run("fit", repeated, *requested)
        assert one.code == other.code == 0
        assert one.out == other.out


def test_lists_without_names_are_called_by_their_places(run: Run) -> None:
    """One column of lists needs no --classes; labels are indices then."""
    rows = drawn(1, rows=200, classes=4)
    path = Path("l.parquet")
    pq.write_table(pa.table({"probs": rows.probability.tolist(), "label": rows.label}), path)
    ran = run("fit", path, "--probs", "probs", "-y", "label", "-q", code=0)
    assert ran.document["input"]["classes"] == ["0", "1", "2", "3"]


def test_on_sum_and_on_range_are_honoured_and_counted(cal: Path, run: Run) -> None:
    """What is mended is reported; unasked it is refused."""
    path = Path("q.csv")
    path.write_text("p_cat,p_dog,p_eel,p_fox\n0.2,0.2,0.1,0.1\n-0.0001,0.5,0.5001,0\n0.25,0.25,0.25,0.25\n")
    assert "outside [0, 1]" in run("apply", cal, path, "-o", "o.csv", code=3).err
    assert not Path("o.csv").exists()
    requested = ("--on-range", "clip", "--on-sum", "normalise", "-o", "o.csv")
    ran = run("apply", cal, path, *requested, code=0)
    assert "1 score outside [0, 1] moved to 0 or 1" in ran.err
    assert "1 row divided by the sum of the probabilities" in ran.err
    assert "2 rows with several most probable classes: the first counts" in ran.err
    Path("r.csv").write_text(path.read_text())
    requested = (*requested[:-2], "--out-dir", "out")
    ran = run("apply", cal, path, "r.csv", *requested, code=0)
    assert "6 of 4 classes" in ran.err
    assert "2 scores outside [0, 1] moved to 0 or 1" in ran.err
    assert "2 rows divided by the sum of the probabilities" in ran.err
    assert "4 rows with several most probable classes: the first counts" in ran.err


def test_three_decimals_sum_to_one_within_a_thousandth(cal: Path, run: Run) -> None:
    """0.999 and 1.001 do, though doubles find both farther away: a seventh of such rows were refused."""
    path, code = Path("q.csv"), Path("code.py")
    run("export", cal, "--to", "python", "-o", code)
    written: dict[str, Any] = {}
    exec(code.read_text(), written)  # noqa: S102 - our own code
    for last, fine in (("0.166", True), ("0.168", True), ("0.165", False), ("0.169", False)):
        path.write_text(f"p_cat,p_dog,p_eel,p_fox,label\n0.333,0.333,0.167,{last},cat\n")
        measured = run("measure", path, "--probs", "p_*", "--classes", ",".join(NAMES), "-m", "accuracy")
        applied = run("apply", cal, path, "-o", f"{last}.csv")
        assert [measured.code, applied.code] == ([0, 0] if fine else [3, 3]), measured.err
        with nullcontext() if fine else pytest.raises(ValueError, match="sum to"):
            written["calibrate"]([0.333, 0.333, 0.167, float(last)])


def test_maps_take_no_rows_of_any_sum_and_what_they_write_can_be_measured(
    preds: Path, cal: Path, run: Run
) -> None:
    """One-vs-rest that is not divided writes rows of any sum: accepted by `measure`, not by another map."""
    free, out = Path("free.json"), Path("free.csv")

    run("fit", preds, *PROBS, "--multiclass", "one-vs-rest", "--output-sum", "free", "-o", free)
    assert run("apply", free, preds, "-o", out).code == 0
    requested = ("--probs", ",".join(f"calibrated_{name}" for name in NAMES), "--classes", ",".join(NAMES))
    refused = run("measure", out, *requested, "-y", "label", "--metric", "ece", code=3)
    assert "or --on-sum accept to use them as is" in refused.err
    accepted = (*requested, "--on-sum", "accept")
    one = (*accepted, "-y", "label", "--metric", "ece", "--view", "one-vs-rest", "--class", "eel", "--json")
    whole = run("measure", preds, *PROBS, "--artifact", free, *one[6:])
    assert run("measure", out, *one).document["measures"] == whole.document["measures"]
    for words in (
        ("fit", out, *accepted, "-y", "label", "-o", "again.json"),
        ("apply", cal, out, *accepted, "--name", "twice", "-o", "again.csv"),
        ("measure", out, *accepted, "-y", "label", "--artifact", cal),
        ("plan", "--like", out, *accepted, "--artifact", cal, "--max-ece", "0.1"),
    ):
        assert "--on-sum accept takes any" in run(*words, code=2).err
        without = [word for word in words if word not in {"--on-sum", "accept"}]
        hint = run(*without, code=3).err
        assert "--on-sum accept" not in hint
        assert ("`apply --on-sum null`" in hint) == (words[0] == "apply")


def test_inspect_says_what_is_in_an_artifact(cal: Path, run: Run) -> None:
    """Method, classes, rows and what becomes of predictions."""
    ran = run("inspect", cal, code=0)
    for part in ("temperature", "cat, dog, eel, fox", "400 rows of 4 classes", "no row can change its"):
        assert part in ran.out
    # The artifact knows its columns, whatever they are called.
    assert "preds.csv -o repaired.csv" in ran.out


def test_inspect_names_the_columns_of_the_classes(preds: Path, run: Run) -> None:
    """Columns alike, lists and Spark vectors lead to a command with --probs that runs as it stands."""
    both = drawn(0, rows=200, classes=4)
    rows, label = pa.array(both.probability.tolist()), pa.array(both.label)
    pq.write_table(pa.table({"probability": rows, "label": label}), "lists.parquet")
    vectors = spark(both.probability, sparse=False)
    pq.write_table(pa.table({"probability": vectors, "label": label}), "spark.parquet")
    for file, probs in ((preds, "p_*"), ("lists.parquet", "probability"), ("spark.parquet", "probability")):
        said = run("inspect", file, "--json").document
        _, *words = shlex.split(said["suggestion"])
        assert words[words.index("--probs") + 1] == probs
        assert run(*words).code == 0, words
        roles = [one["role"] for one in said["columns"]]
        assert roles.count("probs") == (4 if file == preds else 1)
        assert "score" not in roles


def test_fit_says_which_class_a_map_leaves_off_on_average(run: Run) -> None:
    """One temperature cannot mend a shift, and the default says so; where rows are calibrated, nothing."""
    rng = np.random.default_rng(3)
    right = rng.beta(2.0, 3.0, 4_000)
    label = (rng.random(right.size) < right).astype(np.int64)
    for name, score in (("off", np.minimum(right + 0.1, 0.999)), ("right", right)):
        pq.write_table(pa.table({"p_0": 1.0 - score, "p_1": score, "y": label}), f"{name}.parquet")

    def said(name: str, *words: str) -> bool:
        path = Path(f"{name}.parquet")
        ran = run("fit", path, "--probs", "p_*", "-y", "y", "-o", "m.json", "--force", *words, code=0)
        mean = f"and {np.mean(label == 0):.3g} of the fit rows are of it: --multiclass vector"
        return mean in " ".join(ran.err.split())

    assert said("off")
    assert not said("off", "--multiclass", "vector")
    assert not said("right")


def test_classes_that_chance_brings_are_no_reason_to_say_so(run: Run) -> None:
    """Of twenty calibrated classes of one in ten thousand some have a row now and then."""
    rng = np.random.default_rng(0)
    rates = np.append(np.full(5, 0.1996), np.full(20, 1e-4))
    for _ in range(20):
        right = rng.dirichlet(20.0 * rates[:5], 100) * 0.998
        rows = np.column_stack((right, np.full((100, 20), 1e-4)))
        label = (rows.cumsum(axis=1) < rng.random(100)[:, None]).sum(axis=1)
        names = [f"p_{place:02}" for place in range(25)]
        columns: dict[str, Any] = dict(zip(names, rows.T, strict=True))
        pq.write_table(pa.table(columns | {"y": [f"{one:02}" for one in label]}), "r.parquet")
        ran = run("fit", "r.parquet", "--probs", "p_*", "-y", "y", "-o", "m.json", "--force", code=0)
        assert "has a mean probability of" not in ran.err
