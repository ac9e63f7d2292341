"""Work on a Dask cluster, through `distributed`."""

import importlib.metadata
import logging
import pickle
import re
import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from calibcli.data.engines import Item, Result, failed, needed, refuse_other_versions
from calibcli.errors import CalibcliError, UsageProblem
from calibcli.names import EngineName
from calibcli.values import dataclass

# `distributed` is an extra, and says little of its types.
Client: TypeAlias = Any

_CONNECT_SECONDS = 15
# A host and a port, which Dask takes for an address of TCP.
_HOST = re.compile(r"[\w.-]+:\d+|\[[0-9A-Fa-f:.]+\]:\d+")
# Items that wait at a worker while it works, so that it is never idle and holds little.
_PER_THREAD = 2


@dataclass(frozen=True, slots=True)
class DaskEngine:
    """A Dask scheduler and its workers; a worker that dies is replaced by others, as Dask does.

    Its address is such as `tcp://host:8786`, or the path of a scheduler file; None for what Dask's own
    configuration says (`DASK_SCHEDULER_ADDRESS`).
    """

    shares_interpreter: ClassVar[bool] = False
    address: str | None

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
        with _connected(self.address) as client:
            refuse_other_versions(_versions(client), EngineName.DASK)
            yield from _in_order(client, work, items)


@contextmanager
def _connected(address: str | None) -> Iterator[Client]:
    distributed = needed("distributed", EngineName.DASK)
    where = address or needed("dask", EngineName.DASK).config.get("scheduler-address", None)
    if where is None:
        msg = "--engine dask does not say where its scheduler is"
        raise UsageProblem(msg, "pass --engine-address tcp://HOST:8786, or a scheduler file")
    by_file = "://" not in where and _HOST.fullmatch(where) is None
    requested: dict[str, Any] = {"scheduler_file": where} if by_file else {"address": where}
    if by_file and not Path(where).is_file():
        # Dask would wait for it for ever.
        msg = f"dask: there is no scheduler file {where}"
        raise UsageProblem(msg, "name one that is there, or an address such as tcp://HOST:8786")
    try:
        client = distributed.Client(**requested, timeout=_CONNECT_SECONDS, set_as_default=False)
    except Exception as error:
        msg = f"dask: there is no scheduler at {where}"
        raise UsageProblem(msg, "is it running, and reached from here?") from error
    try:
        yield client
    finally:
        # Closing while Dask looks for a scheduler that is gone makes it log a traceback.
        log = logging.getLogger("distributed.client")
        log.addFilter(_nothing)
        try:
            client.close()
        finally:
            log.removeFilter(_nothing)


def _nothing(_: logging.LogRecord) -> bool:
    return False


def _versions(client: Client) -> dict[str, str | None]:
    """Return which calibcli each worker has; any can say, as what is asked is of the standard library.

    A worker that is gone before it answers is left out, as others do its work.
    """
    found = client.run(importlib.metadata.version, "calibcli", on_error="return")
    answered = {worker: said for worker, said in found.items() if not isinstance(said, OSError)}
    return {worker: said if isinstance(said, str) else None for worker, said in answered.items()}


def _in_order(
    client: Client, work: Callable[[Item], Result], items: Iterable[Item]
) -> Generator[Result, None, None]:
    """Keep a window of items at the workers, and take results from its front."""
    name = f"calibcli-{uuid.uuid4().hex[:8]}"
    # Packed here: Dask would write out and pack the same work again for every item.
    packed = pickle.dumps(work)
    waiting = iter(items)
    window = max(2, _PER_THREAD * sum(client.nthreads().values()))
    running: deque[Any] = deque()
    place = 0
    try:
        while True:
            for item in islice(waiting, window - len(running)):
                running.append(client.submit(_called, packed, item, key=f"{name}-{place}", pure=False))
                place += 1
            if not running:
                return
            future = running.popleft()
            try:
                result: Result = future.result()
            except CalibcliError:
                raise
            except Exception as error:
                raise failed(EngineName.DASK, error) from error
            finally:
                future.release()
            yield result
    finally:
        client.cancel(list(running))


def _called(packed: bytes, item: object) -> object:
    work: Callable[[object], object] = pickle.loads(packed)  # noqa: S301 - what this very program packed
    return work(item)
