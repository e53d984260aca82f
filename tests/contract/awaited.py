"""A memory whose verbs are awaited, as one whose verbs wait: so one suite holds for both."""

from __future__ import annotations

import inspect


class Awaited:
    """An asynchronous client, each call of which is run to its end: what it gives can be compared with the others'."""

    def __init__(self, client, loop):
        self._client, self._loop = client, loop

    def __getattr__(self, name):
        member = getattr(self._client, name)
        return self._run(member) if not callable(member) else lambda *args, **named: self._run(member(*args, **named))

    def _run(self, thing):
        if inspect.isawaitable(thing):
            return self._loop.run_until_complete(thing)
        if hasattr(thing, "__aiter__"):
            return self._loop.run_until_complete(_all(thing))
        return Awaited(thing, self._loop) if hasattr(thing, "agent_name") else thing


async def _all(items):
    return [item async for item in items]
