"""Where `measure --explain` goes: no data is read."""

from calibcli.names import ColorWhen, ReportFormat


def write_explanation(name: str, kind: ReportFormat, output: str, *, force: bool, color: ColorWhen) -> None:
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

    check_output(output, force=force, inputs=())
    screen = screen_for(output, color=color)
    writer = writer_of(kind, width=screen.width, color=screen.color, unicode=screen.unicode)
    page = names_page() if name.strip().lower() == "all" else definition_page(one_metric(name))
    write(writer.text(page), output)
