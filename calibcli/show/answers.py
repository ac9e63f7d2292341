"""The answer in one or two plain sentences, which every report opens with and JSON has as `answer`.

What is said of scores is shown by these rows: an interval or a test stands behind it. Where none does, the
sentence says so, and how large an error is still possible.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from calibcli.names import (
    GAVE_ZERO,
    Bound,
    ComparisonName,
    MeasureName,
    Relation,
    Target,
    TestName,
    VerdictName,
    ViewName,
)
from calibcli.options.measuring import CLINICAL
from calibcli.options.numerals import agreeing, in_full, percent, plural, rough_percent
from calibcli.reports.measure import IN_TABLES, MOST_SCORES_IN_FULL, RANKS_WRONG, VALUES_ALONE, ViewSummary
from calibcli.show.words import (
    ALARM,
    about,
    all_of,
    beside,
    capital,
    count,
    distinct_labels,
    equals,
    field_name,
    first_of,
    four,
    listed,
    p_equals,
    p_together,
    printable,
    quoted,
    rejects_too_often,
    roughness,
    span,
    these,
    three,
    verdict_word,
    whose,
)
from calibcli.values import replace

if TYPE_CHECKING:
    # A command pays for the reports of no other one.
    from calibcli.reports.compare import CompareReport, Comparison
    from calibcli.reports.drift import Compared as GroupsCompared
    from calibcli.reports.drift import DriftColumn, DriftReport
    from calibcli.reports.leaderboard import GroupBoards, LeaderboardReport, Ranking
    from calibcli.reports.maps import ClassFitReport, FitReport
    from calibcli.reports.measure import GroupsSummary, MeasureReport
    from calibcli.reports.plan import PlanReport
    from calibcli.reports.segments import Segment, SegmentsReport, WrongFor
    from calibcli.reports.verify import VerifyReport
    from calibcli.show import Report
    from calibcli.stats.bounds import Interval
    from calibcli.stats.curves.reliability import Stretch
    from calibcli.stats.gates.claim import Claim, JudgedSegment, JudgedSegments, RowsNeeded, Verdict
    from calibcli.stats.measures import Estimated, TestResult
    from calibcli.stats.recalibrators.segments import SegmentMap


def answer_of(report: "Report") -> tuple[str, ...]:
    """Return what a report comes to, sentence by sentence; nothing of one that answers no question."""
    answer = _ANSWERS.get(report.page)
    return () if answer is None else answer(report)


def document_of(report: "Report") -> dict[str, object]:
    """Return a report as it is written in JSON, the answer included."""
    said = answer_of(report)
    return {**report.to_dict(), **({"answer": " ".join(said)} if said else {})}


M = MeasureName
# What says how far scores are from rates on average, the first that was measured.
_SIZES = (M.ECE, M.ECE_EQUAL_MASS, M.SMECE, M.ICI)
# What is 0 where scores are calibrated: an interval above it shows that they are not.
_ERRORS = frozenset((*_SIZES, M.ACE, M.L2, M.L2_PLUG_IN, M.LP, M.LINF, M.OVERCONFIDENCE, M.UNDERCONFIDENCE))
_ERRORS |= {M.SMECE_LOGIT, M.SMECE_PROBIT, M.DCE, M.DCE_LOWER, M.SMCE, M.CUTOFF, M.E50, M.E90, M.EMAX}
_ERRORS |= {M.BRIER_RELIABILITY_CORRECTED}
# The same of measures without an interval, beside which stands what chance alone would give.
_OPEN_ERRORS = {M.ECE_SWEEP, M.L1_DEBIASED, M.MMCE, M.BRIER_RELIABILITY, M.BRIER_MCB, M.LOG_LOSS_MCB}

# What a value below and above that of a calibrated score means, where its interval shows it.
_LEVELS: Mapping[str, tuple[float, str, str]] = {
    M.BIAS: (0.0, "scores are on average too high", "scores are on average too low"),
    M.OE: (1.0, "fewer events occurred than predicted", "more events occurred than predicted"),
    M.CITL_LOGIT: (0.0, "scores are too high on average", "scores are too low on average"),
    M.COX_SLOPE: (1.0, "scores are too extreme", "scores are not extreme enough"),
    M.COX_INTERCEPT: (0.0, "scores near 0.5 are too high", "scores near 0.5 are too low"),
}
# The measures above answer three questions; of each the first asked for that shows something is said.
_QUESTIONS = ((M.BIAS, M.OE, M.CITL_LOGIT), (M.COX_SLOPE,), (M.COX_INTERCEPT,))
_ONE_SIDED = (TestName.JEFFREYS, TestName.BINOMIAL)
_TOO_LOW = "scores are too low on average"

# Below these a score is the lower, the likelier the event.
_RANKS: Mapping[str, float] = {M.AUROC: 0.5, M.GINI: 0.0, M.COX_SLOPE: 0.0}
_WRONG_WAY = "The score ranks the wrong way: is it of the other class, or the outcome coded in reverse?"

_MOST_STRETCHES = 4

# What every format has an interval of for groups and classes where nobody says which measures.
_OF_GROUPS = tuple(name for name in IN_TABLES if name not in VALUES_ALONE)


def measured(report: "MeasureReport") -> tuple[str, ...]:
    """Return where scores are too low or too high and by how much, then the worst group or class."""
    classes, further = report.classes, list[str]()
    for view in () if classes is None else classes.views:
        if len(view.measured) > 1:
            what = "classes against the rest" if view.view is ViewName.ONE_VS_REST else "predicted classes"
            further.append(_worst(report, view, what, view.at_least))
            further.append(_groups(report, view))
            further.append(_certain(report, view))
    return (*_of_each_score(report), *(one for one in further if one), *_scores(report))


def _of_each_score(report: "MeasureReport") -> list[str]:
    """Return what is shown of the scores and their groups; of several, each by its name, or of very many the
    first.
    """
    levels = report.selected and tuple(one.name for one in report.measures) == CLINICAL
    first, others = _levels(report) if levels else [], list(report.further_scores.values())
    every = [report, *(others if len(others) <= MOST_SCORES_IN_FULL else [])]
    # Groups of every score are slices of the report.
    parts = (replace(one, slices=report.slices) for one in every)
    said = [[*([] if levels else _errors(one)), *_of_groups(one)] for one in parts]
    if not others:
        return [*first, *said[0]]
    named = zip(every, said, strict=True)
    return [*first, *(f"{quoted(one.input.score)}: {' '.join(some)}" for one, some in named if some)]


def _of_groups(report: "MeasureReport") -> list[str]:
    """Return which groups are shown to be off, and by how much, or by what none is."""
    groups = report.groups
    if groups is None or len(groups.measured) < 2:
        return []
    found = (_worst(report, groups, "groups"), _groups(report, groups), _certain(report, groups))
    return [one for one in (found if any(found) else [_none_off(report, groups)]) if one]


# How the reasons begin why so few rows leave the curve without an interval.
_TOO_FEW = ("no interval: fewer than", "no interval: every label")
_OF_CLUSTERS = (
    "only bias, oe, observed_rate, mean_score, brier and log_loss have an interval that allows for it"
)
_STRONG = "Strong calibration, for every combination of predictors: scores and labels alone cannot test it."


def _of_clusters(report: "MeasureReport") -> str:
    """Return which intervals allow for clusters, or why even those are missing."""
    from calibcli.stats.bounds import why_none

    brier = [text for one in report.measures if one.name is MeasureName.BRIER for text in one.assumptions]
    none = why_none(brier)
    said = none[0].replace(":", " here allows for it:", 1) if none else _OF_CLUSTERS
    return f"Rows of one cluster are dependent: {said}."


def _levels(report: "MeasureReport") -> list[str]:
    """Return the levels of Van Calster et al. (2016) score by score, and why none is strong."""
    scores = [report, *report.further_scores.values()]
    found = [
        [
            *_ranks_wrong(one),
            *_levels_of(one, of="" if len(scores) == 1 else f" of {quoted(one.input.score)}"),
            *_tested(one),
        ]
        for one in scores
    ]
    return [*chain(*found), _STRONG, *([] if report.clusters is None else [_of_clusters(report)])]


def _levels_of(report: "MeasureReport", *, of: str) -> list[str]:
    named = {one.name: one for one in report.measures}
    said, failed = list[str](), False
    for level, names in (
        ("Mean", (MeasureName.OE,)),
        ("Weak", (MeasureName.CITL_LOGIT, MeasureName.COX_SLOPE)),
    ):
        found = [named[name] for name in names]
        numbers = ", ".join(f"{field_name(one.name)} {_with_ends(one)}" for one in found)
        shown = [
            "the score ranks the wrong way" if _reversed(one) else _way(one) for one in found if _way(one)
        ]
        # "Scores are too high on average and too extreme."
        shown[1:] = [one.removeprefix("scores are ") for one in shown[1:]]
        failed = failed or bool(shown)
        said.append(
            f"{level} calibration{of}: {numbers}. {capital(listed(shown)) or _unshown(report, found)}."
        )
    ici = named[MeasureName.ICI]
    # Each level implies those before it.
    few = any(one.startswith(_TOO_FEW) for one in ici.assumptions)
    wrong = "Too few events to tell" if few else _unshown(report, [ici])
    wrong = "Not met, because a lower level is not met" if failed else wrong
    wrong = "The flexible calibration curve departs from the diagonal" if _shows_error(ici) else wrong
    curve = f"{field_name(ici.name)} {_with_ends(ici)}{_by_chance(ici)}"
    return [*said, f"Moderate calibration{of}: {curve}. {wrong}."]


def _unshown(report: "MeasureReport", measures: "Sequence[Estimated]") -> str:
    """Return that nothing is shown, or that nothing could be."""
    if any(one.interval is not None for one in measures):
        return "No error is shown"
    return "Without an interval this cannot be decided" if report.clusters is None else "Not tested"


def _ranks_wrong(report: "MeasureReport") -> list[str]:
    """Return that the score ranks the wrong way, by the first number that shows it."""
    found = next((one for one in report.measures if _reversed(one)), None)
    if found is None:
        noted = next((note for note in report.notes if note.startswith(RANKS_WRONG)), "")
        return [f"{_WRONG_WAY} {capital(noted.partition(':')[0])}."] if noted else []
    return [f"{_WRONG_WAY} {capital(_number(found))}."]


def _reversed(one: "Estimated") -> bool:
    return one.name in _RANKS and one.interval is not None and one.interval.ends[1] < _RANKS[one.name]


def _way(one: "Estimated | None") -> str:
    """Return what an interval shows that leaves out the value of calibrated scores; else nothing."""
    if one is None or one.name not in _LEVELS or one.interval is None:
        return ""
    (right, below, above), (lower, upper) = _LEVELS[one.name], one.interval.ends
    return below if upper < right else above if lower > right else ""


def _ways(report: "MeasureReport", *, but: frozenset[MeasureName]) -> list[str]:
    """Return what was asked for and shows a direction, a sentence for each question."""
    said = []
    # What a score that ranks the wrong way is otherwise matters little.
    for question in _QUESTIONS[:1] if _ranks_wrong(report) else _QUESTIONS:
        found = (one for one in report.measures if one.name in question and one.name not in but)
        one = next((one for one in found if _way(one)), None)
        if one is not None and one.name is M.BIAS:
            ends = _interval(one.interval, flipped=one.value < 0.0)
            said.append(f"{_way(one)} by {three(abs(one.value))}{ends}")
        elif one is not None:
            said.append(f"{_way(one)}: {_number(one)}")
        elif question is _QUESTIONS[0]:
            tests = (one for one in report.tests if one.name in _ONE_SIDED)
            test = next((one for one in tests if _rejects(report, one.p_value)), None)
            said += [] if test is None else [f"{_TOO_LOW} ({_p_of(test)})"]
    return said


def _rejects(report: "MeasureReport", p_value: float | None) -> bool:
    return p_value is not None and p_value < 1.0 - report.confidence


def _p_of(test: "TestResult") -> str:
    return f"{field_name(test.name)}: p {p_equals(test.p_value, test.p_method)}"


def _tested(report: "MeasureReport") -> list[str]:
    """Return what tests show together, or the one with the least p-value of several that are not combined."""
    if contradicted := _contradicted(report, classes=report.classes is not None):
        return [contradicted]
    combined = report.combined
    if combined is not None:
        if not _rejects(report, combined.p_value):
            return []
        first = "Scores are miscalibrated" if _sure(report) else "Weak evidence of miscalibration"
        return [f"{first} (p {equals(p_together(combined, report.tests))})."]
    known = [(one.p_value, one) for one in report.tests if one.p_value is not None]
    if not known or not _rejects(report, min(known, key=lambda one: one[0])[0]):
        return []
    p_value, least = min(known, key=lambda one: one[0])
    # What the least of several comes to (Bonferroni).
    sure = _rejects(report, len(known) * p_value)
    first = "Scores are miscalibrated" if sure else "Weak evidence of miscalibration"
    first = capital(_TOO_LOW) if sure and least.name in _ONE_SIDED else first
    of = f", the least of {count(len(known))} tests" if len(known) > 1 else ""
    return [f"{first} ({_p_of(least)}{of})."]


def _errors(report: "MeasureReport") -> list[str]:
    """Return what is shown of all rows, or what there is weak evidence of, by what was asked for."""
    contradicted = _contradicted(report, classes=report.classes is not None)
    seeing = (*_ERRORS, *_OPEN_ERRORS, *_LEVELS)
    if report.selected and not report.tests and not any(one.name in seeing for one in report.measures):
        # Losses and ranks do not see whether scores are calibrated.
        said = _ranks_wrong(report) or _first(report)
        return [contradicted, *said] if contradicted else said
    named = {one.name: one for one in report.measures if math.isfinite(one.value)}
    size = next((named[name] for name in _SIZES if name in named), None)
    off = "" if size is None else f"off by {_with_ends(size)}{_by_chance(size)}"
    sure, where = _sure(report), _where(report)

    def stated(sentence: str) -> str:
        return capital(sentence if sure else f"Weak evidence that {sentence}")

    said = [f"{stated(where)}: on average {off}." if off else f"{stated(where)}."] if where else []
    # A bias of all scores is their error range by range, which has just been said.
    known = frozenset({M.BIAS}) if where and size is not None and _everywhere(report) else frozenset[M]()
    ways = _ways(report, but=known)
    if (
        ways
        and said == [f"{capital(where)}."]
        and _everywhere(report)
        and f"too {where.split()[-1]}" in ways[0]
    ):
        # The same once more, with a number.
        said = []
    said += [f"{stated(way)}." for way in ways]
    said += [f"Range by range they are {off}."] if off and ways and not where else []
    if where and not off and report.selected and not ways and not any(map(_way, report.measures)):
        # What was asked for shows no direction, and is the answer all the same.
        said = [*(_first(report) or _tested(report)), *said]
    if contradicted and contradicted not in said:
        said = [*said, contradicted] if said else [contradicted, *_first(report)]
    said = said or _unplaced(report, size, off)
    return [*_ranks_wrong(report), *said]


def _unplaced(report: "MeasureReport", size: "Estimated | None", off: str) -> list[str]:
    """Return that scores are miscalibrated, but not where, or that it could not be shown."""
    shown = next(filter(_shows_error, report.measures), None)
    tested, together = _tested(report), _together(report)
    if shown is None and not tested:
        beyond = next((one for one in report.measures if _beyond_chance(one)), None)
        if together is None and beyond is not None:
            return [f"Weak evidence of miscalibration: {_number(beyond)}{_by_chance(beyond)}."]
        return [_nothing_shown(report, size), *(_first(report) if size is None else [])]
    by = f": on average {off}" if off else ""
    if not off and shown is not None:
        by = f": {_number(shown)}{_by_chance(shown)}"
    if tested and (not tested[0].startswith("Weak") or shown is None):
        first = tested[0].removesuffix(".")
        return [f"{first}{'' if first.startswith('Weak') else ', but these rows do not show where'}{by}."]
    if together is not None:
        return [f"Weak evidence of miscalibration{by}."]
    return [f"Scores are miscalibrated, but these rows do not show where{by}."]


def _contradicted(report: "MeasureReport | SegmentsReport", *, classes: bool = False) -> str:
    """Return how many rows no calibrated score could have, if there are any."""
    rows = report.table.contradicting
    what = "gave probability 0 to the right class or 1 to another" if classes else GAVE_ZERO
    return f"{plural(rows, 'row')} {what}." if rows else ""


def _number(one: "Estimated") -> str:
    return f"the {field_name(one.name)} is {_with_ends(one)}"


def _beyond_chance(one: "Estimated") -> bool:
    """Whether an error is larger than in 95 % of samples whose labels were drawn from the scores."""
    errors = one.name in _ERRORS or one.name in _OPEN_ERRORS
    return errors and one.null_range is not None and one.value > one.null_range[1]


def _everywhere(report: "MeasureReport") -> bool:
    """Whether all scores are shown to err alike."""
    from calibcli.stats.curves.reliability import stretches

    found = stretches(report.curve.binned, confidence=report.confidence)
    return len(found) == 1 and found[0].lower is found[0].upper is None


def _sure(report: "MeasureReport") -> bool:
    """Whether miscalibration is shown: by the tests together or by a range, each with half of the error.

    Together they call calibrated scores miscalibrated no more often than one of them with all of it would.
    Without tests every interval speaks for itself.
    """
    from calibcli.stats.curves.reliability import stretches

    half, together = (1.0 - report.confidence) / 2.0, _together(report)
    return together is None or together < half or bool(stretches(report.curve.binned, confidence=1.0 - half))


def _together(report: "MeasureReport") -> float | None:
    """Return the p-value of the tests together; None where none is defined, as with importance weights."""
    return None if report.combined is None else report.combined.p_value


def _nothing_shown(report: "MeasureReport", size: "Estimated | None") -> str:
    """Return that no error was shown, and how large one may be all the same."""
    intervals = {one.name for one in report.measures if one.interval is not None}
    seen = intervals & {*_ERRORS, *_LEVELS}
    tests = [one for one in report.tests if one.p_value is not None]
    banded = not math.isnan(float(report.curve.binned.rate_lower[0]))
    if not seen and not tests and not banded:
        off = "" if size is None else f": on average they are off by {three(size.value)}"
        return f"Nothing measured here can show whether the scores are calibrated{off}."
    rows = these(report.table.rows, "row")
    if tests and not report.measures and all(one.name in _ONE_SIDED for one in tests):
        do = agreeing(report.table.rows, "does")
        shown = f"{capital(rows)} {do} not show that {_TOO_LOW} ({_p_of(tests[0])})"
        return f"{shown}; whether too high is not tested."
    # Groups and classes one by one may well be shown to be wrong.
    classes, grouped = report.input.classes, report.groups is not None and report.groups.measured
    of = "" if classes is None or classes.view is not ViewName.CONFIDENCE else " of the largest probability"
    where = f"over all {plural(report.table.rows, 'row')}" if grouped else f"in {rows}"
    first = f"No miscalibration{of} could be shown {where}"
    upper = None if size is None or size.interval is None else size.interval.upper
    if upper is None or size is None or size.interval is None:
        return f"{first}; that is no proof that there is none."
    level = percent(size.interval.confidence)
    return f"{first}; an error of up to {three(upper)} on average is possible ({level} confidence)."


def _first(report: "MeasureReport") -> list[str]:
    """Return the first measure that was asked for, where it is none of the size of errors."""
    measures = report.measures or (() if report.classes is None else report.classes.measures)
    if not report.selected or not measures:
        return []
    first = measures[0]
    chance = _by_chance(first) if first.name in _OPEN_ERRORS else ""
    return [f"{capital(_number(first))}{chance}."]


def _shows_error(one: "Estimated | None") -> bool:
    """Whether the interval of an error, which calibrated scores have none of, lies above 0."""
    interval = None if one is None or one.name not in _ERRORS else one.interval
    return interval is not None and interval.ends[0] > 0.0


def _with_ends(one: "Estimated") -> str:
    """Return an estimate with its interval in brackets, and whether that is rough.

    Where the interval leaves out what a calibrated score would have, neither is rounded to it.
    """
    right = _LEVELS[one.name][0] if one.name in _LEVELS else _RANKS.get(one.name, 0.0)
    lower, upper = (right, right) if one.interval is None else one.interval.ends
    value = three(one.value) if lower <= right <= upper else beside(one.value, right, least=3)
    return f"{value}{_interval(one.interval, rough=bool(roughness(one)), right=right)}"


def _interval(
    interval: "Interval | None", *, flipped: bool = False, rough: bool = False, right: float = 0.0
) -> str:
    """Return an interval in brackets, or nothing; `flipped` that of the number without its sign.

    No end is rounded to what a calibrated score would have, which the interval may just leave out.
    """
    lower, upper = (None, None) if interval is None else (interval.lower, interval.upper)
    if flipped:
        lower, upper = (None if end is None else -end for end in (upper, lower))
    if interval is None or lower is upper is None:
        return ""
    low, high = ("" if end is None else beside(end, right, least=3) for end in (lower, upper))
    ends = f"{low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}"
    return f" ({'rough ' * rough}{percent(interval.confidence)} CI {ends})"


def _by_chance(estimate: "Estimated") -> str:
    null = estimate.null
    return "" if null is None or not math.isfinite(null) else f"; chance alone would give {three(null)}"


def _where(report: "MeasureReport") -> str:
    """Return which scores are too low and which too high; nothing where no range of them is shown to be."""
    from calibcli.stats.curves.reliability import stretches

    curve = report.curve.binned
    found = stretches(curve, confidence=report.confidence)
    if not found:
        return ""
    if len(found) > _MOST_STRETCHES:
        ways = Counter("low" if one.too_low else "high" for one in found)
        return f"scores are too low in {plural(ways['low'], 'range')} and too high in {count(ways['high'])}"
    atoms = bool((curve.lower == curve.upper).all())
    said = listed(f"too {'low' if one.too_low else 'high'}{_range(one, atoms=atoms)}" for one in found)
    classes = report.input.classes
    if classes is not None and classes.view is ViewName.CONFIDENCE and len(found) == 1:
        # Whoever says of itself that it is right too often, or too seldom.
        way = "under" if found[0].too_low else "over"
        return f"the model is {way}confident, with probabilities {said}"
    return f"scores are {said}"


def _range(stretch: "Stretch", *, atoms: bool) -> str:
    """Return a range in words; values by themselves belong to it, edges of bins divide."""
    ends = (stretch.lower, stretch.upper)
    # No end of a range reads as that of all scores.
    texts = distinct_labels([0.0, 1.0, *(end for end in ends if end is not None)], least=3)
    low, high = (None if end is None else texts[end] for end in ends)
    # No score lies beyond 0 and 1.
    if atoms and (high == "0" or low == "1"):
        return f" at {high if low is None else low}"
    if low is None:
        return "" if high is None else f" {'up to' if atoms else 'below'} {high}"
    if high is None:
        return f" {'from' if atoms else 'above'} {low}{' on' if atoms else ''}"
    return f" at {low}" if low == high else f" from {low} to {high}"


def _worst(
    report: "MeasureReport",
    summary: "GroupsSummary | ViewSummary",
    what: str,
    at_least: "Mapping[str, float] | None" = None,
) -> str:
    """Return how many groups or classes are shown to be off, and which is shown to be most off."""
    worst, keys = summary.worst, summary.measured
    if worst is None:
        return ""
    large, many = _how_many(summary, what)
    if worst.by_lower is None:
        # Another measure may show what the ECE does not.
        told = _groups(report, summary) or _certain(report, summary)
        by = "" if report.selected else f" by {' or '.join(map(field_name, _OF_GROUPS))}"
        return "" if told else f"{many} none by itself is shown to be miscalibrated{by}."
    errors = [one for key in keys for one in report.slices[key].measures if one.name is worst.measure]
    shown = sum(map(_shows_error, errors))
    if at_least is not None:
        shown = sum(bound > 0.0 for bound in at_least.values())
    are = agreeing(shown, "is")
    some = f"{all_of(shown)} {what}{large}" if shown == len(keys) else f"{many} {count(shown)}"
    name = worst.by_lower if what == "groups" else f"class {worst.by_lower.partition('=')[2]}"
    least = f"{name}, off by {three(worst.lower)} or more on average"
    together = f"; all at once with {percent(report.confidence)} confidence" if summary.confidence else ""
    above = ":" if shown == 1 else ", above all"
    return f"{some} {are} shown to be miscalibrated{above} {least}{together}."


def _how_many(summary: "GroupsSummary | ViewSummary", what: str) -> tuple[str, str]:
    """Return which groups or classes are large enough, and how many these are."""
    large = f" of at least {count(summary.least_rows)} rows" if summary.left_out else ""
    return large, f"Of {count(len(summary.measured))} {what}{large}"


def _none_off(report: "MeasureReport", groups: "GroupsSummary") -> str:
    """Return by what no group is shown to be off, of what was asked for and could have shown it in each."""
    parts = [report.slices[key] for key in groups.measured]
    names = [
        field_name(one.name)
        for one in report.measures
        if one.name in _LEVELS or one.name in _ERRORS
        if all(any(own.name is one.name and own.interval for own in part.measures) for part in parts)
    ]
    known = {
        TestName(name)
        for name, p_values in (groups.adjusted or {}).items()
        if None not in p_values.values()
        if not any(rejects_too_often(TestName(name), part) for part in parts)
    }
    tests = [one.name for one in report.tests if one.name in known]
    _, many = _how_many(groups, "groups")
    if not report.selected or not (names or tests):
        return ""
    if not names and {*_ONE_SIDED} >= {*tests}:
        by = listed(map(field_name, tests))
        return f"{many} none by itself is shown to have scores that are too low, by {by}."
    names += map(field_name, tests)
    by = " or ".join(names) if len(names) <= 3 else first_of(names, 3)
    return f"{many} none by itself is shown to be miscalibrated by {by}."


def _groups(report: "MeasureReport", groups: "GroupsSummary | ViewSummary") -> str:
    """Return in which groups or classes the first measure or test that shows something shows what."""
    told = groups.worst is not None and groups.worst.by_lower is not None
    if told and not report.selected:
        return ""
    for one in report.measures:
        # Where the ECE has shown an error, others say only which way.
        of_all = report.selected or one.name in _OF_GROUPS
        if not of_all or one.name is M.ECE or (told and one.name not in _LEVELS):
            continue
        ways: dict[str, list[str]] = {}
        for key in groups.measured:
            found = next((found for found in report.slices[key].measures if found.name is one.name), None)
            way = _way(found) or ("scores are miscalibrated" if _shows_error(found) else "")
            if way:
                ways.setdefault(way, []).append(key)
        if ways:
            said = listed(f"{way} in {_named(groups, keys)}" for way, keys in ways.items())
            level = percent(report.confidence)
            return f"By {field_name(one.name)}, {said}; all at once with {level} confidence."
    if isinstance(groups, ViewSummary) or not report.selected:
        return ""
    return _group_tests_say(report, groups, told=told)


def _group_tests_say(report: "MeasureReport", groups: "GroupsSummary", *, told: bool) -> str:
    """Return in which groups the first test that shows something shows what.

    What one of several two-sided tests says that they do not bear out together is weak evidence: with all of
    the error each, some of them would call a calibrated group wrong.
    """
    tests = {
        TestName(name): {
            key: p_value
            for key, p_value in p_values.items()
            if p_value is not None and not rejects_too_often(TestName(name), report.slices[key])
        }
        for name, p_values in (groups.adjusted or {}).items()
    }
    two_sided, weak = [p_values for test, p_values in tests.items() if test not in _ONE_SIDED], ""
    for test, p_values in tests.items():
        keys = sure = [key for key, p_value in p_values.items() if _rejects(report, p_value)]
        way = _TOO_LOW if test in _ONE_SIDED else "scores are miscalibrated"
        if test not in _ONE_SIDED:
            least = {key: min(one.get(key, 1.0) for one in two_sided) for key in keys}
            sure = [key for key in keys if _rejects(report, len(two_sided) * least[key])]
        if sure:
            holm = f"p adjusted for {plural(len(groups.measured), 'group')}"
            return f"By {field_name(test)}, {way} in {first_of(sure, 3)} ({holm})."
        if keys:
            weak = weak or f"Weak evidence, by {field_name(test)}, that {way} in {first_of(keys, 3)}."
    return "" if told else weak


def _certain(report: "MeasureReport", groups: "GroupsSummary | ViewSummary") -> str:
    """Return in which groups or classes rows are that no calibrated score could have."""
    keys = [key for key in groups.measured if report.slices[key].table.contradicting]
    return f"Probability 0 was given to what happened in {_named(groups, keys)}." if keys else ""


def _named(groups: "GroupsSummary | ViewSummary", keys: Sequence[str]) -> str:
    """Return the first of some groups or classes, and how many more there are."""
    if not isinstance(groups, ViewSummary):
        return first_of(keys, 3)
    names = first_of([key.partition("=")[2] for key in keys], 3)
    if groups.view is ViewName.TOP_LABEL:
        return f"rows that predict {names}"
    return f"{'class' if len(keys) == 1 else 'classes'} {names}"


def _scores(report: "MeasureReport") -> list[str]:
    """Return how further scores stand to the first, by the first measure that both have."""
    ways: dict[ComparisonName, list[str]] = {}
    name = ""
    for key, found in report.differences.items():
        if found:
            lead = next((one for one in found if one.name is MeasureName.BRIER), found[0])
            name = lead.name.value
            ways.setdefault(lead.verdict, []).append(quoted(report.slices[key].input.score))
    first = quoted(report.input.score)
    words = {
        ComparisonName.BETTER: "{} {} better than {}",
        ComparisonName.WORSE: "{} {} worse than {}",
        ComparisonName.NOT_TOLD_APART: "{} {} not clearly different from {}",
    }
    said = [
        text.format(first_of(ways[way], 3), agreeing(len(ways[way]), "is"), first)
        for way, text in words.items()
        if way in ways
    ]
    return [f"By {field_name(name)}, {'; '.join(said)}."] if said else []


# Means over rows of what a row's score costs: without any difference no two scores differ.
_BY_ROW = (MeasureName.BRIER, MeasureName.LOG_LOSS)


def compared(report: "CompareReport") -> tuple[str, ...]:
    """Return which of two is better by what, and by how much."""
    second, first = quoted(report.second.name), quoted(report.first.name)
    if second == first:
        second, first = f"{second} (second)", f"{first} (first)"
    if any(one.name in _BY_ROW and one.difference.equal for one in report.every_comparison):
        return (f"{second} and {first} have the same score in every row.",)
    same = [field_name(one.name.value) for one in report.every_comparison if one.difference.equal]
    differing = [one for one in report.every_comparison if not one.difference.equal]
    alike = f"have the same {_brief(same, ' measures')} in these rows."
    if same and not differing:
        return (f"{second} and {first} {alike}",)
    ways: dict[ComparisonName, list[str]] = {}
    blind = [field_name(one.name.value) for one in differing if not one.difference.judged]
    for one in differing:
        if one.difference.judged:
            ways.setdefault(one.difference.verdict, []).append(field_name(one.name.value))
    undecided = ways.pop(ComparisonName.NOT_TOLD_APART, [])
    told = [one for one in differing if one.difference.verdict in ways]
    lead = "".join(f": {_differs(one)}" for one in (told or differing)[:1])
    more = [f"Both {alike}"] if same else []
    if not told:
        return (f"These rows do not show whether {second} or {first} is better{lead}.", *more)
    said = listed(f"{way.value} than {first} by {_brief(names, ' measures')}" for way, names in ways.items())
    more += [f"No clear difference by {_brief(undecided, ' measures')}."] if undecided else []
    more += [f"Not judged by {_brief(blind, ' measures')}, for want of an interval."] if blind else []
    return (f"{second} is {said}{lead}.", *more)


def ranked(report: "LeaderboardReport") -> tuple[str, ...]:
    """Return which scores are shown to be worse or better than the best, or than the reference, by what."""
    said: dict[str, list[str]] = {}
    for one in report.rankings:
        said.setdefault(_standings(one, report.reference), []).append(field_name(one.name.value))
    found = tuple(sentence.format(measures=listed(names)) for sentence, names in said.items())
    return found if report.groups is None else (*found, *_of_boards(report.groups, report.reference))


def _of_boards(groups: "GroupBoards", reference: str | None) -> Iterator[str]:
    """Yield how scores stand in each group by the first measure, alike groups together."""
    said: dict[str, list[str]] = {}
    for one in groups.boards:
        ranking = one.rankings[0]
        sentence = _standings(ranking, reference).format(measures=field_name(ranking.name.value))
        said.setdefault(sentence, []).append(quoted(one.name))
    for sentence, names in said.items():
        start = sentence[:1].lower() + sentence[1:] if sentence.startswith("Against") else sentence
        yield f"In {quoted(groups.column)} {_brief(names)}: {start}"


def _standings(ranking: "Ranking", reference: str | None) -> str:
    """Return a sentence on the scores of a ranking, with a place for its measure."""
    blind = ranking.not_judged
    verdicts = (ComparisonName.BETTER, ComparisonName.WORSE, ComparisonName.NOT_TOLD_APART, None)
    by_verdict = [[name for name in ranking.of_verdict(one) if name not in blind] for one in verdicts]
    better, worse, open_, apart, blind_ = (
        _brief([quoted(name).replace("{", "{{").replace("}", "}}") for name in names])
        for names in (*by_verdict, blind)
    )
    against = quoted(ranking.against).replace("{", "{{").replace("}", "}}")
    if reference is None and ranking.names_the_best():
        beside = {
            "shown to be better than": worse,
            "no clear difference from": open_,
            "not judged against": blind_,
        }
        rest = "; ".join(f"{how} {names}" for how, names in beside.items() if names)
        return f"{against} has the best {{measures}}{f', {rest}' if rest else ''}."
    if reference is None and all(math.isinf(one.estimate.value) for one in ranking.standings):
        return f"None is the best by {{measures}}: each {GAVE_ZERO} in some row."
    parts = {
        "better": better,
        "worse": worse,
        "no clear difference": open_,
        "not judged, for want of an interval": blind_,
        "no row in common": apart,
    }
    said = "; ".join(f"{way}: {names}" for way, names in parts.items() if names)
    return f"Against {against} by {{measures}}, {said}."


def _brief(names: Sequence[str], what: str = "") -> str:
    """Return names, of more than four the first three and how many more there are, perhaps of what."""
    return listed(names) if len(names) <= 4 else f"{first_of(names, 3)}{what}"


def _differs(one: "Comparison") -> str:
    name, first, second = field_name(one.name.value), one.first.value, one.second.value
    if first is None or second is None or not (math.isfinite(first) and math.isfinite(second)):
        both = _sized(first) == _sized(second)
        return f"{name} is {_sized(second)} {'for both' if both else f'instead of {_sized(first)}'}"
    found = one.difference
    difference = f", a difference of {three(found.value)}{_interval(found.interval)}"
    return f"{name} is {four(second)} instead of {four(first)}{difference}"


def _sized(value: float | None) -> str:
    if value is None or not math.isinf(value):
        return four(value)
    return "infinite" if value > 0.0 else "minus infinite"


_GAIN_LESS = "new rows to gain less, or to lose: `calibcli measure --artifact` on other rows shows how much."
_NO_GAIN = (
    "The map gains nothing on these rows; `calibcli measure --artifact` shows whether it does on others."
)


def _hereafter(before: float, after: float, expect: str) -> tuple[str, ...]:
    """Return what to expect of new rows; of a loss that stays there is nothing to say."""
    if four(after) == four(before):
        return ()
    return (f"{expect} {_GAIN_LESS}" if after < before else _NO_GAIN,)


def fitted(report: "FitReport") -> tuple[str, ...]:
    """Return what a fit did to the loss: of rows that it has not seen, where some were kept from it."""
    from calibcli.stats.recalibrators.selection import RAW

    said = [] if report.answer is None else [f"{capital(report.answer)}."]
    if report.segments is not None:
        return (*said, *_fitted_segments(report.segments))
    # Those of a selection are of one map for all rows.
    trials = () if report.selection is None or report.by is not None else report.selection.trials
    before = next((one.loss for one in trials if one.method == RAW), None)
    after = next((one.loss for one in trials if one.chosen and one.method != RAW), None)
    if before is not None and after is not None:
        said.append(_falls(report.loss, before, after, "on rows that the fit had not seen"))
        tried = sum(one.loss is not None for one in trials) - 1
        several = f"{count(tried)} methods were tried on these rows, so expect" if tried > 1 else "Expect"
        said += _hereafter(before, after, several)
    elif not said:
        said.append(_falls(report.loss, report.loss_before, report.loss_after, "on the fit rows"))
        said += _hereafter(report.loss_before, report.loss_after, "Expect")
    return tuple(said)


def _fitted_segments(found: "SegmentMap") -> tuple[str, ...]:
    """Return what a repair by segments did to rows that were left out of it, and what one curve would do."""
    (_, raw), (_, pooled), (_, best) = found.losses
    where = f"in {count(found.folds)}-fold cross-validation"
    if found.strength is None:
        return (f"Log loss in cross-validation: {four(raw)} for the raw scores, {four(best)} by segments.",)
    less = f"{count(len(found.trials) - 1)} penalties were tried on these rows, so expect"
    if math.isinf(found.strength):
        same = "Segments do not improve on one curve for all rows, so the map is that curve."
        return _falls("log loss", raw, pooled, where), same, *_hereafter(raw, pooled, less)
    same = f"One curve for all rows would give {four(pooled)}."
    return _falls("log loss", raw, best, where), same, *_hereafter(raw, best, less)


def fitted_classes(report: "ClassFitReport") -> tuple[str, ...]:
    """Return what a fit of several classes did to loss and predictions."""
    changes = "No row can change its predicted class."
    if not report.keeps_prediction:
        changes = f"{plural(report.changed, 'fit row', 'has')} a different predicted class than before."
    return (_falls("log loss", report.loss_before, report.loss_after, "on the fit rows"), changes)


def _falls(loss: str, before: float, after: float, where: str) -> str:
    if math.isinf(before) and math.isfinite(after):
        return f"The {loss} was infinite (some rows {GAVE_ZERO}) and is {four(after)} {where}."
    if four(before) == four(after):
        return f"The {loss} stays at {four(before)} {where}."
    verb = "falls" if after < before else "rises"
    return f"The {loss} {verb} from {four(before)} to {four(after)} {where}."


def planned(report: "PlanReport") -> tuple[str, ...]:
    """Return how many rows to collect, and what they are enough for."""
    passes = report.wanted is VerdictName.PASS
    aim = "pass" if passes else "fail"
    claim = f"{field_name(report.measure)} <= {in_full(report.limit)}"
    if report.rows is None:
        from calibcli.stats.gates.plan import MOST_ROWS

        return (f"More than {count(MOST_ROWS)} labelled rows would be needed to {aim} {claim}.",)
    does = f"checked once after so many rows {aim}{'es' if passes else 's'}"
    if report.rows_between_looks is not None:
        done = "passed" if passes else "failed"
        does = f"checked after every {plural(report.rows_between_looks, 'row')} has {done} by then"
    chance = percent(round(report.reached or 0.0, 3))
    return (
        f"Collect about {about(report.rows)} labelled rows to {aim} {claim}.",
        f"If {report.pattern}, a gate {does} with a probability of {chance}.",
    )


def judged(report: "VerifyReport") -> tuple[str, ...]:
    """Return the verdict in a sentence; of several how many there are of each, and the worst."""
    every = report.every_verdict
    if not every:
        return (f"{report.outcome.value.upper()}: there was nothing to evaluate.",)
    from calibcli.show.ci import badness

    group, _, worst = min(every, key=lambda one: badness(one[2]))
    if worst.outcome is VerdictName.PASS:
        group, _, worst = every[0]
    first, *more = verdict_sentences(worst)
    if len(every) == 1:
        return (f"{verdict_word(worst)}: {first}", *more)
    outcomes = Counter(verdict.outcome for _, _, verdict in every)
    counts = ", ".join(f"{outcomes[name]} {name.value}" for name in VerdictName if outcomes[name])
    every_one = bool(group) and worst.outcome is VerdictName.PASS
    of = f"In {'each group tested' if every_one else group or 'all rows'}: " if report.groups else ""
    return (f"{report.outcome.value.upper()}: of {count(len(every))} claims {counts}.", f"{of}{first}")


def verdict_sentences(verdict: "Verdict") -> tuple[str, ...]:
    """Return what was concluded, for whom, how likely that is to be wrong, and how many rows would decide."""
    more = _needed(verdict) if verdict.segments is None else _of_segments(verdict, verdict.segments)
    return (_meaning(verdict), *more)


def _meaning(verdict: "Verdict") -> str:
    """Return what was concluded, for whom, and how likely that is to be wrong."""
    claim = verdict.claim
    named = field_name(claim.measure).replace(" - baseline", " less the baseline's")
    target = _decisive(verdict)
    what = named if target is None else f"{named} {whose(target)}"
    then = None if verdict.evidence is None else verdict.evidence.shown_then(verdict.outcome)
    if then is not None:
        # Rows that came later may be of another population.
        what = f"{named} in the population of the first {plural(then, 'row')}"
    if verdict.outcome is VerdictName.INCONCLUSIVE:
        concluded = f"Nothing is concluded about {_the(what)}: {why_open(verdict)}."
    else:
        concluded = _alarm(verdict) if verdict_word(verdict) == ALARM else _concluded(verdict, what)
    if verdict.void is not None:
        return f"No bound holds for new rows: {verdict.void}."
    return concluded


def _the(what: str) -> str:
    """Return a measure or test with its article, which Kuiper's has not."""
    return what if what.partition(" ")[0].endswith("'s") else f"the {what}"


