r"""The facts of what somebody said: a logical key, its value, and where it stands in the bytes.

    "The staging port is now 8443."            port staging = 8443     correction
    "DB_HOST=db2.internal"                     db_host = db2.internal  config
    "I need a hotel in the north for 3 nights" hotel area = north, hotel nights = 3     slot
    "Forget about the newsletter."             newsletter              retraction

A key is made of the words of what is spoken of, each in one spelling, in one order: "the
port of staging" and "the staging port" are one. It begins with the scope that the facts
are asked for (an agent, a project), since the port of one project is not that of another.

The invariant: a fact's text stands in its event at the place that is told with it; what
is quoted, fenced, pasted, asked or supposed gives none. The time taken grows with the
length of the text.

It does not know what is true, nor which fact takes the place of which: that is `sweep`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from firsthand.consolidate.arranged import Said, Sort, Spoken, slots, thing_of
from firsthand.consolidate.deeds import deed
from firsthand.consolidate.mentions import mentions
from firsthand.consolidate.narrated import narrated
from firsthand.consolidate.wording import DONE, LEAD_CHARACTERS, canonical, is_supposed, key_of, kind_of
from firsthand.event import Event, Kind, Trust
from firsthand.task.constraints import is_constraint
from firsthand.task.sentences import Sentence, said
from firsthand.value import field, replace, value

READING = 10
"""Of these rules, and of what they use of other rooms: another number makes what older ones read be read again."""
FACTS_OF_EVENT_MAX = 64
VALUE_CHARACTERS_MAX = 160
CUE_CHARACTERS = 12
"""Behind what is said, that may say that it changes: "is 5 now"."""
TEXT_CHARACTERS_MAX = 300
IT_MESSAGES_MAX = 4
"""Messages of a session behind the one that named a thing, in which "it" still means that."""
TELLING = frozenset({Kind.USER_MESSAGE, Kind.NOTE})
"""Kinds that facts are taken from; whether one counts is a matter of its trust."""

DEEDS: frozenset[Sort] = frozenset({"deed", "denial", "mention"})
"""What somebody did or never did, or how much of what was named in a story: nothing that takes another's place."""

_compiled = cache(re.compile)


@value
class Fact:
    """One fact as somebody said it.

    Attributes:
        key: the logical key, with its scope.
        value: in one spelling, for comparing; empty for a retraction.
        pointer: of the exact bytes that say it.
        position: of its event.
        text: these bytes, as text: the sentence.
        sort: how it was said.
        shown: the value as it was said.
        before: the value that it says it takes the place of, in one spelling; empty when it says none.
        importance: from 0 to 1.
        possessive: it is said of somebody's own: "my", "our".
        about: the key as somebody said it; of "change it to 9000", what had been spoken of.
        changes: what stood before may be said anew by this: "how about Friday", and not "also on Friday".
        near: it is known what it is said of in its own session alone: "I've reached 165 commits".
    """

    key: str
    value: str
    pointer: str
    position: int
    text: str
    sort: Sort
    shown: str = ""
    before: str = ""
    importance: float = 0.5
    origin: str = ""
    trust: Trust = Trust.UNTRUSTED
    session: str = ""
    possessive: bool = False
    changes: bool = True
    about: str = ""
    near: bool = False

    @property
    def event(self) -> str:
        """The pointer of its event."""
        return self.pointer.partition("@")[0]

    @property
    def name(self) -> str:
        """The key without its scope."""
        return self.key.rpartition("/")[2]


def facts(events: Iterable[Event], *, scope: str = "") -> tuple[Fact, ...]:
    """Give the facts of events that say a value or take one back, in order.

    Args:
        events: in order of position; of several sessions, if need be.
        scope: what the keys begin with.
    """
    return tuple(one for one in Reading(scope).read(events) if one.sort not in DEEDS)


