"""What comes first: what was asked for, and the worst group or class."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import calibcli
from calibcli.commands.pictures.diagram import PlotRequest
from calibcli.commands.plot import diagram_of
from calibcli.names import ClassMeasure, GroupOrder, MeasureName, PlotKind, Smoother
from calibcli.options.measuring import MeasureOptions
from calibcli.options.numerals import has_own_order
from calibcli.options.rows import Columns
from calibcli.stats.curves import MOST_LINES
from command_line import Run, in_csv


@pytest.fixture
def crossed() -> Path:
    """As many events as predicted, but too few where scores are high and too many where they are low."""
    rng = np.random.default_rng(4)
    score = np.repeat((0.3, 0.7), 600)
    label = (rng.permutation(np.repeat((0, 1), 300)) for _ in range(2))
    return in_csv("rows.csv", {"score": score, "label": np.concatenate([*label])})


@pytest.mark.parametrize(
    ("metric", "first"),
    [
        ("oe", "The O/E ratio is 1.00 "),
        ("citl", "The calibration intercept (CITL) is "),
        ("hl", "Scores are miscalibrated (Hosmer-Lemeshow test: p "),
        ("bias", "The bias is "),
    ],
)
def test_what_was_asked_for_stands_first(run: Run, crossed: Path, metric: str, first: str) -> None:
    """And what the ranges of scores show, after it."""
    said = run("measure", crossed, "-m", metric).out.split("\n")
    assert said[0].startswith(first)
    assert said[1].startswith("Scores are too low ")


def test_scores_that_are_the_same_are_said_to_be(run: Run, crossed: Path) -> None:
    """A map that changes nothing is no comparison; one that changes some rows is."""
    for name, method in (("same", "identity"), ("other", "intercept")):
        run("fit", crossed, "-m", method, "-o", f"{name}.json", "--limit", "900", code=0)
    same = run("compare", crossed, "--artifact", "same.json").out
    assert "have the same score in every row." in same.split("\n")[0]
    assert "same score in every row" not in run("compare", crossed, "--artifact", "other.json").out


def test_what_no_map_can_change_is_not_called_undecided(run: Run, crossed: Path) -> None:
    """A map that keeps the order of rows keeps the AUROC: another measure leads."""
    shifted = Path("shifted.json")
    assert run("fit", crossed, "-m", "intercept", "-o", shifted, "--limit", "900").code == 0
    words = ("compare", crossed, "--artifact", shifted, "-m", "auroc")
    alone, beside = run(*words).out, run(*words, "-m", "brier").out
    assert alone.split("\n")[0].endswith("shifted.json and score have the same AUROC in these rows.")
    assert "the same in these rows\n" in alone
    assert "No clear difference" not in alone
    first, second = beside.split("\n")[:2]
    assert "Brier score is " in first
    assert second == "Both have the same AUROC in these rows."


def test_a_guess_says_that_the_repaired_score_is_there_too(run: Run, crossed: Path) -> None:
    """A gate after `apply` is hardly meant for the raw score."""
    assert run("fit", crossed, "-m", "platt", "-o", "map.json").code == 0
    both = Path("both.csv")
    assert run("apply", "map.json", crossed, "-o", both).code == 0
    note = "column 'calibrated', as `apply` writes it, is there too: --score calibrated looks at it"
    assert note in run("verify", both, "--max-ece", "0.5").out
    assert note not in run("verify", both, "-s", "score", "--max-ece", "0.5").out
    assert note not in run("verify", crossed, "--max-ece", "0.5").out


M = MeasureName


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return rows of four groups that differ in rate, spread and order."""
    rng = np.random.default_rng(2)
    lines = ["g,s,p_a,p_b,y,c"]
    for place, name in enumerate("abcd"):
        score = rng.beta(2, 2, 150).round(3)
        label = rng.random(150) < np.clip(0.5 + (score - 0.5) * (1.4 - 0.6 * place) + 0.1 * (place - 1), 0, 1)
        for f, y in zip(score.tolist(), label.tolist(), strict=True):
            lines.append(f"{name},{f},{f},{1 - f:.3f},{int(y)},{'a' if y else 'b'}")
    path = tmp_path_factory.mktemp("groups") / "g.csv"
    path.write_text("\n".join(lines))
    return path


def names_of(page: str) -> list[str]:
    """Return the groups of a page from top to bottom."""
    return [line.split()[0] for line in page.splitlines() if line.startswith("g=")]


