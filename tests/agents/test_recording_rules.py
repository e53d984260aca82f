"""What the user keeps out of the log: secrets before they are written, ignored tools and paths, and pauses."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hosts_made import Claude

from firsthand import FirsthandError, InvalidArgument, Kind, Memory
from firsthand.agents.hook_answer import answer_hook
from firsthand.agents.pauses import pause, resume
from firsthand.agents.recording_rules import key_of
from firsthand.agents.settings import load
from firsthand.health.job_runner import run_due
from firsthand.moment import Moment

KEY = "ghp_" + "Zq81Lw2Xv9Kb0Rt5Yu3Pn7Ms4Dc6Fg1Hj8Ea"
LATER = 4_000_000_000_000


@pytest.fixture
def memory(tmp_path, monkeypatch):
    for name in ("HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    with Memory.open(tmp_path / "store", embedder="none") as opened:
        yield opened
        assert opened.verify().ok


def choose(memory, **told):
    (memory.path / "settings.json").write_text(json.dumps(told))


def everything(memory) -> bytes:
    """Give all bytes that Firsthand keeps of a store, but for the compressed pages of its log, and those expanded."""
    files = [path for path in memory.path.rglob("*") if path.is_file()]
    kept = b"\n".join(path.read_bytes() for path in files)
    for event in memory.events():
        kept += event.content or b""
        kept += json.dumps(dict(event.meta)).encode()
        with suppress(FirsthandError):  # not of a source
            kept += memory.expand(f"fh:{event.id}#source")
    return kept


def work(memory, folder, number=1, text=f"use {KEY} please") -> Claude:
    """Have a session with a transcript in which a text stands in a prompt, a command, its output and an answer."""
    claude = Claude(memory, folder, number)
    claude.fire("SessionStart", source="startup")
    claude.prompt(text)
    claude.runs(f"curl -H x {text}", f"denied: {text}", failed=True)
    claude.says(f"I used {text}.")
    claude.fire("Stop", stop_hook_active=False)
    run_due(memory, now_ms=LATER)
    return claude


def spoken(memory, folder, text) -> Claude:
    """The same where the host writes no transcript: all is recorded from what hooks are told."""
    claude = Claude(memory, folder, 7)
    claude.path = folder / "none.jsonl"
    for event, fields in (
        ("UserPromptSubmit", {"prompt": text, "prompt_id": "p"}),
        ("PostToolUse", {"tool_name": "Bash", "tool_use_id": "u", "tool_input": {"command": text},
                         "tool_response": {"stdout": text}}),
        ("Stop", {"last_assistant_message": text}),
    ):  # fmt: skip
        claude.fire(event, transcript_path="", **fields)
    return claude


@pytest.mark.parametrize("way", [work, spoken])
def test_a_secret_is_replaced_before_it_is_written(memory, tmp_path, way):
    """With redaction on no file of the store, no event, no fact and no source record holds the key; each has a mark."""
    choose(memory, redact=True)
    way(memory, tmp_path, text=f"use {KEY} please")
    assert KEY.encode() not in everything(memory)
    marks = {
        event.text.partition("[secret:")[2].partition("]")[0] for event in memory.events() if "[secret:" in event.text
    }
    assert len(marks) == 1  # the same secret, the same mark
    (prompt,) = [event for event in memory.events(kind=Kind.USER_MESSAGE) if "[secret:" in event.text]
    assert prompt.text.startswith("use [secret:github-token:")
    assert prompt.meta["redacted"] == {"github-token": 1}


@pytest.mark.parametrize("way", [work, spoken])
def test_without_the_switch_all_is_kept(memory, tmp_path, way):
    """Off by default: the log has the exact words."""
    way(memory, tmp_path, text=f"use {KEY} please")
    assert any(KEY in event.text for event in memory.events(kind=Kind.USER_MESSAGE))


def test_a_checkout_switches_redaction_neither_on_nor_off(memory, tmp_path):
    """What a project's own file says of it changes nothing."""
    (tmp_path / ".git").mkdir()
    for mine, theirs in ((True, False), (False, True)):
        choose(memory, redact=mine)
        (tmp_path / ".firsthand.json").write_text(json.dumps({"redact": theirs, "ignore_tools": ["*"]}))
        chosen = load(memory.path, str(tmp_path))
        assert (chosen.redact, chosen.ignore_tools) == (mine, ())


