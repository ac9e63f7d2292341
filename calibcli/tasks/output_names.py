"""What outputs of many files are called: as their inputs, in the same directories."""

from collections.abc import Sequence
from pathlib import Path, PurePath

from calibcli.errors import UsageProblem
from calibcli.names import DataFormat
from calibcli.objects import is_object
from calibcli.readers.files import InputFile, files_of
from calibcli.readers.formats import split_forced
from calibcli.readers.globs import fixed_part, is_pattern
from calibcli.readers.pipes import STDIN
from calibcli.suffixes import compression_of, format_of


def output_pairs(
    inputs: Sequence[str], out_dir: str, *, to: DataFormat | None = None
) -> list[tuple[str, str]]:
    """
    Return each input file with its output.

    Args:
        inputs: Files and directories.

        out_dir: Where outputs go.

        to: The format of every output, whose suffix replaces that of the input; None to keep both.

    Returns:
        The files, those of a forced format as `path:fmt`, and the paths of their outputs: below `out_dir` as
        they stand below the directory that was named, with directories that hold columns (`country=US`).

    Raises:
        UsageProblem: If two files would have one output, or an input is a pipe.
    """
    pairs: list[tuple[str, str]] = []
    taken: dict[str, str] = {}
    for named in inputs:
        for file in files_of([named]):
            if file.path == STDIN or not (is_object(file.path) or Path(file.path).is_file()):
                msg = f"{named} is a pipe, which has no name to give an output"
                raise UsageProblem(msg, "pass -o with a name for it")
            name = _renamed(_below(file.path, _folder_named(named, file)), to)
            output = f"{out_dir.rstrip('/')}/{name}"
            if output in taken:
                msg = f"{file.path} and {taken[output]} would both be written to {output}"
                raise UsageProblem(msg, "apply them to directories of their own")
            taken[output] = file.path
            pairs.append((file.path if file.forced is None else f"{file.path}:{file.forced.value}", output))
    return pairs


def _folder_named(named: str, file: InputFile) -> str:
    """Return the directory that a file was found below, also of a pattern, without the format it forces."""
    named = named if file.forced is None else split_forced(named, exists=False)[0]
    return fixed_part(named) if is_pattern(named) else named


def _below(path: str, named: str) -> str:
    """Return the name of an output below the output directory."""
    path = path.partition("?")[0]
    folder = named.partition("?")[0].rstrip("/") + "/" if named else ""
    below = path[len(folder) :] if path.startswith(folder) else PurePath(path).name
    above = path[: len(path) - len(below)].rstrip("/").split("/")
    columns: list[str] = []
    while above and "=" in above[-1]:
        columns.insert(0, above.pop())
    return "/".join([*columns, below])


def _renamed(name: str, to: DataFormat | None) -> str:
    """Return a name that promises a format; a compression around text stays around text."""
    found = format_of(name)
    if to is None or found is to:
        return name
    pure = PurePath(name)
    compression = "" if compression_of(name) is None else pure.suffix
    if compression:
        pure = pure.with_suffix("")
    stem = pure if found is None else pure.with_suffix("")
    return f"{stem}.{to.value}{compression if to.is_text else ''}"
