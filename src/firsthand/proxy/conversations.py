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
from contextlib import suppress
from itertools import accumulate, count, takewhile

from firsthand import Memory, moment
from firsthand.context.request import TASK_SHARE, TASK_TOKENS_MAX, TASK_TOKENS_MIN
from firsthand.context.session_lists import name_of, new_name
from firsthand.context.session_log import message_of
from firsthand.context.session_window import SessionWindow
from firsthand.context.tools import NAMES
from firsthand.errors import FirsthandError, StaleExpectation
from firsthand.event import Kind, Trust
from firsthand.formats.fields import mapping, text
from firsthand.formats.tool_definitions import Result, calls, results
from firsthand.proxy.budgets import Budgets
from firsthand.proxy.conversation import WITHHELD, Conversation
from firsthand.proxy.dialect import Asked, Dialect, Entry, Message, Reply, Unfit, digest, texts_of
from firsthand.proxy.lists import Lists
from firsthand.value import value
from firsthand.window import Budget

AHEAD_SHARE = 0.95  # of the budget: where more would be used soon, room is made while the upstream thinks
STEPS_AHEAD = 2  # as large as this one
CONVERSATIONS_MAX = 256  # that are known without reading the log
NUMBERED_MAX = 1_000  # sessions that began alike: so many of the newest are looked up after a start
HEAD_EVENTS_MAX = 16  # of a session, among which its first answer is looked for
LISTS_MAX = 8  # of a session that a header names: so many of its newest lists are found after a start
CUT_SHORT = "cut_short"
"""The fact in an event's meta which says why an answer has no end."""
Place = tuple[str, str, str]
"""Of a conversation: its session, its format, and the name of its list."""


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


