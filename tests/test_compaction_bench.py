"""The compaction bench: its traces ask what they say, its methods keep their budget, its figures follow from counts."""

from __future__ import annotations

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from compaction import generated, real, strings, values, whole
from compaction.generated import TINY
from compaction.ours import Ours
from compaction.paging import RuleDecides, SelfPaging
from compaction.plain import SearchOverAll, Sliding, Truncation
from compaction.scoring import Share
from compaction.summaries import Extract, Oracle, RunningSummary
from compaction.values import Ask, Trace, text_of_all, tokens_of_all, user

SEED = 7


@pytest.fixture(scope="module")
def tiny() -> Trace:
    return generated.trace(0, TINY, [], seed=SEED)


def said_by(steps) -> str:
    return text_of_all(message for step in steps for message in step)


# traces and questions --------------------------------------------------------------------------------


def test_needles_stand_once_and_early(tiny):
    """Every needle's string stands in the first half window, and nowhere after it, but for a ticket its patch names."""
    tokens, early = 0, 0
    for number, step in enumerate(tiny.steps):
        tokens += tokens_of_all(step)
        if tokens <= 0.75 * TINY.window_tokens:
            early = number
    before, after = said_by(tiny.steps[: early + 1]), said_by(tiny.steps[early + 1 :])
    counts = {needle.kind: before.count(needle.string) for needle in tiny.needles}
    assert [after.count(needle.string) for needle in tiny.needles] == [0] * TINY.needles
    assert {kind: count for kind, count in counts.items() if kind != "ticket"} == dict.fromkeys(
        counts.keys() - {"ticket"}, 1
    )
    assert counts["ticket"] == 2


def test_a_question_never_holds_its_answer(tiny):
    """No question gives its answer away, and the two-step one does not name what leads to it."""
    assert [question.text for question in tiny.questions if question.answer and question.answer in question.text] == []
    assert [one.text for one in tiny.questions if one.through and one.through in one.text] == []
    asked = {ask: sum(question.ask is ask for question in tiny.questions) for ask in Ask if ask is not Ask.PERSONAL}
    assert asked == {Ask.EXACT: 4, Ask.PARAPHRASED: 4, Ask.TWO_STEP: 1, Ask.NEVER: 1}


def test_what_never_happened_is_nowhere_in_the_trace():
    """What a never-question asks for is stated nowhere, though its thing or its words occur."""
    trace = generated.trace(3, generated.Shape(3_000, 40, 120, 2), [], seed=SEED)
    everything = said_by(trace.steps)
    never = [question.text for question in trace.questions if question.ask is Ask.NEVER]
    stated = [
        re.escape(template[1].format(s=subject, v="\0")).replace("\0", ".{1,60}?")
        for subject in generated.SUBJECTS
        for template in generated.TEMPLATES
        if template[2].format(s=subject) in never
    ]
    assert len(stated) == len(never) == 16
    assert [pattern for pattern in stated if re.search(pattern, everything)] == []
    assert (
        sum(any(subject in question for subject in re.findall(r"[a-z]+-[a-z]+", everything)) for question in never) > 8
    )


def test_the_same_seed_gives_the_same_trace(tiny):
    """A trace is a function of its number, shape, texts and seed, and ends behind its fifth cycle."""
    assert generated.trace(0, TINY, [], seed=SEED) == tiny
    assert generated.trace(1, TINY, [], seed=SEED).needles != tiny.needles
    lengths = [tokens_of_all(m for s in tiny.steps[:at] for m in s) / TINY.window_tokens for at in
               (tiny.checkpoints[cycle] for cycle in values.CYCLES)]  # fmt: skip
    assert [round(length - cycle, 1) for length, cycle in zip(lengths, values.CYCLES, strict=True)] in [
        [0.3, 0.3, 0.3], [0.2, 0.3, 0.3], [0.3, 0.2, 0.3], [0.3, 0.3, 0.2],
    ]  # fmt: skip


# strings and reading by rule -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        ("path", "open src/core/a-b.ts and /etc/hosts, not 3/4", ["src/core/a-b.ts", "/etc/hosts"]),
        ("hash", "commit 9f3a1bc0 or 680e7d34c5aa, no facade", ["9f3a1bc0", "680e7d34c5aa"]),
        ("identifier", "call get_user_id on AgentSession for INC-5512", ["get_user_id", "AgentSession", "INC-5512"]),
        ("number", "port 8080, 3.75 s, step 12", ["8080", "3.75"]),
        ("error", "x\nE   TypeError: no such field\ny", ["E   TypeError: no such field"]),
    ],
)  # fmt: skip
def test_exact_strings_by_class(kind, text, found):
    """Each class finds its own exact strings and leaves plain words alone."""
    assert [match[0] for match in strings.of(text, kind) if match[0] != "3/4"] == found


# methods ---------------------------------------------------------------------------------------------

