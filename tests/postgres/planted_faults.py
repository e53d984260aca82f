"""Faults that a server for teams does not have, planted into one: what looks for such faults has to find them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from starlette.responses import JSONResponse
from team_server import Team

from firsthand import Memory


def namespace_from_body(team: Team) -> None:
    """A route opens the namespace that its body names."""
    spaces = team.gateway._spaces

    async def answer(fields: Mapping[str, Any]) -> Any:
        if not isinstance(fields.get("namespace"), str):
            return None
        with spaces.of(spaces.named(fields["namespace"])) as memory:
            return JSONResponse([event.text for event in memory.events(limit=9)])

    before(team, answer)


def fault_on_nul(team: Team) -> None:
    """A route raises on a text that has a NUL."""

    async def answer(fields: Mapping[str, Any]) -> Any:
        if "\0" in str(fields.get("query")):
            raise KeyError("\0")

    before(team, answer)


def words_in_log(team: Team) -> None:
    """Whatever is opened, its newest words are logged."""
    _opened(team, lambda memory: team.gateway._log(next(memory.events(newest_first=True, limit=1)).text))


def names_in_metrics(team: Team) -> None:
    """What is counted is counted by namespace."""
    measures = team.gateway._spaces.measures
    _opened(team, lambda memory: measures.count("firsthand_events_appended", memory.namespace, "note"))


def before(team: Team, answer: Callable[[Mapping[str, Any]], Any]) -> None:
    """Ask a function before the application what it answers to the body of a recall."""
    app: Any = team.gateway._app

    async def planted(scope: Any, receive: Any, send: Any) -> None:
        messages = []
        while scope["path"] == "/v1/recall" and (not messages or messages[-1].get("more_body")):
            messages.append(await receive())
        try:
            fields = json.loads(b"".join(message.get("body", b"") for message in messages))
        except (ValueError, RecursionError):
            fields = None
        response = await answer(fields) if isinstance(fields, dict) else None

        async def again() -> Any:
            return messages.pop(0) if messages else await receive()

        await (response or app)(scope, again, send)

    team.gateway._app = planted


def _opened(team: Team, look: Callable[[Memory], object]) -> None:
    """Have a function look at every memory that is opened."""
    spaces: Any = team.gateway._spaces
    opened = spaces.of

    @contextmanager
    def planted(call: Any) -> Iterator[Memory]:
        with opened(call) as memory:
            look(memory)
            yield memory

    spaces.of = planted
