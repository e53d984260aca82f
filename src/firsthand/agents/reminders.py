"""Implicit recall: the user's message is a query, and what is likely to answer it is shown (recall-problem 3.2, 6.3).

    From earlier sessions:
    - user, 2026-12-09 00:02 (fh:...): "how much does the queue hold?"; the agent (fh:...): "It holds 512 entries."
    - result of `grep -n limit src/queue.py`, 2026-12-09 00:04 (fh:...)

Shown are passages of messages of the user, with what the agent answered, and of agents, and notes of the user's; of a
tool's output, where nothing else may be shown, which call brought it. The invariant: only an answer of the settings'
band is shown, at most `Settings.hits_max` passages of it in `TOKENS_MAX` tokens; never what the session's window still
holds, nor what was shown there before. What is not shown says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from firsthand.agent_space import AgentSpace
from firsthand.agents import files, injections, quotation, validity
from firsthand.agents.command_lines import command_of, files_of, looks_only
from firsthand.agents.cues import words_of
from firsthand.agents.settings import Settings
from firsthand.answer import Answer, Band, Hit, Outcome, Query, Scope
from firsthand.event import Event, Kind, Trust
from firsthand.formats.commands import doing, paths
from firsthand.hosts.requests import is_answer, is_asked
from firsthand.index.tokenizer import stems
from firsthand.index.words import exact_strings
from firsthand.ledger.decision_log import LedgerLog
from firsthand.ledger.ledger_recall import recall
from firsthand.moment import clock
from firsthand.space import Space
from firsthand.tokens import estimate
from firsthand.unasked.volunteer import NOTHING, Piece, Unasked
from firsthand.value import replace, value

QUERY_CHARACTERS_MAX = 4_000
SPARE_HITS = 5
"""Asked for beyond those to be shown, since some were shown before, or are not shown unasked."""
TOKENS_MAX = 300
PASSAGE_CHARACTERS = (480, 320, 200)
"""Of each passage; as many as there is room for."""
DEADLINE_MS = 250
OWN_MIN, OWN_SHARE = 0.2, 0.6
"""Of a hit's score, that its own words have at least; and beside the hit whose words have most."""
HELD_MIN = 0.45
"""What the words of the message that the best hit holds weigh: of lighter ones 2 of 7 reminders were of use."""
REMARK_TOKENS_MAX = 60
"""A shorter message of an agent that goes on to a call announces it, and says little without it."""
TURN_EVENTS = 80
"""Of a turn, that are looked through for its answer."""
HEADING = "From earlier sessions:"
_MESSAGES = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE)
_AROUND = ("neighbours", "exchange")
_RESULT, _NOTHING = "result of", "nothing"


@value
class Reminder:
    """What a message brings up.

    Attributes:
        text: for the model, not fenced yet; empty for nothing.
        hits: those shown.
        pointers: of a warning.
        answer: of the recall; None when none was made.
        skipped: why nothing is recalled.
    """

    text: Unasked = NOTHING
    hits: tuple[Hit, ...] = ()
    answer: Answer | None = None
    skipped: str = ""
    pointers: tuple[str, ...] = ()


def remind(
    agent: AgentSpace, text: str, session: str, settings: Settings, *, deadline_ms: int = DEADLINE_MS
) -> Reminder:
    """Recall what a message of a session brings up.

    Raises:
        StoreError: the log cannot be read.
    """
    if not is_asked(text):
        return Reminder(skipped="a command of the host")
    if len(words_of(text, stems(agent.space.log.reader.db))) < 2 and not exact_strings(text):
        return Reminder(skipped="a message of one word")
    # What the session itself said stands in its window, and the message would answer itself.
    scope = replace(agent.scope(across=settings.across), without_sessions=(session, f"{session}/agent-*"))
    half = QUERY_CHARACTERS_MAX // 2
    asked = text if len(text) <= 2 * half else f"{text[:half]}\n{text[-half:]}"
    query = Query(asked, scope, hits_max=settings.hits_max + SPARE_HITS, budget_tokens_max=4 * TOKENS_MAX,
                  deadline_ms=max(1, deadline_ms))  # fmt: skip
    answer = recall(agent.space, query)
    if not _reaches(answer, settings):
        answer = _evicted(agent, session, query, answer, settings)
    if answer.outcome is Outcome.DEGRADED:
        notes = "; ".join(answer.notes) or "a stage is behind or broken"
        line = validity.funnel(agent.space).line(f"memory is degraded: {notes}")
        return Reminder(line, (), answer, "degraded")
    held = answer.signals.get("held", 0.0)
    if not _reaches(answer, settings) or (held < HELD_MIN and settings.band is not Band.UNLIKELY):
        return Reminder(answer=answer, skipped=answer.band if answer.hits else answer.outcome)
    hits = [*_chosen(agent, text, session, answer)]
    pieces = [piece for piece in (_piece(agent.space, hit, text) for hit in hits) if piece.section != _NOTHING]
    shown = validity.funnel(agent.space).written(pieces, lambda through: _lines(through, settings.hits_max))
    if not shown.text:
        return Reminder(answer=answer, skipped="nothing that may be shown unasked")
    return Reminder(shown.text, tuple(hit for hit in hits if hit.pointer in shown.text), answer)


def _reaches(answer: Answer, settings: Settings) -> bool:
    return answer.outcome is Outcome.FOUND and answer.band.reaches(settings.band)


def _evicted(agent: AgentSpace, session: str, query: Query, answer: Answer, settings: Settings) -> Answer:
    """Ask again what this session itself has lost from its window, if it has."""
    before = injections.left_window_before(agent.space, session)
    if before is None:
        return answer
    own = recall(agent.space, replace(query, scope=Scope((session,), before_position=before)))
    return own if _reaches(own, settings) else answer


