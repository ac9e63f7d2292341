"""Files to a table of scores alone: what can be known before any label is."""

from collections.abc import Sequence

import numpy as np

from calibcli.errors import EmptyTable
from calibcli.options.rows import Columns, Reading
from calibcli.readers import reader_of
from calibcli.readers.faults import Findings
from calibcli.readers.files import found_in, shown_path
from calibcli.readers.fragments import list_fragments
from calibcli.readers.intake import Intake
from calibcli.readers.places import Places
from calibcli.readers.tally import AtPlaces, Transform
from calibcli.readers.unchanged import unchanged
from calibcli.reports.input import InputSummary
from calibcli.table.grid import Table
from calibcli.table.running import RunningTable
from calibcli.tasks.gather import choose_columns
from calibcli.tasks.right_scale import ScaleCheck


def read_scores(
    inputs: Sequence[str],
    columns: Columns,
    *,
    reading: Reading,
    change: Transform | AtPlaces | None = None,
    check: ScaleCheck | None = None,
) -> tuple[Table, InputSummary]:
    """
    Read a score column; no label is needed, and every row of the table has label 0.

    Args:
        inputs: Files, directories, "-" for standard input.

        columns: Which column is the score, and what is to be done with its values.

        reading: How to read.

        change: The map that scores go through before they are counted, or None.

        check: What asks whether the scores are on the scale of that map's fit; None where that is not asked.

    Raises:
        InputProblem: If something is wrong with a file, the column or a score.

        EmptyTable: If no row is left.
    """
    found = found_in(inputs)
    fragments = list_fragments(found, input_format=reading.input_format)
    running, total = RunningTable(reading.limit), Findings()
    with unchanged(fragments):
        chosen = choose_columns(fragments, columns, labelled=False)
        for fragment in fragments:
            of_file = chosen[fragment.path]
            intake = Intake(of_file, shown=fragment.shown, first_row=fragment.first_row)
            for batch in reader_of(fragment.format).batches(fragment, of_file):
                before = fragment.first_row + intake.findings.rows
                score = intake.scores_of(batch.column(of_file.score))
                if check is not None:
                    check.add(score)
                if isinstance(change, AtPlaces):
                    score = change.change(score, Places(before).numbers(score.size))
                elif change is not None:
                    score = change(score)
                running.add_rows(score, np.zeros(score.size, np.bool_))
            total.add(intake.findings)
    table = running.table()
    if table.total_rows == 0:
        msg = f"{shown_path(fragments[0].path)}: there are no rows with a score"
        raise EmptyTable(msg)
    first = chosen[fragments[0].path]
    files = tuple(dict.fromkeys(fragment.path for fragment in fragments))
    kept = total.rows - total.dropped
    notes = () if check is None else check.notes(intake)
    return table, InputSummary(
        files,
        first.score,
        None,
        None,
        kept,
        total.dropped,
        total.clipped,
        (*found.notes(), *first.notes, *notes),
    )
