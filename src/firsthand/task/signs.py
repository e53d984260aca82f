"""What single messages show of a task: goals that are named, questions, promises, decisions, premises, failures.

The invariant: what is found are words of the message's writer, whole sentences of
it; a doubtful sentence is left out. Of a tool's result only facts are taken (that
it failed, its exit code, a commit's name), never its words: a result must not be
able to write into the task state.

It does not know the state.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from firsthand.task.sentences import Sentence
from firsthand.value import value

HEAD_CHARACTERS = 2_000  # of a result: its first lines say whether it failed
TAIL_CHARACTERS = 400
SIGNS_MAX = 8  # of one kind in one message
_compiled = cache(partial(re.compile, flags=re.IGNORECASE | re.MULTILINE))

_GOAL = (
    r"^\W*(?:(?:my |our |the |your )?(?:overall |main |current |new )?(?:goal|task|objective|mission)"
    r"(?: (?:is|now|here|for today)){0,2}\s*[:\u2013\u2014-]\s*|(?:my|our|the|your) (?:overall |main |current |new )?"
    r"(?:goal|task|objective|mission)(?: now)? is (?:to |that )?)(\S.{7,})"
)
_GREETING = (
    r"\A\W*(?:(?:hi|hello|hey|yo|good (?:morning|afternoon|evening)|thanks?(?: you)?|ok(?:ay)?|test|ping|sup)\b"
    r"(?: there| all| claude| assistant| again)?\W*)+\Z"
)
_ASKS = r"[?\uff1f][\"')\]*_]*\Z"
_POLITE = r"\b(?:anything else|something else|how (?:can|may) i (?:help|assist)|how else|what else)\b"
_LATER = (
    r"\b(?:once|as soon as)\b|^when .*\bi(?:'ll| will)\b|\blater\W*$|\bafterwards\b|\bbefore (?:merging|committing)\b"
    r"|\bafter (?:that|this|you|we|i|it|they)\b"
    r"|\bafter (?:the|all|your) [\w -]{1,40} (?:is|are|has|have|pass\w*|finish\w*|land\w*)\b"
)
_I_WILL = r"\b(?:i'll|i will|i am going to|i'm going to)\b(?! (?:be happy|be glad|be able|need|assume|have to))"
_FOR_USER = r"\b(?:once|when|if|after|as soon as) (?:you|i (?:have|get|receive)|confirmed)\b|\blet me know\b"
_DECIDED = (
    r"\b(?:(?:i|we)(?:'ve| have)? (?:decided|agreed|settled|chosen)|(?:decision|decided): ?"
    r"|(?:let'?s|we(?:'ll| will)) (?:go with|stick with|switch to|stay with)"
    r"|(?:i|we)(?:'(?:m|re)| am| are) going with)\b"
)
_USER_DECIDED = r"\b(?:let'?s|we(?:'ll| will)|we should) (?:use|keep)\b|\buse \S+(?: \S+){0,3} instead\b"
_MAYBE = r"\b(?:if|whether|maybe|perhaps|might|could|would|unless|not|n't)\b|[?]"
_PREMISE = (
    r"^(?:please )?(?:assume|assuming|given that|keep in mind|bear in mind|note that|remember that|remember:"
    r"|also remember|for context|fyi|background|context)\b(?! (?:to|when|me)\b)"
)
_CODE = r"(-?[1-9]\d{0,4})\b"
_FAILED = (
    rf"\A\W{{0,3}}(?:<error>|exit ?code:? ?{_CODE}|command (?:failed|exited) with (?:exit )?(?:code|status) {_CODE}"
    rf"|process exited with code {_CODE})"
)
_FAILED_LATE = rf"(?:command exited with code|process exited with code|^exit code:?) {_CODE}\W*\Z"
_QUIET = (  # commands whose exit code 1 says that nothing was found, or that something differs
    r"\A\W*(?:sudo |env \S+ )*(?:[ef]?grep|rg|ag|git grep|git diff|diff|cmp|test|\[|which|type|pgrep)\b"
)
_COMMIT = r"^\[([\w./ #()-]{1,80}) ([0-9a-f]{7,40})\] \S"
_DETACHED = r" ?\((?:root-commit|detached head)\)| ?detached head"
_MESSAGE = r"""(?:-[a-z]*m|--message)[ =]?(?:"((?:[^"\\]|\\.){1,400})|'([^']{1,400}))"""
_MESSAGE_HERE = r"<<-?\s*['\"]?(\w+)['\"]?\n(.{1,400})"


COMMITTED = "git commit: "  # before the message of a commit, in the words for its call
_COMMITS = r"\bgit (?:-\S+ \S+ )*commit\b"
_WHAT = ("command", "cmd", "script", "file_path", "path", "filename", "pattern", "query", "url", "prompt", "name")
_SHELL = r"(?:\S*/)?(?:ba|z|da|)sh\Z"
_SETTING = r"\A(?:cd [^&;|\n]+(?:&&|;) *|export \w+=\S+ *(?:&&|;) *)+"


@value
class Failure:
    """A result that says its call failed.

    Attributes:
        code: its exit code as written; empty when it told none.
    """

    code: str = ""


@value
class Commit:
    """A commit that a result tells of."""

    name: str
    branch: str


def goal(sentences: tuple[Sentence, ...]) -> Sentence | None:
    """Give the sentence that names the goal, if one does; of several the last."""
    named = [one for one in sentences if _compiled(_GOAL).search(one.said) and not _compiled(_ASKS).search(one.said)]
    return named[-1] if named else None


def is_greeting(text: str) -> bool:
    """Say whether a message only greets."""
    return len(text) < 60 and _compiled(_GREETING).match(text) is not None


def question(sentences: tuple[Sentence, ...]) -> Sentence | None:
    """Give the last question of a message."""
    asked = [one for one in sentences if _compiled(_ASKS).search(one.said) and " " in one.said]
    return asked[-1] if asked else None


def asked(sentences: tuple[Sentence, ...]) -> Sentence | None:
    """Give the question with which an agent's message ends, so that it waits for the user."""
    last = question(sentences[-2:])
    return None if last is None or _compiled(_POLITE).search(last.said) else last