@value
class Reading:
    """Reads the facts of events one after the other; knows what each session has spoken of."""

    scope: str = ""
    spoken: dict[str, Spoken] = field(default_factory=dict)

    def read(self, events: Iterable[Event]) -> Iterator[Fact]:
        """Yield the facts of events, in order, and what was done or never done."""
        for one in events:
            if one.kind in TELLING and not one.erased and one.is_searchable and one.content:
                yield from self._of_event(one)

    def _of_event(self, one: Event) -> Iterator[Fact]:
        text = one.text
        before = self.spoken.get(one.session, Spoken())
        before = replace(before, since=before.since + 1)
        found = [0, 0]  # of those with a value, and of deeds: a story's length costs no fact behind it
        places = _Places(text)
        for sentence in said(text):
            for told in _told(sentence, before):
                words = told.words or before.key
                is_deed = told.sort in DEEDS
                if not words or found[is_deed] >= FACTS_OF_EVENT_MAX:
                    continue
                found[is_deed] += 1
                key = f"{self.scope}/{words}" if self.scope else words
                about = told.about if told.words else before.about
                if not is_deed:  # "change it to 9000" is of what has a value
                    before = Spoken(words, about, before.thing, 0)
                start, end = sentence.start, min(sentence.end, sentence.start + TEXT_CHARACTERS_MAX)
                yield Fact(
                    key, canonical(told.shown), f"fh:{one.id}@{places.of(start)}-{places.of(end)}", one.position,
                    text[start:end], told.sort, told.shown, canonical(told.before), _importance(sentence, told),
                    one.origin, one.trust, one.session, told.possessive, told.changes, about, told.near,
                )  # fmt: skip
            before = replace(before, thing=thing_of(sentence.said, before) or before.thing)
        if one.trust is Trust.TRUSTED:  # else a page's words would say what the user's "change it to 9000" is about
            self.spoken[one.session] = before


class _Places:
    """Places in bytes of places in a text."""

    def __init__(self, text: str) -> None:
        self._text, self._plain = text, text.isascii()

    def of(self, place: int) -> int:
        return place if self._plain else len(self._text[:place].encode("utf-8", "surrogatepass"))


# one sentence ----------------------------------------------------------------------------------------------

