"""New events, as they come: a stream of server-sent events that names the position that was reached.

The invariant: it sends positions and no words; what is read on a page never moves by it. A
stream ends by itself, and the browser asks again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.responses import Response, StreamingResponse

LOOK_S = 2.0
LASTS_S = 240.0


def stream(position: Callable[[], Awaitable[int]], gone: Callable[[], Awaitable[bool]]) -> Response:
    """Send the position that was reached, when it changes.

    Args:
        position: looks how far the log or a session reaches.
        gone: says whether the browser went away.
    """

    async def lines() -> AsyncIterator[str]:
        last = -1
        until = time.monotonic() + LASTS_S
        yield "retry: 3000\n\n"
        while time.monotonic() < until and not await gone():
            at = await position()
            if at != last:
                last = at
                yield f"event: position\ndata: {at}\n\n"
            await asyncio.sleep(LOOK_S)

    return StreamingResponse(lines(), media_type="text/event-stream")