def test_the_key_is_the_owners_and_the_same_for_all(memory):
    """The key is made once, for its owner alone; a key that is none stops the recording and says so."""
    key = key_of(memory.path)
    path = memory.path / "redaction.key"
    assert (key_of(memory.path), oct(path.stat().st_mode & 0o777)) == (key, "0o600")
    path.write_bytes(b"short")
    with pytest.raises(FirsthandError, match="expected 32 bytes"):
        key_of(memory.path)


def test_what_waits_for_a_transcript_holds_no_secret(memory, tmp_path):
    """A call that waits, since its transcript is not there yet, is without secrets already."""
    choose(memory, redact=True)
    claude = Claude(memory, tmp_path, 3)
    claude.fire("UserPromptSubmit", prompt=f"use {KEY}", prompt_id="p")
    waiting = [*(memory.path / "hooks").rglob("*.jsonl")]
    assert waiting
    assert KEY.encode() not in everything(memory)


@pytest.mark.parametrize("ignored", [[], ["*"]], ids=["kept", "ignored"])
def test_a_secret_in_the_name_of_a_tool_or_a_subagent_is_replaced(memory, tmp_path, ignored):
    """Names of tools and subagents are redacted, by transcript and by hook alike, and a subagent keeps one session."""
    choose(memory, redact=True, ignore_tools=ignored)
    claude = Claude(memory, tmp_path)
    claude.fire("SessionStart", source="startup")
    claude.runs("ls", "a b", tool=f"mcp__{KEY}__list")
    claude.runs("ls", "a b", isSidechain=True, agentId=KEY)
    claude.fire("PreToolUse", tool_name=KEY, tool_input={}, tool_use_id=KEY, agent_id=KEY)
    run_due(memory, now_ms=LATER)
    told = Claude(memory, tmp_path, 7)
    for session in (claude.id, told.id):
        told.id = session
        told.fire("PostToolUse", transcript_path="", tool_name=f"mcp__{KEY}", tool_use_id=KEY, agent_id=KEY,
                  tool_input={"x": 1}, tool_response="fine")  # fmt: skip
    assert KEY.encode() not in everything(memory)
    assert not any(KEY in f"{event.origin} {event.agent} {event.session}" for event in memory.events())
    tools = [*memory.events(kind=Kind.TOOL_CALL), *memory.events(kind=Kind.TOOL_RESULT)]
    assert any("[secret:github-token:" in str(event.meta) for event in tools)
    of_subagent = {event.session for event in memory.events() if event.session.startswith(f"{claude.session}/agent-")}
    assert len(of_subagent) == 1


def test_ignored_tools_and_paths_keep_their_places_without_words(memory, tmp_path):
    """Of a tool or a path that the user's settings ignore neither the call's words nor the result's are kept."""
    choose(memory, ignore_tools=["Secretive*"], ignore_paths=["*.env"])
    work(memory, tmp_path, text="cat config/prod.env")
    tools = [*memory.events(kind=Kind.TOOL_CALL), *memory.events(kind=Kind.TOOL_RESULT)]
    assert tools
    assert all("not recorded" in event.text and event.meta["ignored"] is True for event in tools)
    assert not any("prod.env" in event.text for event in tools)
    claude = Claude(memory, tmp_path, 9)
    claude.fire("PostToolUse", transcript_path="", tool_name="SecretiveVault", tool_use_id="u", tool_input={"x": "1"},
                tool_response={"stdout": "sesame"})  # fmt: skip
    assert not any("sesame" in event.text for event in memory.events())


def test_the_result_of_an_ignored_call_is_ignored_whenever_it_is_read(memory, tmp_path):
    """A call that names an ignored path is read in one import, its result in a later one: nothing of it is kept."""
    choose(memory, ignore_paths=["*.env"])
    claude = Claude(memory, tmp_path)
    claude.fire("SessionStart", source="startup")
    _, call = claude.calls_tool("cat config/prod.env")
    run_due(memory, now_ms=LATER)
    assert [event.text for event in memory.events(kind=Kind.TOOL_RESULT)] == []
    claude.answers(call, "sesame")
    claude.fire("Stop", stop_hook_active=False)
    run_due(memory, now_ms=LATER)
    (result,) = memory.events(kind=Kind.TOOL_RESULT)
    assert result.meta["ignored"] is True
    assert b"sesame" not in everything(memory)


