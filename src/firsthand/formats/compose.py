"""Composes a prompt: entries of the window, in order, to a body that the provider takes.

The invariant: whatever the order of the entries, every call is answered once right
behind it, every result stands behind its call or is shown as text, nothing is
empty, and system texts come first. What is stable comes first and what changes
from call to call last, so that successive prompts share their beginning. Every
byte of the body is accounted for by its contributor.

It knows what order is valid; what the shapes are, the dialects know. Nothing here
knows a store.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from firsthand import formats
from firsthand.errors import FormatError
from firsthand.event import Kind, to_bytes
from firsthand.formats import compose_anthropic, compose_chat, compose_responses
from firsthand.formats.blocks import (
    AGENT,
    CALL,
    FILE,
    ID_CHARACTERS_MAX,
    NO_RESULT,
    OPENING,
    RESULT,
    SYSTEM,
    TEXT,
    THOUGHT,
    TOOL,
    USER,
    Block,
    Dialect,
    Notes,
    Run,
    Source,
    built,
    fit,
    fit_text,
    labelled,
    size_of,
    source_of,
    words_of,
)
from firsthand.formats.byte_counts import Ledger
from firsthand.formats.pieces import Composed, Entry, Piece
from firsthand.window import TOOLS, Share, together

__all__ = ["Composed", "Entry", "Piece", "compose"]

_DIALECTS: Mapping[str, Dialect] = {
    formats.OPENAI_CHAT: compose_chat,
    formats.OPENAI_RESPONSES: compose_responses,
    formats.ANTHROPIC: compose_anthropic,
}
_FIT_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{ID_CHARACTERS_MAX}}}\Z")


def compose(
    entries: Sequence[Entry],
    format: str,  # noqa: A002 - the word of the house
    *,
    system: Sequence[Piece] = (),
    tail: Sequence[Piece] = (),
    tools: Sequence[Mapping[str, Any]] = (),
    tools_tokens: int = 0,
    breakpoints: bool = True,
) -> Composed:
    """Compose the body of a request.

    Args:
        entries: of the window, in its order; markers and other texts of ours stand among them.
        format: of the provider.
        system: texts of ours that come first, in front of what the session says as system.
        tail: texts that change from call to call: in front of the newest user message when the user spoke
            last, behind the newest tool results else.
        tools: schemas in the provider's shape.
        tools_tokens: of all schemas together.
        breakpoints: mark for Anthropic where its cache may end.

    Raises:
        FormatError: there is no such format, or nothing to say; a value is none that JSON has.
        InvalidArgument: a piece is named for no part of the prompt.
    """
    formats.named(format)
    dialect, notes, ledger = _DIALECTS[format], Notes(), Ledger()
    # 1) blocks of all entries, each call with its answer
    blocks = _read(entries, dialect, notes)
    blocks = _paired(blocks, dialect, notes)
    first = next((number for number, block in enumerate(blocks) if block.role != SYSTEM), len(blocks))
    head = [block for piece in system for block in _of_ours(piece)] + blocks[:first]
    # 2) runs of one role, results behind their calls, the tail at its place
    runs = _runs(_checked_thoughts(_demoted(blocks[first:], dialect), dialect, notes), dialect, notes)
    _place_tail(runs, [block for piece in tail for block in _of_ours(piece, volatile=True)])
    if not runs:
        raise FormatError(
            "expected at least one message that says something; got none; append the user's message first"
        )
    if dialect.STARTS_WITH_USER and runs[0].role == AGENT:
        runs.insert(0, Run(USER, [Block(USER, TEXT, OPENING, Source(()))]))
    # 3) the provider's shape, counted as it is built
    schemas = [dict(fit(tool)[0]) for tool in tools]
    body: dict[str, Any] = {"tools": schemas} if schemas else {}
    if format == formats.ANTHROPIC:
        compose_anthropic.place_breakpoints(schemas, head, runs, notes, ours=breakpoints)
        body |= {"system": compose_anthropic.write_system(head, ledger)} if head else {}
        body["messages"] = compose_anthropic.write(runs, ledger)
    elif format == formats.OPENAI_CHAT:
        body["messages"] = compose_chat.write(head, runs, ledger)
    else:
        body["input"] = compose_responses.write(head, runs, ledger)
    return _accounted(body, ledger, tools_tokens, notes)


def _accounted(body: dict[str, Any], ledger: Ledger, tools_tokens: int, notes: Notes) -> Composed:
    """Add the tools and the punctuation of the body itself to the account."""
    tools = body.get("tools", ())
    sizes = [size_of(tool) for tool in tools]
    # braces, and for each list its key, quotes, colon, brackets and the commas in it; commas between the lists
    ledger.framing += 2 + sum(len(key) + 5 + max(0, len(value) - 1) for key, value in body.items()) + len(body) - 1
    of_tools = [Share(TOOLS, sum(sizes), tools_tokens, len(sizes))] if tools else []
    shares = together([*ledger.shares(), *of_tools])
    return Composed(body, shares, notes.sentences(), sum(share.bytes for share in shares))


def _read(entries: Sequence[Entry], dialect: Dialect, notes: Notes) -> list[Block]:
    users = (
        number for number in range(len(entries) - 1, -1, -1)
        if any(piece.kind is Kind.USER_MESSAGE for piece in entries[number].pieces)
    )  # fmt: skip
    newest = next(users, -1)
    blocks: list[Block] = []
    for number, entry in enumerate(entries):
        blocks += source_of(entry, newest=number == newest, dialect=dialect, notes=notes)
    return blocks


def _of_ours(piece: Piece, *, volatile: bool = False) -> list[Block]:
    words = fit_text(piece.text)
    source = Source((piece,), volatile=volatile)
    return [Block(USER if volatile else SYSTEM, TEXT, words, source)] if words.strip() else []


# calls and results -------------------------------------------------------------------------------


def _paired(blocks: list[Block], dialect: Dialect, notes: Notes) -> list[Block]:
    """Give every call its answer and an id of its own; a result without a call becomes text. Linear in the blocks."""
    waiting: dict[str, deque[Block]] = {}
    for block in blocks:
        if block.sort == CALL:
            queue = waiting.setdefault(block.id, deque())
            if queue and queue[0].source is not block.source:
                queue.clear()  # the same id in a later message: a server that counts anew each turn
            queue.append(block)
        elif block.sort == RESULT and waiting.get(block.id):
            block.paired = True
            waiting[block.id].popleft().answer = block
    paired: list[Block] = []
    taken: set[str] = set()
    behind_result = False
    for block in blocks:
        if block.sort == CALL:
            _settle(block, dialect, notes, taken)
        if block.sort != RESULT:
            block.resumes, behind_result = behind_result, False
            paired.append(block)
        elif block.paired:
            behind_result = True
        else:
            notes.add("results whose call is not in the window are shown as text", block.source)
            paired += _as_text(block, dialect)
    return paired


def _settle(call: Block, dialect: Dialect, notes: Notes, taken: set[str]) -> None:
    """Make a call and its answer fit each other: types, ids, and an answer where none was recorded."""
    answer = call.answer.value if call.answer is not None else None
    if not dialect.fits(call.value, answer):
        _make_plain(call, CALL, dialect)
        if call.answer is not None:
            _make_plain(call.answer, RESULT, dialect)
    if call.answer is None:
        notes.add("calls without a recorded result are told so", call.source)
        value = dialect.result(call.id, NO_RESULT, [], failed=False)
        call.answer = Block(TOOL, RESULT, value, Source(()), id=call.id)
    own = call.value.get(dialect.CALL_ID)
    identifier = _own_id(call, dialect, taken)
    taken.add(identifier)
    if own != identifier:
        call.change({**call.value, dialect.CALL_ID: identifier})
        if own in taken:
            notes.add("calls with the id of another one have an id of their own", call.source)
    if call.answer.value.get(dialect.RESULT_ID) != identifier:
        call.answer.change({**call.answer.value, dialect.RESULT_ID: identifier})


def _make_plain(block: Block, sort: str, dialect: Dialect) -> None:
    """Build a call or a result anew, as of a plain function."""
    made = built(Source(block.source.pieces), dialect, Notes())
    target = next((each for each in made if each.sort == sort), None)
    if target is not None:
        return block.change(target.value)
    words = fit_text("\n".join(piece.text for piece in block.source.pieces))
    value = (
        dialect.call(block.id, "unknown", "{}") if sort == CALL else dialect.result(block.id, words, [], failed=False)
    )
    return block.change(value)


def _own_id(call: Block, dialect: Dialect, taken: set[str]) -> str:
    """Give the id that a call came with, or one made of it, unlike those before it."""
    native = call.source.message is not None
    wanted = call.id if (dialect.is_id(call.id) if native else _FIT_ID.match(call.id)) else ""
    if not wanted:
        wanted = f"call_{hashlib.sha256(to_bytes(call.id)).hexdigest()[:24]}"
    if wanted not in taken:
        return wanted
    event = next((piece.id for piece in call.source.pieces if piece.kind is Kind.TOOL_CALL and piece.id), "")
    base = f"call_{event[-20:].lower()}" if event else wanted[: ID_CHARACTERS_MAX - 8]
    number = len(taken)  # over all that are taken: at most a few steps
    identifier = base
    while identifier in taken:
        identifier = f"{base}-{number}"
        number += 1
    return identifier


def _as_text(result: Block, dialect: Dialect) -> list[Block]:
    """Show a result whose call is gone as a text that says what it is, and its files."""
    result.source.whole = False
    words, files = dialect.opened(result.value)
    pieces = result.source.pieces
    piece = next((each for each in pieces if each.kind is Kind.TOOL_RESULT), pieces[0] if pieces else Piece(Kind.NOTE))
    tool = result.tool or str(piece.meta.get("tool", ""))
    label = labelled(f"result of {tool or 'a tool'}, whose call is not shown", piece.pointer, words)
    return [
        Block(USER, TEXT, label, result.source),
        *(Block(USER, FILE, file, result.source) for file in files),
    ]


# order -------------------------------------------------------------------------------------------


def _demoted(blocks: list[Block], dialect: Dialect) -> list[Block]:
    """Make later system texts the user's, where the provider has one place for them, at the front."""
    if not dialect.SYSTEM_ANYWHERE:
        for block in blocks:
            if block.role == SYSTEM:
                block.role = USER
                block.change(labelled("system message", "", words_of(block.value)))
    return blocks


