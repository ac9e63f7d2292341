"""How many items go into one job of Spark; no Spark is needed to know."""

import pytest

from calibcli.data.engines import spark


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
