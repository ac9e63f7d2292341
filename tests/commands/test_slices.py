"""Groups of rows, several scores and clusters in one measurement."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.commands.compare import compare_files
from calibcli.commands.measure import measure_files
from calibcli.commands.verify import verify_files
from calibcli.data import fragments
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import Binning, MeasureName, OnMissing, OnRange, TestName, WeightMeaning
from calibcli.options.gating import VerifyOptions
from calibcli.options.measuring import CompareOptions, MeasureOptions, Metrics
from calibcli.options.rows import Columns, Reading, RowRequest
from calibcli.options.rules import largest
from calibcli.reports.input import readable_keys, with_slash, without_slash
from calibcli.reports.measure import IN_TABLES, VALUES_ALONE, MeasureReport
from calibcli.shell.app import main
from calibcli.show.blocks import Grid
from calibcli.show.pages.measure import group_blocks, measure_page
from calibcli.stats.measures import Estimate
from calibcli.stats.measures.clustered import EXACT
from calibcli.stats.table.bins import BinnedTable, Partition, binned
from calibcli.stats.table.grid import Table
from command_line import CHURN, in_csv

M = MeasureName
QUICK = Metrics((M.ECE, M.BIAS, M.BRIER, M.LOG_LOSS), ())
OPTIONS = MeasureOptions(QUICK, complete=False)
HEADER = ["score", "other", "label", "country", "device", "site", "times", "heavy"]
BY = Columns("score", "label", by=("country",))
NAMES = ("AT", "DE", "US")


def drawn(rows: int = 900, seed: int = 0) -> list[tuple[Any, ...]]:
    """Return rows of two scores, a label, three ways to group them and two kinds of weight."""
    rng = np.random.default_rng(seed)
    score = rng.random(rows).clip(0.01, 0.99)
    other = score**1.5
    country = rng.choice(NAMES, rows, p=[0.2, 0.3, 0.5])
    label = (rng.random(rows) < np.where(country == "DE", score**2, score)).astype(int)
    device = rng.choice(["phone", "desk/top"], rows)
    columns = [score, other, label, country, device, rng.integers(0, 40, rows), rng.integers(0, 3, rows)]
    return list(zip(*(column.tolist() for column in columns), (rng.random(rows) + 0.5).tolist(), strict=True))


def csv(rows: list[tuple[Any, ...]], name: str = "a.csv") -> str:
    """Write rows as CSV and return the path."""
    return str(in_csv(name, dict(zip(HEADER, zip(*rows, strict=True), strict=True))))


def numbers(report: MeasureReport) -> dict[str, Any]:
    """Return every number of a report and its slices, by name."""
    found: dict[str, Any] = {"rows": report.table.rows}
    for one in report.measures:
        interval = one.interval
        ends = None if interval is None else (interval.lower, interval.upper, interval.confidence)
        found[one.name.value] = (one.value, ends)
    return {**found, **{key: numbers(part) for key, part in report.slices.items()}}


def of(report: MeasureReport, name: MeasureName) -> Estimate:
    """Return one measure of a report."""
    return next(one for one in report.measures if one.name is name)


def test_each_group_is_what_its_rows_alone_give() -> None:
    """A slice equals the measurement of a file of its rows at its confidence; the rest is the whole."""
    rows = drawn()
    report = measure_files(RowRequest([csv(rows)], BY), options=OPTIONS)
    assert list(report.slices) == [f"country={name}" for name in NAMES]
    assert report.groups.confidence == pytest.approx(1 - 0.05 / 3)
    level = replace(OPTIONS, confidence=report.groups.confidence)
    for name in NAMES:
        alone = csv([row for row in rows if row[3] == name], f"{name}.csv")
        expected = measure_files(RowRequest([alone], Columns("score", "label")), options=level)
        assert numbers(report.slices[f"country={name}"]) == numbers(expected)
    plain = measure_files(RowRequest([csv(rows, "b.csv")], Columns("score", "label")), options=OPTIONS)
    assert report.measures == plain.measures


@pytest.mark.parametrize("weights", [{}, {"weight": "times"}, {"weight": "heavy"}])
def test_formats_shards_and_workers_give_the_same_numbers(
    monkeypatch: pytest.MonkeyPatch, weights: dict[str, str]
) -> None:
    """CSV, Parquet of small fragments, shuffled rows and shards: one set of slices."""
    rows = drawn()
    meaning = (
        {"weight": "times", "weights_are": WeightMeaning.FREQUENCY}
        if "times" in weights.values()
        else weights
    )
    columns = replace(BY, others=("other",), cluster="site", **meaning)
    whole = numbers(measure_files(RowRequest([csv(rows)], columns), options=OPTIONS))
    table = pa.table(
        {name: list(column) for name, column in zip(HEADER, zip(*rows, strict=True), strict=True)}
    )
    pq.write_table(table, "a.parquet", row_group_size=100)
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 300)
    reading = Reading(jobs=3)
    parquet = measure_files(RowRequest(["a.parquet"], columns, reading=reading), options=OPTIONS)
    order = np.random.default_rng(1).permutation(len(rows))
    shuffled = [rows[place] for place in order]
    shards = [csv(shuffled[k::3], f"{k}.csv") for k in range(3)]
    several = measure_files(RowRequest(shards, columns, reading=reading), options=OPTIONS)
    for report in (parquet, several):
        assert_close(numbers(report), whole)
    again = measure_files(RowRequest(shards, columns, reading=Reading(jobs=1)), options=OPTIONS)
    assert numbers(again) == numbers(several)


def assert_close(found: Any, expected: Any) -> None:
    """Assert that nested numbers agree to rounding."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, value in expected.items():
            assert_close(found[key], value)
    elif isinstance(expected, tuple):
        for one, two in zip(found, expected, strict=True):
            assert_close(one, two)
    elif expected is None:
        assert found is None
    else:
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_columns_cross_and_slashes_are_escaped() -> None:
    """Two columns make a slice for each pair of values; their keys are joined by a slash."""
    columns = replace(BY, by=("country", "device"))
    options = replace(OPTIONS, least_rows=10)
    report = measure_files(RowRequest([csv(drawn())], columns), options=options)
    assert len(report.slices) == 6
    assert "country=AT/device=desk%2Ftop" in report.slices
    assert sum(part.table.rows for part in report.slices.values()) == 900


