"""`verify` with several rules, groups and baselines, and `plan`, which says how many rows a gate takes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibcli.names import DocumentKind
from calibcli.shell.app import main
from command_line import CHURN, SAMPLE, Make, Run, in_csv
from published import check, validator

EVALUATION = SAMPLE / "churn_evaluation.parquet"


@pytest.fixture
def grouped() -> Path:
    """Return 3,000 calibrated rows in two columns of groups, and an older, noisier score."""
    generator = np.random.default_rng(5)
    score = generator.beta(1.0, 2.0, 3_000)
    old = np.clip(score + 0.2 * generator.standard_normal(3_000), 0.0, 1.0)
    label = generator.random(3_000) < score
    columns = {
        "score": score,
        "old": old,
        "label": label,
        "half": "ab",
        "part": [f"x/{k}" for k in range(15)],
    }
    return in_csv("grouped.csv", columns)


def test_several_rules_are_judged_on_one_read(run: Run, thousand: Path) -> None:
    """Every kind of rule has its key, its verdict and its bounds; the gate is as its worst rule."""
    words = ["--max-ece", "0.2", "--max-smece", "0.2", "--max-dce", "0.3", "--rule", "ks.p>=0.0001"]
    more = ["--rule", "bias.value<=0.5", "--rule", "cox_slope >= 0.2", "--rule", "ece.lower<=0.01"]
    ended = run("verify", thousand, *words, *more, "--json")
    report = ended.document
    assert ended.code == 0, ended.err
    keys = ["bias.value<=0.5", "cox_slope.lower>=0.2", "ece.lower<=0.01", "ks.p>=0.0001"]
    assert sorted(report["rules"]) == [*keys, "max-dce", "max-ece", "max-smece"]
    rules = report["rules"]
    assert rules["ks.p>=0.0001"]["expr"] == "ks.p >= 0.0001"
    assert rules["ece.lower<=0.01"]["expr"] == "binned_ece.lower <= 0.01"
    assert rules["bias.value<=0.5"]["upper"] is None
    assert rules["max-ece"]["fail_confidence"] == pytest.approx(0.99)
    failing = run("verify", thousand, *words, "--rule", "bias.value>=0.5", code=1)
    assert failing.out.startswith("FAIL  5 rules: 4 pass, 1 fail\n")


def test_the_limit_of_the_cutoff_error_is_its_rule(run: Run, thousand: Path) -> None:
    """The option and the rule are one claim."""
    report = run("verify", thousand, "--max-cutoff", "0.3", "--rule", "cutoff<=0.3", "--json").document
    (rule,) = report["rules"].values()
    assert list(report["rules"]) == ["max-cutoff"]
    assert (rule["expr"], rule["status"]) == ("cutoff <= 0.3", "pass")


def test_reports_over_groups_fit_their_schema(run: Run, grouped: Path) -> None:
    """Slices hold the rules of each group, whatever their names."""
    base = Path("base.json")
    run("measure", grouped, "-s", "old", "-y", "label", "--json", "-o", base)
    by = ["--by", "half", "--by", "part", "--max-ece", "0.5", "--rule", "ece.value<=0.4"]
    against = ["--baseline", base, "--max-regression", "0.1", "--json"]
    report = run("verify", grouped, *CHURN, *by, "--min-group-rows", "100", *against).document
    check(report, "report")
    assert len(report["slices"]) == len(report["judged_groups"]["judged"]) == 30
    assert set(report["slices"]["half=a/part=x%2F0"]["rules"]) == {"max-ece", "ece.value<=0.4"}
    assert report["rules"]["regression:ece"]["expr"] == "ece - baseline <= 0.1"
    assert report["judged_groups"]["claims"] == 32


def test_page_lists_the_worst_groups_and_counts_the_rest(run: Run, grouped: Path) -> None:
    """Thirty groups do not fill the screen; -v lists every one."""
    words = ["verify", grouped, *CHURN, "--by", "half", "--by", "part", "--max-ece", "0.4"]
    short, long = run(*words), run(*words, "-v")
    assert short.code == long.code == 0
    assert "10 more verdicts passed; -v lists every one." in short.out
    assert short.out.count("half=") == 20
    assert long.out.count("half=") == 30
    assert "a fail needs 99.84 % (Bonferroni)" in " ".join(short.out.split())


@pytest.mark.parametrize(("by", "told"), [("half", True), ("part", False)])
def test_rows_that_would_decide_are_simulated_for_few_groups(
    by: str, run: Run, grouped: Path, *, told: bool
) -> None:
    """Of many it would take a second each; what takes a formula is said of all, and a note says why not."""
    words = (*CHURN, "--by", by, "--max-smece", "0.01", "--max-ece", "0.01")
    report = run("verify", grouped, *words, "--json", code=4).document
    for one in report["slices"].values():
        assert (one["rules"]["max-smece"]["rows_needed"] is not None) is told
        assert one["rules"]["max-ece"]["rows_needed"] is not None
    said = "how many rows would decide max-smece is not said of more than 5 groups or classes"
    assert any(note.startswith(said) for note in report["notes"]) is not told


def test_groups_that_were_left_out_are_named(run: Run, grouped: Path) -> None:
    """Even where no group is left to judge."""
    ended = run(
        "verify", grouped, *CHURN, "--by", "half", "--max-ece", "0.1", "--min-group-rows", "2000", code=0
    )
    assert (
        "2 groups of fewer than 2,000 rows (--min-group-rows) are not tested: half a (1,500) and b (1,500)"
        in ended.out
    )


def test_baseline_score_of_the_same_rows(run: Run, grouped: Path) -> None:
    """The newer score is less noisy, through an artifact too; turned round, the gate fails."""
    ask = ["--max-regression", "0", "--regression-metric", "brier", "--json"]
    better = run("verify", grouped, *CHURN, "--baseline-score", "old", *ask, code=0)
    assert better.document["rules"]["regression:brier"]["method"] == "paired, Gaffke's bound"
    assert run("verify", grouped, "-s", "old", "-y", "label", "--baseline-score", "score", *ask).code == 1
    cal = Path("cal.json")
    run("fit", SAMPLE / "churn_calibration.parquet", *CHURN, "-m", "platt", "-o", cal, code=0)
    mapped = run("verify", grouped, *CHURN, "--artifact", cal, "--baseline-score", "old", *ask)
    assert mapped.code in (0, 1, 4), mapped.err


def test_weighted_rows_are_gated_by_bounds_for_these_rows(run: Run, csv_of: Make) -> None:
    """Losses, smece and a baseline on the same rows; approximate intervals of a report are refused."""
    rng = np.random.default_rng(0)
    score, weight = rng.random(2000), rng.pareto(1.5, 2000) + 1.0
    rows = zip(score, 0.8 * score + 0.1, rng.random(2000) < score, weight, strict=True)
    path = csv_of("score,old,label,w", *(f"{a:.6f},{b:.6f},{c:d},{d:.6f}" for a, b, c, d in rows))
    ask = (path, *CHURN, "-w", "w")
    rules = ("brier<=0.3", "log_loss<=0.9", "smece<=0.2", "ece<=0.2")
    passed = run("verify", *ask, "--json", *(word for one in rules for word in ("--rule", one)), code=0)
    found = passed.document["rules"]
    assert {(one["target"], one["finite_sample"]) for one in found.values()} == {("fixed-design", True)}
    beside = ("--baseline-score", "old", "--max-regression", "0.05", "--regression-metric", "brier", "--json")
    against = run("verify", *ask, *beside).document["rules"]["regression:brier"]
    assert (against["status"], against["finite_sample"]) == ("pass", True)
    base = Path("base.json")
    run("measure", *ask, "--json", "-o", base)
    refused = run("verify", *ask, "--baseline", base, *beside[2:], code=2)
    assert "its interval of brier is approximate" in refused.err
    run("verify", *ask, "--baseline", base, "--max-regression", "0.5", "--regression-metric", "ece", code=0)


def test_fit_rows_are_known_whatever_they_weigh(run: Run, csv_of: Make, tmp_path: Path) -> None:
    """Rows of a fit with weights passed without them in 100 of 100 tables, the other way round in 35."""
    rng = np.random.default_rng(0)
    score, weight = rng.random(200), rng.uniform(0.5, 1.5, 200)
    rows = zip(score, rng.random(200) < score, weight, strict=True)
    path, cal = csv_of("score,label,w", *(f"{a:.6f},{b:d},{c:.6f}" for a, b, c in rows)), tmp_path / "c.json"
    for fitted in ([], ["-w", "w"]):
        run("fit", path, *CHURN, *fitted, "-m", "platt", "-o", cal, "--force", code=0)
        for judged in ([], ["-w", "w"]):
            ended = run("verify", path, *CHURN, *judged, "--artifact", cal, "--max-ece", "0.9", code=3)
            assert "these are the 200 rows" in ended.err
            compared = run("compare", path, *CHURN, *judged, "--artifact", cal, "--fail-if-worse", code=3)
            assert "these are the 200 rows" in compared.err


def test_a_baseline_is_never_replaced(run: Run, thousand: Path) -> None:
    """Not even with --force: it is an input."""
    base = Path("base.json")
    run("measure", thousand, "--json", "-o", base)
    before = base.read_bytes()
    against = ("--baseline", base, "--max-regression", "0.5")
    run("verify", thousand, *against, "-o", base, "--force", "--json", code=5)
    assert base.read_bytes() == before


def test_a_score_of_few_values_may_be_judged_value_by_value(run: Run, csv_of: Make) -> None:
    """`--bins none` is then what is done anyway, and l2 and linf have bounds."""
    path = csv_of(
        "score,label", *(f"{(k % 4) / 4 + 0.125},{k % 7 < 1 + 2 * (k % 4):d}" for k in range(2_000))
    )
    words = ["verify", path, "--max-ece", "0.5", "--max-l2", "0.5", "--max-linf", "0.5", "--json"]
    one, two = run(*words), run(*words, "--bins", "none")
    assert one.code == 0, one.err
    assert one.out == two.out
    assert one.document["rules"]["max-ece"]["measure"] == "ece"


@pytest.mark.parametrize(
    ("rule", "who"),
    [
        ("smece<=0.5", "in the population"),
        ("smece>=0.05", "for these very scores"),
        ("smece<=0.01", "for these very scores"),
        ("smece>=0.5", "in the population"),
    ],
)
def test_the_bound_that_decided_says_for_whom(run: Run, rule: str, who: str) -> None:
    """Of smECE the upper bound speaks of the population, the lower one of these scores, either way round."""
    assert who in run("verify", EVALUATION, *CHURN, "--rule", rule).out.splitlines()[1]


def test_groups_beside_nothing_but_a_baseline_are_refused(run: Run, grouped: Path) -> None:
    """It is compared over all rows; beside a rule for the groups a note says so."""
    against = ["--baseline-score", "old", "--max-regression", "0.5", "--by", "half"]
    assert "compared over all rows" in run("verify", grouped, *CHURN, *against, code=2).err
    assert "not group by group" in run("verify", grouped, *CHURN, *against, "--max-ece", "0.5").out


def test_scores_of_exactly_0_or_1_keep_their_log_loss_open_above(run: Run, csv_of: Make) -> None:
    """No limit from above passes, one from below fails, and a baseline with one end can still pass."""
    path = csv_of(
        "score,label", *(f"{(0.0, 0.3, 1.0)[k % 3]},{k % 3 == 2 or k % 9 == 1:d}" for k in range(900))
    )
    open_one = run("verify", path, "--rule", "log_loss<=5", code=4)
    assert "there are scores of exactly 0 or 1, and one that is wrong" in open_one.out
    assert run("verify", path, "--rule", "log_loss<=0.01").code == 1
    old, new = (
        Path("old.json"),
        csv_of("score,label", *(f"0.3,{k % 10 < 3:d}" for k in range(900)), name="n.csv"),
    )
    assert run("measure", path, "--metric", "log_loss", "--json", "-o", old).code == 0
    ask = ["--baseline", old, "--regression-metric", "log_loss", "--max-regression"]
    assert run("verify", new, *ask, "0.9").code == 0
    assert run("verify", new, *ask, "0.0").code == 4


CALIBRATION = SAMPLE / "churn_calibration.parquet"


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a scaling-binning artifact fitted once for all tests."""
    path = tmp_path_factory.mktemp("plan") / "cal.json"
    words = ["fit", str(CALIBRATION), *CHURN, "-m", "scaling-binning", "-o", str(path), "-q"]
    assert main(words) == 0
    return path


