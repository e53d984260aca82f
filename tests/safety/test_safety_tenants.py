"""Two tenants with canaries in one store: no verb, command, tool, hook, log line or file gives one the other's words.

Each table names every verb there is, and a test fails when one is added that a table does not know. Two ways of
being apart are tested: two namespaces, of which one sees nothing of the other at all, and two agents of one namespace,
of which one is told nothing of the other's sessions unasked or by its tools.
"""

from __future__ import annotations

import argparse
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from firsthand import Agent, AgentTools, Draft, Kind, Memory, Session
from firsthand.agents import faults, jobs
from firsthand.agents.agent import agents_of
from firsthand.agents.faults import Fault, keep_fault
from firsthand.agents.hook_answer import answer_hook
from firsthand.agents.jobs import Job
from firsthand.cli import cli
from firsthand.cli.arguments import parser
from firsthand.cli.exits import USAGE
from firsthand.errors import FirsthandError
from firsthand.health.doctor import examine
from firsthand.health.job_runner import run_due
from firsthand.server import hook_client
from firsthand.value import fields

CANARY = "vexcanary"
"""Stands in all that the other tenant has: texts, payloads, names of sessions and agents, folders, faults, jobs."""
QUERY = "which port does the staging gateway of the orchard listen on?"
RARE = "quincevex"
"""Stands beside it, and nowhere else: what is asked with, since an answer may repeat its question."""
MINE, THEIRS = "mine", f"{CANARY}-namespace"
LATER_MS = 4_000_000_000_000
LARGE = "line of the listing of the orchard\n" * 4_000


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home in which nothing of this machine is found, with a folder for each tenant's project."""
    for name in ("HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("FIRSTHAND_DAEMON", "off")
    for name in ("home", MINE, CANARY):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / MINE)
    return tmp_path


def fire(memory: Memory, cwd: Path, session: str, event: str, **told: Any) -> bytes:
    payload = {"session_id": session, "hook_event_name": event, "cwd": str(cwd), **told}
    return answer_hook("claude-code", json.dumps(payload).encode(), memory, nonce=f"{session} {event}").output


def lived(memory: Memory, cwd: Path, word: str) -> dict[str, Any]:
    """Live a session by hooks, by hand and by an agent's files, with a word in all of it; give what names it."""
    text = f"The staging gateway of the orchard listens on port {word}{f' ({RARE})' if word == CANARY else ''}."
    hooked = f"{word}-hooked"
    fire(memory, cwd, hooked, "SessionStart", source="startup")
    fire(memory, cwd, hooked, "UserPromptSubmit", prompt=f"Remember: {text}", prompt_id="1")
    fire(memory, cwd, hooked, "PostToolUse", tool_name="Bash", tool_input={"command": f"curl {word}"},
         tool_use_id="t", tool_response={"stdout": f"{word}\n{LARGE}", "stderr": ""})  # fmt: skip
    fire(memory, cwd, hooked, "PostToolUseFailure", tool_name="Bash", tool_input={"command": "make orchard"},
         tool_use_id="f", error=f"{word} is not there")  # fmt: skip
    fire(memory, cwd, hooked, "SessionEnd", reason="other")
    run_due(memory, now_ms=LATER_MS)
    session = memory.session(f"{word}-session", agent=f"{word}-agent")
    first = session.user(f"We decided: {text} Never tell {word} to anybody.")
    call = session.tool_call("Bash", {"command": f"curl {word}"})
    session.tool_result(call, f"{word}\n{LARGE}")
    session.agent(f"{text} Done.")
    session.note(f"lesson of {word}: {text}", sources=[first.pointer])
    window = session.window(8_000)
    window.request()
    agent = memory.agent(f"{word}-agent")
    agent.enrol(session.name, cwd=str(cwd))
    agent.learn(f"knowledge/{word}.md", f"# {word}\n\n{text}\n")
    agent.close(session.name)
    memory.follow()
    return {"session": session.name, "pointer": first.pointer, "agent": agent.name, "id": first.id}


