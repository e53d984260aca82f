"""The environment in which an agent chooses: what each regime lets it do, what is refused and why, and its bounds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_models import chatty, faithful

from firsthand.errors import InvalidArgument
from firsthand.ledger.entries import Episode, Fault, View
from firsthand.value import replace
from firsthand_evals.stream import choosing_arms
from firsthand_evals.stream.arms import KEEP_ALL, NO_MEMORY
from firsthand_evals.stream.choosing import (
    ADD_ONLY,
    APPEND_HIDDEN,
    APPEND_SEEN,
    AUTO,
    EPISODIC,
    FORCED,
    PRUNE,
    REGIMES,
    REWRITE,
    Action,
    Choice,
    Chooser,
    Regime,
    Step,
    told,
)
from firsthand_evals.stream.choosing_arms import SCRIPTED, chosen, name_of, of_model
from firsthand_evals.stream.choosing_checks import checks
from firsthand_evals.stream.choosing_model import ByModelChosen, actions_of, prompt
from firsthand_evals.stream.choosing_policies import Careful, DropOldest, Eroding, Hasty, Keep, Merging
from firsthand_evals.stream.run import run

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
        view = chooser.step(view.with_raw(new), happened, new)
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
NO_EDIT, NO_WRITE = "entries are not rewritten in this regime", "no consolidation in this regime"


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
        (APPEND_SEEN, Action("consolidate", (1,), (1,), RULE), NO_EDIT),
        (APPEND_SEEN, Action("delete", entries=(1,)), "entries stay in this regime"),
        (PRUNE, Action("consolidate", (1,), (1,), RULE), NO_EDIT),
        (APPEND_HIDDEN, Action("delete", entries=(1,)), "no such entry"),
        (ADD_ONLY, Action("consolidate", (1,), text="3 * N + 2 => birch level N"), "said already"),
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


def test_entries_are_replaced_pruned_dropped_or_stay_by_regime():
    """In place an entry takes the place of the one it names; anew drops what is not named; prune deletes."""
    other = "birch level N => 4 * N"
    replaced, _ = lived(FORCED, ONE, [Action("consolidate", (1,), (1,), other)])
    assert [(one.text, one.version) for one in replaced.entries] == [(other, 2)]
    assert replaced.entries[0].sources == ("fh:1", "fh:4")
    dropped, chooser = lived(REWRITE, ONE, [Action("consolidate", (1,), text=other)])
    assert [one.text for one in dropped.entries] == [other]
    assert chooser.counts["entries dropped, since nothing named them"] == 1
    kept, _ = lived(REWRITE, ONE, [Action("consolidate", (1,), text=other), Action("retain", entries=(1,))])
    assert [one.text for one in kept.entries] == [RULE, other]
    pruned, _ = lived(PRUNE, ONE, [Action("delete", entries=(1,)), Action("consolidate", (1,), text=other)])
    assert [one.text for one in pruned.entries] == [other]
    appended, _ = lived(APPEND_SEEN, ONE, [Action("consolidate", (1,), text=other)])
    assert [one.text for one in appended.entries] == [RULE, other]


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
    view = chooser.step(View().with_raw(CASES[:2]), CASES[:2], CASES[:2])
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


# agents by rule ----------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [Keep(), DropOldest(), Careful(), Hasty(), Merging(), Eroding()])
def test_an_agent_by_rule_names_only_what_it_is_shown(policy):
    """In every regime each agent's actions are allowed by their numbers, and the same round gives the same choice."""
    for regime in REGIMES:
        arm = choosing_arms.Arm("x", lambda _, regime=regime: Chooser(policy, regime))
        (one,), (same,) = ([*run([arm], [3], episodes=64)] for _ in range(2))
        assert one == same
        wrong = {word for word in one.actions if word.startswith("refused: ") and ("no such" in word or "gone" in word)}
        assert wrong == set()


def test_a_careful_agent_keeps_exceptions_and_rules():
    """It loses nothing when it may choose, whatever is read of it tells what is where."""
    arms = [one for one in SCRIPTED if one.name.startswith("auto: careful (50)")]
    both, raw, entries = run(arms, [2], episodes=96)
    assert (both.end("seen weak"), both.end("rule weak"), both.end("p0 weak")) == (1.0, 1.0, 1.0)
    assert (raw.end("exceptions weak"), raw.end("rule weak")) == (1.0, 1 / 3)
    assert (entries.end("exceptions weak"), entries.end("rule weak")) == (0.0, 1.0)


