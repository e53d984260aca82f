"""What a model reads after recall and expand, within so many tokens.

    found: 2 hits, confidence 0.91
    fh:01J8...  2026-01-31 12:00:00Z  tool_result by tool:bash  session deploy  turn 4  untrusted  score 0.62
    | the passage that matches
    fh:01J9...  ...

The invariant: never more tokens than asked for, by the counter given. What comes
first is ours: the outcome and why, what did not fit, how to go on; stored text
stands behind it, after a bar where several events are shown, so none of it can
pass for a line of ours. Every event is named by its pointer and labelled with its
origin and trust.

Pure: it writes values that it is handed, and knows no storage.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Collection, Sequence

from firsthand.answer import Answer, Hit, Outcome
from firsthand.event import INJECTED, Event, Kind, to_text
from firsthand.moment import Moment, clock
from firsthand.printable import shown
from firsthand.tokens import TokenCounter, estimate
from firsthand.value import value

from .short_text import largest, quote, quoted, shorten

BODY_TOKENS_MIN = 24  # of one event's text where several are shown; with less room fewer are shown
POINTERS_NAMED_MAX = 5  # of hits that did not fit or are in view
TRIES_MAX = 24
TOKENS_MAX = 1_000_000  # more than any text that comes here
SNIFFED_BYTES = 4_096
_CONTROLS = bytes(b for b in range(32) if b not in b"\t\n\r\f\b\x1b")
_WHY = {
    Outcome.WEAK: "not sure enough to count as found: check the source before you rely on one, or ask in other words",
    Outcome.ABSENT: "nothing matches; everything in scope was searched",
    Outcome.FILTERED: "nothing in the scope asked for, but there are matches outside it; ask with less scope",
    Outcome.DEGRADED: "a stage is behind or broken, so this may not be all there is",
}


@value
class Written:
    """A text for a model, and the pointers of the events that it shows."""

    text: str
    pointers: tuple[str, ...] = ()


@value
class Block:
    """One event of several: a line about it, and its text.

    Attributes:
        size_bytes: of the whole content, when ``body`` is only a preview of it.
    """

    pointer: str
    head: str
    body: str
    size_bytes: int | None = None


def of_recall(
    answer: Answer,
    *,
    tokens_max: int | None = None,
    count: TokenCounter = estimate,
    session: str = "",
    visible: Collection[str] = (),
) -> Written:
    """Write a recall's answer: the outcome and why, then each hit with where it stands and its preview.

    Args:
        tokens_max: of all of it; None when the answer's own limits are enough.
        session: the reader's own, marked as such.
        visible: ids of events that stand in the reader's window; they are named and not repeated.
    """
    seen = [hit for hit in answer.hits if hit.pointer.removeprefix("fh:") in visible]
    blocks = [
        Block(hit.pointer, _hit_line(hit, session) + _belongs(hit, above, seen) + _replaced(hit), hit.preview)
        for above, hit in zip((None, *answer.hits), answer.hits, strict=False)
        if hit not in seen
    ]

    def opening(number: int) -> str:
        lines = [f"{answer.outcome.value}: {_why(answer)}"]
        lines += [f"note: {shown(note)}" for note in answer.notes]
        lines += [f"in your context already: {_named([hit.pointer for hit in seen])}"] if seen else []
        left = [block.pointer for block in blocks[number:]]
        if left:
            lines.append(f"{_counted(len(left), 'hit')} did not fit here: {_named(left)}; expand one, or ask for less")
        return "\n".join(lines)

    written = _fitted(opening, blocks, tokens_max, count)
    return Written(written.text, (*written.pointers, *(hit.pointer for hit in seen)))


def of_span(
    pointer: str,
    events: Sequence[Event],
    number: int,
    *,
    tokens_max: int,
    following: str = "",
    damaged: Sequence[str] = (),
    count: TokenCounter = estimate,
    visible: Collection[str] = (),
) -> Written:
    """Write a span: the pointer to read on with, then a line for each event and as much of its content as fits.

    Args:
        pointer: of the span.
        events: those to show, from its beginning.
        number: events of the session from the span's first to its last.
        following: id of the event after ``events``; empty when they are all.
        damaged: what is wrong with events that are left out since they are not what was written; a sentence each.
        visible: ids of events that stand in the reader's window; their content is not repeated.
    """
    blocks = [_block(event, visible) for event in events]
    last = pointer.rpartition("..")[2]

    def opening(shown_number: int) -> str:
        about = f"{pointer}: {_counted(number, 'event')}"
        if events:
            about += f" of session {shown(events[0].session)}, from turn {events[0].turn}"
        if damaged:
            about += f"; {len(damaged):,} left out, since damaged ({shown(damaged[0])}); tell the user"
        then = events[shown_number].id if shown_number < len(events) else following
        if not then:
            return about + (f"; {shown_number:,} of them say something" if shown_number < number else "")
        rest = f"fh:{then}" if then == last else f"fh:{then}..{last}"
        return f'{about}; {shown_number:,} shown here, to read on: expand("{rest}")'

    return _fitted(opening, blocks, tokens_max, count)


def of_bytes(
    event: Event, data: bytes, start: int, end: int, *, tokens_max: int, count: TokenCounter = estimate
) -> Written:
    """Write the exact text of an event, or as much of a range of it as fits, with the pointer of the next page.

    Args:
        data: the content's bytes from ``start`` on; fewer than up to ``end`` when they are more than a page.
        start, end: the range asked for, in bytes of the content, half open.
    """
    address = f"fh:{event.id}"
    line = f"{address}  {_facts(event)}  {_size(event.media, event.size_bytes)}"
    if is_binary(data):
        said = f"{line}\nbinary content, not printed; the log has it byte for byte"
        return Written(shorten(said, tokens_max, count), (address,))

    def page(size: int) -> str:
        stop = start + size
        told = "all of it follows" if size == event.size_bytes else f"bytes {start:,} to {stop:,} follow"
        if stop < end:
            told += f'; the next page: expand("{address}@{stop}-{end}")'
        if not _is_utf8(data[:size]):
            told += "; what is no UTF-8 shows as \ufffd"
        return f"{line}\n{told}\n{to_text(data[:size])}"

    if not data:
        return Written(shorten(f"{line}\nempty", tokens_max, count), (address,))
    whole = end - start
    size = largest(lambda size: count(page(_page_end(data, size, whole))) <= tokens_max, 1, len(data))
    if size is None:
        return Written(shorten(f"{line}\nno room for any of it in this answer", tokens_max, count), (address,))
    return Written(page(_page_end(data, size, whole)), (address,))


def of_source(
    event: Event, data: bytes, size_bytes: int | None, *, tokens_max: int, count: TokenCounter = estimate
) -> Written:
    """Write the source record of an event, cut in the middle where it is large, since it has no pages.

    Args:
        size_bytes: of the whole record, when ``data`` is only its beginning.
    """
    line = f"fh:{event.id}#source  {_facts(event)}"
    body = "binary content, not printed" if is_binary(data) else to_text(data)
    rest = shorten(body, tokens_max, lambda text: count(f"{line}\n{text}"), size_bytes=size_bytes)
    return Written(f"{line}\n{rest}" if rest else shorten(line, tokens_max, count), (f"fh:{event.id}",))


def is_binary(data: bytes) -> bool:
    """Say whether bytes are no text that could be printed."""
    sample = data[:SNIFFED_BYTES]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    strange = 0 if _is_utf8(sample) else sample.decode("utf-8", "replace").count("\ufffd")
    return b"\0" in sample or (controls + strange) * 10 > len(sample)


# several events in so much room ----------------------------------------------------------------------


def _fitted(
    opening: Callable[[int], str], blocks: Sequence[Block], tokens_max: int | None, count: TokenCounter
) -> Written:
    """Write the opening and as many blocks as fit, each text cut to the same size where it is longer.

    Args:
        opening: gives the first lines, told how many blocks follow.
    """
    if tokens_max is None:
        lines = [line for block in blocks for line in (block.head, *([quote(block.body)] if block.body else []))]
        return Written("\n".join([opening(len(blocks)), *lines]), tuple(block.pointer for block in blocks))
    heads = [count(block.head) + 2 for block in blocks]
    bodies = [
        count(quoted(one.body, TOKENS_MAX, count, size_bytes=one.size_bytes)) if one.body else 0 for one in blocks
    ]
    room, several, before = tokens_max, len(blocks), (0, 0)
    for _ in range(TRIES_MAX):
        number, most = _shared(room - count(opening(len(blocks))), heads[:several], bodies[:several])
        if (number, most) == before:  # a little less room changes nothing: what is there is short, and one is too many
            number = several = number - 1
        before = (number, most)
        lines = [opening(number)]
        for block in blocks[:number]:
            text = quoted(block.body, most, count, size_bytes=block.size_bytes) if block.body else ""
            lines += [block.head, text] if text else [block.head]
        said = "\n".join(lines)
        excess = count(said) - tokens_max
        if excess <= 0:
            return Written(said, tuple(block.pointer for block in blocks[:number]))
        if number == 0:
            break
        room -= excess
    return Written(shorten(opening(0), tokens_max, count))


def _shared(room: int, heads: Sequence[int], bodies: Sequence[int]) -> tuple[int, int]:
    """Say how many blocks have room with their heads and some text each, and how much text each may have."""
    number = 0
    for head, body in zip(heads, bodies, strict=True):
        room -= head + min(body, BODY_TOKENS_MIN)
        if room < 0:
            break
        number += 1
    room += sum(min(body, BODY_TOKENS_MIN) for body in bodies[:number])
    if number < len(heads):
        room += heads[number] + min(bodies[number], BODY_TOKENS_MIN)
    most = largest(lambda most: sum(min(body, most) for body in bodies[:number]) <= room, 1, max([1, *bodies]))
    return number, most or 1


# lines about an event ------------------------------------------------------------------------------


def _hit_line(hit: Hit, session: str) -> str:
    """Write what a hit is, in few tokens: eight of these lines stand in an answer of two thousand."""
    exact = f"  exact: {'; '.join(map(shown, hit.exact))}" if hit.exact else ""
    size = f"  {hit.size_bytes:,} bytes, from byte {hit.preview_start:,}" if hit.preview_start else ""
    place = f"turn {hit.turn}" if hit.session == session else _place(hit.session, hit.turn, own=False)
    return (
        f"{hit.pointer}  {_about(hit.time, hit.kind, hit.agent or hit.origin)}  {place}  {hit.trust}{size}  "
        f"score {hit.score:.2f}{exact}"
    )


def _belongs(hit: Hit, above: Hit | None, seen: Collection[Hit]) -> str:
    """Say what a companion belongs with: it is there for that, and need not answer by itself."""
    if not hit.companion_of:
        return ""
    if above is not None and above.pointer == hit.companion_of and above not in seen:
        return "  belongs with the one above"
    return f"  belongs with {hit.companion_of}"


def _replaced(hit: Hit) -> str:
    """Say what took a hit's place by the ledger."""
    return f"  no longer holds: replaced by {hit.replaced_by}" if hit.replaced_by else ""


