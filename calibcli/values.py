"""Data classes that cost little to make: those of the standard library took half the time of `--help`.

They are what `dataclasses.dataclass` makes, for type checkers, `fields` and `replace` as well; these and
`field` stand here beside it. But `__init__` alone is written and compiled for each class, when the first
value is made: a command makes values of few of the classes that it imports. What compares, shows, hashes,
freezes and pickles is shared.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields, replace
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["dataclass", "field", "fields", "replace"]

_set = object.__setattr__


def _dataclass(
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    repr: bool = True,  # noqa: A002 - its name there
) -> Callable[[type], type]:
    def made(cls: type) -> type:
        # To a class without a word the standard library gives its signature, and imports inspect for it.
        cls.__doc__ = cls.__doc__ or cls.__name__
        cls = dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
        own = vars(cls)
        owner: list[type] = []
        methods: dict[str, Any] = {"__init__": _first_init(owner, frozen=frozen)}
        methods["__signature__"] = _Signature()
        if repr:
            methods["__repr__"] = _repr
        if eq:
            methods["__eq__"] = _eq
        if eq and own.get("__hash__") is None:
            methods["__hash__"] = _hash if frozen else None
        if frozen:
            methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        for name, method in methods.items():
            if own.get(name) is None:
                setattr(cls, name, method)
        cls = _with_slots(cls, frozen=frozen) if slots else cls
        owner.append(cls)
        return cls

    return made


def _first_init(owner: list[type], *, frozen: bool) -> Callable[..., None]:
    """Return what writes `__init__` in its own place when it is called, which is once."""

    def __init__(self: object, *values: object, **named: object) -> None:  # noqa: N807 - it stands for it
        (cls,) = owner
        found = _init_of(cls, frozen=frozen)
        if vars(cls)["__init__"] is __init__:
            cls.__init__ = found  # type: ignore[misc]
        found(self, *values, **named)

    return __init__


class _Signature:
    """The parameters of a class, which `inspect` would look for in its `__init__`."""

    def __get__(self, instance: object, cls: type) -> object:
        from inspect import Signature, signature

        whole = signature(_init_of(cls, frozen=False))
        return Signature(list(whole.parameters.values())[1:])


def _init_of(cls: type, *, frozen: bool) -> Callable[..., None]:
    known: dict[str, Any] = {"_set": _set, "_no": MISSING}
    given, body = ["self"], []
    for one in fields(cls):
        name = value = one.name
        default = ""
        if one.default_factory is not MISSING:
            known[f"_new_{name}"], default = one.default_factory, "=_no"
            value = f"_new_{name}() if {name} is _no else {name}" if one.init else f"_new_{name}()"
        elif one.default is not MISSING:
            known[f"_is_{name}"], default = one.default, f"=_is_{name}"
            value = name if one.init else f"_is_{name}"
        elif not one.init:
            continue
        if one.init:
            given.append(name + default)
        body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    # It holds names of fields and nothing from outside.
    exec(f"def __init__({', '.join(given)}):\n " + "\n ".join(body or ["pass"]), known)  # noqa: S102
    found: Callable[..., None] = known["__init__"]
    found.__qualname__, found.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    found.__annotations__ = {one.name: one.type for one in fields(cls) if one.init} | {"return": None}
    return found


def _with_slots(cls: type, *, frozen: bool) -> type:
    """Make the class anew: slots are given to a class when it is made."""
    held = dict(vars(cls))
    above = {name for base in cls.__mro__[1:-1] for name in vars(base).get("__slots__", ())}
    names = [one.name for one in fields(cls)]
    for name in (*names, "__dict__", "__weakref__"):
        held.pop(name, None)
    held["__slots__"] = tuple(name for name in names if name not in above)
    if frozen:
        held = {"__getstate__": _state, "__setstate__": _set_state} | held
    found: type = type(cls)(cls.__name__, cls.__bases__, held)
    found.__qualname__ = cls.__qualname__
    return found


@recursive_repr()
def _repr(self: "DataclassInstance") -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _compared(self: "DataclassInstance") -> tuple[object, ...]:
    return tuple([getattr(self, one.name) for one in fields(self) if one.compare])


def _eq(self: "DataclassInstance", other: object) -> bool:
    return _compared(self) == _compared(other) if type(other) is type(self) else NotImplemented


def _hash(self: "DataclassInstance") -> int:
    return hash(_compared(self))


def _refuse_to_set(_: "DataclassInstance", name: str, __: object) -> NoReturn:
    msg = f"cannot assign to field {name!r}"
    raise FrozenInstanceError(msg)


def _refuse_to_delete(_: "DataclassInstance", name: str) -> NoReturn:
    msg = f"cannot delete field {name!r}"
    raise FrozenInstanceError(msg)


def _state(self: "DataclassInstance") -> list[object]:
    return [getattr(self, one.name) for one in fields(self)]


def _set_state(self: "DataclassInstance", state: list[object]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        _set(self, one.name, value)


if not TYPE_CHECKING:
    dataclass = _dataclass
