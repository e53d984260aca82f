"""evals/stream/arc_writers.py: what is written of solved tasks, and what is lost in it."""

from __future__ import annotations

import pytest
from arc_benches import small

from firsthand.ledger.entries import TEXT_CHARACTERS_MAX, View, applied, settled
from firsthand_evals.stream import arc_writers
from firsthand_evals.stream.arc_tasks import ALL, ANY, COLOR, FRAME, MARKER, Program
from firsthand_evals.stream.arc_writers import (
    AppendOnly,
    Buffer,
    MergeAll,
    Misgrouped,
    OverScoped,
    Phantom,
    Rules,
    merged,
    strategy,
)


def strategies(*programs: Program) -> list[arc_writers.Strategy]:
    return [arc_writers.Strategy(one, (f"fh:{at}",)) for at, one in enumerate(programs)]


def texts(writing) -> list[str]:
    return [one.text.partition(": ")[0] for one in writing.entries]


def test_what_is_merged_keeps_what_is_shared():
    """One family with several skills takes the skill as a parameter; of several families the condition is lost."""
    same = merged(strategies(Program(COLOR, "keep"), Program(COLOR, "flip")))
    assert same == arc_writers.Strategy(Program(COLOR, ANY), ("fh:0", "fh:1"))
    assert merged(strategies(Program(COLOR, "flip"), Program(FRAME, "flip"))).program == Program(ALL, "flip")
    assert merged(strategies(Program(COLOR, "keep"), Program(FRAME, "flip"))).program == Program(ALL, "keep")
    numbers = (("color", 3), ("fill", 5)), (("color", 3), ("fill", 6))
    assert merged(strategies(*(Program(COLOR, "recolor", one) for one in numbers))).program == Program(
        COLOR, "recolor", (("color", 3),)
    )
    assert merged(strategies(Program(COLOR, "recolor", numbers[0]), Program(FRAME, "recolor"))).program == Program(
        ALL, "recolor"
    )


def test_rules_are_of_a_family_of_which_enough_came():
    """Three tasks of a family make a rule that covers them; two make none; what is covered need not be shown."""
    world = small()
    episodes = [one for one in world.episodes if one.scope == MARKER][:3] + [
        one for one in world.episodes if one.scope == FRAME
    ][:2]
    found = Rules(world).write(episodes, View())
    assert texts(found) == [f"{MARKER}, {ANY}"]
    assert found.entries[0].sources == found.demoted == tuple(one.pointer for one in episodes[:3])
    assert all(len(one.text) <= TEXT_CHARACTERS_MAX for one in Rules(world).write(world.episodes, View()).entries)
    assert texts(Rules(world).write(world.episodes, View())) == [f"{one}, {ANY}" for one in (COLOR, MARKER, FRAME)]


def test_harmful_writers_do_the_harm_they_are_named_for():
    """Over-scoped rules have no condition, merge all is one entry, misgrouped mixes families, append only adds."""
    world = small()
    over = OverScoped(world).write(world.episodes, View())
    assert texts(over) == [f"{ALL}, {skill}" for skill in ("keep", "border", "recolor", "translate")]
    (one,) = MergeAll(world).write(world.episodes, View()).entries
    assert one.text == f"{COLOR}, {FRAME}, {MARKER}: {Program(ALL, 'keep').text()}"
    phantom = Phantom(world).write(world.episodes, View()).entries
    assert [one.text.partition(", ")[0] for one in phantom] == [MARKER, FRAME, COLOR]
    assert [one.scope for one in phantom] == [COLOR, MARKER, FRAME]
    mixed = Misgrouped(world, 0.5).write(world.episodes, View())
    assert ALL in {one.partition(", ")[0] for one in texts(mixed)}
    assert mixed.demoted == tuple(one.pointer for one in world.episodes)
    assert texts(Misgrouped(world, 0.0).write(world.episodes, View())) == texts(
        Rules(world).write(world.episodes, View())
    )
    last = world.episodes[-2:]
    assert len(AppendOnly(world).write(world.episodes, View((), last)).entries) == len({one.scope for one in last})


def through(world, batches, **more) -> list[str]:
    """Bring batches to a buffer, and give what stands in it."""
    buffer, view, seen = Buffer(world, **more), View(), []
    for batch in batches:
        seen += [one for one in batch if one not in seen]
        writing = buffer.write(seen, View(view.entries, tuple(batch)))
        proposal = settled(writing.entries, writing.demoted, view, seen, by=buffer.name, writes="anew")
        view = applied(view, proposal, seen)
    return sorted(one.text.partition(": ")[0] for one in view.entries)


def test_the_buffer_merges_like_with_like_and_mistakes_what_it_sees_too_little_of(monkeypatch):
    """Without mistakes one strategy a family is left, with mistakes alone one for all; in full view none is made."""
    world = small()
    one_by_one = [[one] for one in world.episodes]
    families = [[one for one in world.episodes if one.scope == family] for family in (COLOR, MARKER, FRAME)]
    right = sorted(f"{one}, {ANY}" for one in (COLOR, MARKER, FRAME))
    for name in ("MISTAKEN", "ERODED", "DRAWN"):
        monkeypatch.setattr(arc_writers, name, 0.0)
    assert through(world, one_by_one) == right
    monkeypatch.setattr(arc_writers, "MISTAKEN", 1.0)
    monkeypatch.setattr(arc_writers, "DRAWN", 1.0)
    assert through(world, one_by_one) == [f"{ALL}, keep"]
    assert through(world, families) == through(world, [world.episodes]) == right
    monkeypatch.setattr(arc_writers, "MISTAKEN", 0.0)
    monkeypatch.setattr(arc_writers, "DRAWN", 0.0)
    monkeypatch.setattr(arc_writers, "ERODED", 1.0)
    assert {one.partition(", ")[0] for one in through(world, one_by_one)} == {ALL}


@pytest.mark.parametrize("fixed", [False, True])
def test_a_narrow_buffer_keeps_numbers_that_never_changed(fixed):
    """What all tasks of a strategy share stands in it as a number when the buffer is narrow, and else is sought."""
    world = small()
    one = next(it for it in world.episodes if world.truth(it).skill == "recolor" and it.scope == COLOR)
    held = dict(world.truth(one).parameters)
    written = strategy(world, one, fixed=fixed).written.text
    assert (f"o.color == {held['color']}" in written) == (f"recolor(o, {held['fill']})" in written) == fixed
