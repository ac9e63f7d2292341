"""`fit --by`: a map for each group, and what takes it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from calibcli.data.values import names_of
from calibcli.documents.artifact import Artifact, GroupArtifact
from calibcli.documents.sealed import document_of, sealed
from calibcli.errors import DocumentProblem
from calibcli.names import Purpose, RecalibratorName
from calibcli.stats.measures.scores import log_loss
from calibcli.stats.numerics import stream
from calibcli.stats.recalibrators import fit_recalibrator
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.derived import with_scores
from command_line import CHURN, Run, in_csv
from published import check

HEAD = "score,label,country\n"


@pytest.fixture
def rows() -> Path:
    """Return 1,200 rows of two countries with other biases, ten of a third and thirty of none."""
    generator = np.random.default_rng(5)
    lines: dict[str, list[str]] = {"DE": [], "US": [], "LU": [], "": []}
    for country, count, shift in (("DE", 700, 0.15), ("US", 460, -0.15), ("LU", 10, 0.0), ("", 30, 0.0)):
        score = generator.uniform(0.2, 0.8, count)
        label = generator.random(count) < score + shift
        lines[country] = [f"{s!r},{y:d},{country}\n" for s, y in zip(score.tolist(), label, strict=True)]
    mixed = generator.permutation([line for many in lines.values() for line in many]).tolist()
    path = Path("rows.csv")
    path.write_text(HEAD + "".join(mixed))
    for country in ("DE", "US"):
        own = [line for line in mixed if line.endswith(f",{country}\n")]
        Path(f"{country}.csv").write_text(HEAD + "".join(own))
    return path


@pytest.fixture
def fitted(run: Run, rows: Path) -> Path:
    """Return the artifact of a fit by country."""
    path = rows.with_name("by.json")
    run("fit", rows, *CHURN, "--by", "country", "-o", path, code=0)
    return path


def applied(run: Run, artifact: Path, file: Path, *words: object) -> list[float]:
    """Return the new column of a file."""
    output = file.with_name("applied.csv")
    run("apply", artifact, file, "-s", "score", "-o", output, "--force", *words, code=0)
    return [float(line.rpartition(",")[2]) for line in output.read_text().splitlines()[1:]]


@pytest.mark.parametrize("method", ["platt", "isotonic", "histogram"])
def test_each_group_gets_the_map_of_its_rows_alone(run: Run, rows: Path, method: str) -> None:
    """Bit for bit that of a file of them; small groups get the map of all."""
    by = rows.with_name("by.json")
    run("fit", rows, *CHURN, "--by", "country", "--method", method, "-o", by)
    document = json.loads(by.read_text())
    check(document, "artifact")
    assert document["by"] == "country"
    assert document["shared"] == {
        "LU": {"reason": "fewer than 100 rows", "rows": 10},
        "(missing)": {"reason": "fewer than 100 rows", "rows": 30},
    }
    for country in ("DE", "US"):
        alone = rows.with_name("alone.json")
        run("fit", rows.with_name(f"{country}.csv"), *CHURN, "-m", method, "-o", alone, "--force")
        assert document["members"][country]["parameters"] == json.loads(alone.read_text())["parameters"]
        file = rows.with_name(f"{country}.csv")
        assert applied(run, by, file) == applied(run, alone, file)
    run("fit", rows, *CHURN, "-m", method, "-o", rows.with_name("whole.json"))
    whole = json.loads(rows.with_name("whole.json").read_text())
    del whole["digest"]
    assert document["pooled"] == whole
    small = rows.with_name("small.csv")
    small.write_text(HEAD + "0.3,1,LU\n0.7,0,\n")
    assert applied(run, by, small) == applied(run, rows.with_name("whole.json"), small)


def test_the_report_names_every_group(run: Run, rows: Path) -> None:
    """With its rows, its losses, and whose map it has."""
    ended = run("fit", rows, *CHURN, "--by", "country", "-o", rows.with_name("r.json"))
    lines = [" ".join(line.split()) for line in ended.err.splitlines()]
    assert any(line.startswith("DE 700 ") and line.endswith("its own") for line in lines)
    assert "LU 10 that of all rows: fewer than 100 rows" in lines
    assert "fitted platt by country" in ended.err
    text = run("inspect", rows.with_name("r.json")).out
    assert "country=LU" in text
    assert "2 with a map of their own, 2 without" in text


@pytest.mark.parametrize("method", ["platt", "isotonic", "histogram", "auto"])
def test_what_a_fit_says_is_of_the_map_that_each_row_gets(run: Run, rows: Path, method: str) -> None:
    """Its loss, its outputs and the rows that it is sure of: the map of all rows has others."""
    by = rows.with_name("by.json")
    bins = ("--bins", "4") if method == "histogram" else ()
    ended = run("fit", rows, *CHURN, "--by", "country", "--method", method, *bins, "-o", by, code=0)
    before, after = (
        run("measure", rows, *CHURN, *more, "-m", "log_loss", "--json").document["measures"]["log_loss"]
        for more in ((), ("--artifact", by))
    )
    assert f"falls from {before['value']:.4f} to {after['value']:.4f} on the fit rows" in ended.err
    given = applied(run, by, rows)
    sure = sum(one in (0.0, 1.0) for one in given)
    assert (f"{sure} of the fit rows get " in ended.err) == (sure > 0)
    assert (f"{len(set(given))} distinct values" in ended.err) == (method == "histogram")


def test_measure_and_verify_take_the_map_of_each_row(run: Run, rows: Path, fitted: Path) -> None:
    """They see what apply writes, with groups of their own or without."""
    output = rows.with_name("out.parquet")
    assert run("apply", fitted, rows, "-s", "score", "-o", output).code == 0
    written = pq.read_table(output).column("calibrated").to_pylist()
    seen = run("measure", output, "-s", "calibrated", "-y", "label", "--json", "--by", "country").out
    through = run("measure", rows, *CHURN, "--artifact", fitted, "--json", "--by", "country").out
    for key in ("measures", "curve"):
        assert json.loads(through)[key] == json.loads(seen)[key]
        assert (
            json.loads(through)["slices"]["country=DE"][key] == json.loads(seen)["slices"]["country=DE"][key]
        )
    assert len(written) == 1_200
    assert "fit" in run("verify", rows, *CHURN, "--artifact", fitted, "--max-ece", "0.2", code=3).err
    run(
        "verify", rows.with_name("DE.csv"), *CHURN, "--artifact", fitted, "--max-ece", "0.3", "--json", code=0
    )
    run("plot", rows.with_name("DE.csv"), *CHURN, "--artifact", fitted, "--terminal", code=0)


@pytest.mark.parametrize("command", ["measure", "verify", "apply"])
def test_groups_that_the_fit_has_not_seen_are_counted_and_refused(
    run: Run, rows: Path, fitted: Path, command: str
) -> None:
    """Unless the map of all rows is asked for."""
    strange = rows.with_name("strange.csv")
    text = rows.read_text() + "0.5,1,FR\n0.4,0,IT\n0.6,1,FR\n"
    strange.write_text(text)
    words = [command, strange, *CHURN, "--artifact", fitted]
    if command == "verify":
        words += ["--max-ece", "0.3"]
    if command == "apply":
        words = [command, fitted, strange, "-s", "score", "-o", rows.with_name("o.csv")]
    ended = run(*words, code=3)
    assert "column 'country': 3 of " in ended.err
    assert "rows are of a group that the fit has not seen; the first is 'FR' at row 1,201" in ended.err
    assert "--unseen pooled" in ended.err
    assert run(*words, "--unseen", "pooled").code == 0


@pytest.mark.parametrize("column", ["map", "after"])
def test_groups_are_named_whatever_their_column_is_called(run: Run, rows: Path, column: str) -> None:
    """A column of the table had the same title, and the table named no group."""
    rows.write_text(rows.read_text().replace("country", column, 1))
    ended = run("fit", rows, *CHURN, "--by", column, "-o", rows.with_name("by.json"), code=0)
    assert "\nDE  " in ended.out + ended.err
    assert "its own" in ended.out + ended.err


def test_what_is_to_be_read_of_the_map_of_a_group_is_said(run: Run) -> None:
    """That of all rows rises, and what is to be read of it is said of it alone."""
    rng = np.random.default_rng(2)
    score = rng.beta(1.0, 2.0, 1_200)
    group = rng.choice(["a", "b", "c"], score.size, p=[0.5, 0.35, 0.15])
    label = rng.random(score.size) < np.where(group == "c", 0.6 - 0.5 * score, score)
    path = in_csv("rows.csv", {"score": score, "label": label.astype(int), "country": group})
    ended = run("fit", path, *CHURN, "--by", "country", "-m", "platt", "-o", "map.json")
    assert "country = c: The slope is negative: a higher score gets a lower probability." in ended.err
    assert ended.err.count("note: ") == 1


def test_auto_chooses_one_repair_for_all_groups(run: Run, rows: Path) -> None:
    """By all rows, which need none here although every group does; members then have that repair."""
    ended = run(
        "fit", rows, *CHURN, "--by", "country", "-m", "auto", "--candidate", "platt", "--candidate", "beta"
    )
    assert "if several are of one person or day, these losses are too low for others." in ended.err
    document = ended.document
    assert document["pooled"]["fit"]["selection"] is not None
    assert document["pooled"]["method"] == "identity"
    assert {one["method"] for one in document["members"].values()} == {"platt"}
    assert all(one["fit"]["selection"]["results"][1]["chosen"] for one in document["members"].values())
    assert sealed(GroupArtifact.from_dict(document_of(document)).to_dict()) == document


def test_auto_fits_no_curve_to_a_group_of_few_events(run: Run) -> None:
    """Such a group takes the map of all rows, or what its own rows can bear where that is better."""
    rng = np.random.default_rng(4)
    score, few = rng.beta(1.0, 3.0, 6_000), np.arange(6_000) % 40 == 7
    drawn, group = rng.random(6_000), np.where(few, "few", "many")
    found = []
    for rate in (score**2, np.where(few, 0.3 * score, score), np.where(few, 0.8 * score, score**2)):
        rows = {"score": score, "label": (drawn < rate).astype(int), "country": group}
        path = in_csv("rows.csv", rows)
        found.append(run("fit", path, *CHURN, "--by", "country", "-m", "auto").document)
    bent, calibrated, apart = found
    assert bent["pooled"]["method"] == "quadratic"
    assert bent["shared"]["few"]["reason"] == "fewer than 30 rows of the rarer label"
    assert (calibrated["pooled"]["method"], calibrated["shared"]) == ("identity", {})
    assert calibrated["members"]["few"]["method"] == "intercept"
    assert (apart["pooled"]["method"], apart["members"]["few"]["method"]) == ("quadratic", "intercept")
    assert sealed(GroupArtifact.from_dict(document_of(apart)).to_dict()) == apart


def test_auto_asks_each_group_of_weighted_rows_too(run: Run) -> None:
    """A calibrated group keeps its scores, another is repaired, by the losses of folds worked out by hand."""
    rng = np.random.default_rng(4)
    score = rng.beta(2.0, 3.0, 6_000)
    group = np.where(np.arange(6_000) % 2, "right", "off")
    rate = np.where(group == "off", score**2, score)
    weight = rng.lognormal(0.0, 0.5, 6_000)
    label = (rng.random(6_000) < rate).astype(int)
    path = in_csv("w.csv", {"score": score, "label": label, "g": group, "w": weight})
    candidates = ("-m", "auto", "--candidate", "platt")
    document = run("fit", path, *CHURN, "-w", "w", "--by", "g", *candidates).document
    chosen = {key: one["method"] for key, one in document["members"].items()}
    assert chosen == {"right": "identity", "off": "platt"}
    # What the group alone is told of its folds: rows of a fold are those of all rows in it.
    fold = (stream(0, Purpose.FOLDS, 0).random(6_000) * 10).astype(int)
    losses, weights = [], []
    for k in range(10):
        some, rest = (group == "off") & (fold == k), (group == "off") & (fold != k)
        held, others = (
            ScoreTable.from_rows(score[which], label[which] == 1, Weighing(weight=weight[which]))
            for which in (some, rest)
        )
        fitted = fit_recalibrator(RecalibratorName.PLATT, others)
        losses.append(log_loss(with_scores(held, fitted.predict(held.score))).value)
        weights.append(weight[some].sum())
    found = document["members"]["off"]["fit"]["selection"]["results"][1]["loss"]
    assert found == pytest.approx(np.average(losses, weights=weights), rel=1e-9)


def damaged(document: dict[str, Any], way: int) -> str:  # noqa: PLR0911 - one return a way
    """Damage a document in one of several ways, and return what is said of it."""
    members = document["members"]
    match way:
        case 0:
            members["DE"]["method"] = "beta"
            return "$.members.DE"
        case 1:
            document["shared"]["DE"] = {"rows": 10, "reason": ""}
            return "which has a map of its own as well"
        case 2:
            del document["shared"]["LU"]
            return "has groups of 1,190 rows together, and the map of all was fitted to 1,200"
        case 3:
            members["DE"]["parameters"]["slope"] = "1"
            return "$.members.DE.parameters"
        case 4:
            document["shared"]["LU"]["rows"] = -10
            return "$.shared.LU.rows"
        case 5:
            members["DE"]["input"]["positive"] = "yes"
            return "$.members.DE.input"
        case 6:
            document["extra"] = 1
            return "unknown key"
        case 7:
            members["DE"]["fit"]["positive"] -= 100
            return "rows with label 1 to the groups that share the map of all"
        case _:
            members["DE"] = document["pooled"] | {"schema": "calibcli.artifact/9"}
            return "$.members.DE.schema"


@pytest.mark.parametrize("way", range(9))
def test_damaged_documents_are_refused_with_the_place(fitted: Path, way: int) -> None:
    """No member is believed."""
    document = json.loads(fitted.read_text())
    said = damaged(document, way)
    with pytest.raises(DocumentProblem) as problem:
        GroupArtifact.from_dict(document_of(document))
    assert said in problem.value.message


def test_a_document_by_group_is_no_map_of_one_score(fitted: Path) -> None:
    """Its own reader says so by the missing keys."""
    with pytest.raises(DocumentProblem):
        Artifact.from_dict(document_of(json.loads(fitted.read_text())))


def of_the_first_version(fitted: Path, written: str) -> Path:
    """Write a map by groups as version 1 had it, one of its groups under another name."""
    document = json.loads(fitted.read_text())
    del document["digest"]
    document["members"][written] = document["members"].pop("DE")
    for one in (document, document["pooled"], *document["members"].values()):
        one["schema"] = "calibcli.artifact/1"
        if "fit" in one:
            del one["fit"]["score_quantiles"]
    old = fitted.with_name("old.json")
    old.write_text(json.dumps(document))
    return old


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        (pa.timestamp("us"), "2024-05-01 12:00:00.500000"),
        (pa.timestamp("s"), "2024-05-01 12:00:00"),
        (pa.timestamp("us", "UTC"), "2024-05-01 12:00:00.500000Z"),
        (pa.timestamp("ms", "Europe/Berlin"), "2024-05-01 14:00:00.500+0200"),
        (pa.time64("us"), "12:00:00.500000"),
    ],
)
def test_groups_of_times_of_the_first_version_get_their_own_map_or_none(
    run: Run, fitted: Path, *, kind: pa.DataType, written: str
) -> None:
    """Where the name of a time is another one today, the map of all rows is not taken for it in silence."""
    old = of_the_first_version(fitted, written)
    half = 43_200_500_000 + (0 if pa.types.is_time(kind) else 19_844 * 86_400_000_000)
    scale = 1 if kind.unit == "us" else 1_000 if kind.unit == "ms" else 1_000_000
    whens = pa.array([half // scale], pa.int64()).cast(kind)
    pq.write_table(pa.table({"score": [0.5], "country": whens}), "one.parquet")
    for words in ([], ["--unseen", "pooled"]):
        output = Path("applied.csv")
        ended = run("apply", old, "one.parquet", "-o", output, "--force", *words)
        if kind.unit == "s":
            assert ended.code == 0, ended.err
        else:
            assert (ended.code, output.exists()) == (3, False), ended.err
            assert f"the fit has {written!r}" in ended.err
            assert "fit again" in ended.err


@pytest.mark.parametrize(
    ("kind", "value", "written"),
    [
        (pa.float64(), 1e10, "1e+10"),
        (pa.float64(), -123456789012.5, "-1.234567890125e+11"),
        (pa.float32(), 0.1, "0.1"),
        (pa.float32(), 1e20, "1e+20"),
        (pa.duration("s"), 90, "90"),
        (pa.duration("ms"), 1_500, "1500"),
        (pa.duration("us"), 1_500, "1500"),
        (pa.duration("ns"), -1_500, "-1500"),
    ],
)
def test_groups_of_floats_and_durations_of_the_first_version_take_no_map_of_all_rows(
    run: Run, fitted: Path, *, kind: pa.DataType, value: float, written: str
) -> None:
    """What the first version called otherwise is a group of the fit in other words, and no new one."""
    column = pa.array([value], kind)
    assert written == column.cast(pa.string())[0].as_py()
    old = of_the_first_version(fitted, written)
    data, output = Path("one.parquet"), Path("applied.csv")
    pq.write_table(pa.table({"score": [0.5], "country": column}), data)
    ended = run("apply", old, data, "-o", output, "--unseen", "pooled")
    assert (ended.code, output.exists()) == (3, False), ended.err
    assert f"the fit has {written!r}" in ended.err
    # A text that only looks so is a new group, and said to be one.
    name = names_of(column)[0].as_py()
    Path("text.csv").write_text(f"score,country\n0.5,{name}\n")
    ended = run("apply", old, "text.csv", "-o", output, "--unseen", "pooled")
    assert (ended.code, output.exists()) == (0, True), ended.err
    assert repr(name) in ended.err


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "arrow"])
def test_groups_may_stand_in_the_path(run: Run, fitted: Path, kind: str) -> None:
    """A partition is a column: each file goes through the map of its country, as if it held it."""
    for country in ("DE", "US"):
        expected = applied(run, fitted, Path(f"{country}.csv"))
        folder = Path("hive", f"country={country}")
        folder.mkdir(parents=True)
        pa_csv.write_csv(pa_csv.read_csv(f"{country}.csv").drop_columns("country"), "bare.csv")
        words = ["apply", fitted, "bare.csv", "--keep", "score", "--name", "x", "--unseen"]
        assert "there is no column 'country'" in run(*words, "pooled", "-o", folder / f"a.{kind}").err
        run("fit", "bare.csv", *CHURN, "--force", "-o", "plain.json", code=0)
        run("apply", "plain.json", "bare.csv", "--name", "plain", "-o", folder / f"a.{kind}", code=0)
        run("apply", fitted, "hive", "-s", "score", "--out-dir", "out", "--to", "csv", "--force", code=0)
        out = Path("out", folder.name, "a.csv").read_text().splitlines()[1:]
        assert [float(line.rpartition(",")[2]) for line in out] == expected
    shown = run("apply", fitted, "hive", "-s", "nothing", "--out-dir", "other").err
    assert f"error: 2 files cannot be used: hive/country=DE/a.{kind}: there is no column 'nothing'" in shown


@pytest.mark.parametrize("command", ["apply", "folder", "measure", "verify"])
def test_rows_of_new_groups_that_took_the_map_of_all_are_counted(
    run: Run, rows: Path, fitted: Path, command: str
) -> None:
    """With their groups; of many files all of them together."""
    new = [rows.with_name(name) for name in ("new.csv", "newer.csv")]
    for path in new:
        path.write_text(rows.read_text() + "0.5,1,west\n0.4,0,'east\n0.6,1,west\n")
    words = {
        "apply": ["apply", fitted, new[0], "-s", "score", "-o", rows.with_name("o.csv")],
        "folder": ["apply", fitted, *new, "-s", "score", "--out-dir", rows.with_name("o")],
        "measure": ["measure", *new, *CHURN, "--artifact", fitted, "--format", "csv", "--metric", "bias"],
        "verify": ["verify", new[0], *CHURN, "--artifact", fitted, "--max-ece", "0.3", "-o", "-"],
    }[command]
    ended = run(*words, "--unseen", "pooled", *(["--allow-fit-rows"] if command == "verify" else []))
    assert ended.code in (0, 1, 4), ended.err
    many = 6 if command in ("folder", "measure") else 3
    said = f"{many} rows of 2 groups that the fit has not seen (\"'east\", 'west') took the map of all rows"
    assert ended.shown.count(f"{said} (--unseen pooled)") == 1
    known = [rows if word in new else word for word in words]
    assert "took the map" not in run(*dict.fromkeys(known), "--unseen", "pooled", "--force").err


def test_a_group_called_like_missing_ones_is_counted_with_them(run: Run, rows: Path) -> None:
    """Both kinds of rows, though they have one name."""
    alone, strange = rows.with_name("alone.json"), rows.with_name("strange.csv")
    run("fit", rows, *CHURN, "--by", "country", "--where", "country==DE", "-o", alone)
    strange.write_text(HEAD + "0.5,1,(missing)\n0.4,0,(missing)\n0.6,1,\n")
    ended = run("apply", alone, strange, "-s", "score", "--unseen", "pooled", "-o", rows.with_name("o.csv"))
    assert "note: 3 rows of 1 group that the fit has not seen ('(missing)')" in ended.err


@pytest.mark.parametrize("kind", [["-m", "platt", "--by", "country"], ["-m", "segments", "--on", "country"]])
def test_missing_groups_of_csv_get_their_map_in_every_format(run: Run, rows: Path, kind: list[str]) -> None:
    """`NA` is no group to the fit, and none to apply, whatever it writes; there it stays text."""
    rows.write_text(rows.read_text().replace(",LU\n", ",NA\n"))
    cal, found = rows.with_name("cal.json"), []
    run("fit", rows, *CHURN, *kind, "-o", cal, code=0)
    found.append(np.array(applied(run, cal, rows)))
    for ending in ("parquet", "arrow"):
        output = rows.with_name(f"applied.{ending}")
        run("apply", cal, rows, "-s", "score", "-o", output, code=0)
        table = pq.read_table(output) if ending == "parquet" else pa.ipc.open_file(output).read_all()
        assert table["country"].to_pylist().count("NA") == 10
        found.append(table["calibrated"].to_numpy())
    assert all((one == found[0]).all() for one in found)
