r"""Reads whether a message says that something remembered is wrong, of what, and what it gives instead.

    I think the pens subtotal was wrong.             about "the pens subtotal"
    I checked it twice: it is definitely $55.        gives "$55"
    Are you sure?                                    about nothing it names

The invariant: only what its writer said is read (no code, quotation or log), and a
fault of the world is no correction: "what's wrong with the build?" corrects nothing
that was remembered. How often and how surely something is said is not read as proof.

It does not know what is stored, so it does not know who is right: `correcting` compares.
It is read at every prompt, so it reads words alone and imports nothing that reads values.
Source: reclaim-evaluation 5.4, App. J (the corrections that are told apart).
"""

from __future__ import annotations

import re
from functools import cache, partial

from firsthand.task import sentences as spoken
from firsthand.value import value

SENTENCES_MAX = 8  # from the beginning of a message: who corrects does it at once
MESSAGE_CHARACTERS_MAX = 2_000  # of a message that is read: a longer one reports something
ABOUT_CHARACTERS_MAX = 160
GIVEN_MAX = 4

_compiled = cache(partial(re.compile, flags=re.IGNORECASE))

_HINT = (
    r"wrong|incorrect|mistak|inaccura|outdated|out of date|n't right|n't true|n't correct|not right|not true"
    r"|not correct|can(?:no|')t be|add up|n't match|not match"
    r"|\boff\b|miscount|miscalc|misread|misremember|misquot|misheard"
    r"|are you (?:\w+ )?(?:sure|certain)|re-?check|double-?check|re-?calculat|re-?comput|re-?count|\bsure\b|certain"
    r"|definitely|in fact|checked|looked (?:it|that|this) up|verified|agrees? (?:on|that)|\b(?:right|correct|true|real"
    r"|actual) \w+|should have been|, not |\bnot [^.]{1,40}? but|instead of|rather than|\breceipt|\binvoice|\bpapers\b"
    r"|solution|ledger|contract|ticket|minutes|record|statement|\bbill\b"
    r"|according to|falsch|stimmt|nicht richtig|nicht korrekt|sicher|richtige|faux|fausse|s\u00fbre?s?\b|n'est pas"
    r"|bonne r\u00e9ponse|est\u00e1 mal|segur[oa]|correct[oa]|equivocad"
)
_NO_CORRECTION = (
    r"\b(?:what|why|how|where|which)(?:'s| is| are| was| were| went| goes| could be| might be| looks?| seems?)"
    r" (?:\w+ ){0,2}(?:wrong|incorrect|off)\b|\bwhats wrong\b|\b(?:was|warum|wieso) ist (?:\w+ ){0,2}falsch\b"
    r"|\b(?:nothing|anything|if|whether|when|unless|in case|once|until|should|wenn|falls|ob|si)\b[^,.]{0,60}"
    r"\b(?:wrong|incorrect|mistakes?|outdated|falsch|faux|mal)\b"
    r"|\bsomething(?:'s| is| was| went| goes| must be) (?:\w+ )?(?:wrong|off) (?:with|on|there|here)\b"
    r"|\b(?:go|goes|going|went|gone) wrong\b"
    r"|\bnot (?:necessarily )?wrong\b|\bisn't (?:\w+ )?wrong\b|\b(?:is|are) not wrong\b|\bprove me wrong\b"
    r"|\b(?:correct|tell) me if\b|\bi (?:may|might|could) be wrong\b|\bi (?:am|was|'m) (?:probably |maybe )?wrong\b"
)
_BEFORE = (
    r"^(?:(?:no|nope|hm+|wait|sorry|but|and|so|well|hey|ah|oh|actually|also|look|listen|again|nein|non|aber|mais|pero"
    r"|i'm afraid|i am afraid|to be honest|unfortunately|leider"
    r"|i (?:still )?(?:think|believe|guess|fear|suspect|noticed|notice|found|see|feel)(?: that)?"
    r"|ich (?:glaube|denke|meine)|je (?:pense|crois) que|creo que"
    r"|it (?:seems|looks like|turns out)(?: that)?|(?:you|we) (?:said|told me|wrote|noted)(?: that)?)[,:.!]?\s+)*"
)
_WRONG = (
    r"(?P<about>[^?]{1,160}?)(?:\s(?:is|was|are|were|looks?|seems?|must be|has to be|might be|may be|could be)|'s|'re)"
    r"(?: (?:still|definitely|just|simply|plain|clearly|completely|totally|all|probably|certainly|slightly|also|both"
    r"|actually|a bit|way)){0,3}"
    r" (?:wrong|incorrect|mistaken|inaccurate|outdated|out of date|miscalculated|miscounted"
    r"|not (?:right|correct|true|accurate)|off(?= by\b|[.!,;]|$))(?= ?[.!,;:\u2013\u2014-]|$"
    r"| (?:here|there|again|by|in|and|because|since|as|according|i |you |it |the ))"
)
_NOT_RIGHT = (
    r"(?P<about>[^?]{1,160}?) (?:isn't|wasn't|aren't|weren't|cannot be|can't be|can not be) "
    r"(?:\w+ )?(?:right|correct|true|accurate)\b"
    r"|(?P<about2>[^?]{1,160}?) (?:doesn't|does not|don't|do not) (?:add up|match|agree|tally)\b"
)
_FOREIGN = (
    r"(?P<about>[^?]{1,160}?) (?:ist|war|sind|waren) (?:immer noch |leider |so ){0,2}"
    r"(?:falsch|nicht richtig|nicht korrekt)"
    r"|(?P<about2>[^?]{1,160}?) (?:stimmt|stimmen) (?:so |leider ){0,2}nicht\b"
    r"|(?P<about3>[^?]{1,160}?) (?:est|\u00e9tait|sont) (?:toujours |encore )?(?:faux|fausses?|incorrecte?s?)\b"
    r"|(?P<about4>[^?]{1,160}?) n'(?:est|\u00e9tait) pas (?:juste|correcte?|bon(?:ne)?|vrai)\b"
    r"|(?P<about5>[^?]{1,160}?) (?:est\u00e1n? mal|es incorrect[oa]|no es correct[oa]|est\u00e1n? equivocad[oa]s?)\b"
)
_YOU_ERRED = (
    r"\byou(?:'ve| have)? (?:got|had|have|put) (?P<about>[^?.]{1,120}?) wrong\b"
    r"|\b(?:you|we)(?:'ve| have)? (?:miscounted|miscalculated|misread|misremembered|misquoted|misheard|misstated"
    r"|misreported|mis-?added) (?P<about2>[^?.,;]{1,120})"
    r"|\b(?:you|we) (?:have )?(?:made|make) (?:a|an|some|the) (?:\w+ )?(?:mistakes?|errors?|slips?)"
    r"(?: (?:in|with|about|on|for) (?P<about3>[^?.,;]{1,120}))?"
    r"|\bthere(?:'s| is| was) (?:a|some) mistake (?:in|with|about) (?P<about4>[^?.,;]{1,120})"
    r"|\byou(?:'re| are| were) (?:\w+ )?(?:wrong|mistaken) (?:about|on|with) (?P<about5>[^?.,;]{1,120})"
)
_RECHECK = (
    r"\b(?:re-?check|double-?check|re-?calculate|re-?compute|re-?count) (?P<about>(?:the|our|your|my|that|this) "
    r"[^?.,;]{1,100})"
)
_SURE = (
    r"\bare you (?:\w+ )?(?:sure|certain)(?: (?:about|of|that) (?P<about>[^?,;]{1,120}))?"
    r"|\bbist du (?:dir )?(?:\w+ )?sicher\b|\bes-tu s\u00fbre?\b|\btu es s\u00fbre?\b|\b\u00eates-vous s\u00fbre?s?\b"
    r"|\best\u00e1s segur[oa]\b"
)
_VALUED = (
    r"\b(?:totals?|sub-?totals?|sums?|prices?|costs?|amounts?|counts?|numbers?|figures?|values?|dates?|days?|times?"
    r"|years?|durations?|ports?|address(?:es)?|names?|versions?|codes?|percentages?|rates?|answers?|results?|budgets?"
    r"|fees?|deadlines?|averages?|quantit(?:y|ies)|balances?|ages?|distances?|weights?|lengths?|summe|preis\w*|betrag"
    r"|datum|uhrzeit|somme|prix|montant|suma|precio|fecha|hora)\b"
)
_SURELY = (
    r"\bdefinitely\b|\bin fact\b|\bi(?:'m| am) (?:quite |absolutely |very |pretty |completely |totally |100 ?% )?"
    r"(?:sure|certain|positive)\b(?! (?:if|how|what|whether|why|where|who|when|which|i\b))"
    r"|\bi(?:'ve| have)? (?:just |already )?(?:double-?|re-?)?checked\b|\blooked (?:it|that|this) up\b"
    r"|\b(?:that|it|this) is verified\b|\b(?:everybody|everyone|we all)(?: here)? agrees? (?:on|that)\b"
    r"|\b(?:the|your|our|its) (?:right|correct|true) (?:\w+ )?(?:answer|value|number|figure|total|subtotal|sum|price"
    r"|cost|amount|count|date|time|port|name|version|one|result)\b|\bshould have been\b"
    r"|\bdie richtige antwort\b|\bla bonne r\u00e9ponse\b|\bla respuesta correcta\b|\bich bin (?:mir )?sicher\b"
)
_SUPPORTED = (
    r"\b(?:receipt|invoice|papers?|records?|statement|contract|printed solution|bill|ledger|ticket|minutes) "
    r"(?:here|says?|lists?|shows?|states?|reads?)\b|\baccording to (?:the|my|our)\b"
)
_VALUE = (
    r"(?P<gives>[$\u20ac\u00a3\u00a5\u20b9]? ?\d[\w.,:/'%$\u20ac-]*(?: (?:am|pm|a\.m|p\.m|usd|eur|gbp|dollars?|euros?"
    r"|pounds?|percent|%|kg|g|km|m|hours?|minutes?|seconds?|days?|ms|mb|gb)\b)?|`[^`\n]{1,80}`|\"[^\"\n]{1,80}\""
    r"|(?-i:[A-Z])[\w'-]{1,40}(?: (?-i:[A-Z])[\w'-]{1,40}){0,2})"
)
_IS = (
    r"(?:\b(?:is|was|are|were|be|been|comes? to|came to|equals?|makes?|agrees? on|ist|war|sind|est|es|son)"
    r"|\b(?:it|that)'s)"
    r"(?: (?:booked|planned|scheduled|set|due|agreed|for)){0,2}"
    r"(?: (?:definitely|certainly|actually|really|in fact|clearly|exactly|only|just|at|on|about|the))*:? "
)
_SUPPOSED = r"\b(?:if|whether|unless|would|could|suppose|assuming|wenn|falls|si)\b"
_CONTRAST = r",? (?:not|and not|instead of|rather than|nicht|pas|no) (?:at |on |the )?" + _VALUE.replace(
    "gives", "denied"
)
_NOT_BUT = r"\bnot " + _VALUE.replace("gives", "denied") + r",? but (?:at |on |the )?" + _VALUE
_GENERIC = (
    r"^i(?:'m|'ve|'d| )|^(?:(?:the|your|our|my|all|some|one|part|much|most) )*(?:of )?"
    r"(?:that|this|it|these|those|they|which|something|everything|anything|he|she|what|you|we|there|here|one|things?"
    r"|some|none|everybody|everyone|people|das|dies|es|etwas|\u00e7a|cela|ce|c|eso|esto|answers?|results?|conclusions?"
    r"|memory|notes?)\b"
)
_SAYING = (
    r"^i(?:'m|'ve| am| have)? (?:\w+ )?(?:sure|certain|positive|think|know|believe|said|meant|checked)(?: (?:of|that))?"
    r"(?: |$)"
)
_CLAUSES = r"(?:^|[,:;]? )(?:that|because|since|but|so) |[,;] (?:and |then )+|: "
_SAID_OF = (
    r"^what (?:was|is|were|we|you|i|they) (?:have |had )?(?:said|noted|told|wrote|written|concluded|have|had)"
    r"(?: earlier| before)?(?: of| about| on| for) "
)
_BACK = (
    r"\b(?:earlier|before|last (?:time|session|week|night)|yesterday|previous(?:ly)?|concluded|back then|remember\w*"
    r"|the other day|noted)\b"
)
_ASKING = r"\b(?:what|which|who|whose|when|where|how (?:much|many|long|old|far))\b"


