"""Exported ONNX models give what `apply` gives, run by onnxruntime."""

import json
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest

from calibcli.commands.export import digest_of, export
from calibcli.errors import UsageProblem
from calibcli.export.onnx import OPSET
from calibcli.names import ExportTarget, Scale
from calibcli.options.fitting import ExportAsk
from exported_maps import (
    asked_rows,
    class_map,
    one_map,
    wanted,
)

NEAR = 1e-12


def model(artifact: object, **requested: object) -> bytes:
    """The model of an artifact."""
    return export(artifact, ExportAsk(ExportTarget.ONNX, **requested))  # type: ignore[arg-type]


def run(content: bytes, scores: np.ndarray) -> dict[str, np.ndarray]:
    """What onnxruntime makes of scores, by output."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    found = session.run(None, {session.get_inputs()[0].name: scores})
    return dict(zip([one.name for one in session.get_outputs()], found, strict=True))


@pytest.mark.parametrize("kind", ["platt", "histogram", "isotonic", "venn-abers", "smooth"])
def test_what_apply_refuses_is_nan(kind: str) -> None:
    """NaN and scores out of range get NaN, in every output."""
    content = model(one_map(kind))
    for column in run(content, np.array([np.nan, -1e-300, 1.1, np.inf, -np.inf])).values():
        assert np.isnan(column).all()
    for column in run(content, np.zeros(0)).values():
        assert column.shape == (0,)


def test_scores_of_single_precision_are_worked_on_in_double() -> None:
    """With --float32 the input is float32, and the output that of the same numbers in double."""
    scores = np.linspace(0.0, 1.0, 101).astype(np.float32)
    for kind in ("beta", "isotonic"):
        found = run(model(one_map(kind), single=True), scores)["calibrated"]
        expected = wanted(one_map(kind), scores.astype(np.float64))[0]
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=NEAR)


@pytest.mark.parametrize("off", [2.0**-52, 2.5e-8, -2e-8, 1e-7])
def test_a_factor_that_is_nearly_one_stays(off: float) -> None:
    """What single precision takes for 1 is left out by onnxruntime, where a model says it."""
    scores, rows, near = np.linspace(0.0, 1.0, 101), asked_rows(Scale.PROB), 1.0 + off
    platt, temperature = one_map("platt"), class_map("temperature")
    platt = replace(platt, recalibrator=replace(platt.recalibrator, slope=near))
    found = run(model(platt), scores)["calibrated"]
    np.testing.assert_allclose(found, wanted(platt, scores)[0], rtol=0.0, atol=NEAR)
    temperature = replace(temperature, recalibrator=replace(temperature.recalibrator, temperature=near))
    found = run(model(temperature), rows)["calibrated"]
    np.testing.assert_allclose(found, temperature.recalibrator.predict(rows), rtol=0.0, atol=NEAR)


@pytest.mark.parametrize("kind", ["top-label platt", "confidence venn-abers"])
def test_no_class_comes_up_to_the_predicted_one(kind: str) -> None:
    """Others stay one number below the new confidence, so that the class is that of `apply`."""
    rows = np.random.default_rng(0).dirichlet(np.ones(3), 500)
    expected = class_map(kind).recalibrator.predict(rows)
    largest = expected.max(axis=1)
    assert (np.nextafter(largest, 0.0)[:, None] == expected).any()
    assert (run(model(class_map(kind)), rows)["calibrated_class"] == expected.argmax(axis=1)).all()


def test_model_says_where_it_comes_from() -> None:
    """Metadata hold the digest, versions, method and scale; the opset is the one that is promised."""
    found = onnx.load_from_string(model(one_map("beta", Scale.LOGIT)))
    facts = {one.key: one.value for one in found.metadata_props}
    assert facts["artifact"] == digest_of(one_map("beta", Scale.LOGIT))
    assert (facts["method"], facts["scale"]) == ("beta", "logit")
    assert [(one.domain, one.version) for one in found.opset_import] == [("", OPSET)]


def test_same_artifact_gives_the_same_bytes() -> None:
    """A model holds no timestamp and no order by chance."""
    assert model(one_map("spline")) == model(one_map("spline"))


def test_names_of_classes_are_texts() -> None:
    """Classes that are called like markup or code stand in the metadata as JSON of plain ASCII."""
    classes = ("a\n\x1b[31m", '"]} ${x}', "é")
    found = onnx.load_from_string(model(class_map("vector", classes=classes)))
    facts = {one.key: one.value for one in found.metadata_props}
    assert json.loads(facts["classes"]) == list(classes)
    assert facts["classes"].isascii()


@pytest.mark.parametrize("kind", ["vector", "top-label platt", "one-vs-rest histogram", "one-vs-one platt"])
def test_rows_of_classes_that_apply_refuses_are_nan(kind: str) -> None:
    """A row that does not sum to one, or holds NaN or a number out of range, is NaN and has no class."""
    rows = np.array([[0.5, 0.3, 0.1], [np.nan, 0.5, 0.5], [-0.1, 0.6, 0.5], [0.2, 0.3, 0.5]])
    found = run(model(class_map(kind)), rows)
    assert np.isnan(found["calibrated"]).all(axis=1).tolist() == [True, True, True, False]
    assert (found["calibrated_class"] == -1).tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    "names", [("same", "same"), ("", "a"), ("_1", "a"), ("calibrated_class", "calibrated")]
)
def test_names_that_meet_are_refused(names: tuple[str, str]) -> None:
    """An input and outputs that would have one name are refused."""
    with pytest.raises(UsageProblem, match="input"):
        model(one_map("platt"), score=names[0], name=names[1])


def test_an_input_may_begin_as_the_output_does() -> None:
    """Names that only begin alike do not meet."""
    fitted, rows = class_map("top-label platt"), np.array([[0.2, 0.3, 0.5]])
    usual, named = run(model(fitted), rows), run(model(fitted, score="scores", name="score"), rows)
    assert named["score"].tolist() == usual["calibrated"].tolist()
    assert named["score_class"].tolist() == usual["calibrated_class"].tolist()
