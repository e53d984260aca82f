"""Real dialogues for `reconcile_bench`: what is decided rightly, what wrongly, and where an overwrite is lost.

MultiWOZ 2.1, where the belief state of each turn says which slots were overwritten. A decision is wrong when its old
value is still in the belief state at that turn, and the new one neither there nor at any later turn; early when it
comes in at a later turn. BEAM, where questions name the messages of an old and a new value (to be decided), and of two
that contradict each other (not to be decided: the user is to be asked). LongMemEval, where a question gives the newest
value. Sessions of many customers swept as one scope.

Each overwrite of a source is of one of these kinds, the first that fits:

    found        a decision takes the old fact out for the new one
    surfaced     none does, and both stand among the open conflicts that the user is shown
    undecidable  the user's words, read alone, do not hold both values: what an assistant said, or a mere "yes", does
    not read     they do, and one of them gave no fact
    other key    both gave facts, under different keys
    refused      both gave facts of one key, and no rule joins them

A half of the dialogues of MultiWOZ and of the conversations of BEAM, by the hash of the name, was looked at while the
rules were mended; of the other half only these figures were.
"""

from __future__ import annotations

import json
import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from firsthand import Fact, Memory, conflicts_of, facts_of, sweep
from firsthand.consolidate.conflicts import conflicts
from firsthand.consolidate.keys import Reading, facts
from firsthand.consolidate.ledger import Decision, Ledger, fold
from firsthand.consolidate.sweep import by_rule, counts
from firsthand.lifecycle.sweeping import said_last
from firsthand.notes.values import read
from firsthand.value import replace
from firsthand_evals.stats import rate
from reconcile_said import said

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
LOSSES = ("found", "surfaced", "undecidable", "not read", "other key", "refused")


@dataclass
class Tally:
    """What came of decisions: ``right`` ones, ``wrong`` invalidations, and of each overwrite where it is lost."""

    facts: int = 0
    decided: int = 0
    right: int = 0
    wrong: int = 0
    gold: int = 0
    found: int = 0
    losses: Counter[str] = field(default_factory=Counter)

    def row(self, name: str) -> tuple[str, ...]:
        precision, recall = rate(self.right, max(self.decided, 1)), rate(self.found, max(self.gold, 1))
        of_facts = rate(self.wrong, max(self.facts, 1))
        return (
            name, f"{self.facts:,}", str(self.decided), f"{self.right} ({precision.share:.3f})", str(self.wrong),
            f"{100 * of_facts.share:.2f} % [{100 * of_facts.low:.2f}, {100 * of_facts.high:.2f}]",
            f"{self.found} of {self.gold} ({recall.share:.3f})",
        )  # fmt: skip

    def lost(self, name: str) -> tuple[str, ...]:
        """Say of what kind each overwrite is."""
        decidable = self.losses.total() - self.losses["undecidable"]
        share = f"{self.losses['found'] / decidable:.3f}" if decidable else ""
        return (name, str(self.losses.total()), *(str(self.losses[one]) for one in LOSSES), share)


@dataclass
class Pairs:
    """Positions of two messages: those that a decision joins, and those that an open conflict names."""

    decided: set[tuple[int, int]]
    surfaced: set[tuple[int, int]]

    @classmethod
    def of(cls, told: Sequence[Fact], made: Sequence[Decision]) -> Pairs:
        at = {one.pointer: one.position for one in told}
        open_ = conflicts(said_last(told), after(made))
        return cls(
            {(at[one.target], one.through) for one in made},
            {(one.earlier.position, one.later.position) for one in open_},
        )


def after(made: Sequence[Decision]) -> Ledger:
    """Give the ledger that decisions lead to."""
    return fold(replace(one, position=10**9 + number) for number, one in enumerate(made))


def lost(old: Sequence[Fact], new: Sequence[Fact]) -> str:
    """Say where an overwrite is lost of which both values were said.

    Args:
        old, new: the facts that hold each of the values.
    """
    if not old or not new:
        return "not read"
    return "refused" if {one.key for one in old} & {one.key for one in new} else "other key"


# MultiWOZ --------------------------------------------------------------------------------------------------

NOTHING = {"", "not mentioned", "none", "dontcare", "don't care"}
SLOTS = {
    "people": ("people",), "nights": ("stay",), "stars": ("stars",), "day": ("day",), "arrival": ("arriveBy",),
    "departure": ("leaveAt",), " time": ("time",), "price range": ("pricerange",), "area": ("area",),
    "food": ("food",), " type": ("type",), " sort": ("type",), " origin": ("departure",),
    " destination": ("destination",),
}  # fmt: skip


