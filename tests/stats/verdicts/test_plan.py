"""How many rows a gate takes: the simulation decides as the gate does, and finds what an own one confirms."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.errors import UsageProblem
from calibcli.names import Binning, Bound, MeasureName, Relation, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.bounds.betting import stakes_for_any_time, stakes_for_one_look
from calibcli.stats.gates import judge
from calibcli.stats.gates import plan as plan_looks
from calibcli.stats.gates import plan as planning
from calibcli.stats.gates.claim import Ground
from calibcli.stats.measures.binned import grouped_residuals
from calibcli.stats.measures.distance import distance_interval
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS, Bins, binned, equal_width_edges
from calibcli.stats.table.grid import grid_of
from calibcli.stats.table.kernel import cosine_series, fixpoint, residual_series
from stats.verdicts.boundary import is_wanted

GATED = (MeasureName.ECE, MeasureName.L2, MeasureName.LINF, MeasureName.SMECE, MeasureName.DCE)
TEN = (np.arange(10) + 0.5) / 10
FIFTEEN = Bins(Binning.EQUAL_WIDTH, equal_width_edges(15))


def rng(seed: int = 0) -> np.random.Generator:
    """Return random numbers."""
    return np.random.default_rng(seed)


def uniform(bins: Bins = ATOMS, score: np.ndarray = TEN) -> planning.Population:
    """Return a population in which every score is as frequent as any other."""
    return planning.population_of(score, np.ones(score.size), bins=bins)


def gate(
    measure: MeasureName = MeasureName.ECE,
    limit: float = 0.03,
    *,
    bins: Bins = ATOMS,
    variance: float | None = None,
    outputs: tuple[float, ...] | None = None,
    wanted: VerdictName = VerdictName.PASS,
) -> planning.Gate:
    """Return a gate that allows an error of at most the limit."""
    rule = Rule("max", measure, Bound.UPPER, Relation.AT_MOST, limit)
    return planning.Gate(rule, Ground(bins, variance, outputs, rows_wanted=False), wanted)


def test_few_rows_of_either_label_conclude_nothing() -> None:
    """As in `verify`, which wants ten of the rarer."""
    enough = gate().concludes(1_000, np.array([9, 10, 500, 990, 991]))
    assert enough.tolist() == [False, True, True, True, False]


def plan(
    requested: planning.Gate, population: planning.Population, *, error: float = 0.0, **changes: object
) -> planning.Plan:
    """Plan with nine chances in ten."""
    options: dict[str, object] = {"power": 0.9, "again": False, "generator": rng()}
    patterns = planning.erring(population, requested.rule.subject, error)
    return planning.planned(requested, patterns, **(options | changes))


def test_cells_whose_means_are_rounded_onto_an_edge_are_planned_for() -> None:
    """Rows next above the edge of a cell are other values than those on it, in the bin above."""
    ends = np.array([0.2, 0.2, 0.8, 0.8])
    at = np.array([0.25, np.nextafter(0.25, 1.0), 0.5, np.nextafter(0.5, 1.0)])
    table = grid_of(ScoreTable.from_rows(np.append(ends, at), np.ones(8, bool)))
    assert table.score[1] >= table.score[2]
    halves = Bins(Binning.EQUAL_WIDTH, equal_width_edges(2))
    population = planning.population_like(table, bins=halves, measure=MeasureName.ECE)
    np.testing.assert_array_equal(population.score, np.unique(np.append(ends, at)))
    assert np.diff(population.starts).tolist() == [4, 2]


@pytest.mark.parametrize("bins", [ATOMS, FIFTEEN], ids=["atoms", "bins"])
@pytest.mark.parametrize("limit", [0.0, 0.02, 0.3])
def test_bets_on_many_tables_are_those_on_each(bins: Bins, limit: float) -> None:
    """The e-values of many tables at once are those that the gate finds for one table."""
    population = uniform(bins, TEN if bins is ATOMS else np.linspace(0.0, 1.0, 60))
    count, ones = population.drawn(700, times=6, generator=rng(1))
    for stakes in (stakes_for_any_time(delta=0.05), stakes_for_one_look(700, 0.1, delta=0.01)):
        for above in (False, True):
            found = planning.log_evidence(
                count, ones, population=population, limit=limit, stakes=stakes, above=above
            )
            for one, positive, evidence in zip(count, ones, found, strict=True):
                table = population.table(one, positive)
                residuals = grouped_residuals(table, binned(table, bins))
                bets = residuals.log_fail if above else residuals.log_pass
                assert evidence == pytest.approx(bets(limit, stakes), abs=1e-9)


@pytest.mark.parametrize("wanted", [VerdictName.PASS, VerdictName.FAIL])
@pytest.mark.parametrize(
    ("measure", "limit", "error", "rows"),
    [
        (MeasureName.ECE, 0.05, 0.0, 1_800),
        (MeasureName.ECE, 0.05, 0.12, 1_500),
        (MeasureName.LINF, 0.1, 0.0, 3_500),
        (MeasureName.LINF, 0.05, 0.15, 900),
    ],
)
def test_simulated_gates_decide_as_the_gate_does(
    measure: MeasureName, limit: float, error: float, rows: int, wanted: VerdictName
) -> None:
    """What is decided for many tables at once is what `judge` says, table by table."""
    times = 15
    population = planning.erring(uniform(), measure, error)[0]
    requested = gate(measure, limit, variance=0.2, outputs=tuple(TEN), wanted=wanted)
    share = planning.Looks(requested, population, rng(3)).share(rows, times)
    count, ones = population.drawn(rows, times=times, generator=rng(3))
    verdicts = [
        judge(population.table(*one), requested.rule, ground=requested.ground).outcome
        for one in zip(count, ones, strict=True)
    ]
    assert share == verdicts.count(wanted) / times
    right = VerdictName.PASS if error < limit else VerdictName.FAIL
    assert (share > 0.0) == (wanted is right)


@pytest.mark.parametrize("wanted", [VerdictName.PASS, VerdictName.FAIL])
@pytest.mark.parametrize("measure", list(GATED))
def test_one_bound_decides_as_the_verdict_does(measure: MeasureName, wanted: VerdictName) -> None:
    """Asking the deciding bound alone gives the outcome of `judge`, near the limit on either side."""
    passes = wanted is VerdictName.PASS
    few = measure in (MeasureName.L2, MeasureName.LINF)
    calibrated = uniform() if few else uniform(FIFTEEN, np.linspace(0.01, 0.99, 60))
    population = calibrated if passes else planning.erring(calibrated, measure, 0.12)[0]
    bins = ATOMS if few else FIFTEEN
    rows = 300 if measure is MeasureName.L2 else 1_500
    table = population.table(*(one[0] for one in population.drawn(rows, times=1, generator=rng(5))))
    usual = gate(measure, 0.05, bins=bins)
    end = judge(table, usual.rule, ground=usual.ground)
    edge = end.upper if passes else 0.06
    assert edge is not None
    for limit in (0.98 * edge, 1.02 * edge):
        requested = gate(measure, limit, bins=bins, wanted=wanted)
        found = judge(table, requested.rule, ground=requested.ground).outcome
        assert is_wanted(requested, table) == (found is wanted)


@pytest.mark.parametrize(
    ("score", "limit", "error", "rows"),
    [(TEN, 0.08, 0.15, 450), (np.linspace(0.01, 0.99, 150), 0.1, 0.2, 345)],
)
def test_tables_need_not_all_be_asked(score: np.ndarray, limit: float, error: float, rows: int) -> None:
    """For l2 the share found from few tables is that of asking each, and reaching a power agrees with it.

    Tables of 150 values have now more than 100 of two rows, now fewer, and are judged by other bounds then.
    """
    population = planning.population_of(score, np.linspace(1.0, 3.0, score.size), bins=ATOMS, most=200)
    population = planning.erring(population, MeasureName.L2, error)[0]
    requested = gate(MeasureName.L2, limit, wanted=VerdictName.FAIL)
    share = planning.Looks(requested, population, rng(4)).share(rows, 10)
    count, ones = population.drawn(rows, times=10, generator=rng(4))
    each = [planning.is_given(requested, population.table(*one)) for one in zip(count, ones, strict=True)]
    assert 0.0 < share < 1.0
    assert share == np.mean(each)
    for power in (share, share + 0.1):
        assert planning.Looks(requested, population, rng(4)).reaches(rows, 10, power) == (power <= share)


@pytest.mark.parametrize("measure", [MeasureName.SMECE, MeasureName.DCE])
def test_tables_are_asked_until_it_is_settled(measure: MeasureName, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a power is reached is what the share of all tables says, from fewer of them."""
    requested = gate(measure, 0.06, bins=FIFTEEN)
    population = uniform(FIFTEEN, np.linspace(0.01, 0.99, 60))
    found = []
    judged = plan_looks.is_given
    monkeypatch.setattr(plan_looks, "is_given", lambda *one: found.append(judged(*one)) or found[-1])
    for rows in (300, 2_000, 4_000, 9_000):
        share = planning.Looks(requested, population, rng(6)).share(rows, 10)
        for power in (0.5, 0.9, share):
            found.clear()
            assert planning.Looks(requested, population, rng(6)).reaches(rows, 10, power) == (power <= share)
            assert share or not power or len(found) < 10


