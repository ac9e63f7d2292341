"""Artifacts survive the disk, and nothing that is not an artifact passes for one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibcli
from calibcli.documents.artifact import Artifact, FitRecord, artifact_text, read_any_map, read_artifact
from calibcli.documents.sealed import document_of, sealed, sealed_text
from calibcli.documents.summary import read_summary
from calibcli.errors import DocumentProblem, InputProblem
from calibcli.names import DocumentKind
from calibcli.stats.table import ScoreTable
from published import Place, changed, check, in_turn, places, replaced, validator

Fit = Callable[..., Artifact]
# What older artifacts do not say.
MAY_LACK = ("base_rate", "score_quantiles")


def reread(content: bytes | str, folder: Path) -> Artifact:
    """Write a file and read it as an artifact."""
    path = folder / "cal.json"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_artifact(path)


def test_artifact_survives_the_disk(artifact: Artifact, tmp_path: Path) -> None:
    """What is read is what was written, and would be written again byte for byte."""
    text = artifact_text(artifact)
    restored = reread(text, tmp_path)
    assert restored == artifact
    assert artifact_text(restored) == text
    scores = np.linspace(0, 1, 1013)
    expected = artifact.recalibrator.predict(scores)
    assert restored.recalibrator.predict(scores).tobytes() == expected.tobytes()


def test_every_kind_fits_the_published_schema(artifact: Artifact) -> None:
    """The JSON Schema accepts every artifact that is written."""
    check(json.loads(artifact_text(artifact)), "artifact")


def test_a_member_more_or_less_is_refused(artifact: Artifact, tmp_path: Path) -> None:
    """By the reader with its place, and by the schema; what all kinds have in common is tried of one."""
    document = json.loads(artifact_text(artifact))
    for path in places(document, one_of=("bins",)):
        own = path[0] in {"parameters", "bins", "guarantee"} or document["method"] == "platt"
        if isinstance(path[-1], int) or "options" in path or not own:
            continue
        less, more = changed(document, path), changed(document, path, surprise=1)
        for damaged, said in ((less, "has no"), (more, "unknown key")):
            if said == "unknown key" or path[-1] not in MAY_LACK:
                assert not validator(DocumentKind.ARTIFACT).is_valid(damaged), path
                # What is sealed has a digest again.
                if damaged != less or path != ("digest",):
                    with pytest.raises(DocumentProblem, match=said):
                        reread(sealed_text(damaged), tmp_path)


def test_weighted_fit_is_written_and_read(tmp_path: Path, fit_kind: Fit) -> None:
    """Importance weights take the guarantee away, and the artifact still holds together."""
    artifact = fit_kind("histogram", weighted=True)
    assert reread(artifact_text(artifact), tmp_path) == artifact
    assert json.loads(artifact_text(artifact))["guarantee"] is None


def test_record_states_the_fit(fit_kind: Fit) -> None:
    """Rows, positives, digest, losses, mean variance and notes are those of the fit."""
    table = ScoreTable.from_rows(np.array([0.0, 0.5, 0.5, 1.0]), np.array([False, True, False, True]))
    artifact = fit_kind("isotonic")
    record = FitRecord.of(artifact.recalibrator, table, options={}, losses=(0.25, 0.125))
    assert (record.rows, record.positive, record.table) == (4, 2, "exact")
    g = artifact.recalibrator.predict(np.array([0.0, 0.5, 0.5, 1.0]))
    assert record.mean_variance == pytest.approx(float(np.mean(g * (1 - g))), abs=1e-15)
    assert artifact.fit.notes[-1] == "A note: é."
    assert artifact.to_dict()["fit"]["loss_before"] == "inf"  # type: ignore[index]


def test_cut_short_file_is_said_to_be_cut_short(artifact: Artifact, tmp_path: Path) -> None:
    """A file cut at any 50th byte is one line with the file, never another exception."""
    content = artifact_text(artifact).encode()
    for length in range(0, len(content) - 2, 50):
        with pytest.raises(DocumentProblem) as problem:
            reread(content[:length], tmp_path)
        assert problem.value.message.startswith(str(tmp_path / "cal.json"))
        assert "\n" not in problem.value.message
        assert (
            length == 0
            or "ends too early, at line" in problem.value.message
            or "line" in problem.value.message
        )


def test_an_artifact_may_not_say_its_base_rate_or_where_scores_lay(
    artifact: Artifact, tmp_path: Path
) -> None:
    """As older ones do not; what is written again says no more."""
    document = json.loads(artifact_text(artifact))
    assert 0.0 < document["fit"].pop("base_rate") < 1.0
    assert len(document["fit"].pop("score_quantiles")) == 11
    document = sealed(document)
    assert json.loads(artifact_text(reread(sealed_text(document), tmp_path))) == document
    check(document, "artifact")


@pytest.mark.untraced
@in_turn
def test_any_replaced_value_is_refused_or_fits_the_schema(
    artifact: Artifact, tmp_path: Path, every: int
) -> None:
    """Whatever stands in place of a value ends in a DocumentProblem, or in an artifact the schema allows."""
    refused = accepted = 0
    for path, _, damaged in replaced(artifact.to_dict(), every):
        try:
            predicted = reread(sealed_text(damaged), tmp_path).recalibrator.predict(np.linspace(0, 1, 11))
        except DocumentProblem:
            refused += 1
        else:
            accepted += 1
            assert np.all((predicted >= 0) & (predicted <= 1)), path
            assert validator(DocumentKind.ARTIFACT).is_valid(sealed(damaged)), path
    assert refused > 5 * accepted


@pytest.mark.parametrize(
    ("path", "value", "place", "complaint"),
    [
        (("bins", 0, "value"), 0.123, "$.bins[0].value", "is 0.123, but the rest of the document makes it"),
        (("increasing",), None, "$.increasing", "is null, but the rest of the document makes it"),
        (("guarantee", "tail", "value"), 0.5, "$.guarantee.tail.value", "makes it 0.57"),
        (("guarantee", "rows"), 121, "$.guarantee.rows", "makes it 120"),
        (("fit", "mean_variance"), 0.3, "$.fit.mean_variance", "should be a number in [0, 0.25]"),
        (("fit", "table_digest"), "sha256:abc", "$.fit.table_digest", "64 hexadecimal digits"),
        (("fit", "table"), "graph", "$.fit.table", "one of exact, grid"),
        (("fit", "loss_after"), "-inf", "$.fit.loss_after", "should be a finite number"),
        (("fit", "notes"), ["\ud800"], "$.fit.notes[0]", "half surrogates"),
        (("fit", "options"), {"bins": [1]}, "$.fit.options.bins", "is an array, should be a string"),
        (("input", "scale"), "nats", "$.input.scale", "should be one of prob, logit, logprob, percent"),
        (("input", "columns"), [], "$.input.columns", "has 0 elements, should have 1"),
        (("input", "columns"), ["a", "b"], "$.input.columns", "has 2 elements, should have 1"),
        (("method",), "magic", "$.method", 'is "magic", should be one of identity'),
        (
            ("parameters", "values", 2),
            "abc",
            "$.parameters.values[2]",
            'is "abc", should be a number in [0, 1]',
        ),
    ],
)
def test_inconsistent_artifact_is_refused_with_its_place(
    path: Place, value: object, place: str, complaint: str, *, tmp_path: Path, fit_kind: Fit
) -> None:
    """The message says which value is wrong and what it should be."""
    document = changed(json.loads(artifact_text(fit_kind("histogram"))), path, value)
    with pytest.raises(DocumentProblem) as problem:
        reread(sealed_text(document), tmp_path)
    assert problem.value.path == f"{tmp_path / 'cal.json'}: {place}"
    assert complaint in problem.value.detail


def test_statements_may_be_worded_differently(tmp_path: Path, fit_kind: Fit) -> None:
    """An artifact whose guarantee another version phrased otherwise is still readable."""
    document = json.loads(artifact_text(fit_kind("histogram")))
    document["guarantee"]["tail"]["statement"] = "As it was said before."
    document["guarantee"]["tail"]["value"] *= 1 + 1e-15
    assert reread(sealed_text(document), tmp_path) == fit_kind("histogram")


@pytest.mark.parametrize(
    ("content", "complaint", "hint"),
    [
        (b"", "is empty", "write it again"),
        (b"\n ", "is empty", "write it again"),
        (b"{", "ends too early, at line 1, column 2", "cut short"),
        (
            b"score,label\n0.1,0\n",
            "is no artifact (not JSON: Expecting value at line 1,",
            "calibcli fit",
        ),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a pointer of Git LFS", "git lfs pull"),
        (b"<<<<<<< HEAD\n{}\n", "holds two documents that Git could not merge", "one of them whole"),
        (b"PAR1\xff\xfe", "is no artifact (not a text file", "name what `calibcli fit` wrote"),
        (b"[]", "is an array, should be an object", None),
        (b"3", "is 3, should be an object", None),
        (b"{}", "has no 'schema'", "calibcli fit"),
        (b'{"schema": 1}', "$.schema: is 1, should be a string", None),
        (b'{"schema": "calibcli.report/1"}', "is 'calibcli.report/1', should be", "calibcli fit"),
        (b'{"schema": "calibcli.artifact/3"}', "is 'calibcli.artifact/3', and calibcli", "upgrade"),
        (b'{"schema": "calibcli.artifact/1"}', "has no 'method'", None),
        (b'{"schema": NaN}', "holds NaN, which JSON does not have", None),
        (b'{"schema": -Infinity}', "holds -Infinity", None),
        (b'{"a": 1, "a": 2}', 'repeats the key "a"', None),
        (b'{"a": ' + b"9" * 5000 + b"}", "too many digits", None),
        (b"[" * 100_000, "nested too deeply", None),
        (b'{"a":' * 100_000, "nested too deeply", None),
    ],
)
def test_other_files_are_refused_in_words(
    content: bytes, complaint: str, hint: str | None, *, tmp_path: Path
) -> None:
    """What is not an artifact is told apart: empty, cut short, another format, another document."""
    with pytest.raises(DocumentProblem) as problem:
        reread(content, tmp_path)
    assert complaint in problem.value.message
    assert hint is None or hint in str(problem.value.hint)


def test_byte_order_mark_is_forgiven(tmp_path: Path, fit_kind: Fit) -> None:
    """An editor that puts a byte order mark in front does no harm."""
    text = artifact_text(fit_kind("platt"))
    assert reread(b"\xef\xbb\xbf" + text.encode(), tmp_path) == fit_kind("platt")


def test_artifact_too_long_to_be_read_is_not_written(fit_kind: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that says how long it is and what to do; the longest that can be read is written."""
    text = artifact_text(fit_kind("isotonic"))
    monkeypatch.setattr("calibcli.documents.artifact.MOST_BYTES", len(text))
    assert artifact_text(fit_kind("isotonic")) == text
    monkeypatch.setattr("calibcli.documents.artifact.MOST_BYTES", len(text) - 1)
    with pytest.raises(InputProblem, match="the artifact of this isotonic fit takes 1 MiB") as problem:
        artifact_text(fit_kind("isotonic"))
    assert "leave out --exact" in str(problem.value.hint)