def test_no_two_values_have_one_name_within_a_key() -> None:
    """A value may hold what stands for a slash, or for that; both would have been one group."""
    values = ["x/y", "x%2Fy", "x%252Fy", "x%25252Fy", "x/%2Fb=1", "50%", "50%25", "%", "%2", "%252", "/"]
    names = [without_slash(value) for value in values]
    assert (len(set(names)), any("/" in name for name in names)) == (len(values), False)
    assert list(map(with_slash, names)) == values
    assert names[5:10] == values[5:10]
    assert readable_keys(["a=x%2Fy/b=1", "a=z/b=2"], ["a", "b"]) == {
        "a=x%2Fy/b=1": "a=x/y/b=1",
        "a=z/b=2": "a=z/b=2",
    }
    assert readable_keys(["a=x%2Fy"], ["a"]) == {}
    assert readable_keys(["a=x%2Fb=1/b=1", "a=x/b=1%2Fb=1"], ["a", "b"]) == {}


@pytest.mark.usefixtures("one_picture")
def test_people_read_slashes_where_keys_have_none(capsys: pytest.CaptureFixture[str]) -> None:
    """In text, Markdown and HTML, of measures and of gates; JSON and CSV keep their keys."""
    rng = np.random.default_rng(0)
    score = rng.random(600)
    lines = [
        f"{one!r},{rng.random() < one:d},{'x/y' if at % 2 else 'z'},{at % 3 and 'p'}"
        for at, one in enumerate(score.tolist())
    ]
    path = Path("rows.csv")
    path.write_text("\n".join(["score,label,a,b", *lines]))
    words = [str(path), *CHURN, "--by", "a", "--by", "b", "--min-group-rows", "50"]
    some = ["-m", "ece,brier"]
    for line in (["measure", *words, *some], ["verify", *words, "--max-ece", "0.2"]):
        for how in ([], ["--format", "md"], ["--format", "html"]):
            if line[0] == "measure" or not how:
                main([*line, *how])
                shown = capsys.readouterr().out
                assert "a=x/y/b=p" in shown.replace("\\", "")
                assert "%2F" not in shown
        main([*line, "--json"])
        assert '"a=x%2Fy/b=p"' in capsys.readouterr().out
    main(["report", *words, *some, "-o", "page.html"])
    assert "%2F" not in Path("page.html").read_text()


