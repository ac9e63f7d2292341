"""Tables of groups and classes show what was asked for, and say nothing of what they do not show."""

import csv
import io
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibcli.commands.measure import measure_files
from calibcli.names import MeasureName, TestName
from calibcli.options.measuring import MeasureOptions
from calibcli.options.metrics import GROUPS, metrics_of
from calibcli.options.rows import Columns
from calibcli.reports.measure import MeasureReport
from calibcli.show.as_data import CsvRenderer, JsonRenderer
from calibcli.show.blocks import Grid
from calibcli.show.html.sections import number_sections
from calibcli.show.markdown import MarkdownRenderer
from calibcli.show.pages.measure import group_blocks

NAMES = (*MeasureName, *TestName)
Run = Any


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of two scores in two groups."""
    rng = np.random.default_rng(0)
    score = rng.beta(2, 3, 300)
    lines = [
        f"{one!r},{1 - one!r},{'ab'[place % 2]},{int(rng.random() < one)}\n"
        for place, one in enumerate(score.tolist())
    ]
    path = tmp_path_factory.mktemp("slices") / "rows.csv"
    path.write_text("score,other,by,label\n" + "".join(lines))
    return path


@pytest.fixture(scope="module")
def everything(rows: Path) -> MeasureReport:
    """Every measure and test of all rows and of each group."""
    columns = Columns(score="score", others=("other",), label="label", by=("by",))
    return measure_files([str(rows)], columns, options=MeasureOptions(metrics=metrics_of(["all"])))


def _only(report: MeasureReport, names: tuple[str, ...]) -> MeasureReport:
    """The report as it is where these alone are asked for."""

    def cut(part: MeasureReport) -> MeasureReport:
        measures = tuple(one for one in part.measures if one.name in names)
        return replace(
            part,
            measures=measures,
            tests=tuple(one for one in part.tests if one.name in names),
            combined=None,
            groups=None if part.groups is None else replace(part.groups, worst=None),
            differences={},
        )

    return replace(cut(report), slices={key: cut(part) for key, part in report.slices.items()})


def _titles(blocks: Any) -> list[str]:
    return [column.title for block in blocks if isinstance(block, Grid) for column in block.columns]


def _asked() -> list[tuple[str, ...]]:
    """Each name, names beside their neighbours, and what groups of names stand for."""
    return [(name,) for name in NAMES] + list(pairwise(NAMES)) + [tuple(one) for one in GROUPS.values()]


@pytest.mark.untraced
def test_every_format_shows_what_was_asked_for(everything: MeasureReport) -> None:
    """A column for each measure and test, with an interval where there is one, of each group."""
    for names in _asked():
        names = tuple(name for name in names if name in NAMES)  # noqa: PLW2901 - those of classes are not here
        report = _only(everything, names)
        slices = dict(report.slices)
        blocks = group_blocks(report, slices)
        titles = _titles(blocks)
        grids = [block for block in blocks if isinstance(block, Grid)]
        for name in names:
            own = f"{name} p-value" if isinstance(name, TestName) else name
            assert titles.count(own) == 1, (names, titles)
            assert f"| {own} |" in MarkdownRenderer(verbose=False, unicode=True).render(report).replace(
                "\\", ""
            )
        measured = [one for part in slices.values() for one in part.measures]
        with_interval = {one.name for one in measured if one.interval is not None}
        assert sum("interval" in title for title in titles) == len(with_interval)
        said = " ".join(line.text for grid in grids for line in grid.notes)
        assert ("Each interval is at 98.75 %" in said) is bool(with_interval)
        assert ("P-values" in said) is any(isinstance(name, TestName) for name in names)
        assert all(len(row) == len(grid.columns) for grid in grids for row in grid.rows)
        html = [one for section in number_sections(report, None) for one in _titles(section.blocks)]
        assert all(html.count(title) >= 1 for title in titles)


def test_rows_and_json_hold_every_measure_and_test_of_every_group(everything: MeasureReport) -> None:
    """CSV has a row for each, JSON a member."""
    table = list(csv.DictReader(io.StringIO(CsvRenderer(unicode=True).render(everything))))
    document = json.loads(JsonRenderer().render(everything))
    for key in ("by=a", "by=b", "score=other/by=a"):
        found = {row["name"] for row in table if row["slice"] == key}
        assert {*NAMES} <= found
        assert {*MeasureName} == set(document["slices"][key]["measures"])
        assert {*TestName} <= set(document["slices"][key]["tests"])


@pytest.mark.parametrize(
    ("words", "titles", "missing"),
    [
        (["--metric", "cox", "--metric", "brier"], ["citl_logit", "cox_slope", "brier", "u p-value"], []),
        (["--metric", "brier"], ["brier", "97.5 % interval"], ["P-values", "ece"]),
        (["--metric", "ks"], ["ks p-value", "times 2 they hold for all at once"], ["Each interval"]),
        ([], ["ece", "smece", "bias", "brier", "Each interval is at 97.5 %"], ["p-value  "]),
    ],
)
def test_the_command_shows_them(
    run: Run, rows: Path, words: list[str], titles: list[str], missing: list[str]
) -> None:
    """In a table below those of all rows, and nothing else."""
    ended = run("measure", rows, "-s", "score", "-y", "label", "--by", "by", *words)
    assert ended.code == 0, ended.err
    table = ended.out[ended.out.index("Groups by by") :]
    assert all(title in table for title in titles), table
    assert not any(title in table for title in missing), table


def test_several_scores_say_what_is_not_compared(run: Run, rows: Path) -> None:
    """Measures that do not say which score is better stand with each; the table of differences says so."""
    ended = run(
        "measure", rows, "-s", "score", "-s", "other", "-y", "label", "--metric", "cox", "--metric", "brier"
    )
    assert "not compared: citl_logit, cox_intercept, cox_slope and u" in " ".join(ended.out.split())


def test_classes_show_what_was_asked_for(run: Run, tmp_path: Path) -> None:
    """In the tables of each class, measured and compared."""
    rng = np.random.default_rng(1)
    several = rng.dirichlet((1, 1, 1), 400)
    label = (several.cumsum(axis=1) < rng.random((400, 1))).sum(axis=1)
    path, artifact = tmp_path / "rows.csv", tmp_path / "cal.json"
    rows = [f"{','.join(map(repr, row))},{one}\n" for row, one in zip(several.tolist(), label, strict=True)]
    path.write_text("p_0,p_1,p_2,label\n" + "".join(rows))
    of_classes = [path, "--probs", "p_*", "-y", "label"]
    ended = run("measure", *of_classes, "--metric", "cox_slope", "--metric", "ks")
    table = ended.out[ended.out.index("Each class against the rest") :]
    assert table.count("cox_slope") == table.count("ks p-value") == 2
    assert run("fit", *of_classes, "-o", artifact).code == 0
    ended = run("compare", *of_classes, "--artifact", artifact, "--metric", "brier", "--metric", "ece")
    table = ended.out[ended.out.index("Each class against the rest") :]
    assert table.count("\n0 ") == table.count("\n1 ") == 4, table
    assert "-v shows" not in table
