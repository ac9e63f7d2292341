"""How many items go into one job of Spark, and which session does them; no Spark is needed to know."""

from types import SimpleNamespace

import pytest

from calibcli.data.engines import spark
from calibcli.errors import UsageProblem
from calibcli.version import __version__


@pytest.mark.parametrize(
    ("bytes_each", "sizes"),
    [(10, [8, 40, 40, 12]), (20_000_000, [8] + [10] * 9 + [2]), (300_000_000, [8] + [2] * 46)],
    ids=["small", "tables", "large"],
)
def test_results_of_one_job_fit_together(
    monkeypatch: pytest.MonkeyPatch, bytes_each: int, sizes: list[int]
) -> None:
    """After the first job as many items as results of that size allow, two at least, and never too many."""

    class Packed(bytes):
        """Bytes that say they are more."""

        def __len__(self) -> int:
            return bytes_each

    def ran(_session: object, _work: object, items: list[int]) -> list[bytes]:
        seen.append(len(items))
        return [Packed() for _ in items]

    seen: list[int] = []
    monkeypatch.setattr(spark, "_run", ran)
    jobs = spark._jobs(None, abs, iter(range(100)), 40)
    assert sum(len(list(results)) for results in jobs) == 100
    assert seen == sizes


class Connected:
    """A session of Spark Connect, which has no context."""

    client = SimpleNamespace(host="10.0.0.7")


@pytest.mark.parametrize(
    ("session", "taken", "refused"),
    [
        (SimpleNamespace(sparkContext=SimpleNamespace(master="local[2]")), "local[2]", "spark://host:7077"),
        (SimpleNamespace(sparkContext=SimpleNamespace(master="k8s://https://h:443")), "k8s://h:443", "yarn"),
        (Connected(), "sc://10.0.0.7:15002/;token=x", "sc://10.0.0.8:15002"),
        (Connected(), "sc://10.0.0.7", "sc://10.0.0.77:15002"),
    ],
    ids=["local", "kubernetes", "connect", "longer"],
)
def test_a_session_that_is_there_is_taken_as_it_is(
    monkeypatch: pytest.MonkeyPatch, session: object, taken: str, refused: str
) -> None:
    """Its name and options stay; Spark would take it for any address, without a word."""
    sql = SimpleNamespace(SparkSession=SimpleNamespace(getActiveSession=lambda: session))
    monkeypatch.setattr(spark, "needed", lambda *_: sql)
    assert spark._session(None) is spark._session(taken) is session
    with pytest.raises(UsageProblem, match="this process has a session at"):
        spark._session(refused)


@pytest.mark.parametrize("order", [1, -1])
def test_one_worker_of_another_version_is_seen_beside_others_of_its_host(
    monkeypatch: pytest.MonkeyPatch, order: int
) -> None:
    """In whatever order they answer."""
    said = [f"host {__version__}".encode(), b"host 0.0.1"][::order]
    monkeypatch.setattr(spark, "_collected", lambda *_: dict(enumerate(said)))
    assert spark._versions(None, 2) == {"host": "0.0.1"}
