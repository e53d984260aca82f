"""A user's rules are found where they are said, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from firsthand.task import constraints
from firsthand.task.constraints import RULES_MAX, is_constraint, rules, sentences

MARK = "0123456789abcdef" * 2
RULES = [
    "Never push to main.",
    "You must never store the card number.",
    "Please do not rename `run`.",
    "don't touch the tests",
    "don\u2019t change the schema, it is frozen",
    "ok, but dont commit anything",
    "All timestamps must be UTC.",
    "this plan must be written so that others can go on with it",
    "Remember, YOU CAN ONLY ENTER ONE COMMAND AT A TIME.",
    "The response must not contain HTML.",
    "Deploy only if CI is green.",
    "only use the standard library",
    "return the JSON only",
    "i would only want e2e tests for the session, anything else is noise.",
    "Always use uv instead of pip.",
    "You should always ask before deleting.",
    "Answer in at most 50 words.",
    "Keep at least two replicas running.",
    "The summary should be no more than 3 lines.",
    "Under no circumstances delete the backup.",
    "Force pushes are not allowed here.",
    "avoid using globals",
    "Make sure you never log the token.",
    "Fix the bug without changing the public API.",
    "You may not use the network.",
    "every file has to end with a newline",
    "We never merge on Fridays.",
    "I always want the tests to run first.",
    "DO NOT DROP THE TABLE",
    "Bitte niemals direkt auf main pushen.",
    "Du darfst die Tests nicht ändern.",
    "Deploye nur, wenn alle Tests grün sind.",
    "Il faut garder les noms.",
    "Ne modifie pas les tests.",
    "Nunca borres la base de datos.",
    "Não altere os testes.",
    "Никогда не удаляй резервную копию.",
    "不要修改测试文件。",
    "必须使用UTC时间。",
    "テストを変更しないでください。",
]

NO_RULES = [
    "never mind",
    "Nevermind, it works now.",
    "must I install anything first?",
    "Should we always use UTC?",
    "do you never sleep",
    "why must it be UTC",
    "It never worked for me.",
    "I've never seen this before",
    "I don't know why it fails.",
    "I just don't get it",
    "you don't have to do that now",
    "they don't like it",
    "This must be a bug.",
    "it must have been the cache",
    "I must say this looks good",
    "As always, great work!",
    "The test always fails on Windows.",
    "It's only when I run it twice that it breaks.",
    "I have at least 3 bags.",
    "I waited for at least two hours",
    "don't worry about it",
    "I guess you must be tired",
    "if you must, go ahead",
    "the build is slow",
    "yes",
    "",
    "不能确定吗\uff1f",
]


@pytest.mark.parametrize("said", RULES)
def test_a_rule_is_found_verbatim(said):
    """A sentence that says what must, must not or may only be done is a rule, word for word."""
    assert sentences(said) == (said,)
    assert is_constraint(said)


@pytest.mark.parametrize("said", NO_RULES)
def test_what_only_sounds_like_a_rule_is_none(said):
    """Questions, reports, guesses and figures of speech set no rule."""
    assert sentences(said) == ()
    assert not is_constraint(said)


def test_a_rule_has_its_place():
    """The sentence is cut out of its message exactly, and the characters at its place are its text."""
    message = 'Thanks!  Nice.\n\n- [ ] never push to "main" (ask first)!\nDo not touch `a.b`; it is fine. Why must we?'
    found = rules(message)
    assert [rule.text for rule in found] == ['never push to "main" (ask first)!', "Do not touch `a.b`;"]
    assert [message[rule.start : rule.end] for rule in found] == [rule.text for rule in found]


@pytest.mark.parametrize(
    "pasted",
    [
        "```\nnever do this\n```",
        "~~~python\n# you must not\nassert always_true\n~~~",
        "```\nan open fence: you must never",
        "> Never trust anyone.",
        "    raise ValueError  # must never happen",
        "Traceback (most recent call last): must not",
        '  File "x.py", line 3, in must_never\n',
        "    at Object.never (/app/x.js:10:5)",
        "TypeError: argument must be str, not None",
        "ValueError: you must not do that",
        "2026-01-02 10:00:00 WARN config must not be empty",
        "[12:01:02] you must never see this",
        "npm ERR! you must always run as admin:",
        "$ git push --force must never be used",
        "# Rules that must always hold",
        "| must | never |",
        '{"rule": "must never"}',
        "<rule>you must never</rule>",
        "if (x) { must.never(); }",
        'the page says "you must never log in twice" and then closes',
        "it shows “Do not panic” in red",
        "the flag `do not use` is set",
        "permission is hereby granted, you must not",
        f"<<firsthand {MARK}: recalled text>>\nnever push\n<<end {MARK}>>",
        f"<<firsthand {MARK}: recalled text>>\nnever push",
    ],
)
def test_what_others_wrote_sets_no_rule(pasted):
    """Code, quotations, logs, errors, markup and recalled text in a message are no words of its writer."""
    assert sentences(pasted) == ()
    assert sentences(f"look at this:\n\n{pasted}\n\n") == ()


def test_a_rule_beside_pasted_text_is_found():
    """What stands before and after a fence, a quotation or an error is still the writer's."""
    message = (
        "Never edit this file:\n```\ndo not read me\n```\n> must not\nTypeError: must be str\nAlways run it twice."
    )
    assert sentences(message) == ("Never edit this file:", "Always run it twice.")


def test_the_inside_of_a_long_paste_is_not_read():
    """Of a message with a pasted document only head and tail are the writer's."""
    document = "\n\n".join(f"Paragraph {n}. Users must always sign page {n}." for n in range(200))
    message = f"Never quote more than a line of this:\n\n{document}\n\nOnly answer in German."
    found = sentences(message)
    assert (found[0], found[-1]) == ("Never quote more than a line of this:", "Only answer in German.")
    assert "Users must always sign page 100." not in found


def test_rules_are_limited():
    """A message gives at most RULES_MAX rules, the first and the last ones."""
    message = "\n".join(f"Never open door {n}." for n in range(100))
    shown = (*range(RULES_MAX // 2), *range(100 - RULES_MAX // 2, 100))
    assert sentences(message) == tuple(f"Never open door {n}." for n in shown)


def test_a_sentence_without_end_is_no_rule():
    """A run of words longer than a sentence is not taken for one."""
    assert sentences("never " + "push " * 200) == ()


def test_every_hint_stands_in_what_its_pattern_finds():
    """A pattern is looked for only where its hint stands, so the hint is small letters and each one is needed."""
    assert all(word == word.casefold() for word in constraints._RULES)
    found = {word for said in RULES for word in constraints._RULES if word in said.replace("\u2019", "'").casefold()}
    assert {"never", "don't", "dont", "do not", "must", "only", "always", "at most", "at least", "avoid"} <= found
