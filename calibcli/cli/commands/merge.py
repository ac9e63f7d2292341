"""calibcli merge."""

from calibcli.cli import gate_options as g
from calibcli.cli import options as o
from calibcli.names import ColorWhen, ReportFormat
from calibcli.outputs import STDERR


def merge(
    states: g.StateFiles,
    output: o.OutFile,
    force: o.Force = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    color: o.Color = ColorWhen.AUTO,
    debug: o.Debug = False,  # noqa: ARG001 - read by the gate in app.py
) -> None:
    """
    Add up what gates have counted on shards of the rows.

    The sums of `verify --state` add exactly, in any order. The verdicts of the shards are not taken over:
    ask the merged state.

    \b
    EXAMPLES
      calibcli merge shard1.json shard2.json -o gate.json
      calibcli inspect gate.json
      calibcli verify more.csv -s score -y label --max-ece 0.02 --state gate.json
    """
    from calibcli.cli.output import renderer_for, say, say_notes
    from calibcli.tasks.merge import merge_states

    merged = merge_states(states, output=output, force=force)
    summary = renderer_for(ReportFormat.TABLE, STDERR, color=color, verbose=verbose)
    say(summary.render(merged.report), quiet=quiet)
    say_notes(merged.notes, quiet=quiet)
