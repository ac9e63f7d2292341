"""Rows of pandas are paired by their place: refused where their indexes say that places are not rows."""

from typing import TYPE_CHECKING, Any

from calibcli.errors import UsageProblem

if TYPE_CHECKING:
    from collections.abc import Mapping


def refuse_misaligned(values: "Mapping[str, object]") -> None:
    """
    Refuse columns of pandas whose indexes name other rows, or the same rows in another order.

    A default index (0, 1, 2, ...) says nothing of rows, so it may stand beside any other rows than its own.

    Args:
        values: Columns and frames of any make, by what they are.

    Raises:
        UsageProblem: If two indexes differ so that rows of one place are not those of one name.
    """
    indexes = [(name, index) for name, one in values.items() if (index := index_of(one)) is not None]
    for name, index in indexes[1:]:
        first_name, first = indexes[0]
        if index is first or len(index) != len(first) or first.equals(index):
            continue
        if _same_rows(first, index):
            what = f"the rows of {first_name} and {name} stand in different orders, by their indexes"
        elif _is_default(first) or _is_default(index):
            continue
        else:
            what = f"{first_name} and {name} have different indexes"
        place = int((first != index).argmax()) if first.nlevels == index.nlevels else 0
        msg = f"{what}: row {place + 1} is {first[place]!r} here and {index[place]!r} there"
        raise UsageProblem(
            msg,
            f"align them, as in {name}.loc[{first_name}.index]; where only places count, pass .to_numpy()",
        )


def index_of(values: Any) -> Any:  # noqa: ANN401 - the index of a Series or a frame of pandas
    """Return the index of what pandas made; None where there is none."""
    pandas = type(values).__module__.partition(".")[0] == "pandas"
    return values.index if pandas and hasattr(values, "iloc") else None


def _same_rows(first: Any, other: Any) -> bool:  # noqa: ANN401
    """Whether two indexes that differ hold the same labels."""
    return bool(other.is_unique and first.is_unique and other.isin(first).all())


def _is_default(index: Any) -> bool:  # noqa: ANN401
    """Whether an index is what pandas gives to rows that have none."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
