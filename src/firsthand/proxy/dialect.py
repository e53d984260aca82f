"""What each way of speaking to a model has in common, as the proxy sees it: requests, answers, entries.

An entry is what a client knows as one message; behind it may stand more, since calls of our
tools and their results are kept from the client. The invariant: entries made of the log are
the same as those made while the messages passed, so a proxy that is started anew goes on.

It knows neither a store nor the network.
"""

from __future__ import annotations

import hashlib
import json
import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from firsthand.errors import FirsthandError
from firsthand.formats.fields import items, mapping, text
from firsthand.proxy.event_stream import Block, summed
from firsthand.value import field, value

Message = dict[str, Any]
SYSTEM_ROLES = ("system", "developer")
JOINT = "\n\n"
"""Between what the model said before it called one of our tools, and after."""
_SPACE = re.compile(r"\s+")


class Unfit(FirsthandError):
    """A request that passes through as it is, and why."""


@value
class Asked:
    """A request, as far as the proxy looks at it.

    Attributes:
        body: as it came.
        head: system messages at the beginning of the list; they are sent as they came, whatever leaves.
        messages: the rest of the list, as it came.
        system: all that is system, as one text.
        tools: the client's own.
        stands_on: the response that the upstream knows the conversation by; the list is then only what is new.
    """

    body: dict[str, Any]
    head: tuple[Message, ...]
    messages: tuple[Message, ...]
    system: str
    tools: tuple[Message, ...]
    stands_on: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)  # of members of the body, as they came

    def content(self, body: Message) -> bytes:
        """Write a body made of this request's; what is as it came keeps its bytes."""
        written = (f"{json.dumps(name)}:{self._text(name, member)}" for name, member in body.items())
        return f"{{{','.join(written)}}}".encode("utf-8", "backslashreplace")

    def _text(self, name: str, member: Any) -> str:
        came = self.body.get(name)
        is_same = member is came
        if isinstance(member, list) and isinstance(came, list) and len(member) == len(came):
            is_same = all(map(operator.is_, member, came))
        if is_same and name in self.texts:
            return self.texts[name]
        return json.dumps(member, ensure_ascii=False, separators=(",", ":"))

    @property
    def model(self) -> str:
        """The model's name."""
        return text(self.body.get("model"))

    def written(self, name: str, messages: Sequence[Message], tools: Sequence[Message]) -> Message:
        """Write the body with other messages, and with tools behind the client's own."""
        return {**self.body, name: [*messages], **({"tools": [*self.tools, *tools]} if tools else {})}

    def headed(self, messages: Sequence[Message], *, composed: bool) -> list[Message]:
        """Put the client's system messages first, as they came, in the place of the one that the window composed."""
        start = int(composed and bool(messages) and messages[0].get("role") in SYSTEM_ROLES)
        return [*self.head, *messages[start:]]


def read_list(body: Message, messages: object, name: str, system: str = "", stands_on: str = "") -> Asked:
    """Read a request's messages, the system messages at their beginning apart.

    Raises:
        Unfit: they are none.
    """
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise Unfit(f"{name} is no list of objects")
    leading = next((at for at, message in enumerate(messages) if message.get("role") not in SYSTEM_ROLES), 0)
    texts = [system, *(JOINT.join(texts_of(message.get("content"))) for message in messages[:leading])]
    return Asked(body, tuple(messages[:leading]), tuple(messages[leading:]), JOINT.join(filter(None, texts)),
                 tuple(items(body.get("tools"))), stands_on)  # fmt: skip


@value
class Entry:
    """What a client knows as one message.

    Attributes:
        key: equal for what the client sends back, however it writes it.
        messages: what stands in the log for it.
        hidden: True when there is more in the log than the client knows.
        is_answer: the model said it.
    """

    key: bytes
    messages: tuple[Message, ...]
    hidden: bool = False
    is_answer: bool = False


@value
class Reply:
    """What the model said in one call of the upstream.

    Attributes:
        messages: for the log.
        ours: it calls our tools. theirs: it calls the client's.
        is_whole: it came to its end, so that calls can be answered.
        id: of the response, where the upstream keeps it.
    """

    messages: tuple[Message, ...]
    ours: bool
    theirs: bool
    is_whole: bool
    id: str = ""


