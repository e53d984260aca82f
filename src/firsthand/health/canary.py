"""Canaries: a message that really travels hook -> log -> index -> recall -> injected text, to see where it is lost.

One session is told a word that stands nowhere else; another asks for it; the text that
its hook injects must hold the word. Each stage is looked at by itself, so that the one
that loses it is named. Where a host's settings hold a hook's command, that very command
is run; if the canary is lost there and not on the direct way, the command is to blame.
A project's settings come with its checkout, from whoever wrote it: of them only the
command that this installation writes itself is run, and any other is named.

The invariant: canaries live in a namespace of their own, so no agent ever meets one; one
costs three events (about 2 kB), and at most `SENT_A_DAY_MAX` are sent in a day. What
became of each is kept, bounded, beside the status: of those lost without a word to
anybody the silent failure rate is made.
"""

from __future__ import annotations

import json
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from firsthand import environment, moment
from firsthand.agents import health_line, settings, small_files
from firsthand.agents.hook_answer import answer_hook
from firsthand.agents.pulse import CANARY
from firsthand.answer import Query
from firsthand.errors import FirsthandError
from firsthand.event import Event
from firsthand.health.report import Finding, Rate, Stage, broken, note
from firsthand.health.surroundings import commands
from firsthand.hosts.installation import Installed
from firsthand.hosts.registration import LAUNCHER
from firsthand.index.check import lacking
from firsthand.ledger.ledger_recall import recall
from firsthand.moment import Moment
from firsthand.space import Space
from firsthand.value import asdict, replace, value

SENT_A_DAY_MAX = 100
COMMAND_S, COMMANDS_MAX = 10.0, 4
WRITTEN_S = 2.0
KEPT_BYTES_MAX = 1 << 18
EVENTS_LOOKED_AT = 8
HOSTS = ("claude-code", "codex")
"""Whose hooks take the payload of a prompt as it is made here."""
DIRECT = "directly"
_TOLD = "Canary {name} carries the word {word} from the hook of one session to the agent of another."
_ASKS = "Which word does canary {name} carry from the hook of one session to the agent of another?"
_NO_KEY = f"firsthand store new-key {CANARY} DSN, where no other key is missing"
_DAY = 86_400 * 1_000_000
Call = Callable[[str, str, str], bytes]
"""Runs the prompt hook: session, prompt, nonce -> what it wrote to its standard output."""


@value
class Canary:
    """What became of one canary.

    Attributes:
        time: when it was sent.
        way: `DIRECT`, or the host whose command was run.
        lost: the stage that lost it; empty when it arrived.
        why: what was seen there.
        told: True when the answer that lost it, or the status kept, said that memory is degraded.
        milliseconds: how long it took.
    """

    time: str
    way: str
    lost: str = ""
    why: str = ""
    told: bool = False
    milliseconds: int = 0


def findings(root: Path, places: Sequence[Installed], now: Moment) -> Iterator[Finding]:
    """Send canaries through a store: by each installed command, and directly; say which stage lost one.

    Raises:
        StoreError: what is kept of canaries cannot be read.
    """
    chosen = settings.load(root)
    today = [sent for sent in kept(root) if _ago(sent, now) < _DAY]
    if not (chosen.record and chosen.recall):
        yield note(Stage.SHOWN, "no canary was sent: recording or recall is switched off for the user")
        return
    if len(today) >= SENT_A_DAY_MAX:
        yield note(Stage.SHOWN, f"no canary was sent: {len(today):,} were, within a day")
        return
    direct = send(root, now, DIRECT, _directly(root))
    if direct.lost:  # what is lost on the direct way is lost on each
        what = f"a canary was lost on the direct way, at this stage: {direct.why}"
        mend = _NO_KEY if _lacks_key(root) else "firsthand store rebuild"
        yield broken(Stage(direct.lost), what, f"look at the other findings, then: {mend}")
        return
    chosen_commands: dict[tuple[str, ...], Installed] = {}
    for place in places:
        words_of = [tuple(words) for words in commands(place.command)] if place.host in HOSTS and place.events else []
        trusted = [words for words in words_of if place.scope != "project" or _is_own(words)]
        chosen_commands = dict.fromkeys(trusted, place) | chosen_commands
        if len(trusted) < len(words_of):
            what = f"{place.where} runs a command that is not of this installation: no canary was sent by it"
            yield note(Stage.HOOKS, what, f"look at it; if it is yours: {place.mend}")
    for words, place in [*chosen_commands.items()][:COMMANDS_MAX]:
        sent = send(root, now, place.host, _by_command(root, words))
        if sent.lost:
            what = f"a canary was lost by the command in the settings of {place.host}, at this stage: {sent.why}"
            yield broken(Stage.HOOKS, what, place.mend)


def send(root: Path, now: Moment, way: str, call: Call) -> Canary:
    """Send one canary, look at each stage, and keep what became of it."""
    begun = time.monotonic()
    try:
        lost, why, answered = _travel(root, str(now)[:7], call)
    except (FirsthandError, OSError, subprocess.SubprocessError) as error:
        lost, why, answered = Stage.LOG, f"{type(error).__name__}: {error}", b""
    notice = bool(lost) and (b"degraded" in answered or bool(health_line.line(root)))
    sent = Canary(str(now), way, str(lost or ""), why[:500], notice, int((time.monotonic() - begun) * 1000))
    try:
        small_files.add_row(_file(root), asdict(sent), bytes_max=KEPT_BYTES_MAX)
    except FirsthandError as error:  # a store that takes no file has taken no canary either, and that is the finding
        if not sent.lost:
            return replace(sent, lost=Stage.STORE.value, why=f"it arrived, but cannot be kept: {error}")
    return sent