@pytest.mark.parametrize(
    "metrics", [Metrics(), Metrics((M.BRIER, M.LOG_LOSS), (TestName.KS,), selected=True)]
)
def test_brief_groups_have_the_numbers_that_a_table_shows(metrics: Metrics) -> None:
    """What a table shows of a group is what the whole report of it says, and nothing else is worked out."""
    path = csv(drawn())
    full, brief = (
        measure_files(RowRequest([path], BY), options=MeasureOptions(metrics, complete=False, brief=brief))
        for brief in (False, True)
    )
    shown = [
        [one.rows for one in group_blocks(report, report.slices) if isinstance(one, Grid)]
        for report in (full, brief)
    ]
    assert shown[0]
    assert shown[0] == shown[1]
    for key, part in brief.slices.items():
        whole = {one.name: one for one in full.slices[key].measures}
        names = metrics.measures if metrics.selected else IN_TABLES
        assert tuple(one.name for one in part.measures) == names
        for one in part.measures:
            assert one.value == whole[one.name].value
            alone = not metrics.selected and one.name in VALUES_ALONE
            assert one.interval == (None if alone else whole[one.name].interval)
        assert [one.p_value for one in part.tests] == [
            one.p_value for one in full.slices[key].tests if metrics.selected
        ]


class _NeverSearched(tuple[str, ...]):
    """Keys that may be gone through, but in which none may be looked for: of many that takes long."""

    __slots__ = ()

    def __contains__(self, key: object) -> bool:
        raise AssertionError(key)


@pytest.mark.parametrize("verbose", [False, True])
def test_a_page_of_groups_takes_time_in_proportion_to_them(*, verbose: bool) -> None:
    """No group is looked for among all the others."""
    report = measure_files(RowRequest([csv(drawn())], BY), options=OPTIONS)
    groups = replace(report.groups, measured=_NeverSearched(report.groups.measured))
    assert measure_page(replace(report, groups=groups), verbose=verbose) == measure_page(
        report, verbose=verbose
    )


