"""`compare` of several classes: two maps, or one and the raw probabilities, on every view."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibcli.shell.app import main
from class_files import ZOO, write_zoo
from class_rows import drawn_rows
from command_line import Run, in_csv
from published import check

PROBS = ("--probs", "p_*", "-y", "label")
ROWS = 1200


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return rows, the same through each map as columns, and maps that keep predictions or change them."""
    folder = tmp_path_factory.mktemp("zoo")
    found = {"rows": write_zoo(folder / "rows.csv", ROWS, seed=3, heat=2.5)}
    fit = str(write_zoo(folder / "fit.csv", 1500, seed=99, heat=2.5))
    for name, words in {
        "temperature": (),
        "vector": ("--multiclass", "vector"),
        "top": ("--multiclass", "top-label", "--method", "platt"),
    }.items():
        found[name] = folder / f"{name}.json"
        assert main(["fit", fit, *PROBS, *words, "-q", "-o", str(found[name])]) == 0
        found[f"{name} rows"] = folder / f"{name}.csv"
        apply = ["apply", str(found[name]), str(found["rows"]), "-q", "--name", "q"]
        assert main([*apply, "-o", str(found[f"{name} rows"])]) == 0
    return found


def compared(run: Run, *words: object, code: int = 0) -> dict[str, Any]:
    """Return a comparison as JSON, having checked it against its schema."""
    document = run("compare", *words, "--json", code=code).document
    check(document, "compare")
    return document


def measured(run: Run, path: Path, *words: str) -> dict[str, Any]:
    """Return what `measure` says."""
    return run("measure", path, *words, "--json").document


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("second", "view"),
    [
        ("vector", ("--view", "one-vs-rest", "--class", "cat")),
        ("temperature", ("--view", "top-label")),
    ],
)
def test_sides_read_as_measure_has_them(
    run: Run, zoo: dict[str, Path], second: str, view: tuple[str, ...]
) -> None:
    """The raw side as the file, the other as with the artifact, and differences are second less first."""
    words = (*PROBS, *view, "--metric", "brier", "--metric", "log_loss", "--metric", "ece")
    report = compared(run, zoo["rows"], *words, "--artifact", zoo[second])
    sides = {"first": measured(run, zoo["rows"], *words)}
    sides["second"] = measured(run, zoo["rows"], *words, "--artifact", str(zoo[second]))
    for side, alone in sides.items():
        assert report[side]["table"]["digest"] == alone["table"]["digest"]
        for name in ("brier", "log_loss", "ece"):
            one, other = report["measures"][name][side], alone["measures"][name]
            assert {key: one[key] for key in ("value", "lower", "upper")} == {
                key: other[key] for key in ("value", "lower", "upper")
            }
    for one in report["measures"].values():
        gap = one["second"]["value"] - one["first"]["value"]
        assert one["difference"]["value"] == pytest.approx(gap, abs=1e-12)
    for found in report.get("classes", {}).get("views", {}).values():
        for key, part in found["classes"].items():
            for side, alone in sides.items():
                theirs = alone["slices"][key]["measures"]["ece"]
                assert part["measures"]["ece"][side]["value"] == theirs["value"]
                assert part["measures"]["ece"][side]["lower"] == pytest.approx(theirs["lower"], abs=1e-12)


def test_measures_of_all_classes_are_those_of_measure(run: Run, zoo: dict[str, Path]) -> None:
    """On both sides; and losses are compared row by row, which tells more than both intervals."""
    report = compared(run, zoo["rows"], *PROBS, "--artifact", zoo["temperature"], "--artifact", zoo["vector"])
    for side, name in (("first", "temperature"), ("second", "vector")):
        alone = measured(run, zoo["rows"], *PROBS, "--metric", "classes", "--artifact", str(zoo[name]))
        for measure in report["classes"]["measures"]:
            assert report["measures"][measure][side]["value"] == alone["measures"][measure]["value"]
    for measure in ("class_log_loss", "class_brier"):
        one = report["measures"][measure]
        narrow = one["difference"]["upper"] - one["difference"]["lower"]
        assert one["difference"]["method"] == "paired, Gaffke's bound"
        assert narrow < 0.6 * (one["second"]["upper"] - one["second"]["lower"])
    assert report["measures"]["top_label_ece"]["difference"]["method"].startswith("Bonferroni")


