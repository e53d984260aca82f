"""How fast is reconciliation, and does it decide rightly which fact takes the place of which?

    python bench/reconcile_bench.py                             speed, and generated sessions
    python bench/reconcile_bench.py --data PATH [--show]        also real ones (nothing of them is kept)
    python bench/reconcile_bench.py --data PATH --report        write bench/RECONCILE.md

Generated: a user names settings of several things in many sessions, changes some in twelve ways (four of which no rule
was written for), and between them asks, supposes, quotes and speaks of other things; tools, pages and agents say
changes too. The gold is computed.

Generated, too: a user counts things and books others, in words that say so anew and in words that do not (another one,
other people's, asked, refused).

Real: MultiWOZ 2.1, where the belief state of each turn says which slots were overwritten. A decision is wrong when its
old value is still in the belief state at that turn, and the new one neither there nor at any later turn; early when it
comes in at a later turn. The rules were mended on one half of the dialogues (by the hash of their names); of the other
half only figures were looked at, never a dialogue. BEAM, where questions name the messages of an old and a new value
(to be decided), and of two that contradict each other (not to be decided: the user is to be asked). Sessions of many
customers swept as one scope. Every decision on these and on BEAM is shown by `--show`.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from firsthand import (
    AddAll,
    Draft,
    Event,
    Fact,
    Kind,
    Memory,
    Moment,
    Reconciler,
    SizeAware,
    Trust,
    digest_of,
    facts_of,
    ledger_of,
    sweep,
)
from firsthand.consolidate.digest import digest
from firsthand.consolidate.keys import facts
from firsthand.consolidate.ledger import Decision, fold
from firsthand.consolidate.reconcile import decide
from firsthand.consolidate.sweep import by_rule
from firsthand.evals.stats import rate
from firsthand.event import IdMaker
from firsthand.index import facts as facts_table
from firsthand.recall.attempt import Search
from firsthand.value import replace

SEED = 7
AT = Moment(1_700_000_000_000_000, 0)
REPORT = Path(__file__).with_name("RECONCILE.md")


def said(position: int, text: str, session: str, kind: Kind = Kind.USER_MESSAGE, trust: Trust = Trust.TRUSTED) -> Event:
    """Make an event as the log gives it."""
    return Event(position, f"{position:026d}", "default", session, position, 0, 0, kind, "", "user", trust, AT, AT,
                 "text/plain", {}, b"", text.encode(), None, False, b"", b"")  # fmt: skip


@dataclass
class Tally:
    """What came of decisions: ``right`` ones, ``wrong`` invalidations, ``other`` that the gold says nothing of."""

    facts: int = 0
    decided: int = 0
    right: int = 0
    wrong: int = 0
    gold: int = 0
    found: int = 0

    def row(self, name: str) -> tuple[str, ...]:
        precision, recall = rate(self.right, max(self.decided, 1)), rate(self.found, max(self.gold, 1))
        of_facts = rate(self.wrong, max(self.facts, 1))
        return (
            name, f"{self.facts:,}", str(self.decided), f"{self.right} ({precision.share:.3f})", str(self.wrong),
            f"{100 * of_facts.share:.2f} % [{100 * of_facts.low:.2f}, {100 * of_facts.high:.2f}]",
            f"{self.found} of {self.gold} ({recall.share:.3f})",
        )  # fmt: skip


# generated -------------------------------------------------------------------------------------------------

THINGS = ("staging", "production", "billing", "search", "the mail gateway", "checkout", "the crawler", "reports")
ATTRIBUTES = {
    "port": lambda r: str(r.randint(1_024, 65_535)), "timeout": lambda r: f"{r.randint(2, 900)} seconds",
    "region": lambda r: r.choice(("eu-west-1", "us-east-2", "ap-south-1", "eu-north-1")) + str(r.randint(1, 99)),
    "owner": lambda r: r.choice(("Ann", "Bea", "Cem", "Dov", "Eva")) + r.choice(("ko", "ri", "lin", "mar")),
    "deadline": lambda r: f"2026-{r.randint(1, 12):02d}-{r.randint(1, 28):02d}",
}  # fmt: skip
SAY = ("The {a} of {t} is {v}.", "{t}'s {a} is {v}.")
CHANGE = (
    "The {a} of {t} is now {v}.", "Actually, the {a} of {t} is {v}.", "The {a} of {t} has changed to {v}.",
    "Please change the {a} of {t} from {o} to {v}.", "Correction: the {a} of {t} should be {v}.",
    "We moved the {a} of {t} to {v}.", "The {a} of {t} is not {o} but {v}.", "From now on the {a} of {t} is {v}.",
    "The {a} of {t} is {v}, not {o}.", "The {a} of {t} was moved to {v}.", "Set the {a} of {t} to {v}.",
)  # fmt: skip
UNSEEN = (
    "{v} it is for the {a} of {t}.", "Scratch {o}; {t} gets {v}.", "{t} runs with {a} {v} these days.",
    "You had {o} for {t}, that is outdated, take {v}.", "{t}: not {o} any more, {v}.",
)  # fmt: skip
IDLE = (
    "Is the {a} of {t} now {v}?", "If the {a} of {t} is now {v}, stop.", 'Ann wrote: "the {a} of {t} is now {v}".',
    "Maybe the {a} of {t} is {v}.", "> the {a} of {t} is now {v}", "```\nthe {a} of {t} is now {v}\n```",
    "I wonder whether the {a} of {t} has changed to {v}.", "The {a} of {t}-backup is now {v}.",
    "The old {a} of {t} is {v}.", "The other {a} of {t} is now {v}.", "My colleague's {a} of {t} is now {v}.",
    "Don't change the {a} of {t} to {v}.", "The {a} of {t} has not changed to {v}.", "Her {a} of {t} is now {v}.",
    "I plan to change the {a} of {t} to {v}.", "Once we migrate, the {a} of {t} is {v}.",
    "Ann said the {a} of {t} is now {v}.", "The {a} of {t} was {v}.", "The {a} of {t} used to be {v}.",
    "If we move, set the {a} of {t} to {v}.", "Imagine the {a} of {t} is now {v}.", "The {a} of {t} isn't {v}.",
    "Should I change the {a} of {t} to {v}?", "We considered moving the {a} of {t} to {v}.",
    "Nobody changed the {a} of {t} to {v}.", "It is not true that the {a} of {t} is now {v}.",
    "I almost changed the {a} of {t} to {v}.", "In the story the {a} of {t} is now {v}.",
    "Tomorrow we may move the {a} of {t} to {v}.", "The {a} of the second {t} is now {v}.",
)  # fmt: skip
"""What changes nothing: asked, supposed, quoted, denied, past, planned, told by others, of another thing or person."""


def gone(held: Mapping[tuple[str, str], tuple[str, int]], told: Sequence[Fact], made: Sequence[Decision]) -> int:
    """Count what still holds and does not stand by the ledger that decisions lead to."""
    ledger = fold(replace(one, position=10**9 + number) for number, one in enumerate(made))
    holds = {(place, value.partition(" ")[0].lower()) for value, place in held.values()}
    return sum(
        any(one.position == place and value in one.shown.lower() and not ledger.standing(one) for place, value in holds)
        for one in told
    )


def generated(sessions: int) -> Tally:
    """Let a user speak of settings, and compare what is decided with what was changed."""
    r, tally, position = random.Random(SEED), Tally(), 0
    for number in range(sessions):
        held: dict[tuple[str, str], tuple[str, int]] = {}
        events: list[Event] = []
        gold: set[tuple[int, int]] = set()
        for _ in range(40):
            position += 1
            thing, name = r.choice(THINGS), r.choice(list(ATTRIBUTES))
            value, before = ATTRIBUTES[name](r), held.get((thing, name))
            given = {"a": name, "t": thing, "v": value, "o": before[0] if before else "?"}
            sort = r.random()
            if before is None and sort < 0.6:
                events.append(said(position, r.choice(SAY).format(**given), f"s{number}"))
                held[thing, name] = (value, position)
            elif before is not None and sort < 0.5 and value != before[0]:
                words = r.choice(CHANGE) if r.random() < 0.75 else r.choice(UNSEEN)
                events.append(said(position, words.format(**given), f"s{number}"))
                gold.add((before[1], position))
                held[thing, name] = (value, position)
            elif sort < 0.8:
                events.append(said(position, r.choice(IDLE).format(**given), f"s{number}"))
            else:
                kind, trust = r.choice(((Kind.TOOL_RESULT, Trust.UNTRUSTED), (Kind.AGENT_MESSAGE, Trust.AGENT),
                                        (Kind.USER_MESSAGE, Trust.UNTRUSTED)))  # fmt: skip
                events.append(said(position, CHANGE[0].format(**given), f"s{number}", kind, trust))
        told = facts(events)
        at = {one.pointer: one.position for one in told}
        made = by_rule(told, {})
        moves = {(at[one.target], one.through) for one in made}
        tally.facts += len(told)
        tally.decided += len(made)
        tally.right += len(moves & gold)
        tally.wrong += gone(held, told, made)
        tally.gold += len(gold)
        tally.found += len(moves & gold)
    return tally


COUNTED = ("commits", "chapters", "invoices", "interviews", "sources", "episodes")
GROWN = ("I've reached {v} {u}.", "I'm now at {v} {u}.", "I'm up to {v} {u} already.", "We now have {v} {u}.",
         "I now have a total of {v} {u}.")  # fmt: skip
NOT_GROWN = ("I have {v} {u} to read.", "Ann has {v} {u}.", "Do you have {v} {u}?", "If I've reached {v} {u}, tell me.",
             "I need {v} {u}.", "My sister is now at {v} {u}.", "There were {v} {u} in 2024.", "I want {v} {u}.",
             "He's up to {v} {u}.", "I've read 3 of the {v} {u}.")  # fmt: skip
THING = {"hotel": ("day", "nights", "people"), "restaurant": ("day", "time", "people")}
SLOT = {"day": lambda r: r.choice(("Monday", "Tuesday", "Thursday", "Friday", "Sunday")),
        "nights": lambda r: f"{r.randint(1, 9)} nights", "people": lambda r: f"{r.randint(1, 9)} people",
        "time": lambda r: f"{r.randint(10, 21)}:{r.choice((15, 30, 45))}"}  # fmt: skip
ARRANGED = {"day": "I need a {t} for {v}.", "nights": "I need a {t} for {v}.", "people": "Book a {t} for {v}.",
            "time": "Book a {t} at {v}."}  # fmt: skip
REARRANGED = ("Let's make it {v} for the {t}.", "Actually, I need the {t} for {v}.", "Sorry, I meant {v} for the {t}.",
              "How about {v} for the {t} instead?")  # fmt: skip
NOT_REARRANGED = ("I need another {t} for {v}.", "Is the {t} open for {v} too?", "Not {v} for the {t}, please.",
                  "My friend has a {t} for {v} as well.", "Do you have a {t} for both, {v} or any?")  # fmt: skip


def arranged(sessions: int) -> Tally:
    """Let a user count things and arrange others, and compare what is decided with what was said anew."""
    r, tally, position = random.Random(SEED), Tally(), 0
    for number in range(sessions):
        held: dict[tuple[str, str], tuple[str, int]] = {}
        events: list[Event] = []
        gold: set[tuple[int, int]] = set()
        for _ in range(30):
            position += 1
            if r.random() < 0.4:
                key = ("", r.choice(COUNTED))
                value, holds = str(int(held.get(key, ("7", 0))[0]) + r.randint(1, 40)), r.random() < 0.5
                words = r.choice(GROWN if holds else NOT_GROWN)
            else:
                thing = r.choice(list(THING))
                key = (thing, r.choice(THING[thing]))
                value, holds = SLOT[key[1]](r), r.random() < 0.6
                anew = REARRANGED if key in held else (ARRANGED[key[1]],)
                words = r.choice(anew if holds else NOT_REARRANGED)
                if "another" in words:
                    key, holds = (f"another {thing}", key[1]), True
            if holds and value == held.get(key, ("", 0))[0]:
                continue
            given = {"v": value, "u": key[1], "t": key[0].removeprefix("another ")}
            events.append(said(position, words.format(**given), f"s{number}"))
            if holds:
                if key in held:
                    gold.add((held[key][1], position))
                held[key] = (value, position)
        told = facts(events)
        at = {one.pointer: one.position for one in told}
        made = by_rule(told, {})
        moves = {(at[one.target], one.through) for one in made}
        tally = Tally(
            tally.facts + len(told), tally.decided + len(made), tally.right + len(moves & gold),
            tally.wrong + gone(held, told, made), tally.gold + len(gold),
            tally.found + len(moves & gold),
        )  # fmt: skip
    return tally


# real ------------------------------------------------------------------------------------------------------

NOTHING = {"", "not mentioned", "none", "dontcare", "don't care"}
SLOTS = {
    "people": ("people",), "nights": ("stay",), "stars": ("stars",), "day": ("day",), "arrival": ("arriveBy",),
    "departure": ("leaveAt",), " time": ("time",), "price range": ("pricerange",), "area": ("area",),
    "food": ("food",), " type": ("type",), " sort": ("type",),
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
    told = facts(said(place + 1, turn["text"], name) for place, turn in enumerate(log[: 2 * len(states) - 2 : 2]))
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
        slots = [slot for end, names in SLOTS.items() if old.name.endswith(end) for slot in names]
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
    tally.facts += len(told)
    tally.decided += len(made)
    tally.gold += len(changed)
    tally.found += len(found)


@dataclass
class Beam:
    """What came of BEAM: decisions on pairs that are updates, and on pairs that contradict each other."""

    messages: int = 0
    facts: int = 0
    decided: int = 0
    updates: int = 0
    found: int = 0
    contradictions: int = 0
    overridden: int = 0


def beam(folders: Sequence[Path], *, show: bool) -> Beam:
    """Sweep each conversation, and look at the pairs that its questions are about."""
    tally = Beam()
    for folder in folders:
        chat = json.loads((folder / "chat.json").read_text())
        batches = chat if isinstance(chat, list) else [one for each in chat.values() for one in each]
        users = sorted(
            (one["id"], one["content"].partition("->->")[0])
            for batch in batches for turn in batch.get("turns", []) for one in turn if one["role"] == "user"
        )  # fmt: skip
        told = facts(said(number + 1, text, folder.name) for number, text in users)
        at = {one.pointer: one for one in told}
        made = by_rule(told, {})
        pairs = {(at[one.target].position - 1, one.through - 1) for one in made}
        for one in made if show else ():
            print(f"{folder.name}: {one.by} {one.key}\n    {at[one.target].text}\n    {at[one.by_fact].text}")
        asked = json.loads((folder / "probing_questions" / "probing_questions.json").read_text())
        for question in asked.get("knowledge_update", []):
            named = question.get("source_chat_ids")
            if isinstance(named, dict):
                tally.updates += 1
                old, new = named.get("original_info") or [], named.get("updated_info") or []
                tally.found += any(one in old and other in new for one, other in pairs)
        for question in asked.get("contradiction_resolution", []):
            named = question.get("source_chat_ids")
            if isinstance(named, dict):
                tally.contradictions += 1
                both = {*(named.get("first_statement") or []), *(named.get("second_statement") or [])}
                tally.overridden += any({*pair} <= both for pair in pairs)
        tally.messages += len(users)
        tally.facts += len(told)
        tally.decided += len(made)
    return tally


def customers(data: Path, *, show: bool) -> str:
    """Sweep real sessions of many people as one scope: a decision across sessions is of two people, and wrong."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "store", embedder="none") as memory:
        memory.import_paths([data / name for name in ("tau-airline", "pi-sessions", "longmemeval")])
        made = sweep(memory)
        told = facts_of(memory)
        sessions = {one.pointer: one.session for one in told}
        across = sum(sessions[one.target] != sessions[one.by_fact or one.target] for one in made.decided)
        words = {one.pointer: one.text for one in told}
        for one in made.decided if show else ():
            print(f"customers: {one.by} {one.key}\n    {words[one.target]}\n    {words.get(one.by_fact, '')}")
        return (
            f"tau-airline, pi-sessions, longmemeval as one scope, each session another person's: {made.facts} facts, "
            f"{len(made.decided)} decisions, {across} of them across sessions, which is wrong."
        )


