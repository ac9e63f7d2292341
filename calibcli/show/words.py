"""Numbers and names as a reader sees them, the same in every report for people."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from calibcli.names import (
    MORE_DRAWS,
    OF_MORE_DRAWS,
    ClassMeasure,
    ComparisonName,
    MeasureName,
    SegmentMeasure,
    Target,
    TestName,
    VerdictName,
)
from calibcli.options.numerals import percent, plural
from calibcli.stats.bounds import FROM_BOTH, Interval

if TYPE_CHECKING:
    from calibcli.reports.measure import MeasureReport
    from calibcli.stats.gates.claim import Verdict
    from calibcli.stats.measures import Estimated, TestResult
    from calibcli.stats.measures.differences import Difference
    from calibcli.stats.measures.tests import CombinedTest

NONE = "none"
ALARM = "ALARM"
UNDEFINED = "undefined"
UNDECIDED = (
    '"No clear difference" means that these rows do not show which is better, not that both are equal.'
)
NO_PROOF = "This does not show that none is worse: few rows show little."
# Whole numbers from here on take powers of ten to write: no column is so wide.
_LARGE = 1e15
_MOST_DIGITS = 17
# The least p-values of 999 drawn sets of labels, and of 9,999: they may be any smaller one.
_LEAST_DRAWN, _LEAST_OF_MORE = 1.0 / 1_000.0, 1.0 / (MORE_DRAWS + 1)


def four(value: float | None) -> str:
    """Return four significant digits, "none" where there is no number, "undefined" for what is not one."""
    if value is None:
        return NONE
    return UNDEFINED if math.isnan(value) else _digits(value, 4)


def three(value: float | None) -> str:
    """Return three significant digits, as sentences have numbers, or what `four` says where there is none."""
    if value is None or math.isnan(value):
        return four(value)
    return _digits(value, 3)


def number_text(value: float) -> str:
    """Return a number on an axis."""
    return f"{round(value, 12) + 0.0:.6g}"


def count(rows: int) -> str:
    return f"{rows:,}"


def share(part: int, whole: int) -> str:
    """Return what part of the rows this is, in per cent: more decimals below 1, or if one reads as all."""
    if not whole:
        return NONE
    value = 100.0 * part / whole
    first = min(8, 1 - math.floor(math.log10(value))) if 0.0 < value < 1.0 else 1
    # Next to nothing is written in powers of ten, as next to all cannot be.
    for decimals in range(first, 9 if value < 1.0 else 15):
        shown = f"{value:.{decimals}f}"
        if (float(shown) > 0.0) is (part > 0) and (float(shown) < 100.0) is (part < whole):
            return f"{shown} %"
    return f"{value:g} %"


def p_words(
    p_value: float | None, p_method: str = "", *, at_most: bool = False, limits: Sequence[float] = ()
) -> str:
    """Return a p-value with two significant digits; only a contradiction makes it an honest zero."""
    if p_value is None or math.isnan(p_value):
        return four(p_value)
    if p_method == "contradiction":
        return "0 (contradiction)"
    least = _LEAST_OF_MORE if p_method.endswith(OF_MORE_DRAWS) else _LEAST_DRAWN
    if at_most or (p_method.startswith("monte-carlo") and p_value <= least):
        return f"at most {p_value:.2g}"
    if p_value < 1e-300:
        return "below 1e-300"
    # What is next to a level or a limit, and is not it, is not rounded to it: 0.0496 is below 0.05.
    near = {*_LEVELS, *limits} - {p_value}
    written = (f"{p_value:.{digits}g}" for digits in range(2, 17))
    return next((one for one in written if float(one) not in near), f"{p_value:.17g}")


# Tests of rating grades, whose p-values have the colours of a traffic light: green, yellow from one on, red.
OF_GRADES = (TestName.BINOMIAL, TestName.JEFFREYS)
YELLOW_BELOW, RED_UP_TO = 0.05, 0.001
# At these p-values are read.
_LEVELS = (YELLOW_BELOW, 0.01, RED_UP_TO)


_OF_JEFFREYS = (TestName.JEFFREYS, TestName.JEFFREYS_TWO_SIDED)
_MANY_EXPECTED = 10.0


def rejects_too_often(name: TestName, report: "MeasureReport") -> bool:
    """Whether a test rejects right scores more often than it says, for all groups at once even more so."""
    rate = min(report.mean_score, 1.0 - report.mean_score)
    return name in _OF_JEFFREYS and report.table.rows * rate < _MANY_EXPECTED


def light(p_value: float | None) -> str:
    """Return the traffic light of a p-value, at the levels of Tasche (2003): 95 and 99.9 %."""
    if p_value is None:
        return NONE
    return "green" if p_value >= YELLOW_BELOW else "red" if p_value <= RED_UP_TO else "yellow"


def p_equals(
    p_value: float | None, p_method: str = "", *, at_most: bool = False, limits: Sequence[float] = ()
) -> str:
    """Return what a p-value is, such as "= 0.014" or "at most 0.001"."""
    return equals(p_words(p_value, p_method, at_most=at_most, limits=limits))


def equals(words: str) -> str:
    """Return p_words as they stand behind "p"."""
    return words if words.startswith(("at most", "below", UNDEFINED)) else f"= {words}"


def p_together(combined: "CombinedTest", tests: "Sequence[TestResult]") -> str:
    """Return the p-value of several tests together; a multiple of one that is at most so much is so, too."""
    parts = ((one.p_value or 0.0, one.p_method) for one in tests if one.name in combined.tests)
    p_value, p_method = min(parts, default=(1.0, ""))
    at_most = p_words(p_value, p_method).startswith("at most")
    return p_words(combined.p_value, p_method, at_most=at_most)


def interval_words(interval: Interval | None) -> str:
    """Return the bounds in words, "none" where there are none."""
    if interval is None or (interval.lower is None and interval.upper is None):
        return NONE
    if interval.lower is None:
        return f"at most {four(interval.upper)}"
    if interval.upper is None:
        return f"at least {four(interval.lower)}"
    return between(interval.lower, interval.upper)


def between(lower: float, upper: float) -> str:
    """Return both ends, "none" where either is not a number."""
    if math.isnan(lower) or math.isnan(upper):
        return NONE
    return f"{four(lower)} to {four(upper)}"


def span(low: float, high: float) -> str:
    """Return a range with three significant digits, or with as many more as tell its ends apart."""
    if low == high:
        return four(low)
    for digits in range(3, _MOST_DIGITS):
        ends = _digits(low, digits), _digits(high, digits)
        if ends[0] != ends[1]:
            break
    return " to ".join(ends)


def beside(value: float, *limits: float, least: int = 4) -> str:
    """Return a number with as many digits, so many at least, as it takes to stand on its own side of limits.

    A bound of 0.0200001 printed as 0.02000 would contradict the verdict that it is above 0.02, and one of
    0.79997 as 0.8000 that it is below 0.8.
    """
    if math.isnan(value):
        return UNDEFINED
    for digits in range(least, _MOST_DIGITS):
        text = _digits(value, digits)
        shown = float(text.replace(",", ""))
        if all((shown > one, shown < one) == (value > one, value < one) for one in limits):
            return text
    return repr(value)


def distinct_labels(values: Sequence[float], *, least: int = 4) -> dict[float, str]:
    """Return each value with as few digits, so many at least, as keep different values different."""
    wanted = set(values)
    for digits in range(least, _MOST_DIGITS):
        texts = {value: f"{value:.{digits}g}" for value in values}
        if len({*texts.values()}) == len(wanted):
            return texts
    return {value: repr(value) for value in values}


def ranges(lower: Sequence[float], upper: Sequence[float]) -> list[str]:
    """Return the value of each bin that holds one, and both edges of any other."""
    labels = distinct_labels([*lower, *upper])
    return [
        labels[low] if low == high else f"{labels[low]} to {labels[high]}"
        for low, high in zip(lower, upper, strict=True)
    ]


def about(rows: int) -> str:
    """Return an extrapolated number of rows with three significant digits, rounded up."""
    step = 10 ** max(0, len(str(rows)) - 3)
    return count(-(-rows // step) * step)


# A gate says whether its ECE is that of bins, or of each value by itself.
_BY_KEY = {
    "binned_ece": "binned ECE",
    **{one.value: one.called for one in (*MeasureName, *TestName, *ClassMeasure, *SegmentMeasure)},
}


def all_of(number: int) -> str:
    """Return what a count of all of them begins with."""
    return "Both" if number == 2 else f"All {count(number)}"


def these(number: int, noun: str) -> str:
    """Return things that have just been counted, such as "this row" and "these 40 rows"."""
    return f"this {noun}" if number == 1 else f"these {plural(number, noun)}"


def field_name(key: str) -> str:
    """Return a measure or test, or one less its baseline, as the field calls it; anything else as it is."""
    own, less, baseline = key.partition(" - ")
    return f"{_BY_KEY.get(own, own)}{less}{baseline}"


def as_in_papers(title: str) -> str:
    """Return a cell or the title of a column with what the field calls the measure or test it begins with."""
    key, space, rest = title.partition(" ")
    words = _BY_KEY.get(key)
    return title if words is None else f"{capital(words)}{space}{rest}"


def better_when(names: Iterable[MeasureName | ClassMeasure]) -> str:
    """Return on which side of 0 a difference of measures is the better one."""
    every = list(dict.fromkeys(names))
    more = [field_name(one.value) for one in every if one.facts.more_is_better]
    if len(more) == len(every):
        return "above 0" if every else "below 0"
    return f"below 0 (by {listed(more)} above 0)" if more else "below 0"


def capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def listed(names: Iterable[str]) -> str:
    """Return names separated by commas, "and" before the last."""
    names = list(names)
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def quoted(name: str) -> str:
    """Return a column or file name, in quotes where it would run into the words around it."""
    return repr(name) if not name or any(letter in name for letter in " =,'\"") else name


def printable(text: str) -> str:
    """Return the text with whatever could steer a terminal, or fake its lines, as an escape."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


