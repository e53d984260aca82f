"""firsthand recall."""

from __future__ import annotations

import json
import re

import pytest


def test_a_hit_shows_where_it_stands(shell):
    """A block has pointer, time, kind, who, session, turn, size and score; then the outcome."""
    pointer = shell.append(
        "the needle is here", "house", "user_message", "--agent", "ann", "--time", "2026-01-31T12:00:00+01:00"
    )
    said = shell("recall", "needle")
    assert said.code == 0
    assert said.lines[0] == f"1  {pointer}  2026-01-31 12:00:00+01:00  user_message by ann"
    assert said.lines[1].startswith("   session house  turn 1  18 B  score ")
    assert said.lines[2:4] == ["   | the needle is here", ""]
    assert re.match("found: 1 hit, .* the answer", said.lines[4])
    assert said.error == f"read one: firsthand show {pointer}\n"


def test_explain_adds_up_to_the_score(shell):
    """--explain shows of each hit the parts of its score, and what the likelihood is computed from."""
    shell.append("see /srv/data/a.db for it")
    shell.append("nothing of it")
    said = shell("recall", "where is data/a.db?", "--explain")
    assert said.code == 0
    heads = next(at for at, line in enumerate(said.lines) if line.startswith("#  "))
    names = said.lines[heads].split()
    number, score, *parts = said.lines[heads + 1].split()[: len(names) - 2]
    assert (number, names[:2]) == ("1", ["#", "score"])
    assert float(score) == pytest.approx(sum(map(float, parts)), abs=0.03)
    assert said.lines[heads + 1].endswith("data/a.db")
    assert any(re.match(r"likelihood 0\.\d\d \(\w+\), from: ", line) for line in said.lines)
    assert shell("recall", "where is data/a.db?", "-v").lines[heads] == said.lines[heads]


def test_what_the_user_said_stands_behind_the_hits(shell):
    """Messages of the user on the question come in order of date; one that is a hit is named by its number."""
    shell.append("the port of staging is 8080", "a", "user_message", "--time", "2026-01-01")
    shell.append("the port of staging is 8443 now", "b", "user_message", "--time", "2026-02-01")
    lines = shell("recall", "port of staging").lines
    at = next(number for number, line in enumerate(lines) if line.startswith("what you said on it"))
    assert [line.split()[1] for line in lines[at + 1 : at + 3]] == ["2026-01-01", "2026-02-01"]
    assert all(re.search(r"see [12]$", line) for line in lines[at + 1 : at + 3])


def test_now_is_told(shell):
    """What "yesterday" was counted from is in the JSON answer."""
    shell.append("needle")
    assert shell("recall", "needle", "--now", "2026-01-31", "--json").json["now"] == "2026-01-31T00:00:00.000Z"


def test_the_task_of_a_session_conditions_the_score(shell):
    """--task takes goal, premises and so on of a session; one that is not there is told."""
    shell.append("My goal is to move billing to PostgreSQL.", "billing")
    shell.append("the invoices table moves with billing to PostgreSQL", "notes")
    shell.append("the invoices table is printed in blue", "notes")
    answer = shell("recall", "invoices table", "--task", "billing", "--json").json
    assert answer["task"]["session"] == "billing"
    assert "billing" in answer["task"]["goal"]
    assert answer["hits"][0]["preview"].endswith("PostgreSQL")
    assert "for the task: goal " in shell("recall", "invoices table", "--task", "billing", "--explain").text
    missing = shell("recall", "invoices table", "--task", "nobody")
    assert (missing.code, missing.text) == (1, "")
    assert "no session 'nobody'" in missing.error