def why_open(verdict: "Verdict") -> str:
    if verdict.reason is not None:
        return verdict.reason
    if verdict.segments is not None:
        return "some segments are too small, or too near the limit"
    if verdict.lower is None or verdict.upper is None:
        return "there is only one bound, and it does not decide"
    return f"the bounds lie on both sides of {in_full(verdict.claim.limit)}"


def _alarm(verdict: "Verdict") -> str:
    """Return what is shown of some of the rows, and how often that is wrong.

    Evidence outlives what gave it: it may be enough after the error has passed.
    """
    claim = verdict.claim
    above = f"The {field_name(claim.measure)} was above {in_full(claim.limit)}"
    what = above if claim.limit else "The score was not calibrated"
    false = percent(1.0 - claim.confidence_of_fail)
    of = "in the population of some of these rows, the latest or not"
    return f"{what} {of}; false alarms: at most {false}."


def _decisive(verdict: "Verdict") -> Target | None:
    """Return whom the bound that decided speaks for."""
    if verdict.target is not Target.MIXED or verdict.outcome is VerdictName.INCONCLUSIVE:
        return verdict.target
    kept = verdict.outcome is VerdictName.PASS and not verdict.claim.only_not_refuted
    # The upper bound speaks of the population: it keeps an "at most", and breaks an "at least".
    by_upper = kept == (verdict.claim.relation is Relation.AT_MOST)
    return Target.POPULATION if by_upper else Target.FIXED_DESIGN


