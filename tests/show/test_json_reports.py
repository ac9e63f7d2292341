"""What programs are given: JSON in the published shape."""

import json
from dataclasses import replace
from typing import Any

import pytest

from calibcli.names import DocumentKind, ReportFormat
from calibcli.show import text_of
from published import validator

_NAMES = (
    "measure",
    "grid",
    "weighted",
    "atoms",
    "verify_pass",
    "verify_fail",
    "verify_within_noise",
    "verify_to_pass",
    "verify_to_fail",
    "verify_too_few",
    "verify_several",
    "verify_kinds",
    "verify_groups",
    "verify_state",
    "hostile_measure",
    "hostile_verify",
)


_COMPARED = ("compare", "compare_fail", "compare_pass", "compare_blind", "hostile_compare")


def written(report: Any) -> str:
    """Return a report as JSON."""
    return text_of(report, ReportFormat.JSON)


@pytest.mark.parametrize("name", _NAMES)
def test_report_fits_the_schema(reports: dict[str, Any], name: str) -> None:
    """Every measurement and verdict has the shape that `calibcli schema report` prints."""
    validator(DocumentKind.REPORT).validate(json.loads(written(reports[name])))


@pytest.mark.parametrize("name", _COMPARED)
def test_comparison_fits_its_schema(reports: dict[str, Any], name: str) -> None:
    """Every comparison has the shape that `calibcli schema compare` prints, and no other."""
    schema = validator(DocumentKind.COMPARE)
    document = json.loads(written(reports[name]))
    schema.validate(document)
    for place in (document, document["first"], *document["measures"].values()):
        place["mood"] = "good"
        assert not schema.is_valid(document)
        del place["mood"]
    del document["second"]["table"]
    assert not schema.is_valid(document)


@pytest.mark.parametrize("member", ["input", "table", "measures", "curve", "verdict", "schema"])
def test_schema_refuses_what_is_missing(reports: dict[str, Any], member: str) -> None:
    """The schema can say no: a report without one of its members does not fit."""
    document = json.loads(written(reports["measure"]))
    del document[member]
    assert not validator(DocumentKind.REPORT).is_valid(document)


def test_schema_refuses_what_it_does_not_know(reports: dict[str, Any]) -> None:
    """Where the shape is fixed, a further member does not fit."""
    document = json.loads(written(reports["verify_pass"]))
    document["rules"]["max-ece"]["mood"] = "good"
    assert not validator(DocumentKind.REPORT).is_valid(document)


def test_every_object_of_the_schema_is_closed_or_typed() -> None:
    """No object of the schema lets anything in unlooked at."""
    schema = validator(DocumentKind.REPORT).schema
    objects = [*schema["anyOf"], *(one for one in schema["$defs"].values() if one.get("type") == "object")]
    assert all("additionalProperties" in one for one in objects)


@pytest.mark.parametrize("name", [*_NAMES, *_COMPARED, "fit", "fit_auto", "apply", "inspect"])
def test_text_is_canonical(reports: dict[str, Any], name: str) -> None:
    """Sorted keys, two spaces, ASCII, floats that read back, one newline: the same report, the same bytes."""
    text = written(reports[name])
    document = json.loads(text)
    assert text == json.dumps(document, sort_keys=True, indent=2) + "\n"
    text.encode("ascii")


def test_infinity_is_a_string(reports: dict[str, Any]) -> None:
    """JSON has no infinity, so an infinite log loss is the string that names it."""
    measures = json.loads(written(reports["measure"]))["measures"]
    assert measures["log_loss"]["value"] == "inf"
    assert measures["log_loss"]["upper"] is None


def test_slices_have_the_shape_of_the_whole(reports: dict[str, Any]) -> None:
    """A slice is a report without schema, digest, tool and answer, and may hold slices itself."""
    report = replace(reports["measure"], slices={"group=a": reports["atoms"]})
    document = json.loads(written(report))
    validator(DocumentKind.REPORT).validate(document)
    assert set(document) - set(document["slices"]["group=a"]) == {"answer", "digest", "schema", "tool"}
