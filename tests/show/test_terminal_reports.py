"""What the terminal shows, letter for letter.

After a change that is meant, `CALIBCLI_REFRESH_GOLDEN=1 pytest tests/show` writes `golden/` anew; read the
difference before committing it.
"""

import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibcli.names import ReportFormat
from calibcli.show import text_of
from calibcli.show.blocks import IN_FILE, Column, Grid, Screen, Tone, grid_of
from calibcli.show.terminal import TerminalRenderer

GOLDEN = Path(__file__).parent / "golden"
REFRESH = "CALIBCLI_REFRESH_GOLDEN"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.txt") if not re.search(r"^diagram_|\.", path.stem))
MANNERS: dict[str, dict[str, Any]] = {
    "plain": {},
    "verbose": {"verbose": True},
    "ascii": {"unicode": False},
    "width_80": {"width": 80, "verbose": True},
    "width_200": {"width": 200},
    "color": {"width": 100, "color": True},
}
_ANSI = re.compile(r"\x1b\[[\d;]*m")


def shown(report: Any, *, verbose: bool = False, **screen: Any) -> str:
    """Return what the terminal shows of a report."""
    return text_of(report, ReportFormat.TABLE, Screen(**screen), verbose=verbose)


def compare(text: str, name: str) -> None:
    """Compare with a golden file, or write it where that was asked for."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get(REFRESH):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    assert text == path.read_text(encoding="utf-8")


def test_off_a_terminal_the_text_is_the_golden_one(reports: dict[str, Any]) -> None:
    """Every report reads, off a terminal, as its golden file does, and there is no file more."""
    for name, report in reports.items():
        compare(shown(report), name)
    assert set(NAMES) == set(reports)


@pytest.mark.parametrize("manner", [key for key in MANNERS if key != "plain"])
@pytest.mark.parametrize("name", ["measure", "verify_within_noise", "compare_pass"])
def test_each_manner_has_its_golden_text(reports: dict[str, Any], name: str, manner: str) -> None:
    """Verbosity, width, alphabet and colour change the text as the golden files say."""
    compare(shown(reports[name], **MANNERS[manner]), f"{name}.{manner}")


@pytest.mark.parametrize("manner", MANNERS)
@pytest.mark.parametrize("name", NAMES)
def test_text_is_clean(reports: dict[str, Any], name: str, manner: str) -> None:
    """No line ends in a space, the text ends in one newline, and only colour brings escape codes."""
    text = shown(reports[name], **MANNERS[manner])
    bare = _ANSI.sub("", text) if "color" in MANNERS[manner] else text
    assert "\x1b" not in bare
    assert all(line == line.rstrip() for line in bare.split("\n"))
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert all(letter.isprintable() for letter in bare.replace("\n", ""))


@pytest.mark.parametrize("name", NAMES)
def test_without_unicode_the_text_is_ascii(reports: dict[str, Any], name: str) -> None:
    """Names, bars and marks all encode to ASCII where the output cannot carry more."""
    shown(reports[name], unicode=False, verbose=True).encode("ascii")


@pytest.mark.untraced
@pytest.mark.parametrize("name", NAMES)
def test_no_width_loses_a_word(reports: dict[str, Any], name: str) -> None:
    """Folding and stacking move words to further lines; no number, name or verdict is cut short."""
    whole = _letters(shown(reports[name], verbose=True, unicode=False))
    for width in (1, 20, 40, 80, 200):
        folded = shown(reports[name], width=width, verbose=True, unicode=False)
        assert "..." not in folded, width
        # Bars and their axis shrink with the width, long words are folded, and each part of a table that is
        # stacked has its first column: compare the letters that remain.
        assert not whole - _letters(folded), width


@pytest.mark.parametrize("name", NAMES)
def test_what_is_left_out_for_the_width_is_named(reports: dict[str, Any], name: str) -> None:
    """Without -v a narrow table spares columns, and says which; every line of a table fits."""
    text = shown(reports[name], width=80)
    assert all(title in text for title in ("by chance", "valid") if title in shown(reports[name]))
    assert max(map(len, text.splitlines())) <= 80


def test_each_part_of_a_stacked_table_says_which_row_it_is() -> None:
    """By its first column and every other that tells rows apart."""
    columns = (Column("group"), Column("claim", key=True), *(Column(f"column {n}") for n in range(4)))
    rows = tuple(("a", claim, *(f"{claim} {n}" for n in range(4))) for claim in ("oe", "ece"))
    parts = TerminalRenderer(Screen(30)).text((Grid(columns, rows),))
    heads = [line.split()[:2] for line in parts.splitlines() if line.startswith("group")]
    assert len(heads) > 1
    assert all(head == ["group", "claim"] for head in heads)


def test_no_part_of_a_stacked_table_is_names_alone() -> None:
    """Where a number moves to the next part with its interval, nothing else may be left in its own."""
    columns = (
        Column("group"),
        *(Column(text, beside=text == "interval") for text in ("ece", "interval") * 2),
    )
    grid = Grid(columns, (("a group of some length", "0.1", "0.05 to 0.15", "0.2", "0.1 to 0.3"),))
    text = TerminalRenderer(Screen(38)).text((grid,))
    assert [line.split() for line in text.splitlines() if line.startswith("group")] == [
        ["group", "ece", "interval"]
    ] * 2


def test_cells_have_the_colours_of_their_words() -> None:
    """In the middle of a table and at its end; nothing without colour, and no letter changes."""
    tones = (("red", Tone.FAIL), ("green", Tone.PASS))
    grid = Grid((Column("grade"), Column("light", tones=tones), Column("also", tones=tones)), LIGHTS)
    lit, plain = (TerminalRenderer(Screen(80, color)).text((grid,)) for color in (True, False))
    assert "\x1b[1;31mred\x1b[0m" in lit.replace(" ", "")
    assert lit.splitlines()[1].endswith("\x1b[1;32mgreen\x1b[0m")
    assert _ANSI.sub("", lit) == plain
    assert "\x1b" not in plain


LIGHTS = (("red", "red", "green"), ("B", "none", "none"))


@pytest.mark.parametrize(("width", "left"), [(30, False), (80, True)])
def test_what_a_table_above_has_told_leaves_a_narrow_one_without_a_word(width: int, *, left: bool) -> None:
    """A wide one keeps it, and so does a paper."""
    columns = (Column("group"), Column("rows", told=True), *(Column(f"column {n}") for n in range(3)))
    grid = Grid(columns, (("a", "1,234", "x", "y", "z"),))
    text = TerminalRenderer(Screen(width)).text((grid,))
    assert ("1,234" in text) == left
    assert "Left out" not in text


def _letters(text: str) -> Counter[str]:
    """Return how often each letter and digit of a text is there, which folding cannot change."""
    return Counter(re.sub(r"[^0-9A-Za-z]", "", re.sub(r"(?m) {2,}[ |o@-]+$", "", text)))


def test_wide_terminal_shows_what_a_pipe_does(reports: dict[str, Any]) -> None:
    """Where there is room for every line, a terminal and a pipe show the same."""
    assert shown(reports["measure"], width=300) == shown(reports["measure"])


def test_color_changes_no_letter(reports: dict[str, Any]) -> None:
    """Without its colour codes a coloured report is the plain one."""
    assert _ANSI.sub("", shown(reports["atoms"], color=True)) == shown(reports["atoms"])


def test_environment_has_no_say(reports: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Colour and width are what the renderer was told, whatever the environment says."""
    expected = shown(reports["measure"])
    for key, value in {"FORCE_COLOR": "1", "COLUMNS": "40", "TERM": "dumb"}.items():
        monkeypatch.setenv(key, value)
    assert shown(reports["measure"]) == expected
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" in shown(reports["measure"], color=True)


