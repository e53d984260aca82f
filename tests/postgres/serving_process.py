"""A server of its own process over $FIRSTHAND_STORE: `python serving_process.py PORT`, until it is killed."""

from __future__ import annotations

import sys
import threading

from firsthand.server.daemon_stores import Stores
from firsthand.server.http_server import HttpServer

if __name__ == "__main__":
    http = HttpServer(Stores(timeout_ms=30_000), print, port=int(sys.argv[1]))
    http.start()
    print(http.url, flush=True)
    threading.Event().wait()
