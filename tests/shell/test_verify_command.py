"""`calibcli verify` with several rules, groups and baselines, from the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from command_line import CHURN, SAMPLE, Ran

Run = Callable[..., Ran]
EVALUATION = SAMPLE / "churn_evaluation.parquet"


@pytest.fixture
def grouped(tmp_path: Path) -> Path:
    """Return 3,000 calibrated rows in two columns of groups, and an older, noisier score."""
    generator = np.random.default_rng(5)
    score = generator.beta(1.0, 2.0, 3_000)
    old = np.clip(score + 0.2 * generator.standard_normal(3_000), 0.0, 1.0)
    label = generator.random(3_000) < score
    rows = [
        f"{f!r},{g!r},{y:d},{'ab'[k % 2]},x/{k % 15}\n"
        for k, (f, g, y) in enumerate(zip(score.tolist(), old.tolist(), label, strict=True))
    ]
    path = tmp_path / "grouped.csv"
    path.write_text("score,old,label,half,part\n" + "".join(rows))
    return path


def test_several_rules_are_judged_on_one_read(run: Run, thousand: Path) -> None:
    """Every kind of rule has its key, its verdict and its bounds; the gate is as its worst rule."""
    words = ["--max-ece", "0.2", "--max-smece", "0.2", "--max-dce", "0.3", "--rule", "ks.p>=0.0001"]
    more = ["--rule", "bias.value<=0.5", "--rule", "cox_slope >= 0.2", "--rule", "ece.lower<=0.01"]
    ended = run("verify", thousand, *words, *more, "--json")
    report = json.loads(ended.out)
    assert ended.code == 0, ended.err
    keys = ["bias.value<=0.5", "cox_slope.lower>=0.2", "ece.lower<=0.01", "ks.p>=0.0001"]
    assert sorted(report["rules"]) == [*keys, "max-dce", "max-ece", "max-smece"]
    rules = report["rules"]
    assert rules["ks.p>=0.0001"]["expr"] == "ks.p >= 0.0001"
    assert rules["ece.lower<=0.01"]["expr"] == "binned_ece.lower <= 0.01"
    assert rules["bias.value<=0.5"]["upper"] is None
    assert rules["max-ece"]["fail_confidence"] == pytest.approx(0.99)
    failing = run("verify", thousand, *words, "--rule", "bias.value>=0.5")
    assert failing.code == 1
    assert failing.out.startswith("FAIL  5 rules: 4 pass, 1 fail\n")


def test_reports_over_groups_fit_their_schema(run: Run, grouped: Path, tmp_path: Path) -> None:
    """Slices hold the rules of each group, whatever their names."""
    schema = json.loads(run("schema", "report").out)
    base = tmp_path / "base.json"
    run("measure", grouped, "-s", "old", "-y", "label", "--json", "-o", base)
    by = ["--by", "half", "--by", "part", "--max-ece", "0.5", "--rule", "ece.value<=0.4"]
    against = ["--baseline", base, "--max-regression", "0.1", "--json"]
    report = json.loads(run("verify", grouped, *CHURN, *by, "--min-group-rows", "100", *against).out)
    jsonschema.validate(report, schema)
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
    assert "each fails at 99.8387 % only (Bonferroni)" in short.out


def test_groups_that_were_left_out_are_named(run: Run, grouped: Path) -> None:
    """Even where no group is left to judge."""
    ended = run("verify", grouped, *CHURN, "--by", "half", "--max-ece", "0.1", "--min-group-rows", "2000")
    assert ended.code == 0
    assert (
        "2 groups of fewer than 2,000 rows (--min-group-rows) are not judged: half=a (1,500), half=b (1,500)"
        in ended.out
    )


def test_baseline_score_of_the_same_rows(run: Run, grouped: Path, tmp_path: Path) -> None:
    """The newer score is less noisy, through an artifact too; turned round, the gate fails."""
    ask = ["--max-regression", "0", "--regression-metric", "brier", "--json"]
    better = run("verify", grouped, *CHURN, "--baseline-score", "old", *ask)
    assert better.code == 0, better.err
    assert json.loads(better.out)["rules"]["regression:brier"]["method"] == "paired, one added row"
    assert run("verify", grouped, "-s", "old", "-y", "label", "--baseline-score", "score", *ask).code == 1
    cal = tmp_path / "cal.json"
    fitted = run("fit", SAMPLE / "churn_calibration.parquet", *CHURN, "-m", "platt", "-o", cal)
    assert fitted.code == 0
    mapped = run("verify", grouped, *CHURN, "--artifact", cal, "--baseline-score", "old", *ask)
    assert mapped.code in (0, 1, 4), mapped.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no rule to verify"),
        (["--max-ece", "0"], "a limit of 0"),
        (["--rule", "ece<0.1"], "a rule with <"),
        (["--max-ece", "0.1", "--bins", "none"], "Theorem 12.5"),
        (["--max-ece", "0.1", "--bins", "few"], "'few' bins"),
        (["--max-l2", "0.1"], "no number of rows bounds"),
        (["--max-linf", "0.1"], "no number of rows bounds"),
        (["--max-ece", "0.1", "--min-group-rows", "9"], "--min-group-rows without groups"),
        (["--max-ece", "0.1", "--batch", "a"], "--batch without --state"),
        (["--max-ece", "0.1", "--id", "a"], "--id without --state"),
        (["--max-ece", "0.1", "--planned-rows", "9"], "--planned-rows without --state"),
        (["--max-ece", "0.1", "--alarm"], "--alarm without --state"),
        (["--max-ece", "0.1", "--state", "s", "--by", "label"], "--state keeps one rule over all rows"),
        (["--max-ece", "0.1", "--max-regression", "0.1"], "--max-regression without a baseline"),
    ],
)
def test_questions_without_an_answer_are_usage_errors(
    run: Run, thousand: Path, words: list[str], message: str
) -> None:
    """Exit 2, one line of what and one of what to do."""
    ended = run("verify", thousand, "-s", "score", "-y", "label", *words)
    assert ended.code == 2, ended.err
    assert message in ended.err.splitlines()[0]
    assert ended.err.splitlines()[1].startswith("hint: ")
    assert ended.out == ""


def test_groups_on_a_grid_keep_to_its_cells(run: Run, grouped: Path, csv_of: Callable[..., Path]) -> None:
    """Bins that would cut cells, and values that a grid does not keep apart, are refused with the group."""
    ended = run(
        "verify", grouped, *CHURN, "--max-ece", "0.1", "--by", "half", "--bins", "11", "--memory", "1B"
    )
    assert ended.code == 2
    assert "would cut the cells of the grid tables that groups share (half=a)" in ended.err
    path = csv_of("score,label,g", *(f"{(k % 4) / 4 + 0.125},{k % 7 < 3:d},{k % 3}" for k in range(1_000)))
    few = run("verify", path, "--max-ece", "0.5", "--by", "g", "--memory", "1342B")
    assert few.code == 2
    assert "do not keep distinct scores apart (g=0)" in few.err


def test_a_baseline_is_never_replaced(run: Run, thousand: Path, tmp_path: Path) -> None:
    """Not even with --force: it is an input."""
    base = tmp_path / "base.json"
    run("measure", thousand, "--json", "-o", base)
    before = base.read_bytes()
    ended = run(
        "verify", thousand, "--baseline", base, "--max-regression", "0.5", "-o", base, "--force", "--json"
    )
    assert ended.code == 5
    assert base.read_bytes() == before


def test_a_score_of_few_values_may_be_judged_value_by_value(run: Run, csv_of: Callable[..., Path]) -> None:
    """`--bins none` is then what is done anyway, and l2 and linf have bounds."""
    path = csv_of(
        "score,label", *(f"{(k % 4) / 4 + 0.125},{k % 7 < 1 + 2 * (k % 4):d}" for k in range(2_000))
    )
    words = ["verify", path, "--max-ece", "0.5", "--max-l2", "0.5", "--max-linf", "0.5", "--json"]
    one, two = run(*words), run(*words, "--bins", "none")
    assert one.code == 0, one.err
    assert one.out == two.out
    assert json.loads(one.out)["rules"]["max-ece"]["measure"] == "ece"


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
    line = run("verify", EVALUATION, *CHURN, "--rule", rule).out.splitlines()[1]
    assert who in line


def test_groups_beside_nothing_but_a_baseline_are_refused(run: Run, grouped: Path) -> None:
    """It is compared over all rows; beside a rule for the groups a note says so."""
    against = ["--baseline-score", "old", "--max-regression", "0.5", "--by", "half"]
    refused = run("verify", grouped, *CHURN, *against)
    assert refused.code == 2
    assert "compared over all rows" in refused.err
    noted = run("verify", grouped, *CHURN, *against, "--max-ece", "0.5")
    assert "not group by group" in noted.out


def test_loss_rule_says_how_few_costly_rows_were_seen(run: Run, csv_of: Callable[..., Path]) -> None:
    """Three frauds in 10,000 rows settle no log loss, and what they do settle holds approximately."""
    rows = (f"{0.5 if k % 400 == 0 else 0.0005},{k % 800 == 0 or k < 4:d}" for k in range(10_000))
    path = csv_of("score,label", *rows)
    open_one = run("verify", path, "--rule", "log_loss<=0.007")
    assert open_one.code == 4
    assert "too few costly rows have been seen (about 3 of 40 needed): " in open_one.out
    assert "up to 1 row in 3,339 may be unlike these and lose 7.601" in open_one.out
    settled = run("verify", path, "--rule", "log_loss<=0.02")
    assert settled.code == 0
    assert "at approximately 95 % confidence" in settled.out.splitlines()[0]
    assert "a pass that is wrong has a probability of at most approximately 5 %" in settled.out


def test_scores_of_exactly_0_or_1_keep_their_log_loss_open_above(
    run: Run, csv_of: Callable[..., Path], tmp_path: Path
) -> None:
    """No limit from above passes, one from below fails, and a baseline with one end can still pass."""
    path = csv_of(
        "score,label", *(f"{(0.0, 0.3, 1.0)[k % 3]},{k % 3 == 2 or k % 9 == 1:d}" for k in range(900))
    )
    open_one = run("verify", path, "--rule", "log_loss<=5")
    assert open_one.code == 4
    assert "there are scores of exactly 0 or 1, and one that is wrong" in open_one.out
    assert run("verify", path, "--rule", "log_loss<=0.01").code == 1
    old, new = (
        tmp_path / "old.json",
        csv_of("score,label", *(f"0.3,{k % 10 < 3:d}" for k in range(900)), name="n.csv"),
    )
    assert run("measure", path, "--metric", "log_loss", "--json", "-o", old).code == 0
    ask = ["--baseline", old, "--regression-metric", "log_loss", "--max-regression"]
    assert run("verify", new, *ask, "0.9").code == 0
    assert run("verify", new, *ask, "0.0").code == 4
