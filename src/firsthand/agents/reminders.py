"""Implicit recall: the user's message is a query, and what may well answer it is shown (recall-problem 3.2, 6.3).

The invariant: only an answer of the settings' band is shown, at most `Settings.hits_max` of it; never what the
session's window still holds, nor what was shown there before. What is not shown says why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from firsthand.agent_space import AgentSpace
from firsthand.agents import validity
from firsthand.agents.files import outdated
from firsthand.agents.injections import left_window_before, shown
from firsthand.agents.settings import Settings
from firsthand.answer import Answer, Hit, Outcome, Query, Scope
from firsthand.context import answers
from firsthand.event import Kind, Trust, texts
from firsthand.ledger.ledger_recall import recall
from firsthand.recall import quota
from firsthand.recall.page import is_spoken
from firsthand.unasked.volunteer import NOTHING, Piece, Unasked
from firsthand.value import replace, value

QUERY_CHARACTERS_MAX = 4_000
_POINTS = ".,;:!?\u2026\u3002\uff01\uff1f\u3001"
SPARE_HITS = 5
"""Asked for beyond those to be shown, since some were shown before."""
TOKENS_MAX = 700
DEADLINE_MS = 250
TRIVIAL_CHARACTERS_MAX = 60
_TRIVIAL = frozenset(
    """
    ok okay k kk yes yeah yep yup y no nope n sure continue go on ahead proceed next more again retry thanks thank you
    thx ty please pls great good nice cool perfect fine done right correct exactly agreed sounds lgtm do it that this
    hi hello hey stop wait resume keep going yes! hm hmm ja nein weiter danke bitte gut genau mach passt klar super
    oui non merci continue d'accord parfait vas-y sí si no gracias sigue vale bien claro adelante sim não obrigado
    obrigada continua va bene grazie avanti да нет спасибо дальше хорошо продолжай ок 好 好的 是 是的 继续 谢谢 不 可以
    はい いいえ 続けて ありがとう 네 예 아니요 계속 고마워
    """.split()  # noqa: SIM905 - words, to be read as such
)


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


def is_trivial(text: str) -> bool:
    """Say whether a message is about nothing that could be recalled: empty, a slash command, "ok", "continue"."""
    stripped = text.strip()
    if not stripped or (stripped[0] == "/" and "/" not in stripped.split()[0][1:]):
        return True
    if len(stripped) > TRIVIAL_CHARACTERS_MAX:
        return False
    words = [word.strip(_POINTS) for word in stripped.casefold().split()]
    return all(not word or word in _TRIVIAL for word in words)


def remind(
    agent: AgentSpace,
    text: str,
    session: str,
    settings: Settings,
    *,
    deadline_ms: int = DEADLINE_MS,
) -> Reminder:
    """Recall what a message of a session brings up.

    Raises:
        StoreError: the log cannot be read.
    """
    if is_trivial(text):
        return Reminder(skipped="a trivial prompt")
    # What the session itself said stands in its window, and the message would answer itself.
    scope = replace(agent.scope(across=settings.across), without_sessions=(session, f"{session}/agent-*"))
    asked = text
    if len(text) > QUERY_CHARACTERS_MAX:
        asked = f"{text[: QUERY_CHARACTERS_MAX // 2]}\n{text[-QUERY_CHARACTERS_MAX // 2 :]}"
    query = Query(
        asked, scope, hits_max=settings.hits_max + SPARE_HITS, budget_tokens_max=TOKENS_MAX * 2,
        deadline_ms=max(1, deadline_ms),
    )  # fmt: skip
    answer = recall(agent.space, query)
    if not _is_shown(answer, settings):
        answer = _evicted(agent, session, query, answer, settings)
    if answer.outcome is Outcome.DEGRADED:
        notes = "; ".join(answer.notes) or "a stage is behind or broken"
        line = validity.funnel(agent.space).line(f"memory is degraded: {notes}")
        return Reminder(line, (), answer, "degraded")
    if not _is_shown(answer, settings):
        return Reminder(answer=answer, skipped=answer.band if answer.hits else answer.outcome)
    seen = shown(agent.space, session).union(outdated(agent))
    unseen = [hit for hit in answer.hits if hit.pointer not in seen and is_spoken(hit.parts)]
    hits = _words_first(agent, text, _within_quota(unseen, settings.hits_max), settings.hits_max)
    if not hits:
        return Reminder(answer=answer, skipped="shown before in this session")

    def layout(pieces: Sequence[Piece]) -> str:
        words = {piece.pointers[0]: piece.words for piece in pieces}
        through = tuple(replace(hit, preview=words[hit.pointer]) for hit in hits if hit.pointer in words)
        shown_alone = replace(answer, hits=through, companions=(), said=())
        return answers.of_recall(shown_alone, tokens_max=TOKENS_MAX).text

    pieces = [Piece(hit.preview, (hit.pointer,)) for hit in hits]
    through = validity.funnel(agent.space).written(pieces, layout)
    if not through.pointers:
        return Reminder(answer=answer, skipped="taken back")
    return Reminder(through.text, tuple(hit for hit in hits if hit.pointer in through.pointers), answer)


def _is_shown(answer: Answer, settings: Settings) -> bool:
    return answer.outcome is Outcome.FOUND and answer.band.reaches(settings.band)


def _evicted(agent: AgentSpace, session: str, query: Query, answer: Answer, settings: Settings) -> Answer:
    """Ask again what this session itself has lost from its window, if it has."""
    before = left_window_before(agent.space, session)
    if before is None:
        return answer
    own = recall(agent.space, replace(query, scope=Scope((session,), before_position=before)))
    return own if _is_shown(own, settings) else answer


def _within_quota(hits: list[Hit], most: int) -> list[Hit]:
    """Let no tool and no session fill a reminder while others have something: it has few hits, and nobody asked."""
    free = max(1, math.ceil(quota.SHARE * most))
    return [hits[at] for at in quota.order([quota.held(h.score, h.trust, h.origin, h.session) for h in hits], free)]


def _words_first(agent: AgentSpace, text: str, hits: list[Hit], most: int) -> tuple[Hit, ...]:
    """Take hits whose words may be shown before those that are a pointer alone, but for the best hit of all."""
    spoken = sorted(hits, key=lambda hit: hit.trust is Trust.UNTRUSTED)
    chosen = _chosen(agent, text, spoken, most)
    if hits and hits[0] not in chosen and hits[0] in _chosen(agent, text, hits[:1], 1) and 1 < most == len(chosen):
        return (*chosen[:-1], hits[0])
    return chosen


def _chosen(agent: AgentSpace, text: str, hits: list[Hit], most: int) -> tuple[Hit, ...]:
    """Take the best hits, sources first.

    Left out is what says nothing new: an earlier message with the same words, a text that is there twice, what a
    note among them repeats, and an episode where events of its own session are there. And what was kept as it came,
    not understood: a host's own bookkeeping, which often says a message again.
    """
    sessions = {hit.session for hit in hits if hit.kind is not Kind.EPISODE}
    question = _plain(text)
    cited: set[str] = set()
    repeated = {question}
    chosen = []
    for hit in hits:
        if hit.kind is Kind.OTHER or hit.pointer in cited or _plain(hit.preview) in repeated:
            continue
        if hit.kind is Kind.EPISODE and agent.space.event(hit.pointer).meta.get("session") in sessions:
            continue
        if hit.kind is Kind.NOTE:
            cited.update(texts(agent.space.event(hit.pointer).meta.get("sources")))
        repeated.add(_plain(hit.preview))
        chosen.append(hit)
        if len(chosen) == most:
            break
    return tuple(chosen)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
