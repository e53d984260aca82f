"""One case: a session, a note of it, what the note's pointers lead to, and the gold verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from firsthand.value import value

from .gold import Fact, Question, Regime, missing, verdict

SEED = 20_260_717


@value
class Case:
    """A note to judge.

    Attributes:
        messages: the session; each has role and content, most have a pointer.
        expand: what each pointer that resolves leads to; a pointer in the note that is not here dangles.
        claim: what is asked for later.
        missing: what a verdict should name, in the set's own words.
    """

    id: str
    kind: str
    messages: tuple[Mapping[str, str], ...]
    note: str
    expand: Mapping[str, str]
    claim: str
    gold: Regime
    missing: tuple[str, ...]


class Session:
    """A session in the making: messages, each with a pointer."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self.messages: list[dict[str, str]] = []

    def say(self, role: str, content: str) -> str:
        """Add a message and give its pointer."""
        pointer = "fh:" + new_id(self._rng)
        self.messages.append({"role": role, "content": content, "pointer": pointer})
        return pointer

    def user(self, content: str) -> str:
        """Add a message of the user."""
        return self.say("user", content)

    def agent(self, content: str) -> str:
        """Add a message of the agent."""
        return self.say("assistant", content)

    def tool(self, content: str) -> str:
        """Add a tool's result."""
        return self.say("tool", content)

    def expands(self) -> dict[str, str]:
        """Give what a store of this session would expand."""
        return {message["pointer"]: message["content"] for message in self.messages}


@value
class Drawn:
    """A note with what was put into it.

    Attributes:
        stated, behind, admits, concludes: as `gold.verdict` takes them.
    """

    text: str
    stated: Sequence[Fact]
    behind: Sequence[Fact] = ()
    admits: bool = False
    concludes: bool = False


def case(kind: str, number: int, session: Session, claim: str, question: Question, drawn: Drawn,
         expand: Mapping[str, str] | None = None) -> Case:  # fmt: skip
    """Make a case and compute its verdict."""
    return Case(
        f"{kind}-{number:02d}",
        kind,
        tuple(session.messages),
        drawn.text,
        session.expands() if expand is None else expand,
        claim,
        verdict(question, drawn.stated, drawn.behind, admits=drawn.admits, concludes=drawn.concludes),
        missing(question, drawn.stated, drawn.behind),
    )


def dice(kind: str, number: int) -> Random:
    """Give a case its own chance, whatever other cases there are."""
    return Random(f"{SEED}:{kind}:{number}")


def new_id(rng: Random) -> str:
    """Draw an id as events have it: 26 characters, the first below 8."""
    alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    return "0" + "".join(rng.choice(alphabet) for _ in range(25))
