r"""Says whether two sentences about the same two people or things put them the same way round.

    "Falk finished before Boris"    "Boris came in after Falk"     the same way
    "Sami beat Noa"                 "Sami went out against Noa"    the other way

A word of a relation points from the first name to the second, or back; both are compared.

The invariant: where a relation is not known, the order of the names stands for it.

It does not know what the relations mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

_compiled = cache(re.compile)
_ARROW = "->|\u2192|=>|<-|\u2190"
"""What points one way or the other: which, only a legend says."""
_OWNED = r"['\u2019]s?\s(?:(?!is\b|was\b)[a-z]+\s)??"
_RELATIONS: tuple[tuple[str, str, str], ...] = (
    (
        "win",
        (
            r"beat|beats|defeat(?:s|ed)?|d\.|def\.|won (?:against|over)|overcame|outplayed|knocked out|eliminated"
            r"|outscored"
            r"|prevailed over|got the better of|better than|schlug|besiegte"
        ),
        (
            r"lost (?:to|against)|loses to|went out (?:to|against)|goes out (?:to|against)|fell to|fell against"
            r"|(?:was |were |been |got )?(?:beaten|defeated|eliminated|knocked out|outscored) by|went down to|unterlag"
        ),
    ),
    (
        "order",
        (
            r"before|earlier|ahead of|precedes?|preceded|prior to|in front of|faster|quicker|sooner|leads|above|on"
            r" top of"
            r"|over"
            r"|upstream of|vor|avant|antes"
        ),
        (
            r"after|later|waits? for|waiting for|have to wait for|behind|follows?|followed|following|slower|below"
            r"|under(?:neath)?|beneath|downstream of"
            r"|(?:was |is )?preceded by|nach|hinter|apr\u00e8s|despu\u00e9s"
        ),
    ),
    (
        "size",
        (
            r">|taller|higher|bigger|larger|longer|more|greater|older|heavier|richer|dearer|stronger|warmer|louder"
            r"|wider"
            r"|deeper"
            r"|senior to|outranks|exceeds"
        ),
        (
            r"<|shorter|lower|smaller|fewer|less|younger|lighter|poorer|cheaper|weaker|colder|quieter|narrower"
            r"|shallower"
            r"|junior to"
        ),
    ),
    ("side", r"left of|to the left|west of|north of|links von", r"right of|to the right|east of|south of|rechts von"),
    (
        "kin",
        (
            r"parents?|mother|father|raised|brought up|grand(?:mother|father|parent)|boss|managers?|manages|supervis\w+"
            r"|leads"
            r"|owns|owner of|employs|teaches|teacher of|contains|depends on|requires|imports|calls|trains|mentors?"
        ),
        (
            r"child(?:ren)?|sons?|daughters?|raised by|brought up by|grand(?:child|son|daughter)|reports to|works for"
            r"|employee of"
            r"|managed by|led by|supervised by|owned by|belongs to|employed by|pupil of|student of|part of|required by"
            r"|used by"
            r"|needed by|imported by|called by|trained by|mentored by"
        ),
    ),
    (
        "give",
        r"gave|gives|lent|lends|paid|pays|sold|sells|sent|sends|owes|handed",
        r"got from|received from|borrowed from|bought from|took from|was given by",
    ),
)


def goes_the_same_way(one: str, other: str, names: Iterable[str], *, known: bool) -> bool:
    """Say whether two texts put some names the same way round.

    Args:
        known: the texts have words in common, so that the order counts though no relation is known.
    """
    wanted = list(names)
    first, second = (sorted(wanted, key=text.find) for text in (one, other))
    mine, theirs = directions(one, first), directions(other, second)
    common = mine.keys() & theirs.keys()
    if common:
        axis = next(iter(sorted(common)))
        return (first == second) == (mine[axis] == theirs[axis])
    pointed = _compiled(_ARROW).search(other) is not None
    return first == second or pointed or not (known or (mine and theirs))


def directions(text: str, names: Sequence[str]) -> dict[str, int]:
    """Say for each relation that a text names which way its first word points, from the first name to the second.

    "A's manager is B" and "the manager of A is B" point the other way than "A is the manager of B".
    """
    low = text.lower()
    found = {}
    start = text.find(names[0]) if names else -1
    end = text.find(names[1]) if len(names) > 1 else -1
    for axis, forth, back in _RELATIONS:
        match = _compiled(_both(forth, back)).search(low)
        if match is not None:
            turned = match.start() < start
            owned = _compiled(_OWNED).match(text, start + len(names[0])) if names else None
            turned = turned or (owned is not None and owned.end() == match.start() < end)
            found[axis] = (-1 if match["back"] is not None else 1) * (-1 if turned else 1)
    return found


@cache
def _both(forth: str, back: str) -> str:
    return rf"(?<![\w-])(?:(?P<back>{back})|(?P<forth>{forth}))(?!\w)"
