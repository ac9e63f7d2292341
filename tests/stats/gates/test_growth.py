"""No batch is counted twice, and no row with an identity."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from calibcli.documents.state import state_text
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import LEAST_CHANCE
from calibcli.stats.gates import growth as growth_module
from calibcli.stats.gates.growth import Incoming, Rows, chance_of_twin, grown, merged
from calibcli.stats.gates.state import GateState
from calibcli.stats.table import ScoreTable
from gate_rows import ATOMS, TEN, begun, rows_of, table_of_rows


def incoming(key: str, digest: str, seed: int = 0, count: int = 200, *, chance: float = 0.0) -> Incoming:
    """Return a batch as a table."""
    table = table_of_rows(np.random.default_rng(seed), count, outputs=TEN)
    return Incoming(key, digest, f"{key}.csv", table, chance=chance)


def by_id(key: str, digest: str, ids: list[int]) -> Incoming:
    """Return a batch of rows with identities; a row's score and label follow from its identity."""
    found = [rows_of(np.random.default_rng(one), 1, outputs=TEN) for one in ids]
    score, label = (np.concatenate(column) for column in zip(*found, strict=True))
    counts = np.ones(len(ids), np.int64)
    return Incoming(key, digest, f"{key}.csv", Rows(np.array(ids, np.uint64), score, label, counts))


def test_many_equal_rows_under_another_name_are_refused() -> None:
    """Rows that were counted are not counted again for having another name."""
    state = grown(begun(), (incoming("monday", "1", count=30),)).state
    said = "these 30 rows have the scores and labels of batch 'monday'"
    with pytest.raises(InputProblem, match=said) as problem:
        grown(state, (incoming("tuesday", "1", count=30),))
    assert "--id" in str(problem.value.hint)
    unnamed = grown(begun(), (incoming("1", "1", count=30),)).state
    with pytest.raises(InputProblem, match="labels of a batch without a name"):
        grown(unnamed, (incoming("tuesday", "1", count=30),))
    with pytest.raises(InputProblem, match="labels of batch 'a'"):
        grown(begun(), (incoming("a", "1", count=30), incoming("b", "1", count=30)))


@pytest.mark.parametrize("file", [None, "night.csv"])
def test_a_second_run_without_a_name_adds_nothing(file: str | None) -> None:
    """Rows of one file name that hardly have a twin by chance are those that were counted."""
    first = replace(incoming("1", "1"), file=file)
    again = grown(grown(begun(), (first,)).state, (first,))
    assert (again.state.rows, again.known_rows) == (200, 200)
    assert "its 200 scores and labels were counted before and are not counted again" in again.every_note[0]


def test_rows_that_may_be_alike_by_chance_are_never_dropped_unasked() -> None:
    """A new name, or a new file, counts with a note; a file of one name is asked about."""
    may = incoming("1", "1", chance=0.16)
    may_file, june = replace(may, file="may.csv"), replace(may, file="september.csv", shown="september.csv")
    state = grown(begun(), (may_file,)).state
    found = grown(state, (june,))
    assert (found.state.rows, [one.called for one in found.state.batches]) == (
        400,
        ["may.csv", "september.csv"],
    )
    said = "september.csv: these 200 rows have the scores and labels of batch 'may.csv'"
    assert found.every_note == (f"{said}, as chance alone can have it: they count",)
    with pytest.raises(InputProblem, match="new rows may have them too") as problem:
        grown(state, (may_file,))
    assert "--batch" in str(problem.value.hint)
    # Files that are named together are told apart by their names, so that a folder may be named again.
    again = grown(found.state, (replace(may_file, alone=False), replace(june, alone=False)))
    assert (again.state.rows, again.known) == (400, ("may.csv", "september.csv"))
    named = grown(found.state, (replace(may, key="may.csv"), replace(may, key="october")))
    assert (named.state.rows, named.known) == (600, ("may.csv",))


def test_another_file_with_rows_that_were_counted_is_refused() -> None:
    """A copy under another name is no second run of the same file."""
    state = grown(begun(), (replace(incoming("1", "1"), file="may.csv"),)).state
    with pytest.raises(InputProblem, match=r"have the scores and labels of batch 'may\.csv'"):
        grown(state, (replace(incoming("1", "1"), file="june.csv"),))


def drawn_once(rows: int, scores: np.ndarray[tuple[int], np.dtype[np.float64]], seed: int) -> ScoreTable:
    """Return rows at scores that are drawn from some, with calibrated labels."""
    generator = np.random.default_rng(seed)
    score = generator.choice(scores, rows)
    return ScoreTable.from_rows(score, generator.random(rows) < score)


def test_the_chance_of_a_twin_is_an_upper_bound() -> None:
    """Of batches with one PD as many agree as is said at most; many different scores have none."""
    low = np.array([0.02])
    tables = [drawn_once(275, low, seed) for seed in range(400)]
    alike = np.mean([one == other for one, other in pairwise(tables)])
    assert 0.05 < alike < np.mean([chance_of_twin(one) for one in tables])
    assert chance_of_twin(drawn_once(60, np.linspace(0.2, 0.8, 999), 1)) < LEAST_CHANCE
    # A panel whose scores stay as they are has no default in two months out of many.
    panel = ScoreTable(np.linspace(0.001, 0.002, 300), np.ones(300, np.int64), np.zeros(300, np.int64))
    assert chance_of_twin(panel) > 0.5
    # More rows than a cell of a grid may hold.
    many = ScoreTable(np.array([0.3123456]), np.array([2_000_000_000]), np.array([600_000_000]))
    assert chance_of_twin(many) < 1e-4


