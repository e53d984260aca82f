r"""Cuts a text at its form: JSON, tables, rows of CSV, aligned columns, lists, fields, lines; what is left is prose.

The invariant: a piece stands in the text where it says, verbatim, and the pieces of
a text are in order and do not overlap. Time is linear in the text: JSON is tried at
most `JSON_TRIES` times, and what does not parse is lines again.

It does not know what a piece says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Literal

from firsthand.value import field, value

JSON_TRIES = 16  # places of one text where a brace at a line's start is taken for the start of JSON
RECORD_CHARACTERS_MAX = 480  # an object of JSON up to here is one piece; a longer one is taken apart
FIELDS_MAX = 16  # lines of one record of YAML
NESTED_MAX = 64  # levels of JSON and of indentation
LINE_CHARACTERS_MAX = 20_000  # a longer line is cut

Form = Literal["sentence", "clause", "row", "header", "item", "field", "heading", "question"]

_compiled = cache(re.compile)
_JSON_SIGN = r'\s*("(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}\[\],:])'
_JSON_OPENS = r"([^{}\[\]\"]{0,80})([{\[](?=\s*[\"{\[\d\]}]|$))"
_BULLET = (
    r"[ \t]*(?:[-*+\u2022\u00b7\u2013\u25e6]|\(?\d{1,3}[.)]|[\u2713\u2717\u2714\u2718\u2705\u274c])[ \t]+"
    r"(?:\[[ xX]\][ \t]+)?"
)
_KEY = r"[ \t]*(?:export[ \t]+)?[\"'`]?([^\W\d][^:=\n\"'`|]{0,48}?)[\"'`]?[ \t]*(?:=(?!=)|:(?=[ \t]|$))[ \t]*"
_SECTION = r"\[([\w.:/ -]{1,48})\]"
_PAIR = r"(?:(?<=[\s,;])|\A)([^\W\d][\w.-]{0,40})=(\"[^\"\n]{0,200}\"|[^\s,;=]{1,200})"
_SENTENCE_IN = r"[.!?]\s+[^\W\d_a-z\u0430-\u044f]|[^\W\d_]{3,}[.!?]\s+[^\W\d_]{2}"
_RULE = r"[\s|:+=-]*-[\s|:+=-]*"
_FENCE = r"[ \t]*(?:```|~~~)"


@value
class Piece:
    """A part of a text.

    Attributes:
        start, end: its place, in characters.
        path: names that stand above it: keys of JSON or YAML, the heading of its list.
        cells: of a row, a record or a field: the name of each cell and its place.
    """

    form: Form
    start: int
    end: int
    path: tuple[str, ...] = ()
    cells: tuple[Cell, ...] = ()


@value
class Cell:
    """One cell: a column's name, and the place of what stands in it."""

    name: str
    start: int
    end: int


def pieces(text: str) -> tuple[Piece, ...]:
    """Cut a text; prose is given line by line, to be cut into sentences."""
    return tuple(_Cutter(text).cut())


@value
class _Line:
    start: int
    end: int
    text: str


