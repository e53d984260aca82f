"""What somebody arranges: a hotel for three nights, a table on Friday, a train that leaves at nine.

    "I need a hotel in the north for 3 nights"    hotel area = north, hotel nights = 3
    "Actually, Thursday."                         of the hotel that is spoken of: hotel day = thursday

What was arranged of a thing in a session is arranged anew by words that say so, or by a
plain order that names the thing; a question alone, "also", "another" and a choice among
what there is change nothing.

It knows no position: a fact is made of what is said here in `keys`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from firsthand.value import value

Sort = Literal["assignment", "correction", "config", "slot", "retraction", "deed", "denial", "mention"]
WORDS_MAX, WORDS_UNNAMED_MAX = 60, 24
"""Of a sentence that arranges something, and of one that does not name it; a longer one tells a story."""

_compiled = cache(re.compile)


@value
class Said:
    """What a sentence says of one thing, before it is given a place; see `keys.Fact`."""

    words: str
    shown: str
    sort: Sort
    before: str = ""
    possessive: bool = False
    changes: bool = True
    about: str = ""
    near: bool = False


@value
class Spoken:
    """What a session has spoken of so far.

    Attributes:
        key, about: what was named last, in one spelling and as it was said.
        thing: what is being arranged.
        since: messages since the one that named the key.
    """

    key: str = ""
    about: str = ""
    thing: str = ""
    since: int = 0


_THINGS = (
    r"(?i)\b(?:(?P<hotel>hotel|guest ?house|hostel|room|apartment|lodging|accommodations?|places? to stay|"
    r"somewhere to stay|stay(?:ing)? at)|"
    r"(?P<restaurant>restaurant|table|places? to (?:eat|dine)|somewhere to (?:eat|dine)|"
    r"(?:to|we'll|we will) (?:eat|dine)|food|cuisine)|"
    r"(?P<attraction>museum|attraction|college|cinema|theatre|park|galler(?:y|ies)|night ?club|swimming ?pool|"
    r"entertainment|concert ?hall|church(?:es)?|multiple sports?|places? to (?:go|visit|see))|"
    r"(?P<train>(?<!to )train(?! (?:a|an|the|my|our|it|on|for \d+ (?:epochs|steps))\b))|(?P<taxi>taxi|cab)|"
    r"(?P<flight>flight)|(?P<bus>(?<!message )(?<!event )(?<!service )(?<!data )bus|coach))s?\b"
)
_RIDES = frozenset({"train", "taxi", "flight", "bus"})
_OF: dict[str, frozenset[str]] = {
    "arrival": _RIDES, "departure": _RIDES, "origin": _RIDES, "destination": _RIDES,
    "time": frozenset({"restaurant", "hotel"}),
    "area": frozenset({"restaurant", "hotel", "attraction"}), "stars": frozenset({"hotel"}),
    "nights": frozenset({"hotel"}), "food": frozenset({"restaurant"}), "type": frozenset({"attraction"}),
    "sort": frozenset({"hotel"}), "price range": frozenset({"restaurant", "hotel"}),
}  # fmt: skip
"""Which things have a slot; one that does not stand here belongs to each."""
_NUMBER = r"(\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_CLOCK = r"(\d{1,2}(?::\d\d|\.\d\d(?![.\d]))(?: ?[ap]\.?m)?|\d{1,2} ?[ap]\.?m)\b"
_CLOCK_ALONE = r"(\d{1,2}:\d\d(?: ?[ap]\.?m)?|\d{1,2} ?[ap]\.?m)\b"
_RIDES_AT = r"\b(?:arriv\w+|be there|get there|get in|leav\w+|depart\w*|set off|pick(?:ed)? up)\b"
_FOOD = (
    r"((?:(?:north|south|east|west|northern|southern|eastern|western|modern|latin|traditional) )?[a-z]{3,}"
    r"(?: (?:european|american|oriental|african|indian|asian|tea))?)"
)
_CUISINES = (
    r"((?:(?:north|south|east|west|northern|southern|eastern|western|modern|latin) )?(?:italian|chinese|indian|thai|"
    r"french|spanish|portuguese|greek|turkish|lebanese|persian|japanese|korean|vietnamese|mexican|american|african|"
    r"british|english|irish|scottish|german|austrian|swiss|polish|russian|hungarian|european|asian|oriental|"
    r"mediterranean|caribbean|jamaican|cuban|brazilian|moroccan|ethiopian|afghan|tuscan|seafood|vegetarian|vegan|"
    r"gastropub|fusion|scandinavian|danish|swedish|kosher|halal|malaysian|indonesian|singaporean|australian|"
    r"international|barbe[qc]ue|bbq|steakhouse|bistro|cantonese|pan-?asian|polynesian|belgian|romanian|welsh|catalan|"
    r"basque|eritrean|crossover|brasserie|sushi|tapas|israeli|egyptian|argentinian|peruvian|filipino|nepalese|czech|"
    r"ukrainian|georgian|sri lankan))"
)
_NO_PLACE = (
    r"(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b|"
    r"(?:I|AM|PM|WiFi|City|Airport|Flight|Business|Economy|First)\b)"
)
_PLACE = rf"({_NO_PLACE}[A-Z][a-z][\w']*(?: (?:and |of |the )?{_NO_PLACE}[A-Z][\w']+){{0,3}})"
_LOOKS_UP = r"(?i)\W*(?:how (?:many|much)|what|which|who|give|return|find|list|show|count|select|name|tell)\b"
"""At the head of a sentence: a question to a table, or what there is; nobody goes there."""
_NOT_YET = r"(?! \w+ (?:food|cuisine))"
_AREA = (
    r"(north|south|east|west|centre|center)(?:ern)?\b(?! (?:\w+ )?(?:food|cuisine|indian|european|american|african))"
)
_PART_OF_TOWN = r"(?:side|part|end|area|section|of|instead|please)"
_KINDS = (
    "museum|college|park|cinema|theatre|gallery|night ?club|swimming ?pool|boat|architecture|entertainment|"
    "church(?:e(?=s))?|concert ?hall|multiple sports?"
)
_SLOTS: tuple[tuple[str, str], ...] = (
    ("people", rf"(?i)\b{_NUMBER} (?:people|persons?|guests?|tickets?|of us|adults?|seats?|passengers?)\b"),
    ("people", rf"(?i)\b(?:table|room|booking|reservation) for {_NUMBER}\b(?! (?:nights?|days?|hours?|am|pm)|[:.]\d)"),
    ("nights", rf"(?i)\b{_NUMBER} (?:nights?)\b"),
    ("stars", rf"(?i)\b{_NUMBER}[ -]?stars?\b"),
    ("day", r"(?i)\b(monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"),
    ("arrival", rf"(?i)\b(?:arriv\w+|be there|get there|get in)\b[^.,;?!]{{0,40}}? {_CLOCK}"),
    ("departure", rf"(?i)\b(?:leav\w+|depart\w*|go|set off|pick(?:ed)? up)\b[^.,;?!]{{0,40}}? {_CLOCK}"),
    ("time", rf"(?i)\b(?:at|around|for|about|to|be|it|that|try|by|check|booking) ?(?<!\d){_CLOCK}"),
    ("time", rf"(?i)\A(?:\w+,? )? ?(?<!\d){_CLOCK_ALONE}"),
    ("price range", r"(?i)\b(cheap(?:er)?|moderate(?:ly)?|expensive|inexpensive|mid ?- ?(?:price|range))\b"),
    ("area", r"(?i)\b(?:in|of|on|at|to) (?:the )?(?:city )?(north|south|east|west|centre|center)(?:ern)?\b"),
    ("area", rf"(?i)\b(?:about|try|near|be|or|then|for|rather|prefer|change to|switch to)(?: in)? the {_AREA}"),
    ("area", rf"(?i)\b(?:the|in|city|town) (?:city |town )?{_AREA}(?:'s)? {_PART_OF_TOWN}\b"),
    ("area", r"(?i)\b(?:city|town) (centre|center)\b"),
    ("food", rf"(?i)\b(?:serv(?:es?|ing) |some |for |about |a |an |any )?{_FOOD} (?:food|cuisine|restaurants?)\b"),
    ("food", rf"(?i)\b(?:serv(?:es?|ing)(?: some)?|(?:how|what) about(?: an?)?) {_CUISINES}\b{_NOT_YET}"),
    ("food", rf"(?i)\b{_CUISINES} (?:[a-z]+ )?(?:places?|one)\b"),
    ("type", rf"(?i)\b({_KINDS})s?\b"),
    ("destination", rf"\b(?:to|into|arriv\w+ (?:at|in)|go|reach) (?:the )?{_PLACE}"),
    ("origin", rf"\b(?:from|leav(?:e|ing)|depart(?:ing)?) (?:the )?{_PLACE}"),
    ("sort", r"(?i)\b(?:an?|any) (?:[\w-]+ ){0,3}?(guest ?house|hotel|hostel)s?\b"),
)  # fmt: skip
"""What is arranged of a thing, by the name of what it says; the value is the group."""
_ASKED_FOR = frozenset({"food", "type", "sort"})
"""Slots that only words of change arrange anew: people eat at two places a day, and see several."""
_NO_FOOD = frozenset(
    """the that this any some good great nice what which type kind sort their your our different other another more
    local same cheap moderate expensive priced range of and or like for food serving serves restaurant new better try
    lets let fast best place one find want need looking book get two three city town centre center north south east
    west area about no other's nearby with specific certain""".split()  # noqa: SIM905 - so many quoted words are harder to read
)
_SPELLED = {
    "moderately": "moderate", "center": "centre", "inexpensive": "cheap", "cheaper": "cheap", "mid-range": "moderate",
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "nightclub": "night club", "guest house": "guesthouse",
    "swimmingpool": "swimming pool", "concerthall": "concert hall",
}  # fmt: skip
_OTHERWISE = (
    r"(?i)\b(?:how about|what about|instead|make (?:it|that)|actually|change|rather|try|switch|in that case|then|"
    r"settle|(?:can|could|would|will) (?:you|we)(?: please)? (?:look|check|find|search|see|book|move|do|reserve|try|"
    r"make (?:a |the )?(?:reservation|booking))|correction|"
    r"sorry|i meant|go with|do|prefer|perhaps|my mind|(?:would|will|could) (?:work|be (?:fine|ok|okay|good|better)))\b"
)
_JOURNEYS = frozenset({"origin", "destination"})
"""Where somebody goes next is no other way of the journey before: both stand, and are shown."""
_SEARCHED = frozenset({"food", "price range", "area"})
"""What is looked for: who asks for another kind of it looks for that now."""
_SEARCHES = (
    r"(?i)\b(?:(?:are|is|were|would) there (?:be )?(?:any|an?|one)|(?:do|would|can|could) (?:you|they) "
    r"(?:have|find|look for|search)|"
    r"any (?:[a-z]+ ){0,3}(?:restaurants?|places?|colleges?|hotels?))\b"
)
_BESIDE = r"(?i)\b(?:also|too|as well|both|either|or|another|next|after that|then)\b"
_NOT_WANTED = (
    r"(?i)(?:n't|\bnot|\bno longer) (?:really |actually )?(?:need|want|look(?:ing)? for|require)(?: an?| the| any)? \Z"
)
_PARTS = r"(?i)\b(?:and|but|also|then|while|plus)\b|[,;.]"
_ALSO = r"(?i)\b(?:also|too|as well|both|either|or|any(?! (?:serves?|ha(?:ve|s)|are|that|with|of them)\b))\b"
_ANOTHER = r"(?i)\b(?:another|second|outgoing|outbound|return|inbound|way back|other one)\b"
"""A thing of its own, beside the one that is arranged already."""
_OTHERS = (
    r"\b(?:[Hh]e|[Ss]he|(?<!if )(?<!do )[Tt]hey|friends?|sister|brother|colleagues?|boss|mother|father|"
    r"wife|husband|son|daughter|"
    r"neighbou?r|[A-Z][a-z]+(?= (?:has|needs|wants|booked|likes|took))) "
    r"(?:has|have|had|needs?|wants?|booked|likes?|took)\b"
)
"""What somebody else has or wants."""
_PICKED = (
    r"(?i)\b(?:the|one|that|ones|which) (?:one |train |bus |flight )?(?:that |which )?(?:arriv|leav|depart)\w*"
    r"|\b[a-z]+\d+ (?:arriv|leav|depart)"
)
_NOT_SO = r"(?i)(?:\b(?:not|no|nothing|less|too|than|isn't|aren't|don't|never)|n 't|n't)(?: \w+){0,2} \Z"
_ASKS_OF_IT = r"(?i)\b(?:is|are) (?:it|that|this|they|those|these|the [a-z]+)\b(?! available| possible| free)"
"""Before a question mark: what there is, and no wish."""
_LEAVES = rf"(?i){_RIDES_AT}[^.,;?!]{{0,40}}? {_CLOCK}"


