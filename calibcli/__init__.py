"""Recalibrate exported predictions, measure how far they can be trusted, gate on it, look at it.

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

# Where what is imported late comes from, by its name.
_ROOMS = {
    **dict.fromkeys(("compare", "drift", "fit", "measure", "plot", "segments", "verify"), "functions"),
    "apply": "apply",
    "load": "documents",
    "Compared": "results",
    "Drifted": "results",
    "Measured": "results",
    "Ranked": "results",
    "Recalibrator": "recalibrator",
    "SavedReport": "results",
    "Segmented": "results",
    "Verified": "results",
}

__all__ = [
    "CalibcliError",
    "Compared",
    "DocumentProblem",
    "Drifted",
    "EmptyTable",
    "InputProblem",
    "Measured",
    "NotConverged",
    "OutputProblem",
    "Ranked",
    "Recalibrator",
    "SavedReport",
    "Segmented",
    "UsageProblem",
    "Verified",
    "__version__",
    "apply",
    "compare",
    "drift",
    "fit",
    "load",
    "measure",
    "plot",
    "segments",
    "verify",
]


def __getattr__(name: str) -> object:
    if name not in _ROOMS:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module

    return getattr(import_module(f"calibcli.python.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
