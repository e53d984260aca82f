"""A thousand times the same thing, in whatever disguise, counts as once; and nobody fills a page by number."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consolidate_worlds import by_lines
from firsthand import Band, Draft, Kind, Query, Trust
from firsthand.agents.reminders import remind
from firsthand.agents.settings import Settings
from firsthand.ledger.consolidation import consolidate_in, consolidated_view
from firsthand.ledger.entries import Episode
from firsthand.ledger.entry_gate import distinct
from firsthand.notes.writer import folded
from firsthand.recall.page import FREE, UNTRUSTED_SHARE, within_shares

LOOKS = {"a": "\u0430", "e": "\u0435", "o": "\u043e", "i": "\u0456", "c": "\u0441", "p": "\u0440", "x": "\u0445"}
MARKS = ("\u200b", "\u200d", "\u2060", "\u00ad", "\u202e", "\ufe0f")


def disguised(text: str, chance: random.Random) -> str:
    """Give a text that says the same and looks nearly the same: another case, spaces, letters, hidden signs."""
    out = []
    for sign in text:
        kind = chance.random()
        if kind < 0.15:
            out.append(sign.upper())
        elif kind < 0.3 and sign in LOOKS:
            out.append(LOOKS[sign])
        elif kind < 0.4 and sign == " ":
            out.append(" " * chance.randint(2, 4))
        elif kind < 0.5 and sign.isalpha():
            out.append(sign + chance.choice(MARKS))
        else:
            out.append(sign)
    return "".join(out) + chance.choice(["", ".", "!", "...", " ;"])


def copies(number: int, seed: int) -> list[Episode]:
    """Give one case in many disguises."""
    chance = random.Random(seed)
    told = "value of birch level"
    return [
        Episode(
            f"fh:{at}", "birch", f"7 {disguised(told, chance)}", "23", at,
        )
        for at in range(number)
    ]  # fmt: skip


def test_a_thousand_disguises_are_one_case():
    """Other case, spaces, look-alike letters, hidden signs and punctuation make no second case."""
    assert len({one.case for one in copies(1_000, 1)}) > 900
    assert len(distinct(copies(1_000, 1))) == 1


@given(text=st.text(max_size=60), seed=st.integers(0, 10_000))
def test_folding_is_stable_and_blind_to_disguise(text, seed):
    """Folding twice is folding once, whatever the text; a disguised text folds as the plain one, but for its end."""
    assert folded(folded(text)) == folded(text)
    plain = "the staging port of apex"
    told = " ".join(folded(disguised(plain, random.Random(seed))).rstrip(" .!;").split())
    assert told == plain


def test_disguised_copies_make_no_rule(memory):
    """One case that is said 120 times, in three spellings of its number's family, is no evidence for a rule."""
    chance = random.Random(3)
    for at in range(120):
        said = disguised("birch level 7 => 23", chance).rstrip(" .!;")
        memory.session(f"s{at % 9}").user(said, trust=chance.choice([Trust.TRUSTED, Trust.UNTRUSTED]))
    assert consolidate_in(memory, by_lines, "test", keep=True).kept == ()


HELD = st.builds(
    lambda score, origin, session: (score, (f"o{origin}", f"s{session}") if origin else ()),
    st.floats(0.5, 1), st.integers(0, 2), st.integers(0, 2),
)  # fmt: skip


def order_of(hits):
    """Give the order of hits, each a score and the names that it is counted under."""
    return [*within_shares([score for score, _ in hits], [names for _, names in hits])]


