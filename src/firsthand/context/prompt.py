"""Whether a prompt that was put together again is the one that a record describes.

The invariant: ``same`` is decided by the hash of the bytes, nothing else; when it is
false, the note says what differs as far as the record can tell.

Pure: how the prompt is put together again is not known here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from firsthand.context.anatomy import Anatomy
from firsthand.value import value
from firsthand.window import Window


@value
class Replay:
    """A prompt, put together again from the log.

    Attributes:
        body: as it is sent to the provider.
        same: its canonical JSON is byte for byte the one that was recorded before the call.
        note: what differs, when it is not; else that it is.
        window: that it was composed from, to be compared with that of another call.
    """

    body: Mapping[str, Any]
    same: bool
    note: str
    window: Window


def replay(anatomy: Anatomy, sent: bytes, window: Window, *, why: str = "") -> Replay:
    """Compare a prompt that was put together again with the record of the call.

    Args:
        sent: the body as canonical JSON (`formats.canonical.dump`).
        window: that it was composed from.
        why: what is known about why it may differ, such as an erased event.
    """
    body: dict[str, Any] = json.loads(sent.decode("utf-8", "surrogatepass"))
    digest = hashlib.sha256(sent).hexdigest()
    if digest == anatomy.sha256:
        return Replay(body, same=True, note=f"the same {len(sent):,} bytes as recorded, sha256 {digest}", window=window)
    change = f"{len(sent):,} bytes where {anatomy.bytes:,} were recorded" if len(sent) != anatomy.bytes else "same size"
    known = f"; {why}" if why else ""
    return Replay(
        body,
        same=False,
        note=f"not the recorded prompt: sha256 {digest}, recorded {anatomy.sha256}; {change}{known}",
        window=window,
    )
