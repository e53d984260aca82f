"""evals/reclaim/inspect_run.py: models through Inspect AI, and a server that does all that servers do."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter

import pytest
from json_server import JsonServer

pytest.importorskip("inspect_ai", reason="the extra 'evals' is not installed")
pytest.importorskip("openai", reason="the extra 'evals' is not installed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of what Inspect imports
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),  # streams of its own
]

from inspect_ai.log import list_eval_logs, read_eval_log  # noqa: E402 - only when it is there

from firsthand.llm.spending import Cap, Price, Spent  # noqa: E402
from firsthand.value import replace  # noqa: E402
from firsthand_evals.reclaim import inspect_run, items, ours, reading, run, sweeps, tasks  # noqa: E402
from firsthand_evals.reclaim.chosen import chosen  # noqa: E402
from firsthand_evals.reclaim.items import Case  # noqa: E402
from firsthand_evals.reclaim.models import Asking  # noqa: E402
from firsthand_evals.reclaim.policies import LOSSY, SOURCE_FIRST, policy  # noqa: E402
from firsthand_evals.reclaim.readers import Recomputing, answered, seen  # noqa: E402
from firsthand_evals.reclaim.seam import subject  # noqa: E402

KEY = "sk-not-to-be-seen-anywhere"


def completion(message: dict) -> dict:
    """Write a reply as servers write it."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 40, "completion_tokens": 4, "total_tokens": 44}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "tiny", "choices": [choice], "usage": usage}


def reads(body: dict) -> dict:
    """Answer like the recomputing reader; call the tool, when there is one, for what the note points at."""
    told = [one for one in body["messages"] if one["role"] == "tool"]
    if body.get("tools") and not told:
        arguments = json.dumps({"query": seen(body["messages"]).ask})
        function = {"name": body["tools"][0]["function"]["name"], "arguments": arguments}
        return completion({"content": None, "tool_calls": [{"id": "t1", "type": "function", "function": function}]})
    if told:
        evidence = reading.joined([body["messages"][0]["content"], *(one["content"] for one in told)])
        return completion({"content": answered(reading.recompute(evidence, seen(body["messages"]).ask).value)})
    return completion({"content": Recomputing().answer(body["messages"])})


@pytest.fixture(autouse=True)
def _alone(tmp_path, monkeypatch):
    """Let Inspect write below a folder of the test, read no .env file, and find nothing but the loopback address."""
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    found = socket.getaddrinfo

    def loopback(host, *rest, **more):
        assert host in {"127.0.0.1", "localhost"}, f"asked for {host}"
        return found(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", loopback)
    yield
    gc.collect()  # what it left open is found here, not in another test


@pytest.fixture
def server():
    served = JsonServer(reads)
    yield served
    served.close()


def bearer(request: tuple) -> str:
    """Give the header that holds the key."""
    return {name.lower(): held for name, held in request[0].items()}["authorization"]


def outcomes(found) -> list[tuple]:
    """Give what must not depend on who answers: of an item all but its key and its reader's name."""
    return [(item.parameters["problem"], item.carried, item.pulls, item.turns, item.replies, item.outcome, item.given)
            for item in found]  # fmt: skip


CASES = run.cases(policy(SOURCE_FIRST), (*tasks.arithmetic(6), *tasks.logic(6)))


# the machinery ---------------------------------------------------------------------------------------------


def test_items_through_inspect_are_those_without_it(tmp_path):
    """A deterministic reader in a model of Inspect's gives item for item what it gives alone: pulls, chains, all."""

    def kept(messages, budget):
        return messages[1]["content"][:budget]

    class Asked:
        def write(self, messages, budget):
            self.said = messages[1]["content"]
            return ""

        def recall(self, query):
            return self.said

    cases = [
        *sweeps.reclaim(2, subjects=[subject(kept), subject(Asked)]), *sweeps.chain(1, hops=(1, 2)),
        *sweeps.taxonomy(1, 5), *(Case("window", policy(LOSSY), one, budget=None) for one in tasks.arithmetic(2, 3)),
    ]  # fmt: skip
    asking = Asking(tmp_path / "out")
    found = asking.run(cases, asking.reader(chosen("scripted:recomputing")))
    assert list(found.items) == list(run.run(cases, Recomputing()))
    assert (found.made, found.failed, found.left, found.stopped) == (len(cases), (), 0, "")
    assert any(item.pulls for item in found.items)


def test_no_setting_and_no_program_of_the_folder_is_used(tmp_path, monkeypatch):
    """Inspect takes no `.env` of the current folder, and runs no program that its repository names."""
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "one")):
        subprocess.run([*git, *words], check=True)
    for name in ("fsmonitor", "sshCommand"):
        subprocess.run([*git, "config", f"core.{name}", f"touch {tmp_path / 'ran'}; false"], check=True)
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=http://stranger.example\nINSPECT_LOG_DIR=theirs\n")
    monkeypatch.delenv("PYTEST_CURRENT_TEST")  # Inspect leaves git alone where it is set
    before = dict(os.environ)
    asking = Asking(tmp_path / "out")
    asked = asking.run(CASES[:1], asking.reader(chosen("scripted:recomputing")))
    assert [item.outcome for item in asked.items] == ["recovered"]
    assert not (tmp_path / "ran").exists()
    assert dict(os.environ) == before


