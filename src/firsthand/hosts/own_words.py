"""Taking Firsthand's own words out of a record, so that what was recalled is not stored again as memory.

The invariant: nothing of a block that this store fenced is left in the record's
contents or in its envelope, and nothing else is taken out: what only looks like a
fence is data. A record of which nothing else is left is marked as injected and has
no events; ``raw`` stays as it came, so that offsets add up.
"""

from __future__ import annotations

import re

from firsthand.event import Draft
from firsthand.fence import Unfenced, unwrap
from firsthand.hosts.intake_rules import rewritten
from firsthand.record import Record, make
from firsthand.value import replace

_HINT = re.compile(rb"firsthand [0-9a-f]{32}: ")


def unfenced(record: Record, key: bytes) -> Record:
    """Give the record without the blocks that were fenced under this key; the same record when it has none.

    A content that lost blocks says how many in ``meta.unfenced``. Its envelope is
    then made from a record without them, and left out where they stand in it in
    a spelling that cannot be seen through.
    """
    rests = [_rest(draft, key) for draft in record.drafts]
    marks = {mark for rest in rests for mark in rest.marks}
    if not marks:
        return record
    raw = record.raw
    left: list[Draft] = []
    for draft, rest in zip(record.drafts, rests, strict=True):
        if rest.marks:
            content = _bytes(rest.text)
            assert isinstance(draft.content, bytes), "what is streamed is looked for no marks"
            raw = rewritten(raw, draft.content, content)
            if not rest.only:
                left.append(replace(draft, content=content, meta={**draft.meta, "unfenced": len(rest.marks)}))
        else:
            left.append(draft)
    if not left:
        return Record(record.raw, (), record.session, record.identity, record.fault, injected=True)
    raw = _bytes(unwrap(_text(raw), key).text)
    made = make(raw, left, session=record.session, identity=record.identity, fault=record.fault)
    first = made.drafts[0]
    if raw == record.raw or any(mark.encode() in first.envelope for mark in marks):
        made = replace(made, drafts=(replace(first, envelope=b""), *made.drafts[1:]))
    return replace(made, raw=record.raw)


def _rest(draft: Draft, key: bytes) -> Unfenced:
    if not isinstance(draft.content, bytes) or not _HINT.search(draft.content):
        return Unfenced("")
    return unwrap(_text(draft.content), key)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")  # any bytes, and back to the same


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
