"""Write calibcli/__init__.pyi, from which editors and type checkers know the functions, from their options.

`--check` only compares: exit code 1 says that it is out of date.
"""

import inspect
import sys
from enum import Enum
from pathlib import Path
from typing import get_args

import calibcli

TARGET = Path(calibcli.__file__).with_suffix(".pyi")
FUNCTIONS = ("compare", "drift", "fit", "measure", "plot", "segments", "verify")
HEAD = """# Types of the functions of `import calibcli`, made from the options by `make docs`.

import os
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from calibcli.errors import CalibcliError as CalibcliError
from calibcli.errors import DocumentProblem as DocumentProblem
from calibcli.errors import EmptyTable as EmptyTable
from calibcli.errors import InputProblem as InputProblem
from calibcli.errors import NotConverged as NotConverged
from calibcli.errors import OutputProblem as OutputProblem
from calibcli.errors import UsageProblem as UsageProblem
from calibcli.python.apply import apply as apply
from calibcli.python.documents import ReportLike
from calibcli.python.documents import load as load
from calibcli.python.frames import Values
from calibcli.python.recalibrator import ArtifactLike
from calibcli.python.recalibrator import Recalibrator as Recalibrator
from calibcli.python.results import Compared as Compared
from calibcli.python.results import Drifted as Drifted
from calibcli.python.results import Measured as Measured
from calibcli.python.results import Ranked as Ranked
from calibcli.python.results import SavedReport as SavedReport
from calibcli.python.results import Segmented as Segmented
from calibcli.python.results import Verified as Verified
from calibcli.python.rows import Classes, Column, Groups, Names, Rows
from calibcli.version import __version__ as __version__
"""


def stub_of(name: str) -> str:
    """Return the signature of a function."""
    signature = inspect.signature(getattr(calibcli, name))
    lines, starred = [f"def {name}("], False
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not starred:
            starred = True
            lines.append("    *,")
        lines.append(f"    {one.name}: {one.annotation}{_default(one.default)},")
    result = signature.return_annotation
    kinds = (
        result
        if isinstance(result, str)
        else " | ".join(one.__name__ for one in get_args(result) or [result])
    )
    return "\n".join([*lines, f") -> {kinds}: ..."])


def _default(value: object) -> str:
    if value is inspect.Parameter.empty:
        return ""
    return f" = {(value.value if isinstance(value, Enum) else value)!r}".replace("'", '"')


def main() -> int:
    """Write the file, or say whether it is up to date."""
    names = [f'    "{name}",' for name in calibcli.__all__]
    text = "\n".join([HEAD, "__all__ = [", *names, "]", "", *map(stub_of, FUNCTIONS)]) + "\n"
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.read_text(encoding="utf-8") == text else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