# speed -----------------------------------------------------------------------------------------------------


def median_ms(work: Callable[[], object], times: int) -> float:
    """Give the median of the processor time that something takes."""
    taken = []
    for _ in range(times):
        gc.collect()
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return 1_000 * statistics.median(taken)


def hot() -> Iterator[tuple[str, str, str]]:
    """Time the decision on a turn: a plain one, and one with a call and a long message."""

    def draft(kind: Kind, text: str, call: str = "") -> Draft:
        return Draft(kind, text.encode(), meta={"call_id": call} if call else {}, trust=Trust.TRUSTED)

    plain = (
        draft(Kind.USER_MESSAGE, "thanks, that looks quite nice to me"),
        draft(Kind.AGENT_MESSAGE, "glad to hear it " * 20),
    )
    tools = (plain[0], *(draft(kind, "x" * 4_000, f"c{number}") for number in range(10)
                         for kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT)), plain[1])  # fmt: skip
    for name, one in (("add-all", AddAll()), ("size-aware, over budget", SizeAware(0, lambda: 1))):
        for what, turn in (("2 messages", plain), ("2 messages, 10 calls", tools)):

            def work(one: Reconciler = one, turn: Sequence[Draft] = turn) -> None:
                for _ in range(1_000):
                    decide(one, turn)

            yield f"hot decision, {name}, {what}", f"{median_ms(work, 9):.1f} us", "50 us"