@pytest.fixture
def unlabelled(csv_of: Make) -> Path:
    """Return 2,000 scores without a label."""
    score = np.random.default_rng(3).beta(1.0, 2.0, 2_000)
    return csv_of("score", *(repr(one) for one in score.tolist()), name="new.csv")


def planned(run: Run, *words: object) -> dict[str, Any]:
    """Return the plan as JSON, after looking whether it fits the published schema."""
    document = run("plan", *words, "--json", code=0).document
    check(document, "plan")
    assert not validator(DocumentKind.PLAN).is_valid({**document, "mood": "good"})
    return document


def test_fit_rows_of_a_discrete_artifact_say_where_scores_fall(run: Run, artifact: Path) -> None:
    """Ten outputs, each judged by itself; about 2.6 times fewer rows than by Theorem 12.4."""
    found = planned(run, "--max-ece", "0.02", "--artifact", artifact)
    assert found["measure"] == "ece"
    assert found["values"] == 10
    assert found["wanted"] == "pass"
    assert 12_000 < found["rows"] < 15_500
    assert found["rows_for_half"] < found["rows"]
    assert found["rows_by_theorem_12_4"] > 2.4 * found["rows"]
    assert 0.9 <= found["reached"] <= 0.95
    assert found["scores_from"] == f"the 50,000 rows that {artifact} was fitted on"
    assert found["input"] is None


