"""Makes the request of one call: the window's entries in order, composed for a provider, with its anatomy.

The invariant: a request is a function of the fold and of the ledger, so the same
position gives the same bytes again, which is what a replay does.
"""

from __future__ import annotations

import contextlib
import json
import marshal
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from firsthand import window as parts
from firsthand.context import task_text
from firsthand.context.anatomy import Anatomy
from firsthand.context.ledger_view import markers_of, task_of
from firsthand.context.receipt import Receipt
from firsthand.context.task_state import TaskState
from firsthand.errors import FormatError, InvalidArgument
from firsthand.event import PART, Event, Kind, to_bytes
from firsthand.formats import canonical
from firsthand.formats.compose import compose
from firsthand.formats.pieces import Composed, Entry, Piece
from firsthand.formats.tool_definitions import Tool, schemas
from firsthand.ledger.effect import Effect
from firsthand.value import replace, value
from firsthand.window import HISTORY_PARTS, Item, Marker

from .fold import Fold, Shown

TASK_SHARE = 0.1  # of the budget: the most that the task state's text may have
TASK_TOKENS_MIN = 64  # less has no room for a line
TASK_TOKENS_MAX = 800
SYSTEM_PARTS = (parts.SYSTEM, parts.PERSONA, parts.PREAMBLE, parts.FILES, parts.SKILLS)
TAIL_PARTS = (parts.CUES, parts.RECALL)


@value
class Request:
    """What to send to a model, and what it is made of.

    Attributes:
        body: ``messages`` (``input`` for openai-responses), ``tools`` when there are any, and ``system`` for
            anthropic: the keyword arguments of the provider's client.
        tokens: of all of it, as the window counts them.
        anatomy: its decomposition, as it was recorded before this was returned.
        receipt: of the compaction that was needed for it; None when none was.
        notes: what could not be shown as it was, in sentences.
        excess: items that must stay although the budget is exceeded with them; empty within the budget.
    """

    body: dict[str, Any]
    tokens: int
    anatomy: Anatomy
    receipt: Receipt | None = None
    notes: tuple[str, ...] = ()
    excess: tuple[Item, ...] = ()

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of the body."""
        return list(self.body["input" if "input" in self.body else "messages"])


def compose_from(fold: Fold, format: str, pull: Sequence[Tool], effect: Effect) -> Composed:  # noqa: A002 - the package's word
    """Compose the prompt of a fold as it is now, its markers and task state as the ledger leaves them."""
    tools: list[dict[str, Any]] = [*_own_tools(fold), *schemas(pull, format)]
    return compose(
        [*_entries(fold, format, effect)], format, system=[*_system(fold, effect)], tail=[*_tail(fold, effect)],
        tools=tools, tools_tokens=overhead_of_tools(fold, tools),
    )  # fmt: skip


def overhead(fold: Fold, format: str, pull: Sequence[Tool], effect: Effect, task: TaskState) -> int:  # noqa: A002
    """Count the tokens of a prompt beside items and markers, with a task state as it is shown, or will be."""
    tools = [*_own_tools(fold), *schemas(pull, format)]
    beside = (*_task(fold, task, effect), *_tail(fold, effect))
    return overhead_of_tools(fold, tools) + sum(piece.tokens for piece in beside)


def overhead_of_tools(fold: Fold, tools: Sequence[Mapping[str, Any]]) -> int:
    """Count the tokens of tool schemas."""
    return fold.counted(json.dumps(tools, ensure_ascii=False, separators=(",", ":"))) if tools else 0


def _own_tools(fold: Fold) -> list[dict[str, Any]]:
    event = fold.given.get(parts.TOOLS)
    return json.loads(fold.reader.content(event)) if event is not None else []


def _system(fold: Fold, effect: Effect) -> Iterator[Piece]:
    """Give the texts that were given for parts of the system prompt, in the order of `SYSTEM_PARTS`."""
    by_part = {entry.event.meta[PART]: entry for entry in fold.shown.values() if entry.event.meta.get(PART)}
    for part in SYSTEM_PARTS:
        if part in by_part and by_part[part].text and effect.text(by_part[part].event) is not None:
            yield _piece(by_part[part], part)


def _task(fold: Fold, state: TaskState, effect: Effect) -> Iterator[Piece]:
    most = max(TASK_TOKENS_MIN, min(TASK_TOKENS_MAX, int(fold.budget.tokens_max * TASK_SHARE)))
    # The last request stands in the window itself: said twice, small models repeat the line.
    text = task_text.text(replace(task_of(state, effect), request=None), tokens_max=most, count=fold.counter)
    if text:
        yield Piece(Kind.NOTE, text, tokens=fold.counted(text), name=parts.TASK)


def _tail(fold: Fold, effect: Effect) -> Iterator[Piece]:
    """Give what stands at the end, since it changes from call to call."""
    for part in TAIL_PARTS:
        event = fold.given.get(part)
        stands = event is not None and effect.text(event) is not None
        text = fold.reader.content(event).decode("utf-8", "surrogatepass") if event is not None and stands else ""
        if text:
            yield Piece(Kind.NOTE, text, tokens=fold.counter(text), name=part)


def _entries(fold: Fold, format: str, effect: Effect) -> Iterator[Entry]:  # noqa: A002 - the package's word
    """Yield markers, messages and the task state in the order of the window."""
    ours = [(marker.first_position, _marker(marker)) for marker in markers_of(fold.markers, effect, fold.counter)]
    ours += [(fold.noted_at + 1, Entry(None, (piece,))) for piece in _task(fold, fold.noted, effect)]
    for message in _messages(fold):
        while ours and ours[0][0] <= message[0].place[0]:
            yield ours.pop(0)[1]
        pieces = tuple(_piece(entry, HISTORY_PARTS[entry.event.kind]) for entry in message)
        whole = _as_it_came(fold, message, format)
        yield Entry(None if whole is None else marshal.loads(whole), pieces)  # noqa: S302 - what was dumped here
    yield from (entry for _, entry in ours)


def _messages(fold: Fold) -> Iterator[list[Shown]]:
    """Put the events of each message together again."""
    message: list[Shown] = []
    for entry in fold.shown.values():
        if entry.event.meta.get(PART):
            continue
        if message and (entry.event.part == 0 or entry.event.sequence != message[-1].event.sequence + 1):
            yield message
            message = []
        message.append(entry)
    if message:
        yield message


def _as_it_came(fold: Fold, message: Sequence[Shown], format: str) -> bytes | None:  # noqa: A002 - the package's word
    """Give the provider's own message, where it is of this format and nothing of it is shortened."""
    first = message[0].event
    if first.id in fold.messages:
        return fold.messages[first.id]
    whole = None
    contents = [entry.data for entry in message if entry.data is not None]
    ours = first.part == 0 and first.meta.get("format") == format and first.envelope
    if ours and len(contents) == len(message):
        # A part that is not in the window makes it another message: what is there is shown piece by piece.
        with contextlib.suppress(FormatError):
            whole = marshal.dumps(canonical.message_from(first.envelope, contents))
    fold.messages[first.id] = whole
    return whole


