"""The command ``eval own``: a store is replayed, use is counted by what came later, and no secret is shown."""

from __future__ import annotations

import json

import pytest
from test_pages import Seen

from firsthand import Kind, Memory
from firsthand.event import Draft, Trust
from firsthand_evals.own_store import Replay, extract, is_name, runs_of, strings_of

KEY = "sk-live-4f9aQ2mXv7Lr8Wd1Zp6Tn3Bk5Hs0Yc2Ej9Gu4Ri7Vo1Ax"
QUESTION = "which port does the billing queue listen on, and where is its retry limit set?"


def past(memory: Memory, session: str, *turns: tuple[str, str]) -> None:
    memory.append([Draft(Kind(kind), text.encode(), trust=Trust.TRUSTED) for kind, text in turns], session=session)


def fill(memory: Memory) -> None:
    """Three sessions that told a fact, one that asked for it and used it, and two long ones that were cut."""
    for number in range(3):
        limits = f"retry limit is set in limits_{number}.toml"
        past(memory, f"told-{number}", ("user_message", f"The billing queue listens on port 5433; its {limits}."),
             ("agent_message", f"Noted: the billing queue listens on port 5433, its {limits}, key {KEY}."))  # fmt: skip
    past(memory, "asks", ("user_message", "Good morning, let us begin with the weather."), ("agent_message", "Sunny."))
    for _ in range(2):
        past(memory, "asks", ("user_message", QUESTION),
             ("tool_call", json.dumps({"command": "grep retry limits_1.toml\nnc localhost 5433"})))  # fmt: skip
    past(memory, "else", ("user_message", "Please name the capital of France for me."), ("agent_message", "Paris."))
    for name in ("long-a", "long-b"):
        for number in range(40):
            past(memory, name, ("user_message", f"Now change file_{number}.py and nothing else, please."),
                 ("tool_result", f"file_{number}.py: changed, lines in build_{number:03}_{name}."))  # fmt: skip
        past(memory, name, ("summary", "We changed many files, among them file_3.py."), ("user_message", "Go on."),
             ("tool_result", "file_5.py stands here"), ("agent_message", "I look at file_5.py first."),
             ("agent_message", f"I look at file_3.py and build_007_{name} again."))  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own") / "store"
    with Memory(folder, embedder="none") as memory:
        fill(memory)
        told = json.dumps({"shown": [event.pointer for event in memory.events("told-1")]}).encode()
        memory.append([Draft(Kind.INJECTION, told, meta={"event": "UserPromptSubmit"})], session="asks")
        past(memory, "asks", ("tool_call", '{"command": "cat limits_1.toml"}'))
    return folder


def test_a_store_is_replayed_and_told_in_one_page(shell, store, tmp_path):
    """The question brings what was said before; the page shows it with its pointer, masked, and writes nothing."""
    before = sorted((file.name, file.stat().st_size) for file in store.rglob("*") if file.is_file())
    found = shell("--store", str(store), "eval", "own", "--html", str(tmp_path / "own.html"))
    assert found.code == 0, found.error
    assert found.lines[0].startswith("Before 4 of 86 messages recall would have brought something; 0.")
    text = (tmp_path / "own.html").read_text()
    told = " ".join(Seen(text).text)
    assert QUESTION in told
    assert "used later" in told
    assert "UserPromptSubmit" in told
    assert KEY not in text
    assert KEY[-12:] not in text
    assert "paper: after 5 compactions" in told
    assert sorted((file.name, file.stat().st_size) for file in store.rglob("*") if file.is_file()) == before


def test_use_is_counted_by_what_the_window_did_not_have(store):
    """A passage whose new string stands in a later call is used, before another session it is not."""
    with Memory(store, read_only=True, create=False, embedder="none") as memory:
        findings = Replay(memory).findings()
    first, second = (moment for moment in findings.moments if moment.text == QUESTION)
    assert any(passage.used for passage in first.ours)
    assert not any(passage.used for passage in second.ours), "the window has it from the first time"
    assert {passage.elsewhere for passage in (*first.ours, *first.words)} == {False}
    assert all("5433" in passage.text for passage in first.words)
    assert not next(moment for moment in findings.moments if "France" in moment.text).ours
    assert all(passage.used is False for _, passage in findings.volunteered), "the window had it already"
    assert [surface for surface, _ in findings.volunteered] == ["UserPromptSubmit"] * 2


