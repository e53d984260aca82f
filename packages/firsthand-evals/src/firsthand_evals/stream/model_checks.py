"""The preregistered checks about a model (consolidation 3.8), and what the agents of an environment are held to.

    H7  ten passes over a stream end below ten passes over everything at once, on what needs no memory
    H8  ours with its gate: no worse than the forced loop there, within 3 points of managed episodes on what was not
        seen, at half of their length
    K7  an agent that may choose keeps more of what was seen than one that is forced (Figure 5)

The invariant: each is a difference paired by world with its interval; where that includes
0 (H7, K7) or reaches below its bound (H8), or n is 1, the words are *not replicated*,
whatever the mean. They say nothing of another model than the one that was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firsthand_evals import stats
from firsthand_evals.stats import Difference
from firsthand_evals.stream import curves
from firsthand_evals.stream.checks import Check
from firsthand_evals.stream.measure import WEAK
from firsthand_evals.stream.model_arms import MODEL_GATED, name_of
from firsthand_evals.stream.regimes import AUTO, EPISODIC, FORCED
from firsthand_evals.stream.report import MODEL
from firsthand_evals.stream.run import Stream

RULE_BELOW_MAX, LENGTH_SHARE_MAX = 0.03, 0.5
STREAMED, AT_ONCE = "stream-10", "static-10"
BY_MODEL_FORCED, BY_MODEL_EPISODIC, BY_MODEL_AUTO = (name_of(one) for one in (FORCED, EPISODIC, AUTO))


def checks(streams: Sequence[Stream]) -> tuple[Check, ...]:
    """Check the streams of a model, of all schedules that ran; what wants an arm that did not run is left out."""
    return (*_stream_harms(streams), *_ours(streams), *_free(streams))


def _reader(streams: Sequence[Stream]) -> str:
    """Name who answers: the model, where it does."""
    return MODEL if f"p0 {MODEL}" in streams[0].points[0] else WEAK


def _apart(one: Sequence[Stream], other: Sequence[Stream], figure: str) -> Difference:
    return stats.difference(
        {it.seed: [it.end(figure)] for it in one}, {it.seed: [it.end(figure)] for it in other},
        resamples=curves.DIFFERENCE_RESAMPLES,
    )  # fmt: skip


def _of(streams: Sequence[Stream], schedule: str, arm: str) -> list[Stream]:
    return curves.of([one for one in streams if one.schedule == schedule], arm)


def _stream_harms(streams: Sequence[Stream]) -> Iterator[Check]:
    streamed, at_once = (_of(streams, name, BY_MODEL_FORCED) for name in (STREAMED, AT_ONCE))
    if not (streamed and at_once):
        return
    reader = _reader(streamed)
    found = _apart(streamed, at_once, f"p0 {reader}")
    says = "ten passes over a stream end below ten over everything at once, on what needs no memory (p0)"
    yield _check("H7", says, found.clusters > 1 and found.high < 0, found, _knows(streamed, reader))


def _ours(streams: Sequence[Stream]) -> Iterator[Check]:
    ours, forced, managed = (_of(streams, "stream", name) for name in (MODEL_GATED, BY_MODEL_FORCED, BY_MODEL_EPISODIC))
    if not (ours and forced and managed):
        return
    reader = _reader(ours)
    alone, unseen = _apart(ours, forced, f"p0 {reader}"), _apart(ours, managed, f"rule {reader}")
    lengths = [sum(one.end("characters") for one in of) for of in (ours, managed)]
    share = lengths[0] / lengths[1] if lengths[1] else 1.0
    many = alone.clusters > 1
    says = "the gated memory is no worse than the forced loop on p0"
    yield _check("H8", says, many and alone.low >= 0, alone, _knows(ours, reader))
    says = f"... within {RULE_BELOW_MAX:g} of managed episodes on rule"
    yield _check("H8", says, many and unseen.low >= -RULE_BELOW_MAX, unseen)
    says = f"... at no more than {LENGTH_SHARE_MAX:.0%} of their length"
    yield Check("H8", says, share <= LENGTH_SHARE_MAX, f"{share:.0%}", binding=False)


def _free(streams: Sequence[Stream]) -> Iterator[Check]:
    free, forced = (_of(streams, "stream", name) for name in (BY_MODEL_AUTO, BY_MODEL_FORCED))
    if free and forced:
        found = _apart(free, forced, f"seen {_reader(free)}")
        says = "an agent that chooses keeps more of what was seen than one that is forced (Figure 5)"
        yield _check("K7", says, found.clusters > 1 and found.low > 0, found)


def _knows(streams: Sequence[Stream], reader: str) -> bool:
    """Say whether the reader answers anything without memory, which a memory could take from it."""
    return any(one.end(f"alone {reader}") > 0 for one in streams)


def _check(name: str, says: str, held: bool, found: Difference, knows: bool = True) -> Check:
    told = str(found) if knows else f"{found}; the reader answers nothing without memory, so nothing can be lost"
    return Check(name, says, held and knows, told, binding=False)
