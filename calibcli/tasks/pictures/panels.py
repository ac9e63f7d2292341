"""What several reliability diagrams side by side are taken from: reports, and slices of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from calibcli.codec import Node, version_of
from calibcli.curves.panels import CurvePanel
from calibcli.curves.reliability import ReliabilityCurve
from calibcli.documents.store import in_file, read_document
from calibcli.errors import DocumentProblem, UsageProblem
from calibcli.names import MeasureName
from calibcli.picture_names import PlotKind
from calibcli.reports.measure import SCHEMA
from calibcli.tasks.pictures.diagram import Diagram, PlotRequest, title_from

_LETTERS = 30
_OTHERS = {
    "calibcli.gate": ("the state of a gate", PlotKind.MONITOR),
    "calibcli.artifact": ("an artifact", PlotKind.MAP),
}
WORDS = {MeasureName.ECE: "ECE", MeasureName.SMECE: "smECE"}


@dataclass(frozen=True, slots=True)
class Stated:
    """
    A number as a report states it.

    Args:
        value: The estimate.

        lower: Lower end of its interval, or None.

        upper: Upper end of its interval, or None.

        confidence: Of the interval, or None without one.
    """

    value: float
    lower: float | None
    upper: float | None
    confidence: float | None

    @classmethod
    def read(cls, node: Node) -> "Stated | None":
        """Read a measure or a difference; None where it has no finite value."""
        value = node.optional("value")
        if value is None or isinstance(value.value, str):
            return None
        lower, upper, confidence = (node.optional(key) for key in ("lower", "upper", "confidence"))
        return cls(
            value.number(),
            None if lower is None else lower.number(),
            None if upper is None else upper.number(),
            None if confidence is None else confidence.number(0.0, 1.0),
        )

    def words(self, digits: int = 4, *, signed: bool = False) -> str:
        """
        Return the number and its interval.

        Args:
            digits: After the point; two more where all would be zeros.

            signed: Whether the number has a sign even above 0.
        """
        ends = [] if self.lower is None or self.upper is None else [self.lower, self.upper]
        if max(abs(one) for one in (self.value, *ends)) < 2.0 * 10.0**-digits:
            digits += 2
        value, *bounds = (round(one, digits) + 0.0 for one in (self.value, *ends))
        shown = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
        return f"{shown} [{bounds[0]:.{digits}f}, {bounds[1]:.{digits}f}]" if bounds else shown

    @property
    def at(self) -> str:
        """The confidence in words, or nothing without an interval."""
        bounded = self.lower is not None and self.upper is not None and self.confidence is not None
        return f" at {(self.confidence or 0.0) * 100:.4g} % confidence" if bounded else ""


@dataclass(frozen=True, slots=True)
class Part:
    """
    A report, or a slice of one.

    Args:
        name: What it is called.

        tree: It.
    """

    name: str
    tree: Node

    def stated(self, name: MeasureName) -> Stated | None:
        """Return a measure, or None where it was not measured."""
        found = self.tree.child("measures").members().get(name.value)
        return None if found is None else Stated.read(found)

    @property
    def rows(self) -> int:
        """How many rows it rests on."""
        return self.tree.child("table").child("rows").whole(1)

    @property
    def discrete(self) -> bool:
        """Whether each value of the score is measured by itself."""
        return self.tree.child("table").child("discrete").truth()

    @property
    def curve(self) -> ReliabilityCurve:
        """The curve in it."""
        if self.tree.child("curve").value is None:
            msg = "is null: this is not a report of `calibcli measure`"
            raise self.tree.child("curve").problem(
                msg, "write one with `calibcli measure ... --json -o report.json`"
            )
        return ReliabilityCurve.from_dict(self.tree.child("curve"))

    @property
    def smooth(self) -> bool:
        """Whether there is a curve without bins."""
        return self.tree.child("curve").optional("smooth") is not None


def panel_of(part: Part, kind: PlotKind) -> CurvePanel:
    """
    Return the diagram of a part.

    Args:
        part: A report or slice.

        kind: Smooth or binned.
    """
    measure = MeasureName.SMECE if kind is PlotKind.SMOOTH else MeasureName.ECE
    found, word = part.stated(measure), WORDS[measure]
    error = wordings(found, f"{word} ") if found is not None else (f"{word} not measured", "", "", "")
    return CurvePanel(part.name or "(empty)", part.rows, error, replace(part.curve, kind=kind))


def wordings(found: Stated | None, before: str, *, signed: bool = False) -> tuple[str, ...]:
    """
    Return a number and its interval in wordings of falling length, the last without the interval.

    Args:
        found: The number, or None for as many empty wordings.

        before: What the longest begins with.

        signed: Whether the number has a sign even above 0.
    """
    if found is None:
        return ("", "", "", "")
    full, short = (found.words(digits, signed=signed) for digits in (4, 3))
    return f"{before}{full}", full, short, short.partition(" ")[0]


def brief(name: str) -> str:
    """Return a name short enough for a sentence, cut in the middle."""
    shown = name or "(empty)"
    half = _LETTERS // 2
    return shown if len(shown) <= _LETTERS else f"{shown[:half]}…{shown[-half:]}"


def of_report(request: PlotRequest, path: str, made: Callable[[Node], Diagram]) -> Diagram:
    """
    Return a diagram of what `measure --json` wrote.

    Args:
        request: What was asked.

        path: The report.

        made: From report to diagram.

    Raises:
        UsageProblem: If something is asked that only a measurement can answer.

        DocumentProblem: If it is no such report.
    """
    request.refuse_idle(what="a report")
    try:
        tree = read_document(path)
        _refuse_others(path, tree.child("schema"))
        diagram, doubts = tree.built(lambda node: _made(node, made))
    except DocumentProblem as problem:
        raise in_file(path, problem) from None
    return replace(diagram, notes=(*(f"{path} {one}" for one in doubts), *diagram.notes))


def _made(tree: Node, made: Callable[[Node], Diagram]) -> Diagram:
    version_of(tree, SCHEMA)
    return made(tree)


def _refuse_others(path: str, schema: Node) -> None:
    """Refuse documents that another kind of diagram is drawn from, by its name."""
    other = _OTHERS.get(str(schema.value).partition("/")[0])
    if other is not None:
        what, kind = other
        msg = f"{path} is {what}, and not a report"
        raise UsageProblem(msg, f"pass --kind {kind.value} to draw it")


def title_of_tree(tree: Node, scores: Sequence[str] = (), *, added: str = "") -> str:
    """
    Return files and columns in a line.

    Args:
        tree: The report.

        scores: All scores, where there are several.

        added: What follows.
    """
    source, artifact = tree.child("input"), tree.optional("artifact")
    score = ", ".join(scores) or source.child("score").text()
    path = None if artifact is None else artifact.text()
    return title_from(source.child("files").texts(), score, artifact=path) + added
