"""The picture of scores by their miscalibration and discrimination."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from calibcli.commands.pictures.diagram import Diagram, Drawn, PlotRequest, rounding_foot
from calibcli.commands.pictures.of_tables import rows_of, tables_of
from calibcli.commands.pictures.reliability import brief
from calibcli.names import FitLoss, MeasureName, OnMissing, Purpose
from calibcli.options.measuring import MeasureOptions
from calibcli.stats.curves.mcb_dsc import McbDsc
from calibcli.stats.measures.decompositions import corp_part
from calibcli.stats.measures.if_calibrated import Shared
from calibcli.stats.numerics import stream
from calibcli.stats.table.grid import Table

M = MeasureName

# The mean score, its parts, and what it is called.
_PARTS = {
    FitLoss.BRIER: (M.BRIER, (M.BRIER_MCB, M.BRIER_DSC, M.BRIER_UNC), "Brier score"),
    FitLoss.LOG: (M.LOG_LOSS, (M.LOG_LOSS_MCB, M.LOG_LOSS_DSC, M.LOG_LOSS_UNC), "log loss"),
}


def mcb_dsc_diagram(request: PlotRequest) -> Diagram:
    """Read every score, or every group of one, for a point each."""
    # A point is that of a score over the rows that it has.
    apart = not request.columns.by and request.columns.on_missing is OnMissing.PAIRWISE
    found = tables_of(replace(request, columns=replace(request.columns, in_pairs=apart)))
    loss = request.look.loss or FitLoss.BRIER
    return found.diagram(mcb_dsc_drawn(found.tables, options=request.options, loss=loss))


def mcb_dsc_drawn(tables: Mapping[str, Table], *, options: MeasureOptions, loss: FitLoss) -> Drawn:
    """Return a point for each table and, as caption, which has the lowest mean score."""
    measure, parts, word = _PARTS[loss]
    rows = [_point(table, parts, options) for table in tables.values()]
    mcb, dsc, unc, by_chance = np.array(rows).T
    picture = McbDsc(measure, tuple(tables), mcb - dsc + unc, mcb, dsc, unc, by_chance)
    best = int(np.argmin(picture.value if picture.one_base else mcb - dsc))
    whole, first, second = (f"{one:.4f}" for one in (picture.value[best], mcb[best], dsc[best]))
    who, numbers = brief(picture.names[best]), f"{whole} (MCB {first}, DSC {second})"
    said = f"Lowest {word}: {who} {numbers}"
    if not picture.one_base:
        said = f"Best against its own base rate: {who}, {word} {numbers}"
    rest = f"UNC {unc[0]:.4f}; {rows_of(tables.values())}" if picture.one_base else rows_of(tables.values())
    foot = dict.fromkeys(line for table in tables.values() for line in rounding_foot(table))
    return Drawn(picture, (said, rest), tuple(foot))


def _point(
    table: Table, parts: tuple[MeasureName, MeasureName, MeasureName], options: MeasureOptions
) -> tuple[float, float, float, float]:
    """Return the parts of a mean score, and the MCB that calibrated scores seldom pass."""
    shared, generator = Shared(), stream(options.seed, Purpose.CORP)
    mcb, dsc, unc = (
        corp_part(name, table, confidence=options.confidence, generator=generator, shared=shared)
        for name in parts
    )
    high = math.nan if mcb.null_range is None else mcb.null_range[1]
    return mcb.value, dsc.value, unc.value, high
