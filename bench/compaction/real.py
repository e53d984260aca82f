"""Traces of real sessions: pi, SWE-agent, tau-bench and InterCode, as lists of messages.

Needles are exact strings of a tool's result or a user's message that begins in the
first window, and that stand nowhere later. A question is made by template from what
stands around its string, and never holds it. Short episodes are joined, as one agent
would see them in one long session; nothing else is changed.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import strings
from .values import (
    CYCLES,
    Ask,
    Message,
    Needle,
    Question,
    Step,
    Trace,
    agent,
    checkpoints,
    text_of,
    tokens_of_all,
    tool,
    user,
)

SETS = ("pi", "swe-agent", "tau", "intercode")
NEEDLES, TWO_STEPS, NEVERS = 50, 10, 20
CONTEXT_CHARACTERS = 70  # on each side of the needle
CONTEXT_WORDS_MIN = 4
WINDOW_TOKENS = 30_000
EARLY_SHARE = 1.0  # of the window: needles are taken from messages that begin in it
LINK_CHARACTERS_MIN = 6
LINE_CHARACTERS = 400
NEVER_PLACES = 4_000  # of the other set, to draw from
_WORD = re.compile(r"[A-Za-z]{4,}")
_SPACE = re.compile(r"\s+")
_NEEDLES = ("path", "hash", "identifier", "number")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an exact string stands: its message and what is left and right of it in its line."""

    string: str
    kind: str
    message: int
    line: int
    left: str
    right: str

    @property
    def context(self) -> str:
        return _SPACE.sub(" ", f"{self.left}____{self.right}").strip()


def steps(data: Path, name: str) -> Iterator[Step]:
    """Yield a set's sessions as steps, one behind the other."""
    match name:
        case "pi":
            yield from _pi(data / "pi-sessions" / "before-compaction.jsonl")
        case "swe-agent":
            for file in sorted((data / "swe-agent").glob("*.traj")):
                yield from _swe(json.loads(file.read_bytes()), file.stem)
        case "tau":
            for file in sorted((data / "tau-airline").glob("*.json")):
                for number, episode in enumerate(json.loads(file.read_bytes())):
                    yield from _chat(episode["traj"], f"e{number}", first=number == 0)
        case "intercode":
            for file in sorted((data / "intercode").rglob("*.json")):
                for number, episode in enumerate(json.loads(file.read_bytes()).values()):
                    yield from _intercode(episode, f"{file.parent.name}-{number}")
        case _:
            raise ValueError(f"a set is one of {', '.join(SETS)}; got {name!r}")


def traces(data: Path, name: str, *, parts: int, seed: int) -> list[Trace]:
    """Cut a set into traces of five windows each, with questions; the window shrinks when the set is short.

    Raises:
        ValueError: the set has no needles to ask for.
    """
    cut: list[list[Step]] = [[]]
    tokens = 0
    for step in steps(data, name):
        if tokens > (CYCLES[-1] + 0.3) * WINDOW_TOKENS:
            if len(cut) == parts:
                break
            cut.append([])
            tokens = 0
        cut[-1].append(step)
        tokens += tokens_of_all(step)
    if len(cut) > 1 and tokens < (CYCLES[-1] + 0.3) * WINDOW_TOKENS:
        cut.pop()  # the rest of a set, too short for five cycles
    return [_trace(data, name, number, taken, seed) for number, taken in enumerate(cut)]


def _trace(data: Path, name: str, number: int, taken: Sequence[Step], seed: int) -> Trace:
    tokens = sum(map(tokens_of_all, taken))
    window = min(WINDOW_TOKENS, int(tokens / (CYCLES[-1] + 0.3)))
    chance = random.Random(f"{seed} {name} {number}")
    needles, questions = asked(taken, int(window * EARLY_SHARE), chance)
    other = SETS[(SETS.index(name) + 1) % len(SETS)]
    questions += _nevers(data, other, taken, chance)
    marks = checkpoints(taken, window)
    return Trace(f"{name}-{number}", window, tuple(taken), tuple(needles), tuple(questions), marks)


def asked(taken: Sequence[Step], early_tokens: int, chance: random.Random) -> tuple[list[Needle], list[Question]]:
    """Draw needles from a session's first tokens, and ask for each: exactly, in other words, as a person would."""
    messages = [message for step in taken for message in step]
    texts = [text_of(message) for message in messages]
    early = _early(messages, early_tokens)
    later = "\n".join(texts[early[-1] + 1 :])
    places = [place for number in early for place in _places(texts[number], number)]
    chance.shuffle(places)
    before = "\n".join(texts[: early[-1] + 1])
    drawn = _spread([place for place in places if _asks(place)], lambda place: _is_needle(place, before, later))
    if not drawn:
        raise ValueError("no exact string of the first window can be asked for; the session is too short")
    frequency = Counter(word.lower() for text in texts for word in set(_WORD.findall(text)))
    needles = [Needle(place.string, place.left + place.string + place.right, place.kind) for place in drawn]
    questions = [Question(_exact(place), Ask.EXACT, place.string, place.kind) for place in drawn]
    questions += [Question(_sparse(place, frequency), Ask.PARAPHRASED, place.string, place.kind) for place in drawn]
    questions += [
        Question(_personal(place, messages, frequency), Ask.PERSONAL, place.string, place.kind) for place in drawn
    ]
    return needles, questions + _two_steps(places, before, later, chance)


