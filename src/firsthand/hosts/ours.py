"""Taking Firsthand's own words out of a record, so that what was recalled is not stored again as memory.

The invariant: nothing of a fenced block is left in the record's contents or in
its envelope. A record of which nothing else is left is marked as injected and has
no events; ``raw`` stays as it came, so that offsets add up.
"""

from __future__ import annotations

import re
from dataclasses import replace

from firsthand.event import Draft, to_bytes
from firsthand.fence import Unfenced, unwrap
from firsthand.record import PARTS_MAX, SPELLINGS, Record, make, spell

_ANY = re.compile(rb"firsthand ([0-9a-f]{12})")
_ESCAPED = re.compile(r"&lt;&lt;((?:firsthand|end) [0-9a-f]{12}(?:: [^\n&>]*)?)&gt;&gt;")


def unfenced(record: Record) -> Record:
    """Give the record without Firsthand's fenced blocks; the same record when it has none.

    A content that lost blocks says how many in ``meta.unfenced``. Its envelope is
    then made from a record without them, and left out where the blocks stand in
    it a second time in some other spelling.
    """
    boundaries = set(_ANY.findall(record.raw))
    if not boundaries:
        return record
    rests = [_rest(draft) for draft in record.drafts[:PARTS_MAX]]
    if not any(rest.removed for rest in rests):
        return record
    raw = record.raw
    left: list[Draft] = []
    for draft, rest in zip(record.drafts, rests, strict=True):
        if rest.only:
            raw = _replaced(raw, draft, b"")
        elif rest.removed:
            content = to_bytes(rest.text)
            raw = _replaced(raw, draft, content)
            left.append(replace(draft, content=content, meta={**draft.meta, "unfenced": rest.removed}))
        else:
            left.append(draft)
    if not left:
        return Record(record.raw, (), record.session, record.identity, record.fault, injected=True)
    made = make(raw, left, session=record.session, identity=record.identity, fault=record.fault)
    first = made.drafts[0]
    if boundaries & set(_ANY.findall(first.envelope)):
        made = replace(made, drafts=(replace(first, envelope=b""), *made.drafts[1:]))
    return replace(made, raw=record.raw)


def _rest(draft: Draft) -> Unfenced:
    try:
        text = draft.content.decode("utf-8", "surrogatepass") if isinstance(draft.content, bytes) else ""
    except UnicodeDecodeError:
        text = ""
    return unwrap(_ESCAPED.sub(r"<<\1>>", text))  # some hosts escape angle brackets on the way in


def _replaced(raw: bytes, draft: Draft, content: bytes) -> bytes:
    """Write another content wherever a draft's content stands in the record."""
    assert isinstance(draft.content, bytes)
    for spelling in SPELLINGS:
        try:
            old, new = spell(draft.content, spelling), spell(content, spelling)
        except ValueError:  # no text cannot stand there in a spelling of texts
            continue
        raw = raw.replace(old, new)
    return raw
