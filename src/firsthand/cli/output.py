"""Where a command's words go: answers to standard output, remarks and progress to standard error.

The invariant: what is piped is plain (no colour, no cutting to a width, no
progress), and nothing but the answer goes to standard output. Lines are escaped
by whoever composes them (`display.shown`); bytes are written as they are.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, BinaryIO, TypeVar

from firsthand.cli.display import cut, table
from firsthand.cli.exits import DONE, NOTHING_FOUND
from firsthand.environment import plain_output
from firsthand.event import Event
from firsthand.json_codec import to_json

_STYLES = {"strong": "1", "faint": "2", "good": "32", "warn": "33", "bad": "31", "mark": "1;33", "name": "36"}
_PROGRESS_SECONDS = 0.1
T = TypeVar("T")


def _width() -> int:
    import shutil  # it brings every kind of compression

    return shutil.get_terminal_size().columns


def of_event(event: Event) -> dict[str, Any]:
    """Give an event as JSON, without its content."""
    whole: dict[str, Any] = to_json(event)
    for name in ("content", "envelope", "artifact", "commitment", "chain", "unchecked"):
        whole.pop(name)
    artifact = None if event.artifact is None else event.artifact.digest.hex()
    return whole | {"artifact": artifact, "chain": event.chain.hex()}


class Output:
    """The output of one command."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json, self.quiet = as_json, quiet
        self.terminal = sys.stdout.isatty()
        self.remarks_terminal = sys.stderr.isatty()
        self.colour = self.terminal and not plain_output()
        self.width = _width() if self.terminal else 0
        self._progress_at = 0.0
        self._progress_open = False

    # answers ---------------------------------------------------------------------------------------

    @property
    def binary(self) -> BinaryIO:
        """Standard output for exact bytes; what was said before it stands before it."""
        sys.stdout.flush()
        return sys.stdout.buffer

    def line(self, text: str = "") -> None:
        """Say a line of the answer."""
        self._end_progress()
        self._write(text + "\n")

    def table(self, rows: Sequence[Sequence[str]], right: Iterable[int] = (), *, whole: bool = False) -> None:
        """Say rows with aligned columns, the first as their head; a terminal gets them cut to its width.

        Args:
            right: numbers of the columns that are aligned to the right.
            whole: do not cut, since a name at the end is there to be typed.
        """
        for number, line in enumerate(table(rows, right=frozenset(right))):
            text = line if whole else cut(line, self.width)
            self.line(self.style(text, "faint") if number == 0 else text)

    def json(self, value: Any) -> None:
        """Give the answer as one line of JSON, all ASCII, as `to_json` gives it."""
        self._end_progress()
        self._write(json.dumps(to_json(value)) + "\n")

    def each(self, things: Iterable[T], line: Callable[[T], str], nothing: str = "") -> int:
        """Say things, each as a line or as JSON; give the exit code, by whether there were any.

        Args:
            nothing: the remark when there was none.
        """
        done = NOTHING_FOUND
        for thing in things:
            done = DONE
            self.json(thing) if self.as_json else self.line(line(thing))
        if done != DONE and nothing:
            self.remark(nothing)
        return done

    def style(self, text: str, name: str) -> str:
        """Colour a text where colour is wanted; ``name`` is a key of the styles."""
        return f"\x1b[{_STYLES[name]}m{text}\x1b[0m" if self.colour and text else text

    def flush(self) -> None:
        """Hand on what is buffered, so that a closed pipe is noticed while it can be answered."""
        self._end_progress()
        sys.stdout.flush()

    def _write(self, text: str) -> None:
        # A terminal that is not UTF-8 shows what it cannot as escapes, instead of an error in mid-answer.
        # All goes straight to the buffer, so that answers and exact bytes keep their order.
        sys.stdout.buffer.write(text.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))

    # remarks ---------------------------------------------------------------------------------------

    def remark(self, text: str) -> None:
        """Say something beside the answer, on standard error; not with ``--quiet``."""
        if not self.quiet:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Say something on standard error that must be seen."""
        self._end_progress()
        sys.stdout.flush()
        sys.stderr.write(text.encode("utf-8", "backslashreplace").decode() + "\n")
        sys.stderr.flush()

    def progress(self, text: Callable[[], str], *, last: bool = False) -> None:
        """Show how far a long work is, on a terminal only; ten times a second at most."""
        if not self.remarks_terminal or self.quiet or self.as_json:
            return
        now = time.monotonic()
        if now - self._progress_at < _PROGRESS_SECONDS and not last:
            return
        self._progress_at, self._progress_open = now, True
        width = _width()
        sys.stderr.write("\r\x1b[K" + cut(text(), width - 1))
        sys.stderr.flush()

    def _end_progress(self) -> None:
        if self._progress_open:
            self._progress_open = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
