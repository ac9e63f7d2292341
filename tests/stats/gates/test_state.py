"""A state counts batches, looks after each, and keeps what was once shown."""

import json
import math
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.documents.sealed import document_of
from calibcli.documents.state import from_dict, state_text
from calibcli.errors import DocumentProblem, UsageProblem
from calibcli.names import DEFAULT_LEAST_ROWS, MeasureName, VerdictName, ViewName
from calibcli.show.pages.verify import verdict_paragraph
from calibcli.stats.gates import state as gate_state
from calibcli.stats.gates.cells import Partition, sums_of
from calibcli.stats.gates.claim import Verdict
from calibcli.stats.gates.growth import Incoming, grown, merged
from calibcli.stats.gates.state import (
    TWO_POPULATIONS,
    GateState,
    SeenClasses,
    differences,
    own_error,
    verdict_of,
)
from calibcli.stats.table import ScoreTable
from gate_rows import ATOMS, FIFTEEN, TEN, begun, rows_of, table_of_rows
from published import check

pytestmark = pytest.mark.usefixtures("few_draws")


def fed(state: GateState, *tables: ScoreTable) -> GateState:
    """Return the state after batches called 0, 1, ..."""
    return reduce(lambda s, pair: s.counted(pair[1], key=str(pair[0])), enumerate(tables), state)


@given(
    st.integers(0, 10**6),
    st.lists(st.floats(0, 1), max_size=6),
    st.sampled_from([ATOMS, FIFTEEN, Partition.of_bins(17)]),
    st.sampled_from(["batches", "shards"]),
)
def test_any_split_order_and_shards_give_the_same_sums_and_evidence(
    seed: int, ends: list[float], partition: Partition, how: str
) -> None:
    """One batch, many batches in any order, and merged shards of them hold the same bits."""
    generator = np.random.default_rng(seed)
    score, label = rows_of(generator, 1500, outputs=partition.outputs, off=0.02)
    whole = begun(partition).counted(ScoreTable.from_rows(score, label), key="whole")
    order = generator.permutation(1500)
    places = sorted(int(end * 1500) for end in ends)
    cut = zip(np.split(score[order], places), np.split(label[order], places), strict=True)
    tables = [ScoreTable.from_rows(f, y) for f, y in cut if f.size]
    if how == "shards":
        shards = [begun(partition).counted(one, key=f"{i}") for i, one in enumerate(tables)]
        found = merged([(f"{i}", shards[i]) for i in generator.permutation(len(shards))])
    else:
        found = fed(begun(partition), *tables)
    assert found.sums == whole.sums
    mine, theirs = found.look(), whole.look()
    assert (mine.value, mine.log_pass, mine.log_fail) == (theirs.value, theirs.log_pass, theirs.log_fail)


def words_of(verdict: Verdict) -> str:
    """Return what the page says of a verdict."""
    return " ".join(line.text for line in verdict_paragraph(verdict, verbose=True).lines)


def test_a_calibrated_score_passes_and_a_wrong_one_fails() -> None:
    """With rows enough each verdict is the right one, and says after how many rows it was reached."""
    generator = np.random.default_rng(3)
    good = fed(begun(limit=0.05), *(table_of_rows(generator, 500, outputs=TEN) for _ in range(8)))
    bad = fed(begun(limit=0.02), *(table_of_rows(generator, 500, outputs=TEN, off=0.04) for _ in range(16)))
    first, second = verdict_of(good), verdict_of(bad)
    assert (first.outcome, second.outcome) == (VerdictName.PASS, VerdictName.FAIL)
    assert first.evidence is not None
    assert first.evidence.passed_at in range(500, 4001, 500)
    assert first.evidence.looks == 8
    assert second.evidence is not None
    assert second.evidence.failed_at is not None
    assert first.upper is not None
    assert second.lower is not None
    assert first.upper <= 0.05
    assert second.lower > 0.02


