"""Commands of a gate: verify, merge (states of shards) and plan."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from calibcli.data.formats import refuse_promise
from calibcli.data.outputs import append_file, place_of, refuse_existing, write_file
from calibcli.errors import CalibcliError, InputProblem, OutputProblem, UsageProblem, any_of
from calibcli.names import STDOUT, ColorWhen, GateFormat, Inconclusive, ReportFormat, VerdictName
from calibcli.options.gating import GateOutput, PlanOptions, StateOptions, VerifyOptions
from calibcli.options.output import Documents, Like, LikeFile, Output
from calibcli.options.rows import RowRequest
from calibcli.shell.door import command
from calibcli.shell.line import is_piped, line_of
from calibcli.shell.output import (
    format_of,
    request_of,
    runs_on_github,
    say,
    say_notes,
    say_notes_beside,
    say_summary,
    screen_for,
    write_report,
)
from calibcli.values import dataclass, replace

if TYPE_CHECKING:
    from calibcli.reports.input import Setting
    from calibcli.reports.verify import VerifyReport


@contextmanager
def _told(given: Mapping[str, Any]) -> "Iterator[dict[str, Sequence[RequestedReport]]]":
    """Let the reports beside the printed one tell of whatever goes wrong, unless the line will run again."""
    line, state = line_of(given["context"]), given["state"]
    inputs = _rows_of(given["inputs"], asks_a_state=state is not None)
    wanted = parse_reports(
        given["report"],
        inputs=inputs,
        output=given["output"],
        force=given["force"],
        others=(given["artifact"], given["baseline"], state, given["state_key_file"]),
        settings=line.settings,
    )
    try:
        if not inputs and state is None:
            msg = "Missing argument 'INPUT...'"
            raise UsageProblem(msg, "name a file, or - for what is piped: calibcli verify --help")
        yield {"wanted": wanted}
    except CalibcliError as problem:
        if line.yields(problem) is None:
            write_error_reports(problem, wanted)
        raise


def _rows_of(inputs: Sequence[Any] | None, *, asks_a_state: bool) -> Sequence[Any]:
    """Return the inputs: a pipe where none is named, unless a state is asked, where one may stay open."""
    return inputs or ([STDOUT] if not asks_a_state and is_piped() else [])


@command(
    "score label artifact max_ece max_smece rule by state report json | *Limits on *Cutting *Segmenting "
    "*VerifyOptions baseline baseline_score *Regression *StateOptions allow_fit_rows *ClassOptions row_id "
    "unseen *RowSelection *values *InputFormat *Reading state_key_file allow_edited fmt output force quiet "
    "verbose color debug",
    within=_told,
)
def verify(
    context: typer.Context,
    rows: RowRequest,
    options: VerifyOptions,
    state: StateOptions | None,
    out: GateOutput,
    wanted: "Sequence[RequestedReport]" = (),
) -> int:
    """Gate on the calibration error.

    PASS (exit 0) if it is at most the limit, FAIL (1) if above, INCONCLUSIVE (4) if the rows cannot tell.
    Of several rules, and of groups or classes, all must pass.

    \b
    EXAMPLES
      calibcli verify eval.csv -s score -y label --artifact cal.json --max-ece 0.02
      calibcli verify eval.csv -s score -y label --max-ece 0.05 --confidence 0.99
      calibcli verify eval.csv -s score -y label --max-smece 0.03 --rule 'bias.lower>=-0.01' --by country
      calibcli verify eval.csv -s score -y label --max-segment-bias 0.05 --on country,device
      calibcli verify eval.csv -s score -y label --rule 'mce_p>=0.01' --on country,device
      calibcli verify eval.csv -s score -y label --baseline report.json --max-regression 0.01
      calibcli verify eval.csv -s new -y label --baseline-score old --max-regression 0.005
      calibcli verify eval.csv -s score -y label --max-ece 0.02 --inconclusive fail --json
      calibcli verify eval.parquet --probs 'p_*' -y label --view one-vs-rest --max-ece 0.02
      calibcli verify eval.parquet --probs 'p_*' -y label --rule 'accuracy>=0.9' --rule 'class_brier<=0.2'

    \b
    RULES
      MEASURE<=L, MEASURE.upper<=L   pass: the upper bound is at most L; fail: the lower bound is above
      MEASURE>=L, MEASURE.lower>=L   the mirror image
      MEASURE.value<=L               compares the estimate, without confidence
      TEST.p>=A                      fails if the test rejects at level A
      mce_p>=A, mce<=L               of all segments that --on makes, together
      MEASURE.lower<=L, .upper>=L    fails if the contrary is shown, and else passes
      Several claims: each passes at --confidence 1 - D; each of N fails at 1 - D/N only.
    """
    from calibcli.commands.verify import judge_rows

    rows = replace(rows, inputs=_rows_of(rows.inputs, asks_a_state=state is not None))
    if state is not None and out.output != STDOUT and place_of(out.output) == place_of(state.path):
        msg = f"{out.output} is the state"
        raise OutputProblem(msg, "write the report to another file")
    rows = request_of(rows, out, None if options.regression is None else options.regression.report)
    kind = format_of(out)
    report = judge_rows(rows, options, state)
    write_report(report, kind, out, context)
    write_reports(report, wanted)
    say_notes_beside(kind, report.input, report.notes, table=report.table, quiet=out.quiet)
    return exit_code(report.outcome, options.policy)


def exit_code(outcome: VerdictName, policy: Inconclusive) -> int:
    """Return what a verdict means to a shell: 0 passed, 1 failed, 4 inconclusive unless the policy says."""
    undecided = {Inconclusive.ERROR: 4, Inconclusive.FAIL: 1, Inconclusive.PASS: 0}[policy]
    codes = {VerdictName.PASS: 0, VerdictName.FAIL: 1, VerdictName.INCONCLUSIVE: undecided}
    return codes[outcome]


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
class RequestedReport:
    """A report beside the printed one: at a path, - for standard output, or where GitHub's runner says."""

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
) -> tuple[RequestedReport, ...]:
    """Return the reports that are asked for; GitHub's by itself in its workflows, where none is."""
    if not texts:
        return (RequestedReport(GateFormat.GITHUB, None, settings),) if runs_on_github() else ()
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
    from calibcli.data.files import found_in

    try:
        return [file.path for file in found_in(inputs).files], None
    except InputProblem as problem:
        return [], problem