_NO_THING = frozenset(
    """it that this there he she they what who which problem issue question thing idea reason answer point error
    goal plan problem result case way one something everything nothing anything difference first second next last
    code output message file function test example step""".split()  # noqa: SIM905 - the same
)
_CUE = (
    r"(?i)\b(?:(?<!right )now|actually|correction|corrected|instead|no longer|not anymore|any ?more|"
    r"changed?|chang(?:e|ing)|moved|switch(?:ed)?|updated?|renamed|from now on|scratch that|i meant|i mean|"
    r"sorry,? (?:it|that|the|make)|as of|migrated|rescheduled|"
    r"postponed|pushed|shifted|extended|raised|lowered|increased|decreased|upgraded|downgraded|replaced|reached|grown|"
    r"ab jetzt|jetzt|stattdessen|doch|desormais|d\u00e9sormais|maintenant|ahora|ya no)\b"
)
_NP = r"(?P<what>(?:[\w.'/\u2019+#-]+ ){0,6}?[\w.'/\u2019+#-]+)"
_WHO = r"\b(?P<own>(?:my|our|the|his|her|their|its)\b|\w[\w-]*'s\b)"
_ENDS = (
    r"(?=\s*(?:,(?!\d{3}\b)|;|\.(?:\s|\Z)|[!?]|\Z|\s-\s|\(|\bbut\b|\bso\b|\bbecause\b|\bsince\b|\bas\b|\bwhich\b|\binstead\b|"
    r"\brather than\b|\band\b|\bafter\b|\bwhile\b|\bthough\b|\bplease\b|\bnow\b|\bfrom now\b|\bany ?more\b|\bnot\b))"
)
_VALUE = rf"(?P<value>[^\s,;].{{0,{VALUE_CHARACTERS_MAX}}}?){_ENDS}"
_ADVERB = r"(?:(?:now|actually|really|currently|already|just|in fact|still|officially) )?"
_COPULA = (
    rf"(?:{_WHO} ){_NP}(?: ?, ?| ){_ADVERB}(?:is|are|will be|should be|must be|has to be|needs to be|"
    rf"is set to|equals|=|heisst|ist|est|es) {_ADVERB}"
    rf"(?:(?:going to be|called|named|set to|at|on|due|due on|due by|scheduled for|scheduled on|around|about) )?"
    rf"{_VALUE}"
)
_CHANGED = (
    rf"(?:{_WHO} ){_NP}(?:, which)? (?:has |have |had |was |were |is |are |got |been |recently |"
    r"just |further |slightly ){0,3}"
    rf"(?:{DONE}|pushed(?: back| forward| out)|went(?: up| down)?) (?:slightly |again |back |further |out ){{0,2}}"
    rf"(?:from (?P<before>[^\s,;].{{0,60}}?) )?(?:to|by|until|till) {_ADVERB}{_VALUE}"
)
_SET = (
    r"(?:\A|[,;] ?|\b(?:please|and|then|i|we|i've|we've|have|let's|you) )"
    r"(?:please |i |we |i've |we've |i have |we have |let's |can you |could you |then |and ){0,2}"
    r"(?:set|chang(?:e|ed)|updat(?:e|ed)|mov(?:e|ed)|switch(?:ed)?|renam(?:e|ed)|reschedul(?:e|ed)|postpon(?:e|ed)|"
    r"push(?:ed)?|"
    rf"rais(?:e|ed)|lower(?:ed)?|increas(?:e|ed)|decreas(?:e|ed)|bump(?:ed)?|migrat(?:e|ed)|correct(?:ed)?) "
    rf"(?:{_WHO} ){_NP} (?:from (?P<before>[^\s,;].{{0,60}}?) )?(?:to|until|till) {_ADVERB}{_VALUE}"
)
_FROM_TO = (
    r"(?:i|we|they|let's|please)(?:'ve| have| had)? ?(?:just |also |now |finally ){0,2}"
    r"(?:switched|switch|moved|migrated|changed|went|upgraded|downgraded) "
    rf"(?:over )?from (?P<before>[^\s,;].{{0,60}}?) to {_VALUE}"
)
_INSTEAD = (
    r"(?:i|we|they|let's|please)(?:'ll|'re|'m|'ve| will| are| am| have)? ?(?:just |also |now |finally |rather ){0,2}"
    r"(?:use|using|run|running|take|taking|pick|picked|chose|choose|go|went|going)(?: with| on)? "
    r"(?P<value>[^\s,;].{0,60}?) (?:now )?(?:instead of|rather than) (?P<before>[^\s,;].{0,60}?)"
    r"(?=\s*(?:[,;!?]|\.(?:\s|\Z)|\Z|\b(?:now|and|but|so|because|since|for|from now)\b))"
)
_IT = (
    r"\A(?:no,? |sorry,? |actually,? |please |then |can you |could you |let's )*(?:change|make|set|move|switch|update) "
    rf"(?:it|that|this) (?:to |at |on |be |a |an |the )?(?:now )?{_VALUE}"
)
_NOT_BUT = rf"(?:{_WHO} ){_NP} (?:is|are) not (?P<before>[^\s,;].{{0,60}}?),? (?:but|it's|it is) (?:rather )?{_VALUE}"
_HAS = (
    r"(?:my|our|the) (?P<what>(?:[\w.'-]+ ){0,4}[\w.'-]+) (?:now )?(?:has|contains|includes|holds|have) (?:now )?"
    r"(?:a total of |about |around |over )?(?P<value>\d[\d,.]*) (?P<unit>[a-z]+)"
)
_COUNTED = (
    r"(?:a total of |about |around |over )?(?P<value>\d[\d,.]*) (?P<unit>[a-z]{2,}s|people|percent)"
    r"(?: (?:in|on|at|for|of) (?:my|our|the) (?P<what>(?:[\w.'-]+ ){0,3}?[\w.'-]+))?"
    r"(?=[,;!?]|\.(?!\d)|\Z| (?:and|so|but|now|already|by)\b)"
)
_HELD = (
    r"\b(?:i|we|there)(?: now)? (?:have|are|'ve got|have got)(?: now)? "
    rf"{_COUNTED}"
)
_REACHED = (
    r"\b(?:i|we)(?:'ve| have|'re| are|'m| am) (?:now |already |just |finally |recently |currently ){0,2}"
    rf"(?:reached|at|up to) {_COUNTED}"
)
_OF = (
    r"\b(?P<own>my|our|the|an?) (?P<what>(?:[\w.'-]+ ){0,4}?(?:deadline|budget|limit|timeout|target|due date|goal|"
    r"salary|rent|price|score|rate|threshold|count|size|duration)) of (?:about |around )?"
    r"(?P<value>(?:[$\u20ac\u00a3]?\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d)"
    r"(?:[^,;.]|\.(?=\d)|,(?=\d{3}\b)){0,30}?"
    r"(?:, \d{4})?)(?:,? for (?:my|our|the) (?P<more>(?:[\w'-]+ ){0,2}?[\w'-]+))?"
    r"(?=,(?!\d{3}\b)|[;!?]|\.(?!\d)|\Z| (?:but|so|and|to|for|which|with)\b)"
)
_FRESH = r"(?i)\b(?:new|updated|revised|extended|corrected|latest|increased|reduced|raised)\b"
_RETRACT = (
    r"(?:please )?(?:forget(?: about)?|drop|scrap|disregard|ignore|cancel) (?:the|my|our) "
    r"(?P<what>(?:[\w.'/-]+ ){0,5}?[\w.'/-]+)"
    r"(?: (?:that|i|we) [^,.]{0,60}| completely| entirely| altogether| for good)?[.!]?\Z|"
    r"(?:the|my|our) (?P<gone>(?:[\w.'/-]+ ){0,5}?[\w.'/-]+) (?:is|are) (?:no longer (?:needed|used|relevant|valid|"
    r"planned|there|in use)|obsolete|cancell?ed|gone|off the table)\b"
)
_NO_LONGER = (
    rf"(?:{_WHO} ){_NP} (?:is|are) (?P<ended>no longer|not) (?:at |on |in )?(?P<value>[^\s,;][^,;]{{0,40}}?)"
    r"(?P<more> any ?more)?[.!]?\Z"
)
_NOT_ANY_MORE = (
    r"\A(?:so |and |but |well,? )?(?:i|we)(?:'m| am|'re| are)? "
    r"(?:no longer|(?:do not|don't|not) (?=.* any ?more[.!]?\Z)) ?"
    r"(?P<verb>live|living|work|working|use|using|drive|run|running|play|drink|take) (?:in |at |for |on )?"
    r"(?P<value>[^\s,;][^,;]{0,40}?)(?: any ?more)?[.!]?\Z"
)
_CONFIG = (
    r"(?:export |set |ENV |let |const |- |\+ ?)?(?P<what>[A-Za-z_][\w.-]{0,60})(?P<sign>\s?=\s?|: ?)"
    r"(?P<value>[\"'`]?[^\s=\"'`][^=\"'`]{0,100}?[\"'`]?)[,;]?\Z"
)
_IS_NAME = r"[_.\d-]|\A[A-Z0-9_]{2,}\Z|[a-z][A-Z]"
_ATTRIBUTES = (
    r"\b(?:port|url|host\w*|name|password|path|folder|branch|version|deadline|due|date|time|e-?mail|address|phone|number|"
    r"budget|price|cost|rent|salary|timeout|limit|threshold|database|db|region|server|colou?r|size|language|framework|"
    r"birthday|age|city|job|title|model|key|id|account|target|owner|lead|manager|contact|flight|hotel|doctor|teacher|"
    r"dentist|favou?rite|preferred|rate|code|locale|currency|theme|font|duration|length|weight|height|capacity|endpoint|"
    r"domain|ip|bucket|queue|topic|channel|licen[cs]e|interval|count|retries|replicas|editor|shell|os|timezone|zone)\b"
)


