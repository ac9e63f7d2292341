"""The JSON Schemas (2020-12) of documents, made of what their classes declare."""

import json
from typing import Any, NamedTuple, assert_never

from calibcli.codec import Declared, Definitions, Shape, Thing
from calibcli.names import DocumentKind
from calibcli.reports.input import Kept, Setting

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DIGEST = (
    "SHA-256 of the canonical text of the document without this line: sorted keys, two spaces, ASCII. "
    "Another layout of the same values has the same digest."
)

_ANSWER = "What was found, in one or two plain sentences; older documents have none."

_NOT_FINITE = "JSON has neither infinity nor NaN: they are the strings inf, -inf and nan."


class _Published(NamedTuple):
    """A kind of document: its title, what it is, its classes, and whether a key may sign it."""

    title: str
    about: str
    classes: tuple[type[Declared], ...]
    keyed: bool = False


def schema_text(kind: DocumentKind) -> str:
    """Return the JSON Schema of a kind of document."""
    title, about, classes, keyed = _published(kind)
    pattern = f"^{'(hmac-)?' if keyed else ''}sha256:[0-9a-f]{{64}}$"
    said = f"{_DIGEST} With a key its HMAC-SHA256." if keyed else _DIGEST
    digest = {"description": said, "type": "string", "pattern": pattern}
    named = Definitions()
    more = Shape({"digest": digest}, ("digest",))
    if issubclass(classes[0], Kept):
        settings = {"type": "array", "items": Thing(Setting).schema(named)}
        said = "Options that a file or a variable has set, if any; secrets in addresses are left out."
        more += Shape({"settings": {"description": said, **settings}}, ())
        more += Shape({"answer": {"description": _ANSWER, "type": "string"}}, ())
    bodies = [Thing(one).body(named, more) for one in classes]
    schema: dict[str, Any] = {"$schema": _DIALECT, "$id": f"urn:calibcli:{kind.value}:2", "title": title}
    schema |= {"description": about, **({"anyOf": bodies} if len(bodies) > 1 else _without_about(bodies[0]))}
    return json.dumps({**schema, "$defs": named.bodies}, indent=2) + "\n"


def _without_about(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != "description"}


def _published(kind: DocumentKind) -> _Published:  # noqa: PLR0911 - one for each kind
    match kind:
        case DocumentKind.ARTIFACT:
            from calibcli.documents.artifact import Artifact, ClassArtifact, GroupArtifact, SegmentArtifact

            return _Published(
                "calibcli artifact",
                "A fitted recalibrator with the record of its fit, as `calibcli fit` writes it: of one "
                "score, of one score by group or by segments, or of several classes.",
                (Artifact, ClassArtifact, GroupArtifact, SegmentArtifact),
            )
        case DocumentKind.GATE:
            from calibcli.stats.gates.state import GateState

            return _Published(
                "calibcli gate state",
                "What `calibcli verify --state` has counted. Whole numbers may be larger than 2^53. JSON has "
                "no infinity: it is the string inf.",
                (GateState,),
                keyed=True,
            )
        case DocumentKind.REPORT:
            from calibcli.reports.measure import MeasureReport
            from calibcli.reports.verify import VerifyReport

            about = f"What `calibcli measure` and `calibcli verify` found. {_NOT_FINITE}"
            return _Published("calibcli report", about, (MeasureReport, VerifyReport))
        case DocumentKind.COMPARE:
            from calibcli.reports.compare import CompareReport
            from calibcli.reports.leaderboard import LeaderboardReport

            about = f"What `calibcli compare` found: of two, or of more as a leaderboard. {_NOT_FINITE}"
            return _Published("calibcli comparison", about, (CompareReport, LeaderboardReport))
        case DocumentKind.COMPAT:
            from calibcli.reports.compat import CompatReport

            about = (
                "What `calibcli measure --compat` found: the numbers that another tool gives with its "
                f"default settings, beside ours. {_NOT_FINITE}"
            )
            return _Published("calibcli compat", about, (CompatReport,))
        case DocumentKind.DRIFT:
            from calibcli.reports.drift import DriftReport

            about = f"What `calibcli drift` found. {_NOT_FINITE}"
            return _Published("calibcli drift", about, (DriftReport,))
        case DocumentKind.PLAN:
            from calibcli.reports.plan import PlanReport

            about = "How many labelled rows a gate takes, as `calibcli plan` simulated it."
            return _Published("calibcli plan", about, (PlanReport,))
        case DocumentKind.SEGMENTS:
            from calibcli.reports.segments import SegmentsReport

            about = f"What `calibcli segments` found. {_NOT_FINITE}"
            return _Published("calibcli segments", about, (SegmentsReport,))
        case DocumentKind.SUMMARY:
            from calibcli.documents.summary import TableDocument

            about = (
                "The rows of an input as `calibcli measure --summary-out` keeps them: the table that every "
                "number is computed from."
            )
            return _Published("calibcli summary", about, (TableDocument,))
        case _:
            assert_never(kind)
