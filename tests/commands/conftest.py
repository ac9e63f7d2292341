"""What tests of commands share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="module", autouse=True)
def _few_draws(few_draws: None) -> None:
    """All of them: what is drawn more often has tests beside the mathematics."""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test stands in an empty folder, so that files go by their names alone."""
    monkeypatch.chdir(tmp_path)
