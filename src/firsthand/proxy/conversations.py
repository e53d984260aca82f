"""Which session a request belongs to, what of its list is new, and what is sent for it.

    list -> entries known by their keys -> session -> what is new into the log -> the window -> body

The invariant: a message that the log has for an entry is never appended again, and what was
kept from the client (calls of our tools, and their results) stands at its place in what is
sent. A session is known by the header that names it, else by the list: one that goes on where
a session stands is that session's, any other one begins a session. It reads no header and
knows no network.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import takewhile

from firsthand import Memory, Session, moment
from firsthand.context.session_window import SessionWindow
from firsthand.context.tools import NAMES
from firsthand.errors import FirsthandError
from firsthand.event import Kind, Trust
from firsthand.formats.fields import mapping, text
from firsthand.formats.tool_definitions import Result, calls, results
from firsthand.proxy.budgets import Budgets
from firsthand.proxy.dialect import Asked, Dialect, Entry, Message, Reply, Unfit, digest, texts_of
from firsthand.value import value

CONVERSATIONS_MAX = 256  # that are known without reading the log
NUMBERED_MAX = 32  # sessions that began alike and are looked up after a start
CUT_SHORT = "cut_short"
"""The fact in an event's meta which says why an answer has no end."""


@value
class Options:
    """What the proxy does with requests.

    Attributes:
        agent: whose words the answers are, where no header says so.
        recall: offer the window's tools.
        window: keep a window; without one, requests are sent as they come and recorded.
    """

    agent: str = ""
    recall: bool = True
    window: bool = True
    budgets: Budgets = Budgets()


class Conversation:
    """A session, as its client knows it."""

    def __init__(self, session: Session, dialect: Dialect) -> None:
        self.session, self.dialect = session, dialect
        self.entries: list[Entry] = []
        self.lock = threading.Lock()
        self.answers = 0  # that are on their way
        self.window: SessionWindow | None = None
        self.responses: OrderedDict[str, tuple[str, tuple[Message, ...]]] = OrderedDict()
        self.marks: list[bytes] = []
        self.calls: set[str] = set()  # ids of calls of our tools

    def took(self, messages: Sequence[Message], own: frozenset[str]) -> None:
        """Know messages that are in the log now."""
        before = self.entries[-1:]
        again = [message for entry in before for message in entry.messages]
        self.entries[-1:] = self.dialect.entries([*again, *messages], own, self.calls)


