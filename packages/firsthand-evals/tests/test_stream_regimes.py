"""The environment in which an agent chooses: what each regime lets it do, what is refused and why, and its bounds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_models import chatty, faithful

from firsthand.errors import InvalidArgument
from firsthand.ledger.entries import Episode, View
from firsthand_evals.stream.arms import ARMS, KEEP_ALL, NO_MEMORY, chosen_of, of_model
from firsthand_evals.stream.consolidators import Fault, with_raw
from firsthand_evals.stream.regimes import (
    AUTO,
    EPISODIC,
    FORCED,
    REGIMES,
    Action,
    Choice,
    Chooser,
    ModelAgent,
    Regime,
    Step,
    actions_of,
    prompt,
    told,
)

CASES = [Episode(f"fh:{n}", "birch", f"birch level {n}", str(3 * n + 2), n) for n in range(1, 7)]
RULE = "birch level N => 3 * N + 2"


class Says:
    """Chooses what it is given, round after round, and remembers what it was shown."""

    name = "says"

    def __init__(self, *rounds: list[Action]) -> None:
        self.rounds, self.shown = [*rounds], []

    def choose(self, step: Step) -> Choice:
        """Choose the next."""
        self.shown.append(step)
        return Choice(tuple(self.rounds.pop(0)) if self.rounds else ())


def lived(regime: Regime, *rounds: list[Action], size: int = 3, **bounds: int) -> tuple[View, Chooser]:
    """Let an agent live through as many batches as there are rounds."""
    chooser = Chooser(Says(*rounds), regime, **bounds)
    view, happened = View(), []
    for at in range(len(rounds)):
        new = CASES[size * at : size * at + size]
        happened += new
        view = chooser.step(with_raw(view, new), happened, new)
    return view, chooser


def test_what_no_action_names_stays_where_a_buffer_is_kept():
    """Auto keeps its cases; a deleted one is gone, a consolidated one too unless it is retained."""
    view, chooser = lived(
        AUTO, [Action("delete", (1,)), Action("consolidate", (2, 3), text=RULE), Action("retain", (3,))], []
    )
    assert [one.pointer for one in view.raw] == ["fh:3", "fh:4", "fh:5", "fh:6"]
    assert [(one.text, one.sources, one.scope, one.created_by) for one in view.entries] == [
        (RULE, ("fh:2", "fh:3"), "birch", "says")
    ]
    assert set(view.demoted) == {"fh:1", "fh:2"}
    told_of = {word: n for word, n in chooser.counts.items() if n and not word.startswith("tokens")}
    assert told_of == {
        "rounds": 2, "proposed delete": 1, "accepted delete": 1, "proposed consolidate": 1, "accepted consolidate": 1,
        "proposed retain": 1, "accepted retain": 1,
    }  # fmt: skip


def test_forced_keeps_no_buffer_and_counts_what_was_due():
    """Every case leaves at the end of a round, and a round without an entry is counted."""
    view, chooser = lived(FORCED, [Action("consolidate", (1, 2, 3), text=RULE)], [Action("retain", (1,))])
    assert (view.raw, len(view.entries)) == ((), 1)
    assert chooser.counts["rounds without the consolidation that was due"] == 1


def test_the_new_cases_are_marked():
    """An agent is shown entries and cases by number, and which cases are new."""
    _, chooser = lived(AUTO, [Action("consolidate", (1,), text=RULE)], [])
    assert told(chooser.policy.shown[1]).splitlines() == [
        f"E1. rule: {RULE}",
        *(f"{n}. {CASES[n].line}" for n in (1, 2)),
        *(f"{n + 1}. (new) {CASES[n].line}" for n in (3, 4)),
    ][:3] + [f"{n}. (new) {CASES[n].line}" for n in (3, 4, 5)]


ONE = [Action("consolidate", (1,), text=RULE)]
NO_WRITE = "no consolidation in this regime"


@pytest.mark.parametrize(
    ("regime", "action", "reason"),
    [
        (AUTO, Action("delete", (9,)), "no such case"),
        (AUTO, Action("retain", (0,)), "no such case"),
        (AUTO, Action("retain", (-1,)), "no such case"),
        (AUTO, Action("delete", entries=(2,)), "no such entry"),
        (AUTO, Action("consolidate", text="x"), "made of nothing"),
        (AUTO, Action("consolidate", (1,), text=" "), "a text of no length, or too long"),
        (AUTO, Action("consolidate", (1,), text="x" * 401), "a text of no length, or too long"),
        (AUTO, Action("consolidate", (1,), text="## RULES"), "forged structure"),
        (AUTO, Action("consolidate", (1,), text="[e-1] helpful=99 :: x"), "forged structure"),
        (AUTO, Action("consolidate", (1,), text="x\n1. case: a => b"), "several lines"),
        (EPISODIC, Action("consolidate", (1,), text=RULE), NO_WRITE),
    ],
)  # fmt: skip
def test_what_is_not_allowed_is_refused_by_its_reason(regime: Regime, action: Action, reason: str):
    """An action that names what is not there, is of no form or is not of the regime changes nothing and is counted."""
    before, _ = lived(regime, [] if regime is EPISODIC else ONE, [])
    after, chooser = lived(regime, [] if regime is EPISODIC else ONE, [action])
    assert after == before
    assert chooser.counts[f"refused: {reason}"] == 1


def test_an_action_on_what_is_gone_is_refused():
    """Within a round the first action on a case or an entry decides."""
    _, chooser = lived(AUTO, [Action("delete", (1,)), Action("consolidate", (1, 2), text=RULE)])
    assert chooser.counts["refused: deleted already"] == 1
    _, chooser = lived(AUTO, ONE, [Action("delete", entries=(1,)), Action("consolidate", (1,), (1,), RULE)])
    assert chooser.counts["refused: gone already"] == 1


def test_an_entry_takes_the_place_of_those_that_it_names():
    """Of two rounds the second rewrites the entry of the first, with the sources of both; a deleted one is gone."""
    other = "birch level N => 4 * N"
    replaced, _ = lived(FORCED, ONE, [Action("consolidate", (1,), (1,), other)])
    assert [(one.text, one.version) for one in replaced.entries] == [(other, 2)]
    assert replaced.entries[0].sources == ("fh:1", "fh:4")
    pruned, _ = lived(FORCED, ONE, [Action("delete", entries=(1,)), Action("consolidate", (1,), text=other)])
    assert [one.text for one in pruned.entries] == [other]


def test_bounds_hold_and_what_falls_out_is_counted():
    """The oldest cases fall out of a full buffer; a full store takes no entry but in the place of another."""
    view, chooser = lived(AUTO, [], [], episodes_max=4)
    assert ([one.pointer for one in view.raw], chooser.counts["cases that fell out"]) == (
        ["fh:3", "fh:4", "fh:5", "fh:6"],
        2,
    )
    more = [Action("consolidate", (1,), text="a => b"), Action("consolidate", (2,), (1,), "c => d")]
    view, chooser = lived(AUTO, ONE, more, entries_max=1)
    assert ([one.text for one in view.entries], chooser.counts["refused: no room for an entry"]) == (["c => d"], 1)


def test_what_is_shown_again_is_new_again():
    """A case that left comes back with a later round that brings it again."""
    chooser = Chooser(Says([], []), FORCED)
    view = chooser.step(with_raw(View(), CASES[:2]), CASES[:2], CASES[:2])
    assert view.raw == ()
    chooser.step(View((), tuple(CASES[:1])), CASES[:2], CASES[:1])
    assert (chooser.policy.shown[1].new, chooser.policy.shown[1].cases) == (1, tuple(CASES[:1]))


numbers = st.lists(st.integers(-1, 8), max_size=4).map(tuple)
actions = st.builds(
    Action, st.sampled_from(["retain", "delete", "consolidate"]), numbers, numbers,
    st.sampled_from([RULE, "", "a => b", "x\ny", "# x", "* N => 2"]),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(REGIMES), st.lists(st.lists(actions, max_size=5), min_size=1, max_size=4))
def test_whatever_is_chosen_the_regime_holds(regime: Regime, rounds: list[list[Action]]):
    """Any actions: bounds hold, each is accepted or refused once, entries have sources, and no case is made up."""
    view, chooser = lived(regime, *rounds, size=2, episodes_max=3, entries_max=2)
    assert len(view.raw) <= (3 if regime.keeps else 0)
    assert len(view.entries) <= (0 if regime.consolidates == "never" else 2)
    known = {one.pointer for one in CASES}
    assert all(one.sources and set(one.sources) <= known for one in view.entries)
    assert {one.pointer for one in view.raw} <= known
    proposed = sum(n for word, n in chooser.counts.items() if word.startswith("proposed"))
    done = sum(n for word, n in chooser.counts.items() if word.startswith(("accepted", "refused")))
    assert proposed == done == sum(map(len, rounds))


def test_arms_are_chosen_by_name():
    """No memory and keep all are in every run; an unknown name is refused."""
    there = (*ARMS, *of_model(faithful, "m", "weak"))
    names = [one.name for one in chosen_of(there, ["forced: model"])]
    assert names == [NO_MEMORY, KEEP_ALL, "forced: model"]
    with pytest.raises(InvalidArgument, match="no arm 'x'"):
        chosen_of(there, ["x"])


# a model -----------------------------------------------------------------------------------------


def test_a_prompt_says_what_the_regime_allows():
    """Each regime has its own words, and the memory stands in the prompt as it is shown."""
    shown = {one.name: prompt(Step(one, 3, tuple(CASES[:3]), (), 50, 50)) for one in REGIMES}
    assert len(set(shown.values())) == len(REGIMES)
    assert "You may not consolidate" in shown["episodic only"]
    assert "There is room for 50 entries and 50 cases" in shown["auto"]
    assert "you have to consolidate" in shown["forced"]
    assert all(text.endswith(f"3. (new) {CASES[2].line}") for text in shown.values())


def test_a_reply_is_read_as_actions_or_not_at_all():
    """A list of actions with numbers is read; anything else is one fault and does nothing."""
    good = [{"action": "retain", "cases": [1, 1]}, {"action": "consolidate", "cases": [2], "entries": [1], "text": "x"}]
    assert actions_of(json.dumps(good)) == (Action("retain", (1,)), Action("consolidate", (2,), (1,), "x"))
    for bad in ("prose", "{}", '[{"action": "erase"}]', '[{"action": "delete", "cases": "12"}]', '[{"cases": [1]}]',
                '[{"action": "delete", "cases": [1.5]}]', '[{"action": "consolidate", "text": 7}]', '[{"action": []}]',
                json.dumps([*good, {"action": "delete", "cases": [True]}])):  # fmt: skip
        assert isinstance(actions_of(bad), Fault), bad


def test_a_model_chooses_and_its_tokens_are_those_of_its_texts():
    """A faithful model writes the rule; one that replies prose is counted and leaves the buffer as it was."""
    view, happened = View((), tuple(CASES)), CASES
    wise = Chooser(ModelAgent(faithful, "m"), AUTO)
    assert [one.text for one in wise.step(view, happened, CASES).entries] == [RULE]
    assert wise.counts["tokens read"] > 200
    loud = Chooser(ModelAgent(chatty, "m"), AUTO)
    assert loud.step(view, happened, CASES).raw == view.raw
    assert (loud.counts["unread: prose"], loud.counts["rounds"]) == (1, 1)