class Turn:
    """One request of a client on its way, with all calls of the upstream that it takes.

    Attributes:
        body: what is sent now.
        own: names of our tools that the model may call in it.
        before: why the request before this one was not recorded; empty when it was.
    """

    def __init__(self, every: Conversations, conversation: Conversation, asked: Asked, entries: list[Entry]) -> None:
        self._all, self.conversation, self._asked, self._entries = every, conversation, asked, entries
        self._sizes = [len(entry.messages) for entry in entries]  # of the client's list, in messages
        self.before = every.lost.pop(conversation.session.name, "")
        self.changes = every.options.window  # another body is sent than the one that came
        self.body: Message = asked.body
        self.own: frozenset[str] = frozenset()
        self._is_recorded = self._is_lost = False
        self._is_second = False  # another process was given the same request at the same moment
        self._window: SessionWindow | None = None
        self._sent: list[Message] | None = None  # what is sent is this; else the client's list, grown
        self._withheld: tuple[Message, ...] = ()
        self._answers = 0  # messages of calls of ours and their results, while the answer goes on
        self._new: list[Message] = []
        self._whole: list[Message] | None = None  # the list, where the window is to find out what is new

    def content(self) -> bytes:
        """Write the body."""
        return self._asked.content(self.body)

    @property
    def window(self) -> SessionWindow:
        """The window: there is one where a body is written and our tools are offered."""
        assert self._window is not None, "with capture alone no body is written"
        return self._window

    def begin(self) -> None:
        """Make the request, at once where the client's own list goes out; else what is new is recorded first."""
        conversation, asked, entries = self.conversation, self._asked, self._entries
        if conversation.answers > 1:  # else the log was followed
            conversation.forget_erased(conversation.read_through)
        known = 0 if asked.stands_on else len(conversation.entries)
        goes_on = bool(asked.stands_on) or conversation.goes_on(entries)
        if not goes_on:  # trimmed, or rewritten in front of where the session stands
            stored = {entry.key: entry for entry in conversation.entries}
            known, self._entries = 0, [stored.get(entry.key, entry) for entry in entries]
            entries = [entry for entry in self._entries if self.changes or entry.key not in stored]
        self._new = [message for entry in entries[known:] for message in entry.messages]
        is_first = not conversation.entries and len(self._new) > 1  # who said the others when, nobody knows
        self._whole = self._new if self.changes and (is_first or not goes_on) else None
        if self.changes:
            self._window = self._all.window_of(conversation, asked)
            self._tools = self._window.tools
            self.own = frozenset(map(tool_name, self._tools))
        self._tokens_before, self._size = conversation.recorded_tokens, conversation.size_of(self._new)
        is_quick = goes_on and not asked.stands_on and self._is_small()
        conversation.frame = (asked.system, asked.tools)
        if goes_on:
            conversation.took(self._new, self.own, self._size)
        else:
            conversation.entries, conversation.appended = list(self._entries), None
        if not self.changes:
            return
        if not is_quick:
            conversation.sent = None
            self._recorded()
        self.body = self._chained() if asked.stands_on else self._written()

    def _is_small(self) -> bool:
        """Say whether all certainly fits, so that the request need not wait for the window."""
        conversation = self.conversation
        if self._window is None or not (conversation.is_whole or conversation.sent):
            return False
        budget, size, task, frame = self.window.budget, self._size, 0, 0
        if conversation.is_whole:  # nothing says its task state yet: that one's room is kept free
            task = max(TASK_TOKENS_MIN, min(TASK_TOKENS_MAX, int(budget.tokens_max * TASK_SHARE)))
        if conversation.frame != (self._asked.system, self._asked.tools):
            frame = conversation.size_of([self._asked.system, *self._asked.tools])
        return size < budget.item_tokens_max and conversation.tokens + size + task + frame < budget.tokens_max

    def record(self) -> None:
        """Put what is new into the log where it is not yet; compact where one of the next requests would have to."""
        conversation, window = self.conversation, self._window
        with conversation.lock:
            if not self._is_recorded:
                self._recorded()
            if window is None or self._asked.stands_on:
                return
            if conversation.answers > 1:  # what another one brought is not in the window yet
                conversation.is_whole, conversation.sent = False, None
                return
            step = conversation.recorded_tokens - self._tokens_before if self._tokens_before else 0
            if conversation.recorded_tokens + STEPS_AHEAD * step > window.budget.tokens_max * AHEAD_SHARE:
                receipt = window.compact()
                if receipt is not None:
                    conversation.is_whole, conversation.tokens = False, receipt.tokens_after
                    conversation.sent = window.composed()[conversation.dialect.LIST]

    def lose(self, why: str) -> None:
        """Know that what is new could not be recorded: neither is what follows, and the session is read anew."""
        self._is_lost = True
        self._all.lost[self.conversation.session.name] = why
        self._all.forget(self.conversation)

    def _recorded(self) -> None:
        asked, conversation, window = self._asked, self.conversation, self._window
        self._is_recorded = True
        if window is None or asked.stands_on:
            return self._append(self._new)
        if self._whole is None:
            self._add_new(window)
        request = window.request(self._whole, anew=True, tools=asked.tools, system=asked.system, model=asked.model)
        return conversation.composed(request, window)

    def _add_new(self, window: SessionWindow) -> None:
        """Append what is new, unless another process has just appended the same."""
        while not self._is_second:
            through, only = window.state.through, self.conversation.answers == 1
            self._is_second = only and bool(self._new) and self.conversation.others()[: len(self._new)] == self._new
            with suppress(StaleExpectation):
                if not self._is_second:
                    window.add(self._new, through=through)
                return

    def _written(self) -> Message:
        """Write the body: the client's own list while nothing has left, else that of the window."""
        conversation = self.conversation
        if conversation.sent is None and len(self._entries) != len(conversation.entries):
            conversation.sent = self.window.composed()[conversation.dialect.LIST]
        self._sent = conversation.sent
        messages = self._as_it_came() if self._sent is None else self._sent
        return conversation.dialect.write(self._asked, messages, self._tools, composed=self._sent is not None)

    def _as_it_came(self) -> list[Message]:
        """Give the client's own list, and what was withheld from it at its place."""
        theirs, entries = self._asked.messages, self.conversation.entries
        if not any(entry.hidden for entry in entries):
            return [*theirs]
        messages: list[Message] = []
        ends = accumulate(self._sizes)
        for entry, size, end in zip(entries, self._sizes, ends, strict=True):
            messages += entry.messages if entry.hidden else theirs[end - size : end]
        return messages

    def _chained(self) -> Message:
        """Write a request that stands on a response which the upstream keeps."""
        named, answers = self.conversation.responses.get(self._asked.stands_on, (self._asked.stands_on, ()))
        messages = [*answers, *self._asked.messages]
        body = self.conversation.dialect.write(self._asked, messages, self._tools, composed=False)
        return {**body, "previous_response_id": named}

    # our tools ---------------------------------------------------------------------------------------

    def go_on(self, reply: Reply, *, last: bool) -> None:
        """Answer the calls of our tools in a reply, and make the request that goes on behind them.

        Args:
            last: no tool may be called any more.
        """
        dialect = self.conversation.dialect
        with self.conversation.lock:
            try:
                answers = self._answered(reply)
                self._answers += len(reply.messages) + len(answers)
            except (FirsthandError, OSError) as error:  # nothing of ours ends an answer that has begun
                answers = self._refused(reply, type(error).__name__)
            if self._asked.stands_on:
                body = {**self.body, "previous_response_id": reply.id, dialect.LIST: answers}
            else:
                grown = [*self.body[dialect.LIST], *reply.messages, *answers]
                body = self._within_budget({**self.body, dialect.LIST: grown})
            self.body = {**body, **dialect.NO_TOOLS} if last else body

    def _within_budget(self, body: Message) -> Message:
        """Give the body of the window where something of it has left, else the one that has only grown."""
        conversation, window = self.conversation, self.window
        try:
            conversation.composed(window.request(), window)
        except (FirsthandError, OSError):  # what was answered goes on as it is
            return body
        if conversation.sent is None or conversation.sent is self._sent:
            return body
        self._sent = conversation.sent
        return conversation.dialect.write(self._asked, self._sent, self._tools, composed=True)

    def _answered(self, reply: Reply) -> list[Message]:
        """Answer calls of our tools; calls and answers are appended together."""
        if self._is_lost:
            return self._refused(reply, "the store failed")
        answers = [answer for message in reply.messages for answer in self.window.answer(message)]
        if self._is_second:
            return answers
        self.window.add([*reply.messages, *answers])
        self.conversation.took([*reply.messages, *answers], self.own)
        return answers

    def _refused(self, reply: Reply, why: str) -> list[Message]:
        """Say to the model that its calls of our tools failed."""
        name = self.conversation.dialect.FORMAT
        ours = [call for message in reply.messages for call in calls(message, name) if call.name in self.own]
        return results([Result(call, f"degraded: {call.name} failed ({why})", is_error=True) for call in ours], name)

    # how it ends -------------------------------------------------------------------------------------

    def end(self, reply: Reply, first_id: str = "") -> None:
        """Append what the model said at the end; calls of ours beside the client's are answered at once, for later."""
        conversation = self.conversation
        if self._is_second or (conversation.answers == 1 and conversation.is_behind(conversation.read_through)):
            return self.cut(reply, "another proxy recorded an answer at the same time")
        try:
            with self.conversation.lock:
                if reply.ours and self._window is not None:
                    self._withheld = tuple(self._answered(reply))
                elif not self._is_lost:
                    self._append(list(reply.messages))
                    self.conversation.took(reply.messages, self.own)
                if self.conversation.answers == 1 and not self._is_lost:
                    self.conversation.follow()  # so that the next request need not
                if reply.id:
                    self._all.know_response(self.conversation, first_id or reply.id, reply.id, self._withheld)
        finally:
            self._all.ended(self)

    def cut(self, reply: Reply | None, why: str) -> None:
        """Append what was said until an answer was cut short: beside the window, since the client may not know it."""
        conversation, messages = self.conversation, reply.messages if reply is not None else ()
        session, meta = conversation.session, {CUT_SHORT: why}
        with conversation.lock:
            if self._answers and conversation.answers == 1 and not self._is_lost:
                conversation.cut(self._answers)
                meta[WITHHELD] = str(self._answers)
        self._all.ended(self)  # from now on the client may say it otherwise
        with conversation.lock:
            if self._is_lost:
                return
            for message in messages:
                words = "\n".join(filter(None, texts_of(message.get("content")))) or str(message)
                session.append(Kind.SESSION, words, meta=meta, origin="agent", trust=Trust.AGENT,
                               agent=session.agent_name)  # fmt: skip
            if not messages:
                session.append(Kind.SESSION, f"unanswered: {why}", meta=meta, origin="firsthand")

    def _append(self, messages: list[Message]) -> None:
        if self._window is not None:
            self._window.add(messages)
        elif messages:
            self.conversation.session.append_messages(messages, self.conversation.dialect.FORMAT, time=moment.now())


