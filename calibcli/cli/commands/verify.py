"""calibcli verify."""

from calibcli.cli import options as o
from calibcli.names import (
    DEFAULT_CONFIDENCE,
    DEFAULT_LEAST_ROWS,
    DEFAULT_MEMORY,
    ColorWhen,
    Inconclusive,
    OnMissing,
    OnRange,
    ReportFormat,
    Scale,
    VerdictName,
)
from calibcli.outputs import STDOUT


def verify(
    inputs: o.Inputs,
    score: o.Score = None,
    label: o.Label = None,
    max_ece: o.MaxEce = None,
    artifact: o.Artifact = None,
    confidence: o.Confidence = DEFAULT_CONFIDENCE,
    bins: o.Bins = None,
    binning: o.HowBinned = None,
    min_rows: o.MinRows = DEFAULT_LEAST_ROWS,
    inconclusive: o.OnInconclusive = Inconclusive.ERROR,
    allow_fit_rows: o.AllowFitRows = False,
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
) -> int:
    """
    Gate on the calibration error.

    PASS (exit 0) if it is at most the limit, FAIL (1) if above, INCONCLUSIVE (4) if the rows cannot tell.

    \b
    EXAMPLES
      calibcli verify eval.csv -s score -y label --artifact cal.json --max-ece 0.02
      calibcli verify eval.csv -s score -y label --max-ece 0.05 --confidence 0.99
      calibcli verify eval.csv -s score -y label --max-ece 0.02 --inconclusive fail --json
    """
    from calibcli.cli.output import renderer_for, say_notes, write
    from calibcli.readers.columns import Columns
    from calibcli.tasks.destination import check_output
    from calibcli.tasks.reading import Reading
    from calibcli.tasks.verify import VerifyOptions, verify_files

    options = VerifyOptions(max_ece, confidence, bins, binning, min_rows, inconclusive, allow_fit_rows)
    check_output(output, force=force, inputs=inputs, artifact=artifact)
    report = verify_files(
        inputs,
        Columns(score, label, weight, weights_are, positive, scale, on_missing, on_range),
        options=options,
        artifact=artifact,
        reading=Reading(input_format, jobs, exact, memory),
    )
    chosen = ReportFormat.JSON if json else fmt
    write(renderer_for(chosen, output, color=color, verbose=verbose).render(report), output)
    # The other formats hold the notes where they are read.
    say_notes(report.input.notes, quiet=quiet or chosen is not ReportFormat.JSON)
    return exit_code(report.outcome, inconclusive)


def exit_code(outcome: VerdictName, policy: Inconclusive) -> int:
    """Return what a verdict means to a shell: 0 passed, 1 failed, 4 inconclusive unless the policy says."""
    match outcome:
        case VerdictName.PASS:
            return 0
        case VerdictName.FAIL:
            return 1
        case VerdictName.INCONCLUSIVE:
            return {Inconclusive.ERROR: 4, Inconclusive.FAIL: 1, Inconclusive.PASS: 0}[policy]
