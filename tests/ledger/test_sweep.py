"""The sweep: a model that proposes, and a log that proves; nothing by what a sentence means."""

from __future__ import annotations

import json

import pytest

from firsthand import Memory, Trust, moment
from firsthand.errors import ReplyUnknown
from firsthand.event import Draft, Kind
from firsthand.ledger.decision_log import ledger_of
from firsthand.ledger.statements import supersede
from firsthand.ledger.sweep import Recorded, offers, read, sweep

SAID = (
    ("monday", "Use npm for all installs of the web shop."),
    ("monday", "Die Tests laufen immer mit pytest -x, bitte nie ohne."),
    ("tuesday", "In the web shop we install with pnpm from now on, no npm."),
    ("wednesday", "Vergiss das mit pytest -x: die Tests laufen ab jetzt voll durch."),
    ("thursday", "El puerto de staging es 8443, siempre."),
)


class Script:
    """A model that proposes, of each message, what is written for it."""

    def __init__(self, **replies):
        self.replies, self.prompts = replies, []

    def __call__(self, prompt):
        self.prompts.append(prompt)
        return next((reply for word, reply in self.replies.items() if word in newest(prompt)), "[]")


def newest(prompt):
    return next(line for line in prompt.splitlines() if line.startswith("1. "))


def number_of(prompt, word):
    """Give the number under which an earlier message is shown."""
    lines = (line for line in prompt.splitlines() if line[:1].isdigit() and not line.startswith("1. "))
    return int(next(line for line in lines if word in line).partition(".")[0])


class Honest(Script):
    """A model that proposes what the messages say, in their languages."""

    def __call__(self, prompt):
        super().__call__(prompt)
        message = newest(prompt)
        if "pnpm" in message:
            made = {"action": "supersede", "old": number_of(prompt, "Use npm"), "quote_old": NPM, "quote_new": PNPM}
        elif "Vergiss" in message:
            made = {"action": "retract", "old": number_of(prompt, "immer"), "quote": "Vergiss das mit pytest -x"}
        elif "puerto" in message:
            quote = "El puerto de staging es 8443"
            made = {"action": "assert", "subject": "puerto de staging", "text": "8443", "quote": quote}
        else:
            return "[]"
        return f"```json\n{json.dumps([made], ensure_ascii=False)}\n```"


@pytest.fixture
def store(memory):
    """A memory of five days, with what agents, mails and others said between them."""
    for number, (session, text) in enumerate(SAID):
        memory.session(session).user(text)
        memory.session(session).agent(f"Understood: {text}")
        memory.session(session).user(f"A mail on the web shop, npm and pytest: {number}", trust=Trust.UNTRUSTED)
    return memory


NPM, PNPM = "Use npm for all installs", "we install with pnpm from now on"


def test_what_is_proposed_and_proven_takes_effect_in_any_language(store):
    """Good proposals in three languages are kept with their quotes, by the model's name, and nothing else is."""
    swept = sweep(store, Honest(), "scripted", keep=True)
    assert [stated.decision.action for stated in swept.stated] == ["supersede", "retract"]
    assert (swept.refused, swept.faults, swept.left) == ((), (), 0)
    assert {decision.by for decision in ledger_of(store).decisions()} == {"model:scripted"}
    ledger = ledger_of(store).at()
    users = {event.text: ledger.stands(f"fh:{event.id}") for event in store.events(kind=Kind.USER_MESSAGE)}
    assert [users[text] for _, text in SAID] == [False, False, True, True, True]
    store.session("friday").user("El puerto de staging es 8443, repito, siempre.")
    again = sweep(store, Honest(), "scripted", after=swept.through, keep=True)
    assert ([stated.decision.text for stated in again.stated], again.offers) == (["8443"], 1)
    assert [fact.line for fact in store.facts()] == ["El puerto de staging es 8443, repito, siempre."]


def test_a_dry_run_writes_nothing_and_says_the_same(store):
    """Without keep the same is proven and told, and the log stays as it was."""
    head = store.head()
    dry = sweep(store, Honest(), "scripted")
    assert store.head() == head
    kept = sweep(store, Honest(), "scripted", keep=True)
    assert [stated.decision.target for stated in dry.stated] == [stated.decision.target for stated in kept.stated]
    known = sweep(store, Honest(), "scripted", keep=True)
    assert [stated for stated in known.stated if stated.is_new] == []


