r"""The probe: whether what a note concludes can still be corrected, from the note or through its pointers.

    "The total was $55."                                   silent: it concludes, its source is gone
    "The total was $55. Basis not kept."                   loud: it says so
    "The total was $55 (fh:01J8...)"                       reachable, when that event has the line items
    "7 notebooks at $4, 9 pens at $2. The total was $55."  correctable

A verdict is about claims: what the session asked for or concluded. Each is worked out
of the session, of the note, and of the note with what its pointers lead to; the note
is correctable when it gives what the session gives. Where a claim can not be worked
out, what it rests on is looked for instead, value by value.

The invariants: a conclusion is never a source, not even a right one; what stands
behind a pointer is read, not believed; any text has a verdict.

It does not know whether a reader would get the answer right: it says whether the
answer is there to be got. No model is asked.
Source: reclaim-evaluation 3, 7, 12 (a check at the time of writing).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from firsthand import Note
from firsthand.errors import InvalidArgument
from firsthand.value import replace, value
from firsthand_evals.probe.probe_alone import Conclusion, conclusions
from firsthand_evals.probe.probe_claims import Asked, asked_for, asked_of
from firsthand_evals.probe.probe_reading import (
    NOTE_STATEMENTS_MAX,
    NOTE_VALUES_MAX,
    SESSION_CHARACTERS_MAX,
    SESSION_VALUES_MAX,
    Carried,
    Session,
    read,
)
from firsthand_evals.probe.statements import MESSAGE_STATEMENTS_MAX, STATEMENTS_MAX, Message

Regime = Literal["correctable", "reachable", "uncorrectable_loud", "uncorrectable_silent"]
REGIMES: tuple[Regime, ...] = ("correctable", "reachable", "uncorrectable_loud", "uncorrectable_silent")
"""From the best to the worst."""
NOTE_CHARACTERS_MAX = 100_000
"""Characters of a note that are read; of a longer one the verdict says so."""
NOTHING = "nothing was asked for and nothing is concluded: there is nothing to correct"
_MEANS: dict[Regime, str] = {
    "correctable": "the note has what it takes",
    "reachable": "its pointers lead to what it takes",
    "uncorrectable_loud": "what it takes is not there, and nothing pretends that it is",
    "uncorrectable_silent": "what it takes is not there, and the note looks as if it were whole",
}


@value
class ClaimVerdict:
    """What holds of one claim.

    Attributes:
        what: the words for what was asked or concluded.
        missing: statements of the session that it takes and that are neither in the note nor reachable.
        spoken_of: the note says anything about it.
    """

    what: str
    regime: Regime
    missing: tuple[str, ...] = ()
    spoken_of: bool = True


@value
class Verdict:
    """What holds of a note: the worst of the claims that it speaks of, of all when it speaks of none.

    Attributes:
        missing: of the claims in that regime, without repeats.
        claims: one entry for each claim of the session.
        detail: a sentence.
    """

    regime: Regime
    missing: tuple[str, ...]
    claims: tuple[ClaimVerdict, ...]
    detail: str

    @property
    def correctable(self) -> bool:
        """Whether a correction finds what it needs, in the note or through it."""
        return self.regime in {"correctable", "reachable"}


@value
class ProbeReport:
    """How many notes were in which regime: never a mode, which would hide a minority.

    Attributes:
        n: notes judged.
        counts: of each regime, from the best to the worst.
    """

    n: int
    counts: tuple[tuple[Regime, int], ...]

    def of(self, regime: Regime) -> int:
        """Give how many notes were in a regime."""
        return dict(self.counts)[regime]


def probe(
    note: str | Note,
    messages: Sequence[Message] = (),
    *,
    claim: str | None = None,
    expand: Callable[[str], str | None] | None = None,
) -> Verdict:
    """Judge whether what a note carries can be corrected.

    Args:
        messages: what the note stands on; without them it stands on what its pointers lead to, else on itself.
        claim: words for what is asked for; without them everything that the messages asked for or concluded.
        expand: gives what stands at a pointer, None for one that leads nowhere; without it, a pointer leads to the
            message that carries it.

    Raises:
        InvalidArgument: the note is no text, or a message has no text as its content.
    """
    text = note.text if isinstance(note, Note) else note
    if not isinstance(text, str):
        raise InvalidArgument(f"a note is a text or a Note; got {type(note).__name__}")
    session = Session(messages, expand)
    carried = read(text[:NOTE_CHARACTERS_MAX], session)
    cut = _unread(len(text), carried, whole=session.is_whole)
    if claim is None and not messages:
        return _worst([_standing(one, carried) for one in conclusions(carried)], cut)
    if not messages:
        session = carried.standing_on()
    asked = asked_of(session) if claim is None else [asked_for(session, claim)]
    return _worst([_judged(one, carried) for one in asked], cut)


def probe_alone(note: str, found: Sequence[Message] = ()) -> Verdict:
    """Judge what a note itself concludes, as it is written: whether what that rests on is in it or in what it cites.

    Args:
        found: messages that its sources lead to.
    """
    session = Session(found)
    carried = replace(read(note[:NOTE_CHARACTERS_MAX], session), behind=session.statements)
    cut = _unread(len(note), carried, whole=session.is_whole)
    return _worst([_standing(one, carried) for one in conclusions(carried)], cut)


def _unread(size: int, carried: Carried, *, whole: bool) -> str:
    """Say what was too long to be read."""
    note = f"; the note has {size:,} characters, of which {NOTE_CHARACTERS_MAX:,} were read"
    dense = (
        f"; of the note {NOTE_STATEMENTS_MAX:,} statements with {NOTE_VALUES_MAX:,} values were read, the "
        f"first ones, and "
        f"as many of a message that it leads to as of one that it stands on"
    )
    session = (
        f"; of what it stands on {SESSION_CHARACTERS_MAX:,} characters were read, the user's messages first, of which "
        f"the last {STATEMENTS_MAX:,} statements, and of one message the first {MESSAGE_STATEMENTS_MAX:,} with "
        f"{SESSION_VALUES_MAX:,} values"
    )
    return (
        (note if size > NOTE_CHARACTERS_MAX else "") + ("" if carried.is_whole else dense) + ("" if whole else session)
    )


def probe_report(verdicts: Iterable[Verdict]) -> ProbeReport:
    """Count the verdicts on many notes."""
    seen = Counter(one.regime for one in verdicts)
    return ProbeReport(sum(seen.values()), tuple((regime, seen[regime]) for regime in REGIMES))


def _judged(asked: Asked, carried: Carried) -> ClaimVerdict:
    """Judge one claim: first the note's own text, then with what its pointers lead to, then how it fails."""
    own = asked.given(carried.own)
    if own.enough:
        return ClaimVerdict(asked.what, "correctable")
    found = own
    if carried.behind:
        found = asked.given(carried.joined, carried.behind)
        if found.enough:
            return ClaimVerdict(asked.what, "reachable", spoken_of=True)
    spoken = asked.concluded(carried) or own.bears
    silent = spoken and not carried.admits
    return ClaimVerdict(
        asked.what, "uncorrectable_silent" if silent else "uncorrectable_loud", found.missing, spoken_of=spoken
    )


def _standing(one: Conclusion, carried: Carried) -> ClaimVerdict:
    """Judge what a note concludes itself."""
    if one.standing == "itself":
        return ClaimVerdict(one.text, "correctable")
    if one.standing == "pointers":
        return ClaimVerdict(one.text, "reachable")
    return ClaimVerdict(one.text, "uncorrectable_loud" if carried.admits else "uncorrectable_silent")


def _worst(claims: Sequence[ClaimVerdict], cut: str) -> Verdict:
    if not claims:
        return Verdict("correctable", (), (), NOTHING + cut)
    judged = [one for one in claims if one.spoken_of] or list(claims)
    regime = max((one.regime for one in judged), key=REGIMES.index)
    missing = tuple(dict.fromkeys(text for one in judged if one.regime == regime for text in one.missing))
    several = f" ({sum(one.regime == regime for one in judged)} of {len(claims)} claims)" if len(claims) > 1 else ""
    return Verdict(regime, missing, tuple(claims), _MEANS[regime] + several + cut)
