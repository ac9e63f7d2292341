"""Where text goes: reports to standard output or a file, everything else to standard error."""

import math
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING

from calibcli.ahead import Advance, Progress, unseen
from calibcli.data.outputs import STDERR, check_output, encoding_of, is_terminal, write_file
from calibcli.names import STDOUT, ColorWhen, ReportFormat
from calibcli.options.output import Output
from calibcli.options.rows import DocumentSource, RowRequest
from calibcli.values import replace

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from typer import Context

    from calibcli.reports.input import InputSummary
    from calibcli.reports.measure import MeasureReport, TableSummary
    from calibcli.reports.segments import SegmentsReport
    from calibcli.show import Report
    from calibcli.show.blocks import Screen


def screen_for(output: str, *, color: ColorWhen) -> "Screen":
    """Return how text may look on standard output or error, or in a file (UTF-8, no colour)."""
    from calibcli.show.blocks import Screen

    if output not in (STDOUT, STDERR):
        return Screen(color=color is ColorWhen.ALWAYS)
    target = sys.stdout if output == STDOUT else sys.stderr
    if target is None:
        return Screen(unicode=False)
    terminal = is_terminal(target)
    encoding = encoding_of(target).lower().replace("-", "")
    width = shutil.get_terminal_size().columns if terminal else None
    unicode = encoding.startswith("utf") and not _plain_locale()
    return Screen(width, _wants_color(color, terminal=terminal), unicode=unicode)


def _plain_locale() -> bool:
    """Return whether ASCII is asked for by LC_ALL=C, for which Python takes UTF-8 all the same."""
    return os.environ.get("LC_ALL") in {"C", "POSIX"} and "PYTHONIOENCODING" not in os.environ


def format_of(out: Output) -> ReportFormat:
    """The format of `--format` or `--json`, else that of the output's name, else a table."""
    from calibcli.data.formats import promise_of, refuse_promise
    from calibcli.errors import IdleOption, UsageProblem, any_of

    if out.json and out.fmt not in (None, ReportFormat.JSON):
        msg = f"--json and --format {out.fmt.value} are two formats"
        raise IdleOption(msg, "leave out one of them", options=("format", "json"))
    requested = ReportFormat.JSON if out.json else out.fmt
    promised = promise_of(out.output)
    kinds = [one.value for one in ReportFormat if one is not ReportFormat.TABLE]
    if promised in kinds and requested not in (None, promised):
        option = "json" if out.json else "format"
        msg = f"{out.output} is the name of {promised}, and --{option} says otherwise"
        raise IdleOption(msg, f"leave out --{option}, or name the output otherwise", options=(option,))
    if promised == "Word":
        page = PurePath(out.output).with_suffix(".html")
        msg = f"{out.output}: Word is not written"
        raise UsageProblem(msg, f"name it {page}, which Word opens")
    of_report = promised if promised in kinds else ""
    what = f"a report is written as a table, {any_of(*kinds)}"
    hint = "name it .txt or .json; `calibcli report` and `calibcli plot` write pages and pictures"
    refuse_promise(out.output, str(of_report), what=what, hint=hint)
    return requested or ReportFormat(of_report or ReportFormat.TABLE)


def request_of(rows: RowRequest, out: Output, *documents: DocumentSource | None) -> RowRequest:
    """Return the rows of a command, read behind a bar, once it is known that its output can be written.

    The output replaces none of its inputs, nor of the documents that are read beside them.
    """
    check_output(out.output, force=out.force, inputs=rows.inputs, documents=[rows.artifact, *documents])
    return replace(rows, reading=replace(rows.reading, progress=progress_bar(quiet=out.quiet)))


