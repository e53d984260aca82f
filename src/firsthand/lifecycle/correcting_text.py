"""What an agent reads when a message corrects something: the sources, what was concluded, what they give.

    a correction: what memory holds of it, word for word; nothing is decided or changed here
    source  fh:01J8...  2026-01-31 12:00:00Z  user_message by user  session 7  turn 1  trusted
    | 7 notebooks at $4
    | 9 pens at $2
    concluded  fh:01J9...  ...  agent
    | The pens come to $22
    worked out of the sources: the pens subtotal 18; that is not the $22 that was concluded

The invariant: stored text stands behind a bar, verbatim, below its pointer with origin,
trust and time; at most `TOKENS_MAX`; what does not fit is counted and named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from firsthand.moment import clock
from firsthand.pack.answers import Written
from firsthand.pack.shorten import quote
from firsthand.printable import shown
from firsthand.tokens import estimate

if TYPE_CHECKING:
    from firsthand.lifecycle.correcting import Held
    from firsthand.notes.correction import Correction
    from firsthand.notes.values import Value

TOKENS_MAX = 700
PIECE_CHARACTERS_MAX = 400  # of one statement
WORDS_CHARACTERS_MAX = 160  # of the message
LEFT_OUT_MAX = 3
_HEAD = "a correction: what memory holds of it, word for word; nothing is decided or changed here"


def written(
    correction: Correction, held: Held, others: Sequence[Held], *, seen: frozenset[str], by: str,
    left_out: Sequence[str] = (),
) -> Written:  # fmt: skip
    """Write what stands behind a correction, as much of the sources as has room."""
    judged = held.judged
    places = [*judged.needs, *judged.replaced]
    pointers = tuple(dict.fromkeys(held.stored[place].pointer for place in places if held.stored[place].pointer))
    tail = [*_compared(correction, held, by), *_around(others, left_out)]
    if pointers and set(pointers) <= seen:
        named = ", ".join(pointers[:4])
        return Written("\n".join([_HEAD, f"the sources were shown before: {named}", *tail]), pointers)
    concluded = [one.place for one in judged.concluded]
    room = len(judged.needs)
    while True:
        kept = judged.needs[:room]
        lines = [_HEAD, *_blocks(held, kept, "source"), *_blocks(held, judged.replaced[:room], "said before")]
        if room < len(judged.needs):
            rest = dict.fromkeys(held.stored[place].pointer for place in judged.needs[room:])
            lines.append(f"{room} of {len(judged.needs)} statements fit here; the rest: {', '.join(rest)}")
        text = "\n".join([*lines, *_blocks(held, concluded, "concluded"), *tail])
        if room == 0 or estimate(text) <= TOKENS_MAX:
            more = tuple(held.stored[place].pointer for place in concluded)
            return Written(text, tuple(dict.fromkeys((*pointers, *more))))
        room = min(room - 1, room * TOKENS_MAX // max(estimate(text), 1))


def _blocks(held: Held, places: Sequence[int], label: str) -> Iterator[str]:
    """Give statements below the line about their event, those of one event together."""
    by_event: dict[str, list[int]] = {}
    for place in places:
        by_event.setdefault(held.stored[place].pointer, []).append(place)
    for pointer, of_event in by_event.items():
        yield f"{label}  {pointer}  {_facts(held, pointer)}"
        for place in sorted(of_event):
            one = held.stored[place]
            text = held.events[pointer].text[one.start : one.end]
            cut = text if len(text) <= PIECE_CHARACTERS_MAX else f"{text[:PIECE_CHARACTERS_MAX]} [cut]"
            yield quote(cut)


def _facts(held: Held, pointer: str) -> str:
    one = held.events[pointer]
    who = shown(one.agent or one.origin)
    about = f"{clock(one.time)}  {one.kind.word}{f' by {who}' if who else ''}"
    return f"{about}  session {shown(one.session)}  turn {one.turn}  {one.trust.word}"


def _compared(correction: Correction, held: Held, by: str) -> Iterator[str]:
    """Say what the sources give beside what was concluded, and beside what the message gives."""
    judged = held.judged
    for claim, gives in ((judged.part, judged.part_gives), (judged.whole, judged.whole_gives)):
        if claim is not None and gives is not None:
            what = correction.about if claim is judged.part else correction.asks or claim.what
            yield f"worked out of the sources: {shown(_short(what))} = {_value(gives)}"
    wider = held.wider.whole_gives if held.wider is not None else None
    if wider is not None:
        yield (
            f"with what other turns of the session list, it would be {_value(wider)}; whether they belong to it is not "
            "decided here"
        )
    differing = {one.place for one in judged.differing}
    for one in judged.concluded:
        agrees = "the sources do not give that" if one.place in differing else "the sources give that"
        checked = judged.part_gives is not None or judged.whole_gives is not None
        yield f"concluded was {shown(one.text)}: {agrees if checked else 'it was not worked out again'}"
    if judged.sort == "sound part":
        named = shown(_short(correction.about))
        yield f"what the message names, {named}, goes with its sources; look at the others too"
    yield from _given(correction, held, by)


def _given(correction: Correction, held: Held, by: str) -> Iterator[str]:
    judged = held.judged
    agrees = judged.given_agrees
    if agrees is False and held.wider is not None and held.wider.given_agrees:
        agrees = True
    times = f", said {judged.said_before + 1} times by now, which counts once" if judged.said_before else ""
    if judged.given is not None:
        verdict = {
            True: "the sources give the same",
            False: "the sources give another value: this message and they contradict each other",
            None: "no stored source gives it, or another one",
        }[agrees]
        yield f"the message gives {shown(_short(correction.gives[0]))} (by {shown(by)}, now{times}): {verdict}"
    for said, place in judged.against:
        one = held.stored[place]
        yield (
            f"side by side: the message, by {shown(by)}, now: {_short(said)!r}; stored, {one.pointer}, "
            f"{_facts(held, one.pointer)}: {_short(one.text)!r}"
        )
    if judged.against or agrees is False:
        yield "which of the two holds is not decided here: weigh where each comes from, and say it to the user"


def _around(others: Sequence[Held], left_out: Sequence[str]) -> Iterator[str]:
    if others:
        yield f"also said of it in: {', '.join(f'session {shown(one.session)}' for one in others)}"
    for one in left_out[:LEFT_OUT_MAX]:
        yield f"note: {shown(one)}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WORDS_CHARACTERS_MAX else f"{line[:WORDS_CHARACTERS_MAX]} [cut]"


def _value(one: Value) -> str:
    """Write a value as it was said, or as it was worked out, with its unit."""
    computed = one.start == one.end
    return shown(f"{one.text} {one.unit}".strip() if computed and one.unit else one.text)