def test_groups_are_not_cut_into_bins_of_measures_that_nobody_asks_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A table of groups has no measure over equal-mass bins, and no sums over them are taken."""
    cut = []

    def counted(table: Table, bins: Partition) -> BinnedTable:
        cut.append(bins.bins.binning if isinstance(bins, BinnedTable) else bins.binning)
        return binned(table, bins)

    monkeypatch.setattr("calibcli.commands.measure.binned", counted)
    path = csv(drawn())
    measure_files(RowRequest([path], BY), options=MeasureOptions(complete=False, brief=True))
    assert cut.count(Binning.EQUAL_MASS) == 1
    assert cut.count(Binning.EQUAL_WIDTH) == 1 + len(NAMES)


def test_small_groups_are_listed_and_not_measured() -> None:
    """Groups below the least number of rows are named with their rows, and cost no confidence."""
    rows = drawn()
    few = {name: sum(row[3] == name for row in rows) for name in NAMES}
    least = sorted(few.values())[1]
    report = measure_files(RowRequest([csv(rows)], BY), options=replace(OPTIONS, least_rows=least))
    smallest = min(few, key=lambda name: few[name])
    assert report.groups.left_out == {f"country={smallest}": few[smallest]}
    assert report.groups.confidence == pytest.approx(0.975)
    none = measure_files(RowRequest([csv(rows, "b.csv")], BY), options=replace(OPTIONS, least_rows=10_000))
    assert (none.slices, none.groups.measured, none.groups.worst) == ({}, (), None)


def test_worst_group_has_the_largest_estimate_and_bound() -> None:
    """The group whose labels do not follow its scores is named, with its own numbers."""
    rows = [(*row[:2], 0 if row[3] == "DE" else row[2], *row[3:]) for row in drawn()]
    report = measure_files(RowRequest([csv(rows)], BY), options=OPTIONS)
    worst = report.groups.worst
    ece = of(report.slices["country=DE"], M.ECE)
    assert (worst.by_estimate, worst.estimate) == ("country=DE", ece.value)
    assert (worst.by_lower, worst.lower) == ("country=DE", ece.interval.lower)


def test_no_group_is_named_where_every_bound_is_zero() -> None:
    """With few calibrated rows no group is shown to err; clusters leave no bound at all."""
    rows = [(0.9 if row[2] else 0.1, *row[1:]) for row in drawn(330, seed=5)]
    path = csv(rows)
    columns = replace(BY, by=("device",))
    few = measure_files(RowRequest([path], columns), options=OPTIONS)
    assert (few.groups.worst.by_lower, few.groups.worst.lower) == (None, 0.0)
    clustered = measure_files(RowRequest([path], replace(columns, cluster="site")), options=OPTIONS)
    assert (clustered.groups.worst.by_lower, clustered.groups.worst.lower) == (None, None)


def test_edges_given_hold_for_groups_and_are_not_compared() -> None:
    """Every slice is measured over the edges; differences leave out what is measured over them."""
    columns = replace(BY, others=("other",))
    options = replace(OPTIONS, edges=(0.0, 0.2, 1.0))
    report = measure_files(RowRequest([csv(drawn())], columns), options=options)
    partitions = {of(part, M.ECE).details["partition"] for part in (report, *report.slices.values())}
    assert len(partitions) == 1
    assert [one.name for one in report.differences["score=other"]] == [M.BRIER, M.LOG_LOSS]


def test_missing_groups_are_a_group_unless_dropped() -> None:
    """Rows without a value form `(missing)`; --on-missing drop leaves them out and counts them."""
    rows = [(*row[:3], "" if row[3] == "AT" else row[3], *row[4:]) for row in drawn()]
    path = csv(rows)
    missing = sum(row[3] == "" for row in rows)
    report = measure_files(RowRequest([path], BY), options=OPTIONS)
    assert report.slices["country=(missing)"].table.rows == missing
    assert report.input.dropped == 0
    dropped = measure_files(RowRequest([path], replace(BY, on_missing=OnMissing.DROP)), options=OPTIONS)
    assert list(dropped.slices) == ["country=DE", "country=US"]
    assert dropped.input.dropped == missing


def test_too_many_groups_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the number seen, in one file and over several; more than so many have less of each."""
    monkeypatch.setattr("calibcli.commands.measure.MOST_SLICES", 100)
    paths = []
    for k in range(2):
        rows = [(*row[:3], f"u{k}-{place % 70}", *row[4:]) for place, row in enumerate(drawn())]
        paths.append(csv(rows, f"{k}.csv"))
    assert len(measure_files(RowRequest(paths[:1], BY), options=OPTIONS).groups.left_out) == 70
    many = measure_files(RowRequest(paths, BY), options=replace(OPTIONS, least_rows=1))
    assert len(many.slices) == 140
    assert not any(one.tests for one in many.slices.values())
    gate = VerifyOptions((largest(MeasureName.ECE, 0.9),), least_group_rows=1)
    assert len(verify_files(RowRequest(paths, BY), options=gate).groups) == 140
    monkeypatch.setattr("calibcli.commands.measure.MOST_BRIEF_SLICES", 100)
    with pytest.raises(InputProblem, match=r"--by country makes over 100 groups \(140 so far\)"):
        measure_files(RowRequest(paths, BY), options=OPTIONS)


def squeezed() -> list[tuple[Any, ...]]:
    """Return rows whose scores lie in two cells of a coarse grid at most."""
    return [(0.3 + row[0] / 10_000.0, *row[1:]) for row in drawn()]


