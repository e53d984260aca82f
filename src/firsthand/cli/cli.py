"""The command line: arguments in, one command run, an exit code out.

The outermost frame here is the one place where an error becomes a sentence and an
exit code; nothing but a fault of Firsthand itself shows a traceback. What can be
typed is in `firsthand.cli.arguments`.
"""

from __future__ import annotations

import argparse
import errno
import gc
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from firsthand import FirsthandError, StoreBusy, StoreDamaged, Unresolvable
from firsthand.cli.arguments import Run, parser
from firsthand.cli.display import shown
from firsthand.cli.exits import DAMAGED, DONE, INTERRUPTED, NOTHING_FOUND, PIPE_CLOSED, REFUSED, STORE_FAILED
from firsthand.cli.output import Output
from firsthand.errors import StoreClosed, StoreFailed, StoreFull

GARBAGE_OBJECTS = 50_000
_DISK_FAULTS = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.EROFS}
_CODES: tuple[tuple[type[FirsthandError], int], ...] = (
    (StoreDamaged, DAMAGED),
    (StoreBusy, STORE_FAILED),
    (StoreFull, STORE_FAILED),
    (StoreFailed, STORE_FAILED),
    (StoreClosed, STORE_FAILED),
    (Unresolvable, NOTHING_FOUND),
    (FirsthandError, REFUSED),
)

Command = Callable[[argparse.Namespace, Output], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: without the program's name; None takes those of the process.

    Returns:
        The exit code: 0 done or found, 1 nothing found, 2 usage, 3 damaged, 4 the store is busy, full
        or failed, 5 refused.
    """
    _open_streams()
    if arguments is None:  # a process of our own: most are over before a search for garbage pays
        gc.set_threshold(GARBAGE_OBJECTS)
    try:
        words = sys.argv[1:] if arguments is None else [*arguments]
        chosen = parser(words).parse_args(words)
        return _run(chosen)
    except SystemExit as end:  # argparse has said what was wrong, or shown its help
        return end.code if isinstance(end.code, int) else DONE
    finally:
        if arguments is None:
            gc.freeze()  # what is left goes with the process: to look through it once more costs 30 ms


def _open_streams() -> None:
    """Give a process that was started without standard streams (``>&-``) empty ones."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - to the end


def _run(chosen: argparse.Namespace) -> int:
    out = Output(as_json=chosen.json, quiet=chosen.quiet)
    try:
        code = _command(chosen.command_at)(chosen, out)
        out.flush()
        return code
    except BrokenPipeError:
        # The reader has gone, which is its right; the interpreter must not find the pipe closed again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except KeyboardInterrupt:
        out.warn("interrupted; what was acknowledged is kept")
        return INTERRUPTED
    except FirsthandError as error:
        return _say(out, str(error), next(code for kind, code in _CODES if isinstance(error, kind)))
    except OSError as error:  # of a file that the user named; the store's own come as StoreError
        named = f"{error.filename}: " if error.filename else ""
        return _say(out, f"{named}{error.strerror}", STORE_FAILED if error.errno in _DISK_FAULTS else REFUSED)


def _command(run: Run) -> Command:
    """Give the function that a command runs."""
    if not isinstance(run, str):
        return run
    module, _, name = run.partition(":")
    function: Command = getattr(import_module(module if "." in module else f"firsthand.cli.{module}"), name)
    return function


def _say(out: Output, text: str, code: int) -> int:
    out.warn(f"firsthand: {shown(text)}")
    return code
