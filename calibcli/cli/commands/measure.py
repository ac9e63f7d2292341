"""calibcli measure."""

from typing import TYPE_CHECKING

import typer

from calibcli.cli import class_options as k
from calibcli.cli import document_options as d
from calibcli.cli import engine_options as e
from calibcli.cli import input_options as i
from calibcli.cli import options as o
from calibcli.cli import selection_options as s
from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import (
    DEFAULT_CONFIDENCE,
    DEFAULT_LEAST_ROWS,
    DEFAULT_MEMORY,
    DEFAULT_SEED,
    ColorWhen,
    EngineName,
    OnMissing,
    OnRange,
    ReportFormat,
)
from calibcli.outputs import STDOUT
from calibcli.selection_names import OnUnseen
from calibcli.view_names import OnSum, ViewName

if TYPE_CHECKING:
    from calibcli.reports.compat import CompatReport
    from calibcli.reports.measure import MeasureReport


def measure(
    context: typer.Context,
    inputs: o.MeasureInputs = None,
    score: o.SeveralScores = None,
    label: o.Label = None,
    artifact: o.Artifact = None,
    probs: k.Probs = None,
    classes: k.Classes = None,
    view: k.View = ViewName.CONFIDENCE,
    one_class: k.OneClass = None,
    on_sum: k.HowSummed = OnSum.ERROR,
    metric: o.Metric = None,
    power: o.Power = 2.0,
    compat: o.Compat = None,
    explain: o.Explain = None,
    by: o.By = None,
    min_group_rows: o.LeastGroupRows = DEFAULT_LEAST_ROWS,
    cluster: o.Cluster = None,
    bins: o.Bins = None,
    binning: o.HowBinned = None,
    edges: o.Edges = None,
    bounds: o.AllBounds = False,
    confidence: o.Confidence = DEFAULT_CONFIDENCE,
    seed: o.Seed = DEFAULT_SEED,
    unseen: s.Unseen = OnUnseen.ERROR,
    where: s.Where = None,
    limit: s.Limit = None,
    sample: s.Sample = None,
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
    summary_out: d.SummaryOut = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    color: o.Color = ColorWhen.AUTO,
    debug: o.Debug = False,  # noqa: ARG001 - read by the gate in app.py
) -> None:
    """
    Measure miscalibration, with bounds that hold.

    \b
    EXAMPLES
      calibcli measure preds.csv -s score -y label
      calibcli measure preds.parquet -s score -y label --artifact cal.json
      calibcli measure preds.csv -s score -y label --metric ece --metric smece --json
      calibcli measure preds.csv -s score -y label --compat netcal
      calibcli measure preds.csv -s score -y label --by country --by device
      calibcli measure preds.csv -s old -s new -y label --cluster patient
      calibcli measure preds.parquet --probs 'p_*' -y label
      calibcli measure part1.parquet -s score -y label --summary-out part1.json
      calibcli measure --explain smece
    """
    from calibcli.cli.explain import write_explanation
    from calibcli.cli.line import line_of
    from calibcli.cli.output import format_of, renderer_for, say_notes_beside, write
    from calibcli.cli.progress_bar import progress_bar
    from calibcli.options.measuring import MeasureOptions, edges_of
    from calibcli.options.metrics import metrics_of
    from calibcli.options.rows import Columns, Reading
    from calibcli.suffixes import refuse_promise
    from calibcli.tasks.destination import check_output
    from calibcli.tasks.measure import measure_files

    if explain is not None:
        chosen = format_of(fmt, json=json, output=output)
        write_explanation(explain, chosen, output, force=force, color=color)
        return
    if not inputs:
        msg = "Missing argument 'INPUT...'"
        raise UsageProblem(msg, "calibcli measure --help")
    scores: list[str | None] = [*score] if score else [None]
    if compat is not None:
        beside = {"--metric": metric, "--score": scores[1:], "--by": by, "--cluster": cluster}
        beside["--summary-out"] = summary_out
        _refuse_beside_compat({**beside, "--edges": edges, "--bounds": bounds})
    if bounds and cluster is not None:
        msg = "--bounds lists bounds for independent rows, and with --cluster they are not"
        raise IdleOption(msg, "leave out one of them", options=("bounds", "cluster"))
    check_output(output, force=force, inputs=inputs, artifact=artifact)
    chosen = format_of(fmt, json=json, output=output)
    if summary_out is not None:
        d.refuse_one_place(output, summary_out)
        check_output(summary_out, force=force, inputs=inputs, artifact=artifact)
        refuse_promise(summary_out, "json", what="a summary is JSON", hint="name it part.json")
    complete = chosen is ReportFormat.JSON
    columns = Columns(
        scores[0],
        label,
        weight,
        weights_are,
        positive,
        scale,
        on_missing,
        on_range,
        others=tuple(name for name in scores[1:] if name is not None),
        by=tuple(by or ()),
        cluster=cluster,
        several=k.several_classes(probs, classes, on_sum=on_sum, view=view, one_class=one_class),
        rows=s.rows_of(where, limit, sample, seed=seed),
        on_unseen=unseen,
    )
    options = MeasureOptions(
        metrics_of(metric or ()),
        bins,
        binning,
        confidence,
        seed,
        verbose,
        power,
        complete,
        min_group_rows,
        bounds,
        None if edges is None else edges_of(edges),
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
    report: MeasureReport | CompatReport
    if compat is None:
        report = measure_files(
            inputs, columns, artifact=artifact, options=options, reading=reading, summary_out=summary_out
        )
    else:
        from calibcli.tasks.compat import compat_files

        report = compat_files(
            inputs, columns, tool=compat, artifact=artifact, options=options, reading=reading
        )
    write(
        renderer_for(chosen, output, color=color, verbose=verbose, line=line_of(context)).render(report),
        output,
    )
    say_notes_beside(chosen, report.input, report.notes, quiet=quiet)


def _refuse_beside_compat(options: dict[str, object]) -> None:
    """Refuse what another tool's numbers cannot be given for."""
    for option, value in options.items():
        if value and option == "--metric":
            msg = "--compat says itself what is measured, and --metric does as well"
            raise IdleOption(msg, "leave out one of them", options=("metric", "compat"))
        if value:
            what = "several scores" if option == "--score" else option
            msg = f"--compat gives the numbers of one score over all rows, without {what}"
            raise IdleOption(msg, "leave out one of them", options=(option[2:], "compat"))