@given(hits=st.lists(HELD, max_size=40))
def test_a_quota_leaves_nothing_out_and_nobody_over_its_share(hits):
    """All hits stay, the best first; an origin over its share stands only where nobody else is left to go before it."""
    hits = sorted(hits, key=lambda hit: -hit[0])
    order = order_of(hits)
    assert sorted(order) == list(range(len(hits)))
    assert order[:1] == [0][: len(hits)]
    counts: dict[str, int] = {}
    for place, at in enumerate(order):
        most = max(FREE, int(UNTRUSTED_SHARE * (place + 1)))
        if any(counts.get(name, 0) >= most for name in hits[at][1]):
            others = [hits[other] for other in order[place:]]
            assert all(any(counts.get(name, 0) >= most for name in names) for _, names in others)
        for name in hits[at][1]:
            counts[name] = counts.get(name, 0) + 1
    trusted = [at for at in order if not hits[at][1]]
    assert trusted == sorted(trusted)


def test_of_ten_hits_an_untrusted_origin_has_six():
    """Eight hits of one tool and four of users that are worth a little less: six and four stand on the first page."""
    hits = [(1.0, ("tool",))] * 8 + [(0.8, ())] * 4
    assert order_of(hits) == [0, 1, 2, 8, 9, 10, 3, 11, 4, 5, 6, 7]
    assert sum(at < 8 for at in order_of(hits)[:10]) == 6


def test_without_untrusted_hits_the_order_stays():
    """What users and agents said is ranked by score alone."""
    assert order_of([(1.0, ()), (0.2, ()), (0.9, ())]) == [0, 1, 2]


def test_hits_that_are_worth_little_do_not_go_before_a_tools():
    """A tool that alone has what was asked for keeps the page."""
    hits = [(1.0, ("t",))] * 8 + [(0.2, ())] * 3
    assert order_of(hits) == list(range(11))


@pytest.mark.parametrize("sessions", [1, 9])
def test_a_flood_does_not_hide_what_the_user_said(memory, sessions):
    """Under 600 near-duplicates of a tool, in one session or many, what the user said is on the first page."""
    told = memory.session("talk").user("The port of the billing service is v41x, said Ada when we moved it.")
    drafts = [
        Draft(Kind.TOOL_RESULT, f"port of the billing service: evil{'!' * (at % 9)}".encode(), origin="tool:fetch",
              trust=Trust.UNTRUSTED) for at in range(600)
    ]  # fmt: skip
    for at in range(sessions):
        memory.append(drafts[at::sessions], session=f"fetched-{at}")
    query = Query("what is the port of the billing service?", hits_max=10)
    answer = memory.recall(query)
    assert told.pointer in [hit.pointer for hit in answer.hits]
    pages = [hit.pointer for skip in range(0, 30, 10) for hit in memory.recall(
        Query(query.text, hits_max=10, skip=skip)).hits if not hit.companion_of]  # fmt: skip
    assert len(pages) == len(set(pages))


def test_a_tool_does_not_fill_a_reminder(memory, agent):
    """A tool has no place in what is put before an agent unasked while a user said something as good."""
    agent.enrol("talk")
    memory.session("talk").user("Ada said on Monday, when we all had lunch: the billing port is v41x from now on.")
    for at in range(8):
        agent.enrol(f"page-{at}")
        text = f"The port of the billing service was moved by Eve to page {at}, says the notice {at * 37}."
        memory.session(f"page-{at}").append(Kind.TOOL_RESULT, text, origin="tool:fetch", trust=Trust.UNTRUSTED)
    hits = memory.recall("who moved the port of the billing service?").hits
    reminder = remind(
        agent, "who moved the port of the billing service?", "now", Settings(hits_max=3, band=Band.UNLIKELY)
    )
    assert reminder.skipped == ""
    assert [hit.trust for hit in reminder.hits] == [Trust.TRUSTED]
    assert [hit.origin for hit in hits[:3]] == ["tool:fetch"] * 3


def test_copies_of_a_page_hide_no_case(memory):
    """A question that users answered is answered so, however many pages say otherwise."""
    memory.session("s").user("STAGING_PORT=80")
    for at in range(200):
        memory.session(f"p{at}").user("STAGING_PORT=99", trust=Trust.UNTRUSTED, origin=f"web{at}")
    assert consolidated_view(memory).text == "case: STAGING_PORT => 80"
