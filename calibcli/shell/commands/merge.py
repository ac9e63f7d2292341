"""calibcli merge."""

from calibcli.options.output import TO_A_FILE, Documents, Output
from calibcli.shell.door import command


@command("output state_key_file allow_edited force quiet verbose color debug", output=TO_A_FILE)
def merge(documents: Documents, out: Output) -> None:
    """
    Add up what was counted on shards of the rows.

    Summaries of `measure --summary-out` add up to the summary of the whole, which measure, verify and plot
    take in place of files. The sums of `verify --state` add exactly, in any order; verdicts of the
    shards are not kept: run verify on the merged state.

    \b
    EXAMPLES
      calibcli merge part1.json part2.json -o whole.json
      calibcli measure whole.json
      calibcli merge shard1.json shard2.json -o gate.json
      calibcli inspect gate.json
      calibcli verify more.csv -s score -y label --max-ece 0.02 --state gate.json
    """
    from calibcli.commands.merge import merge_documents
    from calibcli.data.formats import refuse_promise
    from calibcli.shell.output import say_notes, say_summary

    refuse_promise(out.output, "json", what="states and summaries are JSON", hint="name it whole.json")
    report, notes = merge_documents(documents, output=out.output, force=out.force)
    say_summary(report, out)
    say_notes(notes, quiet=out.quiet)
