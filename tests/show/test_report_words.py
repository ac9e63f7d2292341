"""How numbers and names are written for people."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.names import ClassMeasure, MeasureName, SegmentMeasure, Target, TestName
from calibcli.options.numerals import in_full, percent, rough_percent
from calibcli.show.blocks import Bar
from calibcli.show.pages import file_words, left_out_words
from calibcli.show.terminal import ASCII, LEAST_WIDTH, WIDTH, axis, drawn
from calibcli.show.words import (
    about,
    as_in_papers,
    beside,
    between,
    distinct_labels,
    four,
    interval_words,
    light,
    listed,
    p_words,
    plural,
    printable,
    quoted,
    share,
    whose,
)
from calibcli.stats.bounds import Interval


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.12712, "0.1271"),
        (0.131, "0.1310"),
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1.000"),
        (-0.006123, "-0.006123"),
        (80.621, "80.62"),
        (1234.0, "1234"),
        (123456.7, "123,457"),
        (9999.6, "10,000"),
        (-9999.5, "-10,000"),
        (1.2346e-7, "1.235e-07"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (9.1287e156, "9.129e+156"),
        (math.nan, "undefined"),
        (None, "none"),
    ],
)
def test_four_digits_are_written(value: float | None, text: str) -> None:
    """Numbers have four significant digits, zeros included, and thousands their separators."""
    assert four(value) == text


@pytest.mark.parametrize(
    ("p_value", "method", "text"),
    [
        (0.0323, "asymptotic", "0.032"),
        (2.34e-15, "asymptotic", "2.3e-15"),
        (1.0, "asymptotic", "1"),
        (0.0496, "exact", "0.0496"),
        (0.05, "exact", "0.05"),
        (0.05004, "exact", "0.05004"),
        (0.00099999, "exact", "0.00099999"),
        (0.0, "asymptotic", "below 1e-300"),
        (0.0, "contradiction", "0 (contradiction)"),
        (None, "undefined", "none"),
    ],
)
def test_p_values_are_zero_only_by_contradiction(p_value: float | None, method: str, text: str) -> None:
    """One that rounds to zero is not written as zero, nor one next to a level as that level."""
    assert p_words(p_value, method) == text
    # 0.02 alone is one step from 0.0199, which a rule at 0.02 rejects.
    assert [p_words(0.0199, limits=[one]) for one in (0.02, 0.03)] == ["0.0199", "0.02"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0137, "0.01370"), (0.02, "0.02000"), (0.020000012, "0.02000001"), (0.01999997, "0.01999997")],
)
def test_bound_stands_on_its_side_of_the_limit(value: float, text: str) -> None:
    """A bound gets the digits it needs to be seen above or below the limit, or any of several."""
    assert beside(value, 0.02) == beside(value, 0.1, 0.02) == text


def test_bound_one_step_above_the_limit_is_written_in_full() -> None:
    """Even the next double after the limit is told from it."""
    assert float(beside(math.nextafter(0.02, 1.0), 0.02)) > 0.02


@pytest.mark.parametrize(
    ("lower", "upper", "text"),
    [(0.1, 0.2, "0.1000 to 0.2000"), (None, 0.2, "at most 0.2000"), (0.1, None, "at least 0.1000")],
)
def test_interval_names_the_ends_it_has(lower: float | None, upper: float | None, text: str) -> None:
    """One-sided intervals say which side they bound."""
    assert interval_words(Interval(lower, upper, 0.95, "m", Target.POPULATION, finite_sample=True)) == text


def test_no_interval_is_none() -> None:
    """An absent interval, and one without ends, read as none."""
    assert interval_words(None) == "none"
    assert interval_words(Interval(None, None, 0.95, "m", Target.POPULATION, finite_sample=True)) == "none"
    assert between(math.nan, 0.5) == "none"


def test_a_cutoff_next_to_1_is_not_1() -> None:
    """Rows above it are some; above 1 there are none."""
    assert [beside(one, 1.0, least=3) for one in (0.5, 0.99951, 0.999996, 1.0)] == [
        "0.500",
        "0.9995",
        "0.999996",
        "1.00",
    ]
    assert float(beside(math.nextafter(1.0, 0.0), 1.0, least=3)) < 1.0


def test_labels_of_different_values_differ() -> None:
    """Neighbouring values get the digits that tell them apart."""
    assert distinct_labels([0.5, 0.25, 0.5]) == {0.5: "0.5", 0.25: "0.25"}
    assert [*distinct_labels([0.1234561, 0.1234562]).values()] == ["0.1234561", "0.1234562"]
    step = math.nextafter(0.3, 1.0)
    assert distinct_labels([0.3, step]) == {0.3: repr(0.3), step: repr(step)}
    assert [*distinct_labels([0.3, 1 / 3], least=6).values()] == ["0.3", "0.333333"]


def test_extrapolated_rows_are_rounded_up() -> None:
    """A guess keeps three digits and errs on the side of more rows."""
    assert [about(n) for n in (0, 7, 999, 1001, 48_213, 48_300)] == [
        "0",
        "7",
        "999",
        "1,010",
        "48,300",
        "48,300",
    ]


def test_words_around_numbers() -> None:
    """Counts, shares and lists read as English."""
    assert [plural(1, "row"), plural(2_000, "row")] == ["1 row", "2,000 rows"]
    assert [plural(1, "batch"), plural(3, "more class")] == ["1 batch", "3 more classes"]
    assert [share(1, 3), share(0, 0)] == ["33.3 %", "none"]
    assert [percent(0.95), percent(1 - 0.95), percent(0.999)] == ["95 %", "5 %", "99.9 %"]
    assert [percent(1 - 1e-7), percent(1.0), percent(1e-7)] == ["99.99999 %", "100 %", "1e-05 %"]
    assert [rough_percent(one) for one in (1 / 3, 0.994, 0.9996, 1.0)] == ["33 %", "99 %", "99.96 %", "100 %"]
    assert [listed([]), listed("a"), listed("abc")] == ["", "a", "a, b and c"]
    assert file_words(("a", "-")) == "a and standard input"
    assert file_words(tuple("abcd")) == "a, b and 2 more files"


def test_names_are_quoted_where_they_would_run_on() -> None:
    """A name with a space or an equals sign stands in quotes."""
    assert [quoted("score"), quoted("a b"), quoted("a=b"), quoted("")] == ["score", "'a b'", "'a=b'", "''"]


def test_control_characters_become_escapes() -> None:
    """Escape codes, new lines, direction marks and half surrogates are shown, not obeyed."""
    assert printable("a\x1b[31m\n\t\u202e\udcff\u00e9") == "a\\x1b[31m\\n\\t\\u202e\\udcff\u00e9"


@pytest.mark.parametrize("width", range(LEAST_WIDTH, WIDTH + 1, 2))
def test_axis_marks_its_places(width: int) -> None:
    """0, a half and 1 stand over the places where bars draw them."""
    marks = axis(width)
    assert len(marks) == width
    place = drawn(Bar(0.5, 0.5, math.nan, math.nan), width=width, marks=ASCII).index("@")
    assert marks[place] == "."


def test_bar_shows_rate_interval_and_score() -> None:
    """The rate is drawn over its interval, the mean score beside it."""
    assert drawn(Bar(1.0, 0.25, 0.0, 0.5), width=13, marks=ASCII) == "---o---     |"
    assert drawn(Bar(0.0, 0.0, math.nan, math.nan), width=13, marks=ASCII) == "@"


def test_every_name_has_its_sentence() -> None:
    """No measure, test or target is left unexplained, and no two are explained alike."""
    sentences = [name.meaning for name in (*MeasureName, *TestName, *ClassMeasure)]
    assert len(set(sentences)) == len(sentences)
    assert len({whose(target) for target in Target}) == len(Target)


def test_every_measure_and_test_has_a_name_of_its_own_for_papers() -> None:
    """No key of a program stands in a table for a paper, in a cell or above a column."""
    every = [*MeasureName, *TestName, *ClassMeasure, *SegmentMeasure]
    assert len({one.called for one in every}) == len(every)
    assert as_in_papers("citl_logit") == "Calibration intercept (CITL)"
    assert as_in_papers("jeffreys p-value") == "Jeffreys test p-value"
    assert as_in_papers("score range") == "score range"


@pytest.mark.parametrize(
    ("p_value", "colour"),
    [(0.9, "green"), (0.05, "green"), (0.0499, "yellow"), (0.0011, "yellow"), (0.001, "red"), (None, "none")],
)
def test_lights_are_those_of_the_literature(p_value: float | None, colour: str) -> None:
    """Not significant at 95 % is green, significant at 99.9 % red."""
    assert light(p_value) == colour


@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        ({"race=3": 85, "race=4": 7}, "are not measured: race 3 (85) and 4 (7)"),
        ({"race=a=b": 2}, "is not measured: race a=b (2)"),
        ({"top-label=c": 0}, "1 group without rows is not measured: top-label c (0)"),
        ({"race=3/sex=1": 8, "race=4/sex=1": 7}, "are not measured: race=3/sex=1 (8) and race=4/sex=1 (7)"),
    ],
)
def test_a_column_of_small_groups_is_named_once(left_out: dict[str, int], words: str) -> None:
    """Several columns stand with each value, which belongs to one of them."""
    assert left_out_words(left_out, 100).endswith(words)


@pytest.mark.parametrize(
    ("level", "words"),
    [
        (0.95, "95 %"),
        (0.975, "97.5 %"),
        (0.9875, "98.75 %"),
        (1.0 - 0.05 / 3.0, "98.3 %"),
        (1.0 - 0.05 / 120.0, "99.96 %"),
        (0.9999, "99.99 %"),
        (0.05 / 3.0, "1.7 %"),
        (1.0, "100 %"),
    ],
)
def test_a_level_has_as_few_digits_as_tell_it_from_its_neighbours(level: float, words: str) -> None:
    """Never rounded to 100, nor by more than a twentieth of what is missing to it."""
    assert percent(level) == words


@pytest.mark.parametrize(
    ("part", "words"),
    [(0, "0.0 %"), (1, "0.040 %"), (5, "0.20 %"), (250, "10.0 %"), (2_504, "99.96 %"), (2_505, "100.0 %")],
)
def test_some_rows_do_not_read_as_none_nor_most_as_all(part: int, words: str) -> None:
    """One of 2,505 rows is a share above 0, and all but one of 10^12 are not all."""
    assert share(part, 2_505) == words
    assert share(10**12 - 1, 10**12) == "99.9999999999 %"


@settings(max_examples=200)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_limit_is_never_rounded(value: float) -> None:
    """What is printed reads as the limit that was typed; few digits stay few."""
    assert float(in_full(value)) == value
    assert in_full(0.02) == "0.02"
    assert in_full(0.0123456789) == "0.0123456789"
