"""What the numbers say in plain words, where nothing is judged."""

from calibcli.measures.estimate import Estimate
from calibcli.names import MeasureName
from calibcli.render.blocks import Line, Paragraph, Tone
from calibcli.render.phrases import SMALL_P
from calibcli.render.words import between, count, four, p_words, percent, span
from calibcli.reports.measure import MeasureReport

_NO_RULE = "No limit was given, so nothing is judged here; --max-ece 0.02, for one, asks for a verdict."


def summary_of(report: MeasureReport) -> Paragraph:
    """Return what was found in a few sentences."""
    measures = {one.name: one for one in report.measures}
    texts = [
        _error(measures.get(MeasureName.ECE), "over bins"),
        _error(measures.get(MeasureName.SMECE), "without bins"),
        _bias(measures.get(MeasureName.BIAS)),
        _tests(report),
        _worst(report),
    ]
    lines = [Line(text) for text in texts if text]
    return Paragraph((*lines, Line(_NO_RULE, Tone.FAINT)))


def _error(estimate: Estimate | None, how: str) -> str:
    """Say how far rates are from scores, and what chance alone would make of it."""
    if estimate is None:
        return ""
    text = f"Calibration error {how} ({estimate.name.value}): {four(estimate.value)}{_ends(estimate)}."
    if estimate.null_range is None:
        return text
    return f"{text} A perfectly calibrated score would show {span(*estimate.null_range)} on these rows."


def _ends(estimate: Estimate) -> str:
    interval = estimate.interval
    if interval is None:
        return ""
    if interval.lower is not None and interval.upper is not None:
        ends = between(interval.lower, interval.upper)
    elif interval.upper is not None:
        ends = f"at most {four(interval.upper)}"
    else:
        ends = f"at least {four(interval.lower)}"
    return f" ({ends} at {percent(interval.confidence)} confidence)"


def _bias(estimate: Estimate | None) -> str:
    """Say whether scores are too high or too low over all rows."""
    if estimate is None:
        return ""
    interval = estimate.interval
    told = f"observed rate less mean score is {four(estimate.value)}{_ends(estimate)}"
    if interval is not None and interval.lower is not None and interval.lower > 0.0:
        return f"Over all rows the scores are too low: {told}."
    if interval is not None and interval.upper is not None and interval.upper < 0.0:
        return f"Over all rows the scores are too high: {told}."
    return f"Over all rows the scores are not shown to be too high or too low: {told}."


def _tests(report: MeasureReport) -> str:
    combined = report.combined
    if combined is None or combined.p_value is None:
        return ""
    if any(one.p_method == "contradiction" for one in report.tests):
        return "Some rows contradict their score: a score of 0 with label 1, or of 1 with label 0."
    return f"The tests of calibration together: p-value {p_words(combined.p_value)}. {SMALL_P}"


def _worst(report: MeasureReport) -> str:
    groups = report.groups
    if groups is None or groups.worst is None or len(groups.measured) < 2:
        return ""
    worst, many = groups.worst, count(len(groups.measured))
    if worst.by_lower is None:
        return f"None of {many} groups is shown to be miscalibrated."
    return (
        f"Of {many} groups {worst.by_lower} stands out: its {worst.measure.value} is at least "
        f"{four(worst.lower)}."
    )
