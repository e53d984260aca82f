"""How fast is reconciliation, and does it decide rightly which fact takes the place of which?

    python bench/reconcile_bench.py                             speed, and generated sessions
    python bench/reconcile_bench.py --data PATH [--show]        also real ones (nothing of them is kept)
    python bench/reconcile_bench.py --data PATH --report        write bench/RECONCILE.md

Generated: a user names settings of several things in many sessions, changes some in twelve ways, a quarter of the
changes in others: in one run five that were first written as words that no rule knew, and were mended on since; in a
second run five that no rule was ever written for, nor is to be. Between them the user asks, supposes, quotes and speaks
of other things; tools, pages and agents say changes too. The gold is computed.

Generated, too: a user counts things and books others, in words that say so anew and in words that do not (another one,
other people's, asked, refused).

Real: MultiWOZ, BEAM and sessions of many customers, see `reconcile_real`; there also what is said of each overwrite:
found, surfaced, or where it is lost. `--show` prints each wrong decision and each loss of the halves looked at.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from firsthand import (
    AddAll,
    Draft,
    Event,
    Fact,
    Kind,
    Memory,
    Reconciler,
    SizeAware,
    Trust,
    digest_of,
    ledger_of,
    sweep,
)
from firsthand.consolidate.digest import digest
from firsthand.consolidate.keys import facts
from firsthand.consolidate.ledger import Decision, fold
from firsthand.consolidate.reconcile import decide
from firsthand.consolidate.sweep import by_rule
from firsthand.event import IdMaker
from firsthand.index import facts as facts_table
from firsthand.recall.attempt import Search
from firsthand.value import replace
from reconcile_real import LOSSES, Pairs, Tally, beam, customers, lost, multiwoz
from reconcile_said import AT, said

SEED = 7
REPORT = Path(__file__).with_name("RECONCILE.md")


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
NEVER = (
    "Make that {v} for {t}, its {a}, from here on.", "For {t} the {a} of {o} has given way to {v}.",
    "{t} no longer has {o} as its {a}: {v} is what counts.", "We settled on {v} as the {a} of {t} after all.",
    "The {a} for {t}: {v} since this morning.",
)  # fmt: skip
"""Words that no rule was written for, nor is to be: what is found of these is found by chance."""
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


def generated(sessions: int, others: Sequence[str]) -> Tally:
    """Let a user speak of settings, and compare what is decided with what was changed.

    Args:
        others: words of a quarter of the changes.
    """
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
                words = r.choice(CHANGE) if r.random() < 0.75 else r.choice(others)
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
        made = by_rule(told, {})
        count(tally, told, made, gold, gone(held, told, made))
    return tally


def count(
    tally: Tally, told: Sequence[Fact], made: Sequence[Decision], gold: set[tuple[int, int]], wrong: int
) -> None:  # fmt: skip
    """Count what came of one session's facts; of each overwrite that was not found, where it is lost."""
    pairs = Pairs.of(told, made)
    tally.facts += len(told)
    tally.decided += len(made)
    tally.right += len(pairs.decided & gold)
    tally.wrong += wrong
    tally.gold += len(gold)
    tally.found += len(pairs.decided & gold)
    for one in gold:
        old, new = ([fact for fact in told if fact.position == place] for place in one)
        kind = "found" if one in pairs.decided else "surfaced" if one in pairs.surfaced else lost(old, new)
        tally.losses[kind] += 1


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
        made = by_rule(told, {})
        count(tally, told, made, gold, gone(held, told, made))
    return tally


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


LOST = (
    "Where overwrites are lost, or only shown to the user as an open conflict (`reconcile_real` says what the columns "
    "mean); the last column: found, of those that the user's words decide."
)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines)


def real(data: Path, *, show: bool) -> tuple[dict[str, Tally], str, list[tuple[str, ...]]]:
    """Measure on real dialogues: tallies by name, sentences, and where BEAM's updates are lost."""
    file = data / "multiwoz21" / "val.json.zip"
    names = {True: "looked at", False: "not looked at"}
    halves = {name: multiwoz(file, looked_at=one, show=show) for one, name in names.items()}
    folders = sorted(one.parent for one in data.glob("beam-*/*/chat.json"))
    beams = {name: beam(folders, looked_at=one, show=show) for one, name in names.items()}
    early = " and ".join(str(one.early) for one in halves.values())
    return (
        {f"MultiWOZ 2.1, validation, half {name}": one for name, one in halves.items()},
        "\n\n".join((
            f"MultiWOZ: {early} of the decisions come before the annotation takes the new value; they count as right.",
            *(one.told(name) for name, one in beams.items()),
            customers(data, show=show),
        )),
        [one.updates.lost(f"BEAM, knowledge updates, half {name}") for name, one in beams.items()],
    )  # fmt: skip


def main() -> None:
    """Measure, print, and write the report when asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the evaluation data")
    parser.add_argument("--events", type=int, default=100_000, help="of the store that is swept")
    parser.add_argument("--show", action="store_true", help="print each wrong decision, and all of BEAM")
    parser.add_argument("--report", action="store_true", help=f"write {REPORT.name}")
    chosen = parser.parse_args()
    made = {
        "generated, settings": generated(300, UNSEEN),
        "generated, settings, words never mended on": generated(300, NEVER),
        "generated, counts and bookings": arranged(300),
    }
    said_of = ""
    losses = [one.lost(name) for name, one in made.items()]
    if chosen.data is not None:
        more, said_of, of_beam = real(chosen.data, show=chosen.show)
        made |= more
        losses = [one.lost(name) for name, one in made.items()] + of_beam
    speed = [*hot(), *pure(), *long_ledger(20_000), *swept(chosen.events)]
    shown = "\n\n".join((
        table(("", "facts", "decisions", "right (precision)", "wrong invalidations", "of all facts [95 %]",
               "overwrites found"), [one.row(name) for name, one in made.items()]),
        said_of,
        LOST,
        table(("", "overwrites", *LOSSES, "found of decidable"), losses),
        table(("what", "ours", "target"), speed),
    ))  # fmt: skip
    print(shown)
    if chosen.report:
        REPORT.write_text(
            "# Reconciliation: what is decided, and how fast\n\nMade by `python bench/reconcile_bench.py --data PATH "
            f"--report`; what is measured, its docstring says. Times are of the processor, on 2 shared "
            f"cores.\n\n{shown}\n"
        )


if __name__ == "__main__":
    main()
