"""`--report KIND[=FILE]`: refused before any data is read if it must be, written after the verdict."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from calibcli.cli.output import runs_on_github, say, screen_for
from calibcli.errors import CalibcliError, InputProblem, OutputProblem, UsageProblem
from calibcli.gate_names import GateFormat
from calibcli.names import ColorWhen
from calibcli.outputs import STDOUT, append_file, refuse_existing, write_file
from calibcli.suffixes import refuse_promise

if TYPE_CHECKING:
    from calibcli.cli.line import Line
    from calibcli.reports.settings import Setting
    from calibcli.reports.verify import VerifyReport

# Files of the runner, which steps add to.
_SUMMARY = "GITHUB_STEP_SUMMARY"
_OUTPUT = "GITHUB_OUTPUT"
# What the names of files of each kind promise, if anything.
_FORMS = {
    GateFormat.JUNIT: "xml",
    GateFormat.MARKDOWN: "md",
    GateFormat.JSON: "json",
    GateFormat.OPENMETRICS: "",
    GateFormat.GITHUB: "",
}


@dataclass(frozen=True, slots=True)
class WantedReport:
    """
    A report beside the one that is printed.

    Args:
        kind: What it looks like.

        path: Where it goes, "-" for standard output; None for GitHub, whose runner says where.

        settings: What a file or a variable has set.
    """

    kind: GateFormat
    path: str | None = None
    settings: "tuple[Setting, ...]" = ()


def parse_reports(
    texts: Sequence[str] | None,
    *,
    inputs: Sequence[str],
    output: str = STDOUT,
    force: bool = False,
    others: Sequence[str | None] = (),
    settings: "tuple[Setting, ...]" = (),
) -> tuple[WantedReport, ...]:
    """
    Return the reports that are asked for; GitHub's by itself in its workflows, where none is.

    Args:
        texts: The words after `--report`.

        inputs: The inputs as the user named them.

        output: Where the report itself goes.

        force: Whether existing files may be replaced.

        others: More files that the command reads or keeps, such as an artifact or a state; None is skipped.

        settings: What a file or a variable has set, which every report states.

    Raises:
        UsageProblem: If a kind is unknown, a file is missing or named where none belongs, or two reports
            would go to one place.

        OutputProblem: If a file exists already, is read by the command, or cannot be written.

        InputProblem: If an input is not there; the reports say so.
    """
    if not texts:
        return (WantedReport(GateFormat.GITHUB, None, settings),) if runs_on_github() else ()
    wanted = tuple(replace(_wanted(text), settings=settings) for text in dict.fromkeys(texts))
    kept = [one for one in others if one is not None]
    files, missing = _files(inputs)
    for one in wanted:
        if one.path is not None:
            refuse_existing(one.path, force=force, inputs=[*files, *kept])
            form, what = _FORMS[one.kind], f"the report is {one.kind.value}"
            refuse_promise(one.path, form, what=what, hint=f"name it report.{form or 'prom'}")
    _refuse_shared([*kept, output, *(one.path for one in wanted if one.path is not None)])
    if missing is not None:
        write_error_reports(missing, wanted)
        raise missing
    return wanted


def _files(inputs: Sequence[str]) -> tuple[list[str], InputProblem | None]:
    """Return every file of the inputs, or what is wrong with one: that is told in the reports too."""
    from calibcli.readers.files import files_of

    try:
        return [file.path for file in files_of(inputs)], None
    except InputProblem as problem:
        return [], problem


def write_reports(report: "VerifyReport", wanted: Sequence[WantedReport]) -> None:
    """
    Write the reports that were asked for: files whole, GitHub's by adding to the files of its runner.

    Args:
        report: What was found.

        wanted: As `parse_reports` returned them.

    Raises:
        OutputProblem: If one cannot be written; those before it stay.
    """
    from calibcli.render.gates import gate_renderer_named

    for one in wanted:
        if one.path is None:
            _tell_github(report, one.settings)
        else:
            unicode = screen_for(one.path, color=ColorWhen.NEVER).unicode
            renderer = gate_renderer_named(one.kind, unicode=unicode, settings=one.settings)
            _write(renderer.render(report), one.path)


@contextmanager
def told_of_errors(wanted: Sequence[WantedReport], line: "Line") -> Iterator[None]:
    """Write what stopped the block to the reports as well, and let it go on, unless it will run again."""
    try:
        yield
    except CalibcliError as problem:
        if line.yields(problem) is None:
            write_error_reports(problem, wanted)
        raise


def write_error_reports(problem: CalibcliError, wanted: Sequence[WantedReport]) -> None:
    """
    Write that there is no verdict, and why, wherever a server or a monitor would look for one.

    Markdown and JSON are not written: they are reports, and there is nothing to report. What cannot be
    written is passed over, since the problem itself is about to be said.

    Args:
        problem: Why there is none.

        wanted: As `parse_reports` returned them.
    """
    for one in wanted:
        with suppress(OutputProblem):
            _write_error(problem, one)


def _write_error(problem: CalibcliError, wanted: WantedReport) -> None:
    match wanted.kind:
        case GateFormat.JUNIT:
            from calibcli.render.gates.junit import error_document

            _write(error_document(problem, wanted.settings), wanted.path)
        case GateFormat.OPENMETRICS:
            from calibcli.render.gates.openmetrics import error_metrics

            _write(error_metrics(wanted.settings), wanted.path)
        case GateFormat.GITHUB:
            from calibcli.render.gates.github import error_annotation, error_outputs, error_summary

            say(error_annotation(problem, wanted.settings), commands=True)
            _add(error_summary(problem, wanted.settings), _SUMMARY)
            _add(error_outputs(problem), _OUTPUT)
        case GateFormat.MARKDOWN | GateFormat.JSON:
            return


def _tell_github(report: "VerifyReport", settings: "tuple[Setting, ...]") -> None:
    """Annotate on standard error, as standard output carries the report; the runner reads both."""
    from calibcli.cli.commands.verify import exit_code
    from calibcli.render.gates import gate_renderer_named
    from calibcli.render.gates.github import outputs_of, summary_of

    code = exit_code(report.outcome, report.policy)
    say(gate_renderer_named(GateFormat.GITHUB, settings=settings).render(report), commands=True)
    _add(summary_of(report, settings), _SUMMARY)
    _add(outputs_of(report, exit_code=code), _OUTPUT)


def _add(text: str, variable: str) -> None:
    """Add to a file of the runner, on a line of its own, if it names one."""
    path = os.environ.get(variable)
    if path:
        append_file(path, f"\n{text}".encode())


def _write(text: str, path: str | None) -> None:
    """Write UTF-8 wherever it goes: the formats for programs are defined in it, and others keep to ASCII."""
    if path is not None:
        write_file(path, text.encode("utf-8"))


def _wanted(text: str) -> WantedReport:
    name, equals, path = text.partition("=")
    if name not in list(GateFormat):
        _refuse(f"--report {text!r} names no kind of report")
    kind = GateFormat(name)
    if kind is GateFormat.GITHUB:
        if equals:
            _refuse(f"--report {text!r} names a file, but GitHub's runner says where its report goes")
        return WantedReport(kind)
    if not path:
        _refuse(f"--report {text!r} names no file")
    return WantedReport(kind, path)


def _refuse(message: str) -> NoReturn:
    kinds = [kind.value if kind is GateFormat.GITHUB else f"{kind.value}=FILE" for kind in GateFormat]
    raise UsageProblem(message, f"it takes {', '.join(kinds[:-1])} or {kinds[-1]}")


def _refuse_shared(paths: Sequence[str]) -> None:
    """Refuse two things in one place, before either is there."""
    seen: set[str] = set()
    for path in paths:
        place = path if path == STDOUT else os.path.realpath(path)
        if place in seen:
            where = "standard output" if path == STDOUT else path
            msg = f"{where} would be written twice"
            hint = "send each report to a file of its own; -o FILE moves the one that is printed"
            raise UsageProblem(msg, hint)
        seen.add(place)
