"""The preview window of a large payload: what stands for it where its text is shown (total-recall 3.1, 9.3).

    the first lines, about 1,000 characters
    [... 1,204 lines, 88,412 bytes left out ...]
    1215: ERROR could not open /srv/data/a.db
    [... 311 lines, 20,110 bytes left out ...]
    the last lines, about 1,000 characters

Between head and tail stand the lines that carry errors, then those with paths
and numbers, each after its line number. The invariant: at most 6,000 bytes of
valid UTF-8, made in one pass with memory that does not grow with the payload;
what is left out is counted exactly. A payload of up to 6,000 bytes of text is its
own preview. What is no text is described in one line.

Pure. It knows words that errors use, not what a line means: a preview helps to
recognise a payload, and nothing is decided by it. Where a line is longer than
64 KiB, a word that lies across such a border is not seen.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

from firsthand.value import value

PREVIEW_BYTES_MAX = 6_000
EDGE_CHARACTERS_MAX = 1_000  # of head and of tail
EDGE_BYTES_MAX = 1_500  # the same for scripts of two to four bytes a character
MIDDLE_BYTES_MAX = 2_300  # lines, line numbers and gap marks together
LINE_SHOWN_BYTES_MAX = 240
ERRORS_KEPT_MAX = 12  # first ones, and as many last ones
OTHERS_KEPT_MAX = 24
ALIKE_MAX = 3  # of them with the same shape
ERRORS_READ_MAX = 100  # in one block; a payload of nothing but errors costs no more than others
BLOCK_BYTES = 1024 * 1024
CARRY_BYTES_MAX = 65_536
SNIFFED_BYTES = 4_096
_STRIDE_BYTES = 4_096
_MARK_BYTES = 64  # most bytes of one gap mark and one line number

_ERRORS = (
    b"error", b"exception", b"traceback", b"fail", b"fatal", b"panic", b"denied", b"refused", b"not found",
    b"no such", b"cannot ", b"unable to", b"undefined", b"timed out", b"timeout", b"killed", b"segmentation", b"abort",
)  # fmt: skip
# Every repetition is bounded: a megabyte without a space must not make the search quadratic.
_OTHERS = re.compile(
    rb"(?:\b[\w.@~-]{1,64})?/[\w.@~-]{1,64}/[\w.@-]|\b[A-Za-z]:\\\w|\b\w{1,64}\.\w{1,5}:\d|\b\d[\d.,]{0,30}\d\b|\b[0-9a-f]{7,40}\b"
)
_DIGITS = re.compile(rb"\d+")
_CONTROL = bytes(b for b in range(32) if b not in b"\t\n\r\f\b\x1b")
_MEDIA = (
    (b"\x89PNG", "PNG image"), (b"\xff\xd8\xff", "JPEG image"), (b"GIF8", "GIF image"), (b"%PDF", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"), (b"\x1f\x8b", "gzip data"), (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"BZh", "bzip2 data"), (b"\xfd7zXZ", "xz data"), (b"\x7fELF", "ELF program"),
    (b"SQLite format 3", "SQLite database"), (b"RIFF", "RIFF media"),
    (b"OggS", "Ogg media"), (b"ID3", "MP3 sound"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"), (b"\xca\xfe\xba\xbe", "Java class or Mach-O program"),
    (b"\0asm", "WebAssembly module"),
)  # fmt: skip


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
        self._early: list[_Passage] = []
        self._late: deque[_Passage] = deque(maxlen=ERRORS_KEPT_MAX)
        self._shapes: set[bytes] = set()  # of the early errors
        self._late_shapes: deque[bytes] = deque(maxlen=ERRORS_KEPT_MAX)
        self._others: list[_Passage] = []
        self._stride = _STRIDE_BYTES
        self._next_other = 0

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the payload."""
        self._size += len(piece)
        missing = PREVIEW_BYTES_MAX + SNIFFED_BYTES - len(self._first)
        if missing > 0:
            self._first += piece[:missing]
        self._last = (self._last + piece[-EDGE_BYTES_MAX:])[-EDGE_BYTES_MAX:]
        for at in range(0, len(piece), BLOCK_BYTES):
            self._waiting += piece[at : at + BLOCK_BYTES]
            if len(self._waiting) >= BLOCK_BYTES:
                self._scan_waiting()

    def finish(self) -> bytes:
        """Return the preview window, UTF-8."""
        first = bytes(self._first)
        if _is_binary(first[:SNIFFED_BYTES]):
            return _described(first, self._size)
        if self._size <= PREVIEW_BYTES_MAX:
            shown = _utf8(first)
            if len(shown) <= PREVIEW_BYTES_MAX:  # each byte that is not UTF-8 becomes three
                return shown
        self._scan(bytes(self._waiting))
        head, tail = self._head(first), self._tail()
        chosen = self._chosen(head.end, tail.start)
        shown = _laid_out(head, chosen, tail)
        assert len(shown) <= PREVIEW_BYTES_MAX, "the shares of head, middle and tail leave room for the marks"
        return shown

    # scanning ------------------------------------------------------------------------------------

    def _scan_waiting(self) -> None:
        """Scan up to the last line end; what follows it waits for the rest of its line."""
        data = bytes(self._waiting)
        cut = data.rfind(b"\n", len(data) - CARRY_BYTES_MAX) + 1 or len(data)
        del self._waiting[:cut]
        self._scan(data[:cut])

    def _scan(self, block: bytes) -> None:
        self._find_errors(block)
        self._find_others(block)
        self._scanned += len(block)
        self._newlines += block.count(b"\n")

    def _find_errors(self, block: bytes) -> None:
        lowered = block.lower()
        hits = {word: lowered.find(word) for word in _ERRORS}
        at = newlines = 0
        for _ in range(ERRORS_READ_MAX):
            hits = {word: hit if hit >= at else lowered.find(word, at) for word, hit in hits.items() if hit >= 0}
            found = min((hit for hit in hits.values() if hit >= 0), default=-1)
            if found < 0:
                return
            newlines += block.count(b"\n", at, found)
            at = block.find(b"\n", found) + 1 or len(block)
            self._keep_error(_passage(block, found, self._scanned, self._newlines + newlines))
            newlines += block.count(b"\n", found, at)

    def _keep_error(self, passage: _Passage) -> None:
        shape = _shape(passage.text)
        if shape in self._shapes or shape in self._late_shapes:
            return
        if len(self._early) < ERRORS_KEPT_MAX:
            self._early.append(passage)
            self._shapes.add(shape)
        else:
            self._late.append(passage)
            self._late_shapes.append(shape)

    def _find_others(self, block: bytes) -> None:
        """Keep a line with a path or a number now and then, evenly over what came so far."""
        at = newlines = 0
        while True:
            start = max(at, self._next_other - self._scanned)
            found = _OTHERS.search(block, start, start + _STRIDE_BYTES) if start < len(block) else None
            if start >= len(block):
                return
            stop = found.start() if found else min(start + _STRIDE_BYTES, len(block))
            newlines += block.count(b"\n", at, stop)
            at = stop
            if found is not None:
                self._others.append(_passage(block, stop, self._scanned, self._newlines + newlines))
            if len(self._others) > OTHERS_KEPT_MAX:
                self._others = self._others[::2]
                self._stride *= 2
            # Where nothing was found, all of the first block is searched; later only samples, to be quick.
            sampled = found is not None or self._scanned > 0
            self._next_other = self._scanned + stop + (self._stride if sampled else 0)

    # laying out ----------------------------------------------------------------------------------

    def _head(self, first: bytes) -> _Passage:
        text = _without_partial_end(first[:EDGE_BYTES_MAX])
        text = _at_most(text, slice(EDGE_CHARACTERS_MAX))
        if len(_utf8(text)) > EDGE_BYTES_MAX:  # bytes that are not UTF-8 show as three
            text = _without_partial_end(text[: EDGE_BYTES_MAX // 3])
        cut = text.rfind(b"\n", len(text) // 2) + 1 or len(text)
        return _Passage(0, cut, 1, text.count(b"\n", 0, cut), text[:cut])

    def _tail(self) -> _Passage:
        text = _at_most(_without_partial_start(self._last), slice(-EDGE_CHARACTERS_MAX, None))
        if len(_utf8(text)) > EDGE_BYTES_MAX:
            text = _without_partial_start(text[-(EDGE_BYTES_MAX // 3) :])
        text = text[text.find(b"\n", 0, len(text) // 2) + 1 :]
        newlines = text.count(b"\n")
        return _Passage(self._size - len(text), self._size, self._newlines - newlines + 1, newlines, text)

    def _chosen(self, start: int, end: int) -> list[_Passage]:
        """Choose what stands between head and tail: errors first, as many as the budget holds, in order of place."""
        left = MIDDLE_BYTES_MAX
        chosen: list[_Passage] = []
        late = list(self._late)
        errors = [passage for pair in zip(self._early, late[::-1], strict=False) for passage in pair]
        errors += [passage for passage in self._early if passage not in errors]
        for passage in errors + _unlike(self._others):
            cost = len(_utf8(passage.text)) + _MARK_BYTES
            apart = all(passage.end <= other.start or other.end <= passage.start for other in chosen)
            if start <= passage.start and passage.end <= end and apart and cost <= left:
                chosen.append(passage)
                left -= cost
        return sorted(chosen, key=lambda passage: passage.start)


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


def _shape(text: bytes) -> bytes:
    """What lines that differ only in numbers have in common."""
    return _DIGITS.sub(b"0", text.strip())


def _unlike(passages: list[_Passage]) -> list[_Passage]:
    """Keep a few of each shape: a log of one shape says no more with twenty samples of it."""
    seen: dict[bytes, int] = {}
    kept: list[_Passage] = []
    for passage in passages:
        shape = _shape(passage.text)
        seen[shape] = seen.get(shape, 0) + 1
        if seen[shape] <= ALIKE_MAX:
            kept.append(passage)
    return kept


def _is_binary(sample: bytes) -> bool:
    if b"\0" in sample or sample.startswith((b"\xff\xfe", b"\xfe\xff", b"%PDF")):
        return True
    controls = len(sample) - len(sample.translate(None, _CONTROL))
    return controls * 10 > len(sample)


def _described(first: bytes, size: int) -> bytes:
    media = next((name for magic, name in _MEDIA if first.startswith(magic)), "binary data")
    return f"[{media}, {size:,} bytes, begins {first[:16].hex(' ')}]".encode()


def _utf8(data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode()


def _without_partial_start(data: bytes) -> bytes:
    """Take off what a cut left of a character at the beginning."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]


def _without_partial_end(data: bytes) -> bytes:
    """Take off what a cut left of a character at the end."""
    for back in range(1, min(4, len(data)) + 1):
        lead = data[-back]
        if lead & 0xC0 != 0x80:
            needed = 4 if lead >= 0xF0 else 3 if lead >= 0xE0 else 2 if lead >= 0xC0 else 1
            return data[:-back] if needed > back else data
    return data


def _at_most(data: bytes, characters: slice) -> bytes:
    """Cut to so many characters; bytes that are no UTF-8 count as one each."""
    return data.decode("utf-8", "surrogateescape")[characters].encode("utf-8", "surrogateescape")
