"""The doctor: each fault is found in its own stage, with what to type; what is healthy is called so."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from firsthand import Draft, Kind, Memory
from firsthand.agents import health_line, jobs, pulse
from firsthand.agents.faults import Fault, keep_fault
from firsthand.health import canary, stages
from firsthand.health.doctor import examine
from firsthand.health.report import Finding, Rate, Severity, Stage
from firsthand.health.stages import Inside
from firsthand.health.surroundings import DaemonState, Look, missing
from firsthand.hosts.codex_trust import Held
from firsthand.hosts.hook import HookEvent
from firsthand.hosts.installation import Installed
from firsthand.index.embed.port import callable_embedder
from firsthand.log.sqlite.index_files import path_of
from firsthand.moment import Moment, now
from firsthand.server import hook_client, launcher
from firsthand.value import replace
from stores import damage_index

DAY = 86_400 * 1_000_000
QUIET = Look(canary=False, keep=False)
COMMAND = shlex.join([sys.executable, "-I", "-S", "-E", hook_client.__file__, "claude-code"])


@pytest.fixture
def store(tmp_path):
    """A store with a few sessions, verified at the end unless a test damages it."""
    root = tmp_path / "store"
    with Memory.open(root) as memory:
        for number in range(60):
            memory.session(f"claude-code:s{number % 5}").user(
                f"worker {number} of the mail queue moved {number} parcels"
            )
    return root


def sql(root: Path, *statements: str) -> None:
    """Damage a store, without the guards that the library sets."""
    for statement in statements:
        if "text_" in statement or "reach" in statement:
            damage_index(root, statement)
            continue
        db = apsw.Connection(str(root / "firsthand.db"))
        try:
            db.execute(statement).fetchall()
        finally:
            db.close()


def found(root: Path, look: Look = QUIET, at: Moment | None = None) -> list[tuple[str, str, str]]:
    """Give what the doctor finds above a note: stage, severity, sentence."""
    report = examine(root, namespace="default", look=look, now=at)
    return [(one.stage.value, one.severity.value, str(one)) for one in report.findings if one.severity != "note"]


def sent(root: Path, places: tuple[Installed, ...], at: Moment) -> list[Finding]:
    """Send canaries, and give what is found."""
    return [*canary.findings(root, places, at)]


def ours(where: Path, command: str = COMMAND, *, current: bool = True) -> Installed:
    return Installed("claude-code", where, "user", ("UserPromptSubmit",), command, current)


def at_days(days: float) -> Moment:
    return Moment(now().microseconds + int(days * DAY))


def test_a_healthy_store_is_healthy(store):
    """Every stage is looked at, a canary arrives, nothing is found, and the line for the agent is empty."""
    report = examine(store, namespace="default", look=Look(installed=(), daemon=DaemonState()))
    assert (report.ok, report.line, report.silent) == (True, "", Rate(0, 1))
    assert set(report.looked_at) == set(Stage)
    assert health_line.line(store) == ""
    with Memory.open(store, read_only=True) as memory:
        assert memory.verify().ok
        assert not memory.recall("canary").hits


@pytest.mark.parametrize(
    ("statement", "stage", "words", "mend"),
    [
        ("UPDATE reach SET position = 5, fault = 'was cut off' WHERE name = 'text'", "index",
         "the text index stopped at position 5 of 60: was cut off", "firsthand store rebuild"),
        ("DROP TABLE text_1", "index", "text index", "firsthand store rebuild"),
        ("DELETE FROM text_1_docsize", "index", "lost its rows", "firsthand store rebuild"),
        ("DELETE FROM text_1_docsize WHERE id BETWEEN 20 AND 30", "index", "lacks 11 of", "firsthand store rebuild"),
        ("UPDATE text_index SET version = '0.0'", "index", "of version 0.0", "firsthand store rebuild"),
        ("UPDATE event SET body = x'0102' WHERE key = 58", "log", "are not what was written", "firsthand store verify"),
    ],
    ids=["stopped", "dropped", "rows lost", "orphaned for a while", "another version", "damaged event"],
)  # fmt: skip
def test_a_fault_inside_the_store_is_named(store, statement, stage, words, mend):
    """The first finding names the stage that was broken, what was seen there, and the command."""
    sql(store, statement)
    first = found(store)[0]
    assert first[:2] == (stage, "broken")
    assert words in first[2]
    assert mend in first[2]


@pytest.mark.parametrize(
    ("statement", "stage"),
    [("DROP TABLE session", "log"), ("DROP TABLE event", "store"), ("DROP TABLE namespace", "store")],
)
def test_a_table_that_is_gone_is_a_finding_and_no_crash(store, statement, stage):
    """There is a report whatever is wrong; what could not be looked at is broken and says what to type."""
    sql(store, statement)
    first = found(store)[0]
    assert first[:2] == (stage, "broken")
    assert "cannot be looked at" in first[2]
    assert "firsthand store verify" in first[2]


def test_pulses_that_cannot_be_read_are_a_finding(store):
    """A file in the place of their folder is named, and the other stages are looked at all the same."""
    (store / "hooks").mkdir(exist_ok=True)
    (store / "hooks" / "fired").write_text("")
    report = examine(store, namespace="default", look=QUIET)
    assert [(one.stage, one.severity) for one in report.findings] == [(Stage.HOOKS, Severity.BROKEN)]
    assert Stage.RECALL in report.looked_at


def test_what_was_measured_is_told_beside_what_was_found(store):
    """Events, how far the index reaches, the age of the last event and the room on the disk stand among the figures."""
    look = Look(canary=False, keep=False, free_bytes=5 << 30)
    with Memory.open(store) as memory:
        memory.rebuild()  # the newest few wait to be indexed together
    figures = examine(store, namespace="default", look=look, now=at_days(3.1)).figures
    assert (figures["events"], figures["text index"], figures["free on the disk"]) == (
        "60",
        "through 60 of 60",
        "5,120 MB",
    )
    assert figures["last event"].endswith(" (3 days ago)")
    sql(store, "UPDATE reach SET position = 5, fault = 'was cut off' WHERE name = 'text'")
    assert examine(store, namespace="default", look=look).figures["text index"] == "through 5 of 60"


def test_a_rebuilt_index_is_healthy_again(store):
    """What the doctor tells to type mends what it found."""
    sql(store, "DELETE FROM text_1_docsize WHERE id BETWEEN 20 AND 30")
    with Memory.open(store) as memory:
        memory.rebuild()
        assert memory.verify().ok
    assert found(store) == []


def test_a_clock_set_back_is_named(store):
    """A clock that stands before the last event, and an event from the future, are told apart."""
    assert [one[:2] for one in found(store, at=at_days(-3))] == [("store", "degraded")]
    with Memory.open(store) as memory:
        memory.append([Draft(Kind.USER_MESSAGE, b"from the future", time=at_days(30))], session="f")
    notes = [one for one in examine(store, look=QUIET).findings if one.stage is Stage.STORE]
    assert [(one.severity.value, "in the future" in one.what) for one in notes] == [("note", True)]


@pytest.mark.parametrize(("free", "severity"), [(8 << 20, "broken"), (100 << 20, "degraded"), (1 << 40, "")])
def test_a_disk_that_is_nearly_full_is_named(store, free, severity):
    """Little room is degraded, next to none is broken."""
    seen = found(store, Look(canary=False, keep=False, free_bytes=free))
    assert [one[:2] for one in seen] == ([("store", severity)] if severity else [])


def test_vectors_behind_and_of_another_model_are_named(tmp_path, monkeypatch):
    """Vectors that are far behind are told with their reach; after a change of the model both names are."""
    monkeypatch.setenv("FIRSTHAND_EMBEDDER", "none")
    root = tmp_path / "store"
    old, new = (
        callable_embedder(name, 4, lambda texts: [[1.0, 2.0, 3.0, 4.0]] * len(texts)) for name in ("old", "new")
    )
    with Memory.open(root, embedder=old) as memory:
        memory.session("s").user("one event with some words in it")
        memory.follow()
    with Memory.open(root) as memory:
        drafts = [Draft(Kind.USER_MESSAGE, f"event {number}".encode()) for number in range(300)]
        memory.append(drafts, session="s")
    for embedder, words in ((old, "reach position 1 of 301"), (new, "the embedder was callable:old")):
        with Memory.open(root, embedder=embedder, read_only=True) as memory:
            (one,) = stages.vectors(Inside(memory, now()))
        assert (one.severity, one.mend) == (Severity.DEGRADED, "firsthand store follow")
        assert words in one.what or "the embedder was old" in one.what
    with Memory.open(root, read_only=True) as memory:
        (note,) = stages.vectors(Inside(memory, now()))
        assert (note.severity, "no embedder is named" in note.what) == (Severity.NOTE, True)
        assert memory.verify().ok


def test_an_index_with_rows_and_no_words_is_found_by_asking(store):
    """Rows that stand in the index without their words look whole to a look-up; the round trip of recall finds it."""
    with Memory.open(store) as memory:
        memory.rebuild()
    db = apsw.Connection(str(path_of(store, 1)))
    rows = db.execute("SELECT * FROM text_1_docsize").fetchall()
    totals = db.execute("SELECT block FROM text_1_data WHERE id = 1").get
    db.execute("INSERT INTO text_1(text_1) VALUES ('delete-all')").fetchall()
    db.executemany(f"INSERT INTO text_1_docsize VALUES ({', '.join('?' * len(rows[0]))})", rows)
    db.execute("UPDATE text_1_data SET block = ? WHERE id = 1", (totals,)).fetchall()
    db.close()
    (one,) = found(store)
    assert one[:2] == ("recall", "broken")
    assert "its own words do not find it" in one[2]
    assert "firsthand store rebuild" in one[2]


def test_a_recall_that_says_that_it_is_degraded_is_told(tmp_path):
    """With vectors far behind recall still answers, and says so; the doctor repeats what it said."""
    embedder = callable_embedder("slow", 4, lambda texts: [[1.0, 2.0, 3.0, 4.0]] * len(texts))
    with Memory.open(tmp_path, embedder="none") as memory:
        drafts = [Draft(Kind.USER_MESSAGE, f"parcel {n} went to the shelf number {n}".encode()) for n in range(300)]
        memory.append(drafts, session="s")
        assert [*stages.asked(Inside(memory, now()))] == []
    with Memory.open(tmp_path, embedder=embedder, read_only=True) as memory:
        (one,) = stages.asked(Inside(memory, now()))
        assert (one.stage, one.severity, one.mend) == (Stage.RECALL, Severity.DEGRADED, "firsthand store follow")
        assert one.what.startswith("recall answers, but says: ")
        assert memory.verify().ok


def test_where_nothing_was_recorded_yet_memory_is_ready(tmp_path, monkeypatch):
    """After an installation all is well and the next step is named; a store that was there and is gone is broken."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = tmp_path / "none"
    for made in (False, True):
        report = examine(root, look=QUIET)
        assert (report.ok, report.state[:5], report.line, root.exists()) == (True, "ready", "", made)
        Memory.open(root).close()
    with Memory.open(root) as memory:
        memory.session("s").user("the first words")
    assert examine(root, look=QUIET).state == "healthy"
    for path in root.glob("firsthand.db*"):
        path.unlink()
    assert found(root)[0][:2] == ("store", "broken")
    assert "there is no store" in found(root)[0][2]