def swept(events: int) -> Iterator[tuple[str, str, str]]:
    """Time the sweep, the digest and the ledger as of a position, on a store of many events."""
    r = random.Random(SEED)

    def fill(memory: Memory, events: int) -> None:
        batch: list[Draft] = []
        for number in range(events):
            given = {"a": r.choice(list(ATTRIBUTES)), "t": f"box{r.randint(1, 3_000)}", "o": "1"}
            given["v"] = ATTRIBUTES[given["a"]](r)
            text = (
                r.choice((*SAY, *CHANGE, *IDLE)).format(**given)
                if number % 4 == 0
                else f"line {number} of the work. " * 8
            )
            kind = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT)[number % 4]
            batch.append(Draft(kind, text.encode(), trust=Trust.TRUSTED, time=AT))
            if len(batch) == 5_000:
                memory.append(batch, session="one")
                batch = []
        memory.append(batch, session="one")

    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        with Memory.open(store, embedder="none") as memory:
            memory.agent("bench").enrol("one")
            fill(memory, events)
            yield from first_sweep(memory, events)
            fill(memory, 1_000)
        with Memory.open(store, embedder="none") as memory:  # as a process of the next night
            begun = time.process_time()
            done = sweep(memory, "bench")
            yield (f"sweep of 1,000 events more, by a new process ({len(done.decided):,} decisions)",
                   f"{1_000 * (time.process_time() - begun):.0f} ms", "none")  # fmt: skip


