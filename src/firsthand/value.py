"""Values: classes of named fields that cost a fresh process next to nothing until they are used.

`value` does for this project what ``dataclass(frozen=True, slots=True)`` does, with
the same behaviour, and is read by type checkers in the same way. It differs in when
it works: a class gets its ``__init__`` written and compiled when its first instance
is made, and neither `dataclasses` nor `inspect` is imported. Most processes make
instances of a few of the classes that they import; a hook's process, of a handful.

The invariant: what a reader of the class sees is what a dataclass would show, to
the functions of the standard library too (``dataclasses.replace``, ``asdict``,
``fields``, ``inspect.signature``); a repr alone differs, since it fits a line. Fields
are positional, in the order written; no value is derived from another one.

This module knows none of the values. Decision: docs/decisions/0008-values.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, cast, dataclass_transform

T = TypeVar("T")

REPR_CHARACTERS_MAX = 120
ADDRESS_CHARACTERS = 33  # a pointer, quoted
_DEFAULTS = "__value_defaults__"


class _Factory:
    """Stands in the place of a default that is made anew for each instance."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def field(*, default_factory: Callable[[], T]) -> T:
    """Declare a field whose default is made anew for each instance."""
    return cast("T", _Factory(default_factory))  # type checkers are told of the field's own type


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: Any = None, /, *, frozen: bool = True, order: bool = False, eq: bool = True) -> Any:
    """Make a class of the fields that are annotated in it, in slots.

    Args:
        frozen: assigning to a field raises `AttributeError`, and equal values have equal hashes.
        order: compare as the tuple of the fields does.
        eq: equal when of the same class with equal fields; else by identity.

    Raises:
        TypeError: a default could be changed through one instance for all; use `field`.
    """
    if cls is None:
        return lambda decorated: _made(decorated, frozen=frozen, order=order, eq=eq)
    return _made(cls, frozen=frozen, order=order, eq=eq)


def replace(instance: T, /, **changes: Any) -> T:
    """Make a value like another one, but for the fields that are named.

    Raises:
        TypeError: there is no field of that name.
    """
    cls: Any = type(instance)
    values, places = _places(cls)
    arguments = list(values(instance))
    for name, changed in changes.items():
        if name not in places:
            raise TypeError(f"{cls.__qualname__} has no field {name!r}")
        arguments[places[name]] = changed
    changed_instance: T = cls(*arguments)
    return changed_instance


@cache
def _places(cls: Any) -> tuple[Callable[[Any], tuple[Any, ...]], dict[str, int]]:
    """Give the function that reads the fields of a class, and where each stands among them."""
    names = fields(cls)
    return _key(names), {name: place for place, name in enumerate(names)}


def fields(cls: Any) -> tuple[str, ...]:
    """Name the fields of a class of values, or of one of them, in order."""
    names: tuple[str, ...] = cls.__match_args__
    return names


def asdict(instance: Any) -> dict[str, Any]:
    """Take a value apart, and the values inside it, into dictionaries by field."""
    return {name: _taken_apart(getattr(instance, name)) for name in fields(instance)}


def _taken_apart(thing: Any) -> Any:
    if hasattr(type(thing), _DEFAULTS):
        return asdict(thing)
    if type(thing) in {list, tuple}:
        return type(thing)(_taken_apart(member) for member in thing)
    if isinstance(thing, dict):
        return {key: _taken_apart(member) for key, member in thing.items()}
    return thing


# making a class ------------------------------------------------------------------------------------


class _Late:
    """An attribute of a class that is worked out when it is asked for."""

    def __init__(self, work_out: Callable[[Any], Any]) -> None:
        self._work_out = work_out

    def __get__(self, instance: object, owner: Any) -> Any:
        return self._work_out(owner)


def _made(cls: Any, *, frozen: bool, order: bool, eq: bool) -> Any:
    """Make the class again, with slots: a class that exists cannot be given them."""
    written = cls.__dict__
    names = tuple(written.get("__annotations__", ()))
    defaults = {name: written[name] for name in names if name in written}
    for name, default in defaults.items():
        if type(default).__hash__ is None:
            raise TypeError(f"{cls.__qualname__}.{name}: all instances would share {default!r}; use field()")
    gone = {"__dict__", "__weakref__", *names}
    key = _key(names)
    ours: dict[str, Any] = {
        "__qualname__": cls.__qualname__,
        "__slots__": names,
        "__match_args__": names,
        _DEFAULTS: defaults,
        "__repr__": _repr,
        "__reduce__": lambda self: (type(self), key(self)),
        "__replace__": replace,  # what copy.replace of Python 3.13 looks for
        "__dataclass_fields__": _Late(lambda owner: _as_dataclass(owner).__dataclass_fields__),
        "__signature__": _Late(_signature),
    }
    ours |= _comparisons(key, order=order, hashed=frozen) if eq else {}
    ours |= {"__setattr__": _refuse, "__delattr__": _refuse} if frozen else {}
    # what the class says itself goes before what is made for it
    made: Any = type(cls)(cls.__name__, cls.__bases__, ours | {k: v for k, v in written.items() if k not in gone})

    def first_init(self: object, *arguments: Any, **named: Any) -> None:
        made.__init__ = _init_of(made)
        made.__init__(self, *arguments, **named)

    made.__init__ = first_init
    return made


