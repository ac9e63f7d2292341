"""calibcli export."""

import sys

from calibcli.data.outputs import is_terminal
from calibcli.errors import OutputProblem
from calibcli.names import STDOUT, ExportTarget
from calibcli.options.fitting import ExportAsk
from calibcli.options.output import ArtifactFile, Output
from calibcli.shell.door import command


@command(
    "to dialect form view table score probs by unseen name prior float32 "
    "output allow_edited force quiet debug"
)
def export(artifact: ArtifactFile, ask: ExportAsk, out: Output) -> None:
    """
    Write the map of an artifact as SQL, Python, scikit-learn or ONNX.

    What comes out gives the same probabilities as `calibcli apply`, without calibcli. Of a map for each group
    (`fit --by`) SQL reads the column of groups, and the Python module takes the group beside the score.

    \b
    EXAMPLES
      calibcli export cal.json --to sql -s score --table predictions
      calibcli export cal.json --to sql --dialect postgres -o calibrated.sql
      calibcli export cal.json --to sql --dialect trino --as view --view scores.calibrated
      calibcli export cal.json -o calibrated.py
      calibcli export cal.json --to sklearn --prior 0.02 -o calibrated.py
      calibcli export cal.json --to onnx -o calibrated.onnx
    """
    from calibcli.commands.export import export as exported
    from calibcli.commands.export import query_notes
    from calibcli.data.formats import refuse_promise
    from calibcli.data.outputs import refuse_existing, write_file
    from calibcli.documents.artifact import GroupArtifact, read_any_map
    from calibcli.shell.output import say_line, say_notes

    ask = ask.for_output(out.output)
    ask.refuse_idle()
    if ask.target is ExportTarget.ONNX and out.output == STDOUT and is_terminal(sys.stdout):
        msg = "an ONNX model is not text, and standard output is a terminal"
        raise OutputProblem(msg, "name a file with -o, or send it through a pipe")
    refuse_existing(out.output, force=out.force, inputs=[artifact])
    kind = "python" if ask.target is ExportTarget.SKLEARN else ask.target.value
    ending = ".py" if kind == "python" else f".{kind}"
    refuse_promise(out.output, kind, what=f"--to says {ask.target.value}", hint=f"name it calibrated{ending}")
    loaded = read_any_map(artifact)
    write_file(out.output, exported(loaded, ask))
    say_notes((*loaded.doubts, *query_notes(loaded, ask)), quiet=out.quiet)
    if out.output != STDOUT:
        one = loaded.pooled if isinstance(loaded, GroupArtifact) else loaded
        what = f"{one.recalibrator.name.value} map{'s' if one is not loaded else ''}"
        say_line(f"{out.output}: the {what} of {artifact} as {ask.target.value}", quiet=out.quiet)