def first_sweep(memory: Memory, events: int) -> Iterator[tuple[str, str, str]]:
    """Time the first sweep of a store, and what is read of the ledger and the digest then."""
    begun = time.process_time()
    done = sweep(memory, "bench")
    yield (f"sweep of {events:,} events ({done.facts:,} facts, {len(done.decided):,} decisions)",
           f"{time.process_time() - begun:.1f} s", "60 s")  # fmt: skip
    head = int(memory.head().partition(":")[0])
    places = [head * number // 10 for number in range(1, 11)]
    decisions = len(ledger_of(memory).decisions())
    taken = [median_ms(lambda at=at: ledger_of(memory).at(at), 3) for at in places]
    yield f"ledger as of a position, {decisions:,} decisions, slowest of 10", f"{max(taken):.0f} ms", "200 ms"
    memory.read_once.clear()
    yield (
        f"the same, by a process that reads it first, {decisions:,} decisions",
        f"{median_ms(lambda: (memory.read_once.clear(), ledger_of(memory).at(head)), 3):.0f} ms",
        "200 ms",
    )
    yield (f"digest of the store as of now, {done.facts:,} facts",
           f"{median_ms(lambda: digest_of(memory.agent('bench')), 3):.0f} ms", "none")  # fmt: skip
    with_it, without = recalled(memory)
    yield f"recall of a setting, {events:,} events, with the ledger", f"{with_it:.2f} ms", "as without"
    yield "the same without the look at the ledger", f"{without:.2f} ms", ""


def recalled(memory: Memory) -> tuple[float, float]:
    """Time recalls with and without the look at what the ledger takes out, by turns; the best median of five."""
    r = random.Random(SEED)
    asked = [f"{r.choice(list(ATTRIBUTES))} of box{r.randint(1, 3_000)}" for _ in range(40)]
    looks = (Search.replaced, facts_table.behind)
    found: tuple[list[float], list[float]] = ([], [])

    def once() -> float:
        taken = []
        for text in asked:
            begun = time.process_time()
            memory.recall(text)
            taken.append(time.process_time() - begun)
        return 1_000 * statistics.median(taken)

    once()
    for _ in range(5):
        found[0].append(once())
        Search.replaced, facts_table.behind = (lambda *_: {}), (lambda *_: 0)
        found[1].append(once())
        Search.replaced, facts_table.behind = looks
    return min(found[0]), min(found[1])


def long_ledger(decisions: int) -> Iterator[tuple[str, str, str]]:
    """Time a long ledger as of any position, by a process that has not read it and by one that has."""
    ids = IdMaker()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        with Memory.open(store, embedder="none") as memory:
            said_ = memory.session("one").user("The port of the box is 80.").pointer
            rows = [Decision(ids(), "supersede", f"bench/port box{number % 3_000}", f"{said_}@0-26", f"{said_}@0-25",
                             "the user said that it has changed", (f"{said_}@0-26",), "rule:correction", 1)
                    for number in range(decisions)]  # fmt: skip
            for at in range(0, decisions, 5_000):
                ledger_of(memory).keep(rows[at : at + 5_000])
        with Memory.open(store, embedder="none", read_only=True) as memory:
            places = [1 + decisions * number // 10 for number in range(1, 11)]

            def afresh() -> None:
                memory.read_once.clear()
                ledger_of(memory).at(places[-1])

            fresh = median_ms(afresh, 5)
            taken = [median_ms(lambda at=at: ledger_of(memory).at(at), 3) for at in places]
        yield f"ledger of {decisions:,} decisions as of a position, slowest of 10", f"{max(taken):.0f} ms", "200 ms"
        yield "the same, by a process that reads it first", f"{fresh:.0f} ms", "200 ms"


def pure() -> Iterator[tuple[str, str, str]]:
    """Time the digest of many facts, and the fold of many decisions."""
    many = [Fact(f"k{n}", "v", f"fh:{n:026d}@0-5", n, f"The port of box{n} is {n}.", "assignment",
                 importance=n % 100 / 100)
            for n in range(10_000)]  # fmt: skip
    yield "digest of 10,000 facts", f"{median_ms(lambda: digest(many), 9):.0f} ms", "100 ms"
    rows = [Decision(f"{n:026d}", "supersede", f"k{n % 2_000}", f"fh:{n}", f"fh:{n + 1}", through=n, position=n)
            for n in range(10_000)]  # fmt: skip
    yield "fold of 10,000 decisions", f"{median_ms(lambda: fold(rows, 5_000), 9):.0f} ms", "200 ms"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write the report when asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the evaluation data")
    parser.add_argument("--events", type=int, default=100_000, help="of the store that is swept")
    parser.add_argument("--show", action="store_true", help="print each wrong decision, and all of BEAM")
    parser.add_argument("--report", action="store_true", help=f"write {REPORT.name}")
    chosen = parser.parse_args()
    quality = [generated(300).row("generated, settings"), arranged(300).row("generated, counts and bookings")]
    text = ""
    if chosen.data is not None:
        file = chosen.data / "multiwoz21" / "val.json.zip"
        halves = [multiwoz(file, looked_at=one, show=chosen.show) for one in (True, False)]
        quality += [one.row(f"MultiWOZ 2.1, validation, half {name}")
                    for one, name in zip(halves, ("looked at", "not looked at"), strict=True)]  # fmt: skip
        folders = sorted(one.parent for one in chosen.data.glob("beam-*/*/chat.json"))
        b = beam(folders, show=chosen.show)
        text = (
            f"MultiWOZ: {halves[0].early} and {halves[1].early} of the decisions come before the annotation takes the "
            "new value; they count as right.\n\n"
            f"BEAM: {b.messages:,} user messages of {len(folders)} conversations give {b.facts} facts and {b.decided} "
            f"decisions. Of {b.updates} updates that its questions ask about {b.found} are decided; of "
            f"{b.contradictions} contradictions, which are for the user to resolve, {b.overridden} are decided.\n\n"
            + customers(chosen.data, show=chosen.show)
        )
    speed = [*hot(), *pure(), *long_ledger(20_000), *swept(chosen.events)]
    shown = (
        table(
            (
                "",
                "facts",
                "decisions",
                "right (precision)",
                "wrong invalidations",
                "of all facts [95 %]",
                "overwrites found",
            ),
            quality,
        )
        + f"\n\n{text}\n\n"
        + table(("what", "ours", "target"), speed)
    )
    print(shown)
    if chosen.report:
        REPORT.write_text(
            "# Reconciliation: what is decided, and how fast\n\nMade by `python bench/reconcile_bench.py --data PATH "
            f"--report`; what is measured, its docstring says. Times are of the processor, on 2 shared "
            f"cores.\n\n{shown}\n"
        )


if __name__ == "__main__":
    main()
