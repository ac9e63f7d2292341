"""Groups and classes stand the worst first, whichever way a measure is worse."""

import json
from pathlib import Path

import numpy as np
import pytest

from calibcli.names import ClassMeasure, MeasureName
from command_line import Run

M = MeasureName


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return rows of four groups that differ in rate, spread and order."""
    rng = np.random.default_rng(2)
    lines = ["g,s,p_a,p_b,y,c"]
    for place, name in enumerate("abcd"):
        score = rng.beta(2, 2, 150).round(3)
        label = rng.random(150) < np.clip(0.5 + (score - 0.5) * (1.4 - 0.6 * place) + 0.1 * (place - 1), 0, 1)
        for f, y in zip(score.tolist(), label.tolist(), strict=True):
            lines.append(f"{name},{f},{f},{1 - f:.3f},{int(y)},{'a' if y else 'b'}")
    path = tmp_path_factory.mktemp("groups") / "g.csv"
    path.write_text("\n".join(lines))
    return path


def names_of(page: str) -> list[str]:
    """Return the groups of a page from top to bottom."""
    return [line.split()[0] for line in page.splitlines() if line.startswith("g=")]


@pytest.mark.parametrize("name", ["auroc", "oe", "cox_slope", "bias", "brier_dsc", "brier_skill", "brier"])
def test_the_worst_group_is_the_first(run: Run, groups: Path, name: str) -> None:
    """By the distance from the best value, or by how little there is where more is always better."""
    words = ["measure", groups, "-s", "s", "-y", "y", "--by", "g", "-m", name]
    names, slices = names_of(run(*words).out), json.loads(run(*words, "--json").out)["slices"]
    assert sorted(names) == sorted(slices)
    bad = [M(name).facts.badness(slices[one]["measures"][name]["value"]) for one in names]
    assert bad == sorted(bad, reverse=True)


def test_what_is_neither_good_nor_bad_orders_nothing(run: Run, groups: Path) -> None:
    """The next measure that is does, and the page says so."""
    out = run("measure", groups, "-s", "s", "-y", "y", "--by", "g", "-m", "observed_rate,auroc").out
    alone = run("measure", groups, "-s", "s", "-y", "y", "--by", "g", "-m", "auroc").out
    assert names_of(out) == names_of(alone)
    assert "the worst AUROC first: observed rate alone is neither good nor bad." in " ".join(out.split())
    plain = run("measure", groups, "-s", "s", "-y", "y", "--by", "g", "-m", "observed_rate").out
    assert [line.split()[0] for line in plain.splitlines() if line.startswith("g=")] == [
        f"g={one}" for one in "abcd"
    ]
    tests = run("measure", groups, "-s", "s", "-y", "y", "--by", "g", "-m", "ks").out
    assert "Groups are listed" not in tests


def test_measures_of_all_classes_are_said_to_be_of_no_group(run: Run, groups: Path) -> None:
    """Accuracy is shown for all rows, and the table of groups has no such column."""
    requested = ("measure", groups, "--probs", "p_*", "-y", "c", "--by", "g", "-m")
    said = " ".join(run(*requested, "accuracy,auroc").out.split())
    assert (
        "Of all rows together, and not by group: accuracy; the accuracy of a group is its observed_rate."
        in said
    )
    assert "and not by group" not in run(*requested, "auroc").out


def test_best_values_lie_within_the_range() -> None:
    """Where more is always better there is no limit, or the best is the limit."""
    for name in (*MeasureName, *ClassMeasure):
        best = name.facts.best
        assert best is None or best == float("inf") or name.facts.least <= best <= name.facts.most
        assert not name.facts.more_is_better or name.facts.badness(0.9) < name.facts.badness(0.1)
