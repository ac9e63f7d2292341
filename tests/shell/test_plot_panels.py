"""Pictures from the command line: several diagrams in one, in letters, of errors, and of fit rows."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len

from calibcli.commands.gathering import FIT_ROWS
from calibcli.commands.pictures.diagram import PlotRequest, fit_rows_foot
from calibcli.commands.plot import diagram_of
from calibcli.names import Band, PlotKind, Smoother
from calibcli.options.measuring import MeasureOptions
from calibcli.options.pictures import PictureOptions
from calibcli.options.rows import Columns
from command_line import CHURN, SAMPLE, Make, Ran, Run, in_csv

EVALUATION = SAMPLE / "churn_evaluation.parquet"
CANCER = SAMPLE / "breast_cancer_evaluation.csv"
FOREST = SAMPLE / "digits_forest_evaluation.csv"
CHOSEN = Columns("score", "label")


@pytest.fixture
def rows() -> Path:
    """Write a CSV file of two scores and a column of groups with awkward names."""
    rng = np.random.default_rng(2)
    score = rng.random(900)
    names = rng.choice(["DE", "$US", "<b>予</b>", "W" * 300], 900)
    label = rng.random(900) < score
    return in_csv(Path("rows.csv"), {"old": score, "new": score**2, "label": label, "country": names})


def drawn(ran: Ran, path: Path) -> str:
    """Return what the command said of a picture that it wrote."""
    assert ran.code == 0, ran.err
    assert path.stat().st_size > 5_000
    return ran.err


def test_scores_groups_and_classes_are_drawn(run: Run, rows: Path) -> None:
    """Named scores, groups and views of classes say by themselves which diagram is meant."""
    out = Path("p.svg")
    words = ("plot", rows, "-y", "label", "-o", out, "--force")
    said = drawn(run(*words, "-s", "old", "-s", "new"), out)
    assert re.search(r"smECE, new less old: \+0\.1\d+ \[0\.\d+, 0\.\d+\] at 95 % confidence", said)
    said = drawn(run(*words, "-s", "old", "--by", "country", "--size", "slide"), out)
    assert "ECE of all rows" in said
    assert said.startswith("note: the font of pictures lacks some letters")
    digits = ("plot", FOREST, "--probs", "p_*", "-y", "label", "-o", out, "--force", "--theme", "dark")
    words = ("--view", "top-label", "--min-group-rows", "94", "--axis", "logit")
    assert "top-label ECE" in drawn(run(*digits, *words), out)


def test_compare_is_short_for_a_kind_and_an_artifact(run: Run, artifact: Path) -> None:
    """Both give the same bytes."""
    one, other = Path("one.svg"), Path("other.svg")
    words = ("plot", CANCER, *CHURN, "--size", "column")
    assert "recalibrated less raw: +" in drawn(run(*words, "--compare", artifact, "-o", one), one)
    assert run(*words, "--kind", "compare", "--artifact", artifact, "-o", other).code == 0
    assert one.read_bytes() == other.read_bytes()


def test_a_report_is_drawn_as_what_it_has(run: Run, rows: Path) -> None:
    """Scores and groups of these rows; no classes, no other columns, and no rows to look at otherwise."""
    report, out = Path("r.json"), Path("p.svg")
    scores = ("-s", "old", "-s", "new", "-y", "label")
    words = (*scores, "--by", "country", "--metric", "ece")
    assert run("measure", rows, *words, "--json", "-o", report).code == 0
    for kind in ("compare", "groups"):
        drawn(run("plot", report, "--kind", kind, "-o", out, "--force"), out)
    assert "has no 'classes'" in run("plot", report, "--view", "top-label", "-o", out, "--force", code=3).err
    assert run("plot", report, "--kind", "groups", "--by", "country", "-o", out, "--force").code == 2
    assert run("plot", report, "--kind", "smooth", "--view", "top-label", "-o", out, "--force").code == 2


def test_kinds_are_completed(shell: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """As every other choice is."""
    monkeypatch.setenv("_CALIBCLI_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "calibcli plot --kind c")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert set(shell().out.split()) == {"compare", "classes", "clinical", "cumulative"}


def test_diagram_needs_no_file_and_says_the_error(run: Run) -> None:
    """The numbers of the caption are those of `measure`."""
    ran = run("plot", CANCER, *CHURN, "--terminal", "--kind", "smooth")
    assert (ran.code, ran.err) == (0, "")
    smece = run("measure", CANCER, *CHURN, "--json").document["measures"]["smece"]
    assert f"smECE {smece['value']:.4f}  [{smece['lower']:.4f}, {smece['upper']:.4f}]" in ran.out
    assert "observed rate of label 1" in ran.out
    assert "score (predicted probability)" in ran.out


@pytest.mark.parametrize(
    ("environment", "width", "ascii_only"),
    [
        ({}, 80, False),
        ({"COLUMNS": "120"}, 120, False),
        ({"COLUMNS": "60", "LC_ALL": "C"}, 60, True),
        ({"LC_ALL": "C.UTF-8"}, 80, False),
    ],
)
def test_width_and_letters_follow_the_terminal(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    width: int,
    *,
    ascii_only: bool,
) -> None:
    """80 columns without a terminal, and ASCII where the locale asks."""
    for name in ("COLUMNS", "LC_ALL", "PYTHONIOENCODING"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    text = run("plot", CANCER, "-q", "--terminal").out
    widest = max(map(cell_len, text.splitlines()))
    assert min(width, 104) - 10 < widest <= width
    assert text.isascii() == ascii_only


def test_an_output_of_ascii_gets_ascii() -> None:
    """As the encoding of standard output says, whatever the locale."""
    command = [sys.executable, "-m", "calibcli", "plot", str(CANCER), "-q", "--terminal"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(command, capture_output=True, check=True, env=environment)
    assert "** observed rate" in ended.stdout.decode("ascii")


def test_a_report_is_drawn_as_its_files_are(run: Run) -> None:
    """The same diagram from what `measure` wrote, in letters, and of residuals number by number."""
    report = Path("report.json")
    run("measure", CANCER, *CHURN, "--json", "-o", report, "-q")
    files = run("plot", CANCER, *CHURN, "--terminal")
    assert run("plot", report, "--terminal", code=0).out == files.out
    one, other = (
        diagram_of(PlotRequest([str(path)], columns, kind=PlotKind.RESIDUAL)).drawn
        for path, columns in ((CANCER, CHOSEN), (report, Columns()))
    )
    assert (one.caption, one.foot) == (other.caption, other.foot)
    for name in ("score", "residual", "lower", "upper"):
        np.testing.assert_array_equal(getattr(one.picture, name), getattr(other.picture, name))


def test_a_picture_can_be_written_beside(run: Run) -> None:
    """Letters on standard output, the picture in its file."""
    picture = Path("p.svg")
    ran = run("plot", CANCER, *CHURN, "--terminal", "-o", picture, "-q", code=0)
    assert picture.read_bytes().startswith(b"<?xml")
    assert "perfectly calibrated" in ran.out


@pytest.mark.parametrize("kind", ["smooth", "residual", "clinical"])
def test_the_band_of_all_scores_at_once_is_drawn(kind: str) -> None:
    """Of the kernel's curve in each of its diagrams, and wider than the pointwise one, of another bound:
    at 10 of 257 places, of a row or two, that is the wider one, by up to a tenth.
    """
    smoother = Smoother.KERNEL if kind == "clinical" else None
    widths = []
    for band in Band:
        request = PlotRequest(
            (str(CANCER),),
            Columns("score", label="label"),
            options=MeasureOptions(smoother=smoother),
            look=PictureOptions(band=band),
            kind=PlotKind(kind),
        )
        picture: Any = diagram_of(request).drawn.picture
        curve = picture.smooth if kind == "smooth" else picture
        widths.append((curve.upper - curve.lower)[~np.isnan(curve.lower)])
    assert np.all(widths[1] >= 0.9 * widths[0])
    assert np.mean(widths[1] >= widths[0] - 1e-9) > 0.95
    assert widths[1].mean() > 1.1 * widths[0].mean()


def test_terminal_needs_neither_matplotlib_nor_scipy() -> None:
    """It starts as fast as `measure` does."""
    program = f"""
