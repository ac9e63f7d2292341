"""Faults to the one line that a user reads."""

import ast
import math
import os
import re
import shlex
from collections.abc import Collection, Iterable, Sequence
from typing import cast

from calibcli.data.arrays import Column, is_list_of_numbers, is_text, value_type
from calibcli.data.columns import LABEL_NAMES, SCORE_NAMES, ResolvedColumns, listing
from calibcli.data.faults import (
    HEAVIEST,
    LIGHTEST,
    MOST_LABELS,
    OTHERS,
    SUM_TOLERANCE,
    UNCOUNTABLE,
    Fault,
    FaultKind,
    Findings,
    ScoreSums,
)
from calibcli.data.groups import MemberColumn
from calibcli.data.readers import number_hint
from calibcli.errors import InputProblem
from calibcli.names import OnSum, Scale
from calibcli.options.conditions import as_column
from calibcli.options.numerals import ALIKE, agreeing, by_name, folded, number_of, plural
from calibcli.options.rows import Columns, as_one
from calibcli.values import dataclass

_MOST_FAULTS = 5
# Scores that pass 0 or 1 by less than this have been rounded, or added up from rounded ones.
_ROUNDED = 0.01
# With a comma, or a percent sign.
_ODD_NUMBER = r"\s*-?\d*,\d+\s*|.*%\s*"
# Values of a column that is text are looked at up to here for what they might be.
_LOOKED_AT = 100
SOFT = (
    "soft labels are not read: round them, or write each row twice, with label 1 and weight p and with "
    "label 0 and weight 1 - p"
)
# Log-odds as large are those of no score that differs from 1 in double precision.
_FARTHEST_LOGIT = 50.0


def problem_of(
    findings: Findings, resolved: ResolvedColumns, *, shown: str, partly: bool = False
) -> InputProblem | None:
    """Return the first fault, in the order of `FaultKind`, as the error a user sees; None without faults."""
    if not findings.faults:
        return None
    order = list(FaultKind)
    found = sorted(findings.faults, key=lambda one: (order.index(one[0]), one[1]))
    lacking = [one for one in found if one[0].name.startswith("MISSING") or one[0] is FaultKind.NO_SCORE]
    # What `--on-missing drop` would leave out is said at once: it would hide the rest.
    first = lacking if found[0] in lacking else found[:1]
    said = [_Case(*one, findings, resolved, partly).problem() for one in first]
    messages = [message for message, _ in said[:_MOST_FAULTS]]
    more = [f"{len(said) - _MOST_FAULTS:,} more columns lack values"] if len(said) > _MOST_FAULTS else []
    hint = said[-1 if first[-1][0] is FaultKind.NO_SCORE else 0][1]
    return InputProblem(f"{shown}, {'; '.join([*messages, *more])}", hint)


def never_positive(findings: Findings, resolved: ResolvedColumns, *, shown: str) -> InputProblem | None:
    """Return the error for a label that is to count as 1 and that no row of the whole input has."""
    positive = resolved.requested.positive
    used = findings.rows > findings.dropped + findings.unselected
    if positive is None or findings.positive_rows or not used or not findings.labels:
        return None
    says = "the fit of the map says" if resolved.requested.positive_of_fit else "--positive says"
    msg = f"{shown}, column {resolved.label!r}: no label is {positive!r}, as {says}"
    return InputProblem(msg, f"the labels are {_labels_listed(findings.labels)}")


def other_outcome(findings: Findings, resolved: ResolvedColumns, *, shown: str) -> InputProblem | None:
    """Return the error for labels that count as 0 and whose probability the map gives."""
    given = resolved.requested.given_by_map
    if given not in findings.others:
        return None
    said = f"the map gives the probability of {given!r}, which counts as 0 {by_positive(resolved.requested)}"
    msg = f"{shown}, column {resolved.label!r}: {said}"
    return InputProblem(msg, f"leave out --positive, or pass --positive {shlex.quote(given)}")


