"""Where `measure --explain` goes: no data is read."""

from calibcli.names import ReportFormat
from calibcli.options.output import Output


def write_explanation(name: str, kind: ReportFormat, out: Output) -> None:
    """
    Write the definition of a measure or test, or the names of all.

    Raises:
        UsageProblem: If there is no such name, it is a group, or the format is JSON.

        OutputProblem: If the output cannot be written.
    """
    from calibcli.cli.output import screen_for, write
    from calibcli.options.metrics import one_metric
    from calibcli.render.explain import definition_page, names_page, writer_of
    from calibcli.tasks.destination import check_output

    check_output(out.output, force=out.force, inputs=())
    screen = screen_for(out.output, color=out.color)
    writer = writer_of(kind, width=screen.width, color=screen.color, unicode=screen.unicode)
    page = names_page() if name.strip().lower() == "all" else definition_page(one_metric(name))
    write(writer.text(page), out.output)