import os, sys
from calibcli.shell.app import main
code = main(["plot", {str(CANCER)!r}, "-s", "score", "-y", "label", "--terminal", "--kind", "smooth"])
heavy = {{"matplotlib", "scipy", "pandas", "PIL"}} & {{name.partition(".")[0] for name in sys.modules}}
sys.stderr.write(repr((code, heavy)))
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert ended.stderr == "(0, set())"


def measured(run: Run, *words: object) -> dict[str, dict[str, dict[str, float]]]:
    """Return the report of `measure`."""
    return run("measure", *words, "--json").document


def captioned(run: Run, kind: str, path: Path, *words: object) -> str:
    """Return what the command said of a picture, which need not be drawn for it."""
    ended = run("plot", *words, "--kind", kind, "-o", path, code=0)
    return ended.err + ended.out


@pytest.mark.usefixtures("unrendered")
def test_isotonic_is_captioned_by_the_parts_of_the_brier_score(run: Run, thousand: Path) -> None:
    """As `measure` gives them."""
    said = captioned(run, "isotonic", Path("i.png"), thousand, *CHURN)
    names = ("brier", "brier_mcb", "brier_dsc", "brier_unc")
    requested = [word for name in names for word in ("--metric", name)]
    report = measured(run, thousand, *CHURN, *requested)["measures"]
    whole, mcb, dsc, unc = (f"{report[name]['value']:.4f}" for name in names)
    assert f"Brier {whole} = MCB {mcb} - DSC {dsc} + UNC {unc}" in said


