"""The rules of a gate: from options and texts such as `smece.upper<=0.02` to what is judged."""

import difflib
import math
import re
from collections.abc import Iterable, Mapping

from calibcli.errors import UsageProblem
from calibcli.names import Bound, ClassMeasure, MeasureName, Relation, SegmentMeasure, TestName
from calibcli.options.declaring import is_share, refuse_number
from calibcli.options.measuring import ALIASES
from calibcli.options.numerals import in_full
from calibcli.values import dataclass

# The p-value of segments by its key in reports.
_OF_P = "mce_p"
_FORMS = "write it like 'smece.upper<=0.02', 'cox_slope.lower>=0.8' or 'ks.p>=0.01'"
_RULE = re.compile(r"\s*([^\s<>=!.]+)\s*(?:\.\s*([^\s<>=!]*))?\s*([<>=!]+)\s*(\S*)\s*")
_BOUNDS = (Bound.VALUE, Bound.LOWER, Bound.UPPER)


Subject = MeasureName | TestName | ClassMeasure | SegmentMeasure
_SUBJECTS: tuple[Subject, ...] = (*MeasureName, *TestName, *ClassMeasure, *SegmentMeasure)


@dataclass(frozen=True, slots=True)
class Rule:
    """What a gate asks, as the user wrote it.

    Args:
        key: Name of the rule in reports, such as "max-ece", or its own text.
        subject: What the rule speaks of: a measure, a test, or a measure of all classes or segments together.
        bound: Which number of it: an upper or lower bound, the estimate itself, or a p-value.
    """

    key: str
    subject: Subject
    bound: Bound
    relation: Relation
    limit: float

    @property
    def of_classes(self) -> bool:
        return isinstance(self.subject, ClassMeasure)

    @property
    def of_segments(self) -> bool:
        return isinstance(self.subject, SegmentMeasure)

    @property
    def of_bins(self) -> "Rule":
        """The same of all rows where no column makes segments: `mce` is also what some call `linf`."""
        if self.subject is not SegmentMeasure.MCE or self.bound is Bound.P_VALUE:
            return self
        return rule_of(f"{MeasureName.LINF.value}.{self.bound.value}{self.relation.value}{self.limit!r}")


def rules_of(
    limits: Mapping[MeasureName | SegmentMeasure, float | None], texts: Iterable[str]
) -> tuple[Rule, ...]:
    requested = [largest(name, limit) for name, limit in limits.items() if limit is not None]
    return claimed_once((*requested, *map(rule_of, texts)))


