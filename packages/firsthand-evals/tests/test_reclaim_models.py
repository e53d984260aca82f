"""evals/reclaim/chosen.py, models.py: models by name, what a run would ask, and a run from its record."""

from __future__ import annotations

import sys

import pytest

from firsthand.errors import InvalidArgument, ModelUnavailable
from firsthand.llm import Recorded, Reply
from firsthand.llm.spending import Price, Spent
from firsthand_evals.reclaim import items, models, run, sweeps, tasks
from firsthand_evals.reclaim.calling import Calling
from firsthand_evals.reclaim.chosen import Chosen, chosen, scripted
from firsthand_evals.reclaim.items import Case
from firsthand_evals.reclaim.models import Asking, Plan
from firsthand_evals.reclaim.policies import LOSSY, SOURCE_FIRST, policy
from firsthand_evals.reclaim.readers import Asked, Recomputing
from firsthand_evals.reclaim.seam import subject


class Script:
    """A deterministic reader as a model, that says which of equal cases it is asked."""

    def __init__(self, take: int) -> None:
        self.take = take

    def complete(self, messages, **_: object) -> Reply:
        text = f"Take {self.take}.\n{Recomputing().answer(messages)}"
        return Reply(text, {"role": "assistant", "content": text}, (), 100, 5, 0.0)


def recorded(asking: Asking, one: Chosen, cases, takes: int = 1) -> list[items.Item]:
    """Fill the record of a model as a run does, and give the items that came of it."""
    found = []
    for take in range(takes):
        record = asking.recorded(one, take)
        model = Recorded(record.path, Script(take))
        reader = Asked(model, one.told)
        found += run.run([case for case in cases if case.repetition == take], reader)
    return found


# names -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("local", Chosen("SmolLM2-135M-Instruct", "local", "", tools=False)),
        ("local:/models/Tiny.Q4.gguf", Chosen("Tiny.Q4", "local", "/models/Tiny.Q4.gguf", tools=False)),
        ("scripted:cautious", Chosen("cautious", "scripted", "cautious", tools=False)),
        ("http://localhost:8080/v1#qwen", Chosen("qwen", "url", "http://localhost:8080/v1")),
        ("https://h/v1/chat/completions#Qwen/Q-7b", Chosen("Qwen/Q-7b", "url", "https://h/v1")),
        ("openai/gpt-5-mini", Chosen("openai/gpt-5-mini", "inspect", "openai/gpt-5-mini")),
        ("hf/org/model:v1", Chosen("hf/org/model:v1", "inspect", "hf/org/model:v1")),
    ],
)
def test_a_model_is_chosen_by_what_is_typed(typed, found):
    """Each spelling names its model, who serves it, and whether it was taught to call tools."""
    assert chosen(typed) == found


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "a model is 'local', URL#NAME"),
        ("gpt-5", "a model is 'local', URL#NAME .* got 'gpt-5'"),
        ("http://localhost:8080/v1", "a model is named URL#NAME"),
        ("https://me:sesame@host/v1#tiny", r"^a model's URL holds no user and no password; .*FIRSTHAND_MODEL_KEY$"),
        ("scripted:oracle", "a scripted reader is one of recomputing, .* got 'oracle'"),
        ("a/../../b c", "a model is 'local'"),
    ],
)
def test_what_is_no_model_is_refused(typed, said):
    """The error says which spellings there are."""
    with pytest.raises(InvalidArgument, match=said):
        chosen(typed)


def test_models_asked_in_another_way_have_another_name():
    """What differs from how a model is asked by default stands in its name, and so in the keys of its items."""
    told = [
        chosen("a/b").told, chosen("a/b", tools=False).told, chosen("a/b", tokens_max=9).told,
        chosen("a/b", tools=False, tokens_max=9).told, chosen("local").told, chosen("local", tools=True).told,
    ]  # fmt: skip
    assert told == [
        "a/b", "a/b (asking in words)", "a/b (9 tokens)", "a/b (asking in words, 9 tokens)", "SmolLM2-135M-Instruct",
        "SmolLM2-135M-Instruct (calling tools)",
    ]  # fmt: skip


def test_a_reader_calls_tools_when_its_model_was_taught_to(tmp_path):
    """The reader has name, temperature and reply length of what was chosen."""
    asking = Asking(tmp_path)
    one, other = chosen("a/b", temperature=0.7), chosen("local")
    assert [type(asking.reader(it)) for it in (one, other)] == [Calling, Asked]
    assert [(it.name, it.temperature) for it in map(asking.reader, (one, other))] == [
        ("a/b", 0.7), ("SmolLM2-135M-Instruct", 0.0),
    ]  # fmt: skip
    assert set(scripted()) == {
        "recomputing", "recomputing-careless", "cautious", "believing", "yielding", "guessing-0", "slipping",
    }  # fmt: skip


# before ------------------------------------------------------------------------------------------------------


def toy(messages, budget):
    return messages[1]["content"][:budget]


