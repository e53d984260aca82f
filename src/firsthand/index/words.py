"""What of an event is indexed: its words, and the exact strings in it.

The words are the text itself: the index's tokenizer cuts it at everything that is
no letter and no digit, and stems. An *exact string* is what that would tear apart:
a path, an identifier with joints, a number with punctuation, an address, and each
pair of signs in scripts that put no space between words. Each becomes one token
of letters and digits that the stemmer leaves alone, so one index serves both.

The invariant: the same rules cut a document and a query, a string that stands
alone in a query is found wherever it stands as a whole, or as the end of a path,
in a document; a number is found with and without leading zeros. All of it runs in
linear time.

An event is also indexed by its *context*: the words of its session's name, the day
and the month it happened in. It counts for finding, not for the length of a row.

This module knows no storage and no ranking.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from datetime import date
from functools import cache, lru_cache
from zlib import crc32

from firsthand.event import Event, Kind, to_text
from firsthand.value import value

WORDS_VERSION = 3
"""Part of an index's identity: an index of other rules is built anew."""

STRING_CHARACTERS_MAX = 256
"""A longer run without a space is indexed as pieces of this length, so that no pattern runs long."""
PATH_ENDS_MAX = 8
HEADER_CHARACTERS_MAX = 2_000
SITUATIONS_MAX = 16
SITUATION_CHARACTERS_MAX = 2_000
SITUATIONS = "situations"
"""The fact in a note's meta that holds the situations it was learned in, as texts."""
META_INDEXED = (
    "tool", "name", "call_id", "subject", "from", "to", "cc", "title", "file", "filename", "path", "url", "caption",
)  # fmt: skip

_META_INDEXED = frozenset(META_INDEXED)
META_NAMES = ("name", "subject", "title", "file", "filename", "path")
"""Of `META_INDEXED`, what an event or its document is called."""

_RUN = r"[^\W_]"  # a letter or a digit; the underscore is a joint
# No possessive group: before 3.11.5 Python keeps what a look-ahead in it refused, here the comma.
_CHUNK = re.compile(rf"(?<!{_RUN}){_RUN}++(?:(?:[-./\\_~+%:@#]{{1,3}}+|,(?=\d)){_RUN}++)+")
_OUTER = re.compile(r"[:@#]+[/\\.]*")  # a whole that holds one of these also counts by its pieces
_HUMP = re.compile(r"[A-Z](?<=[a-z][A-Z])")
_SPACE = re.compile(r"\s")
_HUMPED_WORD = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]*[a-z][A-Z][A-Za-z]*(?![A-Za-z0-9])")
_BETWEEN_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_SPACES = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)  # Thai, Lao, Myanmar, Khmer, Kana, Han, and Hangul, whose particles cling to the word
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": " ", "f": " "}
_USUAL = (*((f"\\{letter}", sign) for letter, sign in _ESCAPED.items()), ('\\"', '"'), ("\\/", "/"))
_NAME = re.compile(rb'(^|[{,])\s*"[^"\\\n]{0,64}"\s*:')
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_PADDED = re.compile(r"0(?<![0-9]0)(?<![0-9][-:./]0)0*([1-9][0-9]{0,8})(?![-:./]?[0-9])(?![A-Za-z])")
"""A number with leading zeros that is no part of a date, a time or an address; a plain sign first, for speed."""
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905 - twelve quoted words
_DAY_MICROSECONDS = 86_400_000_000
_DIGIT_OF_YEAR = frozenset("12")
UUID_HYPHENS = 4
_EPOCH_DAY = 719_163  # of 1970-01-01, as `date` counts
_OPAQUE_MEDIA = ("image/", "audio/", "video/", "font/")


@value
class Words:
    """What of a text is indexed.

    Attributes:
        text: what is cut into words and stemmed.
        exact: tokens of exact strings.
    """

    text: str
    exact: list[str]


def of_text(text: str, head: str = "") -> Words:
    """Say what of a text is indexed; ``head`` says who said it."""
    plain, spaceless = _plain(text, head)
    pieces = plain.split()
    # Most of what is no word is one with a sign behind it.
    joined = {piece: None for piece in pieces if not (piece.isalnum() or piece[:-1].isalnum())}
    strings = _with_parts(_CHUNK.findall(" ".join(_bounded(joined)).casefold())) if joined else {}
    if spaceless:
        strings.update(dict.fromkeys(_pairs(spaceless, single=True)))
    if _HUMP.search(plain):
        plain += _humps(_bounded(dict.fromkeys(pieces)))
    return Words(plain, [token(string) for string in strings])


def _plain(text: str, head: str) -> tuple[str, list[str]]:
    """Normalise a text and take the runs of scripts without spaces out of it."""
    text = f"{head}\n{text}" if head else text
    spaceless: list[str] = []
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        spaceless = _no_spaces().findall(text)
        if spaceless:
            text = _no_spaces().sub(" ", text)
        text = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate is no word
    return text + unpadded(text), spaceless


