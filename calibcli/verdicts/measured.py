"""What `measure` says of a table, over the partition of a gate."""

from calibcli.measures import Settings, measure_named
from calibcli.measures.estimate import Estimate
from calibcli.names import DEFAULT_BINS, Binning, MeasureName
from calibcli.table.bins import binned, bins_of
from calibcli.table.grid import Table
from calibcli.verdicts.claim import Ground

_NO_INTERVAL = "no interval: "


def measured(name: MeasureName, table: Table, *, ground: Ground, confidence: float) -> Estimate:
    """
    Measure a table, nothing being drawn for a null reference.

    Args:
        name: Which measure.

        table: The rows.

        ground: The partition of binned measures; equal-mass ones get as many bins, or 15 beside atoms.

        confidence: Coverage asked of the two-sided interval.
    """
    edges = ground.bins.edges
    count = DEFAULT_BINS if edges is None else edges.size - 1
    settings = Settings(
        bins=binned(table, ground.bins),
        equal_mass=binned(table, bins_of(Binning.EQUAL_MASS, count, table=table)),
        confidence=confidence,
        calibrated=None,
    )
    return measure_named(name, table, settings=settings)


def partition_of(estimate: Estimate) -> str:
    """Return the bins that an estimate speaks of, in words; empty where it needs none."""
    return str(estimate.details.get("partition", ""))


def why_none(estimate: Estimate) -> str:
    """Return why these rows give no interval, or no value."""
    reasons = [one.removeprefix(_NO_INTERVAL) for one in estimate.assumptions if one.startswith(_NO_INTERVAL)]
    return reasons[0] if reasons else "it is undefined for these rows"