def test_the_log_shows_each_case_as_a_sample(tmp_path, server):
    """A sample has the case's key, its parameters, the session as the model saw it, the item and a score."""
    asking = Asking(tmp_path / "out", key=KEY)
    found = asking.run(CASES[:2], asking.reader(chosen(f"{server.url}#tiny")))
    (name,) = list_eval_logs(str(tmp_path / "out" / "inspect"))
    log = read_eval_log(name)
    samples = {sample.id: sample for sample in log.samples}
    assert (log.status, set(samples)) == ("success", {item.key for item in found.items})
    item = found.items[0]
    sample = samples[item.key]
    assert sample.metadata == item.parameters
    assert [message.role for message in sample.messages] == ["system", "user", "assistant"]
    assert sample.messages[0].text.endswith(item.carried)
    assert (sample.messages[2].text, sample.target) == (item.replies[0], item.answer)
    score = sample.scores["outcome"]
    assert (score.value["recovered"], score.value["wrong"], score.answer) == (1.0, 0.0, item.given)
    assert score.metadata["item"]["key"] == item.key
    metrics = {one.name: one.metrics["mean"].value for one in log.results.scores}
    assert (metrics["recovered"], metrics["attractor"]) == (1.0, 0.0)
    assert found.log.endswith(".eval")


def test_the_key_goes_to_the_server_alone(tmp_path, server):
    """It stands in the header of each request, and in no file of the run; without one, the header says none."""
    asking = Asking(tmp_path / "out", key=KEY)
    asking.run(CASES[:2], asking.reader(chosen(f"{server.url}#tiny")))
    assert set(map(bearer, server.seen)) == {f"Bearer {KEY}"}
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) >= 3
    assert [file for file in files if KEY.encode() in file.read_bytes()] == []
    (log,) = list_eval_logs(str(tmp_path / "out" / "inspect"))
    assert KEY not in read_eval_log(log).model_dump_json()
    server.seen.clear()
    asking = Asking(tmp_path / "other")
    asking.run(CASES[:1], asking.reader(chosen(f"{server.url}#tiny")))
    assert list(map(bearer, server.seen)) == ["Bearer none"]


def test_a_memory_is_asked_by_a_tool_call(tmp_path, server):
    """The model is offered recall, its call reaches the memory, the result goes back joined to it, and is counted."""
    cases = run.cases(ours.pointers(), tasks.ledger(2, 32), budget=300)
    asking = Asking(tmp_path / "out")
    found = asking.run(cases, asking.reader(chosen(f"{server.url}#tiny")))
    bodies = [body for _, body in server.seen]
    assert [item.outcome for item in found.items] == ["recovered", "recovered"]
    assert [len(item.pulls) for item in found.items] == [1, 1]
    assert Counter(len(body["messages"]) for body in bodies) == {2: 2, 4: 2}
    assert {body["tools"][0]["function"]["name"] for body in bodies} == {"recall"}
    last = next(body["messages"] for body in bodies if len(body["messages"]) == 4)
    assert [one["role"] for one in last] == ["system", "user", "assistant", "tool"]
    assert last[3]["tool_call_id"] == last[2]["tool_calls"][0]["id"]
    assert "RECALL" not in json.dumps(bodies)
    assert found.spent == Spent(4, 0, 160, 16)