def test_scores_of_a_file_need_no_label(run: Run, unlabelled: Path) -> None:
    """Scores alone are read; a continuous one is judged over 15 bins, as `verify` would."""
    found = planned(run, "--max-ece", "0.05", "--like", unlabelled)
    assert found["measure"] == "binned_ece"
    assert found["partition"] == "15 equal-width bins"
    assert found["input"]["label"] is None
    assert found["input"]["rows"] == 2_000
    assert found["input"]["notes"] == ["column 'score' was taken as the score; --score names another"]


def test_scores_of_a_file_go_through_the_artifact(run: Run, artifact: Path) -> None:
    """Where both are given, the file says how raw scores fall and the artifact what becomes of them."""
    both = planned(run, "--max-ece", "0.02", "--artifact", artifact, "--like", CALIBRATION, "-s", "score")
    alone = planned(run, "--max-ece", "0.02", "--artifact", artifact)
    assert both["values"] == 10
    assert both["rows"] == alone["rows"]


def test_continuous_artifact_is_planned_as_a_file_of_scores_is(run: Run) -> None:
    """A Platt fit holds quantiles of the scores it saw, which ask for nearly as many rows."""
    cal = Path("platt.json")
    assert run("fit", CALIBRATION, *CHURN, "-m", "platt", "-o", cal).code == 0
    found = planned(run, "--max-ece", "0.1", "--artifact", cal)
    like = planned(run, "--max-ece", "0.1", "--artifact", cal, "--like", CALIBRATION, "-s", "score")
    assert found["method"] == like["method"] == "betting, one look"
    assert found["rows"] == pytest.approx(like["rows"], rel=0.2)


