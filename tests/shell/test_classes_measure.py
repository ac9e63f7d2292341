"""Several classes from the command line: `measure`, `verify` and `plot` with --probs."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calibcli
from calibcli.documents.artifact import read_class_artifact
from calibcli.names import DocumentKind
from class_files import ZOO, write_zoo
from class_rows import drawn_rows, softmax
from command_line import CHURN, SAMPLE, Run, in_csv
from published import check, validator

DIGITS = SAMPLE / "digits_naive_bayes_calibration.parquet"
PROBS = ("--probs", "p_*", "-y", "label")


@pytest.fixture
def zoo() -> Path:
    """Return a CSV file of three classes, one row of which is tied."""
    probability, label = drawn_rows(500, 3, seed=2)
    probability[0] = [0.4, 0.4, 0.2]
    columns = {f"p_{name}": one for name, one in zip(ZOO, probability.T, strict=True)}
    return in_csv("zoo.csv", columns | {"label": np.array(ZOO)[label]})


def test_reports_of_classes_fit_their_schema(run: Run, zoo: Path) -> None:
    """Measurements and gates of several classes are described by `schema report`."""
    for words in (
        ("measure", zoo, *PROBS, "--metric", "ece", "--metric", "classes"),
        ("measure", zoo, *PROBS, "--metric", "ece", "--view", "top-label", "--class", "bee"),
        ("verify", zoo, *PROBS, "--max-ece", "0.4", "--view", "one-vs-rest"),
        ("verify", zoo, *PROBS, "--max-ece", "0.4"),
    ):
        document = run(*words, "--json").document
        check(document, "report")
        document["input"]["classes"]["mood"] = "good"
        assert not validator(DocumentKind.REPORT).is_valid(document)
    check(run("measure", zoo, *PROBS, "--compat", "netcal", "--json").document, "compat")


def test_largest_probabilities_together_are_told_everywhere(run: Run, zoo: Path) -> None:
    """In text, JSON, CSV and Python, the first as l2 of the confidence; files and workers change no digit."""
    words = (*PROBS, "--top", "3", "--metric", "l2,accuracy", "--bins", "12")
    report = run("measure", zoo, *words, "--json").document
    check(report, "report")
    first, *others = report["classes"]["top"]
    assert {name: first[name] for name in ("value", "lower", "upper", "method")} == {
        name: pytest.approx(report["measures"]["l2"][name]) for name in ("value", "lower", "upper", "method")
    }
    assert [one["k"] for one in others] == [2, 3]
    page = run("measure", zoo, *words).out
    assert re.search(rf"^1 +{first['value']:.4g} +", page, re.MULTILINE)
    assert "The k largest probabilities together" in page
    table = run("measure", zoo, *words, "--format", "csv").out.splitlines()
    assert [line.split(",")[2:4] for line in table if ",top_" in line]
    lines = zoo.read_text().splitlines(keepends=True)
    halves = [Path("one.csv"), Path("two.csv")]
    for path, rows in zip(halves, (lines[1:200], lines[200:]), strict=True):
        path.write_text("".join([lines[0], *rows]))
    again = run("measure", *reversed(halves), *words, "--memory", "1", "--json").document
    assert again["classes"]["top"] == report["classes"]["top"]
    found = calibcli.measure(zoo, probs="p_*", label="label", top=3, metric="l2", bins=12)
    assert [one.value for one in found.top] == [one["value"] for one in report["classes"]["top"]]
    assert calibcli.measure(zoo, probs="p_*", label="label", metric="accuracy").top == ()


def test_the_page_says_what_was_seen(run: Run, zoo: Path) -> None:
    """Classes together, each against the rest and by prediction, the worst first, with ties counted."""
    page = run("measure", zoo, *PROBS, "--metric", "ece", "--metric", "classes").out
    for words in (
        "The largest probability of 3 classes; positive where that class is the right one.",
        "note: 1 row with several most probable classes: the first counts",
        "All classes together",
        "classwise_ece",
        "Each class against the rest, the worst first",
        "Rows by the class they predict, the worst first",
        "(Bonferroni)",
    ):
        assert words in page
    no_order = run("measure", zoo, *PROBS, "--metric", "mean_score").out
    assert "Each class against the rest\n" in no_order
    assert "the worst first" not in no_order
    tables = page.split("Each class against the rest, the worst first")[1].splitlines()
    assert {line.split()[0] for line in tables[3:6]} == set(ZOO)


def test_many_classes_show_the_ten_worst(run: Run) -> None:
    """Ten of them have a line, how many have none is said, and -v lists all."""
    probability, label = drawn_rows(200, 25, seed=4)
    columns = {f"p_{place:02}": one for place, one in enumerate(probability.T)}
    words = ("measure", in_csv("many.csv", columns | {"label": label}), *PROBS, "--view", "one-vs-rest")
    short, long = run(*words).out, run(*words, "-v").out
    assert "15 more classes not shown; -v lists all." in short
    assert "each is measured by a few measures" in short
    assert "not shown" not in long
    title = "Each class against the rest, the worst first"
    known = {f"{place:02}" for place in range(25)}
    lines = [page.split(title)[1].splitlines() for page in (short, long)]
    shown = [{line.split(" ")[0] for line in table if "200 " in line} & known for table in lines]
    assert (len(shown[0]), shown[1]) == (10, known)


def test_the_map_says_which_columns_are_its_classes(run: Run, zoo: Path) -> None:
    """Where no score is named, commands find the columns of a map as apply does; plan needs none."""
    cal = Path("zoo.json")
    assert run("fit", zoo, *PROBS, "-m", "temperature", "-o", cal).code == 0
    through = ("-y", "label", "--artifact", cal)
    requested = run("verify", zoo, *through, "--max-ece", "0.5", "--allow-fit-rows", "--json")
    named = run("verify", zoo, "--probs", "p_*", *through, "--max-ece", "0.5", "--allow-fit-rows", "--json")
    assert requested.document["rules"] == named.document["rules"]
    assert run("measure", zoo, *through).code == 0
    assert run("plan", "--artifact", cal, "--max-ece", "0.02").code == 0
    assert "several classes with --probs 'p_*'" in run("verify", zoo, *CHURN, "--max-ece", "0.02", code=3).err


def test_gate_of_every_class_exits_by_the_worst(run: Run, zoo: Path) -> None:
    """A limit that all classes keep is exit 0, one that some break or none can show is not."""
    words = ("verify", zoo, *PROBS, "--view", "top-label")
    assert "1 rule in 3 groups: 3 pass" in run(*words, "--max-ece", "0.5", code=0).out
    assert run(*words, "--rule", "ece.value<=0.0001").code == 1
    assert run(*words, "--max-ece", "0.05", "--min-group-rows", "10000").code == 4


def test_reports_of_a_gate_name_the_classes(run: Run, zoo: Path) -> None:
    """JUnit has a test case for each class."""
    junit = Path("junit.xml")
    words = ("--view", "one-vs-rest", "--max-ece", "0.5", "--report", f"junit={junit}")
    assert run("verify", zoo, *PROBS, *words).code == 0
    text = junit.read_text()
    assert all(f'classname="class={name}"' in text for name in ZOO)


def test_plot_of_one_class_is_drawn_and_of_all_refused(run: Run, zoo: Path) -> None:
    """A diagram shows one score: the largest probability, or one class."""
    words = ("plot", zoo, *PROBS, "-o", "a.svg", "--kind", "binned")
    assert run(*words, "--view", "one-vs-rest", "--class", "cat").code == 0
    assert Path("a.svg").exists()
    assert "name one class with --class" in run(*words, "--view", "one-vs-rest", "--force", code=2).err


def rows_of(path: str, logits: np.ndarray, label: np.ndarray, *, scale: str) -> str:
    """Write logits, or the probabilities that they stand for."""
    values = softmax(logits) if scale == "prob" else logits
    columns = {f"p_{place}": values[:, place] for place in range(values.shape[1])}
    pq.write_table(pa.table({**columns, "label": label}), path)
    return path


@pytest.fixture(scope="module")
def far() -> tuple[np.ndarray, np.ndarray]:
    """Logits thirty times too large, of four classes; most probabilities are below 2^-53."""
    rng = np.random.default_rng(6)
    logits = 1.5 * rng.standard_normal((3_000, 4))
    power = np.exp(logits)
    draws = rng.random((3_000, 1)) * power.sum(axis=1, keepdims=True)
    return 30.0 * logits, (np.cumsum(power, axis=1) < draws).sum(axis=1)


@pytest.mark.parametrize("method", ["temperature", "vector"])
def test_logits_are_taken_as_given(run: Run, far: tuple[np.ndarray, np.ndarray], method: str) -> None:
    """However far out: the temperature is what the logits were multiplied by."""
    file = rows_of("logits.parquet", *far, scale="logit")
    run("fit", file, *PROBS, "--scale", "logit", "--multiclass", method, "-q", "-o", "cal.json", code=0)
    record = read_class_artifact("cal.json")
    found = record.recalibrator.to_dict()
    if method == "temperature":
        assert found["temperature"] == pytest.approx(30.0, rel=0.05)
    assert found["least"] == 2.0**-1074
    logits, label = far
    calm = logits / 30.0
    best = np.log(np.exp(calm).sum(axis=1)) - calm[np.arange(label.size), label]
    assert record.fit.loss_after == pytest.approx(best.mean(), rel=0.01)


def test_probabilities_too_small_to_be_told_apart_are_counted(
    run: Run, far: tuple[np.ndarray, np.ndarray]
) -> None:
    """Where one is 0, how many in how many rows were limited, and what would keep them; else nothing is."""
    logits, label = far
    words = (
        "fit",
        rows_of("probs.parquet", logits, label, scale="prob"),
        *PROBS,
        "-o",
        "cal.json",
        "--force",
    )
    assert "2^-53" not in run(*words, code=0).err
    logits[0, 0] = -1e9
    rows_of("probs.parquet", logits, label, scale="prob")
    said = " ".join(run(*words, code=0).err.split())
    assert "1 probability is 0, which has no logarithm: the fit took all " in said
    assert "for 2^-53; logits (--scale logit) keep them" in said


def test_classes_on_a_grid_are_said(run: Run) -> None:
    """The table of all rows may be exact where those of the classes are not."""
    rng = np.random.default_rng(1)
    logits, label = rng.standard_normal((2_000, 20)), rng.integers(0, 20, 2_000)
    words = ("measure", rows_of("p.parquet", logits, label, scale="prob"), *PROBS, "--metric", "ece")
    rounded = run(*words, "--memory", "1MiB", code=0).out
    assert "did not fit in memory: scores of classes are rounded to" in rounded
    assert "fit in memory" not in run(*words, "--exact", code=0).out


def test_classes_are_exact_where_they_fit_the_memory(run: Run) -> None:
    """An eightieth of the default memory is enough for 30 classes of 1,000 rows, in any number of bins."""
    rng = np.random.default_rng(1)
    logits, label = rng.standard_normal((1_000, 30)), rng.integers(0, 30, 1_000)
    file = rows_of("p.parquet", logits, label, scale="prob")
    words = ("measure", file, *PROBS, "--metric", "ece_equal_mass", "--bins", "19")
    within = run(*words, "--memory", "3.2MiB", code=0).out
    assert run(*words, "--exact", code=0).out == within
    assert "fit in memory" not in within
    assert "hint: pass --exact or more --memory" in run(*words, "--memory", "0.5MiB", code=2).err


@pytest.mark.parametrize("labels", [[0, 1, 2], ["0", "1", "2"], ["cat", "dog", "2"]], ids=str)
def test_labels_that_are_read_as_places_are_said(run: Run, labels: list[int | str]) -> None:
    """Whoever counts from 1, or in another order than the columns, sees which class each number is."""
    rng = np.random.default_rng(4)
    rows = rng.dirichlet([1.0, 1.0, 1.0], 300)
    draws = [int(rng.choice(3, p=row)) for row in rows]
    columns = {f"p_{name}": rows[:, place] for place, name in enumerate(("cat", "dog", "fox"))}
    pq.write_table(pa.table({**columns, "label": pa.array([labels[draw] for draw in draws])}), "p.parquet")
    expected = (
        "labels are numbers, read as places from 0: 0 = cat, 1 = dog, 2 = fox; --classes names them otherwise"
    )
    measure = ("measure", "p.parquet", *PROBS, "-m", "accuracy")
    for words in (
        measure,
        ("verify", "p.parquet", *PROBS, "--max-ece", "0.5"),
        ("fit", "p.parquet", *PROBS, "-o", "c.json"),
    ):
        printed = run(*words)
        assert printed.code in (0, 1, 4)
        assert expected in printed.shown, words[0]
    assert run(*measure, "--json", code=0).document["input"]["notes"] == [expected]
    if labels[0] != "cat":
        assert run(*measure, "--json", "--classes", "0,1,2", code=0).document["input"]["notes"] == []


def test_labels_that_are_names_are_not_said_to_be_places(run: Run) -> None:
    """Neither text nor numbers where classes are called by numbers."""
    draws = np.random.default_rng(3).integers(0, 2, 300)
    rows = np.random.default_rng(4).dirichlet([1.0, 1.0], 300)
    for names in (("cat", "dog"), ("1", "2"), ("0", "1")):
        columns = {f"p_{name}": rows[:, place] for place, name in enumerate(names)}
        given = [names[draw] if names[0] == "cat" else int(names[draw]) for draw in draws]
        pq.write_table(pa.table({**columns, "label": pa.array(given)}), "p.parquet")
        shown = run("measure", "p.parquet", *PROBS, "-m", "accuracy", "--json", code=0).document
        assert shown["input"]["notes"] == []


@pytest.fixture
def large_zoo() -> Path:
    """Return a CSV file of three classes."""
    return write_zoo("large_zoo.csv", 1200, seed=2)


@pytest.mark.parametrize("names", [("0", "1", "2"), ("cat", "dog", "fox")])
def test_labels_that_are_counted_from_1_are_said_where_the_last_class_is_not_there(
    run: Run, names: tuple[str, ...]
) -> None:
    """Every label is the number of a class then, and no error; a class that is not there says nothing."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 300)
    probability = rng.dirichlet(np.ones(3), 300) * 0.4
    probability[np.arange(300), truth] += 0.6
    columns = {f"p_{name}": column for name, column in zip(names, probability.T, strict=True)}
    path = in_csv("shifted.csv", {**columns, "label": truth + 1})
    measure = ("measure", *PROBS, "-m", "accuracy")
    said = run(*measure, path, code=0).out
    way = "--classes 1,2,3" if names[0] == "0" else "take 1 from each"
    right = int((probability.argmax(axis=1) == truth + 1).sum())
    expected = f"to the class before their label, {right} to their label: if labels are counted from 1, "
    assert expected in said
    assert way in said
    assert "counted from 1" not in run(*measure, path, "--classes", "1,2,3", code=0).out
    # Where the first class is really not there, its probabilities are small.
    away = {
        f"p_{name}": column for name, column in zip(names, np.roll(probability, 1, axis=1).T, strict=True)
    }
    other = in_csv("away.csv", {**away, "label": truth + 1})
    assert "counted from 1" not in run(*measure, other, code=0).out


