"""Names that try to be more than names: formulas, markup, commands, escapes, paths.

Pages of HTML are held to the same in tests/python/test_html_report.py, by names of their own.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from calibcli.shell.app import main

PAYLOADS = {
    "formula": '=HYPERLINK("http://evil.example","x")',
    "formula at": "@SUM(1+1)*cmd|' /C calc'!A0",
    "script": "<script>alert(1)</script>",
    "attribute": '" onmouseover="alert(2)" x="</b><img src=x onerror=alert(3)>',
    "link": "[x](javascript:alert(4)) ![i](http://evil.example/i.png)",
    "table": "a | b |\n| --- | --- |\n# heading",
    "rich": "[bold red]x[/bold red][link=http://evil.example]y[/link]",
    "template": "{{ 7 * 7 }}{% raw %}<!--",
    "ansi": "\x1b[31mred\x1b[0m\x1b[2J",
    "osc": "\x1b]8;;http://evil.example\x07click\x1b]8;;\x07\x1b]52;c;ZWNobw==\x07",
    "c1": "\x9b31m\x85next",
    "path": "../../../../tmp/evil",
    "sql": "'; DROP TABLE rows; --",
    "workflow": "::error file=x::owned\n::set-output name=x::y",
    "old workflow": "##[error]owned %0A::error::x",
    "azure": "##vso[task.setvariable variable=x]y",
    "teamcity": "##teamcity[buildStatus status='SUCCESS']",
    "gitlab": "section_start:1:x[collapsed=true]\r\x1b[0Kowned",
    "buildkite": "+++ owned",
    "jenkins": "\x1b[8mha:AAAA\x1b[0m",
    "travis": "travis_fold:start:x\r\x1b[0K",
    "xml": "\x01\x08\x0b]]><failure/>&amp;&#x1b;",
    "metrics": 'x"} 1\ncalibcli_pass{group="forged"} 1\n# EOF',
    "right to left": "\u202etxt.exe\u2066\u200f",
    "separators": "a\u2028b\u2029c\r\nd\te",
    "mathtext": r"$\frac{1}{0}$ \input{/etc/passwd} $x",
    "printf": "%s%n%d {0} {self.__class__}",
}
ALL = "·".join(PAYLOADS.values())
_DRAWN = {
    "svg",
    "g",
    "defs",
    "path",
    "use",
    "clipPath",
    "rect",
    "style",
    "metadata",
    "RDF",
    "Work",
    "type",
    "format",
    "title",
}
_NOT_SHOWN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_MEASURE = ["measure", "rows.csv", "--metric", "brier", "--by", ":by:", "--min-group-rows", "1"]
_VERIFY = [
    "verify",
    "rows.csv",
    "--max-ece",
    "0.5",
    "--by",
    ":by:",
    "--min-rows",
    "1",
    "--min-group-rows",
    "1",
]
_ASK = ["-s", ":score:", "-y", ":label:"]
COMMANDS = {
    "table": [*_MEASURE, *_ASK, "-v"],
    "json": [*_MEASURE, *_ASK, "--json"],
    "markdown": [*_MEASURE, *_ASK, "--format", "md"],
    "html": [*_MEASURE, *_ASK, "-v", "--format", "html"],
    "latex": [*_MEASURE, *_ASK, "-v", "--format", "latex"],
    "verdict": [*_VERIFY, *_ASK],
    "verdict markdown": [*_VERIFY, *_ASK, "--format", "md"],
    "junit": [*_VERIFY, *_ASK, "--report", "junit=out.xml"],
    "github": [*_VERIFY, *_ASK, "--report", "github"],
    "github json": [*_VERIFY, *_ASK, "--json", "--report", "openmetrics=out.prom"],
    "openmetrics": [*_VERIFY, *_ASK, "--report", "openmetrics=out.prom"],
    "picture in letters": ["plot", "rows.csv", *_ASK, "--terminal", "--title", ":score:"],
    "svg": ["plot", "rows.csv", *_ASK, "--by", ":by:", "--min-group-rows", "1", "--title", ":score:", "-o",
        "out.svg"],
    "inspect": ["inspect", "rows.csv"],
    "fit": ["fit", "rows.csv", *_ASK, "-m", "platt", "-o", "out.json"],
    "no such column": ["measure", "rows.csv", "-s", "nothing"],
    "no such option": ["measure", "--:score:", "rows.csv"],
    "no such file": ["measure", ":file:"],
    "no such rule": ["verify", "rows.csv", *_ASK, "--rule", ":score:"],
    "not a number": ["measure", "rows.csv", "-s", ":by:", "-y", ":label:"],
    "strange labels": ["measure", "rows.csv", "-s", ":score:", "-y", ":by:"],
}  # fmt: skip
SAID_TO_PEOPLE = [
    "table", "verdict", "picture in letters", "inspect", "fit", "no such column", "no such option",
    "no such file", "no such rule", "not a number", "strange labels",
]  # fmt: skip


@dataclass(frozen=True)
class Made:
    """What a command printed, on both streams, and what it wrote into its output."""

    said: str
    written: str


class Tags(HTMLParser):
    """Counts the elements of a page with the names of their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: Counter[tuple[str, ...]] = Counter()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count an element."""
        self.found[tag, *(name for name, _ in attrs)] += 1


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Made]:
    """Return what a command makes of rows with hostile names; each is run once."""
    patch = pytest.MonkeyPatch()

    @cache
    def run(output: str) -> Made:
        folder = tmp_path_factory.mktemp("rows")
        patch.chdir(folder)
        patch.setenv("GITHUB_ACTIONS", "true" if "github" in output else "")
        patch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
        patch.setenv("GITHUB_OUTPUT", str(folder / "output"))
        names = {"score": f"s{ALL}", "label": f"y{ALL}", "by": f"by{ALL}", "file": ALL.replace("/", "")[:80]}
        write_rows(folder / "rows.csv", names, PAYLOADS)
        words = [
            re.sub(":(score|label|by|file):", lambda one: names[one[1]], word) for word in COMMANDS[output]
        ]
        code, said = said_by(words)
        assert code in ((2, 3) if output.startswith(("no ", "not ", "strange")) else (0, 1, 4)), said
        written = "".join(path.read_text() for path in sorted(folder.glob("out.*")))
        assert {path.name.partition(".")[0] for path in folder.iterdir()} <= {
            "rows",
            "out",
            "summary",
            "output",
        }
        return Made(said, written)

    yield run
    patch.undo()


def said_by(words: list[str]) -> tuple[int, str]:
    """Run a command; return its exit code and all that it printed."""
    from doors import captured

    ran = captured(lambda: main(words))
    return ran.code, ran.out + ran.err


def write_rows(path: Path, names: dict[str, str], groups: dict[str, str]) -> None:
    """Write eight rows for each group."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([names["score"], names["label"], names["by"]])
        for place, group in enumerate(groups.values()):
            for row in range(8):
                writer.writerow([(row + 0.5 + place / 100) / 9, int(row % 3 == 0 or row > 5), group])


