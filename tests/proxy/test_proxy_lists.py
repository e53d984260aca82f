"""Several lists under one session's name: each message is recorded once, and each list goes on as if it were alone."""

import json
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier

import pytest
from model_stub import PATHS, Said, running
from proxy_client import LISTS, Client

from firsthand import Memory
from firsthand.formats.check import faults
from firsthand.proxy.budgets import Budgets

STEPS, WHOLE, SMALL = 24, 50_000, 1_500


class ListClient(Client):
    """A client of a session that has other clients, and may begin with the list of one of them."""

    def __init__(self, run, format_, messages=()):
        super().__init__(run, format_, stream=False)
        self.headers = {"x_firsthand_session": "monday"}
        self.list = [*messages]
        self.sent = None

    def ask(self, text):
        """Say something, and check the request: valid, of this list alone, as the one before where nothing left."""
        self.say(text)
        body = self.run.stub.bodies[-1]
        sent = body[LISTS[self.format]]
        assert faults(body, self.format) == ()
        assert "Calls without a result" not in json.dumps(sent), "a recall is answered at once"
        asked = texts(message for message in sent if message.get("role") == "user")
        assert [text for text in asked if text and not text.endswith(("]", *texts(self.list)))] == []
        if self.sent is not None and "evicted, nothing lost" not in json.dumps(sent):
            assert sent[: len(self.sent)] == self.sent
        self.sent = sent


def texts(messages):
    contents = [message.get("content") or "" for message in messages]
    return tuple(text if isinstance(text, str) else "".join(part.get("text", "") for part in text) for text in contents)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("format_", sorted(PATHS))
def test_lists_by_turns(format_, seed, tmp_path):
    """Lists that grow, part, go back and come again are recorded once a place, through two proxies and a restart."""
    choose, places, store = random.Random(seed), Counter(), tmp_path / "store"
    budgets = Budgets([str((WHOLE, SMALL)[seed % 2])])
    with ExitStack() as servers:
        runs = [servers.enter_context(running(store, budgets=budgets)) for _ in range(1 + seed // 2)]
        clients = [ListClient(runs[0], format_) for _ in range(2)]
        for step in range(STEPS):
            if step == STEPS // 2:
                runs = [servers.enter_context(running(store, budgets=budgets)), *runs[1:]]
            client, kind = choose.choice(clients), choose.randrange(8)
            asked = [at for at, message in enumerate(client.list) if message["role"] == "user"]
            if kind == 0 and asked:  # another one goes on from an earlier place
                client = ListClient(client.run, format_, client.list[: choose.choice(asked)])
                clients.append(client)
            elif kind == 1 and asked:  # it goes back itself
                client.list, client.sent = client.list[: choose.choice(asked)], None
            elif kind == 2:  # a side call, which nobody goes on from
                client = ListClient(client.run, format_, choose.choice([client.list, []]))
            client.run = choose.choice(runs)
            if choose.random() < 0.2:
                client.run.stub.script.append(Said("", ((f"r{step}", "recall", {"query": "worker"}),)))
            client.run.stub.script.append(Said(choose.choice(["Done.", f"Answer {step}."])))
            text = choose.choice(["Go on.", f"Step {step}."]) + " What does worker 7 do?" * choose.choice([0, 20])
            before = texts(client.list)
            client.ask(text)
            places[before, text] = 1
        assert not [line for run in runs for line in run.log]
    with Memory(store) as memory:
        assert [session.name for session in memory.sessions()] == ["monday"]
        said = Counter(event.text for event in memory.events("monday", kind="user_message"))
        assert said == Counter(text for _, text in places)
        assert all(memory.replay(call.pointer).same for call in memory.anatomies("monday"))
        assert memory.verify().ok


@pytest.mark.parametrize("format_", sorted(PATHS))
def test_lists_at_once(format_, tmp_path):
    """Lists that are spoken to at the same moment never hold what another one says, and share their beginning."""
    with running(tmp_path / "store") as run, ThreadPoolExecutor(6) as pool:
        first = ListClient(run, format_)
        first.say("Shared.")
        clients = [ListClient(run, format_, first.list * (number % 2)) for number in range(6)]
        for turn in range(3):
            wanted = [f"{number} says {turn}." for number in range(6)]
            assert all(answer["text"] == "ok" for answer in pool.map(Client.say, clients, wanted))
        assert not run.log
        for body in run.stub.bodies:
            assert len({text[0] for text in texts(body[LISTS[format_]]) if " says " in text}) <= 1
    with Memory(tmp_path / "store") as memory:
        said = [event.text for event in memory.events("monday", kind="user_message")]
        assert sorted(said) == sorted(
            ["Shared.", *(f"{number} says {turn}." for number in range(6) for turn in range(3))]
        )
        assert memory.verify().ok


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("format_", sorted(PATHS))
def test_two_proxies_at_once(format_, named, tmp_path):
    """A list that two proxies are given at the same moment is recorded once, with the answer that came first."""
    with running(tmp_path / "store") as one, running(tmp_path / "store") as other, ThreadPoolExecutor(2) as pool:
        clients, both_asked = [ListClient(run, format_) for run in (one, other)], Barrier(2, timeout=20)
        one.stub.before = other.stub.before = lambda _: both_asked.wait()
        for turn in range(6):
            for client in clients:
                client.headers = client.headers if named else {}
                client.run.stub.script.append(Said(f"Answer {turn}."))
            [*pool.map(Client.say, clients, [f"Question {turn}."] * 2)]
        assert not one.log + other.log
    with Memory(tmp_path / "store") as memory:
        for session in memory.sessions():
            said = Counter(event.text for event in memory.events(session.name, kind="user_message"))
            assert set(said.values()) == {1}
        assert memory.verify().ok
