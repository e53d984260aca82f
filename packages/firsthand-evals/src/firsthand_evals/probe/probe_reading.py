r"""Reads a note for the probe: what it says itself, what its pointers lead to, whether it admits that it is cut.

    "User: 7 pads at $4"        said by the user, as in the session
    "(2 of 4 lines kept)"       admits; "(4 of 4 lines kept)" does not
    "the rest: fh:01J8..."      admits, wherever the pointer leads

The invariant: what stands behind a pointer counts only where the session has it; a
text that the session does not have is derived, and only its own pointers are
followed, `HOPS_MAX` hops from the note.

It does not know what a claim needs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache, cached_property

from firsthand.pointer import find
from firsthand.value import replace, value
from firsthand_evals.probe import marks
from firsthand_evals.probe.admission import COUNTED, NUMBER, TALLIED, admits, around
from firsthand_evals.probe.determine import AGENT_ROLES, Known
from firsthand_evals.probe.probe_lookup import Units
from firsthand_evals.probe.statements import Message, Statement, cut

HOPS_MAX = 2
POINTERS_MAX = 256
"""Pointers of one note that are followed."""
NOTE_STATEMENTS_MAX, NOTE_VALUES_MAX = 2_000, 3_000
"""Statements and values of a note that are read, the first ones; of one with more the verdict says so."""
SESSION_VALUES_MAX = 10_000
"""Values of one message of a session that are read, the first ones; of one with more the verdict says so."""
SESSION_CHARACTERS_MAX = 400_000
"""Characters of a session that are read: numbers take most time, up to 30 us a character."""

_compiled = cache(re.compile)
_STRUCK = r"~~[^~\n]{1,400}~~"
_ALL_KEPT = rf"(?i)\b(?:(?:these|those|here) are )?all (?:of )?(?:the )?{NUMBER} (?:\w+ )?{TALLIED}\b[^\n.]{{0,24}}"
_FRAME = (
    r"\b(?:[iI]t was said|[tT]he facts (?:were|are)|[iI]n (?:the )?(?:user|customer)['\u2019]s (?:own )?words"
    r"|(?:[tT]he )?(?:[uU]ser|[cC]ustomer|[cC]lient|[hH]uman|[tT]ool|[cC]ommand) (?:said|says|wrote|writes"
    r"|told (?:us|me)|asked|"
    r"returned|reported|answered|gave|printed|output|message)|(?:[dD]er |[dD]ie )?(?:Nutzer|Nutzerin) (?:sagte|schrieb)"
    r"|[qQ]uote|[vV]erbatim)\s*:\s*"
    r"|\b(?:[iI]t|[tT]his) (?:was|is|has been|had been) (?:stated|said|noted|mentioned|reported|recorded|established"
    r"|agreed|given"
    r"|explained|told|written down|pointed out) that\s+"
    r"|\b[tT]he (?:user|customer|client|caller|human) (?:also |then |further )?(?:stated|said|says|noted|notes"
    r"|mentioned|mentions"
    r"|reported|reports|explained|wrote|added|told (?:us|me)|pointed out) that\s+"
    r"|\b(?:[eE]s wurde (?:gesagt|festgehalten|notiert|erw\u00e4hnt), dass|[iI]l a \u00e9t\u00e9 (?:dit|not\u00e9"
    r"|pr\u00e9cis\u00e9) que"
    r"|[sS]e (?:dijo|anot\u00f3|mencion\u00f3) que|[sS]i \u00e8 detto che|\u00c8 stato detto che|[fF]oi dito que"
    r"|[eE]r is gezegd dat"
    r"|[pP]owiedziano, \u017ce|[bB]y\u0142o powiedziane, \u017ce"
    r"|\u0411\u044b\u043b\u043e \u0441\u043a\u0430\u0437\u0430\u043d\u043e, \u0447\u0442\u043e)\s+"
)
"""What a note puts before what it repeats."""
_ADDRESS = r"fh:[0-9A-Za-z]{10,32}(?:\.\.[0-9A-Za-z]{10,32}|#source|@L?\d+-\d+)?"
_ROLES = r"[ \t]*(?:[-*>] )?[*_]*(user|human|customer|assistant|agent|ai|bot|model|tool|system)[*_]*\s?:[*_]*[ \t]+"
_AGENTS = {"assistant", "agent", "ai", "bot", "model"}
_SOMEBODY = r"colleague|friend|neighbou?r|cousin|uncle|aunt|memo|sticker|slip|e-?mail|rumou?r|website|printout|scan"
_THINKS = (
    r"worked|figured|reckon\w*|put|counted|got|calculated|insist\w*|thinks?|thought|is sure|was sure|swears?|swore"
    r"|heard|wrote|writes|told|added|estimated|correct\w*|remember\w*|guess\w*|believe\w*|says?|said|states?|stated|claim\w*"
    r"|has|had|gives?|gave"
)
_HEARSAY = (
    rf"(?:\b(?:a|an|my|our|the|some|another) |\A\W*)(?:{_SOMEBODY})\b[^.:;]{{0,40}}\b(?:{_THINKS})\b"
    r"|\b(?:somebody|someone|people|they) (?:once )?(?:insist\w*|think|thought|swears?|swore|figured|worked out"
    r"|reckon\w*)\b"
    rf"|\b(?:{_SOMEBODY})(?:'|\u2019)s? (?:calculation|figures?|estimates?|claims?|numbers?|version|result|value)\b"
)
_NAMES = r"(?P<role>[uU]ser|[hH]uman|[cC]ustomer|[aA]ssistant|[aA]gent|ai|AI|[bB]ot|[mM]odel|[tT]ool|[sS]ystem)"
_TAGGED = rf"(?s)<{_NAMES}>(?P<said>.{{0,200000}}?)</(?P=role)>"
_YAML = (
    rf"(?m)^[ \t]*-[ \t]+role:[ \t]*[\"']?{_NAMES}[\"']?[ \t]*\n[ \t]+(?:text|content|message|said):[ \t]*"
    r"(?P<said>[^\n]*(?:\n(?![ \t]*-[ \t]+role:)[^\n]*)*)"
)
_CONTENTS = ("content", "text", "message", "said")
_QUOTED = (
    r"\A\W*(?:the |my )?(assistant|agent|model|ai|user|customer|tool)(?: (?:said|wrote|answered|replied"
    r"|told \w+|put it))? ?"
    r"(?:that|:|,)?\s*[\"\u201c\u201e\u00ab](.*)[\"\u201d\u201c\u00bb]\W*\Z"
)
_INNER_QUOTE = r"[\"\u201c\u201e\u00ab]([^\"\u201c\u201d\u201e\u00ab\u00bb\n]{4,400})[\"\u201d\u201c\u00bb]"
_HTML_ROW, _HTML_CELL, _HTML_TAG = (
    r"(?i)</tr>\s*",
    r"(?i)</t[dh]>\s*<t[dh][^<>]{0,200}>",
    r"(?i)</?[a-z][a-z0-9]*(?:\s[^<>]{0,200})?/?>",
)


class Session:
    """The messages that a note stands on, and the way to what its pointers name."""

    def __init__(self, messages: Sequence[Message], expand: Callable[[str], str | None] | None = None) -> None:
        self.messages = _bounded(messages)
        read_ = cut(self.messages, values_most=SESSION_VALUES_MAX)
        self.statements = tuple(map(_doubted, read_.statements))
        self.is_whole = len(self.messages) == len(messages) and not read_.unread
        known = {str(one["pointer"]): str(one.get("content") or "") for one in self.messages if one.get("pointer")}
        self.expand = expand if expand is not None else known.get

    @cached_property
    def said(self) -> str:
        """What others than the agent said."""
        told = (one for one in self.messages if str(one.get("role")) not in AGENT_ROLES)
        return "\n".join(str(one.get("content") or "") for one in told)

    @cached_property
    def known(self) -> Known:
        """What all claims of the session share."""
        return Known(self.statements)

    @cached_property
    def units(self) -> Units:
        """The units of it and of a note, each cut once."""
        return Units()


def _doubted(one: Statement) -> Statement:
    """Take what a third person is said to have worked out for hearsay."""
    said = " ".join((*one.path, one.text)).lower()
    hearsay = not one.asserts and _compiled(_HEARSAY).search(said) is not None
    return replace(one, asserts="claim") if hearsay else one


def _bounded(messages: Sequence[Message]) -> list[Message]:
    """Choose the messages of a long session that are read: the user's, then tools', then the agent's; newest first."""
    sizes = [len(content) if isinstance(content := one.get("content"), str) else 0 for one in messages]
    if sum(sizes) <= SESSION_CHARACTERS_MAX:
        return list(messages)
    rank = {"user": 0, "tool": 1}
    chosen, left = set(), SESSION_CHARACTERS_MAX
    for place in sorted(range(len(messages)), key=lambda at: (rank.get(str(messages[at].get("role")), 2), -at)):
        if sizes[place] <= left:
            chosen.add(place)
            left -= sizes[place]
    return [one for place, one in enumerate(messages) if place in chosen]