def test_output_that_nobody_saw_cannot_pass() -> None:
    """A simulated l-infinity gate that knows of a rare output does not pass where no row has it."""
    population = planning.population_of(np.array([0.3, 0.6]), np.array([1.0, 1e-9]), bins=ATOMS)
    knows = gate(MeasureName.LINF, 0.2, outputs=(0.3, 0.6))
    assert planning.Looks(knows, population, rng()).share(2_000, 20) == 0.0
    assert planning.Looks(gate(MeasureName.LINF, 0.2), population, rng()).share(2_000, 20) == 1.0
    never = gate(MeasureName.LINF, 0.2, outputs=(0.3, 0.6, 0.9))
    assert planning.Looks(never, uniform(score=np.array([0.3, 0.6])), rng()).share(2_000, 20) == 0.0


scores = st.lists(st.floats(0.01, 0.99), min_size=2, max_size=12, unique=True).map(
    lambda values: np.array(sorted(values))
)


@given(score=scores, weights=st.integers(0, 1000), error=st.floats(0.001, 0.2))
def test_supposed_errors_are_as_large_as_said(score: np.ndarray, weights: int, error: float) -> None:
    """Every pattern is one of probabilities, and its error by the measure is the one asked for."""
    population = planning.population_of(
        score, rng(weights).integers(1, 50, score.size).astype(float), bins=ATOMS
    )
    for measure in GATED:
        try:
            patterns = planning.erring(population, measure, error)
        except UsageProblem:
            continue
        for one in patterns:
            gap = np.abs(one.rate - one.score)
            assert np.all((one.rate >= 0.0) & (one.rate <= 1.0))
            assert one.words != planning.CALIBRATED
            power = {MeasureName.L2: 2.0}.get(measure, 1.0)
            size = gap.max() if measure is MeasureName.LINF else (one.share @ gap**power) ** (1.0 / power)
            assert size == pytest.approx(error, abs=1e-9)
            if measure is MeasureName.SMECE:
                smooth = fixpoint(cosine_series(one.score, one.share * (one.rate - one.score)))
                assert smooth == pytest.approx(error, abs=1e-5)