def _early(messages: Sequence[Message], tokens_max: int) -> list[int]:
    """Give the users' messages and tools' results that begin in the first tokens of the session."""
    found, tokens = [], 0
    for number, message in enumerate(messages):
        if tokens > tokens_max:
            break
        tokens += tokens_of_all([message])
        if message["role"] in {"user", "tool"}:
            found.append(number)
    return found


def _is_needle(place: _Place, before: str, later: str) -> bool:
    """Say whether a string is gone after the early messages, and what stands around it says which one is meant."""
    around = [one for one in (place.left[-40:], place.right[:40]) if len(one.strip()) > 12]
    return place.string not in later and any(before.count(one) == 1 for one in around)


def _places(text: str, message: int) -> Iterator[_Place]:
    for kind in _NEEDLES:
        for match in strings.of(text, kind):
            start = text.rfind("\n", 0, match.start()) + 1
            left = text[max(start, match.start() - CONTEXT_CHARACTERS) : match.start()]
            end = text.find("\n", match.end())
            right = text[match.end() : min(len(text) if end < 0 else end, match.end() + CONTEXT_CHARACTERS)]
            line = start + (match.start() - start) // LINE_CHARACTERS  # JSON in one line of 20,000 signs is many lines
            yield _Place(match[0], kind, message, line, left, right)


def _asks(place: _Place) -> bool:
    """Say whether what stands around a string is enough to ask for it, and does not give it away."""
    return len(set(_WORD.findall(place.context))) >= CONTEXT_WORDS_MIN and place.string not in place.context


def _spread(places: Sequence[_Place], fits: Callable[[_Place], bool], count: int = NEEDLES) -> list[_Place]:
    """Take places of each class in turn, each string once, and one of each line."""
    by_kind = {kind: iter([one for one in places if one.kind == kind]) for kind in _NEEDLES}
    out: list[_Place] = []
    strings_taken: set[str] = set()
    lines_taken: set[tuple[int, int]] = set()
    while by_kind and len(out) < count:
        for kind, ones in list(by_kind.items()):
            for one in ones:
                if one.string not in strings_taken and (one.message, one.line) not in lines_taken and fits(one):
                    strings_taken.add(one.string)
                    lines_taken.add((one.message, one.line))
                    out.append(one)
                    break
            else:
                del by_kind[kind]
    return out[:count]


def _exact(place: _Place) -> str:
    return f'Which {place.kind} stood in the place of the blank: "{place.context}"?'


def _sparse(place: _Place, frequency: Counter[str]) -> str:
    """Ask with the two rarest words around the string and nothing else of it."""
    words = sorted(set(_WORD.findall(place.context)), key=_rarity(frequency))
    return f"Some {place.kind} came up next to {words[0]} and {words[1]}. What was it, to the letter?"


def _personal(place: _Place, messages: Sequence[Message], frequency: Counter[str]) -> str:
    """Ask as somebody would who remembers what they had asked for then, and one word from beside the string."""
    said = next((text_of(m) for m in reversed(messages[: place.message + 1]) if m["role"] == "user"), "")
    words = sorted(set(_WORD.findall(said.replace(place.string, " "))), key=_rarity(frequency))[:3]
    beside = min(_WORD.findall(place.context), key=_rarity(frequency))
    return (
        f"Earlier I asked you about {' '.join(words) or 'something'}. You came across a {place.kind} then, "
        f"I think {beside} was near it. Can you tell me what it was?"
    )


def _rarity(frequency: Counter[str]) -> Callable[[str], tuple[int, str]]:
    return lambda word: (frequency[word.lower()], word)


def _two_steps(places: Sequence[_Place], before: str, later: str, chance: random.Random) -> list[Question]:
    """Ask for a string by another one that is itself left out: the one leads to the other."""
    stands: dict[str, list[_Place]] = {}
    beside: dict[tuple[int, int], list[_Place]] = {}
    for place in places:
        beside.setdefault((place.message, place.line), []).append(place)
        if len(place.string) >= LINK_CHARACTERS_MIN:
            stands.setdefault(place.string, []).append(place)
    questions = []
    for link, both in sorted(stands.items()):
        if len(both) != 2 or before.count(link) != 2 or both[0].message == both[1].message:
            continue
        for first, other in (both, both[::-1]):
            answers = [
                one for one in beside[other.message, other.line]
                if one.string not in later and before.count(one.string) == 1
                and link not in one.string and one.string not in link
            ]  # fmt: skip
            if answers and _asks(first) and answers[0].string not in first.context:
                text = (
                    f'Some {first.kind} was left out here: "{first.context}". Where it stands once more, '
                    f"which {answers[0].kind} stands beside it?"
                )
                questions.append(Question(text, Ask.TWO_STEP, answers[0].string, answers[0].kind, through=link))
                break
    chance.shuffle(questions)
    return questions[:TWO_STEPS]


