"""Requests and replies on the server's side of the wire, and in the files of calls that were kept.

    request: MAGIC, length of the head (4 bytes), length of the payload (4 bytes), head, payload
    reply:   MAGIC, status (1 byte), length of the output (4 bytes), output

The head is the fields of a `Call`, apart by NUL bytes. The invariant: a request of an older client, whose head has
fewer fields, is read like any other; what fields a newer one has beyond those is left out.
"""

from __future__ import annotations

import socket

from firsthand.server.hook_client import FIELDS, HEAD_BYTES_MAX, MAGIC, PAYLOAD_BYTES_MAX, Call, receive

START_BYTES = 12
_NAME = MAGIC[:3]


def lengths(start: bytes) -> tuple[int, int]:
    """Read how long head and payload of a request are from its first `START_BYTES`.

    Raises:
        ValueError: it is no request, or over the limits.
    """
    head, payload = int.from_bytes(start[4:8], "big"), int.from_bytes(start[8:12], "big")
    if len(start) != START_BYTES or start[:3] != _NAME or head > HEAD_BYTES_MAX or payload > PAYLOAD_BYTES_MAX:
        raise ValueError(f"expected a request of this protocol within its limits; got {start!r}")
    return head, payload


def is_newer(start: bytes) -> bool:
    """Say whether a request is of a higher version of the protocol."""
    return start[:3] == _NAME and start[3:4] > MAGIC[3:4]


def parsed(head: bytes) -> Call:
    """Read the head of a request; fields that it lacks are empty."""
    return Call(**dict(zip(FIELDS, head.decode("utf-8", "surrogateescape").split("\0"), strict=False)))


def request(connection: socket.socket, by: float) -> tuple[Call | None, bytes]:
    """Receive a request and its payload; no call where it is of a higher version of the protocol.

    Raises:
        OSError, ValueError: it did not come whole by this time (of the monotonic clock), or is none.
    """
    start = receive(connection, START_BYTES, by)
    if is_newer(start):
        return None, b""
    head, payload = lengths(start)
    call = parsed(receive(connection, head, by))
    return call, receive(connection, payload, by)


def reply(status: bytes, output: bytes = b"") -> bytes:
    """Write a reply."""
    return MAGIC + status + len(output).to_bytes(4, "big") + output