def notes_of_files(findings: Findings) -> tuple[str, ...]:
    """Return notes on files without the label of `--positive`, and with scores unlike others."""
    said = []
    if findings.without:
        first, *others = findings.without
        said = [f"{first}; and so in {len(others):,} more" if others else first]
    # What is so in every file that says anything is told of all rows together.
    unlike = {what: found for what, found in findings.unlike.items() if found[1] < findings.files}
    for what, (shown, files) in unlike.items():
        said.append(f"{shown}{'' if files == 1 else f' and {files - 1:,} more'}: {what}")
    return tuple(said)


# Of files of fewer rows or labels, and by fewer standard errors, nothing is said: there may be many files.
_FEWEST_ROWS, _FEWEST_OF_LABEL, _ERRORS, _CLEARLY = 100, 10, 5.0, 0.02
# So many times the events that percentages expect are rather those that probabilities do.
_TIMES = 10.0
_PERCENT_THERE = (
    "no score is above 1 there, and all were read as percentages: if they are "
    "probabilities, read such files by themselves"
)
_LOGITS_THERE = (
    "every score lies in [0, 1] there, and all were read as log-odds: if they are "
    "probabilities, read such files by themselves"
)
_REVERSED_THERE = "the higher the score, the rarer label 1 there: is the outcome coded in reverse?"
# Log-odds of 0 and of 1 as probabilities.
_HALF, _OF_ONE = 0.5, 1.0 / (1.0 + math.exp(-1.0))


def tells(findings: Findings) -> bool:
    """Whether the rows of a file are enough to say something of it."""
    return findings.rows - findings.dropped - findings.unselected >= _FEWEST_ROWS


def odd_scores(findings: Findings, resolved: ResolvedColumns) -> list[str]:
    """Return what to say of scores on another scale than those of other files, or that rank the wrong way."""
    found: dict[str, list[str]] = {}
    for place, one in findings.scores.items():
        if one.rows >= _FEWEST_ROWS and _FEWEST_OF_LABEL <= one.ones <= one.rows - _FEWEST_OF_LABEL:
            for what in _odd_scores(one, resolved.requested.read_as):
                found.setdefault(what, []).append(resolved.scores[place])
    return [
        what
        if len(names) == len(resolved.scores)
        else f"column{'s' * (len(names) > 1)} {listing(names)}: {what}"
        for what, names in found.items()
    ]


def _odd_scores(one: ScoreSums, scale: Scale) -> list[str]:
    said = []
    far = abs(one.ones - one.total) > _ERRORS * math.sqrt(one.total)
    above = 1.0 + SUM_TOLERANCE**2
    if scale is Scale.PERCENT and one.highest <= above / 100.0 and far and one.ones > _TIMES * one.total:
        said.append(_PERCENT_THERE)
    if scale is Scale.LOGIT and one.lowest >= _HALF and one.highest <= _OF_ONE * above and far:
        said.append(_LOGITS_THERE)
    mean, zeros = one.total / one.rows, one.rows - one.ones
    spread = math.sqrt(max(one.squares / one.rows - mean**2, 0.0))
    below = (one.total - one.of_ones) / zeros - one.of_ones / one.ones
    if below > max(_CLEARLY, _ERRORS * spread * math.sqrt(1.0 / zeros + 1.0 / one.ones)):
        said.append(_REVERSED_THERE)
    return said


def by_positive(requested: Columns) -> str:
    """Return who says which label counts as 1: `--positive`, or the fit of the artifact."""
    positive = str(requested.positive)
    if requested.positive_of_fit:
        return f"by the fit of the map, in which {positive!r} counts as 1"
    return f"by --positive {shlex.quote(positive)}"


def _positive(requested: Columns) -> str:
    if requested.positive_of_fit:
        return f"{requested.positive}, which the fit of the map counts as 1"
    return f"--positive {requested.positive}"


def other_labels_words(findings: Findings, requested: Columns) -> str:
    """Return which labels count as 0 beside the one that counts as 1, where that is hardly seen at once."""
    wanted = folded(str(requested.positive))
    alike = [label for label in findings.others if folded(label) == wanted]
    unknown = _unknown_outcomes(findings.others)
    if len(findings.others) < 2 and not alike and not unknown:
        return ""
    count = agreeing(len(findings.others), "counts")
    case = f"; is {listing(alike)} meant to be the same?" if alike else ""
    empty = f"; leave {listing(unknown)} empty if it stands for an unknown outcome" if unknown else ""
    return f"{_labels_listed(findings.others)} {count} as 0 {by_positive(requested)}{empty}{case}"


