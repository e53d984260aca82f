"""The names that can be cues: of an agent's episodes, knowledge and entities, with what each is about.

A handle reads each event of them once, until something is erased. The invariant: what it
gives is what reading the agent's whole session gives.

It does not know what is shown.
"""

from __future__ import annotations

from collections.abc import Iterable

from firsthand.agent_space import AgentSpace
from firsthand.agents import files
from firsthand.agents.episode_names import topic_of
from firsthand.event import Event, Kind
from firsthand.ledger.effect import Effect
from firsthand.notes.sources import FILE
from firsthand.value import replace, value

ABOUT_CHARACTERS_MAX = 300
NAMES_MAX = 5_000
"""The newest ones; older ones are found by recall."""
EPISODES = "Episodes"
GROUPS = {files.KNOWLEDGE: "Knowledge", files.ENTITIES: "Entities"}


@value
class Kept:
    """One name.

    Attributes:
        position: of the event that gave it.
        group: what it names: `EPISODES`, or one of `GROUPS`.
        about: further words of it.
    """

    position: int
    name: str
    group: str
    about: str
    pointer: str


def names(agent: AgentSpace) -> tuple[Kept, ...]:
    """Give the names of an agent's episodes, knowledge and entities, the newest first."""
    space = agent.space
    key, head = ("names", agent.name), space.log.reader.head(space.namespace)[0]
    through, known = space.read_once.get(key, (0, {}))
    if any(space.events(kind=Kind.ERASURE, after=through, limit=1)):
        through, known = 0, {}
    if through < head:
        known = dict(known)  # another thread may be at the one before
        for kind in (Kind.EPISODE, Kind.NOTE):
            _add(known, space.events(agent.session, kind=kind, after=through, before=head + 1))
        space.read_once[key] = (head, known)
    newest = sorted(known.values(), key=lambda name: -name.position)[:NAMES_MAX]
    effect = Effect(space)
    return tuple(_standing(name, effect) for name in newest)


def _standing(name: Kept, effect: Effect) -> Kept:
    """Give a name as it stands: without words that are known from what the ledger takes out, nor about them."""
    stands = effect.name(name.pointer, name.name) if name.group == EPISODES else name.name
    return name if stands == name.name else replace(name, name=stands, about=topic_of(stands))


def _add(names: dict[str, Kept], events: Iterable[Event]) -> None:
    """Take events in: the newest version of a session's episode and of a file is the one that counts."""
    for event in events:
        meta, pointer = event.meta, f"fh:{event.id}"
        name, session, file = meta.get("name"), meta.get("session"), meta.get(FILE)
        if event.kind is Kind.EPISODE and isinstance(name, str) and isinstance(session, str):
            terms = meta.get("terms")
            words = [topic_of(name), *(str(term) for term in terms)] if isinstance(terms, list) else [topic_of(name)]
            about = " ".join(words)[:ABOUT_CHARACTERS_MAX]
            names[f"session {session}"] = Kept(event.position, name, EPISODES, about, pointer)
        elif event.kind is Kind.NOTE and isinstance(file, str) and files.is_followed(file):
            group = GROUPS.get(file.partition("/")[0], "")
            names.pop(f"file {file}", None)
            if group and not event.erased and meta.get(files.DELETED) is not True:
                about = event.text[:ABOUT_CHARACTERS_MAX]
                names[f"file {file}"] = Kept(event.position, files.stem_of(file), group, about, pointer)
