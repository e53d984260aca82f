"""What must hold for every composed prompt, whatever stands in the window and in whatever order."""

from __future__ import annotations

import json
from copy import deepcopy

from hypothesis import assume, given
from hypothesis import strategies as st

from firsthand import formats
from firsthand.errors import FormatError
from firsthand.event import Kind, to_text
from firsthand.formats import canonical
from firsthand.formats.blocks import fit_text
from firsthand.formats.check import faults
from firsthand.formats.compose import Entry, Piece, compose
from firsthand.window import CUES, HISTORY_PARTS, MARKERS, PARTS, PREAMBLE, TASK

WORDS = st.sampled_from(
    ["", " ", "\0", "\ud800", "null\0", "a\udc00b", "plain", "two\n\nparts ", "é😀", '{"a":1}', "[1"]
)
IDS = st.sampled_from(["a", "b", "c", "", "x/y z", "\ud800", "long" * 40, "call_1"])
NAMES = st.sampled_from(["bash", "read file", "", "a" * 90, "recall"])
ARGUMENTS = st.sampled_from(["{}", "", '{"q":"x"}', "{broken", "[1]", '"text"', '{"n":NaN}', '{"z":"\\u0000"}'])
ID = "01J8ZQ4T9M6V3K2N7P5R8S1WXY"
IMAGE = "iVBORw0KGgo="
SIGNATURE = st.sampled_from(["", "sig", "sig"])


def block(kind, **held):
    return st.fixed_dictionaries({"type": st.just(kind), **held})


def one_of(*values):
    return st.sampled_from(values)


# openai-chat
CHAT_CALL = st.builds(
    lambda i, n, a: {"id": i, "type": "function", "function": {"name": n, "arguments": a}}, IDS, NAMES, ARGUMENTS
)
CUSTOM_CALL = st.builds(
    lambda i, n, a: {"id": i, "type": "custom", "custom": {"name": n, "input": a}}, IDS, NAMES, WORDS
)
CHAT_PART = st.one_of(
    block("text", text=WORDS),
    block("image_url", image_url=one_of({"url": f"data:image/png;base64,{IMAGE}"}, {"url": "https://a.b/c.png"}, {})),
    block("input_audio", input_audio=one_of({"data": IMAGE, "format": "wav"})),
    block("odd"),
)
CHAT = st.one_of(
    st.fixed_dictionaries(
        {"role": one_of("user", "system", "developer", "odd"), "content": WORDS}, optional={"name": WORDS}
    ),
    st.fixed_dictionaries({"role": st.just("user"), "content": st.lists(CHAT_PART, max_size=3)}),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.none() | WORDS},
        optional={
            "tool_calls": st.none() | st.lists(CHAT_CALL | CUSTOM_CALL, max_size=3),
            "reasoning_content": WORDS, "refusal": st.none() | WORDS, "audio": st.none(),
            "function_call": st.none() | one_of({"name": "f", "arguments": "{}"}),
        },
    ),
    st.fixed_dictionaries({
        "role": st.just("tool"), "tool_call_id": IDS,
        "content": WORDS | st.lists(block("text", text=WORDS), max_size=2),
    }),
    st.fixed_dictionaries({"role": st.just("function"), "content": WORDS, "name": one_of("f", "g")}),
)  # fmt: skip

# anthropic
CACHED = {"cache_control": one_of({"type": "ephemeral"})}
TEXT = st.fixed_dictionaries({"type": st.just("text"), "text": WORDS}, optional=CACHED)
PICTURE = block(
    "image",
    source=one_of({"type": "base64", "media_type": "image/png", "data": IMAGE}, {"type": "url", "url": "https://a.b"}),
)
ANTHROPIC = st.one_of(
    st.fixed_dictionaries({"role": one_of("user", "assistant", "system"), "content": WORDS}),
    st.fixed_dictionaries({
        "role": st.just("user"),
        "content": st.lists(st.one_of(
            TEXT, PICTURE,
            st.fixed_dictionaries(
                {"type": st.just("tool_result"), "tool_use_id": IDS},
                optional={"content": WORDS | st.lists(TEXT | PICTURE, max_size=2), "is_error": st.booleans(), **CACHED},
            ),
        ), max_size=4),
    }),
    st.fixed_dictionaries({
        "role": st.just("assistant"),
        "content": st.lists(st.one_of(
            TEXT,
            block("thinking", thinking=WORDS, signature=SIGNATURE),
            block("redacted_thinking", data=SIGNATURE),
            block("tool_use", id=IDS, name=NAMES, input=one_of({}, {"q": 1}, {"q": "\0"}, None)),
            block("server_tool_use", id=IDS, name=NAMES, input=st.just({})),
            block("web_search_tool_result", tool_use_id=IDS, content=st.just([])),
            block("odd"),
        ), max_size=4),
    }),
)  # fmt: skip