def write_report(report: "Report", kind: ReportFormat, out: Output, context: "Context") -> None:
    from calibcli.show import text_of

    screen, settings = screen_for(out.output, color=out.color), context.obj.settings
    text = text_of(report, kind, screen, verbose=out.verbose, settings=settings)
    write(text, out.output)
    if kind is ReportFormat.JSON:
        from calibcli.documents.sealed import MOST_BYTES

        # JSON is written in ASCII: every character is one byte.
        if len(text) > MOST_BYTES:
            size, most = math.ceil(len(text) / 2**20), MOST_BYTES >> 20
            note = f"the report takes {size:,} MiB, and `plot` and --baseline read at most {most} MiB"
            say_notes((note,), quiet=out.quiet)


def say_summary(report: "Report", out: Output) -> None:
    """Say on standard error what became of the rows, where standard output is for the result itself."""
    from calibcli.show import text_of

    screen = screen_for(STDERR, color=out.color)
    say(text_of(report, ReportFormat.TABLE, screen, verbose=out.verbose), quiet=out.quiet)


def write(text: str, output: str) -> None:
    """Write a report; a file appears whole or not at all."""
    if output == STDOUT:
        text = _without_commands(text)
    content = text.encode("utf-8" if output != STDOUT else encoding_of(sys.stdout))
    write_file(output, content)


def say(text: str, *, quiet: bool = False, commands: bool = False) -> None:
    """Write a note to standard error, in ASCII where need be; `commands` are meant for a runner."""
    if quiet or sys.stderr is None:
        return
    encoding = encoding_of(sys.stderr)
    text = _without_commands(text, meant=commands)
    sys.stderr.write(text.encode(encoding, errors="backslashreplace").decode(encoding))
    if not text.endswith("\n"):
        sys.stderr.write("\n")
    sys.stderr.flush()


