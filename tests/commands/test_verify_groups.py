"""Gates over groups of rows, and gates that compare with a baseline."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibcli.commands.compare import compare_files
from calibcli.commands.fit import fit_files
from calibcli.commands.measure import measure_files
from calibcli.commands.verify import verify_files
from calibcli.documents.sealed import sealed_text
from calibcli.errors import DocumentProblem, InputProblem, UsageProblem
from calibcli.names import FitMethod, MeasureName, VerdictName
from calibcli.options.fitting import FitOptions, MapOptions
from calibcli.options.gating import Regression, VerifyOptions
from calibcli.options.measuring import CompareOptions, MeasureOptions, metrics_of
from calibcli.options.numerals import in_full
from calibcli.options.rows import Columns, RowRequest
from calibcli.options.rules import largest, rule_of
from calibcli.reports.verify import VerifyReport
from calibcli.values import replace

M = MeasureName
RULES = (largest(M.ECE, 0.1), rule_of("bias.lower>=-0.08"))
BY = Columns("score", "label", by=("country",))
ALL = Columns("score", "label")
SHARES = {"US": 0.6, "DE": 0.3, "FR": 0.1}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Write the rows of some groups: calibrated, but for a shift of the French ones."""
    generator = np.random.default_rng(11)
    count = 6_000
    score = generator.beta(1.0, 2.0, count)
    old = np.clip(score + 0.1 * generator.standard_normal(count), 0.0, 1.0)
    country = generator.choice(list(SHARES), count, p=list(SHARES.values()))
    label = generator.random(count) < np.clip(score + 0.3 * (country == "FR"), 0.0, 1.0)
    folder = tmp_path_factory.mktemp("rows")

    def write(*names: str) -> str:
        path = folder / f"{'-'.join(names)}.csv"
        resolved = [
            f"{float(score[k])!r},{float(old[k])!r},{label[k]:d},{country[k]}\n"
            for k in range(count)
            if country[k] in names
        ]
        path.write_text("score,old,label,country\n" + "".join(resolved))
        return str(path)

    return write


def verify(path: str, columns: Columns = ALL, **requested: Any) -> VerifyReport:
    """Judge a file."""
    return verify_files(RowRequest([path], columns), options=VerifyOptions(**{"rules": RULES, **requested}))


def test_every_rule_is_judged_in_the_whole_and_in_each_group(rows: Callable[..., str]) -> None:
    """A group's verdict rests on the rows of the group alone: a pass as if it were judged by itself."""
    report = verify(rows(*SHARES), BY)
    assert list(report.groups) == ["country=DE", "country=FR", "country=US"]
    for name in SHARES:
        group, alone = report.groups[f"country={name}"], verify(rows(name))
        assert group.table == alone.table
        assert list(group.verdicts) == [rule.key for rule in RULES]
        for key, verdict in group.verdicts.items():
            single = alone.verdicts[key]
            assert verdict.value == single.value
            assert verdict.rows == single.rows
    assert (
        report.groups["country=US"].verdicts["max-ece"].upper == verify(rows("US")).verdicts["max-ece"].upper
    )


def test_a_fail_asks_for_more_where_many_claims_are_judged(rows: Callable[..., str]) -> None:
    """Eight claims: each passes at delta, each fails at delta / 8 (intersection-union and Bonferroni)."""
    report = verify(rows(*SHARES), BY, confidence=0.96)
    for _, _, verdict in report.every_verdict:
        assert verdict.claim.confidence == 0.96
        assert verdict.claim.confidence_of_fail == pytest.approx(1.0 - 0.04 / 8)
    strict = verify(rows("FR"), rules=RULES[:1], confidence=1.0 - 0.04 / 8).verdicts["max-ece"]
    assert report.groups["country=FR"].verdicts["max-ece"].lower == pytest.approx(strict.lower, abs=1e-12)
    assert report.groups["country=FR"].verdicts["max-ece"].outcome is VerdictName.FAIL
    assert report.outcome is VerdictName.FAIL


def test_rules_without_confidence_cost_the_others_nothing(rows: Callable[..., str]) -> None:
    """An estimate and a p-value are no claims with an error probability."""
    rules = (RULES[0], rule_of("bias.value<=0.5"), rule_of("ks.p>=0.001"))
    assert verify(rows("US"), rules=rules).verdicts["max-ece"].claim.fail_confidence is None