@pytest.fixture
def store(home):
    """A store in which both tenants lived, and the other has a fault, a job and a call that waits."""
    root, who = home / "store", {}
    for namespace, word, cwd in ((MINE, "myword", home / MINE), (THEIRS, CANARY, home / CANARY)):
        with Memory.open(root, namespace=namespace, embedder="none") as memory:
            who[namespace] = lived(memory, cwd, word)
    keep_fault(root, Fault("a step", f"{CANARY} went wrong", f"claude-code:{CANARY}", namespace=THEIRS))
    jobs.leave(root, Job(jobs.FOLLOW, THEIRS, f"{CANARY}-agent", f"codex:{CANARY}", "codex", f"/{CANARY}", why=CANARY))
    yield root, who[MINE], who[THEIRS]
    with Memory.open(root, namespace=MINE, embedder="none") as memory:
        assert memory.verify().ok


def bytes_of(thing: Any, depth: int = 0) -> Iterator[bytes]:
    """Yield all bytes of what a verb gave, the fields of values and the items of iterators too."""
    if isinstance(thing, bytes):
        yield thing
    elif isinstance(thing, Mapping):
        yield from (part for pair in thing.items() for one in pair for part in bytes_of(one, depth + 1))
    elif isinstance(thing, (str, Path, int, float, bool, type(None))) or depth > 8:
        yield str(thing).encode("utf-8", "surrogateescape")
    elif isinstance(thing, Iterable):
        yield from (part for one in thing for part in bytes_of(one, depth + 1))
    else:
        yield repr(thing).encode("utf-8", "surrogateescape")
        yield from (part for name in _fields(thing) for part in bytes_of(getattr(thing, name), depth + 1))


def _fields(thing: Any) -> tuple[str, ...]:
    try:
        return tuple(fields(type(thing)))
    except (AttributeError, TypeError, KeyError):  # no value
        return ()


def given(verb: Callable[[], Any]) -> bytes:
    """Give all that a verb says, its error too."""
    try:
        return b"\n".join(bytes_of(verb()))
    except (FirsthandError, ValueError, LookupError) as error:
        return f"{type(error).__name__}: {error}".encode()


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def without(said: bytes, *asked: str) -> bytes:
    """Take out of what was said what the caller asked with: an error may repeat that."""
    for word in sorted(asked, key=len, reverse=True):
        said = said.replace(word.encode(), b"")
    return said


def rows_of_moment(memory: Memory) -> list[Any]:
    """Give what a moment of the index tells of its rows, its speakers and its words."""
    with memory.index_moment() as moment:
        words = moment.words_with(RARE[1:], 10) + moment.words_with("orchard"[:4], 10)
        return [words, *moment.agents.values(), str(moment.postings(moment.stems(RARE)[0])), *moment.faults]


# the verbs of Memory, Session and Agent ------------------------------------------------------------------