def in_ascii(text: str) -> str:
    """Return the text with every letter outside ASCII written as an escape."""
    return text.encode("ascii", "backslashreplace").decode("ascii")


def _digits(value: float, digits: int) -> str:
    """Return significant digits, zeros included, so that columns of them line up."""
    if value == 0.0 or not math.isfinite(value):
        return str(value) if value else "0"
    # What is rounded up to one digit more is a whole number, too.
    if 10.0**digits <= abs(value) + 0.5 and abs(value) < _LARGE:
        return f"{value:,.0f}"
    return f"{value:#.{digits}g}".removesuffix(".")


def first_of(items: Sequence[str], most: int) -> str:
    """Return the first of several items, and how many more there are."""
    if len(items) <= most:
        return listed(items)
    return f"{', '.join(items[:most])} and {count(len(items) - most)} more"


def step_words(step: float) -> str:
    """Return to what numbers are rounded, as `--help` has it: 1.4e-6."""
    return f"{step:.2g}".replace("e-0", "e-")


def rounded_words(step: str, *, what: str = "scores", exact: str = "") -> str:
    """Return what is said of scores that do not fit in memory: to what they are rounded, and the way out."""
    stays = f" ({exact} stay exact)" if exact else ""
    rounded = f"{what} are rounded to {step}{stays}"
    return f"the distinct scores did not fit in memory: {rounded}; --exact avoids it"


