"""English words too common to find anything by themselves; pieces of contractions are among them."""

from __future__ import annotations

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being between both but by can could d
    did do does doing don done each few for from further get got had has have having he her here hers him his how i if
    in into is it its itself just ll m me more most my no nor not now of off on once only or other our out over own re
    s same she should so some such t than that the their them then there these they this those through to too under
    until up us ve very was we were what when where which while who whom why will with would you your yours
    """.split()  # noqa: SIM905 - a hundred quoted words are harder to read
)
