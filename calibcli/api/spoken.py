"""Problems in the words of Python: options as keywords, and the hint where a traceback shows it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from calibcli import gate_names, names, picture_names, selection_names, view_names
from calibcli.errors import CalibcliError

_OPTION = re.compile(r"--([a-z][a-z-]*[a-z])(?:[ =]('[^']*'|[\w.:/*-]*[\w*]))?")
_NUMBER = re.compile(r"\d[\d.]*")
# Keywords that are called otherwise, since Python keeps the word or an artifact goes first.
_CALLED = {"class": "one_class", "id": "row_id", "output": "output"}
_FLAGS = (
    "alarm",
    "allow-fit-rows",
    "any-time",
    "bounds",
    "exact",
    "fail-if-worse",
    "force",
    "randomised",
    "smooth-targets",
    "step",
)
_WORDS = frozenset(
    member.value
    for module in (gate_names, names, picture_names, selection_names, view_names)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, StrEnum)
    for member in kind
) - {"in"}


@contextmanager
def in_python() -> Iterator[None]:
    """
    Say what is raised within in the words of Python.

    Raises:
        CalibcliError: The same problem; its hint is a note as well, which a traceback shows.
    """
    try:
        yield
    except CalibcliError as problem:
        problem.message = said(problem.message)
        problem.args = (problem.message,)
        if problem.hint is not None:
            problem.hint = said(problem.hint)
            if problem.hint not in getattr(problem, "__notes__", ()):
                problem.add_note(problem.hint)
        raise


def said(text: str) -> str:
    """Return a sentence with options as keywords: `--scale logit` as `scale='logit'`."""
    return _OPTION.sub(_keyword, text)


def _keyword(found: re.Match[str]) -> str:
    option, value = found.groups()
    name = _CALLED.get(option, option.replace("-", "_"))
    after = "" if value is None else found.group()[len(option) + 2 :]
    if option in _FLAGS:
        return f"{name}=True{after}"
    if value is None:
        return name
    if value.startswith("'"):
        return f"{name}={value}"
    if _NUMBER.fullmatch(value):
        return f"{name}={value}"
    return f"{name}={value!r}" if value in _WORDS or value.isupper() or "," in value else f"{name}{after}"
