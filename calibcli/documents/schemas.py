"""The JSON Schemas (2020-12) of documents, made of what their classes declare."""

import json
from typing import Any, NamedTuple

from calibcli.codec import Declared, Definitions, Shape, Thing
from calibcli.families import loaded
from calibcli.names import DocumentKind
from calibcli.reports.input import KeptReport, Setting

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DIGEST = (
    "SHA-256 of the canonical text of the document without this line: sorted keys, two spaces, ASCII. "
    "Another layout of the same values has the same digest."
)

_ANSWER = "What was found, in one or two plain sentences; older documents have none."

_NOT_FINITE = "JSON has neither infinity nor NaN: they are the strings inf, -inf and nan."


class _Published(NamedTuple):
    """A kind of document: its title, what it is, where its classes are, and whether a key may sign it."""

    title: str
    about: str
    classes: tuple[str, ...]
    keyed: bool = False


_PUBLISHED = {
    DocumentKind.ARTIFACT: _Published(
        "calibcli artifact",
        "A fitted recalibrator with the record of its fit, as `calibcli fit` writes it: of one score, of one "
        "score by group or by segments, or of several classes.",
        tuple(
            f"documents.artifact.{one}"
            for one in ("Artifact", "ClassArtifact", "GroupArtifact", "SegmentArtifact")
        ),
    ),
    DocumentKind.GATE: _Published(
        "calibcli gate state",
        "What `calibcli verify --state` has counted. Whole numbers may be larger than 2^53. JSON has no "
        "infinity: it is the string inf.",
        ("stats.gates.state.GateState",),
        keyed=True,
    ),
    DocumentKind.REPORT: _Published(
        "calibcli report",
        f"What `calibcli measure` and `calibcli verify` found. {_NOT_FINITE}",
        ("reports.measure.MeasureReport", "reports.verify.VerifyReport"),
    ),
    DocumentKind.COMPARE: _Published(
        "calibcli comparison",
        f"What `calibcli compare` found: of two, or of more as a leaderboard. {_NOT_FINITE}",
        ("reports.compare.CompareReport", "reports.leaderboard.LeaderboardReport"),
    ),
    DocumentKind.COMPAT: _Published(
        "calibcli compat",
        "What `calibcli measure --compat` found: the numbers that another tool gives with its default "
        f"settings, beside ours. {_NOT_FINITE}",
        ("reports.compat.CompatReport",),
    ),
    DocumentKind.DRIFT: _Published(
        "calibcli drift", f"What `calibcli drift` found. {_NOT_FINITE}", ("reports.drift.DriftReport",)
    ),
    DocumentKind.PLAN: _Published(
        "calibcli plan",
        "How many labelled rows a gate takes, as `calibcli plan` simulated it.",
        ("reports.plan.PlanReport",),
    ),
    DocumentKind.SEGMENTS: _Published(
        "calibcli segments",
        f"What `calibcli segments` found. {_NOT_FINITE}",
        ("reports.segments.SegmentsReport",),
    ),
    DocumentKind.SUMMARY: _Published(
        "calibcli summary",
        "The rows of an input as `calibcli measure --summary-out` keeps them: the table that every number is "
        "computed from.",
        ("documents.summary.TableDocument",),
    ),
}


def schema_text(kind: DocumentKind) -> str:
    title, about, names, keyed = _PUBLISHED[kind]
    classes: list[type[Declared]] = [loaded(name) for name in names]
    pattern = f"^{'(hmac-)?' if keyed else ''}sha256:[0-9a-f]{{64}}$"
    said = f"{_DIGEST} With a key its HMAC-SHA256." if keyed else _DIGEST
    digest = {"description": said, "type": "string", "pattern": pattern}
    named = Definitions()
    more = Shape({"digest": digest}, ("digest",))
    if issubclass(classes[0], KeptReport):
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
