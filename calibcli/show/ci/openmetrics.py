"""The report of a gate for monitoring, in the text format of OpenMetrics.

It uses gauges only, so that what reads the older text format of Prometheus reads it as well.
"""

import math
import re

from calibcli.names import VerdictName
from calibcli.reports.input import Setting
from calibcli.reports.verify import VerifyReport
from calibcli.show.ci import Case, cases_of, group_names, numbers_of
from calibcli.show.words import ALARM, printable, verdict_word
from calibcli.values import dataclass
from calibcli.version import __version__

_ERROR = "error"
_END = "# EOF\n"
_Sample = tuple[dict[str, str], float]


@dataclass(frozen=True, slots=True)
class _Family:
    """Samples of one name, which ends in their `unit`, if any; `means` is a sentence without quotes."""

    name: str
    means: str
    samples: list[_Sample]
    unit: str = ""

    def lines(self) -> list[str]:
        unit = [f"# UNIT {self.name} {self.unit}"] if self.unit else []
        head = [f"# TYPE {self.name} gauge", *unit, f"# HELP {self.name} {self.means}"]
        return [*head, *(f"{self.name}{_labels(labels)} {_number(value)}" for labels, value in self.samples)]


def metrics_of(report: VerifyReport, settings: tuple[Setting, ...] = ()) -> str:
    """Return estimates and bounds, limits, verdicts and rows, for all rows and for every group."""
    cases = cases_of(report)
    families = [_gate(report.outcome.value), *_measures(cases), *_claims(cases), *_counts(report, cases)]
    families.append(_alarms(cases))
    return _text([*families, _about(report), _set(settings)])


def error_metrics(settings: tuple[Setting, ...] = ()) -> str:
    """Return the metrics of a gate that never came to a verdict, so that an old pass does not stay."""
    return _text([_gate(_ERROR), _set(settings)])


def _text(families: list[_Family]) -> str:
    return "".join(f"{line}\n" for one in families if one.samples for line in one.lines()) + _END


def _gate(state: str) -> _Family:
    states = [*(one.value for one in VerdictName), _ERROR]
    samples = [({"verdict": one}, float(one == state)) for one in states]
    return _Family("calibcli_gate", "1 for the verdict of the whole gate, 0 for the others.", samples)


def _alarms(cases: tuple[Case, ...]) -> _Family:
    """Return a family for rules that only warn: 0 of one proves no calibration, as a pass seems to."""
    words = [(case, verdict_word(case.verdict)) for case in cases]
    alarms = [(_keys(case), float(word == ALARM)) for case, word in words if ALARM in word]
    return _Family("calibcli_alarm", "1 for an alarm that rings, 0 for none, which is no pass.", alarms)


def _measures(cases: tuple[Case, ...]) -> list[_Family]:
    """Return a family for every measure that a rule speaks of; bounds that do not exist are left out."""
    families: dict[str, _Family] = {}
    for case in cases:
        measure = case.verdict.claim.measure
        name = f"calibcli_{re.sub('[^a-zA-Z0-9_]', '_', measure)}"
        means = f"{printable(measure)} by the rules of a gate, with one-sided bounds."
        family = families.setdefault(name, _Family(name, _plain(means), []))
        found = numbers_of(case.verdict)
        family.samples.extend(
            ({**_keys(case), "bound": end}, one) for end, one in found.items() if one is not None
        )
    return list(families.values())


def _claims(cases: tuple[Case, ...]) -> list[_Family]:
    verdicts, limits, confidences = [], [], []
    for case in cases:
        claim, keys = case.verdict.claim, _keys(case)
        words = {"measure": printable(claim.measure), "relation": claim.relation.value}
        limits.append(({**keys, **words}, claim.limit))
        confidences.append((keys, claim.confidence))
        verdicts += [
            ({**keys, "verdict": one.value}, float(one is case.verdict.outcome)) for one in VerdictName
        ]
    return [
        _Family("calibcli_verdict", "1 for the verdict on a rule, 0 for the others.", verdicts),
        _Family("calibcli_limit", "The limit of a rule.", limits),
        _Family("calibcli_confidence", "The confidence of a pass.", confidences),
    ]


def _counts(report: VerifyReport, cases: tuple[Case, ...]) -> list[_Family]:
    source, names, state = report.input, group_names(report), report.state
    judged: list[_Sample] = [(_keys(case), case.verdict.rows) for case in cases]
    shares = [(_keys(case), case.verdict.unseen_share) for case in cases]
    unseen: list[_Sample] = [(keys, one) for keys, one in shares if one is not None]
    others = 0 if source.selected is None else source.selected.unselected
    unopened = 0 if source.selected is None else source.selected.unopened
    small: list[_Sample] = [({"group": names[group]}, rows) for group, rows in report.left_out.items()]
    parts: list[_Sample] = []
    for case in cases:
        found = case.verdict.segments
        if found is not None:
            counts = {**{one.value: found.count(one) for one in VerdictName}, "none": found.small}
            parts += [({**_keys(case), "verdict": name}, many) for name, many in counts.items()]
    kept: list[_Sample] = [] if state is None else [({}, state.rows)]
    batches: list[_Sample] = [] if state is None else [({}, state.batches)]
    future = "Largest share of future rows with values not seen here."
    missing = "Rows with a missing value, left out on request."
    each = "Segments of a rule by verdict; none for those too small."
    return [
        _Family("calibcli_judged_rows", "Rows that a rule was evaluated on.", judged, "rows"),
        _Family("calibcli_unseen_ratio", future, unseen, "ratio"),
        _Family("calibcli_dropped_rows", missing, [({}, source.dropped)], "rows"),
        _Family("calibcli_not_selected_rows", "Rows read but not selected.", [({}, others)], "rows"),
        _Family("calibcli_not_opened_files", "Files ruled out by their paths.", [({}, unopened)], "files"),
        _Family("calibcli_left_out_rows", "Rows of groups too small for a verdict.", small, "rows"),
        _Family("calibcli_judged_segments", each, parts),
        _Family("calibcli_state_rows", "Rows that the state of the gate holds.", kept, "rows"),
        _Family("calibcli_state_batches", "Batches that the state holds.", batches, "batches"),
    ]


def _about(report: VerifyReport) -> _Family:
    said = {
        "version": __version__,
        "score": report.input.score,
        "label": report.input.label or "",
        "artifact": report.artifact or "",
        "policy": report.policy.value,
    }
    labels = {name: printable(value) for name, value in said.items()}
    return _Family("calibcli_about", "What was evaluated, by which version; always 1.", [(labels, 1.0)])


def _set(settings: tuple[Setting, ...]) -> _Family:
    samples = [
        ({"option": one.key, "value": printable(one.shown), "source": printable(one.source)}, 1.0)
        for one in settings
    ]
    return _Family("calibcli_setting", "An option that a file or a variable has set; always 1.", samples)


def _keys(case: Case) -> dict[str, str]:
    return {"rule": case.rule, "group": case.group}


def _labels(labels: dict[str, str]) -> str:
    quoted = (f'{name}="{_quoted(value)}"' for name, value in labels.items())
    return f"{{{','.join(quoted)}}}" if labels else ""


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _plain(text: str) -> str:
    return text.replace("\\", "/").replace('"', "'")


def _number(value: float) -> str:
    """Return the shortest text that reads back as the value."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(value) if isinstance(value, int) else repr(float(value))
