"""Small sources in the shapes of the hosts, made here; nothing of them comes from real sessions."""

from __future__ import annotations

import json
from typing import Any

_CALL = {"type": "toolCall", "id": "call_1", "name": "bash", "arguments": {"command": "ls /srv"}}


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values)


PI = lines(
    {"type": "session", "id": "0a1b-pi", "timestamp": "2026-01-02T03:04:05.000Z", "cwd": "/srv", "provider": "p"},
    {"type": "message", "timestamp": "2026-01-02T03:04:06.000Z",
     "message": {"role": "user", "content": [{"type": "text", "text": "list the ports é"}], "timestamp": 1}},
    {"type": "message", "timestamp": "2026-01-02T03:04:07.000Z",
     "message": {"role": "assistant", "content": [{"type": "text", "text": "Looking."}, _CALL], "model": "m-1"}},
    {"type": "message", "timestamp": "2026-01-02T03:04:08.000Z",
     "message": {"role": "toolResult", "toolCallId": "call_1", "toolName": "bash", "isError": False,
                 "content": [{"type": "text", "text": "8080\n9090\n"}]}},
)  # fmt: skip

JSONL = lines(
    {"role": "user", "content": "where is the key?"},
    {"role": "assistant", "content": "in the drawer"},
    {"role": "user", "content": "thanks"},
)

GEMINI = lines(
    {"sessionId": "g-1", "projectHash": "ab12", "startTime": "2026-02-03T04:05:06Z", "kind": "main"},
    {"id": "m1", "timestamp": "2026-02-03T04:05:07Z", "type": "user", "content": [{"text": "read the file"}]},
    {"id": "m2", "timestamp": "2026-02-03T04:05:08Z", "type": "gemini", "content": "Reading.", "model": "g",
     "toolCalls": [{"id": "c1", "name": "read_file", "args": {"path": "a.txt"}, "status": "executing"}]},
    {"id": "m2", "timestamp": "2026-02-03T04:05:08Z", "type": "gemini", "content": "Reading.", "model": "g",
     "toolCalls": [{"id": "c1", "name": "read_file", "args": {"path": "a.txt"}, "status": "success",
                    "result": [{"functionResponse": {"id": "c1", "response": {"output": "line one\nline two"}}}]}]},
    {"$set": {"lastUpdated": "2026-02-03T04:06:00Z"}},
    {"$rewindTo": "m1"},
)  # fmt: skip

MBOX = b"""From ada@example.org Mon Jan  5 10:00:00 2026
From: Ada <ada@example.org>
To: bob@example.org
Subject: the ports
Date: Mon, 05 Jan 2026 10:00:00 +0100

We use 8080.
>From now on.

From bob@example.org Mon Jan  5 11:00:00 2026
From: Bob <bob@example.org>
To: ada@example.org
Subject: Re: the ports
Date: Mon, 05 Jan 2026 11:00:00 +0100

Thanks.

"""

LINE_SOURCES = {
    "pi.jsonl": PI,
    "plain.jsonl": JSONL,
    "session-g.jsonl": GEMINI,
    "in.mbox": MBOX,
}
