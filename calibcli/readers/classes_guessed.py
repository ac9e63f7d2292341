"""Columns that seem to hold probabilities of several classes, where nobody has named them."""

import re
import shlex

from calibcli.readers import reader_of
from calibcli.readers.fragments import Fragment

# How types are written whose rows may hold several numbers.
_LIST = re.compile(r"list|struct|extension|, \d+\)")
# What names of columns of several classes usually begin with.
_STARTS = ("p_", "prob_", "proba_", "probs_", "probability_")


def guessed_classes(fragment: Fragment, header: tuple[str, ...]) -> tuple[str, ...]:
    """
    Return the columns that seem to hold probabilities of classes: one of lists, or some named alike.

    Args:
        fragment: The file.

        header: The names of its columns.
    """
    reader = reader_of(fragment.format)
    types = dict(reader.kinds(fragment))
    lists = tuple(
        name for name in header if _LIST.search(types.get(name, "")) and reader.list_length(fragment, name)
    )
    if lists:
        return lists[:1]
    alike = (tuple(name for name in header if name.startswith(start)) for start in _STARTS)
    return next((names for names in alike if len(names) > 1), ())


def asking_for(probs: tuple[str, ...]) -> str:
    """Return the option that names columns of several classes."""
    start = next((one for one in _STARTS if len(probs) > 1 and probs[0].startswith(one)), None)
    return f"--probs {shlex.quote(probs[0] if start is None else f'{start}*')}"