class Turn:
    """One request of a client on its way, with all calls of the upstream that it takes.

    Attributes:
        body: what is sent now.
        own: names of our tools that the model may call in it.
    """

    def __init__(self, conversations: Conversations, conversation: Conversation, asked: Asked) -> None:
        self._all, self.conversation, self._asked = conversations, conversation, asked
        self.body: Message = asked.body
        self.own: frozenset[str] = frozenset()
        self._window: SessionWindow | None = None
        self._is_plain = True  # nothing has left: what is sent is the client's list, grown
        self._withheld: tuple[Message, ...] = ()

    @property
    def changes(self) -> bool:
        """Say whether another body is sent than the one that came."""
        return self._all.options.window

    @property
    def session(self) -> str:
        """The session's name."""
        return self.conversation.session.name

    def begin(self, new: list[Message]) -> None:
        """Append what is new, and make the request."""
        conversation, asked = self.conversation, self._asked
        if not self._all.options.window:
            self._append(new)
            conversation.took(new, self.own)
            return
        self._window = window = self._all.window_of(conversation, asked)
        self.own = frozenset(map(tool_name, window.tools))
        is_first = not conversation.entries and len(new) > 1  # who said the others when, nobody knows
        if not is_first:
            window.add(new)
        conversation.took(new, self.own)
        if asked.stands_on:
            self.body = self._chained(window.tools)
            return
        request = window.request(
            new if is_first else None, tools=asked.tools, system=asked.system, model=asked.model
        )  # fmt: skip
        self._write(window, request.messages)

    def _write(self, window: SessionWindow, messages: list[Message]) -> None:
        """Write the body: the client's own list while nothing has left, else that of the window."""
        entries, asked, dialect = self.conversation.entries, self._asked, self.conversation.dialect
        theirs = dialect.entries(asked.messages, (), set())
        self._is_plain = is_whole(window) and len(entries) == len(theirs)
        if self._is_plain:
            both = zip(entries, theirs, strict=True)
            messages = [message for ours, own in both for message in (ours if ours.hidden else own).messages]
        self.body = dialect.write(asked, messages, window.tools, composed=not self._is_plain)

    def _chained(self, schemas: list[Message]) -> Message:
        """Write a request that stands on a response which the upstream keeps."""
        named, results_ = self.conversation.responses.get(self._asked.stands_on, (self._asked.stands_on, ()))
        body = self.conversation.dialect.write(self._asked, [*results_, *self._asked.messages], schemas, composed=False)
        return {**body, "previous_response_id": named}

    def go_on(self, reply: Reply, *, last: bool) -> None:
        """Answer the calls of our tools in a reply, and make the request that goes on behind them.

        Args:
            last: no tool may be called any more.
        """
        with self.conversation.lock:
            try:
                answers = self._answered(reply)
            except (FirsthandError, OSError) as error:  # nothing of ours ends an answer that has begun
                answers = self._refused(reply, type(error).__name__)
            body = self.conversation.dialect.continued(self.body, reply, answers)
            if not self._asked.stands_on:
                body = self._within_budget(body)
            self.body = self.conversation.dialect.without_tools(body) if last else body

    def _within_budget(self, body: Message) -> Message:
        """Give the body of the window where something of it has left, else the one that has only grown."""
        assert self._window is not None, "our tools are offered where there is a window"
        try:
            request = self._window.request()
        except (FirsthandError, OSError):  # what was answered goes on as it is
            return body
        if self._is_plain and is_whole(self._window):
            return body
        self._is_plain = False
        return self.conversation.dialect.write(self._asked, request.messages, self._window.tools, composed=True)

    def _refused(self, reply: Reply, why: str) -> list[Message]:
        """Say to the model that its calls of our tools failed."""
        name = self.conversation.dialect.FORMAT
        ours = [call for message in reply.messages for call in calls(message, name) if call.name in self.own]
        return results([Result(call, f"degraded: {call.name} failed ({why})", is_error=True) for call in ours], name)

    def _answered(self, reply: Reply) -> list[Message]:
        """Answer calls of our tools; calls and answers are appended together."""
        window, conversation = self._window, self.conversation
        assert window is not None, "our tools are offered where there is a window"
        answers: list[Message] = []
        for message in reply.messages:
            answers += window.answer(message)
        window.add([*reply.messages, *answers])
        conversation.took([*reply.messages, *answers], self.own)
        return answers

    def end(self, reply: Reply, first_id: str = "") -> None:
        """Append what the model said at the end; calls of ours beside the client's are answered at once, for later."""
        with self.conversation.lock:
            if reply.ours and self._window is not None:
                self._withheld = tuple(self._answered(reply))
            else:
                self._append(list(reply.messages))
                self.conversation.took(reply.messages, self.own)
            if reply.id:
                self._all.know_response(self.conversation, first_id or reply.id, reply.id, self._withheld)
        self._all.ended(self)

    def cut(self, reply: Reply | None, why: str) -> None:
        """Append what was said until an answer was cut short: beside the window, since the client may not know it."""
        with self.conversation.lock:
            for message in reply.messages if reply is not None else ():
                self.conversation.session.append(
                    Kind.SESSION, _text(message), meta={CUT_SHORT: why}, origin="agent", trust=Trust.AGENT,
                    agent=self.conversation.session.agent_name,
                )  # fmt: skip
        self._all.ended(self)

    def _append(self, messages: list[Message]) -> None:
        if self._window is not None:
            self._window.add(messages)
        else:
            self.conversation.session.append_messages(messages, self.conversation.dialect.FORMAT, time=moment.now())


