"""Work on Spark, through `mapInArrow`: Spark Connect has nothing lower."""

import os
import pickle
import re
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from calibcli.ahead import made_ahead
from calibcli.data.engines import Item, Result, failed, needed, refuse_other_versions
from calibcli.errors import UsageProblem, first_words
from calibcli.names import EngineName
from calibcli.values import dataclass
from calibcli.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

# `pyspark` is an extra.
Session: TypeAlias = Any
Mapped: TypeAlias = "Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]"

# Most items of one Spark job, where nobody says how many tasks run at once.
_WINDOW = 32
_PER_TASK = 4
# Items of the first job of some work, by which the size of results is known.
_FIRST = 8
_SCHEMA = "place long, result binary"
# Bytes of the results of one job: they pass the memory of Spark's driver, a gigabyte unless somebody says so.
_TOGETHER = 200_000_000


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """A Spark application; a task whose worker dies is run again, as Spark does.

    Its address is `local[N,FAILURES]`, `spark://host:7077`, `yarn`, `k8s://...`, or `sc://host:15002` for
    Spark Connect; None for the session there is, or what Spark's own configuration says.
    """

    shares_interpreter: ClassVar[bool] = False
    address: str | None

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
        session = _session(self.address)
        size = _window(session)
        refuse_other_versions(_versions(session, size), EngineName.SPARK)
        for results in made_ahead(_jobs(session, work, iter(items), size)):
            while results:
                yield pickle.loads(results.popleft())  # noqa: S301 - from our own workers


def _session(address: str | None) -> Session:
    sql = needed("pyspark.sql", EngineName.SPARK)
    if address is None or address.startswith("local"):
        # Spark would take whatever `python3` is.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = sql.SparkSession.getActiveSession()
    if session is None:
        builder = sql.SparkSession.builder.appName("calibcli")
        if address is not None:
            builder = builder.remote(address) if address.startswith("sc://") else builder.master(address)
        try:
            session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
        except Exception as error:
            msg = f"spark: there is no session at {address or 'the configured master'}: {first_words(error)}"
            raise UsageProblem(msg, "is it running, and reached from here?") from error
    _refuse_elsewhere(session, address)
    return session


def _refuse_elsewhere(session: Session, address: str | None) -> None:
    """Refuse a session that was there already and is not at the address: Spark has one in a process."""
    try:
        where = session.sparkContext.master
    except Exception:  # noqa: BLE001 - Spark Connect says in its own ways that it has none
        where = f"sc://{session.client.host}"
    # Spark Connect does not say its port, and that of Kubernetes may be written in several ways.
    scheme, mark, _ = where.partition("://")
    known = {"k8s": f"{scheme}{mark}.*", "sc": f"{re.escape(where)}([:/;].*)?"}.get(scheme, re.escape(where))
    if address is not None and not re.fullmatch(known, address):
        msg = f"spark: this process has a session at {where} already, and --engine-address is {address}"
        raise UsageProblem(msg, "leave out --engine-address, or stop that session first")


def _window(session: Session) -> int:
    """Return how many items go into a job: some for each task that runs at once, as far as that is known."""
    try:
        tasks: int = session.sparkContext.defaultParallelism
    except Exception:  # noqa: BLE001 - Spark Connect says in its own ways that it does not know
        return _WINDOW
    return max(2, _PER_TASK * tasks)


def _versions(session: Session, tasks: int) -> dict[str, str | None]:
    """Return which calibcli the workers have; the function travels whole, so that any can answer."""

    def version(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        import importlib.metadata
        import socket

        import pyarrow as pa

        for batch in batches:
            try:
                found = importlib.metadata.version("calibcli")
            except importlib.metadata.PackageNotFoundError:
                found = ""
            said = f"{socket.gethostname()} {found}".encode()
            yield pa.RecordBatch.from_arrays(
                [batch.column(0), pa.array([said] * batch.num_rows, pa.binary())],
                names=["place", "result"],
            )

    answers = _collected(session, version, tasks)
    pairs = (answer.decode().partition(" ") for answer in answers.values())
    # Of a host where workers differ, one that has another than this.
    others_last = sorted(pairs, key=lambda one: one[2] != __version__)
    return {host: said or None for host, _, said in others_last}


def _jobs(
    session: Session, work: Callable[[Item], Any], items: Iterator[Item], most: int
) -> Iterator[deque[bytes]]:
    """Yield the packed results of one job after the other, each of as many items as fit together."""
    size, largest = min(_FIRST, most), 1
    while window := list(islice(items, size)):
        results = _run(session, work, window)
        largest = max(largest, *(len(result) for result in results))
        yield results
        size = max(2, min(most, _TOGETHER // largest))


def _run(session: Session, work: Callable[[Item], Any], items: Sequence[Item]) -> deque[bytes]:
    """Run work on some items, a task each, and return the packed results in their order."""
    packed = pickle.dumps((work, list(items)))

    def run(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        import pickle as pickles

        import pyarrow as pa

        job, all_items = pickles.loads(packed)  # noqa: S301 - what this very program packed
        for batch in batches:
            for place in batch.column(0).to_pylist():
                result = pickles.dumps(job(all_items[place]))
                yield pa.RecordBatch.from_arrays(
                    [pa.array([place], pa.int64()), pa.array([result], pa.binary())],
                    names=["place", "result"],
                )

    found = _collected(session, run, len(items))
    return deque(found.pop(place) for place in range(len(items)))


def _collected(session: Session, function: Mapped, tasks: int) -> dict[int, bytes]:
    """Return what a function gives for each of so many tasks; a task that ran twice counts once."""
    frame = session.range(0, tasks, 1, tasks).mapInArrow(function, _SCHEMA)
    try:
        rows = frame.collect()
    except Exception as error:
        raise failed(EngineName.SPARK, error) from error
    return {row["place"]: row["result"] for row in rows}