def _told(sentence: Sentence, spoken: Spoken) -> Iterator[Said]:
    """Yield what a sentence says of one thing or another."""
    text = _compiled(r"\s+").sub(" ", sentence.text).replace("\u2019", "'")
    if len(sentence.said) < len(text) // 2:
        return  # most of it is a quotation
    config = _config(text)
    if config is not None:
        yield config
        return
    arranged = list(slots(text, spoken))
    if arranged and _compiled(f"(?i){_IT}").match(text):  # "make that 4 nights" is of what is arranged
        yield from arranged
        return
    heard = list(_assigned(text, spoken)) or arranged
    yield from heard
    if not arranged:
        there = [one.shown for one in heard]
        yield from (one for one in narrated(text) if not any(one.shown in other for other in there))
    yield from deed(sentence.said)
    yield from mentions(text)


def _config(text: str) -> Said | None:
    match = _compiled(_CONFIG).match(text)
    if match is None:
        return None
    name, held = match["what"], match["value"].strip("\"'`")
    is_name = _compiled(_IS_NAME).search(name) is not None
    if match["sign"].strip() == ":" and not (is_name or _compiled(r"(?:[\d.]+\w{0,3}|true|false|/\S+)\Z").match(held)):
        return None
    if len(held.split()) > 4 or _compiled(_NO_CONFIG).match(name):
        return None
    return Said(name.lower(), held, "config", about=name)


