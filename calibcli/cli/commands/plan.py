"""calibcli plan."""

import typer

from calibcli.cli import document_options as d
from calibcli.cli import gate_options as g
from calibcli.cli import input_options as i
from calibcli.cli import options as o
from calibcli.gate_names import DEFAULT_POWER
from calibcli.names import (
    DEFAULT_CONFIDENCE,
    DEFAULT_LEAST_ROWS,
    DEFAULT_MEMORY,
    DEFAULT_SEED,
    ColorWhen,
    MeasureName,
    OnMissing,
    OnRange,
    ReportFormat,
)
from calibcli.outputs import STDOUT


def plan(
    context: typer.Context,
    max_ece: g.MaxEce = None,
    max_l2: g.MaxL2 = None,
    max_linf: g.MaxLinf = None,
    max_smece: g.MaxSmece = None,
    max_dce: g.MaxDce = None,
    artifact: o.Artifact = None,
    like: g.Like = None,
    score: o.Score = None,
    power: g.PlanPower = DEFAULT_POWER,
    error: g.TrueError = 0.0,
    any_time: g.AskedAgain = False,
    confidence: o.Confidence = DEFAULT_CONFIDENCE,
    bins: g.GateBins = None,
    binning: o.HowBinned = None,
    min_rows: g.MinRows = DEFAULT_LEAST_ROWS,
    seed: o.Seed = DEFAULT_SEED,
    scale: o.ScoreScale = None,
    on_missing: o.Missing = OnMissing.ERROR,
    on_range: o.Range = OnRange.ERROR,
    input_format: o.InputFormat = None,
    delimiter: i.Delimiter = None,
    encoding: i.Encoding = None,
    decimal: i.Decimal = None,
    exact: o.Exact = False,
    memory: o.Memory = DEFAULT_MEMORY,
    allow_edited: d.AllowEdited = False,  # noqa: ARG001 - heard where it is declared
    fmt: o.Format = None,
    json: o.Json = False,
    output: o.Out = STDOUT,
    force: o.Force = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    color: o.Color = ColorWhen.AUTO,
    debug: o.Debug = False,  # noqa: ARG001 - read by the gate in app.py
) -> None:
    """
    Say how many labelled rows a gate will take, before any are collected.

    The gate of `verify` is simulated with labels that follow the scores, or are off by --error. Where the
    scores fall is taken from the fit rows of a discrete artifact, or from --like.

    \b
    EXAMPLES
      calibcli plan --max-ece 0.02 --artifact cal.json
      calibcli plan --max-ece 0.02 --artifact cal.json --any-time --error 0.005
      calibcli plan --max-ece 0.03 --like preds.csv -s score --power 0.8
      calibcli plan --max-ece 0.02 --like preds.csv -s score --error 0.05
    """
    from calibcli.cli.line import line_of
    from calibcli.cli.output import format_of, renderer_for, say_notes, write
    from calibcli.options.rows import Columns, Reading
    from calibcli.tasks.destination import check_output
    from calibcli.tasks.plan import PlanOptions, plan_rows
    from calibcli.tasks.rules import bins_of_gate

    asked = {
        MeasureName.ECE: max_ece,
        MeasureName.L2: max_l2,
        MeasureName.LINF: max_linf,
        MeasureName.SMECE: max_smece,
        MeasureName.DCE: max_dce,
    }
    limits = {measure: limit for measure, limit in asked.items() if limit is not None}
    options = PlanOptions(
        limits, error, power, confidence, any_time, *bins_of_gate(bins, binning), min_rows, seed
    )
    check_output(output, force=force, inputs=[] if like is None else [like], artifact=artifact)
    chosen = format_of(fmt, json=json, output=output)
    report = plan_rows(
        options,
        artifact=artifact,
        like=like,
        columns=Columns(score=score, scale=scale, on_missing=on_missing, on_range=on_range),
        reading=Reading(
            i.input_format_of(input_format, delimiter, encoding, decimal=decimal), None, exact, memory
        ),
    )
    write(
        renderer_for(chosen, output, color=color, verbose=verbose, line=line_of(context)).render(report),
        output,
    )
    # The other formats hold the notes where they are read.
    notes = () if report.input is None else report.input.notes
    say_notes(notes, quiet=quiet or chosen is not ReportFormat.JSON)
