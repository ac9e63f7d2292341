"""Reports for programs: as JSON, and as rows of CSV or JSON Lines."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from calibcli.documents.sealed import sealed_text
from calibcli.errors import UsageProblem
from calibcli.names import Target
from calibcli.reports.input import Setting
from calibcli.reports.measure import GroupsSummary, MeasureReport
from calibcli.reports.verify import VerifyReport
from calibcli.show.answers import document_of
from calibcli.show.words import OF_GRADES, in_ascii, light, printable
from calibcli.values import replace

if TYPE_CHECKING:
    from calibcli.show import Report


def json_of(report: "Report", settings: tuple[Setting, ...] = ()) -> str:
    """Return the one text that every calibcli document has: sorted keys, shortest floats, ASCII, with a
    digest.

    Its shape is what `calibcli schema` prints.
    """
    body = document_of(report)
    if settings:
        body["settings"] = [one.to_dict() for one in settings]
    return sealed_text(body)


COLUMNS = (
    "slice",
    "kind",
    "name",
    "value",
    "lower",
    "upper",
    "confidence",
    "null",
    "p_value",
    "limit",
    "status",
    "method",
    "target",
    "rows",
    "positive",
    "score",
    "artifact",
    "null_lower",
    "null_upper",
    "unseen_share",
    "mean_score",
    "p_adjusted",
)

FIXED = Target.FIXED_DESIGN.value

_FORMULA = ("=", "+", "-", "@")
# How JSON writes a number that it has not, and every reader of CSV reads it.
_INFINITE = "-inf"

Row = dict[str, object]


def json_lines_of(report: "Report", settings: tuple[Setting, ...] = ()) -> str:
    """Return an object a line, with every column; what does not apply is null."""
    return "".join(f"{json.dumps(row, allow_nan=False)}\n" for row in rows_of(report, settings))


def csv_of(report: "Report", settings: tuple[Setting, ...] = (), *, unicode: bool = True) -> str:
    """Return CSV with a header; what does not apply is empty. Where there is no Unicode there are escapes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_cell(value) for value in row.values()] for row in rows_of(report, settings))
    return text.getvalue() if unicode else in_ascii(text.getvalue())


def rows_of(report: "Report", settings: tuple[Setting, ...] = ()) -> Iterator[Row]:
    """Yield a row for each slice and measure, test or rule, then for each setting; each has every column."""
    if isinstance(report, MeasureReport | VerifyReport):
        yield from _measured(report)
    elif report.page in _OTHERS:
        yield from _OTHERS[report.page](cast("dict[str, Any]", report.to_dict()))
    else:
        msg = "rows are written of what measure, verify, compare, segments and drift find"
        raise UsageProblem(msg, "pass --format json, md or table")
    for one in settings:
        yield _row({"slice": ""}, "setting", f"{one.key} = {one.shown}", {"method": one.source})


def _measured(report: MeasureReport | VerifyReport) -> Iterator[Row]:
    """Yield the rows of a report, of its slices, and of how further scores differ from the first."""
    # Slices may be very many, and one of them at a time is held as a document.
    alone = replace(report, slices={}) if isinstance(report, MeasureReport) else report
    body = cast("dict[str, Any]", alone.to_dict())
    yield from _rows("", report, body)
    grouped = _by_group(report) if isinstance(report, MeasureReport) else {}
    for key, part in report.slices.items():
        yield from _rows(key, part, part.to_dict(), grouped.get(key))
    for key, differences in body.get("differences", {}).items():
        same = _said_of(key, report.slices[key].to_dict())
        for name, one in differences.items():
            yield _row(same, "difference", name, {**one, "status": one["verdict"]})


def _by_group(report: MeasureReport) -> dict[str, GroupsSummary]:
    """Return what each group is one of, those of further scores too."""
    views = (one.groups for one in (report, *report.slices.values()))
    return {key: groups for groups in views if groups is not None for key in groups.measured}


