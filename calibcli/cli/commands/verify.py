"""calibcli verify."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from calibcli.cli import class_options as k
from calibcli.cli import document_options as d
from calibcli.cli import engine_options as e
from calibcli.cli import gate_options as g
from calibcli.cli import input_options as i
from calibcli.cli import options as o
from calibcli.cli import selection_options as s
from calibcli.errors import IdleOption, OutputProblem, UsageProblem
from calibcli.gate_names import Inconclusive
from calibcli.names import (
    DEFAULT_CONFIDENCE,
    DEFAULT_LEAST_ROWS,
    DEFAULT_MEMORY,
    DEFAULT_SEED,
    ColorWhen,
    EngineName,
    MeasureName,
    OnMissing,
    OnRange,
    VerdictName,
)
from calibcli.outputs import STDOUT
from calibcli.selection_names import OnUnseen
from calibcli.view_names import OnSum, ViewName

if TYPE_CHECKING:
    from calibcli.options.rows import Columns, Reading
    from calibcli.reports.verify import VerifyReport
    from calibcli.tasks.verify import VerifyOptions

M = MeasureName


def verify(
    context: typer.Context,
    files: g.GateInputs = None,
    score: o.Score = None,
    label: o.Label = None,
    probs: k.Probs = None,
    classes: k.Classes = None,
    view: k.View = ViewName.CONFIDENCE,
    one_class: k.OneClass = None,
    on_sum: k.HowSummed = OnSum.ERROR,
    max_ece: g.MaxEce = None,
    max_l2: g.MaxL2 = None,
    max_linf: g.MaxLinf = None,
    max_smece: g.MaxSmece = None,
    max_dce: g.MaxDce = None,
    rule: g.Rules = None,
    artifact: o.Artifact = None,
    confidence: o.Confidence = DEFAULT_CONFIDENCE,
    bins: g.GateBins = None,
    binning: o.HowBinned = None,
    min_rows: g.MinRows = DEFAULT_LEAST_ROWS,
    inconclusive: g.OnInconclusive = Inconclusive.ERROR,
    by: g.JudgedBy = None,
    min_group_rows: g.LeastJudgedRows = None,
    baseline: g.Baseline = None,
    baseline_score: g.BaselineScore = None,
    max_regression: g.MaxRegression = None,
    regression_metric: g.RegressionMetric = None,
    state: g.State = None,
    batch: g.Batch = None,
    row_id: g.RowId = None,
    planned_rows: g.PlannedRows = None,
    alarm: g.Alarm = False,
    report: g.Reports = None,
    allow_fit_rows: g.AllowFitRows = False,
    unseen: s.Unseen = OnUnseen.ERROR,
    where: s.Where = None,
    limit: s.Limit = None,
    sample: s.Sample = None,
    seed: o.Seed = DEFAULT_SEED,
    weight: o.Weight = None,
    weights_are: o.WeightsAre = None,
    positive: o.Positive = None,
    scale: o.ScoreScale = None,
    on_missing: o.Missing = OnMissing.ERROR,
    on_range: o.Range = OnRange.ERROR,
    input_format: o.InputFormat = None,
    delimiter: i.Delimiter = None,
    encoding: i.Encoding = None,
    decimal: i.Decimal = None,
    exact: o.Exact = False,
    memory: o.Memory = DEFAULT_MEMORY,
    jobs: o.Jobs = None,
    engine: e.EngineChoice = EngineName.LOCAL,
    engine_address: e.EngineAddress = None,
    state_key_file: d.StateKeyFile = None,
    allow_edited: d.AllowEdited = False,  # noqa: ARG001 - heard where it is declared
    fmt: o.Format = None,
    json: o.Json = False,
    output: o.Out = STDOUT,
    force: o.Force = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    color: o.Color = ColorWhen.AUTO,
    debug: o.Debug = False,  # noqa: ARG001 - read by the gate in app.py
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
    from calibcli.cli.output import format_of, renderer_for, say_notes_beside, write
    from calibcli.cli.progress_bar import progress_bar
    from calibcli.cli.report_files import parse_reports, told_of_errors, write_reports
    from calibcli.options.rows import Columns, Reading
    from calibcli.tasks.baseline import regression_of
    from calibcli.tasks.destination import check_output
    from calibcli.tasks.rules import bins_of_gate, require_some, rules_of
    from calibcli.tasks.verify import VerifyOptions

    inputs, line = files or [], line_of(context)
    others = (artifact, baseline, state, state_key_file)
    wanted = parse_reports(
        report, inputs=inputs, output=output, force=force, others=others, settings=line.settings
    )
    with told_of_errors(wanted, line):
        if not inputs and state is None:
            msg = "Missing argument 'INPUT...'"
            raise UsageProblem(msg, "calibcli verify --help")
        limits = {M.ECE: max_ece, M.L2: max_l2, M.LINF: max_linf, M.SMECE: max_smece, M.DCE: max_dce}
        regression = regression_of(baseline, baseline_score, limit=max_regression, measures=regression_metric)
        options = VerifyOptions(
            rules_of(limits, rule or ()),
            confidence,
            *bins_of_gate(bins, binning),
            min_rows,
            inconclusive,
            allow_fit_rows,
            min_group_rows,
            regression,
        )
        if not alarm:
            require_some([*options.rules, *([] if regression is None else [regression])], state=state)
        if by and regression is not None and not options.rules:
            msg = "--by with nothing but a baseline, which is compared over all rows"
            raise UsageProblem(msg, "leave out --by, or add a rule such as --max-ece 0.02")
        several = k.several_classes(probs, classes, on_sum=on_sum, view=view, one_class=one_class)
        if min_group_rows is not None and not by and (view is ViewName.CONFIDENCE or one_class):
            msg = "--min-group-rows without groups"
            hint = "name the columns that make them with --by"
            raise IdleOption(msg, hint, options=("min-group-rows",))
        kept = _Kept(state, batch, row_id, planned_rows, alarm, state_key_file)
        kept.refuse_without_path()
        kept.refuse_output(output)
        check_output(output, force=force, inputs=inputs, artifact=artifact)
        check_output(output, force=force, inputs=inputs, artifact=baseline)
        chosen = format_of(fmt, json=json, output=output)
        columns = Columns(
            score,
            label,
            weight,
            weights_are,
            positive,
            scale,
            on_missing,
            on_range,
            by=tuple(by or ()),
            several=several,
            rows=s.rows_of(where, limit, sample, seed=seed),
            on_unseen=unseen,
        )
        reading = Reading(
            i.input_format_of(input_format, delimiter, encoding, decimal=decimal),
            jobs,
            exact,
            memory,
            engine,
            engine_address,
            progress_bar(quiet=quiet),
        )
        judged = _judged(inputs, columns, options, kept, artifact=artifact, reading=reading)
        write(renderer_for(chosen, output, color=color, verbose=verbose, line=line).render(judged), output)
        write_reports(judged, wanted)
    say_notes_beside(chosen, judged.input, judged.notes, quiet=quiet)
    return exit_code(judged.outcome, inconclusive)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What was said about keeping a state."""

    path: str | None
    batch: str | None
    id_column: str | None
    planned_rows: int | None
    alarm: bool
    key_file: str | None

    def refuse_output(self, output: str) -> None:
        """Refuse to write the report over the state."""
        if self.path is None or output == STDOUT:
            return
        if os.path.realpath(output) == os.path.realpath(self.path):
            msg = f"{output} is the state"
            raise OutputProblem(msg, "write the report to another file")

    def refuse_without_path(self) -> None:
        """Refuse options that speak of a state where there is none."""
        if self.path is not None:
            return
        said = {
            "--batch": self.batch,
            "--id": self.id_column,
            "--planned-rows": self.planned_rows,
            "--alarm": self.alarm,
            "--state-key-file": self.key_file,
        }
        for option, value in said.items():
            if value:
                msg = f"{option} without --state"
                hint = "name the file that keeps what was counted: --state gate.json"
                raise IdleOption(msg, hint, options=(option[2:],))


