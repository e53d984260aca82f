"""The rubric: what the user had to correct, in the user's words, with counts and pointers; a person's edits win."""

from __future__ import annotations


def dialogue(agent, name: str, *turns: tuple[str, str]) -> list[str]:
    """Append pairs of what the agent and the user said; give the pointers of the user's messages."""
    session = agent.memory.session(name, agent=agent.name)
    agent.enrol(name)
    session.user("please add the feature")
    pointers = []
    for said, answer in turns:
        session.agent(said)
        pointers.append(session.user(answer).pointer)
    return pointers


def test_alike_corrections_make_one_line_with_its_count(agent):
    """The newest of them is quoted, verbatim, with the pointers of all; another matter is another line."""
    one = dialogue(agent, "a", ("Done.", "No, run the tests before you say done."))
    two = dialogue(agent, "b", ("Done.", "You forgot to run the tests before you said done."), ("Ok.", "Thanks!"))
    once = dialogue(agent, "c", ("I pushed it.", "Never push to main."), ("Done.", "No, the port is 8081."))
    rubric = agent.rubric()
    assert [line.text for line in rubric.lines] == [
        f'corrected 2 times: "You forgot to run the tests before you said done." ({two[0]}, {one[0]})',
        f'corrected once: "Never push to main." ({once[0]})',
    ]
    assert (rubric.corrections, rubric.messages) == (4, 8)


def test_what_was_said_before_the_agent_spoke_is_no_correction(agent):
    """A first message, and the answer to the agent's question, correct nothing."""
    session = agent.memory.session("a")
    agent.enrol("a")
    session.user("Don't use pip. No, really.")
    session.agent("Shall I update the docs too?")
    session.user("No, only the code.")
    assert agent.rubric().corrections == 0


def test_words_that_were_injected_or_are_of_others_correct_nothing(agent):
    """What a sub-agent's task or an untrusted writer says makes no line."""
    session = agent.memory.session("a")
    agent.enrol("a")
    session.user("go")
    session.agent("Done.")
    session.user("No, run the tests.", trust=3)
    assert agent.rubric().corrections == 0


def test_a_persons_lines_stay(agent):
    """The file keeps what a person wrote around the block, and the block itself once it was edited."""
    dialogue(agent, "a", ("Done.", "Never push to main."))
    path = agent.folder / "rubric.md"
    path.parent.mkdir(parents=True)
    path.write_text("# Mine\n- be brief\n")
    agent.rubric()
    first = path.read_text()
    assert first.startswith("# Mine\n- be brief\n\n<!-- firsthand: from corrections;")
    assert 'corrected once: "Never push to main."' in first
    dialogue(agent, "b", ("Pushed.", "Again! Never push to main."))
    agent.rubric()
    assert 'corrected 2 times: "Never push to main."' in path.read_text()
    edited = path.read_text().replace("corrected 2 times", "always")
    path.write_text(edited)
    dialogue(agent, "c", ("Pushed.", "Never push to main."))
    agent.rubric()
    assert path.read_text() == edited
    assert [one.part.title for one in agent.preamble().granted if one.part.section == "rubric"][:1] == ["be brief"]


def test_erasing_a_correction_erases_what_quotes_it(agent):
    """No event of the log holds the words any more, and the next rubric has no line of them."""
    said = dialogue(agent, "a", ("Done.", "Never push the zebra to main."))
    dialogue(agent, "b", ("Done.", "Never use the okapi."))
    agent.rubric()
    agent.memory.erase(said)
    assert not [one for one in agent.memory.events() if "zebra" in one.text]
    assert [one.count for one in agent.rubric().lines] == [1]
    assert "zebra" not in (agent.folder / "rubric.md").read_text()