def _facts(event: Event) -> str:
    about = _about(event.time, event.kind, event.agent or event.origin)
    return f"{about}  {_place(event.session, event.turn, False)}  {event.trust}"


def _about(time: Moment | None, kind: Kind, who: str) -> str:
    return f"{clock(time)}  {kind}{f' by {shown(who)}' if who else ''}"


def _place(session: str, turn: int, own: bool) -> str:
    return f"session {shown(session)}{' (this one)' if own else ''}  turn {turn}"


def _size(media: str, size_bytes: int) -> str:
    return f"{shown(media)}, {size_bytes:,} byte{'s' if size_bytes != 1 else ''}"


def _block(event: Event, visible: Collection[str]) -> Block:
    """Make the block of one event of a span."""
    tool = f" {shown(str(event.meta['tool']))}" if event.meta.get("tool") else ""
    head = f"fh:{event.id}  {_about(event.time, event.kind, event.agent or event.origin)}{tool}  turn {event.turn}"
    if event.erased:
        return Block(f"fh:{event.id}", f"{head}  erased", "")
    head = f"{head}  {event.trust}  {event.size_bytes:,} bytes"
    if event.id in visible:
        return Block(f"fh:{event.id}", f"{head}  in your context already", "")
    if event.meta.get(INJECTED) is True:
        return Block(f"fh:{event.id}", f"{head}  what recall or expand answered then", "")
    if event.artifact is None and is_binary(event.content or b""):
        return Block(f"fh:{event.id}", f"{head}  {shown(event.media)}, not printed", "")
    return Block(f"fh:{event.id}", head, event.text, event.size_bytes)


