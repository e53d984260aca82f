r"""Cuts messages into statements: what one piece of text says, verbatim, with its values.

    [{"role": "user", "content": "We bought 7 notebooks at $4 and 9 pens at $2."}]
    -> "We bought 7 notebooks at $4", "9 pens at $2"

A list in a sentence is cut where each part stands by itself; a row of a table keeps
the names of its columns, a leaf of JSON its path, an entry the heading of its list.

The invariants: a statement's text is what stands between its places in its message;
statements are in order and do not overlap; what is denied ("7 pens, not 9") is no
value of its statement.

It does not know which statements matter.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from firsthand.errors import InvalidArgument
from firsthand.value import replace, value
from firsthand_evals.probe import forms, lexicon, marks
from firsthand_evals.probe.forms import Form, Piece
from firsthand_evals.probe.values import Value, read

MESSAGE_CHARACTERS_MAX = 2_000_000  # of one message; what stands behind them is not cut
STATEMENTS_MAX = 50_000  # of one call; the newest ones are given
MESSAGE_STATEMENTS_MAX, MESSAGE_VALUES_MAX = 10_000, 20_000  # of one message; what stands behind them is not cut
LABEL_WORDS_MAX = 5  # of what stands before a colon and names what follows
MONTH_LETTERS_MIN = 4  # of a month behind an ordinal; a shorter one may begin a sentence: May, Mar
SENTENCE_CHARACTERS_MAX = 1_000  # a longer one is cut at a space

Message = Mapping[str, Any]
"""A message: ``role`` and ``content``, both text, and ``pointer`` where it has one."""


@value
class Statement:
    """What one piece of a message says.

    Attributes:
        text: verbatim.
        turn: the place of its message in the messages.
        start, end: its place in that message, in characters.
        form: what it stands in: sentence, question, clause, row, header, item, field, heading.
        values: those that it affirms, with places in the message.
        denied: those that it says do not hold.
        polarity: False when it says what was considered and not chosen.
        role: of its message.
        asserts: ``total``, ``conclusion``, ``confirmation`` or ``claim`` (what somebody is said to have said);
            empty when it just says its values.
        corrects: it changes what was said before.
        path: names that stand above it.
        cells: of a row or field, each column's name and what stands in it.
        pointer: of its message; empty when it has none.
    """

    text: str
    turn: int
    start: int
    end: int
    form: Form = "sentence"
    values: tuple[Value, ...] = ()
    denied: tuple[Value, ...] = ()
    polarity: bool = True
    role: str = ""
    asserts: str = ""
    corrects: bool = False
    path: tuple[str, ...] = ()
    cells: tuple[Named, ...] = ()
    pointer: str = ""

    @property
    def subject(self) -> frozenset[str]:
        """The words that say what it is about: in one spelling, without numbers and common words."""
        return subject_of(self.text)


@value
class Named:
    """A cell: the name of its column and what stands in it, as text and as values."""

    name: str
    text: str
    values: tuple[Value, ...]


@value
class Cut:
    """Messages, cut into statements.

    Attributes:
        unread: the pointers of the messages of which not all is among the statements; empty for one without.
    """

    statements: tuple[Statement, ...]
    unread: tuple[str, ...]


def statements(messages: Sequence[Message]) -> tuple[Statement, ...]:
    """Cut messages into statements, in order; `cut` says what was beyond a limit.

    Raises:
        InvalidArgument: a message has no text as its content.
    """
    return cut(messages).statements


def cut(
    messages: Sequence[Message], *, most: int = MESSAGE_STATEMENTS_MAX, values_most: int = MESSAGE_VALUES_MAX
) -> Cut:
    """Cut messages into statements, in order, and name the messages of which a limit left something out.

    Args:
        most, values_most: statements and values of one message.

    Raises:
        InvalidArgument: a message has no text as its content.
    """
    found: list[Statement] = []
    unread: dict[int, str] = {}
    for turn, message in enumerate(messages):
        values, begun = 0, len(found)
        for one in _of_message(message, turn):
            if len(found) - begun >= most or values >= values_most:
                unread[turn] = str(message.get("pointer") or "")
                break
            values += len(one.values)
            found.append(one)
        if len(str(message.get("content") or "")) > MESSAGE_CHARACTERS_MAX:
            unread[turn] = str(message.get("pointer") or "")
    gone = {one.turn for one in found[:-STATEMENTS_MAX]}
    unread |= {turn: str(messages[turn].get("pointer") or "") for turn in gone}
    return Cut(tuple(found[-STATEMENTS_MAX:]), tuple(unread[turn] for turn in sorted(unread)))


def _of_message(message: Message, turn: int) -> Iterator[Statement]:
    content = message.get("content")
    if content is None:
        return  # a message of an agent that only calls a tool
    if not isinstance(content, str):
        raise InvalidArgument(
            f"message {turn}: its content is text, a message of several parts is cut part by part; got "
            f"{type(content).__name__}"
        )
    text = content[:MESSAGE_CHARACTERS_MAX]
    role, pointer = str(message.get("role", "")), str(message.get("pointer") or "")
    for piece in forms.pieces(text):
        for made in _of_piece(text, piece):
            yield replace(made, turn=turn, role=role, pointer=pointer)


def _of_piece(text: str, piece: Piece) -> Iterator[Statement]:
    if piece.form in {"row", "field", "header", "heading"}:
        yield from _structured(text, piece)
        return
    if piece.form == "item" and piece.cells:
        whole = _structured_one(text, piece)
        parts = list(_clauses(whole)) if len(whole.values) > 1 else [whole]
        yield from parts if len(parts) > 1 else [whole]
        return
    for start, end in _sentences(text, piece.start, piece.end):
        whole = _plain(text, start, end, piece)
        at = _turning(whole)
        if at is None:
            yield from _clauses(whole)
            continue
        yield from _clauses(_plain(text, start, at, piece))
        behind = text[at:end]
        yield _plain(text, at + len(behind) - len(behind.lstrip(" \t,;(=-\u2013\u2014")), end, piece)


# structured pieces ----------------------------------------------------------------------------------

_NO = frozenset({"no", "false", "n", "0", "nein", "non", "\u2717", "\u2718", "\u274c", "\u5426"})
_CHOSEN_NAMES = (
    r"\b(?:bought|buy|chosen|selected|taken|ordered|in order|included|purchased|status|decision|gekauft|state)\b"
)


def _structured(text: str, piece: Piece) -> Iterator[Statement]:
    whole = _structured_one(text, piece)
    if piece.form == "field" and len(whole.values) > 1:
        parts = list(_clauses(whole))
        if len(parts) > 1:
            yield from parts
            return
    yield whole


def _structured_one(text: str, piece: Piece) -> Statement:
    said = text[piece.start : piece.end]
    cells = tuple(_named(text, cell) for cell in piece.cells)
    if piece.form == "row":
        values = tuple(one for cell in cells for one in cell.values)
    else:
        values = tuple(_moved(one, piece.start) for one in read(said))
    values, denied = _affirmed(text, piece.start, values)
    above = " ".join(piece.path)
    chosen = not (marks.denies(said) or marks.denies(above) or any(map(_says_no, cells)))
    telling = _lettered(cells) if piece.form == "row" and len(values) > 1 else said
    return Statement(
        said, 0, piece.start, piece.end, form=piece.form, values=values, denied=denied, polarity=chosen,
        asserts=marks.asserts(telling), corrects=marks.corrects(said), path=piece.path, cells=cells,
    )  # fmt: skip


def _lettered(cells: Sequence[Named]) -> str:
    """Give the words of a row: its cells that hold no value."""
    return " ".join(cell.text for cell in cells if not cell.values)


def _named(text: str, cell: forms.Cell) -> Named:
    start, end = cell.start, cell.end
    if text[start:end].startswith('"') and text[start:end].endswith('"') and end - start >= 2:
        start, end = start + 1, end - 1
    told = text[start:end]
    return Named(cell.name, told, tuple(_moved(one, start) for one in read(told)))


def _says_no(cell: Named) -> bool:
    named = _compiled(_CHOSEN_NAMES).search(cell.name.lower().replace("_", " ")) is not None
    return named and (cell.text.strip().lower() in _NO or marks.denies(cell.text))


# prose ---------------------------------------------------------------------------------------------

_compiled = cache(re.compile)
_SENTENCE_END = r"(?<![.!?])[.!?]+[\"')\]\u201d]*(?=\s)|[\u3002\uff01\uff1f\uff1b\u0964\u061f]|;(?=\s)"
_NO_END = (
    r"(?:\b(?:e\.g|i\.e|etc|approx|no|nr|rs|dr|mr|mrs|ms|st|vs|ca|kr|st\u00fcck|z\.b|\u0448\u0442"
    r"|\u0440\u0443\u0431|ca|incl|excl|a\.m"
    r"|p\.m|jan|feb|aug|sept?|oct|nov|dec)|(?<!\d)(?<!\d )(?<!['\u2019])\b[a-z])\.\Z"
)
_ARTICLE = r"\W*(?:and |und |et |y )?(?:an?|one|eine?n?|une?|una) "
_SEPARATOR = (
    r",\s*(?:and\s+|und\s+|et\s+|y\s+|but\s+|plus\s+)?|\s+(?:and|und|et|y|plus|but|sowie)\s+|\uff0c|\u3001"
    r"|\u060c\s*|\s\+\s|\s[/&\u00b7\u2022|]\s|\u548c|\s\u0648(?=\S)|;\s*"
)


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Give the places of the sentences between two places, without the white space around them."""
    at = start
    for match in _compiled(_SENTENCE_END).finditer(text, start, end):
        if match.start() < at or _compiled(_NO_END).search(text[max(at, match.end() - 12) : match.end()].lower()):
            continue
        if _is_ordinal(text, match.start(), match.end()):
            continue
        yield from _trimmed(text, at, match.end())
        at = match.end()
    yield from _trimmed(text, at, end)