@value
class Correction:
    """What a message says is wrong.

    Attributes:
        said: the sentences that say so, verbatim.
        about: the words for what is wrong; empty when it names nothing.
        gives: what it gives in place of that, verbatim.
        denies: what it says is not so, verbatim.
        asks: what the message asks for beside that, in its words; empty when it asks nothing.
        points_back: True when it speaks of what was said in earlier sessions.
        rests_on: sentences in which it tells of evidence of its own; empty without any.
    """

    said: tuple[str, ...]
    about: str = ""
    gives: tuple[str, ...] = ()
    denies: tuple[str, ...] = ()
    asks: str = ""
    points_back: bool = False
    rests_on: tuple[str, ...] = ()

    @property
    def names_value(self) -> bool:
        """True when what it is about is named as a value: a total, a date, a port."""
        return _compiled(_VALUED).search(self.about) is not None


def correction_of(text: str) -> Correction | None:
    """Read what a message says is wrong; None when it corrects nothing."""
    if len(text) > MESSAGE_CHARACTERS_MAX or _compiled(_HINT).search(text) is None:
        return None
    found = [_Said(one) for one in spoken.said(text)[:SENTENCES_MAX]]
    surely = any(_compiled(_SURELY).search(one.heard) for one in found)
    supported = [one.text for one in found if _compiled(_SUPPORTED).search(one.heard)]
    wrong = [one for one in found if one.is_wrong]
    giving = [one for one in found if one.gives and (wrong or surely or supported or one.denies)]
    if not wrong and not giving:
        return None
    told = [one for one in found if one in wrong or one in giving]
    gives = tuple(dict.fromkeys(given for one in giving for given in one.gives))
    return Correction(
        tuple(one.text for one in told),
        next((one.about for one in told if one.about), ""),
        gives[:GIVEN_MAX],
        tuple(dict.fromkeys(denied for one in giving for denied in one.denies))[:GIVEN_MAX],
        next((one.asked for one in found if one.asked and one not in wrong), ""),
        any(_compiled(_BACK).search(one.heard) for one in wrong),
        tuple(supported),
    )


