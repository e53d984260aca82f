"""Which sentences of a user's message correct what the agent did before it (recall-problem 6.4).

    No, the tests go first.      That's not what I asked for.      I said: use uv.
    Das ist falsch.              Ce n'est pas ce que j'ai dit.     Otra vez, no toques main.

The invariant: what is given are sentences of the message, verbatim, that were said by
its writer (`sentences`), and a doubtful one is left out: "no problem" is none, nor is
a plain "no" to a question of the agent's. Where the correcting sentence only says that
something is wrong, the one after it says what, and is given instead.

It does not know whether the agent spoke before, nor what is done with a correction.
"""

from __future__ import annotations

import re
from functools import cache, partial

from firsthand.task import sentences as spoken
from firsthand.task.sentences import Sentence

CORRECTIONS_MAX = 4
"""Of one message."""
LOOKED_AT = 6
"""Sentences from the beginning of a message: who corrects does it at once."""
BARE_WORDS_MAX = 4
"""A correcting sentence of so few words says that something is wrong, not what."""
_compiled = cache(partial(re.compile, flags=re.IGNORECASE))

_FINE = (
    r"\bno (?:problem|worries|need|thanks|thank you|idea|rush|hurry|doubt|objections?|issue|questions?|preference)\b"
    r"|^(?:no|nope|nein|non),? (?:that(?:'s| is)|it(?:'s| is)|all|this is|das ist|c'est|alles|tout|todo)"
    r"(?: \w+)? (?:fine|good|ok(?:ay)?|great|perfect|right|correct|gut|in ordnung|bon|bien)\b"
    r"|\bnein,? danke\b|\bnon,? merci\b|\bno,? gracias\b|\bkein problem\b|\bpas de (?:probl\u00e8me|souci)\b"
    r"|\bsin problema\b|\bnot wrong\b|\bnothing (?:is )?wrong\b|\bwhat(?:'s| is| went| goes) wrong\b"
)
_NO = (
    r"^(?:(?:hm+|well|uh|oh|ah|ach|eh)[,. ]+)*(?:no|nope|nah|nein|nee|non|wrong|falsch|faux|mal)\b"
    r"(?=[,.!:; \u2013\u2014-]|$)"
)
_WRONG = (
    r"\b(?:that|this|it|which)(?:'s| is| was| are) (?:still |just |plain |simply |all |completely )?"
    r"(?:wrong|incorrect|not (?:right|correct|true|what|how|it\b|the))"
    r"|\byou(?:'re| are) (?:still )?wrong\b|\bnot what i (?:asked|meant|said|want(?:ed)?|told)\b"
    r"|\bdas (?:ist|war) (?:immer noch |leider |so )?(?:falsch|nicht (?:richtig|das|was|so|korrekt))"
    r"|\bstimmt (?:so )?nicht\b"
    r"|\bc'(?:est|\u00e9tait) (?:toujours |encore )?(?:faux|incorrect|pas \u00e7a)|\bce n'est pas (?:ce que"
    r"|\u00e7a|correct|bon)"
    r"|\best\u00e1 mal\b|\beso (?:no es|est\u00e1 mal)|\bno es (?:lo que|correcto|as\u00ed)\b"
)
_SAID = (
    r"\b(?:as )?i(?:'ve| have| had)?(?: already| just| clearly| explicitly)? (?:said|told you|asked you|meant"
    r"|mentioned)\b"
    r"|\bhow (?:many|often) (?:times )?(?:do|must|have) i\b|\bi (?:already )?asked for\b"
    r"|\bich (?:habe?|hatte) (?:doch |dir |schon |bereits |ausdr\u00fccklich ){0,3}(?:gesagt|geschrieben)\b"
    r"|\bich (?:sagte|meinte)\b"
    r"|\bhabe ich (?:doch |dir |schon |bereits ){0,3}gesagt\b"
    r"|\bj'(?:ai|avais) (?:d\u00e9j\u00e0 |bien )?(?:dit|demand\u00e9|\u00e9crit)\b|\bje (?:t'ai"
    r"|vous ai) (?:d\u00e9j\u00e0 )?(?:dit|demand\u00e9)\b"
    r"|\bje voulais (?:dire|plut\u00f4t)\b"
    r"|\b(?:ya )?(?:te|os|le) (?:dije|ped\u00ed|he dicho|he pedido)\b|\bya (?:lo )?dije\b|\bquise decir\b"
)
_AGAIN = (
    r"\byou (?:again|still|once more|always|keep)\b(?! (?:there|have|need|want|can))|\byou(?:'ve| have)? (?:again )?"
    r"(?:forgot|forgotten|missed|broke|broken|skipped|ignored|misread|misunderstood|overlooked)\b"
    r"|\byou (?:did not|didn't|haven't|have not) (?:\w+ )?(?:run|do|use|read|test|add|follow|fix|change|update"
    r"|check|ask|remove"
    r"|write|include|listen|commit|finish|touch|start|answer|keep)"
    r"|\byou (?:should|were supposed to|shouldn't|should not|weren't supposed to) (?:not )?(?:have )?\w+"
    r"|^(?:again|once again)[,!: ]|\bagain!+$|\bwhy (?:did|do|are|have) you\b(?! (?:think|recommend|suggest|prefer))"
    r"|\b(?:stop|quit) \w+ing\b|\b(?:undo|revert) (?:that|this|it|your)\b|\bput (?:it|that) back\b"
    r"|\bschon wieder\b|\bdu hast (?:\w+ ){0,4}(?:vergessen|\u00fcbersehen|ignoriert|kaputt)|\bh\u00f6r auf\b"
    r"|\bmach das r\u00fcckg\u00e4ngig\b"
    r"|\b(?:tu as|vous avez) (?:encore |de nouveau )?(?:oubli\u00e9|ignor\u00e9|cass\u00e9|rat\u00e9)"
    r"|\barr\u00eate(?:z)? (?:de|d')|\bencore une fois\b"
    r"|\botra vez\b|\b(?:te )?(?:olvidaste|has olvidado|ignoraste|rompiste)\b|\bdeja de \w+r\b"
)
_DONT = (
    r"^(?:please |and |but |so |then )*(?:don't|do not|dont|never) (?!worry|mind|know|forget to thank|hesitate)\w+"
    r"|\bnot \w+(?: \w+){0,4}, (?:but|use) |\binstead of \w+"
    r"|^(?:bitte )?(?:nicht|kein\w*) \w+|\bbitte (?:nicht|kein\w*)\b|\bnicht \w+(?: \w+){0,3}, sondern\b"
    r"|\bstatt(?:dessen)?\b"
    r"|^(?:s'il te pla\u00eet,? )?ne \w+ (?:pas|jamais|plus)\b|^n'\w+ (?:pas|jamais|plus)\b|\bau lieu d"
    r"|^(?:por favor,? )?no (?:toques|uses|hagas|cambies|borres|escribas|pongas|ejecutes|olvides|vuelvas)\b"
    r"|\ben (?:vez|lugar) de\b"
)
_PRAISE = r"\b(?:perfect|great|thanks|thank you|nice|awesome|super|danke|merci|gracias|perfekt|parfait|perfecto)\b"


def corrections(text: str, *, asked: bool = False) -> tuple[Sentence, ...]:
    """Give the sentences of a user's message that correct the agent, in order.

    Args:
        asked: the agent's message before it ended with a question, to which a plain "no" is an answer.
    """
    said = spoken.said(text)[:LOOKED_AT]
    found: list[Sentence] = []
    for number, one in enumerate(said):
        if not _corrects(one.said, first=number == 0, asked=asked):
            continue
        then = said[number + 1 : number + 2]
        bare = len(one.said.split()) <= BARE_WORDS_MAX and bool(then) and not then[0].said.endswith("?")
        told = then[0] if bare else one
        if told not in found:
            found.append(told)
    return tuple(found)[:CORRECTIONS_MAX]


def _corrects(said: str, *, first: bool, asked: bool) -> bool:
    if _compiled(_FINE).search(said):
        return False
    plain_no = first and not asked and _compiled(_NO).search(said) is not None
    if plain_no and _compiled(_PRAISE).search(said) is None:
        return True
    if _compiled(_WRONG).search(said) or _compiled(_SAID).search(said):
        return not said.endswith("?") or "didn't" in said
    return _compiled(_AGAIN).search(said) is not None or (not asked and _compiled(_DONT).search(said) is not None)
