"""What the functions return: values that say what they are, in code, in a terminal and in a notebook."""

import html.parser
import inspect
import json
import math
import pickle
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure

import calibcli
from calibcli.names import ReportFormat
from calibcli.python.problems import said
from calibcli.show import text_of
from calibcli.stats.curves.reliability import SmoothCurve, smooth_curve
from calibcli.stats.table.grid import GridTable, Table
from html_pages import HOSTILE_GROUPS
from same_rows import drawn_rows

ROWS = drawn_rows(21, 800)
TWO = (ROWS["score"], ROWS["label"])


@pytest.fixture(scope="module")
def report() -> calibcli.Measured:
    """Return measures of all rows and of groups, an importance weight beside them."""
    return calibcli.measure(
        *TWO, metric=["ece", "bias", "brier", "kuiper"], by={"country": ROWS["country"]}, min_group_rows=50
    )


def test_measures_are_attributes_members_and_rows(report: calibcli.Measured) -> None:
    """The same estimate by every way to it, and a row of the table for each of each slice."""
    assert report.ece is report["ece"]
    assert list(report) == ["ece", "bias", "brier"]
    assert "ece" in report
    assert "ece" in dir(report)
    assert report.rows == 800
    frame = report.to_frame()
    assert (
        list(frame["slice"].unique()) == ["all", "country=UK", "country=US", "country=a%2Fb"]
        or len(frame) == 12
    )
    first = frame.iloc[0]
    interval = report.ece.interval
    assert interval is not None
    assert (first["measure"], first["value"], first["lower"], first["upper"]) == (
        "ece", report.ece.value, interval.lower, interval.upper,
    )  # fmt: skip
    assert first["confidence"] == 0.95
    assert frame["assumptions"].str.contains("rows are independent").all()
    assert (
        report.slices["country=US"].ece.value
        == frame.set_index(["slice", "measure"]).loc[("country=US", "ece"), "value"]
    )
    assert report.tests["kuiper"].p_value is not None
    assert report.p_value is None
    assert calibcli.measure(*TWO, metric="tests").p_value is not None


def test_representation_is_the_report_of_the_terminal(report: calibcli.Measured) -> None:
    """`repr` is what the command prints, without colour."""
    printed = text_of(report.report, ReportFormat.TABLE)
    assert f"{report!r}\n" == printed
    assert "\x1b" not in printed
    assert report.text(verbose=True) == text_of(report.report, ReportFormat.TABLE, verbose=True)


NAMED = ["ece", "smece", "bias", "brier", "kuiper"]


def test_many_scores_are_measured_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that large tables share out among threads gives the same report; the curve of all rows waits until
    somebody looks at it, and those of groups do not.
    """
    by = {"country": ROWS["country"]}
    few = calibcli.measure(*TWO, metric=NAMED, by=by)
    monkeypatch.setattr("calibcli.commands.measure._LARGE", 1)
    many = calibcli.measure(*TWO, metric=NAMED, by=by)
    first, *groups = (one.report.curve for one in (many, *many.slices.values()))
    assert first is not None
    assert first.drawn is not None
    assert all(one is not None and one.drawn is None for one in groups)
    assert many.to_json() == few.to_json()


def test_a_curve_that_waits_holds_the_counts_of_a_table_alone() -> None:
    """What was worked out for its cells took as much again, for as long as the result was kept."""
    curve = calibcli.measure(*TWO, memory="1K").report.curve
    assert curve is not None
    table = curve.drawn.args[0]  # type: ignore[union-attr]
    assert isinstance(table, GridTable)
    assert vars(table).keys() == {one.name for one in fields(table)}


class Tags(html.parser.HTMLParser):
    """Collects the elements of a fragment, with every text, and refuses unbalanced ones."""

    def __init__(self, fragment: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.keys: set[str] = set()
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(fragment)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that is opened."""
        self.names.add(tag)
        self.keys |= {key for key, _ in attrs}
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element without an end."""
        self.names.add(tag)
        self.keys |= {key for key, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        """Close the element that was opened last."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.texts.append(data)