def _concluded(verdict: "Verdict", what: str) -> str:
    claim, limit = verdict.claim, in_full(verdict.claim.limit)
    passed = verdict.outcome is VerdictName.PASS
    if claim.bound is Bound.P_VALUE:
        test = capital(_the(what if claim.measure in {*TestName} else "test"))
        if passed:
            return f"{test} does not reject calibration at level {limit}, which is no proof of it."
        level = f"{limit} at most" if verdict.finite_sample else f"about {limit}"
        return f"{test} rejects calibration; a calibrated score is rejected with a probability of {level}."
    at_most = claim.relation is Relation.AT_MOST
    kept, broken = ("at most", "above") if at_most else ("at least", "below")
    if claim.bound is Bound.VALUE:
        found = kept if passed else broken
        return f"The {what} of these rows is {found} {limit}; this says nothing about other rows."
    if not passed:
        wrong = _wrong(verdict, claim.confidence_of_fail)
        return f"The {what} is {broken} {limit}; a wrong FAIL {wrong}."
    if claim.only_not_refuted:
        proof = f"{kept} {limit}" if claim.limit else limit
        return f"The {what} is not shown to be {broken} {limit}, which is no proof that it is {proof}."
    return f"The {what} is {kept} {limit}; a wrong PASS {_wrong(verdict, claim.confidence)}."