def unpadded(text: str) -> str:
    """Give the numbers of a text that have leading zeros once more without them, to be put behind it."""
    if "0" not in text:
        return ""
    numbers = [number[1] for number in _PADDED.finditer(text) if _is_numbered(text, number.start())]
    return "\n" + " ".join(dict.fromkeys(numbers)) if numbers else ""


def _is_numbered(text: str, at: int) -> bool:
    """Say whether nothing but a word stands before a number, as in ``lectio0032``; the end of a hash is no number."""
    while at and text[at - 1].isalpha():
        at -= 1
    return not at or not text[at - 1].isalnum()


def _bounded(pieces: dict[str, None]) -> dict[str, None]:
    """Cut pieces of a text so that none of them is long."""
    step = STRING_CHARACTERS_MAX
    if max(map(len, pieces), default=0) <= step:
        return pieces
    return dict.fromkeys(piece[at : at + step] for piece in pieces for at in range(0, len(piece), step))


def token(string: str) -> str:
    """Name a folded exact string by one token that the stemmer leaves alone: a letter, then digits.

    Two strings may share a token (one pair in four thousand million), so a match
    is a candidate, not a proof: the bytes decide. Both slashes of paths are one.
    """
    if "\\" in string:
        string = string.replace("\\", "/")
    return f"q{crc32(string.encode('utf-8', 'replace'))}"


def exact_strings(text: str) -> list[str]:
    """Find the exact strings of a query: wholes only, as they are spelled, each once, in order."""
    pieces = " ".join(_bounded(dict.fromkeys(without_spaceless(text).split())))
    return list(dict.fromkeys(_CHUNK.findall(pieces)))


def spaceless_pairs(text: str) -> list[str]:
    """Find the pairs of signs of a query in scripts without spaces; a lone sign stands for itself."""
    if text.isascii():
        return []
    return list(dict.fromkeys(_pairs(_no_spaces().findall(unicodedata.normalize("NFC", text)), single=False)))


def without_spaceless(text: str) -> str:
    """Leave out what `spaceless_pairs` covers."""
    return text if text.isascii() else _no_spaces().sub(" ", unicodedata.normalize("NFC", text))


@cache  # compiled when a text needs it: it takes longer than all the others here together
def _no_spaces() -> re.Pattern[str]:
    return re.compile(_NO_SPACES)


def header(event: Event) -> str:
    """Say who said it and what it is about: the agent, and what meta names.

    Recall needs it: without the speaker's name recall@10 on locomo falls by half.
    """
    parts = [event.agent] if event.agent else []
    meta = event.meta
    if not _META_INDEXED.isdisjoint(meta):
        for key in META_INDEXED:
            value = meta.get(key)
            if isinstance(value, str):
                parts.append(value)
            elif isinstance(value, list):
                parts += [item for item in value if isinstance(item, str)]
    return " ".join(parts)[:HEADER_CHARACTERS_MAX]


def context(event: Event) -> str:
    """Say in which session and when an event happened, as words and tokens of exact strings.

    It stands in the index beside the exact strings, as words it would lengthen every row of a session alike.
    """
    moment = event.time
    if moment is None:
        return _of_session(event.session)
    day = (moment.microseconds + moment.offset_minutes * 60_000_000) // _DAY_MICROSECONDS
    return f"{_of_session(event.session)} {_of_day(day)}"


@lru_cache(maxsize=1_024)  # a session has many events
def _of_session(name: str) -> str:
    """Give the words of a session's last name, and the whole and the last name as exact strings.

    Every event of a session pays for them, so folders and hosts before the last name are left to the whole.
    """
    last = name.rstrip("/").rpartition("/")[2]
    # A UUID is found whole; its pieces say nothing.
    plain, _ = _plain(_uuid().sub(" ", last) if last.count("-") >= UUID_HYPHENS else last, "")
    strings = [token(name.casefold()) for name in dict.fromkeys((name, last)) if not name.isalnum()]
    return " ".join([plain.replace("\n", " "), *strings])


@lru_cache(maxsize=1_024)
def _of_day(day: int) -> str:
    try:
        text = date.fromordinal(day + _EPOCH_DAY).isoformat()
    except (ValueError, OverflowError):  # the local day lies in the year 0 or 10000: no query names it
        return ""
    return f"{token(text)} {token(text[:7])}"


def dates(text: str) -> list[tuple[str, str]]:
    """Find the days and months that a query spells out: as spelled, and as ISO 8601; each once, in order."""
    by_iso: dict[str, str] = {}
    for match in _dated().finditer(text) if _DIGIT_OF_YEAR.intersection(text) else ():
        before, name, after, year = match.groups()
        month = f"{year}-{_MONTHS.index(name.lower()) + 1:02}"
        day = before or after
        by_iso.setdefault(f"{month}-{int(day):02}" if day else month, match[0])
    return [(spelled, iso) for iso, spelled in by_iso.items()]