BY_CHANCE = "by chance"

NULL_REFERENCE = (
    '"by chance": 90 % of values would lie in this range if the scores were the true probabilities.'
)

NULL_MEAN = '"by chance": about what values would be on average if the scores were the true probabilities.'
ABOUT = '"about": what they would be on average, where that range is not known.'

VALID = "valid"
"""The column that says what a reader may rely on, in place of how a bound was found."""

INDEPENDENT = "Rows are taken as independent"
HOW_AT = "-v says how each bound was found, and --explain NAME what a number is."
SMALL_P = "A small p-value is evidence against calibration; a large one is no proof of it."


def from_both(differences: "Iterable[Difference]") -> list[str]:
    """Say whose intervals do not take the rows of two scores together, or nothing."""
    names = [
        one.name.value
        for one in differences
        if one.interval is not None and one.interval.method.startswith(FROM_BOTH)
    ]
    wider = "put together from those of both scores, and so wider than row by row"
    return [f"Intervals of {listed(names)}: {wider}."] if names else []


_ROUGH = "rough: "


def roughness(estimate: "Estimated") -> str:
    """Return why the interval of an estimate is rough; nothing where it is not."""
    return next((one for one in estimate.assumptions if one.startswith(_ROUGH)), "")


def valid_for(interval: Interval, *, rough: str = "") -> str:
    """Return when an interval holds, or that it does so roughly, and of whom it speaks."""
    when = rough or ("any sample size" if interval.finite_sample else "large-sample")
    return f"{when}; {_WHOM[interval.target]}"


_WHOM = {
    Target.POPULATION: "the population",
    Target.MIXED: "upper: the population, lower: these rows",
    Target.FIXED_DESIGN: "these rows",
}


def at_once(confidence: float, what: str, together: float) -> str:
    """Return that intervals of groups or classes are wider, for all of them to hold."""
    both = f"hold for all {what} at once with {percent(together)} (Bonferroni)"
    return f"Each interval is at {percent(confidence)}, so that those of one measure {both}."


def whose(target: Target) -> str:
    """Return for whom a bound speaks."""
    population, scores = "in the population these rows come from", "for these very scores"
    if target is Target.MIXED:
        return f"{population} (upper bound) and {scores} (lower)"
    return population if target is Target.POPULATION else scores


def verdict_word(verdict: "Verdict") -> str:
    """Return the verdict in capitals: of a gate that only warns, whether it does."""
    if verdict.evidence is not None and verdict.evidence.log_pass is None:
        return ALARM if verdict.outcome is VerdictName.FAIL else f"NO {ALARM}"
    return verdict.outcome.value.upper()


def standing(found: "Difference") -> str:
    """Return how a score stands to another, in words; nothing where only the reason is left to say."""
    if found.verdict is not ComparisonName.NOT_TOLD_APART:
        return found.verdict.value
    if found.equal:
        return "the same in these rows"
    return "no clear difference" if found.judged or not found.reasons else ""
