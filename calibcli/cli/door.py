"""Commands of the shell, made from functions whose parameters are groups of options."""

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import MISSING
from functools import cache, wraps
from typing import Annotated, Any

import typer

from calibcli.cli.completion import column_names, metric_names
from calibcli.options.declaring import (
    COLUMNS,
    METRICS,
    Option,
    Parameter,
    built,
    declared_of,
    parameters_of,
)
from calibcli.options.output import Trusting

Command = Callable[..., object]
Instead = Callable[[Mapping[str, Any]], bool]
Within = Callable[[Mapping[str, Any]], AbstractContextManager[Mapping[str, Any]]]
_COMPLETED = {COLUMNS: column_names, METRICS: metric_names, None: None}


def command(
    order: str, *, instead: Instead | None = None, within: Within | None = None, **otherwise: Option
) -> Callable[[Command], Command]:
    """
    Return what makes a command of a function.

    A parameter of the function that is a group of options is given by the group's options; others are
    options or
    arguments by themselves. Whatever the function takes, its command has the options of the order, in this
    order.

    Args:
        order: The options by name.

        instead: What looks at the values first, and says whether it has done all there is to do.

        within: What the options are put together in as well, and what more it gives the function.

        **otherwise: Options that this command words otherwise than their group, or takes several of.
    """

    def made(body: Command) -> Command:
        @wraps(body)
        def run(**given: Any) -> object:  # noqa: ANN401 - what the options take
            _trust(given)
            if instead is not None and instead(given):
                return None
            groups, single, _ = declared_of(body, otherwise)
            own = {name: given[name] for name in ("context", *single) if name in given}
            with nullcontext({}) if within is None else within(given) as found:
                apart = groups.values()
                made = {name: built(kind, given, apart=apart) for name, kind in groups.items()}
                return body(**own, **made, **found)

        def taken() -> dict[str, Parameter]:
            _, single, known = declared_of(body, otherwise)
            known |= parameters_of(Trusting)
            arguments = {name: one for name, one in single.items() if not one.option.flags}
            return arguments | {name: known[name] for name in order.split()}

        vars(run)["taken"] = cache(taken)
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


def _parameter(one: Parameter) -> inspect.Parameter:
    """Return an option or argument as the framework knows it."""
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
    annotation: Any = Annotated.__class_getitem__((one.shell, info))  # type: ignore[attr-defined]
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(one.name, keyword, default=default, annotation=annotation)


def _trust(given: Mapping[str, Any]) -> None:
    """Let the readers of documents know what is believed of them; they are many, and far from the command."""
    edited, key_file = given.get("allow_edited", False), given.get("state_key_file")
    if edited or key_file is not None:
        from calibcli.documents.sealed import Trust, trust_from_now_on

        trust_from_now_on(Trust(edited, key_file))


def options_of(command: Command) -> dict[str, Parameter]:
    """Return the options of a command that may have a default from outside, by key."""
    found: Mapping[str, Parameter] = vars(command)["taken"]()
    return {one.key: one for one in found.values() if one.key and one.name != "debug"}
