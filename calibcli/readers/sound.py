"""What the libraries decode, looked through before anything in it is believed."""

import pyarrow as pa

from calibcli.errors import InputProblem


def sound(batch: pa.RecordBatch, *, shown: str) -> pa.RecordBatch:
    """
    Return a batch whose text is UTF-8, and whose lengths and codes lead nowhere outside of it.

    Args:
        batch: As it was decoded.

        shown: The file's name in messages.

    Raises:
        InputProblem: If it is not so; it names the column.
    """
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid as error:
        raise _unsound(batch, error, shown) from error
    return batch


def _unsound(batch: pa.RecordBatch, error: pa.ArrowInvalid, shown: str) -> InputProblem:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as found:
            words = str(found).removeprefix("Invalid: ")
            if "UTF8" in words:
                msg = f"{shown}, column {name!r}: it holds text that is not UTF-8"
                return InputProblem(msg, "write the column anew as UTF-8, or as bytes")
            return _damaged(f"{shown}, column {name!r}: {words}")
    return _damaged(f"{shown} cannot be read: {error}")


def no_memory(shown: str, error: MemoryError) -> InputProblem:
    """
    Return what there is to say where a file needs more memory than there is, or pretends to.

    Args:
        shown: The file's name in messages.

        error: What was said.
    """
    words = (str(error).splitlines() or ["all is taken"])[0]
    return InputProblem(
        f"{shown}: there is not enough memory to read it: {words}",
        "give it more, or lower --memory and --jobs; a damaged file may ask for any amount",
    )


def _damaged(message: str) -> InputProblem:
    return InputProblem(message, "the file may be cut short or damaged: compare its size with the source")