def test_a_pass_once_reached_stands_while_the_estimate_is_within_the_limit() -> None:
    """Evidence that falls again takes no pass back, but that the bound has passed the limit is said."""
    generator = np.random.default_rng(5)
    state = fed(begun(limit=0.05), *(table_of_rows(generator, 1000, outputs=TEN) for _ in range(4)))
    assert state.passed_at is not None
    later = state.counted(table_of_rows(generator, 4000, outputs=TEN, off=0.09), key="later")
    assert later.look().log_pass < later.terms.threshold
    assert later.passed_at == state.passed_at
    verdict = verdict_of(later)
    assert verdict.outcome is VerdictName.PASS
    assert verdict.value <= 0.05 < (verdict.upper or 0.0)
    then = f"shown at {later.passed_at:,} rows; over all 8,000 rows the upper bound is above the limit"
    assert verdict.reason == then
    assert verdict_of(state).reason is None
    assert f"{then[:1].upper()}{then[1:]}." in words_of(verdict)
    assert f"in the population of the first {later.passed_at:,} rows is at most 0.05;" in words_of(verdict)
    assert "in the population these rows come from is at most 0.05;" in words_of(verdict_of(state))


def test_a_pass_does_not_stand_once_the_estimate_is_above_the_limit() -> None:
    """Rows that drift away leave nothing concluded; the pass stands again once the estimate does."""
    generator = np.random.default_rng(5)
    state = fed(begun(limit=0.05), *(table_of_rows(generator, 1000, outputs=TEN) for _ in range(4)))
    drifted = state.counted(table_of_rows(generator, 6000, outputs=TEN, off=0.09), key="later")
    verdict = verdict_of(drifted)
    assert (drifted.passed_at, drifted.failed_at) == (state.passed_at, None)
    assert verdict.outcome is VerdictName.INCONCLUSIVE
    assert verdict.value > 0.05
    assert verdict.needed is None
    assert verdict.reason == (
        f"it passed at {state.passed_at:,} rows, but over all 10,000 rows the estimate is above the limit: "
        "the population may have changed; --alarm watches for that"
    )
    assert verdict.reason in words_of(verdict)
    back = drifted.counted(table_of_rows(generator, 20000, outputs=TEN), key="back")
    assert verdict_of(back).outcome is VerdictName.PASS


def test_a_fail_once_reached_stands_and_says_when_it_was_shown() -> None:
    """Later rows without error take no fail back, but that they lower the bound is said."""
    generator = np.random.default_rng(6)
    state = begun(limit=0.05).counted(table_of_rows(generator, 2000, outputs=TEN, off=0.15), key="a")
    assert verdict_of(state).reason is None
    later = state.counted(table_of_rows(generator, 3500, outputs=TEN), key="b")
    verdict = verdict_of(later)
    assert verdict.outcome is VerdictName.FAIL
    assert (verdict.lower or 0.0) <= 0.05
    assert verdict.reason == (
        "shown at 2,000 rows; over all 5,500 rows the lower bound is not above the limit"
    )
    assert "Shown at 2,000 rows" in words_of(verdict)
    assert "in the population of the first 2,000 rows is above 0.05;" in words_of(verdict)
    assert "in the population these rows come from is above 0.05;" in words_of(verdict_of(state))


def test_both_verdicts_mean_two_populations() -> None:
    """A state that has passed and then fails says that its rows cannot be of one population."""
    generator = np.random.default_rng(5)
    state = fed(begun(limit=0.05), *(table_of_rows(generator, 1000, outputs=TEN) for _ in range(4)))
    score = generator.choice(TEN, 20000)
    state = state.counted(ScoreTable.from_rows(score, generator.random(20000) < 0.5), key="broken")
    verdict = verdict_of(state)
    assert (verdict.outcome, verdict.reason) == (VerdictName.FAIL, TWO_POPULATIONS)