def test_a_fenced_answer_is_never_stored_again(shell):
    """--fenced gives one text with pointers, trust and previews, which an import of a transcript then leaves out."""
    pointer = shell.append("the needle  \nis here   ", "house", "tool_result", "--tool", "bash", "--time", "2026-01-31")
    said = shell("recall", "needle", "--fenced")
    assert (said.code, said.error) == (0, "")
    assert said.lines[0].startswith("<<firsthand ")
    assert re.match("found: 1 hit, .* the answer", said.lines[1])
    assert said.lines[2].startswith(
        f"{pointer}  2026-01-31 00:00:00Z  tool_result by tool:bash  session house  turn 0  untrusted  score "
    )
    assert said.lines[3:] == ["| the needle", "| is here", f"<<end {said.lines[0][12:44]}>>"]
    lines = ({"role": "user", "content": said.text}, {"role": "user", "content": f"so:\n{said.text}what now?"})
    (shell.home / "talk.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = shell("import", shell.home / "talk.jsonl", "--json").json
    assert (report["injected"], report["events_new"]) == (1, 1)
    assert [hit["pointer"] for hit in shell("recall", "needle", "--json").json["hits"]] == [pointer]


def test_a_fenced_answer_without_hits_says_why(shell):
    """Nothing found is said inside the fence too; a fenced answer in JSON is a usage error."""
    shell.append("needle")
    said = shell("recall", "haystack", "--fenced")
    assert (said.code, said.lines[1]) == (1, "absent: nothing matches; everything in scope was searched")
    assert shell("recall", "needle", "--fenced", "--json").code == 2


def test_nothing_found_says_why(shell):
    """Absent and filtered end with 1 and say which it is."""
    shell.append("needle", "one")
    absent = shell("recall", "haystack")
    assert absent.code == 1
    assert absent.text.startswith("absent: nothing matches; everything in scope was searched (")
    filtered = shell("recall", "needle", "--session", "two")
    assert filtered.code == 1
    assert filtered.text.startswith("filtered: nothing in the scope asked for, but there are matches outside it")


@pytest.mark.parametrize(
    "options",
    [
        ("--session", "a"), ("--session", "a*"), ("--agent", "ann"), ("--kind", "note"),
        ("--kind", "user-message", "--kind", "note"),
        ("--until", "2026-01-31"), ("--until", "1769817600"),
    ],
)  # fmt: skip
def test_scopes_narrow(shell, options):
    """Session, agent, kind and time each leave only what is in scope; the other scope says filtered."""
    first = shell.append("needle one", "a", "note", "--agent", "ann", "--time", "2026-01-01")
    shell.append("needle two", "b", "system", "--agent", "bob", "--time", "2026-02-02")
    said = shell("recall", "needle", *options, "--json")
    assert [hit["pointer"] for hit in said.json["hits"]] == [first]


def test_since_leaves_what_is_earlier(shell):
    """--since keeps what happened from then on."""
    shell.append("needle one", "a", "note", "--time", "2026-01-01")
    second = shell.append("needle two", "a", "note", "--time", "2026-02-02")
    assert [hit["pointer"] for hit in shell("recall", "needle", "--since", "2026-02-02", "--json").json["hits"]] == [
        second
    ]


def test_the_next_page_is_had_by_the_option_that_is_printed(shell):
    """With more to come, the option that is printed gives the next page; pages make up the whole."""
    shell.append("one more --needle here", "a b")
    for number in range(4):
        shell.append(f"needle {'hay ' * number}", "a b")
    pages, skip = [], ["--skip", "0"]
    while skip and len(pages) < 20:
        said = shell("recall", "--session", "a b", "--limit", "2", *skip, "--", "--needle")
        pages += [line.split()[1] for line in said.lines if re.match(r"\d+  fh:", line)]
        skip = [words for line in said.error.splitlines() if line.startswith("more: ") for words in line.split()[-2:]]
    whole = shell("recall", "--session", "a b", "--", "--needle", "--json")
    assert whole.code == 0
    hits = shell("recall", "--json", "--session", "a b", "--", "--needle").json["hits"]
    assert pages == [hit["pointer"] for hit in hits]
    assert len(pages) == 5


def test_json_has_every_field(shell):
    """The JSON answer has stable keys, scores and their parts."""
    pointer = shell.append("needle", "s", "tool_result", "--tool", "bash", "--time", "2026-01-31")
    answer = shell("recall", "needle", "--json", "--budget", "100").json
    (hit,) = answer.pop("hits")
    assert answer.pop("band") in {"unlikely", "possible", "likely"}
    assert 0 <= answer.pop("likelihood") <= 1
    assert all(isinstance(number, float) for number in answer.pop("signals").values())
    assert answer == {
        "query": "needle", "outcome": "found", "companions": [], "said": [], "attempts": ["needle"], "more": False,
        "skip": 0, "truncated": False, "notes": [], "through": 1, "task": None, "now": None,
    }  # fmt: skip
    parts = hit.pop("parts")
    assert hit.pop("score") == pytest.approx(sum(parts.values()), abs=1e-6)
    assert hit == {
        "pointer": pointer, "position": 1, "session": "s", "turn": 0, "kind": "tool_result", "agent": "",
        "origin": "tool:bash", "trust": "untrusted", "time": "2026-01-31T00:00:00.000Z", "size_bytes": 6,
        "exact": ["needle"], "preview": "needle", "spans": [f"{pointer}@0-6"], "copies": [], "companion_of": "",
        "replaces": "", "claims": "",
    }  # fmt: skip


def test_a_terminal_shows_the_lines_around_the_match(shell):
    """Of a long preview a terminal shows eight lines, with the match among them."""
    shell.append("".join(f"line {number}\n" for number in range(60)) + "the needle\n" + "after\n" * 20)
    lines = shell.on_terminal("recall", "needle", NO_COLOR="1").text.splitlines()
    shown = [line for line in lines if line.startswith("   | ")]
    assert len(shown) == 8
    assert "   | the needle" in shown