def test_groups_share_one_limit() -> None:
    """Past the limit together all slices are grids, if these are smaller, and counts stay what they are."""
    paths = csv(squeezed()), csv(drawn(), "b.csv")
    # 953 scores hold the 900 of the whole and of all groups; 858 hold neither. Spread out, each has its cell.
    limits = {(0, "250K"): ("exact", "exact"), (0, "225K"): ("grid", "grid"), (1, "225K"): ("grid", "exact")}
    found = {
        key: measure_files(RowRequest([paths[key[0]]], BY, reading=Reading(memory=key[1])), options=OPTIONS)
        for key in limits
    }
    for key, (whole, groups) in limits.items():
        assert found[key].table.kind == whole
        assert {part.table.kind for part in found[key].slices.values()} == {groups}
        said = " ".join(found[key].notes)
        assert ("scores of groups are rounded to 0.0002" in said) == (groups == "grid")
    exact, grid = found[0, "250K"], found[0, "225K"]
    for key, part in grid.slices.items():
        assert of(part, M.BIAS).value == pytest.approx(of(exact.slices[key], M.BIAS).value, abs=1e-14)
        assert part.table.positive == exact.slices[key].table.positive


def test_bins_that_cut_the_cells_of_groups_are_refused() -> None:
    """Groups on a grid have no second look at their rows: 17 bins are refused, 20 are not."""
    path, reading = csv(squeezed()), Reading(memory="225K")
    measure_files(RowRequest([path], BY, reading=reading), options=replace(OPTIONS, bins=20))
    for change in ({"bins": 17}, {"edges": (0.0, 0.123456, 1.0)}):
        with pytest.raises(UsageProblem, match="would cut the cells that scores of groups are rounded to"):
            measure_files(RowRequest([path], BY, reading=reading), options=replace(OPTIONS, **change))


def test_group_without_weight_is_left_out() -> None:
    """A group whose every weight is 0 is listed, and the others are measured."""
    rows = [(*row[:7], 0.0 if row[3] == "AT" else 1.0) for row in drawn()]
    report = measure_files(RowRequest([csv(rows)], replace(BY, weight="heavy")), options=OPTIONS)
    assert list(report.slices) == ["country=DE", "country=US"]


def test_further_scores_are_slices_with_paired_differences() -> None:
    """Each further score is measured as if alone, and differs from the first as `compare` says."""
    path = csv(drawn())
    columns = Columns("score", "label", others=("other", "heavy"), on_range=OnRange.CLIP)
    report = measure_files(RowRequest([path], columns), options=OPTIONS)
    assert list(report.slices) == ["score=other", "score=heavy"]
    alone = measure_files(RowRequest([path], replace(columns, score="other", others=())), options=OPTIONS)
    assert report.slices["score=other"].measures == alone.measures
    assert report.slices["score=other"].input.score == "other"
    for name in ("other", "heavy"):
        found = compare_files(
            RowRequest([path], replace(columns, others=(name,))),
            options=CompareOptions((M.ECE, M.BRIER, M.LOG_LOSS)),
        )
        assert report.differences[f"score={name}"] == tuple(one.difference for one in found.comparisons)


def test_scores_and_groups_join_their_keys() -> None:
    """Every score has its groups, at one confidence for all of them, and a worst group of its own."""
    report = measure_files(RowRequest([csv(drawn())], replace(BY, others=("other",))), options=OPTIONS)
    other = report.slices["score=other"]
    assert other.groups.measured == tuple(f"score=other/country={name}" for name in NAMES)
    assert report.groups.confidence == other.groups.confidence == pytest.approx(1 - 0.05 / 6)
    assert set(report.slices) == {"score=other", *report.groups.measured, *other.groups.measured}


def test_nothing_comparable_means_no_differences() -> None:
    """No bounds of a difference in bias are known."""
    columns = Columns("score", "label", others=("other",))
    options = replace(OPTIONS, metrics=Metrics((M.BIAS,), ()))
    assert measure_files(RowRequest([csv(drawn())], columns), options=options).differences == {}


