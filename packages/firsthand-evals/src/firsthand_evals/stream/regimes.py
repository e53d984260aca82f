"""An environment in which an agent chooses itself what becomes of its memory: retain, delete, consolidate.

    cases      what happened, word for word: a buffer of so many
    entries    what the agent made of them
    a round    new cases come to the buffer; the agent is shown what its regime lets it see, and names actions

What may be done is the regime (faulty-memories, ARC-AGI Stream and Figure 5): *forced*
has to consolidate every round and keeps no buffer, *auto* chooses, *episodic only* may
not consolidate. The invariants: an action that the regime does not
allow, or that names what is not there, changes nothing and is counted by its reason; the
buffer and the entries are within their bounds after every round; a case that is gone
from the buffer comes back only with a later round. It does not know what is true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

from firsthand.ledger.entries import Entry, Episode, View, Written, entry
from firsthand.ledger.entry_gate import SOURCES_MAX, TEXT_CHARACTERS_MAX
from firsthand.tokens import estimate
from firsthand.value import value
from firsthand_evals import pages
from firsthand_evals.stream.consolidators import Fault, view_of
from firsthand_evals.stream.model_writer import listed, of_text

EPISODES_MAX = 50
"""Cases of the buffer, where nothing else is said: the smaller one of the paper."""
ENTRIES_MAX = 50
Doing = Literal["retain", "delete", "consolidate"]


@value
class Regime:
    """What an agent may do.

    Attributes:
        keeps: whether cases stay in the buffer that no action took out; else all leave at the end of the round.
        consolidates: whether it ``may``, ``must`` every round, or ``never``.
    """

    name: str
    keeps: bool = True
    consolidates: Literal["may", "must", "never"] = "may"


AUTO = Regime("auto")
FORCED = Regime("forced", keeps=False, consolidates="must")
EPISODIC = Regime("episodic only", consolidates="never")
REGIMES = (AUTO, FORCED, EPISODIC)


@value
class Action:
    """One action; cases and entries are numbered from 1, as they were shown.

    Attributes:
        text: of ``consolidate``: what the cases, and the entries whose place it takes, become.
    """

    doing: Doing
    cases: tuple[int, ...] = ()
    entries: tuple[int, ...] = ()
    text: str = ""


@value
class Step:
    """What an agent is shown in a round.

    Attributes:
        new: how many of the cases, the last ones, came with this round.
        cases: the buffer.
    """

    regime: Regime
    new: int
    cases: tuple[Episode, ...]
    entries: tuple[Entry, ...]
    episodes_max: int
    entries_max: int


@value
class Choice:
    """What an agent chose: actions in order, or why its reply could not be read; and the texts it read and wrote."""

    actions: tuple[Action, ...] = ()
    fault: Fault | None = None
    read: str = ""
    wrote: str = ""


class Policy(Protocol):
    """Chooses."""

    @property
    def name(self) -> str:
        """What a report calls it."""
        ...

    def choose(self, step: Step) -> Choice:
        """Choose what becomes of what is shown."""
        ...


NOT_CONSOLIDATED = "rounds without the consolidation that was due"


class Chooser:
    """An agent with a memory of its own, for one stream."""

    def __init__(
        self, policy: Policy, regime: Regime, *, episodes_max: int = EPISODES_MAX, entries_max: int = ENTRIES_MAX
    ) -> None:
        self.policy, self.regime = policy, regime
        self.episodes_max, self.entries_max = episodes_max, entries_max
        self.counts: Counter[str] = Counter()

    def step(self, view: View, happened: Sequence[Episode], new: Sequence[Episode]) -> View:
        """Live one round, and give the memory after it.

        Args:
            view: the memory before, with the new cases in it.
            happened: all so far; ``new``: what this round brought, or brought again.
        """
        shown = Step(
            self.regime, len(new), (*_without(view.raw, new), *new), view.entries, self.episodes_max, self.entries_max,
        )  # fmt: skip
        choice = self.policy.choose(shown)
        self.counts.update(
            {"rounds": 1, "tokens read": estimate(choice.read), "tokens written": estimate(choice.wrote)}
        )
        if choice.fault is not None:
            self.counts[f"unread: {choice.fault.kind}"] += 1
        done = _Round(self, shown, view.entries, {episode.pointer: episode for episode in happened})
        for action in choice.actions:
            self.counts[f"proposed {action.doing}"] += 1
            refused = done.take(action)
            self.counts[f"refused: {refused}" if refused else f"accepted {action.doing}"] += 1
        return done.view(happened)


class _Round:
    """One round: actions as they are taken, and what is left."""

    def __init__(self, chooser: Chooser, step: Step, entries: Sequence[Entry], known: dict[str, Episode]) -> None:
        self._chooser, self._shown, self._known = chooser, step, known
        self._entries: dict[str, Entry] = {one.id: one for one in entries}
        self._out: set[int] = set()
        self._used: set[int] = set()
        self._retained: set[int] = set()
        self._wrote = False

    def take(self, action: Action) -> str:
        """Take an action; give the reason why it is refused, empty when it is taken."""
        step = self._shown
        refused = self._wrong(action)
        if refused:
            return refused
        entries = [step.entries[number - 1] for number in action.entries]
        match action.doing:
            case "retain":
                self._retained |= set(action.cases)
            case "delete":
                self._out |= set(action.cases)
                for one in entries:
                    self._entries.pop(one.id, None)
            case "consolidate":
                self._consolidate(action, entries)
        return ""

    def _wrong(self, action: Action) -> str:
        step = self._shown
        if any(not 0 < number <= len(step.cases) for number in action.cases):
            return "no such case"
        if any(not 0 < number <= len(step.entries) for number in action.entries):
            return "no such entry"
        if self._out & set(action.cases):
            return "deleted already"
        if any(step.entries[number - 1].id not in self._entries for number in action.entries):
            return "gone already"
        return self._unwritable(action) if action.doing == "consolidate" else ""

    def _unwritable(self, action: Action) -> str:
        if self._shown.regime.consolidates == "never":
            return "no consolidation in this regime"
        if not (action.cases or action.entries):
            return "made of nothing"
        if not action.text.strip() or len(action.text) > TEXT_CHARACTERS_MAX:
            return "a text of no length, or too long"
        fault = of_text(action.text)
        if fault is not None:
            return fault.kind
        if len(self._entries) - len(set(action.entries)) >= self._chooser.entries_max:
            return "no room for an entry"
        return ""

    def _consolidate(self, action: Action, entries: Sequence[Entry]) -> None:
        cases = [self._shown.cases[number - 1] for number in action.cases]
        sources = (*(name for one in entries for name in one.sources), *(case.pointer for case in cases))
        families = {self._known[name].scope for name in sources if name in self._known}
        scope = families.pop() if len(families) == 1 else ""
        by = self._chooser.policy.name
        made = entry(Written(action.text, sources[-SOURCES_MAX:], scope), self._known, by=by, parents=entries)
        for one in entries:
            self._entries.pop(one.id, None)
        self._entries[made.id] = made
        self._used |= set(action.cases)
        self._wrote = True

    def view(self, happened: Sequence[Episode]) -> View:
        """Give the memory after the round, within its bounds."""
        regime, counts = self._shown.regime, self._chooser.counts
        if regime.consolidates == "must" and not self._wrote and self._shown.cases:
            counts[NOT_CONSOLIDATED] += 1
        gone = self._out | (self._used - self._retained)
        numbered = enumerate(self._shown.cases, 1)
        episodes = [episode for number, episode in numbered if number not in gone] if regime.keeps else []
        fell = max(0, len(episodes) - self._chooser.episodes_max)
        counts["cases that fell out"] += fell
        raw = episodes[fell:]
        there = {episode.pointer for episode in raw}
        demoted = {episode.pointer: "" for episode in happened if episode.pointer not in there}
        return view_of(self._entries.values(), raw, demoted)


def told(step: Step) -> str:
    """Write what an agent is shown of its memory: entries, then cases, numbered; new cases are marked."""
    old = len(step.cases) - step.new
    entries = [f"E{number}. {one.line}" for number, one in enumerate(step.entries, 1)]
    cases = [
        f"{number}. {'(new) ' if number > old else ''}{episode.line}" for number, episode in enumerate(step.cases, 1)
    ]
    return "\n".join([*entries, *cases])


def _without(raw: Sequence[Episode], new: Sequence[Episode]) -> list[Episode]:
    there = {episode.pointer for episode in new}
    return [episode for episode in raw if episode.pointer not in there]


TOKENS_MAX = 1_000
"""Of one reply."""
_DOINGS: dict[str, Doing] = {"retain": "retain", "delete": "delete", "consolidate": "consolidate"}


class ModelAgent:
    """Asks a model what becomes of its memory."""

    def __init__(self, complete: Callable[[str], str], name: str) -> None:
        """Ask a model.

        Args:
            complete: gives the reply to a prompt; what it raises goes on to the caller.
            name: of the model.
        """
        self.complete, self.name = complete, f"model:{name}"

    def choose(self, step: Step) -> Choice:
        """Choose what the model replies; a reply that is not as asked chooses nothing and says why."""
        asked = prompt(step)
        reply = self.complete(asked)
        actions = actions_of(reply)
        if isinstance(actions, Fault):
            return Choice((), actions, asked, reply)
        return Choice(actions, None, asked, reply)


def prompt(step: Step) -> str:
    """Write what a model is asked in a round."""
    bounds = f"There is room for {step.entries_max} entries"
    bounds += f" and {step.episodes_max} cases; above that the oldest cases fall out." if step.regime.keeps else "."
    rules = " ".join([*_rules(step.regime), bounds])
    return pages.text("agent.txt", rules=rules, memory=told(step) or "(nothing yet)").removesuffix("\n")


def _rules(regime: Regime) -> list[str]:
    """Say in words what a regime allows."""
    said = []
    match regime.consolidates:
        case "must":
            said.append("In every round you have to consolidate: write at least one entry.")
        case "may":
            said.append("You choose: retain, delete or consolidate, or nothing at all.")
        case "never":
            said.append("You may not consolidate: choose only which cases are retained or deleted.")
    said.append("A case that no action names stays." if regime.keeps else "All cases leave at the end of the round.")
    said.append("An entry that no action names stays.")
    return said


def actions_of(reply: str) -> tuple[Action, ...] | Fault:
    """Read a reply as actions; what is not as asked is a fault, and nothing of it is done."""
    found = listed(reply)
    if isinstance(found, Fault):
        return found
    actions = []
    for one in found:
        doing = _DOINGS.get(str(one.get("action")))
        cases, entries = _numbers(one.get("cases", [])), _numbers(one.get("entries", []))
        text = one.get("text", "")
        if doing is None or cases is None or entries is None or not isinstance(text, str):
            return Fault("wrong types", f"expected action, cases and entries as numbers, and text; got {one!r:.120}")
        actions.append(Action(doing, cases, entries, text))
    return tuple(actions)


def _numbers(given: Any) -> tuple[int, ...] | None:
    """Read a list of whole numbers, each once; None when it is none."""
    if not isinstance(given, Sequence) or isinstance(given, str) or any(type(one) is not int for one in given):
        return None
    return tuple(dict.fromkeys(given))
