"""What packages made of the digits (`class_peers.py` tells how) beside our measures and maps of them."""

from functools import partial

from oracles.class_agreement import FLAT, ROUNDING, ClassComparison
from oracles.peer_class_pairs import (
    PEERS,
    M,
    R,
    apart,
    forest_with_zeros_above_all,
    of_binning,
    of_confidence,
    of_confidence_alone,
    of_forest,
    of_map,
    of_measure,
    of_single,
    of_temperature,
    of_temperature_loss,
    of_vector_loss,
    plain_forest,
    turned_forest,
)


def _named(package: str) -> str:
    return f"{package} {PEERS['versions'][package]}"


SKLEARN, MAPIE, TORCH = _named("scikit-learn"), _named("mapie"), _named("torch")
KUMAR, VENN_ABERS = _named("uncertainty-calibration"), _named("venn-abers")
TORCHMETRICS = _named("torchmetrics")
SINGLE = "they sum in 32-bit floats"
FEW = "they fit a class with fewer than ten rows of either label by itself; here such classes share a map"
EARLY = "their logistic fit stops at a gradient of 1e-4"
TO_THE_END = "their logistic fit stops at a gradient of 1e-12"
ZERO = "both probabilities of a pair are 0: 0 / 0 there, which ranks above all scores, and 1/2 here"
SHARES = """they take p_b / (p_a + p_b), we p_a / (p_a + p_b): shares that are equal but for rounding are \
tied in one and not in the other"""

OWN = (
    ClassComparison("log loss", SKLEARN, ROUNDING, partial(of_measure, "sklearn_log_loss")),
    ClassComparison("Brier score, sum", SKLEARN, ROUNDING, partial(of_measure, "sklearn_brier")),
    ClassComparison(
        "top-label ECE, every class alike", MAPIE, ROUNDING, partial(of_measure, "mapie_top_label_ece")
    ),
    ClassComparison("ECE of the confidence", KUMAR, ROUNDING, partial(of_measure, "uncertainty_ece")),
    ClassComparison(
        "ECE of the confidence", TORCHMETRICS, 5e-6, partial(of_measure, "torchmetrics_ece"), SINGLE
    ),
    ClassComparison(
        "ECE of the confidence, our rows in 32-bit floats and their bins [a, b)",
        TORCHMETRICS,
        1e-7,
        of_single,
        "the order of the sums, in 32-bit floats",
    ),
    ClassComparison("marginal l2, plug-in", KUMAR, ROUNDING, partial(of_measure, "uncertainty_marginal_l2")),
    ClassComparison("temperature, 1 / T", SKLEARN, 1e-8, of_temperature, FLAT),
    ClassComparison(
        "temperature",
        SKLEARN,
        1e-8,
        partial(of_map, "sklearn_temperature", M.TEMPERATURE, R.PLATT),
        FLAT,
    ),
    ClassComparison("temperature, log loss of the fit rows", SKLEARN, ROUNDING, of_temperature_loss),
    ClassComparison("vector scaling", TORCH, 5e-8, partial(of_map, "torch_vector", M.VECTOR, R.PLATT), FLAT),
    ClassComparison("vector scaling, log loss of the fit rows", TORCH, ROUNDING, of_vector_loss),
    ClassComparison(
        "isotonic, one-vs-rest",
        SKLEARN,
        ROUNDING,
        partial(of_map, "sklearn_one_vs_rest_isotonic", M.ONE_VS_REST, R.ISOTONIC),
    ),
    ClassComparison(
        "isotonic, top-label, classes with enough rows", MAPIE, ROUNDING, partial(of_confidence, own=True)
    ),
    ClassComparison(
        "isotonic, top-label, the other classes", MAPIE, 0.95, partial(of_confidence, own=False), FEW
    ),
    ClassComparison(
        "isotonic, top-label, the other classes, each by itself", MAPIE, ROUNDING, of_confidence_alone
    ),
    ClassComparison(
        "scaling-binning of each class",
        KUMAR,
        1e-3,
        partial(of_binning, "uncertainty_marginal_binning"),
        EARLY,
    ),
    ClassComparison(
        "scaling-binning of each class, their fit run to its end",
        KUMAR,
        1e-8,
        partial(of_binning, "uncertainty_marginal_binning_to_the_end"),
        TO_THE_END,
    ),
    ClassComparison(
        "Venn-Abers, one-vs-rest",
        VENN_ABERS,
        ROUNDING,
        partial(of_map, "venn_abers_one_vs_rest", M.ONE_VS_REST, R.VENN_ABERS),
    ),
    ClassComparison(
        "Venn-Abers, one-vs-one",
        VENN_ABERS,
        ROUNDING,
        partial(of_map, "venn_abers_one_vs_one", M.ONE_VS_ONE, R.VENN_ABERS),
    ),
    ClassComparison(
        "Venn-Abers, one-vs-one, forest with a hundredth of naive Bayes: no zeros, no ties",
        VENN_ABERS,
        ROUNDING,
        partial(of_map, "apart_venn_abers_one_vs_one", M.ONE_VS_ONE, R.VENN_ABERS, apart),
    ),
    ClassComparison(
        "Venn-Abers, one-vs-one, forest, rows without a pair of zeros",
        VENN_ABERS,
        0.05,
        partial(of_forest, plain_forest, zeros=False),
        SHARES,
    ),
    ClassComparison(
        "the same rows, our classes in reverse order, which makes shares theirs",
        VENN_ABERS,
        ROUNDING,
        partial(of_forest, turned_forest, zeros=False),
    ),
    ClassComparison(
        "Venn-Abers, one-vs-one, forest, rows with a pair of zeros",
        VENN_ABERS,
        0.1,
        partial(of_forest, plain_forest, zeros=True),
        ZERO,
    ),
    ClassComparison(
        "the same rows in reverse order, a pair of zeros above all scores",
        VENN_ABERS,
        ROUNDING,
        partial(of_forest, forest_with_zeros_above_all, zeros=True),
    ),
)
