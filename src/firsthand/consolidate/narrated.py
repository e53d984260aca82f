"""What somebody tells of their work in passing: how much there is by now, what is due when, where they live.

    "I have now finished 42 chapters of the book"       chapter finish book = 42         correction
    "the login latency, which is currently at 180 ms"   latency login = 180 ms           correction
    "the new April 25 deadline for the draft"           deadline draft = april 25        correction
    "a call with Bob on May 3 at 3 PM"                  bob call = may 3 at 3 pm         assignment
    "not 80 for staging any more, 81"                   what has the value 80, and is staging = 81
    "I moved to Berlin"                                 live = berlin                    correction

A story holds several such values in one sentence, and asks something at its end; so each
is looked at with its own clause.

The invariant: what is said without a word of change may be said of another one ("a call
with Bob" is not the one of last week), and changes nothing by itself.

It knows no position: a fact is made of what is said here in `keys`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from firsthand.consolidate.arranged import Said
from firsthand.consolidate.wording import KEY_WORDS_MAX, canonical, is_supposed, key_of, kind_of
from firsthand.value import value

TOLD_MAX = 8
"""Of one sentence."""
MORE_WORDS_MAX = 3
"""Of what a number is in or for."""

_compiled = cache(re.compile)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_CLOCK = r"(?:\d{1,2}[:.]\d\d(?: ?[ap]\.?m\b)?|\d{1,2} ?[ap]\.?m\b)"
_DAY = (
    rf"(?:{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?\b|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? "
    rf"{_MONTH}(?: \d{{4}})?\b|\d{{4}}-\d\d-\d\d)"
)
_WHEN = rf"(?:{_DAY}(?:,? (?:at )?{_CLOCK})?|{_CLOCK})"
_UNIT = (
    r"(?: ?(?:%|percent\b|ms\b|milliseconds?\b|seconds?\b|secs?\b|minutes?\b|mins?\b|hours?\b|days?\b|weeks?\b|"
    r"months?\b|years?\b|[kmgt]i?b\b|fps\b|km\b|kg\b|miles?\b|dollars?\b|euros?\b|words?\b|pages?\b|users?\b))"
)
_PER = r"(?: (?:per|a|an|each|every) (?:day|week|month|year|hour|minute|second))?"
_AMOUNT = rf"(?:[$\u20ac\u00a3] ?\d[\d,]*(?:\.\d+)?[km]?\b|\d[\d,]*(?:\.\d+)?{_UNIT}?{_PER})"
_NP = r"(?:[\w.'/+#-]+ ){0,4}?[\w'/+#-]+"
_ATTRIBUTE = (
    r"(?:deadline|due date|budget|limit|timeout|target|goal|salary|rent|price|score|rate|threshold|accuracy|coverage|"
    r"latency|quota|allowance|fee|response time|word count|capacity|pace|weight|average|speed|uptime)"
)
_EVENT = (
    r"(?:meeting|appointment|session|webinar|call|interview|flight|workshop|exam|test|review|launch|release|demo|party|"
    r"wedding|dinner|lunch|class|lesson|conference|presentation|checkup|surgery|trip|concert|game|match|visit|course|"
    r"deadline|hearing|talk|lecture|tour|reservation|check-?in)"
)
_MOVED = (
    r"(?:rescheduled|moved|postponed|pushed(?: back| out)?|shifted|brought forward|changed|delayed|bumped)"
    r"(?: back| forward| up)?"
)
_BY_NOW = r"(?i)\b(?:now|so far|already|in total|a total of|by now|to date|up to|currently|altogether|reached|total)\b"
_FRESH = r"(?:new|updated|revised|extended|corrected|latest|increased|reduced|raised|adjusted|current)"
_OWN = r"(?P<own>my|our|the)"
_COUNT_VERB = (
    r"(?P<verb>finished|completed|written|wrote|read|reached|secured|collected|gathered|added|saved|published|recorded|"
    r"earned|raised|run|ran|walked|cycled|visited|watched|built|fixed|closed|merged|solved|sold|hired|interviewed|"
    r"recruited|tested|translated|submitted|received|learned|learnt|practi[cs]ed|logged|attended|taken|gained|lost|"
    r"planted|painted|baked|climbed|scored|drafted|reviewed|edited|migrated|deployed|imported|indexed|downloaded|"
    r"uploaded|bought|got|made|done|tried|owned|met|stocked)"
)
_CONTAINING = frozenset(["added", "saved", "gathered", "collected", "imported", "stocked", "logged"])
"""What is put somewhere: what counts is how much there is then, whatever it was put in by."""
_HOW = r"(?:just |already |now |recently |only |finally |also |successfully |actually |even |currently |so far ){0,3}"
_COUNTED = (
    rf"\b(?:i|we)(?P<perfect>'ve| have|) ?{_HOW}{_COUNT_VERB} (?:a total of |over |about |around |only |at "
    rf"least |up to |"
    r"exactly |nearly ){0,2}(?P<value>\d[\d,]*) (?P<what>(?!of\b)(?:[\w-]+ ){0,3}?(?:[a-z][\w-]*s|people|"
    r"women|men|children))"
    r"(?: (?:to|in|into|for|from|of|on|with) (?:my |our |the )?(?P<more>(?!further|improve|make|get|be|help|do|see|"
    r"understand|use|write|keep)[\w'-]+(?: [\w'-]+){0,2}?))?"
    r"(?=[,;.!?]|\Z| (?:and|so|but|now|already|by|between|in|on|for|to|which|that|with|from|this|last|since|so)\b)"
)
_WHICH_IS = (
    rf"\b{_OWN} (?P<what>{_NP})(?:, which|,? and it| that|, it|,)?(?: is|'s| are| stands| sits|) "
    rf"?(?P<sign>now|currently|presently)(?: at| around| about| down to| up to)? (?P<value>{_AMOUNT}|{_WHEN})"
    r"(?![\w%])"
)
_WENT_TO = (
    rf"\b{_OWN} (?P<what>{_NP})(?:, which|,? and it|, it| that)?(?: has| have| had|'s| is| was| were|)"
    r"(?: been| just| now| recently| further| slightly){0,2} "
    r"(?:decreased|increased|dropped|risen|rose|fell|fallen|grown|grew|improved|gone up|gone down|went up|went down|"
    r"went|climbed|shrunk|reduced|raised|lowered|cut|adjusted|updated|extended|upgraded|reached|bumped)"
    rf"(?: from (?P<before>{_AMOUNT}|{_WHEN}))? (?:to |down to |up to |by then |)(?P<value>{_AMOUNT}|{_WHEN})(?![\w%])"
)
_IT_WAS_TO = (
    rf"\b{_OWN} (?P<what>{_NP}),? (?:and|but) (?:i |we )?(?:just |also )?(?:found out |learned |noticed |saw |heard )?"
    r"(?:that )?it (?:has been|was|is|got)(?: just| now)? "
    rf"(?:adjusted|raised|lowered|increased|reduced|changed|moved|updated|extended|set) to (?P<value>{_AMOUNT}|{_WHEN})"
    r"(?![\w%])"
)
_BROUGHT = (
    r"\b(?:i|we)(?:'ve| have|'d|)(?: just| now| recently| also| finally| managed to| been able to){0,3} "
    r"(?:reduced?|cut|brought?|got|get|improved?|shortened|boost(?:ed)?|grew|grow|upgraded|extended|trimmed|dropped) "
    rf"{_OWN} (?P<what>{_NP})(?: down| up)?(?: from (?P<before>{_AMOUNT}|{_WHEN}))? to (?P<value>{_AMOUNT}|"
    rf"{_WHEN})(?![\w%])"
)
_BEFORE_NOUN = (
    rf"\b(?P<own>my|our|the|an?|\w[\w-]*'s) (?P<fresh>{_FRESH} )?(?P<value>{_DAY}|{_AMOUNT})[ "
    rf"-](?P<what>(?:[\w-]+ )?{_ATTRIBUTE})\b"
    r"(?! (?:increase|raise|rise|hike|cut|bonus|reduction|decrease|improvement|boost|penalty|proposal))"
    r"(?: (?:for|of|on) (?:my |our |the )?(?P<more>(?:[\w'-]+ ){0,2}?[\w'-]+)(?=[,;.!?]|\Z| (?:and|so|but|"
    r"to|with|which)\b))?"
)
_DUE = (
    rf"\b(?P<own>my|our|the|an?) (?P<what>(?:[\w'-]+ ){{0,3}}?{_EVENT}(?: (?:with|on|about|for|of) (?:my |"
    rf"our |the |an? )?"
    r"(?:[\w'.-]+ ){0,4}?[\w'-]+)?)(?:,? (?:is|was|are|has been|coming up|scheduled|set|booked|planned|"
    r"due|that's|which is|"
    rf"starting|happening|taking place)){{0,3}} (?:on|for|at|from) (?P<value>{_WHEN})"
)
_DUE_MOVED = (
    rf"\b(?P<own>my|our|the) (?P<what>(?:[\w'-]+ ){{0,3}}?{_EVENT}(?: (?:with|on|about|for|of) (?:my |our |the |an? )?"
    r"(?:[\w'.-]+ ){0,4}?[\w'-]+)?)(?:,[^,;.!?]{0,50}?)? "
    rf"(?:it's|it is|it was|it has|it got|has|was|is|got|that's|which was)(?: been| now| just){{0,2}} {_MOVED}"
    rf"(?: from (?P<before>{_WHEN}))? (?:to|until|till) (?P<value>{_WHEN})"
)
_NAME = (
    r"(?P<value>(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)[A-Z][\w&.-]*"
    r"(?: (?:of |the |de )?[A-Z][\w&.-]*){0,2})(?!'s)\b"
)
_LIVE = r"\bI(?:'m| am)? (?:live|living|reside|based|residing)(?: now| currently)? (?:in|at) " + _NAME
_MOVE = (
    r"\b(?:I|[Ww]e)(?:'ve| have)?(?: just| recently| finally| now)? (?:moved|relocated)(?: back| house)?"
    r"(?: from (?P<before>[A-Z]\w*(?: [A-Z]\w*)?))? to " + _NAME
)
_WORK = r"\bI(?:'m| am)?(?: now| currently)? (?:work|working|employed)(?: now| currently)? (?:at|for) " + _NAME
_JOINED = (
    r"\bI(?:'ve| have)?(?: just| recently| now)? (?:joined|started (?:working )?(?:at|with)|switched jobs to) " + _NAME
)
_VERSION = (
    r"\b(?:[Ww]e|I)(?:'re| are|'m| am|'ve| have)?(?: now| just| recently| finally| currently)*"
    r" (?P<verb>on|use|using|run|running|upgraded to|updated to|moved to|downgraded to|switched to|went to) "
    r"(?P<what>[A-Z][\w+#-]*(?: [A-Z][a-z]\w*)?) (?:v|version )?(?P<value>\d+(?:\.\d+)*\w{0,4})(?![\w%:/-])"
)
_IT_IS_FOR = (
    r"\A(?P<value>[^\s,;.:?][^,;.:?]{0,30}?) it is(?: now)? for (?P<own>my|our|the) (?P<what>(?:[\w'-]+ "
    r"){0,5}[\w'-]+?)[.!]?\Z"
)
_RUNS_WITH = (
    r"\A(?P<what>(?:[\w'-]+ ){0,3}?[\w'-]+) (?:now )?(?:runs|works|goes|is running|is set up) (?:with|on|"
    r"at) (?:the |an? )?"
    r"(?P<more>[a-z]+) (?P<value>\S+(?: \w+)?) (?:these days|now|nowadays|from now on|by now|currently)[.!]?\Z"
)
_GONE = (
    (
        r"\A(?P<rest>.{0,60}?)\bnot (?P<before>[^\s,;][^,;]{0,40}?)(?P<rest2> for [^,;]{1,40}?)? (?:any ?more|"
        r"any longer),? "
        r"(?:but |it's |now |rather )?(?P<value>[^,;]{1,40}?)[.!]?\Z"
    ),
    (
        r"\A(?P<rest>.{0,60}?)\b(?:had|have|wrote|noted|said) (?P<before>[^\s,;][^,;]{0,40}?)"
        r"(?P<rest2> for [^,;]{1,40}?), (?:that|which|it|this) (?:is|was) (?:outdated|old|obsolete|stale|wrong|"
        r"no longer \w+|out of date)[,;:] (?:so |please |now )?(?:take|use|it's|it is|make it|put|note) "
        r"(?P<value>[^,;]{1,40}?)[.!]?\Z"
    ),
    (
        r"\A(?P<rest>)(?:scratch|forget|strike|ignore|drop) (?P<before>[^\s,;][^,;]{0,40}?)[,;:] "
        r"(?P<rest2>[^,;]{1,40}?) (?:gets|is|has|uses|takes|needs|wants) (?P<value>[^,;]{1,40}?)[.!]?\Z"
    ),
)
"""The old value is named as one that holds no more, and the new one beside it."""


@value
class _Form:
    """One way to tell something.

    Attributes:
        pattern: its places: ``what``, ``value``, and some of ``own``, ``more``, ``before``, ``verb``, ``fresh``.
        gate: what a text must have before the pattern is tried.
        changes: the words say that it has changed.
        key: the words of the key, where these are no words of the sentence.
        cased: names are told by their capital letters.
    """

    pattern: str
    gate: str
    changes: bool = True
    key: str = ""
    cased: bool = False
    counts: bool = False


_FORMS = (
    _Form(_DUE_MOVED, r"(?i)\b(?:to|until|till)\b.*\d"),
    _Form(_IT_WAS_TO, r"(?i)\bit (?:was|is|has|got)\b.*\d"),
    _Form(_WENT_TO, r"(?i)(?:ed|en|ew|ose|ell|one|ent|cut|unk)\b.*\d"),
    _Form(_BROUGHT, r"(?i)\b(?:my|our|the)\b.* to .*\d"),
    _Form(_WHICH_IS, r"(?i)(?:now|currently|presently)\b.*\d"),
    _Form(_BEFORE_NOUN, rf"(?i)\b{_ATTRIBUTE}\b", changes=False),
    _Form(_COUNTED, r"(?i)\b(?:i|we)\b.*\d", changes=False, counts=True),
    _Form(_DUE, rf"(?i)\b{_EVENT}\b", changes=False),
    _Form(_MOVE, r"\bto [A-Z]", key="live", cased=True),
    _Form(_LIVE, r"\b(?:in|at) [A-Z]", changes=False, key="live", cased=True),
    _Form(_JOINED, r"\bI\b", key="work", cased=True),
    _Form(_WORK, r"\b(?:at|for) [A-Z]", changes=False, key="work", cased=True),
    _Form(_VERSION, r" [A-Z][\w+#-]*(?: \w+)? (?:v|version )?\d", changes=False, key="version", cased=True),
    _Form(_IT_IS_FOR, r"(?i) it is "),
    _Form(_RUNS_WITH, r"(?i)\b(?:with|on|at)\b"),
)


def narrated(text: str) -> Iterator[Said]:
    """Yield what a sentence tells in passing, at most `TOLD_MAX` of it; a place is told once."""
    found = 0
    taken: list[tuple[int, int]] = []
    for pattern in _GONE:
        match = _compiled(f"(?i){pattern}").match(text) if _has_gone(text) else None
        if match is not None and not is_supposed(text, match.start("value"), match.end()):
            one = _of_gone(match)
            if one is not None:
                yield one
                return
    for form in _FORMS:
        if not _compiled(form.gate).search(text):
            continue
        pattern = form.pattern if form.cased else f"(?i){form.pattern}"
        for match in _compiled(pattern).finditer(text):
            place = match.span("value")
            if found >= TOLD_MAX or any(start < place[1] and place[0] < end for start, end in taken):
                continue
            one = _of_form(match, form)
            if one is None or _is_untold(text, match):
                continue
            taken.append(place)
            found += 1
            yield one


def _has_gone(text: str) -> bool:
    return _compiled(_NAMED_GONE).search(text) is not None


def _of_gone(match: re.Match[str]) -> Said | None:
    """Make a fact of a value that is named as gone; what else is named says of which thing it was one."""
    shown, before = (_compiled(r"(?i)\A(?:at |on |the )").sub("", match[one].strip()) for one in ("value", "before"))
    about = " ".join(f"{match['rest'] or ''} {match['rest2'] or ''}".replace(":", " ").split())
    kinds = {kind_of(canonical(one)) for one in (shown, before)}
    if len(kinds) != 1 or not key_of(before) or len(shown.split()) > 3:
        return None
    return Said(f"instead of {key_of(before)}", shown, "correction", before, about=about)


_NAMED_GONE = (
    r"(?i)\b(?:not .* any|outdated|old|obsolete|stale|wrong|no longer|out of date|scratch|forget|strike|ignore|drop)\b"
)
_ASKS = (
    r"(?i)\W*(?:if|suppose|imagine|let'?s say|what if|for (?:example|instance)|say,|is|are|does|do|did|can|could|"
    r"should|would|will|when|what|how|why|where|who|has|have|was|were)\b"
)
"""At the head of a sentence: it is made up, or asked."""
_STORY = (
    r"(?i)\b(?:if|unless|whether|suppose|assum\w+|imagine|hypothetical\w*|would|could|might|maybe|perhaps|probably|"
    r"for example|for instance|e\.g|as if|pretend|wish|hope|hoping|used to|almost|nearly|not|isn't|n't|never|wonder\w*|"
    r"heard|once|as soon as|in case|provided|plan(?:s|ning)? to|thinking (?:of|about)|consider\w*|propos\w+|suggest\w*|"
    r"said|says|claim(?:s|ed)|thinks|believes|(?<!\bi )(?<!\bwe )wrote|asked|according to|was supposed|"
    r"old|previous|"
    r"former|original|originally|initial|initially|last year|last month|second|other|another|his|her|their)\b"
)
"""In the clause before a value, or in what it is a value of: it is no fact of one's own, or not of now."""
_WISH = (
    r"(?i)\b(?:want(?:s|ed|ing)?|need(?:s|ed)?|try(?:ing)? to|going to|will|should|target(?:ed|s|ing)?|aim(?:ing)?|"
    r"have to|has to|must|let's|to (?:reach|get|hit|increase|reduce))\b"
)
_OWN_CLAUSE = r"(?i)(?:,|\bwhich\b|\bit\b|\bthat\b)"
"""Between a thing and its value: what is wished of the thing is not that."""
_CLAUSE = r"[,;:]|\b(?:and|but|so|because|since|while|although|though)\b"


