"""What programs are given: JSON in the published shape."""

import json
from dataclasses import replace
from typing import Any

import pytest

from calibcli.names import DocumentKind, ReportFormat
from calibcli.reports.measure import MeasureReport
from calibcli.reports.verify import VerifyReport
from calibcli.show import text_of
from published import validator

_COMPARED = ("compare", "compare_fail", "compare_pass", "compare_blind", "hostile_compare")


def written(report: Any) -> str:
    """Return a report as JSON."""
    return text_of(report, ReportFormat.JSON)


def test_reports_fit_the_schema(reports: dict[str, Any]) -> None:
    """Every measurement and verdict has the shape that `calibcli schema report` prints."""
    for report in reports.values():
        if isinstance(report, MeasureReport | VerifyReport):
            validator(DocumentKind.REPORT).validate(json.loads(written(report)))


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


def test_schema_refuses_what_is_missing_and_what_it_does_not_know(reports: dict[str, Any]) -> None:
    """The schema can say no: a report without one of its members does not fit, nor one with a further one."""
    schema = validator(DocumentKind.REPORT)
    document = json.loads(written(reports["measure"]))
    for member in ("input", "table", "measures", "curve", "verdict", "schema"):
        assert not schema.is_valid({name: one for name, one in document.items() if name != member}), member
    document = json.loads(written(reports["verify_pass"]))
    document["rules"]["max-ece"]["mood"] = "good"
    assert not schema.is_valid(document)


def test_text_is_canonical(reports: dict[str, Any]) -> None:
    """Sorted keys, two spaces, ASCII, floats that read back, one newline: the same report, the same bytes."""
    for report in reports.values():
        text = written(report)
        assert text == json.dumps(json.loads(text), sort_keys=True, indent=2) + "\n"
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
