"""The columns of the first file found again in every other."""

from collections.abc import Sequence
from dataclasses import replace

from calibcli.errors import InputProblem
from calibcli.readers.class_columns import ClassColumns
from calibcli.readers.columns import ChosenColumns, resolve
from calibcli.readers.names_of_columns import listing, named


def same_again(
    chosen: ChosenColumns, header: Sequence[str], *, path: str, outside: Sequence[str] = ()
) -> ChosenColumns:
    """Find in a further file the columns that were chosen in the first one, with nothing left to guess."""
    again = replace(
        chosen.asked,
        score=None if chosen.probs else chosen.score,
        label=chosen.label,
        weight=chosen.weight,
        others=() if chosen.probs else chosen.others,
        group=chosen.group,
        by=chosen.by,
        cluster=chosen.cluster,
        identity=chosen.identity,
    )
    found = resolve(again, header, path=path, labelled=chosen.label is not None, outside=outside)
    return found if chosen.probs is None else _in_order_of(chosen.probs, found, header, path=path)


def _in_order_of(
    first: ClassColumns, found: ChosenColumns, header: Sequence[str], *, path: str
) -> ChosenColumns:
    """Return the columns of the classes in the order of the first file, which must have the same ones."""
    names = tuple(named(name, header, path=path) for name in first.names)
    further = [] if found.probs is None else [name for name in found.probs.names if name not in names]
    if further:
        msg = f"{path}: {listing(further)} would be classes that the first file does not have"
        raise InputProblem(msg, "give all files the same classes, or list their columns with --probs a,b,c")
    probs = ClassColumns(names, first.classes)
    return replace(found, score=names[0], others=names[1:], probs=probs)