def claimed_once(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return the rules, of those that make one claim the first: it must not cost the error of two."""
    found: dict[tuple[Subject, Bound, Relation, float], Rule] = {}
    for rule in rules:
        found.setdefault((rule.subject, rule.bound, rule.relation, rule.limit), rule)
    return tuple(found.values())


def limit_option(name: MeasureName | SegmentMeasure) -> str:
    """Return the option that limits a measure, without its dashes."""
    return f"max-{name.value.replace('_', '-')}"


def largest(name: MeasureName | SegmentMeasure, limit: float) -> Rule:
    """Return the rule of an option such as `--max-ece`."""
    key = limit_option(name)
    if not is_share(limit):
        refuse_number(f"--{key}", limit, is_share, "a number between 0 and 1, such as 0.02")
    return Rule(key, name, Bound.UPPER, Relation.AT_MOST, limit)


def rule_of(text: str) -> Rule:
    """Return the rule that a text is: `MEASURE<=L` is `MEASURE.upper<=L`, `>=` is `MEASURE.lower>=L`.

    `MEASURE.upper<=L` passes if the upper bound is at most L and fails if the lower bound is above it;
    `MEASURE.value` compares the estimate, without confidence. `TEST.p>=A` fails if the test rejects at level
    A, and so does `mce.p>=A`, or `mce_p>=A`, of the test of all segments together. `MEASURE.lower<=L` and
    `MEASURE.upper>=L` fail if the contrary is shown and pass otherwise.
    """
    found = _RULE.fullmatch(text)
    if found is None:
        msg = f"{text!r} is not a rule"
        raise UsageProblem(msg, _FORMS)
    word, end, sign, number = found.groups()
    if word.lower().replace("-", "_") == _OF_P and end is None:
        word, end = SegmentMeasure.MCE.value, Bound.P_VALUE.value
    subject = _subject(word, text)
    relation = _relation(sign, text)
    bound = _bound(subject, end, relation, text)
    limit = _limit(number, text)
    _refuse_empty(subject, bound, relation, limit=limit, text=text)
    key = f"{subject.value}.{bound.value}{relation.value}{in_full(limit)}"
    return Rule(key, subject, bound, relation, limit)


def _subject(word: str, text: str) -> Subject:
    name = word.lower().replace("-", "_")
    for member in _SUBJECTS:
        if name == member.value:
            return member
    if name in ALIASES:
        return ALIASES[name]
    near = difflib.get_close_matches(name, (*_SUBJECTS, *ALIASES), n=3)
    msg = f"{text!r}: there is no measure or test {word!r}"
    closest = f"did you mean {' or '.join(near)}? " if near else ""
    raise UsageProblem(msg, f"{closest}{_FORMS}")


def _relation(sign: str, text: str) -> Relation:
    if sign in set(Relation):
        return Relation(sign)
    msg, strict = f"{text!r}: a rule with {sign}", sign in ("<", ">")
    at_the_limit = f"write {sign}=: a rule holds at its limit too"
    raise UsageProblem(msg, at_the_limit if strict else f"rules compare with <= or >=; {_FORMS}")


def _bound(subject: Subject, end: str | None, relation: Relation, text: str) -> Bound:
    """Return which number of its subject a rule names, by default the bound that must keep to the limit."""
    p_value = end is not None and end.lower() == Bound.P_VALUE.value
    if isinstance(subject, TestName) or (subject is SegmentMeasure.MCE and p_value):
        return _p_value(subject, end, relation, text)
    if end is None:
        return Bound.UPPER if relation is Relation.AT_MOST else Bound.LOWER
    for bound in _BOUNDS:
        if end.lower() == bound.value:
            return bound
    if p_value:
        msg = f"{text!r}: {subject.value} is a measure and has no p-value"
    else:
        msg = f"{text!r}: {subject.value} has no {end!r}"
    near = difflib.get_close_matches(end.lower(), _BOUNDS, n=1)
    raise UsageProblem(msg, f"{f'did you mean .{near[0]}? ' if near else ''}{_FORMS}")


def _p_value(subject: TestName | SegmentMeasure, end: str | None, relation: Relation, text: str) -> Bound:
    right = f"{subject.value}.p>=0.01"
    if end is None or end.lower() != Bound.P_VALUE.value:
        msg = f"{text!r}: a rule may name the p-value of a test, not {f'its {end}' if end else 'the test'}"
        raise UsageProblem(msg, f"write it like '{right}'")
    if relation is Relation.AT_MOST:
        msg = f"{text!r} would pass scores that the test finds miscalibrated"
        raise UsageProblem(msg, f"a small p-value is evidence against calibration: write '{right}'")
    return Bound.P_VALUE


def _limit(number: str, text: str) -> float:
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit):
        msg = f"{text!r}: {number!r} is not a number" if number else f"{text!r} has no limit"
        raise UsageProblem(msg, _FORMS)
    return limit


def _refuse_empty(subject: Subject, bound: Bound, relation: Relation, *, limit: float, text: str) -> None:
    """Refuse a limit that every value keeps, or none."""
    p_value = bound is Bound.P_VALUE
    least, most = (0.0, 1.0) if p_value else (subject.facts.least, subject.facts.most)
    if not p_value and limit >= subject.facts.percent:
        msg = f"{text!r} seems to be in per cent"
        raise UsageProblem(msg, f"did you mean {limit / 100.0:.10g}?")
    kept_by_all = limit >= most if relation is Relation.AT_MOST else limit <= least
    at_the_end = limit in (least, most) and bound is not Bound.VALUE
    if kept_by_all or at_the_end or not least <= limit <= most:
        what = "a p-value" if p_value else subject.value
        where = f"{what} lies between {in_full(least)} and {in_full(most)}"
        if math.isinf(least):
            where = f"{what} is at most {in_full(most)}"
        elif math.isinf(most):
            where = f"{what} is at least {in_full(least)}"
        never = "holds whatever the rows say" if kept_by_all else "can never be shown to hold"
        msg = f"{text!r} {never}"
        raise UsageProblem(msg, f"{where}: choose a limit inside that range")