def test_rules_of_all_classes_are_judged_beside_others(run: Run, large_zoo: Path) -> None:
    """Each by the end of its interval that counts; claims are counted together, the value is none."""
    rules = ("accuracy>=0.5", "class_log_loss.upper<=1.2", "top_label_ece<=0.3", "marginal_l2.value<=0.5")
    words = [word for rule in rules for word in ("--rule", rule)]
    ran = run("verify", large_zoo, *PROBS, *words, "--max-ece", "0.3", "--json")
    document = ran.document
    check(document, "report")
    assert ran.code == 0
    found = document["rules"]
    assert {one["measure"] for one in found.values()} == {
        "accuracy", "class_log_loss", "top_label_ece", "marginal_l2", "binned_ece"
    }  # fmt: skip
    accuracy = found["accuracy.lower>=0.5"]
    assert accuracy["fail_confidence"] == pytest.approx(1 - 0.05 / 4)
    said = run("measure", large_zoo, *PROBS, "--metric", "classes", "--confidence", "0.9", "--json").document
    for name, rule, end in (
        ("accuracy", "accuracy.lower>=0.5", "lower"),
        ("class_log_loss", "class_log_loss.upper<=1.2", "upper"),
        ("top_label_ece", "top_label_ece.upper<=0.3", "upper"),
    ):
        assert found[rule][end] == pytest.approx(said["measures"][name][end], rel=1e-12)