@pytest.mark.parametrize("name", ["auroc", "oe", "cox_slope", "bias", "brier_dsc", "brier_skill", "brier"])
def test_the_worst_group_is_the_first(run: Run, groups: Path, name: str) -> None:
    """By the distance from the best value, or by how little there is where more is always better."""
    words = ["measure", groups, "-s", "s", "-y", "y", "--by", "g", "-m", name]
    names, slices = names_of(run(*words).out), run(*words, "--json").document["slices"]
    assert sorted(names) == sorted(slices)
    best, found = M(name).facts.best, [slices[one]["measures"][name] for one in names]
    open_ends = {"lower": -np.inf, "upper": np.inf}
    ends = [[open_ends[end] if one[end] is None else one[end] for end in open_ends] for one in found]
    bad = [
        (not lower <= best <= upper, M(name).facts.badness(one["value"]))
        for one, (lower, upper) in zip(found, ends, strict=True)
    ]
    assert bad == sorted(bad, reverse=True)


def test_a_group_that_is_shown_to_be_off_stands_before_larger_errors_of_few_rows(run: Run) -> None:
    """That is said, where the order of the values alone would be another."""
    rng = np.random.default_rng(6)
    score = np.concatenate((np.full(20_000, 0.3), np.full(40, 0.5)))
    label = np.concatenate((np.arange(20_000) < 7_000, np.arange(40) < 24)).astype(int)
    rows = pd.DataFrame({"s": score, "y": label, "g": ["large"] * 20_000 + ["small"] * 40})
    rows.sample(frac=1.0, random_state=rng).to_csv("a.csv", index=False)
    words = ["measure", "a.csv", "-s", "s", "-y", "y", "--by", "g", "-m", "bias", "--min-group-rows", "1"]
    page = run(*words).out
    assert names_of(page) == ["g=large", "g=small"]
    assert "Groups whose interval of bias leaves out 0 come first." in page
    assert "come first" not in run(*words, "--where", "g==small").out


def test_what_is_neither_good_nor_bad_orders_nothing(run: Run, groups: Path) -> None:
    """The next measure that is does, and the page says so."""
    out = run("measure", groups, "-s", "s", "-y", "y", "--by", "g", "-m", "observed_rate,auroc").out
    alone = run("measure", groups, "-s", "s", "-y", "y", "--by", "g", "-m", "auroc").out
    assert names_of(out) == names_of(alone)
    assert "the worst AUROC first: observed rate alone is neither good nor bad." in " ".join(out.split())
    both = run("measure", groups, "-s", "s", "-y", "y", "--by", "g", "-m", "brier,auroc").out
    assert "Groups are listed the worst Brier score first." in both
    assert "are listed" not in run("measure", groups, "-s", "s", "-y", "y", "--by", "g", "-m", "ece,bias").out
    plain = run("measure", groups, "-s", "s", "-y", "y", "--by", "g", "-m", "observed_rate").out
    assert [line.split()[0] for line in plain.splitlines() if line.startswith("g=")] == [
        f"g={one}" for one in "abcd"
    ]
    tests = run("measure", groups, "-s", "s", "-y", "y", "--by", "g", "-m", "ks").out
    assert "Groups are listed" not in tests