SAYS_ALL = "copies the whole store on disk, every namespace, as its documentation says"
MEMORY: dict[str, Callable[[Memory, dict, dict, Path], Any] | str] = {
    "open": "gives the handle that all others are asked of", "close": "says nothing",
    "wake": "says nothing", "decided": "says nothing", "tokenizer": "knows no event", "stemmer": "knows no event",
    "census": lambda m, mine, their, at: m.census().stretches(their["session"], 1, 9),
    "index_moment": lambda m, mine, their, at: rows_of_moment(m),
    "position": lambda m, mine, their, at: m.position, "earlier": "no event",
    "path": lambda m, mine, their, at: m.path, "read_only": lambda m, mine, their, at: m.read_only,
    "session": lambda m, mine, their, at: list(m.session(their["session"]).events()),
    "agent": lambda m, mine, their, at: m.agent(their["agent"]).sessions(),
    "append": lambda m, mine, their, at: m.append([Draft(Kind.NOTE, b"x", id=their["id"])], session=mine["session"]),
    "note": lambda m, mine, their, at: m.note("x", session=mine["session"], sources=[their["pointer"]]),
    "check": lambda m, mine, their, at: m.check([{"says": "x", "quotes": ["x"], "at": [their["pointer"]]}]),
    "check_correction": lambda m, mine, their, at: [m.check_correction(f"not {RARE} but 7"),
                                                    m.check_correction("7", note=their["pointer"])],
    "coverage": lambda m, mine, their, at: [m.coverage("x", their["pointer"]), m.coverage(their["pointer"])],
    "supersede": lambda m, mine, their, at: m.supersede(mine["pointer"], their["pointer"], "We decided", "orchard"),
    "retract": lambda m, mine, their, at: m.retract(their["pointer"], "orchard"),
    "assert_fact": lambda m, mine, their, at: m.assert_fact("port", "x", CANARY, at=their["pointer"]),
    "facts": lambda m, mine, their, at: m.facts(),
    "recall": lambda m, mine, their, at: [m.recall(QUERY), m.recall(RARE), m.recall(QUERY, hits_max=50),
                                          m.recall(QUERY, sessions=("*",)), m.recall(RARE, agents=("*",))],
    "fence": lambda m, mine, their, at: m.fence("x"), "fenced": lambda m, mine, their, at: m.fenced(m.recall(QUERY)),
    "expand": lambda m, mine, their, at: m.expand(their["pointer"]),
    "stream": lambda m, mine, their, at: list(m.stream(their["pointer"])),
    "event": lambda m, mine, their, at: m.event(their["pointer"]),
    "events": lambda m, mine, their, at: (list(m.events()), list(m.events(their["session"]))),
    "open_span": lambda m, mine, their, at: list(m.open_span(f"{mine['pointer']}..{their['id']}")),
    "unfinished": lambda m, mine, their, at: m.unfinished(their["session"]),
    "sessions": lambda m, mine, their, at: m.sessions(), "head": lambda m, mine, their, at: m.head(),
    "identity": lambda m, mine, their, at: m.identity,
    "anatomies": lambda m, mine, their, at: (list(m.anatomies()), list(m.anatomies(their["session"]))),
    "anatomy": lambda m, mine, their, at: m.anatomy(their["pointer"]),
    "replay": lambda m, mine, their, at: m.replay(their["pointer"]), "stats": lambda m, mine, their, at: m.stats(),
    "vectors": lambda m, mine, their, at: m.vectors(),
    "import_paths": lambda m, mine, their, at: m.import_paths([at / "nothing"]),
    "export": lambda m, mine, their, at: exported(m), "restore": lambda m, mine, their, at: m.restore(io.BytesIO(b"x")),
    "backup": SAYS_ALL, "verify": lambda m, mine, their, at: m.verify(heads=[f"1:{'0' * 64}"]),
    "erase": lambda m, mine, their, at: m.erase([their["pointer"]]), "rebuild": lambda m, mine, their, at: m.rebuild(),
    "follow": lambda m, mine, their, at: m.follow(),
}  # fmt: skip
SESSION: dict[str, Callable[[Session, dict], Any] | str] = {
    **dict.fromkeys(("append", "user", "agent", "reasoning", "system", "tool_call", "append_messages"), "writes"),
    "note": lambda s, their: s.note("x", sources=[their["pointer"]]),
    "tool_result": lambda s, their: s.tool_result("call_x", "x", meta={"parent": their["pointer"]}),
    "messages": lambda s, their: s.messages(), "events": lambda s, their: list(s.events()),
    "window": lambda s, their: s.window(8_000).request().messages,
    "executor": lambda s, their: s.executor("a task").recall(QUERY),
}  # fmt: skip
AGENT: dict[str, Callable[[Agent, dict], Any] | str] = {
    "session": lambda a, their: a.session, "folder": lambda a, their: [*a.folder.rglob("*")], "enrol": "writes",
    "own": lambda a, their: [list(a.own(kind)) for kind in Kind], "sessions": lambda a, their: a.sessions(),
    "scope": lambda a, their: a.scope(), "episodes": lambda a, their: a.episodes(),
    "close": lambda a, their: a.close(a.sessions()[0]), "catch_up": lambda a, their: a.catch_up(quiet_seconds=0),
    "preamble": lambda a, their: a.preamble(), "cues": lambda a, their: a.cues(QUERY),
    "learn": lambda a, their: a.learn("a.md", "x\n"), "follow": lambda a, their: a.follow(),
    "restore": lambda a, their: a.restore(),
    "tell": lambda a, their: a.tell("x", sender="a", about=[their["pointer"]]),
    "messages": lambda a, their: a.messages(), "mark_read": lambda a, their: a.mark_read([their["pointer"]]),
}  # fmt: skip


