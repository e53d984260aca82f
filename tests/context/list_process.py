"""A process that is given lists of messages, a line each, and syncs a session's window with them."""

from __future__ import annotations

import json
import sys

from firsthand import Memory

if __name__ == "__main__":
    with Memory.open(sys.argv[1]) as memory:
        window = memory.session("s").window(50_000, format=sys.argv[2], pull=False)
        for line in sys.stdin:
            window.sync(json.loads(line))
            print("ok", flush=True)
