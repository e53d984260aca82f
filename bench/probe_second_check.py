"""Work the gold of the probe's second set out again, with a solver of its own.

    python bench/probe_second_check.py

For each case: the answer from what the note states is the session's, over every world that agrees with it
(correctable); from what its pointers lead to, too (reachable); or two worlds at least give two answers, or what
stands there gives a wrong one (uncorrectable). Leaves with 1 and names each case where this is not what the set says.
The probe is not asked. No model, no data.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from probe_set.second import formed
from probe_set.second_note import Formed
from probe_set.second_solver import proof


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


def told(made: Sequence[Formed], wrong: Sequence[str], well: str) -> int:
    """Print how large a set is and what is wrong with it, or that nothing is; give what to leave with."""
    regimes = Counter(each.case.gold for each in made)
    kinds = {each.case.kind for each in made}
    print(f"{len(made)} notes of {len(kinds)} kinds: " + ", ".join(f"{n} {name}" for name, n in regimes.items()))
    print("\n".join(wrong) if wrong else well)
    return 1 if wrong else 0


def main() -> int:
    return told(formed(), disagreements(formed()), "The solver finds the gold of every case again.")


if __name__ == "__main__":
    sys.exit(main())