def _state(metadata: dict) -> dict[tuple[str, str], str]:
    return {
        (domain, slot): value.lower()
        for domain, parts in metadata.items()
        for part in ("semi", "book")
        for slot, value in parts.get(part, {}).items()
        if isinstance(value, str) and value.lower() not in NOTHING
    }


def is_looked_at(name: str) -> bool:
    """Say whether a dialogue is of the half that the rules were mended on."""
    return sha256(name.encode()).digest()[0] % 2 == 0


@dataclass
class Dialogues(Tally):
    """What came of dialogues; ``early``: not wrong, but the annotation takes the new value at a later turn."""

    early: int = 0


def multiwoz(file: Path, *, looked_at: bool, show: bool) -> Dialogues:
    """Sweep each dialogue of a half, and compare with the belief states."""
    tally = Dialogues()
    with zipfile.ZipFile(file) as packed:
        dialogues = json.loads(packed.read("val.json"))
    for name, dialogue in dialogues.items():
        if is_looked_at(name) is looked_at:
            _dialogue(name, dialogue["log"], tally, show=show and looked_at)
    return tally


def _dialogue(name: str, log: list[dict], tally: Dialogues, *, show: bool) -> None:
    states = [{}, *(_state(turn["metadata"]) for turn in log[1::2])]
    users = [turn["text"] for turn in log[: 2 * len(states) - 2 : 2]]
    told = facts(said(place + 1, text, name) for place, text in enumerate(users))
    changed = {
        (place, slot)
        for place in range(1, len(states))
        for slot, value in states[place].items()
        if slot in states[place - 1] and states[place - 1][slot] != value
    }
    made, found = by_rule(told, {}), set()
    by_key = {(one.key, one.pointer): one for one in told}
    shown = {one.pointer: one.shown.lower().lstrip("0") for one in told}
    for one in made:
        old = by_key[one.key, one.target]
        slots = _slots(old)
        met = [at for at in changed if at[0] == one.through and at[1][1] in slots]
        held = [{value.lstrip("0") for (_, slot), value in state.items() if slot in slots}
                for state in states[one.through :]]  # fmt: skip
        found |= set(met)
        lags = not met and shown[one.target] in held[0]
        is_wrong = lags and not any(shown.get(one.by_fact, "?") in values for values in held)
        tally.early += lags and not is_wrong
        tally.right += not is_wrong
        tally.wrong += is_wrong
        if lags and show:
            print(f"{'wrong' if is_wrong else 'early'}: {name} turn {one.through}, {one.by}, {one.key}: {old.text!r}")
    pairs = Pairs.of(told, made)
    for place, slot in changed:
        kind = "found" if (place, slot) in found else _lost(place, slot, states, users, told, pairs)
        tally.losses[kind] += 1
        if show and kind not in {"found", "undecidable"}:
            print(f"{kind}: {name} turn {place}, {slot}: {states[place - 1][slot]} -> {states[place][slot]}: "
                  f"{users[place - 1]!r}")  # fmt: skip
    tally.facts += len(told)
    tally.decided += len(made)
    tally.gold += len(changed)
    tally.found += len(found)


def _slots(one: Fact) -> list[str]:
    return [slot for end, names in SLOTS.items() if one.name.endswith(end) for slot in names]


def _lost(
    place: int, slot: tuple[str, str], states: Sequence[Mapping], users: Sequence[str], told: Sequence[Fact],
    pairs: Pairs,
) -> str:  # fmt: skip
    """Say of what kind an overwrite is that no decision found."""
    old, new = states[place - 1][slot], states[place][slot]
    if not _says(users[place - 1], new) or not any(_says(text, old) for text in users[: place - 1]):
        return "undecidable"
    of_slot = [one for one in told if slot[1] in _slots(one)]
    before = [one for one in of_slot if one.position < place and _same(one.shown, old)]
    now = [one for one in of_slot if one.position == place and _same(one.shown, new)]
    if any((one.position, place) in pairs.surfaced for one in before):
        return "surfaced"
    return lost(before, now)


def _plain(text: str) -> str:
    low = re.sub(r"(?<!\d)0(?=\d[:.])", "", text.lower()).replace("center", "centre")
    return re.sub(r"[^a-z0-9:]", "", low)


