"""The parts of messages while a prompt is composed, and how pieces become them.

A source is one entry of the window on its way into the prompt; its blocks are what
it says: texts, files, calls, results, thoughts, in the target's own shape. The
invariant: a block knows its source, so that every byte sent is accounted for; a
source whose blocks stand together unchanged goes out as the provider's own message.

What a provider's shape is, the dialects know (`compose_chat`, `compose_anthropic`,
`compose_responses`); what order is valid, `compose` knows.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from firsthand.errors import FormatError
from firsthand.event import Kind, to_bytes
from firsthand.formats.fields import mapping, text
from firsthand.formats.pieces import Entry, Piece

USER, AGENT, SYSTEM, TOOL = "user", "assistant", "system", "tool"
TEXT, FILE, CALL, RESULT, THOUGHT, OTHER = "text", "file", "call", "result", "thought", "other"

NO_RESULT = "[no result of this call was recorded]"
NO_OUTPUT = "[no output]"
OPENING = "[The conversation begins with the agent.]"
ID_CHARACTERS_MAX = 40  # OpenAI chat refuses a longer call id; the others allow more
NAME_CHARACTERS_MAX = 64

_UNFIT_NAME = re.compile(r"[^A-Za-z0-9_-]")
_AGENT_KINDS = frozenset({Kind.AGENT_MESSAGE, Kind.REASONING, Kind.TOOL_CALL})
_LABELS = {Kind.SUMMARY: "summary by the host", Kind.OTHER: "kept as it came"}
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _finite(written: str) -> float:
    number = float(written)
    if math.isinf(number):  # 1e999 is JSON, but what it is read as is none
        raise ValueError(f"{written} is too large")
    return number


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)


class Source:
    """One entry on its way into the prompt.

    Attributes:
        message: the provider's own, fit to be sent; None when it is built of the pieces.
        blocks: what it says, in order, as it was read or built.
        extras: fields of ``message`` beside role and content.
        whole: ``message`` may go out as it is, if its blocks stand together.
        size_bytes: of ``message`` in canonical JSON.
        newest: the newest user message. volatile: a piece of the tail.
        dropped: indexes of pieces that are not sent.
        bytes: what it has in the body so far.
    """

    __slots__ = (
        "blocks", "bytes", "dropped", "extras", "message", "newest", "pieces", "size_bytes", "volatile", "whole",
    )  # fmt: skip

    def __init__(self, pieces: Sequence[Piece], *, newest: bool = False, volatile: bool = False) -> None:
        self.pieces = pieces
        self.newest, self.volatile = newest, volatile
        self.message: Mapping[str, Any] | None = None
        self.blocks: list[Block] = []
        self.extras: dict[str, Any] = {}
        self.whole = False
        self.size_bytes = 0
        self.dropped: set[int] = set()
        self.bytes = 0

    def drop_thought(self) -> None:
        """Note that one more of its thoughts is not sent."""
        thoughts = (n for n, piece in enumerate(self.pieces) if piece.kind is Kind.REASONING and n not in self.dropped)
        self.dropped.update(list(thoughts)[:1])
        self.whole = False


class Block:
    """One text, file, call, result or thought, in the target's shape; a text may be a plain one.

    Attributes:
        id: of a call or result, as it came. tool: its tool's name, for people.
        answer: of a call, its result.
        resumes: it is the first one behind a result: the model had read that result when it said this.
    """

    __slots__ = ("answer", "id", "paired", "resumes", "role", "sort", "source", "tool", "value")

    def __init__(self, role: str, sort: str, value: Any, source: Source, *, id: str = "", tool: str = "") -> None:  # noqa: A002
        self.role, self.sort, self.value, self.source, self.id, self.tool = role, sort, value, source, id, tool
        self.answer: Block | None = None
        self.paired = self.resumes = False

    def change(self, changed: Any) -> None:
        """Give it another value; its source's own message can then not go out as it came."""
        self.value = changed
        self.source.whole = False


class Run:
    """Neighbouring blocks of one role."""

    __slots__ = ("blocks", "role")

    def __init__(self, role: str, blocks: list[Block]) -> None:
        self.role, self.blocks = role, blocks


class Dialect(Protocol):
    """What one provider's messages look like; a module of these names."""

    CALL_ID: str  # key of a call's id, in its own object
    RESULT_ID: str
    STARTS_WITH_USER: bool
    MERGES: bool  # neighbours of one role become one message
    SYSTEM_ANYWHERE: bool
    FILES_IN_RESULTS: bool

    def read(self, message: Mapping[str, Any], source: Source) -> list[Block] | None: ...
    def call(self, identifier: str, name: str, arguments: str) -> dict[str, Any]: ...
    def result(self, identifier: str, words: str, files: Sequence[Any], *, failed: bool) -> dict[str, Any]: ...
    def file(self, piece: Piece) -> dict[str, Any] | None: ...
    def opened(self, result: Mapping[str, Any]) -> tuple[str, list[Any]]: ...
    def is_id(self, identifier: str) -> bool: ...
    def fits(self, call: Mapping[str, Any], result: Mapping[str, Any] | None) -> bool: ...
    def thought_needs(self, following: Block) -> bool: ...