def test_gate_that_is_asked_again_takes_more(run: Run, artifact: Path) -> None:
    """Any number of looks cost more rows than one, and the plan says how often it looked."""
    once = planned(run, "--max-ece", "0.02", "--artifact", artifact)
    again = planned(run, "--max-ece", "0.02", "--artifact", artifact, "--any-time")
    assert again["rows"] > once["rows"]
    assert again["method"] == "betting, any time"
    assert again["rows_between_looks"] == 400
    assert once["rows_between_looks"] is None
    assert any("check again" in one for one in again["assumptions"])


def test_error_above_the_limit_plans_a_fail(run: Run, artifact: Path) -> None:
    """With a true error beyond the limit the right verdict is a fail, and the report names the pattern."""
    found = planned(run, "--max-ece", "0.02", "--artifact", artifact, "--error", "0.06")
    assert found["wanted"] == "fail"
    assert found["pattern"] != "labels follow the scores"
    text = run("plan", "--max-ece", "0.02", "--artifact", artifact, "--error", "0.06").out
    assert "labelled rows to fail ECE <= 0.02." in text
    assert found["pattern"] in text


def test_other_rules_can_be_planned(run: Run, artifact: Path) -> None:
    """Theorem 12.4 speaks of the ECE alone, and no number stands beside the others."""
    found = planned(run, "--max-linf", "0.1", "--artifact", artifact)
    assert found["measure"] == "linf"
    assert found["rows_by_theorem_12_4"] is None
    assert found["rows"] > 100


def test_page_says_the_number_first(run: Run, artifact: Path) -> None:
    """The first line is the answer; what it supposes and what it is worth follow."""
    ran = run("plan", "--max-ece", "0.02", "--artifact", artifact, "-v")
    lines = ran.out.splitlines()
    assert lines[0].startswith("Collect about 14,")
    assert lines[0].endswith(" labelled rows to pass ECE <= 0.02.")
    assert "If labels follow the scores, a gate checked once after so many rows passes" in lines[1]
    assert "The textbook bound (Theorem 12.4 in docs/methods.md) would need" in ran.out
    assert "assumes  rows are independent draws" in ran.out
    assert "you will need more or fewer rows" in ran.out
    again = run("plan", "--max-ece", "0.02", "--artifact", artifact, "--any-time").out
    assert "a gate checked after every 400 rows has passed by then" in again


