"""How names of groups follow each other: periods by time, numbers by size, text by letters and numbers."""

from collections.abc import Callable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.errors import UsageProblem
from calibcli.options.numerals import by_name, by_time, in_order, is_over_time, period_of

WAYS: dict[str, Callable[[date], str]] = {
    "2024-07-31": lambda day: day.isoformat(),
    "20240731": lambda day: day.strftime("%Y%m%d"),
    "2024-07-31 12:00:00": lambda day: f"{day.isoformat()} 12:00:00",
    "2024/7/31": lambda day: f"{day.year}/{day.month}/{day.day}",
    "31.07.2024": lambda day: day.strftime("%d.%m.%Y"),
    "31.7.2024 12:00": lambda day: f"{day.day}.{day.month}.{day.year} 12:00",
    "07/2024": lambda day: day.strftime("%m/%Y"),
    "7.2024": lambda day: f"{day.month}.{day.year}",
    "31 Jul 2024": lambda day: day.strftime("%d %b %Y"),
    "July 31, 2024": lambda day: day.strftime("%B %d, %Y"),
    "Jul 2024": lambda day: day.strftime("%b %Y"),
    "july-2024": lambda day: day.strftime("%B-%Y").lower(),
    "2024 Jul": lambda day: day.strftime("%Y %b"),
    "2024-07": lambda day: day.strftime("%Y-%m"),
    "2024-7": lambda day: f"{day.year}-{day.month}",
    "2024-Q3": lambda day: f"{day.year}-Q{(day.month + 2) // 3}",
    "Q3 2024": lambda day: f"Q{(day.month + 2) // 3} {day.year}",
    "2024H2": lambda day: f"{day.year}H{1 + (day.month > 6)}",
    "2024-W31": lambda day: "{}-W{:02}".format(*day.isocalendar()),
    "W31 2024": lambda day: "W{1} {0}".format(*day.isocalendar()),
    "2024": lambda day: str(day.year),
}


@given(st.lists(st.dates(date(1990, 1, 1), date(2035, 12, 31)), min_size=2, max_size=12))
def test_periods_stand_in_the_order_of_time(days: list[date]) -> None:
    """However they are written, and in whatever order they come."""
    for way, written in WAYS.items():
        wanted = list(dict.fromkeys(written(day) for day in sorted(days)))
        names = list(dict.fromkeys(written(day) for day in days))
        assert by_time(names) == in_order(names) == wanted, way
        assert by_time([*names, "(missing)"]) == [*wanted, "(missing)"], way


@given(st.lists(st.dates(date(1990, 1, 1), date(2035, 12, 31)), min_size=1, max_size=12), st.integers(13, 31))
def test_days_between_strokes_stand_by_time_where_one_of_them_says_which_number_is_the_month(
    days: list[date], clear: int
) -> None:
    """31/07/2024 or 07/31/2024; where every day could be either, they are no periods."""
    days = [*days, date(2024, 1, clear)]
    for way in ("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m/%d/%Y 10:30"):
        wanted = list(dict.fromkeys(day.strftime(way) for day in sorted(days)))
        assert by_time(wanted[::-1]) == in_order(wanted[::-1]) == wanted, way
    unclear = [day.strftime("%d/%m/%Y") for day in days if day.day <= 12]
    assert is_over_time(unclear) == (not unclear)
    assert not is_over_time(["31/01/2024", "01/31/2024"])


def test_months_without_a_year_stand_as_in_a_year() -> None:
    """Their names are not in the order of the alphabet."""
    assert by_time(["Mar", "jan", "December", "Sept"]) == ["jan", "Mar", "Sept", "December"]
    assert by_time(["Apr-24", "Aug-23", "Dec-99"]) == ["Aug-23", "Apr-24", "Dec-99"]


@pytest.mark.parametrize("name", ["grade A", "Q5 2024", "2024-13", "May be", "", "W7"])
def test_what_is_no_period_is_none(name: str) -> None:
    """It is refused by its name."""
    assert period_of(name) is None
    with pytest.raises(UsageProblem, match="is no date, month, quarter, week or year"):
        by_time(["2024-01", name])


def test_days_that_could_be_of_either_month_are_told_from_what_is_no_date() -> None:
    """Day and month cannot be told apart, and another way of writing can."""
    assert period_of("1/2/2024") is None
    with pytest.raises(UsageProblem, match="shows which of its numbers is the month") as refused:
        by_time(["03/04/2024", "05/06/2024"])
    assert refused.value.hint == "write days like 2024-04-03, or sort by name"


@pytest.mark.parametrize(
    "wanted",
    [
        ["-5", "1e-3", "0.25", "0.5", "10"],
        ["age=2-5", "age=9", "age=10-20"],
        ["grade 2", "grade 10", "grade 10b"],
        ["2 a", "10 a", "A"],
        ["A", "B", "C"],
        ["-5", "0.25", "0.5", "10", "(missing)"],
        ["A", "B", "(missing)"],
    ],
)
def test_names_stand_in_their_natural_order(wanted: list[str]) -> None:
    """2 before 10; one name that is no number makes all names text."""
    assert by_name(wanted[::-1]) == wanted