def _chosen(agent: AgentSpace, text: str, session: str, answer: Answer) -> Iterator[Hit]:
    """Yield the hits that may be shown; a tool's only where it is the best of all and nothing else may be.

    Left out is what was shown before, an older version of a file, what holds little of the message itself, the same
    words a second time, a remark before a call, and what nobody said: calls, thoughts, summaries, episodes, a host's
    own bookkeeping.
    """
    space = agent.space
    seen = injections.shown(space, session) | files.outdated(agent)
    approved = LedgerLog(space).at().approved
    least = max(OWN_MIN, OWN_SHARE * max(map(_own, answer.hits)))
    hits = [hit for hit in answer.hits if hit.pointer not in seen and _own(hit) >= least]
    repeated = {_plain(text)}
    for hit in hits:
        is_theirs = hit.trust is Trust.UNTRUSTED and hit.pointer not in approved
        written = hit.kind is Kind.NOTE and (hit.trust is Trust.TRUSTED or hit.pointer in approved)
        if _plain(hit.preview) in repeated or not (written or (hit.kind in _MESSAGES and not is_theirs)):
            continue
        repeated.add(_plain(hit.preview))
        if written or not _goes_on(space, hit):
            yield hit
    if hits and hits[0].kind is Kind.TOOL_RESULT and len(repeated) == 1:
        yield hits[0]  # which call brought it


def _own(hit: Hit) -> float:
    """Give the part of a score that a hit has of its own words, not of those around it."""
    return sum(part for name, part in hit.parts.items() if part > 0 and name not in _AROUND)


def _goes_on(space: Space, hit: Hit) -> bool:
    """Say whether a message ends nothing: an agent's remark before a call, a request whose turn has calls alone."""
    if hit.kind is Kind.AGENT_MESSAGE:
        event = next(space.events(hit.session, after=hit.position, limit=1), None)
        return event is not None and event.kind is Kind.TOOL_CALL and estimate(hit.preview) < REMARK_TOKENS_MAX
    turn = [event for event in _turn(space, hit) if event.kind is Kind.TOOL_CALL or is_answer(event)]
    return bool(turn) and turn[-1].kind is Kind.TOOL_CALL


def _turn(space: Space, hit: Hit) -> Iterator[Event]:
    """Yield what came after a request, up to the next one."""
    after = space.events(hit.session, after=hit.position, limit=TURN_EVENTS)
    return takewhile(lambda event: event.kind is not Kind.USER_MESSAGE, after)


def _piece(space: Space, hit: Hit, text: str) -> Piece:
    """Make a piece of a hit: of a request with its answer, of a result with the call that brought it."""
    if hit.kind is Kind.TOOL_RESULT:
        call_id = space.event(hit.pointer).meta.get("call_id")
        before = space.events(
            hit.session, kind=Kind.TOOL_CALL, before=hit.position, newest_first=True, limit=TURN_EVENTS
        )
        call = next((event for event in before if call_id and event.meta.get("call_id") == call_id), None)
        if call is None:
            return Piece("", (hit.pointer,), time=hit.time)
        cut = stems(space.log.reader.db)
        asked, tool, command = {*words_of(text, cut)}, str(call.meta.get("tool")), command_of(call.text)
        looks = looks_only(command) if command else bool(paths(call.text))
        if files_of(tool, call.text) or looks or asked.isdisjoint(words_of(doing(call.text), cut)):
            # It wrote, or what it saw may be otherwise by now, or nobody could tell what it has to do with the message.
            return Piece("", section=_NOTHING)
        return Piece(doing(call.text), (call.pointer,), (hit.pointer,), head=_RESULT, time=hit.time)
    if hit.kind is not Kind.USER_MESSAGE:
        head = "agent" if hit.kind is Kind.AGENT_MESSAGE else "note"
        return Piece(hit.preview, (hit.pointer,), head=head, time=hit.time)
    turn = [event for event in _turn(space, hit) if event.kind is Kind.TOOL_CALL or is_answer(event)]
    answer = turn[-1] if turn and turn[-1].kind is not Kind.TOOL_CALL else None  # else it was a remark on the way
    title, pointers = (answer.text[:2_000], (answer.pointer,)) if answer is not None else ("", ())
    return Piece(hit.preview, (hit.pointer, *pointers), head="user", title=title, time=hit.time)


def _lines(pieces: Sequence[Piece], most: int) -> str:
    """Write the passages, each on a line, shorter where there are several; what has no room even then is left out."""
    for characters in PASSAGE_CHARACTERS:
        lines = [_line(piece, characters) for piece in pieces[:most]]
        if estimate("\n".join([HEADING, *lines])) <= TOKENS_MAX:
            break
    while lines and estimate("\n".join([HEADING, *lines])) > TOKENS_MAX:
        lines.pop()
    return "\n".join([HEADING, *lines]) if lines else ""


def _line(piece: Piece, characters: int) -> str:
    time = clock(piece.time)[:16]
    if piece.withheld:
        return f"- {piece.title} ({piece.pointers[0]})"
    if piece.head == _RESULT:
        return f"- {_RESULT} {quotation.code(piece.words, characters)}, {time} ({piece.facts[0]})"
    words = f"- {piece.head}, {time} ({piece.pointers[0]}): {quotation.quoted(piece.words, characters)}"
    return words if not piece.title else f"{words}; the agent said: {quotation.quoted(piece.title, characters)}"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
