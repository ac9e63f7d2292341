"""Work for engines whose workers are other processes: importable there."""

import os
import time

from calibcli.errors import InputProblem


def squared(item: int) -> tuple[int, int]:
    """Take a moment, and return the square with the process that computed it."""
    time.sleep(0.05)
    return item * item, os.getpid()


def refused(item: int) -> int:
    """Find one item wrong."""
    if item == 3:
        msg = "item 3 is wrong"
        raise InputProblem(msg, "leave it out")
    return item


def broken(item: int) -> int:
    """Fail as a bug would."""
    return 1 // (item - 2)