def test_limit_out_of_reach_is_said(run: Run, artifact: Path) -> None:
    """A limit next to the error takes more rows than anybody has."""
    words = ("plan", "--max-ece", "0.02", "--artifact", artifact, "--error", "0.0199999")
    assert run(*words).out.startswith(
        "More than 1,000,000,000 labelled rows would be needed to pass ECE <= 0.02."
    )


def test_seed_settles_every_digit(run: Run, artifact: Path) -> None:
    """The same seed gives the same bytes, another one hardly another number."""
    words = ("plan", "--max-ece", "0.03", "--artifact", artifact, "--json")
    first, second, other = run(*words), run(*words), run(*words, "--seed", "1")
    assert first.out == second.out
    rows = [one.document["rows"] for one in (first, other)]
    assert rows[0] == pytest.approx(rows[1], rel=0.06)


def test_rows_without_a_score_may_be_dropped(run: Run, csv_of: Make) -> None:
    """And are counted."""
    dropped = planned(
        run, "--max-ece", "0.2", "--like", csv_of("score,id", "0.5,1", ",2"), "--on-missing", "drop"
    )
    assert (dropped["input"]["rows"], dropped["input"]["dropped"]) == (1, 1)


def test_inspect_knows_a_plan(run: Run, artifact: Path) -> None:
    """`inspect` says what a plan was for and what it found."""
    path = Path("plan.json")
    assert run("plan", "--max-ece", "0.02", "--artifact", artifact, "--json", "-o", path).code == 0
    found = run("inspect", path, "--json").document
    assert found["kind"] == "plan of a gate"
    assert found["facts"]["gate"] == "ece <= 0.02"
    assert found["facts"]["rows"] == f"{json.loads(path.read_text())['rows']:,}"


SAID = "make up at most 2.4 % of future rows (95 % confidence)"