def test_hundred_bins_show_both_ends(reports: dict[str, Any]) -> None:
    """Of more than 50 bins the first and last 25 are shown, and the text says how many are not."""
    report = reports["measure"]
    edges = np.arange(101) / 100
    column = edges[1:]
    bins = replace(
        report.curve.binned,
        lower=edges[:-1],
        upper=column,
        rows=np.arange(1, 101),
        score=column,
        rate=column,
        rate_lower=column,
        rate_upper=column,
    )
    text = shown(replace(report, curve=replace(report.curve, binned=bins)))
    assert "50 bins in the middle are not shown" in text
    assert "0.24 to 0.25" in text
    assert "0.25 to 0.26" not in text
    assert "0.74 to 0.75" not in text
    assert "0.75 to 0.76" in text


def test_measures_alone_make_a_report(reports: dict[str, Any]) -> None:
    """Without tests only the measures and the diagram are printed."""
    text = shown(replace(reports["measure"], tests=(), combined=None), verbose=True)
    assert "p-value" not in text


def test_slice_of_other_rows_says_what_it_holds(reports: dict[str, Any]) -> None:
    """A slice with its own rows and recalibrator states them."""
    report = reports["measure"]
    part = replace(report, table=replace(report.table, rows=7, positive=1), artifact="b.json")
    text = shown(replace(report, slices={"group=a": part}))
    assert "group=a\n7 rows, 1 positive (14.3 %)" in text
    assert "recalibrated by b.json" in text


def test_limit_of_zero_promises_no_rows(reports: dict[str, Any]) -> None:
    """No number of rows shows an error of exactly 0, and the text says so."""
    report = reports["verify_within_noise"]
    verdict = report.verdicts["max-ece"]
    verdict = replace(verdict, needed=replace(verdict.needed, at_best=0))
    assert "No number of rows can show" in shown(replace(report, verdicts={"max-ece": verdict}))


def test_one_number_of_rows_is_said_once(reports: dict[str, Any]) -> None:
    """Where a perfectly calibrated score needs as many rows to pass, the number is not repeated."""
    report = reports["verify_to_pass"]
    verdict = report.verdicts["max-ece"]
    alike = replace(verdict, needed=replace(verdict.needed, at_best=verdict.needed.to_pass))
    text = " ".join(shown(replace(report, verdicts={"max-ece": alike})).split())
    assert text.count("124,000") == 1
    assert "a pass is as likely as not, if the model is as good as it looks." in text
    assert "perfectly calibrated" not in text


def test_a_long_name_is_folded_and_widens_no_other_row() -> None:
    """On a terminal; what is piped keeps one line for a row."""
    long = "x" * 100
    grid = grid_of(
        [("a", "0.125"), (long, "0.25"), ("b", "0.5")],
        {"group": lambda one: one[0], "ece": lambda one: one[1]},
    )
    lines = TerminalRenderer(Screen(80)).text((grid,)).splitlines()
    assert lines[2].split() == ["x" * 40, "0.25"]
    assert [line.strip() for line in lines[3:5]] == ["x" * 40, "x" * 20]
    assert max(map(len, lines)) <= 80
    piped = TerminalRenderer(IN_FILE).text((grid,)).splitlines()
    assert piped[2].split() == [long, "0.25"]
