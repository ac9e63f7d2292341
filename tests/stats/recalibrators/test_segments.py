"""Repair by segments: its optimum is one, and what it becomes where other fits are known."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from calibcli.codec import Node
from calibcli.errors import InputProblem, NotConverged
from calibcli.stats.recalibrators.logits import Platt
from calibcli.stats.recalibrators.newton import logit
from calibcli.stats.recalibrators.penalised import (
    GLOBAL,
    Design,
    Grid,
    Problem,
    cross_validated,
    descend,
    inverted,
    with_variances,
)
from calibcli.stats.recalibrators.segments import (
    LARGEST_GAP,
    SegmentFit,
    SegmentMap,
    completed,
    fit_segments,
)
from calibcli.stats.table import ScoreTable, levels
from calibcli.stats.table.levels import Mixed, RunningValues
from calibcli.stats.table.sliced import RunningSlices

Rows = tuple[np.ndarray, np.ndarray, list[np.ndarray]]


def drawn(rows: int, seed: int, *, effect: float = 0.8, sizes: tuple[int, ...] = (3, 4)) -> Rows:
    """Rows whose scores are wrong for one value of the first column, and for one pair."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, size, rows) for size in sizes]
    score = np.round(rng.beta(0.8, 1.2, rows), 3).clip(0.001, 0.999)
    t = logit(score) + effect * (columns[0] == 1) - effect * ((columns[0] == 2) & (columns[-1] == 0))
    return score, rng.random(rows) < 1.0 / (1.0 + np.exp(-t)), columns


def mixed(column: np.ndarray) -> Mixed:
    """Return whole numbers as a column of a file has them."""
    return Mixed(column.astype(float))


def fitted(rows: Rows, *, depth: int = 2, folds: int = 5, values: Any = mixed) -> SegmentFit:
    """Fit as the command does."""
    score, label, columns = rows
    found = []
    for place, column in enumerate(columns):
        running = RunningValues(f"c{place}")
        running.add_rows(values(column))
        found.append(running.levels(most=50, intervals=8))
    kept, levels = completed(found)
    part = np.zeros(score.size, np.int64)
    for one, column in zip(levels, columns, strict=True):
        part = part * len(one.words) + one.places(values(column))
    slices = RunningSlices(None)
    slices.add_numbered(score, label, part=part)
    return fit_segments(slices.leaves(), kept, depth=depth, folds=folds, generator=np.random.default_rng(0))


def problem(rows: Rows, *, depth: int, penalty: float, ordered: tuple[int, ...] = (0, 0)) -> Problem:
    """Return the rows with every coefficient penalised alike."""
    score, label, columns = rows
    part = columns[0] * 100 + (columns[1] if len(columns) > 1 else 0)
    order = np.lexsort((score, part))
    part, score, label = part[order], score[order], label[order]
    starts = np.flatnonzero(np.concatenate(([True], part[1:] != part[:-1])))
    levels = np.stack([column[order][starts] for column in columns])
    count = np.ones(score.size)
    rows_of = np.diff(starts, append=score.size)
    both = ordered[: len(columns)], ordered[: len(columns)]
    grid = Grid((levels, levels), both, rows_of, depth, least=1, most=10_000)
    design = Design.of(starts, logit(score), count.astype(int), grid)
    if depth > 1:
        design = design.joined([grid.term((0, 1), *grid.cells((0, 1), 1)[:2])])
    held = np.zeros((design.size, design.size))
    held[GLOBAL:, GLOBAL:] = penalty * np.eye(design.size - GLOBAL)
    return Problem(design, label.astype(float), count, held)


def best(one: Problem) -> np.ndarray:
    """Return the optimum."""
    return descend(one, np.zeros(one.design.size), within=1e-12)[0]


