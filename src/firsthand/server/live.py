"""New events, as they come: a stream of server-sent events that names the position that was reached.

The invariant: it sends positions and no words; what is read on a page never moves by it. A
stream ends by itself, and the browser asks again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.responses import Response, StreamingResponse

LOOK_S = 0.5
SIGN_S = 15.0
"""A stream of no news says so often that it is there: a line that is passed over."""
LASTS_S = 240.0


def stream(
    position: Callable[[], Awaitable[int]], gone: Callable[[], Awaitable[bool]], after: int | None = None
) -> Response:
    """Send the position that was reached, when it changes.

    Args:
        after: the stream ends when a position behind this one was sent; None goes on.
        position: looks how far the log or a session reaches.
        gone: says whether the browser went away.
    """

    async def lines() -> AsyncIterator[str]:
        last, begun = -1, time.monotonic()
        until, sent = begun + LASTS_S, begun
        yield "retry: 3000\n\n"
        while time.monotonic() < until and not await gone():
            at = await position()
            if at == last and time.monotonic() - sent > SIGN_S:
                sent = time.monotonic()
                yield ":\n\n"
            if at != last:
                last, sent = at, time.monotonic()
                yield f"event: position\ndata: {at}\n\n"
                if after is not None and at > after:
                    return
            await asyncio.sleep(LOOK_S)

    return StreamingResponse(lines(), media_type="text/event-stream")