@pytest.mark.usefixtures("unrendered")
@pytest.mark.parametrize("rows", [300, 5_000])
def test_cumulative_is_captioned_by_its_tests(run: Run, rows: int) -> None:
    """With the p-values of `measure`, of the limit law and, for few rows, of labels drawn with its seed."""
    import pyarrow.parquet as pq

    path = Path("some.parquet")
    pq.write_table(pq.read_table(EVALUATION).slice(0, rows), path)
    said = captioned(run, "cumulative", Path("c.svg"), path, *CHURN)
    tests = measured(run, path, *CHURN)["tests"]
    for name, words in (("ks", "KS"), ("kuiper", "Kuiper")):
        statistic, p_value = tests[name]["statistic"], tests[name]["p_value"]
        p_words = "p at most 0.001" if p_value == 0.001 else f"p = {p_value:.2g}"
        p_words = "p below 1e-300" if p_value < 1e-300 else p_words
        assert f"{words} {statistic:.3g} ({p_words})" in said


def test_bins_ask_for_the_diagram_of_bins(run: Run, thousand: Path) -> None:
    """Without a kind: the smooth diagram was drawn, and the bins passed over in silence."""
    for cut in (("--bins", 5), ("--binning", "equal-mass")):
        words = ("plot", thousand, *CHURN, *cut, "--terminal")
        shown = run(*words).out
        assert "binned ECE" in shown
        assert "Clopper-Pearson" in shown
        assert shown == run(*words, "--kind", "binned").out


@pytest.mark.usefixtures("unrendered")
def test_residual_is_captioned_by_its_error(run: Run, thousand: Path) -> None:
    """The smoothed one, or that of the bins where bins were asked for."""
    report = measured(run, thousand, *CHURN)["measures"]
    sentence = f"smECE {report['smece']['value']:.4f}"
    assert sentence in captioned(run, "residual", Path("r.png"), thousand, *CHURN)
    said = captioned(run, "residual", Path("b.png"), thousand, *CHURN, "--bins", 15)
    assert f"binned ECE {report['ece']['value']:.4f}" in said


@pytest.mark.usefixtures("unrendered")
def test_importance_weights_leave_no_test(run: Run, csv_of: Make) -> None:
    """The distance is named instead."""
    rows = [f"0.{1 + row % 8},{int(row % 3 == 0)},{1 + row % 4}.5" for row in range(60)]
    path = csv_of("score,label,w", *rows)
    said = captioned(run, "cumulative", Path("w.pdf"), path, *CHURN, "--weight", "w")
    assert "Farthest from zero" in said
    assert "no test" in said


IN_PICTURE = fit_rows_foot((FIT_ROWS,))[0]
_OF_PARTS = (PlotKind.CLASSES, PlotKind.GROUPS, PlotKind.TREND, PlotKind.SEGMENTS, PlotKind.HEATMAP)
_OF_PARTS += (PlotKind.MONITOR,)
KINDS = [kind for kind in PlotKind if kind not in _OF_PARTS]


def test_pictures_of_the_fit_rows_say_so(run: Run, thousand: Path) -> None:
    """Whatever is drawn through the artifact, and it is what was asked for; without it nothing is said."""
    fitted = Path("cal.json")
    run("fit", thousand, *CHURN, "-m", "histogram", "-o", fitted, code=0)
    for kind in KINDS:
        flattering = diagram_of(PlotRequest([str(thousand)], CHOSEN, kind=kind, artifact=str(fitted)))
        assert flattering.drawn.picture.kind is kind
        assert FIT_ROWS in flattering.notes, kind
        assert IN_PICTURE in flattering.drawn.foot, kind
    plain = diagram_of(PlotRequest([str(thousand)], CHOSEN, kind=PlotKind.BINNED))
    assert FIT_ROWS not in plain.notes
    assert IN_PICTURE not in plain.drawn.foot


def test_groups_of_the_fit_rows_say_so_and_so_does_their_report(run: Run, csv_of: Make) -> None:
    """The note of the report stands in the picture that is made of it."""
    lines = (f"{k % 50 / 50},{int(k % 50 > k % 37)},{'ab'[k % 2]}" for k in range(600))
    rows = csv_of("score,label,group", *lines)
    cal, report = Path("cal.json"), Path("report.json")
    assert run("fit", rows, *CHURN, "-o", cal).code == 0
    requested = (*CHURN, "--artifact", cal, "--by", "group", "--json", "-o", report)
    assert run("measure", rows, *requested).code == 0
    assert FIT_ROWS in json.loads(report.read_text())["notes"]
    assert IN_PICTURE in diagram_of(PlotRequest([str(report)], kind=PlotKind.GROUPS)).drawn.foot
