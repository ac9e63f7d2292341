"""Artifacts of several classes: written, read, damaged, and as earlier versions wrote them.

The files in `frozen_classes` were written by the calibcli that brought several classes, from
sample_data/digits_naive_bayes_calibration.parquet, and are never written anew: `--method isotonic` in
confidence, `--method histogram --bins 5` in top-label, `--method beta` in one-vs-rest, else nothing but
`--multiclass`.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibcli.documents.artifact import (
    ClassArtifact,
    artifact_text,
    read_artifact,
    read_class_artifact,
)
from calibcli.documents.sealed import sealed, sealed_text
from calibcli.errors import DocumentProblem, UsageProblem
from calibcli.names import ClassMethod, DocumentKind
from published import changed, in_turn, places, replaced, validator

FROZEN = Path(__file__).with_name("frozen_classes")
EXPECTED = json.loads((FROZEN / "predictions.json").read_text())
ROWS = np.array(EXPECTED["rows"])
FEW = ("own", "pairs")


@pytest.fixture(params=list(ClassMethod))
def method(request: pytest.FixtureRequest) -> str:
    """Return each method of several classes in turn."""
    return str(request.param)


@pytest.fixture
def document(method: str) -> Any:
    """Return the document of a frozen artifact, as it is written now."""
    found = json.loads((FROZEN / f"{method}.json").read_text())
    return sealed({**found, "schema": ClassArtifact.SCHEMA})


def reread(document: Any, folder: Path) -> ClassArtifact:
    """Write a document and read it as an artifact."""
    path = folder / "cal.json"
    path.write_text(sealed_text(document))
    return read_class_artifact(path)


def test_frozen_artifact_predicts_as_it_did(method: str) -> None:
    """An artifact of several classes gives what it gave when it was written."""
    predicted = read_class_artifact(FROZEN / f"{method}.json").recalibrator.predict(ROWS)
    # exp and log may differ in the last bits between processors.
    np.testing.assert_allclose(predicted, EXPECTED["predictions"][method], rtol=1e-11, atol=1e-300)


def test_artifact_survives_the_disk(method: str, document: Any, tmp_path: Path) -> None:
    """What is read would be written again byte for byte, and predicts the same bits."""
    artifact = read_class_artifact(FROZEN / f"{method}.json")
    again = reread(document, tmp_path)
    assert json.loads(artifact_text(again)) == document
    assert again.recalibrator.predict(ROWS).tobytes() == artifact.recalibrator.predict(ROWS).tobytes()


def test_every_method_fits_the_published_schema(document: Any) -> None:
    """The JSON Schema accepts every artifact that is written."""
    validator(DocumentKind.ARTIFACT).validate(document)


def test_missing_and_surplus_keys_are_refused_with_their_place(
    method: str, document: Any, tmp_path: Path
) -> None:
    """By the reader everywhere, by the schema wherever it speaks of members; of one what all have."""
    for path in places(document, one_of=FEW):
        if isinstance(path[-1], int) or "options" in path or "own" in path[:-1] or "pairs" in path[:-1]:
            continue
        if path == ("digest",) or ("parameters" not in path and method != "matrix"):
            continue
        for damaged in (changed(document, path), changed(document, path, surprise=1)):
            with pytest.raises(DocumentProblem, match=r"cal\.json") as problem:
                reread(damaged, tmp_path)
            assert "\n" not in problem.value.message
            if "parameters" not in path[:-2]:
                assert not validator(DocumentKind.ARTIFACT).is_valid(damaged), path


@pytest.mark.untraced
@in_turn
def test_any_replaced_value_is_refused_or_fits_the_schema(document: Any, tmp_path: Path, every: int) -> None:
    """Whatever stands in place of a value ends in a DocumentProblem, or in an artifact that predicts."""
    refused = accepted = 0
    del document["digest"]
    for path, value, damaged in replaced(document, every, one_of=FEW):
        try:
            predicted = reread(damaged, tmp_path).recalibrator.predict(ROWS)
        except DocumentProblem:
            refused += 1
        except UsageProblem:
            # Classes that are null make it an artifact of one score, or none at all.
            assert path == ("input", "classes")
            refused += 1
        else:
            accepted += 1
            assert np.all((predicted >= 0) & (predicted <= 1)), (path, value)
            assert validator(DocumentKind.ARTIFACT).is_valid(sealed(damaged)), (path, value)
    assert refused > 3 * accepted


@pytest.mark.parametrize(
    ("method", "path", "value", "place", "complaint"),
    [
        ("temperature", ("parameters", "temperature"), 0, "$.parameters.temperature",
            "is 0, should be a number"),
        ("vector", ("parameters", "weight", 3), "a", "$.parameters.weight[3]", "should be a number"),
        ("vector", ("parameters", "penalty"), 0.1, "$.parameters.penalty", "is 0.1, but the rest"),
        ("structured", ("parameters", "intercept"), [0.0], "$.parameters.intercept", "should have 10"),
        ("matrix", ("parameters", "weight", 1), [1.0], "$.parameters.weight[1]",
            "has 1 elements, should have 10"),
        ("matrix", ("keeps_prediction",), True, "$.keeps_prediction", "is true, but the rest"),
        ("top-label", ("parameters", "own"), {}, "$.parameters", "has no map for class"),
        ("one-vs-rest", ("parameters", "output_sum"), "two", "$.parameters.output_sum", "one of one, free"),
        ("one-vs-one", ("parameters", "pairs", 0, "second"), 0, "$.parameters.pairs[0].second",
            "between 1 and 9"),
        ("temperature", ("input", "classes", 1), "0", "$.input.classes", "two different classes or more"),
        ("temperature", ("input", "columns"), [], "$.input.columns", "is empty"),
        ("temperature", ("input", "columns"), ["p_0", "p_1"], "$.input.columns", "should have 10"),
        ("temperature", ("fit", "class_rows", 0), 1, "$.fit.class_rows", "rows together, should have 898"),
        ("temperature", ("fit", "changed"), 899, "$.fit.changed", "between 0 and 898"),
        ("temperature", ("method",), "platt", "$.method", 'is "platt", should be one of confidence'),
    ],
)  # fmt: skip
def test_inconsistent_artifact_is_refused_with_its_place(
    method: str, path: tuple[str | int, ...], value: object, place: str, complaint: str, *, tmp_path: Path
) -> None:
    """The message says which value is wrong and what it should be."""
    document = json.loads((FROZEN / f"{method}.json").read_text()) | {"schema": ClassArtifact.SCHEMA}
    if method == "top-label":
        document["parameters"]["shared"] = None
    with pytest.raises(DocumentProblem) as problem:
        reread(changed(document, path, value), tmp_path)
    assert problem.value.path == f"{tmp_path / 'cal.json'}: {place}"
    assert complaint in problem.value.detail


def test_the_two_kinds_of_artifact_are_told_apart() -> None:
    """Each is refused where the other is wanted, with the way out."""
    with pytest.raises(UsageProblem, match="fitted to 10 classes") as problem:
        read_artifact(FROZEN / "temperature.json")
    assert "--probs" in str(problem.value.hint)
    with pytest.raises(UsageProblem, match="fitted to one score"):
        read_class_artifact(FROZEN.with_name("frozen") / "platt.json")
