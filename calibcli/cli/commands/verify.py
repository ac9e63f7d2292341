"""calibcli verify."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from calibcli.cli.door import command
from calibcli.errors import OutputProblem, UsageProblem
from calibcli.gate_names import Inconclusive
from calibcli.names import VerdictName
from calibcli.options.gating import GateOutput, StateOptions, VerifyOptions
from calibcli.options.output import Artifact, GateInputs
from calibcli.options.rows import (
    JUDGED_BY,
    OF_CLASSES,
    OF_FORMAT,
    OF_READING,
    OF_ROWS,
    OF_VALUES,
    Columns,
    Reading,
)
from calibcli.outputs import STDOUT

if TYPE_CHECKING:
    from calibcli.cli.report_files import WantedReport


@contextmanager
def _told(given: Mapping[str, Any]) -> "Iterator[dict[str, Sequence[WantedReport]]]":
    """Let the reports beside the printed one tell of whatever goes wrong, options included."""
    from calibcli.cli.line import line_of
    from calibcli.cli.report_files import parse_reports, told_of_errors

    line, inputs, state = line_of(given["context"]), given["files"] or [], given["state"]
    wanted = parse_reports(
        given["report"],
        inputs=inputs,
        output=given["output"],
        force=given["force"],
        others=(given["artifact"], given["baseline"], state, given["state_key_file"]),
        settings=line.settings,
    )
    with told_of_errors(wanted, line):
        if not inputs and state is None:
            msg = "Missing argument 'INPUT...'"
            raise UsageProblem(msg, "calibcli verify --help")
        yield {"wanted": wanted}


@command(
    f"score label {OF_CLASSES} max_ece max_l2 max_linf max_smece max_dce rule artifact confidence bins "
    f"binning "
    "min_rows inconclusive by min_group_rows baseline baseline_score max_regression regression_metric "
    "state batch "
    f"row_id planned_rows alarm report allow_fit_rows unseen {OF_ROWS} seed {OF_VALUES} {OF_FORMAT} "
    f"{OF_READING} "
    "state_key_file allow_edited fmt json output force quiet verbose color debug",
    by=JUDGED_BY,
    within=_told,
)
def verify(
    context: typer.Context,
    columns: Columns,
    options: VerifyOptions,
    state: StateOptions | None,
    reading: Reading,
    out: GateOutput,
    files: GateInputs = None,
    artifact: Artifact = None,
    wanted: "Sequence[WantedReport]" = (),
) -> int:
    """
    Gate on the calibration error.

    PASS (exit 0) if it is at most the limit, FAIL (1) if above, INCONCLUSIVE (4) if the rows cannot tell.
    Of several rules, and of groups or classes, all must pass.

    \b
    EXAMPLES
      calibcli verify eval.csv -s score -y label --artifact cal.json --max-ece 0.02
      calibcli verify eval.csv -s score -y label --max-ece 0.05 --confidence 0.99
      calibcli verify eval.csv -s score -y label --max-smece 0.03 --rule 'bias.lower>=-0.01' --by country
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
      MEASURE.lower<=L, .upper>=L    fails if the contrary is shown, and else passes
      Several claims: each passes at --confidence 1 - D; each of N fails at 1 - D/N only.
    """
    from calibcli.cli.line import line_of
    from calibcli.cli.output import format_of, say_notes_beside, write_report
    from calibcli.cli.progress_bar import progress_bar
    from calibcli.cli.report_files import write_reports
    from calibcli.tasks.destination import check_output
    from calibcli.tasks.judging import judge_rows

    inputs = files or []
    if (
        state is not None
        and out.output != STDOUT
        and os.path.realpath(out.output) == os.path.realpath(state.path)
    ):
        msg = f"{out.output} is the state"
        raise OutputProblem(msg, "write the report to another file")
    baseline = None if options.regression is None else options.regression.report
    for read in (artifact, baseline):
        check_output(out.output, force=out.force, inputs=inputs, artifact=read)
    kind = format_of(out)
    reading = replace(reading, progress=progress_bar(quiet=out.quiet))
    report = judge_rows(inputs, columns, options, state, artifact=artifact, reading=reading)
    write_report(report, kind, out, line_of(context))
    write_reports(report, wanted)
    say_notes_beside(kind, report.input, report.notes, quiet=out.quiet)
    return exit_code(report.outcome, options.policy)


def exit_code(outcome: VerdictName, policy: Inconclusive) -> int:
    """Return what a verdict means to a shell: 0 passed, 1 failed, 4 inconclusive unless the policy says."""
    match outcome:
        case VerdictName.PASS:
            return 0
        case VerdictName.FAIL:
            return 1
        case VerdictName.INCONCLUSIVE:
            return {Inconclusive.ERROR: 4, Inconclusive.FAIL: 1, Inconclusive.PASS: 0}[policy]
