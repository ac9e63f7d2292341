"""An artifact knows the columns that it was fitted to, and other rows are looked through for these first."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

import calibcli
from command_line import Run

CLASSES = ("a", "b", "c")
NOT_THERE = "the map was fitted to column 'pd_grade', which these rows do not have"


def written(path: Path, rows: dict[str, Sequence[object]]) -> Path:
    """Write a CSV file."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(rows)
        writer.writerows(zip(*rows.values(), strict=True))
    return path


@pytest.fixture(scope="module")
def loans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Loans with two scores, one of which has a usual name, fitted on the other; and some without that."""
    folder = tmp_path_factory.mktemp("loans")
    rng = np.random.default_rng(3)
    grade = np.round(rng.uniform(0.01, 0.5, 600), 2)
    rows = {
        "pd": (grade**2).tolist(),
        "pd_grade": grade.tolist(),
        "default_flag": (rng.random(600) < grade).astype(int).tolist(),
        "branch": rng.choice(["north", "south"], 600).tolist(),
    }
    written(folder / "fit.csv", rows)
    written(folder / "new.csv", {name: values[:300] for name, values in rows.items()})
    written(folder / "bare.csv", {name: rows[name] for name in ("pd", "default_flag", "branch")})
    return folder


@pytest.fixture(scope="module", params=["-m platt", "--by branch", "-m segments --on branch"])
def fitted(request: pytest.FixtureRequest, loans: Path) -> Path:
    """A map of each kind."""
    from calibcli.shell.app import main

    words = str(request.param).split()
    path = loans / f"{'_'.join(words)}.json"
    assert main(["fit", str(loans / "fit.csv"), "-s", "pd_grade", *words, "-q", "-o", str(path)]) == 0
    return path


def test_the_column_of_the_fit_comes_before_those_with_usual_names(
    loans: Path, fitted: Path, run: Run
) -> None:
    """Every command that reads rows through a map takes it, and says so; --score names another."""
    artifact = json.loads(fitted.read_text())
    assert artifact.get("pooled", artifact)["input"]["columns"] == ["pd_grade"]
    by_name, by_itself = Path("named.csv"), Path("guessed.csv")
    run("apply", fitted, loans / "new.csv", "-s", "pd_grade", "-o", by_name)
    said = run("apply", fitted, loans / "new.csv", "-o", by_itself)
    assert by_itself.read_bytes() == by_name.read_bytes()
    assert "column 'pd_grade' was taken as the score" in said.err
    frame = calibcli.apply(str(fitted), pd.read_csv(loans / "new.csv", engine="pyarrow"))
    assert np.array_equal(frame["calibrated"], pd.read_csv(by_name, engine="pyarrow")["calibrated"])
    for command in (
        ["measure", loans / "new.csv", "--json"],
        ["verify", loans / "new.csv", "--max-ece", "0.9", "--json"],
        ["compare", loans / "new.csv", "--json"],
        ["segments", loans / "new.csv", "--on", "branch", "--json"],
    ):
        assert run(*command, "--artifact", fitted).document["input"]["score"] == "pd_grade", command
    other = run("measure", loans / "new.csv", "-s", "pd", "--artifact", fitted, "--json").document
    assert other["input"]["score"] == "pd"
    assert "column 'pd_grade', which these rows have too" in " ".join(other["input"]["notes"])
    said = run("apply", fitted, loans / "new.csv", "-s", "pd", "-o", "other.csv")
    assert "column 'pd_grade', which these rows have too: --score names 'pd'" in said.err
    assert "fitted to column" not in run("apply", fitted, loans / "bare.csv", "-s", "pd", "-o", "-").err
    assert not any("was fitted to column" in note for note in other["notes"])


def test_without_it_the_guess_is_said(loans: Path, fitted: Path, run: Run) -> None:
    """A usual name is taken as before, and the rows are said to lack the column of the fit."""
    assert NOT_THERE in run("apply", fitted, loans / "bare.csv", "-o", "out.csv", code=0).err
    assert NOT_THERE in run("measure", loans / "bare.csv", "--artifact", fitted).out
    with (
        pytest.warns(UserWarning, match="was fitted to column 'pd_grade'"),
        pytest.warns(UserWarning, match="lie beyond"),
    ):
        calibcli.apply(str(fitted), pd.read_csv(loans / "bare.csv"))
    refused = run("apply", fitted, written(Path("none.csv"), {"x": [0.5], "branch": ["north"]}), code=3)
    sentence = "there is no column 'pd_grade', which the map was fitted to, and no column looks like"
    assert sentence in refused.err


def test_queries_read_the_columns_of_the_fit(loans: Path, fitted: Path, run: Run) -> None:
    """As `apply` does, and say so; --score names another, and an ONNX model has its usual name."""
    said, named = run("export", fitted, "--to", "sql"), run("export", fitted, "--to", "sql", "-s", "pd_grade")
    assert said.out == named.out
    assert "column 'pd_grade' is read as the score, as in the fit; --score names another" in said.err
    assert "is read as the score" not in named.err
    with duckdb.connect() as database:
        database.register("predictions", pd.read_csv(loans / "new.csv"))
        found = database.execute(f"SELECT calibrated FROM ({said.out})").df()
    applied = calibcli.apply(str(fitted), pd.read_csv(loans / "new.csv"))
    assert np.allclose(np.sort(found["calibrated"]), np.sort(applied["calibrated"]), rtol=0.0, atol=1e-12)
    document = json.loads(fitted.read_text())
    del document.get("pooled", document)["input"]["columns"]
    for one in document.get("members", {}).values():
        one["input"].pop("columns", None)
    Path("older.json").write_text(json.dumps(document))
    older = run("export", "older.json", "--to", "sql", "--allow-edited")
    assert '"score"' in older.out
    assert "is read as the score" not in older.err


def test_all_files_of_a_folder_have_the_column_of_the_first(loans: Path, fitted: Path, run: Run) -> None:
    """A file that also has the column of the fit is not read otherwise than those before it."""
    for name, source in (("1.csv", "bare.csv"), ("2.csv", "new.csv")):
        Path(name).write_bytes((loans / source).read_bytes())
    assert NOT_THERE in run("apply", fitted, "1.csv", "2.csv", "--out-dir", "out").err
    run("apply", fitted, "2.csv", "-s", "pd", "-o", "2_pd.csv")
    assert Path("out/2.csv").read_bytes() == Path("2_pd.csv").read_bytes()
    refused = run("apply", fitted, "2.csv", "1.csv", "--out-dir", "out2", code=3)
    assert "1.csv: there is no column 'pd_grade'" in refused.err
    assert not Path("out2").exists()


def test_maps_of_two_columns_leave_the_choice(loans: Path, run: Run) -> None:
    """Of two maps that were fitted to two columns neither says which is meant."""
    for score in ("pd", "pd_grade"):
        run("fit", loans / "fit.csv", "-s", score, "-o", f"{score}.json")
    words = [word for score in ("pd_grade", "pd") for word in ("--artifact", f"{score}.json")]
    assert run("compare", loans / "new.csv", *words, "--json").document["input"]["score"] == "pd"


def test_arrays_have_no_column_and_series_have(loans: Path) -> None:
    """What Python was given under no name leaves no name, and a series has its own."""
    rows = pd.read_csv(loans / "fit.csv")
    arrays = calibcli.fit(rows["pd_grade"].to_numpy(), rows["default_flag"].to_numpy())
    assert "columns" not in json.loads(arrays.to_json())["input"]
    for named in (
        calibcli.fit(rows["pd_grade"], rows["default_flag"]),
        calibcli.fit(rows, score="pd_grade", label="default_flag"),
    ):
        assert json.loads(named.to_json())["input"]["columns"] == ["pd_grade"]


def test_columns_of_classes_are_found_as_in_the_fit(run: Run) -> None:
    """Also where their names do not end in the classes, or those of another model do."""
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(np.ones(3), 300)
    label = [CLASSES[rng.choice(3, p=one)] for one in rows]
    table = {"y": label, **{f"q_{name}": rows[:, at] for at, name in enumerate(CLASSES)}}
    table |= {name: rows[:, at] for at, name in enumerate(("first", "second", "third"))}
    table |= {f"p_{name}": np.full(300, 1 / 3) for name in CLASSES}
    source = written(Path("rows.csv"), table)
    fits = {"q": ["--probs", "q_*"], "named": ["--probs", "first,second,third", "--classes", "a,b,c"]}
    for name, words in fits.items():
        artifact = Path(f"{name}.json")
        assert run("fit", source, *words, "-y", "y", "-o", artifact).code == 0
        for at, more in enumerate((words, [])):
            assert run("apply", artifact, source, *more, "-o", f"{name}{at}.csv").code == 0
        assert Path(f"{name}0.csv").read_bytes() == Path(f"{name}1.csv").read_bytes()
        found = run("measure", source, "-y", "y", "--artifact", artifact, "--json").document
        assert found["input"]["score"] == ("q_*" if name == "q" else "first,second,third")
        of_others = ("measure", source, "-y", "y", "--artifact", artifact, "-m", "accuracy", "--json")
        for columns, other in ((words[1:], False), (["p_*"], True)):
            notes = " ".join(json.loads(run(*of_others, "--probs", *columns).out)["input"]["notes"])
            assert ("which these rows have too: --probs names others" in notes) is other
        query = run("export", artifact, "--to", "sql")
        assert query.out == run("export", artifact, "--to", "sql", *words[:2]).out
        assert f"read from {'q_a, q_b, q_c' if name == 'q' else 'first, second, third'}" in query.err
    assert json.loads(Path("named.json").read_text())["input"]["columns"] == ["first", "second", "third"]


def test_a_label_of_the_fit_that_no_row_has_is_said_to_be_of_the_fit(run: Run) -> None:
    """Nobody typed --positive, and who does reads other labels."""
    score, label = np.arange(60) / 60, np.arange(60) % 2
    words = ["-s", "score", "-y", "label"]
    fitted = written(Path("fit.csv"), {"score": score, "label": np.array(["no", "yes"])[label]})
    assert run("fit", fitted, *words, "--positive", "yes", "-o", "cal.json").code == 0
    other = written(Path("other.csv"), {"risk": score**2, "label": np.array(["no", "yes"])[label]})
    more = ["-s", "risk", "-y", "label", "--positive", "yes", "-o", "other.json"]
    assert run("fit", other, *more).code == 0
    rows = written(Path("new.csv"), {"score": score, "label": label})
    line = ["measure", rows, *words, "--artifact", "cal.json"]
    said = "no label is 'yes', as the fit of the map says\nhint: the labels are '0' and '1'"
    assert said in run(*line, code=3).err
    assert said in run("compare", *line[1:], "--artifact", "other.json", code=3).err
    labels = np.array(["no", "yes", "Yes", "maybe"])[np.arange(60) % 4]
    seen = run("measure", written(Path("mixed.csv"), {"score": score, "label": labels}), *line[2:]).out
    assert "as 0 by the fit of the map, in which 'yes' counts as 1" in seen
    assert "--positive" not in seen
    gate = ["verify", *line[1:], "--max-ece", "0.5", "--state", "gate.json"]
    assert "no label is 'yes', as --positive or the fit of the map says" in run(*gate, code=3).err
    for positive, path in (("1", "ones.json"), ("1.0", "tens.json")):
        labels = written(Path(f"{path}.csv"), {"score": score, "label": np.array(["2", positive])[label]})
        run("fit", labels, *words, "--positive", positive, "-o", Path(path), code=0)
    refused = run("measure", labels, *words, "--artifact", "ones.json", code=3)
    assert "another spelling of 1, which the fit of the map counts as 1; the first is" in refused.err
    assert "no label is 'Yes', as --positive says" in run(*line, "--positive", "Yes", code=3).err
    assert run(*line, "--positive", "1").code == 0


def test_names_with_commas_stand_in_quotes_wherever_names_are_listed(run: Run) -> None:
    """As in CSV: `--probs`, `--keep`, `--class-weights` and `--score-map` take them as `--classes` does."""
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(np.ones(3), 300)
    label = [CLASSES[rng.choice(3, p=one)] for one in rows]
    columns = dict(zip(("cat, small", 'cat "large"', "dog"), rows.T, strict=True))
    source = written(Path("rows.csv"), {"y": label, **columns, "id, old": label})
    plain = written(Path("plain.csv"), {"y": label, **dict(zip("pqr", rows.T, strict=True))})
    probs, classes = '"cat, small","cat ""large""",dog', ",".join(CLASSES)
    words = ["--probs", probs, "--classes", classes, "-y", "y"]
    weights = ["-m", "marginal_l2", "--class-weights", f'"{CLASSES[0]}"=2,{CLASSES[1]}=1,{CLASSES[2]}=1']
    found = run("measure", source, *words, *weights, "--json").document
    same = run("measure", plain, "--probs", "p,q,r", *words[2:], *weights, "--json").document
    assert found["measures"] == same["measures"]
    assert run("fit", source, *words, "-o", "cal.json").code == 0
    applied = Path("applied.csv")
    assert run("apply", "cal.json", source, "--keep", '"id, old",y', "-o", applied).code == 0
    assert applied.read_text().startswith('y,"id, old",')
    report = calibcli.measure(
        {"y": label, **columns},
        probs=list(columns),
        classes=CLASSES,
        label="y",
        metric="marginal_l2",
        class_weights=dict(zip(CLASSES, (2, 1, 1), strict=True)),
    )
    assert report.to_dict()["measures"] == found["measures"]
    phrases = written(
        Path("said.csv"), {"s": ["very, likely", "unlikely"] * 60, "y": [1, 0, 1, 1, 0, 0] * 20}
    )
    said = ("--score-map", '"very, likely"=.9,unlikely=.1', "-m", "mean_score", "--json")
    assert (
        run("measure", phrases, "-s", "s", "-y", "y", *said).document["measures"]["mean_score"]["value"]
        == 0.5
    )
