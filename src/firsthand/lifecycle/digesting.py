"""The digest of an agent: made of the log as of any position, and written into its folder (total-recall 8.5).

The invariant: the digest of a position is the same whenever it is made, as long as
nothing that it rests on is erased; only what a user said by trust stands in it. A file
that a person has changed is kept and left alone: what Firsthand would have written
there is told as a difference.

It decides nothing: which facts stand is the ledger's, how they are laid out is `digest`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from firsthand.consolidate.digest import LINES_MAX, Digest, Summary, digest
from firsthand.consolidate.keys import Fact
from firsthand.consolidate.ledger import Ledger, surviving
from firsthand.consolidate.sweep import counts
from firsthand.event import Kind
from firsthand.lifecycle import episodes, files, small_files
from firsthand.lifecycle.ledger_log import LedgerLog
from firsthand.lifecycle.secret import without_secrets
from firsthand.lifecycle.sweeping import facts_of, said_last
from firsthand.value import replace, value

if TYPE_CHECKING:
    from firsthand.lifecycle.agent import Agent

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


def digest_of(agent: Agent, *, as_of: int | None = None, lines_max: int = LINES_MAX) -> Digest:
    """Make the digest of an agent.

    Args:
        as_of: a position; what came behind it does not count. None is now.

    Raises:
        InvalidArgument: there are too few lines for its headings.
    """
    standing = [replace(one, text=without_secrets(one.text, one.pointer)) for one in facts_standing(agent, as_of=as_of)]
    return digest(standing, _summaries(agent, as_of), lines_max)


def facts_standing(agent: Agent, *, as_of: int | None = None) -> tuple[Fact, ...]:
    """Give the facts of an agent that stand: a user said them, and no decision takes them out."""
    told = [one for one in facts_of(agent.memory, agent.name, as_of=as_of) if one.sort != "retraction" and counts(one)]
    standing = surviving(said_last(told), LedgerLog(agent.memory).at(as_of))
    last = {(one.key, one.value): one for one in standing}  # what is said twice stands once, where it was said last
    return surviving(last.values(), Ledger())


def write_digest(agent: Agent, *, as_of: int | None = None, lines_max: int = LINES_MAX) -> DigestWritten:
    """Write the digest and the files that it links into the agent's folder.

    Args:
        as_of: a position, for a digest that can be named and made again; None is now.

    Raises:
        StoreError: the folder cannot be written.
    """
    made = digest_of(agent, as_of=as_of, lines_max=lines_max)
    written: list[str] = []
    left_out: list[str] = []
    for file, text in (*made.details.items(), (files.DIGEST_FILE, made.text)):  # what it links stands before it does
        one = files.write_ours(agent, file, text)
        (written if one.written else left_out).append(file if one.written else one.why)
    for path in sorted((agent.folder / files.DIGEST_FOLDER).glob(f"*{files.SUFFIX}")):
        file = path.relative_to(agent.folder).as_posix()
        if file not in made.details and files.written_by_us(agent, file):
            files.remove_written(agent, file)
    difference = "" if files.DIGEST_FILE in written else _difference(agent, made.text)
    return DigestWritten(made, tuple(written), tuple(left_out), difference)


def _difference(agent: Agent, text: str) -> str:
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


def _summaries(agent: Agent, as_of: int | None) -> Iterator[Summary]:
    """Yield the agent's sessions by the episode that was the newest at a position."""
    held = LedgerLog(agent.memory).at(as_of).held
    newest = {}
    for event in agent.own(Kind.EPISODE):
        if as_of is None or event.position <= as_of:
            one = episodes.from_event(agent, event)
            if one is not None and one.pointer not in held:
                newest[one.session] = Summary(one.name, one.pointer, event.position)
    yield from newest.values()
