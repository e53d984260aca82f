"""reclaim/models.py: what a run would ask, a run of several at once, its cap, and a run from its record."""

from __future__ import annotations

import threading

import pytest

from firsthand.errors import InvalidArgument, ModelError, ModelRefused
from firsthand_evals.endpoint import Reply
from firsthand_evals.models import Cap, Estimate, Named, Price, Recorded, Spent, named, taking
from firsthand_evals.reclaim import experiments, items, models, run, tasks
from firsthand_evals.reclaim.items import Case
from firsthand_evals.reclaim.models import Asking
from firsthand_evals.reclaim.policies import LOSSY, SOURCE_FIRST, policy
from firsthand_evals.reclaim.readers import Asked, Calling, Recomputing
from firsthand_evals.reclaim.seam import subject


class Script:
    """A deterministic reader as a model, that says which of equal cases it is asked."""

    def __init__(self, take: int) -> None:
        self.take = take

    def complete(self, messages, **_: object) -> Reply:
        text = f"Take {self.take}.\n{Recomputing().answer(messages)}"
        return Reply(text, (), 100, 5)


def recorded(asking: Asking, one: Named, cases, takes: int = 1) -> list[items.Item]:
    """Fill the record of a model as a run does, and give the items that came of it."""
    found = []
    for take in range(takes):
        reader = Asked(Recorded(asking.model(one).path, lambda take=take: Script(take)), one.name)
        with taking(take):
            found += run.run([case for case in cases if case.repetition == take], reader)
    return found


SERVER = "http://127.0.0.1:1/v1#tiny"


def test_a_reader_calls_tools_when_its_model_was_taught_to(tmp_path):
    """A server's model is asked with a tool, one in this process in words; name and temperature are what was typed."""
    asking = Asking(tmp_path)
    readers_ = [asking.reader(named(SERVER, temperature=0.7)), asking.reader(named("local"))]
    assert [(type(it), it.name, it.temperature) for it in readers_] == [
        (Calling, "tiny", 0.7), (Asked, "SmolLM2-135M-Instruct", 0.0),
    ]  # fmt: skip


# before ------------------------------------------------------------------------------------------------------


def toy(messages, budget):
    return messages[1]["content"][:budget]


def test_a_plan_counts_calls_tokens_and_cost_before_anything_is_asked(tmp_path):
    """Turns, sessions of a chain and writers are calls; a memory that can be asked may take more of them."""
    asking = Asking(tmp_path)
    reader = asking.reader(named(SERVER))
    (problem,) = tasks.arithmetic(1)
    plain, sustained = Case("x", policy(LOSSY), problem), Case("x", policy(LOSSY), problem, "sustained")
    own, written = Case("x", subject(toy), problem), Case("x", asking.writers(named("local"))[0], problem)
    chained = experiments.sweep("cascade", 1, hops=(4,))[0]
    calls = [(models.plan([case], reader).calls, models.plan([case], reader).calls_max)
             for case in (plain, sustained, own, written, chained)]  # fmt: skip
    assert calls == [(1, 1), (4, 4), (1, 6), (2, 2), (5, 5)]
    found = models.plan([plain, own], reader, prices=(Price(1, 10), None))
    assert found == Estimate(2, 7, found.prompt_tokens, 600, pytest.approx((found.prompt_tokens + 6_000) / 1e6))
    assert 200 < found.prompt_tokens < 800
    assert str(found) == (
        f"about 2 calls (at most 7 when memories are asked), {found.prompt_tokens} tokens of prompts and at most 600 "
        "of replies; about 0.01 at the given price"
    )
    both = models.plan([written], reader, prices=(None, Price(1, 10)))
    assert both.cost == models.plan([written], Recomputing(), prices=(None, Price(1, 10))).cost
    assert both.cost > 0.006
    assert models.plan([plain, written], Recomputing()).calls == 1
    assert str(models.plan([], reader)).endswith("0 of replies; no price was given")


def test_a_plan_leaves_out_what_is_known():
    """Cases that have an item cost nothing."""
    cases = run.cases(toy, tasks.arithmetic(2))
    known = {item.key: item for item in run.run(cases[:1], Recomputing())}
    assert models.plan(cases, Recomputing(), known) == Estimate()


# from the record ---------------------------------------------------------------------------------------------


class Answers:
    """A model behind a reader by rule; it counts who asks at once, and fails where it is told to."""

    def __init__(self, wrong: str = "") -> None:
        self.wrong, self.now, self.most, self.asked = wrong, 0, 0, 0
        self.met, self.lock = threading.Event(), threading.Lock()

    def complete(self, messages, **_: object) -> Reply:
        with self.lock:
            self.asked, self.now = self.asked + 1, self.now + 1
            self.most = max(self.most, self.now)
            if self.now > 1:
                self.met.set()
        self.met.wait(0.2)
        with self.lock:
            self.now -= 1
        if self.wrong and self.wrong in messages[0]["content"]:
            raise ModelError("nonsense came back")
        text = Recomputing().answer(messages)
        return Reply(text, (), 100, 5)


def asking_of(monkeypatch, folder, model, **how) -> Asking:
    """Give models of a run that are all one scripted model."""
    monkeypatch.setattr("firsthand_evals.models.opened", lambda one, key: model)
    return Asking(folder, **how)


