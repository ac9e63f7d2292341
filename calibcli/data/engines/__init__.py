"""The same work on every item, results in item order."""

import os
from typing import assert_never

from calibcli.data.engines.threads import Engine
from calibcli.names import EngineName

__all__ = ["Engine", "default_workers", "engine_named"]


def engine_named(name: EngineName, workers: int | None = None, *, address: str | None = None) -> Engine:
    """Return an engine."""
    match name:
        case EngineName.LOCAL:
            from calibcli.data.engines.threads import ThreadEngine

            return ThreadEngine(default_workers() if workers is None else max(1, workers))
        case EngineName.DASK:
            from calibcli.data.engines.dask import DaskEngine

            return DaskEngine(address)
        case EngineName.SPARK:
            from calibcli.data.engines.spark import SparkEngine

            return SparkEngine(address)
        case _:
            assert_never(name)


def default_workers() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