@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 1_000), st.sampled_from([1, 2]), st.floats(0.05, 50.0), st.integers(30, 300))
def test_optimum_is_that_of_another_solver(seed: int, depth: int, penalty: float, rows: int) -> None:
    """Scipy's own descent finds no lower loss, the gradient is that of differences, and the gap is kept."""
    one = problem(drawn(rows, seed), depth=depth, penalty=penalty, ordered=(0, 4))
    at = best(one)
    other = minimize(
        lambda x: one.at(x).loss, np.zeros(at.size), jac=lambda x: one.at(x).gradient, method="BFGS", tol=1e-9
    )
    least = one.at(at).loss
    assert least <= other.fun + 1e-9 * abs(other.fun)
    rng = np.random.default_rng(seed)
    near = at + 0.01 * rng.standard_normal(at.size)
    here = one.at(near)
    step = 1e-6 * rng.standard_normal(at.size)
    rise = one.at(near + step).loss - one.at(near - step).loss
    assert rise == pytest.approx(2.0 * float(step @ here.gradient), rel=1e-3, abs=1e-7)
    gap = one.gap(here, one.curvature(here))
    assert here.loss - least <= gap * (1.0 + 1e-9) + 1e-9


def test_penalty_is_that_of_a_regression() -> None:
    """Offsets of one column alone are those of scikit-learn's logistic regression with this penalty."""
    score, label, columns = drawn(2_000, 3)
    one = problem((score, label, columns[:1]), depth=1, penalty=2.0)
    offsets = one.design.some(np.array([not term.slope for term in one.design.terms]))[0]
    held = np.zeros((offsets.size, offsets.size))
    held[GLOBAL:, GLOBAL:] = 2.0 * np.eye(offsets.size - GLOBAL)
    at = best(Problem(offsets, one.ones, one.rows, held))
    # The slope has no penalty here: of a feature of large numbers it costs next to nothing there.
    large = 1e4
    features = np.column_stack((logit(score) * large, columns[0][:, None] == np.arange(3)))
    peer = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000, solver="newton-cholesky").fit(
        features, label
    )
    assert at[GLOBAL:] == pytest.approx(peer.coef_[0, 1:], abs=1e-5)
    assert 1.0 + at[1] == pytest.approx(peer.coef_[0, 0] * large, abs=1e-5)


def test_strength_between_one_curve_and_one_for_each_group() -> None:
    """Infinitely strong, all rows share Platt's curve; with none, every value has one of its own."""
    rows = drawn(3_000, 5, sizes=(3,))
    score, label, (column,) = rows
    strong, free = (problem(rows, depth=1, penalty=penalty) for penalty in (1e12, 1e-9))
    whole = Platt.fit(ScoreTable.from_rows(score, label))
    at = best(strong)
    assert 1.0 + at[1] == pytest.approx(whole.slope, abs=1e-6)
    assert at[0] - at[1] * strong.design.centre == pytest.approx(whole.intercept, abs=1e-6)
    offset, slope = free.design.curves(best(free))
    for value in range(3):
        own = Platt.fit(ScoreTable.from_rows(score[column == value], label[column == value]))
        assert 1.0 + slope[value] == pytest.approx(own.slope, abs=1e-5)
        assert offset[value] - slope[value] * free.design.centre == pytest.approx(own.intercept, abs=1e-5)


