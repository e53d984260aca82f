"""Questions mined from a store's own texts: each answered by the bytes that its pointer addresses."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.consolidate.mined import WORDS_MIN, mine
from firsthand.event import Event, Kind, Trust, id_text
from firsthand.moment import Moment

TOLD = "Grüße! The billing service listens on port 41003 since the outage of march, keep to it. The cat sleeps."


def event(text: str, number: int = 1, **fields) -> Event:
    base = {
        "position": number, "id": id_text(number.to_bytes(16, "big")), "namespace": "n", "session": "s",
        "sequence": number, "part": 0, "turn": 0, "kind": Kind.USER_MESSAGE, "agent": "", "origin": "user",
        "trust": Trust.TRUSTED, "time": None, "ingested": Moment(0), "media": "text/plain", "meta": {},
        "envelope": b"", "content": text.encode("utf-8", "surrogatepass"), "artifact": None, "erased": False,
        "commitment": bytes(32), "chain": bytes(32),
    }  # fmt: skip
    return Event(**base | fields)


def addressed(one: Event, pointer: str) -> bytes:
    start, end = map(int, pointer.partition("@")[2].split("-"))
    return one.content[start:end]


def test_a_question_asks_for_a_string_by_the_words_beside_it():
    """Its words are of one sentence and do not hold the string, which stands at the bytes of its pointer."""
    one = event(TOLD)
    (question,) = mine([one], 5)
    assert question.strings == ("41003",)
    assert addressed(one, question.pointer) == b"41003"
    assert (question.right, question.real, question.known) == ((1,), False, (f"fh:{one.id}",))
    words = question.text.split()
    assert len(words) >= WORDS_MIN
    assert set(words) <= {"billing", "service", "listens", "port", "outage", "march", "keep", "since"}


def test_no_question_gives_its_answer_away():
    """Neither the string nor a word that is part of it, or holds it, stands in the question, whatever is drawn."""
    text = "Restart billing_worker after the billing queue was drained twice by the worker on friday."
    for number in range(1, 40):
        (question,) = mine([event(text, number)], 1)
        assert question.strings == ("billing_worker",)
        assert not {"billing_worker", "billing", "worker"} & set(question.text.split())


@settings(max_examples=60)
@given(st.lists(st.text(st.sampled_from("abcdeé ßI\u0130.!?\n_/0123456789"), max_size=120), max_size=6))
def test_the_bytes_of_every_pointer_are_its_string(texts):
    """For all texts: a pointer's bytes are the string, and the question does not give it away."""
    events = {number: event(text, number) for number, text in enumerate(texts, 1)}
    for question in mine([*events.values()], 10):
        held = addressed(events[question.right[0]], question.pointer).decode()
        assert held.casefold() == question.strings[0]
        assert question.strings[0] not in question.text.casefold()


def test_what_a_tool_said_or_firsthand_put_there_is_not_asked_for():
    """Text of tools and pages, injected and derived text, and short talk give no question."""
    refused = [
        event(TOLD, 1, trust=Trust.UNTRUSTED), event(TOLD, 2, meta={"injected": True}),
        event(TOLD, 3, kind=Kind.NOTE), event(TOLD, 4, kind=Kind.TOOL_RESULT),
        event(TOLD, 5, erased=True, content=None),
        event("Port 41003.", 6), event("The cat sleeps on the warm stone all day.", 7),
    ]  # fmt: skip
    assert mine(refused, 10) == ()


def test_the_same_texts_give_the_same_questions():
    """Drawn again they are the same, each text once, and no more than asked for."""
    events = [event(TOLD.replace("41003", str(41_003 + n)).replace("billing", f"thing{n}x"), n) for n in range(1, 9)]
    assert mine(events, 5) == mine(events, 5)
    assert len(mine(events, 5)) == 5
    assert len(mine([event(TOLD, 1), event(TOLD, 2)], 5)) <= 2
