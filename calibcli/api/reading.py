"""How the rows of a call are to be read."""

from calibcli.api.choices import at_least, chosen, maybe_chosen
from calibcli.errors import UsageProblem
from calibcli.names import DEFAULT_MEMORY, DataFormat, EngineName
from calibcli.options.rows import InputFormat, Reading, bytes_of


def reading_of(  # noqa: PLR0913 - as many as there are options
    *,
    in_memory: bool,
    input_format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    exact: bool = False,
    memory: str = DEFAULT_MEMORY,
    jobs: int | None = None,
    engine: str = EngineName.LOCAL,
    engine_address: str | None = None,
) -> Reading:
    """
    Return how to read.

    Args:
        in_memory: Whether there are no files.

        input_format: Format of every file, or None to look.

        delimiter: What separates the fields of CSV, or None.

        encoding: How text is encoded, or None for UTF-8.

        decimal: What stands before the decimals of numbers in CSV, or None for a point.

        exact: Whether every distinct score is kept.

        memory: Beyond this, scores are kept on a grid.

        jobs: Workers, or None for one per processor.

        engine: Where files are read.

        engine_address: Where an engine elsewhere is found, or None.

    Raises:
        UsageProblem: If options contradict each other, or speak of files where there are none.
    """
    at_least(1, jobs, "jobs")
    bytes_of(memory)
    where = chosen(EngineName, engine, "engine")
    if in_memory:
        said = {
            "input_format": input_format,
            "delimiter": delimiter,
            "encoding": encoding,
            "decimal": decimal,
        }
        if where is not EngineName.LOCAL:
            said["engine"] = where.value
        for keyword, value in said.items():
            if value is not None:
                msg = f"{keyword}={value!r} is for files, and the rows are in memory"
                raise UsageProblem(msg, "leave it out")
    kind = maybe_chosen(DataFormat, input_format, "input_format")
    form = InputFormat(kind, delimiter, encoding, decimal)
    return Reading(form, jobs, exact, memory, where, engine_address)