def _wrong(verdict: "Verdict", confidence: float) -> str:
    return f"has a probability of at most {roughly(verdict)}{percent(1.0 - confidence)}"


def roughly(verdict: "Verdict") -> str:
    """Return that a confidence holds only as rows grow, where it does."""
    return "" if verdict.finite_sample else "approximately "


def _needed(verdict: "Verdict") -> list[str]:
    needed = verdict.needed
    if needed is None:
        return []
    rows, best = plural(verdict.rows, "row"), _at_best(needed, verdict.rows)
    if needed.within_noise:
        return [f"Too close to the limit to decide with {rows}.", best]
    sentences = [f"You have {rows}."]
    if needed.to_pass is not None:
        rows_for = about(needed.to_pass)
        more = f"With about {rows_for} a pass is as likely as not, if {_assumed(verdict, needed, 'good')}."
        sentences.append(more)
        same = needed.at_best > verdict.rows and about(needed.at_best) == about(needed.to_pass)
        sentences += [] if same else [best]
    if needed.to_fail is not None:
        rows_for = about(needed.to_fail)
        more = f"With about {rows_for} a fail is as likely as not, if {_assumed(verdict, needed, 'bad')}."
        sentences.append(more)
    return [" ".join(sentences)]


def _assumed(verdict: "Verdict", needed: "RowsNeeded", how: str) -> str:
    """Return the error that promised rows are for; of the estimate, noise of the labels is a part."""
    if needed.error is None:
        return f"the model is as {how} as it looks"
    name = field_name(verdict.claim.measure)
    return f"the {name} is {four(needed.error)}, what the estimate is without what chance adds"