def _why(answer: Answer) -> str:
    """Say what the outcome means, and whether the search was bounded."""
    sure = f", confidence {answer.confidence:.2f}" if answer.hits and answer.gate else ""
    hits = _counted(len(answer.hits), "hit") + (", and there are more" if answer.more else "") + sure
    why = _WHY.get(answer.outcome, "")
    said = f"{hits}; {why}" if answer.hits and why else why or hits
    return said + ("; truncated: the search was bounded before it had seen all matches" if answer.truncated else "")


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' if number != 1 else ''}"


def _named(pointers: Sequence[str]) -> str:
    more = len(pointers) - POINTERS_NAMED_MAX
    return ", ".join(pointers[:POINTERS_NAMED_MAX]) + (f" and {more:,} more" if more > 0 else "")


def _page_end(data: bytes, size: int, whole: int) -> int:
    """Find where a page of at most so many bytes ends: at the end of a line where that is near, never in a sign."""
    if size >= whole:
        return whole
    end = size
    for back in range(1, min(3, size) + 1):
        if data[size - back] >= 0xC0:  # where a sign begins that has two bytes or more
            needed = 2 + (data[size - back] >= 0xE0) + (data[size - back] >= 0xF0)
            end = size - back if needed > back else size
            break
    if end == 0:  # a page has at least one sign, so that reading on comes to an end
        end = min(whole, len(data), 1 + (data[0] >= 0xC0) + (data[0] >= 0xE0) + (data[0] >= 0xF0))
    return data.rfind(b"\n", end * 7 // 10, end) + 1 or end


def _is_utf8(data: bytes) -> bool:
    """Say whether bytes are UTF-8, lone surrogates included; a sign cut off at the end does not count."""
    try:
        codecs.getincrementaldecoder("utf-8")("surrogatepass").decode(data)
    except UnicodeDecodeError:
        return False
    return True
