"""The golden records of ten classes beside our numbers."""

from collections.abc import Callable, Iterator
from functools import partial

from oracles.class_agreement import FLAT, ROUNDING, ClassComparison, Pair
from oracles.golden_class_pairs import (
    C,
    Reading,
    Record,
    after_pairs,
    after_temperature,
    confidence_error,
    confidence_smooth,
    fitted_losses,
    fitted_rows,
    least_loss,
    loss_at_theirs,
    measured,
    records,
    slope,
    squared_error,
    squared_error_their_way,
    tempered_all,
    unclipped,
    unclipped_their_way,
)
from oracles.golden_table import KUMAR, REFERENCE


def compared(
    name: str,
    quantity: str,
    theirs: str,
    allowed: float,
    read: Reading,
    applies: Callable[[Record], bool] = lambda _record: True,
    *,
    why: str = "",
) -> tuple[ClassComparison, Callable[[], list[Record]]]:
    """Return a comparison with all records of a quantity by one implementation that apply, and those."""

    def those() -> list[Record]:
        return [
            record
            for record in records()
            if record["quantity"] == quantity
            and record["implementation"].startswith(theirs)
            and applies(record)
        ]

    def pairs() -> Iterator[Pair]:
        for record in those():
            yield from read(record)

    return ClassComparison(name, theirs, allowed, pairs, why), those


def debiased(record: Record) -> bool:
    """Whether the noise of labels is subtracted."""
    return bool(record["params"]["debias"])


def plug_in(record: Record) -> bool:
    """Whether it is not."""
    return not debiased(record)


def by(method: str, record: Record) -> bool:
    """Whether a record is by a method of probmetrics."""
    return bool(record["params"]["method"] == method)


OTHER_VARIANCE = "they subtract the variance of the label in a bin, we that of label - score"
STOPS = "their search stops before the least log loss of the fit rows"
_TEMPERED = partial(fitted_rows, after_temperature)
_TEMPERED_LOSSES = partial(fitted_losses, after_temperature)
_L2 = "l2_calibration_error"
_T = "l2_squared_marginal_unbiased_unclipped"
_TOP = "top_label_ece_gupta_ramdas"
_VA = "venn_abers_multiclass"
_ROOT = "l2 debiased, of the confidence and marginal"
# By method of probmetrics: allowed for 1 / T, for what comes after it and for the loss of the fit rows; why.
_SEARCHES = (
    ("temp-scaling", 2e-8, 2e-8, ROUNDING, FLAT),
    ("guo-ts", 4e-2, 4e-2, 2e-3, STOPS),
    ("autogluon-ts", 1e-4, 1e-4, 1e-8, STOPS),
)

_ALL = (
    compared("ECE of the confidence", "ece_top_label", KUMAR, ROUNDING, confidence_error),
    compared("classwise ECE", "ece_marginal", KUMAR, ROUNDING, measured(C.CLASSWISE_ECE)),
    compared("classwise ECE", "classwise_ece", REFERENCE, ROUNDING, measured(C.CLASSWISE_ECE)),
    compared("top-label ECE", _TOP, REFERENCE, ROUNDING, measured(C.TOP_LABEL_ECE, "weighted")),
    compared(
        "top-label ECE, every class alike",
        _TOP,
        REFERENCE,
        ROUNDING,
        measured(C.TOP_LABEL_ECE_UNWEIGHTED, "unweighted"),
    ),
    compared("l2 plug-in, of the confidence and marginal", _L2, KUMAR, ROUNDING, squared_error, plug_in),
    compared(_ROOT, _L2, KUMAR, 5e-5, squared_error, debiased, why=OTHER_VARIANCE),
    compared(
        f"{_ROOT}, in their form from our sums", _L2, KUMAR, ROUNDING, squared_error_their_way, debiased
    ),
    compared("marginal T, unclipped", _T, KUMAR, 5e-5, unclipped, why=OTHER_VARIANCE),
    compared("marginal T, in their form from our sums", _T, KUMAR, ROUNDING, unclipped_their_way),
    compared("smECE of the confidence", "smece_exact_top_label", REFERENCE, ROUNDING, confidence_smooth),
    compared("log loss", "log_loss", "scikit-learn", ROUNDING, measured(C.CLASS_LOG_LOSS)),
    compared("Brier score, sum and half of it", "brier", "scikit-learn", ROUNDING, measured(C.CLASS_BRIER)),
    compared("temperature, 1 / T", "temperature", "scipy", 1e-8, slope, why=FLAT),
    compared("temperature, least log loss of the fit rows", "temperature", "scipy", ROUNDING, least_loss),
    compared("temperature, 1 / T", "temperature", "scikit-learn", 2e-8, slope, why=FLAT),
    compared("temperature, 200 rows after", "temperature", "scikit-learn", 2e-8, _TEMPERED, why=FLAT),
    compared("temperature, losses after", "temperature", "scikit-learn", 2e-8, _TEMPERED_LOSSES, why=FLAT),
    compared(
        "temperature, log loss of the fit rows at theirs",
        "temperature",
        "scikit-learn",
        ROUNDING,
        loss_at_theirs,
    ),
    *(
        compared(
            f"temperature, {name}", "temperature", "probmetrics", allowed, read, partial(by, method), why=why
        )
        for method, of_slope, of_rows, of_loss, reason in _SEARCHES
        for name, allowed, read, why in (
            (f"1 / T ({method})", of_slope, slope, reason),
            (f"20 rows and log loss after ({method})", of_rows, tempered_all, reason),
            (
                f"log loss of the fit rows at theirs ({method})",
                of_loss,
                loss_at_theirs,
                "" if reason == FLAT else reason,
            ),
        )
    ),
    compared(
        "Venn-Abers, one-vs-one, 200 rows", _VA, "venn-abers", ROUNDING, partial(fitted_rows, after_pairs)
    ),
    compared(
        "Venn-Abers, one-vs-one, losses after",
        _VA,
        "venn-abers",
        ROUNDING,
        partial(fitted_losses, after_pairs),
    ),
)
GOLDEN = tuple(comparison for comparison, _ in _ALL)


def left_out() -> list[Record]:
    """Return the records of ten classes that no comparison reads."""
    read = [record for _, those in _ALL for record in those()]
    return [record for record in records() if record not in read]