def _at_best(needed: "RowsNeeded", rows: int) -> str:
    if needed.at_best <= 0:
        return "No number of rows can show so small an error."
    enough = about(needed.at_best)
    from calibcli.stats.gates.plan import MOST_ROWS

    if needed.at_best >= MOST_ROWS:
        return f"Even a perfectly calibrated model would take more than {about(MOST_ROWS)} to pass."
    if needed.at_best <= rows:
        return f"A perfectly calibrated model would as likely as not have passed with {enough} of these rows."
    return f"A perfectly calibrated model would as likely as not pass with about {enough}."


def _of_segments(verdict: "Verdict", judged: "JudgedSegments") -> list[str]:
    """Return which segment settles a verdict or keeps it open, and how many were not judged."""
    said, every = [], judged.segments
    fails, open_ones = (judged.count(one) for one in (VerdictName.FAIL, VerdictName.INCONCLUSIVE))
    if every:
        one = every[0]
        means = f"{three(one.mean_score)} predicted, {three(one.observed_rate)} observed"
        named = f"{segment_name(one)} ({plural(one.rows, 'row')}): {means}"
        of = f"of {plural(len(every), 'segment')}"
        match one.outcome:
            case VerdictName.PASS:
                said.append(f"Closest to the limit {of} is {named}{_off_by(one, verdict)}.")
            case VerdictName.FAIL:
                rest = f", and {count(open_ones)} {agreeing(open_ones, 'is')} open" if open_ones else ""
                fail = f"{count(fails)} {of} {agreeing(fails, 'fails')}"
                said.append(f"{fail}{rest}; worst is {named}{_off_by(one, verdict)}.")
            case VerdictName.INCONCLUSIVE:
                open_ = "is open:" if open_ones == 1 else "are open, above all"
                said.append(f"{count(open_ones)} {of} {open_} {named}{_off_by(one, verdict)}.")
        said += _needed_of_segment(verdict, one)
    return [*said, *small_segments(verdict, judged)]


