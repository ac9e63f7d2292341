"""Commands of the shell, made from functions whose parameters are groups of options."""

import inspect
import os
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import MISSING
from functools import cache, wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from calibcli.data.outputs import READ_BESIDE
from calibcli.options import declaring
from calibcli.options.output import Trusting
from calibcli.options.rows import InputFormat

# What completes the line puts it here: zsh, fish and PowerShell into the first, bash into the second.
_LINES = ("_TYPER_COMPLETE_ARGS", "COMP_WORDS")

_TEXT = {".csv": ",", ".tsv": "\t", ".tab": "\t"}

_LONGEST_HEADER = 1 << 20

# What pandas writes beside the columns of a frame.
_INDEX = r"__index_level_[0-9]+__"


def column_names(incomplete: str) -> list[str]:
    """Return the columns, in the order of the file, of the files on the line that begin with a text."""
    found: dict[str, None] = {}
    words = _words()
    said = _option(words, "--delimiter"), _option(words, "--encoding")
    for word in words:
        found |= dict.fromkeys(_header(word, *said))
    return [name for name in found if name.startswith(incomplete) and not re.fullmatch(_INDEX, name)]


def metric_names(incomplete: str) -> list[str]:
    from calibcli.options.measuring import known_metrics

    return [str(name) for name in known_metrics() if name.startswith(incomplete)]


def _words() -> list[str]:
    line = next((os.environ[name] for name in _LINES if name in os.environ), "")
    import shlex

    try:
        return shlex.split(line)[1:]
    except ValueError:
        # A quote is open where the cursor stands.
        return line.split()[1:]


def _option(words: list[str], name: str) -> str | None:
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == name:
            return following or None
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return None


def _header(word: str, delimiter: str | None, encoding: str | None) -> tuple[str, ...]:
    """Return the columns of a file; none of what is no file of data, or cannot be read."""
    try:
        path = Path(word)
        if path.is_file() and path.suffix.lower() in _TEXT:
            return (*_header_of_text(path, InputFormat(None, delimiter, encoding)), *_partitions(word))
        if path.is_file() or path.is_dir():
            return _header_of_any(word, InputFormat(None, delimiter, encoding))
    except Exception:  # noqa: BLE001 - whatever it is, a line being typed is no place for it
        return ()
    return ()


def _header_of_text(path: Path, form: InputFormat) -> tuple[str, ...]:
    """Return the first record of a CSV file, without what it takes to import a reader."""
    import csv

    separator = form.delimiter or _TEXT[path.suffix.lower()]
    with path.open(encoding=form.encoding or "utf-8-sig", newline="") as file:
        lines = csv.reader([*file.readlines(_LONGEST_HEADER)], delimiter=separator)
        return tuple(next(lines, ()))


def _header_of_any(name: str, form: InputFormat) -> tuple[str, ...]:
    """Return the columns of the first file of whatever is named, and those that its path holds."""
    from calibcli.data.fragments import list_fragments
    from calibcli.data.readers import reader_of
    from calibcli.errors import UsageProblem

    try:
        first = list_fragments([name], input_format=form)[0]
    except UsageProblem:
        # The separator and the encoding are those of another file on the line.
        first = list_fragments([name])[0]
    return (*reader_of(first).header(), *(column for column, _ in first.partitions))


def _partitions(word: str) -> tuple[str, ...]:
    from calibcli.data.readers import partitions_of

    return tuple(column for column, _ in partitions_of(word))


Command = Callable[..., object]

Instead = Callable[[Mapping[str, Any]], bool]

Within = Callable[[Mapping[str, Any]], AbstractContextManager[Mapping[str, Any]]]

_COMPLETED = {declaring.COLUMNS: column_names, declaring.METRICS: metric_names, None: None}


def command(
    order: str, *, instead: Instead | None = None, within: Within | None = None
) -> Callable[[Command], Command]:
    """Return what makes a command of a function.

    A parameter of the function that is a group of options is given by the group's options; others are options
    or arguments by themselves. Whatever the function takes, its command has the options of the order, in this
    order.
    """

    def made(body: Command) -> Command:
        @wraps(body)
        def run(**given: Any) -> object:  # noqa: ANN401 - what the options take
            _trust(given)
            beside = (given.get("score_map"), given.get("state_key_file"))
            READ_BESIDE.set((*READ_BESIDE.get(), *(str(one) for one in beside if one is not None)))
            if given.get("score_map") is not None:
                from calibcli.data.score_words import score_map_of

                given["score_map"] = score_map_of(given["score_map"])
            if instead is not None and instead(given):
                return None
            context = {"context": given["context"]} if "context" in given else {}
            with nullcontext({}) if within is None else within(given) as found:
                return body(**context, **declaring.declared_of(body).made_of(given), **found)

        def taken() -> dict[str, declaring.Parameter]:
            known = declaring.declared_of(body).known
            known |= declaring.parameters_of(Trusting)
            # What has neither flags nor a name for its place on the line is a keyword of Python alone.
            arguments = {
                name: one for name, one in known.items() if one.option.metavar and not one.option.flags
            }
            return arguments | declaring.in_order(
                order, {name: one for name, one in known.items() if one.option.flags}
            )

        vars(run)["taken"] = cache(taken)
        vars(run)["most_needed"] = frozenset(
            order.partition(declaring.MOST_NEEDED)[0].split() if declaring.MOST_NEEDED in order else ()
        )
        return run

    return made


def signed(command: Command) -> Command:
    """Return a command with the signature that the framework makes it from; this takes a while."""
    body = command.__wrapped__  # type: ignore[attr-defined]
    shown = [_parameter(one) for one in vars(command)["taken"]().values()]
    if "context" in inspect.signature(body).parameters:
        keyword = inspect.Parameter.KEYWORD_ONLY
        shown.insert(0, inspect.Parameter("context", keyword, annotation=typer.Context))
    command.__annotations__ = {}
    command.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return command


def _parameter(one: declaring.Parameter) -> inspect.Parameter:
    declared = one.option
    info: typer.models.ParameterInfo
    if declared.flags:
        info = typer.Option(
            *declared.flags,
            metavar=declared.metavar,
            autocompletion=_COMPLETED[declared.complete],
            min=declared.least,
            max=declared.most,
            help=declared.help,
            show_default=declared.shown,
        )
    else:
        info = typer.Argument(metavar=declared.metavar, help=declared.help)
    default = inspect.Parameter.empty if one.unsaid is MISSING else one.unsaid
    annotation: Any = Annotated[one.shell, info]
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(one.name, keyword, default=default, annotation=annotation)


def _trust(given: Mapping[str, Any]) -> None:
    """Let the readers of documents know what is believed of them; they are many, and far from the command."""
    edited, key_file = given.get("allow_edited", False), given.get("state_key_file")
    if edited or key_file is not None:
        from calibcli.documents.sealed import Trust, trust_from_now_on

        trust_from_now_on(Trust(edited, key_file))


@cache
def options_of(command: Command) -> dict[str, declaring.Parameter]:
    """Return the options of a command that may have a default from outside, by key."""
    found: Mapping[str, declaring.Parameter] = vars(command)["taken"]()
    return {one.key: one for one in found.values() if one.key and one.name != "debug"}
