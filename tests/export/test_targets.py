"""What holds a map as a module, an estimator or a model gives what `apply` gives."""

from collections.abc import Callable

import numpy as np
import onnxruntime
import pytest

import exported_maps as maps
from calibcli.commands.export import export
from calibcli.documents.artifact import Artifact, ClassArtifact
from calibcli.names import ExportTarget, Scale
from calibcli.options.fitting import ExportAsk
from calibcli.stats.recalibrators.logits import shifted

NEAR = 1e-12
# The probability of scores and its ends, if there are any; or of rows of classes, and which is most probable.
Answered = tuple[list[np.ndarray], list[str] | None]


def of_module(content: bytes, scores: np.ndarray, classes: tuple[str, ...]) -> Answered:
    """What the functions of a module make of numbers."""
    given: dict[str, Callable[..., object]] = {}
    exec(compile(content.decode("ascii"), "exported", "exec"), given)  # noqa: S102 - that is what is tested
    rows, point = scores.tolist(), np.array(given["calibrate_all"](scores.tolist()))
    if classes:
        return [point], [str(given["predict"](row)) for row in rows]
    ends = np.array([given["ends"](row) for row in rows]).T if "ends" in given else ()
    return [point, *ends], None


def of_estimator(content: bytes, scores: np.ndarray, classes: tuple[str, ...]) -> Answered:
    """What an estimator that was not fitted makes of a column, or of a column for each class."""
    given: dict[str, Callable[..., object]] = {}
    exec(compile(content, "exported", "exec"), given)  # noqa: S102 - that is what is tested
    estimator: object = given["Calibrated"]()
    found = estimator.predict_proba(scores if classes else scores[:, None])  # type: ignore[attr-defined]
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    if classes:
        return [found], list(estimator.predict(scores))  # type: ignore[attr-defined]
    return [found[:, 1], *(given["ends"](scores) if "ends" in given else ())], None  # type: ignore[misc]


def of_model(content: bytes, scores: np.ndarray, classes: tuple[str, ...]) -> Answered:
    """What onnxruntime makes of scores."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    found = session.run(None, {session.get_inputs()[0].name: scores})
    names = [one.name for one in session.get_outputs()]
    if classes:
        assert names == ["calibrated", "calibrated_class", "calibrated_confidence"]
        np.testing.assert_allclose(found[2], found[0].max(axis=1), rtol=0.0, atol=NEAR)
        return found[:1], [classes[one] for one in found[1]]
    assert names == ["calibrated", "calibrated_lower", "calibrated_upper"][: len(names)]
    return found, None


TARGETS = {
    ExportTarget.PYTHON: of_module,
    ExportTarget.SKLEARN: of_estimator,
    ExportTarget.ONNX: of_model,
}
OF_ALL = pytest.mark.parametrize("target", TARGETS)


def answered(
    target: ExportTarget, artifact: Artifact | ClassArtifact, scores: np.ndarray, **requested: object
) -> Answered:
    """What an artifact makes of scores, or of rows of classes, as a target."""
    content = export(artifact, ExportAsk(target, **requested))  # type: ignore[arg-type]
    return TARGETS[target](content, scores, getattr(artifact, "classes", ()))


@OF_ALL
@pytest.mark.parametrize(("kind", "scale"), maps.KINDS_AND_SCALES)
def test_scores_get_what_apply_gives(kind: str, scale: Scale, target: ExportTarget) -> None:
    """The probability and its ends agree to 1e-12, on fit scores, beside them, at both ends and anywhere."""
    artifact = maps.one_map(kind, scale)
    scores = maps.asked_scores(artifact)
    found, expected = answered(target, artifact, scores)[0], maps.wanted(artifact, scores)
    assert len(found) == len(expected)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=NEAR)


@OF_ALL
@pytest.mark.parametrize(("kind", "prior"), [("isotonic", 0.01), ("venn-abers", 0.9)])
def test_another_base_rate_is_that_of_apply(kind: str, prior: float, target: ExportTarget) -> None:
    """Probabilities and ends are moved as `apply --prior` does."""
    artifact, scores = maps.one_map(kind), np.linspace(0.0, 1.0, 77)
    assert artifact.fit.base_rate is not None
    expected = [
        shifted(one, fitted=artifact.fit.base_rate, prior=prior) for one in maps.wanted(artifact, scores)
    ]
    found, _ = answered(target, artifact, scores, prior=prior)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=NEAR)


@OF_ALL
@pytest.mark.parametrize("kind", maps.CLASS_MAPS)
def test_classes_get_what_apply_gives(kind: str, target: ExportTarget) -> None:
    """Every class's probability, the most probable one and its own agree."""
    for scale in (Scale.PROB, Scale.LOGIT, Scale.PERCENT):
        artifact, rows = maps.class_map(kind, scale), maps.asked_rows(scale)
        expected = maps.wanted_rows(artifact, rows)
        (found,), named = answered(target, artifact, rows)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=NEAR)
        sure = np.diff(np.sort(expected, axis=1)[:, -2:])[:, 0] > NEAR
        most = np.array(artifact.classes)[expected.argmax(axis=1)]
        assert np.array(named)[sure].tolist() == most[sure].tolist()
