"""The digest of an agent: made of the log as of any position, and written into its folder (total-recall 8.5).

The invariant: the digest of a position is the same whenever it is made, as long as
nothing that it rests on is erased; only notes stand in it, verbatim, that no decision of
the ledger takes out, and none that rests on what a tool or the web said before the user
approved it. A file that a person has changed is kept and left alone: what Firsthand would
have written there is told as a difference.

It decides nothing: what stands is the ledger's, how it is laid out is `digest`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from firsthand.agent_space import NOTES, AgentSpace
from firsthand.agents import episode_list, files, small_files, validity
from firsthand.event import Event, Kind, Trust, texts
from firsthand.ledger.digest import LINES_MAX, Digest, Item, Section, digest
from firsthand.ledger.effect import Effect
from firsthand.notes.writer import SORT
from firsthand.unasked import secrets
from firsthand.value import value

DIFFERENCE_LINES_MAX = 400


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
    return digest([*notes_standing(agent, as_of=as_of), *sessions], lines_max)


def notes_standing(agent: AgentSpace, *, as_of: int | None = None) -> Iterator[Item]:
    """Yield an agent's notes, and those of everybody, that stand, the newest first; the same text once."""
    effect = Effect(agent.space, as_of)
    approved = effect.ledger.approved
    own = {agent.session, NOTES, *agent.sessions()}
    before = None if as_of is None else as_of + 1
    seen: set[tuple[str, str]] = set()
    replaced: set[str] = set()
    for event in agent.space.events(kind=Kind.NOTE, before=before, newest_first=True):
        pointer = f"fh:{event.id}"
        if event.session not in own or event.erased or SORT not in event.meta:  # a file's version, a message
            continue
        waits = event.trust is Trust.UNTRUSTED and pointer not in approved
        if waits or pointer in replaced or effect.instead(event):
            continue
        replaced |= set(texts(event.meta.get(files.SUPERSEDES)))
        section = _SECTIONS.get(str(event.meta.get(SORT)), "notes")
        text = secrets.mask(event.text)
        if (section, text) not in seen:
            seen.add((section, text))
            by_agent = event.trust is not Trust.TRUSTED and pointer not in approved
            yield Item(section, f"{_day(event)} {text}", pointer, event.position, by_agent)


_SECTIONS: dict[str, Section] = {"rule": "rules", "lesson": "lessons"}


def _day(event: Event) -> str:
    return str(event.time or event.ingested)[:10]


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
    """Yield the agent's sessions by the episode that was the newest at a position."""
    newest = {}
    for event in agent.own(Kind.EPISODE):
        if as_of is None or event.position <= as_of:
            episode = episode_list.from_event(agent, event)
            if episode is not None and not effect.instead(event):
                name = effect.name(episode.pointer, episode.name)
                newest[episode.session] = Item("sessions", name, episode.pointer, event.position)
    yield from newest.values()