def test_impossible_error_is_refused() -> None:
    """Scores of 1/2 cannot be wrong by 0.6."""
    population = planning.population_of(np.array([0.5]), np.array([10.0]), bins=ATOMS)
    with pytest.raises(UsageProblem, match=r"these scores an error of 0\.6"):
        planning.erring(population, MeasureName.ECE, 0.6)


def spread_scores(count: int, seed: int) -> np.ndarray:
    """Scores near 0, few of which may be anywhere."""
    return np.asarray(rng(seed).beta(0.2, 2.0, count))


def frauds(count: int, seed: int) -> np.ndarray:
    """Scores near 0.001 but for four in a thousand, which are the noise."""
    draw = rng(seed)
    return np.where(draw.random(count) < 0.004, draw.beta(1.5, 1.5, count), draw.beta(1.0, 999.0, count))


@pytest.mark.parametrize(
    ("scores", "seen", "rows"),
    [(spread_scores, 2_000, 600), (spread_scores, 2_000, 8_000), (frauds, 100_000, 30_000)],
)
def test_distances_are_planned_for_scores_that_never_come_back(
    scores: Callable[[int, int], np.ndarray], seen: int, rows: int
) -> None:
    """Of a file of different scores tables are drawn whose bounds are as large as those of real ones."""

    def real(count: int, seed: int) -> ScoreTable:
        score = scores(count, seed)
        return ScoreTable.from_rows(score, rng(seed + 100).random(count) < score)

    population = planning.population_like(real(seen, 0), bins=FIFTEEN, measure=MeasureName.DCE)
    count, ones = population.drawn(rows, times=9, generator=rng(1))
    planned_for = [population.table(*one) for one in zip(count, ones, strict=True)]
    bounds = [
        np.median([distance_interval(table, confidence=0.9).ends[1] for table in tables])
        for tables in (planned_for, [real(rows, seed) for seed in range(1, 10)])
    ]
    # With 128 scores that come back it was three quarters of that; with as many frauds as their share of
    # 4,096 values four fifths.
    assert bounds[0] == pytest.approx(bounds[1], rel=0.1)


