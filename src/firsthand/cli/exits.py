"""The exit codes of the command line; docs/commands.md says the same to users."""

from __future__ import annotations

DONE = 0
NOTHING_FOUND = 1
USAGE = 2
DAMAGED = 3
STORE_FAILED = 4
REFUSED = 5
INTERRUPTED = 130  # 128 and the signal, as shells say it
PIPE_CLOSED = 141