def exported(memory: Memory) -> bytes:
    target = io.BytesIO()
    memory.export(target)
    return target.getvalue()


@pytest.mark.parametrize(("kind", "table"), [(Memory, MEMORY), (Session, SESSION), (Agent, AGENT)])
def test_every_verb_stands_in_its_table(kind, table):
    """A verb that is added is asked too, or says why not."""
    assert public(kind) - {"memory", "agent"} == set(table) - {"memory", "agent"}


def test_no_verb_gives_anything_of_another_namespace(store, tmp_path):
    """Each verb of Memory, a session and an agent, asked with the other's pointers and names, says no word of it."""
    root, mine, theirs = store
    asked = (theirs["pointer"], theirs["session"], theirs["agent"], theirs["id"])
    with Memory.open(root, namespace=MINE, embedder="none") as memory:
        session, agent = memory.session(mine["session"]), memory.agent(mine["agent"])
        verbs = [
            *((f"Memory.{name}", lambda verb=verb: verb(memory, mine, theirs, tmp_path))
              for name, verb in MEMORY.items() if callable(verb)),
            *((f"Session.{name}", lambda verb=verb: verb(session, theirs)) for name, verb in SESSION.items()
              if callable(verb)),
            *((f"Agent.{name}", lambda verb=verb: verb(agent, theirs)) for name, verb in AGENT.items()
              if callable(verb)),
        ]  # fmt: skip
        leaks = [name for name, verb in verbs if CANARY.encode() in without(given(verb), *asked)]
    assert leaks == []
    with Memory.open(root, namespace=THEIRS, embedder="none") as memory:  # the canary is there to be had
        assert CANARY.encode() in given(lambda: memory.recall(QUERY))
        assert CANARY in memory.event(theirs["pointer"]).text


# the command line ----------------------------------------------------------------------------------------

OWN = "works on a store, a host's settings or a process of its own"
COMMANDS: dict[str, list[str] | str] = {
    "demo": OWN,
    "install": ["install"],
    "uninstall": ["uninstall"],
    "import": ["import nowhere.jsonl"],
    "recall": ["recall {query}", "recall {query} --explain", f"recall {RARE} --json"],
    "show": ["show {their_pointer}", "show {pointer}"],
    "timeline": ["timeline", "timeline --session {their_session}"],
    "doctor": ["doctor", "doctor --json", "doctor --missed {their_pointer} --session {session}"],
    "serve": OWN,
    "proxy": OWN,
    "inspect": OWN,
    "session list": ["session list", "session list --json"],
    "session append": ["session append --session {session} --kind note x"],
    "session export": ["session export {session}", "session export {their_session}"],
    "session window": ["session window {session}", "session window {their_session}"],
    "session anatomy": [
        "session anatomy {session}", "session anatomy replay {their_pointer}",
        "session anatomy --session {their_session}",
    ],
    "session pause": ["session pause --session {their_session}", "session pause --prompt"],
    "session resume": ["session resume --session {their_session}"],
    "store verify": ["store verify", "store verify --json"],
    "store size": ["store size", "store size --json"],
    "store prune": ["store prune", "store prune pages"],
    "store head": ["store head", "store head --json"],
    "store accept-head": OWN,
    "store export": ["store export -"],
    "store restore": ["store restore nowhere"],
    "store backup": SAYS_ALL,
    "store erase": ["store erase {their_pointer} --yes", f"store erase --containing {RARE}"],
    "store rebuild": ["store rebuild"],
    "store sync": ["store sync http://127.0.0.1:9"],
    **dict.fromkeys(
        ("store migrate", "store distribute", "store move", "store new-key", "store key", "store grant", "store limit"),
        "works on a store in PostgreSQL, as its owner",
    ),
    "store follow": ["store follow"],
    "agent list": ["agent list"],
    "agent enrol": ["agent enrol {their_session} --agent {agent}"],
    "agent episodes": ["agent episodes --agent {agent}", "agent episodes --agent {their_agent}"],
    "agent close": ["agent close {their_session} --agent {agent}"],
    "agent preamble": ["agent preamble", "agent preamble --agent {agent}", "agent preamble --agent {their_agent}"],
    "agent cues": ["agent cues {query} --agent {agent}"],
    "agent inbox": [
        "agent inbox --agent {agent}", "agent inbox send x --agent {agent} --sender a --about {their_pointer}",
    ],
    "agent files": ["agent files --agent {agent}", "agent files --agent {their_agent}"],
    "agent digest": ["agent digest --agent {agent}", "agent digest --agent {their_agent}"],
    "agent sleep": ["agent sleep --agent {agent}"],
    "agent switch": ["agent switch cues off"],
    "agent cost": ["agent cost", "agent cost --session {their_session}"],
    "agent jobs": ["agent jobs", "agent jobs --json"],
    "ledger list": ["ledger list"],
    "ledger show": ["ledger show {their_pointer}"],
    "ledger supersede": ["ledger supersede {their_pointer} {pointer}"],
    "ledger sweep": ["ledger sweep", "ledger sweep --model cat"],
    "ledger retract": ["ledger retract {their_pointer}"],
    "ledger assert": ["ledger assert a b --quote c --at {their_pointer}"],
    "ledger facts": ["ledger facts"],
    "ledger restore": ["ledger restore {their_pointer}"],
    "ledger undo": ["ledger undo {their_pointer}"],
    "ledger waiting": ["ledger waiting"],
    "ledger approve": ["ledger approve {their_pointer}"],
    "ledger entries": ["ledger entries"],
    "ledger propose": ["ledger propose nowhere.json"],
    "ledger quarantine": ["ledger quarantine {their_pointer}"],
    "note add": ["note add x --session {session}"],
    "note check": ["note check {their_pointer}"],
    "eval": OWN,
    "mcp": ["mcp --describe"],
    "hook": OWN,
}  # fmt: skip