def test_a_model_writes_and_a_rule_reads(tmp_path, server):
    """Memories that a model writes are asked for in the same run, recorded and counted with the rest."""
    server._server.RequestHandlerClass  # noqa: B018 - it is up
    asking = Asking(tmp_path / "out")
    writer = asking.writers(chosen(f"{server.url}#clerk"))
    found = asking.run(run.cases(writer[0], tasks.arithmetic(2)), Recomputing())
    assert (found.made, found.spent.calls) == (2, 2)
    assert found.items[0].parameters["memory"] == "summary by clerk"
    again = Asking(tmp_path / "out", replay=True)
    (tmp_path / "out" / "items.jsonl").unlink()
    writer = again.writers(chosen(f"{server.url}#clerk"))
    assert again.run(run.cases(writer[0], tasks.arithmetic(2)), Recomputing()).items == found.items


# the cap ---------------------------------------------------------------------------------------------------


def test_a_cap_stops_a_run_that_keeps_what_it_has(tmp_path, server):
    """No call more than allowed reaches the server; made, failed and left add up; a higher cap asks only the rest."""
    reader = chosen(f"{server.url}#tiny")
    asking = Asking(tmp_path / "out", cap=Cap(calls=5), price=Price(1, 2))
    first = asking.run(CASES, asking.reader(reader))
    assert len(server.seen) == first.spent.calls == first.made == 5
    assert (first.known, first.failed, first.left) == (0, (), 7)
    assert first.stopped.startswith("the next call could pass the cap of 5 calls; spent are 5 calls")
    assert first.spent.cost == pytest.approx((5 * 40 + 2 * 5 * 4) / 1e6)
    kept = (tmp_path / "out" / "items.jsonl").read_bytes()
    assert kept.count(b"\n") == 5
    asking = Asking(tmp_path / "out")
    second = asking.run(CASES, asking.reader(reader))
    assert (second.known, second.made, second.left, second.stopped) == (5, 7, 0, "")
    assert len(server.seen) == 12
    assert (tmp_path / "out" / "items.jsonl").read_bytes().startswith(kept)
    assert outcomes(second.items) == outcomes(run.run(CASES, Recomputing()))


def test_one_case_that_breaks_off_at_the_cap_pays_for_nothing_twice(tmp_path, server):
    """A chain that the cap cut is left; what it had asked is recorded, and the next run asks from there."""
    (case,) = [one for one in sweeps.chain(1, hops=(4,)) if one.premise and one.subject.name == SOURCE_FIRST]
    reader = chosen(f"{server.url}#tiny", tools=False)
    asking = Asking(tmp_path / "out", cap=Cap(calls=2))
    first = asking.run([case], asking.reader(reader))
    assert (first.made, first.left, len(server.seen)) == (0, 1, 2)
    asking = Asking(tmp_path / "out")
    second = asking.run([case], asking.reader(reader))
    assert (second.made, second.left, len(server.seen)) == (1, 0, 4)


# a server that misbehaves ------------------------------------------------------------------------------------


def hang_up(handler) -> None:
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def truncate(handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "500")
    handler.end_headers()
    handler.wfile.write(b'{"id": "c", "choices": [{"in')
    handler.wfile.flush()
    hang_up(handler)


BUSY = (429, {"Retry-After": "0.05"}, b'{"error": {"message": "slow down"}}')
BROKEN = (500, {"Retry-After": "0.05"}, b'{"error": {"message": "oh"}}')
NONSENSE = (
    (200, {"Content-Type": "text/html"}, b"<html>Welcome to the hotel network</html>"),
    (200, {}, b'{"choices": ['),
    (200, {}, b'"fine"'),
    (200, {}, b'{"object": "chat.completion", "choices": []}'),
)
REFUSED = (400, {}, b'{"error": {"message": "no such field"}}')


def test_what_passes_is_waited_for(tmp_path, server):
    """Rate limits, errors, a hang-up and a cut reply are asked again: every case has its item, none fails."""
    server.plan += [BUSY, hang_up, BROKEN, truncate, BUSY, BROKEN]
    asking = Asking(tmp_path / "out", connections=1)
    found = asking.run(CASES, asking.reader(chosen(f"{server.url}#tiny")))
    assert (found.made, found.failed, found.left) == (12, (), 0)
    assert outcomes(found.items) == outcomes(run.run(CASES, Recomputing()))
    assert len(server.seen) == 12 + 6
    assert found.spent == Spent(12, 0, 480, 48)