def test_maps_while_reading_give_what_their_columns_give(run: Run, zoo: dict[str, Path]) -> None:
    """A class of two maps is compared as the two columns of it that `apply` writes."""
    lines = [
        [line.split(",") for line in zoo[f"{name} rows"].read_text().splitlines()]
        for name in ("temperature", "vector")
    ]
    place = lines[0][0].index("q_cat")
    both = zoo["rows"].with_name("both.csv")
    a, b = (np.array(one[1:]) for one in lines)
    in_csv(both, {"a": a[:, place], "b": b[:, place], "label": a[:, 4]})
    maps = ("--artifact", zoo["temperature"], "--artifact", zoo["vector"])
    one = compared(run, zoo["rows"], *PROBS, *maps, "--view", "one-vs-rest", "--class", "cat")
    two = compared(run, both, "-s", "a", "-s", "b", "-y", "label", "--positive", "cat")
    for name, found in two["measures"].items():
        assert one["measures"][name]["difference"]["value"] == found["difference"]["value"]
        assert one["measures"][name]["difference"]["lower"] == found["difference"]["lower"]


def test_rows_that_predict_other_classes_are_counted_on_the_side_that_they_are_of(
    run: Run, zoo: dict[str, Path]
) -> None:
    """Each side has rows of its own, and together with those that are left out they are all."""
    words = (*PROBS, "--view", "top-label", "--class", "cat", "--metric", "brier")
    lines = run("compare", zoo["rows"], *words, "--artifact", zoo["vector"]).out
    rows = int(re.findall(r"([\d,]+) rows on the second side", lines)[0].replace(",", ""))
    left = re.findall(r"([\d,]+) rows of other predictions left out on the second side\.", lines)
    assert rows + int(left[0].replace(",", "")) == len(zoo["rows"].read_text().splitlines()) - 1


def test_classes_hold_together_and_the_worst_stands_first(run: Run, zoo: dict[str, Path]) -> None:
    """Intervals of three classes at 98.33 %; sorted by the lower bound; nine lines with -v."""
    words = (zoo["rows"], *PROBS, "--artifact", zoo["vector"], "--artifact", zoo["temperature"])
    view = compared(run, *words)["classes"]["views"]["one-vs-rest"]
    assert view["confidence"] == pytest.approx(1 - 0.05 / 3)
    for part in view["classes"].values():
        for one in part["measures"].values():
            assert one["difference"]["confidence"] == pytest.approx(1 - 0.05 / 3)
    page = run("compare", *words).out
    table = page.split("Each class against the rest, the worst first")[1].splitlines()[3:6]
    lower = {
        key.partition("=")[2]: part["measures"]["brier"]["difference"]["lower"]
        for key, part in view["classes"].items()
    }
    assert [line.split()[0] for line in table] == sorted(ZOO, key=lambda name: -lower[name])
    assert "-v shows log_loss and ece, too." in page
    assert "98.3 %" in page
    assert "predict another class on the second side" in page
    long = run("compare", *words, "-v").out.split("Each class against the rest")[1].splitlines()[3:12]
    assert {line.split()[2] for line in long} == {"brier", "log_loss", "ece"}


def test_gate_fails_for_what_was_asked(run: Run, zoo: dict[str, Path]) -> None:
    """All classes together, every class of a view, or one class; and it is exit 1 with the classes named."""
    maps = ("--artifact", zoo["temperature"], "--artifact", zoo["rows"].with_name("bad.json"))
    hot = zoo["rows"].with_name("hot.csv")
    write_zoo(hot, 1500, seed=5, heat=0.4)
    assert run("fit", hot, *PROBS, "-o", maps[-1], "-q", "--force").code == 0
    words = (zoo["rows"], *PROBS, *maps, "--fail-if-worse")
    together = compared(run, *words, code=1)["gate"]
    assert together == {
        "measures": ["class_log_loss", "class_brier"],
        "worse_by": ["class_log_loss", "class_brier"],
        "status": "fail",
    }
    each = compared(run, *words, "--view", "one-vs-rest", code=1)["gate"]
    assert (each["worse_by"], each["worse_classes"]) == (
        ["brier", "log_loss"],
        [f"class={one}" for one in ZOO],
    )
    page = run("compare", *words, "--view", "one-vs-rest").out
    assert "is shown to be worse by Brier score and log loss in class=ant, class=bee and class=cat." in page
    one = compared(run, *words, "--view", "top-label", "--class", "cat", code=1)["gate"]
    assert one["worse_by"] == ["brier", "log_loss"]
    kept = compared(run, *words, "--metric", "accuracy")["gate"]
    assert (kept["status"], kept["measures"]) == ("pass", ["accuracy"])
    turned = (zoo["rows"], *PROBS, maps[0], maps[3], maps[2], maps[1], "--fail-if-worse")
    assert compared(run, *turned)["gate"]["status"] == "pass"