def test_a_damaged_file_and_an_empty_store_still_give_a_report(tmp_path):
    """Where the store cannot be opened that is the finding, and what stands around it is looked at all the same."""
    torn = tmp_path / "torn"
    torn.mkdir()
    (torn / "firsthand.db").write_bytes(b"no database at all" * 100)
    report = examine(torn, look=Look(installed=(), keep=False))
    assert (report.findings[0].stage, report.ok) == (Stage.STORE, False)
    assert Stage.HOOKS in report.looked_at
    assert Stage.LOG not in report.looked_at
    empty = tmp_path / "empty"
    Memory.open(empty).close()
    assert found(empty) == []


def test_a_folder_that_takes_no_file_is_named(store):
    """A status that cannot be kept means that nothing can be recorded, and the report says so."""
    (store / "health").write_bytes(b"a file where a folder should be")
    assert ("store", "broken") in [one[:2] for one in found(store, Look(canary=False))]


# around the store ------------------------------------------------------------------------------------


def test_a_hook_whose_command_is_gone_is_named(store, tmp_path):
    """Settings that run a program that is not there are the broken stage; a current one that never fired is a note."""
    settings = tmp_path / "settings.json"
    gone = COMMAND.replace(hook_client.__file__, str(tmp_path / "gone" / "hook_client.py"))
    first = found(store, Look(canary=False, keep=False, installed=(ours(settings, gone, current=False),)))[0]
    assert first[:2] == ("hooks", "broken")
    assert "gone/hook_client.py, which is not there" in first[2]
    assert "firsthand install claude-code" in first[2]
    assert missing(COMMAND) == ""
    assert found(store, Look(canary=False, keep=False, installed=(ours(settings, current=False),)))[0][1] == "degraded"


