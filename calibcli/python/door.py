"""Functions of Python, made from functions whose parameters are groups of options, as the commands are."""

import inspect
import math
import operator
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from enum import StrEnum
from functools import wraps
from typing import Any, TypeVar

from calibcli.errors import any_of
from calibcli.options.declaring import Parameter, declared_of, in_order, parameters_of
from calibcli.options.output import Trusting
from calibcli.options.rows import listed
from calibcli.python.documents import artifact_source, artifact_sources, report_source
from calibcli.python.problems import in_call
from calibcli.python.rows import (
    chosen,
    inputs_of,
    names_given,
    number_of,
    path_of,
    refused,
    text_of,
    truth_of,
)

Result = TypeVar("Result")
# What becomes of a value of Python, by its type, before it is what the command line would have.
_TAKEN: dict[str, Callable[[Any, str], Any]] = {
    "ArtifactLike": artifact_source,
    "ArtifactLike | Sequence[ArtifactLike]": artifact_sources,
    "ReportLike": report_source,
    "str | os.PathLike[str]": path_of,
    "bool": truth_of,
    "float": number_of,
    "str": text_of,
    "Names": names_given,
    "Classes": names_given,
}
# How `--help` says what is taken where nothing was said.
_DEFAULT = re.compile(r"\.? \[default: ([^\]]*)\]$")
Before = Callable[[dict[str, Any]], None]


def function(
    order: str,
    *,
    rows: str = "Rows",
    both: tuple[str, str] = ("rows", "labels"),
    before: Before | None = None,
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Return what makes a public function of one that takes groups of options.

    The function is given the options of the order put together in its groups, and before them rows of two
    kinds as `Inputs`. The lines of its docstring on arguments are those that the options are declared with.
    `both` are the names of its first parameters: rows and their labels, or rows and others.
    """

    def made(body: Callable[..., Result]) -> Callable[..., Result]:
        declared = declared_of(body)
        parameters = in_order(order, declared.known | parameters_of(Trusting))
        signature = _signature(body, parameters, rows, both)
        first, second = both
        alone = second == "labels"

        @wraps(body)
        def call(*args: Any, **keywords: Any) -> Result:  # noqa: ANN401 - what the options take
            try:
                bound = signature.bind(*args, **keywords)
            except TypeError as problem:
                msg = f"{body.__name__}() {problem}"
                raise TypeError(msg) from None
            bound.apply_defaults()
            given = bound.arguments
            with in_call(given):
                if before is not None:
                    before(given)
                if given[first] is None and not rows.endswith("None"):
                    raise refused(first, None, "scores, a frame, or paths")
                plain = {name: _plain(one, given[name]) for name, one in parameters.items()}
                labels = given[second] if alone else None
                two = not alone and given[second] is not None
                inputs, values = inputs_of(given[first], labels, plain, labelled=alone, two=two)
                # Without labels these are rows of two kinds, else those of the request.
                others = inputs_of(given[second], None, plain, labelled=False, two=two)[0] if two else ()
                kinds = () if alone else (inputs, others)
                return body(*kinds, **declared.made_of({"inputs": inputs} | values))

        vars(call)["parameters"] = parameters
        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__doc__ = _documented(inspect.getdoc(body) or "", parameters)
        return call

    return made


def _signature(
    body: Callable[..., object], parameters: Mapping[str, Parameter], rows: str, both: tuple[str, str]
) -> inspect.Signature:
    place, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    empty = inspect.Parameter.empty
    kinds = (rows, "Values | None" if both[1] == "labels" else rows)
    shown = [
        inspect.Parameter(name, place, default=None if kind.endswith("None") else empty, annotation=kind)
        for name, kind in zip(both, kinds, strict=True)
    ]
    for name, one in parameters.items():
        default = empty if one.unsaid is MISSING else one.unsaid
        shown.append(inspect.Parameter(name, keyword, default=default, annotation=one.python))
    return inspect.Signature(shown, return_annotation=inspect.signature(body).return_annotation)


def _documented(text: str, parameters: Mapping[str, Parameter]) -> str:
    """Return a docstring with a line on each keyword after those on rows and labels."""
    lines = []
    for name, one in parameters.items():
        said = _DEFAULT.sub(r"; by default \1.", one.option.doc or one.option.help)
        if issubclass(one.kind, StrEnum) and '"' not in said:
            # Of some options a function takes fewer values than others do, as `--help` says.
            shown = (one.option.metavar or "").strip("<>")
            words = [f'"{word}"' for word in (shown.split("|") if "|" in shown else one.kind)]
            said = f"{said.rstrip('.')}: {any_of(*words)}."
        lines += textwrap.wrap(f"{name}: {said}", 106, initial_indent="    ", subsequent_indent="        ")
        lines.append("")
    before, returns, after = text.partition("\nReturns:")
    return before + "\n" + "\n".join(lines) + returns + after


def _plain(one: Parameter, value: Any) -> Any:  # noqa: ANN401
    """Return a value as the command line has it: words of vocabularies, whole numbers, several as a list."""
    if value is None:
        return None
    if issubclass(one.kind, StrEnum):
        if one.several:
            return [chosen(one.kind, word, one.name) for word in listed(names_given(value, one.name))]
        return chosen(one.kind, value, one.name)
    if one.option.least is not None:
        _refuse_outside(one, value)
    taken = _TAKEN.get(one.python.removesuffix(" | None"))
    return value if taken is None else taken(value, one.name)


def _refuse_outside(one: Parameter, value: Any) -> None:  # noqa: ANN401
    """Refuse what is no whole number, or too small or too large a one."""
    least, most = one.option.least or 0, one.option.most or math.inf
    try:
        fits = not isinstance(value, bool) and least <= operator.index(value) <= most
    except TypeError:
        fits = False
    if not fits:
        span = f"at least {least}" if one.option.most is None else f"from {least} to {most:,}"
        raise refused(one.name, value, f"a whole number, {span}")
