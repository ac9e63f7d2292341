"""Definitions are visible: on the command line, and on the methods page from the same text."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from calibcli.families import LABELS, Explained, paragraphs_of
from calibcli.names import ClassMeasure, MeasureName, ReportFormat, SegmentMeasure, TestName
from calibcli.show import writer_of
from calibcli.show.blocks import Line, Listing, Screen, paragraph
from calibcli.show.explain import SECTIONS
from command_line import ROOT, Run

GOOD = "\n".join(f"{label}: the {label.lower()},\n    and more." for label in LABELS)
EVERY_NAME = [*MeasureName, *TestName, *ClassMeasure, *SegmentMeasure]


def test_every_measure_and_test_has_one_section() -> None:
    """Nothing that can be asked for is left out of the methods page, and nothing stands there twice."""
    assert sorted(one for members in SECTIONS.values() for one in members) == sorted(EVERY_NAME)


@pytest.mark.untraced
@pytest.mark.parametrize("name", EVERY_NAME)
def test_definition_is_printed(name: Explained, run: Run) -> None:
    """`--explain NAME` needs no input and prints every paragraph under their labels."""
    code, out, err = run("measure", "--explain", name.value)
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == name.value
    words = [line.split()[0] for line in out.splitlines() if line.strip()]
    assert [word for word in words if word in LABELS] == list(LABELS)


def test_all_lists_every_name(run: Run) -> None:
    """`--explain all` gives each name with its sentence."""
    code, out, _ = run("measure", "--explain", "all")
    assert code == 0
    words = {line.split()[0] for line in out.splitlines() if line.strip()}
    assert {name.value for name in EVERY_NAME} <= words


def test_unknown_name_is_met_with_the_closest(run: Run) -> None:
    """A slip of the finger is a usage error that says what was meant."""
    code, out, err = run("measure", "--explain", "smce1")
    assert (code, out) == (2, "")
    assert err.startswith("error: there is no metric 'smce1'\nhint: did you mean smce")
    assert err.endswith("? `calibcli measure --explain all` lists all\n")


def test_group_is_met_with_its_members(run: Run) -> None:
    """A group has no definition of its own."""
    code, out, err = run("measure", "--explain", "cox")
    assert (code, out) == (2, "")
    assert "'cox' is a group" in err
    assert "cox_slope" in err


def test_markdown_has_the_labels(run: Run) -> None:
    """`--format md` gives the same in Markdown."""
    code, out, _ = run("measure", "--explain", "brier", "--format", "md")
    assert code == 0
    assert out.startswith("**brier**")
    assert all(f"- **{label}**: " in out for label in LABELS)


def test_paragraphs_are_read_and_lines_joined() -> None:
    """The sentence and the paragraphs become one line each; a label out of its turn is a word of the text."""
    text = f"\n    the gap\n    How far,\n    and more.\n{GOOD}\nEstimand: of all things.\n"
    called, meaning, *paragraphs = paragraphs_of(text)
    assert (called, meaning) == ("the gap", "How far, and more.")
    assert paragraphs[0] == "the reading, and more."
    assert paragraphs[-1] == "the reference, and more. Estimand: of all things."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A name\nA sentence.\nEstimand: alone.",
        GOOD.replace("Assumes", "Assumptions"),
        "\n".join(GOOD.splitlines()[2:]),
    ],
    ids=["nothing", "too few", "another label", "none of the first"],
)
def test_definition_without_a_paragraph_is_refused(text: str) -> None:
    """A definition that lacks a paragraph is a mistake of its author."""
    with pytest.raises(ValueError, match="in this order"):
        paragraphs_of(text)


def test_narrow_terminals_fold_the_sentences() -> None:
    """On a terminal no line is wider than it, and no word is lost."""
    page = (paragraph(Line("ece")), Listing((("Estimand", "word " * 40),)))
    text = writer_of(ReportFormat.TABLE, Screen(50)).text(page)
    assert max(map(len, text.splitlines())) <= 50
    assert text.count("word") == 40


def test_methods_page_holds_the_definitions() -> None:
    """docs/methods.md is up to date."""
    command = [sys.executable, str(ROOT / "docs" / "make_methods.py"), "--check"]
    assert subprocess.run(command, check=False, env={**os.environ}).returncode == 0, "run `make docs`"


@pytest.mark.parametrize(("here", "other"), [("*Estimand.*", "*Estimate.*"), ("## Grid tables", "## Grids")])
def test_methods_page_can_be_out_of_date(tmp_path: Path, here: str, other: str) -> None:
    """The check is of the text between the markers: definitions, and contents that lead to sections."""
    script = (ROOT / "docs" / "make_methods.py").read_text(encoding="utf-8")
    (tmp_path / "make_methods.py").write_text(script, encoding="utf-8")
    page = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    (tmp_path / "methods.md").write_text(page.replace(here, other), encoding="utf-8")
    command = [sys.executable, str(tmp_path / "make_methods.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 1