@pytest.mark.parametrize(("kind", "path"), [("platt", ()), ("scaling-binning", ("base_parameters",))])
def test_more_limited_rows_than_rows_are_refused(kind: str, path: tuple[str, ...], fit_kind: Fit) -> None:
    """A record cannot count more rows than there were."""
    where = ("parameters", *path, "limited_rows")
    document = changed(json.loads(artifact_text(fit_kind(kind))), where, 121)
    with pytest.raises(
        DocumentProblem, match=r"limited_rows: is 121, should be a whole number between 0 and 120"
    ):
        Artifact.from_dict(document_of(document))


FROZEN = Path(__file__).with_name("frozen")
EXPECTED = json.loads((FROZEN / "predictions.json").read_text())
FROZEN_2 = Path(__file__).with_name("frozen_2")
LATER = json.loads((FROZEN_2 / "predictions.json").read_text())


@pytest.mark.parametrize(
    ("folder", "expected", "method"),
    [
        (folder, one, name)
        for folder, one in ((FROZEN, EXPECTED), (FROZEN_2, LATER))
        for name in one["predictions"]
    ],
)
def test_frozen_artifact_predicts_as_it_did(folder: Path, expected: Any, method: str) -> None:
    """An artifact of an earlier schema gives what it gave when written; of version 2, without a note."""
    artifact = read_artifact(folder / f"{method}.json")
    predicted = artifact.recalibrator.predict(np.array(expected["scores"]))
    # exp and log may differ in the last bits between processors.
    np.testing.assert_allclose(predicted, expected["predictions"][method], rtol=1e-12, atol=0)
    assert artifact.doubts == () or folder is FROZEN


@pytest.mark.parametrize("name", ["groups", "temperature", "least", "identity"])
def test_frozen_maps_of_version_2_are_read(name: str) -> None:
    """Of groups and of classes; written again they are the same document."""
    found = read_any_map(str(FROZEN_2 / f"{name}.json"))
    assert found.doubts == ()
    assert sealed_text(found.to_dict()) == (FROZEN_2 / f"{name}.json").read_text()


def test_frozen_report_and_summary_of_version_2_are_read() -> None:
    """With the numbers they had."""
    saved = calibcli.load(FROZEN_2 / "report.json")
    assert saved["brier"].value == pytest.approx(0.05470722203784413)  # type: ignore[index]
    assert saved.to_json() == (FROZEN_2 / "report.json").read_text()
    summary = read_summary(FROZEN_2 / "summary.json")
    assert (summary.table.total_rows, summary.table.total_positive_rows) == (285, 108)
    assert not any("digest" in note for note in summary.input.notes)
