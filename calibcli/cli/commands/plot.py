"""calibcli plot."""

from calibcli.cli import class_options as k
from calibcli.cli import options as o
from calibcli.errors import UsageProblem
from calibcli.names import (
    DEFAULT_CONFIDENCE,
    DEFAULT_MEMORY,
    DEFAULT_SEED,
    OnMissing,
    OnRange,
    Scale,
)
from calibcli.view_names import OnSum, ViewName


def plot(
    inputs: o.PlotInputs,
    output: o.OutFile,
    score: o.Score = None,
    label: o.Label = None,
    probs: k.Probs = None,
    classes: k.Classes = None,
    view: k.View = ViewName.CONFIDENCE,
    one_class: k.OneClass = None,
    on_sum: k.HowSummed = OnSum.ERROR,
    kind: o.Kind = None,
    artifact: o.Artifact = None,
    title: o.Title = None,
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
    force: o.Force = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,  # noqa: ARG001 - read by the gate in app.py
) -> None:
    """
    Draw a reliability diagram with the error in it.

    PNG, SVG or PDF by the output's suffix.

    \b
    EXAMPLES
      calibcli plot preds.csv -s score -y label -o reliability.png
      calibcli plot preds.parquet -s score -y label --artifact cal.json --kind binned -o after.svg
      calibcli plot report.json -o reliability.pdf
      calibcli plot preds.parquet --probs 'p_*' -y label --view one-vs-rest --class cat -o cat.svg
    """
    from calibcli.cli.output import say, say_notes
    from calibcli.figures.formats import picture_format
    from calibcli.outputs import new_file
    from calibcli.readers.columns import Columns
    from calibcli.tasks.destination import check_output
    from calibcli.tasks.measure import MeasureOptions
    from calibcli.tasks.plot import diagram_of_files
    from calibcli.tasks.reading import Reading

    suffix = picture_format(output)
    check_output(output, force=force, inputs=inputs, artifact=artifact)
    several = k.several_classes(probs, classes, on_sum=on_sum, view=view, one_class=one_class)
    if view is not ViewName.CONFIDENCE and one_class is None:
        msg = f"a diagram shows one score, and --view {view.value} has one for each class"
        raise UsageProblem(msg, "name one class with --class")
    diagram = diagram_of_files(
        inputs,
        Columns(score, label, weight, weights_are, positive, scale, on_missing, on_range, several=several),
        kind=kind,
        artifact=artifact,
        options=MeasureOptions(bins=bins, binning=binning, confidence=confidence, seed=seed),
        reading=Reading(input_format, jobs, exact, memory),
    )
    from calibcli.figures.reliability import reliability_figure, save

    figure = reliability_figure(
        diagram.curve, title=title or diagram.title, caption=diagram.caption, kind=diagram.kind
    )
    with new_file(output) as file:
        save(figure, file, suffix)
    say_notes(diagram.notes, quiet=quiet)
    say(f"{output}: {diagram.caption[0]}", quiet=quiet)