class Answer(ABC):
    """One answer to the client, made of as many calls of the upstream as our tools take.

    Args:
        own: names of our tools that the model may call; calls of them are withheld.

    Attributes:
        ended: the upstream has said that this call is over.
        failed: it has said so as an error.
    """

    ABOUT: tuple[str, ...] = ("id", "model")  # members that the client gets of the first call

    def __init__(self, own: frozenset[str]) -> None:
        self._own = own
        self._number = self._places = 0  # calls of the upstream; items that the client sees
        self._about: Message = {}
        self._usage_before: Any = None
        self._hides = False  # something was withheld
        self._shown: list[Any] = []  # what the client sees of calls before this one
        self._reset()

    def _reset(self) -> None:
        self.ended = self.failed = False
        self._items: dict[int, Message] = {}  # of this call, by their index
        self._place: dict[int, int] = {}  # of an item among those that the client sees
        self._end: Block | None = None  # the event that ends it, where the client gets it later or otherwise
        self._last: Message = {}  # the response, where it comes in one piece
        self._usage: Any = None
        self._reason = ""

    @property
    def is_over(self) -> bool:
        """The model came to an end, of whichever sort."""
        return self.ended or bool(self._reason)

    @property
    def _is_changed(self) -> bool:
        """The client gets something else than the upstream said."""
        return self._number > 1 or self._hides

    @property
    def _usage_of_all(self) -> Any:
        return summed(self._usage_before, self._usage)

    def _begun(self, response: Mapping[str, Any]) -> None:
        self._about = self._about or {name: response[name] for name in self.ABOUT if name in response}

    def _item(self, index: int, item: Message) -> None:
        """Know an item, and its place if the client sees it."""
        self._items[index] = item
        if item.get("type") in ("tool_use", "function_call") and item.get("name") in self._own:
            self._hides = True
        elif index not in self._place:
            self._place[index], self._places = self._places, self._places + 1

    def begin(self) -> None:
        """A call of the upstream begins."""
        self._number += 1
        self._reset()

    def resume(self) -> bytes:
        """Give what was held back of a call that is followed by another one."""
        self._usage_before = self._usage_of_all
        return b""

    def take(self, response: Mapping[str, Any]) -> None:
        """Take a call's response that came in one piece."""
        self.begin()
        self._last, self._usage, self.ended = dict(response), response.get("usage"), True
        self._begun(response)
        self._read(response)

    def whole(self) -> Message | None:
        """Give the response in one piece; None when the upstream's own is the same."""
        if not self._is_changed:
            return None
        usage = self._usage_of_all
        return {**self._last, **self._about, **self._members(), **({"usage": usage} if usage is not None else {})}

    @abstractmethod
    def feed(self, block: Block) -> bytes:
        """Take an event of the upstream's, and give what of it is for the client now."""

    @abstractmethod
    def reply(self) -> Reply:
        """Give what the model said in this call."""

    @abstractmethod
    def end(self) -> bytes:
        """Give what ends the answer."""

    @abstractmethod
    def failure(self, status: int, error: Message) -> bytes:
        """Write the event of an error that came after the answer had begun."""

    @abstractmethod
    def _read(self, response: Mapping[str, Any]) -> None:
        """Read what the model said out of a response in one piece."""

    @abstractmethod
    def _members(self) -> Message:
        """Give the members of a response in one piece that the client gets otherwise than the upstream said them."""


class Dialect(Protocol):
    """A module that speaks one format."""

    FORMAT: str
    LIST: str  # the member of a request that holds the messages
    NO_TOOLS: Message  # members of a request in which no tool may be called

    @property
    def Answer(self) -> type[Answer]: ...  # noqa: N802 - a class of the module

    def read(self, body: dict[str, Any]) -> Asked: ...
    def write(
        self, asked: Asked, messages: Sequence[Message], tools: Sequence[Message], *, composed: bool
    ) -> Message: ...
    def plain(self, message: Message) -> Message: ...
    def entries(self, messages: Iterable[Message], own: Collection[str], ours: set[str]) -> list[Entry]: ...


def digest(*parts: str | bytes) -> bytes:
    """Hash parts, with their bounds."""
    made = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        made.update(len(data).to_bytes(8, "big") + data)
    return made.digest()[:16]


def words_key(texts: Iterable[str], calls: Iterable[str]) -> bytes:
    """Give the key of what the model said: its words whatever the space between them, and its calls."""
    return digest("agent", _SPACE.sub("", "".join(texts)), *calls)


def texts_of(content: object) -> list[str]:
    """Give the texts of a content: a text, or blocks of which some are texts."""
    if isinstance(content, str):
        return [content]
    return [text(part) or text(mapping(part).get("text")) for part in items(content)]


def sort_of(calls: Sequence[tuple[str, bool]], ours: set[str]) -> str:
    """Give the sort of an agent's message by its calls, each an id and whether it is ours; know the ids that are.

    An id that occurs again is that of the newest call.
    """
    ours.difference_update(identifier for identifier, _ in calls)
    ours.update(identifier for identifier, is_ours in calls if is_ours)
    return "asks" if calls and all(is_ours for _, is_ours in calls) else "says"


def grouped(
    messages: Iterable[Message],
    key: Callable[[Sequence[Message]], bytes],
    sort: Callable[[Message], str],
) -> list[Entry]:
    """Make entries of messages of which those of the agent and our results behind them may be one for the client.

    Args:
        key: of all messages of an entry.
        sort: ``ours`` for results of our tools alone, ``asks`` for an agent's message that calls our tools alone,
            ``says`` for its other messages, and nothing for all others.
    """
    groups: list[list[Message]] = []
    is_open = False  # the newest group waits for what the model says to our results

    def close() -> None:  # one that never came to its end: the client has no message for it
        if is_open and len(groups) > 1:
            groups[-2:] = [groups[-2] + groups[-1]]

    for message in messages:
        kind = sort(message)
        if groups and (kind == "ours" or (is_open and kind in {"asks", "says"})):
            groups[-1].append(message)
        else:
            close()
            groups.append([message])
        is_open = kind == "asks" or (kind == "ours" and is_open)
    close()
    return [Entry(key(group), tuple(group), len(group) > 1, group[0].get("role") == "assistant") for group in groups]
