"""A bar on stderr for work that takes long: on a terminal, and only once a second has passed."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from calibcli.progress import Advance, Progress, unseen
from calibcli.streams import is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_SECONDS = 1.0


def progress_bar(*, quiet: bool) -> Progress:
    """Return what shows a bar, or shows nothing where nobody would see it or wants to."""
    if quiet or sys.stderr is None or not is_terminal(sys.stderr):
        return unseen
    return shown


@contextmanager
def shown(parts: int) -> Iterator[Advance]:
    """
    Show a bar with rows, rows per second and the time left, from the second second on.

    Args:
        parts: How many parts the work has.
    """
    found = _Shown(parts)
    timer = threading.Timer(_SECONDS, found.start)
    timer.daemon = True
    timer.start()
    try:
        yield found.advance
    finally:
        timer.cancel()
        found.stop()


def never_back(clock: Callable[[], float]) -> Callable[[], float]:
    """Return a clock that stands still where another one goes back."""
    latest = clock()

    def now() -> float:
        nonlocal latest
        latest = max(latest, clock())
        return latest

    return now


class _Shown:
    """
    A bar that may not have begun yet.

    Args:
        parts: How many parts the work has.
    """

    def __init__(self, parts: int) -> None:
        self._parts, self._done, self._rows = parts, 0, 0
        self._now = never_back(time.monotonic)
        self._began = self._now()
        self._bar: Bar | None = None
        self._ended = False
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin to show it."""
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        with self._lock:
            if self._ended:
                return
            self._bar = Bar(
                BarColumn(),
                TextColumn("{task.fields[said]}"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
                get_time=self._now,
            )
            # A single part has no fraction: the bar only moves.
            self._bar.add_task("", total=self._parts if self._parts > 1 else None, said="reading")
            self._bar.start()
            self._show()

    def advance(self, rows: int) -> None:
        """Count one more part."""
        with self._lock:
            self._done += 1
            self._rows += rows
            self._show()

    def stop(self) -> None:
        """Take it away."""
        with self._lock:
            self._ended = True
            if self._bar is not None:
                self._bar.stop()

    def _show(self) -> None:
        if self._bar is None or not self._done:
            return
        task = self._bar.tasks[0]
        rate = self._rows / max(self._now() - self._began, _SECONDS)
        said = f"{self._rows:,} rows, {rate:,.0f} a second"
        self._bar.update(task.id, completed=self._done, said=said)
