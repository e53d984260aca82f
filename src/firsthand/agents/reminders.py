"""Implicit recall: the user's message is a query, and what is likely to answer it is shown (recall-problem 3.2, 6.3).

    From earlier sessions:
    - user, 2026-12-09 00:02 (fh:...): "the queue holds 512 entries"
    - words of tool:bash, not shown unasked, 2026-12-09 00:04 (fh:...)

Shown are passages of messages of the user and of agents, and notes of the user's; of a tool's output, where it is the
best hit of all, when and whose it is. The invariant: only an answer of the settings' band is shown, at most
`Settings.hits_max` passages of it in `TOKENS_MAX` tokens; never what the session's window still holds, nor what was
shown there before. What is not shown says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firsthand.agent_space import AgentSpace
from firsthand.agents import files, injections, quotation, validity
from firsthand.agents.settings import Settings
from firsthand.answer import Answer, Hit, Outcome, Query, Scope
from firsthand.event import Kind, Trust
from firsthand.hosts.requests import is_asked
from firsthand.ledger.decision_log import LedgerLog
from firsthand.ledger.ledger_recall import recall
from firsthand.moment import clock
from firsthand.recall.page import is_spoken
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
HEADING = "From earlier sessions:"
_MESSAGES = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE)


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
    if not _reaches(answer, settings):
        return Reminder(answer=answer, skipped=answer.band if answer.hits else answer.outcome)
    hits = [*_chosen(agent, text, session, answer)]
    pieces = [Piece(hit.preview, (hit.pointer,), head=_speaker(hit), time=hit.time) for hit in hits]
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
    """Yield the hits that may be shown, messages before a tool's; that one only where it is the best of all.

    Left out is what was shown before, an older version of a file, what holds nothing of the message itself, the same
    words a second time, and what nobody said: calls, thoughts, summaries, episodes, a host's own bookkeeping.
    """
    seen = injections.shown(agent.space, session) | files.outdated(agent)
    approved = LedgerLog(agent.space).at().approved
    repeated = {_plain(text)}
    for hit in answer.hits:
        theirs = hit.trust is Trust.UNTRUSTED and hit.pointer not in approved
        written = hit.kind is Kind.NOTE and (hit.trust is Trust.TRUSTED or hit.pointer in approved)
        if hit.pointer in seen or not is_spoken(hit.parts) or _plain(hit.preview) in repeated or hit.replaced_by:
            continue
        if (hit.kind in _MESSAGES and not theirs) or written:
            repeated.add(_plain(hit.preview))
            yield hit
    best = answer.hits[0]
    if best.kind is Kind.TOOL_RESULT and best.pointer not in seen and is_spoken(best.parts):
        yield best


def _speaker(hit: Hit) -> str:
    return "user" if hit.kind is Kind.USER_MESSAGE else "agent" if hit.kind is Kind.AGENT_MESSAGE else "note"


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
    if piece.withheld:
        return f"- {piece.title} ({piece.pointers[0]})"
    words = quotation.quoted(piece.words, characters)
    return f"- {piece.head}, {clock(piece.time)[:16]} ({piece.pointers[0]}): {words}"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
