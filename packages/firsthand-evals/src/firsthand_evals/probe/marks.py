r"""The words by which a statement shows what it does: sums up, confirms, repeats what somebody said, denies, weighs.

The invariant: a mark is found by words alone, the same in any message; where a
language is not known here, nothing is found, and a statement stays an ordinary one.

It does not know values, nor who speaks.
"""

from __future__ import annotations

import re
from functools import cache

_compiled = cache(re.compile)

_DID = (
    r"(?:buy|bought|take|taken|took|order|ordered|choose|chosen|chose|pick|picked|purchase|purchased"
    r"|select|selected|add|added|need|needed|use|used|book|booked|get|got|want|wanted|include|included"
    r"|count|counted|keep|kept|charged)"
)
_NOT = r"(?:not|never|n't|no longer|nothing)"
DENIES = (
    rf"\b(?:{_NOT}|(?:did|was|were|do|does|is|are|has|have)n't|(?:did|was|were|is|are|has|have|had|will) not)"
    rf"(?: been| actually| in the end| be| to be)? {_DID}\b"
    rf"|\bno [\w' -]{{1,30}}? (?:was|were|is|are|got|have been|had been) {_DID}\b"
    r"|\b(?:considered|contemplated|rejected|declined|discarded|skipped|passed on|put back|sent back|returned (?:it"
    r"|them|to|for|again)|(?:was|were|got|been) returned|refunded"
    r"|cancel+ed|struck off|crossed off|left out|decided against|turned down|only looked at|looked at|window[- ]shopped"
    r"|thought about|out of stock|sold out|just browsing|dropped from|removed from|excluded|for comparison"
    r"|(?:drop+ed|cancel+ed|scrapped|skipped|abandoned|refused|withdrew|crossed out|struck out|gave up on"
    r"|decided against"
    r"|took out|sent back|put back|ruled out|turned down|left(?= (?:it|them|that|this|those|these)(?:[.,;)]|\Z"
    r"| (?:out|off|there|behind)))) (?:it|them|that|this|those|these)\b(?! (?:to|in|at|on|for|with|as|for)\b)"
    r"|left (?:the |our |my |his |her |their |its |both |all )?(?:[\w-]+ ){0,3}?(?:\([^()]{1,40}\) )?(?:at home"
    r"|behind|aside|unused|in the shop|on the shelf|in the car)"
    r"|(?:stays?|stayed|remains?|remained) (?:at home|behind)|(?:does|do|did) not count|(?:is|are|was|were)(?:n't"
    r"| not) (?:counted|included|part of)"
    r"|not counting|not including|apart from|alternatives?"
    r"|not chosen|not part of|not in the order|unavailable|weighed|wish ?list|(?:would|could) have)\b"
    r"|\bnicht (?:gekauft|genommen|bestellt|gew\u00e4hlt)\b|\b(?:verworfen|nur angesehen|abgelehnt|erwogen)\b"
    r"|\bpas (?:achet\u00e9s?|pris|command\u00e9s?|retenus?)\b|\benvisag\u00e9s?\b"
    r"|\bno (?:se )?(?:compr\u00f3|compraron|comprados?|compramos)\b|\bdescartad[oa]s?\b"
    r"|\u6ca1\u4e70|\u6c92\u8cb7|\u672a\u8d2d|\u672a\u8cfc|\u6ca1\u6709\u4e70|\u53ea\u662f\u770b|\u8003\u8651\u8fc7"
    r"|\u8cb7\u308f\u306a\u304b\u3063\u305f|\u2717|\u2718|\u274c|\A\s*~~[^~]*~~\W*\Z"
)
CHOOSES = (
    r"\b(?:bought|purchased|took|ordered|chose|picked up|got|went with|ended up with|taken|chosen|purchases"
    r"|gekauft|genommen|bestellt|achet\u00e9s?|pris|compr[\u00f3a]\w*|comprados?)\b|\u4e70\u4e86"
    r"|\u8cb7\u4e86|\u2713|\u2714|\u2705"
)
_TOTALS = (
    r"\b(?:sub ?-?totals?|totals?|sums?(?: up)?|in all|altogether|all together|comes? (?:out )?to|came to|coming to"
    r"|makes|amounts? to|adds? up to|adding up to|works out (?:at|to)|grand total|together they|balance due|insgesamt"
    r"|zusammen|gesamt\w*|summe|macht|kostet alles|au total|en tout|en total|suman?|ergibt|(?<!on )(?<!an )average"
    r"|mean of"
    r"|difference|equals|remaining|left over|you paid|paid)\b"
    r"|\u5408\u8ba1|\u5408\u8a08|\u603b\u5171|\u7e3d\u5171|\u603b\u8ba1|\u7e3d\u8a08|\u5171\u8ba1"
    r"|\u5171\u8a08|\u4e00\u5171|\ud569\uacc4|\u0627\u0644\u0645\u062c\u0645\u0648\u0639"
    r"|\u0627\u0644\u0625\u062c\u0645\u0627\u0644\u064a|\u0915\u0941\u0932"
)
_CONCLUDES = (
    r"\b(?:therefore|thus|hence|so (?:the|we|you|it|that|i|he|she)\b|then (?:\w+ must|(?:the|it) (?:total|answer"
    r"|result|sum|must|comes)|\w+ sits)|conclu\w+"
    r"|it follows|that means|which means|must be|the (?:right |correct )?(?:answer|result|solution) is|answer\s*:"
    r"|in short|to sum up|as (?:i|we) said|i put (?:it|the|that|down)|deduce\w*)\b|=>|\u21d2|\u56e0\u6b64|\u6240\u4ee5"
)
_CONFIRMS = (
    r"\b(?:booked|confirm\w*|reserved|reservation (?:is|has|was)|all set|scheduled|your booking|booking (?:is|was|has)"
    r"|i(?:'ve| have) (?:set|noted|made|put|changed|updated|moved|scheduled|arranged)|noted|gebucht|reserviert"
    r"|r\u00e9serv\u00e9\w*|reservad[oa])\b"
)
_SAYING = (
    r"(?:says?|said|states?|stated|claims?|claimed|insists?|insisted|swears?|swore|reckons?|thinks|thought"
    r"|believes?|believed"
    r"|mentions?|mentioned|notes|noted|wrote|writes|reports?|reported|remembers?|recalls?|maintains?"
    r"|suggests?|suggested"
    r"|hears?|heard|reads?|has it|told (?:me|us|him|her|them|you))"
)
_CLAIMED = (
    r"\b(?:note|colleague|memo|friend|neighbou?r|somebody|someone|rumou?r|sticker"
    r"|slip)(?: from [\w' -]{1,24})?(?: also)?"
    rf" (?:\w+ )?{_SAYING}\b"
    rf"|\b{_SAYING}(?: down)? that\b|\baccording to\b|\b(?:was|were|been) told\b|\bis said to\b"
    r"|\b(?:apparently|supposedly|allegedly|reportedly|hearsay)\b|\bi (?:think|guess|believe|suspect|remember|reckon)\b"
)
_CORRECTS = (
    r"\b(?:correction|corrected|actually|really|in the end|in fact|i meant|rather|sorry|oops|scratch that"
    r"|change (?:it|that|the"
    r"|this)|changed (?:it |that |the [\w ]{1,24}|my mind )?(?:to|from)?|make (?:it|that)"
    r"|instead|now|no longer|update[ds]?|revised?|turns? out|on second thoughts?|mistake|wrong"
    r"|should (?:have been|be|read)|moved? (?:it |that )?to"
    r"|switch(?:ed)? to|mov(?:es|ing) (?:\w+ ){0,3}?to|change of plans?|after all|postponed|rescheduled|renamed?"
    r" (?:it |that )?to|korrektur|doch|stattdessen|en fait|plut\u00f4t|mejor|en realidad)\b|\u66f4\u6b63"
    r"|\u6539\u4e3a|\u6539\u70ba|\u5e94\u4e3a"
)
_OF_A_CHANGE = r"\b(?:chang|mov|updat|switch|correct|increas|decreas|went|rais|reduc|lower)\w*[\w ]{0,24}? from \Z"
_DENIED_BEFORE = (
    r"(?:\b(?:not|n't|rather than|instead of|nicht|statt|und nicht|pas|no longer|formerly|previously"
    r"|used to be)|(?:\u800c)?\u4e0d\u662f)"
    r"(?: at| on| for| the| a| an| by| in)? ?\Z"
)
_CHANGED_TO = r"\s*(?:->|\u2192|=>)\s*"


