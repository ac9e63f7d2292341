"""More of the golden records beside our numbers: decompositions, Cox, smooth curves, other bins, and fits.

`test_golden.py` holds those of measures to their tolerances; fits have their own tests, and stand here for
the table that `benchmarks/agreement.py` writes.
"""

import math
from collections.abc import Callable

from calibcli.names import BetaForm, FitMethod, MeasureName
from calibcli.options.fitting import FitOptions
from calibcli.stats.measures.cox import cox_measure
from calibcli.stats.measures.decompositions import corp_part
from calibcli.stats.measures.smooth import calibration_index
from calibcli.stats.measures.smooth_ece import smooth_ece_on
from calibcli.stats.measures.u_test import u_test
from calibcli.stats.recalibrators.beta import Beta
from calibcli.stats.recalibrators.isotonic import Isotonic
from calibcli.stats.recalibrators.logits import Platt, Temperature
from calibcli.stats.recalibrators.venn_abers import VennAbers
from calibcli.stats.table import ScoreTable
from oracles.golden_table import (
    REFERENCE,
    Comparison,
    Record,
    ece_pair,
    fixed,
    mce_pair,
    no_edge_is_hit,
    rows_of,
)

M = MeasureName
Pairs = list[tuple[float, float]]
# Scores nearer to 0 or 1 than theirs are limited to make other logits.
_LIMITED = 3e-16


def corp_pairs(table: ScoreTable, record: Record) -> Pairs:
    """MCB, DSC and UNC, where theirs are finite."""
    kind, theirs = record["params"]["score"], record["value"]
    return [
        (corp_part(M(f"{kind}_{part.lower()}"), table).value, float(theirs[part]))
        for part in ("MCB", "DSC", "UNC")
        if theirs[part] is not None and math.isfinite(float(theirs[part]))
    ]


def cox_pairs(table: ScoreTable, record: Record) -> Pairs:
    """Slope, intercept, intercept beside slope 1, and the likelihood ratio, over their size from 1 up."""
    theirs = record["value"]
    names = (
        (M.COX_SLOPE, "slope"),
        (M.COX_INTERCEPT, "intercept"),
        (M.CITL_LOGIT, "intercept_given_slope1"),
    )
    found = [(cox_measure(name, table).value, float(theirs[key])) for name, key in names]
    found.append((float(u_test(table).statistic or 0.0), float(theirs["lr_chi2_2df"])))
    return [(mine / max(1.0, abs(other)), other / max(1.0, abs(other))) for mine, other in found]


def no_logit_is_limited(table: ScoreTable, record: Record) -> bool:
    """Whether every score is farther from 0 and 1 than the distance they are limited to."""
    nearest = max(record["params"]["clip"], _LIMITED)
    return bool(table.score[0] > nearest and table.score[-1] < 1.0 - nearest)


def logit_is_limited(table: ScoreTable, record: Record) -> bool:
    """The contrary."""
    return not no_logit_is_limited(table, record)


def edge_is_hit(table: ScoreTable, record: Record) -> bool:
    """Whether closing rules can matter."""
    return not no_edge_is_hit(table, record)


def other_rule(table: ScoreTable, record: Record) -> bool:
    """Whether a reference record follows another rule than ours."""
    return not fixed(table, record)


OF_MEASURES = [
    *(
        Comparison("CORP: MCB, DSC, UNC of both losses", "corp_decomposition", name, 1e-9, corp_pairs)
        for name in ("model-diagnostics", "scikit-learn", REFERENCE)
    ),
    Comparison(
        "Cox's coefficients, U",
        "logistic_recalibration",
        "statsmodels",
        1e-7,
        cox_pairs,
        no_logit_is_limited,
    ),
    Comparison(
        "Cox's coefficients, U, logits limited",
        "logistic_recalibration",
        "statsmodels",
        None,
        cox_pairs,
        logit_is_limited,
        why="they limit scores to 1e-7, 1e-12 or 2.2e-16 of 0 and 1, we to 1.1e-16, in the logit",
    ),
    Comparison(
        "Cox's coefficients",
        "cox_ici",
        "calzone",
        None,
        lambda table, record: [
            (cox_measure(M.COX_SLOPE, table).value, record["value"]["COX coef"]),
            (cox_measure(M.COX_INTERCEPT, table).value, record["value"]["COX intercept"]),
        ],
        why="they limit scores to 1e-7 of 0 and 1",
    ),
    Comparison(
        "ICI, by loess",
        "loess_ici",
        "calzone",
        None,
        lambda table, record: [(calibration_index(table, name=M.ICI).value, record["value"]["Loess ICI"])],
        why="they take loess with span 1/2, we a restricted cubic spline (`measure --explain ici`)",
    ),
    Comparison(
        "smECE on the logit",
        "smece",
        "relplot",
        None,
        lambda table, record: [
            (smooth_ece_on(MeasureName.SMECE_LOGIT, table).value, record["value"]["smece"])
        ],
        lambda _table, record: record["params"]["kernel"] == "logit_gaussian",
        why="they limit scores to 1e-3, we to 1e-4; no reflection at the ends, bandwidth in steps of 1/1024",
    ),
    # On these tables the rules for edges put no score into another bin whose sum it would change.
    Comparison("ECE, equal width, edges hit", "ece_equal_width", "relplot", 1e-9, ece_pair, edge_is_hit),
    Comparison("ECE, equal width, edges hit", "ece_equal_width", "hollance", 1e-9, ece_pair, edge_is_hit),
    Comparison("max gap, equal width, edges hit", "mce_equal_width", "hollance", 1e-9, mce_pair, edge_is_hit),
    Comparison("ECE, other rules for edges", "ece_equal_width", REFERENCE, 1e-9, ece_pair, other_rule),
]


