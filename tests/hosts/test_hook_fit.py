"""What a hook says, under the limits of all hosts."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from firsthand.fence import unwrap, wrap
from firsthand.hosts.hook import CONTEXT_BYTES_MAX, CONTEXT_CHARACTERS_MAX, CONTEXT_TOKENS_MAX
from firsthand.hosts.hook_fit import TOLD_CHARACTERS_MAX, fit, one_line
from firsthand.tokens import OPENAI

KEY = bytes(range(16))


def block(size: int, sign: str = "word ") -> str:
    return wrap((sign * size)[:size], KEY)


def is_within(text: str) -> bool:
    return (
        len(text.encode()) <= CONTEXT_BYTES_MAX
        and len(text.encode("utf-16-le")) // 2 <= CONTEXT_CHARACTERS_MAX
        and OPENAI(text) <= CONTEXT_TOKENS_MAX
    )


def test_what_fits_stays_as_it_is():
    """A context within the limits is not touched."""
    said = f"preamble\n{block(500)}\n{block(500)}"
    assert fit(said) == said
    assert fit(" \n") == ""


def test_blocks_are_left_out_whole_from_the_end():
    """Over the limit the last blocks go, the first stay and verify, and the number of those gone is said."""
    blocks = [block(1_500) for _ in range(6)]
    said = fit("\n".join(blocks))
    assert is_within(said)
    whole = unwrap(said, KEY)
    assert len(whole.marks) == 3
    assert said == "\n".join(blocks[:3]) + (
        "\n[firsthand: 3 recalled blocks left out, over the limit of what a hook may say; recall finds them]"
    )


def test_a_block_that_is_too_long_alone_makes_room_for_the_others():
    """A block over the limit is dropped and counted; those after it are there."""
    short = block(300)
    said = fit(f"{block(20_000)}\n{short}")
    assert short in said
    assert "1 recalled block left out" in said


def test_a_block_without_utf8_is_left_out():
    """A lone surrogate would make the JSON invalid for a strict host: its block goes and is counted."""
    short = block(300)
    said = fit(f"{wrap('a' + chr(0xD800), KEY)}\n{short}")
    assert said.encode()
    assert short in said
    assert "1 recalled block left out" in said


def test_text_is_measured_in_signs_bytes_and_tokens():
    """Few signs may have many bytes, and a long row of one sign has few tokens: both are measured."""
    for sign, size in (("漢字仮名", 1_500), ("🙂", 1_000), ("a" * 299 + "\n", 4_000)):
        said = fit("\n".join(block(size, sign) for _ in range(3)))
        assert is_within(said)
        assert said.endswith("recall finds them]")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(1, 6_000), st.sampled_from(["a ", "é\n", "漢", "<>", "🙂 "])), max_size=7
    )
)
@example([(True, 9_500, "a ")])
def test_every_context_is_brought_under_every_limit(parts):
    """Whatever is said fits all three limits, and every fence in it verifies."""
    said = fit("\n".join(block(size, sign) if fenced else sign * (size // len(sign)) for fenced, size, sign in parts))
    assert is_within(said)
    assert said.count("<<firsthand ") == len(unwrap(said, KEY).marks)


def test_what_the_user_is_told_is_one_line():
    """A message for the user has no line end, no lone surrogate, and a limit."""
    assert one_line("a\n b\t\ud800") == "a b ?"
    assert len(one_line("x" * 5_000)) == TOLD_CHARACTERS_MAX