_NO_CONFIG = r"(?i)(?:https?|note|todo|step|day|q\d*|a\d*|re|ps|fyi|question|answer|\d+)\Z"


def _assigned(text: str, spoken: Spoken) -> Iterator[Said]:
    """Yield what a sentence assigns, corrects or takes back."""
    gone = _compiled(rf"(?i){_RETRACT}").match(text)
    if gone is not None:
        words = key_of(gone["what"] or gone["gone"])
        if words:
            yield Said(words, "", "retraction", about=gone["what"] or gone["gone"])
        return
    ended = _ended(text)
    if ended is not None:
        yield ended
        return
    for pattern in (_CHANGED, _SET, _NOT_BUT, _FROM_TO, _INSTEAD, _IT, _HAS, _HELD, _REACHED, _COPULA, _OF):
        match = _compiled(_GATES[pattern]).search(text) and _compiled(f"(?i){pattern}").search(text)
        if match and not is_supposed(text, match.start(), match.end()):
            told = _of_match(match, pattern, spoken)
            if told is not None:
                yield told
                return


def _ended(text: str) -> Said | None:
    """Read that a value holds no more, and which took its place is not said: of a thing, a home, a job, a tool."""
    if _compiled(r"(?i)\bno longer\b|\bany ?more\b").search(text) is None:
        return None
    match = _compiled(f"(?i){_NOT_ANY_MORE}").match(text)
    if match is not None:
        return _used_no_more(match)
    match = _compiled(f"(?i){_NO_LONGER}").search(text)
    if match is None or is_supposed(text, match.start(), match.end()):
        return None
    if match["ended"].lower() == "not" and not match["more"]:
        return None
    words, own = key_of(match["what"]), match["own"].lower()
    is_value = _is_value(match["value"], attribute=_compiled(_ATTRIBUTES).search(match["what"].lower()) is not None)
    if not words or not is_value or own in {*_OTHERS, "its"}:
        return None
    named = f"{own} {match['what']}" if own.endswith("'s") else match["what"]
    return Said(key_of(named), "", "retraction", match["value"].strip(), about=named)


