"""Every closed vocabulary, the defaults, and which members belong together; standard library only."""

from collections.abc import Iterable
from enum import IntEnum, StrEnum

from calibcli.families.class_measures import ClassMeasure as ClassMeasure
from calibcli.families.formats import DataFormat as DataFormat
from calibcli.families.measures import MeasureName as MeasureName
from calibcli.families.measures import SegmentMeasure as SegmentMeasure
from calibcli.families.pictures import PlotKind as PlotKind
from calibcli.families.recalibrators import ClassMethod as ClassMethod
from calibcli.families.recalibrators import FitMethod as FitMethod
from calibcli.families.recalibrators import RecalibratorName as RecalibratorName
from calibcli.families.tests import TestName as TestName


class BetaForm(StrEnum):
    """Which of the parameters a, b and c of beta calibration are free, as `fit --beta-form` takes them."""

    ABM = "abm"
    AB = "ab"
    AM = "am"
    A = "a"


class Binning(StrEnum):
    """How [0, 1] is cut into bins."""

    EQUAL_WIDTH = "equal-width"
    EQUAL_MASS = "equal-mass"
    ATOMS = "atoms"


class FitLoss(StrEnum):
    """What a parametric fit minimises, as `fit --loss` takes it."""

    LOG = "log"
    BRIER = "brier"


class Benefit(StrEnum):
    """On which scale a decision curve is drawn, as `plot --benefit` takes it."""

    NET = "net"
    STANDARDISED = "standardised"
    GAIN = "gain"


class Band(StrEnum):
    """Where the band of a curve holds: at each score by itself, or at all at once (`plot --band`)."""

    POINTWISE = "pointwise"
    SIMULTANEOUS = "simultaneous"


class Smoother(StrEnum):
    """What draws the curve that calibration plots show and calibration indices are of (`--smoother`)."""

    SPLINE = "spline"
    KERNEL = "kernel"
    LOESS = "loess"


class Split(StrEnum):
    """Which rows the three steps of scaling-binning see."""

    NONE = "none"
    THREE_WAY = "three-way"


class GroupOrder(StrEnum):
    """How groups follow each other in reports, as `measure --sort` takes it."""

    WORST = "worst"
    NAME = "name"
    TIME = "time"
    ROWS = "rows"
    SCORE = "score"


class Scale(StrEnum):
    """What the score column holds."""

    PROB = "prob"
    LOGIT = "logit"
    LOGPROB = "logprob"
    PERCENT = "percent"


class WeightMeaning(StrEnum):
    """What a weight stands for: repeated rows, or importance."""

    FREQUENCY = "frequency"
    IMPORTANCE = "importance"


class OnMissing(StrEnum):
    """What to do with a missing score, label or weight; only `apply` writes null for a score, only `compare`
    takes the rows that each pair of scores has.
    """

    ERROR = "error"
    DROP = "drop"
    NULL = "null"
    PAIRWISE = "pairwise"


class OnRange(StrEnum):
    """What to do with a score outside [0, 1]; only `apply` writes null for it."""

    ERROR = "error"
    CLIP = "clip"
    NULL = "null"


LFS_POINTER = "version https://git-lfs.github.com/"
"""How the text begins that Git LFS leaves in the place of a file."""

GAVE_ZERO = "gave probability 0 to what happened"
"""What is said of rows whose log loss is infinite, of one score and of several classes."""


class ComparisonName(StrEnum):
    """How the second of two models stands to the first by one measure."""

    BETTER = "better"
    WORSE = "worse"
    NOT_TOLD_APART = "not told apart"


class VerdictName(StrEnum):
    """The three honest answers of a gate."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class Target(StrEnum):
    """What an interval speaks about, and in what sense it holds."""

    POPULATION = "population"
    FIXED_DESIGN = "fixed-design"
    MIXED = "population above, fixed-design below"


class ReportFormat(StrEnum):
    TABLE = "table"
    JSON = "json"
    JSON_LINES = "jsonl"
    CSV = "csv"
    MARKDOWN = "md"
    HTML = "html"
    LATEX = "latex"

    @property
    def is_page(self) -> bool:
        """Whether it is read by people, so that it has a place for notes."""
        return self not in (ReportFormat.JSON, ReportFormat.JSON_LINES, ReportFormat.CSV)


class Compression(StrEnum):
    """Compressions around a data file, by pyarrow's names."""

    GZIP = "gzip"
    ZSTD = "zstd"
    BZ2 = "bz2"
    LZ4 = "lz4"


