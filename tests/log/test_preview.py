"""The preview window of a large payload: bounded, valid, exact in what it counts."""

from __future__ import annotations

import re
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.log.preview import PREVIEW_BYTES_MAX, preview

MARK = re.compile(rb"\[\.\.\. (?:([\d,]+) lines?, )?([\d,]+) bytes? left out \.\.\.\]\n")
LINES = [b"step %d of the nightly job is done\n" % k for k in range(4000)]


def payload_with(**lines: bytes) -> bytes:
    """A log of 4,000 lines in which some are replaced: ``L200=b"..."``."""
    changed = {int(name[1:]) - 1: line for name, line in lines.items()}
    return b"".join(changed.get(k, line) for k, line in enumerate(LINES))


def number(text: bytes | None) -> int:
    return int((text or b"0").replace(b",", b""))


@given(st.lists(st.binary(max_size=4000) | st.text(max_size=3000).map(str.encode), max_size=12), st.integers(1, 9000))
def test_bounded_and_valid(pieces, repeat):
    """Any payload in any pieces gives at most 6,000 bytes of valid UTF-8."""
    shown = preview([*pieces, b"".join(pieces)[:2000] * (repeat % 40), *pieces])
    assert len(shown) <= PREVIEW_BYTES_MAX
    shown.decode("utf-8")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=30, max_size=300), st.integers(50, 5000))
def test_never_cuts_a_character(text, size):
    """A payload of valid UTF-8 gives a preview with no replacement character in it, wherever it is cut."""
    line = text.replace("\ufffd", "?").encode()
    payload = line * (20_000 // len(line))
    shown = preview(payload[at : at + size] for at in range(0, len(payload), size)).decode()
    assert "\ufffd" not in shown


@settings(max_examples=30)
@given(st.integers(100, 150_000))
def test_pieces_do_not_matter(size):
    """The preview depends on the payload, not on the pieces it came in."""
    payload = payload_with(L700=b"error: disk 4 is gone\n", L3100=b"wrote /srv/data/run/out.csv\n")
    assert preview(payload[at : at + size] for at in range(0, len(payload), size)) == preview([payload])


def test_short_payload_is_its_own_preview():
    """Text of up to 6,000 bytes is shown whole; one byte more is not."""
    text = ("é" * 3000).encode()
    assert preview([text]) == text
    assert MARK.search(preview([text + b"!"]))
    assert preview([]) == b""


def test_head_errors_tail():
    """Between head and tail stand the error lines with their numbers; each gap says exactly what is missing."""
    payload = payload_with(
        L1700=b"ERROR: could not open the archive\n",
        L1701=b"Traceback (most recent call last):\n",
        L2900=b"permission denied for user backup\n",
    )
    shown = preview([payload])
    assert shown.startswith(b"".join(LINES[:20]))
    assert shown.endswith(b"".join(LINES[-20:]))
    for line in (
        b"1700: ERROR: could not open the archive\n1701: Traceback (most recent call last):\n[...",
        b"]\n2900: permission denied for user backup\n[...",
    ):
        assert line in shown
    left_out = [(number(m[1]), number(m[2])) for m in MARK.finditer(shown)]
    kept = MARK.sub(b"", re.sub(rb"(?m)^\d+: ", b"", shown))
    assert sum(size for _, size in left_out) == len(payload) - len(kept)
    assert sum(lines for lines, _ in left_out) == 4000 - kept.count(b"\n")


@pytest.mark.parametrize(
    "first", [b"\x89PNG\r\n\x1a\n" + bytes(8), b"%PDF-1.7\nabcdefgh", b"\xff\xfea\0b\0", bytes(range(16))]
)
def test_binary(first):
    """What is no text is one line: that it is none, its size, its first 16 bytes."""
    payload = first + bytes(99_984)
    assert preview([payload]).decode() == f"[binary data, {len(payload):,} bytes, begins {payload[:16].hex(' ')}]"


def test_long_line():
    """A line of megabytes shows its error with a little around it, and costs little memory."""
    pieces = [b"x" * 1_000_000] * 7 + [b" fatal: the end is near "] + [b"y" * 1_000_000] * 8
    tracemalloc.start()
    shown = preview(pieces)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert b"1: " + b"x" * 79 + b" fatal: the end is near yyyy" in shown
    assert sum(number(m[2]) for m in MARK.finditer(shown)) > 14_000_000
    assert peak < 12_000_000