class Conversations:
    """All conversations of one namespace.

    Attributes:
        requests: that are looked up now.
    """

    def __init__(self, memory: Memory, options: Options) -> None:
        self.memory, self.options = memory, options
        self._lock = threading.Lock()
        self._known: OrderedDict[Place, Conversation] = OrderedDict()
        self._lists = Lists()
        self.lost: dict[str, str] = {}  # why the newest request of a session was not recorded
        self._responses: dict[str, Conversation] = {}
        self._heads: dict[bytes, dict[int, bytes]] = {}  # first answers of sessions that begin alike, by their number
        self._read_through: dict[str, int] = {}  # positions to which named sessions were searched for lists
        self.requests = 0

    @property
    def is_idle(self) -> bool:
        """Whether no request is looked up and no answer is on its way."""
        with self._lock:
            return not self.requests and not any(each.answers for each in self._known.values())

    def turn(self, asked: Asked, dialect: Dialect, *, session: str, agent: str, again: bool) -> Turn:
        """Find a request's session, and make what is sent for it.

        Args:
            session: named by a header; empty where none is.
            again: the client says that it sends a request once more.

        Raises:
            Unfit: it cannot be told what is new.
        """
        entries = self._lists.entries(asked, dialect)
        with self._lock:
            where = asked, dialect, entries, session, agent or self.options.agent
            conversation = self._find(*where, again=again)
            while not conversation.answers and conversation.follow():
                self._mark(conversation)
                conversation = self._find(*where, again=again)
            conversation.answers += 1
            self._lists.drop(conversation)  # a list that comes meanwhile and goes on from the same place is another
        turn = Turn(self, conversation, asked, entries)
        try:
            with conversation.lock:
                turn.begin()
        except BaseException:
            self.ended(turn)
            self.forget(conversation)
            raise
        with self._lock:
            self._mark(conversation)
        return turn

    def ended(self, turn: Turn) -> None:
        """Know that an answer is no longer on its way."""
        with self._lock:
            turn.conversation.answers -= 1
            self._mark(turn.conversation)

    def forget(self, conversation: Conversation) -> None:
        """Know nothing of a conversation but what the log says."""
        with self._lock:
            self._drop(_place(conversation))

    def window_of(self, conversation: Conversation, asked: Asked) -> SessionWindow:
        """Give the window of a conversation, under the budget of the model that is asked."""
        tokens = self.options.budgets.of(asked.model)
        pull = self.options.recall and {*NAMES}.isdisjoint(map(tool_name, asked.tools))  # the client's own come first
        if conversation.window is None or conversation.kept_for != (tokens, pull):
            budget = Budget(tokens, high=1)  # room is made before that is reached
            conversation.window = conversation.session.window(budget, format=conversation.dialect.FORMAT, pull=pull)
            conversation.kept_for, conversation.is_whole, conversation.sent = (tokens, pull), False, None
        return conversation.window

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
        if asked.stands_on and not session:
            if asked.stands_on not in self._responses:
                raise Unfit("it stands on a response that this proxy did not see (previous_response_id)")
            return self._responses[asked.stands_on]
        if session:
            first = self._opened(session, agent, dialect, owner=f"session {session}")
            is_new = asked.stands_on or not (first.entries or first.answers)
            return first if is_new else self._list_of(first, entries, again=again)
        said = [*takewhile(lambda entry: entry.messages[-1].get("role") == "user", entries)]
        owner = f"agent {agent}"
        base = digest(dialect.FORMAT, agent, *([entry.key for entry in said] or [entry.key for entry in entries[:1]]))
        conversation = self._found(dialect, owner, entries, again=again)
        if conversation is not None:
            return conversation
        answered = {entry.key for entry in entries[len(said) :][:1]}
        last = self._look_up(base, answered, len(said), agent, dialect, owner)
        conversation = self._found(dialect, owner, entries, again=again)
        if conversation is not None:
            return conversation
        taken = {session for session, _, _ in self._known}
        name = next(name for number in count(last + 1) if (name := _name(base, number)) not in taken)
        return self._opened(name, agent, dialect, owner=owner)

    def _found(self, dialect: Dialect, owner: str, entries: list[Entry], *, again: bool) -> Conversation | None:
        whole = self._lists.find(dialect, owner, entries, again=again)
        return whole or self._lists.find_trimmed(dialect, owner, entries)

    def _look_up(self, base: bytes, first: set[bytes], said: int, agent: str, dialect: Dialect, owner: str) -> int:
        """Open those sessions of the log that begin alike and were answered alike; give the number of the last one.

        Args:
            first: the key of the list's first answer, where it has one; said: entries before it.
        """
        heads = self._heads.setdefault(base, {})
        last, step = max(heads, default=0), 1
        while self._exists(_name(base, last + step)):
            last, step = last + step, step * 2
        while step := step // 2:
            last += step * self._exists(_name(base, last + step))
        for number in range(max(1, last - NUMBERED_MAX + 1), last + 1):
            heads[number] = heads.get(number) or self._head(_name(base, number), dialect, said)
            if heads[number] in {b"", *first}:
                self._mark(self._opened(_name(base, number), agent, dialect, owner=owner))
        return last

    def _head(self, name: str, dialect: Dialect, said: int) -> bytes:
        """Give the key of a session's first answer; empty where it is not certain."""
        session = self.memory.session(name)
        events = [*session.events(limit=HEAD_EVENTS_MAX)]
        ours = (event for event in events if event.part == 0 and event.meta.get("format") == dialect.FORMAT)
        made = dialect.entries([message_of(session, event) for event in ours if not event.erased], NAMES, set())
        is_sure = len(events) < HEAD_EVENTS_MAX or len(made) > said + 1
        is_sure &= not any(event.meta.get(WITHHELD) or event.erased for event in events)
        return made[said].key if is_sure and len(made) > said else b""

    def _list_of(self, first: Conversation, entries: list[Entry], *, again: bool) -> Conversation:
        """Find the list of a session that a header names; else begin one where it parts from another."""
        name, agent, dialect, owner = first.session.name, first.session.agent_name, first.dialect, first.owner
        conversation = self._lists.find(dialect, owner, entries, again=again)
        if conversation is not None:
            return conversation
        # what another proxy appended, or this one before it was started
        since = self._read_through.get(name, 0)
        newest = dict.fromkeys(map(name_of, self.memory.events(name, after=since, newest_first=True)))
        self._read_through[name] = self.memory.position
        for list_name in [*newest][LISTS_MAX - 1 :: -1]:
            other = self._opened(name, agent, dialect, list_name, owner=owner)
            if not other.answers:
                other.follow()
            self._mark(other)
        conversation = self._lists.find(dialect, owner, entries, again=again)
        if conversation is not None:
            return conversation
        every = [each for each in self._known.values() if each.owner == owner and each.dialect is dialect]
        base = max(every, key=lambda each: each.common(entries))
        common = base.common(entries)
        trimmed = self._lists.find_trimmed(dialect, owner, entries)
        if trimmed is not None and trimmed.common(entries) == common:
            return trimmed
        place = base.place(common) if common else ""
        return self._opened(name, agent, dialect, new_name(place), owner=owner)

    def _exists(self, name: str) -> bool:
        return next(iter(self.memory.events(name, limit=1)), None) is not None

    def _opened(self, name: str, agent: str, dialect: Dialect, list_name: str = "", *, owner: str) -> Conversation:
        """Give a conversation, out of the log where it is not known."""
        at = (name, dialect.FORMAT, list_name)
        if at not in self._known:
            session = self.memory.session(name, agent=agent)
            session.list_name = list_name
            lock = next((each.lock for each in self._known.values() if each.session.name == name), threading.Lock())
            self._known[at] = Conversation(session, dialect, owner, lock)
            for old in [*self._known][: max(0, len(self._known) - CONVERSATIONS_MAX)]:
                if self._known[old].answers == 0:
                    self._drop(old)
        self._known.move_to_end(at)
        return self._known[at]

    def _drop(self, at: Place) -> None:
        conversation = self._known.pop(at, None)
        if conversation is not None:
            self._lists.drop(conversation)
        self._read_through.pop(at[0], None)

    def _mark(self, conversation: Conversation) -> None:
        if self._known.get(_place(conversation)) is conversation:
            self._lists.mark(conversation)


def _place(conversation: Conversation) -> Place:
    return conversation.session.name, conversation.dialect.FORMAT, conversation.session.list_name


def tool_name(tool: Message) -> str:
    """Give the name of a tool's schema, in whichever form."""
    return text(tool.get("name") or mapping(tool.get("function")).get("name"))


def _name(base: bytes, number: int) -> str:
    """Name a session by its beginning, and by its number among those that begin alike."""
    return f"proxy-{base.hex()[:12]}{f'-{number}' * (number > 1)}"