class _Cutter:
    """Goes through the lines of a text once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = list(_lines(text))
        self.heading: tuple[str, ...] = ()
        self.above: list[tuple[int, str]] = []  # keys of YAML that stand above, with their indents
        self.tries = 0
        self.tried_characters = 0
        self.no_table_before: dict[Callable[[_Line], list[Cell]], int] = {}

    def cut(self) -> Iterator[Piece]:
        at = 0
        while at < len(self.lines):
            line = self.lines[at]
            bare = line.text.strip()
            if not bare:
                self.heading, self.above, at = (), [], at + 1
                continue
            opening = _compiled(_JSON_OPENS).match(line.text)
            tree = self._json(line.start + opening.start(2)) if opening is not None else None
            if opening is not None and tree is not None:
                if opening[1].strip():
                    yield Piece("heading", *_bare(self.text, line.start, line.start + opening.end(1)), self.heading)
                yield from _of_json(self.text, tree, self.heading)
                at = self._after(tree.end)
                continue
            rows = self._table(at)
            if rows:
                yield from _rows(self.text, rows, self.heading)
                at += len(rows)
                continue
            record = self._record(at)
            if record is not None:
                yield record
                at = self._after(record.end)
                continue
            yield from self._line(line, bare)
            at += 1

    def _json(self, start: int) -> _Node | None:
        """Read JSON at a line, None when there is none; what was tried in vain is not tried without end."""
        if self.tries >= JSON_TRIES or self.tried_characters > len(self.text):
            return None
        found = _tree(self.text, start)
        self.tries += 1
        self.tried_characters += found.end - start
        return found.children[0] if found.children else None

    def _after(self, place: int) -> int:
        """Give the number of the first line that begins behind a place."""
        low, high = 0, len(self.lines)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.lines[middle].start < place else (low, middle)
        return low

    def _line(self, line: _Line, bare: str) -> Iterator[Piece]:
        if _compiled(_FENCE).match(line.text):
            return
        start = line.start + len(line.text) - len(line.text.lstrip())
        end = line.start + len(line.text.rstrip())
        if bare[0] == "#" and bare.lstrip("#")[:1] == " ":
            self.heading = (bare.lstrip("# "),)
            yield Piece("heading", start, end)
            return
        bullet = _compiled(_BULLET).match(line.text)
        if bullet is not None and bullet.end() < len(line.text.rstrip()):
            mark = (bullet.group().strip(),) if bullet.group().strip()[0] in "\u2717\u2718\u274c" else ()
            field_ = self._field(line, line.start + bullet.end(), end)
            self.above = []
            if field_ is not None and field_.cells[0].end - field_.cells[0].start < 200:
                yield Piece("item", field_.start, field_.end, (*self.heading, *mark), field_.cells)
            else:
                yield Piece("item", line.start + bullet.end(), end, (*self.heading, *mark))
            return
        section = _compiled(_SECTION).fullmatch(bare)
        if section is not None and _compiled(_KEY).match(self.text, line.end + 1):
            self.heading = (section[1],)
            yield Piece("heading", start, end)
            return
        if bare[-1] in ":\uff1a" and len(bare) <= 120:
            self._enter(len(line.text) - len(line.text.lstrip()), bare.rstrip(":\uff1a").strip("\"'*_ "))
            yield Piece("heading", start, end, self.heading[:-1])
            return
        found = self._pairs(line, start, end) or self._field(line, start, end)
        yield found if found is not None else Piece("sentence", start, end, self.heading)

    def _record(self, at: int) -> Piece | None:
        """Read a name or an entry with its fields indented below it; None when fewer than two fields are."""
        line = self.lines[at]
        bullet = _compiled(_BULLET).match(line.text)
        indent = len(line.text) - len(line.text.lstrip())
        start = line.start + (bullet.end() if bullet is not None else indent)
        end = line.start + len(line.text.rstrip())
        first = _compiled(_KEY).match(self.text, start, end)
        if first is None or (bullet is None and first.end() < end):
            return None
        cells = [Cell(first[1].strip("*_ "), first.end(), end)] if first.end() < end else []
        for below in self.lines[at + 1 : at + 1 + FIELDS_MAX]:
            deeper = len(below.text) - len(below.text.lstrip())
            match = _compiled(_KEY).match(below.text)
            told = below.text.rstrip()
            if deeper <= indent or match is None or match.end() >= len(told) or _compiled(_BULLET).match(below.text):
                break
            cells.append(Cell(match[1].strip("*_ "), below.start + match.end(), below.start + len(told)))
        if len(cells) < 2 or cells[-1].end - start > RECORD_CHARACTERS_MAX:
            return None
        self._leave(indent)
        path = tuple(key for _, key in self.above) or self.heading
        path = path if bullet is not None or first.end() < end else (*path, first[1].strip("*_ "))
        return Piece("row", start, cells[-1].end, path, tuple(cells))

    def _leave(self, indent: int) -> None:
        """Leave the names that an indent no longer stands below."""
        while self.above and self.above[-1][0] >= indent:
            self.above.pop()

    def _enter(self, indent: int, key: str) -> None:
        """Go below a line that ends with a colon: what is indented further stands below it."""
        self._leave(indent)
        self.above = [*self.above[-NESTED_MAX:], (indent, key)]
        self.heading = tuple(key for _, key in self.above)

    def _pairs(self, line: _Line, start: int, end: int) -> Piece | None:
        """Read a line that is nothing but "name=value" several times; None for any other."""
        matches = list(_compiled(_PAIR).finditer(line.text))
        if len(matches) < 2 or _compiled(_PAIR).sub("", line.text).strip(" ,;\t"):
            return None
        cells = tuple(Cell(one[1], line.start + one.start(2), line.start + one.end(2)) for one in matches)
        return Piece("row", start, end, self.heading, cells)

    def _field(self, line: _Line, start: int, end: int) -> Piece | None:
        """Read "name: value" or "name = value", when its name is short and its value no sentence; else None."""
        match = _compiled(_KEY).match(self.text, start, end)
        if match is None or match.end() >= end or len(match[1].split()) > 4:
            return None
        told = self.text[match.end() : end]
        if len(told.split()) > 12 or _compiled(_SENTENCE_IN).search(told):
            return None
        self._leave(len(line.text) - len(line.text.lstrip()))
        path = tuple(key for _, key in self.above) or self.heading
        return Piece("field", start, end, path, (Cell(match[1].strip("*_ "), match.end(), end),))

    def _table(self, at: int) -> list[list[Cell]]:
        """Give the rows of the table that begins at a line; empty when none does."""
        for splitter in (_barred, _separated, _aligned):
            bulleted = splitter is not _barred and _compiled(_BULLET).match(self.lines[at].text) is not None
            if at < self.no_table_before.get(splitter, 0) or bulleted:
                continue
            rows: list[list[Cell]] = []
            width = 0
            for number in range(at, len(self.lines)):
                cells = splitter(self.lines[number])
                if len(cells) < 2 or (width and len(cells) != width):
                    break
                width = len(cells)
                rows.append(cells)
            if len(rows) >= (1 if splitter is _barred else 2) and self._is_table(rows, splitter is _barred):
                return rows
            self.no_table_before[splitter] = at + len(rows)
        return []

    def _is_table(self, rows: list[list[Cell]], barred: bool) -> bool:
        """Say whether rows of equal width are a table: each but the first has a digit, no cell is a sentence."""
        texts = [[self.text[cell.start : cell.end] for cell in row] for row in rows]
        if barred:
            return len(rows) > 1 or len(rows[0]) > 2
        grouped = len(rows[0]) < 3 or any(
            _compiled(r"\d{3}(?:\.\d+)?\D*").fullmatch(cell) for row in texts for cell in row
        )
        if grouped and any(sign.isdigit() for sign in "".join(texts[0])) and "," in self.text[rows[0][0].end :][:1]:
            return False  # "9,155.50" and "4,50" are one number in a list, and no cells
        short = all(len(cell) <= 60 and not cell.endswith((".", "?", "!")) for row in texts for cell in row)
        digits = all(any(sign.isdigit() for sign in "".join(row)) for row in texts[1:])
        return short and digits


def _bare(text: str, start: int, end: int) -> tuple[int, int]:
    """Give the places of what stands between two, without the white space around it."""
    said = text[start:end]
    return start + len(said) - len(said.lstrip()), end - len(said) + len(said.rstrip())


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for whole in text.split("\n"):
        for offset in range(0, max(1, len(whole)), LINE_CHARACTERS_MAX):
            part = whole[offset : offset + LINE_CHARACTERS_MAX]
            yield _Line(start + offset, start + offset + len(part), part)
        start += len(whole) + 1


# tables --------------------------------------------------------------------------------------------


def _barred(line: _Line) -> list[Cell]:
    """Cut a line at its bars; a line without two of them gives nothing."""
    text = line.text
    if text.count("|") < 2 and " | " not in text:
        return []
    inner = text.strip()
    start = line.start + text.index(inner)
    if inner.startswith("|"):
        inner, start = inner[1:], start + 1
    inner = inner.removesuffix("|")
    return _cells(inner, start, "|")


def _separated(line: _Line) -> list[Cell]:
    """Cut a line at tabs, semicolons or commas, whichever it has; a sentence gives nothing."""
    text = line.text
    if not text.strip() or text.rstrip()[-1] in ".!?:":
        return []
    for separator in ("\t", ";", ","):
        if separator in text:
            if separator != "\t" and (f"{separator} " in text and _compiled(r"[a-z] [a-z]+ [a-z]").search(text)):
                return []
            return _cells(text, line.start, separator)
    return []


def _aligned(line: _Line) -> list[Cell]:
    """Cut a line where two or more spaces stand."""
    inner = line.text.strip()
    if "  " not in inner:
        return []
    base = line.start + line.text.index(inner)
    found, at = [], 0
    for gap in _compiled(r" {2,}").finditer(inner):
        found.append(Cell("", base + at, base + gap.start()))
        at = gap.end()
    return [*found, Cell("", base + at, base + len(inner))]


def _cells(text: str, start: int, separator: str) -> list[Cell]:
    found, at = [], start
    for part in text.split(separator):
        bare = part.strip(' \t\r"')
        offset = part.index(bare) if bare else 0
        found.append(Cell("", at + offset, at + offset + len(bare)))
        at += len(part) + len(separator)
    return found


def _rows(text: str, rows: Sequence[list[Cell]], path: tuple[str, ...]) -> Iterator[Piece]:
    """Give the rows of a table with the names of their columns."""
    told = [[text[cell.start : cell.end] for cell in row] for row in rows]
    ruled = len(rows) > 1 and all(_compiled(_RULE).fullmatch(cell) for cell in told[1] if cell) and any(told[1])
    lettered = not any(sign.isdigit() for sign in "".join(told[0][1:] if len(told[0]) > 2 else told[0]))
    others = any(sign.isdigit() for row in told[1:] for sign in "".join(row))
    headed = len(rows) > 1 and (ruled or (lettered and others))
    names = told[0] if headed else [""] * len(rows[0])
    for number, row in enumerate(rows):
        start, end = row[0].start, row[-1].end
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", end)
        whole = text[line_start : line_end if line_end >= 0 else len(text)]
        if len(whole) <= LINE_CHARACTERS_MAX:
            start = line_start + len(whole) - len(whole.lstrip())
            end = line_start + len(whole.rstrip())
        if headed and number == 0:
            yield Piece("header", start, end, path)
        elif _compiled(_RULE).fullmatch(whole) is None:
            cells = tuple(Cell(name, cell.start, cell.end) for name, cell in zip(names, row, strict=True))
            yield Piece("row", start, end, path, cells)


# JSON ----------------------------------------------------------------------------------------------


@value(frozen=False)
class _Node:
    """A value of JSON with its place."""

    kind: str  # "{", "[" or "" for a scalar
    start: int
    end: int
    name: str = ""
    key_start: int = -1
    children: list[_Node] = field(default_factory=list)


def _tree(text: str, start: int) -> _Node:
    """Read the JSON object or array that begins at a place and ends with its line.

    Returns:
        a node around it, without a child when there is none; its end says how far was read.
    """
    token = _compiled(_JSON_SIGN)
    root = _Node("", start, start)
    open_: list[_Node] = [root]
    key: tuple[str, int] | None = None
    last, at = "", start
    while True:
        match = token.match(text, at)
        if match is None:
            return _Node("", start, at)
        sign, place, at = match[1], match.start(1), match.end()
        if sign == ":":
            if key is None or last == ":":
                return _Node("", start, at)
        elif sign == ",":
            if len(open_) < 2 or key is not None:
                return _Node("", start, at)
        elif sign in "}]":
            done = open_.pop()
            if key is not None or done.kind != ("{" if sign == "}" else "["):
                return _Node("", start, at)
            done.end = at
            if len(open_) == 1:
                break
        elif open_[-1].kind == "{" and key is None:
            if sign[0] != '"':
                return _Node("", start, at)
            key = (sign[1:-1], place)
        else:
            if open_[-1].kind == "{" and last != ":":
                return _Node("", start, at)
            name, key_start = key or ("", place)
            node = _Node(sign if sign in "{[" else "", place, at, name, key_start)
            open_[-1].children.append(node)
            key = None
            if node.kind:
                if len(open_) > NESTED_MAX:
                    return _Node("", start, at)
                open_.append(node)
        last = sign
    rest = text.find("\n", at)
    rest = len(text) if rest < 0 else rest
    root.end = at
    return root if not text[at:rest].strip().strip(",;") else _Node("", start, at)


def _of_json(text: str, node: _Node, path: tuple[str, ...]) -> Iterator[Piece]:
    """Give objects that are short as records, and take apart what is longer."""
    if node.kind == "{" and node.end - node.start <= RECORD_CHARACTERS_MAX and not _holds_records(node):
        inner = (*path, node.name) if node.name else path
        yield Piece("row", max(node.key_start, 0) if node.name else node.start, node.end, inner, tuple(_leaves(node)))
        return
    if not node.kind:
        names = (*path, node.name) if node.name else path
        if node.name:
            cell = Cell(node.name, node.start, node.end)
            yield Piece("field", node.key_start, node.end, path, (cell,))
        elif text[node.start] == '"':
            yield Piece("sentence", node.start + 1, node.end - 1, names)
        else:
            yield Piece("field", node.start, node.end, path, (Cell("", node.start, node.end),))
        return
    below = (*path, node.name) if node.name else path
    for child in node.children:
        yield from _of_json(text, child, below)


def _holds_records(node: _Node) -> bool:
    """Say whether an object holds others, which are the records then; not when it has values of its own beside them."""
    if any(child.kind and any(one.kind for one in child.children) for child in node.children):
        return True
    return any(child.kind == "{" for child in node.children) and all(child.kind for child in node.children)


def _leaves(node: _Node) -> Iterator[Cell]:
    for child in node.children:
        if child.kind:
            for inner in child.children:
                if not inner.kind:
                    yield Cell(f"{child.name} {inner.name}".strip(), inner.start, inner.end)
        else:
            yield Cell(child.name, child.start, child.end)
