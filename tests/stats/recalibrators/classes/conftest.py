"""Small sums on one thread, as the command line has them: handing them out takes ten times as long."""

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    with threadpool_limits(limits=1):
        yield