def test_too_few_rows_conclude_nothing_and_are_not_held_against_later_looks() -> None:
    """Below --min-rows, or ten of the rarer label, neither verdict is given or remembered."""
    wrong = ScoreTable(np.array([0.05]), np.array([95]), np.array([90]))
    state = begun(limit=0.02).counted(wrong, key="a")
    verdict = verdict_of(state)
    assert state.look().log_fail > state.terms.threshold
    assert verdict.outcome is VerdictName.INCONCLUSIVE
    assert verdict.reason == "95 rows are fewer than --min-rows 100"
    assert verdict_of(state, least_rows=50).reason == "5 rows have label 0, fewer than 10"
    assert state.failed_at is None
    assert (
        state.counted(ScoreTable(np.array([0.05]), np.array([10]), np.array([0])), key="b").failed_at == 105
    )


@pytest.mark.parametrize("off", [0.0, 0.25])
def test_the_distance_to_calibration_is_judged_too(off: float) -> None:
    """A calibrated continuous score passes on dce, one that errs by more than the limit fails."""
    generator = np.random.default_rng(11)
    state = begun(Partition.of_bins(20, halved=True), limit=0.1, measure=MeasureName.DCE)
    score = generator.random(6000) * 0.7
    table = ScoreTable.from_rows(score, generator.random(6000) < score + off)
    verdict = verdict_of(state.counted(table, key="a"))
    assert verdict.outcome is (VerdictName.FAIL if off else VerdictName.PASS)
    assert verdict.claim.measure == "dce"


def test_looks_are_remembered_in_order() -> None:
    """Every batch keeps what the gate said after it."""
    generator = np.random.default_rng(2)
    state = fed(begun(), *(table_of_rows(generator, 200, outputs=TEN) for _ in range(3)))
    assert [batch.look.rows for batch in state.batches if batch.look] == [200, 400, 600]
    ones = state.sums.total_positive
    assert state.batches[-1].look == replace(state.look(), positive=ones, least=DEFAULT_LEAST_ROWS)
    assert state.looks == 3


def boundary_stream(generator: np.random.Generator, looks: int) -> list[ScoreTable]:
    """Return batches of 100 rows over ten outputs whose true error is 0.05 at each, by turns."""
    sign = np.where(np.arange(10) % 2 == 0, 1, -1)
    found = []
    for _ in range(looks):
        place = generator.integers(0, 10, 100)
        score = np.array(TEN)[place]
        found.append(ScoreTable.from_rows(score, generator.random(100) < score + 0.05 * sign[place]))
    return found


def test_at_the_boundary_hardly_any_of_many_looks_is_wrong() -> None:
    """With a true error of exactly the limit, few of 10 streams ever pass or ever fail in 40 looks each."""
    generator = np.random.default_rng(20)
    passed = failed = 0
    for _ in range(10):
        state = fed(begun(limit=0.05), *boundary_stream(generator, 40))
        passed += state.passed_at is not None
        failed += state.failed_at is not None
    # Of 10 streams more than 4 would have a probability below 1e-5 at a true rate of 5 %.
    assert max(passed, failed) <= 4


def test_evidence_has_mean_at_most_one_where_the_claim_doubted_is_true() -> None:
    """Both e-values at the boundary, and that against calibration under calibration, are e-values."""
    generator = np.random.default_rng(21)
    found = []
    for _ in range(120):
        table = boundary_stream(generator, 1)[0]
        alarm = begun(limit=None, alarm=True).counted(table_of_rows(generator, 100, outputs=TEN), key="a")
        look = begun(limit=0.05).counted(table, key="a").look()
        # An alarm gives its first start half of its weight.
        found.append(
            [math.exp(look.log_pass or 0.0), math.exp(look.log_fail), 2 * math.exp(alarm.look().log_fail)]
        )
    means, spread = np.mean(found, axis=0), np.std(found, axis=0) / math.sqrt(120)
    assert np.all(means <= 1 + 5 * spread)


def batch(seed: int) -> Incoming:
    """Return a batch as a table."""
    table = table_of_rows(np.random.default_rng(seed), 400, outputs=TEN)
    return Incoming(f"b{seed}", f"digest {seed}", f"b{seed}.csv", table)