def _is_ordinal(text: str, point: int, end: int) -> bool:
    """Say whether a point makes a number of a day an ordinal: the 9th of March in German."""
    if text[point:end] != "." or not text[max(0, point - 1) : point].isdecimal():
        return False
    behind = _compiled(r"\s([^\W\d_]+)").match(text, end)
    return behind is not None and behind[1].lower() in lexicon.MONTHS and len(behind[1]) >= MONTH_LETTERS_MIN


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    said = text[start:end]
    start += len(said) - len(said.lstrip())
    end -= len(said) - len(said.rstrip(" \t\r\n;\uff1b")) if said.strip() else 0
    while end - start > SENTENCE_CHARACTERS_MAX:
        cut = text.rfind(" ", start + 1, start + SENTENCE_CHARACTERS_MAX)
        cut = cut if cut > start else start + SENTENCE_CHARACTERS_MAX
        yield start, cut
        start = cut + len(text[cut:end]) - len(text[cut:end].lstrip())
    if start < end:
        yield start, end


def _plain(text: str, start: int, end: int, piece: Piece) -> Statement:
    said = text[start:end]
    values, denied = _affirmed(text, start, tuple(_moved(one, start) for one in read(said)))
    asks = said.rstrip("\"')").endswith(("?", "\uff1f", "\u061f"))
    label = _label(said, values[0].start - start) if values else ""
    form: Form = "question" if asks else piece.form
    return Statement(
        said, 0, start, end, form=form, values=values, denied=denied,
        polarity=not (marks.denies(said) or marks.denies(" ".join(piece.path))),
        asserts=marks.asserts(said), corrects=marks.corrects(said), path=(*piece.path, label) if label else piece.path,
    )  # fmt: skip