def commands(of: argparse.ArgumentParser, before: str = "") -> Iterator[str]:
    """Yield the words of each command, and of no group."""
    of.format_help()
    below = [action for action in of._actions if isinstance(action, argparse._SubParsersAction)]
    for action in below:
        for name, command in action.choices.items():
            yield from commands(command, f"{before} {name}".strip())
    if not below:
        yield before


def test_every_command_stands_in_the_table():
    """A command that is added is asked too, or says why not."""
    assert set(commands(parser())) == set(COMMANDS)


def test_no_command_says_anything_of_another_namespace(store, capsysbinary):
    """Each command, asked with the other's pointers and names, prints none of its words on either stream."""
    root, mine, theirs = store
    names = {**mine, **{f"their_{name}": word for name, word in theirs.items()}, "query": "@query"}
    leaks = []
    for asked in (line for lines in COMMANDS.values() if isinstance(lines, list) for line in lines):
        words = [QUERY if word == "@query" else word for word in asked.format(**names).split()]
        code = cli.main(["--store", str(root), "--namespace", MINE, *words])
        said = b"".join(capsysbinary.readouterr())
        if CANARY.encode() in without(said, *words):
            leaks.append((asked, re.findall(b".{60}" + CANARY.encode() + b".{40}", said)[:1]))
        if code == USAGE:
            leaks.append((asked, said[-200:]))
    assert leaks == []


# what a model is told: tools, hooks, preambles -----------------------------------------------------------

TOOLS: dict[str, Callable[[dict, dict], list[dict[str, Any]]]] = {
    "recall": lambda mine, their: [
        {"query": QUERY},
        {"query": CANARY, "limit": 20},
        {"query": QUERY, "sessions": ["*"]},
    ],
    "expand": lambda mine, their: [{"pointer": their["pointer"]}, {"pointer": mine["pointer"], "around": 50}],
    "decide": lambda mine, their: [
        {"action": "assert", "subject": "x", "text": "y", "quote": CANARY, "at": their["pointer"]},
        {"action": "retract", "old": their["pointer"], "quote": CANARY},
        {"action": "assert", "subject": "x", "text": "y", "quote": f"the port {CANARY}"},
    ],
    "remember": lambda mine, their: [{"text": "x", "sources": [their["pointer"]]}],
    "timeline": lambda mine, their: [
        {"where": their["session"]},
        {"where": their["pointer"]},
        {"where": mine["session"]},
    ],
    "health": lambda mine, their: [{}],
}


