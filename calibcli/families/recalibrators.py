"""Recalibrators of one score and of several classes: what is known of each before it is fitted."""

from enum import StrEnum
from typing import NamedTuple

from calibcli.families import Known


class MapFacts(NamedTuple):
    """What is known of a recalibrator.

    Args:
        made: Its class, as `module.Class` of `calibcli.stats.recalibrators`.
        heeds: The options of a fit that it reads, in the order in which an artifact records them.
        complexity: Where auto tries it, from simple on, fewer free parameters first, then smoother before
            rougher; 0 for what is no repair.
        base: Whether its outputs form a continuum, which scaling-binning may bin.
        candidate: Whether auto tries it unless the user names candidates: not where few
            outputs are the point.
        exact: Whether a fit from a grid table is that of the rows behind it.
        coefficients: How many numbers a fit chooses; a map of any shape counts as the spline does.
    """

    made: str = ""
    heeds: tuple[str, ...] = ()
    complexity: int = 0
    base: bool = False
    candidate: bool = True
    exact: bool = False
    coefficients: int = 5

    @property
    def logistic(self) -> bool:
        """Whether it fits a logistic curve, whose loss can be chosen."""
        return "loss" in self.heeds


def _logistic(made: str, complexity: int, *heeds: str, coefficients: int) -> MapFacts:
    every = ("loss", "smooth_targets", *heeds)
    return MapFacts(made, every, complexity, base=True, exact=True, coefficients=coefficients)


# fmt: off
class RecalibratorName(Known):
    """Recalibration methods, as `fit --method` takes them, each with what `fit --help` says of it."""

    facts: MapFacts

    IDENTITY = ("identity", MapFacts("logits.Identity", candidate=False, exact=True),
        "changes nothing: the score is calibrated")
    INTERCEPT = ("intercept", _logistic("logits.Intercept", 10, coefficients=1),
        "shifts the log odds; other base rate, few rows")
    TEMPERATURE = ("temperature", _logistic("logits.Temperature", 20, coefficients=1),
        "divides the logit by T; too sure or not sure enough")
    PLATT = ("platt", _logistic("logits.Platt", 30, coefficients=2),
        "a logistic curve on the logit; few rows, smooth")
    BETA = ("beta", _logistic("beta.Beta", 40, "form", coefficients=3),
        "three parameters, bends the two ends apart")
    QUADRATIC = ("quadratic", _logistic("logits.Quadratic", 50, coefficients=3),
        "a parabola on the logit")
    SPLINE = ("spline", _logistic("spline.Spline", 60, coefficients=5),
        "a smooth curve on the logit; some thousand rows")
    HISTOGRAM = ("histogram", MapFacts("histogram.Histogram", ("bins", "binning"), 80, candidate=False),
        "one probability a bin, with a finite-sample guarantee")
    SCALING_BINNING = ("scaling-binning",
        MapFacts("scaling_binning.ScalingBinning", ("bins", "split", "base", "seed"), 70, candidate=False),
        "a smooth map, then bins: its error can be verified")
    ISOTONIC = ("isotonic", MapFacts("isotonic.Isotonic", ("step",), 110, base=True, exact=True),
        "any increasing map; many rows")
    CENTRED_ISOTONIC = ("centred-isotonic",
        MapFacts("isotonic.CentredIsotonic", (), 100, base=True, exact=True),
        "isotonic without flat parts but at 0 and 1")
    VENN_ABERS = ("venn-abers", MapFacts("venn_abers.VennAbers", ("folds", "seed"), 120),
        "isotonic with two ends that bracket each probability")
    SMOOTH = ("smooth", MapFacts("smooth.Smooth", ("randomised", "seed"), 90, base=True),
        "the kernel regression that smECE measures")


# fmt: on
class FitMethod(StrEnum):
    """What `fit --method` takes: every recalibration method, the one that looks at other columns beside the
    score, or the choice among the former by cross-validation.
    """

    IDENTITY = "identity"
    INTERCEPT = "intercept"
    TEMPERATURE = "temperature"
    PLATT = "platt"
    BETA = "beta"
    QUADRATIC = "quadratic"
    SPLINE = "spline"
    HISTOGRAM = "histogram"
    SCALING_BINNING = "scaling-binning"
    ISOTONIC = "isotonic"
    CENTRED_ISOTONIC = "centred-isotonic"
    VENN_ABERS = "venn-abers"
    SMOOTH = "smooth"
    SEGMENTS = "segments"
    AUTO = "auto"

    @classmethod
    def _missing_(cls, value: object) -> "FitMethod | None":
        """Return the method that is also called so."""
        return cls(METHOD_ALIASES[value]) if isinstance(value, str) and value in METHOD_ALIASES else None


METHOD_ALIASES = {"sigmoid": "platt", "logistic": "platt"}
"""What other packages call a method."""


class ClassMapFacts(NamedTuple):
    """What is known of a recalibrator of several classes.

    Args:
        made: Its class, as `module.Class` of `calibcli.stats.recalibrators.classes`.
        made_of_maps: Whether it is made of maps of one score.
        from_tables: Whether its fit sees tables of one score each, and not rows.
        folds: Whether cross-validation chooses a penalty.
    """

    made: str = ""
    made_of_maps: bool = False
    from_tables: bool = False
    folds: bool = False


# fmt: off
class ClassMethod(Known):
    """How predictions of several classes are recalibrated, as `fit --multiclass` takes it, likewise."""

    facts: ClassMapFacts

    CONFIDENCE = ("confidence", ClassMapFacts("top_label.TopLabel", made_of_maps=True, from_tables=True),
        "--method on the largest probability")
    TOP_LABEL = ("top-label", ClassMapFacts("top_label.TopLabel", made_of_maps=True, from_tables=True),
        "--method on it for each predicted class")
    ONE_VS_REST = ("one-vs-rest", ClassMapFacts("members.OneVsRest", made_of_maps=True, from_tables=True),
        "--method on each class's probability, divided by the sum")
    ONE_VS_ONE = ("one-vs-one", ClassMapFacts("one_vs_one.OneVsOne", made_of_maps=True),
        "--method on each pair of classes")
    TEMPERATURE = ("temperature", ClassMapFacts("temperature.ClassTemperature"),
        "divides all log-probabilities by T; keeps the predicted class")
    VECTOR = "vector", ClassMapFacts("linear.Linear"), "a slope and an intercept for each class"
    STRUCTURED = ("structured", ClassMapFacts("linear.Linear", folds=True),
        "the same, pulled towards one slope; few rows of many classes")
    MATRIX = ("matrix", ClassMapFacts("linear.Linear", folds=True),
        "all pairs of classes, off-diagonal part penalised (Dirichlet calibration)")
