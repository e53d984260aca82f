"""Work the gold of the probe's third set out again, with another solver and a second judgement.

    python bench/probe_third_check.py

For each case: the answer from what the note states is the session's, over every world that agrees with it
(correctable); from what its pointers lead to, too (reachable); or two worlds at least give two answers, or what
stands there gives a wrong one (uncorrectable). A note by hand must also have been judged the same a second time, from
its text alone. Leaves with 1 and names each case where this is not what the set says.
The probe is not asked. No model, no data.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from probe_set.second_hand import REGIME
from probe_set.second_note import Formed
from probe_set.second_solver import proof
from probe_set.third import ARGUED, formed
from probe_set.third_again import AGAIN


def disagreements(made: Sequence[Formed]) -> list[str]:
    """Name each case whose gold the solver does not find again."""
    found = []
    for each in made:
        try:
            said = proof(each.form)
        except ValueError as error:
            said = str(error)
        if said != each.case.gold:
            found.append(f"{each.case.id}: the set says {each.case.gold}, the solver {said}")
    return found


def unlike() -> list[str]:
    """Name each note by hand that was judged otherwise a second time, or not at all."""
    second = {(name, place): REGIME[letter] for name, letters in AGAIN.items() for place, letter in enumerate(letters)}
    places: Counter[str] = Counter()
    found = []
    for each in ARGUED:
        case, said = each.formed.case, second.pop((each.subject, places[each.subject]), "nothing")
        places[each.subject] += 1
        if said != case.gold:
            found.append(f"{case.id}: the set says {case.gold}, the second judgement {said}")
    return [*found, *(f"{name}: a judgement of note {place + 1}, which is not there" for name, place in second)]


def main() -> int:
    made = formed()
    regimes = Counter(each.case.gold for each in made)
    kinds = {each.case.kind for each in made}
    print(f"{len(made)} notes of {len(kinds)} kinds: " + ", ".join(f"{n} {name}" for name, n in regimes.items()))
    wrong = disagreements(made) + unlike()
    print("\n".join(wrong) if wrong else "The solver finds the gold of every case again; so does the second judgement.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