def test_a_merging_agent_ends_below_no_memory():
    """One rule for everything answers less of what needs no memory than no memory does."""
    arms = [one for one in SCRIPTED if one.name in {NO_MEMORY, "forced: merging"}]
    none, merged = run(arms, [2], episodes=96)
    assert merged.end("p0 weak") < none.end("p0 weak") == 1.0


def test_the_checks_can_fail():
    """Each check fails when its figure is turned round, and K1 when a bound is passed."""
    names = [
        name_of(AUTO, "eroding"), name_of(FORCED, "eroding"), name_of(EPISODIC, "careful"), name_of(AUTO, "careful"),
        name_of(AUTO, "careful", shows="entries"), name_of(AUTO, "careful", shows="raw"),
        name_of(APPEND_SEEN, "eroding"), name_of(PRUNE, "eroding"),
    ]  # fmt: skip
    streams = [*run([one for one in SCRIPTED if one.name in names], range(2), episodes=24)]

    def with_end(arm: str, **figures: float):
        ends = {name.replace("_", " "): it for name, it in figures.items()}
        return [
            replace(one, points=(*one.points[:-1], {**one.points[-1], **ends})) if one.arm == arm else one
            for one in streams
        ]

    def held(of, name: str) -> list[bool]:
        return [one.held for one in checks(of, 24) if one.name == name]

    assert held(streams, "K1") == [True]
    assert held(with_end(names[0], raw=51), "K1") == held(with_end(names[1], raw=1), "K1") == [False]
    assert held(with_end(names[2], entries=1), "K1") == [False]
    for name, arm, figure in (("K2", names[0], "seen_weak"), ("K3", names[2], "p0_weak")):
        assert (held(with_end(arm, **{figure: 2.0}), name), held(with_end(arm, **{figure: -1.0}), name)) == (
            [True],
            [False],
        )
    assert held(with_end(names[3], exceptions_weak=2.0, rule_weak=2.0), "K4") == [True, True]
    assert held(with_end(names[3], exceptions_weak=-1.0, rule_weak=-1.0), "K4") == [False, False]
    assert held(with_end(names[1], p0_weak=-1.0), "K5") == [True, True]
    assert held(with_end(names[1], p0_weak=2.0), "K5") == [False, False]


def test_arms_are_chosen_by_name():
    """No memory and keep all are in every run; an unknown name is refused."""
    assert [one.name for one in chosen(SCRIPTED, ["forced: hasty"])] == [NO_MEMORY, KEEP_ALL, "forced: hasty"]
    assert len({one.name for one in (*SCRIPTED, *of_model(faithful, "m"))}) == len(SCRIPTED) + 7
    with pytest.raises(InvalidArgument, match="no arm 'x'"):
        chosen(SCRIPTED, ["x"])


# a model -----------------------------------------------------------------------------------------


def test_a_prompt_says_what_the_regime_allows():
    """Each regime has its own words, and the memory stands in the prompt as it is shown."""
    shown = {one.name: prompt(Step(one, 3, tuple(CASES[:3]), (), 50, 50)) for one in REGIMES}
    assert len(set(shown.values())) == len(REGIMES)
    assert "You may not consolidate" in shown["episodic only"]
    assert "There is room for 50 entries and 50 cases" in shown["auto"]
    assert "you have to consolidate" in shown["forced"]
    assert "an entry that no action names is dropped" in shown["full rewrite"]
    assert "Do not write what an entry says already" in shown["add only"]
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
    wise = Chooser(ByModelChosen(faithful, "m"), AUTO)
    assert [one.text for one in wise.step(view, happened, CASES).entries] == [RULE]
    assert wise.counts["tokens read"] > 200
    loud = Chooser(ByModelChosen(chatty, "m"), AUTO)
    assert loud.step(view, happened, CASES).raw == view.raw
    assert (loud.counts["unread: prose"], loud.counts["rounds"]) == (1, 1)
