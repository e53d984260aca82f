"""Sessions for tests of episodes: said and done by hand, so that what must be found is known."""

from __future__ import annotations

from firsthand import Memory, Moment

DAY = 1_790_000_000_000_000  # 2026-09-21


def at(minutes: int) -> Moment:
    return Moment(DAY + minutes * 60_000_000)


def bootstrap(memory: Memory, name: str = "host:1") -> None:
    """A session with a request, a rule, a failure that was mended and one that was not, a decision, a file, a plan."""
    session = memory.session(name)
    session.user("Please automate the cold-start bootstrap of the scheduler. Never push to main.", time=at(0))
    call = session.tool_call("bash", {"command": "pytest -q tests/test_boot.py"}, time=at(1))
    session.tool_result(call, "E   AssertionError: 3 != 4\n1 failed", tool="bash", meta={"exitCode": 1}, time=at(1))
    edit = session.tool_call("edit", {"file_path": "src/boot.py", "old": "3", "new": "4"}, time=at(2))
    session.tool_result(edit, "edited", tool="edit", time=at(2))
    call = session.tool_call("bash", {"command": "pytest -q tests/test_boot.py"}, time=at(3))
    session.tool_result(call, "1 passed", tool="bash", meta={"exitCode": 0}, time=at(3))
    call = session.tool_call("bash", {"command": "docker compose up"}, time=at(4))
    session.tool_result(call, "port 5432 is in use", tool="bash", meta={"exitCode": 125}, time=at(4))
    session.agent("We decided to keep the bootstrap manifest in boot.toml.", time=at(5))
    session.agent(
        "The bootstrap works with version 2.14.3 of the scheduler.\n- [ ] document the manifest\n- [x] write the test",
        time=at(6),
    )


def plain(memory: Memory, name: str, about: str) -> None:
    """A session of one request and one answer about something."""
    session = memory.session(name)
    session.user(f"Please look into {about}.", time=at(0))
    session.agent(f"I looked into {about} and it is mended now.", time=at(1))
