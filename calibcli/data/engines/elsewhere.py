"""What engines on other machines have in common: the same calibcli there, and one line when they fail."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from calibcli.errors import UsageProblem
from calibcli.names import EngineName
from calibcli.version import __version__


def needed(module: str, engine: EngineName) -> Any:  # noqa: ANN401 - packages that need not be there
    """Import what an engine needs."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        msg = f"--engine {engine.value} needs {error.name}, which is not installed"
        raise UsageProblem(msg, f"pip install 'calibcli[{engine.value}]'") from None


def refuse_other_versions(found: Mapping[str, str | None], engine: EngineName) -> None:
    """Refuse workers that do not run this very version: they could find other numbers, and not say so."""
    if not found:
        msg = f"{engine.value}: there are no workers"
        raise UsageProblem(msg, "start some, and wait for them")
    others = {worker: version for worker, version in found.items() if version != __version__}
    if others:
        worker, version = next(iter(others.items()))
        has = "has no calibcli" if version is None else f"runs calibcli {version}"
        more = f", and {len(others) - 1:,} more differ" if len(others) > 1 else ""
        msg = f"{engine.value}: worker {worker} {has}, and this is {__version__}{more}"
        raise UsageProblem(msg, f"install calibcli=={__version__} on every worker")


def failed(engine: EngineName, error: BaseException) -> UsageProblem:
    """Return what an engine said when it gave up, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = (lines[-1] if lines else type(error).__name__)[:300]
    return UsageProblem(
        f"{engine.value} gave up: {type(error).__name__}: {said}",
        "see the engine's own log",
    )