@cache  # compiled when a text needs it, as `_no_spaces` is
def _dated() -> re.Pattern[str]:
    month = rf"({'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
    day = r"([0-3]?[0-9])(?:st|nd|rd|th)?"
    return re.compile(
        rf"\b(?:{day} (?:of )?)?{month}(?: {day}(?![0-9]))?,? ([12][0-9]{{3}})(?![0-9])",
        re.IGNORECASE,
    )


@cache
def _uuid() -> re.Pattern[str]:
    return re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def situations(event: Event) -> tuple[str, ...]:
    """Give the situations that a note was learned in; none for any other event.

    What an import or another program wrote there is taken as far as it is text, within the limits.
    """
    listed = event.meta.get(SITUATIONS) if event.kind is Kind.NOTE and event.meta else None
    if not isinstance(listed, list):
        return ()
    texts = [text[:SITUATION_CHARACTERS_MAX] for text in listed if isinstance(text, str)]
    return tuple(texts[:SITUATIONS_MAX])


def reading(head: bytes, media: str, kind: Kind) -> Callable[[bytes], str]:
    """Say how the bytes of a payload are read as text, from its first bytes.

    What is no text reads as empty. JSON is not parsed, only its escapes are read, and
    of a tool call the names of its arguments are left out: so what is torn, doubled or
    nested 100,000 deep is read all the same, and its punctuation is no word.
    """
    if not _is_text(head, media):
        return _as_nothing
    if kind is Kind.TOOL_CALL:
        return _as_values
    if "json" in media or head[:1] in {b"{", b"["}:
        return _as_json
    return to_text


def _as_nothing(_data: bytes) -> str:
    return ""


def _as_values(data: bytes) -> str:
    # A quote within a value is escaped: what looks like a name there stays.
    return _as_json(_NAME.sub(rb"\1 ", data))


def _as_json(data: bytes) -> str:
    text = to_text(data)
    return unescape(text) if "\\" in text else text


def _is_text(head: bytes, media: str) -> bool:
    if media.startswith("text/"):
        return True
    if media.startswith(_OPAQUE_MEDIA):
        return media == "image/svg+xml"
    head = head[:4096]
    if b"\0" in head:
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.start >= 4096 - 3  # the cut fell into a sign
    return True


def unescape(text: str) -> str:
    """Read the escapes of JSON strings; what is no escape stays as it is."""
    # An escaped backslash begins no other escape: between them the usual ones can be replaced in one go each.
    text = "\\".join([_unescape_between(part) for part in text.split("\\\\")])
    return _SURROGATES.sub(_join_pair, text)


def _unescape_between(text: str) -> str:
    if "\\" in text:
        for escape, sign in _USUAL:
            text = text.replace(escape, sign)
        if "\\" in text:
            text = _ESCAPE.sub(_unescape_one, text)
    return text


def _unescape_one(match: re.Match[str]) -> str:
    code, sign = match.groups()
    return chr(int(code, 16)) if code else _ESCAPED.get(sign, sign)


def _join_pair(match: re.Match[str]) -> str:
    return match[0].encode("utf-16", "surrogatepass").decode("utf-16")


def _with_parts(chunks: Iterable[str]) -> dict[str, None]:
    """Add to each whole its pieces between outer joints, and what follows each slash."""
    terms: dict[str, None] = {}
    for chunk in chunks:
        if chunk in terms:
            continue
        terms[chunk] = None
        if ":" in chunk or "@" in chunk or "#" in chunk:
            for piece in _OUTER.split(chunk):
                if not piece.isalnum():  # a bare word is in the text already
                    terms[piece] = None
                    _add_path_ends(piece, terms)
        else:
            _add_path_ends(chunk, terms)
    return terms


def _add_path_ends(path: str, terms: dict[str, None]) -> None:
    if "\\" in path:
        path = path.replace("\\", "/")
    at, ends = path.rfind("/"), 0
    while at >= 0 and ends < PATH_ENDS_MAX:
        end = path[at + 1 :]
        if not end.isalnum():
            terms[end] = None
        at, ends = path.rfind("/", 0, at), ends + 1


def _pairs(runs: Iterable[str], *, single: bool) -> list[str]:
    pairs: list[str] = []
    for run in runs:
        pairs += [run[at : at + 2] for at in range(len(run) - 1)]
        if single or len(run) == 1:
            pairs += run
    return pairs


def _humps(pieces: Iterable[str]) -> str:
    """Give the parts of camel-case names, as words after the text."""
    search = _HUMP.search
    cased = [piece for piece in pieces if not (piece.islower() or piece.istitle() or piece.isupper())]
    mixed = " ".join([piece for piece in cased if search(piece)])
    return "\n" + " ".join([_BETWEEN_HUMPS.sub(" ", word) for word in _HUMPED_WORD.findall(mixed)])
