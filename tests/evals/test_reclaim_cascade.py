"""evals/reclaim/cascade.py: what each session of a chain sees, what is carried, and what an error comes to."""

from __future__ import annotations

import pytest

from firsthand.evals.reclaim import cascade, drift, tasks
from firsthand.evals.reclaim.items import Case
from firsthand.evals.reclaim.policies import LOSSY, PADDED, SOURCE_FIRST, TAGGED
from firsthand.evals.reclaim.readers import MEMORY_HEAD, Recomputing
from firsthand.evals.reclaim.seam import Subject, subject

LEDGER = tasks.ledger(1, 6)[0]


def asked(made: Subject, *, premise: bool = True, wording: int = 0, reader=None):
    case = Case("cascade", made, LEDGER, budget=200, premise=premise, wording=wording, hops=6)
    return cascade.ask(case, reader or Recomputing())


def test_a_session_is_given_its_own_messages_and_what_was_carried():
    """Each write gets one session: what was carried, one purchase with its question, and one reply."""
    seen = []

    def write(messages, budget):
        seen.append(messages)
        return f"note {len(seen)}"

    asked(subject(write))
    assert [len(one) for one in seen] == [3] * 6
    carried = [one[0]["content"].partition(MEMORY_HEAD)[2].strip() for one in seen]
    assert carried == ["nothing yet", "note 1", "note 2", "note 3", "note 4", "note 5"]
    for place, one in enumerate(seen):
        told = [line for line in LEDGER.listed if line in one[1]["content"]]
        assert told == [LEDGER.listed[place]]
        assert ("note from a colleague" in one[1]["content"]) == (place == 0)


def test_the_planted_error_is_of_the_first_purchase_and_stays_as_large():
    """Every session of a lossy chain is off by seven; without a premise none is off at all."""
    item = asked(cascade.policy(LOSSY))
    assert [int(hop["given"]) - int(hop["truth"]) for hop in item.hops] == [7] * 6
    assert {hop["outcome"] for hop in item.hops} == {"attractor"}
    assert (item.blast, int(item.attractor) - int(item.answer), item.answer) == (6, 7, LEDGER.answer)
    first = LEDGER.facts[0]
    assert item.turns[0].startswith(f"I think the subtotal of the {first.good} was wrong.")
    clean = asked(cascade.policy(LOSSY), premise=False)
    assert [hop["given"] for hop in clean.hops] == [hop["truth"] for hop in clean.hops]
    assert (clean.blast, clean.attractor) == (0, "")


def test_source_first_drops_the_earliest_and_the_tag_says_so():
    """What is carried at the end is the latest whole lines; tagged, with how many of how many."""
    plain, tagged = asked(cascade.policy(SOURCE_FIRST)), asked(cascade.policy(TAGGED))
    kept = [line for line in LEDGER.listed if line in plain.carried]
    assert kept == list(LEDGER.listed[-len(kept) :])
    assert 0 < len(kept) < 6
    assert "of 6 lines kept; the rest was not kept.)" in tagged.carried
    assert (tagged.outcome, tagged.blast) == ("abstained", 1)
    assert plain.outcome == "wrong"


def test_padded_is_lossy_with_more_words():
    """The control carries the running total and as many characters as the fix."""
    padded, lossy, fix = (asked(cascade.policy(name)) for name in (PADDED, LOSSY, SOURCE_FIRST))
    assert padded.carried.startswith(lossy.carried)
    assert len(padded.carried) == max(len(lossy.carried), len(fix.carried))


def test_the_second_wording_is_said_in_chains_too():
    """The note and the first reply are in the words of the wording asked for; the truth is the same."""
    one, other = (asked(cascade.policy(LOSSY), wording=wording) for wording in drift.WORDINGS)
    assert one.hops[0]["reply"] != other.hops[0]["reply"]
    assert [hop["truth"] for hop in one.hops] == [hop["truth"] for hop in other.hops]
    assert one.key != other.key
    assert (one.blast, other.blast) == (6, 6)


@pytest.mark.parametrize(("hops", "said"), [(8, "probed"), (9, "")])
def test_the_probe_is_asked_up_to_a_length(hops, said):
    """What is carried out of a chain of 8 sessions is probed, of a longer one not, and nothing is said of it then."""
    problem = tasks.shortened(tasks.ledger(1, hops)[0], hops)
    case = Case("cascade", cascade.policy(TAGGED), problem, budget=200, hops=hops)
    assert cascade.ask(case, Recomputing(), probe=lambda _text, _session, _memory: "probed").regime == said
