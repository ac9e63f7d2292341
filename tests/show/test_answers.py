"""The plain sentences that a report opens with: each is shown by the rows, or says that it is not."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from calibcli.commands.measure import measure_table
from calibcli.commands.pictures.reliability import scores_of
from calibcli.names import Binning, ComparisonName, MeasureName, TestName
from calibcli.options.measuring import MeasureOptions, metrics_of
from calibcli.reports.drift import DriftGate
from calibcli.reports.input import InputSummary
from calibcli.reports.measure import ClusterSummary
from calibcli.show.answers import answer_of, document_of, psi_words, shift_size
from calibcli.show.html import number_sections, origin_section, verdict_sections
from calibcli.show.pages.measure import _valid
from calibcli.show.words import p_together
from calibcli.stats.curves import CurvePanels
from calibcli.stats.measures import TestResult
from calibcli.stats.measures.tests import CombinedTest
from calibcli.stats.table import ScoreTable, Weighing
from score_rows import scored_table

pytestmark = pytest.mark.usefixtures("few_draws")

ROWS = 4_000
SOURCE = InputSummary(("x.csv",), "score", "label", None, ROWS, 0, 0)


@cache
def measured(power: float, *metrics: str, rows: int = ROWS, shift: float = 0.0) -> Any:
    """Return a report of rows whose rate is a power of the score, plus some."""
    table = scored_table(rows, lambda score: score**power + shift, seed=5)
    requested: Any = metrics_of(metrics) if metrics else MeasureOptions().metrics
    return measure_table(table, SOURCE, options=MeasureOptions(requested))


@pytest.mark.parametrize(
    ("power", "said"),
    [
        (3.0, "Scores are too high"),
        (0.3, "Scores are too low"),
        (1.0, "No miscalibration could be shown in these 4,000 rows; an error of up to 0.0"),
    ],
)
def test_a_direction_is_said_where_it_is_shown(power: float, said: str) -> None:
    """Only bounds that leave the scores out say that these are too high or too low."""
    assert answer_of(measured(power))[0].startswith(said)


def test_both_ends_are_named_with_the_error_and_what_chance_makes_of_it() -> None:
    """The sentence that somebody may quote: where, by how much, how sure, and what chance would give."""
    table = scored_table(20_000, lambda score: 0.25 + 0.5 * score, seed=3)
    report = measure_table(table, SOURCE, options=MeasureOptions())
    (said,) = answer_of(report)
    ece = report.measures[0]
    assert ece.interval is not None
    lower, upper = ece.interval.ends
    assert said == (
        "Scores are too low below 0.467 and too high above 0.533: on average off by "
        f"{ece.value:.3f} (95 % CI {lower:.3f} to {upper:.3f}); chance alone would "
        f"give {ece.null:#.3g}."
    )


def test_nothing_lies_beyond_0_and_1() -> None:
    """Scores that say yes or no are off at these two, and nowhere below or above."""
    generator = np.random.default_rng(3)
    score = generator.integers(0, 2, 2_000).astype(np.float64)
    table = ScoreTable.from_rows(score, generator.random(2_000) < 0.25 + 0.5 * score)
    said, *_ = answer_of(measure_table(table, SOURCE, options=MeasureOptions()))
    assert said.startswith("Scores are too low at 0 and too high at 1: on average off by 0.2")
    third = ScoreTable.from_rows(score / 2, generator.random(2_000) < 0.25)
    said, *_ = answer_of(measure_table(third, SOURCE, options=MeasureOptions()))
    assert said.startswith("Scores are too low at 0 and too high from 0.5 on: ")


def test_a_range_near_1_does_not_begin_at_1() -> None:
    """Its end has the digits that tell it from the end of the scale."""
    generator = np.random.default_rng(0)
    score = 1.0 / (1.0 + np.exp(-generator.normal(9.0, 2.0, 20_000)))
    label = generator.random(20_000) < np.where(score > 0.9999, 0.97, score)
    options = MeasureOptions(binning=Binning.EQUAL_MASS)
    said, *_ = answer_of(measure_table(ScoreTable.from_rows(score, label), SOURCE, options=options))
    assert said.startswith("Scores are too high above 0.9999: on average off by 0.013")


def test_a_bias_that_no_range_shows_is_said_of_all_scores() -> None:
    """A few rows: no bin is shown to be off, all of them together are, with the sign as people say it."""
    first, second = answer_of(measured(1.0, "bias", "ece", rows=600, shift=-0.06))
    assert first.startswith("Scores are on average too high by 0.0")
    assert "CI 0.0" in first
    assert second.startswith("Range by range they are off by 0.0")


def test_nothing_is_claimed_where_nothing_was_tested(reports: dict[str, Any]) -> None:
    """Importance weights leave neither bands nor tests: the answer says that it cannot know."""
    report = reports["weighted"]
    alone = replace(report, measures=tuple(replace(one, interval=None) for one in report.measures[:1]))
    alone = replace(alone, tests=(), combined=None)
    assert answer_of(alone)[0].startswith("Nothing measured here can show whether the scores are calibrated")


@pytest.mark.parametrize(
    ("power", "mean", "weak", "moderate"),
    [
        (1.0, "No error is shown.", "No error is shown.", "No error is shown."),
        (
            3.0,
            "Fewer events occurred than predicted.",
            "Scores are too high on average and not extreme enough.",
            "The flexible calibration curve departs",
        ),
        (
            0.3,
            "More events occurred than predicted.",
            "Scores are too low on average",
            "The flexible calibration curve departs",
        ),
    ],
)
def test_clinical_measures_are_answered_level_by_level(
    power: float, mean: str, weak: str, moderate: str
) -> None:
    """Mean, weak, moderate, each by its own intervals; strong calibration is not tested."""
    found = answer_of(measured(power, "clinical"))
    assert [one.partition(" ")[0] for one in found] == ["Mean", "Weak", "Moderate", "Strong"]
    for sentence, words in zip(found, (mean, weak, moderate, "cannot test it"), strict=True):
        assert words in sentence
    assert not answer_of(measured(power, "oe,slope,ici"))[0].startswith("Mean calibration")


def test_clinical_measures_are_answered_for_each_score() -> None:
    """The sentences of one score name it where there are several, and what none can be told stands once."""
    first, second = measured(1.0, "clinical"), measured(3.0, "clinical")
    other = replace(second, input=replace(second.input, score="new model"))
    found = answer_of(replace(first, slices={"score=new model": other}))
    alone = [*answer_of(first)[:3], *answer_of(second)]
    named = [one.replace(" of score:", ":").replace(" of 'new model':", ":") for one in found]
    assert named[:7] == alone
    assert [" of 'new model': " in one for one in found[:7]] == [False] * 3 + [True] * 3 + [False]


@pytest.mark.parametrize(
    ("most_weight", "metrics", "said"),
    [
        (2.0, (), "3 rows gave probability 0 to what happened."),
        (1.0, ("ece",), "3 rows gave probability 0 to what happened. The ECE is 0."),
        (1.0, ("oe", "bias"), "3 rows gave probability 0 to what happened. The O/E ratio is "),
        (1.0, ("clinical",), " 3 rows gave probability 0 to what happened. Strong "),
        (1.0, ("auroc",), "3 rows gave probability 0 to what happened. The AUROC is 0."),
    ],
)
def test_a_certainty_that_was_wrong_is_said_whatever_is_measured(
    most_weight: float, metrics: tuple[str, ...], said: str
) -> None:
    """With weights and without tests, too: no calibrated score gives 0 to what happened."""
    generator = np.random.default_rng(8)
    score = generator.random(ROWS)
    label = generator.random(ROWS) < score
    score[:3], label[:3] = (0.0, 0.0, 1.0), (True, True, False)
    weight = None if most_weight == 1.0 else generator.uniform(1.0, most_weight, ROWS)
    table = ScoreTable.from_rows(score, label, Weighing(weight=weight))
    requested: Any = metrics_of(metrics) if metrics else MeasureOptions().metrics
    answer = " ".join(answer_of(measure_table(table, SOURCE, options=MeasureOptions(requested))))
    assert said in answer
    assert "No miscalibration" not in answer


def test_a_level_is_not_met_where_a_lower_one_is_not() -> None:
    """Few rows whose scores are too extreme show no error of the curve, and have one all the same."""
    report = measured(1.0, "clinical")
    slope = next(one for one in report.measures if one.name is MeasureName.COX_SLOPE)
    wrong = replace(slope, value=0.5, interval=replace(slope.interval, lower=0.4, upper=0.6))
    changed = replace(report, measures=tuple(wrong if one is slope else one for one in report.measures))
    _, weak, moderate, _ = answer_of(changed)
    assert weak.endswith("Scores are too extreme.")
    assert moderate.endswith("Not met, because a lower level is not met.")
    none = replace(report, measures=tuple(replace(one, interval=None) for one in report.measures))
    assert all("this cannot be decided" in one for one in answer_of(none)[:3])
    clustered = answer_of(replace(none, clusters=ClusterSummary("hospital", 30, 28.0)))
    assert all(one.endswith("Not tested.") for one in clustered[:3])
    assert "only bias, oe, observed_rate, mean_score" in clustered[-1]
    few = [replace(one, assumptions=("no interval: 8 clusters, fewer than 20",)) for one in none.measures]
    clustered = answer_of(replace(none, measures=tuple(few), clusters=ClusterSummary("hospital", 8, 7.9)))
    assert clustered[-1].endswith("dependent: no interval here allows for it: 8 clusters, fewer than 20.")


def test_an_interval_that_few_rows_carry_is_called_rough() -> None:
    """In the sentence of its level and where the page says what may be relied on, without being asked."""
    report = measured(1.0, "clinical", rows=40)
    weak = answer_of(report)[1]
    assert weak.count("(rough 95 % CI ") == 1
    slope = next(one for one in report.measures if one.name is MeasureName.COX_SLOPE)
    assert _valid(slope, report).startswith("rough: its noise is that of about ")
    assert _valid(slope, report).endswith(" rows; these rows")
    assert "rough" not in answer_of(measured(1.0, "clinical"))[1]


def test_too_few_events_tell_nothing_of_the_curve() -> None:
    """One row has no verdict, and neither have labels that are all the same."""
    report = measured(1.0, "clinical")
    ici = next(one for one in report.measures if one.name is MeasureName.ICI)
    for reason in ("fewer than 30 rows", "every label is the same"):
        none = replace(ici, interval=None, assumptions=(f"no interval: {reason}",))
        changed = replace(report, measures=tuple(none if one is ici else one for one in report.measures))
        assert answer_of(changed)[2].endswith("Too few events to tell.")


@pytest.mark.parametrize(
    ("metrics", "first"),
    [
        ("oe", "More events occurred than predicted: the O/E ratio is 1.0"),
        ("citl", "Scores are too low on average: the calibration intercept (CITL) is 0."),
        ("cox_intercept", "Scores near 0.5 are too low: the intercept of Cox's line is 0."),
        ("hl", "Scores are miscalibrated (Hosmer-Lemeshow test: p "),
        ("kuiper", "Scores are miscalibrated (Kuiper's test: p "),
        ("ks,hl", "Scores are miscalibrated (Kolmogorov-Smirnov test: p "),
        ("jeffreys", "Scores are too low on average (Jeffreys test: p "),
        ("binomial", "Scores are too low on average (binomial test: p "),
        ("l2", "Scores are miscalibrated, but these rows do not show where: the L2 calibration error is 0.0"),
        ("brier,oe", "More events occurred than predicted: the O/E ratio is 1.0"),
        ("slope", "No miscalibration could be shown"),
        ("auroc", "The AUROC is 0."),
        ("brier", "The Brier score is 0."),
    ],
)
def test_the_answer_is_built_from_what_was_asked_for(metrics: str, first: str) -> None:
    """An interval or test that shows an error is the answer; what cannot see one makes no claim of it."""
    assert answer_of(measured(1.0, metrics, rows=1000, shift=0.03))[0].startswith(first)


def test_an_interval_that_leaves_out_1_is_not_rounded_to_it() -> None:
    """Else the sentence would contradict itself: more events occurred, at least 1.00 times as many."""
    report = measured(1.0, "oe", rows=1000, shift=0.03)
    (ratio,) = report.measures
    near = replace(ratio, interval=replace(ratio.interval, lower=1.0004, upper=1.1))
    (said,) = answer_of(replace(report, measures=(near,)))
    assert said.endswith("(95 % CI 1.0004 to 1.10).")
    # Nor is the ratio itself, which would stand below its interval.
    near = replace(ratio, value=1.0006, interval=replace(ratio.interval, lower=1.0004, upper=1.0008))
    (said,) = answer_of(replace(report, measures=(near,)))
    assert said.endswith("the O/E ratio is 1.001 (95 % CI 1.0004 to 1.001).")


@pytest.mark.parametrize("psi", [0.09996, 0.1, 0.15003, 0.2499, 0.25004])
def test_an_index_is_not_rounded_to_a_limit(psi: float) -> None:
    """Neither to one of the convention nor to that of a gate: what is read off it is what is said of it."""
    report: Any = SimpleNamespace(gate=DriftGate(0.15, (), "pass"))
    said = float(psi_words(psi, report))
    assert (shift_size(said), said > 0.15) == (shift_size(psi), psi > 0.15)


def test_a_direction_of_all_scores_is_said_once_with_its_size() -> None:
    """Not first without a number and then with it."""
    found = answer_of(measured(1.0, "bias", rows=4000, shift=0.2))
    assert [one.partition(" by ")[0] for one in found] == ["Scores are on average too low"]


@pytest.mark.parametrize("metrics", ["jeffreys", "binomial", "binomial,hl"])
def test_no_sentence_of_the_answer_stands_twice(metrics: str) -> None:
    """Where ranges show the direction as well, what a test shows of all scores is still said once."""
    found = answer_of(measured(1.0, metrics, rows=2000, shift=0.1))
    assert any(one.startswith("Scores are too low ") for one in found)
    assert len(set(found)) == len(found)


def test_a_test_that_sees_one_side_makes_no_claim_of_the_other() -> None:
    """Scores that are too high do not reject; nothing is said of both sides."""
    (said,) = answer_of(measured(1.0, "jeffreys", rows=300, shift=-0.03))
    assert said.startswith(
        "These 300 rows do not show that scores are too low on average (Jeffreys test: p = "
    )
    assert said.endswith("; whether too high is not tested.")


@pytest.mark.parametrize("metrics", ["clinical", "auroc", "gini", "slope,oe", "brier,slope"])
def test_a_reversed_outcome_is_asked_about(metrics: str) -> None:
    """A slope below 0, or an AUROC below 1/2, comes before everything else."""
    generator = np.random.default_rng(5)
    score = generator.random(ROWS)
    table = ScoreTable.from_rows(score, generator.random(ROWS) > score)
    found = answer_of(measure_table(table, SOURCE, options=MeasureOptions(metrics_of([metrics]))))
    assert found[0].startswith(
        "The score ranks the wrong way: is it of the other class, or the outcome coded in reverse? The "
    )
    assert not any("too extreme" in one for one in found)


@pytest.mark.parametrize("metrics", ["binomial", "spiegelhalter", "binomial,spiegelhalter", "brier", "ece"])
def test_a_sure_row_that_was_wrong_is_said_once(metrics: str) -> None:
    """The answer of a test alone began and ended with it."""
    score, label = np.array([1.0] + [0.02] * 153), np.arange(154) > 150
    table = ScoreTable.from_rows(score, label)
    found = answer_of(measure_table(table, SOURCE, options=MeasureOptions(metrics_of([metrics]))))
    assert found.count("1 row gave probability 0 to what happened.") == 1


@pytest.mark.slow
@pytest.mark.parametrize("world", ["even", "ties", "thirty", "rare"])
def test_calibrated_rows_are_seldom_called_miscalibrated(world: str) -> None:
    """Of 400 calibrated samples at most 5 % are, within noise; weak evidence is said of more."""
    generator = np.random.default_rng(11)
    draw: dict[str, Callable[[], np.ndarray]] = {
        "even": lambda: generator.random(1000),
        "ties": lambda: generator.integers(0, 11, 1000) / 10,
        "thirty": lambda: generator.random(30),
        "rare": lambda: generator.beta(0.4, 400, 2000),
    }
    said: Counter[str] = Counter()
    for _ in range(400):
        score = draw[world]()
        table = ScoreTable.from_rows(score, generator.random(score.size) < score)
        said[answer_of(measure_table(table, SOURCE, options=MeasureOptions()))[0].split()[0]] += 1
    assert set(said) <= {"No", "Weak", "Scores"}
    assert said["Scores"] <= 33


def test_what_one_look_of_several_shows_is_weak_evidence() -> None:
    """Bounds of the bias leave 0 out at 95 %, neither tests nor ranges call for it with half of the error."""
    score = np.tile(np.linspace(0.02, 0.98, 49), 20)
    generator = np.random.default_rng(0)
    weak = []
    for _ in range(15):
        table = ScoreTable.from_rows(score, generator.random(score.size) < score - 0.02)
        report = measure_table(table, SOURCE, options=MeasureOptions())
        (first, *_) = answer_of(report)
        p = report.combined.p_value if report.combined is not None else None
        assert p is not None
        assert not (first.startswith("No") and p < 0.05)
        assert not (first.startswith("Weak") and p < 0.025)
        weak.append(first.startswith("Weak"))
    assert 0 < sum(weak) < 15


def test_an_interval_speaks_for_itself_where_no_test_is_defined() -> None:
    """Importance weights leave no test: an interval shows no less than where none was asked for."""
    score = np.tile(np.linspace(0.02, 0.98, 49), 8)
    label = np.random.default_rng(0).random(score.size) < 0.5
    weighing = Weighing(weight=np.linspace(0.5, 1.5, score.size))
    table = ScoreTable.from_rows(score, label, weighing)
    every, alone = (
        answer_of(measure_table(table, SOURCE, options=MeasureOptions(requested)))
        for requested in (MeasureOptions().metrics, metrics_of(["ece"]))
    )
    assert every == alone
    assert every[0].startswith("Scores are miscalibrated, but these rows do not show where: on average off")


@pytest.mark.parametrize(
    ("p_values", "methods", "said"),
    [
        ((0.001, 0.03), ("monte-carlo", "monte-carlo"), "at most 0.002"),
        ((0.002, 0.001), ("monte-carlo", "asymptotic"), "0.002"),
        ((0.0, 0.0), ("contradiction", "contradiction"), "0 (contradiction)"),
        ((0.8, 0.9), ("monte-carlo", "asymptotic"), "1"),
    ],
)
def test_tests_together_are_at_most_what_draws_can_show(
    p_values: tuple[float, float], methods: tuple[str, str], said: str
) -> None:
    """A multiple of the least that 999 draws can give is the most that it may be."""
    names = TestName.KUIPER, TestName.T
    tests = [
        TestResult(name, 1.0, p_value, method, None, ())
        for name, p_value, method in zip(names, p_values, methods, strict=True)
    ]
    assert p_together(CombinedTest(min(1.0, 2.0 * min(p_values)), names), tests) == said


def test_the_answer_opens_the_page_and_stands_in_json(reports: dict[str, Any]) -> None:
    """One sentence, three places: the page, the document, and the page of HTML that judges nothing."""
    report = reports["measure"]
    said = answer_of(report)
    assert document_of(report)["answer"] == " ".join(said)
    ((short,),) = (section.blocks for section in verdict_sections(report, None))
    assert [line.text for line in short.lines][: len(said)] == list(said)


def test_a_page_says_of_each_score_what_its_tests_come_to() -> None:
    """The p-value of the first is none of all."""
    first, second = measured(1.0), measured(3.0)
    other = replace(second, input=replace(SOURCE, score="other"))
    report = replace(first, slices={"score=other": other})
    ((short,),) = (section.blocks for section in verdict_sections(report, None))
    (said,) = [line.text for line in short.lines if line.text.startswith("The tests")]
    of_each = re.search(r"p-value (.+) of score and (.+) of other\.", said)
    assert of_each is not None
    assert of_each.groups() == tuple(p_together(one.combined, one.tests) for one in (first, second))


def test_a_further_score_is_shown_though_nothing_of_it_is_compared() -> None:
    """On a page, and in a picture: no difference of tests is taken."""
    other = replace(measured(3.0, "jeffreys"), input=replace(SOURCE, score="other"))
    report = replace(measured(1.0, "jeffreys"), slices={"score=other": other})
    assert [one.ident for one in number_sections(report, None)] == ["measures", "scores"]
    picture = scores_of(report).drawn.picture
    assert isinstance(picture, CurvePanels)
    assert [one.name for one in picture.panels] == ["score", "other"]


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (("a.csv",), "no digest: not on this machine, or over 1 GiB"),
        (("a.csv", "s3://b/b.csv"), "no digest: not all on this machine, or over 1 GiB together"),
    ],
)
def test_files_without_a_digest_say_why(files: tuple[str, ...], why: str, reports: dict[str, Any]) -> None:
    """Of several files one on another machine leaves all without: none is said to be there itself."""
    report = replace(reports["measure"], input=replace(reports["measure"].input, files=files))
    (listing,) = origin_section(report, files={}, artifact=None, seed=0).blocks
    assert [text for name, text in listing.items if name in files] == [why] * len(files)


def test_a_comparison_names_what_decided(reports: dict[str, Any]) -> None:
    """What is told apart comes first, with a number; where nothing is, the sentence says so."""
    report = reports["compare"]
    undecided = tuple(
        one
        for one in report.comparisons
        if one.difference.verdict is ComparisonName.NOT_TOLD_APART and one.difference.interval is not None
    )
    (said,) = answer_of(replace(report, comparisons=undecided))
    assert said.startswith("These rows do not show whether ")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("intercept", "citl_logit"),
        ("c", "auroc"),
        ("O/E", "oe"),
        ("bss", "brier_skill"),
        ("skill", "brier_skill"),
    ],
)
def test_measures_are_found_by_what_the_field_calls_them(typed: str, meant: str) -> None:
    """Short names of papers are those of measures."""
    assert [one.value for one in metrics_of([typed]).measures] == [meant]