def _judged(
    inputs: list[str],
    columns: "Columns",
    options: "VerifyOptions",
    kept: _Kept,
    *,
    artifact: str | None,
    reading: "Reading",
) -> "VerifyReport":
    """Judge the rows by themselves, or together with those that a state has counted."""
    if kept.path is None:
        from calibcli.tasks.verify import verify_files

        return verify_files(inputs, columns, options=options, artifact=artifact, reading=reading)
    from calibcli.tasks.gate import StateOptions, judge_with_state

    many = len(options.rules) > 1 or not (options.rules or kept.alarm)
    if many or columns.by or options.regression is not None:
        msg = "--state keeps one rule over all rows, without --by and without a baseline"
        raise UsageProblem(msg, "keep one state file for each rule, and one for each group of rows")
    if columns.rows.options:
        msg = f"--state counts every row of its batches, and --{columns.rows.options[0]} leaves some out"
        raise UsageProblem(msg, "keep a file of the rows that are to be counted, and of no others")
    state = StateOptions(kept.path, kept.batch, kept.id_column, kept.planned_rows, kept.alarm)
    rule = options.rules[0] if options.rules else None
    return judge_with_state(
        inputs, columns, rule=rule, options=options, state=state, artifact=artifact, reading=reading
    )


def exit_code(outcome: VerdictName, policy: Inconclusive) -> int:
    """Return what a verdict means to a shell: 0 passed, 1 failed, 4 inconclusive unless the policy says."""
    match outcome:
        case VerdictName.PASS:
            return 0
        case VerdictName.FAIL:
            return 1
        case VerdictName.INCONCLUSIVE:
            return {Inconclusive.ERROR: 4, Inconclusive.FAIL: 1, Inconclusive.PASS: 0}[policy]