def test_a_store_in_a_script_without_spaces_is_replayed_alike(tmp_path):
    """Messages of signs are asked, BM25 finds their passages, and a sentence that is said again later is use."""
    fact = "发票打印机必须总是在午夜之前重新启动因为它的队列从来不会自己清空"
    with Memory(tmp_path / "signs", embedder="none") as memory:
        past(memory, "told", ("user_message", "你好"), ("user_message", fact), ("agent_message", "read_file"))
        past(memory, "asks", ("user_message", "发票打印机必须在什么时候重新启动"), ("agent_message", fact))
        past(memory, "asks", ("user_message", "好"))
        replay = Replay(memory)
        findings = replay.findings()
    assert findings.messages == 2, "the first of all and one of a single sign are not asked"
    (asked,) = (moment for moment in findings.moments if moment.session == "asks")
    for passages in (asked.ours, asked.words):
        assert (fact, True) in [(passage.text, passage.used) for passage in passages]
    assert [text for _, text in replay.words.best("which file", 50, lambda _: True)] == ["read_file"], "by its parts"
    assert "8443" in strings_of("端口8443的")


def test_nothing_is_brought_from_what_had_not_happened(store):
    """Each passage of ours and of the baseline stands before its message."""
    with Memory(store, read_only=True, create=False, embedder="none") as memory:
        moments = Replay(memory).findings().moments
        pairs = [(memory.event(passage.pointer).position, memory.event(moment.pointer).position)
                 for moment in moments for passage in (*moment.ours, *moment.words)]  # fmt: skip
    assert len(pairs) > 5
    assert all(passage < message for passage, message in pairs)


def test_what_a_summary_lost_is_what_was_needed_and_is_not_in_it(store):
    """At each compaction the strings used again are counted: kept by the host's summary, and opened by pointer."""
    with Memory(store, read_only=True, create=False, embedder="none") as memory:
        cuts = Replay(memory).findings().cuts
    assert [(cut.session, cut.host) for cut in cuts] == [("long-a", True), ("long-b", True)]
    for cut in cuts:
        assert set(cut.needed) == {"file_3.py", f"build_007_{cut.session}"}
        assert cut.summary == {"file_3.py"}
        assert cut.opened == 2


def test_a_small_store_says_too_few_and_an_empty_one_what_to_type(shell, tmp_path):
    """One short session is too few for a verdict; no session, no store and no place for the page are errors."""
    with Memory(tmp_path / "small", embedder="none") as memory:
        past(
            memory,
            "one",
            ("user_message", "The cache is in /var/tmp/cache_v2."),
            ("user_message", "Where is the cache?"),
        )
    found = shell("--store", str(tmp_path / "small"), "eval", "own", "--moments", "5")
    assert found.code == 0
    assert "too few to tell whether it was of use. Too few cuts to tell" in found.lines[0]
    Memory(tmp_path / "empty", embedder="none").close()
    empty = shell("--store", str(tmp_path / "empty"), "eval", "own")
    assert (empty.code, "firsthand import" in empty.error) == (5, True)
    assert shell("--store", str(tmp_path / "none"), "eval", "own").code != 0
    assert not (tmp_path / "none").exists()
    nowhere = shell("--store", str(tmp_path / "small"), "eval", "own", "--html", str(tmp_path / "no" / "own.html"))
    assert "make it first" in nowhere.error


def test_a_store_that_is_being_written_is_read_as_it_was(tmp_path):
    """What comes while it is replayed is left out, and hinders nobody."""
    with Memory(tmp_path / "live", embedder="none") as writer:
        fill(writer)
        with Memory(tmp_path / "live", read_only=True, create=False, embedder="none") as memory:
            replay = Replay(memory)
            past(writer, "late", ("user_message", QUESTION))
            assert "late" not in replay.sessions
            assert replay.findings().events == replay.events == writer.position - 1


def test_marks_and_lines_are_found_by_form_alone():
    """Identifiers, files and numbers of three digits are strings, and six words in a row are a run."""
    assert {"src/main.ts", "foo_bar", "4096"} <= strings_of("see src/main.ts: foo_bar takes 4096, not 12")
    assert "12" not in strings_of("not 12")
    assert [*map(is_name, ("foo_bar", "v1.2rc3", "C:\\data", "4096", "1.2.3", "n\\t\\t", "\\n200"))] == [True] * 3 + [
        False
    ] * 4
    assert runs_of("One two three four five six seven") == {"one two three four five six",
                                                            "two three four five six seven"}  # fmt: skip
    assert extract((), 100) == ""
    assert runs_of("我们把支付服务, 迁移到了北方") == {"我们把支付服务迁移到了北", "们把支付服务迁移到了北方"}
