"""Exported estimators give what `apply` gives, and are estimators to scikit-learn."""

import copy
import importlib.util
import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import check_estimator

from calibcli.commands.export import export
from calibcli.names import ClassMethod, ExportTarget, Scale
from calibcli.options.fitting import ExportAsk
from exported_maps import (
    class_map,
    one_map,
    wanted,
    wanted_rows,
)
from fits_of_classes import drawn, fitted

NEAR = 1e-12
# Without an estimator X is a column of scores; these checks hand over something else.
NOT_SCORES = "its X is no column of scores in [0, 1]"
# The checks that do not apply without an estimator, and why; with one, every check passes.
WITHOUT_ESTIMATOR = dict.fromkeys(
    [
        "check_fit_score_takes_y",
        "check_estimators_dtypes",
        "check_dtype_object",
        "check_pipeline_consistency",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_classifier_data_not_an_array",
        "check_classifiers_classes",
        "check_classifiers_train",
        "check_supervised_y_2d",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_dict_unchanged",
        "check_fit_idempotent",
    ],
    NOT_SCORES,
)
Importer = Callable[..., ModuleType]


@pytest.fixture
def imported(tmp_path: Path) -> Iterator[Importer]:
    """Import the exported module of an artifact, as `calibrated_N`."""
    made: list[str] = []

    def load(artifact: object, **requested: object) -> ModuleType:
        word = f"calibrated_{len(made)}"
        path = tmp_path / f"{word}.py"
        path.write_bytes(export(artifact, ExportAsk(ExportTarget.SKLEARN, **requested)))  # type: ignore[arg-type]
        spec = importlib.util.spec_from_file_location(word, path)
        assert spec is not None
        assert spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        sys.modules[word] = found
        made.append(word)
        spec.loader.exec_module(found)
        return found

    yield load
    for word in made:
        del sys.modules[word]


def test_two_columns_are_those_of_predict_proba(imported: Importer) -> None:
    """Of the two columns of `predict_proba` the second is the score."""
    estimator = imported(one_map("platt")).Calibrated()
    scores = np.linspace(0.0, 1.0, 11)
    both = estimator.predict_proba(np.column_stack((1.0 - scores, scores)))
    assert np.array_equal(both, estimator.predict_proba(scores[:, None]))


