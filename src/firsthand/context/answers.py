"""What a model reads after recall and expand, within so many tokens.

    found: 2 hits, which may hold the answer
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
from functools import cache

from firsthand.answer import Answer, Band, Hit, Outcome
from firsthand.event import INJECTED, Event, Kind, to_text
from firsthand.moment import Moment, clock
from firsthand.printable import shown
from firsthand.recall.hits import Layout
from firsthand.tokens import TokenCounter, estimate
from firsthand.value import value

from .short_text import largest, quote, quoted, shorten

BODY_TOKENS_MIN = 24  # of one event's text where several are shown; with less room fewer are shown
POINTERS_NAMED_MAX = 5  # of hits that did not fit or are in view
TRIES_MAX = 24
TOKENS_MAX = 1_000_000  # more than any text that comes here
SNIFFED_BYTES = 4_096
_RANGE = "  @100,000-100,000 and more of 100,000 bytes"  # as long as what a line says where its preview is known
_CONTROLS = bytes(b for b in range(32) if b not in b"\t\n\r\f\b\x1b")
OPENING_TOKENS = 70  # of the first lines of a recall's answer, without notes
SAID = "what the user said on it, in order of date; which of it holds is not decided here:"
_WHY = {
    Outcome.ABSENT: "nothing matches; everything in scope was searched",
    Outcome.FILTERED: "nothing that holds in the scope asked for; what else matches stands in a note",
    Outcome.DEGRADED: "not everything was looked at, so this may not be all there is",
}
_LIKELY = {
    Band.LIKELY: "likely to hold the answer",
    Band.POSSIBLE: "which may hold the answer",
    Band.UNLIKELY: "unlikely to hold the answer; other words may find it",
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


def layout(
    count: TokenCounter = estimate,
    *,
    session: str = "",
    visible: Collection[str] = (),
    leaves_out: Callable[[Event], bool] | None = None,
) -> Layout:
    """Tell recall how `of_recall` writes its answer, so that previews fill the tokens there are.

    Args:
        visible, session: as of `of_recall`.
        leaves_out: says of an event that it is no answer.
    """

    def lines(hits: Sequence[Hit]) -> list[int]:
        shared = _shared_session(hits, session)
        texts = [
            hit.pointer if hit.pointer[3:] in visible else f"{_hit_line(hit, shared)}{_RANGE * (not hit.preview)}\n"
            for hit in hits
        ]
        return [count(text) + (not at) * _opened(count, shared, session) for at, text in enumerate(texts)]

    return Layout(lambda text: count(f"{quote(text)}\n"), lines, frozenset(visible), leaves_out)


def of_recall(
    answer: Answer,
    *,
    tokens_max: int | None = None,
    count: TokenCounter = estimate,
    session: str = "",
    visible: Collection[str] = (),
) -> Written:
    """Write a recall's answer: the outcome and why, each hit with where it stands, then what stands beside the hits.

    Args:
        tokens_max: of all of it; None when the answer's own limits are enough.
        session: the reader's own, marked as such.
        visible: ids of events that stand in the reader's window; they are named and not repeated.
    """
    seen = [hit for hit in answer.hits if hit.pointer.removeprefix("fh:") in visible]
    beside = [hit for hit in (*answer.hits, *answer.companions) if hit not in seen]
    above = {hit.pointer for hit in beside}
    messages = [hit for hit in answer.said if hit not in seen]
    if len(messages) == 1 and messages[0].pointer in above:
        messages = []  # it says nothing that the hits do not
    shared = _shared_session([*beside, *messages], session)
    blocks = [Block(hit.pointer, _hit_line(hit, shared), hit.preview) for hit in beside]
    first_said = len(blocks)
    blocks += [
        Block(hit.pointer, _said_line(hit, shared, above), "" if hit.pointer in above else hit.preview)
        for hit in messages
    ]

    def opening(number: int) -> str:
        lines = [f"{answer.outcome.value}: {_why(answer)}{_all_of(shared, session)}"]
        lines += [f"note: {shown(note)}" for note in answer.notes]
        lines += [f"in your context already: {_named([hit.pointer for hit in seen])}"] if seen else []
        left = [block.pointer for block in blocks[number:first_said]]
        if left:
            lines.append(f"{_counted(len(left), 'hit')} did not fit here: {_named(left)}; expand one, or ask for less")
        return "\n".join(lines)

    if messages:
        first = blocks[first_said]
        blocks[first_said] = Block(first.pointer, f"{SAID}\n{first.head}", first.body)
    written = _fitted(opening, blocks, tokens_max, count)
    pointers = dict.fromkeys((*written.pointers, *(hit.pointer for hit in seen)))
    return Written(written.text, tuple(pointers))


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
    mark: Callable[[Event], str] = lambda _: "",
) -> Written:
    """Write a span: the pointer to read on with, then a line for each event and as much of its content as fits.

    Args:
        pointer: of the span.
        events: those to show, from its beginning.
        number: events of the session from the span's first to its last.
        following: id of the event after ``events``; empty when they are all.
        damaged: what is wrong with events that are left out since they are not what was written; a sentence each.
        visible: ids of events that stand in the reader's window; their content is not repeated.
        mark: says what was decided on an event.
    """
    blocks = [_block(event, visible, mark(event)) for event in events]
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
    event: Event, data: bytes, start: int, end: int, *, tokens_max: int, count: TokenCounter = estimate, mark: str = ""
) -> Written:
    """Write the exact text of an event, or as much of a range of it as fits, with the pointer of the next page.

    Args:
        data: the content's bytes from ``start`` on; fewer than up to ``end`` when they are more than a page.
        start, end: the range asked for, in bytes of the content, half open.
        mark: what was decided on the event.
    """
    address = f"fh:{event.id}"
    line = f"{address}  {_facts(event)}  {_size(event.media, event.size_bytes)}{mark}"
    if is_binary(data):
        text = f"{line}\nbinary content, not printed; the log has it byte for byte"
        return Written(shorten(text, tokens_max, count), (address,))

    def page(size: int) -> str:
        stop = start + size
        range_line = "all of it follows" if size == event.size_bytes else f"bytes {start:,} to {stop:,} follow"
        if stop < end:
            range_line += f'; the next page: expand("{address}@{stop}-{end}")'
        if not _is_utf8(data[:size]):
            range_line += "; what is no UTF-8 shows as \ufffd"
        return f"{line}\n{range_line}\n{to_text(data[:size])}"

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
    count = cache(count)  # the same texts are counted again as long as there is too little room
    heads = [count(block.head) + 2 for block in blocks]
    wholes = [
        quoted(block.body, TOKENS_MAX, count, size_bytes=block.size_bytes) if block.body else "" for block in blocks
    ]
    bodies = [count(whole) if whole else 0 for whole in wholes]
    room, above = tokens_max, count(opening(len(blocks)))
    for _ in range(TRIES_MAX):
        number, most = _shared(room - above, heads, bodies)
        lines = [opening(number)]
        for block, whole, tokens in zip(blocks[:number], wholes, bodies, strict=False):
            text = whole if tokens <= most else quoted(block.body, most, count, size_bytes=block.size_bytes)
            lines += [block.head, text] if text else [block.head]
        written = "\n".join(lines)
        excess = count(written) - tokens_max
        if excess <= 0:
            return Written(written, tuple(block.pointer for block in blocks[:number]))
        if number == 0:
            break
        used = above + sum(heads[:number]) + sum(min(body, most) for body in bodies[:number])
        room = min(room, used) - excess  # less than was used: then a text is shorter, or one block is left out
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
    """Write what a hit is, in few tokens: a dozen of these lines stand in an answer of two thousand."""
    place = f"turn {hit.turn}" if hit.session == session else _place(hit.session, hit.turn)
    words = [hit.pointer, _about(hit.time, hit.kind, hit.agent or hit.origin), place, hit.trust]
    ranges = [span.partition("@")[2] for span in hit.spans]
    if ranges and ranges != [f"0-{hit.size_bytes}"]:
        words.append(f"@{ranges[0]}{' and more' if ranges[1:] else ''} of {hit.size_bytes:,} bytes")
    words += [f"belongs with {hit.companion_of}"] if hit.companion_of else [f"score {hit.score:.2f}"]
    words += [f"exact: {'; '.join(map(shown, hit.exact))}"] if hit.exact else []
    if hit.copies:
        more = f" and {len(hit.copies) - 1:,} more" if hit.copies[1:] else ""
        words.append(f"the same text: {hit.copies[0]}{more}")
    words += [f"claims: {hit.claims}"] if hit.claims else []
    return "  ".join(words) + _replaced(hit)


def _said_line(hit: Hit, session: str, above: Collection[str]) -> str:
    """Write when the user said something, and what the ledger says of it."""
    if hit.pointer in above:
        return f"{clock(hit.time)}  the one above that ends in {hit.pointer[-6:]}"
    place = f"turn {hit.turn}" if hit.session == session else _place(hit.session, hit.turn)
    return f"{hit.pointer}  {clock(hit.time)}  {place}{_replaced(hit)}"


def _shared_session(hits: Sequence[Hit], own: str) -> str:
    """Give the session that need not be named in each line: that of all hits, else the reader's own."""
    sessions = {hit.session for hit in hits}
    return sessions.pop() if len(sessions) == 1 and len(hits) > 1 else own


