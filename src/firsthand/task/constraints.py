r"""A user's rules: the sentences that say what must, must not, may only or shall always be done.

    never push to main.          must not touch the tests      only if CI is green
    do not rename `run`          always use uv                 answer in at most 50 words

The invariant: a rule is a sentence of the message, verbatim and with its place, and
what only looks like one is none: questions, "never mind", reports ("it never
worked", "I don't know"), guesses ("must be a bug"), code, quotations, logs and long
pasted documents (`sentences`). What is doubtful is left out: a sentence that is missed
stays an ordinary part of its message.

It does not know who wrote the message, nor whether a rule still holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from firsthand.task import sentences as spoken
from firsthand.task.sentences import Sentence

RULES_MAX = 16  # of one message; more come from something pasted

_CLAUSE = r"(?:^|[,;:(\u2013\u2014-] ?|\b(?:and|but|please|pls|so|just|then|also|or|to) )"
_WHO = (
    r"(?:you|we|it|they|this|that|(?:the|this|that|these|those|my|our|your|all|each|every|any|no) [\w`' -]{1,40}"
    r"|[a-z]\w*s|`_+`)"
)
_NUMBER = r"(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|an?\b)"
_OUGHT = r"(?:must|should|shall|needs? to|ha(?:s|ve) to|want|please|keep|make|use|limit|within|answer|reply|write|stay)"
_DO = (
    r"(?:use|change|edit|touch|modify|run|do|write|commit|push|answer|reply|respond|show|return|output|read|call|add"
    r"|include|give|print|keep|make|send|work|look|ask|create|delete|remove|install|list|mention|say|test|fix)"
)
# what follows "don't" in a report or a figure of speech
_NOT_ASKED = (
    r"(?!(?:know|think|see|understand|care|mind|believe|remember(?! to)|feel|like|have|need|want|seem|recall|get it"
    r"|worry|be sorry|you|we|they|i|wanna|work|matter)\b)"
)
_GUESS = (
    r"(?!be (?:an?|some|because|due|why|how|something|wrong|related|missing|kidding)\b)"
    r"(?!(?:have|say|admit|confess|been)\b)"
)
_NEVER = (
    rf"(?:{_CLAUSE}|\b(?:should|must|shall|can|may|will|we) )never "
    r"(?!(?:mind|know|seen|been|had|heard|got|used to|before|once|again\W*$|\w+ed|\w+ing)\b)[a-z`]"
)
_MUST = rf"\b{_WHO} (?:must|has to|have to) (?:not |never |always |only )?{_GUESS}[a-z`]"
_ONLY = (
    r"(?<!\bis )(?<!'s )(?<!\bwas )\bonly (?:if|when|after|once)\b"
    rf"|(?:^|[,;:] ?|\b(?:and|but|please|just|should|must) )only {_DO}\b"
    rf"|(?:^|[,;:] ?|\b(?:and|please|just) ){_DO}\b[^,;:]{{0,60}}\bonly\b(?! problem)"
    r"|\byou (?:can|may) only \w"
    r"|\b(?:i|we)(?:'d| would)? (?:only want|only need|want only|only accept)\b"
)
_SURE = r"\bmake sure (?:not to|(?:to|you|it|that|we|this) (?:\w+ )?(?:never|always|do not|don't|doesn't|only))\b"
_RULES: Mapping[str, str] = {  # a word without which the pattern cannot match, in small letters
    "never": _NEVER,
    "do not": rf"{_CLAUSE}do not {_NOT_ASKED}[a-z`]",
    "don't": rf"{_CLAUSE}don't {_NOT_ASKED}[a-z`]",
    "dont": rf"{_CLAUSE}dont {_NOT_ASKED}[a-z`]",
    "must": rf"{_MUST}|\b(?:must not|mustn't) [a-z`]",
    "has to": _MUST,
    "have to": _MUST,
    "may not": r"\byou may not [a-z`]",
    "shall not": r"\bshall not [a-z`]",
    "always": rf"(?:{_CLAUSE}|\b(?:should|must|shall|we|you) )always (?!(?:been|had|was|is|the case|\w+ing)\b)[a-z`]"
    r"|\bi always want\b",
    "only": _ONLY,
    "at most": rf"\b{_OUGHT}\b.{{0,80}}\bat most {_NUMBER}",
    "at least": rf"\b{_OUGHT}\b.{{0,80}}\bat least {_NUMBER}",
    " than ": rf"\b{_OUGHT}\b.{{0,80}}\b(?:no (?:more|fewer|less)|not more) than {_NUMBER}",
    "imum of": rf"\b{_OUGHT}\b.{{0,80}}\ba (?:max|min)imum of {_NUMBER}",
    "under no circumstances": r"\bunder no circumstances\b",
    "at all times": r"\bat all times\b",
    "not allowed": r"\b(?:is|are) not allowed\b",
    "not permitted": r"\b(?:is|are) not permitted\b",
    "forbidden": r"\b(?:is|are) forbidden\b",
    "prohibited": r"\b(?:is|are) prohibited\b",
    "avoid": r"(?:^(?:please )?|\b(?:must|should) )avoid \w+ing\b",
    "refrain": r"(?:^(?:please )?|\b(?:must|should) )refrain from \w+ing\b",
    "make sure": _SURE,
    "without": r"\bwithout (?:touching|changing|modifying|editing|breaking|renaming|pushing|deleting|asking)\b",
    # German
    "niemals": r"\bniemals\b",
    "keine": r"\b(?:auf keinen fall|unter keinen umst\u00e4nden)\b",
    "bitte": r"\bbitte (?:nicht|nie|kein\w*|nur|immer)\b",
    "darf": r"\bdarf(?:st)?\b.{0,60}\b(?:nicht|kein\w*|nie|nur)\b",
    "d\u00fcrfen": r"\bd\u00fcrfen\b.{0,60}\b(?:nicht|kein\w*|nie|nur)\b",
    "soll": r"\bsoll(?:st|en)\b.{0,60}\b(?:nicht|kein\w*|nie|nur)\b",
    "nur": r"\bnur(?: dann)?,? wenn\b",
    "muss": r"\bmuss(?:t)?\b.{0,60}\b(?:immer|mindestens|h\u00f6chstens|bleiben|sein|werden)\b",
    "m\u00fcssen": r"\bm\u00fcssen\b.{0,60}\b(?:immer|mindestens|h\u00f6chstens|bleiben|sein|werden)\b",
    "immer": r"^immer \w+",
    # French, Spanish, Portuguese, Italian
    "jamais": r"\bn(?:e |')\w[^.]{0,40}\bjamais\b",
    " pas ": r"^ne \w+ pas\b|^n'\w+ pas\b",
    "devez": r"\bvous devez \w+",
    "il faut": r"\bil faut \w+",
    "doi": r"\b(?:tu dois|doit|doivent) \w+",
    "ment si": r"\b(?:uniquement|seulement) si\b",
    "toujours": r"\btoujours \w+er\b",
    "nunca": r"\bnunca \w+",
    "jam\u00e1s": r"\bjam\u00e1s \w+",
    "deb": r"\bdeb(?:es|en|emos) \w+",
    "lo si": r"\bs[o\u00f3]lo si\b",
    "siempre": r"^siempre \w+",
    "devem": r"\bdevem \w+",
    "somente se": r"\bsomente se\b",
    "n\u00e3o": r"\bn\u00e3o (?:deve|pode|use|altere|mude)\b",
    " mai": r"\bnon \w+re mai\b",
    "dev": r"\b(?:devi|devono) \w+re\b",
    "solo se": r"\bsolo se\b",
}
_FAR: Sequence[str] = (  # Russian, Chinese, Japanese, Korean: looked at where a text leaves Latin letters
    r"\b(?:\u043d\u0438\u043a\u043e\u0433\u0434\u0430|\u043d\u0435\u043b\u044c\u0437\u044f)\b",
    r"\b\u0434\u043e\u043b\u0436(?:\u0435\u043d|\u043d\u0430|\u043d\u043e|\u043d\u044b)\b",
    r"\b\u0442\u043e\u043b\u044c\u043a\u043e \u0435\u0441\u043b\u0438\b",
    r"\u5fc5\u987b|\u5fc5\u9808|\u4e0d\u8981|\u4e0d\u80fd|\u4e0d\u5f97|\u4e0d\u5141\u8bb8|\u7981\u6b62|\u52a1\u5fc5",
    r"\u53ea\u80fd|\u7edd\u4e0d|\u5207\u52ff|\u4e0d\u8bb8",
    r"\u3057\u3066\u306f\u3044\u3051|\u306a\u3044\u3067\u304f\u3060\u3055\u3044|\u5fc5\u305a|\u7d76\u5bfe\u306b",
    r"\uc808\ub300|\ubc18\ub4dc\uc2dc|\ud558\uc9c0 ?\ub9c8",
)
_START = r"^(?:(?:so|and|but|ok|or|also|hm+|well|wait|btw)[, ]+)*"
_AUXILIARY = r"(?:is|are|was|were|does|did|can|could|would|should|shall|must|may|might|will|has|have|am)"
_QUESTION = (
    r"[?\uff1f][\"')\]]*$"
    rf"|{_START}{_AUXILIARY}(?:n't)? (?:we|i|you|it|this|that|they|there|the)\b"
    rf"|{_START}(?:why|what|how|where|who|which|whose) "
)
# what reports, guesses or only sounds like a rule: it is taken out, and the rest of the sentence is looked at
_REPORT = (
    r"\b(?:it|this|that|there|he|she|i|they)(?: \w+ly| just| still| also| often| only)?"
    r" (?:(?:never|always)(?! want)|(?:do|does|did)(?:n't| not)|must have)\b"
    r"|(?<!sure )\byou(?: \w+ly| just| still| also)? (?:do|did)(?:n't| not)\b"
    r"|\bif (?:i|we|you) (?:do not|don't|must|have to|never|only|can only)\b"
    r"|\bnever ?mind\b|\bas always\b|\b(?:not sure|i wonder|i guess|i thought)\b.*"
)


def sentences(text: str) -> tuple[str, ...]:
    """Give the rules of a message, verbatim, in order; at most `RULES_MAX`."""
    return tuple(rule.text for rule in rules(text))


def is_constraint(text: str) -> bool:
    """Say whether a message sets a rule."""
    return bool(rules(text))


def rules(text: str) -> tuple[Sentence, ...]:
    """Give the rules of a message with their places, in order; of more than `RULES_MAX` the first and last ones."""
    small = text[: spoken.CHARACTERS_MAX].replace("\u2019", "'").casefold()
    if not _is_far(small) and not any(word in small for word in _RULES):
        return ()
    found = [one for one in spoken.said(text) if _is_rule(one.said)]
    if len(found) > RULES_MAX:
        found = [*found[: RULES_MAX // 2], *found[-RULES_MAX // 2 :]]
    return tuple(found)


def _is_rule(said: str) -> bool:
    small = said.casefold()
    if _is_far(small) and any(_compiled(pattern).search(small) for pattern in _FAR):
        return _compiled(_QUESTION).search(small) is None
    able = [pattern for word, pattern in _RULES.items() if word in small]
    if not able or " " not in small or _compiled(_QUESTION).search(small) is not None:
        return False
    rest = _compiled(_REPORT).sub("_", small)
    return any(_compiled(pattern).search(rest) for pattern in able)


def _is_far(text: str) -> bool:
    return not text.isascii() and _compiled("[\u0400-\uffdc]").search(text) is not None


_compiled = cache(re.compile)
"""Compiles a pattern when the first sentence has its word."""