def _nevers(data: Path, other: str, taken: Sequence[Step], chance: random.Random) -> list[Question]:
    """Ask about lines of another set, of which this one has no trace."""
    here = "\n".join(text_of(message) for step in taken for message in step)
    theirs: list[_Place] = []
    for number, step in enumerate(steps(data, other)):
        theirs += [
            place for message in step if message["role"] in {"user", "tool"}
            for place in _places(text_of(message), number) if _asks(place)
        ]  # fmt: skip
        if len(theirs) > NEVER_PLACES:
            break
    chance.shuffle(theirs)
    asked = _spread(theirs, lambda one: one.left[-30:] not in here and one.string not in here, NEVERS)
    return [Question(_exact(one), Ask.NEVER, "", one.kind) for one in asked]


def _pi(file: Path) -> Iterator[Step]:
    entries = [json.loads(line) for line in file.read_bytes().splitlines()]
    yield from pi_steps(entries)


def pi_steps(entries: Sequence[dict[str, Any]]) -> Iterator[Step]:
    """Read pi's entries as steps; an agent message waits for the results of its calls."""
    waiting: list[Message] = []
    missing: set[str] = set()
    for entry in entries:
        message = entry.get("message", {})
        match message.get("role"):
            case "user":
                yield from _held(waiting, missing)
                yield user(_blocks(message["content"]) or "(an image)")
            case "bashExecution":
                yield from _held(waiting, missing)
                yield user(f"$ {message['command']}\n{message['output']}")
            case "assistant":
                yield from _held(waiting, missing)
                calls = [block for block in message["content"] if block["type"] == "toolCall"]
                said = _blocks(message["content"])
                if calls:
                    waiting.append({"role": "assistant", "content": said, "tool_calls": [*map(_call, calls)]})
                    missing |= {block["id"] for block in calls}
                elif said:
                    yield agent(said)
            case "toolResult" if message["toolCallId"] in missing:
                missing.discard(message["toolCallId"])
                content = _blocks(message["content"]) or "(no output)"
                waiting.append({"role": "tool", "tool_call_id": message["toolCallId"], "content": content})
                if not missing:
                    yield from _held(waiting, missing)
            case _:
                pass  # headers, changes of model, compactions: no messages of the session
    yield from _held(waiting, missing)


def _held(waiting: list[Message], missing: set[str]) -> Iterator[Step]:
    """Give out what waited, with a result for every call: one that was cut off says so."""
    if waiting:
        cut = [{"role": "tool", "tool_call_id": one, "content": "(interrupted)"} for one in sorted(missing)]
        yield (*waiting, *cut)
    waiting.clear()
    missing.clear()


def _blocks(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block.get("type") == "text" and block.get("text"))


def _call(block: dict[str, Any]) -> dict[str, Any]:
    arguments = json.dumps(block["arguments"], ensure_ascii=False)
    return {"id": block["id"], "type": "function", "function": {"name": block["name"], "arguments": arguments}}


def _swe(file: dict[str, Any], name: str) -> Iterator[Step]:
    issue = next((one["content"] for one in file["history"] if one["role"] == "user" and not one.get("is_demo")), "")
    yield user(issue or f"Work on {name}.")
    for number, step in enumerate(file["trajectory"]):
        observation = step["observation"] or "(no output)"
        yield tool(f"{name}-{number}", "shell", {"command": step["action"]}, observation, step["thought"] or "")


def _chat(messages: Sequence[dict[str, Any]], name: str, *, first: bool) -> Iterator[Step]:
    """Read an OpenAI chat; call ids get the episode's name, since each episode counts its own."""
    waiting: list[Message] = []
    policy: list[Message] = []
    for message in messages:
        if message["role"] == "system":
            # the same policy opens every episode, so it is told once, with the first message
            policy = [{"role": "system", "content": message["content"]}] if first else []
        elif message["role"] == "tool":
            last = waiting[0]["tool_calls"][0]["id"] if waiting else ""
            if waiting:
                yield (waiting[0], {"role": "tool", "tool_call_id": last, "content": message["content"] or "(none)"})
            waiting = []
        elif message.get("tool_calls"):
            call = message["tool_calls"][0]
            named = {"id": f"{name}-{call['id']}", "type": "function", "function": call["function"]}
            waiting = [{"role": "assistant", "content": message.get("content") or "", "tool_calls": [named]}]
        elif message.get("content"):
            yield (*policy, {"role": message["role"], "content": message["content"]})
            policy = []


def _intercode(episode: dict[str, Any], name: str) -> Iterator[Step]:
    yield user(episode["query"])
    turns = episode.get("turn_history") or {}
    for number, (action, seen) in enumerate(zip(turns.get("actions", ()), turns.get("observations", ()), strict=False)):
        shown = seen if isinstance(seen, str) else json.dumps(seen)
        yield tool(f"{name}-{number}", "shell", {"command": action}, shown or "(no output)")
