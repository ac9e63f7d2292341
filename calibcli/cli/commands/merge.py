"""calibcli merge."""

from calibcli.cli import document_options as d
from calibcli.cli import options as o
from calibcli.names import ColorWhen, ReportFormat
from calibcli.outputs import STDERR


def merge(
    documents: d.Documents,
    output: o.OutFile,
    state_key_file: d.StateKeyFile = None,  # noqa: ARG001 - heard where it is declared
    allow_edited: d.AllowEdited = False,  # noqa: ARG001 - heard where it is declared
    force: o.Force = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    color: o.Color = ColorWhen.AUTO,
    debug: o.Debug = False,  # noqa: ARG001 - read by the gate in app.py
) -> None:
    """
    Add up what was counted on shards of the rows.

    Summaries of `measure --summary-out` add up to the summary of the whole, which measure, verify and plot
    take in place of files. The sums of `verify --state` add exactly, in any order; the verdicts of the
    shards are not taken over: ask the merged state.

    \b
    EXAMPLES
      calibcli merge part1.json part2.json -o whole.json
      calibcli measure whole.json
      calibcli merge shard1.json shard2.json -o gate.json
      calibcli inspect gate.json
      calibcli verify more.csv -s score -y label --max-ece 0.02 --state gate.json
    """
    from calibcli.cli.output import renderer_for, say, say_notes
    from calibcli.suffixes import refuse_promise
    from calibcli.tasks.merge import merge_documents

    refuse_promise(output, "json", what="states and summaries are JSON", hint="name it whole.json")
    merged = merge_documents(documents, output=output, force=force)
    summary = renderer_for(ReportFormat.TABLE, STDERR, color=color, verbose=verbose)
    say(summary.render(merged.report), quiet=quiet)
    say_notes(merged.notes, quiet=quiet)
