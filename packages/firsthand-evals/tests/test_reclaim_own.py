"""evals/reclaim/own.py: memories by name, cases changed as asked, and the probe of what is carried."""

from __future__ import annotations

import pytest
from reclaim_runs import Head

from firsthand_evals.reclaim import own, run, seam
from firsthand_evals.reclaim.experiments import Options
from firsthand_evals.reclaim.own import Changes
from firsthand_evals.reclaim.readers import Recomputing

TOY = """
def write(messages, budget):
    return "nothing"

def recall(query):
    return ASKED

ASKED = "we took 2 mugs at $3 each"

class Keeps:
    def write(self, messages, budget):
        self.said = "\\\\n".join(one["content"] for one in messages)
        return "look it up"
    def recall(self, query):
        return self.said
"""


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """A module of a user's, found by its name."""
    (tmp_path / "own_toys.py").write_text(TOY)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "own_toys"


def outcomes(subject, *, experiment="reclaim", changes=None):
    cases = own.cases([experiment], Options(2, subjects=(subject,)), changes or Changes())
    mine = [one for one in cases if one.subject.name == subject.name]
    return {one.outcome for one in run.run(mine, Recomputing())}


def test_memories_have_the_names_that_are_typed(toys):
    """Ours by their names, others by module and name, each once."""
    found = own.memories(["firsthand", f"{toys}:write", "firsthand_note", "firsthand"])
    assert [one.name for one in found] == ["firsthand", "own_toys:write", "firsthand_note"]


def test_a_memory_that_may_not_be_asked_must_do_with_what_it_carries(toys):
    """Without recall the same memory brings nothing back, and has another name."""
    (asked,) = own.memories([f"{toys}:Keeps"])
    (silent,) = own.memories([f"{toys}:Keeps"], may_recall=False)
    assert (asked.name, silent.name) == ("own_toys:Keeps", "own_toys:Keeps without recall")
    assert outcomes(asked) == {"recovered"}
    assert outcomes(silent) == {"abstained"}


def test_closing_reaches_the_memory_behind():
    """What is done to a memory closes it as well."""
    closed = []

    class Closes(Head):
        def close(self):
            closed.append(1)

    subject = own._silenced(seam.subject(Closes, "closes"))
    with seam.made(subject, None):
        pass
    with seam.made(own._silenced(seam.subject(Head, "head")), None):
        pass
    assert closed == [1]


def test_changes_are_made_and_nothing_is_asked_twice():
    """A budget, places and corrections stand in place of the paper's; what becomes the same is one case."""
    given = Options(2, subjects=(seam.subject(Head, "head"),))
    plain = own.cases(["size"], given, Changes())
    one = own.cases(["size"], given, Changes(budget=500))
    assert {case.budget for case in one} == {500}
    assert len(one) * 2 == len(plain)
    places = own.cases(["reclaim"], given, Changes(places=("late", "scattered")))
    assert len(places) == 2 * len(own.cases(["reclaim"], given, Changes()))
    assert {case.source_at for case in places} == {"late", "scattered"}
    chain = own.cases(["cascade"], given, Changes(places=("late", "scattered")))
    assert {case.source_at for case in chain} == {"first"}
    assert len(chain) == len(own.cases(["cascade"], given, Changes()))
    kinds = own.cases(["taxonomy"], given, Changes(corrections=("generic", "sustained")))
    assert {case.correction for case in kinds} == {"generic", "sustained"}
    assert len(kinds) == 2 * 2 * 3
    window = own.cases(["window"], given, Changes(budget=500))
    assert {case.budget for case in window} == {None}


def test_the_probe_judges_what_a_memory_carries_and_no_hand_made_note():
    """The source is correctable, a bare conclusion is silent, a pointer is followed; the paper's notes are left out."""
    cases = own.cases(["disposition"], Options(1, subjects=(*own.memories(["firsthand"]), seam.subject(Head, "head"))),
                      Changes())  # fmt: skip
    found = {one.parameters["memory"]: one.regime for one in run.run(cases, Recomputing(), probe=own.regime)}
    assert found == {"lossy": "", "blank": "", "firsthand": "correctable", "head": "correctable"}
    far = own.cases(["size"], Options(1, subjects=own.memories(["firsthand", "firsthand_note"])), Changes(budget=300))
    past = [one for one in far if dict(one.extra)["items"] == 32 and not one.subject.policy]
    assert {one.parameters["memory"]: one.regime for one in run.run(past, Recomputing(), probe=own.regime)} == {
        "firsthand": "reachable", "firsthand_note": "uncorrectable_loud",
    }  # fmt: skip
