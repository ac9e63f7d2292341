"""The vocabulary of rows that are asked for."""

from enum import StrEnum


class OnUnseen(StrEnum):
    """What becomes of a row of a group that the fit has not seen."""

    ERROR = "error"
    POOLED = "pooled"


class Comparison(StrEnum):
    """How a condition compares a column with a value; longer signs before those they begin with."""

    EQUAL = "=="
    UNEQUAL = "!="
    AT_MOST = "<="
    AT_LEAST = ">="
    BELOW = "<"
    ABOVE = ">"
    IN = "in"