def small_segments(verdict: "Verdict", judged: "JudgedSegments") -> list[str]:
    """Return how many segments were counted and not judged, and how many of all rows they hold."""
    if not judged.small:
        return []
    are = "is not tested by itself" if judged.small == 1 else "are not tested by themselves"
    share = rough_percent(judged.small_rows / verdict.rows)
    few = f"{plural(judged.small, 'segment')} of fewer than {plural(judged.least_rows, 'row')}"
    few += "" if judged.least_spread is None else " or too few expected events or non-events"
    few += " at the first look" if verdict.any_time else ""
    return [f"{few} {are} ({plural(judged.small_rows, 'row')}, {share} of all)."]


def worth_of(claim: "Claim") -> str:
    """Return what the rule limits of a segment, in a word, where that is not its bias."""
    return "p, jointly" if claim.bound is Bound.P_VALUE else claim.measure.removeprefix("mce_")


def _off_by(one: "JudgedSegment", verdict: "Verdict") -> str:
    """Return what the bounds of a segment say of its bias, or of what else the rule limits."""
    if one.value is not None:
        name = worth_of(verdict.claim)
        if verdict.claim.bound is Bound.P_VALUE:
            return f"; p {p_equals(one.value, limits=[verdict.claim.limit])}, jointly"
        if one.lower is None or one.upper is None:
            return f"; {name} {three(one.value)}"
        return f"; {name} {_bounded(one.lower, one.upper, one, verdict)}"
    if one.lower is None or one.upper is None:
        return ""
    way = f"too {'high' if one.bias > 0.0 else 'low'}" if one.outcome is VerdictName.FAIL else "off"
    return f", {way} by {_bounded(one.lower, one.upper, one, verdict)}"


