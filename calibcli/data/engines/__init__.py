"""The same work on every item, results in item order.

It is done on threads of this process, where pyarrow and numpy let go of the interpreter while they
compute, or on other machines, which must have the same calibcli.
"""

import os
from collections.abc import Callable, Generator, Iterable, Mapping
from importlib import import_module
from typing import Any, ClassVar, Protocol, TypeVar, cast

from calibcli.ahead import in_order
from calibcli.errors import UsageProblem
from calibcli.families import loaded
from calibcli.names import EngineName
from calibcli.values import dataclass
from calibcli.version import __version__

Item = TypeVar("Item")

Result = TypeVar("Result")


class Engine(Protocol):
    """Runs work on items, here or elsewhere; what the items are it does not know."""

    # Whether work runs in this process, where only one thread at a time runs Python.
    shares_interpreter: ClassVar[bool]

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
        """Yield the result for each item, in the order of the items.

        Closing the generator gives up what has not been started.
        """
        ...


@dataclass(frozen=True, slots=True)
class ThreadEngine:
    """Threads, holding no more results than they are; one, or one item, is the calling one."""

    shares_interpreter: ClassVar[bool] = True
    workers: int

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
        yield from in_order(work, items, self.workers)


def engine_named(name: EngineName, workers: int | None = None, *, address: str | None = None) -> Engine:
    """Return an engine; a cluster's is a class of the module of its name."""
    if name is EngineName.LOCAL:
        return ThreadEngine(workers or default_workers())
    return cast("Engine", loaded(f"data.engines.{name.value}.{name.value.capitalize()}Engine")(address))


def default_workers() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def needed(module: str, engine: EngineName) -> Any:  # noqa: ANN401 - packages that need not be there
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        msg = f"--engine {engine.value} needs {error.name}, which is not installed"
        raise UsageProblem(msg, f"pip install '.[{engine.value}]'") from None


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
