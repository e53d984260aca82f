"""Messages between the agents of a namespace (recall-problem 3.2): off until the receiver's settings allow it.

A message is a note in the receiver's own session. What another agent wrote is data: its
trust is UNTRUSTED, and whoever shows it fences or quotes it. The invariant: no message crosses a
namespace, none is lost, and reading one changes nothing but that it counts as read.

It does not know when messages are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from firsthand import event, moment, pointer
from firsthand.agent_space import AgentSpace
from firsthand.agents import settings
from firsthand.errors import InvalidArgument
from firsthand.event import Draft, Kind, Trust
from firsthand.log.results import Appended
from firsthand.moment import Moment
from firsthand.pointer import Pointer
from firsthand.space import Space
from firsthand.value import value

INBOX, READ = "inbox", "inbox_read"
"""Facts in meta: who sent this message; which messages were read."""
CHARACTERS_MAX = 8_000
"""Of one message; more belongs into an event that ``about`` names."""
ABOUT_MAX = 16
UNREAD_MAX = 1_000
"""Of one agent; when so many wait, further ones are refused."""


@value
class Message:
    """One message to an agent.

    Attributes:
        sender: the agent that wrote it.
        about: pointers of what it is about.
    """

    pointer: str
    sender: str
    text: str
    about: tuple[str, ...]
    time: Moment | None
    read: bool


def send(space: Space, to: str, text: str, sender: str, about: Sequence[str | Pointer | Appended] = ()) -> Message:
    """Send a message to an agent of the same namespace.

    Raises:
        InvalidArgument: its settings do not allow it, the text is empty or too long, or its inbox is full.
        Unresolvable: what the message is about is not in this namespace.
    """
    receiver = AgentSpace(space, to)
    AgentSpace(space, sender)  # its name is one
    folders = (session.meta.get("cwd") for session in receiver.own(Kind.SESSION, newest_first=True))
    newest = next((folder for folder in folders if isinstance(folder, str) and folder), "")
    if not settings.load(space.path, newest).inbox:
        raise InvalidArgument(
            f"agent {to!r} takes no messages: that is off by default. Switch it on with "
            "firsthand agent switch inbox on, or with --project for its project alone"
        )
    if not text.strip() or len(text) > CHARACTERS_MAX:
        raise InvalidArgument(f"a message has 1 to {CHARACTERS_MAX:,} characters; got {len(text):,}. Point with about.")
    named = [str(_pointer(address)) for address in about]
    if len(named) > ABOUT_MAX:
        raise InvalidArgument(f"a message is about at most {ABOUT_MAX} things; got {len(named)}")
    for name in named:
        space.event(name)
    if len(unread(receiver)) >= UNREAD_MAX:
        raise InvalidArgument(f"agent {to!r} has {UNREAD_MAX:,} unread messages; let it read them first")
    draft = Draft(
        Kind.NOTE, event.to_bytes(text), meta={INBOX: sender, "about": named} if named else {INBOX: sender},
        agent=sender, origin=f"agent:{sender}", trust=Trust.UNTRUSTED, time=moment.now(),
    )  # fmt: skip
    appended = space.append([draft], session=receiver.session)[0]
    return Message(appended.pointer, sender, text, tuple(named), draft.time, read=False)


def messages(agent: AgentSpace) -> tuple[Message, ...]:
    """Give all messages to an agent, the oldest first."""
    sent = [note for note in agent.own(Kind.NOTE) if isinstance(note.meta.get(INBOX), str) and not note.erased]
    read = {text for note in (agent.own(Kind.SESSION) if sent else ()) for text in event.texts(note.meta.get(READ))}
    return tuple(
        Message(
            note.pointer, note.meta[INBOX], note.text, tuple(event.texts(note.meta.get("about"))), note.time,
            note.pointer in read,
        )
        for note in sent
    )  # fmt: skip


def unread(agent: AgentSpace) -> tuple[Message, ...]:
    """Give the messages that an agent has not read, the oldest first."""
    return tuple(message for message in messages(agent) if not message.read)


def mark_read(agent: AgentSpace, read: Iterable[Message | str]) -> int:
    """Let messages count as read; say how many of them did not before."""
    wanted = {message.pointer if isinstance(message, Message) else str(pointer.parse(message)) for message in read}
    new = sorted(message.pointer for message in unread(agent) if message.pointer in wanted)
    if new:
        identity = event.derived_id(None, b"inbox read", agent.name.encode(), *(address.encode() for address in new))
        draft = Draft(Kind.SESSION, b"", meta={READ: new}, origin="firsthand", trust=Trust.TRUSTED, id=identity)
        agent.space.append([draft], session=agent.session)
    return len(new)


def _pointer(address: str | Pointer | Appended) -> Pointer:
    """Read what names an event as a pointer."""
    return pointer.parse(address if isinstance(address, str) else getattr(address, "pointer", str(address)))