def predictions(method: FitMethod, record: Record) -> Pairs:
    """The first 200 predictions for the second half of the rows after a fit to the first."""
    score, label = rows_of(record["dataset"])
    n = score.size // 2
    table, at = ScoreTable.from_rows(score[:n], label[:n]), score[n:][:200]
    match method:
        case FitMethod.PLATT:
            smooth = record["quantity"] == "platt_sigmoid"
            found = Platt.fit(table, options=FitOptions(smooth_targets=smooth)).predict(at)
        case FitMethod.BETA:
            form = BetaForm(record["params"]["parameters"])
            found = Beta.fit(table, options=FitOptions(form=form)).predict(at)
        case FitMethod.TEMPERATURE:
            found = Temperature.fit(table).predict(at)
        case FitMethod.ISOTONIC:
            found = Isotonic.fit(table).predict(at)
        case _:
            found = VennAbers.fit(table).predict(at)
    theirs = record["value"]["first_rows"]
    return list(zip(found[: len(theirs)].tolist(), theirs, strict=True))


def venn_abers_ends(_table: ScoreTable, record: Record) -> Pairs:
    """p0 and p1 of the first 200 rows of the second half."""
    score, label = rows_of(record["dataset"])
    n = score.size // 2
    both = VennAbers.fit(ScoreTable.from_rows(score[:n], label[:n])).ends(score[n:][:200])
    pairs = zip(both, (record["value"][key] for key in ("p0", "p1")), strict=True)
    return [pair for ours, theirs in pairs for pair in zip(ours.tolist(), theirs, strict=True)]


def of_method(method: FitMethod) -> Callable[[ScoreTable, Record], Pairs]:
    """The predictions of a method."""
    return lambda _table, record: predictions(method, record)


def far_from_the_ends(table: ScoreTable, _record: Record) -> bool:
    """Whether no score is so near 0 or 1 that theirs and ours limit it differently."""
    return bool(table.score[0] > _LIMITED and table.score[-1] < 1.0 - 1e-12)


def on_the_logit(table: ScoreTable, record: Record) -> bool:
    """Whether a fit is to the logit, which no score forces to be limited."""
    return record["params"]["input"] == "logit" and far_from_the_ends(table, record)


def always(_table: ScoreTable, _record: Record) -> bool:
    """Every record."""
    return True


def two_columns(table: ScoreTable, record: Record) -> bool:
    """Whether theirs is given both probabilities."""
    return "two-column" in record["params"]["input"] and far_from_the_ends(table, record)


OF_FITS = [
    Comparison(name, quantity, implementation, tolerance, pairs, applies)
    for name, quantity, implementation, tolerance, pairs, applies in (
        ("platt", "logistic_on_logit", "statsmodels", 1e-6, of_method(FitMethod.PLATT), far_from_the_ends),
        (
            "platt --smooth-targets",
            "platt_sigmoid",
            "scikit-learn",
            1e-6,
            of_method(FitMethod.PLATT),
            on_the_logit,
        ),
        (
            "beta, four forms",
            "beta_calibration_exact_mle",
            "statsmodels",
            1e-6,
            of_method(FitMethod.BETA),
            far_from_the_ends,
        ),
        ("temperature", "temperature", "scikit-learn", 1e-6, of_method(FitMethod.TEMPERATURE), two_columns),
        ("isotonic", "isotonic", "scikit-learn", 1e-9, of_method(FitMethod.ISOTONIC), always),
        ("venn-abers, p0 and p1", "venn_abers_ivap", "venn-abers", 1e-9, venn_abers_ends, always),
        (
            "venn-abers, p0 and p1",
            "venn_abers_ivap_bruteforce",
            "scikit-learn",
            1e-9,
            venn_abers_ends,
            always,
        ),
        ("venn-abers", "venn_abers_ivap", "venn-abers", 1e-9, of_method(FitMethod.VENN_ABERS), always),
    )
]