def test_a_plan_counts_calls_tokens_and_cost_before_anything_is_asked(tmp_path):
    """Turns, sessions of a chain and writers are calls; a memory that can be asked may take more of them."""
    asking = Asking(tmp_path)
    reader = asking.reader(chosen("a/b"))
    (problem,) = tasks.arithmetic(1)
    plain, sustained = Case("x", policy(LOSSY), problem), Case("x", policy(LOSSY), problem, "sustained")
    own, written = Case("x", subject(toy), problem), Case("x", asking.writers(chosen("local"))[0], problem)
    chained = sweeps.chain(1, hops=(4,))[0]
    calls = [(models.plan([case], reader).calls, models.plan([case], reader).calls_max)
             for case in (plain, sustained, own, written, chained)]  # fmt: skip
    assert calls == [(1, 1), (4, 4), (1, 6), (2, 2), (5, 5)]
    found = models.plan([plain, own], reader, price=Price(1, 10))
    assert found == Plan(2, 2, 7, found.prompt_tokens, 600, (found.prompt_tokens + 6_000) / 1e6)
    assert 200 < found.prompt_tokens < 800
    assert str(found) == (
        f"2 cases, 2 calls (at most 7 when memories are asked), about {found.prompt_tokens} tokens of prompts and at "
        "most 600 of replies; about 0.01 at the given price"
    )
    assert models.plan([plain, written], Recomputing()).calls == 1
    assert str(models.plan([], reader)).endswith("0 of replies; no price was given")


def test_a_plan_leaves_out_what_is_known():
    """Cases that have an item cost nothing."""
    cases = run.cases(toy, tasks.arithmetic(2))
    known = {item.key: item for item in run.run(cases[:1], Recomputing())}
    assert models.plan(cases, Recomputing(), known) == Plan(1, 0, 0, 0, 0, None)


# from the record ---------------------------------------------------------------------------------------------


def test_a_recorded_run_is_replayed_without_inspect(tmp_path, monkeypatch):
    """From recorded replies come the same items, nothing is spent, and Inspect is not even imported."""
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    asking, one = Asking(tmp_path), chosen("http://127.0.0.1:1/v1#tiny", tools=False)
    cases = run.cases(toy, tasks.arithmetic(3), repetitions=2)
    known = recorded(asking, one, cases, takes=2)
    seen = []
    asking = Asking(tmp_path, replay=True)
    found = asking.run(cases, asking.reader(one), progress=lambda done, whole: seen.append((done, whole)))
    by_key = {item.key: item for item in known}
    assert [by_key[item.key] for item in found.items] == list(found.items)
    assert [item.replies[0][:6] for item in found.items] == ["Take 0", "Take 1"] * 3
    assert (found.known, found.made, found.failed, found.left, found.stopped) == (0, 6, (), 0, "")
    assert (found.spent, found.log) == (Spent(), "")
    assert seen == [(number, 6) for number in range(1, 7)]
    again = Asking(tmp_path, replay=True)
    assert again.run(cases, again.reader(one)).known == 6


def test_equal_cases_have_replies_of_their_own(tmp_path):
    """Each repetition is recorded apart, as is each address; the names of the files tell them apart."""
    asking = Asking(tmp_path)
    names = [
        asking.recorded(chosen(model), take).path.name
        for model in ("http://h/v1#t", "http://g/v1#t", "t/t") for take in (0, 1)
    ]  # fmt: skip
    assert len(set(names)) == 6
    assert [name.endswith(f"-{take}.jsonl") for name, take in zip(names, (0, 1) * 3, strict=True)] == [True] * 6


def test_what_was_not_recorded_fails_and_is_counted(tmp_path):
    """In a replay a case without its replies is a failure with the reason; the rest goes on."""
    asking, one = Asking(tmp_path), chosen("a/b", tools=False)
    cases = run.cases(toy, tasks.arithmetic(3))
    recorded(asking, one, cases[:2])
    asking = Asking(tmp_path, replay=True)
    found = asking.run(cases, asking.reader(one))
    assert (found.made, found.left, len(found.failed)) == (2, 0, 1)
    assert found.failed[0].error.startswith("ReplyUnknown: no reply to this request is recorded in")
    assert found.failed[0].parameters["problem"] == cases[2].problem.id


def test_a_run_without_a_model_needs_no_inspect(tmp_path, monkeypatch):
    """A deterministic reader of memories that nobody writes runs here, and what it made is known to the next run."""
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    cases = run.cases(policy(SOURCE_FIRST), tasks.arithmetic(2))
    found = Asking(tmp_path).run(cases, Recomputing())
    assert list(found.items) == list(run.run(cases, Recomputing()))
    assert Asking(tmp_path).run(cases, Recomputing()).known == 2


def test_without_inspect_a_model_is_an_error_that_says_what_to_install(tmp_path, monkeypatch):
    """Nothing is asked; the message names the extra."""
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.delitem(sys.modules, "firsthand_evals.reclaim.inspect_run", raising=False)
    asking = Asking(tmp_path)
    with pytest.raises(ModelUnavailable, match=r"pip install 'firsthand-evals\[models\]'"):
        asking.run(run.cases(toy, tasks.arithmetic(1)), asking.reader(chosen("a/b")))


@pytest.mark.parametrize("wrong", [{"connections": 0}, {"retries": -1}, {"timeout_seconds": 0}])
def test_numbers_out_of_range_are_refused(tmp_path, wrong):
    """Connections, retries and seconds have a least value."""
    with pytest.raises(InvalidArgument, match="at least"):
        Asking(tmp_path, **wrong)


def test_equal_cases_are_refused(tmp_path):
    """Two cases of one key would be counted as one."""
    cases = run.cases(toy, tasks.arithmetic(1))
    with pytest.raises(InvalidArgument, match="all different; got 2, 1 of them different"):
        Asking(tmp_path).run([*cases, *cases], Recomputing())


def test_cases_of_one_memory_object_wait_for_each_other():
    """An object that is used for all cases is marked; a class and a function are not."""

    class Own:
        def write(self, messages, budget):
            return ""

    assert [subject(one).shared for one in (Own(), Own, toy)] == [True, False, False]