def test_hooks_that_wait_for_their_first_session_are_a_note(store, tmp_path):
    """Right after install and import hooks that never fired are a note; when sessions go on a day later, degraded."""
    settings = tmp_path / "settings.json"
    settings.write_text("{}", encoding="utf-8")
    look = Look(canary=False, installed=(ours(settings),))
    report = examine(store, namespace="default", look=look)
    assert (report.ok, health_line.line(store)) == (True, "")
    assert "have never fired" in " ".join(one.what for one in report.findings)
    os.utime(settings, (1, 1))
    ((stage, severity, words),) = found(store, look)
    assert (stage, severity) == ("hooks", "degraded")
    assert "have never fired" in words


def test_hooks_that_their_host_holds_back_are_named(store, tmp_path):
    """Hooks that wait to be trusted are told with what to do; a changed one only while its host's hooks do not fire."""
    settings = tmp_path / "hooks.json"
    settings.write_text("{}", encoding="utf-8")
    held = Installed("codex", settings, "user", ("Stop",), COMMAND, current=True, held=Held(untrusted=("Stop",)))
    changed = replace(held, held=Held(changed=("Stop",)))

    def told(one: Installed) -> list[tuple[str, str, str, str]]:
        found = examine(store, namespace="default", look=replace(QUIET, installed=(one,))).findings
        return [(one.stage.value, one.severity.value, one.what, one.mend) for one in found if one.stage is Stage.HOOKS]

    mend = "open codex, type /hooks and trust those of firsthand"
    says = f"codex holds back hooks of firsthand in {settings}: "
    assert told(held) == [("hooks", "note", says + "never trusted: Stop", mend)]
    assert told(changed) == [("hooks", "note", says + "changed since they were trusted: Stop", mend)]
    with Memory.open(store) as memory:  # Codex is used here
        memory.session("codex:s1").user("a message of a session of codex")
    assert told(held)[0][1] == "degraded"
    pulse.beat(store, "codex", HookEvent.STOP, at_days(1))
    assert told(held)[0][1] == "degraded"
    assert [one for one in told(changed) if "holds back" in one[2]] == []