def test_every_tool_stands_in_its_table():
    """A tool that is added is asked too."""
    assert {tool.name for tool in AgentTools.definitions()} == set(TOOLS)


def test_no_tool_and_no_hook_tells_a_model_of_another_namespace(store, home):
    """Tools asked with the other's names, each hook of a session, the files of an agent and doctor say none of it."""
    root, mine, theirs = store
    asked = (theirs["pointer"], theirs["session"], theirs["id"])
    with Memory.open(root, namespace=MINE, embedder="none") as memory:
        tools = AgentTools.of(memory, cwd=str(home / MINE), agent=mine["agent"], across=True)
        leaks = [
            (name, arguments) for name, table in TOOLS.items() for arguments in table(mine, theirs)
            if CANARY.encode() in without(told(tools, name, arguments), *asked)
        ]  # fmt: skip
        leaks += [event for event, fields in HOOKS.items() if CANARY.encode() in
                  fire(memory, home / MINE, "fresh", event, **fields)]  # fmt: skip
        leaks += [str(path) for path in (root / "agents" / MINE).rglob("*.md") if CANARY in path.read_text()]
        leaks += [fault.text for fault in faults.faults(root, MINE) if CANARY in fault.text]
    leaks += [str(finding) for finding in examine(root, namespace=MINE).findings if CANARY in str(finding)]
    assert leaks == []


HOOKS: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup"}, "UserPromptSubmit": {"prompt": QUERY, "prompt_id": "1"},
    "PreToolUse": {"tool_name": "Bash", "tool_input": {"command": "make orchard"}, "tool_use_id": "a"},
    "PostToolUse": {"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "a", "tool_response": "y"},
    "PreCompact": {"trigger": "auto"}, "Stop": {}, "SessionEnd": {"reason": "other"},
}  # fmt: skip


def told(tools: AgentTools, name: str, arguments: dict[str, Any]) -> bytes:
    """Give what a model is told of a call, as the server words it."""
    try:
        return b"\n".join(bytes_of(tools.call(name, arguments)))
    except FirsthandError as error:
        return tools.sentence(name, error, store=str(tools.space.path)).encode()


def test_no_agent_is_told_of_another_ones_sessions(home):
    """Without `across`, an agent's tools, hooks, preamble, cues and files have none of another agent's words."""
    with Memory.open(home / "store", embedder="none") as memory:
        lived(memory, home / CANARY, CANARY)
        mine = lived(memory, home / MINE, "myword")
        (hooked,) = (agent for agent in agents_of(memory) if agent.name.startswith(f"{MINE}-"))
        leaks = [event for event, fields in HOOKS.items() if CANARY.encode() in
                 fire(memory, home / MINE, "fresh", event, **fields)]  # fmt: skip
        for agent in (hooked, memory.agent(mine["agent"])):
            tools = AgentTools.of(memory, cwd=str(home / MINE), agent=agent.name)
            for name, arguments in (("recall", {"query": QUERY}), ("recall", {"query": RARE}), ("health", {})):
                leaks += [(name, arguments)] if CANARY.encode() in told(tools, name, arguments) else []
            for verb in (agent.preamble, lambda agent=agent: agent.cues(QUERY), agent.episodes,
                         agent.sessions, agent.messages):  # fmt: skip
                leaks += [verb] if CANARY.encode() in given(verb) else []
            leaks += [str(path) for path in agent.folder.rglob("*") if path.is_file() and CANARY in path.read_text()]
        assert leaks == []
        assert memory.verify().ok


def test_the_log_of_hooks_has_no_words_of_anybody(store, home):
    """Lines of hooks.log name hosts, counts and folders, no text of a session."""
    root = store[0]
    folder = home / "home" / "firsthand"
    with Memory.open(root, namespace=THEIRS, embedder="none") as memory:
        fire(memory, home / CANARY, "more", "UserPromptSubmit", prompt=f"{CANARY} once more", prompt_id="2")
    hook_client.log(str(folder), "a line")
    assert CANARY not in (folder / hook_client.LOG_FILE).read_text()
