"""What a gate compares a score with: a report of `measure`, or another score of the same rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibcli.bounds.interval import Interval
from calibcli.codec import Node, version_of
from calibcli.documents.sealed import Document
from calibcli.documents.store import in_file, read_document
from calibcli.errors import DocumentProblem, UsageProblem
from calibcli.names import MeasureName, Target
from calibcli.readers.files import file_word
from calibcli.reports.measure import SCHEMA

# What binary fractions add to a confidence such as 0.95.
_ROUNDING = 1e-9
_ORIGIN = "a baseline is what `calibcli measure ... --json -o report.json` writes"


@dataclass(frozen=True, slots=True)
class Measured:
    """
    A measure as a report states it.

    Args:
        value: The estimate.

        interval: Its two-sided interval; an end that it does not state is infinite.

        partition: Its bins in words, or None where it has none.
    """

    value: float
    interval: Interval
    partition: str | None

    @property
    def lower(self) -> float:
        """Lower end of the interval."""
        return self.interval.ends[0]

    @property
    def upper(self) -> float:
        """Upper end of the interval."""
        return self.interval.ends[1]

    @property
    def spent(self) -> float:
        """Probability that one end is wrong."""
        return (1.0 - self.interval.confidence) / 2.0


@dataclass(frozen=True, slots=True)
class Before:
    """
    What a report of `measure` says of the baseline.

    Args:
        path: The report.

        score: Its score column.

        artifact: Path of the recalibrator that was applied to it, or None.

        digest: Fingerprint of its table.

        measures: Each measure that was asked for.

        doubts: What must be said of the document.
    """

    path: str
    score: str
    artifact: str | None
    digest: str
    measures: dict[MeasureName, Measured]
    doubts: tuple[str, ...] = ()

    def notes(self, score: str, *, artifact: str | None, digest: str | None) -> tuple[str, ...]:
        """
        Return what the reader should know of a comparison with it.

        Args:
            score: The score column that is judged.

            artifact: Path of the recalibrator that was applied to it, or None.

            digest: Fingerprint of its table.
        """
        found = [*self.doubts]
        if digest == self.digest:
            found.append("the baseline has these very rows; --baseline-score compares scores row by row")
        if score != self.score:
            found.append(f"the baseline is of the score {self.score!r}, and this is {score!r}")
        if artifact is None and self.artifact is not None:
            found.append(f"the baseline was recalibrated ({self.artifact}), and this score is not")
        if artifact is not None and self.artifact is None:
            found.append("the baseline was not recalibrated, and this score is")
        return tuple(found)


def read_baseline(path: str, names: Sequence[MeasureName], *, confidence: float) -> Before:
    """
    Take the baseline from a report that `measure --json` wrote.

    Args:
        path: The report.

        names: Which of its measures.

        confidence: 1 - delta of the gate.

    Raises:
        InputProblem: If the file cannot be read, or is no such report.

        UsageProblem: If it lacks a measure, its interval, or enough confidence in it.
    """
    try:
        tree = read_document(path, origin=_ORIGIN)
        _refuse_artifact(path, tree)
        before, doubts = tree.built(lambda node: _before(path, node, names, confidence=confidence))
    except DocumentProblem as problem:
        raise in_file(path, problem) from None
    return replace(before, doubts=tuple(f"{path} {one}" for one in doubts))


def _before(path: str, tree: Node, names: Sequence[MeasureName], *, confidence: float) -> Before:
    version_of(tree, SCHEMA)
    artifact = tree.optional("artifact")
    return Before(
        path,
        tree.child("input").child("score").text(),
        None if artifact is None else artifact.text(),
        tree.child("table").child("digest").text(),
        {name: _measured(tree, name, path, confidence=confidence) for name in names},
    )


def _refuse_artifact(path: str, tree: Document) -> None:
    if tree.family == "calibcli.artifact":
        msg = f"{path}: is an artifact of fit, and --baseline takes what `calibcli measure --json` wrote"
        again = f"calibcli measure OLD_ROWS ... --artifact {file_word(path)} --json -o report.json"
        raise UsageProblem(msg, f"write that first: {again}; or judge the artifact itself with --artifact")


def _measured(tree: Node, name: MeasureName, path: str, *, confidence: float) -> Measured:
    again = f"measure the baseline again: calibcli measure ... --metric {name.value}"
    measures = tree.child("measures").members()
    if name.value not in measures:
        msg = f"{path} holds no {name.value}"
        raise UsageProblem(msg, f"{again} --json -o report.json")
    found = measures[name.value]
    lower, upper = _end(found, "lower", -math.inf), _end(found, "upper", math.inf)
    if math.isinf(lower) and math.isinf(upper):
        msg = f"{path}: its {name.value} has no interval, so that nothing follows from it"
        raise UsageProblem(msg, "its assumptions say why; compare another measure")
    interval = Interval(
        lower,
        upper,
        found.child("confidence").number(0.0, 1.0),
        found.child("method").text(),
        found.child("target").choice(Target),
        finite_sample=found.child("finite_sample").truth(),
    )
    partition = found.child("details").members().get("partition")
    measured = Measured(
        found.child("value").number(), interval, None if partition is None else partition.text()
    )
    if measured.spent >= (1.0 - confidence) * (1.0 - _ROUNDING):
        held = f"{path}: its interval of {name.value} is at a confidence of {interval.confidence:g}"
        msg = f"{held}, which leaves nothing of the {1.0 - confidence:g} that a wrong verdict may have"
        raise UsageProblem(msg, f"{again} --confidence {confidence:g} --json -o report.json")
    return measured


def _end(measure: Node, name: str, otherwise: float) -> float:
    """Return an end of an interval, or what excludes nothing where there is none."""
    found = measure.optional(name)
    return otherwise if found is None or found.value == str(otherwise) else found.number()