class DocumentKind(StrEnum):
    """JSON documents that calibcli writes and publishes a schema for."""

    ARTIFACT = "artifact"
    REPORT = "report"
    COMPARE = "compare"
    COMPAT = "compat"
    DRIFT = "drift"
    GATE = "gate"
    PLAN = "plan"
    SEGMENTS = "segments"
    SUMMARY = "summary"


class CompatTool(StrEnum):
    """Tools whose numbers `measure --compat` gives beside ours."""

    SKLEARN = "sklearn"
    TORCHMETRICS = "torchmetrics"
    NETCAL = "netcal"
    MAPIE = "mapie"
    CALZONE = "calzone"
    RELPLOT = "relplot"
    UNCERTAINTY_CALIBRATION = "uncertainty-calibration"


class EngineName(StrEnum):
    """Where the work on fragments runs."""

    LOCAL = "local"
    DASK = "dask"
    SPARK = "spark"


class ColorWhen(StrEnum):
    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Purpose(IntEnum):
    """Streams of random numbers, one per purpose. The numbers are frozen: adding a purpose never moves
    another one's digits.
    """

    MONTE_CARLO = 1
    SMECE_NULL = 2
    SPLIT = 4
    FOLDS = 5
    NOISE = 6
    CROSS = 7
    CORP = 8
    U = 10
    PLAN = 11
    CONSISTENCY_BAND = 12
    MAP_BAND = 13
    SAMPLE = 14
    SPIEGELHALTER = 15
    SMOOTH_CURVE = 16
    DRIFT = 17
    BATCH = 18
    SEGMENTS = 19


# Labels are drawn so often for a p-value where 999 draws settle nothing; its method then says so.
MORE_DRAWS = 9_999
OF_MORE_DRAWS = f", {MORE_DRAWS:,} draws"

# Losses of whole rows, which are only those of the label's distribution where rows sum to one.
OF_DISTRIBUTIONS = (ClassMeasure.CLASS_LOG_LOSS, ClassMeasure.CLASS_BRIER)

# Areas: what a row adds to them follows from where all others stand.
RANKED = (MeasureName.AUROC, MeasureName.GINI, MeasureName.AURC)


def ranked_in(names: Iterable[MeasureName]) -> tuple[MeasureName, ...]:
    return tuple(name for name in RANKED if name in {*names})


DEFAULT_BINS = 15

DEFAULT_FIT_BINS = 10

DEFAULT_FOLDS = 10

DEFAULT_LEAST_ROWS = 100

DEFAULT_CONFIDENCE = 0.95

DEFAULT_MEMORY = "256MiB"

# Distinct scores that an exact table keeps in the default memory: 24 bytes each at rest, and room to sort,
# merge, bin and smooth them.
EXACT_LIMIT = 1_000_000

DEFAULT_SEED = 0

# The p of `lp`; beyond the largest, the worst bin alone would count.
DEFAULT_LP_POWER, MOST_LP_POWER = 2.0, 100.0

STDOUT = "-"

# What rows without a value are called, as a group or a value of a column: they come last.
MISSING = "(missing)"

# What `apply` calls the column that it adds, unless it is told otherwise.
NEW_COLUMN = "calibrated"

# Of 8 bytes each, so many rows keep their identity.
MOST_IDENTITIES = 10_000_000

# So many different scores are hardly ever alike by chance; fewer may be.
LEAST_TWIN_ROWS = 30

# What has less is taken to be no coincidence.
LEAST_CHANCE = 1e-6

# Of a plan: how probably a gate passes after the rows that it tells.
DEFAULT_POWER = 0.9


class IdKind(StrEnum):
    """What ids are written as: text such as 7.0 is a number that is not written as numbers are."""

    NUMBERS = "numbers"
    TEXT = "text"
    RESPELLED = "numbers as other text"


class Bound(StrEnum):
    """What of a measure or test a rule speaks of, as in `smece.upper<=0.02`."""

    VALUE = "value"
    LOWER = "lower"
    UPPER = "upper"
    P_VALUE = "p"


