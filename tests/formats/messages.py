"""Messages as hypothesis draws them, and the way there and back that all formats share."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from firsthand import formats
from firsthand.event import META_BYTES_MAX, Draft
from firsthand.record import assemble

TEXT = st.text(st.characters(codec=None), max_size=20)  # lone surrogates too
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
BASE64 = st.binary(min_size=1, max_size=40).map(lambda data: base64.b64encode(data).decode()) | TEXT


def fields(required: Mapping[str, Any], **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Draw an object with its required fields, some optional ones, and now and then one of another shape."""
    return st.fixed_dictionaries(
        {name: value if isinstance(value, st.SearchStrategy) else st.just(value) for name, value in required.items()},
        optional={name: value | JSON for name, value in {**optional, "cache_control": JSON, "x": JSON}.items()},
    )


def there_and_back(name: str, messages: list[dict[str, Any]]) -> list[list[Draft]]:
    """Check that each message comes back equal, keys in order; give the drafts of each."""
    form = formats.named(name)
    found = form.to_records(messages)
    assert len(found) == len(messages)
    for message, record in zip(messages, found, strict=True):
        contents = [draft.content for draft in record.drafts]
        envelope = record.drafts[0].envelope
        assert assemble(envelope, contents) == record.raw
        back = form.message_from(envelope, contents)
        assert json.dumps(back) == json.dumps(message)
        for number, draft in enumerate(record.drafts):
            assert draft.part == number
            assert len(json.dumps(draft.meta, allow_nan=False)) <= META_BYTES_MAX
            assert len(draft.origin.encode()) <= 512
            assert not number or draft.envelope == b""
    return [list(record.drafts) for record in found]


def told(drafts: list[Draft]) -> list[tuple[str, bytes]]:
    """Give kind and content of each event."""
    return [(draft.kind, bytes(draft.content)) for draft in drafts]