def test_a_smooth_error_is_planned_for_scores_that_never_come_back() -> None:
    """The noise of rare high scores is that of many places, and not that of a value for each bin."""

    def real(count: int, seed: int) -> ScoreTable:
        score = frauds(count, seed)
        return ScoreTable.from_rows(score, rng(seed + 100).random(count) < score)

    def norm(table: ScoreTable) -> float:
        return residual_series(table).l1_norm(0.004)

    population = planning.population_like(real(100_000, 0), bins=FIFTEEN, measure=MeasureName.SMECE)
    count, ones = population.drawn(8_000, times=40, generator=rng(1))
    planned_for = [norm(population.table(*one)) for one in zip(count, ones, strict=True)]
    # With a value of these for each bin it was three fifths of that.
    assert np.mean(planned_for) == pytest.approx(
        np.mean([norm(real(8_000, one)) for one in range(1, 41)]), rel=0.1
    )


def test_distances_are_planned_for_scores_that_are_tied() -> None:
    """Rows of one score stay rows of one score, as often as they are that."""
    score = np.repeat(np.arange(1, 101) / 101.0, 30)
    table = ScoreTable.from_rows(score, np.zeros(score.size, np.bool_))
    population = planning.population_like(table, bins=FIFTEEN, measure=MeasureName.DCE)
    share = np.array([population.share[population.score == one].sum() for one in table.score])
    # Between two runs of 30 rows a thirtieth of the way goes to what lies between.
    assert share == pytest.approx(0.01 * 29 / 30, rel=0.05)


@given(seed=st.integers(0, 10_000), size=st.integers(1, 2_000))
def test_gathered_scores_keep_shares_and_means_of_bins(seed: int, size: int) -> None:
    """However many values are gathered into few, every bin keeps its share of rows and its mean score."""
    score = np.unique(rng(seed).random(size))
    rows = rng(seed + 1).integers(1, 5, score.size).astype(float)
    population = planning.population_of(score, rows, bins=FIFTEEN)
    place = np.searchsorted(FIFTEEN.edges[1:-1], score, side="left")
    kept = np.searchsorted(FIFTEEN.edges[1:-1], population.score, side="left")
    assert population.score.size <= planning.MOST_VALUES + 15
    for weights, shares in ((rows, population.share), (rows * score, population.share * population.score)):
        expected = np.bincount(place, weights, minlength=15) / rows.sum()
        np.testing.assert_allclose(np.bincount(kept, shares, minlength=15), expected, atol=1e-12)
    assert population.starts.size - 1 == np.unique(kept).size
    np.testing.assert_array_equal(population.rate, population.score)


def test_a_mean_of_scores_next_to_one_is_none_above_them() -> None:
    """Many scores that are 1 but for the last digits stay in order: their mean may be rounded past 1."""
    rng = np.random.default_rng(35)
    score, rows = np.unique(1.0 - rng.random(4_000) ** 30, return_counts=True)
    population = planning.population_of(score, rows.astype(np.float64), bins=FIFTEEN, most=500)
    assert population.score.size < score.size
    assert np.all(np.diff(population.score) > 0.0)
    assert population.score[-1] <= 1.0


def test_theorem_takes_what_the_formula_says() -> None:
    """Theorem 12.4 passes every second time at the rows of the closed formula."""
    looks = planning.Looks(gate(), uniform(), rng())
    kappa = math.sqrt(2.0 / math.pi) * float(np.sqrt(TEN * (1.0 - TEN) / 10).sum())
    rows = ((kappa + math.sqrt(2.0 * math.log(20.0))) / 0.03) ** 2
    assert 0.45 < planning.share_by_theorem(looks, round(rows), 2_000) < 0.55


@pytest.mark.parametrize(
    ("limit", "error", "again"),
    [(0.03, 0.0, False), (0.03, 0.01, False), (0.03, 0.08, False), (0.03, 0.0, True)],
)
def test_planned_rows_reach_the_power(limit: float, error: float, again: bool) -> None:  # noqa: FBT001
    """Gates of an own simulation, judged after the planned rows, decide rightly as often as planned."""
    wanted = VerdictName.PASS if error < limit else VerdictName.FAIL
    requested = gate(limit=limit, variance=None if again else 0.17, wanted=wanted)
    found = plan(requested, uniform(), error=error, again=again)
    assert found.rows is not None
    assert found.half is not None
    assert found.half < found.rows
    assert found.reached is not None
    assert found.reached > 0.87
    population = found.population
    if again:
        assert found.step is not None
        looks = math.ceil(found.rows / found.step)
        first = planning.first_verdicts(
            requested, population, step=found.step, looks=looks, times=400, generator=rng(9)
        )
        assert np.mean(np.isfinite(first)) > 0.85
        return
    count, ones = population.drawn(found.rows, times=80, generator=rng(9))
    outcomes = [
        judge(population.table(one, positive), requested.rule, ground=requested.ground).outcome
        for one, positive in zip(count, ones, strict=True)
    ]
    # At a power of 0.9 fewer than 62 of 80 have a probability of 4e-4.
    assert outcomes.count(wanted) >= 62


