"""A gate on segments from the command line, from Python and for CI: one verdict, whatever holds the rows."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import calibcli
from command_line import CHURN, Run
from published import check

ON = ("--on", "country,age")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Return rows whose scores are too high by 0.15 for one country."""
    rng = np.random.default_rng(8)
    rows = 6_000
    found = pd.DataFrame({"score": np.round(rng.uniform(0.3, 0.6, rows), 2)})
    found["country"] = rng.choice(["BR", "DE", "LU"], rows, p=[0.5, 0.49, 0.01])
    found["age"] = rng.integers(18, 70, rows)
    found["times"] = rng.integers(0, 3, rows)
    chance = found["score"] - 0.15 * (found["country"] == "BR")
    found["label"] = (rng.random(rows) < chance).astype(int)
    return found


@pytest.fixture(scope="module")
def rows(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the rows as a file."""
    path = tmp_path_factory.mktemp("gate") / "rows.csv"
    frame.to_csv(path, index=False)
    return path


def judged(run: Run, *words: object, code: int) -> dict[str, Any]:
    """Return the report of a gate that ends so."""
    return run("verify", *words, *CHURN, "--json", code=code).document


@pytest.mark.parametrize(
    ("limit", "code", "status", "first"),
    [
        (0.05, 1, "fail", ["country = BR"]),
        (0.15, 4, "inconclusive", None),
        (0.25, 0, "pass", None),
    ],
)
def test_verdict_exit_code_and_the_segment_that_settles_it(
    run: Run, rows: Path, limit: float, code: int, status: str, first: list[str] | None
) -> None:
    """Exit codes are those of every gate; the report lists each segment and counts those too small."""
    report = judged(run, rows, "--max-segment-bias", limit, *ON, code=code)
    (rule,) = report["rules"].values()
    assert (report["verdict"]["status"], rule["status"]) == (status, status)
    segments = rule["segments"]
    assert segments["segments"][0]["status"] == status
    if first is not None:
        assert segments["segments"][0]["where"] == first
    assert segments["small"] == 5
    assert segments["small_rows"] == (pd.read_csv(rows)["country"] == "LU").sum()
    assert all("LU" not in " ".join(one["where"]) for one in segments["segments"])
    assert "not tested by themselves" in report["answer"]
    assert ("Even a model calibrated in every one of these segments takes more" in report["answer"]) is (
        code == 4
    )
    check(report, "report")
    text = run("verify", rows, "--max-segment-bias", limit, *ON, *CHURN, code=code)
    assert "5 segments of fewer than 100 rows are not tested by themselves" in text.out


def test_a_bound_next_to_the_limit_is_not_rounded_to_it(run: Run, rows: Path) -> None:
    """A segment that fails is shown to be beyond the limit."""
    (rule,) = judged(run, rows, "--max-segment-bias", 0.05, *ON, code=1)["rules"].values()
    limit = rule["lower"] - 1e-7
    said = judged(run, rows, "--max-segment-bias", limit, *ON, code=1)["answer"]
    assert float(re.findall(r"too high by at least ([\d.]+\d)", said)[0]) > limit


def test_one_verdict_whatever_holds_the_rows(run: Run, rows: Path, frame: pd.DataFrame) -> None:
    """Parquet, a frame and repeated rows give what CSV and weights of frequency give."""
    frame.to_parquet("rows.parquet")
    requested = ("--max-segment-bias", "0.15", *ON)
    expected = judged(run, rows, *requested, code=4)["rules"]
    assert judged(run, Path("rows.parquet"), *requested, code=4)["rules"] == expected
    found = calibcli.verify(
        frame, score="score", label="label", max_segment_bias=0.15, on=["country", "age"], depth=2
    )
    assert json.loads(json.dumps(found.to_dict()))["rules"] == expected
    counted = judged(run, rows, *requested, "-w", "times", "--weights-are", "frequency", code=4)["rules"]
    frame.loc[frame.index.repeat(frame["times"])].to_csv("repeated.csv", index=False)
    repeated = judged(run, Path("repeated.csv"), *requested, code=4)["rules"]
    assert repeated["max-segment-bias"]["segments"] == counted["max-segment-bias"]["segments"]


def test_limits_beside_each_other_share_the_error_of_a_fail(run: Run, rows: Path) -> None:
    """With a second rule a pass keeps its level, and a fail has half."""
    alone = judged(run, rows, "--max-segment-bias", 0.15, *ON, code=4)["rules"]["max-segment-bias"]
    both = judged(run, rows, "--max-segment-bias", 0.15, "--max-ece", 0.5, *ON, code=4)["rules"]
    one = both["max-segment-bias"]
    assert both["max-ece"]["status"] == "pass"
    assert one["upper"] == alone["upper"]
    assert one["lower"] < alone["lower"]
    assert one["fail_confidence"] == pytest.approx(0.975)
    rule = judged(run, rows, "--rule", "segment_bias.value<=0.5", *ON, code=0)["rules"]
    assert rule["segment_bias.value<=0.5"]["lower"] is None


@pytest.mark.parametrize(
    ("rule", "key", "code", "said"),
    [
        (
            "mce_p >= 0.01",
            "mce.p>=0.01",
            1,
            "a calibrated score is rejected with a probability of 0.01 at most",
        ),
        ("mce.p>=0.01", "mce.p>=0.01", 1, "fail; worst is country = BR (2,9"),
        ("mce<=0.3", "mce.upper<=0.3", 0, "is at most 0.3; a wrong PASS"),
        ("mce<=0.08", "mce.upper<=0.08", 4, "open: country = BR (2,9"),
        ("mce_sigma<=5", "mce_sigma.upper<=5", 1, "sigma at least "),
        ("mce_sigma.value<=90", "mce_sigma.value<=90", 0, "of these rows is at most 90"),
    ],
)
def test_rules_on_ranges_have_their_words(
    run: Run, rows: Path, rule: str, key: str, code: int, said: str
) -> None:
    """Verdict, segments with what is limited, and the same p-value and sigma as the search."""
    report = judged(run, rows, "--rule", rule, *ON, code=code)
    assert said in report["answer"]
    (found,) = [report["rules"][key]]
    check(report, "report")
    searched = run("segments", rows, *CHURN, *ON, "--json").document
    name = "mce_p" if ".p>" in key else key.partition(".")[0]
    assert found["value"] == searched[name]["value"]
    by_name = {tuple(one["where"]): one for one in searched["segments"]}
    every = found["segments"]["segments"]
    assert len(every) == searched["tested"]
    if ".p>" in key:
        assert all(one["value"] == by_name[tuple(one["where"])]["p_value"] for one in every)
    assert every[0]["where"] == ["country = BR"]
    text = run("verify", rows, "--rule", rule, *ON, *CHURN)
    assert "too few expected events or non-events are not tested" in text.out


@pytest.mark.parametrize(
    "rule", [("--max-segment-bias", 0.05), ("--rule", "mce_p>=0.01"), ("--rule", "mce<=0.1")]
)
def test_rows_of_one_label_conclude_nothing_of_any_segment(
    run: Run, frame: pd.DataFrame, rule: tuple[object, ...]
) -> None:
    """No segment fails by itself where the rows are too few of a kind."""
    frame.assign(label=1).to_csv("ones.csv", index=False)
    (found,) = judged(run, Path("ones.csv"), *rule, *ON, code=4)["rules"].values()
    assert found["reason"] == "0 rows have label 0, fewer than 10"
    assert {one["status"] for one in found["segments"]["segments"]} == {"inconclusive"}


def test_mce_without_columns_is_that_of_bins(run: Run, rows: Path) -> None:
    """What some call mce stays the largest error of bins where no column makes segments."""
    found = judged(run, rows, "--rule", "mce<=0.9", "--rule", "linf<=0.9", "--max-linf", "0.9", code=0)
    assert list(found["rules"]) == ["max-linf"]
    assert run("verify", rows, *CHURN, "--rule", "mce_p>=0.01").code == 2


def test_least_rows_depth_and_kinds_choose_what_is_judged(run: Run, rows: Path) -> None:
    """Fewer segments are judged with more rows each; the rest is counted."""

    def names(*words: object) -> set[str]:
        found = judged(run, rows, "--max-segment-bias", 0.25, *ON, *words, code=0)
        listed = found["rules"]["max-segment-bias"]["segments"]["segments"]
        return {" and ".join(one["where"]) for one in listed}

    assert names("--depth", 1, "--min-segment-rows", 2_000) == {"", "country = BR", "country = DE"}
    assert "age = 18" in names("--depth", 1, "--categorical", "age", "--max-values", 60)


def test_reports_for_servers_say_which_segments_were_not_judged(run: Run, rows: Path) -> None:
    """JUnit skips the small ones, metrics count every verdict, the summary has the table."""
    reports = (
        "--report=junit=gate.xml",
        "--report=openmetrics=gate.prom",
        "--report=md=gate.md",
        "--report=github",
    )
    ended = run("verify", rows, *CHURN, *ON, "--max-segment-bias", 0.05, *reports, code=1)
    suite = ET.parse("gate.xml").getroot()[0]  # noqa: S314 - our own file
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "1")
    assert "country = BR" in "".join(suite.itertext())
    found = Path("gate.prom").read_text(encoding="utf-8")
    assert 'calibcli_judged_segments{rule="max-segment-bias",group="all",verdict="none"} 5' in found
    assert 'verdict="fail"} ' in found
    assert "| country = BR" in Path("gate.md").read_text(encoding="utf-8")
    assert "country = BR" in ended.err


def test_defaults_come_from_a_file(run: Run, rows: Path) -> None:
    """What makes segments may stand in calibcli.toml, and is no burden for a gate that asks for none."""
    settings = '[verify]\non = ["country"]\ndepth = 1\nmin-segment-rows = 200\n'
    Path("calibcli.toml").write_text(settings, encoding="utf-8")
    found = judged(run, rows, "--max-segment-bias", 0.05, code=1)["rules"]["max-segment-bias"]["segments"]
    assert (found["columns"], found["depth"], found["least_rows"]) == (["country"], 1, 200)
    assert "max-ece" in judged(run, rows, "--max-ece", 0.5, code=0)["rules"]


STATE = ("--max-segment-bias", "0.08", *ON)


def batches_of(frame: pd.DataFrame, folder: Path) -> list[Path]:
    """Write the rows in four batches; the third has a country that those before have not."""
    found = []
    for day in range(4):
        own = frame[1_500 * day : 1_500 * (day + 1)].copy()
        if day == 2:
            own.loc[own.index[:200], "country"] = "XX"
        found.append(folder / f"{day}.csv")
        own.to_csv(found[-1], index=False)
    return found


def test_a_state_freezes_segments_at_the_first_look_and_adds_batches_up(
    run: Run, frame: pd.DataFrame, tmp_path: Path
) -> None:
    """Batches one by one and in one call give the same rows; new values are of no segment of their own."""
    files, state = batches_of(frame, tmp_path), Path("gate.json")
    for file in files:
        ended = run("verify", file, *CHURN, *STATE, "--state", state)
        assert ended.code in (1, 4), ended.err
    assert ended.code == 1
    assert "15 % of" not in ended.out
    assert "country = BR" in ended.out
    assert "(other)" not in ended.out
    assert "at the first look are not tested by themselves" in ended.out
    (rule,) = judged(run, *STATE, "--state", state, code=1)["rules"].values()
    names = {" and ".join(one["where"]) for one in rule["segments"]["segments"]}
    assert {"", "country = BR", "country = DE"} < names
    assert not any("XX" in one or "LU" in one for one in names)
    assert rule["any_time"]
    assert rule["rows"] == len(frame)
    together = Path("together.json")
    run("verify", *files, *CHURN, *STATE, "--state", together)
    kept, other = (json.loads(path.read_text()) for path in (state, together))
    assert kept["epochs"] == other["epochs"]
    assert kept["partition"] == other["partition"]
    check(kept, "gate")
    whole, by_day = Path("whole.csv"), Path("by_day.json")
    pd.concat(
        pd.read_csv(file, keep_default_na=False).assign(day=day) for day, file in enumerate(files)
    ).to_csv(whole, index=False)
    run("verify", whole, *CHURN, *STATE, "--by", "day", "--state", by_day)
    kept_by_day = json.loads(by_day.read_text())
    assert (kept_by_day["epochs"], kept_by_day["partition"]) == (kept["epochs"], kept["partition"])
    # The rows of a batch are counted once.
    assert run("verify", files[0], *CHURN, *STATE, "--state", state).code == 1
    assert json.loads(state.read_text()) == kept


def test_a_state_says_what_it_holds_and_how_to_ask_again(
    run: Run, frame: pd.DataFrame, tmp_path: Path
) -> None:
    """The line that `inspect` ends with is taken, looks are drawn, and other questions are refused."""
    files, state = batches_of(frame, tmp_path), Path("gate.json")
    run("verify", files[0], *CHURN, *STATE, "--state", state)
    looked = run("inspect", state)
    assert "segments by country, age" in looked.out
    again = looked.out.partition("next  calibcli ")[2].strip().replace("NEW.csv", str(files[1])).split()
    assert run(*again).code in (1, 4)
    assert run("plot", state, "--kind", "monitor", "-o", "looks.svg").code == 0
    assert "ias of the worst segment" in Path("looks.svg").read_text()
    for words, problem in [
        (["--depth", 1], "--depth 2 .* not .*--depth 1"),
        (["--min-segment-rows", 50], "--min-segment-rows 100, not .*--min-segment-rows 50"),
        (["--categorical", "age"], "not .*--categorical age"),
        (["--id", "times"], "--id with a limit for segments"),
        (["--bins", 10], "--max-segment-bias, which has no bins"),
    ]:
        ended = run("verify", files[2], *CHURN, *STATE, *words, "--state", state, code=2)
        assert re.search(problem, ended.err), ended.err
    few = Path("few.csv")
    frame[:60].to_csv(few, index=False)
    ended = run("verify", few, *CHURN, *STATE, "--state", "new.json", code=2)
    assert "makes 0 segments of 100 rows" in ended.err
    assert not Path("new.json").exists()


def test_a_state_through_an_artifact_and_by_frequency(run: Run, frame: pd.DataFrame) -> None:
    """Repeated rows are weights of frequency; the map is applied before segments are judged."""
    path, state = Path("rows.csv"), Path("weighted.json")
    frame.to_csv(path, index=False)
    run("verify", path, *CHURN, "-w", "times", "--weights-are", "frequency", *STATE, "--state", state)
    repeated = Path("repeated.csv")
    frame.loc[frame.index.repeat(frame["times"])].to_csv(repeated, index=False)
    run("verify", repeated, *CHURN, *STATE, "--state", "repeated.json")
    weighted, plain = (json.loads(one.read_text()) for one in (state, Path("repeated.json")))
    assert weighted["epochs"] == plain["epochs"]
    fitted = Path("cal.json")
    run("fit", path, *CHURN, "--method", "platt", "-o", fitted)
    fresh = frame.copy()
    fresh["label"] = np.random.default_rng(5).permutation(fresh["label"])
    fresh.to_csv("fresh.csv", index=False)
    mapped = Path("mapped.json")
    report = judged(run, Path("fresh.csv"), "--artifact", fitted, *STATE, "--state", mapped, code=4)
    (rule,) = report["rules"].values()
    once = judged(run, Path("fresh.csv"), "--artifact", fitted, *STATE, code=0)["rules"]
    listed = [
        {tuple(one["where"]): one for one in found["segments"]["segments"]}
        for found in (rule, *once.values())
    ]
    assert listed[0].keys() == listed[1].keys()
    for where, one in listed[0].items():
        assert one["bias"] == pytest.approx(listed[1][where]["bias"], abs=1e-9)
        assert one["upper"] >= listed[1][where]["upper"] - 1e-9


def test_a_plan_names_rows_for_the_smallest_segment_and_needs_no_label(
    run: Run, rows: Path, frame: pd.DataFrame
) -> None:
    """Scores and columns settle it; smaller segments are kept out by the option that the note names."""
    requested = ("--max-segment-bias", "0.05", *ON, "-s", "score")
    report = run("plan", rows, *requested, "--json", code=0).document
    check(report, "plan")
    assert report["measure"] == "segment_bias"
    assert report["partition"] == "15 segments by country, age"
    unlabelled = Path("unlabelled.parquet")
    frame.drop(columns="label").to_parquet(unlabelled)
    assert run("plan", unlabelled, *requested, "--json").document["rows"] == report["rows"]
    assert "with verify pass --min-segment-rows" in " ".join(report["notes"])
    fail = run("plan", rows, *requested, "--json", "--error", 0.15).document
    assert (fail["wanted"], fail["pattern"].startswith("only country = ")) == ("fail", True)
    for words, problem in [
        (
            ("--max-segment-bias", "0.05", "--artifact", "none.json", *ON),
            "no file of scores and columns|none.json",
        ),
        (("--max-segment-bias", "0.05"), "segments without --on"),
        (("--max-ece", "0.05", *ON), "--on without a rule about segments"),
        ((*requested, "--any-time"), "is for ece, not for segment_bias"),
        ((*requested, "--min-segment-rows", 10_000), "no segment of .* has 10,000 rows"),
    ]:
        refused = run("plan", rows, "-s", "score", *words)
        assert refused.code in (2, 3), words
        assert re.search(problem, refused.err), refused.err
