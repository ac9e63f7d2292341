"""Diagrams of one table: read it, and hand it to the one that was asked for."""

from dataclasses import replace
from typing import Literal, assert_never

from calibcli.curves.reliability import refuse_empty
from calibcli.errors import UsageProblem
from calibcli.options.measuring import MeasureOptions
from calibcli.picture_names import PlotKind
from calibcli.table.grid import Table
from calibcli.tasks.gather import RAW
from calibcli.tasks.judged import read_judged
from calibcli.tasks.pictures.class_words import class_words
from calibcli.tasks.pictures.diagram import Diagram, Drawn, PlotRequest, fit_rows_foot, title_of

KindOfTable = Literal[PlotKind.ISOTONIC, PlotKind.CUMULATIVE, PlotKind.MURPHY, PlotKind.DECISION]


def diagram_of_table(request: PlotRequest, kind: KindOfTable) -> Diagram:
    """
    Read files for a diagram of one score.

    Args:
        request: What was asked.

        kind: Which diagram.

    Raises:
        UsageProblem: If the input is a document.

        EmptyTable: If there are no rows, or no weight.

        CalibcliError: For input that cannot be read.
    """
    if request.document is not None:
        msg = f"{request.document}: --kind {kind.value} is drawn from the rows"
        raise UsageProblem(msg, "name the files that the report was measured on")
    judged = read_judged(request.inputs, request.columns, artifact=request.artifact, reading=request.reading)
    table, source = judged.table, judged.gathered.input
    refuse_empty(table)
    raw = judged.gathered.tables[RAW] if judged.recalibrated else None
    drawn = _drawn(kind, table, raw=raw, options=request.options)
    notes = (*source.notes, *judged.notes, *judged.fit_notes)
    foot = (*drawn.foot, *class_words(source).meaning, *fit_rows_foot(notes))
    return Diagram(replace(drawn, foot=foot), title_of(source, artifact=request.artifact), notes, source)


def _drawn(kind: KindOfTable, table: Table, *, raw: Table | None, options: MeasureOptions) -> Drawn:
    """Return the picture of a table, the one match of its kind."""
    match kind:
        case PlotKind.ISOTONIC:
            from calibcli.tasks.pictures.isotonic import isotonic_drawn

            return isotonic_drawn(table, options=options)
        case PlotKind.CUMULATIVE:
            from calibcli.tasks.pictures.cumulative import cumulative_drawn

            return cumulative_drawn(table, options=options)
        case PlotKind.MURPHY:
            from calibcli.tasks.pictures.murphy import murphy_drawn

            return murphy_drawn(table, options=options)
        case PlotKind.DECISION:
            from calibcli.tasks.pictures.decision import decision_drawn

            return decision_drawn(table, raw=raw, options=options)
        case _:
            assert_never(kind)
