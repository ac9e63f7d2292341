"""
Recalibrate exported predictions, measure how far they can be trusted, gate on it, look at it.

    import calibcli

    report = calibcli.measure(scores, labels)
    report.ece.value, report.ece.interval

The functions do what the commands of the same names do, with their options as keywords. What they need is
imported when they are first looked up: `import calibcli` costs nothing.
"""

from calibcli.errors import (
    CalibcliError,
    DocumentProblem,
    EmptyTable,
    InputProblem,
    NotConverged,
    OutputProblem,
    UsageProblem,
)
from calibcli.version import __version__

# As type checkers know it by its name; importing typing would take longer than all else here.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from calibcli.api.commands.apply import apply
    from calibcli.api.commands.compare import compare
    from calibcli.api.commands.fit import fit
    from calibcli.api.commands.load import load
    from calibcli.api.commands.measure import measure
    from calibcli.api.commands.plot import plot
    from calibcli.api.commands.verify import verify
    from calibcli.api.compared import Compared
    from calibcli.api.measured import Measured
    from calibcli.api.recalibrator import Recalibrator
    from calibcli.api.saved import SavedReport
    from calibcli.api.verified import Verified

__all__ = [
    "CalibcliError",
    "Compared",
    "DocumentProblem",
    "EmptyTable",
    "InputProblem",
    "Measured",
    "NotConverged",
    "OutputProblem",
    "Recalibrator",
    "SavedReport",
    "UsageProblem",
    "Verified",
    "__version__",
    "apply",
    "compare",
    "fit",
    "load",
    "measure",
    "plot",
    "verify",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        from calibcli.api.public import public

        return public(name)

    def __dir__() -> list[str]:
        return sorted(__all__)
