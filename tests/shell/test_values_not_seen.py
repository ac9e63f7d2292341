"""A gate on every value says in each of its outputs how much it has not seen."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from command_line import Ran

SAID = "hold up to 2.4 % of future rows (95 % confidence)"


@pytest.fixture(scope="module")
def few_values(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write 200 rows of four values in three groups."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("values") / "few.csv"
    score, group = rng.choice([0.1, 0.3, 0.6, 0.9], 200), rng.choice(["a", "b", "c"], 200)
    label = (rng.random(200) < score).astype(int)
    rows = (f"{s},{y},{g}" for s, y, g in zip(score, label, group, strict=True))
    path.write_text("\n".join(["score,label,group", *rows]) + "\n")
    return path


def test_every_output_says_what_values_were_not_seen(
    few_values: Path, tmp_path: Path, run: Callable[..., Ran]
) -> None:
    """Texts hold the sentence; JSON, rows and metrics hold the number."""
    gate = ("verify", few_values, "-s", "score", "-y", "label", "--max-linf", "0.3")
    files = {kind: tmp_path / kind for kind in ("junit", "md", "json", "openmetrics")}
    reports = [word for kind, path in files.items() for word in ("--report", f"{kind}={path}")]
    shown = run(*gate, *reports, "--report", "github")
    assert shown.code == 0
    assert SAID in " ".join(shown.out.split())
    texts = {kind: path.read_text() for kind, path in files.items()}
    for kind in ("md", "junit", "json"):
        assert SAID in texts[kind].replace("\\", "").replace("&#10;", " "), kind
    (rule,) = json.loads(texts["json"])["rules"].values()
    share = rule["unseen_share"]
    assert 0.02 < share < 0.03
    assert f'calibcli_unseen_ratio{{rule="max-linf",group="all"}} {share!r}' in texts["openmetrics"]
    for kind in ("csv", "jsonl"):
        assert repr(share) in run(*gate, "--format", kind).out, kind


def test_a_gate_by_groups_says_what_groups_were_not_seen(few_values: Path, run: Callable[..., Ran]) -> None:
    """The note speaks of groups, whichever measure is judged; a gate on all rows has no such note."""
    gate = ("verify", few_values, "-s", "score", "-y", "label", "--max-ece", "0.5")
    note = "the gate speaks of the 3 groups seen here: groups not seen may hold up to 2.4 % of future rows"
    assert any(note in one for one in json.loads(run(*gate, "--by", "group", "--json").out)["notes"])
    assert "seen here" not in run(*gate, "--json").out


def test_a_plan_says_what_the_rarest_value_gets(few_values: Path, run: Callable[..., Ran]) -> None:
    """Rows of the rarest value, and what later rows may have of others, stand beside the rows to collect."""
    plan = run("plan", "--like", few_values, "-s", "score", "--max-linf", "0.2", "--json")
    notes = " ".join(json.loads(plan.out)["notes"])
    assert "the rarest value, " in notes
    assert "the gate will speak of the values seen, and up to " in notes
