"""What hooks know of a session from call to call."""

from __future__ import annotations

from firsthand.agents import session_cache
from firsthand.agents.session_cache import Known
from firsthand.value import replace


def test_what_is_kept_of_a_session_comes_back_by_namespace(tmp_path):
    """A session of the same name in another namespace is another one."""
    one = Known("agent", payloads=True, told=("a",))
    session_cache.keep(tmp_path, "n", "s", one)
    assert session_cache.known(tmp_path, "n", "s") == one
    assert session_cache.known(tmp_path, "m", "s") == Known()


def test_a_session_that_is_recorded_from_its_hooks_stays_so(tmp_path):
    """Of two hooks at once the one that read before does not undo what the other has found: never both ways."""
    stale = session_cache.known(tmp_path, "n", "s")
    session_cache.keep(tmp_path, "n", "s", Known("agent", payloads=True))
    session_cache.keep(tmp_path, "n", "s", replace(stale, agent="agent", told=("a fault",)))
    assert session_cache.known(tmp_path, "n", "s") == Known("agent", payloads=True, told=("a fault",))


def test_the_newest_faults_are_those_that_were_told(tmp_path):
    """However many there were, the one that was told last is not told again at the next message."""
    faults = tuple(f"fault {number}" for number in range(session_cache.TOLD_MAX + 3))
    session_cache.keep(tmp_path, "n", "s", Known("agent", told=faults))
    assert session_cache.known(tmp_path, "n", "s").told == faults[3:]


def test_a_file_of_another_version_says_nothing(tmp_path):
    """What cannot be understood is as if it were not there."""
    session_cache.keep(tmp_path, "n", "s", Known("agent"))
    (path,) = (tmp_path / "hooks" / "known").iterdir()
    for data in (b"", b"[]", b"{", b'{"agent": 1}'):
        path.write_bytes(data)
        assert session_cache.known(tmp_path, "n", "s") == Known()