def test_classes_one_by_one_and_together(run: Run, large_zoo: Path) -> None:
    """A view of every class judges the rules of one score class by class, and the others once."""
    words = ("verify", large_zoo, *PROBS, "--view", "one-vs-rest", "--rule", "accuracy>=0.5")
    both = run(*words, "--max-ece", "0.3", code=0)
    assert "2 rules in all rows and 3 groups: 4 pass" in both.out
    assert "All 4 claims must pass" in both.out
    alone = run(*words)
    assert (alone.code, "group" in alone.out) == (0, False)
    assert run(*words[:-1], "accuracy>=0.99").code == 1
    assert run(*words[:-1], "accuracy>=0.3", "--min-rows", "5000").code == 4


def test_reports_for_machines_hold_the_rules(run: Run, large_zoo: Path) -> None:
    """JUnit and OpenMetrics name the measure."""
    junit, metrics = Path("j.xml"), Path("m.txt")
    reports = ("--report", f"junit={junit}", "--report", f"openmetrics={metrics}")
    assert run("verify", large_zoo, *PROBS, "--rule", "classwise_ece<=0.4", *reports).code == 0
    assert "classwise ece" in junit.read_text().replace("_", " ")
    assert "classwise_ece" in metrics.read_text()


def test_weights_leave_approximate_bounds_out(run: Run, large_zoo: Path) -> None:
    """A gate takes importance weights where its bound holds for any of them; else the value is compared."""
    header, *lines = large_zoo.read_text().splitlines()
    large_zoo.write_text(
        "\n".join([f"{header},w", *(f"{line},{1 + place % 3}.5" for place, line in enumerate(lines))]) + "\n"
    )
    words = ("verify", large_zoo, *PROBS, "-w", "w")
    assert run(*words, "--rule", "accuracy>=0.3").code == 0
    assert "importance weights" in run(*words, "--rule", "marginal_l2<=0.5", code=2).err
    assert run(*words, "--rule", "marginal_l2.value<=0.5").code == 0


def test_measures_of_all_classes_alone_are_answered_too(run: Run) -> None:
    """Without a measure of one score the first of these opens the page."""
    words = ("measure", DIGITS, *PROBS)
    certain = "18 rows gave probability 0 to the right class or 1 to another.\n"
    assert run(*words, "-m", "accuracy,class_brier").out.startswith(f"{certain}The accuracy is 0.")
    assert run(*words, "-m", "class_brier").out.startswith(f"{certain}The Brier score of all classes is 0.")


def test_a_loss_is_the_same_with_others_and_alone() -> None:
    """Only losses that are asked for are added up."""
    probability, label = drawn_rows(300, 5, sharpness=2.0, seed=4)
    whole = calibcli.measure(probability, label).measures
    for name in ("class_log_loss", "class_brier", "classwise_ece"):
        assert calibcli.measure(probability, label, metric=name).measures == {name: whole[name]}
