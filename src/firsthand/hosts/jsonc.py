"""JSON with comments and trailing commas, changed in place: what is not ours keeps its bytes.

A text is read into nodes that know where they stand; `put`, `push` and `drop` change the text at
those places. The invariant: `drop` of what `put` or `push` added gives the text from before byte
for byte, whatever comments, commas, indentation and line ends it has (an object or a list that was
empty but for a line end comes back as empty). A name that stands twice is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # a documented name of no stub
from typing import Any

from firsthand.errors import FormatError
from firsthand.value import value

Path = tuple[str | int, ...]
_BLANK = re.compile(r"(?:[ \t\r\n]+|(?P<comment>//[^\r\n]*|/\*.*?\*/))", re.DOTALL)
_SCALAR = re.compile(r"-?\d[\d.eE+-]*|true|false|null")
_LINE_END = re.compile(r"\r?\n[ \t]*\Z")
_REST_OF_LINE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)")
_INDENT = re.compile(r"\n([ \t]+)\S")


@value
class Item:
    """A member of an object or an item of a list.

    Attributes:
        start: of its name, in a list of its value.
        comma: where the comma behind it stands; -1 without one.
    """

    start: int
    name: str
    node: Node
    comma: int


@value
class Node:
    """A value and where it stands; ``items`` of an object or a list, ``plain`` the value as Python has it."""

    start: int
    end: int
    plain: Any
    items: tuple[Item, ...] = ()


@value
class Text:
    """A text that was read: its root (None: nothing but white space), and where what plain JSON forbids stands."""

    root: Node | None
    comments: tuple[int, ...]
    trailing_commas: tuple[int, ...]


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, len(text) - len(text.removeprefix("\ufeff"))
        self.comments: list[int] = []
        self.trailing: list[int] = []

    def blank(self) -> str:
        """Step over white space and comments; give the next sign."""
        while match := _BLANK.match(self.text, self.at):
            if match["comment"]:
                self.comments.append(self.at)
            self.at = match.end()
        return self.text[self.at : self.at + 1]

    def node(self) -> Node:
        sign, start = self.blank(), self.at
        if sign in ("{", "["):
            items = tuple(self._items("}" if sign == "{" else "]"))
            plain = {item.name: item.node.plain for item in items} if sign == "{" else [i.node.plain for i in items]
            if len(plain) < len(items):
                names = [item.name for item in items]
                raise ValueError(f"the name {next(name for name in names if names.count(name) > 1)!r:.60} stands twice")
            return Node(start, self.at, plain, items)
        if sign == '"':
            plain, self.at = scanstring(self.text, self.at + 1)
            return Node(start, self.at, plain)
        match = _SCALAR.match(self.text, start)
        if match is None:
            raise json.JSONDecodeError("Expecting value", self.text, start)
        self.at = match.end()
        return Node(start, self.at, json.loads(match[0]))

    def _items(self, closing: str) -> Iterator[Item]:
        self.at += 1
        comma = -1
        while self.blank() != closing:
            start, name = self.at, ""
            if closing == "}":
                if self.text[start : start + 1] != '"':
                    raise json.JSONDecodeError("Expecting property name enclosed in double quotes", self.text, start)
                name, self.at = scanstring(self.text, start + 1)
                self._expect(":")
            node = self.node()
            comma = self.at if self.blank() == "," else -1
            place = self.at
            self.at += comma >= 0
            yield Item(start, name, node, place if comma >= 0 else -1)
            if comma >= 0 and self.blank() == closing:
                self.trailing.append(place)
            elif comma < 0 and self.blank() != closing:
                raise json.JSONDecodeError("Expecting ',' delimiter", self.text, self.at)
        self.at += 1

    def _expect(self, sign: str) -> None:
        if self.blank() != sign:
            raise json.JSONDecodeError(f"Expecting {sign!r} delimiter", self.text, self.at)
        self.at += 1


def read(text: str) -> Text:
    """Read a text whose value is an object, or that is empty.

    Raises:
        FormatError: it is none, or a name stands twice.
    """
    reader = _Reader(text)
    try:
        root = reader.node() if reader.blank() else None
        if root is not None and reader.blank():
            raise json.JSONDecodeError("Extra data", text, reader.at)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"expected JSON; got {error!s:.120}. Nothing was changed: mend it, and try again") from error
    if root is not None and not isinstance(root.plain, dict):
        raise FormatError(f"expected a JSON object; got {type(root.plain).__name__}. Nothing was changed")
    return Text(root, tuple(reader.comments), tuple(reader.trailing))


def plain(text: str) -> dict[str, Any]:
    """Give a text's object as Python has it; empty for an empty text.

    Raises:
        FormatError: it is none.
    """
    root = read(text).root
    return root.plain if root is not None else {}


def put(text: str, path: Path, new: Any) -> str:
    """Set what stands at a path of names, with the objects above it; a value that is the same stays as it is."""
    if not text.removeprefix("\ufeff").strip():
        text = text.removesuffix("\n").rstrip() + "{}\n"
    node, rest = _nearest(text, path)
    if not rest:
        return (
            text if node.plain == new else text[: node.start] + _dump(new, text, _depth(text, node)) + text[node.end :]
        )
    for name in reversed(rest[1:]):
        new = {name: new}
    if not isinstance(node.plain, dict):
        raise FormatError(
            f"expected a JSON object above {rest[0]!r}; got {type(node.plain).__name__}. Nothing was changed"
        )
    return _added(text, node, new, str(rest[0]))


def push(text: str, path: Path, new: Any) -> str:
    """Add an item at the end of the list at a path, with the list where there is none."""
    node, rest = _nearest(text, path) if text.removeprefix("\ufeff").strip() else (None, path)
    if rest or node is None:
        return put(text, path, [new])
    return _added(text, node, new, None)


def drop(text: str, path: Path) -> str:
    """Take out what stands at a path; an object or list above it that nothing is left in goes too, but for the root.

    Nothing changes where the path leads nowhere.
    """
    root = read(text).root
    if root is None or _nearest(text, path)[1]:
        return text
    while True:
        holder = _nearest(text, path[:-1])[0]
        text = _without(text, holder, path[-1])
        path = path[:-1]
        left = _nearest(text, path)[0]
        if not path or left.end - left.start > len("{}"):
            return text


def line_of(text: str, at: int) -> int:
    """Give the number of the line that a place is in."""
    return text.count("\n", 0, at) + 1


def _nearest(text: str, path: Path) -> tuple[Node, Path]:
    """Follow a path as far as it leads; give the last node and what of the path is left."""
    node = read(text).root
    assert node is not None  # who asks has a text with an object
    for number, name in enumerate(path):
        if isinstance(name, int):
            item = node.items[name] if isinstance(node.plain, list) and name < len(node.items) else None
        else:
            item = next((it for it in node.items if it.name == name), None) if isinstance(node.plain, dict) else None
        if item is None:
            return node, path[number:]
        node = item.node
    return node, ()


def _added(text: str, holder: Node, new: Any, name: str | None) -> str:
    indent, line_end = _depth(text, holder), "\r\n" if "\r\n" in text else "\n"
    if holder.items:
        first = _LINE_END.search(text, 0, holder.items[0].start)
        inner = text[first.start() : first.end()].lstrip("\r\n") if first else indent + _unit(text)
    else:
        inner = indent + _unit(text)
    item = line_end + inner + (f"{json.dumps(name)}: " if name is not None else "") + _dump(new, text, inner)
    if not holder.items:
        closing = "" if holder.end - holder.start > 2 else line_end + indent
        return text[: holder.start + 1] + item + closing + text[holder.start + 1 :]
    last = holder.items[-1]
    behind = last.comma + 1 if last.comma >= 0 else last.node.end
    comment = _REST_OF_LINE.match(text, behind)
    place = comment.end() if comment else behind
    if last.comma >= 0:
        return text[:place] + item + "," + text[place:]
    return text[:behind] + "," + text[behind:place] + item + text[place:]


def _without(text: str, holder: Node, name: str | int) -> str:
    number = name if isinstance(name, int) else next(n for n, item in enumerate(holder.items) if item.name == name)
    item, is_last = holder.items[number], number == len(holder.items) - 1
    line_end = _LINE_END.search(text, 0, item.start)
    start = line_end.start() if line_end else item.start
    end = item.comma + 1 if item.comma >= 0 else item.node.end
    if is_last and number and item.comma < 0:  # the comma before it goes
        comma = holder.items[number - 1].comma
        return text[:comma] + text[comma + 1 : start] + text[end:]
    if len(holder.items) == 1:
        left = text[holder.start + 1 : start] + text[end : holder.end - 1]
        if re.fullmatch(r"\r?\n" + re.escape(_depth(text, holder)), left):
            return text[: holder.start + 1] + text[holder.end - 1 :]
    return text[:start] + text[end:]


def _depth(text: str, node: Node) -> str:
    """Give the indentation of the line that a node begins in."""
    line = text[text.rfind("\n", 0, node.start) + 1 : node.start].removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    match = _INDENT.search(text)
    return match[1] if match else "  "


def _dump(new: Any, text: str, indent: str) -> str:
    """Write a value in the manner of a text, its further lines at an indentation."""
    lines = json.dumps(new, indent=_unit(text), ensure_ascii=False)
    try:
        lines.encode()
    except UnicodeEncodeError:  # a lone surrogate has no other spelling
        lines = json.dumps(new, indent=_unit(text))
    return lines.replace("\n", ("\r\n" if "\r\n" in text else "\n") + indent)