# openai-responses
RESPONSES = st.one_of(
    st.fixed_dictionaries({"role": one_of("user", "system", "developer", "assistant"), "content": WORDS}),
    st.builds(
        lambda content: {"type": "message", "role": "user", "content": content},
        st.lists(block("input_text", text=WORDS) | block("input_image", image_url=st.just("https://a")), max_size=2),
    ),
    st.builds(
        lambda content: {"type": "message", "id": "msg_1", "role": "assistant", "content": content},
        st.lists(block("output_text", text=WORDS) | block("refusal", refusal=WORDS), max_size=2),
    ),
    block("function_call", call_id=IDS, name=NAMES, arguments=ARGUMENTS),
    block("custom_tool_call", call_id=IDS, name=NAMES, input=WORDS),
    block("computer_call", call_id=IDS, action=st.just({"type": "screenshot"})),
    block("function_call_output", call_id=IDS, output=WORDS | st.lists(block("input_text", text=WORDS), max_size=2)),
    block("custom_tool_call_output", call_id=IDS, output=WORDS),
    block("computer_call_output", call_id=IDS, output=st.just({"type": "computer_screenshot", "image_url": "https://a"})),
    block("reasoning", id=st.just("rs_1"), summary=st.just([])),
    block("web_search_call", id=IDS),
    block("odd"),
)  # fmt: skip
NATIVE = {formats.OPENAI_CHAT: CHAT, formats.ANTHROPIC: ANTHROPIC, formats.OPENAI_RESPONSES: RESPONSES}

MEDIA = one_of("text/plain", "application/json", "image/png", "application/pdf", "audio/wav", "text/uri-list", "x/y")
PIECE = st.builds(
    Piece,
    st.sampled_from([*HISTORY_PARTS]),
    WORDS,
    media=MEDIA,
    meta=st.fixed_dictionaries({}, optional={
        "call_id": IDS | st.just(7), "tool": NAMES, "is_error": st.booleans(), "attachments": st.integers(0, 3),
        "name": WORDS, "url": st.just("https://a.b/c"), "block": one_of("image", "document", "odd"), "file_id": IDS,
    }),
    content=st.none() | st.binary(max_size=4),
    id=one_of("", ID),
    tokens=st.integers(0, 50),
)  # fmt: skip


def note(words, name, tokens=3):
    return Piece(Kind.NOTE, words, tokens=tokens, name=name)


MARKER = WORDS.map(lambda words: Entry(None, (note(words, MARKERS),)))


def entry_of(name, message, *, whole=True):
    """Make the entry of a message as the log gives it back."""
    record = formats.named(name).to_records([message])[0]
    pieces = tuple(
        Piece(draft.kind, to_text(draft.content), draft.media, draft.meta, draft.content, ID, 5)
        for draft in record.drafts
    )
    return Entry(message if whole else None, pieces)


def entries(name):
    """Draw a window: messages of the format, whole or in pieces, those of others, pieces of any kind, markers."""
    native = st.builds(entry_of, st.just(name), NATIVE[name])
    foreign = st.sampled_from(sorted(NATIVE)).flatmap(
        lambda other: st.builds(entry_of, st.just(other), NATIVE[other], whole=st.just(False))
    )
    pieces = st.lists(PIECE, min_size=1, max_size=3).map(lambda found: Entry(None, tuple(found)))
    return st.lists(st.one_of(native, native, foreign, pieces, MARKER), max_size=9)


@st.composite
def prompts(draw):
    """Draw a format and all that goes into a prompt."""
    name = draw(st.sampled_from(sorted(NATIVE)))
    others = {
        "system": draw(st.lists(WORDS.map(lambda words: note(words, PREAMBLE)), max_size=2)),
        "tail": draw(st.lists(st.builds(note, WORDS, one_of(TASK, CUES)), max_size=2)),
        "tools": draw(st.lists(one_of({"name": "recall", "x": "é"}, {"name": "x\0", "cache_control": {}}), max_size=1)),
        "breakpoints": draw(st.booleans()),
    }
    return draw(entries(name)), name, others