def _says(text: str, value: str) -> bool:
    """Say whether a text holds a value, in letters and digits; a number of one digit as a word of its own."""
    if value.isdigit():
        words = {*re.findall(r"[a-z]+|[\d:.]+", text.lower())}
        spelled = DIGITS[int(value)] if int(value) < len(DIGITS) else ""
        return bool(words & {value, spelled, *(["single"] if value == "1" else [])})
    return _plain(value) in _plain(text) or (":" in value and _hour(value, text))


def _hour(value: str, text: str) -> bool:
    hours, _, minutes = value.partition(":")
    told = {(one.kind, one.amount) for one in read(text)}
    amount = int(hours) * 60 + int(minutes) if hours.isdigit() and minutes.isdigit() else -1
    return ("time", amount) in told


def _same(shown: str, value: str) -> bool:
    return _plain(value) in _plain(shown) or _plain(shown) in _plain(value) or _hour(value, shown)


# BEAM ------------------------------------------------------------------------------------------------------


REAL: dict[str, tuple[tuple[int, int], ...]] = {
    "beam-100k/10": (
        (175, 307),
        (217, 223),
        (227, 307),
        (301, 343),
        (337, 343),
    ),
    "beam-100k/11": (
        (137, 171),
        (195, 343),
    ),
    "beam-100k/5": ((203, 237),),
    "beam-100k/6": (
        (63, 93),
        (101, 143),
    ),
    "beam-100k/7": (
        (117, 159),
        (193, 211),
    ),
    "beam-500k/1": (
        (101, 153),
        (113, 161),
        (113, 491),
        (129, 543),
        (295, 525),
        (557, 621),
        (717, 795),
        (721, 787),
    ),
    "beam-500k/3": (
        (325, 393),
        (515, 543),
        (559, 615),
        (615, 767),
        (635, 689),
    ),
}
NOT_REAL: dict[str, tuple[tuple[int, int], ...]] = {
    "beam-100k/10": (
        (21, 227),
        (217, 291),
        (261, 319),
    ),
    "beam-100k/11": ((171, 307),),
    "beam-100k/9": ((51, 61),),
    "beam-500k/1": (
        (23, 183),
        (31, 795),
        (65, 637),
        (75, 79),
        (507, 623),
        (517, 543),
        (525, 741),
    ),
    "beam-500k/3": (
        (95, 125),
        (195, 393),
        (599, 731),
    ),
}
"""Open conflicts of the half looked at, 40 drawn by chance and judged by hand: would the user want to see both?"""


@dataclass
class Beam:
    """What came of BEAM: decisions on pairs that are updates, and on pairs that contradict each other."""

    conversations: int = 0
    messages: int = 0
    facts: int = 0
    decided: int = 0
    conflicts: int = 0
    updates: Tally = field(default_factory=Tally)
    contradictions: Tally = field(default_factory=Tally)
    overridden: int = 0
    real: int = 0
    not_real: int = 0

    def told(self, half: str) -> str:
        """Say it in a sentence."""
        return (
            f"BEAM, half {half}: {self.messages:,} user messages of {self.conversations} conversations give "
            f"{self.facts} facts, {self.decided} decisions and {self.conflicts} open conflicts. Of "
            f"{self.contradictions.losses.total()} contradictions, which are for the user to resolve, "
            f"{self.overridden} are decided and {self.contradictions.losses['surfaced']} are surfaced."
        ) + (
            f" Of open conflicts that were judged by hand, {self.real} of {self.real + self.not_real} are real."
            if self.real + self.not_real
            else ""
        )


def beam(folders: Sequence[Path], *, looked_at: bool, show: bool) -> Beam:
    """Sweep each conversation of a half, and look at the pairs that its questions are about."""
    tally = Beam()
    for folder in folders:
        name = f"{folder.parent.name}/{folder.name}"
        if is_looked_at(name) is looked_at:
            _conversation(folder, name, tally, show=show and looked_at)
    return tally