@pytest.mark.parametrize("output", SAID_TO_PEOPLE)
def test_names_move_no_cursor_and_give_no_command(made: Callable[..., Made], output: str) -> None:
    """In a terminal: nothing that is not shown, no line of a workflow's commands."""
    text = made(output).said
    assert not _NOT_SHOWN.search(text), _NOT_SHOWN.search(text)
    assert not any(line.lstrip().startswith("::") for line in text.splitlines())
    assert not [raw for raw in PAYLOADS.values() if _NOT_SHOWN.search(raw) and raw in text]


def test_json_gives_names_back(made: Callable[..., Made]) -> None:
    """Letter for letter, in ASCII."""
    text = made("json").said
    assert text.isascii()
    said = json.loads(text[: text.rindex("}") + 1])
    for payload in PAYLOADS.values():
        assert any(key.endswith(f"={payload}") for key in said["slices"]), payload


@pytest.mark.parametrize("output", ["markdown", "verdict markdown"])
def test_markdown_has_no_elements_of_names(made: Callable[..., Made], output: str) -> None:
    """No link, picture, heading, cell or raw HTML more."""
    text = MarkdownIt("commonmark", {"html": True}).enable("table").render(made(output).said)
    tags = Tags(text).found
    assert {tag for tag, *_ in tags} <= {
        *[
            "p",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "strong",
            "em",
            "ul",
            "ol",
            "li",
            "code",
            "h1",
            "h2",
            "h3",
        ]
    }
    tables = text.split("<table>")[1:]
    for table in tables:
        cells = {row.count("<td") + row.count("<th>") + row.count("<th ") for row in table.split("<tr>")[1:]}
        assert len(cells) == 1
    assert tables


