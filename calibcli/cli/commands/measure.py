"""calibcli measure."""

from calibcli.cli import options as o
from calibcli.names import (
    DEFAULT_CONFIDENCE,
    DEFAULT_MEMORY,
    DEFAULT_SEED,
    ColorWhen,
    OnMissing,
    OnRange,
    ReportFormat,
    Scale,
)
from calibcli.outputs import STDOUT


def measure(
    inputs: o.Inputs,
    score: o.Score = None,
    label: o.Label = None,
    artifact: o.Artifact = None,
    metric: o.Metric = None,
    bins: o.Bins = None,
    binning: o.HowBinned = None,
    confidence: o.Confidence = DEFAULT_CONFIDENCE,
    seed: o.Seed = DEFAULT_SEED,
    weight: o.Weight = None,
    weights_are: o.WeightsAre = None,
    positive: o.Positive = None,
    scale: o.ScoreScale = Scale.PROB,
    on_missing: o.Missing = OnMissing.ERROR,
    on_range: o.Range = OnRange.ERROR,
    input_format: o.InputFormat = None,
    exact: o.Exact = False,
    memory: o.Memory = DEFAULT_MEMORY,
    jobs: o.Jobs = None,
    fmt: o.Format = ReportFormat.TABLE,
    json: o.Json = False,
    output: o.Out = STDOUT,
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
    """
    from calibcli.cli.output import renderer_for, say_notes, write
    from calibcli.readers.columns import Columns
    from calibcli.tasks.destination import check_output
    from calibcli.tasks.measure import MeasureOptions, measure_files
    from calibcli.tasks.reading import Reading

    check_output(output, force=force, inputs=inputs, artifact=artifact)
    chosen = ReportFormat.JSON if json else fmt
    metrics, complete = tuple(metric) if metric else None, chosen is ReportFormat.JSON
    report = measure_files(
        inputs,
        Columns(score, label, weight, weights_are, positive, scale, on_missing, on_range),
        artifact=artifact,
        options=MeasureOptions(metrics, bins, binning, confidence, seed, verbose, complete),
        reading=Reading(input_format, jobs, exact, memory),
    )
    write(renderer_for(chosen, output, color=color, verbose=verbose).render(report), output)
    # The other formats hold the notes where they are read.
    say_notes(report.input.notes, quiet=quiet or chosen is not ReportFormat.JSON)