def test_groups_without_the_shifted_one_pass(rows: Callable[..., str]) -> None:
    """All pass, and so does the gate."""
    report = verify(rows("US", "DE"), BY, rules=RULES[:1])
    assert {verdict.outcome for _, _, verdict in report.every_verdict} == {VerdictName.PASS}
    assert report.outcome is VerdictName.PASS


def test_small_groups_are_inconclusive_unless_they_are_left_out(rows: Callable[..., str]) -> None:
    """Nothing hides: a group is judged as it is, or listed."""
    french = verify(rows(*SHARES), BY, least_rows=1_000).groups["country=FR"].verdicts["max-ece"]
    assert french.outcome is VerdictName.INCONCLUSIVE
    assert "fewer than --min-rows 1,000" in (french.reason or "")
    left = verify(rows(*SHARES), BY, least_group_rows=1_000)
    assert left.left_out == {"country=FR": french.rows}
    assert "country=FR" not in left.groups
    assert left.to_dict()["judged_groups"] == {
        "columns": ["country"],
        "judged": ["country=DE", "country=US"],
        "left_out": {"country=FR": french.rows},
        "least_rows": 1_000,
        "claims": 6,
    }


def test_groups_of_an_artifact_are_judged_at_its_outputs(rows: Callable[..., str]) -> None:
    """Each group is recalibrated first, and each output judged by itself."""
    _, text = fit_files(RowRequest([rows("US")], ALL), MapOptions(FitMethod.SCALING_BINNING), FitOptions())
    path = Path("cal.json")
    path.write_text(text)
    options = VerifyOptions(RULES[:1])
    report = verify_files(RowRequest([rows(*SHARES)], BY, artifact=str(path)), options=options)
    for group in report.groups.values():
        assert group.table.discrete
        assert group.table.distinct <= 10
        assert group.verdicts["max-ece"].claim.measure == "ece"


def measured(path: str, folder: Path, **requested: Any) -> str:
    """Measure a file and return its report."""
    report = measure_files(
        RowRequest([path], ALL), options=MeasureOptions(metrics_of(["ece", "brier"]), **requested)
    )
    place = folder / f"{len(list(folder.iterdir()))}.json"
    place.write_text(sealed_text(report.to_dict()))
    return str(place)


@pytest.mark.parametrize(
    ("place", "outcome"), [(1.1, VerdictName.PASS), (-0.1, VerdictName.FAIL), (0.5, VerdictName.INCONCLUSIVE)]
)
def test_regression_takes_the_far_ends_of_both_intervals(
    rows: Callable[..., str], tmp_path: Path, place: float, outcome: VerdictName
) -> None:
    """A report at 95 % leaves half of delta, so that both intervals are those of `measure` (Bonferroni)."""
    before, now = (measured(rows(*names), tmp_path) for names in (("US", "DE"), ("FR",)))
    old, new = (json.loads(Path(path).read_text())["measures"]["ece"] for path in (before, now))
    lower, upper = new["lower"] - old["upper"], new["upper"] - old["lower"]
    limit = lower + place * (upper - lower)
    verdict = verify(rows("FR"), rules=(), regression=Regression(limit, (M.ECE,), report=before)).verdicts[
        "regression:ece"
    ]
    assert (verdict.lower, verdict.upper) == pytest.approx((lower, upper))
    assert verdict.outcome is outcome
    assert verdict.claim.expression == f"ece - baseline <= {in_full(limit)}"


def test_an_l2_report_leaves_its_lower_end_the_whole_error(rows: Callable[..., str], tmp_path: Path) -> None:
    """It misses with all of 1 - confidence: a weak report is refused, and half is left for a fail.

    Beside a report of very many rows at 99 % fails were wrong in up to 7 % of 1,000 tables in place of 5.
    """

    def report(*names: str, confidence: float) -> str:
        options = MeasureOptions(metrics_of(["l2"]), confidence=confidence)
        place = tmp_path / f"{'-'.join(names)}-{confidence}.json"
        place.write_text(
            sealed_text(measure_files(RowRequest([rows(*names)], ALL), options=options).to_dict())
        )
        return str(place)

    before, now = report("US", "DE", confidence=0.99), report("FR", confidence=0.95)
    old, new = (json.loads(Path(path).read_text())["measures"]["l2"] for path in (before, now))
    asked = Regression(0.0, (M.L2,), report=before)
    verdict = verify(rows("FR"), rules=(), regression=asked).verdicts["regression:l2"]
    assert verdict.lower == pytest.approx(new["lower"] - old["upper"])
    with pytest.raises(UsageProblem, match="too low for verdicts"):
        verify(rows("FR"), regression=replace(asked, report=report("US", "DE", confidence=0.94)))
    usual = replace(asked, report=report("US", "DE", confidence=0.95))
    assert verify(rows("FR"), rules=(), regression=usual).verdicts["regression:l2"].lower == pytest.approx(
        new["lower"] - json.loads(Path(str(usual.report)).read_text())["measures"]["l2"]["upper"]
    )


