"""Tables of files, or of summaries that stand in their place."""

from collections.abc import Sequence

from calibcli.commands.gathering import Gathered, gather
from calibcli.data.engines import engine_named
from calibcli.data.tally import NOTHING, Beside, Transforms
from calibcli.errors import IdleOption
from calibcli.names import OnUnseen
from calibcli.options.rows import Columns, Reading
from calibcli.options.sources import RowSource, is_json


def refuse_unseen(columns: Columns) -> None:
    """Refuse to be told about groups where no map has members."""
    if columns.on_unseen is not OnUnseen.ERROR:
        msg = f"--unseen {columns.on_unseen.value} speaks of groups, and no map for each group is applied"
        raise IdleOption(msg, "leave it out, or apply what `calibcli fit --by` wrote", options=("unseen",))


def read_tables(
    inputs: Sequence[RowSource],
    columns: Columns,
    *,
    reading: Reading,
    transforms: Transforms | None = None,
    beside: Beside = NOTHING,
    twice: bool = False,
) -> Gathered:
    """Read files or summaries into tables, as `gather` does, in the way asked for."""
    if any(map(is_json, inputs)):
        from calibcli.commands.summaries import gather_summaries, summaries_in

        summaries = summaries_in(inputs)
        if summaries:
            limit = reading.limit
            return gather_summaries(summaries, columns, limit=limit, transforms=transforms, beside=beside)
    return gather(
        inputs,
        columns,
        engine=engine_named(reading.engine, reading.jobs, address=reading.engine_address),
        limit=reading.limit,
        transforms=transforms,
        input_format=reading.input_format,
        beside=beside,
        twice=twice,
        progress=reading.progress,
    )