def write_reports(report: "VerifyReport", wanted: Sequence[RequestedReport]) -> None:
    """Write the reports that were asked for: files whole, GitHub's by adding to the files of its runner."""
    for one in wanted:
        match one.kind:
            case GateFormat.JUNIT:
                from calibcli.show.ci.junit import document_of

                _write(document_of(report, one.settings), one.path)
            case GateFormat.OPENMETRICS:
                from calibcli.show.ci.openmetrics import metrics_of

                _write(metrics_of(report, one.settings), one.path)
            case GateFormat.GITHUB:
                _tell_github(report, one.settings)
            case GateFormat.MARKDOWN | GateFormat.JSON:
                from calibcli.show import text_of

                kind = ReportFormat(one.kind.value)
                screen = screen_for(one.path or STDOUT, color=ColorWhen.NEVER)
                _write(text_of(report, kind, screen, settings=one.settings), one.path)


def write_error_reports(problem: CalibcliError, wanted: Sequence[RequestedReport]) -> None:
    """Write that there is no verdict, and why, wherever a server or a monitor would look for one.

    Markdown and JSON are not written: they are reports, and there is nothing to report. What cannot be
    written is passed over, since the problem itself is about to be said.
    """
    for one in wanted:
        with suppress(OutputProblem):
            _write_error(problem, one)


def _write_error(problem: CalibcliError, wanted: RequestedReport) -> None:
    match wanted.kind:
        case GateFormat.JUNIT:
            from calibcli.show.ci.junit import error_document

            _write(error_document(problem, wanted.settings), wanted.path)
        case GateFormat.OPENMETRICS:
            from calibcli.show.ci.openmetrics import error_metrics

            _write(error_metrics(wanted.settings), wanted.path)
        case GateFormat.GITHUB:
            from calibcli.show.ci.github import error_annotation, error_outputs, error_summary

            say(error_annotation(problem, wanted.settings), commands=True)
            _add(error_summary(problem, wanted.settings), _SUMMARY)
            _add(error_outputs(problem), _OUTPUT)
        case GateFormat.MARKDOWN | GateFormat.JSON:
            return


