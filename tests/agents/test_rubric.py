"""The rubric: the lines of a person are told, and of what the first edition took for corrections nothing is."""

from __future__ import annotations

from firsthand.agents.rubric import Line, lines_of
from firsthand.hashing import blake2s

BEGIN = "<!-- firsthand: from corrections; edit above this line, or edit here and it stays as you leave it ({}) -->\n"
END = "<!-- firsthand: end -->\n"


def block(*lines: str) -> str:
    """Give a block as the first edition wrote it."""
    text = "".join(f"- {line}\n" for line in lines)
    return f"{BEGIN.format(blake2s(text.encode()).hex()[:12])}{text}{END}"


def test_a_persons_lines_are_read():
    """Lines of a list are told without their marks, headings and empty lines are not."""
    text = "# Mine\n\n- be brief (fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY)\n* use uv\n"
    assert lines_of(text) == (Line("be brief", ("fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY",)), Line("use uv"))


def test_an_old_block_is_passed_over_until_a_person_edits_it():
    """What was taken for corrections is not told; a block that a person edited is the person's."""
    old = block('corrected once: "Never push to main."')
    assert lines_of(f"- be brief\n\n{old}- use uv\n") == (Line("be brief"), Line("use uv"))
    assert lines_of(old.replace("corrected once", "always")) == (Line('always: "Never push to main."'),)


def test_the_preamble_tells_it(agent):
    """A rubric file that a person wrote is followed and told to the next session."""
    agent.folder.mkdir(parents=True)
    (agent.folder / "rubric.md").write_text("# Mine\n- be brief\n" + block("corrected once: x"))
    told = [granted.part.title for granted in agent.preamble().granted if granted.part.section == "rubric"]
    assert told == ["be brief"]