# What an outcome is called that is not known, or not yet.
_UNKNOWN = {
    "missing",
    "unknown",
    "pending",
    "open",
    "censored",
    "undecided",
    "unlabelled",
    "unlabeled",
    "tbd",
    "ambiguous",
    "annulled",
}


def _unknown_outcomes(labels: Collection[str]) -> list[str]:
    """Return the labels that look like no outcome: `?`, `NA` beyond CSV, `pending`, or -1 and 99 beside 0."""
    from calibcli.data.score_words import MISSING

    words = {*MISSING, *_UNKNOWN}
    found = [one for one in labels if folded(one) in words or not re.search(r"\w", one)]
    codes = [one for one in labels if re.fullmatch(r"(-\d+|9+)(\.0+)?", one)]
    outcomes = {number_of(one) for one in labels if one not in {*found, *codes}}
    return [*found, *codes] if 0.0 in outcomes and outcomes <= {0.0, 1.0} else found


def soft_words(rows: int) -> str:
    """Return that labels are neither 0 nor 1 and count as 0, as soft labels may without being meant to."""
    are, count = ("labels are numbers", "count") if rows != 1 else ("label is a number", "counts")
    return f"{rows:,} {are} between 0 and 1, and {count} as 0"


def _left_out(unknown: Sequence[str], resolved: ResolvedColumns) -> str:
    """Return what to do about labels that look like no outcome."""
    chosen = [shlex.quote(f"{as_column(str(resolved.label))}!={one}") for one in unknown]
    way = " ".join(f"--where {one}" for one in chosen)
    return f"if {listing(unknown)} stands for an unknown outcome, leave it out by {way}"


# So many classes are all named in what there is to type.
_MOST_NAMED = 20
# How many standard errors the two counts must differ by.
_HARDLY_BY_CHANCE = 3.0


def counted_from_one(findings: Findings, resolved: ResolvedColumns) -> str:
    """Return that labels seem to be counted from 1 where they were read as counted from 0; else nothing."""
    before, right, classes = findings.one_before, findings.right, resolved.classes
    if findings.of_first_class or before - right <= _HARDLY_BY_CHANCE * math.sqrt(before + right):
        return ""
    largest = f"{before:,} rows give the largest probability to the class before their label"
    seen = f"{largest}, {right:,} to their label"
    names = [str(place + 1) for place in range(len(classes))]
    way = (
        "take 1 from each" if findings.counted_classes else f"name the columns so: --classes {_all_of(names)}"
    )
    return f"no label is {classes[0]!r}, and {seen}: if labels are counted from 1, {way}"


def _all_of(names: Sequence[str]) -> str:
    """Return names as an option takes them, of very many the first and the last."""
    few = len(names) <= _MOST_NAMED
    return shlex.quote(",".join(map(as_one, names if few else (*names[:2], "...", names[-1]))))


def mixed(findings: Findings) -> InputProblem | None:
    """Return the error for a column of numbers in one place, and of numbers written otherwise in another."""
    both = next((name for name in findings.respelled if name in findings.numbers), None)
    if both is None:
        return None
    text, shown = findings.respelled[both]
    msg = f"{shown}, column {both!r}: {text!r} is text, and {findings.numbers[both]} holds numbers there"
    return InputProblem(msg, ALIKE)


def too_many(findings: Findings, resolved: ResolvedColumns, *, shown: str) -> InputProblem | None:
    if findings.counted < UNCOUNTABLE:
        return None
    msg = f"{shown}, column {resolved.weight!r}: frequency weights add up to {UNCOUNTABLE:,} rows or more"
    return InputProblem(msg, "leave out --weights-are frequency if the weights do not count repeated rows")