@pytest.mark.parametrize(
    ("fired", "looked", "stage", "words"),
    [
        ({HookEvent.PROMPT: -5.0}, 0, "hooks", "no hook of claude-code has fired since"),
        ({HookEvent.PROMPT: -3.0, HookEvent.STOP: 0.0}, 0, "hooks", "nothing is recalled unasked"),
        ({HookEvent.PROMPT: 5.0}, 6, "log", "but nothing of its sessions was written since"),
        ({HookEvent.PROMPT: 0.0}, 0, "", ""),
    ],
    ids=["hooks stopped for five days", "prompt hook alone stopped", "hooks fire and nothing is written", "all well"],
)
def test_hooks_that_stopped_and_hooks_in_vain_are_told_apart(store, fired, looked, stage, words):
    """Hooks are compared with what was written of their sessions: either side going on without the other is found."""
    for event, days in fired.items():
        pulse.beat(store, "claude-code", event, at_days(days))
    seen = found(store, at=at_days(looked))
    assert [one[0] for one in seen] == ([stage] if stage else [])
    assert all(words in one[2] for one in seen)


def test_a_parser_that_yields_nothing_is_found(tmp_path):
    """Hooks of a host fire, and no event of it was ever written: the log is the broken stage."""
    with Memory.open(tmp_path / "store") as memory:
        memory.session("other").user("a message of another kind of session, with some words")
    pulse.beat(tmp_path / "store", "codex", HookEvent.PROMPT, at_days(-1))
    (one,) = found(tmp_path / "store")
    assert one[:2] == ("log", "broken")
    assert "nothing of its sessions was written ever" in one[2]