def _used_no_more(match: re.Match[str]) -> Said | None:
    verb, held = match["verb"].lower(), match["value"].strip()
    place = "live" if verb.startswith("liv") else "work" if verb.startswith("work") else ""
    if not key_of(held) or _compiled(r"(?i)(?:it|this|that|them|these|those)\b").match(held):
        return None
    return Said(place or f"instead of {key_of(held)}", "", "retraction", held, about=place)


_GATES = {
    _CHANGED: r"(?i)\b(?:to|by|until|till)\b", _SET: r"(?i)\b(?:to|until|till)\b", _NOT_BUT: r"(?i)\bnot\b",
    _FROM_TO: r"(?i)\bfrom\b", _IT: r"(?i)\b(?:it|that|this)\b", _HAS: r"\d",
    _INSTEAD: r"(?i)\b(?:instead of|rather than)\b", _HELD: r"\d", _REACHED: r"\d", _OF: r"(?i) of ",
    _COPULA: r"(?i)\b(?:is|are|be|equals|ist|est|es)\b|'s |=",
}  # fmt: skip
"""What a text must have before a pattern is tried on it: most have nothing of the kind."""


def _of_match(match: re.Match[str], pattern: str, spoken: Spoken) -> Said | None:
    """Make what a pattern found into what is said; None when it is no fact."""
    found = match.groupdict()
    near = match.string[max(0, match.start() - LEAD_CHARACTERS) : match.end() + CUE_CHARACTERS]
    own, what, shown = found.get("own") or "", found.get("what") or "", (found.get("value") or "").strip()
    shown, before = (_compiled(r"(?i)\A(?:on|at) ").sub("", one.strip()) for one in (shown, found.get("before") or ""))
    shown = _compiled(_AMOUNT_FIRST).sub(r"\1", shown)
    own = own.lower()
    grown = _compiled(r"(\d[\d,.]*) ([a-z]{2,}s|people)\Z").match(shown) if pattern is _CHANGED else None
    if grown is not None and not kind_of(canonical(shown)) and not _compiled(_ATTRIBUTES).search(what.lower()):
        shown, what = grown[1], f"{what} {grown[2]}"  # "the team has grown to 7 people", which had 5 people
    named = f"{own} {what}" if own.endswith("s") and own not in {"his", "its"} else what
    named = f"{named} {found.get('unit') or ''} {found.get('more') or ''}"
    if pattern is _COPULA and _compiled(r"(?i)\bat (?:about |around )?\Z").search(match.string[: match.start("value")]):
        named = f"{named} {_compiled(_COUNTS).sub('', shown) if _compiled(_COUNTS).match(shown) else ''}"
    words = key_of(named)
    head = (what.split() or [""])[-1].lower()
    counted = pattern in (_HELD, _REACHED)
    if head in _NO_THING or (what and not words) or not shown or own == "its" or _compiled(_NO_NAME).search(what):
        return None
    if own in _OTHERS:  # "her birthday" is not mine
        words = " ".join(sorted({*words.split(), own}))
    if not what and pattern is _IT and (not spoken.key or spoken.since > IT_MESSAGES_MAX or _arranges(match.string)):
        return None
    if not what and pattern is _IT:
        shown, _, of = match["value"].partition(" for ")
        if not {*key_of(of).split()} <= {*spoken.key.split()}:
            return None  # "make it 9000 for billing" is of no other thing
    if not what and pattern in (_FROM_TO, _INSTEAD):
        words = f"instead of {key_of(before)}"  # the value that it names says what is meant
    if pattern is _COPULA and not before:
        before = _not_this(match.string[match.end() :], shown)
    explicit = pattern in (_CHANGED, _SET, _NOT_BUT, _FROM_TO, _INSTEAD, _IT, _REACHED) or bool(before)
    explicit = explicit or _compiled(_CUE).search(near) is not None
    explicit = explicit or (pattern is _OF and _compiled(_FRESH).search(what) is not None)
    if not _is_value(shown, attribute=_compiled(_ATTRIBUTES).search(what.lower()) is not None):
        return None  # "the food is great" says nothing that could be looked up
    return Said(
        words, shown, "correction" if explicit else "assignment", before, own in {"my", "our"},
        changes=explicit or not counted, about=" ".join(named.split()), near=counted,
    )  # fmt: skip