def _conversation(folder: Path, name: str, tally: Beam, *, show: bool) -> None:
    chat = json.loads((folder / "chat.json").read_text())
    batches = chat if isinstance(chat, list) else [one for each in chat.values() for one in each]
    users = {
        one["id"] + 1: one["content"].partition("->->")[0]
        for batch in batches for turn in batch.get("turns", []) for one in turn if one["role"] == "user"
    }  # fmt: skip
    told = [*Reading("").read(said(place, users[place], name) for place in sorted(users))]
    made = by_rule(told, {})
    pairs = Pairs.of(told, made)
    words = {one.pointer: one for one in told}
    if show:
        for one in made:
            print(f"{name}: {one.by} {one.key}\n    {words[one.target].text}\n    {words[one.by_fact].text}")
        for one in conflicts(said_last(told), after(made)):
            print(f"{name}: open, {one.why}\n    {one.earlier.text}\n    {one.later.text}")
    asked = json.loads((folder / "probing_questions" / "probing_questions.json").read_text())
    for question in asked.get("knowledge_update", []):
        old, new = _named(question, "original_info", "updated_info")
        if old:
            kind = _kind_of_update(old, new, str(question.get("answer")), users, told, pairs)
            tally.updates.losses[kind] += 1
            if show and kind != "found":
                print(f"{name}: {kind}: {question.get('question')} {old} -> {new}")
    for question in asked.get("contradiction_resolution", []):
        old, new = _named(question, "first_statement", "second_statement")
        if old:
            both = {*old, *new}
            surfaced = any({*pair} <= both for pair in pairs.surfaced)
            tally.overridden += any({*pair} <= both for pair in pairs.decided)
            tally.contradictions.losses["surfaced" if surfaced else "not read"] += 1
            if show and not surfaced:
                print(f"{name}: not surfaced: {question.get('question')} {old} -> {new}")
    tally.real += len(pairs.surfaced & {*REAL.get(name, ())})
    tally.not_real += len(pairs.surfaced & {*NOT_REAL.get(name, ())})
    tally.conversations += 1
    tally.messages += len(users)
    tally.facts += sum(counts(one) for one in told)
    tally.decided += len(made)
    tally.conflicts += len(conflicts(said_last(told), after(made)))


def _named(question: Mapping, first: str, second: str) -> tuple[list[int], list[int]]:
    """Give the positions of the messages that a question names; none where it names none."""
    named = question.get("source_chat_ids")
    if not isinstance(named, dict):
        return [], []
    return [one + 1 for one in named.get(first) or []], [one + 1 for one in named.get(second) or []]


def _kind_of_update(
    old: list[int], new: list[int], answer: str, users: Mapping[int, str], told: Sequence[Fact], pairs: Pairs
) -> str:
    """Say of what kind an update is that a question asks about."""
    if any(one in old and other in new for one, other in pairs.decided):
        return "found"
    if any(one in old and other in new for one, other in pairs.surfaced):
        return "surfaced"
    wanted = {(one.kind, one.amount) for one in read(answer) if one.amount is not None}
    there = {(one.kind, one.amount) for at in new for one in read(users.get(at, ""))}
    kinds = {kind for kind, _ in wanted & there}
    before = {one.kind for at in old for one in read(users.get(at, ""))}
    if old == new or not kinds & before:
        return "undecidable"
    now = [one for one in told if one.position in new and wanted & {(v.kind, v.amount) for v in read(one.shown)}]
    return lost([one for one in told if one.position in old and kinds & {v.kind for v in read(one.shown)}], now)


# others ----------------------------------------------------------------------------------------------------


def customers(data: Path, *, show: bool) -> str:
    """Sweep real sessions of many people as one scope: a decision across sessions is of two people, and wrong."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "store", embedder="none") as memory:
        memory.import_paths([data / name for name in ("tau-airline", "pi-sessions", "longmemeval")])
        made = sweep(memory)
        told = facts_of(memory)
        open_ = conflicts_of(memory)
        words = {one.pointer: one for one in told}
        across = sum(words[one.target].session != words[one.by_fact or one.target].session for one in made.decided)
        for one in made.decided if show else ():
            new = words[one.by_fact].text if one.by_fact else ""
            print(f"customers: {one.by} {one.key}\n    {words[one.target].text}\n    {new}")
        for one in open_ if show else ():
            print(f"customers: open, {one.why} {one.later.key}\n    {one.earlier.text}\n    {one.later.text}")
        return (
            f"tau-airline, pi-sessions, longmemeval as one scope, each session another person's: {made.facts} facts, "
            f"{len(made.decided)} decisions, {across} of them across sessions, which is wrong; {len(open_)} open "
            f"conflicts, {sum(one.earlier.session != one.later.session for one in open_)} of them across sessions."
        )
