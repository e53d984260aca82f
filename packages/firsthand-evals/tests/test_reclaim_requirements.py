"""evals/reclaim/requirements.py: what a run requires of a memory, met or not."""

from __future__ import annotations

from reclaim_runs import Head, Nasty, ran

from firsthand_evals.reclaim import experiments
from firsthand_evals.reclaim.requirements import requirements

COLD = "From the earlier session: You concluded, for the total before tax: 12."


class Forgets:
    """Keeps a conclusion alone."""

    def write(self, messages, budget):
        return COLD


def required(names, memory, n=3, **how):
    found = ran(names, memory, "mine", n)[1]
    return requirements(found, experiments.tables_of(found), ("mine",), **how)


def test_a_memory_that_keeps_the_source_meets_every_requirement():
    """Each cell requires items brought back without wrong values; the memory is to keep its budget and its calls."""
    found = required(("disposition",), Head)
    assert [(one.experiment, one.name, one.held, one.n) for one in found] == [
        ("", "what it writes fits the budget", True, 3),
        ("", "it answers every call", True, 3),
        ("disposition", "recomputing: a correction brings back at least 0.95 of the items", True, 3),
        ("disposition", "recomputing: a wrong value is given for at most 0.05 of the items", True, 3),
        ("disposition", "it gives no more wrong values than an empty memory", True, 3),
    ]


def test_a_memory_without_a_source_breaks_them_and_names_the_items():
    """What is not brought back is a requirement not met, with its items; another share may be asked for."""
    found = {one.name: one for one in required(("disposition",), Forgets)}
    broken = found["recomputing: a correction brings back at least 0.95 of the items"]
    assert (broken.held, broken.found, len(broken.broken)) == (False, "0 of 3 (at most 1.000)", 3)
    assert {item.outcome for item in broken.broken} == {"abstained"}
    assert all(one.held for one in required(("disposition",), Forgets, least=0.0))


def test_faults_and_texts_over_the_budget_are_requirements_not_met():
    """A memory that raises, or writes more than it may, does not meet the requirement."""
    found = {one.name: one for one in required(("reclaim",), Nasty)}
    assert found["it answers every call"].found == "3 of 12 items failed"
    assert found["what it writes fits the budget"].found.startswith("9 of 12 texts were cut; the longest had 15,0")
    assert [one.fault.partition(" (")[0] for one in found["it answers every call"].broken] == [
        "Nasty raised in write(): KeyError: '<b>gone</b>'"
    ] * 3


def test_a_chain_without_an_error_requires_that_none_appears():
    """The control requires no recovery, but that no session is answered wrongly."""
    found = [one for one in required(("cascade",), Head, n=1) if "control" in one.where]
    assert {one.says for one in found} == {"no session of a chain without an error is answered wrongly"}
    assert len(found) == 4
    items = ran(("cascade",), Head, "mine", 1)[1]
    notes = requirements(items, experiments.tables_of(items), ("source_first",))
    control = {one.where: (one.held, len(one.broken), one.found) for one in notes if "control" in one.where}
    assert control["hops 4, no error (control)"] == (True, 0, "0.00 sessions of a chain")
    assert control["hops 8, no error (control)"] == (False, 1, "4.00 sessions of a chain")


def test_a_note_of_the_paper_requires_nothing():
    """Of memories that are not named nothing is required."""
    found = ran(("wall",), Head, "mine", 1)[1]
    assert requirements(found, experiments.tables_of(found), ("mine",)) == ()
