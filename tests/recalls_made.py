"""Stores in which recall was used for a while, made so that what became of each recall is known.

Facts are told in sessions of their own; in later sessions a user asks for one each, as a
host with hooks records it: the message, what was shown with it, the agent's work, the
user's next message.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from firsthand import Draft, Kind, Memory, Moment, Trust
from firsthand.value import value

DAY = 1_790_000_000_000_000
THINGS = (
    "billing", "search", "ledger", "mailer", "gateway", "scheduler", "indexer", "archive", "reports", "invoices",
    "catalogue", "checkout", "profile", "avatars", "exports", "imports", "webhooks", "metrics", "tracing", "alerts",
    "backup", "restore", "tickets", "chat", "presence", "calendar", "rooms", "seats", "orders", "returns",
    "refunds", "coupons", "loyalty", "stock", "shipping", "customs", "labels", "drivers", "routes", "depots",
    "weather", "maps", "tiles", "photos", "videos", "captions", "subtitles", "playlists", "radio", "podcasts",
    "polls", "surveys", "quizzes", "badges", "awards", "teams", "leagues", "fixtures", "scores", "referees",
)  # fmt: skip


@value
class Fact:
    """What a user told once: a thing, the string to be found, and the pointer of the message."""

    thing: str
    string: str
    pointer: str


def at(minutes: int) -> Moment:
    return Moment(DAY + minutes * 60_000_000)


def tell(memory: Memory, things: Sequence[str] = THINGS, form: str = "", trust: Trust = Trust.TRUSTED) -> list[Fact]:
    """Tell one fact of each thing, with talk around it, a session for eight of them."""
    form = form or "For the {thing} service we settled on port {string} after the outage, please keep to it."
    found = []
    for number, thing in enumerate(things):
        session = memory.session(f"host:told-{number // 8}")
        string = str(41_003 + 137 * number)
        text = form.format(thing=thing, string=string)
        appended = session.user(text, trust=trust, time=at(number))
        session.agent(f"Noted, the {thing} settings are as you say.", time=at(number))
        found.append(Fact(thing, string, f"fh:{appended.id}"))
    return found


def ask(
    memory: Memory, facts: Sequence[Fact], form: str, *, shown: bool, outcome: str, begin: int = 1_000,
    corrected: bool = False,
) -> list[str]:  # fmt: skip
    """Have a user ask for each fact in a session of its own; give the pointers of the messages.

    Args:
        form: of the question.
        shown: put the fact before the agent, which then uses it; else the user says it in the end.
    """
    pointers = []
    for number, fact in enumerate(facts):
        when = at(begin + 10 * number)
        session = memory.session(f"host:asked-{begin}-{number}")
        message = session.user(form.format(thing=fact.thing), time=when)
        pointers.append(f"fh:{message.id}")
        told = {"outcome": outcome, "shown": [fact.pointer] if shown else []}
        memory.append([injection(told, when)], session=session.name)
        if shown:
            session.tool_call("bash", {"command": f"curl localhost:{fact.string}/health"}, time=when)
            session.agent("It answers.", time=when)
            session.user("No, that is wrong." if corrected else "Thanks.", time=when)
        else:
            session.agent("I do not know that.", time=when)
            session.user(f"It is {fact.string}, I told you before.", time=when)
    return pointers


def injection(told: dict, when: Moment) -> Draft:
    """Draft what `lifecycle.shown.keep` keeps of a message."""
    meta = {"event": "prompt", "source": "", "host": "claude-code", "nonce": ""}
    return Draft(
        Kind.INJECTION, json.dumps(told).encode(), "application/json", meta, origin="firsthand", trust=Trust.TRUSTED,
        time=when,
    )  # fmt: skip