def beside(text: str) -> re.Match[str] | None:
    """Find the word by which something is arranged beside what is arranged already; None when there is none."""
    return _compiled(_ALSO).search(text) or _compiled(_ANOTHER).search(text)


def thing_of(text: str, spoken: Spoken) -> str:
    """Name the thing that a sentence arranges, the first one; empty when it names none."""
    match = next((one for one in _compiled(_THINGS).finditer(text) if not _is_denied(text, one.start())), None)
    if match is None:
        return ""
    if spoken.thing in _RIDES and _compiled(_LEAVES).search(text):
        return ""  # "I need to leave the hotel by 10:00" is of the taxi that is spoken of
    return match.lastgroup or ""


def _is_denied(text: str, place: int) -> bool:
    """Say whether a thing is named as one that is not wanted: "I don't need a train"."""
    return _compiled(_NOT_WANTED).search(text[max(0, place - 40) : place]) is not None


def slots(text: str, spoken: Spoken) -> Iterator[Said]:
    """Yield what a sentence says of the thing that is being arranged."""
    things = [(one.start(), one.lastgroup or "") for one in _compiled(_THINGS).finditer(text)
              if not _is_denied(text, one.start())]  # fmt: skip
    named = thing_of(text, spoken) or ("hotel" if _compiled(r"(?i)\bnights?\b").search(text) else "")
    thing = named or spoken.thing
    if _compiled(_OTHERS).search(text):
        return
    if not thing or text.count(" ") > (WORDS_MAX if named else WORDS_UNNAMED_MAX) or _compiled(_PICKED).search(text):
        return  # "the one that leaves at 9:15" chooses what there is
    asks = text.rstrip().endswith("?")
    otherwise = _compiled(_OTHERWISE).search(text) is not None
    if asks and ((not otherwise and not named) or _compiled(_ASKS_OF_IT).search(text)):
        return
    searches = asks and _compiled(_SEARCHES).search(text) is not None
    changes = not _compiled(_ALSO).search(text) and (otherwise or (bool(named) and not asks))
    another = "another " if _compiled(_ANOTHER).search(text) else ""
    several = len({one for _, one in things}) > 1 and bool(named)
    for name, pattern in _SLOTS:
        matches = list(_compiled(pattern).finditer(text))
        if several and matches:
            thing = _nearest(things, matches[0].start(1), name, text) or named
        if thing not in _OF.get(name, {thing}) or (name in _JOURNEYS and _compiled(_LOOKS_UP).match(text)):
            continue
        found = {_SPELLED.get(one, one) for one in (match[1].lower() for match in matches)}
        if name == "food":
            found = {_without_lead(one) for one in found} - {""}
        if len(found) != 1 or _compiled(_NOT_SO).search(text[: matches[0].start(1)]):
            continue  # "Friday or Saturday" sets neither
        shown, about = found.pop(), f"{another}{thing} {name}"
        searched = searches and name in _SEARCHED and not _compiled(_BESIDE).search(text)
        may_change = changes and (name not in _ASKED_FOR or (otherwise and _is_plain(name, shown, text)))
        may_change = name not in _JOURNEYS and (may_change or (searched and _is_plain(name, shown, text)))
        yield Said(about, shown, "slot", changes=may_change, about=about)


def _without_lead(food: str) -> str:
    """Drop the words before a kind of food that are none; empty when nothing is left."""
    words = food.split()
    while words and words[0] in _NO_FOOD:
        words.pop(0)
    return " ".join(words)


def _nearest(things: Sequence[tuple[int, str]], place: int, name: str, text: str) -> str:
    """Name the thing that a place in a sentence is of: one of its own part, or the last one before it."""
    may = [one for one in things if one[1] in _OF.get(name, {one[1]})]
    cuts = [one.start() for one in _compiled(_PARTS).finditer(text)]
    start = max((one for one in cuts if one <= place), default=0)
    end = min((one for one in cuts if one > place), default=len(text))
    own = [one for one in may if start <= one[0] < end]
    if own:
        return own[0][1]
    before = [one for one in may if one[0] < place]
    return before[-1][1] if before else may[0][1] if may else ""


def _is_plain(name: str, shown: str, text: str) -> bool:
    """Say whether a word is a choice for sure: any inn is called a hotel, and any word may stand before food."""
    if name == "sort" and shown == "hotel":
        return _compiled(r"(?i)\b(?:instead|rather)\b").search(text) is not None
    return name != "food" or _compiled(rf"(?i){_CUISINES}\Z").match(shown) is not None