def _is_untold(text: str, match: re.Match[str]) -> bool:
    """Say whether what a place says is asked, supposed, planned, denied, past, or another person's, in its clause."""
    lead = text[: match.start("value")]
    begun = max((one.end() for one in _compiled(_CLAUSE).finditer(lead[: match.start()])), default=0)
    rest = text[match.end() :]
    if _compiled(_ASKS).match(text):
        return True
    if _compiled(_STORY).search(lead[begun:]):
        return True
    has_clause = (
        "what" in match.groupdict()
        and match["what"]
        and _compiled(_OWN_CLAUSE).search(text[match.end("what") : match.start("value")])
    )
    if not has_clause and _compiled(_WISH).search(lead[begun : max(begun, match.start())]):
        return True
    if _compiled(r"(?i)\b(?:remind me that|the fact that|now that)\b").search(lead[begun:]):
        return False  # what holds is taken for granted, whatever is asked about it
    return rest.rstrip().endswith("?") and not set(",;:-") & set(rest)


def _of_form(match: re.Match[str], form: _Form) -> Said | None:
    """Make what a form found into what is said; None when it is no fact."""
    found = match.groupdict()
    shown, before = (found.get("value") or "").strip(" ."), found.get("before") or ""
    if form.key == "version":
        changes = (found["verb"] or "").endswith(" to")
        return Said(key_of(f"{found['what']} version"), shown, "correction" if changes else "assignment", "", True,
                    changes, about=found["what"])  # fmt: skip
    if form.key:
        return Said(form.key, shown, "correction" if form.changes else "assignment", before, True, form.changes,
                    about=form.key)  # fmt: skip
    what, own, verb = found.get("what") or "", (found.get("own") or "").lower(), (found.get("verb") or "").lower()
    more = " ".join((found.get("more") or "").split()[:MORE_WORDS_MAX])
    if _compiled(_STORY).search(what) or not key_of(what):
        return None
    counted = _compiled(r"(?i)\A(\d[\d,]*) ?(words?|pages?|users?)\Z").match(shown)
    if counted is not None:
        shown, what = counted[1], f"{what} {counted[2]}"
    named = f"{what} {more}" if verb in _CONTAINING else f"{verb} {what} {more}"
    named = f"{own} {named}" if own.endswith("'s") else named
    words = key_of(named) or key_of(what)
    if not words or len(words.split()) > KEY_WORDS_MAX:
        return None
    fresh = bool(found.get("fresh")) and "current" not in (found.get("fresh") or "").lower()
    grows = form.counts and verb not in _CONTAINING and _compiled(_BY_NOW).search(match[0]) is not None
    changes = form.changes or fresh or grows
    return Said(
        words, shown, "correction" if changes else "assignment", before, own in {"my", "our"}, changes,
        about=f"{own} {what}" if own.endswith("'s") else what, near=True,
    )  # fmt: skip