def _init_of(cls: Any) -> Any:
    """Write and compile the ``__init__`` of a class.

    Slots are set by their own descriptors: half the time of ``object.__setattr__``,
    and a frozen class's own ``__setattr__`` does not see it.
    """
    defaults: Mapping[str, Any] = getattr(cls, _DEFAULTS)
    known: dict[str, Any] = {"_made_anew": _Factory}
    parameters, lines = ["self"], []
    for number, name in enumerate(fields(cls)):
        known[f"_set_{number}"] = getattr(cls, name).__set__
        value = name
        if name not in defaults:
            parameters.append(name)
        else:
            known[f"_default_{number}"] = default = defaults[name]
            parameters.append(f"{name}=_default_{number}")
            if isinstance(default, _Factory):
                value = f"{name} if {name} is not _default_{number} else _default_{number}.make()"
        lines.append(f"_set_{number}(self, {value})")
    lines += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"]), known)  # noqa: S102 - names of fields only
    init = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _key(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Give the function that reads a value's fields as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)  # attrgetter gives one field bare


def _comparisons(key: Callable[[Any], tuple[Any, ...]], *, order: bool, hashed: bool) -> dict[str, Any]:
    def equal(self: Any, other: Any) -> bool:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def less(self: Any, other: Any) -> bool:
        return key(self) < key(other) if other.__class__ is self.__class__ else NotImplemented

    def less_or_equal(self: Any, other: Any) -> bool:
        return key(self) <= key(other) if other.__class__ is self.__class__ else NotImplemented

    # Python asks the other side for > and >=, which are < and <= turned round.
    ordering = {"__lt__": less, "__le__": less_or_equal} if order else {}
    return {"__eq__": equal, "__hash__": (lambda self: hash(key(self))) if hashed else None, **ordering}


def _repr(self: Any) -> str:
    """Write a value on a line, without the fields that have their default."""
    named = {name: getattr(self, name) for name in fields(self)}
    for name, default in getattr(type(self), _DEFAULTS).items():
        usual = default.make() if isinstance(default, _Factory) else default
        if type(named[name]) is type(usual) and named[name] == usual:
            del named[name]
    return short_repr(type(self).__name__, named)


def short_repr(name: str, named: Mapping[str, Any]) -> str:
    """Write fields of a value as a repr of at most 120 characters; where they are longer, each is cut to one length."""
    parts = {key: _start_of(content) for key, content in named.items()}
    for characters_max in (REPR_CHARACTERS_MAX, ADDRESS_CHARACTERS, 16, 8):
        text = f"{name}({', '.join(f'{key}={cut(part, characters_max)}' for key, part in parts.items())})"
        if len(text) <= REPR_CHARACTERS_MAX:
            return text
    return f"{cut(text, REPR_CHARACTERS_MAX - 1)})"


def cut(text: str, characters_max: int) -> str:
    """Shorten a text to a number of characters, with dots in the place of what is cut off."""
    return text if len(text) <= characters_max else f"{text[: characters_max - 3]}..."


def _start_of(content: Any) -> str:
    """Write the beginning of a field: of a payload, the rest is not looked at."""
    if isinstance(content, Enum):
        return str(content)
    return repr(content[:REPR_CHARACTERS_MAX] if isinstance(content, (str, bytes)) else content)


def _refuse(self: object, name: str, _: object = None) -> None:
    raise AttributeError(f"{type(self).__qualname__} is a value: make another one with replace(), {name!r} stays")


# for the standard library ---------------------------------------------------------------------------


@cache
def _as_dataclass(cls: Any) -> Any:
    """Make the dataclass with the same fields, for those who ask a value what a dataclass is asked."""
    import dataclasses

    defaults: Mapping[str, Any] = getattr(cls, _DEFAULTS)
    lines = []
    for name in fields(cls):
        options: dict[str, Any] = {}
        if name in defaults:
            default = defaults[name]
            made_anew = isinstance(default, _Factory)
            options = {"default_factory": default.make} if made_anew else {"default": default}
        lines.append((name, cls.__annotations__[name], dataclasses.field(**options)))
    return dataclasses.make_dataclass(cls.__name__, lines)


def _signature(cls: Any) -> Any:
    import inspect

    return inspect.signature(_as_dataclass(cls))
