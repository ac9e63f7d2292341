"""CORP's reliability diagram and the parts of the Brier score that it shows."""

from calibcli.curves.isotonic import isotonic_curve
from calibcli.measures.corp import corp_part
from calibcli.measures.proper_scores import brier
from calibcli.measures.settings import Shared
from calibcli.names import MeasureName, Purpose
from calibcli.options.measuring import MeasureOptions
from calibcli.table.grid import Table
from calibcli.table.streams import stream
from calibcli.tasks.pictures.diagram import Drawn, places_for, rows_line

_PARTS = (
    "MCB: miscalibration; DSC: discrimination; UNC: uncertainty. MCB has no interval: the fit follows noise."
)


def isotonic_drawn(table: Table, *, options: MeasureOptions) -> Drawn:
    """
    Return the isotonic fit and, as caption, the Brier score in its parts.

    Args:
        table: The rows, at least one of some weight.

        options: Confidence and seed.
    """
    generator = stream(options.seed, Purpose.CONSISTENCY_BAND)
    curve = isotonic_curve(table, generator=generator, confidence=options.confidence)
    shared, drawn = Shared(), stream(options.seed, Purpose.CORP)
    mcb = corp_part(MeasureName.BRIER_MCB, table, generator=drawn, shared=shared)
    dsc, unc = (
        corp_part(name, table, shared=shared).value for name in (MeasureName.BRIER_DSC, MeasureName.BRIER_UNC)
    )
    places = places_for(mcb.value)
    whole, *parts = (f"{one:.{places}f}" for one in (brier(table).value, mcb.value, dsc, unc))
    low, high = mcb.null_range or (0.0, 0.0)
    null = "" if mcb.null_range is None else f"; MCB if calibrated, {low:.{places}f} to {high:.{places}f}"
    return Drawn(
        curve,
        (
            "Brier {} = MCB {} - DSC {} + UNC {}".format(whole, *parts),
            f"{rows_line(table.total_rows, table.total_positive_rows)}{null}",
        ),
        (_PARTS, "Each cell of the grid counts as one score.") if table.kind == "grid" else (_PARTS,),
    )
