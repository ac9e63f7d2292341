"""Columns are cut by their values alone, the same however rows are split."""

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calibcli.errors import InputProblem
from calibcli.stats.table import levels as module
from calibcli.stats.table.levels import Levels, Mixed, RunningValues

Value = str | float | None


def mixed(values: list[Value]) -> Mixed:
    """Return values as a reader gives them."""
    texts = tuple(dict.fromkeys(one for one in values if isinstance(one, str)))
    number = np.array([one if isinstance(one, float) else math.nan for one in values])
    code = np.array([texts.index(one) if isinstance(one, str) else -1 for one in values], np.int64)
    return Mixed(number, code, texts)


def levels_of(values: list[Value], *, most: int = 10, categorical: bool | None = None) -> Levels:
    running = RunningValues("col")
    running.add_rows(mixed(values))
    return running.levels(most=most, categorical=categorical)


def worded(values: list[Value], **options: object) -> list[str]:
    found = levels_of(values, **options)
    return [found.words[place] for place in found.places(mixed(values))]


def test_few_whole_numbers_and_all_texts_are_categories() -> None:
    """21 whole numbers are cut at quantiles, 20 are not; one half or one text decides."""
    assert worded([1.0, 2.0, 2.0]) == ["col = 1", "col = 2", "col = 2"]
    assert worded(["a", 2.0, 0.5, None]) == ["col = a", "col = 2", "col = 0.5", "col = (missing)"]
    many = [float(k) for k in range(21)]
    assert worded(many)[:1] + worded(many)[-1:] == ["col <= 5", "col > 15"]
    assert worded(many, categorical=True, most=30)[3] == "col = 3"
    assert worded(many[:20], most=20)[3] == "col = 3"
    assert worded([1.0, 2.0, 3.0, 4.0], categorical=False) == [
        "col <= 1", "1 < col <= 2", "2 < col <= 3", "col > 3",
    ]  # fmt: skip
    assert worded([math.inf, 0.5, math.inf], categorical=True) == ["col = inf", "col = 0.5", "col = inf"]
    assert worded([0.5, 0.5, 0.5]) == ["col of any value"] * 3


def test_the_most_frequent_values_are_stored_and_the_rest_is_other() -> None:
    """Of values as frequent as each other the first by name stays; frequencies count."""
    values: list[Value] = ["c", "b", "a", "c", None]
    assert worded(values, most=2) == ["col = c", "col = (other)", "col = a", "col = c", "col = (missing)"]
    running = RunningValues("col")
    running.add_rows(mixed(["a", "b", "c"]), np.array([1, 5, 3]))
    assert running.levels(most=1).words == ("col = b", "col = (other)")


def test_values_that_were_not_counted_are_other() -> None:
    """A place is found for every value that a later row may have, or -1."""
    found = levels_of(["a", "b", "b"], most=1)
    assert found.places(mixed(["z", 3.0, "b"])).tolist() == [1, 1, 0]


def test_texts_are_refused_as_numbers() -> None:
    """--numeric does not drop what is no number."""
    with pytest.raises(InputProblem, match="'n/k'"):
        levels_of([1.0, "n/k"], categorical=False)


def test_too_many_texts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids make no segments."""
    monkeypatch.setattr(module, "_MOST_TEXTS", 3)
    with pytest.raises(InputProblem, match="over 3 different texts"):
        levels_of(["a", "b", "c", "d"])


columns = st.lists(
    st.one_of(
        st.none(),
        st.sampled_from(["x", "y", "z"]),
        st.integers(-3, 3).map(float),
        st.floats(-1e6, 1e6, allow_nan=False),
    ),
    min_size=1,
    max_size=50,
)


@example(["x", 0.0, 1.00001], 0, 3, 1)
@given(columns, st.integers(0, 50), st.integers(1, 5), st.integers(1, 50))
def test_parts_make_the_levels_of_the_whole(values: list[Value], cut: int, most: int, few: int) -> None:
    """Parts in either order give the levels of all rows, also where numbers are rounded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_NUMBERS", few)
        whole = levels_of(values, most=most)
        parts = []
        for part in (values[:cut], values[cut:]):
            parts.append(RunningValues("col"))
            parts[-1].add_rows(mixed(part))
        for one, other in (parts, parts[::-1]):
            both = RunningValues("col")
            both.add(one)
            both.add(other)
            found = both.levels(most=most)
            assert found.words == whole.words
            assert found.places(mixed(values)).tolist() == whole.places(mixed(values)).tolist()
    assert whole.places(mixed(values)).min() >= 0
    assert all(
        (whole.words[place] == "col = (missing)") == (one is None)
        for place, one in zip(whole.places(mixed(values)), values, strict=True)
    )


@given(st.lists(st.floats(-1e3, 1e3), min_size=30, max_size=80, unique=True))
def test_quantiles_part_different_numbers_evenly(numbers: list[float]) -> None:
    """Each of four intervals holds a quarter of the rows, give or take one."""
    found = levels_of(list(numbers), categorical=False)
    rows = np.bincount(found.places(mixed(list(numbers))))
    assert rows.size == 4
    assert np.abs(rows - len(numbers) / 4).max() <= 1


def test_intervals_hold_as_many_rows_to_the_row() -> None:
    """Where that is possible: seven twelfths of 108 rows are no more than 63."""
    numbers = np.arange(108.0)
    running = RunningValues("col")
    running.add_rows(Mixed(numbers))
    found = running.levels(most=50, categorical=False, intervals=12)
    assert np.bincount(found.places(Mixed(numbers))).tolist() == [9] * 12


def digits(number: float) -> int:
    """Return how many digits a number has."""
    return len(Decimal(repr(number)).normalize().as_tuple().digits)


@given(st.lists(st.floats(-1e12, 1e12), min_size=30, max_size=60, unique=True))
def test_cuts_are_the_shortest_numbers_that_cut_alike(values: list[float]) -> None:
    """Every value stays where a cut at the value itself would put it, in no more digits."""
    found = levels_of(list(values), categorical=False)
    ordered = sorted(one + 0.0 for one in values)
    for cut in found.numbers.tolist():
        low = max(one for one in ordered if one <= cut)
        high = min(one for one in ordered if one > cut)
        assert low <= cut < high
        assert len(Decimal(repr(cut)).normalize().as_tuple().digits) <= len(
            Decimal(repr(low)).as_tuple().digits
        )
    assert len(found.numbers) == 3


def test_a_cut_is_said_in_as_few_digits_as_may_be() -> None:
    """Between 0.6386 and 0.6437 lies 0.64; whole years stay what they are."""
    assert module._shortest(0.6386, 0.6437) == 0.64
    assert module._shortest(-0.6437, -0.6386) == -0.64
    assert module._shortest(28.0, 29.0) == 28.0
    assert module._shortest(-3.0, 2.0) == -3.0
    assert module._shortest(7.3, 12.1) == 8.0
    assert module._shortest(0.1, 0.2) == 0.1
    assert module._shortest(3.0, math.inf) == 3.0
    assert module._shortest(-math.inf, 3.0) == -math.inf
    assert module._shortest(1e-300, 2.5e-300) == 1e-300