class Notes:
    """Gathers what could not be sent as it was, and counts it."""

    def __init__(self) -> None:
        self._found: dict[str, list[Any]] = {}

    def add(self, what: str, source: Source | Piece | None = None) -> None:
        pieces = source.pieces if isinstance(source, Source) else [source] if source else []
        counted = self._found.setdefault(what, [0, ""])
        counted[0] += 1
        counted[1] = counted[1] or next((piece.pointer for piece in pieces if piece.id), "")

    def sentences(self) -> tuple[str, ...]:
        return tuple(
            f"{what}: {count:,}{f', first {pointer}' if pointer else ''}"
            for what, (count, pointer) in self._found.items()
        )


def source_of(entry: Entry, *, newest: bool, dialect: Dialect, notes: Notes) -> list[Block]:
    """Give the blocks of an entry: read from the provider's own message if it can be sent, else built of the pieces."""
    source = Source(entry.pieces, newest=newest)
    if entry.message is not None:
        source.message, source.size_bytes, altered = fit(entry.message)
        source.whole = True
        blocks = dialect.read(source.message, source)
        if blocks is not None:
            source.blocks = list(blocks)
            if source.dropped:
                notes.add("thoughts without a signature are left out", source)
            return _without_altered_thoughts(blocks, notes) if altered else blocks
        source.message, source.whole, source.extras = None, False, {}
    return built(source, dialect, notes)


def built(source: Source, dialect: Dialect, notes: Notes) -> list[Block]:
    """Build blocks of the pieces of a source, whatever format their events had."""
    blocks: list[Block] = []
    agent = any(piece.kind in _AGENT_KINDS for piece in source.pieces)
    attached = 0  # files that belong to the result before them
    for number, piece in enumerate(source.pieces):
        if piece.kind is Kind.ATTACHMENT:
            if attached:
                attached -= 1
            else:
                blocks.append(_file(piece, source, dialect, agent=agent))
        elif piece.kind is Kind.TOOL_RESULT:
            attachments = piece.meta.get("attachments")
            files = _attached(source.pieces, number, attachments if isinstance(attachments, int) else 0)
            attached = len(files)
            blocks += _result(piece, files, source, dialect)
        elif piece.kind is Kind.REASONING:
            source.dropped.add(number)
            notes.add("thoughts are left out, since a provider takes back only its own as they came", piece)
        else:
            blocks += _said(piece, source, dialect)
    source.blocks = list(blocks)
    return blocks


def _said(piece: Piece, source: Source, dialect: Dialect) -> list[Block]:
    words = fit_text(piece.text)
    if piece.kind is Kind.TOOL_CALL:
        tool, identifier = _tool(piece), _call_id(piece)
        value = dialect.call(identifier, fit_name(tool), object_text(words))
        return [Block(AGENT, CALL, value, source, id=identifier, tool=tool)]
    if not words.strip():
        return []
    if piece.kind is Kind.AGENT_MESSAGE:
        return [Block(AGENT, TEXT, words, source)]
    if piece.kind in (Kind.SYSTEM, Kind.PERSONA):
        return [Block(SYSTEM, TEXT, words, source)]
    if piece.kind in _LABELS:
        words = labelled(text(piece.meta.get("block")) or _LABELS[piece.kind], piece.pointer, words)
    elif piece.kind is Kind.USER_MESSAGE and text(piece.meta.get("name")):
        words = f"{fit_text(piece.meta['name'])}: {words}"
    return [Block(USER, TEXT, words, source)]


def _result(piece: Piece, files: Sequence[Piece], source: Source, dialect: Dialect) -> list[Block]:
    """Build a result with its files, in it or behind it, as the provider can have them."""
    words = _result_text(piece)
    attached = [(each, dialect.file(each)) for each in files]
    lines = [file_line(each) for each, block in attached if block is None]
    inside = [block for _, block in attached if block is not None]
    behind = [] if dialect.FILES_IN_RESULTS else inside
    if behind:
        lines += [f"{file_line(each)} follows" for each, block in attached if block is not None]
    identifier = _call_id(piece)
    value = dialect.result(
        identifier, "\n".join([*([words] if words.strip() else []), *lines]) or NO_OUTPUT,
        inside if dialect.FILES_IN_RESULTS else [], failed=bool(piece.meta.get("is_error")),
    )  # fmt: skip
    result = Block(TOOL, RESULT, value, source, id=identifier, tool=_tool(piece))
    return [result, *(Block(USER, FILE, block, source) for block in behind)]


