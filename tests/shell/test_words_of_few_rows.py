"""What few rows leave rough, or out of a picture, is said; and labels by the name that was given."""

from pathlib import Path

import numpy as np
import pytest

from calibcli.stats.curves.limits import numbers_by_log_odds
from command_line import Run

NAMED = ("-s", "risk", "-y", "dead", "--positive", "yes")


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return 60 patients of two sites, whose risks are small."""
    rng = np.random.default_rng(8)
    risk = rng.beta(2, 40, 60)
    dead = np.where(rng.random(60) < 2 * risk, "yes", "no")
    rows = "".join(
        f"{one:.4f},{'AB'[place % 2]},{label}\n"
        for place, (one, label) in enumerate(zip(risk, dead, strict=True))
    )
    path = tmp_path_factory.mktemp("few") / "few.csv"
    path.write_text("risk,site,dead\n" + rows)
    return path


def test_sentences_and_groups_say_what_is_rough(run: Run, few: Path) -> None:
    """Without -v, in the first sentence and below the table of groups."""
    said = run("measure", few, *NAMED, "-m", "slope", "--by", "site", "--min-group-rows", 5).out
    assert "(rough 95 % CI" in said
    sentence = "Rough, as few rows decide them, are intervals of the calibration slope in"
    assert sentence in " ".join(said.split())


def test_notes_of_papers_call_measures_as_their_table_does(run: Run, few: Path) -> None:
    """The curve is that of ICI, not of ici."""
    said = run("measure", few, *NAMED, "-m", "clinical", "--format", "latex").out
    assert "knots: ICI, E50, E90 and Emax." in " ".join(said.split())


def test_small_print_of_a_clinical_picture(run: Run, few: Path) -> None:
    """It names the event, rough intervals, and that something leaves the picture."""
    path = Path("few.svg")
    assert run("plot", few, *NAMED, "--kind", "clinical", "--axis", "linear", "-o", path).code == 0
    said = path.read_text()
    for words in ("with dead = yes", "rows of dead = yes", "is rough:", "leaves the picture"):
        assert words in said, words


@pytest.mark.parametrize(
    ("ends", "numbers"),
    [
        ((1e-4, 1e-3), [1e-4, 2e-4, 5e-4, 1e-3]),
        ((0.15, 0.6), [0.2, 0.5]),
        ((0.01, 0.9), [0.01, 0.1, 0.5, 0.9]),
        ((0.999, 0.9999), [0.999, 0.9995, 0.9998, 0.9999]),
    ],
)
def test_axes_by_log_odds_have_numbers(ends: tuple[float, float], numbers: list[float]) -> None:
    """Powers of ten, and twice and five times these where there are fewer than three."""
    assert numbers_by_log_odds(ends) == pytest.approx(numbers)


def test_a_binned_test_names_its_bins(run: Run, few: Path) -> None:
    """Its value is nothing without them; tests that have none say nothing."""
    words = ("measure", few, *NAMED, "-m", "hosmer_lemeshow,ks")
    sentence = "hosmer_lemeshow is over 5 equal-mass bins."
    assert sentence in run(*words, "--binning", "equal-mass", "--bins", "5").out
    assert "ks is over" not in run(*words).out