@value
class Carried:
    """A note, read.

    Attributes:
        text: of the note.
        own: what it says itself.
        behind: what its pointers lead to, as the session has it.
        joined: both, the note first.
        admits: it says that something is missing.
        found: the messages that its pointers lead to.
        is_whole: all of it was read, and of what it leads to.
    """

    text: str
    own: tuple[Statement, ...]
    behind: tuple[Statement, ...]
    joined: tuple[Statement, ...]
    admits: bool
    found: tuple[Message, ...]
    is_whole: bool = True

    def standing_on(self) -> Session:
        """Give what a note stands on of which no messages are known: what its pointers lead to, else itself."""
        return Session(self.found or messages_of(self.text))


def read(text: str, session: Session) -> Carried:
    """Read a note."""
    own = messages_of(_bare(text))
    found = _followed(text, session)
    mine = cut(own, most=NOTE_STATEMENTS_MAX, values_most=NOTE_VALUES_MAX)
    said = tuple(_doubted(_summed_up(one)) for one in mine.statements)
    led_to = cut(found, values_most=SESSION_VALUES_MAX)
    behind = led_to.statements
    last = said[-1].turn + 1 if said else 0
    joined = (*said, *(replace(one, turn=one.turn + last) for one in behind))
    return Carried(text, said, behind, joined, admits(_without_repeats(text, session), session.said), tuple(found),
                   not (mine.unread or led_to.unread))  # fmt: skip