class Conversations:
    """All conversations of one namespace."""

    def __init__(self, memory: Memory, options: Options) -> None:
        self.memory, self.options = memory, options
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str], Conversation] = OrderedDict()  # by session and format
        self._marks: dict[bytes, Conversation] = {}  # by all keys of a list, in order
        self._responses: dict[str, Conversation] = {}
        self._read: set[bytes] = set()  # beginnings whose sessions were looked up

    def turn(self, asked: Asked, dialect: Dialect, *, session: str, agent: str, again: bool) -> Turn:
        """Find a request's session, append what is new, and make what is sent for it.

        Args:
            session: named by a header; empty where none is.
            again: the client says that it sends a request once more.

        Raises:
            Unfit: it cannot be told what is new.
        """
        entries = dialect.entries(map(dialect.plain, asked.messages), (), set())
        with self._lock:
            conversation = self._find(asked, dialect, entries, session, agent or self.options.agent, again=again)
            conversation.answers += 1
        turn = Turn(self, conversation, asked)
        try:
            with conversation.lock:
                known = 0 if asked.stands_on else len(conversation.entries)
                turn.begin([message for entry in entries[known:] for message in entry.messages])
            with self._lock:
                self._mark(conversation)
        except BaseException:
            self.ended(turn)
            raise
        return turn

    def ended(self, turn: Turn) -> None:
        """Know that an answer is no longer on its way."""
        with self._lock:
            turn.conversation.answers -= 1
            self._mark(turn.conversation)

    def window_of(self, conversation: Conversation, asked: Asked) -> SessionWindow:
        """Give the window of a conversation, under the budget of the model that is asked."""
        tokens = self.options.budgets.of(asked.model)
        pull = self.options.recall
        window = conversation.window
        if window is None or window.budget.tokens_max != tokens:
            window = conversation.session.window(tokens, format=conversation.dialect.FORMAT, pull=pull)
            if {*map(tool_name, asked.tools)} & {*map(tool_name, window.tools)}:  # the client's own come first
                window = conversation.session.window(tokens, format=conversation.dialect.FORMAT, pull=False)
            conversation.window = window
        return window

    def know_response(self, conversation: Conversation, first: str, last: str, withheld: tuple[Message, ...]) -> None:
        """Know what a client may name as the response that its next request stands on."""
        with self._lock:
            self._responses[first] = conversation
            conversation.responses[first] = (last, withheld)
            while len(conversation.responses) > CONVERSATIONS_MAX:
                self._responses.pop(conversation.responses.popitem(last=False)[0], None)

    # which one ---------------------------------------------------------------------------------------

    def _find(
        self, asked: Asked, dialect: Dialect, entries: list[Entry], session: str, agent: str, *, again: bool
    ) -> Conversation:
        keys = [entry.key for entry in entries]
        if asked.stands_on:
            known = self._responses.get(asked.stands_on) or (self._opened(session, agent, dialect) if session else None)
            if known is None:
                raise Unfit("it stands on a response that this proxy did not see (previous_response_id)")
            return known
        if session:
            conversation = self._opened(session, agent, dialect)
            if not _continues(conversation, keys):
                raise Unfit(f"the list is not that of session {session}, grown")
            return conversation
        base = digest(dialect.FORMAT, agent, *_beginning(entries))
        if base not in self._read:
            self._look_up(base, agent, dialect)
        for known_keys in range(len(keys), 0, -1):
            conversation_ = self._marks.get(digest(dialect.FORMAT, agent, *keys[:known_keys]))
            if conversation_ is None or len(conversation_.entries) != known_keys:
                continue
            if known_keys < len(keys) or again or not conversation_.answers:
                return conversation_
        return self._opened(self._new_name(base), agent, dialect)

    def _look_up(self, base: bytes, agent: str, dialect: Dialect) -> None:
        """Know the sessions of the log that began so: what a proxy before this one kept."""
        self._read.add(base)
        for name in _names(base):
            if not self._exists(name):
                return
            self._mark(self._opened(name, agent, dialect))

    def _new_name(self, base: bytes) -> str:
        for name in _names(base):
            if (name, "") not in self._known and not self._exists(name) and not self._is_known(name):
                return name
        return f"{next(_names(base))}-{digest(str(moment.now())).hex()[:8]}"

    def _is_known(self, name: str) -> bool:
        return any(session == name for session, _ in self._known)

    def _exists(self, name: str) -> bool:
        return next(iter(self.memory.events(name, limit=1)), None) is not None

    def _opened(self, session: str, agent: str, dialect: Dialect) -> Conversation:
        """Give a conversation, out of the log where it is not known."""
        at = (session, dialect.FORMAT)
        conversation = self._known.get(at)
        if conversation is None:
            conversation = Conversation(self.memory.session(session, agent=agent), dialect)
            stored = conversation.session.messages(dialect.FORMAT)
            conversation.entries = dialect.entries(stored, NAMES, conversation.calls)
            self._known[at] = conversation
            self._forget()
        self._known.move_to_end(at)
        return conversation

    def _forget(self) -> None:
        for at, conversation in [*self._known.items()][: max(0, len(self._known) - CONVERSATIONS_MAX)]:
            if conversation.answers == 0:
                del self._known[at]
                for mark in conversation.marks:
                    self._marks.pop(mark, None)
                self._read.clear()  # it is found in the log again

    def _mark(self, conversation: Conversation) -> None:
        """Let the list be found as it is now."""
        keys = [entry.key for entry in conversation.entries]
        mark = digest(conversation.dialect.FORMAT, conversation.session.agent_name, *keys)
        self._marks[mark] = conversation
        conversation.marks.append(mark)
        while len(conversation.marks) > 4:
            old = conversation.marks.pop(0)
            if old != mark and self._marks.get(old) is conversation:
                del self._marks[old]


def tool_name(tool: Message) -> str:
    """Give the name of a tool's schema, in whichever form."""
    return text(tool.get("name") or mapping(tool.get("function")).get("name"))


def is_whole(window: SessionWindow) -> bool:
    """Say whether a window shows all that was said, each item whole."""
    state = window.state
    return state.cycle == 0 and not any(item.shortened for item in state.items)


def _continues(conversation: Conversation, keys: Sequence[bytes]) -> bool:
    known = [entry.key for entry in conversation.entries]
    return list(keys[: len(known)]) == known


def _beginning(entries: Sequence[Entry]) -> list[bytes]:
    """Give the keys of what the user said before the model's first answer."""
    said = takewhile(lambda entry: entry.messages[-1].get("role") == "user", entries)
    return [entry.key for entry in said] or [entry.key for entry in entries[:1]]


def _names(base: bytes) -> Iterator[str]:
    """Yield the names of sessions that begin alike."""
    name = f"proxy-{base.hex()[:12]}"
    yield name
    yield from (f"{name}-{number}" for number in range(2, NUMBERED_MAX))


def _text(message: Message) -> str:
    return "\n".join(filter(None, texts_of(message.get("content")))) or str(message)