def test_jobs_that_fail_or_were_given_up_are_named(store):
    """A job that fails is degraded with its reason, one that was given up is broken; a waiting payload is told."""
    failing = jobs.Job(jobs.FOLLOW, "default", "a", "s", tries=2, why="SourceRejected: not a transcript")
    jobs.leave(store, failing)
    assert [one[:2] for one in found(store)] == [("jobs", "degraded")]
    assert "not a transcript" in found(store)[0][2]
    keep_fault(store, Fault("job close", "given up after 5 tries: StoreFull"))
    assert [one[:2] for one in found(store)] == [("jobs", "broken"), ("jobs", "degraded")]
    (store / "hooks" / "late").mkdir()
    (store / "hooks" / "late" / "x.call").write_bytes(b"x")
    os.utime(store / "hooks" / "late" / "x.call", (1, 1))
    assert ("log", "degraded") in [one[:2] for one in found(store)]


def test_settings_that_cannot_be_read_are_named_and_switches_are_noted(store):
    """A torn settings file is degraded; both reminders off are a note that names the mode it opens the door to."""
    (store / "settings.json").write_text("{")
    assert found(store)[0][:2] == ("settings", "degraded")
    (store / "settings.json").write_text(json.dumps({"cues": False, "recall": False}))
    (note,) = [one for one in examine(store, look=QUIET).findings if one.stage is Stage.SETTINGS]
    assert (note.severity, "recognition failure" in note.what) == (Severity.NOTE, True)


def test_a_daemon_of_another_version_is_named(store):
    """One that answers with another version is to be stopped; one that does not run is no fault."""
    for state, count in (
        (DaemonState(wanted=True, version="0", expected="1"), 1),
        (DaemonState(wanted=True), 0),
    ):
        assert len(found(store, Look(canary=False, keep=False, daemon=state))) == count


