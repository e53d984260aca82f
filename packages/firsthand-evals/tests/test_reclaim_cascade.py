"""evals/reclaim/cascade.py: what each session of a chain sees, what is carried, and what an error comes to."""

from __future__ import annotations

from firsthand_evals.reclaim import cascade, drift, ours, own, tasks
from firsthand_evals.reclaim.items import Case
from firsthand_evals.reclaim.policies import LOSSY, PADDED, SOURCE_FIRST, TAGGED
from firsthand_evals.reclaim.readers import MEMORY_HEAD, Recomputing
from firsthand_evals.reclaim.seam import Subject, subject

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


def test_the_probe_sees_what_was_said_and_not_what_the_memory_brought():
    """Of a chain the probe gets each session's purchase and reply; carried text, questions and answers are left out."""
    seen = []

    class Asked:
        def write(self, messages, budget):
            self.said = [*getattr(self, "said", []), messages[1]["content"]]
            return f"{len(self.said) - 1} of {len(self.said)} statements kept."

        def recall(self, query):
            return "\n".join(self.said)

    case = Case("cascade", subject(Asked), LEDGER, budget=200, hops=6)
    item = cascade.ask(case, Recomputing(), probe=lambda text, session, memory: seen.append(session) or "probed")
    assert item.regime == "probed"
    assert item.pulls or any(hop["pulls"] for hop in item.hops)
    (session,) = seen
    assert [one["role"] for one in session] == ["user", "assistant"] * 6
    assert [LEDGER.listed[number] in one["content"] for number, one in enumerate(session[::2])] == [True] * 6
    assert [one["content"].splitlines()[-1][:7] for one in session[1::2]] == ["ANSWER:"] * 6


def test_the_longest_chain_is_probed_too():
    """What our memory carries out of 64 sessions leads to its source, and the probe says so."""
    problem = tasks.shortened(tasks.ledger(1, 64)[0], 64)
    item = cascade.ask(Case("cascade", ours.pointers(), problem, budget=200, hops=64), Recomputing(), probe=own.regime)
    assert (item.outcome, item.regime) == ("recovered", "reachable")