def _label(said: str, to_value: int) -> str:
    """Give the short name before a colon that stands above what follows: "Unit prices: pens $4"; empty without one."""
    label = said[:to_value].partition(":")[0].strip() if ":" in said[:to_value] else ""
    return label if len(label.split()) <= LABEL_WORDS_MAX else ""


def _turning(whole: Statement) -> int | None:
    """Give the place where a sentence turns from what it rests on to what it concludes; None when it does not.

    "9 pens at $2, 7 pads at $4, in all $46": the list is a source though the sentence sums it up.
    """
    if whole.asserts not in {"total", "conclusion"}:
        return None
    at = marks.concluded_from(whole.text)
    if at is None:
        return None
    before = [one for one in whole.values if one.end <= whole.start + at]
    if len({one.kind for one in before}) < 2 and len(before) < 3:
        return None
    cut = max(whole.text.rfind(sign, 0, at) for sign in (",", ";", " - ", " and ", "\u2014", "(", "="))
    return whole.start + cut if whole.start + cut >= before[-1].end else whole.start + at


def _affirmed(text: str, start: int, values: tuple[Value, ...]) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Part the values that a text affirms from those that it denies."""
    holds: list[Value] = []
    denied: list[Value] = []
    for number, one in enumerate(values):
        behind = text[one.end : values[number + 1].start] if number + 1 < len(values) else ""
        no = (
            marks.denied_before(text[max(start, one.start - 60) : one.start]) or text[one.start - 2 : one.start] == "~~"
        )
        (denied if no or (behind and len(behind) < 8 and marks.changed_to(behind)) else holds).append(one)
    return tuple(holds), tuple(denied)


def _moved(one: Value, offset: int) -> Value:
    return Value(one.kind, one.amount, one.unit, one.text, one.start + offset, one.end + offset) if offset else one


# lists in a sentence --------------------------------------------------------------------------------


def _clauses(whole: Statement) -> Iterator[Statement]:
    """Cut a statement into the entries of the list that it is; give it whole when it is none."""
    values = sorted((*whole.values, *whole.denied), key=lambda one: one.start)
    cuts = _cuts(whole, values) if len(values) > 1 else []
    if not cuts:
        yield whole if whole.cells else _as_denied(whole)
        return
    label = whole.text[: values[0].start - whole.start].rpartition(":")[0].strip()
    path = (*whole.path, label) if label and label not in whole.path else whole.path
    carried = not marks.denies(" ".join(path))
    starts, ends = [whole.start, *(end for _, end in cuts)], [*(start for start, _ in cuts), whole.end]
    for start, end in zip(starts, ends, strict=True):
        said = whole.text[start - whole.start : end - whole.start]
        inside = _within(whole.values, start, end)
        denied = tuple(_within(whole.denied, start, end))
        carried, polarity = _polarity(said, inside[0].start - start if inside else len(said), carried=carried)
        yield _as_denied(
            replace(
                whole, text=said, start=start, end=end, form="clause" if whole.form != "question" else whole.form,
                values=tuple(inside), denied=denied, polarity=polarity, path=path, cells=(),
                asserts=whole.asserts if whole.asserts == "claim" else marks.asserts(said.removeprefix(label)),
            )
        )  # fmt: skip


def _as_denied(one: Statement) -> Statement:
    """Take a clause that denies its count and affirms only a price ("not the 5 lamps at $9") for one about a decoy."""
    denied = {value.kind for value in one.denied}
    if "number" in denied and one.values and all(value.kind == "money" for value in one.values):
        values = tuple(sorted((*one.values, *one.denied), key=lambda value: value.start))
        return replace(one, values=values, denied=(), polarity=False)
    return one


def _polarity(said: str, to_value: int, *, carried: bool) -> tuple[bool, bool]:
    """Say what goes on holding for the entries behind one, and what holds for itself.

    What stands before an entry's first value leads the entries behind it, too: "we did not buy: 3 ..., 2 ...". What
    stands behind its values is of itself alone: "3 rulers at $1 (considered, not bought)".
    """
    lead, tail = said[:to_value], said[to_value:]
    if marks.denies(lead):
        return False, False
    if marks.denies(tail):
        return (carried or marks.chooses(lead)), False
    if marks.chooses(lead) or marks.chooses(tail):
        return True, True
    return carried, carried


def _cuts(whole: Statement, values: Sequence[Value]) -> list[tuple[int, int]]:
    """Find the separators at which a statement falls into entries of one shape, each of which stands by itself."""
    inside = _covered(whole, values)
    separators = [
        (whole.start + match.start(), whole.start + match.end())
        for match in _compiled(_SEPARATOR).finditer(whole.text)
        if not any(inside[match.start() : match.end()])
    ]
    starts, ends = [whole.start, *(end for _, end in separators)], [*(start for start, _ in separators), whole.end]
    shapes = [_shape(whole, values, start, end) for start, end in zip(starts, ends, strict=True)]
    full = [shape for shape in shapes if "word" in shape]
    usual, times = next(iter(Counter(full).most_common(1)), ((), 0))
    if times < 2:
        return []
    first = shapes.index(usual)
    return [separator for number, separator in enumerate(separators, 1) if number > first and shapes[number] == usual]


def _within(values: Sequence[Value], start: int, end: int) -> Sequence[Value]:
    """Give those of some values, in their order, that begin between two places."""
    low, high = (bisect_left(values, place, key=lambda one: one.start) for place in (start, end))
    return values[low:high]


def _covered(whole: Statement, values: Sequence[Value]) -> bytearray:
    """Mark the characters of a statement that stand in a value or in brackets."""
    inside = bytearray(len(whole.text))
    for one in values:
        start, end = one.start - whole.start, one.end - whole.start
        inside[start:end] = b"\1" * (end - start)
    depth = 0
    for place, sign in enumerate(whole.text):
        depth += sign in "([\uff08"
        inside[place] |= depth > 0
        depth -= sign in ")]\uff09" and depth > 0
    return inside


def _shape(whole: Statement, values: Sequence[Value], start: int, end: int) -> tuple[str, ...]:
    """Say what kinds of values a part has, and whether it has a word of its own; empty when it has no value."""
    inside = _within(values, start, end)
    said = whole.text[start - whole.start : end - whole.start]
    kinds = {one.kind for one in inside}
    if "money" in kinds and _compiled(_ARTICLE).match(said.lower()):
        kinds.add("number")
    for one in reversed(inside):
        said = f"{said[: one.start - start]} {said[one.end - start :]}"
    named = subject_of(said.rpartition(":")[2]) or (subject_of(said) if start > whole.start or "{" in said else None)
    return (*sorted(kinds), *(["word"] if named else [])) if kinds else ()


# what a text is about -------------------------------------------------------------------------------

_COMMON = frozenset(
    """
    a an the this that these those of for to in on at by with from and or but not no nor is are was were be been
    being it its he she they them we us you i me my our your their his her there here so then than as if what
    which who whom when where how do does did done has have had will would can could should shall may might must
    please also just only still all any each every both either neither one ones some more most other such very
    too yes ok okay um oh well about into over under up down out off again once apiece per piece unit cost costs
    costing price priced come comes came total totals sum make makes bought buy took take taken ordered order
    got get note says said say give now going der die das ein eine einen zu je und oder für von mit le la les un
    une des de du et à el los las y con por
    """.split()  # noqa: SIM905 - quoted words are harder to read
)
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
_WORD = rf"[^\W\d_](?:[^\W\d_]|[{_MARKS}])*(?:['\u2019][^\W\d_]+)*"
_FAR = r"[\u3400-\u9fff\u3040-\u30ff]"


def subject_of(text: str) -> frozenset[str]:
    """Give the words that say what a text is about, in one spelling each."""
    return _subject(text[:SENTENCE_CHARACTERS_MAX])


@lru_cache(maxsize=8_192)
def _subject(text: str) -> frozenset[str]:
    found = set()
    for word in _compiled(_WORD).findall(text.lower()):
        if _compiled(_FAR).match(word):
            found |= {word[at : at + 2] for at in range(max(1, len(word) - 1))}
        elif len(word) > 1 and word not in _COMMON:
            found.add(stem(word))
    return frozenset(found)


def stem(word: str) -> str:
    """Give the one spelling under which a word's singular and plural, British and American, are looked up."""
    word = word.replace("\u2019", "'").removesuffix("'s").replace("'", "")
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 4 and word.endswith(("ches", "shes", "xes", "sses", "zes")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for end in ("ing", "ed"):
        if len(word) > len(end) + 3 and word.endswith(end):
            word = word[: -len(end)]
            if word[-1] == word[-2] and word[-1] not in "aeiouls":
                word = word[:-1]
    return word.replace("our", "or") if len(word) > 4 else word
