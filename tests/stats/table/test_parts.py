"""Parts are merged seldom, in their order, and nothing is lost."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from calibcli.stats.table.parts import Parts


class Counting:
    """Merges lists of numbers into what is different in them, and counts what it looks at."""

    def __init__(self) -> None:
        self.looked_at = 0

    def __call__(self, parts: Sequence[list[int]]) -> list[int]:
        """Return the different numbers in the order in which they came first."""
        self.looked_at += sum(map(len, parts))
        return list(dict.fromkeys(one for part in parts for one in part))


@given(st.lists(st.lists(st.integers(0, 30), max_size=8)), st.integers(0, 20), st.integers(1, 40) | st.none())
def test_the_whole_is_that_of_all_parts_at_once(
    parts: list[list[int]], least: int, limit: int | None
) -> None:
    """However often parts are merged on the way, the whole is the same."""
    several = Parts(Counting(), len, least=least, limit=limit)
    for part in parts:
        several.add(part)
        if limit is not None and several.merged_size > limit:
            assert len({one for part in parts for one in part}) > limit
    assert several.merged() == (Counting()(parts) if parts else None)
    assert several.merged() is several.merged()
    assert bool(several) == bool(parts)
    assert [one for part in several.taken() for one in part] == Counting()(parts)
    assert not several
    assert several.merged_size == 0


def test_merging_is_linear_in_parts() -> None:
    """Twice the parts cost twice the merging: each number is looked at a few times, new ones or not."""
    for values in (lambda one: [one], lambda one: [one % 7]):
        merge = Counting()
        parts = Parts(merge, len, least=10)
        for one in range(4_000):
            parts.add(values(one))
        parts.merged()
        assert merge.looked_at < 4 * 4_000