@pytest.mark.parametrize(
    ("proposal", "why"),
    [
        ({"action": "supersede", "old": 2, "quote_old": "Use npm everywhere", "quote_new": PNPM}, "copy from: 'Use"),
        ({"action": "supersede", "old": 2, "quote_old": NPM, "quote_new": "pnpm is best"}, "quote_new: not word for"),
        ({"action": "supersede", "old": 1, "quote_old": PNPM, "quote_new": PNPM}, "does not take its own place"),
        ({"action": "supersede", "old": 99, "quote_old": NPM, "quote_new": PNPM}, "old is a number from 2 to"),
        ({"action": "supersede", "old": "fh:1", "quote_old": NPM, "quote_new": PNPM}, "old is a number from 2 to"),
        ({"action": "retract", "old": 2, "quote": NPM}, "no later word of a user"),
        ({"action": "assert", "subject": "x", "text": "y", "quote": "said by nobody"}, "not word for word"),
        ({"action": "assert", "subject": "", "text": "y", "quote": PNPM}, "a subject and a text"),
        ({"action": "erase", "old": 2, "quote": PNPM}, "the action is supersede, retract or assert"),
        ({"action": ["supersede"]}, "the action is supersede, retract or assert"),
    ],
)
def test_what_the_log_does_not_prove_is_refused(store, proposal, why):
    """A forged quote, a wrong event, its own words, an unknown action: refused with the reason, and nothing is kept."""
    head = store.head()
    swept = sweep(store, Script(pnpm=json.dumps([proposal])), "scripted", keep=True)
    assert (swept.stated, len(swept.refused), why in swept.refused[0]) == ((), 1, True)
    assert store.head() == head


def test_what_came_before_takes_nothing_out(store):
    """A transcript that is read in late is the newest in the log, and not later than what it would replace."""
    past = moment.parse("2020-01-01")
    store.session("old").user("In the web shop installs went by yarn, from now on, no npm.", time=past)
    replies = {"pnpm": "[]", "yarn": '[{"action": "supersede", "old": 2, "quote_old": "npm", "quote_new": "by yarn"}]'}
    swept = sweep(store, Script(**replies), "scripted", keep=True)
    assert (swept.stated, ["was said before" in why for why in swept.refused]) == ((), [True])


def test_only_what_users_said_and_stands_is_offered(store):
    """Agents, mails, what Firsthand showed, what is out, and other namespaces' messages are put before no model."""
    injected = Draft(
        Kind.USER_MESSAGE, b"The web shop installs with npm, says memory.", meta={"injected": True}, origin="user",
        trust=Trust.TRUSTED,
    )  # fmt: skip
    store.append([injected], session="friday")
    with Memory.open(store.path, namespace="other", embedder="none") as other:
        other.session("one").user("Use npm for all installs of the web shop, says a stranger.")
    model = Script()
    swept = sweep(store, model, "scripted")
    asked = "".join(model.prompts)
    assert swept.offers == len(model.prompts) > 0
    shown = [[line for line in prompt.splitlines() if line[:1].isdigit()] for prompt in model.prompts]
    assert swept.pairs == sum(len(lines) - 1 for lines in shown)
    assert not any(word in asked for word in ("Understood", "A mail", "says memory", "stranger"))
    said = {event.text: f"fh:{event.id}" for event in store.events(kind=Kind.USER_MESSAGE)}
    supersede(store, said[SAID[0][1]], said[SAID[2][1]])
    assert "Use npm" not in "".join(offer.prompt for offer in offers(store))


def test_calls_are_capped_and_the_next_sweep_goes_on(store):
    """No more messages are asked about than allowed, the oldest first; the rest is counted and comes next."""
    every = [*offers(store)]
    model = Script()
    first = sweep(store, model, "scripted", calls_max=1)
    assert (len(model.prompts), first.offers, first.left) == (1, 1, len(every) - 1)
    rest = sweep(store, model, "scripted", after=first.through)
    assert (rest.offers, rest.left, rest.through) == (len(every) - 1, 0, store.position)
    assert model.prompts == [offer.prompt for offer in every]


def test_recorded_replies_are_not_asked_for_again(store):
    """A run is replayed from its file without a model; a prompt that is not in it is an error that says so."""
    first = sweep(store, Recorded(store.path, Honest()), "scripted")
    replayed = sweep(store, Recorded(store.path), "scripted")
    assert [stated.decision.target for stated in replayed.stated] == [stated.decision.target for stated in first.stated]
    store.session("friday").user("The web shop installs with bun now.")
    with pytest.raises(ReplyUnknown, match="name a model with --model"):
        sweep(store, Recorded(store.path), "scripted")


@pytest.mark.parametrize("reply", ["", "I am sorry.", "{}", "[1]", "[", "null", "[" * 100_000, '[{"action": "assert"'])
def test_what_is_no_list_is_a_fault(store, reply):
    """A reply that is not the list that was asked for brings nothing, and the others count."""
    assert isinstance(read(reply), str)
    swept = sweep(store, Script(pnpm=reply), "scripted")
    assert (len(swept.faults), swept.stated, "expected a JSON list" in swept.faults[0]) == (1, (), True)
