"""One message as bytes, and those bytes as the message again.

The invariant: ``load(assemble(envelope, contents)) == message``. Canonical means
compact JSON in UTF-8 with the keys in the order they came: a provider's prompt
cache sees the order, so it is not sorted away.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from firsthand.errors import FormatError
from firsthand.event import to_bytes
from firsthand.record import assemble

MESSAGE_BYTES_MAX = 512 << 20
_SPELLINGS: tuple[dict[str, Any], ...] = (
    {"separators": (",", ":"), "ensure_ascii": False},
    {"separators": (",", ":"), "ensure_ascii": True},
    {"separators": (", ", ": "), "ensure_ascii": False},
    {"separators": (", ", ": "), "ensure_ascii": True},
)
_DECODER = json.JSONDecoder()


def dump(message: Mapping[str, Any]) -> bytes:
    """Write one message as canonical JSON bytes.

    Values with ``model_dump`` (the providers' own Python types) are written as
    what they would send.

    Raises:
        FormatError: a value is none that JSON has, or the message is over 512 MiB.
    """
    if not isinstance(message, Mapping):
        raise FormatError(f"a message is an object with text keys; got {message!r:.80}")
    try:
        _check_keys(message)
        data = to_bytes(json.dumps(message, allow_nan=False, default=_plain, **_SPELLINGS[0]))
    except (TypeError, ValueError, RecursionError) as error:
        raise FormatError(f"a message is made of JSON values only; {error}; convert it before appending it") from error
    if len(data) > MESSAGE_BYTES_MAX:
        raise FormatError(f"a message has at most {MESSAGE_BYTES_MAX:,} bytes; got {len(data):,}; store the file apart")
    return data


def message_from(envelope: bytes, contents: Sequence[bytes]) -> dict[str, Any]:
    """Give a message back, equal to the one that came.

    Args:
        envelope: of the record's first event.
        contents: of all its events, in order of their parts.

    Raises:
        FormatError: envelope and contents do not make a message.
    """
    try:
        return load(assemble(envelope, contents))
    except ValueError as error:
        raise FormatError(
            f"expected the envelope and all contents of one message; {error}; pass the parts of one record, in order"
        ) from error


def load(raw: bytes) -> dict[str, Any]:
    """Read the bytes of one message; raises ValueError where they are none."""
    message = json.loads(raw.decode("utf-8", "surrogatepass"))
    if isinstance(message, dict):
        return message
    raise ValueError(f"a message is a JSON object, not a {type(message).__name__}")


def value_in(raw: bytes, value: Any, *keys: str) -> bytes:
    """Write a value as it is written in ``raw``, where it stands under one of ``keys``; else compactly.

    Hosts differ in spaces, escapes and in how they write numbers.
    """
    written = [to_bytes(json.dumps(value, **spelling)) for spelling in _SPELLINGS]
    for data in written:
        if data in raw:
            return data
    text = raw.decode("utf-8", "surrogatepass") if _is_text(raw) else ""
    for match in re.finditer(rf'"(?:{"|".join(map(re.escape, keys))})"\s*:\s*', text) if keys else ():
        try:
            there, end = _DECODER.raw_decode(text, match.end())
        except ValueError:  # the key stands inside a text here, with no value behind it
            continue
        if there == value:
            return to_bytes(text[match.end() : end])
    return written[0]


def decoded(data: Any) -> bytes | None:
    """Decode base64; None where it is none, so that nothing is made up."""
    if not isinstance(data, str) or not data:
        return None
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None


def _is_text(raw: bytes) -> bool:
    """Say whether bytes decode as text."""
    try:
        raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _check_keys(value: Any) -> None:
    """Refuse keys that are no text: JSON would write 1 and "1" as the same key."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not isinstance(name, str):
                raise TypeError(f"a key is text, not {type(name).__name__} {name!r:.40}")
            _check_keys(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _check_keys(inner)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    dump_model = getattr(value, "model_dump", None)
    if callable(dump_model):
        return dump_model(mode="json", exclude_unset=True)
    raise TypeError(f"{type(value).__name__} is no JSON value")