def test_smooth_curves_are_drawn_when_somebody_looks_at_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers and text draw none, the document draws each once, and a copy has what the original has."""
    drawn: list[float] = []

    def counted(table: Table, **how: Any) -> SmoothCurve:
        drawn.append(how["bandwidth"])
        return smooth_curve(table, **how)

    monkeypatch.setattr("calibcli.stats.curves.reliability.smooth_curve", counted)
    found = calibcli.measure(*TWO, metric=["smece"], by={"country": ROWS["country"]}, min_group_rows=50)
    assert found.smece.interval is not None
    assert repr(found)
    assert len(found.slices) == 3
    assert not drawn
    first = found.to_json()
    along = len(drawn)
    assert along >= 4
    assert found.to_json() == pickle.loads(pickle.dumps(found)).to_json() == first  # noqa: S301 - made here
    assert len(drawn) == along


def test_notebook_shows_hostile_names_as_text() -> None:
    """Markup, scripts and control characters in names of groups and columns are letters and nothing else."""
    names = [*HOSTILE_GROUPS, "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>']
    group = np.array(names, object)[np.arange(800) % len(names)]
    hostile = {"<b>p</b>": ROWS["score"], "y": ROWS["label"], "</td><script>": group}
    requested = {"score": "<b>p</b>", "label": "y", "by": "</td><script>"}
    measured = calibcli.measure(
        hostile, metric=["ece", "bias", "brier", "smece"], min_group_rows=20, **requested
    )
    verdict = calibcli.verify(hostile, max_ece=0.1, **requested)
    for fragment in (measured._repr_html_(), verdict._repr_html_()):
        seen = Tags(fragment)
        assert seen.names <= {
            "div",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "svg",
            "title",
            "line",
            "circle",
            "b",
        }
        assert not {key for key in seen.keys if key.startswith("on") or key in ("src", "href")}
        assert any("<script>alert(1)</script>" in text for text in seen.texts)
        assert "\x1b" not in fragment
        assert "background:transparent" in fragment


def test_verdict_is_a_value_and_is_true_where_it_passed() -> None:
    """A gate that fails raises nothing, and `assert verdict` is no trap."""
    passed = calibcli.verify(*TWO, max_ece=0.3)
    failed = calibcli.verify(ROWS["score"], 1 - ROWS["label"], max_ece=0.05)
    unsure = calibcli.verify(*TWO, max_ece=float(passed.rules["max-ece"].value) + 0.001)
    assert [one.status for one in (passed, failed, unsure)] == ["pass", "fail", "inconclusive"]
    assert [one.passed for one in (passed, failed, unsure)] == [True, False, False]
    assert [bool(one) for one in (passed, failed, unsure)] == [True, False, False]
    lenient = calibcli.verify(*TWO, max_ece=float(passed.rules["max-ece"].value) + 0.001, inconclusive="pass")
    assert lenient.passed
    assert lenient.status == "inconclusive"
    assert failed.to_frame()[["slice", "rule", "outcome"]].to_numpy().tolist() == [["all", "max-ece", "fail"]]
    assert repr(failed).startswith("FAIL")
    grouped = calibcli.verify(*TWO, max_ece=0.3, by={"country": ROWS["country"]})
    assert set(grouped.groups) == {f"country={one}" for one in set(ROWS["country"])}


def test_state_counts_arrays_once(tmp_path: Path) -> None:
    """A gate that is asked again knows rows by their identities, and says what it holds without any."""
    requested = {"max_ece": 0.2, "state": tmp_path / "gate.json"}
    first = calibcli.verify(*TWO, row_id=np.arange(800), **requested)
    # The second half of them again, and as many new rows.
    score, label = (np.asarray(column) for column in TWO)
    more = (np.concatenate((score[400:], 1 - score[:400])), np.concatenate((label[400:], 1 - label[:400])))
    second = calibcli.verify(*more, row_id=np.arange(400, 1200), **requested)
    assert (first.report.state.rows, second.report.state.rows) == (800, 1200)
    held = calibcli.verify(**requested, row_id="row_id")
    assert held.status == second.status
    assert isinstance(calibcli.plot(tmp_path / "gate.json", kind="monitor"), Figure)
    with pytest.raises(calibcli.UsageProblem, match="batch without state"):
        calibcli.verify(*TWO, max_ece=0.2, batch="monday")


def test_comparisons_have_their_notes() -> None:
    """What the command notes of two scores, or of several, is `.notes` of the result."""
    score = ROWS["score"]
    columns = {"score": score, "inverted": 1 - score, "halved": score / 2, "label": ROWS["label"]}
    for names in (["score", "inverted"], ["score", "inverted", "halved"]):
        found = calibcli.compare(columns, score=names, label="label")
        (note,) = found.notes
        assert note.startswith("column 'inverted': the higher the score, the rarer label 1")
        assert "--" not in note


def test_baseline_may_be_a_report_in_memory(tmp_path: Path) -> None:
    """What `measure` returned, what was loaded and its file are one baseline."""
    before = calibcli.measure(*TWO, metric="ece")
    (tmp_path / "report.json").write_text(before.to_json())
    saved = calibcli.load(tmp_path / "report.json")
    assert isinstance(saved, calibcli.SavedReport)
    found = [
        calibcli.verify(*TWO, baseline=one, max_regression=0.2).to_dict()["rules"]
        for one in (before, saved, tmp_path / "report.json")
    ]
    assert found[0] == found[1] == found[2]


def test_a_verdict_is_as_approximate_as_the_report_that_it_compares_with() -> None:
    """The l2 of one score has an exact interval, that of three only an approximate one."""
    three, one = (
        calibcli.measure(np.resize(score, 600), np.arange(600) % 2, metric="l2")
        for score in ((0.3, 0.4, 0.6), 0.4)
    )
    for before, proven in ((three, False), (one, True)):
        asked = {"baseline": before, "max_regression": 0.3, "regression_metric": "l2"}
        (verdict,) = calibcli.verify(np.full(600, 0.5), np.arange(600) % 2, **asked).rules.values()
        assert verdict.finite_sample is proven


def test_loaded_report_has_the_numbers_of_the_one_that_was_saved(
    report: calibcli.Measured, tmp_path: Path
) -> None:
    """Estimates come back as they were, infinite ones included, and the document is unchanged."""
    path = tmp_path / "report.json"
    path.write_text(report.to_json())
    saved = calibcli.load(path)
    assert isinstance(saved, calibcli.SavedReport)
    assert saved.to_json() == report.to_json()
    assert {name: saved[name] for name in saved} == report.measures
    assert saved.status is None
    columns = ["slice", "measure"]
    ours, theirs = (one.to_frame().sort_values(columns, ignore_index=True) for one in (report, saved))
    pd.testing.assert_frame_equal(ours, theirs)
    certain = calibcli.measure([0.0, 1.0, 0.5], [1, 1, 0], metric="log_loss")
    path.write_text(certain.to_json())
    assert calibcli.load(path)["log_loss"].value == math.inf
    groups, segments = {"by": {"country": ROWS["country"]}}, {"on": {"device": ROWS["device"]}}
    for words in (
        {"max_ece": 0.3, **groups},
        {"max_ece": 0.001},
        {"max_ece": 0.1},
        {"max_ece": 0.1, "inconclusive": "pass"},
        {"max_segment_bias": 0.3, **segments},
    ):
        gate = calibcli.verify(*TWO, **words)
        path.write_text(gate.to_json())
        loaded = calibcli.load(path)
        assert isinstance(loaded, calibcli.SavedReport)
        assert (loaded.status, bool(loaded)) == (gate.status, gate.passed)
        ours, theirs = (
            one.to_frame().sort_values(["slice", "rule"], ignore_index=True) for one in (gate, loaded)
        )
        pd.testing.assert_frame_equal(ours, theirs)
    gate = calibcli.verify([0.0, 0.5] * 30, [1, 0] * 30, rule="log_loss<=0.7")
    path.write_text(gate.to_json())
    assert calibcli.load(path).lines() == gate.lines()  # type: ignore[union-attr]
    damaged = report.to_dict()
    damaged["measures"]["ece"]["confidence"] = 7  # type: ignore[index]
    path.write_text(json.dumps(damaged))
    with pytest.raises(
        calibcli.DocumentProblem, match=r"report.json: was edited .* \$.measures.ece.confidence"
    ):
        calibcli.load(path)


def test_every_sort_of_picture_is_drawn(tmp_path: Path) -> None:
    """They come from arrays, results or a state, as figures that pyplot does not know."""
    fitted = calibcli.fit(*TWO)
    fresh = drawn_rows(22, 250)
    pair, state = (fresh["score"], fresh["label"]), tmp_path / "gate.json"
    calibcli.verify(*pair, max_ece=0.2, state=state)
    generator = np.random.default_rng(1)
    matrix = generator.dirichlet([2.0, 1.0, 1.0], 250)
    label = (matrix.cumsum(1) > generator.random((250, 1))).argmax(1)
    # Others of one score and one table take the same way; docs/pictures.md draws each.
    plain = ["smooth", "cumulative"]
    figures = {
        **{kind: calibcli.plot(*pair, kind=kind) for kind in plain},
        "map": calibcli.plot(fitted, kind="map"),
        "compare": calibcli.plot(
            {"old": fresh["score"], "new": fresh["other"], "y": fresh["label"]},
            score=["old", "new"],
            label="y",
        ),
        "groups": calibcli.plot(*pair, by=fresh["device"]),
        "trend": calibcli.plot(*pair, by=fresh["device"], kind="trend"),
        "classes": calibcli.plot(matrix, label, view="one-vs-rest"),
        "segments": calibcli.plot(*pair, on=fresh["device"], min_segment_rows=30),
        "heatmap": calibcli.plot(
            *pair, on={"a": fresh["device"], "b": fresh["score"] > 0.5}, kind="heatmap", min_segment_rows=30
        ),
        "monitor": calibcli.plot(state, kind="monitor"),
    }
    assert all(isinstance(one, Figure) for one in figures.values())
    again = calibcli.plot(calibcli.measure(*pair, metric="ece"), kind="binned")
    assert isinstance(again, Figure)


def test_picture_on_file_is_the_one_a_notebook_shows(tmp_path: Path) -> None:
    """`path` writes the bytes that a notebook asks the figure for, and no file is replaced unasked."""
    path = tmp_path / "picture.png"
    figure = calibcli.plot(*TWO, kind="binned", path=path)
    assert path.read_bytes() == figure._repr_png_()
    with pytest.raises(calibcli.OutputProblem, match="exists already"):
        calibcli.plot(*TWO, kind="binned", path=path)
    with pytest.raises(calibcli.UsageProblem, match="a picture is png, svg or pdf"):
        calibcli.plot(*TWO, path=tmp_path / "picture.gif")
    plain = path.read_bytes()
    # As styles and packages for plotting set them, in a program that has pictures of its own.
    settings = {
        "font.weight": "bold",
        "lines.solid_capstyle": "round",
        "axes.autolimit_mode": "round_numbers",
    }
    with mpl.rc_context({**settings, "axes.labelpad": 20.0, "xtick.labeltop": True}):
        calibcli.plot(*TWO, kind="binned", path=path, force=True)
        assert mpl.rcParams["font.weight"] == "bold"
    assert path.read_bytes() == plain


class Elsewhere:
    """A frame that another machine would have to work out, or a tensor that is on another device."""

    columns = ("p", "y")
    ndim = 2

    def __array__(self) -> np.ndarray:  # type: ignore[type-arg]
        msg = "on another device"
        raise RuntimeError(msg)


class Column:
    """As Spark has them: whatever is asked of it is a column, which is neither true nor false."""

    def __getattr__(self, name: str) -> "Column":
        if name.startswith("__"):
            raise AttributeError(name)
        return Column()

    def __eq__(self, other: object) -> "Column":  # type: ignore[override]
        return self

    def __bool__(self) -> bool:
        raise ValueError

    __hash__ = None  # type: ignore[assignment]


REFUSED = [
    (lambda: calibcli.measure([0.5]), "scores without labels"),
    (lambda: calibcli.measure([0.5, 0.4], [1]), "label has 1 values for 2 rows"),
    (lambda: calibcli.measure([0.5], [1], score="p"), "score='p' names a column, and arrays have none"),
    (lambda: calibcli.measure([0.5], [1], by="country"), "by='country' names a column"),
    (lambda: calibcli.measure([0.5], ["a"], label="y"), "label='y' names a column"),
    (lambda: calibcli.measure("p.csv", [1]), "labels are values that stand beside arrays"),
    (lambda: calibcli.measure("p.csv", weight=[1.0]), "an array for weight, and files for the rows"),
    (lambda: calibcli.measure([0.5], [1], jobs=0), "jobs=0"),
    (lambda: calibcli.measure([0.5], [1], seed=1.5), "seed=1.5"),
    (lambda: calibcli.measure([0.5], [1], memory="much"), "'much' is not an amount of memory"),
    (lambda: calibcli.measure([0.5], [1], encoding="latin-1"), "encoding='latin-1' is for files"),
    (lambda: calibcli.measure([0.5], [1], engine="spark"), "engine='spark' is for files"),
    (lambda: calibcli.measure([0.5], [1], classes="a,b"), "classes, one_class, view and on_sum"),
    (lambda: calibcli.measure({"p": [0.5], "y": [1, 0]}, score="p", label="y"), "'y' has 2 values"),
    (lambda: calibcli.measure(3, [1]), "rows: int is no array, and no frame"),
    (lambda: calibcli.measure(None, [1]), "rows=None"),
    (lambda: calibcli.measure(iter([0.5]), [1]), "rows: list_iterator is no array, and no frame"),
    (lambda: calibcli.measure(Elsewhere(), score="p", label="y"), "Elsewhere is no array"),
    (lambda: calibcli.measure([0.5], pd.DataFrame({"y": [1]})), "an array of shape (1, 1), and one of"),
    (lambda: calibcli.measure(Column(), Column()), "Column is no array, and no frame"),
    (lambda: calibcli.apply(calibcli.fit(*TWO), Elsewhere()), "Elsewhere is no array, and no frame"),
    (lambda: calibcli.fit(*TWO).predict(Column()), "scores: Column cannot be read as a column"),
    (lambda: calibcli.measure([0.5], Elsewhere()), "label: Elsewhere cannot be read as a column: on"),
    (lambda: calibcli.measure({"p": 0.5, "y": [1]}, score="p", label="y"), "p: float cannot be read"),
    (lambda: calibcli.measure({0: [0.5], 1: [1]}, score=0, label="1"), "score=0"),
    (lambda: calibcli.measure([0.5], [1], bounds="no"), "bounds='no'"),
    (lambda: calibcli.measure([0.5], [1], confidence="0.9"), "confidence='0.9'"),
    (lambda: calibcli.measure([0.5], [1], artifact=[1, 2]), "artifact=[1, 2]"),
    (lambda: calibcli.segments([0.5], [1], on=["a"], depth=5), "depth=5"),
    (lambda: calibcli.verify([0.5], [1], max_ece=pd.Series([0.1, 0.2])), "max_ece=<Series>"),
    (lambda: calibcli.measure([[0.5, 0.5], [1.0]], [0, 1]), "probs: list cannot be read as rows of numbers"),
    (lambda: calibcli.measure([["0.5", "0.5"]], [0]), "probs: an array of <U3, which are no probabilities"),
    (lambda: calibcli.measure(np.array([["1", 0.0]], object), [0]), "probs: an array of str, which are no"),
    (lambda: calibcli.measure(pd.DataFrame({"a": ["1"], "b": [0.0]}), ["a"]), "string, not numbers"),
    (lambda: calibcli.measure([[0.5], [0.4]], [0, 1]), "(2, 1), and several classes have a column each"),
    (lambda: calibcli.verify([0.5], [1]), "no rule to verify"),
    (lambda: calibcli.verify(max_ece=0.1), "no rows, and no state that holds some"),
    (lambda: calibcli.fit([0.5], [1], candidate=["platt"]), "candidate without method='auto'"),
    (lambda: calibcli.fit([0.5], [1], multiclass="vector"), "multiclass, min_class_rows and output_sum"),
    (lambda: calibcli.compare([0.5], [1]), "nothing to compare with"),
    (lambda: calibcli.plot([0.5], [1], kind="pie"), "kind='pie': there is no such choice"),
    (lambda: calibcli.apply(calibcli.fit(*TWO), [0.5], name="p"), "name='p' names a column, and arrays"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message[:40] for _, message in REFUSED])
def test_what_cannot_be_meant_is_refused(call, message: str) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    """Every contradiction is a UsageProblem in the words of Python."""
    with pytest.raises(calibcli.UsageProblem) as caught:
        call()
    assert message in caught.value.message
    assert "--" not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("word", ["vector", "dirichlet"])
def test_a_method_of_several_classes_is_named(word: str) -> None:
    """As on the command line: it is another keyword."""
    with pytest.raises(calibcli.UsageProblem) as caught:
        calibcli.fit([[0.5, 0.5]], [1], method=word)
    meant = {"dirichlet": "matrix"}.get(word, word)
    assert caught.value.hint == f"of several classes it is multiclass={meant!r}, beside probs"


@pytest.mark.parametrize("name", ["measure", "fit", "verify", "compare", "segments", "drift", "plot"])
def test_no_value_of_a_keyword_is_a_riddle(name: str) -> None:
    """Whatever stands behind a keyword, the error is ours: here at the latest that there is no file."""
    function = getattr(calibcli, name)
    needed = {"verify": {"max_ece": 0.1}, "drift": {"new": "a.csv"}, "segments": {"on": "g"}}.get(name, {})
    strange = (object(), 1 + 2j, {"a": object()}, b"x", [None], np.arange(2.0), 10**30, "x")
    for keyword in list(inspect.signature(function).parameters)[2:]:
        for value in strange:
            with pytest.raises(calibcli.CalibcliError):
                function("nowhere.csv", **needed | {keyword: value})


def test_traceback_shows_the_hint() -> None:
    """What to do is a note of the exception, once, with options as keywords."""
    with pytest.raises(calibcli.InputProblem) as caught:
        calibcli.measure([-2.0, 3.0], [0, 1])
    assert (
        caught.value.hint
        == "these are no probabilities: pass scale='logit' for logits, or name another column"
    )
    assert caught.value.__notes__ == [caught.value.hint]
    fitted = calibcli.fit(*TWO)
    with pytest.raises(calibcli.InputProblem) as caught:
        calibcli.apply(fitted, [2.0])
    assert len(caught.value.__notes__) == 1
    # As from the processes of a pool.
    sent = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - made here
    assert (sent.hint, sent.__notes__) == (caught.value.hint, caught.value.__notes__)


def test_frames_of_other_makes_are_read_through_arrow() -> None:
    """A relation of DuckDB and a frame of narwhals are frames, though nobody told calibcli of either."""
    duckdb = pytest.importorskip("duckdb")
    narwhals = pytest.importorskip("narwhals")
    frame = pd.DataFrame({"p": ROWS["score"], "y": ROWS["label"]})
    expected = calibcli.measure(*TWO, metric="ece").ece
    relation = duckdb.from_df(frame).filter("p >= 0")
    for one in (relation, narwhals.from_native(frame)):
        assert calibcli.measure(one, score="p", label="y", metric="ece").ece == expected


def test_labels_in_hints_are_texts_of_python() -> None:
    """A hint of a label, of names of classes and of a file can be pasted: they are quoted."""
    with pytest.raises(calibcli.InputProblem) as caught:
        calibcli.measure([0.2, 0.7], ["stay", "churn"])
    assert (
        caught.value.hint
        == "pass positive='churn' or positive='stay': the label whose probability the score is"
    )
    with pytest.raises(calibcli.InputProblem) as caught:
        calibcli.measure([0, 1, 1], [0.2, 0.7, 0.9])
    assert caught.value.hint == "are score and label swapped? Try score='label', label='score'"
    assert said("--classes a,b,c names the classes") == "classes='a,b,c' names the classes"
    assert said("--max-ece 0.05 --confidence 0.99, or") == "max_ece=0.05 and confidence=0.99, or"
    assert said("add --artifact cal.json") == "add artifact='cal.json'"
    assert said("as --positive says") == "as positive says"
    assert said("pass --delimiter tab") == "pass delimiter='tab'"
    assert said("pass --engine-address tcp://HOST:8786, or") == "pass engine_address='tcp://HOST:8786', or"
    inverted = calibcli.measure(1 - ROWS["score"], ROWS["label"], metric="brier").notes
    assert any("? positive names the value that is label 1" in note for note in inverted)


@pytest.mark.parametrize("name", ["my--jobs 4.csv", "--scale logit", "x--scale logit"])
def test_what_a_user_wrote_is_shown_as_it_was_written(tmp_path: Path, name: str) -> None:
    """Dashes in names of files and columns are no options, and a command in a hint is for a shell."""
    assert said(f"a.csv: there is no column {name!r}; pass --by COL") == (
        f"a.csv: there is no column {name!r}; pass by='COL'"
    )
    path = tmp_path / f"my{name}.csv"
    with pytest.raises(calibcli.InputProblem, match=f"{path}: there is no such file"):
        calibcli.measure(path, score="s", label="y")
    assert (
        said("write one with `calibcli measure ... --json`") == "write one with `calibcli measure ... --json`"
    )


def test_commands_in_sentences_stand_in_backticks() -> None:
    """So that Python shows them as they are typed, and not with keywords in the place of their options."""
    assert said("name two scores (-s a -s b)") == "name two scores (score=['a', 'b'])"
    assert said("`calibcli measure -s a -s b --json`") == "`calibcli measure -s a -s b --json`"
    package = Path(calibcli.__file__).parent
    commands = "apply|compare|drift|export|fit|inspect|measure|plan|plot|report|segments|verify"
    sentence = re.compile(rf"""["'][^"'`]*(?:`[^"'`]*`[^"'`]*)*calibcli (?:{commands}) [^"'`]*--""")
    found = [
        line.strip()
        for room in ("commands", "data", "documents", "options", "python", "stats")
        for path in (package / room).rglob("*.py")
        for line in path.read_text().splitlines()
        if "calibcli" in line and sentence.search(line)
    ]
    assert found == []


def test_a_lazy_frame_is_worked_out_once() -> None:
    """Rows of polars that are still to be computed are computed once and measured as any others."""
    looked = []

    def seen(frame: pl.DataFrame) -> pl.DataFrame:
        looked.append(frame.height)
        return frame

    frame = pl.DataFrame({"score": [0.2, 0.7, 0.4], "label": [0, 1, 1]})
    lazy = frame.lazy().map_batches(seen)
    requested = {"score": "score", "label": "label", "metric": "brier"}
    assert calibcli.measure(lazy, **requested).brier == calibcli.measure(frame, **requested).brier
    fitted = calibcli.fit([0.2, 0.7, 0.4, 0.5], [0, 1, 1, 0])
    assert calibcli.apply(fitted, lazy).equals(calibcli.apply(fitted, frame))
    assert looked == [3, 3]


@pytest.mark.parametrize("meaning", ["importance", "frequency"])
@pytest.mark.parametrize(
    "asked",
    [{"max_ece": 0.05}, {"rule": "log_loss<=0.9"}, {"max_ece": 0.1, "by": "group"}, {"rule": "brier<=0.3"}],
)
def test_a_row_of_weight_0_is_no_row(asked: dict[str, object], meaning: str) -> None:
    """Not one of `--min-rows`, nor a value of the score, a loss that could be suffered, or a group."""
    rng = np.random.default_rng(3)
    rows = {
        "score": np.append(rng.choice([0.1, 0.4, 0.8], 300), np.linspace(1e-6, 0.99, 90)),
        "label": np.append(rng.random(300) < 0.4, np.ones(90, bool)),
        "weight": np.append(rng.integers(1, 4, 300), np.zeros(90, int)),
        "group": np.append(rng.integers(0, 2, 300), np.repeat([1, 2], 45)),
    }
    kept = {name: column[:300] for name, column in rows.items()}
    named = {"score": "score", "label": "label", "weight": "weight", "weights_are": meaning}
    with_them, without = (calibcli.verify(one, **named, **asked).to_dict() for one in (rows, kept))
    for part in ("rules", "table", "groups", "answer"):
        assert with_them.get(part) == without.get(part)


def test_raw_scores_are_measured_beside_an_artifact_only() -> None:
    """Without one `raw=True` would change nothing, and is refused."""
    rows = {"score": [0.2, 0.7, 0.9, 0.4], "label": [0, 1, 1, 0]}
    with pytest.raises(calibcli.UsageProblem, match="raw=True without an artifact"):
        calibcli.measure(rows, raw=True)
