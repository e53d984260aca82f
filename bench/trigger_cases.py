"""Cases, score cards and deep rules in the shape of recall-problem 8.8, made from seeds.

A *situation* is a handful of findings. A *case* tells some of them, in words of its
own. Each finding has four phrasings: the first two are used by the cases that a rule
was learned in; a question uses the last three (one may be said alike) or only the last
two (all is said in other phrases). A *rule* is deep and procedural
and speaks of none of the findings. A *score card* is shallow and repeats its case's.

The order of a log: for each situation its learning cases, each with an answer and a
score card, then its rule, with the learning cases as sources; then more cases of the
same and of other situations, with cards, and no rule.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LEARNING_CASES = 3
SHALLOW_CASES = 4
ASKED = 5  # findings of a question's case, and one more that belongs to another situation
LEARNED, ANY = (0, 1), (0, 1, 2, 3)
RETOLD, REWORDED = (1, 2, 3), (2, 3)
"""Phrasings of a question: by another person who may say the one or other thing alike, or all in other phrases."""
RULE_LINES = 9

FINDINGS = Path(__file__).with_name("trigger_findings.txt")


@dataclass(frozen=True, slots=True)
class Domain:
    """One field of work: situations as title and keys of findings, and how its cases are told."""

    name: str
    situations: tuple[tuple[str, str], ...]
    without_rule: tuple[str, ...]
    openings: tuple[str, ...]
    card: str
    procedure: tuple[str, ...]

    @property
    def findings(self) -> dict[str, list[str]]:
        """Give the phrasings of each finding, by key."""
        return findings()[self.name]


@cache
def findings() -> dict[str, dict[str, list[str]]]:
    """Read the findings of every domain."""
    found: dict[str, dict[str, list[str]]] = {}
    for line in FINDINGS.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            domain = found.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            key, *phrases = line.split(" | ")
            domain[key] = phrases
    return found


@dataclass(frozen=True, slots=True)
class Case:
    """One case: its number, its text, and the number of its situation (-1 for one without a rule)."""

    name: str
    text: str
    card: str
    situation: int


@dataclass(frozen=True, slots=True)
class Situation:
    """One situation that has a rule."""

    domain: str
    rule: str
    learning: tuple[Case, ...]
    shallow: tuple[Case, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class World:
    """A whole test set: situations with rules, cases without one, and questions that no rule answers."""

    situations: tuple[Situation, ...]
    others: tuple[Case, ...]
    ruleless: tuple[str, ...]


def world(seed: int, *, questions: int = 1, asked: tuple[int, ...] = RETOLD) -> World:
    """Make the test set of a seed; the same seed gives the same one.

    Args:
        questions: of each situation.
        asked: which phrasings they use.
    """
    chance = random.Random(seed)
    numbers = iter(range(1, 10_000))
    situations, others, ruleless = [], [], []
    for domain in DOMAINS:
        for title, keys in domain.situations:
            number = len(situations)
            names = keys.split()
            situations.append(
                Situation(
                    domain.name,
                    _rule(domain, title, chance),
                    tuple(_case(domain, names, number, next(numbers), LEARNED, chance) for _ in range(LEARNING_CASES)),
                    tuple(_case(domain, names, number, next(numbers), ANY, chance) for _ in range(SHALLOW_CASES)),
                    tuple(_question(domain, names, asked, chance) for _ in range(questions)),
                )
            )
        for keys in domain.without_rule:
            names = keys.split()
            others += [_case(domain, names, -1, next(numbers), ANY, chance) for _ in range(SHALLOW_CASES)]
            ruleless += [_question(domain, names, asked, chance) for _ in range(questions)]
    return World(tuple(situations), tuple(others), tuple(ruleless))


def _case(
    domain: Domain, keys: list[str], situation: int, number: int, phrasings: tuple[int, ...], chance: random.Random
) -> Case:
    told = chance.sample(keys, len(keys))
    phrases = [domain.findings[key][chance.choice(phrasings)] for key in told]
    text = _tell(domain, phrases, chance)
    again = [domain.findings[key][chance.choice(phrasings)] for key in told]
    cut = chance.randint(1, len(again) - 1)
    card = domain.card.format(
        number=f"{number:03}", met=cut, all=len(again), seen="; ".join(again[:cut]), missed="; ".join(again[cut:])
    )
    return Case(f"proving-{domain.name}-{number:03}", text, card, situation)


def _question(domain: Domain, keys: list[str], phrasings: tuple[int, ...], chance: random.Random) -> str:
    other = chance.choice([key for key in domain.findings if key not in keys])
    asked = [*chance.sample(keys, ASKED), other]
    chance.shuffle(asked)
    return _tell(domain, [domain.findings[key][chance.choice(phrasings)] for key in asked], chance)


def _tell(domain: Domain, phrases: list[str], chance: random.Random) -> str:
    opening = chance.choice(domain.openings).format(age=chance.randint(19, 84), number=chance.randint(2, 30))
    middle = "; ".join(phrases[:-1])
    return f"{opening} {middle}, and {phrases[-1]}."


def _rule(domain: Domain, title: str, chance: random.Random) -> str:
    lines = chance.sample(domain.procedure, RULE_LINES)
    steps = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
    return f"{title}\n\nSelf-authored after confrontation. Follow every step before answering.\n{steps}"


def drafts(made: World) -> Iterator[tuple[str, str, str]]:
    """Give the world as a log: (session, kind word, text); a rule is ``rule`` and comes right after its cases."""
    for situation in made.situations:
        for case in situation.learning:
            yield from _told(case)
        yield "rules", "rule", situation.rule
    shallow = [case for situation in made.situations for case in situation.shallow]
    for case in (*shallow, *made.others):
        yield from _told(case)


def _told(case: Case) -> Iterator[tuple[str, str, str]]:
    yield case.name, "user_message", case.text
    yield case.name, "agent_message", "I listed what I would do first and gave one most likely explanation."
    yield case.name, "agent_message", case.card


CLINICAL = Domain(
    "medqa",
    (
        ("MANDATORY ETIOLOGIC HALT: an organ that may be enlarged", "spleen throat nodes tired fever rash"),
        (
            "CENTRAL BEFORE PERIPHERAL: never accept the benign label first",
            "spin gait nystagmus headache hypertension speech",
        ),
        ("NEEDLE BEFORE DRUG: aspirate what could destroy cartilage", "knee fever rash joint tired sweats"),
        ("THE CLOT QUESTION comes before the lung question", "breath calf pill chest heart cough"),
        ("TIME IS MUSCLE: trace and troponin, then talk", "chest sweat breath heart hypertension back"),
        ("ISOLATE FIRST: a contagious cavity until proven otherwise", "cough weight sweats fever tired diet"),
        ("ACID CHECK: gas and ketones before imaging", "thirst urine belly breathsmell confusion weight"),
        ("PAINLESS MEANS WORSE: find the obstruction", "jaundice stool itch weight belly diet"),
        ("WITHDRAWAL PROTOCOL: thiamine before glucose", "alcohol tremor confusion sweat heart speech"),
        ("GLAND STORM: block, then inhibit, then iodine", "tremor heart heat eyes weight sweat"),
        ("ANTIBIOTIC WITHIN THE HOUR, puncture after", "neckstiff light headache fever confusion rash"),
        ("AUTOIMMUNE LADDER: two antibodies and a film of both sides", "joint tired knee fever weight eyes"),
        ("INFLAMMATORY OR MECHANICAL: ask what rest does", "back joint eyes tired weight knee"),
        ("DEFICIENCY BEFORE DEGENERATION: measure before you label", "numb diet tongue gait tired confusion"),
    ),
    (
        "alcohol belly jaundice itch tremor tongue",
        "headache light speech tired eyes back",
        "thirst heat urine tired weight numb",
        "cough throat fever nodes chest heart",
    ),
    (
        "A {age}-year-old man comes to the clinic with",
        "{age}-year-old woman, brought in by her sister. She has",
        "Please assess: patient of {age} years, history of {number} days,",
        "On the ward round we saw someone aged {age} with",
        "Case. Age {age}. Findings:",
    ),
    "Score card proving-medqa-{number}: {met} of {all} criteria met. Met: {seen}. Missed: {missed}. Note: slow down.",
    (
        "Write down three causes that would be dangerous to miss and one test that excludes each of them",
        "Do not anchor on the first explanation that fits; name what it leaves unexplained",
        "Ask for exposure, travel, medication and family before ordering anything",
        "State the mechanism in one sentence and check that every item follows from it",
        "Order the cheapest discriminating test first and say what each result would change",
        "Treat what kills within the hour before completing the work-up",
        "Re-read the vignette backwards and list every adjective that was ignored",
        "Compare prior probability with the strength of the discriminating evidence",
        "Record which alternative was rejected, why, and what would bring it back",
        "Call for senior review when two explanations remain above one fifth each",
        "Document the follow-up interval and the trigger for earlier return",
        "Check the guideline version and the contraindications of the first-line therapy",
        "Verify laterality, severity and duration, each against the protocol table",
    ),
)

INCIDENTS = Domain(
    "incident",
    (
        ("HEAP DISCIPLINE: snapshot before restart", "oom deploy leakfd cache latency flag"),
        (
            "RELEASE THE HOLDER: kill the idle one, not the waiting ones",
            "pool locks migration latency timeoutgw deploy",
        ),
        ("ROTATE THEN RECLAIM: never delete an open handle", "disk logs deploy config leakfd alert"),
        ("RENEWAL DRILL: chain, intermediates, reload, monitor", "cert midnight timeoutgw config token dns"),
        ("TRUST NO CLOCK: compare monotonic sources", "clock token midnight order flaky timezone"),
        ("JITTER AND SINGLE FLIGHT: shield the origin", "cache stampede retry latency pool timeoutgw"),
        ("QUARANTINE THE CULPRIT: dead-letter after five", "queue poison retry order encoding oom"),
        ("IDEMPOTENCY KEYS EVERYWHERE: replay must be harmless", "dup retry timeoutgw order queue race"),
        ("BELOW THE APPLICATION: look at the node first", "dns conntrack latency rate leakfd rollback"),
        ("DETERMINISM OR DELETION: freeze what varies", "flaky timezone race encoding order clock"),
        ("EXPLAIN BEFORE HINT: refresh, then rewrite", "index stats latency stampede migration rollback"),
        ("REVOKE, ROTATE, REVIEW: in this sequence", "secret alert rate config logs disk"),
        ("PIN AND REPRODUCE: build from nothing", "dep import rollback deploy flaky config"),
        ("LIMITS AT EVERY HOP: write them in one table", "upload timeoutgw disk oom encoding conntrack"),
    ),
    (
        "flag config latency encoding upload index",
        "rate queue retry alert dns cert",
        "race dup import stats secret dep",
        "conntrack clock disk poison pool oom",
    ),
    (
        "Incident in the payments service:",
        "Help, production is on fire. We see",
        "On-call report, {number} minutes in. Symptoms:",
        "The checkout team says:",
        "Something is wrong in cluster {number}:",
    ),
    "Score card proving-incident-{number}: {met} of {all} signs recognised. Recognised: {seen}. "
    "Overlooked: {missed}. Be faster.",
    (
        "Name an owner and a scribe, and write the first guess down before touching anything",
        "Change one thing at a time and wait for two scrape intervals",
        "Prefer the reversible action; announce the irreversible one and wait for a second person",
        "Capture evidence that a restart would destroy: dumps, traces, tables of state",
        "Draw the path of one unit of work and mark where it was last seen healthy",
        "Compare a healthy peer with the sick one, attribute by attribute",
        "Bound the blast radius: shed, isolate, drain, in that sequence",
        "Ask what changed in the layers beneath, not only in ours",
        "Communicate impact in the words of those affected, every half hour",
        "Write the guard that would have caught this, and see it fail first",
        "Remove the workaround within a week or turn it into design",
        "Check that the monitoring itself was telling the truth",
        "Close with a timeline, contributing factors and three dated actions",
    ),
)

SUPPORT = Domain(
    "support",
    (
        ("TRACE THEN COMPENSATE: carrier first, goodwill second", "late scan gift angry address customs"),
        ("TAKEOVER SUSPICION: nothing moves without the second channel", "login phone email urgent details angry"),
        ("SETTLEMENT PATIENCE: explain the hold, set a date", "double pending refund angry chargeback cancel"),
        ("HAZARD ESCALATION: stop use, retrieve unit, notify safety", "smoke hot injury photo lawyer repair"),
        ("CONSENT AND CAPACITY: goodwill reversal once", "minor refund trial double urgent chargeback"),
        ("STATUTORY REQUEST CLOCK: thirty days, identity first", "data delete email details lawyer cancel"),
        ("REPRESENTMENT FILE: stop, collect, answer once", "chargeback late fraud refund scan address"),
        ("CONCEALED TRANSIT LOSS: claim window before anything", "broken photo box late gift refund"),
        ("VELOCITY REVIEW: hold shipment, call the issuer", "fraud resell address urgent coupon stock"),
        ("THIRD ATTEMPT REPLACES: authority of the agent", "repair warranty broken angry press refund"),
        ("REPUTATION PATH: one voice, no improvisation", "press lawyer angry injury smoke price"),
        ("FAIRNESS WINDOW: adjust without being asked", "price coupon stock trial gift cancel"),
    ),
    (
        "customs address stock scan price data",
        "coupon login trial phone cancel email",
        "warranty hot box details resell pending",
        "minor delete press broken stock double",
    ),
    (
        "Customer (for {number} years with us):",
        "New ticket. The person",
        "Chat transcript, summary of {number} messages:",
        "A caller of about {age}:",
        "Ticket from the shop in Graz:",
    ),
    "Score card proving-support-{number}: {met} of {all} points handled. Handled: {seen}. "
    "Forgotten: {missed}. Stay friendly.",
    (
        "Repeat the concern in one sentence and obtain a yes before proposing anything",
        "Verify through a channel that was on file before the contact began",
        "Grant within your authority immediately; name who decides beyond it and by when",
        "Never ask for what the system already knows",
        "Separate what is owed by contract from what is offered by courtesy",
        "Freeze automatic mails so that nobody is told two things",
        "Quote the clause, translate it, and offer the humane variant",
        "Record the promise with a deadline and an owner other than yourself",
        "Watch for a script: pressure, flattery, sudden change of subject",
        "Hand over warm: the next person greets them with the facts",
        "Keep the evidence untouched, with time and source",
        "Review the outcome with the team within ten days",
        "Close only after the other side confirmed in their own words",
    ),
)

DOMAINS = (CLINICAL, INCIDENTS, SUPPORT)
