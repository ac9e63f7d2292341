"""A map as a Python module: of the standard library alone, or a scikit-learn estimator."""

import re
from collections.abc import Mapping
from importlib.resources import files

from calibcli.exports.class_functions import class_functions
from calibcli.exports.formula import Score
from calibcli.exports.group_maps import GroupMaps
from calibcli.exports.maps import Shift, formulas_on
from calibcli.exports.origin import Origin
from calibcli.exports.python_text import PythonText, Style, literal
from calibcli.exports.scales import range_of
from calibcli.readers.groups import MISSING
from calibcli.recalibrators.classes.interface import ClassRecalibrator
from calibcli.recalibrators.interface import Recalibrator
from calibcli.selection_names import OnUnseen

_PYTHON_HEAD = '''"""
{what}

Made by `calibcli export --to python`; ORIGIN says from what. It needs nothing but the standard library.
"""
'''
_SKLEARN_HEAD = '''"""
{what}

Made by `calibcli export --to sklearn`; ORIGIN says from what. It needs scikit-learn 1.6 or newer.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data
'''
_WHAT = {
    (Style.NUMBERS, False): "Recalibrated probabilities: `calibrate(score)`, and `calibrate_all(scores)`.",
    (Style.NUMBERS, True): "Recalibrated probabilities of several classes: `calibrate(row)`, `predict(row)`.",
    (Style.ARRAYS, False): "Recalibrated probabilities: `Calibrated().predict_proba(scores)`.",
    (Style.ARRAYS, True): "Recalibrated probabilities of classes: `Calibrated().predict_proba(scores)`.",
}
_WHAT_OF_GROUPS = "Recalibrated probabilities by group: `calibrate(score, group)`, and `calibrate_all`."


def module_of_one(
    recalibrator: Recalibrator, *, origin: Origin, shift: Shift | None = None, style: Style
) -> str:
    """
    Return a module that recalibrates one score.

    Args:
        recalibrator: The fitted map.

        origin: Where it comes from; its scale is that of the score.

        shift: Another base rate, or None.

        style: Of numbers with the standard library, or an estimator of arrays.

    Raises:
        UsageProblem: If the map cannot be written as a function of the score.
    """
    formulas = formulas_on(recalibrator, Score(), scale=origin.scale, shift=shift)
    text = PythonText(style)
    names = ("_calibrated", "_lower", "_upper")
    functions = [text.function(name, formula) for name, formula in zip(names, formulas, strict=False)]
    word = _word(style)
    parts = [_template(f"{word}_one")]
    if len(formulas) > 1:
        parts.insert(0, _template(f"{word}_ends").rstrip() + "\n")
    if style is Style.NUMBERS:
        parts.append(_template("python_checked"))
    return _module(style, _facts(origin), [*parts, *functions], text=text, origin=origin)


def module_of_groups(groups: GroupMaps, *, origin: Origin) -> str:
    """
    Return a module that recalibrates one score by the map of its group, with the standard library alone.

    Args:
        groups: The maps.

        origin: Where they come from; its scale is that of the score.

    Raises:
        UsageProblem: If a map cannot be written as a function of the score.
    """
    style, text = Style.NUMBERS, PythonText(Style.NUMBERS)
    facts = [
        *_facts(origin),
        f"UNSEEN = {(OnUnseen.POOLED if groups.pooled else OnUnseen.ERROR).value!r}\n",
        f"MISSING = {_quoted(MISSING)}\n",
        "# 0 is the map of all rows.\n",
        f"PLACES = {{\n{_listed(groups.places)}}}\n",
    ]
    found = groups.formulas(origin.scale)
    functions, listed = [], []
    for place, formulas in enumerate(found):
        names = [f"_{word}_{place}" for word, _ in zip(("map", "lower", "upper"), formulas, strict=False)]
        functions += [text.function(*one) for one in zip(names, formulas, strict=True)]
        listed.append(f"    ({', '.join(names)},),\n")
    parts = [_template("python_groups"), _template("python_checked")]
    if len(found[0]) > 1:
        parts.insert(0, _template("python_group_ends"))
    parts += [*functions, f"_MAPS = (\n{''.join(listed)})\n"]
    return _module(style, facts, parts, text=text, origin=origin)


def _facts(origin: Origin) -> list[str]:
    """Return what a module of one score knows of it."""
    lowest, highest = range_of(origin.scale)
    return [
        f"LOWEST, HIGHEST = {literal(lowest)}, {literal(highest)}\n",
        f"SCALE = {origin.scale.value!r}\n",
        f"POSITIVE = {_quoted(origin.positive)}\n",
    ]


def _listed(places: Mapping[str, int]) -> str:
    return "".join(f"    {_quoted(group)}: {place},\n" for group, place in places.items())


def module_of_classes(recalibrator: ClassRecalibrator, *, origin: Origin, style: Style) -> str:
    """
    Return a module that recalibrates rows of several classes.

    Args:
        recalibrator: The fitted map.

        origin: Where it comes from; its scale and classes are those of the scores.

        style: Of numbers with the standard library, or an estimator of arrays.

    Raises:
        UsageProblem: If the map cannot be written as a function of the scores.
    """
    text = PythonText(style)
    kind, functions = class_functions(recalibrator, origin.classes, text)
    facts = [f"CLASSES = ({''.join(f'{_quoted(one)}, ' for one in origin.classes)})\n"]
    facts.append(f"SCALE = {origin.scale.value!r}\n")
    word = _word(style)
    parts = [_template(f"{word}_classes"), _template(f"{word}_{kind}"), *functions]
    return _module(style, facts, parts, text=text, origin=origin)


def _module(style: Style, facts: list[str], parts: list[str], *, text: PythonText, origin: Origin) -> str:
    head = _PYTHON_HEAD if style is Style.NUMBERS else _SKLEARN_HEAD
    what = _WHAT_OF_GROUPS if origin.by is not None else _WHAT[style, bool(origin.classes)]
    listed = "".join(f"    {key!r}: {_quoted(value)},\n" for key, value in origin.facts().items())
    top = [head.format(what=what), "\n", f"ORIGIN = {{\n{listed}}}\n", *facts]
    body = text.definitions() + "\n\n" + "\n\n".join(part.rstrip() + "\n" for part in parts)
    return top[0] + _imports(body, style) + "".join(top[1:]) + body


def _imports(body: str, style: Style) -> str:
    """Return what the body takes from the standard library."""
    if style is Style.ARRAYS:
        return ""
    used = [name for name in ("exp", "log", "nextafter") if re.search(rf"\b{name}\(", body)]
    searched = "from bisect import bisect_right\n" if "bisect_right(" in body else ""
    taken = f"from math import {', '.join(used)}\n" if used else ""
    return f"\n{searched}{taken}" if searched or taken else ""


def _word(style: Style) -> str:
    return "python" if style is Style.NUMBERS else "sklearn"


def _template(name: str) -> str:
    return (files("calibcli.exports") / "templates" / f"{name}.txt").read_text(encoding="utf-8")


def _quoted(text: str | None) -> str:
    """Return a literal of plain ASCII, whatever the text holds."""
    return ascii(text)