@pytest.mark.parametrize("scale", Scale)
def test_wrapped_model_is_recalibrated(scale: Scale, imported: Importer) -> None:
    """What the model says on the scale of the fit goes through the map."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    labels = rows[:, 0] + rng.normal(size=200) > 0.0
    artifact = one_map("beta", scale)
    estimator = imported(artifact).Calibrated(LogisticRegression()).fit(rows, labels)
    model = estimator.estimator_
    said = {
        Scale.PROB: lambda: model.predict_proba(rows)[:, 1],
        Scale.LOGPROB: lambda: model.predict_log_proba(rows)[:, 1],
        Scale.LOGIT: lambda: model.decision_function(rows),
        Scale.PERCENT: lambda: 100.0 * model.predict_proba(rows)[:, 1],
    }[scale]()
    found = estimator.predict_proba(rows)
    np.testing.assert_allclose(found[:, 1], wanted(artifact, said)[0], rtol=0.0, atol=NEAR)
    assert np.array_equal(estimator.predict(rows), estimator.classes_[found.argmax(axis=1)])


def test_pairs_without_a_map_take_the_smallest_probabilities(imported: Importer) -> None:
    """One over a share of 5e-324 is infinite, here and in `apply`, and nobody is warned of it."""
    kept = class_map("one-vs-one platt")
    artifact = replace(kept, recalibrator=replace(kept.recalibrator, maps=()))
    rows = np.array([[1.0, 5e-324, 5e-324], [5e-324, 1.0, 0.0], [1e-310, 0.25, 0.75]])
    for found in (wanted_rows(artifact, rows), imported(artifact).Calibrated().predict_proba(rows)):
        np.testing.assert_allclose(found, rows, rtol=0.0, atol=1e-15)


def test_refuses_what_apply_refuses(imported: Importer) -> None:
    """Scores that are missing or out of range are a ValueError that counts them."""
    estimator = imported(one_map("platt")).Calibrated()
    with pytest.raises(ValueError, match=r"2 of 3 scores lie outside \[0.0, 1.0\]; the first is 1.5"):
        estimator.predict_proba([[0.5], [1.5], [-1.0]])
    with pytest.raises(ValueError, match="NaN"):
        estimator.predict_proba([[np.nan]])
    with pytest.raises(ValueError, match="3 features"):
        estimator.predict_proba([[0.1, 0.2, 0.3]])
    with pytest.raises(NotFittedError):
        imported(one_map("platt")).Calibrated(LogisticRegression()).predict_proba([[0.5]])


def test_pickles_copies_and_clones(imported: Importer) -> None:
    """A fitted estimator survives pickling and copying, and a clone is as new."""
    rows = np.random.default_rng(1).normal(size=(60, 2))
    estimator = imported(one_map("isotonic")).Calibrated(LogisticRegression()).fit(rows, rows[:, 0] > 0.0)
    for again in (pickle.loads(pickle.dumps(estimator)), copy.deepcopy(estimator)):  # noqa: S301 - our own
        assert np.array_equal(again.predict_proba(rows), estimator.predict_proba(rows))
    assert not hasattr(clone(estimator), "estimator_")


@pytest.mark.filterwarnings("ignore")
def test_estimator_checks_of_scikit_learn_pass_around_a_model(imported: Importer) -> None:
    """Every check passes for a map around a model, of one score and of two classes."""
    two = class_map("vector")
    rows = drawn(9, rows=300, classes=2)
    two = type(two)(fitted(ClassMethod.VECTOR, rows), two.fit, rows.classes)
    for artifact in (one_map("beta"), two):
        estimator = imported(artifact).Calibrated(GaussianNB())
        results = check_estimator(estimator, on_fail=None, on_skip=None)
        bad = [(one["check_name"], str(one["exception"])) for one in results if one["status"] == "failed"]
        assert bad == []
        assert sum(one["status"] == "passed" for one in results) >= 50


@pytest.mark.filterwarnings("ignore")
def test_estimator_checks_of_scikit_learn_pass_as_far_as_they_apply(imported: Importer) -> None:
    """Without a model every check passes but those whose rows are no scores, and these all fail for it."""
    results = check_estimator(
        imported(one_map("beta")).Calibrated(),
        expected_failed_checks=WITHOUT_ESTIMATOR,
        on_fail=None,
        on_skip=None,
    )
    bad = [(one["check_name"], str(one["exception"])) for one in results if one["status"] == "failed"]
    assert bad == []
    expected = [one for one in results if one["status"] == "xfail"]
    assert {one["check_name"] for one in expected} == set(WITHOUT_ESTIMATOR)
    for one in expected:
        assert "features, and a score is one column" in str(one["exception"]) or "lie outside" in str(
            one["exception"]
        )


@pytest.mark.parametrize(
    ("classes", "names"), [(("eel", "dog", "cat"), ("cat", "dog", "eel")), (("2", "0", "1"), (0.0, 1.0, 2.0))]
)
def test_classes_of_a_wrapped_model_are_found_by_name(
    imported: Importer, classes: tuple[str, ...], names: tuple[object, ...]
) -> None:
    """A model whose classes stand in another order, or are floats, is recalibrated class by class."""
    rows = np.random.default_rng(2).normal(size=(300, 2))
    labels = np.array(names)[np.digitize(rows[:, 0], [-0.5, 0.5])]
    artifact = class_map("vector", classes=classes)
    estimator = imported(artifact).Calibrated(LogisticRegression()).fit(rows, labels)
    order = [sorted(classes).index(one) for one in classes]
    expected = wanted_rows(artifact, estimator.estimator_.predict_proba(rows)[:, order])
    np.testing.assert_allclose(estimator.predict_proba(rows)[:, order], expected, rtol=0.0, atol=NEAR)


@pytest.mark.parametrize(
    ("positive", "labels", "place"),
    [
        ("false", [False, True], 0),
        ("0", [0.0, 1.0], 0),
        ("1", [1.0, 2.0], 0),
        ("1.0", [1, 2], 0),
        ("true", [0, 1], 1),
        ("01", ["01", "1"], 0),
        ("no", ["no", "yes"], 0),
        ("gone", [0, 1], 1),
    ],
)
def test_the_positive_class_of_a_wrapped_model_is_found_by_what_it_means(
    positive: str, labels: list[object], place: int, imported: Importer
) -> None:
    """Labels that are truths or floats have other names in the model: the other class was taken."""
    rows = np.random.default_rng(3).normal(size=(60, 2))
    artifact = replace(one_map("platt"), positive=positive)
    estimator = imported(artifact).Calibrated(LogisticRegression())
    estimator.fit(rows, np.array(labels)[(rows[:, 0] > 0.0).astype(int)])
    said = estimator.estimator_.predict_proba(rows)[:, place]
    found = estimator.predict_proba(rows)[:, place]
    np.testing.assert_allclose(found, wanted(artifact, said)[0], rtol=0.0, atol=NEAR)


def test_two_classes_on_logits_are_read_from_the_one_number_of_a_model(imported: Importer) -> None:
    """`decision_function` says of two classes by how much the second has more."""
    found = drawn(9, rows=300, classes=2)
    kept = class_map("vector", Scale.LOGIT)
    artifact = replace(
        kept, recalibrator=fitted(ClassMethod.VECTOR, found), classes=found.classes, columns=None
    )
    rows = np.random.default_rng(2).normal(size=(100, 2))
    estimator = imported(artifact).Calibrated(LogisticRegression()).fit(rows, rows[:, 0] > 0.0)
    more = estimator.estimator_.decision_function(rows)
    expected = wanted_rows(artifact, np.column_stack((np.zeros(100), more)))
    np.testing.assert_allclose(estimator.predict_proba(rows), expected, rtol=0.0, atol=NEAR)
