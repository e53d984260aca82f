"""What a page is made from and what it gives: the store, what was asked, and fields for a template or for JSON.

The invariant: every state of a page stands in its address; what an address asks that is not
understood is an error, never passed over.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from enum import Enum
from typing import Any

from markupsafe import Markup

from firsthand import InvalidArgument, Memory
from firsthand.moment import Moment
from firsthand.value import asdict, field, fields, value

NUMBER_MAX = 1 << 50
TEXT_CHARACTERS_MAX = 20_000


@value(eq=False)
class Place:
    """Whose pages are asked for.

    Attributes:
        base: what the addresses of its pages begin with.
        memo: what was read once of this store, by what it is.
        form: what a form of these pages sends back.
    """

    memory: Memory
    base: str
    now: Moment
    memo: dict[tuple[str, ...], object]
    form: str = ""


@value(eq=False)
class Page:
    """A page, as fields.

    Attributes:
        template: the file that writes them.
        part: the file that writes what a script puts into another page; empty for the whole page.
    """

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
        """Give a text; empty without one.

        Raises:
            InvalidArgument: it is given twice, or too long.
        """
        self._read.add(name)
        texts = self._values.get(name, [])
        if len(texts) > 1 or len(texts[0] if texts else "") > TEXT_CHARACTERS_MAX:
            raise InvalidArgument(f"expected {name} once, of at most {TEXT_CHARACTERS_MAX:,} characters")
        return texts[0] if texts else ""

    def number(self, name: str, default: int, *, low: int) -> int:
        """Give a whole number.

        Raises:
            InvalidArgument: it is none, or out of its range.
        """
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
        """Give whole numbers with commas between them.

        Raises:
            InvalidArgument: one of them is none, or there are too many.
        """
        texts = [text for text in self.text(name).split(",") if text]
        if len(texts) > most or not all(text.isascii() and text.isdigit() and len(text) < 15 for text in texts):
            raise InvalidArgument(f"expected {name} as at most {most} whole numbers, such as 3,5; got {texts!r:.60}")
        return tuple(int(text) for text in texts)

    def choice(self, name: str, words: tuple[str, ...]) -> str:
        """Give one of some words; the first without one.

        Raises:
            InvalidArgument: it is none of them.
        """
        text = self.text(name)
        if text and text not in words:
            raise InvalidArgument(f"expected {name} to be one of {', '.join(filter(None, words))}; got {text!r:.60}")
        return text or words[0]

    def check(self, known: Collection[str] = ()) -> None:
        """Refuse what nobody read, or knows.

        Raises:
            InvalidArgument: something was asked for that this page does not know.
        """
        unknown = sorted(self._values.keys() - self._read - set(known))
        if unknown:
            raise InvalidArgument(
                f"this page knows {', '.join(sorted(self._read)) or 'no parameter'}; got {unknown!r:.120}"
            )


def as_json(page: Page, name: str = "") -> bytes:
    """Write a page's fields as JSON, or one of them alone; drawings are left out, since the fields hold them."""
    form = _form(page.fields[name]) if name else {"title": page.title, **_form(page.fields)}
    return json.dumps(form, ensure_ascii=True).encode("ascii")


def _form(thing: Any) -> Any:
    match thing:
        case Markup():
            return None
        case Moment():
            return str(thing)
        case Enum():
            return thing.value
        case bytes():
            return thing.hex()
        case str() | int() | float() | bool() | None:
            return thing
        case Mapping():
            return {
                str(name): _form(member) for name, member in thing.items()
                if not isinstance(member, Markup) and not callable(member)
            }  # fmt: skip
        case list() | tuple() | set() | frozenset():
            return [_form(member) for member in thing]
        case _ if hasattr(type(thing), "__value_defaults__") or _is_value(thing):
            return _form(asdict(thing))
        case _:
            return str(thing)


def _is_value(thing: Any) -> bool:
    try:
        return bool(fields(thing))
    except (TypeError, AttributeError):  # no value of ours
        return False