@settings(max_examples=settings.default.max_examples // 8)
@given(st.integers(0, 1_000))
def test_fit_depends_on_the_rows_alone(seed: int) -> None:
    """Another order and a column of one value change no digit; a restored map predicts the same bits."""
    score, label, columns = rows = drawn(700, seed)
    found = fitted(rows)
    order = np.random.default_rng(seed).permutation(score.size)
    moved = fitted((score[order], label[order], [column[order] for column in columns]))
    assert moved.map.to_dict() == found.map.to_dict()
    assert found.map.gap <= LARGEST_GAP
    values = [mixed(column) for column in columns]
    after = found.map.predict(score, values)
    wider = fitted((score, label, [*columns, np.zeros(score.size, np.int64)]))
    assert np.array_equal(wider.map.predict(score, [*values, mixed(np.zeros(score.size))]), after)
    restored = SegmentMap.from_dict(Node(json.loads(json.dumps(found.map.to_dict()))))
    assert restored == found.map
    assert np.array_equal(restored.predict(score, values), after)
    loss = -np.log(np.where(label, after, 1.0 - after)).mean()
    assert found.loss_after == pytest.approx(loss, rel=1e-9)


def test_repair_finds_what_is_wrong() -> None:
    """The value and the pair that are wrong get their log odds back, and fresh rows a lower loss."""
    found = fitted(drawn(40_000, 8)).map
    score, label, columns = drawn(40_000, 9)
    after = found.predict(score, [mixed(column) for column in columns])
    each = [np.where(label, one, 1.0 - one) for one in (score, after)]
    gain = np.log(each[1]) - np.log(each[0])
    assert gain.mean() > 15.0 * gain.std() / np.sqrt(score.size)
    probe = np.full(2, 0.5)
    values = [mixed(np.array([1, 2])), mixed(np.array([3, 0]))]
    assert logit(found.predict(probe, values)) == pytest.approx([0.8, -0.8], abs=0.15)
    assert found.strength not in (None, np.inf)


def test_calibrated_scores_are_left_alone_or_nearly() -> None:
    """Where nothing is wrong the map is the identity or next to it."""
    found = fitted(drawn(20_000, 8, effect=0.0)).map
    score, _, columns = drawn(20_000, 9)
    moved = np.abs(found.predict(score, [mixed(column) for column in columns]) - score)
    assert moved.max() < 0.03


def test_new_values_are_others_and_counted() -> None:
    """A value that no fit row had takes the place of others, and is told from rare ones and from gaps."""

    def words(column: np.ndarray) -> Mixed:
        texts = tuple(sorted({f"v{one}" for one in column.tolist()}))
        code = np.array([texts.index(f"v{one}") for one in column.tolist()])
        return Mixed(np.full(column.size, np.nan), code, texts)

    found = fitted(drawn(3_000, 2), values=words).map
    values = [
        Mixed(np.full(3, np.nan), np.array([0, 1, -1]), ("v1", "new")),
        Mixed(np.array([np.nan, np.nan, 7.0]), np.array([0, 0, -1]), ("v2",)),
    ]
    assert found.strange_in(values, found.places_of(values)) == {"c0": 2, "c1": 1}
    alone = found.predict(np.full(3, 0.3), values)
    assert np.isfinite(alone).all()
    assert alone[1] == pytest.approx(found.predict(np.array([0.3]))[0], abs=0.1)


def test_very_many_numbers_among_texts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are counted rounded, and a map that compares values exactly would find none of its levels."""
    monkeypatch.setattr(levels, "MOST_NUMBERS", 30)
    column, none = RunningValues("size"), np.full(50, -1)
    column.add_rows(Mixed(np.append(np.linspace(0.1, 9.9, 50), np.nan), np.append(none, 0), ("?",)))
    found = column.levels(most=5)
    with pytest.raises(InputProblem, match="'size' holds over 1,048,576 different numbers"):
        completed([found])


def test_numbers_are_cut_and_neighbours_are_alike() -> None:
    """A column of numbers gives a curve of steps, smoother than its intervals by themselves would be."""
    rng = np.random.default_rng(4)
    score = rng.beta(1.0, 1.0, 20_000).clip(1e-4, 1 - 1e-4)
    age = rng.uniform(0.0, 1.0, score.size)
    t = logit(score) + np.sin(3.0 * age)
    rows: Rows = (score, rng.random(score.size) < 1.0 / (1.0 + np.exp(-t)), [age])
    found = fitted(rows).map
    places = np.linspace(0.06, 0.94, 8)
    got = logit(found.predict(np.full(8, 0.5), [Mixed(places)]))
    assert got == pytest.approx(np.sin(3.0 * places), abs=0.2)


def test_certain_scores_are_limited_and_counted() -> None:
    """Scores of 0 and 1 are read as 2^-53 off, said so, and keep their side."""
    score, label, columns = drawn(4_000, 6)
    score[:40], label[:40] = 0.0, False
    score[40:60], label[40:60] = 1.0, True
    found = fitted((score, label, columns)).map
    assert found.limited_rows == 60
    assert any("limited inside the logit" in note for note in found.notes)
    after = found.predict(score, [mixed(column) for column in columns])
    assert after[:40].max() < 1e-6
    assert after[40:60].min() > 1.0 - 1e-6


def test_raw_scores_of_infinite_loss_do_not_stay() -> None:
    """One certain score was wrong, and scores are calibrated otherwise: any repair is better by its loss."""
    score, label, columns = drawn(4_000, 6, effect=0.0)
    score[:400], label[:400] = 0.0, False
    assert fitted((score, label, columns)).map.strength is None
    label[0] = True
    kept = fitted((score, label, columns))
    raw, *others = kept.map.trials
    assert kept.map.strength is not None
    assert kept.loss_before == raw.loss == raw.difference == math.inf
    assert raw.standard_error is None
    assert all(math.isfinite(one.loss) for one in others)
    assert math.isfinite(kept.loss_after)
    edge = replace(kept.map, strength=others[-1].strength)
    assert any("the weakest penalty tried" in note for note in edge.notes)


def test_labels_that_the_score_parts_have_a_fit() -> None:
    """Every score above 1/2 has label 1: coefficients stay finite, and the optimum is proved."""
    score, _, columns = drawn(400, 3)
    found = fitted((score, score > 0.5, columns)).map
    assert found.gap <= LARGEST_GAP
    after = found.predict(score, [mixed(column) for column in columns])
    assert (after[score > 0.6] > 0.9).all()
    assert (after[score < 0.4] < 0.1).all()


def test_one_score_leaves_offsets_alone() -> None:
    """Squares of slopes are all 0 there, and so is their variance; nothing is divided by it."""
    _, label, columns = drawn(400, 3, effect=2.0)
    found = fitted((np.full(400, 0.5), label, columns)).map
    assert not any(term.slope for term in found.terms)


def test_one_label_is_refused() -> None:
    """A fit needs both labels, in the words of every method."""
    score, label, columns = drawn(200, 1)
    with pytest.raises(InputProblem, match="both labels: all 200 rows have label 1"):
        fitted((score, np.ones_like(label), columns))
    with pytest.raises(InputProblem, match="both labels: the only row has label 1"):
        fitted((score[:1], np.ones(1, bool), [column[:1] for column in columns]))


def test_cross_validation_sees_other_rows() -> None:
    """Losses of folds are those of fits to the other folds, whose terms and variances are of these alone."""
    one = problem(drawn(4_000, 12), depth=2, penalty=0.0)
    held, variances = with_variances(one)
    fold = np.random.default_rng(0).integers(0, 3, one.rows.size)
    folds = [(one.ones * (fold == k), (fold == k).astype(float)) for k in range(3)]
    losses = cross_validated(held, folds, variances=variances, whole=one)
    rest, _ = with_variances(replace(one, ones=one.ones - folds[1][0], rows=one.rows - folds[1][1]))
    t = rest.design.logits(descend(rest, np.zeros(rest.design.size), within=1e-9)[0])[fold == 1]
    want = float(np.sum(np.logaddexp(0.0, t) - one.ones[fold == 1] * t))
    assert losses.segments[4, 1] == pytest.approx(want, abs=0.2)
    assert losses.rows.sum() == one.rows.size


def test_a_large_coefficient_is_held_back_less_than_its_neighbours() -> None:
    """One wrong value of 40 has nearly the whole of its error repaired, and the others next to nothing."""
    rng = np.random.default_rng(3)
    values = rng.integers(0, 40, 20_000)
    score = rng.beta(0.8, 1.2, 20_000).clip(0.001, 0.999)
    label = rng.random(20_000) < 1.0 / (1.0 + np.exp(-logit(score) - 1.5 * (values == 7)))
    design, ones, rows = design_of((score, label, [values]))
    held, variances = with_variances(Problem(design, ones, rows, np.zeros((design.size, design.size))))
    at, _ = descend(held, np.zeros(held.design.size), within=1e-9)
    (term,) = (one for one in held.design.terms if not one.slope)
    spread = variances[0] / np.diagonal(term.roughness)
    assert int(np.argmax(spread)) == 7
    assert spread[7] > 20.0 * np.median(spread)
    assert spread.mean() == pytest.approx(variances[0])
    assert at[term.inside][7] > 1.2
    assert float(np.abs(np.delete(at[term.inside], 7)).max()) < 0.15


@given(squares=st.lists(st.floats(1e-6, 10.0), min_size=1, max_size=30))
def test_shares_average_one_and_rise_with_the_square(squares: list[float]) -> None:
    """So that the variance of a kind is the mean of those of its coefficients; equal squares share alike."""
    size = len(squares)
    values, ones = np.arange(size)[None], np.ones(size, np.int64)
    grid = Grid((values, values), ((0,), (0,)), ones, 1, least=1, most=1_000)
    design = Design(np.arange(size), np.zeros(size), 0.0, (), 2, grid)
    design = design.joined([grid.term((0,), values.T, values[0])])
    own = np.array(squares)
    shares = 1.0 / np.diagonal(design.shared(np.append([0.0, 0.0], own)).terms[0].roughness)
    assert shares.mean() == pytest.approx(1.0)
    assert np.all(np.diff(shares[np.argsort(own)]) >= -1e-12)
    if np.ptp(own) == 0.0:
        np.testing.assert_allclose(shares, 1.0)


def test_the_inverse_by_blocks_is_the_inverse() -> None:
    """Of matrices of one block and of many, with scales far apart; one that is not definite is refused."""
    rng = np.random.default_rng(2)
    for size in (3, 65, 200):
        root = rng.normal(size=(2 * size, size))
        matrix = root.T @ root + np.diag(10.0 ** rng.uniform(-2.0, 5.0, size))
        np.testing.assert_allclose(inverted(matrix) @ matrix, np.eye(size), atol=1e-9)
    # Neighbours held together far more strongly than rows hold them: blocks that are left were not definite.
    steps = np.diff(np.eye(400), 2, axis=0)
    stiff = 1e9 * steps.T @ steps + np.diag(np.full(400, 1e-2))
    assert np.all(np.linalg.eigvalsh(inverted(stiff)) > 0.0)
    with pytest.raises(NotConverged, match="cannot be inverted"):
        inverted(np.diag(np.append(np.ones(99), -1.0)))


def design_of(rows: Rows, *, depth: int = 3, most: int = 1_000) -> tuple[Design, np.ndarray, np.ndarray]:
    """Return rows with the terms of values, a leaf for each, and their labels and chances of 1."""
    score, label, columns = rows
    levels, ones = np.stack(columns), np.ones(score.size, np.int64)
    nothing = (0,) * len(columns)
    grid = Grid((levels, levels), (nothing, nothing), ones, depth, least=20, most=most)
    return Design.of(np.arange(score.size), logit(score), ones, grid), label.astype(float), ones.astype(float)


def test_intersections_come_in_where_residuals_are_left() -> None:
    """Of three columns the pair and the triple that are wrong, and of calibrated rows next to none."""
    rng = np.random.default_rng(8)
    columns = [rng.integers(0, size, 20_000) for size in (3, 4, 5)]
    score = rng.beta(0.8, 1.2, 20_000).clip(0.001, 0.999)
    pair, triple = (
        (columns[0] == 1) & (columns[1] == 2),
        (columns[0] == 2) & (columns[1] == 0) & (columns[2] == 3),
    )
    noise = 0
    for wrong in (1.0 * pair - 2.5 * triple, np.zeros(20_000)):
        for _ in range(2):
            label = rng.random(20_000) < 1.0 / (1.0 + np.exp(-logit(score) - wrong))
            design, ones, rows = design_of((score, label, columns))
            found, _ = with_variances(Problem(design, ones, rows, np.zeros((design.size, design.size))))
            crossed = [term.columns for term in found.design.terms if len(term.columns) > 1]
            if wrong.any():
                assert (0, 1) in crossed
                assert (0, 1, 2) in crossed
            else:
                noise += len(crossed)
    # Of 8 that could, at two standard deviations of sums that are skewed.
    assert noise <= 3


@pytest.mark.parametrize(("rows", "most"), [(60, 1_000), (400, 4)])
def test_rows_too_few_for_intersections_have_values_alone(rows: int, most: int) -> None:
    """Where no cell has its rows, or the values take every coefficient that there may be."""
    rng = np.random.default_rng(2)
    columns = [rng.integers(0, 9, rows) for _ in range(3)]
    score = rng.beta(0.8, 1.2, rows).clip(0.001, 0.999)
    wrong = 3.0 * ((columns[0] == 1) & (columns[1] < 5))
    label = rng.random(rows) < 1.0 / (1.0 + np.exp(-logit(score) - wrong))
    design, ones, count = design_of((score, label, columns), most=most)
    found, _ = with_variances(Problem(design, ones, count, np.zeros((design.size, design.size))))
    assert all(len(term.columns) == 1 for term in found.design.terms)