def composed(prompt):
    window, name, others = prompt
    assume(any(strings([piece.text for piece in entry.pieces]) for entry in window))
    try:
        return compose(window, name, **others)
    except FormatError as nothing:
        assume("expected at least one message" not in str(nothing))
        raise


def strings(value):
    """Give all texts in a JSON value that say something."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [found for member in members for found in strings(member)]


@given(prompts())
def test_whatever_stands_in_the_window_the_provider_takes_it(prompt):
    """No order of no entries makes a body that its provider would refuse."""
    assert faults(composed(prompt).body, prompt[1]) == ()


@given(prompts())
def test_every_byte_has_its_contributor(prompt):
    """The shares sum to the canonical JSON of the body, byte for byte; each contributor is known and stands once."""
    made = composed(prompt)
    sent = canonical.dump(made.body)
    assert sum(share.bytes for share in made.shares) == len(sent) == made.size_bytes
    assert all(share.bytes >= 0 and share.name in PARTS for share in made.shares)
    assert len({share.name for share in made.shares}) == len(made.shares)


@given(prompts())
def test_composing_twice_gives_the_same_and_changes_nothing(prompt):
    """A body depends on its arguments only, and these stay as they were."""
    window, name, others = prompt
    before = deepcopy((window, others))
    first = composed(prompt)
    assert json.dumps(compose(window, name, **others).body) == json.dumps(first.body)
    assert (window, others) == before


SAID = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.SYSTEM, Kind.PERSONA, Kind.SUMMARY, Kind.OTHER, Kind.NOTE)


@given(prompts())
def test_nothing_that_was_said_is_lost(prompt):
    """Every text of user, agent, system and ours, and every plain result, stands in the body, whatever moved."""
    window, _, others = prompt
    body = composed(prompt).body
    told = "\n".join(strings(body))
    for entry in window:
        for piece in entry.pieces:
            if piece.kind in SAID or (piece.kind is Kind.TOOL_RESULT and piece.media == "text/plain"):
                as_json = entry.message is not None and piece.media == "application/json"
                assert as_json or fit_text(piece.text).strip() in told
    for piece in (*others["system"], *others["tail"]):
        assert fit_text(piece.text).strip() in told


@given(prompts())
def test_the_tokens_are_those_of_the_pieces(prompt):
    """The shares have the tokens of all pieces that say something, except of thoughts that are left out."""
    window, name, others = prompt
    full = [
        entry for entry in window
        if all(piece.text.strip() and piece.kind is not Kind.REASONING for piece in entry.pieces)
        and (entry.message or {}).get("type") != "reasoning"
    ]  # fmt: skip
    texts = [piece for piece in (*others["system"], *others["tail"]) if piece.text.strip()]
    made = composed((full, name, others | {"tools_tokens": 11 * len(others["tools"])}))
    counted = sum(piece.tokens for entry in full for piece in entry.pieces) + sum(piece.tokens for piece in texts)
    assert sum(share.tokens for share in made.shares) == counted + 11 * len(others["tools"])


@given(prompts(), st.lists(WORDS, max_size=2))
def test_what_is_stable_is_a_common_beginning(prompt, later):
    """When a turn is added and the tail changes, all that stood before the newest turn is sent as before."""
    window, name, others = prompt
    others |= {"breakpoints": False}
    user, agent = (st_entry(name, "user", "the newest"), st_entry(name, "assistant", "its answer"))
    settled = [*window, st_entry(name, "assistant", "settled")]
    first = compose([*settled, user], name, **others)
    tail = [note(words, TASK) for words in later]
    second = compose([*settled, user, agent, st_entry(name, "user", "another")], name, **others | {"tail": tail})
    key = "input" if name == formats.OPENAI_RESPONSES else "messages"
    one, other = first.body[key], second.body[key]
    last = max(number for number, message in enumerate(one) if message.get("role") == "assistant")
    assert other[: last + 1] == one[: last + 1]
    assert first.body.get("system") == second.body.get("system")


def st_entry(name, role, words):
    return entry_of(name, {"role": role, "content": words})