def say_line(text: str, *, quiet: bool = False) -> None:
    """Write one line to standard error; control characters from files and names are shown as escapes."""
    shown = (letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    say("".join(shown), quiet=quiet)


def runs_on_github() -> bool:
    """Return whether this is a step of a GitHub workflow, whose runner reads what is printed."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


# Azure and GitHub obey it wherever it stands, TeamCity as well.
_MARK = r"##(?=[A-Za-z]*\[)"

# GitHub obeys it at the start of a line.
_WORKFLOW = r"(?m)^([ \t]*:)(?=:)"

_HEADINGS = ("---", "+++", "~~~", "^^^")

# Buildkite takes such a line for a heading, below which it folds what follows.
_HEADING = r"(?m)^(?=(?:---|\+\+\+|~~~|\^\^\^)(?:[ \t]|$))"


def _without_commands(text: str, *, meant: bool = False) -> str:
    """Return text without what those who read logs would take for a command, as in the name of a column.

    What GitLab, Jenkins and Travis obey holds control characters, which are shown as escapes anyway. Who will
    read the text cannot be known, so it is the same for all.
    """
    # In JSON it can stand in strings only, and is to be the same once it is read.
    if "##" in text:
        text = re.sub(_MARK, "#\\\\u0023" if text.startswith("{") else "## ", text)
    if meant:
        return text
    if "::" in text:
        text = re.sub(_WORKFLOW, r"\1 ", text)
    return re.sub(_HEADING, " ", text) if any(mark in text for mark in _HEADINGS) else text


def say_notes_beside(
    kind: ReportFormat,
    source: "InputSummary",
    of_report: tuple[str, ...],
    *,
    table: "TableSummary | None" = None,
    further: "Mapping[str, MeasureReport | SegmentsReport]" = MappingProxyType({}),
    side: str = "",
    quiet: bool,
) -> None:
    """Write those notes to standard error that the format of a report has no place for.

    A note of a further score begins with its key unless the first score has it too; counts of rows begin with
    `side`.
    """
    if not kind.is_page:
        say_notes(source.notes, quiet=quiet)
    if kind in (ReportFormat.CSV, ReportFormat.JSON_LINES):
        from calibcli.show.pages import rounding_of

        say_rows(source, side=side, quiet=quiet)
        said = (*(() if table is None else rounding_of(table)), *of_report)
        own = [(key, (*rounding_of(one.table), *one.notes)) for key, one in further.items()]
        say_notes(
            (*said, *(f"{key}: {one}" for key, notes in own for one in notes if one not in said)), quiet=quiet
        )


def say_rows(source: "InputSummary", *, side: str = "", quiet: bool) -> None:
    """Write to standard error which rows do not count, in the words of the report for people."""
    from calibcli.show.pages import row_lines

    say_notes(tuple(f"{side}{line.text.removeprefix('note: ')}" for line in row_lines(source)), quiet=quiet)


def say_notes(notes: tuple[str, ...], *, quiet: bool) -> None:
    for note in notes:
        say_line(f"note: {note}", quiet=quiet)


def _wants_color(color: ColorWhen, *, terminal: bool) -> bool:
    """Follow the flag, then NO_COLOR and FORCE_COLOR, then whether anybody is looking."""
    match color:
        case ColorWhen.ALWAYS:
            return True
        case ColorWhen.NEVER:
            return False
        case ColorWhen.AUTO:
            if os.environ.get("NO_COLOR"):
                return False
            return bool(os.environ.get("FORCE_COLOR")) or terminal


def write_explanation(name: str, kind: ReportFormat, out: Output) -> None:
    """Write the definition of a measure or test, or the names of all."""
    from calibcli.errors import UsageProblem
    from calibcli.options.measuring import one_metric
    from calibcli.show import writer_of
    from calibcli.show.explain import definition_page, names_page

    check_output(out.output, force=out.force, inputs=())
    if not kind.is_page:
        msg = f"--explain writes text, not {kind.value.upper()}"
        raise UsageProblem(msg, "leave it out, or pass --format md, html or latex")
    screen = screen_for(out.output, color=out.color)
    every = name.strip().lower() == "all"
    page = names_page() if every else definition_page(one_metric(name), unicode=screen.unicode)
    write(writer_of(kind, screen).text(page), out.output)


_SECONDS = 1.0


def progress_bar(*, quiet: bool) -> Progress:
    """Return what shows a bar, or shows nothing where nobody would see it or wants to."""
    if quiet or sys.stderr is None or not is_terminal(sys.stderr):
        return unseen
    return shown


@contextmanager
def shown(parts: int) -> Iterator[Advance]:
    """Show a bar with rows, rows per second and the time left, from the second second on."""
    found = _Shown(parts)
    timer = threading.Timer(_SECONDS, found.start)
    timer.daemon = True
    timer.start()
    try:
        yield found.advance
    finally:
        timer.cancel()
        found.stop()


def never_back(clock: Callable[[], float]) -> Callable[[], float]:
    """Return a clock that stands still where another one goes back."""
    latest = clock()

    def now() -> float:
        nonlocal latest
        latest = max(latest, clock())
        return latest

    return now


class _Shown:
    """A bar that may not have begun yet."""

    def __init__(self, parts: int) -> None:
        self._parts, self._done, self._rows = parts, 0, 0
        self._now = never_back(time.monotonic)
        self._began = self._now()
        self._bar: Bar | None = None
        self._ended = False
        self._lock = threading.Lock()

    def start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        with self._lock:
            if self._ended:
                return
            self._bar = Bar(
                BarColumn(),
                TextColumn("{task.fields[said]}"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
                get_time=self._now,
            )
            # A single part has no fraction: the bar only moves.
            self._bar.add_task("", total=self._parts if self._parts > 1 else None, said="reading")
            self._bar.start()
            self._show()

    def advance(self, rows: int) -> None:
        with self._lock:
            self._done += 1
            self._rows += rows
            self._show()

    def stop(self) -> None:
        with self._lock:
            self._ended = True
            if self._bar is not None:
                self._bar.stop()

    def _show(self) -> None:
        if self._bar is None or not self._done:
            return
        task = self._bar.tasks[0]
        rate = self._rows / max(self._now() - self._began, _SECONDS)
        said = f"{self._rows:,} rows, {rate:,.0f} a second"
        self._bar.update(task.id, completed=self._done, said=said)
