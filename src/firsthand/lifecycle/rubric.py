"""The self-critique rubric: what a user had to correct, how often, and where (recall-problem 6.4).

    - corrected 3 times: "run the tests before you say that it is done" (fh:..., fh:...)

The paper distils a rubric from evaluators' feedback with a model; here it is extractive: a
line is a sentence of the user's, verbatim, for a group of corrections that are alike. The
invariant: no word is invented, every line has the pointers of what it rests on, and
what a person writes into ``rubric.md`` stays: only the block between its two marks is
written anew, and not that either once a person has edited it.

It does not know whether a correction was right.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from firsthand import pointer
from firsthand.event import Event, Kind, Trust
from firsthand.hashing import blake2s
from firsthand.lifecycle import files, small_files
from firsthand.printable import shown
from firsthand.task import constraints, corrections, signs
from firsthand.task import sentences as spoken
from firsthand.value import value

if TYPE_CHECKING:
    from firsthand.lifecycle.agent import Agent

SESSIONS_MAX = 50
"""The newest sessions that are read."""
MESSAGES_MAX = 500
"""Of a session, the newest user messages."""
LINES_MAX = 20
POINTERS_MAX = 3
"""In one line; its count says how many there are."""
ALIKE_MIN = 0.5
"""Of the words of two corrections, the share that they have in common when they are alike."""
CHARACTERS_MAX = 240
BEGIN = (
    "<!-- firsthand: from corrections; edit above this line, or edit here and it stays as you leave it ({digest}) -->"
)
END = "<!-- firsthand: end -->"
_BLOCK = re.compile(
    r"<!-- firsthand: from corrections; [^\n]*\(([0-9a-f]{12}|)\) -->\n(.*?)<!-- firsthand: end -->\n?", re.DOTALL
)
_WORDS = re.compile(r"[^\W_]+")
_EMPTY = frozenset(
    """a an and are as at be but by do does for from i i'm in is it its just me my no not of ok on or please so that the
    then this to was we with you your said told already again never always don dont didn wrong still t s der die das und
    ist nicht ein eine ich du es zu le la les de des et est pas un une je tu que el los y no lo te""".split()  # noqa: SIM905
)


@value
class Correction:
    """A sentence with which the user corrected the agent."""

    text: str
    pointer: str
    position: int


@value
class Line:
    """One meta-instruction: the newest of corrections that are alike.

    Attributes:
        text: as it is shown.
        pointer: of the newest correction; empty for a line that a person wrote.
        pointers: of all of them that the line names, the newest first.
        count: how many corrections there are.
    """

    text: str
    pointer: str = ""
    pointers: tuple[str, ...] = ()
    count: int = 0


@value
class Rubric:
    """What the user had to correct.

    Attributes:
        lines: what was corrected most often first.
        corrections: how many there are, also those that made no line.
        messages: user messages that were read.
    """

    lines: tuple[Line, ...]
    corrections: int
    messages: int


def rubric_of(agent: Agent) -> Rubric:
    """Make the rubric of an agent from the corrections in its newest sessions.

    A correction that was made once makes a line only when it is a rule; alike ones make one line together.
    """
    own = set(agent.sessions())
    newest = sorted((one for one in agent.memory.sessions() if one.name in own), key=lambda one: -one.last_position)
    found: list[Correction] = []
    number = 0
    for session in newest[:SESSIONS_MAX]:
        for message in _said(agent, session.name):
            number += 1
            found += _of(agent, message)
    groups = grouped(found)
    telling = [group for group in groups if len(group) > 1 or constraints.is_constraint(group[0].text)]
    return Rubric(tuple(map(_line, telling[:LINES_MAX])), len(found), number)


def refresh(agent: Agent) -> files.Written:
    """Write the rubric into ``rubric.md``, beside what a person wrote there, and into the log."""
    files.follow(agent)  # what a person did there is in the log before
    lines = "".join(f"- {one.text}\n" for one in rubric_of(agent).lines)
    path = agent.folder / files.RUBRIC_FILE
    told = small_files.read(path)
    text = "" if told is None else told.decode("utf-8", "surrogateescape")
    block = _BLOCK.search(text)
    if block is not None and block[1] != _digest(block[2]):
        return files.Written(files.RUBRIC_FILE, written=False, why=f"the block of {path} was edited and stays so")
    made = f"{BEGIN.format(digest=_digest(lines))}\n{lines}{END}\n"
    if block is None:
        whole = f"{text.rstrip()}\n\n{made}" if text.strip() else made
    else:
        whole = text[: block.start()] + made + text[block.end() :]
    if lines or block is not None:
        files.learn(agent, files.RUBRIC_FILE, whole.encode("utf-8", "surrogateescape"))
    return files.Written(files.RUBRIC_FILE, written=True)


def cut(agent: Agent, gone: Collection[str]) -> bytes | None:
    """Take the lines out of our block of ``rubric.md`` that quote some events, as far as no person edited it.

    Args:
        gone: ids of the events.

    Returns:
        The file's new content; None when it stays as it is.
    """
    path = agent.folder / files.RUBRIC_FILE
    told = None if path.is_symlink() else small_files.read(path)
    text = "" if told is None else told.decode("utf-8", "surrogateescape")
    block = _BLOCK.search(text)
    if block is None or block[1] != _digest(block[2]):
        return None
    lines = block[2].splitlines(keepends=True)
    kept = "".join(line for line in lines if not any(pointer.parse(one).first in gone for one in pointer.find(line)))
    if kept == block[2]:
        return None
    made = f"{BEGIN.format(digest=_digest(kept))}\n{kept}{END}\n"
    content = (text[: block.start()] + made + text[block.end() :]).encode("utf-8", "surrogateescape")
    files.put(agent, files.RUBRIC_FILE, content)
    return content


def lines_of(text: str) -> tuple[Line, ...]:
    """Read the lines of a rubric file, a person's and ours, in order."""
    lines = []
    for line in text.splitlines():
        plain = line.strip()
        if not plain or plain.startswith(("#", "<!--")):
            continue
        named = pointer.find(plain)
        bare = plain.removeprefix("- ").removeprefix("* ")
        words = re.sub(r"\s*\((?:fh:[^)]*)\)\s*\Z", "", bare) if named else bare
        lines.append(Line(words, named[0] if named else "", tuple(named), 0))
    return tuple(lines[:LINES_MAX])