def _result_text(piece: Piece) -> str:
    """Give the text of a result; one in blocks gives the texts of them."""
    words = fit_text(piece.text)
    if piece.media != "application/json" or not words.startswith("["):
        return words
    try:
        blocks = json.loads(words)
    except (ValueError, RecursionError):  # shortened, or only looks like JSON: it is shown as it stands
        return words
    texts = [text(mapping(block).get("text")) for block in blocks if not mapping(block).get("attached")]
    return "\n".join(texts) if all(texts) else words


def _attached(pieces: Sequence[Piece], number: int, count: int) -> list[Piece]:
    """Give the files that follow a result as parts of it."""
    following = pieces[number + 1 : number + 1 + max(0, count)]
    return [piece for piece in following if piece.kind is Kind.ATTACHMENT]


def _file(piece: Piece, source: Source, dialect: Dialect, *, agent: bool) -> Block:
    value = None if agent else dialect.file(piece)  # no provider takes files from the agent's side
    if value is not None:
        return Block(USER, FILE, value, source)
    return Block(AGENT if agent else USER, TEXT, file_line(piece), source)


def file_line(piece: Piece) -> str:
    """Name a file that cannot be shown: name, media, size, pointer."""
    facts = [text(piece.meta.get("name")), text(piece.meta.get("url")), piece.media]
    size = [f"{len(piece.content):,} bytes"] if piece.content is not None and not piece.meta.get("url") else []
    return fit_text(f"[file {', '.join([*filter(None, facts), *size])}{f'; {piece.pointer}' if piece.id else ''}]")


def labelled(what: str, pointer: str, words: str) -> str:
    """Put a line over a text that says what it is."""
    return fit_text(f"[{what}{f'; {pointer}' if pointer else ''}]\n{words}")


def words_of(value: Any) -> str:
    """Give the text of a text block, whatever its shape."""
    return value if isinstance(value, str) else text(value.get("text")) or text(value.get("refusal"))


# what can be sent --------------------------------------------------------------------------------


def fit(message: Mapping[str, Any]) -> tuple[Mapping[str, Any], int, bool]:
    """Give a message as it can be sent, its size in canonical JSON, and whether it had to be altered.

    A lone surrogate has no UTF-8, and NUL ends a text for some servers; U+FFFD and U+2400 stand for them.

    Raises:
        FormatError: it is not made of JSON values.
    """
    written = encoded(message)
    try:
        size = len(written) if written.isascii() else len(written.encode())
    except UnicodeEncodeError:
        pass  # a lone surrogate is in it
    else:
        if "\\u0000" not in written:
            return message, size, False
    altered = fit_value(message)
    return altered, size_of(altered), altered != message


def fit_text(words: str) -> str:
    """Give a text as it can be sent."""
    if "\0" in words:
        words = words.replace("\0", "\u2400")
    if words.isascii():
        return words
    try:
        words.encode()
    except UnicodeEncodeError:
        return words.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return words


def fit_name(name: str) -> str:
    """Give a tool's name as all providers take it."""
    return _UNFIT_NAME.sub("_", name)[:NAME_CHARACTERS_MAX] or "unknown"


def object_text(written: str) -> str:
    """Give the arguments of a call as JSON text of an object, as all servers can read it.

    What is none (a model wrote it so, or it is shortened) becomes the one member ``arguments`` of one.
    """
    try:
        if isinstance(_DECODER.decode(written), dict):
            return written
    except (ValueError, RecursionError):
        pass  # told to the model as the text that it is
    return encoded({"arguments": written}) if written.strip() else "{}"


def encoded(value: Any) -> str:
    """Write canonical JSON, as text.

    Raises:
        FormatError: it is not made of JSON values.
    """
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise FormatError(f"a message is made of JSON values only; {error}; convert it before composing") from error


def size_of(value: Any) -> int:
    """Measure a value in canonical JSON, in bytes."""
    written = encoded(value)
    return len(written) if written.isascii() else len(to_bytes(written))


def fit_value(value: Any) -> Any:
    """Give a value with all its texts as they can be sent."""
    if isinstance(value, str):
        return fit_text(value)
    if isinstance(value, Mapping):
        return {fit_text(name): fit_value(inner) for name, inner in value.items()}
    return [fit_value(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _without_altered_thoughts(blocks: list[Block], notes: Notes) -> list[Block]:
    """Leave out thoughts of a message that had to be altered: their signatures would not hold."""
    staying = []
    for block in blocks:
        if block.sort == THOUGHT:
            block.source.drop_thought()
            notes.add("thoughts of a message that could not be sent as it came are left out", block.source)
        else:
            staying.append(block)
    return staying


def _call_id(piece: Piece) -> str:
    call_id = piece.meta.get("call_id")
    return call_id if isinstance(call_id, str) else "" if call_id is None else str(call_id)


def _tool(piece: Piece) -> str:
    return text(piece.meta.get("tool"))