@pytest.fixture(scope="module")
def few_values(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write 200 rows of four values in three groups."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("values") / "few.csv"
    score, group = rng.choice([0.1, 0.3, 0.6, 0.9], 200), rng.choice(["a", "b", "c"], 200)
    return in_csv(path, {"score": score, "label": rng.random(200) < score, "group": group})


def test_every_output_says_what_values_were_not_seen(few_values: Path, run: Run) -> None:
    """Texts hold the sentence; JSON, rows and metrics hold the number."""
    gate = ("verify", few_values, *CHURN, "--max-linf", "0.3")
    files = {kind: Path(kind) for kind in ("junit", "md", "json", "openmetrics")}
    reports = [word for kind, path in files.items() for word in ("--report", f"{kind}={path}")]
    assert SAID in " ".join(run(*gate, *reports, "--report", "github", code=0).out.split())
    texts = {kind: path.read_text() for kind, path in files.items()}
    for kind in ("md", "junit", "json"):
        assert SAID in texts[kind].replace("\\", "").replace("&#10;", " "), kind
    (rule,) = json.loads(texts["json"])["rules"].values()
    share = rule["unseen_share"]
    assert 0.02 < share < 0.03
    assert f'calibcli_unseen_ratio{{rule="max-linf",group="all"}} {share!r}' in texts["openmetrics"]
    for kind in ("csv", "jsonl"):
        assert repr(share) in run(*gate, "--format", kind).out, kind


def test_a_gate_by_groups_says_what_groups_were_not_seen(few_values: Path, run: Run) -> None:
    """The note speaks of groups, whichever measure is judged; a gate on all rows has no such note."""
    gate = ("verify", few_values, *CHURN, "--max-ece", "0.5")
    note = "the gate speaks of the 3 groups seen here: groups not seen may hold up to 2.4 % of future rows"
    assert any(note in one for one in run(*gate, "--by", "group", "--json").document["notes"])
    assert "seen here" not in run(*gate, "--json").out
    none = run(*gate, "--by", "group", "--min-group-rows", "10000", "--json").document["notes"]
    assert any("no group was tested: the gate speaks of all rows together" in one for one in none)


def test_a_table_of_tests_has_no_empty_bounds(few_values: Path, run: Run) -> None:
    """Of groups judged by a p-value alone."""
    gate = ("verify", few_values, *CHURN, "--by", "group")
    assert "lower bound" in run(*gate, "--rule", "oe<=9").out.split("Groups by")[1]
    assert "bound" not in run(*gate, "--rule", "kuiper.p>=0.01").out.split("Groups by")[1]


def test_a_plan_says_what_the_rarest_value_gets(few_values: Path, run: Run) -> None:
    """Rows of the rarest value, and what later rows may have of others, stand beside the rows to collect."""
    notes = " ".join(
        run("plan", "--like", few_values, "-s", "score", "--max-linf", "0.2", "--json").document["notes"]
    )
    assert "the rarest value, " in notes
    assert "the gate will speak of the values seen, and up to " in notes


def test_a_plan_says_how_few_rows_are_judged_as_planned(run: Run) -> None:
    """Fifty values in as few rows as a plan asks for are none that `verify` would take one by one unasked."""
    few, often = Path("few.csv"), Path("often.csv")
    values = np.linspace(0.3, 0.7, 50).repeat(12)
    label = np.random.default_rng(0).random(values.size) < values
    in_csv(few, {"score": values, "label": label})
    in_csv(often, {"score": np.tile(values, 2), "label": np.tile(label, 2)})
    how = "of fewer than 1,000 rows verify would not judge each of the 50 values by itself"
    for way, told in ((("--like", few, "--binning", "atoms"), False), (("--like", often), True)):
        plan = run("plan", *way, "-s", "score", "--max-ece", "0.15", "--json").document
        assert plan["rows"] < 1_000
        assert any(one.startswith(how) for one in plan["notes"]) is told
    gate = ("verify", few, *CHURN, "--max-l2", "0.15")
    assert "pass --binning atoms to judge each of the 50 values here" in run(*gate).err
    assert "each distinct score by itself" in run(*gate, "--binning", "atoms").out


@pytest.mark.parametrize(
    ("line", "of"),
    [
        ("--max-ece 0.38", ["ECE"]),
        ("--max-ece 0.37", []),
        ("--max-smece 0.4 --max-dce 0.5 --rule linf.value<=0.1", ["smECE", "distance to calibration"]),
        ("--rule brier.upper<=0.9 --rule auroc.lower>=0.5", []),
        ("--max-ece 0.38 --state gate.json", ["ECE"]),
    ],
)
def test_a_limit_that_no_information_keeps_is_said(run: Run, line: str, of: list[str]) -> None:
    """A score of 0 in every row is off by the share of label 1, here 37.9 %."""
    rows = SAMPLE / "breast_cancer_evaluation.csv"
    notes = run("verify", rows, *line.split(), "--json").document["notes"]
    said = [note for note in notes if "says little here" in note]
    assert [note.split(" of the ")[1].partition(" says")[0] for note in said] == of
    assert all(note.endswith("off by 37.9 %, the share of label 1") for note in said)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (
            ["bias<=0.01"],
            "bias <= 0.01 limits one side alone, and passes at -0.2: --rule 'bias>=-0.01' limits",
        ),
        (
            ["oe.value<=1.2"],
            "oe.value <= 1.2 limits one side alone, and passes at 0.6: --rule 'oe>=0.8' limits",
        ),
        (["bias<=0.01", "bias>=-0.5"], None),
        (["bias<=0.3"], None),
        # That it is farther off may be chance: the bound is -0.175.
        (["bias<=0.19"], None),
        # Whose limit is the best value asks for a side: no rule limits the other.
        (["bias<=0", "oe<=1"], None),
        (["bias>=-0.3", "cox_slope<=9", "oe>=0.1", "auroc>=0.1", "brier<=0.9", "ece<=0.5"], None),
    ],
)
def test_a_limit_of_one_side_says_how_far_the_other_is_off(
    run: Run, tmp_path: Path, rules: list[str], said: str | None
) -> None:
    """Who asks for a bias of at most 0.01 may mean its size; a rule for the other side is enough."""
    rows = tmp_path / "a.csv"
    in_csv(rows, {"score": [0.5] * 1_000, "label": [1] * 300 + [0] * 700, "g": [1] * 100 + [0] * 900})
    gate = [word for rule in rules for word in ("--rule", rule)]
    found = run("verify", rows, *gate, "--json").document
    notes = [note for note in found["notes"] if "one side" in note]
    assert notes == ([] if said is None else [f"{said} the other"])
    if said is not None:
        grouped = run("verify", rows, *gate, "--by", "g", "--json").document["notes"]
        assert any(" in g=0: --rule " in note for note in grouped)
