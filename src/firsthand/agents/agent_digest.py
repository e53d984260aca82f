"""The digest of an agent: made of the log as of any position, and written into its folder (total-recall 8.5).

The invariant: the digest of a position is the same whenever it is made, as long as
nothing that it rests on is erased; only facts that somebody asserted stand in it, each
with its quote, that no decision of the ledger takes out, and none on what a tool, the web
or an agent said before the user approved it. A file that a person has changed is kept
and left alone: what Firsthand would have written there is told as a difference.

It decides nothing: what stands is the ledger's, how it is laid out is `digest`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from firsthand.agent_space import NOTES, AgentSpace
from firsthand.agents import episode_list, files, quotation, session_record, small_files, validity
from firsthand.event import Kind
from firsthand.ledger.digest import LINES_MAX, Digest, Item, digest
from firsthand.ledger.effect import Effect
from firsthand.ledger.facts import facts_standing
from firsthand.unasked import secrets
from firsthand.value import value

DIFFERENCE_LINES_MAX = 400
HEAD_EVENTS, REQUEST_CHARACTERS = 40, 120


@value
class DigestWritten:
    """What came of writing a digest.

    Attributes:
        files: those that stand as Firsthand wrote them.
        left_out: sentences on those that do not.
        difference: from what a person's ``digest.md`` says to what it would say; empty when it was written.
    """

    digest: Digest
    files: tuple[str, ...]
    left_out: tuple[str, ...]
    difference: str = ""


def digest_of(agent: AgentSpace, *, as_of: int | None = None, lines_max: int = LINES_MAX) -> Digest:
    """Make the digest of an agent.

    Args:
        as_of: a position; what came behind it does not count. None is now.

    Raises:
        InvalidArgument: there are too few lines for its headings.
    """
    sessions = _sessions(agent, Effect(agent.space, as_of), as_of)
    return digest([*_facts(agent, as_of), *sessions], lines_max)


def _facts(agent: AgentSpace, as_of: int | None) -> Iterator[Item]:
    """Yield the facts that were asserted by an agent or the user, or on words of the agent's sessions."""
    own, by = {agent.session, NOTES, *agent.sessions()}, {"user", f"agent:{agent.name}"}
    for fact in facts_standing(agent.space, as_of=as_of):
        if fact.volunteered and (fact.by in by or agent.space.event(fact.pointer).session in own):
            text = secrets.mask(f"{str(fact.time)[:10]} {fact.subject}: {fact.text}")
            yield Item("facts", text, fact.decision, fact.position, secrets.mask(fact.line), fact.pointer)


def write_digest(agent: AgentSpace, *, as_of: int | None = None, lines_max: int = LINES_MAX) -> DigestWritten:
    """Write the digest and the files that it links into the agent's folder.

    Args:
        as_of: a position, for a digest that can be named and made again; None is now.

    Raises:
        StoreError: the folder cannot be written.
    """
    made = digest_of(agent, as_of=as_of, lines_max=lines_max)
    funnel = validity.funnel(agent.space)
    written: list[str] = []
    left_out: list[str] = []
    for file, text in (*made.details.items(), (files.DIGEST_FILE, made.text)):  # what it links stands before it does
        page = files.write_ours(agent, file, funnel.line(text))
        (written if page.written else left_out).append(file if page.written else page.why)
    for path in sorted((agent.folder / files.DIGEST_FOLDER).glob(f"*{files.SUFFIX}")):
        file = path.relative_to(agent.folder).as_posix()
        if file not in made.details and files.written_by_us(agent, file):
            files.remove_written(agent, file)
    difference = "" if files.DIGEST_FILE in written else _difference(agent, made.text)
    return DigestWritten(made, tuple(written), tuple(left_out), difference)


def _difference(agent: AgentSpace, text: str) -> str:
    """Say in what a person's digest is not what it would be; nothing of what a link leads to."""
    path = agent.folder / files.DIGEST_FILE
    data = b"" if path.is_symlink() else small_files.read(path) or b""
    theirs = data.decode("utf-8", "replace")
    lines = difflib.unified_diff(
        theirs.splitlines(),
        text.splitlines(),
        files.DIGEST_FILE,
        "as it would be written",
        lineterm="",
    )
    return "\n".join([*lines][:DIFFERENCE_LINES_MAX])


def _sessions(agent: AgentSpace, effect: Effect, as_of: int | None) -> Iterator[Item]:
    """Yield the agent's sessions that had an episode at a position, by their first request."""
    openings: dict[str, tuple[session_record.Passage, int]] = {}
    for event in agent.own(Kind.EPISODE):
        episode = episode_list.from_event(agent, event) if as_of is None or event.position <= as_of else None
        if episode is not None and not effect.instead(event):
            head = agent.space.events(episode.session, limit=HEAD_EVENTS)
            opening = session_record.read(filter(None, map(effect.text, head))).opening
            openings |= {episode.session: (opening, event.position)} if opening is not None else {}
    texts = [opening.text for opening, _ in openings.values()]
    for opening, position in openings.values():
        words = quotation.without_template(opening.text, texts)
        quoted = quotation.quoted(secrets.mask(words), REQUEST_CHARACTERS, at_sentence=False)
        yield Item("sessions", f"{str(opening.time)[:10]} {quoted}", opening.pointer, position)