def test_a_call_that_is_ignored_does_not_wait_for_a_transcript(memory, tmp_path):
    """Before a transcript is there, the call of an ignored path stands in no file either."""
    choose(memory, ignore_paths=["*.env"])
    claude = Claude(memory, tmp_path)
    fields = {"tool_name": "Bash", "tool_use_id": "u", "tool_input": {"command": "cat prod.env"}}
    claude.fire("PreToolUse", **fields)
    claude.fire("PostToolUse", tool_response="sesame", **fields)
    assert b"prod.env" not in everything(memory)


def test_an_ignored_project_is_not_recorded(memory, tmp_path):
    """A session in a folder that the user's settings ignore leaves no event."""
    choose(memory, ignore_projects=[f"{tmp_path}/*"])
    work(memory, tmp_path, text="sesame")
    assert b"sesame" not in everything(memory)


# off the record ------------------------------------------------------------------------------------------


def test_a_prompt_with_the_users_word_is_off_the_record(memory, tmp_path):
    """The prompt, its tools and its answer are kept nowhere, which is said aloud; the next prompt is recorded."""
    choose(memory, pause_word="offrecord")
    claude = Claude(memory, tmp_path, 1)
    claude.prompt("first words")
    claude.says("first answer")
    claude.prompt("OffRecord: sesame one")
    assert "this prompt is off the record" in claude.last["systemMessage"]
    claude.runs("echo sesame two", "sesame three")
    claude.says("sesame four")
    claude.fire("Stop", stop_hook_active=False, last_assistant_message="sesame four")
    run_due(memory, now_ms=LATER)
    claude.prompt("last words")
    assert "off the record" not in claude.last.get("systemMessage", "")
    claude.fire("Stop", stop_hook_active=False)
    run_due(memory, now_ms=LATER)
    assert b"sesame" not in everything(memory)
    said = [event.text for event in memory.events(kind=Kind.USER_MESSAGE)]
    assert said == ["first words", "last words"]


def test_a_word_is_not_the_beginning_of_another_word(memory, tmp_path):
    """A prompt whose first word only begins like the user's is recorded, and so is every one where there is no word."""
    choose(memory, pause_word="off")
    work(memory, tmp_path, text="office hours are ten to four")
    assert any("office" in event.text for event in memory.events(kind=Kind.USER_MESSAGE))


@pytest.mark.parametrize("what", ["session", "project", "prompt"])
def test_by_command_a_session_a_project_or_the_next_prompt_is_off_the_record(memory, tmp_path, what):
    """Nothing of it is kept until it is resumed, it is said aloud, and what came before and after is there."""
    claude = Claude(memory, tmp_path, 1)
    claude.prompt("first words")
    named = {"session": claude.session} if what == "session" else {"project": claude.cwd}
    pause(memory.path, **named, prompt=what == "prompt", now=claude.now())
    claude.prompt("sesame one")
    assert f"this {what} is off the record" in claude.last["systemMessage"]
    claude.runs("echo sesame two", "sesame three")
    claude.says("sesame four")
    if what != "prompt":
        resume(memory.path, **named, now=claude.now())
    claude.prompt("last words")
    claude.fire("Stop", stop_hook_active=False)
    run_due(memory, now_ms=LATER)
    memory.import_paths([claude.path])
    assert b"sesame" not in everything(memory)
    assert [event.text for event in memory.events(kind=Kind.USER_MESSAGE)] == ["first words", "last words"]


