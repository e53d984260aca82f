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
from functools import cache

from firsthand.task import sentences as spoken
from firsthand.task.sentences import Sentence

RULES_MAX = 16  # of one message; more come from something pasted

_CLAUSE = r"(?:^|[,;:(\u2013\u2014-] ?|\b(?:and|but|please|pls|so|just|then|also|or|you|to) )"
_WHO = r"(?:you|we|it|they|this|that|the [\w`' -]{1,40}|(?:all|each|every|any|no) [\w`' -]{1,40}|[a-z]\w*s|`_+`)"
_NUMBER = r"(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|an?\b)"
_MOST = r"(?:at most|at least|no (?:more|fewer|less) than|not more than|a maximum of|a minimum of)"
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
_DONT = r"(?:do not|don[\u2019']?t)"
_GUESS = (
    r"(?!be (?:an?|some|because|due|why|how|something|wrong|related|missing|kidding)\b)"
    r"(?!(?:have|say|admit|confess|been)\b)"
)
_ENGLISH = (
    rf"{_CLAUSE}never(?! (?:mind|seen|been|worked|had|heard|got|used to|before|once)\b)(?! again\W*$) [a-z`]",
    r"\b(?:should|must|shall|can|may|will|to|we|you) never(?! (?:mind|know|seen|been|had|heard|got)\b) [a-z`]",
    rf"{_CLAUSE}{_DONT} {_NOT_ASKED}[a-z`]",
    rf"\b{_WHO} (?:must|has to|have to) (?:not |never |always |only )?{_GUESS}[a-z`]",
    r"\b(?:must not|mustn[\u2019']?t|may not|shall not) [a-z`]",
    rf"{_CLAUSE}always(?! (?:been|had|was|is|the case)\b) [a-z`]",
    r"\b(?:should|must|shall|we|you) always [a-z`]",
    r"(?<!\bis )(?<!['\u2019]s )(?<!\bwas )\bonly (?:if|when|after|once)\b",
    rf"(?:^|[,;:] ?|\b(?:and|but|please|just|should|must) )only {_DO}\b",
    rf"(?:^|[,;:] ?|\b(?:and|please|just) ){_DO}\b[^,;:]{{0,60}}\bonly\b(?! problem)",
    r"\b(?:i|we)(?:'d| would)? (?:only want|only need|want only|only accept)\b",
    rf"\b{_OUGHT}\b.{{0,80}}\b{_MOST} {_NUMBER}",
    r"\bunder no circumstances\b|\bat all times\b",
    r"\b(?:is|are) (?:not allowed|forbidden|prohibited|off.limits|not permitted)\b",
    r"(?:^(?:please )?|\b(?:must|should) )(?:avoid|refrain from) \w+ing\b",
    rf"\bmake sure (?:not to|(?:to|you|it|that|we|this) (?:\w+ )?(?:never|always|{_DONT}|doesn[\u2019']?t|only))\b",
    r"\b(?:no|without) (?:touching|changing|modifying|editing|breaking|renaming|pushing|deleting|asking)\b",
)
_OTHERS = (
    # German
    r"\b(?:niemals|auf keinen fall|unter keinen umst\u00e4nden|bitte (?:nicht|nie|kein\w*|nur|immer))\b",
    r"\b(?:darf|darfst|d\u00fcrfen|sollst|sollen)\b.{0,60}\b(?:nicht|kein\w*|nie|nur)\b|\bnur(?: dann)?,? wenn\b",
    r"\b(?:musst|m\u00fcssen|muss)\b.{0,60}\b(?:immer|mindestens|h\u00f6chstens|bleiben|sein|werden)\b|^immer \w+",
    # French, Spanish, Portuguese, Italian
    r"\bne\b.{1,40}\b(?:jamais|pas)\b|^n['\u2019]\w+ (?:jamais|pas)\b",
    r"\b(?:vous devez|tu dois|il faut|doit|doivent) \w+",
    r"\b(?:uniquement|seulement) (?:si|quand|lorsque)\b|\btoujours \w+er\b",
    r"\b(?:nunca|jam\u00e1s) \w+|\bdeb(?:es|en|emos) \w+|\bs[o\u00f3]lo (?:si|cuando)\b|^siempre \w+",
    r"\bdevem \w+|\bsomente se\b|\bn\u00e3o (?:deve|pode|use|altere|mude)\b",
    r"\bnon \w+re mai\b|\b(?:devi|devono) \w+re\b|\bsolo se\b",
    # Russian, Chinese, Japanese, Korean
    r"\b(?:\u043d\u0438\u043a\u043e\u0433\u0434\u0430|\u043d\u0435\u043b\u044c\u0437\u044f)\b",
    r"\b\u0434\u043e\u043b\u0436(?:\u0435\u043d|\u043d\u0430|\u043d\u043e|\u043d\u044b)\b",
    r"\b\u0442\u043e\u043b\u044c\u043a\u043e \u0435\u0441\u043b\u0438\b",
    r"\u5fc5\u987b|\u5fc5\u9808|\u4e0d\u8981|\u4e0d\u80fd|\u4e0d\u5f97|\u4e0d\u5141\u8bb8|\u7981\u6b62|\u52a1\u5fc5",
    r"\u53ea\u80fd|\u7edd\u4e0d|\u5207\u52ff|\u4e0d\u8bb8",
    r"\u3057\u3066\u306f\u3044\u3051|\u306a\u3044\u3067\u304f\u3060\u3055\u3044|\u5fc5\u305a|\u7d76\u5bfe\u306b",
    r"\uc808\ub300|\ubc18\ub4dc\uc2dc|\ud558\uc9c0 ?\ub9c8",
)
_AUX = r"(?:is|are|was|were|does|did|can|could|would|should|shall|must|may|might|will|has|have|am)"
_NO_RULE = (
    r"[?\uff1f][\"')\]]*$",  # a question, with its sign or without
    rf"^(?:(?:so|and|but|ok|or|also|hm+|well|wait|btw)[, ]+)*{_AUX}(?: (?:we|i|you|it|this|that|they|there|the)|n't)\b",
    r"^(?:(?:so|and|but|ok|or|also|hm+|well|wait|btw)[, ]+)*(?:why|what|how|where|who|which|whose) (?!ever)",
    r"\bnever ?mind\b|\bas always\b|\byou don[\u2019']?t (?:have|need)\b|\bnot sure\b|\bi (?:wonder|guess|thought)\b",
    r"\b(?:it|this|that|there|he|she|i|they) (?:never|always|(?:do|does|did)n[\u2019']?t|must have)\b",
    r"\bif (?:i|we|you) (?:don[\u2019']?t|do not|must|have to|never|only|can only)\b",
)
_HINTS = (
    "never|don.?t|do not|must|always|only|at most|at least|no more|no fewer|no less|not more|maximum|minimum"
    "|no circumstances|at all times|not allowed|forbidden|prohibited|off.limits|not permitted|avoid|refrain|may not"
    "|shall not|has to|have to|make sure|touching|changing|modifying|editing|breaking|renaming|pushing|deleting|asking"
    "|niemals|auf keinen|keinen umst|bitte|darf|d\u00fcrfen|solls?t|sollen|nur|muss|m\u00fcssen|immer"
    "|jamais|pas|devez|dois|faut|doit|doivent|uniquement|seulement|toujours|nunca|jam\u00e1s|debe|s[o\u00f3]lo|siempre"
    "|dev[eio]|somente|n\u00e3o|mai|[\u0400-\uffff]"
)


def sentences(text: str) -> tuple[str, ...]:
    """Give the rules of a message, verbatim, in order; at most `RULES_MAX`."""
    return tuple(rule.text for rule in rules(text))


def is_constraint(text: str) -> bool:
    """Say whether a message sets a rule."""
    return bool(rules(text))


def rules(text: str) -> tuple[Sentence, ...]:
    """Give the rules of a message with their places, in order; at most `RULES_MAX`."""
    if _hinted().search(text, 0, spoken.CHARACTERS_MAX) is None:
        return ()
    found = [one for one in spoken.said(text) if _is_rule(one.said)]
    return tuple(found[:RULES_MAX])


def _is_rule(said: str) -> bool:
    if _hinted().search(said) is None or (said.isascii() and " " not in said):
        return False
    return not _one_of(_NO_RULE).search(said) and any(_one_of(some).search(said) for some in (_ENGLISH, _OTHERS))


@cache  # compiled when the first message with a hint comes
def _one_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


@cache
def _hinted() -> re.Pattern[str]:
    """Find a word without which there is no rule, so that most sentences cost one pass."""
    return re.compile(rf"\b(?:{_HINTS})", re.IGNORECASE)