def _arranges(text: str) -> bool:
    """Say whether a sentence names a thing itself: "make it 10:30 for the restaurant" is of no other one."""
    return bool(thing_of(text, Spoken()))


_AMOUNT_FIRST = (
    r"(?i)\A((?:[$\u20ac\u00a3] ?)?\d[\d,.]*\S*(?: \w+)?) (?:under|with|after|by|for|in|during|since|across|when|using|"
    r"thanks) .*\Z"
)
"""How much it is, and behind that what for."""
_COUNTS = r"\d[\d,.]* (?=[a-z])"
_OTHERS = frozenset({"his", "her", "their"})
_NO_NAME = (
    r"(?i)\b(?:not|never|no|isn't|aren't|hasn't|haven't|hadn't|wasn't|weren't|didn't|doesn't|don't|won't|can't|"
    r"old|previous|former|original|initial|earlier|prior|default|other|another|second|third)\b"
)
"""In the name of a thing: what is said of it is denied, or it is another thing than the one that stands."""


_NOT_THIS = (
    r"(?i)\A,? (?:and )?(?:not|instead of|rather than) (?:at |on )?([^\s,;](?:[^,;!?]|,(?=\d{3}\b)){0,40}?)"
    r"(?: any ?more)?(?=,(?!\d{3}\b)|[;!?]|\.?\Z|\. )"
)


def _not_this(rest: str, shown: str) -> str:
    """Give the value that is said to hold no more, as in "is 8443, not 8080"; empty when there is none."""
    match = _compiled(_NOT_THIS).match(rest)
    kinds = (
        {canonical(one).partition(":")[0] if ":" in canonical(one) else "" for one in (match[1], shown)}
        if match
        else ()
    )
    return match[1] if match is not None and len(kinds) == 1 else ""


_NO_VALUE = frozenset(
    """not by very too so that what how why when where to going getting still being also working failing broken wrong
    fine good great ok okay done ready missing there here no better worse important correct right difficult hard easy
    clear unclear slow fast nice bad more most less up down in on part one all""".split()  # noqa: SIM905 - the same
)
_NAMES = r"\b[A-Z]|\d|\w[._/@-]\w|`|\""
_SAYS_HOW = r"(?i)\w(?:ing|ed|able|ible|ful|ous|ive|ant|ly)\Z"
VALUE_WORDS_MAX = 5


def _is_value(shown: str, *, attribute: bool) -> bool:
    """Say whether words are a value: an amount, a name, an exact string; of an attribute a plain word or two too."""
    words = shown.split()
    if not words or len(words) > VALUE_WORDS_MAX or words[0].lower() in _NO_VALUE:
        return False
    if kind_of(canonical(shown)):
        return True
    if _compiled(_SAYS_HOW).search(words[0]) and words[0].islower():
        return False
    return _compiled(_NAMES).search(shown) is not None or (attribute and len(words) <= 3)


def _importance(sentence: Sentence, told: Said) -> float:
    """Say how much a fact matters, from 0 to 1: rules and corrections more, what was arranged for a day less."""
    matters = {
        "correction": 0.6,
        "config": 0.6,
        "assignment": 0.5,
        "retraction": 0.4,
        "slot": 0.3,
        "deed": 0.0,
        "denial": 0.0,
        "mention": 0.0,
    }[told.sort]
    matters += 0.2 if is_constraint(sentence.said) else 0.0
    matters += 0.1 if told.possessive else 0.0
    return round(min(1.0, matters + (0.05 if any(map(str.isdigit, told.shown)) else 0.0)), 2)