class Relation(StrEnum):
    """How a rule compares, as in `cox_slope.lower>=0.8`."""

    AT_MOST = "<="
    AT_LEAST = ">="


class GateFormat(StrEnum):
    """Reports that `verify --report` writes for continuous integration and monitoring."""

    JUNIT = "junit"
    GITHUB = "github"
    MARKDOWN = "md"
    JSON = "json"
    OPENMETRICS = "openmetrics"


class Inconclusive(StrEnum):
    """What an inconclusive gate counts as: exit 4, exit 1 or exit 0."""

    ERROR = "error"
    FAIL = "fail"
    PASS = "pass"  # noqa: S105 - a verdict, not a password


class ViewName(StrEnum):
    """How predictions of several classes are seen as scores of a yes or no."""

    CONFIDENCE = "confidence"
    TOP_LABEL = "top-label"
    ONE_VS_REST = "one-vs-rest"

    @classmethod
    def _missing_(cls, value: object) -> "ViewName | None":
        """Return the view that is also called so."""
        return cls(VIEW_ALIASES[value]) if isinstance(value, str) and value in VIEW_ALIASES else None


VIEW_ALIASES = {"ovr": "one-vs-rest"}
"""What other packages call a view."""


class OnSum(StrEnum):
    """What to do with rows whose probabilities do not sum to one; only `apply` writes null for them."""

    ERROR = "error"
    NORMALISE = "normalise"
    ACCEPT = "accept"
    NULL = "null"


class OutputSum(StrEnum):
    """Whether one-vs-rest divides the recalibrated probabilities of a row by their sum."""

    ONE = "one"
    FREE = "free"


class EndsOf(StrEnum):
    """Which probabilities of a row a map of several classes puts ends around."""

    CLASSES = "classes"
    PREDICTED = "predicted"


DEFAULT_LEAST_CLASS_ROWS = 50


class FigureSize(StrEnum):
    """What a picture is to fit: one column of a journal, a page, or a slide of 16 by 9."""

    COLUMN = "column"
    PAGE = "page"
    SLIDE = "slide"


class Theme(StrEnum):
    LIGHT = "light"
    DARK = "dark"


class AxisScale(StrEnum):
    """How scores and rates are laid out along the axes."""

    LINEAR = "linear"
    LOGIT = "logit"


class OnUnseen(StrEnum):
    """What becomes of a row of a group that the fit has not seen."""

    ERROR = "error"
    POOLED = "pooled"


class Sign(StrEnum):
    """How a condition compares a column with a value; longer signs before those they begin with."""

    EQUAL = "=="
    UNEQUAL = "!="
    AT_MOST = "<="
    AT_LEAST = ">="
    BELOW = "<"
    ABOVE = ">"
    IN = "in"


class ExportTarget(StrEnum):
    """What a fitted map is written as, as `export --to` takes it."""

    SQL = "sql"
    ONNX = "onnx"
    PYTHON = "python"
    SKLEARN = "sklearn"


class SqlDialect(StrEnum):
    """Whose SQL is written, as `export --dialect` takes it."""

    DUCKDB = "duckdb"
    SPARK = "spark"
    BIGQUERY = "bigquery"
    SNOWFLAKE = "snowflake"
    POSTGRES = "postgres"
    DATABRICKS = "databricks"
    TRINO = "trino"
    REDSHIFT = "redshift"
    TSQL = "tsql"
    CLICKHOUSE = "clickhouse"
    MYSQL = "mysql"


class SqlForm(StrEnum):
    """What a query stands in, as `export --as` takes it."""

    SELECT = "select"
    VIEW = "view"
    DBT = "dbt"


DEFAULT_MEASURES = (
    MeasureName.ECE,
    MeasureName.ECE_EQUAL_MASS,
    MeasureName.L2,
    MeasureName.SMECE,
    MeasureName.DCE,
    MeasureName.BIAS,
    MeasureName.BRIER,
    MeasureName.LOG_LOSS,
)

# Tests of the number of events.
OF_RATES = (TestName.BINOMIAL, TestName.BINOMIAL_TWO_SIDED, TestName.JEFFREYS, TestName.JEFFREYS_TWO_SIDED)
DEFAULT_TESTS = (TestName.KS, TestName.KUIPER, TestName.SPIEGELHALTER, TestName.T)