def plain(state: GateState) -> GateState:
    """Return a state as it was before looks kept bounds."""
    batches = [
        replace(one, look=None if one.look is None else replace(one.look, lower=None, upper=None))
        for one in state.batches
    ]
    return replace(state, batches=tuple(batches))


def test_each_look_keeps_the_bounds_of_the_verdict_then() -> None:
    """After every batch the bounds are those that `verify` prints, whatever comes later."""
    state, said = begun(), []
    for seed in range(3):
        state = grown(state, (batch(seed),)).state
        verdict = verdict_of(state)
        said.append((verdict.lower, verdict.upper))
    looks = [one.look for one in state.batches if one.look is not None]
    assert [(look.lower, look.upper) for look in looks] == said


def test_bounds_come_back_from_disk_and_fit_the_schema() -> None:
    """And a state that was written before they were kept is read as it always was."""
    for state in (grown(begun(), (batch(0),)).state, plain(grown(begun(), (batch(0),)).state)):
        document = json.loads(state_text(state))
        check(document, "gate")
        again = from_dict(document_of(document))
        assert again.batches == state.batches
        assert state_text(again) == state_text(state)


def test_a_merged_state_and_an_alarm_have_none() -> None:
    """Merged batches were no looks at the rows together, and an alarm gives no bounds."""
    shards = [("a", grown(begun(), (batch(0),)).state), ("b", plain(grown(begun(), (batch(1),)).state))]
    assert "lower" not in state_text(merged(shards))
    assert '"lower"' not in state_text(grown(begun(limit=0.02, alarm=True), (batch(0),)).state)


@pytest.mark.parametrize(
    ("damage", "place"),
    [
        ({"lower": 0.9}, "upper"),
        ({"upper": 1.5}, "upper"),
        ({"lower": None}, "lower"),
    ],
)
def test_bounds_that_cannot_be_are_refused(damage: dict[str, object], place: str) -> None:
    """Ends out of order or outside [0, 1] are named with their place."""
    document = json.loads(state_text(grown(begun(), (batch(0),)).state))
    document["batches"][0]["look"] |= damage
    with pytest.raises(DocumentProblem) as problem:
        from_dict(document_of(document))
    assert problem.value.path == f"$.batches[0].look.{place}"


CAT = SeenClasses(ViewName.TOP_LABEL, "cat", ("ant", "cat"))


def state_of(seen: SeenClasses | None, *, key: str = "a", seed: int = 1) -> GateState:
    """Return a state that looks at several classes so."""
    start = begun()
    rows = table_of_rows(np.random.default_rng(seed), 200, outputs=TEN)
    return replace(start, terms=replace(start.terms, classes=seen)).counted(rows, key=key)


