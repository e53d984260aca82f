"""Assertions about a memory of one's own, for its tests: correctable, lossless, never wrong in silence.

They ask the memory what `firsthand_evals.reclaim` asks it, in seconds, without a model
and without a network, and when one does not hold, they say on which session, what was
carried, what is missing and what to do. They raise ``AssertionError``, so any test runner
will do; pytest also has the fixture ``reclaim`` (`firsthand_evals.testing.plugin`).

Each name is imported when it is first asked for: every pytest run of everybody who has
Firsthand installed imports this module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firsthand_evals.testing.asserting import (
        Reclaim,
        assert_correctable,
        assert_lossless,
        assert_no_silent_partial,
        assert_probe,
    )  # fmt: skip

__all__ = ["Reclaim", "assert_correctable", "assert_lossless", "assert_no_silent_partial", "assert_probe"]


def __getattr__(name: str) -> object:
    """Import a name where it is at home (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"{__name__}.asserting"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return __all__