def test_nothing_is_lost_to_a_server_that_answers_nonsense(tmp_path, server):
    """Each case that got no reply is a failure with its reason, is in no table, and is asked again by the next run."""
    server.plan += [REFUSED, *NONSENSE]
    reader = chosen(f"{server.url}#tiny")
    asking = Asking(tmp_path / "out", connections=1, retries=0)
    first = asking.run(CASES, asking.reader(reader))
    assert first.known + first.made + len(first.failed) + first.left == len(CASES)
    assert 1 <= len(first.failed) <= 5
    assert first.left == 0
    assert any("no such field" in one.error for one in first.failed)
    assert {one.error.split(":")[0] for one in first.failed} <= {"ModelUnavailable", "ModelError"}
    assert first.spent.failed == len(first.failed)
    log = read_eval_log(list_eval_logs(str(tmp_path / "out" / "inspect"))[0])
    assert sum(sample.error is not None for sample in log.samples) == len(first.failed)
    asking = Asking(tmp_path / "out")
    second = asking.run(CASES, asking.reader(reader))
    assert (second.known, second.made, second.failed) == (first.made, len(first.failed), ())
    assert outcomes(second.items) == outcomes(run.run(CASES, Recomputing()))


def test_a_reply_that_was_cut_at_its_length_is_counted_as_it_is(tmp_path, server):
    """A reply without an answer line is an item with the outcome malformed, not a failure."""
    cut = completion({"content": "Let me think. The first item is"})
    cut["choices"][0]["finish_reason"] = "length"
    server.plan.append((200, {}, json.dumps(cut).encode()))
    asking = Asking(tmp_path / "out", connections=1)
    found = asking.run(CASES[:2], asking.reader(chosen(f"{server.url}#tiny")))
    assert Counter(item.outcome for item in found.items) == {"malformed": 1, "recovered": 1}


def test_a_prompt_that_a_provider_had_in_its_cache_is_counted_whole(tmp_path, server):
    """What is spent does not shrink because a provider tells cached tokens apart; at a price it is an upper bound."""
    cached = completion({"content": "ANSWER: 1"})
    cached["usage"]["prompt_tokens_details"] = {"cached_tokens": 30}
    server.plan.append((200, {}, json.dumps(cached).encode()))
    asking = Asking(tmp_path / "out")
    assert asking.run(CASES[:1], asking.reader(chosen(f"{server.url}#tiny"))).spent == Spent(1, 0, 40, 4)


def test_a_server_that_is_silent_is_given_up(tmp_path, server):
    """An attempt that takes too long is a failure after its retries; the other cases have their items."""
    late = threading.Event()
    server.plan.append(lambda handler: (late.wait(20), hang_up(handler)))
    asking = Asking(tmp_path / "out", connections=1, retries=0, timeout_seconds=1)
    found = asking.run(CASES[:3], asking.reader(chosen(f"{server.url}#tiny")))
    late.set()
    assert (found.made, len(found.failed), found.left) == (2, 1, 0)


def test_a_server_that_is_not_there_fails_every_case(tmp_path):
    """All cases are failures, and nothing is kept as if it were an answer."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        asking = Asking(tmp_path / "out", retries=0)
        found = asking.run(CASES[:2], asking.reader(chosen(f"{url}#tiny")))
    assert (found.made, len(found.failed), found.items) == (0, 2, ())
    assert "tiny gave no reply" in found.failed[0].error


def test_a_memory_that_fails_costs_its_own_item_alone(tmp_path, server):
    """What a memory under test raises is an item that says so; the others are asked."""

    def careless(messages, budget):
        if "hammers" in messages[1]["content"]:
            raise ZeroDivisionError("mine")
        return messages[1]["content"][:budget]

    cases = run.cases(careless, tasks.arithmetic(6))
    asking = Asking(tmp_path / "out")
    found = asking.run(cases, asking.reader(chosen(f"{server.url}#tiny")))
    alone = list(run.run(cases, Recomputing()))
    assert [item.outcome for item in found.items] == [item.outcome for item in alone]
    assert [item.fault for item in found.items] == [item.fault for item in alone]
    assert sum("mine" in item.fault for item in found.items) >= 1


RUNS = """
import sys
from pathlib import Path
from firsthand_evals.reclaim import run, tasks
from firsthand_evals.reclaim.chosen import chosen
from firsthand_evals.reclaim.models import Asking
from firsthand_evals.reclaim.policies import SOURCE_FIRST, policy