def test_regression_beside_other_claims_cannot_fail_on_a_weak_report(
    rows: Callable[..., str], tmp_path: Path
) -> None:
    """Its interval has spent what a fail may be wrong with: there is no lower bound, and why is said."""
    requested = Regression(0.01, (M.ECE,), report=measured(rows("US"), tmp_path))
    verdict = verify(rows("FR"), regression=requested).verdicts["regression:ece"]
    assert verdict.lower is None
    assert "no fail can be shown: measure the baseline with --confidence" in (verdict.reason or "")
    strong = Regression(0.01, (M.ECE,), report=measured(rows("US"), tmp_path, confidence=0.999))
    assert verify(rows("FR"), regression=strong).verdicts["regression:ece"].outcome is VerdictName.FAIL


def test_baselines_that_cannot_be_compared_are_refused(rows: Callable[..., str], tmp_path: Path) -> None:
    """Too little confidence, other bins, a measure that is not there, and what is no report."""

    def against(path: str, name: MeasureName = M.ECE) -> VerifyReport:
        return verify(rows("US"), regression=Regression(0.01, (name,), report=path))

    with pytest.raises(UsageProblem, match="too low for verdicts") as weak:
        against(measured(rows("DE"), tmp_path, confidence=0.9))
    assert "--confidence 0.95" in (weak.value.hint or "")
    with pytest.raises(UsageProblem, match="over 20 equal-width bins, and here it would be over 15"):
        against(measured(rows("DE"), tmp_path, bins=20))
    with pytest.raises(UsageProblem, match="holds no dce"):
        against(measured(rows("DE"), tmp_path), M.DCE)
    with pytest.raises(InputProblem, match="no such file"):
        against("none.json")
    other = Path("other.json")
    other.write_text('{"schema": "calibcli.compare/1"}')
    with pytest.raises(DocumentProblem, match=r"other\.json"):
        against(str(other))


def test_same_rows_and_another_artifact_are_noted(rows: Callable[..., str], tmp_path: Path) -> None:
    """What the reader of a comparison should know is said."""
    requested = Regression(0.01, (M.ECE,), report=measured(rows("US"), tmp_path))
    assert any("--baseline-score" in note for note in verify(rows("US"), regression=requested).notes)


def test_baseline_score_is_compared_row_by_row(rows: Callable[..., str]) -> None:
    """The Brier score by the paired interval of `compare`, the ECE by two intervals at once."""
    requested = Regression(0.001, (M.BRIER, M.ECE), score="old")
    path = rows("US", "DE")
    verdicts = verify(path, rules=(), regression=requested, confidence=0.9).verdicts
    columns = Columns("old", "label", others=("score",))
    claims = 2

    def compared(name: MeasureName, confidence: float) -> Any:
        options = CompareOptions((name,), confidence=confidence)
        return compare_files(RowRequest([path], columns), options=options).comparisons[0].difference

    brier = verdicts["regression:brier"]
    assert brier.outcome is VerdictName.PASS
    assert brier.upper == pytest.approx(compared(M.BRIER, 0.8).interval.upper)
    assert brier.lower == pytest.approx(compared(M.BRIER, 1.0 - 0.2 / claims).interval.lower)
    ece = verdicts["regression:ece"]
    assert ece.upper == pytest.approx(compared(M.ECE, 0.8).interval.upper)
    assert ece.lower == pytest.approx(compared(M.ECE, 1.0 - 0.2 / claims).interval.lower)


def test_no_baseline_is_no_question() -> None:
    """Without any of the options there is nothing to compare; else the ECE is."""
    assert Regression.of(None, None, limit=None, measures=None) is None
    assert Regression.of("a", None, limit=0.0, measures=None) == Regression(0.0, (M.ECE,), report="a")