def test_more_is_asked_more_rows_are_needed() -> None:
    """A smaller limit, a larger error, more power and asking again each take more rows."""
    usual = plan(gate(variance=0.17), uniform()).rows
    harder = [
        plan(gate(limit=0.02, variance=0.17), uniform()).rows,
        plan(gate(variance=0.17), uniform(), error=0.01).rows,
        plan(gate(variance=0.17), uniform(), power=0.99).rows,
        plan(gate(), uniform(), again=True).rows,
    ]
    assert usual is not None
    assert all(rows is not None and rows > 1.1 * usual for rows in harder)


def test_fewest_rows_are_those_below_which_nothing_is_concluded() -> None:
    """A wide limit takes the least rows that a gate looks at, and not fewer."""
    found = plan(gate(limit=0.5), uniform())
    assert found.rows == 100


def test_limit_out_of_reach_says_so() -> None:
    """A limit next to the error itself takes more than a billion rows."""
    for again in (False, True):
        found = plan(gate(limit=0.02, variance=0.17), uniform(), error=0.02 - 1e-6, again=again)
        assert (found.rows, found.reached, found.half) == (None, None, None)


@pytest.mark.parametrize("measure", GATED)
def test_the_last_simulation_is_the_largest(measure: MeasureName) -> None:
    """The reported number of rows is confirmed with more tables than were used to find it."""
    effort = planning.SIMULATED[measure].effort
    assert effort.final > effort.searching >= 60


def test_rows_are_raised_until_a_larger_simulation_confirms_them() -> None:
    """Where the search was lucky, rows go up by 2 % at a time, eight times at most."""

    class Stub(planning.Asked):
        gate = gate()

        def __init__(self, needed: int) -> None:
            self.needed = needed

        def share(self, rows: int, times: int) -> float:
            return 0.95 if rows >= (self.needed if times == 7 else 1_000) else 0.5

    def found(needed: int) -> tuple[int | None, float | None]:
        return planning.searched(Stub(needed), start=1_000, power=0.9, effort=planning.Effort(5, 7))[:2]

    assert found(900) == (1_000, 0.95)
    assert found(1_030) == (1_041, 0.95)
    rows, reached = found(9_000)
    assert reached == 0.5
    assert 1_170 <= rows <= 1_180


def test_the_share_that_is_reported_is_of_tables_that_nothing_was_chosen_by() -> None:
    """Rows go up until enough of some tables pass; how many do is then asked of others."""
    generator, effort = rng(), planning.Effort(60, 1_000)

    class Unmoved(planning.Asked):
        gate = gate()

        def share(self, _: int, times: int) -> float:
            return generator.binomial(times, 0.89) / times

    found = [planning.searched(Unmoved(), start=1_000, power=0.9, effort=effort)[1] for _ in range(200)]
    # Of those that were looked at, most are .9 or more.
    assert abs(np.mean([one for one in found if one is not None]) - 0.89) < 0.004


def test_classes_that_are_alike_may_all_fail_to_pass() -> None:
    """Thirty alike at a power of 90 % take what three take at its tenth root, and an easy one nothing."""
    easy = planning.Part("easy", 1.0, (planning.population_of(np.array([1e-4]), np.ones(1), bins=ATOMS),))
    parts = [planning.Part(str(one), 1.0, (uniform(),)) for one in range(30)]
    (many, _, simulated), (few, _, _) = (
        planning.planned_together(gate(limit=0.1), some, power=power, generator=rng())
        for some, power in (([*parts, easy], 0.9), (parts[:3], 0.9**0.1))
    )
    assert many.rows == pytest.approx(few.rows, rel=0.08)
    assert (simulated, many.times, few.times) == (30, 667, 1_000)


def test_plan_of_classes_names_the_pattern_of_errors_it_rests_on() -> None:
    """Of several patterns that of the hardest class is named that takes most rows, and not the first."""
    calibrated = uniform()
    wrong = planning.shifted(calibrated, MeasureName.ECE, 0.05, low=True)
    part = planning.Part("a", 1.0, (calibrated, wrong))
    found = planning.planned_together(gate(limit=0.1), [part], power=0.9, generator=rng())[0]
    assert found.population is wrong
