"""Implicit recall: the user's message is a query, and what is likely to answer it is shown (recall-problem 3.2, 6.3).

    From earlier sessions:
    - user, 2026-12-09 00:02 (fh:...): "how much does the queue hold?"; the agent (fh:...): "It holds 512 entries."
    - result of `grep -n limit src/queue.py`, 2026-12-09 00:04 (fh:...)

Shown are passages of messages of the user, with what the agent answered, and of agents, and notes of the user's; of a
tool's output, where nothing else may be shown, which call brought it. The invariant: only an answer as likely as the
settings say is shown, at most `Settings.hits_max` passages of it in `TOKENS_MAX` tokens; never what the session's
window still holds, nor what was shown there before. What is not shown says why.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import takewhile

from firsthand.agent_space import AgentSpace
from firsthand.agents import files, injections, quotation, validity
from firsthand.agents.command_lines import command_of, files_of, looks_only
from firsthand.agents.cues import words_of
from firsthand.agents.session_record import REQUEST_WORDS_MIN, WORDS_MIN, is_telling
from firsthand.agents.settings import Settings
from firsthand.answer import Answer, Band, Hit, Outcome, Query, Scope
from firsthand.event import Event, Kind, Trust
from firsthand.formats.commands import doing, failure, paths
from firsthand.hosts.requests import is_answer, is_asked
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
LIKELIHOOD_MIN = {Band.LIKELY: 0.4, Band.POSSIBLE: 0.2, Band.UNLIKELY: 0.0}
"""Where messages alone are asked, an answer of .4 is of use as often as a `likely` one of all kinds."""
HELD_MIN = 0.45
"""What the words of the message that the best hit holds weigh: of lighter ones 2 of 7 reminders were of use."""
RESULT_BYTES_MIN = 160
"""A shorter result is as soon asked for anew, or says that nothing came of it."""
REMARK_TOKENS_MAX = 60
"""A shorter message of an agent that goes on to a call announces it, and says little without it."""
TURN_EVENTS = 80
"""Of a turn, that are looked through for its answer."""
HEADING = "From earlier sessions:"
_MESSAGES = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.NOTE)
_AROUND = ("neighbours", "exchange")
_RESULT = "result of"


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
    space, until = agent.space, time.monotonic() + deadline_ms / 1000
    if not is_asked(text):
        return Reminder(skipped="a command of the host")
    if len(words_of(text, space.stemmer())) < 2 and not exact_strings(text):
        return Reminder(skipped="a message of one word")
    # What the session itself said stands in its window, and the message would answer itself.
    others = replace(agent.scope(across=settings.across), without_sessions=(session, f"{session}/agent-*"))
    scopes = [replace(others, kinds=_MESSAGES)]
    if (before := injections.left_window_before(space, session)) is not None:
        scopes.append(Scope((session,), kinds=_MESSAGES, before_position=before))  # what has left its window
    scopes.append(replace(others, kinds=(Kind.TOOL_RESULT,)))
    half = QUERY_CHARACTERS_MAX // 2
    asked = text if len(text) <= 2 * half else f"{text[:half]}\n{text[-half:]}"
    best = Reminder(skipped="the hook's time was over")
    for scope in scopes:
        left_ms = int((until - time.monotonic()) * 1000)
        if left_ms < 1:
            break
        query = Query(asked, scope, hits_max=settings.hits_max + SPARE_HITS, budget_tokens_max=4 * TOKENS_MAX,
                      deadline_ms=left_ms)  # fmt: skip
        reminder = _shown(agent, text, session, settings, recall(space, query))
        if reminder.text:
            return reminder
        best = reminder if best.answer is None else best
    return best


def _shown(agent: AgentSpace, text: str, session: str, settings: Settings, answer: Answer) -> Reminder:
    """Show what of an answer is likely to be of use; nothing, and why, where it is not."""
    funnel = validity.funnel(agent.space)
    if answer.outcome is Outcome.DEGRADED:
        notes = "; ".join(answer.notes) or "a stage is behind or broken"
        return Reminder(funnel.line(f"memory is degraded: {notes}"), (), answer, "degraded")
    held = answer.signals.get("held", 0.0)
    of_results = any(hit.kind is Kind.TOOL_RESULT for hit in answer.hits)
    is_near = answer.band.reaches(settings.band) if of_results else answer.likelihood >= LIKELIHOOD_MIN[settings.band]
    if answer.outcome is not Outcome.FOUND or not is_near or (held < HELD_MIN and settings.band is not Band.UNLIKELY):
        return Reminder(answer=answer, skipped=answer.band if answer.hits else answer.outcome)
    hits = [*_chosen(agent, text, session, answer)]
    pieces = [piece for hit in hits if (piece := _piece(agent.space, hit, text)) is not None]
    written = funnel.written(pieces, lambda passed: _lines(passed, settings.hits_max))
    if not written:
        return Reminder(answer=answer, skipped="nothing that may be shown unasked")
    return Reminder(written, tuple(hit for hit in hits if hit.pointer in written), answer)


def _chosen(agent: AgentSpace, text: str, session: str, answer: Answer) -> Iterator[Hit]:
    """Yield the hits that may be shown: messages and notes; of tools' results the best.

    Left out is what was shown before, an older version of a file, what holds little of the message itself or says
    nothing by itself, the same words a second time, a remark before a call, a stranger's words.
    """
    space = agent.space
    seen = injections.shown(space, session) | files.outdated(agent)
    approved = LedgerLog(space).at().approved
    least = max(OWN_MIN, OWN_SHARE * max(map(_own, answer.hits)))
    repeated = {_plain(text)}
    for number, hit in enumerate(hit for hit in answer.hits if hit.pointer not in seen and _own(hit) >= least):
        if hit.kind is Kind.TOOL_RESULT:
            if not number:
                yield hit  # which call brought it
            continue
        is_ours = hit.trust is Trust.TRUSTED or hit.pointer in approved
        if not is_ours and (hit.kind is Kind.NOTE or hit.trust is Trust.UNTRUSTED):
            continue
        if _plain(hit.preview) not in repeated and (hit.kind is Kind.NOTE or _says_much(space, hit)):
            repeated.add(_plain(hit.preview))
            yield hit


def _own(hit: Hit) -> float:
    """Give the part of a score that a hit has of its own words, not of those around it."""
    return sum(part for name, part in hit.parts.items() if part > 0 and name not in _AROUND)


def _says_much(space: Space, hit: Hit) -> bool:
    """Say whether a message says something by itself and ends something: no remark before a call, no mere order."""
    if not is_telling(hit.preview, REQUEST_WORDS_MIN if hit.kind is Kind.USER_MESSAGE else WORDS_MIN):
        return False
    if hit.kind is Kind.AGENT_MESSAGE:
        event = next(space.events(hit.session, after=hit.position, limit=1), None)
        is_before_call = event is not None and event.kind is Kind.TOOL_CALL
        return not is_before_call or estimate(hit.preview) >= REMARK_TOKENS_MAX
    turn = [event for event in _turn(space, hit) if event.kind is Kind.TOOL_CALL or is_answer(event)]
    return not turn or turn[-1].kind is not Kind.TOOL_CALL


def _turn(space: Space, hit: Hit) -> Iterator[Event]:
    """Yield what came after a request, up to the next one."""
    after = space.events(hit.session, after=hit.position, limit=TURN_EVENTS)
    return takewhile(lambda event: event.kind is not Kind.USER_MESSAGE, after)


def _piece(space: Space, hit: Hit, text: str) -> Piece | None:
    """Make a piece of a hit: of a request with its answer, of a result with the call that brought it."""
    if hit.kind is Kind.TOOL_RESULT:
        result = space.event(hit.pointer)
        call_id = result.meta.get("call_id")
        before = space.events(
            hit.session, kind=Kind.TOOL_CALL, before=hit.position, newest_first=True, limit=TURN_EVENTS
        )
        call = next((event for event in before if call_id and event.meta.get("call_id") == call_id), None)
        if call is None:
            return Piece("", (hit.pointer,), time=hit.time)
        cut = space.stemmer()
        asked, tool, command = {*words_of(text, cut)}, str(call.meta.get("tool")), command_of(call.text)
        looks = looks_only(command) if command else bool(paths(call.text))
        looks = looks or failure(result.meta, result.text, command) is not None
        if (
            result.size_bytes < RESULT_BYTES_MIN
            or files_of(tool, call.text)
            or looks
            or asked.isdisjoint(words_of(doing(call.text), cut))
        ):
            # It wrote, or what it saw may be otherwise by now, or nobody could tell what it has to do with the message.
            return None
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
    at = clock(piece.time)[:16]
    if piece.withheld:
        return f"- {piece.title} ({piece.pointers[0]})"
    if piece.head == _RESULT:
        return f"- {_RESULT} {quotation.code(piece.words, characters)}, {at} ({piece.facts[0]})"
    words, title = (quotation.quoted(each, characters, at_sentence=False) for each in (piece.words, piece.title))
    line = f"- {piece.head}, {at} ({piece.pointers[0]}): {words}"
    return line if not piece.title else f"{line}; the agent said: {title}"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
