"""What the state of a gate holds, in words."""

import math
import shlex

from calibcli.documents.state_store import read_state
from calibcli.errors import InputProblem
from calibcli.gates.seen_classes import SeenClasses
from calibcli.gates.state import GateState, Terms
from calibcli.gates.verdict import measure_word, verdict_on_file
from calibcli.names import DEFAULT_CONFIDENCE, MeasureName, Scale
from calibcli.readers.files import file_word
from calibcli.readers.names_of_columns import listing
from calibcli.reports.inspect import InspectReport
from calibcli.verdicts.claim import Verdict

_LISTED = 10


def inspect_state(path: str) -> InspectReport:
    """
    Look into the state of a gate.

    Raises:
        InputProblem: If it cannot be read or is none.
    """
    state = read_state(path)
    if state is None:
        msg = f"{path}: there is no such file"
        raise InputProblem(msg, "a state is what `calibcli verify --state` writes")
    return report_of(path, state)


def report_of(path: str | None, state: GateState) -> InspectReport:
    """Return what a state holds, what it says, and, where it has a path, how to ask it again."""
    terms = state.terms
    word = measure_word(terms.measure, terms.partition).replace("_", " ")
    within = "exactly" if terms.limit is None else f"within {terms.limit:g} ({word})"
    question = f"still calibrated {within}?" if terms.alarm else f"{word} <= {terms.limit:g}?"
    positive = state.sums.total_positive
    facts = [
        ("question", f"{question} at {100.0 * terms.confidence:g} % confidence, however often it is asked"),
        ("judged over", terms.partition.described),
        ("score", f"{terms.score} ({terms.scale.value})"),
        ("label", terms.label or "not known: the state was begun as version 1"),
        *_classes(terms.classes),
        ("artifact", terms.artifact or "none"),
        ("rows", f"{state.rows:,}, {positive:,} with label 1"),
        ("identities", f"{state.ids.size:,} kept" if terms.identified else "not kept"),
    ]
    facts.append(("batches", f"{len(state.batches):,}"))
    if state.batches:
        facts += _found(state, verdict_on_file(state))
    facts += [("batch", f"{batch.key}: {batch.rows:,} rows") for batch in state.batches[-_LISTED:]]
    if len(state.batches) > _LISTED:
        facts.append(("...", f"{len(state.batches) - _LISTED:,} earlier batches, in the file"))
    facts += [("note", note) for note in state.notes]
    again = None if path is None else _again(path, state)
    return InspectReport(path or "", "state of a gate", tuple(facts), (), again)


def _found(state: GateState, verdict: Verdict) -> list[tuple[str, str]]:
    terms = state.terms
    facts = [("verdict", f"{verdict.outcome.value}{'' if verdict.reason is None else f': {verdict.reason}'}")]
    facts.append(("estimate", f"{verdict.value:.4g}"))
    if verdict.lower is not None and verdict.upper is not None:
        facts.append(("bounds", f"{verdict.lower:.4g} and {verdict.upper:.4g}, one-sided each"))
    evidence = verdict.evidence
    if evidence is None:
        return facts
    needed = f"{_tens(terms.threshold)} decides"
    facts.append(
        ("evidence for an alarm" if terms.alarm else "evidence for a fail", _tens(evidence.log_fail))
    )
    if evidence.log_pass is not None:
        facts.append(("evidence for a pass", _tens(evidence.log_pass)))
    facts[-1] = (facts[-1][0], f"{facts[-1][1]}; {needed}")
    marks = (("passed after", evidence.passed_at), ("failed after", evidence.failed_at))
    facts += [(what, f"{rows:,} rows") for what, rows in marks if rows is not None]
    facts.append(("looks", f"{evidence.looks:,}"))
    return facts


def _tens(log: float) -> str:
    """Return a number from its natural logarithm, as a power of ten where it is large or small."""
    if math.isinf(log):
        return "infinite" if log > 0 else "0"
    if -9.0 < log < 14.0:
        return f"{math.exp(log):.4g}"
    return f"10^{log / math.log(10.0):.1f}"


def _again(path: str, state: GateState) -> str:
    terms = state.terms
    label = "LABEL" if terms.label is None else shlex.quote(terms.label)
    words = f"calibcli verify NEW.csv {_columns(terms)} -y {label}"
    words += "" if terms.weight is None else f" --weight {shlex.quote(terms.weight)} --weights-are frequency"
    words += "" if terms.scale is Scale.PROB else f" --scale {terms.scale.value}"
    words += "" if terms.positive is None else f" --positive {shlex.quote(terms.positive)}"
    words += "" if terms.limit is None else f" --max-{terms.measure.value} {terms.limit!r}"
    words += "" if terms.confidence == DEFAULT_CONFIDENCE else f" --confidence {terms.confidence!r}"
    if terms.artifact is not None:
        words += " --artifact CAL.json"
        # Without --bins the outputs of a discrete artifact would be asked for.
        bins = terms.partition.bins if terms.measure is MeasureName.ECE else 0
        words += f" --bins {bins}" if bins else ""
    words += " --alarm" if terms.alarm else ""
    words += " --id COL" if terms.identified else ""
    return f"{words} --state {file_word(path)}"


def _columns(terms: Terms) -> str:
    """Return the options that name the scores."""
    seen, score = terms.classes, shlex.quote(terms.score)
    if seen is None:
        return f"-s {score}"
    if seen.one_class is None:
        return f"--probs {score}"
    return f"--probs {score} --view {seen.view.value} --class {shlex.quote(seen.one_class)}"


def _classes(seen: SeenClasses | None) -> list[tuple[str, str]]:
    if seen is None:
        return []
    return [("view", seen.words), ("classes", f"{len(seen.names):,}: {listing(seen.names)}")]
