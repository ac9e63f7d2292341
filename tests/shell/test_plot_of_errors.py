"""Isotonic fits, cumulative differences and residuals from the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import CHURN, SAMPLE, Ran

Run = Callable[..., Ran]
EVALUATION = SAMPLE / "churn_evaluation.parquet"
COLUMNS = ("-s", "score", "-y", "label")


def measured(run: Run, *words: object) -> dict[str, dict[str, dict[str, float]]]:
    """Return the report of `measure`."""
    return json.loads(run("measure", *words, "--json").out)


def drawn(run: Run, kind: str, path: Path, *words: object) -> str:
    """Draw, and return what the command said."""
    ended = run("plot", *words, "--kind", kind, "-o", path)
    assert ended.code == 0, ended.err
    assert path.stat().st_size > 5_000
    return ended.err + ended.out


def test_isotonic_is_captioned_by_the_parts_of_the_brier_score(
    run: Run, thousand: Path, tmp_path: Path
) -> None:
    """As `measure` gives them."""
    said = drawn(run, "isotonic", tmp_path / "i.png", thousand, *COLUMNS)
    names = ("brier", "brier_mcb", "brier_dsc", "brier_unc")
    asked = [word for name in names for word in ("--metric", name)]
    report = measured(run, thousand, *COLUMNS, *asked)["measures"]
    whole, mcb, dsc, unc = (f"{report[name]['value']:.4f}" for name in names)
    assert f"Brier {whole} = MCB {mcb} - DSC {dsc} + UNC {unc}" in said


@pytest.mark.parametrize("rows", [300, 5_000])
def test_cumulative_is_captioned_by_its_tests(run: Run, tmp_path: Path, rows: int) -> None:
    """With the p-values of `measure`, of the limit law and, for few rows, of labels drawn with its seed."""
    import pyarrow.parquet as pq

    path = tmp_path / "some.parquet"
    pq.write_table(pq.read_table(EVALUATION).slice(0, rows), path)
    said = drawn(run, "cumulative", tmp_path / "c.svg", path, *CHURN)
    tests = measured(run, path, *CHURN)["tests"]
    for name, words in (("ks", "KS"), ("kuiper", "Kuiper")):
        statistic, p_value = tests[name]["statistic"], tests[name]["p_value"]
        p_words = "p < 1e-300" if p_value < 1e-300 else f"p = {p_value:.2g}"
        assert f"{words} {statistic:.3g} ({p_words})" in said


def test_residual_is_captioned_by_its_error(run: Run, thousand: Path, tmp_path: Path) -> None:
    """The smoothed one, or that of the bins where bins were asked for."""
    report = measured(run, thousand, *COLUMNS)["measures"]
    assert f"smECE {report['smece']['value']:.4f}" in drawn(
        run, "residual", tmp_path / "r.png", thousand, *COLUMNS
    )
    said = drawn(run, "residual", tmp_path / "b.png", thousand, *COLUMNS, "--bins", 15)
    assert f"binned ECE {report['ece']['value']:.4f}" in said


def test_residual_of_a_report_is_that_of_its_rows(run: Run, thousand: Path, tmp_path: Path) -> None:
    """Byte by byte."""
    report = tmp_path / "report.json"
    assert run("measure", thousand, *COLUMNS, "--json", "-o", report).code == 0
    drawn(run, "residual", tmp_path / "of_report.svg", report)
    drawn(run, "residual", tmp_path / "of_rows.svg", thousand, *COLUMNS)
    assert (tmp_path / "of_report.svg").read_bytes() == (tmp_path / "of_rows.svg").read_bytes()


@pytest.mark.parametrize("kind", ["isotonic", "cumulative"])
def test_a_report_does_not_hold_the_rows(run: Run, thousand: Path, tmp_path: Path, kind: str) -> None:
    """So a diagram that needs them says what to name."""
    report = tmp_path / "report.json"
    assert run("measure", thousand, *COLUMNS, "--json", "-o", report).code == 0
    ended = run("plot", report, "--kind", kind, "-o", tmp_path / "x.png")
    assert ended.code == 2
    assert "drawn from the rows" in ended.err


def test_importance_weights_leave_no_test(run: Run, csv_of: Callable[..., Path], tmp_path: Path) -> None:
    """The distance is named instead."""
    rows = [f"0.{1 + row % 8},{int(row % 3 == 0)},{1 + row % 4}.5" for row in range(60)]
    path = csv_of("score,label,w", *rows)
    said = drawn(run, "cumulative", tmp_path / "w.pdf", path, *COLUMNS, "--weight", "w")
    assert "Farthest from zero" in said
    assert "no test" in said