def promises(sentences: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
    """Give what an agent says it will do later, and not just now."""
    later = (one for one in sentences if _compiled(_I_WILL).search(one.said) and _compiled(_LATER).search(one.said))
    return tuple(one for one in later if not _compiled(_ASKS).search(one.said))[:SIGNS_MAX]


def waits_for_user(promise: Sentence) -> bool:
    """Say whether a promise only waits for what the user says next."""
    return _compiled(_FOR_USER).search(promise.said) is not None


def decisions(sentences: tuple[Sentence, ...], *, by_user: bool) -> tuple[Sentence, ...]:
    """Give what a message says was decided; an agent's next step is no decision."""
    pattern = _compiled(f"{_DECIDED}|{_USER_DECIDED}" if by_user else _DECIDED)
    found = (one for one in sentences if pattern.search(one.said) and not _compiled(_MAYBE).search(one.said))
    return tuple(found)[:SIGNS_MAX]


def premises(sentences: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
    """Give what a user's message says to take as given."""
    return tuple(one for one in sentences if _compiled(_PREMISE).match(one.said) and one.said[-1] != "?")[:SIGNS_MAX]


def failure(meta: Mapping[str, Any], result: str, command: str) -> Failure | None:
    """Say whether a result tells of a failure; a search that found nothing is none.

    Args:
        command: what the agent asked for, as far as it is known.
    """
    code = meta.get("exitCode", meta.get("exit_code"))
    if isinstance(code, int) and not isinstance(code, bool):
        found = Failure(str(code)) if code else None
    else:
        found = _told(result)
    if found is None:
        return Failure() if meta.get("is_error") is True else None
    quiet = found.code == "1" and _compiled(_QUIET).search(command) is not None
    return None if quiet else found


def _told(result: str) -> Failure | None:
    early = _compiled(_FAILED).search(result[:HEAD_CHARACTERS])
    late = early or _compiled(_FAILED_LATE).search(result[-TAIL_CHARACTERS:])
    if late is None:
        return None
    return Failure(next((code for code in late.groups() if code), ""))


def commit(command: str, result: str) -> Commit | None:
    """Give the commit that a result tells of, when the agent's command made one."""
    if not command.startswith("git commit"):
        return None
    match = _compiled(_COMMIT).search(result)
    if match is None:
        return None
    return Commit(match[2], _compiled(_DETACHED).sub("", match[1]).strip())


def doing(arguments: str) -> str:
    """Give the agent's own words for a call: its command, file, pattern or query; empty when it has none of them."""
    told: Any = arguments
    if arguments.lstrip().startswith("{"):
        try:
            told = json.loads(arguments)
        except (ValueError, RecursionError):
            return ""  # cut off
    if isinstance(told, Mapping):
        given = next((told[name] for name in _WHAT if isinstance(told.get(name), (str, list)) and told[name]), "")
        words = [one for one in given if isinstance(one, str)] if isinstance(given, list) else [given]
        told = words[-1] if words and _compiled(_SHELL).match(words[0]) else " ".join(words)
    command = _compiled(_SETTING).sub("", str(told).strip())
    if _compiled(_COMMITS).search(command) and (message := _message(command)):
        return COMMITTED + message
    return command.split("\n")[0].strip()


def _message(command: str) -> str:
    """Give the first line of the message that a commit command carries; empty when it has none."""
    here = _compiled(_MESSAGE_HERE).search(command)
    if here is not None:
        return here[2].strip()
    match = _compiled(_MESSAGE).search(command)
    return (match[1] or match[2] or "").split("\n")[0].strip() if match is not None else ""