asking = Asking(Path(sys.argv[1]), connections=2)
cases = run.cases(policy(SOURCE_FIRST), (*tasks.arithmetic(6), *tasks.logic(6)))
found = asking.run(cases, asking.reader(chosen(sys.argv[2] + "#tiny")))
print(found.known + found.made + len(found.failed) + found.left, found.stopped)
"""


@pytest.mark.parametrize("ended", [signal.SIGKILL, signal.SIGINT])
def test_a_run_goes_on_after_a_kill(tmp_path, ended):
    """Killed in the middle, nothing that was answered is lost or asked again; interrupted, it says so by itself."""
    answer = reads

    def slowly(body):
        time.sleep(0.15)
        return answer(body)

    slow = JsonServer(slowly)
    file = tmp_path / "out" / "items.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(RUNS), str(tmp_path / "out"), slow.url],
        env=os.environ, stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - ignored behind a shell
    )  # fmt: skip
    try:
        until = time.monotonic() + 60
        while not (file.is_file() and file.read_bytes().count(b"\n") >= 3) and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(ended)
    finally:
        told = process.communicate(timeout=120)[0].decode()
    if ended == signal.SIGINT:
        assert told.strip().splitlines()[-1].startswith("12 it was interrupted; what was made is kept")
    held = len(items.load(file))
    assert 3 <= held < 12
    before = len(slow.seen)
    asking = Asking(tmp_path / "out")
    found = asking.run(CASES, asking.reader(chosen(f"{slow.url}#tiny")))
    slow.close()
    assert (found.known, found.known + found.made, found.failed, found.left) == (held, 12, (), 0)
    assert outcomes(found.items) == outcomes(run.run(CASES, Recomputing()))
    assert file.read_bytes().count(b"\n") == 12
    assert len(slow.seen) - before <= 12 - held
    assert len(slow.seen) <= 12 + 2  # what was being answered when it was killed


def test_a_run_that_was_told_to_ignore_an_interrupt_goes_on(tmp_path):
    """What a shell starts behind itself, or nohup, has Ctrl-C ignored: the run comes to its end and says no more."""
    server, begun = JsonServer(reads), tmp_path / "out" / "items.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(RUNS), str(tmp_path / "out"), server.url],
        env=os.environ, stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # noqa: PLW1509 - as nohup does
    )  # fmt: skip
    until = time.monotonic() + 60
    while not begun.is_file() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=60)[0].decode()
    server.close()
    assert (process.returncode, told) == (0, "12 \n")
    assert len(items.load(begun)) == 12


class Slow(Recomputing):
    """A reader that takes longer than an attempt may."""

    def answer(self, messages):
        time.sleep(1.5)
        return super().answer(messages)


def test_what_runs_in_this_process_is_waited_for(tmp_path, monkeypatch):
    """An attempt at a server is given up in time; a model here is not: its thread would run on beside the next."""
    monkeypatch.setattr(inspect_run, "scripted", lambda: {"recomputing": Slow()})
    asking = Asking(tmp_path / "out", retries=0, timeout_seconds=1)
    found = asking.run(CASES[:1], asking.reader(chosen("scripted:recomputing")))
    assert (found.made, found.failed) == (1, ())


def test_a_model_that_inspect_does_not_know_is_an_error(tmp_path):
    """A provider that there is not, or one without its key, is named before anything is asked."""
    asking = Asking(tmp_path / "out")
    with pytest.raises(Exception, match="Inspect AI cannot ask 'nobody/nothing'"):
        asking.run(CASES[:1], asking.reader(chosen("nobody/nothing")))


def test_temperature_and_length_are_sent_as_chosen(tmp_path, server):
    """What was chosen is what the server is asked for, and the item's key holds the temperature."""
    asking = Asking(tmp_path / "out")
    found = asking.run(CASES[:1], asking.reader(replace(chosen(f"{server.url}#tiny"), temperature=0.7, tokens_max=55)))
    ((_, body),) = server.seen
    assert (body["model"], body["temperature"], body.get("max_tokens") or body["max_completion_tokens"]) == (
        "tiny",
        0.7,
        55,
    )
    assert found.items[0].parameters["temperature"] == 0.7
    assert found.items[0].parameters["reader"] == "tiny (55 tokens)"