def test_many_classes_are_compared_by_few_measures(run: Run) -> None:
    """Brier and ECE of each by both intervals; all together row by row."""
    probability, label = drawn_rows(600, 24, seed=4)
    paths = [Path(name) for name in ("fit.csv", "rows.csv")]
    for path, some in zip(paths, (slice(300), slice(300, None)), strict=True):
        columns = {f"p_{place:02}": one[some] for place, one in enumerate(probability.T)}
        in_csv(path, columns | {"label": label[some]})
    cal = Path("cal.json")
    assert run("fit", paths[0], *PROBS, "-o", cal).code == 0
    report = compared(run, paths[1], *PROBS, "--artifact", cal, "--view", "one-vs-rest")
    (view,) = report["classes"]["views"].values()
    assert report["classes"]["few_measures"]
    part = view["classes"]["class=03"]
    assert set(part["measures"]) == {"brier", "ece"}
    assert part["measures"]["brier"]["difference"]["method"].startswith("Bonferroni")
    assert report["measures"]["class_brier"]["difference"]["method"] == "paired, Gaffke's bound"
    gated = compared(run, paths[1], *PROBS, "--artifact", cal, "--view", "one-vs-rest", "--fail-if-worse")
    (view,) = gated["classes"]["views"].values()
    # What a gate says that it looks at is there.
    assert set(gated["gate"]["measures"]) < set(view["classes"]["class=03"]["measures"])
    page = run("compare", paths[1], *PROBS, "--artifact", cal, "--view", "one-vs-rest").out
    assert "-v shows 14 more classes and ece, too." in page
    one = compared(run, paths[1], *PROBS, "--artifact", cal, "--view", "one-vs-rest", "--class", "03")
    assert one["measures"]["brier"]["difference"]["method"] == "paired, Gaffke's bound"


def test_workers_and_weights(run: Run, zoo: dict[str, Path]) -> None:
    """One worker and four give the same bytes; rows of weight 2 are rows that come twice."""
    path, twice = Path("w.csv"), Path("twice.csv")
    header, *lines = zoo["rows"].read_text().splitlines()
    counts = np.random.default_rng(0).integers(0, 3, len(lines)).tolist()
    path.write_text(
        "\n".join([f"{header},n", *(f"{one},{n}" for one, n in zip(lines, counts, strict=True))]) + "\n"
    )
    twice.write_text(
        "\n".join([header, *(one for one, n in zip(lines, counts, strict=True) for _ in range(n))]) + "\n"
    )
    words = (*PROBS, "--artifact", zoo["vector"], "-m", "class_log_loss,accuracy,brier,top_label_ece")
    weighted = compared(run, path, *words, "-w", "n", "--weights-are", "frequency")
    again = compared(run, twice, *words)
    assert weighted["classes"]["changed"] == again["classes"]["changed"] > 0
    for name in ("class_log_loss", "accuracy", "brier", "top_label_ece"):
        one, two = (each["measures"][name]["difference"] for each in (weighted, again))
        assert one["value"] == pytest.approx(two["value"], abs=1e-12)
        assert one["lower"] == pytest.approx(two["lower"], abs=1e-9)
    files = (zoo["rows"], path, *words)
    assert run("compare", *files, "--json", "-j", "1").out == run("compare", *files, "--json", "-j", "4").out
    importance = compared(run, path, *words, "-w", "n")
    assert importance["measures"]["accuracy"]["difference"]["method"] == "paired, Gaffke's bound"


def test_rows_of_a_fit_and_classes_that_nobody_predicts_are_told(run: Run, zoo: dict[str, Path]) -> None:
    """A note, and a refusal of the gate; a view without rows is empty on the side that has none."""
    fit = zoo["rows"].with_name("fit.csv")
    assert any(
        "was fitted on" in note for note in compared(run, fit, *PROBS, "--artifact", zoo["top"])["notes"]
    )
    refused = run("compare", fit, *PROBS, "--artifact", zoo["top"], "--fail-if-worse")
    assert (refused.code, "1,500 rows" in refused.err) == (3, True)
    path = Path("never.csv")
    path.write_text("p_ant,p_bee,p_cat,label\n" + "0.5,0.3,0.2,ant\n" * 150)
    none = run(
        "compare", path, *PROBS, "--artifact", zoo["temperature"], "--view", "top-label", "--class", "cat"
    )
    assert (none.code, "predicts the requested class" in none.err) == (3, True)
    page = run("compare", path, *PROBS, "--artifact", zoo["temperature"]).out
    assert "2 classes have fewer than 100 rows on a side: bee (0) and cat (0)" in page