def _bounded(lower: float, upper: float, one: "JudgedSegment", verdict: "Verdict") -> str:
    """Return the bound of a segment that keeps a verdict from another outcome, on its side of the limit."""
    fails = one.outcome is VerdictName.FAIL
    bound = beside(lower if fails else upper, verdict.claim.limit, least=3)
    return f"at {'least' if fails else 'most'} {bound}"


def _needed_of_segment(verdict: "Verdict", one: "JudgedSegment") -> list[str]:
    """Return how many rows would decide the segment that keeps a verdict open, and all of them at best."""
    needed = verdict.needed
    if needed is None:
        return []
    said = []
    if needed.within_noise:
        said.append(f"That one is too close to the limit to decide with {plural(one.rows, 'row')}.")
    for aim, good, rows in (("pass", "good", needed.to_pass), ("fail", "bad", needed.to_fail)):
        if rows is not None:
            own = about(math.ceil(rows * one.rows / verdict.rows))
            enough = f"About {own} rows of it, {about(rows)} in all, should be enough to {aim}"
            said.append(f"{enough}, if the model is as {good} there as it looks.")
    # There the bound of the slowest segment would be the limit if no label were due to chance.
    which = "of these rows" if needed.at_best <= verdict.rows else "rows in all"
    every = "Even a model calibrated in every one of these segments"
    said.append(f"{every} takes more than about {about(needed.at_best)} {which}; `plan` says how many.")
    return said