def test_clusters_leave_means_their_intervals_and_nothing_else() -> None:
    """Values stay, means get cluster-robust intervals, everything else says why it has none."""
    path = csv(drawn())
    plain = Columns("score", "label")
    report = measure_files(RowRequest([path], replace(plain, cluster="site")), options=MeasureOptions())
    alone = measure_files(RowRequest([path], plain), options=MeasureOptions())
    assert (report.clusters.column, report.clusters.count) == ("site", 40)
    for found, expected in zip(report.measures, alone.measures, strict=True):
        assert found.value == expected.value
        if found.name in (M.BIAS, M.BRIER, M.LOG_LOSS):
            assert "cluster-robust" in found.interval.method
        else:
            assert (found.interval, found.null) == (None, None)
            assert any(one.startswith("no interval: rows of one cluster") for one in found.assumptions)
    assert EXACT in of(report, M.ECE).assumptions
    assert {test.p_value for test in report.tests} == {None}
    assert report.combined.p_value is None
    assert np.isnan(report.curve.binned.rate_lower).all()
    assert np.isnan(report.curve.smooth.lower).all()


def test_clusters_reach_slices_and_differences() -> None:
    """Slices have clusters of their own rows, and paired differences are taken over clusters."""
    path = csv(drawn())
    report = measure_files(
        RowRequest([path], replace(BY, others=("other",), cluster="site")), options=OPTIONS
    )
    part = report.slices["score=other/country=US"]
    assert of(part, M.BRIER).details["clusters"] == 40
    brier = next(one for one in report.differences["score=other"] if one.name is M.BRIER)
    assert "cluster-robust" in brier.interval.method
    assert next(one for one in report.differences["score=other"] if one.name is M.ECE).interval is None


def test_discrete_scores_are_cut_alike_in_every_group() -> None:
    """Where the whole is measured at its few values, so is a group of few rows."""
    rows = [(round(row[0], 1), *row[1:]) for row in drawn()]
    report = measure_files(RowRequest([csv(rows)], BY), options=replace(OPTIONS, least_rows=1))
    assert {part.table.discrete for part in (report, *report.slices.values())} == {True}


def test_groups_with_one_row_of_each_cluster_are_independent() -> None:
    """Each model has one answer to a question: its intervals are those of its own rows by themselves."""
    rng = np.random.default_rng(4)
    lines = [
        f"{rng.uniform(0.2, 0.99):.3f},{rng.integers(0, 2)},{model},{question}"
        for model in "ab"
        for question in range(200)
    ]
    path = Path("answers.csv")
    path.write_text("\n".join(["score,label,model,question", *lines]) + "\n")
    measures = Metrics((M.OBSERVED_RATE, M.MEAN_SCORE, M.BIAS, M.BRIER, M.AUROC), (), selected=True)
    columns = Columns("score", "label", by=("model",), cluster="question")
    options = MeasureOptions(measures, complete=False)
    found = measure_files(RowRequest([str(path)], columns), options=options)
    alone = measure_files(RowRequest([str(path)], replace(columns, cluster=None)), options=options)
    for key in ("model=a", "model=b"):
        assert found.slices[key].measures == alone.slices[key].measures
    # Of all rows, two answer each question.
    assert found.clusters.count == 200
    assert all(one.interval is None for one in found.measures if one.name is M.AUROC)
    assert "in each group every cluster has one row, so that its rows are independent" in found.notes


def test_missing_clusters_are_refused_or_dropped() -> None:
    """A row without a cluster is a row with a missing value."""
    rows = [(*row[:5], "" if place == 3 else row[5], *row[6:]) for place, row in enumerate(drawn(200))]
    path, columns = csv(rows), Columns("score", "label", cluster="site")
    with pytest.raises(
        InputProblem, match="column 'site': 1 of 200 values is missing; the first is at row 4"
    ):
        measure_files(RowRequest([path], columns), options=OPTIONS)
    dropped = measure_files(RowRequest([path], replace(columns, on_missing=OnMissing.DROP)), options=OPTIONS)
    assert (dropped.input.rows, dropped.input.dropped) == (199, 1)


def test_one_group_alone_keeps_the_confidence() -> None:
    """With a single group nothing is compared, and its numbers are those of the whole."""
    rows = [(*row[:3], "AT", *row[4:]) for row in drawn(300)]
    report = measure_files(RowRequest([csv(rows)], BY), options=OPTIONS)
    assert report.slices["country=AT"].measures == report.measures
    assert math.isclose(report.groups.confidence, 0.95)