def test_cases_are_asked_at_once_and_come_back_in_order(tmp_path, monkeypatch):
    """Several cases are asked at the same time; items stand in the order of the cases, and nobody is asked again."""
    model, cases = Answers(), run.cases(toy, tasks.arithmetic(6))
    asking = asking_of(monkeypatch, tmp_path, model, connections=3)
    found = asking.run(cases, asking.reader(named(SERVER)))
    assert [item.parameters["problem"] for item in found.items] == [case.problem.id for case in cases]
    assert (found.made, found.failed, found.left, 1 < model.most <= 3) == (6, (), 0, True)
    again = asking_of(monkeypatch, tmp_path, Answers(wrong="e"))
    assert again.run(cases, again.reader(named(SERVER))).items == found.items


def test_a_case_that_fails_costs_no_other_and_is_asked_again(tmp_path, monkeypatch):
    """What a model got wrong is counted with its reason; the next run asks that alone."""
    cases = run.cases(toy, tasks.arithmetic(4))
    wrong = cases[2].problem.listed[0]
    asking = asking_of(monkeypatch, tmp_path, Answers(wrong))
    found = asking.run(cases, asking.reader(named(SERVER)))
    assert (found.made, [one.error for one in found.failed]) == (3, ["ModelError: nonsense came back"])
    model = Answers()
    again = asking_of(monkeypatch, tmp_path, model)
    assert (again.run(cases, again.reader(named(SERVER))).made, model.asked) == (1, 1)


def test_a_cap_leaves_the_rest_and_says_so(tmp_path, monkeypatch):
    """No call is made that could pass the cap; what is left is counted, and a higher cap goes on from there."""
    model, cases = Answers(), run.cases(toy, tasks.arithmetic(5))
    asking = asking_of(monkeypatch, tmp_path, model, cap=Cap(calls=2), connections=1)
    found = asking.run(cases, asking.reader(named(SERVER)))
    assert (found.made, found.left, found.spent.calls, bool(found.stopped)) == (2, 3, 2, True)
    again = asking_of(monkeypatch, tmp_path, model, cap=Cap(calls=3))
    assert (again.run(cases, again.reader(named(SERVER))).left, model.asked) == (0, 5)


class Refuses:
    def complete(self, messages, **_: object) -> Reply:
        raise ModelRefused("answered 401")


def test_a_model_that_takes_no_request_is_not_asked_on(tmp_path, monkeypatch):
    """After three refusals and no answer the rest is left, and the run says why."""
    asking = asking_of(monkeypatch, tmp_path, Refuses(), connections=1)
    found = asking.run(run.cases(toy, tasks.arithmetic(9)), asking.reader(named(SERVER)))
    assert (len(found.failed), found.left, found.spent.calls) == (3, 6, 3)
    assert found.stopped == "the model takes no request: ModelRefused: answered 401"


def test_a_recorded_run_is_replayed(tmp_path):
    """From recorded replies come the same items, and nothing is spent."""
    one = named("local")
    cases = run.cases(toy, tasks.arithmetic(3), repetitions=2)
    known = recorded(Asking(tmp_path), one, cases, takes=2)
    seen = []
    asking = Asking(tmp_path, replay=True)
    found = asking.run(cases, asking.reader(one), progress=lambda done, whole: seen.append((done, whole)))
    by_key = {item.key: item for item in known}
    assert [by_key[item.key] for item in found.items] == list(found.items)
    assert [item.replies[0][:6] for item in found.items] == ["Take 0", "Take 1"] * 3
    assert (found.known, found.made, found.failed, found.left, found.stopped) == (0, 6, (), 0, "")
    assert found.spent == Spent()
    assert seen == [(number, 6) for number in range(1, 7)]
    again = Asking(tmp_path, replay=True)
    assert again.run(cases, again.reader(one)).known == 6


def test_what_was_not_recorded_fails_and_is_counted(tmp_path):
    """In a replay a case without its replies is a failure with the reason; the rest goes on."""
    one = named("local")
    cases = run.cases(toy, tasks.arithmetic(3))
    recorded(Asking(tmp_path), one, cases[:2])
    asking = Asking(tmp_path, replay=True)
    found = asking.run(cases, asking.reader(one))
    assert (found.made, found.left, len(found.failed)) == (2, 0, 1)
    assert found.failed[0].error.startswith("ReplyUnknown: no reply to this request is recorded in")
    assert found.failed[0].parameters["problem"] == cases[2].problem.id


def test_a_run_without_a_model_is_known_to_the_next(tmp_path):
    """A deterministic reader of memories that nobody writes runs here, and what it made is not asked again."""
    cases = run.cases(policy(SOURCE_FIRST), tasks.arithmetic(2))
    found = Asking(tmp_path).run(cases, Recomputing())
    assert list(found.items) == list(run.run(cases, Recomputing()))
    assert Asking(tmp_path).run(cases, Recomputing()).known == 2


@pytest.mark.parametrize("wrong", [0, 65])
def test_connections_out_of_range_are_refused(tmp_path, wrong):
    """Connections have a least and a most value."""
    with pytest.raises(InvalidArgument, match="connections are 1 to 64"):
        Asking(tmp_path, connections=wrong)


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
