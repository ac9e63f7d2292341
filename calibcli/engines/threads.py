"""Work on threads of this process: pyarrow and numpy let go of the interpreter while they compute."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice

from calibcli.engines.interface import Item, Result


@dataclass(frozen=True, slots=True)
class ThreadEngine:
    """
    A pool of threads that holds no more results than it has workers.

    Args:
        workers: Number of threads. With one, or with a single item, the work runs in the calling thread.
    """

    workers: int

    @property
    def shares_interpreter(self) -> bool:
        """It does."""
        return True

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
        """Yield the result for each item, in the order of the items; see `Engine`."""
        waiting = iter(items)
        first = list(islice(waiting, self.workers))
        if self.workers <= 1 or len(first) <= 1:
            yield from map(work, chain(first, waiting))
            return
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="calibcli")
        running: deque[Future[Result]] = deque()
        try:
            running.extend(pool.submit(work, item) for item in first)
            while running:
                result = running.popleft().result()
                running.extend(pool.submit(work, item) for item in islice(waiting, 1))
                yield result
        finally:
            # Not waiting: whoever gives up tells the work itself to stop, and then threads end by themselves.
            pool.shutdown(wait=False, cancel_futures=True)