def _compared(body: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the rows of both sides of a comparison, each a slice, and of how they differ."""
    sides = {side: _said_of(body[side]["name"], {**body, **body[side]}) for side in ("first", "second")}
    whole = {key: sides["first"][key] for key in ("rows", "positive")} | {"slice": ""}
    for name, one in body["measures"].items():
        for side, same in sides.items():
            yield _row(same, "measure", name, one[side])
        yield _row(whole, "difference", name, {**one["difference"], "status": one["verdict"]})


def _ranked(body: Mapping[str, Any]) -> Iterator[Row]:
    """Yield for each measure a row of every score, of its difference and of its skill, then the pairs."""
    yield from _board("", body)
    groups = body.get("groups", {"column": "", "boards": ()})
    for one in groups["boards"]:
        yield from _board(f"{groups['column']}={one['name']}/", one)


def _board(key: str, body: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the rows of a leaderboard, of all rows or of one group of them."""
    for name, ranking in body["measures"].items():
        for one in ranking["standings"]:
            same = {"slice": key + one["name"], "rows": one["rows"], "score": one["name"], "artifact": None}
            yield _row(same, "measure", name, one["estimate"])
            if one["contrast"] is not None:
                less = f"{key}{one['name']} less {ranking['against']}"
                yield _contrast({**same, "slice": less}, name, one["contrast"])
            if one["skill"] is not None:
                yield _row(same, "skill", name, one["skill"])
        for one in ranking.get("pairs", ()):
            less = f"{key}{one['second']} less {one['first']}"
            yield _contrast({"slice": less, "score": one["second"], "artifact": None}, name, one)


def _contrast(same: Row, name: str, one: Mapping[str, Any]) -> Row:
    whole = {**same, "rows": one["rows"]}
    return _row(whole, "difference", name, {**one["difference"], "status": one["verdict"]})


def _of_segments(body: Mapping[str, Any]) -> Iterator[Row]:
    for part in (body, *body.get("slices", {}).values()):
        yield from _of_score(part)


def _of_score(body: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the multicalibration error, then two rows for each segment: its statistic and its bias."""
    for name in ("mce", "mce_sigma", "mce_p"):
        found = {**body[name], "p_value": body["mce_p"]["value"]}
        yield _row(_said_of("", body), "measure", name, found)
    for one in body["segments"]:
        same = _said_of("/".join(one["where"]), body)
        same |= {key: one[key] for key in ("rows", "positive", "mean_score")}
        status = one["not_tested"] or ("stands out" if one["stands_out"] else "does not stand out")
        told = {"confidence": body["confidence"], "status": status}
        range_found = {"value": one["sigma"], "p_value": one["p_value"], "method": body["mce_p"]["method"]}
        yield _row(same, "segment", "sigma", {**told, **range_found})
        ends = one["bias_interval"] or {}
        yield _row(same, "segment", "bias", {**told, **ends, "value": one["bias"], "target": FIXED})


def _of_drift(body: Mapping[str, Any]) -> Iterator[Row]:
    """Yield a row for each column, then three for each of its levels: both shares and what it adds."""
    score = body["new"]["score"]
    for one in body["columns"]:
        # Of groups each has rows of its own.
        same = {"slice": one["name"], "score": score, "rows": sum(level["new"] for level in one["levels"])}
        found = {"value": one["psi"], "null_upper": one["by_chance"], "p_value": one["p_joint"]}
        told = {"status": "shifted" if one["shifted"] else "not shown", "method": one["method"]}
        yield _row(same, "drift", "psi", {**found, **told, "confidence": body["confidence"]})
        for level in one["levels"]:
            part = {"slice": f"{one['name']}/{level['where']}", "score": score}
            for side in ("old", "new"):
                share = {"value": level[f"{side}_share"]}
                yield _row({**part, "rows": level[side]}, "level", f"{side}_share", share)
            yield _row({**part, "rows": level["new"]}, "level", "psi", {"value": level["psi"]})


_OTHERS: dict[str, Callable[[Mapping[str, Any]], Iterator[Row]]] = {
    "compare": _compared,
    "leaderboard": _ranked,
    "segments": _of_segments,
    "drift": _of_drift,
}


def _said_of(key: str, body: Mapping[str, Any]) -> Row:
    return {
        "slice": key,
        "rows": body["table"]["rows"],
        "positive": body["table"]["positive"],
        "score": body.get("score", body["input"]["score"]),
        "artifact": body["artifact"],
    }


def _rows(
    key: str,
    report: object,
    body: Mapping[str, Any],
    groups: GroupsSummary | None = None,
) -> Iterator[Row]:
    same = _said_of(key, body)
    if isinstance(report, MeasureReport) and not report.table.weighted:
        same["mean_score"] = report.mean_score
    adjusted = {} if groups is None else groups.adjusted or {}
    for name, one in body["measures"].items():
        yield _row(same, "measure", name, one)
    for name, one in body["tests"].items():
        found = {"value": one.get("statistic"), "p_value": one["p_value"], "method": one["p_method"]}
        found["p_adjusted"] = adjusted.get(name, {}).get(key)
        if name in OF_GRADES and groups is not None:
            found["status"] = light(one["p_value"])
        yield _row(same, "test", name, found)
    for one in body.get("net_benefit", ()):
        for name, found in one.items():
            if isinstance(found, Mapping):
                yield _row(same, "net_benefit", name, {**found, "limit": one["threshold"]})
    for one in body.get("classes", {}).get("top", ()):
        yield _row(same, "top", f"top_{one['k']}_l2", one)
    for one in body["rules"].values():
        yield _row(same, "rule", one["expr"], one)


def _row(same: Mapping[str, object], kind: str, name: str, one: Mapping[str, object]) -> Row:
    own = {**one, **same, "kind": kind, "name": name}
    return {column: own.get(column) for column in COLUMNS}


def _cell(value: object) -> object:
    if not isinstance(value, str):
        # A float of numpy names its type where it is asked by itself.
        return "" if value is None else float.__repr__(value) if isinstance(value, float) else value
    text = printable(value)
    return f"'{text}" if text.startswith(_FORMULA) and text != _INFINITE else text