def not_numbers(column: Column, name: str, resolved: ResolvedColumns, *, shown: str) -> InputProblem:
    msg = f"{shown}, column {name!r}: it holds {value_type(column.type)}, not numbers"
    if name in resolved.scores and is_list_of_numbers(column.type):
        requested = f"--probs {shlex.quote(name)}"
        return InputProblem(msg, f"pass {requested} if these are the probabilities of classes")
    some = [one for one in column.slice(0, _LOOKED_AT).to_pylist() if isinstance(one, str)]
    words = name in resolved.own_scores and is_text(value_type(column.type))
    odd = next((one for one in some if re.fullmatch(_ODD_NUMBER, one)), None)
    if odd is not None:
        return InputProblem(msg, number_hint(odd, None, score=words))
    phrases = "; --score-map gives phrases numbers" if words else ""
    return InputProblem(msg, f"name another column, or export numbers{phrases}")


# The field of the columns that has the one of a fault.
_COLUMN = {
    FaultKind.NOT_SUMMING: "shown_score",
    FaultKind.WRONG_LENGTH: "shown_score",
    FaultKind.MISSING_GROUP: "group",
    FaultKind.MISSING_CLUSTER: "cluster",
    FaultKind.MISSING_IDENTITY: "shown_identity",
    FaultKind.UNSEEN_GROUP: "member",
    FaultKind.MISSING_LABEL: "label",
    FaultKind.RESPELLED: "label",
    FaultKind.NOT_BINARY: "label",
    FaultKind.NOT_A_CLASS: "label",
}


def strange_words(findings: Findings) -> list[str]:
    """Return how many rows have a value that the fit of a map by segments had not seen, a line a column."""
    lines = []
    for column, rows in sorted(findings.strange.items()):
        seen = f"{plural(rows, 'row', 'has')} a value of {column!r} that the fit had not seen"
        lines.append(f"{seen}: it counts as (other) or (missing)")
    return lines


def column_of(kind: FaultKind, resolved: ResolvedColumns, place: int) -> str | None:
    if kind in (FaultKind.MISSING_SCORE, FaultKind.NO_SCORE, FaultKind.OUTSIDE):
        return resolved.scores[place]
    if kind is FaultKind.MISSING_GROUP and place:
        return (*resolved.by, *resolved.on)[place - 1]
    return cast("str | None", getattr(resolved, _COLUMN.get(kind, "weight")))


