"""calibcli compare."""

import typer

from calibcli.cli import class_options as k
from calibcli.cli import document_options as d
from calibcli.cli import engine_options as e
from calibcli.cli import gate_options as g
from calibcli.cli import input_options as i
from calibcli.cli import options as o
from calibcli.cli import selection_options as s
from calibcli.names import (
    DEFAULT_CONFIDENCE,
    DEFAULT_MEMORY,
    DEFAULT_SEED,
    ColorWhen,
    EngineName,
    OnMissing,
    OnRange,
)
from calibcli.outputs import STDOUT
from calibcli.view_names import OnSum, ViewName


def compare(
    context: typer.Context,
    inputs: o.Inputs,
    score: o.Scores = None,
    label: o.Label = None,
    probs: k.ComparedProbs = None,
    classes: k.Classes = None,
    view: k.View = ViewName.CONFIDENCE,
    one_class: k.OneClass = None,
    on_sum: k.HowSummed = OnSum.ERROR,
    artifact: o.Artifacts = None,
    metric: o.CompareMetric = None,
    fail_if_worse: o.FailIfWorse = False,
    allow_fit_rows: g.AllowFitRows = False,
    bins: o.Bins = None,
    binning: o.HowBinned = None,
    confidence: o.Confidence = DEFAULT_CONFIDENCE,
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
    Compare two models on the same rows.

    The first score or artifact is the baseline. With one artifact, the raw score or probabilities are.

    \b
    EXAMPLES
      calibcli compare eval.csv -s old -s new -y label
      calibcli compare eval.csv -s score -y label --artifact cal.json
      calibcli compare eval.csv -s score --artifact old.json --artifact new.json
      calibcli compare eval.csv -s old -s new -y label --fail-if-worse
      calibcli compare eval.parquet --probs 'p_*' -y label --artifact cal.json
    """
    from calibcli.cli.line import line_of
    from calibcli.cli.output import format_of, renderer_for, say_notes_beside, write
    from calibcli.cli.progress_bar import progress_bar
    from calibcli.options.measuring import CompareOptions
    from calibcli.options.metrics import compared_metrics
    from calibcli.options.rows import Columns, Reading
    from calibcli.tasks.compare import compare_files
    from calibcli.tasks.destination import check_output

    options = CompareOptions(
        compared_metrics(metric or ()), bins, binning, confidence, fail_if_worse, allow_fit_rows
    )
    artifacts = tuple(artifact or ())
    for path in artifacts or (None,):
        check_output(output, force=force, inputs=inputs, artifact=path)
    chosen = format_of(fmt, json=json, output=output)
    scores = tuple(score or ())
    report = compare_files(
        inputs,
        Columns(
            scores[0] if scores else None,
            label,
            weight,
            weights_are,
            positive,
            scale,
            on_missing,
            on_range,
            others=scores[1:],
            rows=s.rows_of(where, limit, sample, seed=seed),
            several=k.several_classes(
                k.only_probs(probs), classes, on_sum=on_sum, view=view, one_class=one_class
            ),
        ),
        artifacts=artifacts,
        options=options,
        reading=Reading(
            i.input_format_of(input_format, delimiter, encoding, decimal=decimal),
            jobs,
            exact,
            memory,
            engine,
            engine_address,
            progress_bar(quiet=quiet),
        ),
    )
    write(
        renderer_for(chosen, output, color=color, verbose=verbose, line=line_of(context)).render(report),
        output,
    )
    say_notes_beside(chosen, report.input, report.notes, quiet=quiet)
    return 1 if report.worse_by else 0
