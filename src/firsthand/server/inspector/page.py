"""What a page is made from and what it gives: the store, what was asked, and fields for a template or for JSON.

The invariant: every state of a page stands in its address; what an address asks that is not
understood is an error, never passed over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import Any, TypeVar, cast

from firsthand import InvalidArgument, Memory
from firsthand.event import Event, Kind
from firsthand.json_codec import to_json
from firsthand.ledger.effect import Effect
from firsthand.moment import Moment
from firsthand.pointer import find
from firsthand.server.inspector import texts
from firsthand.value import field, replace, value

_T = TypeVar("_T")
NUMBER_MAX = 1 << 50
TEXT_CHARACTERS_MAX = 20_000


class Place:
    """Whose pages are asked for: a store, what addresses begin with, what was read once, what a form sends back."""

    def __init__(
        self, memory: Memory, base: str, now: Moment, memo: dict[tuple[str, ...], object], form: str = ""
    ) -> None:
        self.memory, self.base, self.now, self.memo, self.form = memory, base, now, memo, form
        through, head = memo.get(("through",), 0), memory.position
        if memo and any(memory.events(kind=Kind.ERASURE, after=int(str(through)), before=head + 1, limit=1)):
            memo.clear()  # another process erased: what was read before may hold it
        memo["through",] = head

    def newest(self, kind: Kind, limit: int) -> list[Event]:
        """Give the newest events of a kind, the newest first; what lies before those is looked through once."""
        head = self.memory.position
        through, known = self.once(("newest", kind), lambda: (0, list[Event]()))
        new = self.memory.events(kind=kind, after=through, before=head + 1, newest_first=True, limit=limit)
        events = [*new, *known][:limit]
        self.memo["newest", kind] = head, events
        return events

    def once(self, key: tuple[str, ...], make: Callable[[], _T]) -> _T:
        """Give what was read once of this store."""
        if key not in self.memo:
            self.memo[key] = make()
        return cast("_T", self.memo[key])

    @cached_property
    def effect(self) -> Effect:
        """What the decisions of the ledger leave of events, as they are when the page is made."""
        return Effect(self.memory)

    def standing(self, event: Event) -> Event:
        """Give an event as far as it stands by the ledger; of what is out only that, and what holds instead."""
        left = event if event.erased else self.effect.text(event)
        if left is not None and event.kind is Kind.LEDGER and self.effect.decided:
            out = next((name for name in find(event.text) if self.effect.is_out(name, event.text)), "")
            return replace(event, content=f"a decision on what no longer holds: {out}".encode()) if out else event
        if left is not None:
            return left
        instead = self.effect.instead(event) or f"all of it is out, {event.pointer}"
        return replace(event, content=f"no longer holds: {instead}".encode(), artifact=None)

    def line(self, event: Event) -> dict[str, Any]:
        """Give what a list shows of an event: its first line as far as it stands, and where it is from."""
        return {
            "pointer": event.pointer, "kind": texts.kind_name(event.kind), "class": texts.kind_class(event.kind),
            "who": event.agent or event.origin or "unknown", "origin": event.origin, "trust": str(event.trust),
            "time": event.time, "bytes": event.size_bytes, "session": event.session, "turn": event.turn,
            "position": event.position, "erased": event.erased, "unchecked": event.unchecked,
            "line": "erased" if event.erased else texts.first_line(self.standing(event).text),
        }  # fmt: skip


@value(eq=False)
class Page:
    """A page, as fields for a template, or for that of a part which a script puts into another page."""

    template: str
    title: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    part: str = ""


class Asked:
    """What an address or a form asks for; each name is read once, and what nobody read is an error."""

    def __init__(self, values: Mapping[str, list[str]]) -> None:
        self._values = values
        self._read: set[str] = set()

    def has(self, name: str) -> bool:
        """Say whether a name stands there."""
        self._read.add(name)
        return name in self._values

    def text(self, name: str) -> str:
        """Give a text, empty without one; twice, or too long, it is refused."""
        self._read.add(name)
        texts = self._values.get(name, [])
        if len(texts) > 1 or len(texts[0] if texts else "") > TEXT_CHARACTERS_MAX:
            raise InvalidArgument(f"expected {name} once, of at most {TEXT_CHARACTERS_MAX:,} characters")
        return texts[0] if texts else ""

    def number(self, name: str, default: int, *, low: int) -> int:
        """Give a whole number; what is none, or out of its range, is refused."""
        text = self.text(name)
        if not text:
            return default
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if not low <= number <= NUMBER_MAX:
            raise InvalidArgument(f"expected {name} as a whole number from {low}; got {text!r:.60}")
        return number

    def numbers(self, name: str, most: int) -> tuple[int, ...]:
        """Give whole numbers with commas between them; others, or too many, are refused."""
        texts = [text for text in self.text(name).split(",") if text]
        if len(texts) > most or not all(text.isascii() and text.isdigit() and len(text) < 15 for text in texts):
            raise InvalidArgument(f"expected {name} as at most {most} whole numbers, such as 3,5; got {texts!r:.60}")
        return tuple(int(text) for text in texts)

    def choice(self, name: str, words: tuple[str, ...]) -> str:
        """Give one of some words, the first without one; others are refused."""
        text = self.text(name)
        if text and text not in words:
            raise InvalidArgument(f"expected {name} to be one of {', '.join(filter(None, words))}; got {text!r:.60}")
        return text or words[0]

    def check(self, known: Collection[str] = ()) -> None:
        """Refuse what nobody read, or knows."""
        unknown = sorted(self._values.keys() - self._read - set(known))
        if unknown:
            raise InvalidArgument(
                f"this page knows {', '.join(sorted(self._read)) or 'no parameter'}; got {unknown!r:.120}"
            )


def as_json(page: Page) -> bytes:
    """Write a page's fields as JSON."""
    return json.dumps({"title": page.title, **to_json(page.fields)}).encode("ascii")