def test_html_has_no_elements_of_names(made: Callable[..., Made]) -> None:
    """Each element is one that the markup writes, and none carries an attribute of a name."""
    said = made("html").said
    allowed = "meta|title|p|strong|small|table|caption|thead|tbody|tr|th|td|dl|dt|dd"
    found = Tags(said).found
    assert all(re.fullmatch(allowed, tag) for tag, *_ in found)
    assert {name for _, *names in found for name in names} <= {"charset", "style"}
    for table in said.split("<table>")[1:]:
        assert len({row.count("<td") + row.count("<th>") for row in table.split("<tr>")[1:]}) == 1


def test_latex_has_no_commands_of_names(made: Callable[..., Made]) -> None:
    """Each command is one that the markup writes; nothing else means anything to TeX."""
    said = made("latex").said
    text = re.sub(r"\\[#$%&_{}]", "", "\n".join(said.splitlines()[1:]))
    ours = r"textbf|begin|end|centering|caption|label|toprule|midrule|bottomrule|smallskip|footnotesize|par|"
    ours += "item|linewidth|medskip"
    letters = r"text(?:backslash|asciitilde|asciicircum|less|greater|bar|quotedbl|asciigrave)|ensuremath"
    assert set(re.findall(r"\\([a-z]*)", text)) <= {*re.findall(f"\\\\({ours}|{letters})(?![a-z])", text), ""}
    assert not re.search(r"[#$%_^~]", text)
    assert text.count("{") == text.count("}")
    for table in re.findall(r"\\toprule\n(.*?)\\bottomrule", text, re.DOTALL):
        rows = [line for line in table.splitlines() if line != "\\midrule"]
        assert len({line.count(" & ") for line in rows}) == 1


def test_drawings_have_no_elements_of_names(made: Callable[..., Made]) -> None:
    """XML that is whole, without scripts, links or anything from elsewhere."""
    for node in ET.fromstring(made("svg").written).iter():  # noqa: S314 - our own
        assert node.tag.rpartition("}")[2] in _DRAWN
        for name, value in node.attrib.items():
            assert not name.lower().startswith("on")
            assert not name.endswith("href") or value.startswith("#")


@pytest.mark.parametrize("output", COMMANDS)
def test_a_log_holds_no_command_that_was_a_name(made: Callable[..., Made], output: str) -> None:
    """Of Azure, GitHub, TeamCity, Buildkite; GitLab, Jenkins and Travis need a control character."""
    said = made(output).said
    assert not re.search(r"##[a-z]*\[", said, re.IGNORECASE)
    starts = (
        r"[ \t]*(?:--- |\+\+\+ |~~~ |\^\^\^ )"
        if "github" in output
        else r"[ \t]*::|(?:---|\+\+\+|~~~|\^\^\^) "
    )
    assert not re.search(f"^(?:{starts})", said, re.MULTILINE)
    assert "\x1b" not in said
    assert "\r" not in said


@pytest.mark.parametrize(
    "name", ["::error ::x", "##vso[task.complete]x", "--- x", "~~~ x", "##teamcity[x 'y']"]
)
def test_a_name_at_the_start_of_a_line_is_no_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The columns that inspect lists, as a table and in JSON, where they are read back as they are."""
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(f'"{name}",label\n0.5,1\n0.25,0\n')
    assert main(["inspect", "rows.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert not [line for line in lines if line.lstrip().startswith(("::", "##vso[", "##team"))]
    assert not [line for line in lines if line.startswith(("--- ", "~~~ "))]
    assert main(["inspect", "rows.csv", "--json"]) == 0
    text = capsys.readouterr().out
    assert "##" not in text
    assert name in str(json.loads(text)["columns"])
