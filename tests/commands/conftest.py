"""What tests of commands share."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def _few_draws(few_draws: None) -> None:
    """All of them: what is drawn more often has tests beside the mathematics."""
