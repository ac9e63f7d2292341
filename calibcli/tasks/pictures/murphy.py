"""The Murphy diagram of a table, with the Brier score that is its area."""

from calibcli.curves.murphy import murphy_curve
from calibcli.measures.corp import corp_part
from calibcli.measures.proper_scores import brier
from calibcli.measures.settings import Shared
from calibcli.names import MeasureName
from calibcli.options.measuring import MeasureOptions
from calibcli.table.grid import Table
from calibcli.tasks.pictures.diagram import Drawn, bounds_line, places_for, rounding_foot, rows_line


def murphy_drawn(table: Table, *, options: MeasureOptions) -> Drawn:
    """
    Return the Murphy curve with its Brier score and the parts of it.

    Args:
        table: The rows.

        options: Of which the confidence is read.
    """
    confidence, shared = options.confidence, Shared()
    score = brier(table, confidence=confidence)
    mcb, dsc, unc = (
        corp_part(name, table, confidence=confidence, shared=shared).value
        for name in (MeasureName.BRIER_MCB, MeasureName.BRIER_DSC, MeasureName.BRIER_UNC)
    )
    places = places_for(mcb)
    parts = f"= MCB {mcb:.{places}f} (the coloured area) - DSC {dsc:.{places}f} + UNC {unc:.{places}f}"
    parts += " (area of the base rate)"
    return Drawn(
        murphy_curve(table, confidence=confidence),
        (
            f"Brier score {score.value:.{places}f}{bounds_line(score.interval)}: the area under the curve",
            parts,
            rows_line(table.total_rows, table.total_positive_rows),
        ),
        ("MCB miscalibration, DSC discrimination, UNC uncertainty.", *rounding_foot(table)),
    )
