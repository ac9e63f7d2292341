"""What GitHub, a browser and LaTeX are given: tables whose cells stay cells, names that stay names."""

import html
import re
from typing import Any

import pytest

from calibcli.names import ReportFormat
from calibcli.show import text_of, writer_of
from calibcli.show.blocks import Column, Grid, Line, Screen
from calibcli.show.markup import DIALECTS, MarkupRenderer, escaped, in_latex

_CELL = re.compile(r"(?<!\\)\|")
_NAMES = ("measure", "grid", "weighted", "atoms", "verify_fail", "verify_several", "fit", "apply", "inspect")
_HOSTILE = ("hostile_measure", "hostile_verify", "hostile_inspect")


def written(report: Any, *, verbose: bool = False, unicode: bool = True) -> str:
    """Return a report in Markdown."""
    return text_of(report, ReportFormat.MARKDOWN, Screen(unicode=unicode), verbose=verbose)


def tables(text: str) -> list[list[list[str]]]:
    """Return the cells of every table, as GitHub would cut them."""
    found = []
    for block in text.split("\n\n"):
        lines = block.strip().split("\n")
        if lines[0].startswith("| "):
            found.append([[cell.strip() for cell in _CELL.split(line)[1:-1]] for line in lines])
    return found


@pytest.mark.parametrize("name", _NAMES + _HOSTILE)
def test_tables_are_rectangular(reports: dict[str, Any], name: str) -> None:
    """Every row has the cells of its header, and the second row is the rule that makes it a table."""
    for table in tables(written(reports[name], verbose=True)):
        assert {len(row) for row in table} == {len(table[0])}
        assert set(table[1]) <= {"---", "---:"}


def test_tables_can_be_read_back(reports: dict[str, Any]) -> None:
    """Measures with interval, null and method; the reliability table has everything but the bars."""
    measures, _, diagram = tables(written(reports["measure"]))[:3]
    assert measures[0] == ["measure", "value", "95 % interval", "by chance", "valid"]
    assert measures[2][:4] == ["ece", "0.1271", "0.1012 to 0.1310", "0.00350 to 0.00714"]
    why = "no interval: 3 rows gave probability 0 to what happened"
    assert measures[5][1:] == ["inf", "none", "about 0.2698", why]
    assert diagram[0] == ["score range", "rows", "mean", "observed", "95 % interval"]
    assert diagram[2] == ["0 to 0.3333", "41,000", "0.06410", "0.1672", "0.1636 to 0.1709"]


def test_verdict_comes_first(reports: dict[str, Any]) -> None:
    """The first line of a gate is its verdict, in bold."""
    assert written(reports["verify_pass"]).startswith("**PASS  ECE &lt;= 0.02  (0.004800; upper bound")


@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_names_stay_text(reports: dict[str, Any], name: str) -> None:
    """No HTML, code, emphasis, link or control character of a name survives unescaped."""
    text = written(reports[name], verbose=True)
    assert "<b>" not in text
    assert not re.search(r"(?<!\\)`", text)
    assert not re.search(r"(?<!\\)\[red", text)
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_escaping_can_be_undone() -> None:
    """What GitHub makes of escaped text is the text."""
    text = r"a|b `c` <i>&amp; *d* _e_ f_g [h](i) ~j~ \k"
    back = html.unescape(re.sub(r"\\([\\`*_\[\]|~])", r"\1", escaped(text)))
    assert back == text
    assert "f_g" in escaped(text)


