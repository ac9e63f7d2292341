"""What the gallery says of each method in words; numbers are added by `make_gallery.py`."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from calibcli.names import FitMethod


@dataclass(frozen=True, slots=True)
class Portrait:
    """A method in words.

    Args:
        what: What it is.

        take: When to use it.

        leave: When not to.

        gate: What `verify` can bound of its output.
    """

    what: str
    take: str
    leave: str
    gate: str


# What the gate of the gallery allows.
LIMIT = 0.02
_MANY = "Many values: `verify` can bound its binned ECE only."

PORTRAITS: Mapping[FitMethod, Portrait] = MappingProxyType(
    {
        FitMethod.IDENTITY: Portrait(
            "Nothing is changed: the score is the probability.",
            "The score is calibrated already. `--method auto` takes it where no repair is better on rows "
            "that it has not seen, and says so; by name it is *no repair* where a pipeline asks for an "
            "artifact. Of logits it gives the probabilities that they stand for.",
            "Anything can be gained, which the other sections show. It learns nothing from its rows.",
            "Always increasing. " + _MANY,
        ),
        FitMethod.INTERCEPT: Portrait(
            "One number is added to every log odds.",
            "Label 1 has become rarer or more frequent since the model was trained, and nothing else is "
            "wrong; some dozens of rows of each label settle one number. Without a single label from the "
            "new population `apply --prior RATE` does the same to any artifact.",
            "The model is too sure or not sure enough. No shift repairs that, and the fit to log loss may "
            "even raise the Brier score, as on the churn set below.",
            "Always increasing. " + _MANY,
        ),
        FitMethod.TEMPERATURE: Portrait(
            "Every log odds is divided by one number T; T above 1 lowers confidence.",
            "A model that is too sure, or not sure enough, by the same measure at both ends, and few rows: "
            "about a hundred will do. No prediction crosses 1/2.",
            "The scores are wrong on average (another base rate) or differently at the two ends: 1/2 stays "
            "1/2 whatever the labels say. Refused where every score is 0, 1/2 or 1, and where labels do not "
            "rise with the score.",
            "Always increasing. " + _MANY,
        ),
        FitMethod.PLATT: Portrait(
            "A logistic curve on the logit of the score: temperature and intercept in one.",
            "The default. A hundred rows with some dozens of the rarer label are enough; two numbers can "
            "hardly overfit.",
            "There are thousands of rows and the reliability diagram, drawn on the logit, bends.",
            "Increasing unless labels fall with the score, which the fit says. " + _MANY,
        ),
        FitMethod.BETA: Portrait(
            "log odds = a ln f - b ln(1 - f) + c: the two ends of the score have slopes of their own.",
            "The model is wrong in different ways at its two ends; a few hundred rows. a = b is Platt's "
            "curve, and a = b = 1 with c = 0 leaves the scores as they are, so that a calibrated model can "
            "stay so.",
            "One end has hardly any rows of one label: its slope is then fitted to next to nothing.",
            "a, b >= 0: never decreasing. " + _MANY,
        ),
        FitMethod.QUADRATIC: Portrait(
            "A parabola on the logit: the smallest step beyond Platt.",
            "A few hundred rows, and the question whether Platt's line bends (`bend` in the artifact).",
            "New scores reach farther out than those of the fit: a parabola turns round, and beyond its "
            "turn a higher score gets a lower probability. If the turn lies among the fit scores, the fit "
            "says where.",
            "Increasing on one side of its turn only. " + _MANY,
        ),
        FitMethod.SPLINE: Portrait(
            "A natural cubic spline on the logit with at most 5 knots at quantiles of the scores; straight "
            "outside them.",
            "Some thousand rows and a smooth error of any shape; the lowest log loss on the churn set, if "
            "by a hair.",
            "Some hundred rows, or most scores piled up at 0 or 1. Then knots meet and fewer are left (two "
            "make it Platt's line), and the curve may turn down, which the fit says.",
            "Not always increasing. " + _MANY,
        ),
        FitMethod.HISTOGRAM: Portrait(
            "The mean label in each of B bins, equal mass unless asked otherwise.",
            "The error must be proved, whatever its shape: the artifact carries a finite-sample guarantee "
            "(with n rows and B fixed bins, ECE at most √(B/2n) on average; 10 bins and 1,000 rows: 0.071), "
            "and `verify` bounds the true error. With a hundred rows in a bin its value is within 0.05 of "
            "its rate in root mean square.",
            "Ranking matters (all scores of a bin become one), rows are few, or log loss is judged: a bin "
            "with fit rows of one label only says exactly 0 or 1, and one row that differs makes log loss "
            "infinite, as on the breast cancer set.",
            "Not always increasing. Few values: `verify` bounds its true calibration error.",
        ),
        FitMethod.SCALING_BINNING: Portrait(
            "A smooth map first (Platt's curve, or another with `--base`), then its mean in each of B "
            "equal-mass bins.",
            "The error must be proved, and a smooth map fits: values are means of a curve, so that many "
            "bins cost little. [When that pays, and when not](../benchmarks/KUMAR.md).",
            "The base does not fit: its error stays in the values, where histogram binning would follow the "
            "labels. Ranking within a bin is lost, too. Scores piled up at 0 or 1 leave fewer bins than "
            "were asked for, and one of them may be as good as certain, as 0 is on the forest's digits.",
            "Increasing with its base. Few values: `verify` bounds its true calibration error.",
        ),
        FitMethod.ISOTONIC: Portrait(
            "The nondecreasing map with the least squared error: flat blocks and straight lines in between, "
            "or steps with `--step`.",
            "Thousands of rows, and a shape that nobody wants to guess. Nothing to set.",
            "Below about a thousand rows it fits noise. Often its first block has label 0 only, its last "
            "one label 1 only: it then says exactly 0 and 1, and one row that differs makes log loss "
            "infinite, even among 50,000. Then `auto` does not take it (`--loss "
            "brier` lets it compete). Flat blocks tie rows that the score told apart.",
            "Never decreasing. Many values: `verify` can bound its binned ECE only; with `--step` its "
            "values are finitely many, and the true error is bounded, loosely where they are many.",
        ),
        FitMethod.CENTRED_ISOTONIC: Portrait(
            "Isotonic with each flat block drawn together to its middle, and straight from middle to middle.",
            "As isotonic, where ties in the output are unwelcome: from its first point to its last, higher "
            "scores get strictly higher probabilities.",
            "The mean output must be exactly the mean label of the fit rows: isotonic keeps that, this does "
            "not. Pure ends still say exactly 0 or 1, with the same infinite log loss.",
            "Never decreasing. " + _MANY,
        ),
        FitMethod.VENN_ABERS: Portrait(
            "Two isotonic fits, the row in question added once with label 0 and once with label 1, merged "
            "into one probability.",
            "Isotonic's freedom without its certainty: no output is 0 or 1, so log loss stays finite. Some "
            "hundred rows upwards. The distance between the two ends, which `apply` writes beside the "
            "point, shows where rows are thin.",
            "You want an interval for the probability: the ends are none. With few rows it draws even "
            "rightly certain predictions in; see what becomes of 0 on the forest's digits, and of it by "
            "Platt.",
            "Never decreasing. " + _MANY,
        ),
        FitMethod.SMOOTH: Portrait(
            "Kernel regression of the label on the score, at the bandwidth that smECE finds. `--randomised` "
            "adds the kernel's noise to the score first; in theory that is then calibrated.",
            "The scores are nearly right, and the repair should be what the smooth reliability diagram "
            "shows.",
            "The scores are far off. The bandwidth is the smECE of the fit rows: the more there is to "
            "repair, the coarser the tool. On the churn set only the log loss of intercept is higher.",
            "Not always increasing. " + _MANY,
        ),
        FitMethod.AUTO: Portrait(
            "10-fold cross-validation on the fit rows, then the simplest method whose log loss is within "
            "one standard error of the best. The table of losses goes into the artifact.",
            "Nothing is known beforehand. Where rows of one patient or user belong together, add `--group "
            "COLUMN`.",
            "The gate must bound the true error: histogram and scaling-binning are no candidates unless "
            "`--candidate` names them, since log loss is not what they are for. Every candidate is fitted "
            "ten times. A row that got probability 0 for what happened rules its method out; see isotonic.",
            "That of the method it chose.",
        ),
    }
)

WHICH = """| you have, or want | take |
|---|---|
| no idea | `auto`; it prefers the simpler of two that it cannot tell apart |
| some hundred rows | `temperature`, `platt` or `beta` |
| some thousand rows, and any shape | `spline`, `venn-abers`, `isotonic` |
| a calibration error that a gate can prove | `scaling-binning`, or `histogram` if no smooth map fits |
| the same model where label 1 is rarer or more frequent | `intercept`; without labels, `apply --prior` |
| finite log loss whatever comes | `venn-abers`; not `isotonic`, `centred-isotonic` or `histogram` |"""
FIRST = (
    "Numbers of rows, here and below, are rules of thumb (isotonic's is that of Niculescu-Mizil & Caruana "
    "2005, ICML). Look first whether anything needs repair: `calibcli measure` on rows that neither model "
    "nor recalibrator has seen."
)
HEAD = """# Gallery of recalibration methods