def _without_repeats(text: str, session: Session) -> str:
    """Take out what a note quotes of the session: it says nothing of the note."""

    def kept(match: re.Match[str]) -> str:
        return " " if any(match[1] in str(one.get("content") or "") for one in session.messages) else match[0]

    lines = (line for line in _compiled(_INNER_QUOTE).sub(kept, text).split("\n"))
    said = " ".join(str(one.get("content") or "") for one in session.messages)
    return "\n".join(line for line in lines if _compiled(_ROLES).match(line.lower()) is None
                     or line.partition(":")[2].strip() not in said)  # fmt: skip


def _bare(text: str) -> str:
    """Take out of a note what is no statement: pointers, and what counts how much of it was kept."""
    text = _compiled(_FRAME).sub(" ", _compiled(_STRUCK).sub(" ", text))
    text = _compiled(_ALL_KEPT).sub(" ", text)
    text = _compiled(rf"{_ADDRESS}(?:[ ,;]+(?:and )?{_ADDRESS})*").sub(" ", text)
    low = text.lower()
    if len(low) != len(text):  # a letter whose small form is longer: places would not fit
        return text
    at, parts = 0, []
    for match in _compiled(COUNTED).finditer(low):
        if match.start() >= at and _compiled(rf"\b{TALLIED}\b").search(around(low, match)) is not None:
            start = max(low.rfind(sign, at, match.start()) for sign in ("\n", "[", "(", ". ", "; ")) + 1
            end = min((place for sign in "\n])" if (place := low.find(sign, match.end())) >= 0), default=len(low))
            stop = _compiled(r"[.;:](?=\s|\Z)").search(low, match.end(), end)
            parts += [text[at : max(start, at)], " "]
            at = stop.end() if stop is not None else end
    return "".join([*parts, text[at:]])


def _summed_up(one: Statement) -> Statement:
    """Take a field whose only value stands under the name of a sum for what it is: {"total_before_tax": 299}."""
    cells = [cell for cell in one.cells if cell.values]
    sums = len(cells) == 1 and not one.asserts and marks.asserts(cells[0].name.replace("_", " ")) == "total"
    return replace(one, asserts="total") if sums else one


def messages_of(text: str) -> list[Message]:
    """Take a note for messages: those of a transcript; else lines that begin with a role; all others are the user's."""
    if "</t" in text.lower():
        text = _compiled(_HTML_CELL).sub(" | ", _compiled(_HTML_ROW).sub(" |\n", text))
        text = _compiled(_HTML_TAG).sub(
            lambda one: "| " if one[0][:3].lower() in {"<td", "<th"} and one[0][3:4] in {">", " "} else "", text
        )
    text = _unpacked(text)
    found = _of_json(text) or _of_marks(text)
    if not found:
        found = [{"role": "user", "content": ""}]
        for line in text.split("\n"):
            match = _compiled(_ROLES).match(line.lower())
            if match is not None:
                found.append({"role": _role(match[1]), "content": line[match.end() :]})
            else:
                found[-1]["content"] += ("\n" if found[-1]["content"] else "") + line
    return [_unquoted(one) for one in found if one["content"].strip()]