def test_rows_known_by_their_identity_are_left_out() -> None:
    """Of batches that overlap each row counts once: the sums are those of the rows of the union."""
    state = begun(by_id=True)
    found = grown(state, (by_id("a", "1", [*range(150)]), by_id("b", "2", [*range(100, 250)])))
    whole = grown(state, (by_id("c", "3", [*range(250)]),))
    assert (found.known, found.known_rows) == ((), 50)
    assert found.state.sums == whole.state.sums
    assert np.array_equal(found.state.ids, whole.state.ids)
    assert found.every_note == ("b.csv: 50 of 150 rows were counted before, by their identity",)
    nothing_new = grown(found.state, (by_id("d", "4", [3, 5, 249]),))
    assert nothing_new.state.batches == found.state.batches
    assert nothing_new.known_rows == 3


@pytest.mark.parametrize(("chance", "refused"), [(1e-9, True), (1e-3, False)])
def test_rows_under_other_ids_are_refused_or_said(chance: float, *, refused: bool) -> None:
    """Scores and labels counted under other ids are refused where that cannot be chance, else said."""
    first = replace(by_id("a", "1", [*range(150)]), content="same", chance=chance)
    again = replace(
        first,
        key="b",
        digest="2",
        shown="b.csv",
        rows=replace(first.rows, ids=np.arange(500, 650).astype(np.uint64)),
    )
    state = grown(begun(by_id=True), (first,)).state
    said = "b.csv: these 150 rows have the scores and labels of batch 'a' under other ids"
    if refused:
        with pytest.raises(InputProblem, match=said) as problem:
            grown(state, (again,))
        assert "write ids as before" in str(problem.value.hint)
    else:
        found = grown(state, (again,))
        assert found.state.rows == 300
        assert found.every_note == (f"{said}: they count; are ids written in one form?",)
    other = grown(begun(by_id=True), (again,)).state
    (note,) = merged([("s1.json", state), ("s2.json", other)]).notes
    assert note.startswith("batch 'b' in s2.json has the scores and labels of batch 'a' in s1.json")
    assert grown(state, (first,)).known == ("a",)


def test_more_identities_than_can_be_kept_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the limit the way out is named."""
    monkeypatch.setattr(growth_module, "MOST_IDENTITIES", 10)
    state = grown(begun(by_id=True), (by_id("a", "1", [*range(10)]),)).state
    with pytest.raises(UsageProblem, match="more than 10 identities"):
        grown(state, (by_id("b", "2", [10]),))


def shards() -> list[tuple[str, GateState]]:
    """Return states of three shards with batches of their own."""
    return [
        (
            f"s{i}.json",
            grown(begun(), (incoming(f"{i}a", f"{i}1", i), incoming(f"{i}b", f"{i}2", 9 + i))).state,
        )
        for i in range(3)
    ]


def test_order_of_shards_does_not_change_a_byte() -> None:
    """Merged in any order, and in any grouping, states give the same bytes."""
    one, two, three = shards()
    text = state_text(merged([one, two, three]))
    assert state_text(merged([three, one, two])) == text
    assert state_text(merged([("x", merged([two, three])), one])) == text
    assert merged([one, two, three]).looks == 0


def test_verdicts_of_shards_are_not_taken_over() -> None:
    """What a shard has shown for itself says nothing of all rows."""
    alone = begun().counted(table_of_rows(np.random.default_rng(1), 3000, outputs=TEN), key="z")
    assert alone.passed_at is not None
    assert merged([("z", alone), *shards()]).passed_at is None


def test_rows_of_one_state_under_another_name_in_a_second_are_refused() -> None:
    """Equal rows count once over shards too; some may be alike by chance."""
    for chance, refused in ((0.0, True), (0.1, False)):
        one, two = (grown(begun(), (incoming(key, "1", chance=chance),)).state for key in ("mon", "tue"))
        if refused:
            said = "'tue' in t has the scores and labels of batch 'mon' in m, 200 rows"
            with pytest.raises(InputProblem, match=said):
                merged([("m", one), ("t", two)])
        else:
            assert merged([("m", one), ("t", two)]).rows == 400


def test_an_identity_in_two_states_is_refused() -> None:
    """So would a row that two shards know by its identity."""
    a = grown(begun(by_id=True), (by_id("a", "1", [1, 2, 3]),)).state
    b = grown(begun(by_id=True), (by_id("b", "2", [3, 4]),)).state
    c = grown(begun(by_id=True), (by_id("c", "3", [5, 6]),)).state
    with pytest.raises(
        InputProblem, match="1 row is in more than one state by their identity; the first in a and b"
    ):
        merged([("a", a), ("b", b)])
    assert merged([("c", c), ("a", a)]).ids.tolist() == [1, 2, 3, 5, 6]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (begun(limit=0.02), "limit: 0.05, not 0.02"),
        (begun(variance=0.1), "bets: other sizes"),
        (begun(by_id=True), "identities: of batches, not of rows"),
    ],
)
def test_states_on_other_terms_are_not_merged(other: GateState, words: str) -> None:
    """What differs is named."""
    with pytest.raises(UsageProblem, match=words):
        merged([("a", begun()), ("b", other)])


def test_alarms_are_not_merged() -> None:
    """An alarm watches one stream in its order."""
    with pytest.raises(UsageProblem, match="is an alarm"):
        merged([("a", begun(ATOMS, alarm=True))])
