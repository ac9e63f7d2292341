"""How files are to be read, whatever is done with them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from calibcli.engines import engine_named
from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import DEFAULT_MEMORY, EngineName
from calibcli.progress import Progress, unseen
from calibcli.readers.beside import NOTHING, Beside
from calibcli.readers.columns import Columns
from calibcli.readers.input_format import AS_FOUND, InputFormat
from calibcli.readers.tally import Transforms
from calibcli.table.running import EXACT_LIMIT
from calibcli.tasks.gather import Gathered, gather

_UNITS = {"": 1, "B": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


@dataclass(frozen=True, slots=True)
class Reading:
    """
    How to read.

    Args:
        input_format: Format of every input, and how text is written.

        jobs: Number of workers, or None for one per processor.

        exact: Whether the table stays exact at any number of distinct scores.

        memory: What the table may use before it becomes a grid, such as "256MiB".

        engine: Where fragments are read.

        engine_address: Where an engine elsewhere is found; None for what it knows itself.

        progress: Who is told how far the reading is.
    """

    input_format: InputFormat = AS_FOUND
    jobs: int | None = None
    exact: bool = False
    memory: str = DEFAULT_MEMORY
    engine: EngineName = EngineName.LOCAL
    engine_address: str | None = None
    progress: Progress = field(default=unseen, compare=False)

    def __post_init__(self) -> None:
        if self.engine is EngineName.LOCAL and self.engine_address is not None:
            msg = f"--engine-address {self.engine_address} without an engine elsewhere"
            raise IdleOption(msg, "pass --engine dask or --engine spark", options=("engine-address",))
        if self.engine is not EngineName.LOCAL and self.jobs is not None:
            msg = f"--jobs is for this machine, and --engine {self.engine.value} has workers of its own"
            raise IdleOption(msg, "leave out one of them", options=("jobs", "engine"))

    @property
    def limit(self) -> int | None:
        """Most distinct scores of an exact table; None for no limit."""
        if self.exact:
            return None
        # The default keeps a million distinct scores: 24 bytes each at rest, and room to sort, merge, bin
        # and smooth them.
        return max(1, round(EXACT_LIMIT * bytes_of(self.memory) / bytes_of(DEFAULT_MEMORY)))


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


def memory_for(scores: int) -> int:
    """Return how many MiB keep so many distinct scores exact."""
    return -(-scores * bytes_of(DEFAULT_MEMORY) // (EXACT_LIMIT << 20)) + 1


def bytes_of(size: str) -> int:
    """
    Return the number of bytes in words like "256MiB", "1G" or "4096"; K, M and G are powers of 1,024.

    Raises:
        UsageProblem: If it is not a positive size.
    """
    text = size.strip().upper().removesuffix("IB").removesuffix("B")
    unit = text[-1:] if text[-1:] in _UNITS and not text[-1:].isdigit() else ""
    number = text.removesuffix(unit) if unit else text
    try:
        count = float(number) * _UNITS[unit]
    except ValueError:
        count = 0.0
    if not 0 < count < 2**60:
        msg = f"{size!r} is not an amount of memory"
        raise UsageProblem(msg, "write it like 256MiB or 2G")
    return int(count)
