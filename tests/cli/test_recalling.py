"""firsthand recall."""

from __future__ import annotations

import json
import math
import re
import shlex

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
    assert said.lines[4].startswith("found: 1 hit, confidence 0.")
    assert said.error == f"read one: firsthand show {pointer}\n"


def test_explain_multiplies_out_to_the_score(shell):
    """--explain shows of each hit the parts of its score and what found it, then every attempt with its words."""
    shell.append("see /srv/data/a.db for it")
    shell.append("nothing of it")
    said = shell("recall", "where is data/a.db?", "--explain")
    assert said.code == 0
    heads = next(at for at, line in enumerate(said.lines) if line.startswith("#  "))
    assert said.lines[heads].split("  ")[-1] == "found by"
    number, score, *parts = said.lines[heads + 1].split()[:7]
    assert number == "1"
    assert float(score) == pytest.approx(math.prod(map(float, parts)), abs=0.02)
    assert said.lines[heads + 1].endswith("exact: data/a.db")
    hops = next(at for at, line in enumerate(said.lines) if line.startswith("attempt"))
    assert said.lines[hops + 1].startswith("as asked")
    assert said.lines[hops + 1].endswith("  where is data/a.db?")
    assert any(line.startswith("what the confidence rests on: ") for line in said.lines)
    assert shell("recall", "where is data/a.db?", "-v").lines[heads:hops] == said.lines[heads:hops]


def test_one_attempt_is_one_attempt(shell):
    """--attempts bounds the attempts, and --cost what confidence an answer needs to be found."""
    shell.append("the port of the build machine is 8443")
    few = shell("recall", "build machine lunch menu yesterday", "--attempts", "1", "--json").json
    assert (few["attempts_max"], len(few["hops"])) == (1, 1)
    cheap, dear = (shell("recall", "build machine", "--cost", cost, "--json").json for cost in ("0.001", "1000"))
    assert (cheap["outcome"], cheap["cost"]) == ("found", 0.001)
    assert (dear["outcome"], dear["threshold"]) == ("weak", pytest.approx(1000 / 1001))
    said = shell("recall", "build machine", "--cost", "1000")
    assert said.code == 0
    assert said.lines[0] == "weak: none is sure enough to count as found; check the source before you rely on one"
    assert said.lines[-1].startswith("weak: 1 hit, confidence ")


@pytest.mark.parametrize(
    "options", [("--attempts", "9"), ("--cost", "0"), ("--lambda", "0.4"), ("--lambda", "x"), ("--now", "soon")]
)
def test_a_number_out_of_its_range_is_a_usage_error(shell, options):
    """What is out of range is refused before the store is opened."""
    assert shell("recall", "x", *options).code == 2


def test_lambda_and_now_are_told(shell):
    """What was asked for is in the JSON answer, as it counted."""
    shell.append("needle")
    answer = shell("recall", "needle", "--lambda", "1", "--now", "2026-01-31", "--json").json
    assert (answer["lambda"], answer["now"]) == (1.0, "2026-01-31T00:00:00.000Z")


def test_the_task_of_a_session_conditions_the_score(shell):
    """--task takes goal, premises and so on of a session; one that is not there is told."""
    shell.append("My goal is to move billing to PostgreSQL.", "billing")
    shell.append("the invoices table moves with billing to PostgreSQL", "notes")
    shell.append("the invoices table is printed in blue", "notes")
    answer = shell("recall", "invoices table", "--task", "billing", "--json").json
    assert answer["task"]["session"] == "billing"
    assert "billing" in answer["task"]["goal"]
    relevant = {hit["preview"].split()[-1]: hit["parts"]["task_relevance"] for hit in answer["hits"]}
    assert relevant["PostgreSQL"] == 1.0
    assert relevant["blue"] < 1.0
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
    assert re.fullmatch(r"found: 1 hit, confidence 0\.\d\d", said.lines[1])
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


def test_the_next_page_is_the_command_that_is_printed(shell):
    """With more to come, the command that is printed gives the next page; pages make up the whole."""
    shell.append("one more --needle here", "a b")
    for number in range(4):
        shell.append(f"needle {'hay ' * number}", "a b")
    pages, typed = [], ["recall", "--session", "a b", "--limit", "2", "--", "--needle"]
    while typed and len(pages) < 20:
        said = shell(*typed)
        pages += [line.split()[1] for line in said.lines if " fh:" in line]
        following = [line for line in said.error.splitlines() if line.startswith("more: ")]
        typed = shlex.split(following[0].removeprefix("more: firsthand "))[0:] if following else []
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
    assert {"how", "query", "hits", "confidence", "passed"} == answer.pop("hops")[0].keys()
    assert answer.pop("gate")
    assert (answer.pop("outcome") == "found") is (answer.pop("confidence") >= 0.75)
    assert answer == {
        "query": "needle", "more": False, "skip": 0, "truncated": False, "notes": [], "through": 1, "task": None,
        "attempts_max": 3, "cost": 3.0, "lambda": 0.8, "now": None, "threshold": 0.75,
    }  # fmt: skip
    parts = hit.pop("parts")
    assert tuple(parts) == ("base", "premise", "phase", "superseded", "task_relevance")
    assert hit.pop("score") == pytest.approx(parts["base"])
    assert hit.pop("found_by").keys() <= {"words", "exact", "phrase", "neighbours"}
    assert hit == {
        "pointer": pointer, "position": 1, "session": "s", "turn": 0, "kind": "tool_result", "agent": "",
        "origin": "tool:bash", "trust": "untrusted", "time": "2026-01-31T00:00:00.000Z", "bytes": 6,
        "exact": ["needle"], "preview": "needle", "preview_start": 0, "companion_of": None, "replaced_by": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "'",
        "AND",
        "NEAR(",
        "OR NOT",
        "a* b",
        "-x",
        "--",
        "(((",
        "body:x",
        "*",
        "%_",
        "日本語",
        "😀",
        "\\",
        " ",
        "\u202e",
        "e\u0301",
    ],
)
def test_any_text_is_a_query(shell, query):
    """No sign of a query is an operator: each ends with 0 or 1 and a typed answer."""
    shell.append("some 日本語 text 😀 AND more")
    said = shell("recall", "--json", "--", query)
    assert said.code in {0, 1}
    assert said.json["outcome"] in {"found", "weak", "absent"}
    assert (said.code == 0) == (said.json["outcome"] != "absent") == bool(said.json["hits"])


def test_a_query_of_60_kilobytes_is_answered(shell):
    """A long query is answered; one beyond the limit is refused with its sentence."""
    pointer = shell.append("needle")
    said = shell("recall", "needle " * 9_000, "--json")
    assert [hit["pointer"] for hit in said.json["hits"]] == [pointer]
    refused = shell("recall", "x" * 100_001)
    assert (refused.code, refused.error) == (5, "firsthand: a query has at most 100,000 characters; got 100,001\n")


def test_a_terminal_shows_the_lines_around_the_match(shell):
    """Of a long preview a terminal shows eight lines, with the match among them."""
    shell.append("".join(f"line {number}\n" for number in range(60)) + "the needle\n" + "after\n" * 20)
    lines = shell.on_terminal("recall", "needle", NO_COLOR="1").text.splitlines()
    shown = [line for line in lines if line.startswith("   | ")]
    assert len(shown) == 8
    assert "   | the needle" in shown