@pytest.mark.parametrize("start", ["# x.csv", "- x", "+ x", "1. x", "1) x", "=== x"])
def test_no_line_becomes_a_heading_or_a_list(start: str) -> None:
    """A plain line that begins as a heading or list would is escaped at its start."""
    markdown = MarkupRenderer(unicode=True, dialect=DIALECTS[ReportFormat.MARKDOWN])
    assert not re.match(r"#|[-+=]|\d+[.)]", markdown.line(Line(start)))
    assert markdown.line(Line("50,000 rows")) == "50,000 rows"


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("50 % & $x_1^2$ #", r"50 \% \& \$x\_1\textasciicircum{}2\$ \#"),
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("-0.5 to 0.2", r"\ensuremath{-}0.5 to 0.2"),
        ("Clopper-Pearson, 10-20 and a--b", "Clopper-Pearson, 10-20 and a-{}-b"),
        ("[1] and *", "{}[1] and *"),
    ],
)
def test_latex_shows_letters_as_they_are(text: str, latex: str) -> None:
    """No letter is a command, a ligature or the end of a cell; a minus is no hyphen."""
    assert in_latex(text) == latex


@pytest.mark.parametrize("kind", [ReportFormat.HTML, ReportFormat.LATEX])
def test_tables_for_a_paper_say_rows_and_methods(reports: dict[str, Any], kind: ReportFormat) -> None:
    """Below the table, in place of what speaks of options of the command line."""
    text = text_of(reports["measure"], kind)
    assert "50,000 rows, " in text
    assert "fixed-design, finite-sample" in text
    assert "-v says" not in text
    for value in ("0.1271", "0.1012 to 0.1310", "0.00350 to 0.00714"):
        assert value in text


@pytest.mark.parametrize("kind", [ReportFormat.HTML, ReportFormat.LATEX])
def test_a_column_that_a_user_named_keeps_its_words(kind: ReportFormat) -> None:
    """Months in a column `t`, and a value `u` of a column `test`, were tests of calibration."""
    grid = Grid((Column("test", own=True), Column("t", own=True), Column("ece")), (("u", "1", "2"),))
    text = writer_of(kind).text((grid,))
    assert [*re.findall(r"T-Cal|U test|ECE", text)] == ["ECE"]


def test_latex_tables_are_booktabs(reports: dict[str, Any]) -> None:
    """Three rules, a caption, one mark a column."""
    text = text_of(reports["measure"], ReportFormat.LATEX)
    for table in text.split("\\begin{table}")[1:]:
        assert all(table.count(f"\\{rule}rule") == 1 for rule in ("top", "mid", "bottom"))
        assert "\\caption{" in table
        marks, head = re.findall(r"\\begin\{tabular\}\{([lr]+)\}\n\\toprule\n(.*)", table)[0]
        assert len(marks) == head.count(" & ") + 1


def test_a_wide_latex_table_stands_in_parts() -> None:
    """Each fits a page, has the column that says which row it is, and holds cells that no other has."""
    titles = tuple(f"a column that is long {k}" for k in range(9))
    grid = Grid(
        (Column("group"), *map(Column, titles), Column("verdict")),
        (("a", *(f"{k}.5" for k in range(9)), "a sentence " * 9), ("b", *"123456789", "short")),
    )
    text = writer_of(ReportFormat.LATEX).text((grid,))
    assert text.count("\\begin{table}") == 1
    parts = re.findall(r"\\toprule\n(.*) \\\\\n", text)
    assert [part.split(" & ")[0] for part in parts] == ["group"] * len(parts)
    assert [title for part in parts for title in part.split(" & ")[1:]] == [*titles, "verdict"]
    assert all(len(part) <= 100 for part in parts)
    assert re.search(r"\{l+p\{0\.\d\d\\linewidth\}\}", text)
    html = writer_of(ReportFormat.HTML).text((grid,))
    assert html.count("<table>") == html.count("<thead>") == 1


def test_without_unicode_references_stand_in(reports: dict[str, Any]) -> None:
    """Where only ASCII can be written, other letters become character references."""
    text = written(reports["hostile_measure"], unicode=False)
    assert "&#20013;" in text
    text.encode("ascii")
    latex = text_of(reports["hostile_measure"], ReportFormat.LATEX, Screen(unicode=False))
    assert r"\symbol{20013}" in latex
    latex.encode("ascii")
