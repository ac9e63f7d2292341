"""What `import calibcli` offers, and what it costs."""

import inspect
import math
import re
import subprocess
import sys

import pytest

import calibcli
from calibcli.names import ClassMeasure, MeasureName
from calibcli.stats.measures import Estimate

FUNCTIONS = ("apply", "compare", "drift", "fit", "load", "measure", "plot", "segments", "verify")
NAMES = [
    "CalibcliError",
    "Compared",
    "DocumentProblem",
    "Drifted",
    "EmptyTable",
    "InputProblem",
    "Measured",
    "NotConverged",
    "OutputProblem",
    "Ranked",
    "Recalibrator",
    "SavedReport",
    "Segmented",
    "UsageProblem",
    "Verified",
    "__version__",
    *FUNCTIONS,
]


def test_public_names_are_these() -> None:
    """Nothing else is public, and tab completion shows the same."""
    assert calibcli.__all__ == NAMES
    assert dir(calibcli) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_there(name: str) -> None:
    """Each is what it is called, with a docstring."""
    found = getattr(calibcli, name)
    assert getattr(found, "__name__", "__version__") == name
    assert found.__doc__


def test_another_name_is_refused() -> None:
    """A typing error is an AttributeError, as of any module."""
    with pytest.raises(AttributeError, match="'measur'"):
        _ = calibcli.measur


def test_import_loads_the_errors_and_nothing_else() -> None:
    """A fresh interpreter that imports calibcli holds three modules more, none of them from elsewhere."""
    code = (
        "import sys; before = set(sys.modules); import calibcli; "
        "print(*sorted(set(sys.modules) - before), sep='\\n')"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["calibcli", "calibcli.errors", "calibcli.version"]


def test_arrays_are_measured_without_pandas_and_scipy() -> None:
    """Lists and arrays do not pay for what they do not need, such as maps and several classes."""
    code = (
        "import sys, numpy as np, calibcli\n"
        "s = np.linspace(0.05, 0.95, 200); y = (np.arange(200) % 3 == 0)\n"
        "calibcli.measure(s, y, by=['a', 'b'] * 100); calibcli.measure(s.tolist(), y.tolist())\n"
        "assert 'calibcli.python.recalibrator' not in sys.modules, 'maps'\n"
        "assert 'calibcli.stats.measures.classes' not in sys.modules, 'several classes'\n"
        "calibcli.verify(s, y, max_ece=0.5)\n"
        "print([one for one in ('pandas', 'scipy', 'matplotlib', 'polars') if one in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_every_keyword_is_documented() -> None:
    """The docstring of each function has a line for each of its keywords."""
    for name in FUNCTIONS:
        found = getattr(calibcli, name)
        text = inspect.getdoc(found) or ""
        assert [key for key in inspect.signature(found).parameters if f"\n    {key}: " not in text] == []
        assert "Returns:" in text
        assert "Raises:" in text


def test_a_docstring_offers_what_the_function_takes() -> None:
    """Of an option whose values differ from function to function each lists its own."""
    offered = {name: inspect.getdoc(getattr(calibcli, name)) or "" for name in FUNCTIONS}
    for name, text in offered.items():
        assert '"null"' not in text or name == "apply", name
        assert '"pairwise"' not in text or name == "compare", name
    fit = " ".join(offered["fit"].split())
    assert 'base: Method that scaling-binning bins: "platt", ' in fit
    assert not re.search(r'binning: [^:]*: [^:]*"atoms"', fit)
    assert not re.search(r'on_sum: [^:]*: [^:]*"accept"', fit)


def test_no_measure_hides_behind_an_attribute() -> None:
    """`report.NAME` is the measure for every name of one."""
    for name in (*MeasureName, *ClassMeasure):
        assert not hasattr(calibcli.Measured, name.value)


def test_a_value_is_a_float_where_there_is_none_too() -> None:
    """NaN, as docs/python.md says."""
    assert math.isnan(calibcli.measure([0.1, 0.4], [0, 0], metric="auroc").auroc.value)


def test_a_measure_answers_to_every_name_that_it_is_asked_for_by() -> None:
    """What `metric` takes finds its result; it stands in it by one name."""
    scores, labels = [0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]
    found = calibcli.measure(scores, labels, metric="auc,nll,O/E")
    assert list(found) == ["auroc", "log_loss", "oe"]
    assert found["auc"] == found["C-index"] == found.roc_auc == found.auroc
    assert found["nll"] == found.log_loss
    assert "O/E" in found
    assert [one for one in ("slope", "ks", 3) if one in found] == []
    both = calibcli.compare(
        {"a": scores, "b": scores, "y": labels}, score=["a", "b"], label="y", metric="nll"
    )
    assert both["nll"] == both["log_loss"]
    assert [one in both for one in ("nll", "log_loss", "auc", 3)] == [True, True, False, False]
    for result in (found, both):
        with pytest.raises(KeyError, match="there are"):
            result[3]


def test_a_result_can_be_copied_and_pickled() -> None:
    """A report answers for measures alone when asked for other attributes."""
    import copy
    import pickle

    report = calibcli.measure([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1], metric="ece")
    assert isinstance(report.ece, Estimate)
    for other in (copy.deepcopy(report), pickle.loads(pickle.dumps(report))):  # noqa: S301 - made above
        assert other.to_json() == report.to_json()
        assert other == report != calibcli.measure([0.1, 0.4, 0.6], [0, 1, 0], metric="ece")
    with pytest.raises(AttributeError, match="'brier' was not measured; there are ece"):
        _ = report.brier
    with pytest.raises(KeyError, match="there are ece"):
        report["brier"]
    with pytest.raises(KeyError, match="'ks' is a test"):
        calibcli.measure([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])["ks"]
