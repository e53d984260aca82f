"""Plants a fault of a list in the code that runs, and takes it out again."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from importlib import import_module
from types import CodeType

from firsthand_evals.faults import Fault, faults


def of(experiment: str) -> list[Fault]:
    """Give the faults of an experiment."""
    return [fault for fault in faults() if fault.experiment == experiment]


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    """Break the function of a fault, wherever it was imported to."""
    module, _, path = fault.at.partition(":")
    there = reduce(getattr, path.split("."), import_module(module))
    function = inspect.unwrap(getattr(there, "fget", there))
    before, source = function.__code__, inspect.getsource(function)
    assert source.count(fault.was) == 1, f"{fault.at} has {fault.was!r} {source.count(fault.was)} times"
    whole = inspect.getsource(import_module(module)).replace(source, source.replace(fault.was, fault.becomes))
    _forget()
    function.__code__ = _code(compile(whole, f"<{fault.breaks}>", "exec"), before.co_qualname)
    try:
        yield
    finally:
        function.__code__ = before
        _forget()


def _code(within: CodeType, name: str) -> CodeType:
    """Find the code of a function by its qualified name."""
    parts = [part for part in within.co_consts if isinstance(part, CodeType)]
    named = [part for part in parts if part.co_qualname == name]
    return named[0] if named else next(_code(part, name) for part in parts if name.startswith(f"{part.co_qualname}."))


def _forget() -> None:
    """Empty what functions remember of earlier calls."""
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0].startswith("firsthand")]
    for thing in [thing for module in modules for thing in vars(module).values() if hasattr(thing, "cache_clear")]:
        thing.cache_clear()