def denies(text: str) -> bool:
    """Say whether a text says that something was considered and not chosen."""
    return _compiled(DENIES).search(text.lower().replace("_", " ")) is not None


def chooses(text: str) -> bool:
    """Say whether a text says that something was chosen, and does not deny it."""
    return _compiled(CHOOSES).search(text.lower().replace("_", " ")) is not None


def asserts(text: str) -> str:
    """Name what a text does with its values: total, conclusion, confirmation, claim; empty when it just says them."""
    low = text.lower().replace("_", " ")
    for name, pattern in (
        ("claim", _CLAIMED),
        ("total", _TOTALS),
        ("conclusion", _CONCLUDES),
        ("confirmation", _CONFIRMS),
    ):
        if _compiled(pattern).search(low):
            return name
    return "total" if _compiled(r"\d\s*=\s*[^\s\d]{0,3}\s?\d").search(low) else ""


def concluded_from(text: str) -> int | None:
    """Give the place in a text from which on it sums up or concludes; None when it does not."""
    low = text.lower().replace("_", " ")
    starts = [
        match.start() for pattern in (_TOTALS, _CONCLUDES) if (match := _compiled(pattern).search(low)) is not None
    ]
    return min(starts, default=None)


def corrects(text: str) -> bool:
    """Say whether a text changes what was said before."""
    return _compiled(_CORRECTS).search(text.lower().replace("_", " ")) is not None


def denied_before(text: str) -> bool:
    """Say whether what follows a text is denied by its end: "7 and not" 9."""
    low = text[-60:].lower()
    return _compiled(_DENIED_BEFORE).search(low) is not None or _compiled(_OF_A_CHANGE).search(low) is not None


def changed_to(text: str) -> bool:
    """Say whether what stands before a text was replaced by what follows: 4 "-> " 6."""
    return _compiled(_CHANGED_TO).match(text[:8]) is not None