def _tell_github(report: "VerifyReport", settings: "tuple[Setting, ...]") -> None:
    """Annotate on standard error, as standard output carries the report; the runner reads both."""
    from calibcli.show.ci.github import annotations_of, outputs_of, summary_of

    report, code = report.readable(), exit_code(report.outcome, report.policy)
    say(annotations_of(report, settings), commands=True)
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


def _wanted(text: str) -> RequestedReport:
    name, equals, path = text.partition("=")
    if name not in list(GateFormat):
        _refuse(f"--report {text!r} names no kind of report")
    kind = GateFormat(name)
    if kind is GateFormat.GITHUB:
        if equals:
            _refuse(f"--report {text!r} names a file, but GitHub's runner says where its report goes")
        return RequestedReport(kind)
    if not path:
        _refuse(f"--report {text!r} names no file")
    return RequestedReport(kind, path)


def _refuse(message: str) -> NoReturn:
    kinds = [kind.value if kind is GateFormat.GITHUB else f"{kind.value}=FILE" for kind in GateFormat]
    raise UsageProblem(message, f"it takes {any_of(*kinds)}")


def _refuse_shared(paths: Sequence[str]) -> None:
    """Refuse two things in one place, before either is there."""
    seen: set[str] = set()
    for path in paths:
        place = place_of(path)
        if place in seen:
            where = "standard output" if path == STDOUT else path
            msg = f"{where} would be written twice"
            hint = "send each report to a file of its own; -o FILE moves the one that is printed"
            raise UsageProblem(msg, hint)
        seen.add(place)


@command(
    "max_ece max_smece artifact like score power error any_time confidence json | max_l2 max_linf max_dce "
    "max_segment_bias on *Cutting *Segmenting *PlanOptions *ClassOptions scale score_map on_missing "
    "on_range *InputFormat exact memory allow_edited fmt output force quiet verbose color debug"
)
def plan(
    context: typer.Context,
    rows: RowRequest,
    options: PlanOptions,
    out: Output,
    inputs: LikeFile = None,
    like: Like = None,
) -> None:
    """Say how many labelled rows a gate will need, before you collect them.

    The gate of `verify` is simulated with labels that follow the scores, or are off by --error. Where the
    scores fall is taken from the fit rows of an artifact, or from a file of scores.

    \b
    EXAMPLES
      calibcli plan --max-ece 0.02 --artifact cal.json
      calibcli plan --max-ece 0.02 --artifact cal.json --any-time --error 0.005
      calibcli plan preds.csv --max-ece 0.03 -s score --power 0.8
      calibcli plan --max-ece 0.02 --like preds.csv -s score --error 0.05
      calibcli plan preds.csv --max-ece 0.03 --probs 'p_*' --view one-vs-rest
      calibcli plan preds.csv --max-segment-bias 0.05 -s score --on country,device
    """
    from calibcli.commands.plan import plan_rows

    if inputs is not None and like is not None:
        msg = f"{inputs} and --like {like} both say how scores fall"
        raise UsageProblem(msg, "leave out one of them")
    rows = replace(rows, inputs=[one for one in (like, inputs) if one is not None])
    rows, kind = request_of(rows, out), format_of(out)
    report = plan_rows(options, rows)
    write_report(report, kind, out, context)
    # The other formats hold the notes where they are read.
    notes = () if report.input is None else report.input.notes
    say_notes(notes, quiet=out.quiet or kind is not ReportFormat.JSON)


@command("output state_key_file allow_edited force quiet verbose color debug")
def merge(documents: Documents, out: Output) -> None:
    """Add up what was counted on shards of the rows.

    Summaries of `measure --summary-out` add up to the summary of the whole, which measure, verify, plot, fit
    and report take in place of files. The sums of `verify --state` add exactly, in any order; verdicts of the
    shards are not kept: run verify on the merged state.

    \b
    EXAMPLES
      calibcli merge part1.json part2.json -o whole.json
      calibcli measure whole.json
      calibcli merge shard1.json shard2.json -o gate.json
      calibcli inspect gate.json
      calibcli verify more.csv -s score -y label --max-ece 0.02 --state gate.json
    """
    from calibcli.commands.merge import merge_documents

    refuse_promise(out.output, "json", what="states and summaries are JSON", hint="name it whole.json")
    report, notes = merge_documents(documents, output=out.output, force=out.force)
    say_summary(report, out)
    say_notes(notes, quiet=out.quiet)
