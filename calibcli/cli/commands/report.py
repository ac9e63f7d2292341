"""calibcli report."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from calibcli.cli import class_options as k
from calibcli.cli import document_options as d
from calibcli.cli import engine_options as e
from calibcli.cli import gate_options as g
from calibcli.cli import input_options as i
from calibcli.cli import options as o
from calibcli.cli import picture_options as p
from calibcli.cli import selection_options as s
from calibcli.errors import UsageProblem
from calibcli.names import (
    DEFAULT_CONFIDENCE,
    DEFAULT_LEAST_ROWS,
    DEFAULT_MEMORY,
    DEFAULT_SEED,
    EngineName,
    MeasureName,
    OnMissing,
    OnRange,
)
from calibcli.outputs import STDOUT
from calibcli.picture_names import AxisScale
from calibcli.selection_names import OnUnseen
from calibcli.view_names import OnSum, ViewName

if TYPE_CHECKING:
    from calibcli.reports.verify import VerifyReport

M = MeasureName


def report(
    context: typer.Context,
    inputs: o.Inputs,
    output: o.OutFile,
    score: o.SeveralScores = None,
    label: o.Label = None,
    artifact: o.Artifact = None,
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
    min_rows: g.MinRows = DEFAULT_LEAST_ROWS,
    allow_fit_rows: g.AllowFitRows = False,
    metric: o.Metric = None,
    by: o.By = None,
    min_group_rows: p.ReportedRows = None,
    bins: o.Bins = None,
    binning: o.HowBinned = None,
    confidence: o.Confidence = DEFAULT_CONFIDENCE,
    seed: o.Seed = DEFAULT_SEED,
    axis: p.Axis = AxisScale.LINEAR,
    title: p.PageTitle = None,
    date: p.PageDate = None,
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
    force: o.Force = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,  # noqa: ARG001 - read by the gate in app.py
) -> None:
    """
    Write measures, verdicts and diagrams as one page of HTML.

    One self-contained file, to be sent or printed. Rules are judged as by verify, and shown; the exit code
    is 0 whatever the verdict: to gate, use verify. Needs calibcli[report].

    \b
    EXAMPLES
      calibcli report eval.csv -s score -y label -o report.html
      calibcli report eval.csv -s score -y label --artifact cal.json --max-ece 0.02 -o report.html
      calibcli report eval.parquet -s old -s new -y label --by country -o report.html
      calibcli report eval.parquet --probs 'p_*' -y label -o report.html
    """
    from calibcli.cli.line import line_of
    from calibcli.cli.output import say_line, say_notes
    from calibcli.cli.own_words import command_line
    from calibcli.cli.progress_bar import progress_bar
    from calibcli.options.measuring import MeasureOptions
    from calibcli.options.metrics import metrics_of
    from calibcli.options.rows import Columns, Reading
    from calibcli.outputs import write_file
    from calibcli.render.html.writing import require_templates
    from calibcli.tasks.destination import check_output
    from calibcli.tasks.rules import rules_of
    from calibcli.tasks.verify import VerifyOptions

    require_templates()
    _refuse_suffix(output)
    check_output(output, force=force, inputs=inputs, artifact=artifact)
    scores: list[str | None] = [*score] if score else [None]
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
        several=k.several_classes(probs, classes, on_sum=on_sum, view=view, one_class=one_class),
        rows=s.rows_of(where, limit, sample, seed=seed),
        on_unseen=unseen,
    )
    least = DEFAULT_LEAST_ROWS if min_group_rows is None else min_group_rows
    options = MeasureOptions(metrics_of(metric or ()), bins, binning, confidence, seed, least_rows=least)
    limits = {M.ECE: max_ece, M.L2: max_l2, M.LINF: max_linf, M.SMECE: max_smece, M.DCE: max_dce}
    rules = rules_of(limits, rule or ())
    gate = VerifyOptions(
        rules,
        confidence,
        bins,
        binning,
        min_rows,
        allow_fit_rows=allow_fit_rows,
        least_group_rows=min_group_rows,
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
    from calibcli.cli.drawing_cache import drawing_cache
    from calibcli.tasks.full_report import ReportRequest

    request = ReportRequest(inputs, columns, artifact, options, gate if rules else None, reading)
    with drawing_cache():
        from calibcli.api.report import PageWords, html_report

        words = PageWords(
            command_line(context, output="report.html"),
            title or "Calibration report",
            date,
            axis,
            line_of(context).settings,
        )
        written = html_report(request, words)
    write_file(output, written.html.encode("utf-8"))
    measured = written.found.measured
    say_notes((*measured.input.notes, *measured.notes), quiet=quiet)
    if output != STDOUT:
        say_line(f"{output}: {_outcome(written.found.verdicts)}", quiet=quiet)


def _refuse_suffix(output: str) -> None:
    """Refuse a name that promises something else."""
    if output != STDOUT and Path(output).suffix.lower() not in (".html", ".htm"):
        msg = f"{output}: a report is a page of HTML"
        raise UsageProblem(msg, f"name it {Path(output).stem or 'report'}.html")


def _outcome(verdicts: "VerifyReport | None") -> str:
    """Return what there is to say of the page in a few words."""
    return "nothing was judged" if verdicts is None else verdicts.outcome.value.upper()