def _all_of(shared: str, own: str) -> str:
    return f"; all of session {shown(shared)}" if shared != own else ""


def _opened(count: TokenCounter, shared: str, own: str) -> int:
    """Count what the first line says of a session that all hits share, and the line above what the user said."""
    return count(_all_of(shared, own)) + count(f"{SAID}\n")


def _replaced(hit: Hit) -> str:
    """Say whose place a hit took by the ledger."""
    return f"  in the place of {hit.replaces}" if hit.replaces else ""


def _facts(event: Event) -> str:
    about = _about(event.time, event.kind, event.agent or event.origin)
    return f"{about}  {_place(event.session, event.turn)}  {event.trust}"


def _about(time: Moment | None, kind: Kind, who: str) -> str:
    return f"{clock(time)}  {kind}{f' by {shown(who)}' if who else ''}"


def _place(session: str, turn: int) -> str:
    return f"session {shown(session)}  turn {turn}"


def _size(media: str, size_bytes: int) -> str:
    return f"{shown(media)}, {size_bytes:,} byte{'s' if size_bytes != 1 else ''}"


def _block(event: Event, visible: Collection[str], mark: str) -> Block:
    """Make the block of one event of a span."""
    tool = f" {shown(str(event.meta['tool']))}" if event.meta.get("tool") else ""
    head = f"fh:{event.id}  {_about(event.time, event.kind, event.agent or event.origin)}{tool}  turn {event.turn}"
    if event.erased:
        return Block(f"fh:{event.id}", f"{head}  erased", "")
    head = f"{head}  {event.trust}  {event.size_bytes:,} bytes{mark}"
    if event.id in visible:
        return Block(f"fh:{event.id}", f"{head}  in your context already", "")
    if event.meta.get(INJECTED) is True:
        return Block(f"fh:{event.id}", f"{head}  what recall or expand answered then", "")
    if event.artifact is None and is_binary(event.content or b""):
        return Block(f"fh:{event.id}", f"{head}  {shown(event.media)}, not printed", "")
    return Block(f"fh:{event.id}", head, event.text, event.size_bytes)


def _why(answer: Answer) -> str:
    """Say what the outcome means, and whether the search was bounded."""
    likely = f", {_LIKELY[answer.band]}" if answer.hits else ""
    hits = _counted(len(answer.hits), "hit") + (" (there are more)" if answer.more else "") + likely
    why = _WHY.get(answer.outcome, "")
    counts = f"{hits}; {why}" if answer.hits and why else why or hits
    return counts + ("; the search was bounded before it had seen all matches" if answer.truncated else "")


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