class _Said:
    """One sentence, as a correction may say it."""

    def __init__(self, sentence: spoken.Sentence) -> None:
        self.text = sentence.text
        self.heard = sentence.said  # quotations are blank in it
        plain = " ".join(sentence.text.split()).replace("\u2019", "'")
        self.is_wrong, self.about = self._wrong(plain)
        self.gives, self.denies = self._given(plain)
        if self.gives and not self.about:
            self.about = self._subject(plain)
        asks = plain.endswith("?") and _compiled(_ASKING).search(plain) is not None
        self.asked = plain.rstrip("?").rpartition(": ")[2] if asks else ""

    def _wrong(self, plain: str) -> tuple[bool, str]:
        heard = self.heard
        sure = _compiled(_SURE).search(heard)
        if sure is not None:
            return True, _about(_compiled(_SURE).search(plain) or sure)
        if heard.endswith("?") or _compiled(_NO_CORRECTION).search(heard):
            return False, ""
        for pattern in (_YOU_ERRED, _BEFORE + _NOT_RIGHT, _BEFORE + _WRONG, _BEFORE + _FOREIGN):
            if _compiled(pattern).search(heard):
                match = _compiled(pattern).search(plain)
                return True, "" if match is None else _about(match)
        again = _compiled(_RECHECK).search(heard)
        if again is not None and _compiled(_VALUED).search(again["about"]):
            return True, _about(_compiled(_RECHECK).search(plain) or again)
        return False, ""

    def _given(self, plain: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Give what the sentence puts in the place of something, and what it says is not so."""
        if self.heard.endswith("?"):
            return (), ()
        turned = _compiled(_NOT_BUT).search(plain)
        if turned is not None:
            return (_bare(turned["gives"]),), (_bare(turned["denied"]),)
        told = list(_compiled(_IS + _VALUE).finditer(plain))
        if not told or _compiled(_SUPPOSED).search(plain[: told[-1].start()]):
            return (), ()
        match = told[-1]  # "the receipt says ..., so it comes to ..."
        denied = _compiled(_CONTRAST).match(plain, match.end("gives"))
        return (_bare(match["gives"]),), (_bare(denied["denied"]),) if denied is not None else ()

    def _subject(self, plain: str) -> str:
        """Give what stands before "is 46" as that which the value is of: "the right total of the pens"."""
        starts = [match.start() for match in _compiled(_IS + _VALUE).finditer(plain)]
        before = plain[: starts[-1]] if starts else ""
        clause = re.split(r"[,:;] |\b(?:that|so|and|but|because|since)\b", before)[-1].strip()
        words = _without_right(_compiled(_SAYING).sub("", clause))
        return "" if _compiled(_GENERIC).search(words) else words


def _about(match: re.Match[str]) -> str:
    """Give the words for what is wrong; empty when they only point at something."""
    words = next((told for name, told in match.groupdict().items() if name.startswith("about") and told), "")
    words = words.replace('"', "").replace("`", "")
    words = _compiled(_CLAUSES).split(words)[-1].strip(" ,;:.!\"'")
    words = _compiled(_SAID_OF).sub("", words)
    return "" if _compiled(_GENERIC).search(words) else words[:ABOUT_CHARACTERS_MAX]


def _without_right(words: str) -> str:
    return _compiled(r"\b(?:right|correct|true|real|actual|proper) ").sub("", words).strip()


def _bare(given: str) -> str:
    return given.strip(" `\"'.,:;!?")