# canaries --------------------------------------------------------------------------------------------


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """A home of its own, whose daemon is stopped at the end."""
    for name in ("HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    yield
    subprocess.run([sys.executable, "-m", "firsthand", "serve", "--stop"], check=False, capture_output=True)


def test_a_canary_travels_by_the_very_command_of_the_host(store, tmp_path, alone):
    """The command in the settings is run, and its injected text holds the word; pulses of hooks are not touched."""
    assert sent(store, (ours(tmp_path / "settings.json"),), now()) == []
    assert [(one.way, one.lost) for one in canary.kept(store)] == [("directly", ""), ("claude-code", "")]
    assert pulse.fired(store) == ()
    with Memory.open(store, namespace="canary", read_only=True) as memory:
        assert memory.stats().events <= 12
        assert memory.verify().ok


def test_a_command_that_loses_canaries_is_to_blame(store, tmp_path, alone):
    """Where the direct way works and the command does not, the hooks are the broken stage, and nobody was told."""
    deaf = shlex.join([sys.executable, "-c", "import sys; sys.stdin.read()"])
    (one,) = sent(store, (ours(tmp_path / "settings.json", deaf),), now())
    assert (one.stage, one.severity, one.mend) == (Stage.HOOKS, Severity.BROKEN, "firsthand install claude-code")
    assert canary.silent(store) == Rate(1, 2)


def test_a_command_that_came_with_a_checkout_is_named_and_not_run(store, tmp_path, alone):
    """Of a project's settings our own command alone is run: whoever wrote the project must not run one of theirs."""
    ran = tmp_path / "ran"
    theirs = shlex.join(["/bin/sh", "-c", f"touch {ran}", "firsthand", "hook", "claude-code"])
    place = replace(ours(tmp_path / "settings.local.json", theirs), scope="project")
    (one,) = sent(store, (place,), now())
    assert (one.stage, one.severity, "is not of this installation" in one.what) == (Stage.HOOKS, Severity.NOTE, True)
    assert [sent.way for sent in canary.kept(store)] == ["directly"]
    assert not ran.exists()
    launcher.write(tmp_path / "settings.local.json")
    own = shlex.join([str(launcher.path()), "claude-code"])
    assert sent(store, (replace(place, command=own),), now()) == []
    assert [sent.way for sent in canary.kept(store)] == ["directly", "directly", "claude-code"]


def test_a_canary_names_the_index_that_lost_it(store):
    """With a stopped index the canary names it, and what the hook answers says that memory is degraded."""
    sent(store, (), now())
    damage_index(store, "UPDATE reach SET position = 5, fault = 'was cut off'", namespace=canary.CANARY)
    (one,) = sent(store, (), now())
    assert (one.stage, one.severity) == (Stage.INDEX, Severity.BROKEN)
    assert canary.kept(store)[-1].told
    assert canary.silent(store) == Rate(0, 2)


def test_what_is_lost_on_the_direct_way_is_asked_of_no_command(store, tmp_path, alone):
    """Where the store itself loses canaries no host's command is run, nor blamed."""
    sent(store, (), now())
    damage_index(store, "UPDATE reach SET position = 5, fault = 'was cut off'", namespace=canary.CANARY)
    (one,) = sent(store, (ours(tmp_path / "settings.json"),), now())
    assert one.stage is Stage.INDEX
    assert [sent.way for sent in canary.kept(store)] == ["directly", "directly"]


def test_what_recall_finds_and_the_hook_does_not_show_is_lost_at_the_end(store):
    """Where the settings show no hit the canary is found, and the injected text lacks it."""
    (store / "settings.json").write_text(json.dumps({"hits_max": 0}))
    (one,) = sent(store, (), now())
    assert (one.stage, one.severity) == (Stage.SHOWN, Severity.BROKEN)
    assert "recall found it" in one.what
    assert canary.silent(store) == Rate(1, 1)


def test_no_canary_is_sent_where_recall_is_off_or_enough_were(store, monkeypatch):
    """A switch that is off is respected, and so is the number of canaries in a day."""
    (store / "settings.json").write_text(json.dumps({"recall": False}))
    assert [one.severity for one in sent(store, (), now())] == [Severity.NOTE]
    (store / "settings.json").unlink()
    monkeypatch.setattr(canary, "SENT_A_DAY_MAX", 1)
    assert sent(store, (), now()) == []
    assert [one.severity for one in sent(store, (), now())] == [Severity.NOTE]
    assert len(canary.kept(store)) == 1


def test_agents_beyond_the_time_are_counted(store, monkeypatch):
    """Where there is no time for more agents, the report says how many were not measured."""
    with Memory.open(store) as memory:
        for name in ("a", "b", "c"):
            memory.agent(name).enrol(f"claude-code:{name}")
    monkeypatch.setattr(stages, "AGENTS_MAX", 1)
    report = examine(store, namespace="default", look=QUIET)
    assert [one.agent for one in report.agents] == ["c"]
    assert any("2 of 3 agents were not measured" in one.what for one in report.findings)