@pytest.mark.parametrize("seen", [None, CAT, SeenClasses(ViewName.CONFIDENCE, None, ("ant", "cat"))])
def test_state_of_classes_comes_back_from_its_text(seen: SeenClasses | None) -> None:
    """With the same terms and the same text, as its schema says; one score leaves no trace of classes."""
    state = state_of(seen)
    document = json.loads(state_text(state))
    check(document, "gate")
    again = from_dict(document_of(document))
    assert (again.terms, state_text(again)) == (state.terms, state_text(state))
    assert ("classes" in document["input"]) is (seen is not None)


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        ({"names": ["cat"]}, "names", "two different classes"),
        ({"names": ["cat", "cat"]}, "names", "two different classes"),
        ({"class": "cow"}, "class", "does not go with"),
        ({"class": None}, "class", "does not go with"),
        ({"view": "confidence"}, "class", "does not go with"),
        ({"view": "sideways"}, "view", "one of"),
        ({"mood": "good"}, "classes", "unknown key"),
    ],
)
def test_damaged_classes_are_refused(change: dict[str, Any], place: str, said: str) -> None:
    """The message names the place."""
    document = json.loads(state_text(state_of(CAT)))
    document["input"]["classes"].update(change)
    with pytest.raises(DocumentProblem, match=said) as caught:
        from_dict(document_of(document))
    assert caught.value.path.endswith(place)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (None, "scores: of several classes, not of two classes"),
        (replace(CAT, one_class="ant"), "view: top-label of 'cat', not top-label of 'ant'"),
        (SeenClasses(ViewName.ONE_VS_REST, "cat", CAT.names), "not one-vs-rest of 'cat'"),
        (replace(CAT, names=("cat", "ant")), "classes: ant, cat, not cat, ant"),
    ],
)
def test_other_classes_are_other_terms(other: SeenClasses | None, said: str) -> None:
    """Rows seen in another way cannot be added, in a call or in a merge."""
    one, two = state_of(CAT), state_of(other, key="b", seed=2)
    assert any(said in text for text in differences(one.terms, two.terms))
    with pytest.raises(UsageProblem, match=r"other terms|different"):
        merged([("one.json", one), ("two.json", two)])
    assert not differences(one.terms, state_of(CAT, key="b").terms)


BINS = Partition.of_bins(15)


def calibrated_rows(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and labels that follow them."""
    rng = np.random.default_rng(seed)
    score = rng.beta(0.7, 1.6, count)
    return score, rng.random(count) < score


def direct(score: np.ndarray, label: np.ndarray) -> float:
    """The binned ECE over 15 bins of equal width, row by row."""
    place = np.clip(np.ceil(15.0 * score).astype(int) - 1, 0, 14)
    return float(np.abs(np.bincount(place, label - score, 15)).sum() / score.size)


@given(seed=st.integers(0, 10_000), count=st.integers(1, 400))
def test_value_is_that_of_the_rows(seed: int, count: int) -> None:
    """The same from sums over cells as row by row, and what chance shows is in order."""
    score, label = calibrated_rows(seed, count)
    found = own_error(sums_of(ScoreTable.from_rows(score, label), BINS), BINS)
    assert found.value == pytest.approx(direct(score, label), abs=1e-9)
    assert 0.0 <= found.by_chance <= found.seldom <= 1.0


def test_batches_of_one_kind_do_not_err_alike() -> None:
    """With random numbers of the seed alone all had one limit, which batches of some kinds passed in .3 %."""
    outputs, rng = (0.03, 0.1, 0.4), np.random.default_rng(8)
    partition, score = Partition(outputs=outputs), np.repeat(outputs, 100)
    labels = [rng.random(300) < score for _ in range(6)]
    found = [
        own_error(sums_of(ScoreTable.from_rows(score, one), partition), partition)
        for one in (*labels, labels[0])
    ]
    assert len({one.seldom for one in found}) > 2
    assert found[0] == found[-1]


@pytest.mark.parametrize("outputs", [(), (0.1, 0.3, 0.7)])
def test_calibrated_batches_seldom_stand_out_and_bad_ones_do(
    monkeypatch: pytest.MonkeyPatch, outputs: tuple[float, ...]
) -> None:
    """One in a thousand, and one in twenty above what is usual, at most; all of those that are off by 0.2."""
    monkeypatch.setattr(gate_state, "_DRAWS", 999)
    partition = Partition(outputs=outputs) if outputs else BINS
    rng = np.random.default_rng(3)
    standing = above = bad = 0
    for _ in range(20):
        score = rng.choice(outputs, 300) if outputs else 0.7 * rng.beta(0.7, 1.6, 300)
        for shift in (0.0, 0.2):
            label = rng.random(300) < score + shift
            own = own_error(sums_of(ScoreTable.from_rows(score, label), partition), partition)
            if shift:
                bad += own.stands_out
            else:
                standing, above = standing + own.stands_out, above + (own.value > own.by_chance)
    # More has a probability below 1e-4.
    assert standing <= 2
    assert above <= 7
    assert bad == 20