def _checked_thoughts(blocks: list[Block], dialect: Dialect, notes: Notes) -> list[Block]:
    """Leave out thoughts that do not stand in front of what they led to."""
    staying: list[Block] = []
    following: Block | None = None
    for block in reversed(blocks):
        if block.sort == THOUGHT and not (
            following is not None and following.role == AGENT and dialect.thought_needs(following)
        ):
            block.source.drop_thought()
            notes.add("thoughts are left out, since what they led to does not follow them", block.source)
            continue
        following = block
        staying.append(block)
    return staying[::-1]


def _runs(blocks: list[Block], dialect: Dialect, notes: Notes) -> list[Run]:
    """Put neighbours of one role together, and behind the agent's the results of its calls."""
    runs: list[Run] = []
    has_calls = False
    for block in blocks:
        run = runs[-1] if runs else None
        joins = run is not None and run.role == block.role and not (has_calls and block.resumes)
        if run is not None and joins and block.sort == THOUGHT and run.blocks[-1].sort != THOUGHT:
            if has_calls and run.blocks[-1].source is not block.source:
                joins = False  # a new answer of the model begins: the one before gets its results first
            elif dialect.MERGES and run.blocks[-1].source is not block.source:
                block.source.drop_thought()
                notes.add("thoughts are left out, since another message of the agent stands before them", block.source)
                continue
        if run is None or not joins:
            _answer(runs)
            runs.append(Run(block.role, []))
            has_calls = False
        runs[-1].blocks.append(block)
        has_calls |= block.sort == CALL
    _answer(runs)
    return runs


def _answer(runs: list[Run]) -> None:
    """Put the results of a run's calls behind it."""
    answers = [block.answer for block in runs[-1].blocks if block.answer is not None] if runs else []
    if answers:
        runs.append(Run(TOOL, answers))


def _place_tail(runs: list[Run], tail: list[Block]) -> None:
    """Put the tail as far behind as the order allows, in front of the newest user message."""
    if not tail:
        return
    last = next((number for number in range(len(runs) - 1, -1, -1) if runs[number].role in (USER, TOOL)), None)
    if last is None:
        runs.insert(0, Run(USER, tail))
    elif runs[last].role == TOOL:
        runs.insert(last + 1, Run(USER, tail))
    else:
        blocks = runs[last].blocks
        at = next((number for number, block in enumerate(blocks) if block.source.newest), len(blocks))
        blocks[at:at] = tail