Made by `python docs/make_gallery.py`, with default options and seed 0. Every method is fitted to the
calibration half of four [sample data sets](../sample_data/README.md) and measured on the evaluation half,
which no fit saw. Each number comes from

```sh
calibcli fit sample_data/churn_calibration.parquet -s score -y label -m METHOD -o cal.json
calibcli measure sample_data/churn_evaluation.parquet -s score -y label --artifact cal.json -v
```

and the like; ten digits are made two classes by `-s p_8 -y label --positive 8`. Formulas are in
[methods](methods.md#recalibrators).
"""
LEGEND = (
    "Lower is better; four data sets are no ranking. \\* is told apart from the lowest of its column by the "
    "95 % interval of the paired difference (`calibcli compare`). The lowest was chosen on these very rows "
    "and many pairs were looked at, so the marks describe and prove nothing. inf: so many rows got "
    "probability 0 for what happened; one is enough, and then there is no interval."
)
ENDS = (
    "The methods from intercept to spline read the logit of the score, limited to [2⁻⁵³, 1 - 2⁻⁵³]: an exact "
    "0 or 1 counts as log odds of -36.7 or 36.7. The last columns below show what becomes of them; where the "
    "slope is near 1 or above, that is as good as certain, and may round to 1."
)
INTERVALS = (
    "In parentheses, here and below, the 95 % interval that `measure` prints: for Brier score and log loss "
    "approximate, with room for a costly row that these lack; for smECE finite-sample, and very wide at the "
    "few hundred rows of the first three sets. The difference of two methods is known far better than "
    "either, the rows being the same: that is what `compare` is for."
)
PICTURE = "![The map of every method on the churn set](gallery.png)\n"
DOTS = (
    "Dots: observed rates of the evaluation half in 15 equal-width bins of the raw score, with pointwise "
    "95 % intervals; more than half of the rows are in the first bin."
)
GATE = (
    "The gate is `calibcli verify sample_data/churn_evaluation.parquet -s score -y label --artifact cal.json "
    f'--max-ece {LIMIT}`; its bound holds with 95 % confidence. "ece" is the calibration error itself. '
    '"binned ECE" is that of 15 bins fixed in advance, which errors within a bin escape; of a continuum no '
    'number of rows can bound more. "many values": a continuum, or steps too many to list. "increasing '
    'on": on how many of the four sets the map never falls, but for the last digit.'
)