# Of segments that stand out so many are spoken of.
_MOST_SEGMENTS, _MOST_HIDDEN = 2, 3


def segmented(report: "SegmentsReport") -> tuple[str, ...]:
    """Return what stands out in sentences, and out of how many; then the same of further scores."""
    slices = report.slices.values()
    further = (f"Column {quoted(one.input.score)}: {' '.join(segmented(one))}" for one in slices)
    return (*filter(None, [_contradicted(report)]), *_segmented(report), *further)


def _segmented(report: "SegmentsReport") -> tuple[str, ...]:
    sure, shown = percent(report.confidence), report.shown
    if not report.tested:
        return ("No segment could be tested.",)
    tested = plural(report.tested, "segment")
    if not shown:
        first = f"No segment stands out: of {tested}, none is wrong by more than chance (jointly {sure})."
        return (first, *_unseen(report))
    standing = sum(one.stands_out for one in report.segments)
    hidden = [segment_name(one) for one in report.segments if one.stands_out and not one.is_listed]
    does = agreeing(standing, "stands")
    larger = f", {count(len(hidden))} of them no more than a larger segment around them" if hidden else ""
    more = f"{larger}: {first_of(hidden, _MOST_HIDDEN)}" if hidden else ""
    of = f"Of {tested} tested, {count(standing)} {does} out (jointly {sure}){more}."
    return (*(_segment_sentence(one, sure) for one in report.roots[:_MOST_SEGMENTS]), of)


def _unseen(report: "SegmentsReport") -> list[str]:
    """Say which error would have been found, in all rows and in the segments in the middle."""
    tested = [one for one in report.segments if one.not_tested is None]
    known = sorted(one.smallest_detectable or 0.0 for one in tested)
    middle = three(known[len(known) // 2])
    largest = three(max(tested, key=lambda one: one.rows).smallest_detectable or 0.0)
    if len(known) == 1:
        return [f"A bias of {largest} would have been found with a probability of 80 %."]
    of = f"of {middle} in half of the segments, and of {largest} in the largest"
    return [f"With a probability of 80 % a bias {of} would have been found."]


def segment_name(segment: "Segment | JudgedSegment") -> str:
    return " and ".join(printable(one) for one in segment.where) or "all rows"


def _segment_sentence(segment: "Segment", sure: str) -> str:
    """Return which way the scores of a segment are wrong, and by how much."""
    ends = segment.bias_interval
    rows = f"for {segment_name(segment)} ({plural(segment.rows, 'row')})"
    if not segment.where:
        rows = f"over all {plural(segment.rows, 'row')}"
    means = f"{three(segment.mean_score)} predicted, {three(segment.observed_rate)} observed"
    if ends is not None and ends.lower > 0.0:
        by = f"{three(ends.lower)} to {three(ends.upper)} too high"
        return f"Scores are too high {rows}: {means} ({by}, jointly {sure})."
    if ends is not None and ends.upper < 0.0:
        by = f"{three(-ends.upper)} to {three(-ends.lower)} too low"
        return f"Scores are too low {rows}: {means} ({by}, jointly {sure})."
    part = segment.wrong_for
    if part is None:
        return f"Scores are wrong {rows}, though perhaps not on average: {means}."
    return f"Scores {misjudged(part)} {rows}: by {three(abs(part.gap))} there; {means} on average."


def misjudged(part: "WrongFor") -> str:
    """Return which scores are wrong most, and which way."""
    between = (
        f"at {three(part.lower)}" if part.lower == part.upper else f"from {span(part.lower, part.upper)}"
    )
    return f"{between} are {'too high' if part.gap > 0.0 else 'too low'}"


def untested_words(many: int, reason: str | None) -> str:
    return f"{plural(many, 'segment', 'is')} not tested: {reason}"


# By convention, which says nothing of chance (Siddiqi 2006, Credit Risk Scorecards).
LITTLE_SHIFT, MUCH_SHIFT = 0.1, 0.25


def psi_words(psi: float, report: "DriftReport") -> str:
    """Return an index with three significant digits, or with as many more as tell it from the limits."""
    limits = () if report.gate is None else (report.gate.max_psi,)
    return beside(psi, LITTLE_SHIFT, MUCH_SHIFT, *limits, least=3)


def shift_size(psi: float) -> str:
    """Return what a population stability index is called by convention."""
    return "little" if psi < LITTLE_SHIFT else "some" if psi <= MUCH_SHIFT else "much"


def drifted(report: "DriftReport") -> tuple[str, ...]:
    """Return whether the scores have shifted, then which of the other columns have."""
    if report.by is not None:
        return (_drifted_by_group(report, report.by),)
    score, *others = report.columns
    index, chance = f"PSI {psi_words(score.psi, report)}", f"up to {three(score.by_chance)} can be chance"
    if score.shifted:
        first = f"The scores have shifted: {index} (p {p_equals(score.p_joint, at_most=score.at_most)}"
        first += f"; {chance})" if score.psi > score.by_chance else ")"
        first += f". By convention that is {shift_size(score.psi)}."
    else:
        first = f"No shift of the scores is shown: {index}, and {chance}."
    moved = [one for one in others if one.shifted]
    if not others:
        return (first,)
    if not moved:
        still = first_of([quoted(one.name) for one in others], _MOST_SHIFTED)
        return (first, f"No shift of {still} is shown.")
    names = first_of(
        [f"{quoted(one.name)} (PSI {psi_words(one.psi, report)})" for one in _largest(moved)], _MOST_SHIFTED
    )
    have = agreeing(len(moved), "has")
    if len(others) == 1:
        return (first, f"{names} has shifted.")
    return (first, f"Of {plural(len(others), 'further column')} {count(len(moved))} {have} shifted: {names}.")


def _drifted_by_group(report: "DriftReport", by: "GroupsCompared") -> str:
    """Return in which groups the scores are others than in the first."""
    moved, groups = report.shifted, plural(len(report.columns), "other value")
    if not moved:
        most = max(report.columns, key=lambda one: one.psi)
        largest = f"the largest PSI is {psi_words(most.psi, report)}, in {quoted(most.name)}"
        since = f"No shift of the scores from {quoted(by.base)} is shown in {groups} of {quoted(by.column)}"
        return f"{since}: {largest}, and up to {three(most.by_chance)} can be chance."
    most = _largest(moved)[0]
    psi = psi_words(most.psi, report)
    size = f"most in {quoted(most.name)} (PSI {psi}, by convention {shift_size(most.psi)})"
    size = f"first and {size}" if moved[0] is most else f"first in {quoted(moved[0].name)}, {size}"
    size = size.removeprefix("first and most ") if len(moved) == 1 else size
    where = f"{count(len(moved))} of {groups} of {quoted(by.column)}"
    return f"The scores have shifted from {quoted(by.base)} in {where}: {size}."


_MOST_SHIFTED = 5


def _largest(columns: "Sequence[DriftColumn]") -> "list[DriftColumn]":
    return sorted(columns, key=lambda one: -one.psi)


_ANSWERS: Mapping[str, Callable[[Any], tuple[str, ...]]] = {
    "measure": measured,
    "compare": compared,
    "leaderboard": ranked,
    "fit": fitted,
    "fit_classes": fitted_classes,
    "plan": planned,
    "verify": judged,
    "segments": segmented,
    "drift": drifted,
}
