"""The preview window of a large payload: what stands for it where its text is shown (total-recall 3.1, 9.3).

    the first lines, about 1,500 bytes
    [... 1,204 lines, 88,412 bytes left out ...]
    1215: ERROR could not open /srv/data/a.db
    [... 311 lines, 20,110 bytes left out ...]
    the last lines, about 1,500 bytes

Between head and tail stand the first lines that carry errors, each after its line number.
The invariant: at most 6,000 bytes of valid UTF-8, made in one pass with memory that does
not grow with the payload; what is left out is counted exactly. A payload of up to 6,000
bytes of text is its own preview. What is no text is described in one line.

Pure. It knows words that programs print with errors, not what a line means: a preview
helps to recognise a payload, and nothing is decided by it. Where a line is longer than
64 KiB, a word that lies across such a border is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from firsthand.value import value

PREVIEW_BYTES_MAX = 6_000
EDGE_BYTES_MAX = 1_500  # of head and of tail
MIDDLE_BYTES_MAX = 2_300  # lines, line numbers and gap marks together
LINE_SHOWN_BYTES_MAX = 240
ERRORS_KEPT_MAX = 24
ERRORS_READ_MAX = 100  # in one block; a payload of nothing but errors costs no more than others
BLOCK_BYTES = 1024 * 1024
CARRY_BYTES_MAX = 65_536
SNIFFED_BYTES = 4_096
_MARK_BYTES = 64  # most bytes of one gap mark and one line number

_ERRORS = (
    b"error", b"exception", b"traceback", b"fail", b"fatal", b"panic", b"denied", b"refused", b"not found",
    b"no such", b"cannot ", b"undefined", b"timeout", b"killed", b"abort",
)  # fmt: skip
_DIGITS = re.compile(rb"\d+")
_CONTROL = bytes(b for b in range(32) if b not in b"\t\n\r\f\b\x1b")


def preview(pieces: Iterable[bytes]) -> bytes:
    """Make the preview window of a payload that comes in pieces of any size."""
    previewer = Previewer()
    for piece in pieces:
        previewer.feed(piece)
    return previewer.finish()


@value
class _Passage:
    """A passage of the payload that may be shown.

    Attributes:
        start, end: its place in the payload, in bytes.
        line: the number of its line, from 1.
        newlines: how many lines end in it.
    """

    start: int
    end: int
    line: int
    newlines: int
    text: bytes


class Previewer:
    """Makes a preview window piece by piece: `feed` in order, then `finish` once."""

    def __init__(self) -> None:
        self._first = bytearray()  # the payload's beginning; all of it while it is short
        self._last = b""
        self._size = 0
        self._waiting = bytearray()  # fed, not yet scanned
        self._scanned = 0  # bytes before the waiting ones
        self._newlines = 0  # in those bytes
        self._errors: dict[bytes, _Passage] = {}  # by shape

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the payload."""
        self._size += len(piece)
        missing = PREVIEW_BYTES_MAX + SNIFFED_BYTES - len(self._first)
        if missing > 0:
            self._first += piece[:missing]
        self._last = (self._last + piece[-EDGE_BYTES_MAX:])[-EDGE_BYTES_MAX:]
        for at in range(0, len(piece), BLOCK_BYTES):
            self._waiting += piece[at : at + BLOCK_BYTES]
            if (
                len(self._waiting) >= BLOCK_BYTES
            ):  # up to the last line end; what follows waits for the rest of its line
                cut = self._waiting.rfind(b"\n", len(self._waiting) - CARRY_BYTES_MAX) + 1 or len(self._waiting)
                self._scan(bytes(self._waiting[:cut]))
                del self._waiting[:cut]

    def finish(self) -> bytes:
        """Return the preview window, UTF-8."""
        first = bytes(self._first)
        if _is_binary(first[:SNIFFED_BYTES]):
            return f"[binary data, {self._size:,} bytes, begins {first[:16].hex(' ')}]".encode()
        if self._size <= PREVIEW_BYTES_MAX:
            text = _utf8(first)
            if len(text) <= PREVIEW_BYTES_MAX:  # each byte that is not UTF-8 becomes three
                return text
        self._scan(bytes(self._waiting))
        head, tail = self._head(first), self._tail()
        text = _laid_out(head, self._chosen(head.end, tail.start), tail)
        assert len(text) <= PREVIEW_BYTES_MAX, "the shares of head, middle and tail leave room for the marks"
        return text

    def _scan(self, block: bytes) -> None:
        """Keep the lines with errors of a block."""
        lowered = block.lower()
        hits = {word: lowered.find(word) for word in _ERRORS}
        at = newlines = 0
        for _ in range(ERRORS_READ_MAX):
            hits = {word: hit if hit >= at else lowered.find(word, at) for word, hit in hits.items() if hit >= 0}
            place = min((hit for hit in hits.values() if hit >= 0), default=-1)
            if place < 0:
                break
            newlines += block.count(b"\n", at, place)
            at = block.find(b"\n", place) + 1 or len(block)
            self._keep(_passage(block, place, self._scanned, self._newlines + newlines))
            newlines += block.count(b"\n", place, at)
        self._scanned += len(block)
        self._newlines += block.count(b"\n")

    def _keep(self, passage: _Passage) -> None:
        shape = _DIGITS.sub(b"0", passage.text.strip())  # lines that differ only in numbers say the same
        if len(self._errors) < ERRORS_KEPT_MAX:
            self._errors.setdefault(shape, passage)

    def _head(self, first: bytes) -> _Passage:
        text = first[:EDGE_BYTES_MAX]
        ends = (text[: len(text) - back] for back in range(4))  # a cut may have left part of a character
        text = next(filter(_is_utf8, ends), text[: EDGE_BYTES_MAX // 3])
        cut = text.rfind(b"\n", len(text) // 2) + 1 or len(text)
        return _Passage(0, cut, 1, text.count(b"\n", 0, cut), text[:cut])

    def _tail(self) -> _Passage:
        starts = (self._last[start:] for start in range(4))
        text = next(filter(_is_utf8, starts), self._last[-(EDGE_BYTES_MAX // 3) :])
        text = text[text.find(b"\n", 0, len(text) // 2) + 1 :]
        newlines = text.count(b"\n")
        return _Passage(self._size - len(text), self._size, self._newlines - newlines + 1, newlines, text)

    def _chosen(self, start: int, end: int) -> list[_Passage]:
        """Choose what stands between head and tail, as much as the budget holds, in order of place."""
        left = MIDDLE_BYTES_MAX
        chosen: list[_Passage] = []
        for passage in self._errors.values():
            cost = len(_utf8(passage.text)) + _MARK_BYTES
            apart = all(passage.end <= other.start or other.end <= passage.start for other in chosen)
            if start <= passage.start and passage.end <= end and apart and cost <= left:
                chosen.append(passage)
                left -= cost
        return chosen


def _passage(block: bytes, at: int, offset: int, newlines: int) -> _Passage:
    """Cut out the line around a place, or the part of it around the place if it is long."""
    start = block.rfind(b"\n", max(0, at - CARRY_BYTES_MAX), at) + 1
    line_end = block.find(b"\n", at) + 1 or len(block)
    start = max(start, at - LINE_SHOWN_BYTES_MAX // 3)
    end = min(line_end, start + LINE_SHOWN_BYTES_MAX)
    while start < at and block[start] & 0xC0 == 0x80:
        start += 1
    while at < end < len(block) and block[end] & 0xC0 == 0x80:
        end -= 1
    text = block[start:end]
    return _Passage(offset + start, offset + end, newlines + 1, text.count(b"\n"), text)


def _laid_out(head: _Passage, chosen: list[_Passage], tail: _Passage) -> bytes:
    out = [_utf8(head.text)]
    before = head
    for passage in [*chosen, tail]:
        if passage.start > before.end:
            if not out[-1].endswith(b"\n"):
                out.append(b"\n")
            out.append(_gap(before, passage))
        if passage is not tail:
            out.append(f"{passage.line}: ".encode() + _utf8(passage.text))
            if not passage.text.endswith(b"\n"):
                out.append(b"\n")
        before = passage
    out.append(_utf8(tail.text))
    return b"".join(out)


def _gap(before: _Passage, after: _Passage) -> bytes:
    lines = after.line - before.line - before.newlines
    size = after.start - before.end
    counted = f"{lines:,} line{'s' if lines != 1 else ''}, " if lines > 0 else ""
    return f"[... {counted}{size:,} byte{'s' if size != 1 else ''} left out ...]\n".encode()


def _is_binary(sample: bytes) -> bool:
    if b"\0" in sample or sample.startswith((b"\xff\xfe", b"\xfe\xff", b"%PDF")):
        return True
    controls = len(sample) - len(sample.translate(None, _CONTROL))
    return controls * 10 > len(sample)


def _utf8(data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode()


def _is_utf8(data: bytes) -> bool:
    """Say whether bytes are whole characters."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
