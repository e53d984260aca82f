"""How often recall and expand were used."""

from __future__ import annotations

from anatomy_samples import record

from firsthand.context.anatomy_use import Use, use_of


def call(number: int, turn: int, recalls: int = 0, expands: int = 0, session: str = "s"):
    return record({"system": (1, 1)}, session=session, call=number, turn=turn, recalls=recalls, expands=expands)


def test_what_was_asked_belongs_to_the_call_before():
    """A record tells of the answer to the call before it, so the newest call of a session is not counted."""
    calls = [call(1, 1), call(2, 1, recalls=1), call(3, 2, recalls=1, expands=2), call(4, 3), call(5, 3)]
    use = use_of(calls)
    assert use == Use(calls=4, calls_using=2, turns=3, turns_using=1, recalls=2, expands=2)
    assert use.turns_percent == 33.3


def test_sessions_do_not_mix():
    """Records of several sessions may come interleaved; each call counts in its own."""
    calls = [call(1, 1), call(1, 1, session="t"), call(2, 2, expands=1, session="t"), call(2, 2)]
    assert use_of(calls) == Use(calls=2, calls_using=1, turns=2, turns_using=1, recalls=0, expands=1)


def test_without_calls_there_is_no_use():
    """Nothing recorded, or one call only, gives zero and no division by it."""
    assert use_of([]) == use_of([call(1, 1, recalls=3)]) == Use()
    assert Use().turns_percent == 0.0
