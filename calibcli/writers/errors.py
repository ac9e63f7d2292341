"""What goes wrong while a file is copied: told from the errors of the output, which have their own words."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from calibcli.chunks import encrypted
from calibcli.errors import InputProblem


@contextmanager
def copy_errors(shown: str, *more: type[Exception]) -> Iterator[None]:
    """
    Say in one line what pyarrow could not read or rewrite.

    Args:
        shown: The input's name in messages.

        more: What else is the input's fault: OSError where nothing but the input is touched.

    Raises:
        InputProblem: Instead of these errors.
    """
    kinds: tuple[type[Exception], ...] = (pa.ArrowException, *more)
    try:
        yield
    except MemoryError:
        raise
    except kinds as error:
        first = (str(error).splitlines() or ["unknown error"])[0]
        raise encrypted(error, shown=shown) or InputProblem(f"{shown} cannot be copied: {first}") from error
