"""The gallery of recalibration methods shows every method, today's numbers, and words that fit them."""

import math
import re
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from calibcli.names import FitMethod, MeasureName, RecalibratorName
from command_line import ROOT

DOCS = ROOT / "docs"
PAGE = (DOCS / "gallery.md").read_text(encoding="utf-8")
METHODS = [method.value for method in RecalibratorName]
CHURN = "churn, boosted trees"
CANCER = "breast cancer, naive Bayes"


@pytest.fixture
def gallery(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script that writes the page, at home in the root of the repository."""
    monkeypatch.syspath_prepend(str(DOCS))
    monkeypatch.chdir(ROOT)
    import make_gallery  # type: ignore[import-not-found, unused-ignore]

    return make_gallery


# The map by segments needs columns to look at.
SHOWN = [method for method in FitMethod if method is not FitMethod.SEGMENTS]


@cache
def sections() -> dict[str, str]:
    """Return the text of each section by its heading."""
    parts = re.split(r"^## (.+)$", PAGE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def after(method: str, measure: MeasureName, sample: str) -> float:
    """Return a measure of the recalibrated scores as the page states it."""
    (row,) = [line for line in sections()[method].splitlines() if line.startswith(f"| {sample} |")]
    place = 2 + (MeasureName.SMECE, MeasureName.BRIER, MeasureName.LOG_LOSS).index(measure)
    return float(row.split("|")[place].split("→")[1].split()[0])


def test_every_method_has_its_section_in_order() -> None:
    """The page has one section for each method of `fit` that looks at the score alone, in their order."""
    names = [name for name in sections() if name in set(FitMethod)]
    assert names == [method.value for method in SHOWN]
    assert set(METHODS) < set(names)


@pytest.mark.parametrize("method", SHOWN, ids=str)
def test_numbers_of_the_smallest_set_are_those_of_today(
    gallery: Any, method: FitMethod, tmp_path: Path
) -> None:
    """A fit to the breast cancer rows, measured again, gives the row that the page shows."""
    again = gallery.shown(method, gallery.CANCER, folder=str(tmp_path))
    assert gallery.method_row(gallery.CANCER, again) in sections()[method.value].splitlines()


def test_words_of_the_page_are_those_of_the_script(gallery: Any) -> None:
    """Whoever changes the words runs the script again."""
    for method, words in gallery.PORTRAITS.items():
        for text in (words.what, f"*Take it:* {words.take}", f"*Leave it:* {words.leave}"):
            assert gallery.wrapped(text) in sections()[method.value]


def test_what_the_words_claim_of_the_samples_is_in_the_tables() -> None:
    """Sentences such as "the lowest log loss on the churn set" agree with the numbers beside them."""
    loss = {name: after(name, MeasureName.LOG_LOSS, CHURN) for name in METHODS}
    assert loss["spline"] == min(loss.values())
    finite = [name for name in METHODS if math.isfinite(loss[name])]
    assert sorted(finite, key=lambda name: loss[name])[-3:] == ["smooth", "intercept", "identity"]
    assert math.isinf(loss["isotonic"])
    assert math.isinf(loss["centred-isotonic"])
    assert math.isinf(after("histogram", MeasureName.LOG_LOSS, CANCER))
    (raw,) = [line for line in PAGE.splitlines() if line.startswith(f"| {CHURN} | 50,000")]
    assert after("intercept", MeasureName.BRIER, CHURN) > float(raw.split("|")[4].split()[0])


def test_picture_is_small() -> None:
    """The picture does not weigh on the repository."""
    assert 10_000 < (DOCS / "gallery.png").stat().st_size < 200_000
