"""The window of a live session: messages in, messages under a budget out, and the model's recalls answered.

    window = memory.session("deploy").window(8_000)
    request = window.request(messages, tools=my_tools)
    reply = client.chat.completions.create(model=name, **request.body)
    messages += [reply.choices[0].message, *window.answer(reply.choices[0].message)]

The invariant: the log has everything before the window shows it, and what the window
no longer shows can be expanded to its bytes. A request that was returned has its
anatomy in the log. A compaction is one event: the window is the old one or the new.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from firsthand import formats, tokens
from firsthand import window as parts
from firsthand.answer import Conditions
from firsthand.context import anatomy as anatomies
from firsthand.context import task_state as tasks
from firsthand.context import task_text, topics
from firsthand.context.ledger_view import markers_of, task_of
from firsthand.context.must_stay import Stay, stays
from firsthand.context.plan import plan
from firsthand.context.push_pack import TOKENS_MAX
from firsthand.context.receipt import Left, Receipt, from_json
from firsthand.context.session_log import SessionLog, append_listed
from firsthand.context.tools import ANSWER_TOKENS_MIN, Pull, PullLimits, PullResult
from firsthand.errors import FormatError, InvalidArgument, StaleExpectation
from firsthand.event import INJECTED, PART, Draft, IdMaker, Kind, Trust, to_bytes
from firsthand.formats import canonical
from firsthand.formats import tool_definitions as calling
from firsthand.formats.tool_definitions import EXPAND, RECALL
from firsthand.ledger.decision_log import LedgerLog
from firsthand.ledger.effect import Effect
from firsthand.ledger.proposals import open_in
from firsthand.tokens import CounterOrName, TokenCounter
from firsthand.tokens.tokenizers import named
from firsthand.value import replace, short_repr
from firsthand.window import Budget, Item, Window

from . import caller_list
from .compaction import Compacted, compact, shed
from .fold import Fold
from .request import (
    SYSTEM_PARTS,
    TAIL_PARTS,
    TASK_TOKENS_MAX,
    Request,
    compose_from,
    listed,
    name_of,
    overhead,
    tools_json,
)
from .session_pack import Pack, pack

TRIES_MAX = 20  # of a write that other writers of the session were quicker than
ANSWERED = frozenset({RECALL, EXPAND})
ANSWER_TOKENS_MAX = 4_000  # of one recall or expand under a large budget
ANSWER_AROUND_TOKENS = 24  # of the message around an answer
FORMAT_EVENTS_MAX = 64  # a session's first events, among which its format is looked for
T = TypeVar("T")


class SessionWindow:
    """A session's window, kept under a budget; made by `Session.window`.

    Not safe to share between threads. Several processes may have windows of one session:
    each follows what the others append, compactions included.
    """

    def __init__(
        self,
        session: SessionLog,
        budget: int | Budget,
        *,
        format: str | None = None,  # noqa: A002 - the package's word
        counter: CounterOrName | None = None,
        pull: bool | PullLimits = True,
    ) -> None:
        if format is not None:
            formats.named(format)
        space = session.space
        size = (budget if isinstance(budget, Budget) else Budget(budget)).settled
        self._space, self._session, self._format = space, session, format
        self._counts_by_format = counter is None
        first = (named(counter) if isinstance(counter, str) else counter) or counter_of(
            format or self._format_of_first()
        )
        self._fold = Fold(space.log.reader, space.namespace, session.name, size, first, self._shed, session.list_name)
        self._left: list[Left] = []
        self._given: caller_list.CallerList | None = None
        self._surplus = 0  # how many tokens fewer the last request had than it was counted at
        self._gone: frozenset[str] = frozenset()  # what the caller's list no longer has, until the next receipt
        limits = pull if isinstance(pull, PullLimits) else limits_of(size)
        self._pull = None if not pull else Pull(
            space, session.name, limits, count=self._count, task=self._told_task,
            conditions=lambda: self.conditions, agent=session.agent_name,
        )  # fmt: skip
        self._topic = topics.Topic()
        self._unread: list[str] = []
        self._last: anatomies.Anatomy | None = None
        self._recalls = dict.fromkeys(ANSWERED, 0)
        self._fold.open()
        self._last = self._last_anatomy()
        self._topic = topics.observe(self._topic, self._latest_texts())

    def __repr__(self) -> str:
        return short_repr("SessionWindow", {"session": self._session.name, "budget": self.budget})

    # what is there -----------------------------------------------------------------------------------

    @property
    def budget(self) -> Budget:
        """The budget that the window is kept under."""
        return self._fold.budget

    @property
    def state(self) -> Window:
        """The window as it is now, as a value."""
        self._follow()
        markers = markers_of(self._fold.markers, Effect(self._space), self._fold.counter)
        return replace(self._fold.window, markers=markers, markers_tokens=sum(each.text_tokens for each in markers))

    @property
    def faults(self) -> tuple[str, ...]:
        """What of the session is damaged or cannot be read, so that the window goes on without it; in sentences."""
        return tuple(self._fold.faults.values())

    @property
    def task(self) -> tasks.TaskState:
        """The task state as it is now."""
        self._follow()
        return task_of(self._fold.task, Effect(self._space))

    @property
    def conditions(self) -> Conditions:
        """The task state as the conditions of a recall (total-recall 4)."""
        return tasks.of_task(self.task, self._session.name)

    @property
    def format(self) -> str:
        """The format of requests: as it was asked for, else that of the session's first message that has one."""
        if self._format is None:
            self._follow()
            named = (entry.event.meta.get("format") for entry in self._fold.shown.values())
            known = next((name for name in named if name in formats.FORMATS), None)
            if known is None:
                return formats.OPENAI_CHAT
            return self._settle(str(known))
        return self._format

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The schemas of recall, expand, task and decide in the window's format; a request has them already."""
        return calling.schemas(self._definitions(), self.format)

    def stays(self) -> tuple[Stay, ...]:
        """Say of each item of the window why it is still there, in order of position."""
        return stays(self.state, self.budget)

    def receipts(self) -> Iterator[Receipt]:
        """Yield the receipts of the session's compactions, the first one first."""
        for event in self._space.events(self._session.name, kind=Kind.RECEIPT):
            if not event.erased:
                yield self.receipt(f"fh:{event.id}")

    def receipt(self, address: str) -> Receipt:
        """Read the receipt that a pointer addresses.

        Raises:
            FormatError: the event there is no receipt.
            Unresolvable: nothing answers to the pointer; `Erased` when it was erased.
        """
        return from_json(self._space.expand(address))

    # the loop ----------------------------------------------------------------------------------------

    def add(self, messages: Mapping[str, Any] | Any | Sequence[Any], *, through: int | None = None) -> None:
        """Append new messages (one, or several) to the session; for those who do not keep the whole list.

        Args:
            through: the position that the session ends at, if they belong right behind it.

        Raises:
            FormatError: they are not of the window's format.
            StaleExpectation: the session does not end there.
        """
        several = [*messages] if isinstance(messages, Sequence) else [messages]
        plain = [_plain(message) for message in several]
        appended = self._append(plain, through=through)
        if self._given is not None and not self._given.added(plain, appended, several):
            self._given = None

    def sync(self, messages: Sequence[Any], *, anew: bool = False) -> None:
        """Append what is new in the whole list as it is now, without making a request.

        Args:
            anew: the list may have nothing in common with the session, since all of it was replaced.

        Raises:
            FormatError: it cannot be told what in the list is new; or it is of another format.
        """
        plain = [_plain(message) for message in messages]
        changes = self._written(lambda: self._take(plain, messages, anew=anew), "a list was compared with it")
        if changes.left:
            self._follow()
            gone = {at for known in changes.left for at in range(known.first_position, known.last_position + 1)}
            self._gone |= {item.id for item in self._fold.window.items if item.position in gone}

    def _take(self, plain: list[dict[str, Any]], objects: Sequence[Any], *, anew: bool) -> caller_list.Changes:
        """Append what is new in a list, if the session is still as it was read."""
        through, given = self._fold.through, self._given
        if given is None:
            given = caller_list.CallerList(caller_list.known(self._session, self._format))
        changes = given.changes(plain, objects, anew=anew)
        self._given = None  # until what is new of it stands in the log
        given.took(plain, changes, self._append(plain, changes, through), objects)
        self._given = given
        return changes

    def request(
        self,
        messages: Sequence[Any] | None = None,
        *,
        anew: bool = False,
        tools: Sequence[Mapping[str, Any]] | None = None,
        system: str | None = None,
        contributions: Mapping[str, str] | None = None,
        model: str = "",
    ) -> Request:
        """Give what to send to the model now: the window under its budget, and its anatomy in the log.

        Args:
            messages: the whole list as it is now; what is new in it is appended first, what was rewritten is
                noted as such, and what it no longer has leaves the window. None: nothing is new.
            anew: the list may have nothing in common with the session, since all of it was replaced.
            tools: the caller's own tool schemas, in the provider's form; None leaves those given before.
            system: the system prompt, where it is no message; None leaves the one given before.
            contributions: further texts by the name of their part: ``persona``, ``preamble``, ``files``,
                ``skills`` (of the system prompt); ``cues``, ``recall`` (at the end). An empty text takes one away.
            model: its name, for the record.

        Raises:
            FormatError: it cannot be told what in the list is new; or it is of another format.
            InvalidArgument: a contribution has no such name.
        """
        if messages is not None:
            self.sync(messages, anew=anew)
        self._give(tools, system, contributions or {})
        return self._written(lambda: self._request(model), "its window was made")

    def answer(self, message: Any) -> list[dict[str, Any]]:
        """Answer the calls of recall, expand, task and decide in a model's reply, as messages to append to the list.

        Calls of other tools are left to the caller. What is wrong with a call is told to the model.
        """
        known = {tool.name for tool in self._definitions()}
        results = []
        for call in calling.calls(message, self.format):
            if call.name in known:
                answer = self._answer(call)
                results.append(calling.Result(call, answer.text, answer.is_error))
        return calling.results(results, self.format) if results else []

    def call(self, name: str, arguments: Mapping[str, Any], *, repeats: bool = False) -> str:
        """Answer one call of recall, expand, task or decide, for a framework that runs tools by itself.

        Args:
            repeats: show what stands in the window too, since the model is not sent the window's requests.

        Raises:
            InvalidArgument: the window does not offer that tool.
        """
        offered = [tool.name for tool in self._definitions()]
        if name not in offered:
            raise InvalidArgument(f"the window offers {', '.join(offered) or 'no tool'}; got a call of {name!r:.60}")
        return self._answer(calling.Call("", name, dict(arguments)), repeats=repeats).text

    def _answer(self, call: calling.Call, *, repeats: bool = False) -> PullResult:
        assert self._pull is not None, "a window without a pull offers no tool"
        self._follow()
        return self._pull.answer(call, visible=() if repeats else self._visible(), turn=self._turn())

    def usage(self, input_tokens: int) -> None:
        """Take what the provider says that the last request had, so that the estimate uses the budget whole.

        What was sent counts as reported from then on, and only what is new since is estimated.

        Raises:
            InvalidArgument: it is no number of tokens, or nothing was requested yet.
        """
        if self._last is None or type(input_tokens) is not int or input_tokens < 1:
            raise InvalidArgument(
                f"usage is the number of input tokens of the last request, all that was read from a cache included; "
                f"got {input_tokens!r}{'' if self._last else ' before any request'}"
            )
        self._surplus = self._last.tokens - input_tokens

    def pack(self, tokens_max: int = TOKENS_MAX, *, preamble: str = "", cues: str = "", recall: str = "") -> Pack:
        """Make the push pack: what stands for the whole session in a few thousand tokens, as text and as messages.

        Raises:
            InvalidArgument: ``tokens_max`` is no number, or less than the newest turn needs.
        """
        self._follow()
        texts = {parts.PREAMBLE: preamble, parts.CUES: cues, parts.RECALL: recall}
        return pack(self._fold, self.format, texts, tokens_max, Effect(self._space))

    def set_task(self, **fields: Any) -> tasks.TaskState:
        """Set fields of the task state; what is not named stays.

        Args:
            fields: ``goal``, ``phase`` (texts), ``open_loops``, ``premises``, ``key_events``, ``constraints`` (lists).

        Raises:
            InvalidArgument: there is no such field, or it is of another type.
        """

        def set_fields() -> None:
            changed = tasks.to_json(tasks.changed(self._fold.task, **fields))
            draft = Draft(Kind.TASK_STATE, changed, tasks.MEDIA, origin="firsthand", trust=Trust.TRUSTED)
            # a version must have seen all events before it
            append_listed(self._session, [draft], self._fold.through or None)

        self._written(set_fields, "its task state was set")
        self._follow()
        return self._fold.task

    def compact(self) -> Receipt | None:
        """Compact now, down to the low-water mark; None when nothing can leave."""

        def compact() -> Receipt | None:
            made = self._compact(forced=True)
            if made is not None:
                self._write([made.task, made.draft], made)
            return made.receipt if made is not None else None

        return self._written(compact, "it was compacted")

    def _written(self, write: Callable[[], T], during: str) -> T:
        """Follow the session and write what rests on it, again where another writer was quicker."""
        for _ in range(TRIES_MAX):
            self._follow()
            with contextlib.suppress(StaleExpectation):
                return write()
        raise StaleExpectation(
            f"session {self._session.name!r} grew {TRIES_MAX} times while {during}; "
            "other writers append to it without a pause: do it again"
        )

    def composed(self) -> dict[str, Any]:
        """Compose the body of a request as the window is now; none is recorded, and nothing leaves."""
        self._follow()
        return compose_from(self._fold, self.format, self._definitions(), Effect(self._space)).body

    # one request -------------------------------------------------------------------------------------

    def _request(self, model: str) -> Request:
        fold, pull = self._fold, self._definitions()
        back, decided_to = fold.saved(), self._space.position
        made = self._compact(forced=False)
        if made is not None:
            fold.adopt(made.window)
        try:
            composed = compose_from(fold, self.format, pull, Effect(self._space))
            sent = canonical.dump(composed.body)
            topic = topics.observe(self._topic, self._unread)
            anatomy = anatomies.make(
                sent, composed.shares, fold.window, fold.budget,
                session=self._session.name, call=(self._last.call if self._last else 0) + 1,
                turn=self._turn(), turn_id=self._turn_id(), format=self.format, model=model,
                counter=tokens.identity(fold.counter),
                receipt=f"fh:{made.draft.id}" if made else _address(fold.receipt_event),
                topic=topic.label, transition=topic.transition,
                recalls=self._recalls[RECALL], expands=self._recalls[EXPAND],
            )  # fmt: skip
            offered = [tool.name for tool in pull]
            meta = {"item_share": fold.budget.item_share, "pull": offered, "ledger": decided_to}
            record = Draft(
                Kind.ANATOMY, anatomies.to_json(anatomy), "application/json", meta, origin="firsthand",
                trust=Trust.TRUSTED, id=IdMaker()(),
            )  # fmt: skip
            self._write([*([made.task, made.draft] if made else []), record], made)
        except BaseException:
            back()  # nothing of it is in the log: the window is the old one
            raise
        self._topic, self._unread, self._recalls = topic, [], dict.fromkeys(ANSWERED, 0)
        self._last = anatomy = replace(anatomy, pointer=f"fh:{record.id}")
        receipt = made.receipt if made else None
        notes = (*composed.notes, *self._over(anatomy), *self._shortened(), *self.faults)
        return Request(composed.body, anatomy.tokens - self._surplus, anatomy, receipt, notes, self._excess(anatomy))

    def _over(self, anatomy: anatomies.Anatomy) -> Iterator[str]:
        """Say what exceeds the budget, since what is sent beside the window is no item and is not cut either."""
        most, inside = self.budget.tokens_max + self._surplus, self._fold.tokens
        if anatomy.tokens > most:
            beside = max(0, anatomy.tokens - inside)
            yield (
                f"{anatomy.tokens:,} tokens are sent of a budget of {most:,}: {inside:,} in items and markers that "
                f"must stay, {beside:,} in tool schemas, task state, cues and recall"
            )

    def _shortened(self) -> Iterator[str]:
        """Name what is not shown whole."""
        cut = [name for name, entry in self._fold.shown.items() if entry.shortened]
        if cut:
            most = self.budget.item_tokens_max
            yield f"shown as previews, since one item has at most {most:,} tokens: {len(cut):,}, first fh:{cut[0]}"

    def _excess(self, anatomy: anatomies.Anatomy) -> tuple[Item, ...]:
        """Name the items that must stay, when the budget is exceeded with them."""
        if anatomy.tokens - self._surplus <= self.budget.tokens_max:
            return ()
        beside = max(0, anatomy.tokens - self._fold.tokens)
        return plan(self._fold.window, self.budget, overhead_tokens=beside).excess

    def _write(self, drafts: Sequence[Draft], made: Compacted | None) -> None:
        """Append receipt, task state and anatomy in one transaction, if the session is still as it was read."""
        appended = append_listed(self._session, drafts, self._fold.through or None)
        if made is not None:
            self._fold.adopt(made.window, made.receipt, str(made.draft.id))
            self._left = []
            self._gone = frozenset()
            self._surplus = self._surplus * made.receipt.tokens_after // max(1, made.receipt.tokens_before)
        self._fold.passed(appended[-1].position)

    def _compact(self, *, forced: bool) -> Compacted | None:
        fold, effect = self._fold, Effect(self._space)
        budget = replace(self.budget, tokens_max=max(1, self.budget.tokens_max + self._surplus))
        beside = overhead(fold, self.format, self._definitions(), effect, fold.noted)
        if fold.tokens + beside <= budget.high_tokens and not (forced or self._gone or self._left):
            return None
        beside = max(beside, overhead(fold, self.format, self._definitions(), effect, fold.task))
        return compact(fold, self._space, budget, beside, earlier=self._left, forced=forced, gone=self._gone)

    def _shed(self, fold: Fold) -> None:
        """Keep a long session that is read for the first time from filling the memory; one receipt tells what left."""
        self._left += shed(fold, self._space)

    # what is given -----------------------------------------------------------------------------------

    def _append(
        self, messages: list[dict[str, Any]], changes: caller_list.Changes | None = None, through: int | None = None
    ) -> list[caller_list.Known]:
        if not messages or (changes is not None and changes.new == len(messages) and not changes.places):
            return []
        name = self._format or self._settle(formats.detect(messages))
        ends = any(open_in(LedgerLog(self._space).decisions(), self._session.name))
        appended = caller_list.append(self._session, messages, name, changes, through)
        self._fold.own |= {known.first for known in appended}
        if ends:  # what the model decided in the turn before may be in force now
            self._space.decided()
        return appended

    def _settle(self, name: str) -> str:
        """Take a format, and count as is right for it: what was counted otherwise is counted anew."""
        self._format = name
        if self._counts_by_format and counter_of(name) is not self._fold.counter:
            self._fold.counter = counter_of(name)
            self._fold.open_anew()
        return name

    def _format_of_first(self) -> str:
        """Give the format of the session's first message that has one; empty when none of its first events has."""
        events = self._session.events(limit=FORMAT_EVENTS_MAX)
        return next((str(event.meta["format"]) for event in events if event.meta.get("format")), "")

    def _count(self, text: str) -> int:
        return self._fold.counter(text)

    def _give(
        self, tools: Sequence[Mapping[str, Any]] | None, system: str | None, contributions: Mapping[str, str]
    ) -> None:
        """Append what is given for parts of the prompt, where it is not what was given before."""
        texts = dict(contributions) if system is None else {parts.SYSTEM: system, **contributions}
        known = [*SYSTEM_PARTS, *TAIL_PARTS]
        wrong = [name for name in texts if name not in known]
        if wrong or not all(isinstance(text, str) for text in texts.values()):
            raise InvalidArgument(
                f"contributions are texts by the name of their part: {', '.join(known)}; "
                f"got {(wrong or list(texts))!r:.100}"
            )
        if not texts and tools is None:
            return
        ours = {tool.name for tool in self._definitions()}
        theirs = [name_of(tool) for tool in listed(tools)]
        if ours & {*theirs}:
            raise InvalidArgument(
                f"the tools {', '.join(sorted(ours))} are the window's own; got one of the caller's named "
                f"{min(ours & {*theirs})!r}: rename it, or open the window with pull=False"
            )
        wanted = {name: to_bytes(text) for name, text in texts.items()}
        if tools is not None:
            wanted[parts.TOOLS] = tools_json(tools)
        self._follow()
        drafts = [self._part(name, text) for name, text in wanted.items() if self._part_given(name) != text]
        if drafts:
            append_listed(self._session, drafts)

    def _part(self, name: str, text: bytes) -> Draft:
        kind = Kind.PERSONA if name == parts.PERSONA else Kind.SYSTEM if name in SYSTEM_PARTS else Kind.SESSION
        meta: dict[str, Any] = {PART: name}
        if name in (parts.PREAMBLE, parts.CUES, parts.RECALL):  # made by Firsthand of what the log has
            meta[INJECTED] = True
        media = "application/json" if name == parts.TOOLS else "text/plain"
        return Draft(kind, text, media, meta, origin="system", trust=Trust.TRUSTED)

    def _part_given(self, name: str) -> bytes:
        event = self._fold.given.get(name) or next(
            (entry.event for entry in self._fold.shown.values() if entry.event.meta.get(PART) == name), None
        )
        return self._fold.reader.content(event) if event is not None else b""

    # following ---------------------------------------------------------------------------------------

    def _follow(self) -> None:
        new = self._fold.follow()
        if self._fold.others:  # another handle gave messages: the list is compared with all that the session has
            self._given, self._fold.others = None, False
        if any(event.kind is Kind.ANATOMY for event in new):  # another handle made a request
            self._last = self._last_anatomy()
        for event in new:
            if event.kind in parts.HISTORY and not event.meta.get(PART):
                self._unread.append(event.text)
            if event.kind is Kind.TOOL_CALL and event.meta.get("tool") in ANSWERED:
                self._recalls[str(event.meta["tool"])] += 1

    def _latest_texts(self) -> list[str]:
        """Read what the topic is told from, so that a session that is opened again goes on with its own."""
        newest = self._fold.reader.events(
            self._space.namespace, session=self._session.name, limit=topics.RESUMED_EVENTS, newest_first=True,
            damaged=self._fold.tell,
        )  # fmt: skip
        return [event.text for event in newest if event.kind in parts.HISTORY and not event.meta.get(PART)][::-1]

    def _last_anatomy(self) -> anatomies.Anatomy | None:
        fold, before = self._fold, None
        while (event := fold.reader.latest(fold.namespace, fold.session, Kind.ANATOMY, before=before,
                                           damaged=fold.tell)) is not None:  # fmt: skip
            try:
                return anatomies.from_event(event)
            except FormatError as error:
                fold.tell(event.position, FormatError(f"anatomy fh:{event.id} cannot be used: {error}"))
                before = event.position
        return None

    def _definitions(self) -> tuple[calling.Tool, ...]:
        return self._pull.definitions() if self._pull is not None else ()

    def _told_task(self, fields: Mapping[str, Any]) -> str:
        """Set fields of the task state for the model, and give its text."""
        if fields:
            self.set_task(**fields)
        text = task_text.text(self.task, tokens_max=TASK_TOKENS_MAX, count=self._fold.counter)
        left = f'What left last, and why: expand("{_address(self._fold.receipt_event)}").'
        return f"{text}\n{left}" if self._fold.receipt_event else text

    def _visible(self) -> frozenset[str]:
        return frozenset(name for name, entry in self._fold.shown.items() if not entry.shortened)

    def _turn(self) -> int:
        return max((item.turn for item in self._fold.window.items), default=0)

    def _turn_id(self) -> str:
        turn = self._turn()
        return next((item.id for item in self._fold.window.items if item.turn == turn), "")


def _plain(message: Any) -> dict[str, Any]:
    """Give a message as a dictionary: providers' own types are taken as what they would send."""
    if isinstance(message, Mapping):
        return dict(message)
    dump_model = getattr(message, "model_dump", None)
    if callable(dump_model):
        members: dict[str, Any] = dump_model(mode="json", exclude_none=True)
        return members
    raise FormatError(f"a message is an object with a role or a type; got {type(message).__name__}")


def limits_of(budget: Budget) -> PullLimits:
    """Give the limits of pulls that a budget has room for: an answer is not to be shortened as soon as it is an item.

    At the most the 4,000 tokens an answer, and about 10,000 a turn, of total-recall 7.2.
    """
    answer = max(ANSWER_TOKENS_MIN, min(ANSWER_TOKENS_MAX, budget.item_tokens_max - ANSWER_AROUND_TOKENS))
    return PullLimits(tokens=answer * 5 // 2, answer_tokens=answer)


def counter_of(name: str) -> TokenCounter:
    """Give the estimate for a format: the newer models that speak Anthropic's cut text into more tokens than others."""
    return tokens.CLAUDE if name == formats.ANTHROPIC else tokens.estimate


def _address(identifier: str) -> str:
    return f"fh:{identifier}" if identifier else ""