def test_lines_of_very_many_groups_have_what_a_table_shows(
    run: Run, groups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same numbers as those of few groups have, a note beside them, and no more than a table takes."""
    words = ["measure", groups, "-s", "s", "-y", "y", "--by", "g", "--format"]

    def rows(out: str) -> dict[tuple[str, str], list[object]]:
        every = map(json.loads, out.splitlines())
        columns = ("value", "lower", "upper", "confidence", "method", "rows", "positive", "mean_score")
        return {(one["slice"], one["name"]): [one[column] for column in columns] for one in every}

    every = rows(run(*words, "jsonl").out)
    monkeypatch.setattr("calibcli.commands.measure.MOST_SLICES", 3)
    found = run(*words, "jsonl")
    said = (
        "as there are over 3, each of 4 groups has ece, smece, bias and brier: what a table shows of groups"
    )
    assert said in found.err
    some = rows(found.out)
    whole = {key: one for key, one in every.items() if not key[0] or key[1] in {"ece", "bias"}}
    # Of the others a table of groups shows the values alone.
    others = {key: one[0] for key, one in every.items() if key[0] and key[1] in {"smece", "brier"}}
    assert {key: one for key, one in some.items() if key in whole} == whole
    assert {key: one[0] for key, one in some.items() if key not in whole} == others
    document = run(*words, "json").document
    shown = ["bias", "brier", "ece", "smece"]
    assert all(sorted(one["measures"]) == shown for one in document["slices"].values())
    assert said in " ".join(document["notes"])
    assert "each of 4 groups has what -m names: what a table shows" in run(*words, "jsonl", "-m", "bias").err
    # Classes are no groups, and keep what they have.
    classes = ["measure", groups, "--probs", "p_*", "-y", "c", "--by", "g", "--format", "jsonl"]
    beside = rows(run(*classes).out)
    monkeypatch.undo()
    assert {key: one for key, one in rows(run(*classes).out).items() if not key[0].startswith("g=")} == {
        key: one for key, one in beside.items() if not key[0].startswith("g=")
    }
    monkeypatch.setattr("calibcli.commands.measure.MOST_BRIEF_SLICES", 3)
    assert "makes over 3 groups" in run(*words, "jsonl").err


def test_measures_of_all_classes_are_said_to_be_of_no_group(run: Run, groups: Path) -> None:
    """Accuracy is shown for all rows, and the table of groups has no such column."""
    requested = ("measure", groups, "--probs", "p_*", "-y", "c", "--by", "g", "-m")
    said = " ".join(run(*requested, "accuracy,auroc").out.split())
    assert (
        "Of all rows together, and not by group: accuracy; the accuracy of a group is its observed_rate."
        in said
    )
    assert "and not by group" not in run(*requested, "auroc").out


def test_best_values_lie_within_the_range() -> None:
    """Where more is always better there is no limit, or the best is the limit."""
    for name in (*MeasureName, *ClassMeasure):
        best = name.facts.best
        assert best is None or best == float("inf") or name.facts.least <= best <= name.facts.most
        assert not name.facts.more_is_better or name.facts.badness(0.9) < name.facts.badness(0.1)


# By their PDs; the alphabet has A, AA, AAA, B, BB.
SCALE = {"AAA": 0.002, "AA": 0.005, "A": 0.02, "BB": 0.05, "B": 0.2}
ROWS = dict(zip(SCALE, (300, 500, 700, 400, 200), strict=True))
ORDERS = {
    GroupOrder.SCORE: list(SCALE),
    GroupOrder.NAME: sorted(SCALE),
    GroupOrder.ROWS: ["A", "AA", "BB", "AAA", "B"],
}


@pytest.fixture(scope="module")
def loans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return rated loans in no order."""
    rng = np.random.default_rng(3)
    grade = rng.permutation(np.repeat(list(ROWS), list(ROWS.values())))
    pd_of = np.array([SCALE[one] for one in grade])
    frame = pd.DataFrame({"grade": grade, "pd": pd_of, "default": (rng.random(grade.size) < pd_of) * 1})
    path = tmp_path_factory.mktemp("order") / "loans.csv"
    frame.to_csv(path, index=False)
    return path


def drawn(loans: Path, kind: PlotKind | None, **options: object) -> object:
    columns = Columns("pd", "default", by=("grade",))
    request = PlotRequest([str(loans)], columns, kind=kind, options=MeasureOptions(**options))
    return diagram_of(request).drawn.picture


@pytest.mark.parametrize("order", list(ORDERS))
def test_every_command_lists_groups_in_the_order_asked_for(loans: Path, run: Run, order: GroupOrder) -> None:
    """The table of a gate, that of measures, panels and trends agree."""
    columns = ("-s", "pd", "-y", "default", "--by", "grade", "--sort", order.value)
    for words in (("measure", "-m", "oe"), ("verify", "--rule", "oe<=3")):
        told = run(words[0], str(loans), *columns, *words[1:])
        assert re.findall(r"^grade=(\w+)", told.out, re.MULTILINE) == ORDERS[order]
    panels = drawn(loans, None, sort=order)
    assert [one.name for one in panels.panels] == [f"grade = {name}" for name in ORDERS[order]]
    clinical = drawn(loans, PlotKind.ISOTONIC, sort=order)
    assert [one.name for one in clinical.panels] == [f"grade = {name}" for name in ORDERS[order]]
    assert list(drawn(loans, PlotKind.TREND, sort=order).names) == ORDERS[order]


def test_the_worst_that_is_asked_for_is_the_first_of_a_picture(loans: Path) -> None:
    """As without a word of panels of the ECE; of others by the number that ranks them."""
    panels, alone = (drawn(loans, PlotKind.GROUPS, **how) for how in ({"sort": GroupOrder.WORST}, {}))
    assert [one.name for one in panels.panels] == [one.name for one in alone.panels]
    lines = drawn(loans, PlotKind.MURPHY, sort=GroupOrder.WORST)
    brier = [float(one.error[-1]) for one in lines.panels]
    assert brier == sorted(brier, reverse=True)


def test_rows_of_csv_and_groups_in_python_have_the_worst_first_where_that_is_asked_for(
    run: Run, loans: Path
) -> None:
    """In the order of the table; without a word in that of the input."""
    words = ("measure", str(loans), "-s", "pd", "-y", "default", "--by", "grade", "-m", "ece")
    table = re.findall(r"^grade=(\w+)", run(*words).out, re.MULTILINE)
    for sort in ("worst", None):
        asked = () if sort is None else ("--sort", sort)
        rows = run(*words, *asked, "--format", "csv").out
        assert sorted(re.findall(r"grade=(\w+),measure,ece", rows)) == sorted(table)
        found = calibcli.measure(
            pd.read_csv(loans), score="pd", label="default", by="grade", metric=["ece"], sort=sort
        )
        listed = [key.removeprefix("grade=") for key in found.slices]
        assert re.findall(r"grade=(\w+),measure,ece", rows) == listed
        assert (listed == table) is (sort == "worst")


def test_of_many_lines_the_worst_are_told_apart_where_they_are_asked_for() -> None:
    """Further ones are grey: without a word those are the best that are not."""
    rng, part = np.random.default_rng(2), np.repeat(np.arange(8), 200)
    score = rng.random(part.size) * (1.0 - 0.1 * part)
    path = in_csv("rows.csv", {"s": score, "y": rng.random(part.size) < 0.5, "part": part})
    columns = Columns("s", "y", by=("part",))
    for order in (GroupOrder.WORST, None):
        options = MeasureOptions(sort=order)
        picture = diagram_of(PlotRequest([str(path)], columns, kind=PlotKind.MURPHY, options=options))
        brier = [float(one.error[-1]) for one in picture.drawn.picture.panels]
        assert (max(brier[:MOST_LINES]) == max(brier)) is (order is GroupOrder.WORST)


@pytest.mark.parametrize(
    ("parts", "said"), [(5, "Too few scores for a curve"), (6, "Lowest ICI: part = 5 0.")]
)
def test_an_index_that_is_undefined_is_neither_lowest_nor_highest(parts: int, said: str) -> None:
    """Where a group has too few scores for a curve, and where all have."""
    rng = np.random.default_rng(1)
    part = np.repeat(np.arange(parts), 200)
    score = np.where(part == 5, rng.random(part.size), 0.3)
    path = in_csv("rows.csv", {"s": score, "y": rng.random(part.size) < score, "part": part})
    options = MeasureOptions(smoother=Smoother.LOESS)
    columns = Columns("s", "y", by=("part",))
    found = diagram_of(PlotRequest([str(path)], columns, kind=PlotKind.CLINICAL, options=options))
    assert found.drawn.caption[0].startswith(said)
    assert "nan" not in found.drawn.caption[0]


def test_a_trend_over_grades_is_in_the_order_of_the_scale(loans: Path) -> None:
    """Without lines from grade to grade; the worst first where that was asked for."""
    trend = drawn(loans, PlotKind.TREND)
    assert list(trend.names) == list(SCALE)
    assert np.all(np.diff(trend.score) > 0)
    assert not trend.joined
    assert np.all(np.diff(np.abs(drawn(loans, PlotKind.TREND, sort=GroupOrder.WORST).bias)) <= 0)


@pytest.mark.parametrize(
    ("names", "own"),
    [
        (("18-25", "26-40"), True),
        (("grade 2", "grade 10"), True),
        (("7", "12", "(missing)"), True),
        (("A", "AA"), False),
        (("Aa1", "Baa2"), False),
        (("north", "south"), False),
        (("A1", "A"), False),
    ],
)
def test_names_have_an_order_of_their_own_where_numbers_alone_tell_them(
    names: tuple[str, ...], *, own: bool
) -> None:
    """Ratings are no numbers, though some have one."""
    assert has_own_order(names) is own


def test_python_takes_the_order(loans: Path) -> None:
    """As the command line does."""
    found = calibcli.verify(
        pd.read_csv(loans), score="pd", label="default", by="grade", sort="score", rule="oe<=3"
    )
    assert [key.removeprefix("grade=") for key in found.groups] == list(SCALE)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_scores_that_are_grades_make_groups_of_their_own(run: Run, loans: Path, suffix: str) -> None:
    """As a copy of the column would, in every format; continuous ones have no group large enough."""
    frame = pd.read_csv(loans)
    frame["copy"] = frame["pd"]
    path = Path(f"loans.{suffix}")
    if suffix == "csv":
        frame.to_csv(path, index=False)
    elif suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    command = ("measure", path, "-s", "pd", "-y", "default", "--sort", "score", "-m", "oe")
    tables = [run(*map(str, command), "--by", one).out.partition("Groups by")[2] for one in ("pd", "copy")]
    assert tables[0].count("pd=0.") == len(SCALE)
    rows = [re.sub(" +", " ", one.replace("copy", "pd")) for one in tables]
    assert rows[0] == rows[1]


def test_classes_are_judged_in_the_order_asked_for() -> None:
    """As groups are, and without a word in that of their columns."""
    rows = pd.DataFrame(np.random.default_rng(2).dirichlet(np.ones(3), 300), columns=["p_z", "p_a", "p_m"])
    rows["label"] = np.random.default_rng(3).choice(list("zam"), 300)
    for order, names in ((None, "zam"), ("name", "amz")):
        found = calibcli.verify(
            rows, probs="p_*", label="label", view="one-vs-rest", max_ece=0.5, min_rows=1, sort=order
        )
        assert list(found.groups) == [f"class={name}" for name in names]
