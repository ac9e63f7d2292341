"""The closed vocabularies of gates alone; the others are in `names.py`, and as cheap to import."""

from enum import StrEnum

# Of 8 bytes each, so many rows keep their identity.
MOST_IDENTITIES = 10_000_000
# So many rows are hardly ever alike by chance; fewer may be.
LEAST_TWIN_ROWS = 30
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
