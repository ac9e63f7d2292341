"""Problems in the words of Python: options as keywords, and the hint where a traceback shows it."""

import inspect
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from calibcli import names
from calibcli.errors import CalibcliError
from calibcli.options.declaring import Parameter

Asked = ParamSpec("Asked")
Result = TypeVar("Result")

# The one place where sentences have an option twice.
_TWO_SCORES = "-s a -s b"
# In a sentence an option is written as in a shell, after it what may be its value. What stands before here is
# left as it is: a command to type, and what a user wrote, which is quoted or has dashes within a word.
_PARTS = re.compile(
    r"""`calibcli [^`]*`|-s a -s b|-s (?P<score>'[^']*'|\S+) -y (?P<label>'[^']*'|\S+)"""
    r"""|(?<!\w)(?:'[^']*'|"[^"]*")"""
    r"""|(?<![\w./-])--(?P<option>[a-z][a-z-]*[a-z])(?:[ =](?P<value>'[^']*'|[\w.:/*,-]*[\w*]))?"""
)
_NUMBER = re.compile(r"\d[\d.]*")
# Modules whose lines no warning is of.
_OURS = ("calibcli.", "contextlib")


@cache
def _options() -> Mapping[str, Parameter]:
    """Return the options that functions take, by their names on the command line."""
    import calibcli

    functions = ("measure", "fit", "verify", "compare", "segments", "drift", "plot")
    made = [vars(getattr(calibcli, name))["parameters"] for name in functions]
    return {one.key: one for parameters in made for one in parameters.values() if one.key}


@cache
def _words() -> frozenset[str]:
    """Return the words of every vocabulary, which are text in Python."""
    every = (kind for kind in vars(names).values() if isinstance(kind, type) and issubclass(kind, StrEnum))
    return frozenset(member.value for kind in every for member in kind) - {"in"} | {"tab"}


@contextmanager
def in_python() -> Iterator[None]:
    """Say what is raised within in the words of Python."""
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


@contextmanager
def in_call(keywords: Mapping[str, Any]) -> Iterator[None]:
    """Speak as `in_python` does, and believe documents as the keywords of a call say."""
    from calibcli.documents.sealed import Trust, trusting

    key_file = keywords.get("state_key_file")
    # What is no path is refused with the other keywords.
    path = os.fspath(key_file) if isinstance(key_file, str | os.PathLike) else None
    believed = Trust(keywords.get("allow_edited") is True, path)
    with in_python(), trusting(believed):
        yield


def reads_documents(function: Callable[Asked, Result]) -> Callable[Asked, Result]:
    """Let a function speak as `in_python` does, and believe documents as its keywords say."""

    @wraps(function)
    def door(*args: Asked.args, **keywords: Asked.kwargs) -> Result:
        with in_call(keywords):
            return function(*args, **keywords)

    return door


def warn_of(notes: Iterable[str]) -> None:
    """Give notes as warnings, where there is no report that would carry them; of the line that called."""
    for note in notes:
        level, frame = 1, inspect.currentframe()
        while frame is not None and str(frame.f_globals.get("__name__")).startswith(_OURS):
            level, frame = level + 1, frame.f_back
        warnings.warn(said(note), UserWarning, stacklevel=level)


def said(text: str) -> str:
    """Return a sentence with options as keywords: `--scale logit` as `scale='logit'`."""
    return _PARTS.sub(_joined, text)


def _joined(found: re.Match[str]) -> str:
    """Return a part of a sentence, and a word between two values that stood beside each other."""
    part = _keyword(found)
    beside = found.group("option") and "=" in part and found.string.startswith(" --", found.end())
    return f"{part} and" if beside else part


def _keyword(found: re.Match[str]) -> str:
    option, value, *columns = found.group("option", "value", "score", "label")
    if columns[0] is not None:
        return "score={!r}, label={!r}".format(*(name.strip("'") for name in columns))
    if option is None:
        return "score=['a', 'b']" if found.group() == _TWO_SCORES else found.group()
    declared = _options().get(option)
    name = option.replace("-", "_") if declared is None else declared.name
    after = "" if value is None else found.group()[len(option) + 2 :]
    if declared is not None and declared.kind is bool:
        return f"{name}=True{after}"
    if value is None:
        return name
    if value.startswith("'") or _NUMBER.fullmatch(value):
        return f"{name}={value}"
    text = value in _words() or value.isupper() or "," in value or value.endswith(".json") or "://" in value
    # A label may be any word, and only sentences about the option go on with these.
    text = text or (option == "positive" and value not in ("says", "are", "names"))
    return f"{name}={value!r}" if text else f"{name}{after}"