# What is wrong, and what to do, where that is said in the same words of all.
_WORDS = {
    FaultKind.BAD_WEIGHT: ("weights {are} negative or infinite", "weights must be finite and at least 0"),
    FaultKind.FRACTIONAL_WEIGHT: (
        "frequency weights {are} not a whole number",
        "leave out --weights-are frequency if the weights do not count repeated rows",
    ),
    FaultKind.HUGE_WEIGHT: (
        f"weights {{are}} above {HEAVIEST:g}, or above 0 and below {LIGHTEST:g}",
        "divide all weights by the same number: only their ratios matter",
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """A kind of fault, at the place of a column among the score columns, and what it was found in."""

    kind: FaultKind
    place: int
    findings: Findings
    resolved: ResolvedColumns
    partly: bool

    @property
    def fault(self) -> Fault:
        return self.findings.faults[self.kind, self.place]

    @property
    def _values(self) -> int:
        """How many values were read: of lists every value counts, of other columns each by itself."""
        probs = self.resolved.probs
        in_list = self.kind is FaultKind.OUTSIDE and probs is not None and probs.in_list
        return self.findings.rows * (len(self.resolved.classes) if in_list else 1)

    @property
    def _some(self) -> str:
        return f"{self.fault.count:,} of {'the first ' if self.partly else ''}{self._values:,}"

    @property
    def _first(self) -> str:
        return f"the first is {self.fault.value} at row {self.fault.row:,}"

    def problem(self) -> tuple[str, str]:
        """Return what is wrong, and what to do."""
        message, hint = self._said()
        return f"column {column_of(self.kind, self.resolved, self.place)!r}: {message}", hint

    def _said(self) -> tuple[str, str]:
        kind, resolved, fault, some = self.kind, self.resolved, self.fault, self._some
        one = fault.count == 1
        if kind.name.startswith("MISSING"):
            said = f"{some} values {'is' if one else 'are'} missing; the first is at row {fault.row:,}"
            if resolved.label is None:
                return said, _NO_PROBABILITY
            pairs = "; pairwise uses the rows where both scores of a pair have a value"
            more = pairs if resolved.requested.in_pairs and kind is FaultKind.MISSING_SCORE else ""
            return said, f"--on-missing drop leaves such rows out and reports how many{more}"
        if kind in (FaultKind.NO_SCORE, FaultKind.OUTSIDE):
            return self._of_scores()
        if kind is FaultKind.NOT_BINARY:
            return self._of_labels()
        if kind in (FaultKind.NOT_SUMMING, FaultKind.WRONG_LENGTH, FaultKind.NOT_A_CLASS):
            return self._of_classes()
        if kind is FaultKind.RESPELLED:
            said = f"labels {{are}} another spelling of {_positive(resolved.requested)}"
            hint = f"pass --positive {fault.value} if it stands for 1, or write all labels the same way"
        elif kind is FaultKind.UNSEEN_GROUP:
            said = "rows {are} of a group that the fit has not seen"
            member = resolved.requested.member
            other = None
            if isinstance(member, MemberColumn):
                other = member.respelled(fault.value[1:-1], renamed=member.pooled)
            hint = "pass --unseen pooled to use the map fitted to all rows for them"
            if other is not None:
                alike = "groups are compared as text: write them the same way, or fit again"
                hint = f"the fit has {other!r}, and {alike}"
        else:
            said, hint = _WORDS[kind]
        return f"{some} {said.format(are='is' if one else 'are')}; {self._first}", hint

    def _of_scores(self) -> tuple[str, str]:
        findings, fault, scale, some = self.findings, self.fault, self.resolved.requested.read_as, self._some
        if self.kind is FaultKind.NO_SCORE:
            from calibcli.data.score_words import entry_of

            neither = f"{some} values {agreeing(fault.count, 'is')} neither a number nor a phrase"
            example = "70" if scale is Scale.PERCENT else ".7"
            first = _by_number(findings, self.place)[0].value
            phrase = "" if first == OTHERS else ast.literal_eval(first)
            way = _NO_PROBABILITY if self.resolved.label is None else "--on-missing drop leaves such rows out"
            hint = _PHRASES_MISSING.format(example=example, entry=entry_of(phrase), way=way)
            if "," in phrase and number_of(phrase.removesuffix("%"), decimal=",") is not None:
                hint = "numbers need a decimal point, not a comma: --decimal , reads commas in CSV"
            return f"{neither} of --score-map: {_phrases(findings, self.place)}", hint
        most = 100 if scale is Scale.PERCENT else 1
        where = f"outside [0, {most}]"
        if scale is Scale.LOGPROB:
            most, where = 0, "above 0, as no log-probability does"
        lie = agreeing(fault.count, "lies")
        hint = self._range_hint()
        if 1 < fault.count < findings.rows and fault.lowest == fault.highest:
            hint = f"if {fault.value} stands for a missing value, {self._without(most)}; else {hint}"
        return f"{some} values {lie} {where}; {self._first}", hint

    def _without(self, most: int) -> str:
        """Return how rows of a value that stands for a missing one are left out."""
        if self.resolved.label is None or self.resolved.probs is not None:
            return "leave it empty"
        # A side of what is valid, as a number with decimals is not what it reads.
        side = ">=0" if self.fault.lowest < 0.0 else f"<={most}"
        column = as_column(str(column_of(self.kind, self.resolved, self.place)))
        return f"leave it out by --where {shlex.quote(column + side)}"

    def _range_hint(self) -> str:
        fault, resolved = self.fault, self.resolved
        scale = resolved.requested.read_as
        logs = scale is Scale.LOGPROB
        most = 0.0 if logs else 100.0 if scale is Scale.PERCENT else 1.0
        rounded = fault.lowest >= -_ROUNDED and fault.highest <= most + _ROUNDED
        few = scale is Scale.PROB and 10 * fault.count < self._values
        if resolved.label is None:
            requested = f"they were read with --scale {scale}: is that their scale"
            percent = scale is Scale.PROB and fault.lowest >= -_ROUNDED and 1.5 < fault.highest <= 100.0
            way = (
                "pass --scale percent, or --scale logit;"
                if percent and not few
                else f"{requested}, and is the column right?"
            )
            way = f"{requested}? --on-range clip moves them to the nearest end;" if rounded else way
            return f"{way} `apply --on-range null` leaves their probability empty"
        if rounded:
            return "if this is rounding, --on-range clip moves them to 0 or 1 and reports how many"
        if few:
            # Another scale would be read into all the others as well; small percentages are mostly below 1.
            percent = fault.lowest > 1.0 and 1.5 < fault.highest <= 100.0
            way = "; if every value is a percentage, --scale percent" if percent else ""
            return f"mend these or leave them empty, as most values lie in [0, 1]{way}"
        if logs and fault.highest <= 1.0:
            return "leave out --scale logprob if these are probabilities"
        if logs or scale is Scale.PERCENT:
            what = "log-probabilities" if logs else "percentages"
            points = "" if logs or fault.lowest < 0.0 else f"; {_OF_A_THOUSAND}"
            return f"these are no {what}: name another column, or another --scale{points}"
        return f"these are no probabilities: {_ways_from_range(fault.lowest, fault.highest)}"

    def _of_labels(self) -> tuple[str, str]:
        resolved, seen = self.resolved, list(self.findings.labels)
        listed = _labels_listed(seen)
        are = agreeing(self.fault.count, "is")
        said = f"{self._some} labels {are} neither 0 nor 1; {self._first}; there are {listed}"
        if len(seen) == 2:
            said = f"the labels are {listed}, not 0 and 1"
        numbers = [number_of(label) for label in seen]
        if all(one is not None and 0 <= one <= 1 for one in numbers) and not {0, 1}.issuperset(numbers):
            # Soft labels, as it seems.
            usual = folded(resolved.label or "") in SCORE_NAMES or folded(resolved.score) in LABEL_NAMES
            columns = f"-s {shlex.quote(resolved.label or '')} -y {shlex.quote(resolved.score)}"
            swapped = usual or self.findings.hard_scores
            return said, f"are score and label swapped? Try {columns}" if swapped else SOFT
        if len(seen) == 1:
            positive = shlex.quote(seen[0])
            said = f"the only label is {seen[0]!r}, not 0 or 1"
            return said, f"pass --positive {positive} if it stands for 1"
        if len(seen) == 2:
            either = " or ".join(f"--positive {shlex.quote(one)}" for one in by_name(seen))
            return said, f"pass {either}: the label whose probability the score is"
        amounts = all(re.fullmatch(r"-?\d+([.,]\d+)?", one) for one in seen)
        made = "; of counts or amounts, make a column that is 1 where they reach a limit" if amounts else ""
        unknown = _unknown_outcomes(seen)
        if not unknown and len(seen) == 3 and {0, 1}.issubset(numbers):
            unknown = [one for one, number in zip(seen, numbers, strict=True) if number not in (0, 1)]
        lost = f"{_left_out(unknown, self.resolved)}; else " if unknown else ""
        return said, f"{lost}pass --positive VALUE: that label counts as 1, all others as 0{made}"

    def _of_classes(self) -> tuple[str, str]:
        some, one, classes = self._some, self.fault.count == 1, self.resolved.classes
        do, name = ("does", "names") if one else ("do", "name")
        if self.kind is FaultKind.NOT_SUMMING:
            return f"{some} rows {do} not sum to 1 within 0.001; {self._first}", self._sum_hint()
        if self.kind is FaultKind.WRONG_LENGTH:
            said = f"{some} lists {do} not hold {len(classes):,} numbers; {self._first}"
            lacking = "-inf" if self.resolved.requested.read_as in (Scale.LOGIT, Scale.LOGPROB) else "0"
            need = f"every row needs a number for each class: {lacking} for each option that a question lacks"
            return said, need
        said = f"{some} labels {name} none of the {len(classes):,} classes {listing(classes)}; {self._first}"
        strange = f"{said}; there are {_labels_listed(self.findings.labels)}"
        return strange, self._names_hint()

    def _names_hint(self) -> str:
        """Return how the classes are named by the labels, as far as the first labels show it."""
        probs, classes = self.resolved.probs, self.resolved.classes
        columns = () if probs is None or probs.in_list else probs.names
        ways = [columns, *(tuple(map(way, classes)) for way in (str.upper, str.lower, str.title))]
        # Columns that --probs lists one by one keep what their names have in common, such as B365H and B365A.
        start = os.path.commonprefix(classes)  # noqa: RUF071 - of letters, not of folders
        ends = tuple(name.removeprefix(start) for name in classes)
        ways += [ends] * all(ends)
        if {*classes} == {*map(str, range(len(classes)))}:
            ways.append(tuple(str(int(name) + 1) for name in classes))
        elif not self.findings.of_first_class and not any(map(str.isdecimal, classes)):
            # Read as places from 0, of which the last label is one too many.
            ways.append(tuple(str(place + 1) for place in range(len(classes))))
        names = next((names for names in ways if {*self.findings.labels} <= {*names}), ())
        if not names:
            return "--classes a,b,c names the classes in the order of their columns"
        counted = names is ways[-1] and names[0].isdecimal()
        seem = "labels seem to be counted from 1" if counted else "labels seem to name them otherwise"
        return f"{seem}: --classes {_all_of(names)}"

    def _sum_hint(self) -> str:
        fault, resolved = self.fault, self.resolved
        several = resolved.requested.several
        mapped = several is not None and several.mapped
        if several is not None and several.on_sum is OnSum.NORMALISE:
            return "a row whose sum is 0 or infinite cannot be divided by it: leave such rows out"
        if resolved.requested.read_as is Scale.PROB and (fault.lowest < 0.0 or fault.highest > 1.5):
            if 0.0 <= fault.lowest < _SEVERAL_AT_ONCE:
                return (
                    "if several classes can be right in one row, or none, measure each by itself, its -s and "
                    "its -y; for logits pass --scale logit; --on-sum normalise divides rows by their sum"
                )
            accepted = "" if mapped else "; --on-sum accept uses rows as they are"
            return (
                "for logits pass --scale logit; if rounded pass --on-sum normalise, which divides rows by "
                f"their sum{accepted}"
            )
        sums = (100.0 * fault.lowest, 100.0 * fault.highest)
        if resolved.requested.read_as is Scale.PERCENT and all(
            abs(one - 1.0) <= SUM_TOLERANCE for one in sums
        ):
            return "before they were read as percentages they sum to 1: --scale prob reads probabilities"
        missing = "is every class among them? " if fault.highest < 1.0 else ""
        way = f"{missing}pass --on-sum normalise to divide such rows by their sum"
        if not mapped:
            return f"{way}, or --on-sum accept to use them as is"
        unlabelled = ", or `apply --on-sum null` to leave their probabilities empty"
        applied = resolved.label is None and several is not None and several.change is None
        return f"{way}{unlabelled if applied else ''}"


_MOST_PHRASES = 5
_PHRASES_MISSING = (
    "give each a number, such as {example}, with --score-map {entry} or --score-map FILE; {way}"
)
_NO_PROBABILITY = (
    "`apply --on-missing null` leaves their probability empty; `plan` and `drift` take --on-missing drop"
)
# Of a phrase so many letters are shown.
_SHOWN = 60


def _phrases(findings: Findings, place: int) -> str:
    """Return the phrases of a score column that stand for no number, the most frequent first."""
    found = _by_number(findings, place)
    shown, rest = found[:_MOST_PHRASES], found[_MOST_PHRASES:]
    listed = [f"{_cut(one.value)} ({one.count:,}, first at row {one.row:,})" for one in shown]
    rows = sum(one.count for one in rest)
    many = "" if all(one.value != OTHERS for one in found) else "at least "
    return ", ".join(
        [*listed, *([f"and {many}{len(rest):,} more ({plural(rows, 'value')})"] if rest else [])]
    )


def _by_number(findings: Findings, place: int) -> list[Fault]:
    """Return the phrases of a column, the most frequent first, and last those that were not told apart."""
    found = [fault for (at, _), fault in findings.phrases.items() if at == place]
    return sorted(found, key=lambda one: (one.value == OTHERS, -one.count, one.row))


def _cut(phrase: str) -> str:
    return phrase if len(phrase) <= _SHOWN else f"{phrase[: _SHOWN - 4]}...{phrase[-1]}"


# What is said of percentages that may be none.
NO_SIGN = "no percent sign, which others have"


def phrase_words(findings: Findings, resolved: ResolvedColumns) -> list[str]:
    """Return which scores in words counted as missing, a line a column, and which percentages may be none."""
    places = dict.fromkeys(place for place, _ in findings.phrases)
    mapped = resolved.requested.score_map is not None
    bare = []
    if findings.signed and findings.bare:
        lack, are = plural(findings.bare, "score", "has"), agreeing(findings.bare, "is")
        which = f"{lack} {NO_SIGN}, and {are} at most 1: read as percentages, 0.9 as 0.9 %"
        bare = [f"{which}; --score-map 'sure=1', not --scale percent, reads 0.9 beside 90%"]
    they = "neither numbers nor phrases of --score-map" if mapped else "no numbers"
    counted = f"scores counted as missing, because they are {they}"
    lost = [f"column {resolved.scores[at]!r}: {counted}: {_phrases(findings, at)}" for at in places]
    return [*lost, *bare]


def refuse_no_number(findings: Findings, resolved: ResolvedColumns, *, without: int, shown: str) -> None:
    """Refuse a column of texts, of which no row has a number: it is hardly the one that was meant."""
    if findings.phrases and without == findings.rows:
        place, _ = next(iter(findings.phrases))
        msg = f"{shown}, column {resolved.scores[place]!r}: none of {findings.rows:,} values is a number"
        raise InputProblem(msg, f"is it the right column? There are {_phrases(findings, place)}")


def gap_words(findings: Findings, resolved: ResolvedColumns) -> tuple[str, ...]:
    """Return what keeps rows from having a probability, by column and kind, with how many and the first."""
    texts = {place for place, _ in findings.phrases}
    found = []
    for (kind, place), fault in sorted(findings.missing.items(), key=lambda one: (one[0][1], one[0][0])):
        what = {
            FaultKind.OUTSIDE: "out of range",
            FaultKind.NOT_SUMMING: "with another sum than 1",
        }.get(kind, "missing or no number" if place in texts else "missing")
        column = column_of(kind, resolved, place)
        found.append(f"{column}: {fault.count:,} {what}, the first at row {fault.row:,}")
    return tuple(found)


def _labels_listed(labels: Iterable[str]) -> str:
    seen = list(labels)
    if len(seen) > MOST_LABELS:
        return ", ".join(map(repr, seen[:MOST_LABELS])) + " and more"
    *ordered, last = map(repr, by_name(seen))
    return " and ".join(filter(None, (", ".join(ordered), last)))


# Rounding and margins of odds leave sums above this.
_SEVERAL_AT_ONCE = 0.5
# A scale of points has no such number.
_OF_A_THOUSAND = "divide by 1,000 or 10,000 beforehand if that stands for 1"


_NEXT_TO_0 = -0.01


def _ways_from_range(lowest: float, highest: float) -> str:
    ways = []
    if lowest > 1.0 and 1.5 < highest <= 100.0:
        ways.append("pass --scale percent for percentages")
    scales = []
    if lowest < 0.0 < highest or max(-lowest, highest) < _FARTHEST_LOGIT:
        scales.append("pass --scale logit for logits")
    if highest <= 0.0:
        # Of log-probabilities many lie next to 0, of log-odds that are all below 0 hardly any.
        scales.insert(0 if highest > _NEXT_TO_0 else 1, "pass --scale logprob for log-probabilities")
    ways += scales
    if lowest > 1.0 and 1.5 < highest <= 10.0:
        rated = highest in {3.0, 4.0, 5.0, 7.0}
        ways.append(
            f"give ratings of 1 to {highest:g} probabilities" if rated else "divide tenths by 10 beforehand"
        )
    if lowest > 1.0 and 100.0 < highest <= 10_000.0:
        ways += [
            _OF_A_THOUSAND,
            "make log-odds of points, such as (600 - points) / 50, for fit --scale logit",
        ]
    return ", ".join([*ways, "or name another column" if ways else "name another column"])