def test_undated_lines_of_a_session_with_a_pause_are_left_out(memory, tmp_path):
    """A host repeats the last prompt in lines without a time, within the pause and behind it: none is kept."""
    choose(memory, pause_word="offrecord")
    claude = Claude(memory, tmp_path, 1)
    claude.prompt("first words")
    claude.prompt("offrecord sesame one")
    repeats = json.dumps({"type": "last-prompt", "lastPrompt": "offrecord sesame one", "sessionId": claude.session})
    with claude.path.open("a") as file:
        file.write(f"{repeats}\n")
    claude.prompt("last words")
    with claude.path.open("a") as file:
        file.write(f"{repeats}\n")
    claude.fire("Stop", stop_hook_active=False)
    run_due(memory, now_ms=LATER)
    assert b"sesame" not in everything(memory)
    assert [event.text for event in memory.events(kind=Kind.USER_MESSAGE)] == ["first words", "last words"]


def test_a_fork_of_a_session_repeats_nothing_from_its_pause(memory, tmp_path):
    """A session that was forked has the lines of the first in its own transcript: those of a pause are passed over."""
    choose(memory, pause_word="offrecord")
    claude = Claude(memory, tmp_path, 1)
    claude.prompt("first words")
    claude.prompt("offrecord sesame one")
    claude.prompt("last words")
    fork = Claude(memory, tmp_path, 2)
    fork.path.write_text(claude.path.read_text())
    fork.fire("SessionStart", source="fork")
    fork.prompt("other words")
    fork.fire("Stop", stop_hook_active=False)
    run_due(memory, now_ms=LATER)
    assert b"sesame" not in everything(memory)
    assert any(event.text == "other words" for event in memory.events(kind=Kind.USER_MESSAGE))


@pytest.mark.parametrize("what", ["session", "project"])
def test_a_call_of_a_pause_that_comes_after_it_is_not_recorded(memory, tmp_path, what):
    """A call that was kept in a pause, and is taken in when the pause is over, is off the record still."""
    claude = Claude(memory, tmp_path, 1)
    named = {"session": claude.session} if what == "session" else {"project": claude.cwd}
    pause(memory.path, **named, now=Moment(1_000_000))
    resume(memory.path, **named, now=Moment(3_000_000))
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": claude.session.partition(":")[2],
               "cwd": str(claude.cwd), "prompt": "sesame", "transcript_path": ""}  # fmt: skip
    answer_hook("claude-code", json.dumps(payload).encode(), memory, nonce="n", now=Moment(2_000_000))
    assert b"sesame" not in everything(memory)
    answer_hook(
        "claude-code", json.dumps(payload | {"prompt": "words"}).encode(), memory, nonce="m", now=Moment(4_000_000)
    )
    assert [event.text for event in memory.events(kind=Kind.USER_MESSAGE)] == ["words"]


def test_a_call_of_a_paused_prompt_that_is_made_again_is_not_recorded(memory, tmp_path):
    """A call whose first answer was lost, asked again at once or after the pause, is off the record as it was."""
    claude = Claude(memory, tmp_path, 1)
    pause(memory.path, project=claude.cwd, prompt=True, now=Moment(1_000_000))
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": claude.id, "cwd": str(claude.cwd),
               "prompt": "sesame", "transcript_path": ""}  # fmt: skip
    for said, at in (("sesame", 9), ("sesame", 9), ("words", 20), ("sesame", 9)):
        told = json.dumps(payload | {"prompt": said}).encode()
        answer_hook("claude-code", told, memory, nonce=said, now=Moment(at * 1_000_000))
    assert [event.text for event in memory.events(kind=Kind.USER_MESSAGE)] == ["words"]


def test_a_pause_that_cannot_be_read_records_nothing(memory, tmp_path):
    """Where the file of pauses is torn, the call is not recorded, and the fault names the file."""
    (memory.path / "hooks").mkdir(exist_ok=True)
    (memory.path / "hooks" / "pause.json").write_text("{")
    claude = spoken(memory, tmp_path, "sesame")
    assert not any("sesame" in event.text for event in memory.events())
    assert "pause.json" in claude.fire("Stop", last_assistant_message="x").fault
    (memory.path / "hooks" / "pause.json").unlink()


def test_a_pause_names_one_thing():
    """Neither, both, or the next prompt of a session are refused."""
    for named in ({}, {"session": "s", "project": Path()}, {"session": "s", "prompt": True}):
        with pytest.raises(InvalidArgument, match="expected a session, a project"):
            pause("store", **named)