def _unpacked(text: str) -> str:
    """Write JSON that stands in a text of JSON as what it holds."""
    if '\\"' not in text or text.strip()[:1] not in {"[", "{"}:
        return text
    try:
        tree = json.loads(text)
        inner = {key: json.loads(leaf) if isinstance(leaf, str) and leaf.strip()[:1] in {"[", "{"} else leaf
                 for key, leaf in tree.items()} if isinstance(tree, dict) else tree  # fmt: skip
    except (ValueError, RecursionError):  # no JSON, or a text that only begins like it: it is read as it is
        return text
    return text if inner == tree else json.dumps(inner, ensure_ascii=False, indent=1)


def _role(name: str) -> str:
    low = name.lower()
    return "assistant" if low in _AGENTS else low if low in {"tool", "system"} else "user"


def _of_json(text: str) -> list[dict[str, str]]:
    """Read a transcript that is JSON: a text, a list of texts or messages, one of them a line; empty if it is none."""
    bare = text.strip()
    if bare[:1] not in {"[", "{", '"'}:
        return []
    try:
        trees = [json.loads(bare)]
    except (ValueError, RecursionError):  # not one value: it may be one a line
        try:
            trees = [json.loads(line) for line in bare.splitlines() if line.strip()]
        except (ValueError, RecursionError):  # no JSON at all: it is read as the text that it is
            return []
    found: list[dict[str, str]] = []
    for tree in trees:
        said = _said_in(tree)
        if said is None:
            return []
        found += said
    return found


def _said_in(tree: object) -> list[dict[str, str]] | None:
    """Give what a value of JSON says: a text, a message, or a list of them; None for any other value."""
    if isinstance(tree, str):
        return [{"role": "user", "content": tree}]
    if isinstance(tree, list):
        several = [_said_in(one) for one in tree]
        return None if None in several else [one for some in several if some is not None for one in some]
    if isinstance(tree, dict):
        content = next((tree[key] for key in _CONTENTS if isinstance(tree.get(key), str)), None)
        role = next(
            (tree[key] for key in ("role", "speaker", "from", "author") if isinstance(tree.get(key), str)), None
        )
        if content is not None and role is not None:
            return [{"role": _role(role), "content": content}]
        inner = tree.get("messages")
        return _said_in(inner) if isinstance(inner, list) and len(tree) == 1 else None
    return None


def _of_marks(text: str) -> list[dict[str, str]]:
    """Read a transcript in tags or in YAML; empty when it is none."""
    for pattern in (_TAGGED, _YAML):
        matches = list(_compiled(pattern).finditer(text))
        covered = sum(match.end() - match.start() for match in matches)
        if matches and covered * 2 > len(text):
            return [{"role": _role(match["role"]), "content": _dequoted(match["said"])} for match in matches]
    return []


def _dequoted(said: str) -> str:
    bare = said.strip()
    return bare[1:-1] if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'" else bare.removeprefix("|\n")


def _unquoted(one: dict[str, str]) -> dict[str, str]:
    """Take what somebody is quoted with for what is said."""
    match = _compiled(_QUOTED).match(one["content"].lower()) if len(one["content"]) < 4_000 else None
    return one if match is None else {"role": one["role"], "content": one["content"][match.start(2) : match.end(2)]}


def _followed(text: str, session: Session) -> list[Message]:
    """Give what the pointers of a note lead to as messages of the session, in the session's order."""
    told: list[tuple[int, int, Message]] = []
    seen: set[str] = set()
    texts = [text]
    for _ in range(HOPS_MAX):
        addresses = [one for one in dict.fromkeys(find("\n".join(texts))) if one not in seen][:POINTERS_MAX]
        seen.update(addresses)
        texts = []
        for address in addresses:
            content = session.expand(address)
            if not content:
                continue
            texts.append(content)
            told += _of_session(content, session)
    ordered = sorted(told, key=lambda one: one[:2])
    return [one for number, (_, _, one) in enumerate(ordered) if number == 0 or ordered[number - 1][2] != one]


def _of_session(content: str, session: Session) -> list[tuple[int, int, Message]]:
    """Find what a pointer led to in the session; a text that the session does not have is no source."""
    if not session.messages:
        return [(0, 0, {"role": "tool", "content": content})]
    found: list[tuple[int, int, Message]] = []
    for place, message in enumerate(session.messages):
        said = message.get("content")
        if not isinstance(said, str) or not said:
            continue
        if content in said:
            return [(place, said.find(content), {"role": str(message.get("role", "")), "content": content})]
        if said in content:
            found.append((place, 0, {"role": str(message.get("role", "")), "content": said}))
    return found