MAKES = {
    "truncation": lambda trace: Truncation(trace.window_tokens),
    "sliding": lambda trace: Sliding(trace.window_tokens),
    "extract": lambda trace: RunningSummary(trace.window_tokens, Extract()),
    "oracle": lambda trace: RunningSummary(trace.window_tokens, Oracle(trace.needles)),
    "paging": lambda trace: SelfPaging(trace.window_tokens, RuleDecides()),
    "search": lambda trace: SearchOverAll(trace.window_tokens),
    "ours": lambda trace: Ours(trace.window_tokens),
}
if find_spec("langchain"):
    from compaction.middleware import Summarization

    MAKES["langchain"] = lambda trace: Summarization(trace.window_tokens, Extract())


@pytest.mark.parametrize("name", MAKES)
def test_every_method_keeps_its_budget_and_its_newest_step(name, tiny):
    """After every step a method carries no more than the window, and its newest step is in its context."""
    method = MAKES[name](tiny)
    try:
        for step in tiny.steps:
            method.feed(step)
            assert method.carried_tokens() <= tiny.window_tokens
            assert values.text_of(step[-1]) in method.ask("anything").context
        assert method.compactions > 5
    finally:
        method.close()


@given(st.lists(st.integers(min_value=1, max_value=400), min_size=1, max_size=60), st.integers(200, 1_000))
def test_a_cut_list_is_the_newest_steps_whole(sizes, window):
    """Whatever the sizes of its steps, truncation keeps a run of the newest ones, whole, and the newest one always."""
    steps = [user(f"{number} " + "x" * size * 4) for number, size in enumerate(sizes)]
    method = Truncation(window)
    for step in steps:
        method.feed(step)
    kept = method.context()
    assert kept == [message for step in steps[len(steps) - len(kept) :] for message in step]
    assert kept[-1] == steps[-1][0]
    assert tokens_of_all(kept) <= window or len(kept) == 1


# figures ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counted", "interval"),
    [
        (Share(0, 50), (0.0, 0.0713)), (Share(50, 50), (0.9287, 1.0)), (Share(25, 50), (0.3664, 0.6336)),
        (Share(0, 0), (0.0, 1.0)),
    ],
)  # fmt: skip
def test_intervals_are_wilsons(counted, interval):
    """The interval of a share is Wilson's at 95 %, also where the share is none or all."""
    assert tuple(round(one, 4) for one in counted.interval) == interval


EXPECTED = {
    "truncation": {"exact": [3, 0, 0], "paraphrased": [3, 0, 0], "two-step": [1, 0, 0]},
    "sliding window": {"exact": [0, 0, 0], "paraphrased": [0, 0, 0], "two-step": [0, 0, 0]},
    "running summary (extract)": {"exact": [3, 3, 3], "paraphrased": [3, 3, 3], "two-step": [1, 1, 1]},
    "running summary (oracle)": {"exact": [3, 3, 3], "paraphrased": [3, 3, 3], "two-step": [0, 0, 0]},
    "self-paging (rule decides)": {"exact": [2, 2, 2], "paraphrased": [1, 1, 1], "two-step": [0, 0, 0]},
    "truncation + BM25 over all messages": {"exact": [4, 4, 4], "paraphrased": [2, 2, 2], "two-step": [1, 1, 1]},
}
"""Available answers after 1, 3 and 5 cycles, of 4, 4 and 1 asked."""


def test_a_tiny_run_without_a_model(tiny):
    """The others' figures are what they were, to the count; ours has what is asked for in its own words."""
    part = whole.free("Tiny", [tiny], whole.methods())
    counts = {
        method: {
            ask.value: [
                next(
                    row["available"]["count"]
                    for row in part["rows"]
                    if (row["method"], row["cycle"], row["ask"], row["hops"]) == (method, cycle, ask.value, hops)
                )
                for cycle in values.CYCLES
            ]
            for ask, hops in ((Ask.EXACT, 1), (Ask.PARAPHRASED, 1), (Ask.TWO_STEP, 1))
        }
        for method in dict.fromkeys(row["method"] for row in part["rows"])
    }
    ours = counts.pop("Firsthand")
    assert counts == EXPECTED
    assert min(ours["exact"]) >= 3  # one answer of 400 tokens cannot hold every hit
    assert {len(row["available"]["interval"]) for row in part["rows"]} == {2}
    assert [one["steps"] for one in part["fed"]] == [len(tiny.steps)] * len(whole.methods())


# real sessions: shapes of the data, made here ----------------------------------------------------------


@pytest.mark.skipif(not os.environ.get("FIRSTHAND_DATA"), reason="FIRSTHAND_DATA names no folder of real sessions")
@pytest.mark.parametrize("name", real.SETS)
def test_needles_of_real_sessions(name):
    """In real sessions a needle stands early and nowhere later, and no question gives its answer away."""
    (trace,) = real.traces(Path(os.environ["FIRSTHAND_DATA"]), name, parts=1, seed=SEED)
    everything = said_by(trace.steps)
    assert [one.string for one in trace.needles if one.string not in everything] == []
    assert [one for one in trace.questions if one.answer and one.answer in one.text] == []
    assert set(trace.checkpoints) == set(values.CYCLES)
