"""calibcli export."""

import sys

from calibcli.cli import document_options as d
from calibcli.cli import export_options as x
from calibcli.cli import options as o
from calibcli.cli import selection_options as s
from calibcli.errors import OutputProblem
from calibcli.export_names import ExportTarget
from calibcli.outputs import STDOUT
from calibcli.selection_names import OnUnseen
from calibcli.streams import is_terminal


def export(
    artifact: o.ArtifactFile,
    to: x.To,
    dialect: x.Dialect = None,
    table: x.Table = None,
    score: x.ScoreName = None,
    probs: x.ClassNames = None,
    by: x.GroupColumn = None,
    unseen: s.Unseen = OnUnseen.ERROR,
    name: x.NewName = None,
    prior: o.Prior = None,
    float32: x.Single = False,
    output: o.Out = STDOUT,
    allow_edited: d.AllowEdited = False,  # noqa: ARG001 - heard where it is declared
    force: o.Force = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,  # noqa: ARG001 - read by the gate in app.py
) -> None:
    """
    Write the map of an artifact as SQL, Python, a scikit-learn estimator or an ONNX model.

    What comes out gives the same probabilities as `calibcli apply`, without calibcli. Of a map for each group
    (`fit --by`) SQL reads the column of groups, and the Python module takes the group beside the score.

    \b
    EXAMPLES
      calibcli export cal.json --to sql -s score --table predictions
      calibcli export cal.json --to sql --dialect postgres -o calibrated.sql
      calibcli export cal.json --to python -o calibrated.py
      calibcli export cal.json --to sklearn --prior 0.02 -o calibrated.py
      calibcli export cal.json --to onnx -o calibrated.onnx
    """
    from calibcli.artifacts.group_document import GroupArtifact, read_any_map
    from calibcli.cli.output import say_line, say_notes
    from calibcli.outputs import refuse_existing, write_file
    from calibcli.suffixes import refuse_promise
    from calibcli.tasks.export import ExportAsk, query_notes
    from calibcli.tasks.export import export as exported

    columns = None if probs is None else tuple(one.strip() for one in probs.split(","))
    ask = ExportAsk(to, dialect, score, columns, name, table, prior, float32, by, unseen)
    ask.refuse_idle()
    if to is ExportTarget.ONNX and output == STDOUT and is_terminal(sys.stdout):
        msg = "an ONNX model is not text, and standard output is a terminal"
        raise OutputProblem(msg, "name a file with -o, or send it through a pipe")
    refuse_existing(output, force=force, inputs=[artifact])
    kind = "python" if to is ExportTarget.SKLEARN else to.value
    ending = ".py" if kind == "python" else f".{kind}"
    refuse_promise(output, kind, what=f"--to says {to.value}", hint=f"name it calibrated{ending}")
    loaded = read_any_map(artifact)
    write_file(output, exported(loaded, ask))
    say_notes((*loaded.doubts, *query_notes(loaded, ask)), quiet=quiet)
    if output != STDOUT:
        one = loaded.pooled if isinstance(loaded, GroupArtifact) else loaded
        what = f"{one.recalibrator.name.value} map{'s' if one is not loaded else ''}"
        say_line(f"{output}: the {what} of {artifact} as {to.value}", quiet=quiet)
