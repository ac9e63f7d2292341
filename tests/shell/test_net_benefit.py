"""Net benefit on the command line: a sentence a threshold, a table a score, rows for programs."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import CHURN, Run
from score_rows import scored


@pytest.fixture
def rows() -> Path:
    """Two scores, the second hardly better than none, with weights and clusters."""
    generator = np.random.default_rng(0)
    score = generator.random(600)
    label = generator.random(600) < score
    other = generator.random(600)
    path = Path("two.csv")
    lines = (
        f"{a:.4f},{b:.4f},{int(y)},{1 + k % 3 / 2},{k % 40}"
        for k, (a, b, y) in enumerate(zip(score, other, label, strict=True))
    )
    path.write_text("\n".join(["score,other,label,w,hospital", *lines]) + "\n")
    return path


ASKED = ("-s", "score", "-s", "other", "-y", "label", "-m", "brier", "--threshold", "0.001,0.5")


def test_each_score_has_a_sentence_and_a_table(run: Run, rows: Path) -> None:
    """What is shown at which threshold, and of the second score the difference to the first."""
    out = run("measure", rows, *ASKED).out
    assert "At 0.5 acting on score is worth more than treating all and treating none (95 %" in out
    assert "At 0.001 these rows do not show whether acting on score is worth more" in out
    # Random scores: below the base rate worse than treating all, above it worse than treating none.
    other = run("measure", rows, "-s", "other", "-y", "label", "-m", "brier", "--threshold", "0.2,0.9").out
    assert "At 0.2 acting on other is worth less than treating all (95 %, threshold by threshold)." in other
    assert "At 0.9 acting on other is worth less than treating none (95 %, threshold by threshold)." in other
    heads = [line.split("  ") for line in out.splitlines() if line.startswith("threshold")]
    assert ["over score" in [word.strip() for word in head] for head in heads] == [False, True]
    latex = run("measure", rows, *ASKED, "--format", "latex").out
    assert r"\caption{Net benefit of other for label}" in latex
    assert "Intervals: Gaffke's bound" in latex


def test_groups_have_one_table(run: Run, rows: Path) -> None:
    """Each group at each threshold is a row with the numbers of that group measured by itself."""
    asked = (*CHURN, "-m", "brier", "--threshold", "0.1,0.5")
    out = run("measure", rows, *asked, "--by", "w").out
    lines = out.partition("Net benefit of score for label by w")[2].splitlines()[2:9]
    assert lines[0].split("  ")[:2] == ["group", "threshold"]
    assert "98.3 % interval" in lines[0]
    assert [line.split()[:2] for line in lines[1:7]] == [
        [f"w={w}", t] for w in ("1.0", "1.5", "2.0") for t in ("0.1", "0.5")
    ]
    alone = run("measure", rows, *asked, "--where", "w == 1.5", "--json").document["net_benefit"]
    assert [float(line.split()[2]) for line in lines[3:5]] == pytest.approx(
        [one["net_benefit"]["value"] for one in alone], rel=1e-3
    )


def test_tables_for_a_paper_stand_by_themselves(run: Run, rows: Path) -> None:
    """Each has a caption and a label of its own, intervals beside their numbers, and notes are comments."""
    asked = ("-m", "clinical", "--threshold", "0.3", "--threshold", "0.5", "--by", "w", "--format", "latex")
    text = run("measure", rows, *asked).out
    labels, captions = (re.findall(rf"\\{one}{{(.*)}}", text) for one in ("label", "caption"))
    tables = text.count(r"\begin{table}")
    assert tables == len(set(labels)) == len(set(captions)) > 5
    assert text.count(r"Each interval is at 98.3 \%") == sum(
        one.startswith("Groups by w") for one in captions
    )
    assert re.search(r"^% note: column 'score' was taken", text, re.MULTILINE)
    assert not re.search(r"^note:", text, re.MULTILINE)
    assert r"& O/E ratio (98.3 \% CI) " in text
    assert text.count("\n0.3 & ") == text.count("\n0.5 & ") == 1


def test_programs_get_every_number(run: Run, rows: Path) -> None:
    """A row for each in CSV with its threshold as limit; the same in JSON, by slice."""
    table = list(csv.DictReader(io.StringIO(run("measure", rows, *ASKED, "--format", "csv").out)))
    found = {(one["slice"], one["name"], one["limit"]): one for one in table if one["kind"] == "net_benefit"}
    assert len(found) == 2 * (3 + 4)
    document = run("measure", rows, *ASKED, "--json").document
    first, second = document["net_benefit"], document["slices"]["score=other"]["net_benefit"]
    assert [one["threshold"] for one in first] == [0.001, 0.5]
    assert "over_first" not in first[1]
    gain = second[1]["over_first"]
    assert gain["value"] == pytest.approx(
        second[1]["net_benefit"]["value"] - first[1]["net_benefit"]["value"]
    )
    assert gain["upper"] < 0.0
    assert float(found["score=other", "over_first", "0.5"]["upper"]) == gain["upper"]


@pytest.mark.parametrize("more", [("-w", "w", "--weights-are", "importance"), ("--cluster", "hospital")])
def test_no_interval_is_made_up(run: Run, rows: Path, more: tuple[str, ...]) -> None:
    """Importance weights and clusters leave values, and the table says why there is no more."""
    out = run("measure", rows, *ASKED, *more).out
    assert "No intervals: they need independent rows that all count the same." in out
    assert "acting on" not in out
    document = run("measure", rows, *ASKED, *more, "--json").document
    for one in (document, document["slices"]["score=other"]):
        for found in one["net_benefit"]:
            numbers = [value for value in found.values() if isinstance(value, dict)]
            assert all(value["value"] is not None for value in numbers)
            assert all(value.get("lower") is None for value in numbers)


def test_rounded_scores_count_at_thresholds_as_they_are(run: Run) -> None:
    """Rows that share a cell with a threshold are read again; where they are not, how many is said."""
    score, label = scored(60_000, lambda score: np.where(score == 0.5, 0.1, score), seed=1, beta=(1.0, 3.0))
    score[::10], score[3::100], score[6::100] = 0.5, 0.29 - 1e-7, 0.5 - 1e-9
    path = Path("rows.parquet")
    columns = {"score": score, "other": score[::-1], "label": label, "half": np.arange(score.size) % 2}
    pq.write_table(pa.table(columns), path)
    asked = ("measure", path, "-y", "label", "-m", "brier", "--threshold", "0.5,0.29", "--json")
    exact = run(*asked, "-s", "score").document
    rounded = run(*asked, "-s", "score", "--memory", "1MiB").document
    assert (exact["table"]["kind"], rounded["table"]["kind"]) == ("exact", "grid")
    assert rounded["net_benefit"] == exact["net_benefit"]
    assert rounded["notes"] == exact["notes"]
    near = "rows lie so near a threshold that rounding may have moved them across it; --exact counts them"
    several = run(*asked, "-s", "score", "-s", "other", "--memory", "2MiB").document
    assert near in several["slices"]["score=other"]["notes"][0]
    grouped = run(*asked, "-s", "score", "--by", "half", "--memory", "2MiB").document
    (doubtful,) = (note for note in grouped["notes"] if note.startswith("in groups "))
    assert near in doubtful