def kept(root: Path) -> tuple[Canary, ...]:
    """Give the canaries that were sent, oldest first.

    Raises:
        StoreError: the file cannot be read.
    """
    canaries = []
    for row in small_files.rows(_file(root)):
        with suppress(TypeError):  # of another version
            canaries.append(Canary(**row))
    return tuple(canaries)


def silent(root: Path) -> Rate:
    """Give SFR (recall-problem 8.2): canaries lost without a word to anybody, of those sent.

    Raises:
        StoreError: the file cannot be read.
    """
    sent = kept(root)
    return Rate(sum(bool(canary.lost) and not canary.told for canary in sent), len(sent))


def last_sent(root: Path) -> Moment | None:
    """Say when the last canary was sent; None when none was.

    Raises:
        StoreError: the file cannot be read.
    """
    sent = kept(root)
    return moment.parse(sent[-1].time) if sent else None


# one canary ------------------------------------------------------------------------------------------


def _travel(root: Path, month: str, call: Call) -> tuple[Stage | None, str, bytes]:
    """Send one canary; give the stage that lost it and what was seen there, or nothing, and the last answer."""
    name, word = secrets.token_hex(4), secrets.token_hex(4)
    question = _ASKS.format(name=name)
    # 1) written
    teller, asks = f"canary-{month}-told", f"canary-{month}-asks"
    call(teller, _TOLD.format(name=name, word=word), word)
    event = _written(root, teller, word)
    if event is None:
        return Stage.LOG, "the hook answered, and nothing of what it was told stands in the log", b""
    with _space(root) as space:
        # 2) indexed
        reader = space.log.reader
        for index, (position, fault) in reader.index_faults(CANARY).items():
            why = f"the {index} index stopped at position {position:,} of {reader.head(CANARY)[0]:,}: {fault}"
            return Stage.INDEX, why, call(asks, question, name)
        # 3) retrievable
        answer = recall(space, Query(question))
        is_lacking = event.position in lacking(space.log.reader, space.namespace, [event.position])
    answered = call(asks, question, name)
    if not any(hit.position == event.position for hit in answer.hits):
        stage = Stage.INDEX if is_lacking else Stage.RECALL
        return stage, "; ".join(answer.notes) or f"recall says {answer.outcome}", answered
    # 4) shown
    if word.encode() not in answered:
        why = f"recall found it ({answer.outcome}, {answer.band}), and the hook did not show it"
        return Stage.SHOWN, why, answered
    return None, "", answered


def _written(root: Path, session: str, word: str) -> Event | None:
    """Wait for the event that holds a word; None when it does not come within two seconds."""
    until = time.monotonic() + WRITTEN_S
    while time.monotonic() <= until:
        with _space(root) as space:
            for host in HOSTS:
                for event in space.events(f"{host}:{session}", newest_first=True, limit=EVENTS_LOOKED_AT):
                    if word in event.text:
                        return event
        time.sleep(0.05)
    return None


def _space(root: Path) -> Space:
    return Space(root, namespace=CANARY, read_only=True, create=False, embedder="none")


def _lacks_key(root: Path) -> bool:
    """Say whether the key of canaries cannot be read; a hook that is late does not come so far as to say it."""
    with suppress(FirsthandError), _space(root) as space:
        log: Any = space.log
        return hasattr(log, "engine") and bool(log.engine.seal.lacking(log.engine.reader.namespace_key(CANARY)))
    return False


def _payload(session: str, prompt: str, nonce: str) -> bytes:
    """Write what a host tells its hook at a prompt; without a transcript, so that the hook itself records it."""
    payload = {"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": prompt, "prompt_id": nonce}
    return json.dumps({**payload, "cwd": "", "transcript_path": ""}).encode()


def _directly(root: Path) -> Call:
    """Answer the hook in this process."""

    def call(session: str, prompt: str, nonce: str) -> bytes:
        with Space(root, namespace=CANARY, create=False, embedder="none") as space:
            return answer_hook("claude-code", _payload(session, prompt, nonce), space, nonce=nonce).output

    return call


def _by_command(root: Path, command: Sequence[str]) -> Call:
    """Run the command that a host's settings hold, with the store and the namespace of canaries at its end."""
    words = [*command, "--store", str(root), "--namespace", CANARY]

    def call(session: str, prompt: str, nonce: str) -> bytes:
        payload = _payload(session, prompt, nonce)
        done = subprocess.run(words, input=payload, capture_output=True, timeout=COMMAND_S, check=False)
        if done.returncode:
            raise OSError(f"expected the hook to end with 0, as hosts do; it ended so: {done!r:.500}")
        return done.stdout

    return call


def _is_own(words: Sequence[str]) -> bool:
    """Say whether a command runs the launcher that an install puts into the user's own folder."""
    return words[0] == f"{environment.state_folder()}/{LAUNCHER}"


def _ago(canary: Canary, now: Moment) -> int:
    """Say how long ago a canary was sent, in microseconds; a day for one whose time cannot be read."""
    sent = moment.parse(canary.time)
    return _DAY if sent is None else now.microseconds - sent.microseconds


def _file(root: Path) -> Path:
    return root / "health" / "canaries.jsonl"
