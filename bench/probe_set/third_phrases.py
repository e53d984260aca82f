"""What the notes of the third set say of themselves, in English; no wording of an older part.

`k` of `n` details are kept, `p` is a pointer, `c` the conclusion, `t` the topic, `x` what is missing by name.

Who works on the probe does not read this file, nor `third_tongues`, which has the other languages.
"""

from __future__ import annotations

from collections.abc import Sequence

from firsthand.value import value


@value
class Phrases:
    """Wordings of one language; each tuple holds equivalents.

    Attributes:
        honest: says that something is missing. rest: says so and where it is. part: the same for one thing.
        all_here: says that all is there. based: a conclusion and its source. pointed: no conclusion, the source.
        source: a source alone. unfounded: a conclusion, and that its source is gone.
        gap: stands where a value stood. elided: stands where a line stood. moved: the same, with a pointer.
        hedge: a conclusion that is not sure of itself. aside: says nothing.
        user, tool, agent: before a message that is copied.
        earlier: a note that the pointer of another note leads to.
        listens: what an agent says when there is nothing to say.
    """

    honest: Sequence[str]
    rest: Sequence[str]
    part: Sequence[str]
    all_here: Sequence[str]
    based: Sequence[str]
    pointed: Sequence[str]
    source: Sequence[str]
    unfounded: Sequence[str]
    gap: Sequence[str]
    elided: Sequence[str]
    moved: Sequence[str]
    hedge: Sequence[str]
    aside: Sequence[str]
    earlier: str
    user: str
    tool: str
    agent: str
    listens: str
    chat: Sequence[tuple[str, str]]


ENGLISH = Phrases(
    honest=("NB: one figure is absent from this note.", "{k}/{n} facts carried over; {m} was evicted.",
            "This is an abridged record: I had to leave one thing behind.", "*Something is missing above.*",
            "Only {k} of {n} points fit the budget.",
            "Please note that this list is not exhaustive, one entry got lost.",
            "truncated=true kept={k} of={n}", "I did not manage to store everything; one value is unknown to me now.",
            "(lossy summary, {m} detail omitted)", "One of the {n} inputs is no longer in my memory.",
            "Status: partial. Not every input survived.", "There was one more entry, which I failed to write down.",
            "Coverage: {k} out of {n}.", "The full set had {n} entries, here are {k}."),
    rest=("Everything else: {p}", "The missing part can be looked up under {p}", "see also {p} for what is not here",
          "Left out for brevity, full text {p}", "expand {p} for the remainder"),
    part=("{x}: stored at {p}", "For {x} expand {p}", "Omitted here: {x} (verbatim in {p})", "{x} = look up {p}"),
    all_here=("Nothing is missing from this note.", "All inputs are listed.", "This record is exhaustive.",
              "status: complete", "(lossless: every detail was carried over)"),
    based=("{c} Evidence: {p}", "{c} (from {p})", "{c} ^[{p}]", "As per {p}: {c}", "{c}\nref {p}"),
    pointed=("{t} Full exchange: {p}", "{t} I kept no values here, expand {p} before answering.", "{t} => {p}"),
    source=("Origin: {p}", "(quoted after {p})", "provenance={p}"),
    unfounded=("{c} The figures this rests on were evicted and cannot be restored.",
               "{c} How we got there is not recorded.", "{c} (source data discarded)",
               "{c} I cannot reproduce this: the underlying values were dropped."),
    gap=("<unknown: evicted>", "?? (was not saved)", "[value lost]", "n/a, did not fit"),
    elided=("[... {m} line dropped to save space ...]", "<snip: one entry>", "(one entry removed here)"),
    moved=("[... {m} line evicted to {p} ...]", "<moved to {p}>", "(the entry that stood here: {p})"),
    hedge=("{c} At least that is how I remember it.", "Pretty sure: {c}", "{c} (unconfirmed)", "iirc {c}"),
    aside=("Prefers metric units.", "Is usually online before lunch.", "Wants answers in one paragraph.",
           "Signs with initials.", "Said thanks twice.", "Uses a dark theme."),
    earlier="Summary of the previous session. {c} Evidence: {p}",
    user="[user] ", tool="[tool] ", agent="[assistant] ", listens="Noted, what else?",
    chat=(("Are you keeping notes?", "I am."), ("My keyboard is sticking again.", "Compressed air may help."),
          ("What's another word for 'fast'?", "Swift."), ("brb, phone", "I will be here."),
          ("Is a tomato a fruit?", "Botanically, yes."), ("Sorry for the typos, on my phone.", "No problem.")),
)  # fmt: skip