def _piece(entry: Shown, name: str) -> Piece:
    event: Event = entry.event
    return Piece(
        event.kind, entry.text, media=event.media, meta=event.meta, content=entry.data, id=event.id,
        tokens=entry.tokens, name=name,
    )  # fmt: skip


def _marker(marker: Marker) -> Entry:
    return Entry(None, (Piece(Kind.NOTE, marker.text, tokens=marker.text_tokens, name=parts.MARKERS),))


def tools_json(tools: Sequence[Mapping[str, Any]]) -> bytes:
    """Write the caller's tool schemas as they are kept."""
    try:
        return to_bytes(json.dumps([*tools], ensure_ascii=False, separators=(",", ":"), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument(f"tools are schemas in the provider's form, as JSON objects: {error}") from error


def listed(tools: Sequence[Mapping[str, Any]] | None) -> Sequence[Mapping[str, Any]]:
    """Give the caller's tool schemas, none for None."""
    if tools is not None and (isinstance(tools, str) or not isinstance(tools, Sequence)):
        raise InvalidArgument(f"tools are a list of schemas in the provider's form; got {tools!r:.60}")
    return tools or ()


def name_of(tool: object) -> str:
    """Give the name of a tool's schema, in whichever provider's form."""
    if not isinstance(tool, dict):
        raise InvalidArgument(f"a tool is its schema in the provider's form, a dictionary; got {tool!r:.60}")
    inner = tool.get("function")
    return str(tool.get("name") or (inner.get("name") if isinstance(inner, dict) else ""))