def grouped(found: Iterable[Correction]) -> list[list[Correction]]:
    """Group corrections that are alike, the newest first in each; the largest and then the newest group first."""
    groups: list[tuple[list[Correction], frozenset[str]]] = []
    for one in sorted(found, key=lambda one: -one.position):
        words = _telling(one.text)
        for members, held in groups:
            if _alike(words, held):
                members.append(one)
                break
        else:
            groups.append(([one], words))
    return sorted((members for members, _ in groups), key=lambda members: (-len(members), -members[0].position))


def _said(agent: Agent, session: str) -> Iterator[Event]:
    """Yield what the user said in a session, the newest first."""
    for one in agent.memory.events(session, kind=Kind.USER_MESSAGE, limit=MESSAGES_MAX, newest_first=True):
        if not one.erased and one.is_searchable and one.trust is Trust.TRUSTED:
            yield one


def _of(agent: Agent, message: Event) -> Iterator[Correction]:
    """Yield the corrections in a message that answers the agent."""
    if not corrections.corrections(message.text):
        return
    before = agent.memory.events(
        message.session, before=message.position, kind=Kind.AGENT_MESSAGE, limit=1, newest_first=True
    )
    for answered in before:
        asked = signs.asked(spoken.said(answered.text)) is not None
        for one in corrections.corrections(message.text, asked=asked):
            yield Correction(" ".join(one.text.split()), f"fh:{message.id}", message.position)


def _line(group: list[Correction]) -> Line:
    newest = group[0]
    said = shown(newest.text)
    said = said if len(said) <= CHARACTERS_MAX else f"{said[: CHARACTERS_MAX - 3]}..."
    pointers = tuple(dict.fromkeys(one.pointer for one in group))
    named = ", ".join(pointers[:POINTERS_MAX]) + (", ..." if len(pointers) > POINTERS_MAX else "")
    times = "once" if len(group) == 1 else f"{len(group):,} times"
    return Line(f'corrected {times}: "{said}" ({named})', newest.pointer, pointers, len(group))


def _telling(text: str) -> frozenset[str]:
    """Give the words of a correction that say what it is about, without plural endings."""
    words = (word.casefold() for word in _WORDS.findall(text))
    return frozenset(word.rstrip("s") if len(word) > 3 else word for word in words if word not in _EMPTY)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    common = len(one & other)
    return common > 1 and common >= ALIKE_MIN * min(len(one), len(other)) and common >= 0.3 * len(one | other)


def _digest(lines: str) -> str:
    return blake2s(lines.encode("utf-8", "surrogateescape")).hex()[:12]
