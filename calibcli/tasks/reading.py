"""How files are to be read, whatever is done with them."""

from collections.abc import Sequence

from calibcli.engines import engine_named
from calibcli.options.rows import Columns, Reading
from calibcli.readers.beside import NOTHING, Beside
from calibcli.readers.tally import Transforms
from calibcli.tasks.gather import Gathered, gather


def read_tables(
    inputs: Sequence[str],
    columns: Columns,
    *,
    reading: Reading,
    transforms: Transforms | None = None,
    beside: Beside = NOTHING,
    twice: bool = False,
) -> Gathered:
    """Read files or summaries into tables, as `gather` does, in the way asked for."""
    if any(path.endswith(".json") for path in inputs):
        from calibcli.tasks.summaries import are_summaries, gather_summaries

        if are_summaries(inputs):
            return gather_summaries(
                inputs, columns, limit=reading.limit, transforms=transforms, beside=beside
            )
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
