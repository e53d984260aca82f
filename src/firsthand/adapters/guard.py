"""What stands between a framework and a fault of Firsthand's: it is told, and the framework goes on.

A fault is told once: to the logger ``firsthand``, in `Guard.faults`, and by `firsthand doctor`. After a fault that
took long nothing is asked for a while. It does not know what is asked.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from firsthand import FirsthandError, Memory, environment
from firsthand.agents.faults import Fault, keep_fault
from firsthand.moment import now

SLOW_S, RESTS = 0.5, 10
"""After a fault that took longer nothing is asked for ten times as long: a store that is gone slows by a tenth."""
_LOG = logging.getLogger("firsthand")
_T = TypeVar("_T")


class Guard:
    """What a framework calls, and where no fault of Firsthand's raises.

    Attributes:
        faults: what went wrong so far, each once, in sentences.
        failed, failures: what went wrong last, and how often something did.
    """

    store: Memory | str | os.PathLike[str] | None
    namespace: str
    name: Any
    theirs: tuple[type[Exception], ...] = ()
    """What is the framework's or its program's own mistake, and is raised."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.failed, self.failures = "", 0
        self._lock = threading.RLock()
        self._is_untold, self._rests_until = False, 0.0

    def _safely(self, where: str, part: Callable[[], _T], otherwise: _T, *, rests: bool = True) -> _T:
        """Do a part; whatever it raises is told, and the framework goes on.

        Args:
            rests: it asks the store itself, and is left out while that one is left alone.
        """
        with self._lock:
            begun = time.monotonic()
            if rests and begun < self._rests_until:
                self.failed = self.faults[-1]
                return otherwise
            try:
                return part()
            except self.theirs:
                raise
            except Exception as error:  # noqa: BLE001 - the framework's run must not end by our fault, whatever it is
                self.failures += 1
                took = time.monotonic() - begun
                if rests:
                    self._rests_until = begun + RESTS * took if took > SLOW_S else 0.0
                self._tell(where, error)
                return otherwise

    def _tell(self, where: str, error: Exception | str) -> None:
        """Say a fault where it is looked for: in the program's log, to the model, and by `doctor`."""
        self.failed = text = f"{where}: {error if isinstance(error, str) else f'{type(error).__name__}: {error}'}"
        if not self._log(text):
            return
        self._is_untold = True
        try:
            if folder := self._folder():
                keep_fault(folder, Fault(where, text, self.name, now(), self.namespace))
        except (FirsthandError, OSError, TypeError, ValueError) as worse:
            self._log(f"this fault could not be kept: {worse}")

    def _folder(self) -> Path | None:
        """Give the folder of the store; None where none is to be made."""
        if isinstance(self.store, Memory):
            return self.store.path
        store = environment.default_store() if self.store is None else self.store
        is_address = isinstance(store, str) and environment.is_address(store)
        return environment.store_folder(str(store)) if is_address else Path(store)

    def _log(self, text: str) -> bool:
        """Log a fault, and say whether it is new."""
        if text in self.faults:
            return False
        self.faults.append(text)
        _LOG.warning("the memory of session %s: %s", self.name, text)
        return True
