"""What all tests share: stores that are verified when a test ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from firsthand import Agent, Memory
from firsthand.log.sqlite.log import Log

pytest.register_assert_rewrite("stores", "memory_suite")

from hook_runs import Hooked  # noqa: E402

from stores import SOAK, assert_whole, open_log  # noqa: E402 - its asserts are to be told in full

# The same examples in every run: a failure is there for everybody, and nothing is kept between runs.
settings.register_profile("firsthand", deadline=None, derandomize=not SOAK, max_examples=1_000 if SOAK else 20)
settings.load_profile("firsthand")

MEMORY, MEMORY_BYTES_MIN = "/dev/shm", 4 << 30
"""A folder in memory, where a sync costs nothing: a test of durability counts the calls, or ends processes."""


def pytest_configure() -> None:
    """Have stores of tests in memory where there is room; say what to do where a distribution is not installed."""
    if os.access(MEMORY, os.W_OK):
        room = os.statvfs(MEMORY)
        if room.f_bavail * room.f_frsize >= MEMORY_BYTES_MIN and not room.f_flag & os.ST_NOEXEC:
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)
    if os.environ.get("FIRSTHAND_TEST_POSTGRES"):
        from postgres_stores import install

        install()
    if find_spec("firsthand_evals") is None:
        pytest.exit("the tests need both distributions of this repository; run: make .venv/ready-dev", returncode=4)


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory) -> Iterator[None]:
    """Keep what a user's state directory would hold, the heads of stores, in a folder of the run."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
    yield
    del os.environ["XDG_STATE_HOME"]
    if before is not None:
        os.environ["XDG_STATE_HOME"] = before


@pytest.fixture(autouse=True)
def working_folder() -> Iterator[None]:
    """Come back to the folder of the run: a client of hooks goes to a socket whose path is too long, and stays."""
    before = Path.cwd()
    yield
    os.chdir(before)


@pytest.fixture
def make_log(tmp_path) -> Iterator[Callable[..., Log]]:
    """Open stores, ``store`` in the test's own folder unless told otherwise; each is verified when the test ends.

    A test that damages a store opens it with ``damaged=True``.
    """
    opened: list[tuple[Log, bool]] = []

    def make(root: Path | None = None, *, damaged: bool = False, **options) -> Log:
        log = open_log(root if root is not None else tmp_path / "store", **options)
        opened.append((log, damaged))
        return log

    yield make
    for root in {log.root for log, damaged in opened if not damaged} - {log.root for log, damaged in opened if damaged}:
        last = open_log(root, read_only=True)
        assert_whole(last)
        last.close()
    for log, _ in opened:
        log.close()


@pytest.fixture
def log(make_log) -> Log:
    """One open store, verified when the test ends."""
    return make_log()


@pytest.fixture
def memory(tmp_path) -> Iterator[Memory]:
    """One open memory that finds by words alone, verified when the test ends."""
    with Memory.open(tmp_path / "store", embedder="none") as opened:
        yield opened
        assert opened.verify(deep=True).problems == ()


@pytest.fixture
def agent(memory) -> Agent:
    """An agent of that memory."""
    return memory.agent("shop")


@pytest.fixture
def user(tmp_path) -> Iterator[Hooked]:
    """A user whose hooks are called as a host does; their server ends with the test, and the store is whole then."""
    hooked = Hooked(tmp_path)
    yield hooked
    hooked.end()
    if (hooked.store / "firsthand.db").exists():
        with Memory(hooked.store, read_only=True) as memory:
            assert memory.verify().ok


@pytest.fixture
def laptop(tmp_path):
    """Open a store of a laptop; each is verified at the end."""
    opened = []

    def open_store(name):
        opened.append(Memory(tmp_path / name, namespace="team", embedder="none"))
        return opened[-1]

    yield open_store
    for memory in opened:
        assert memory.verify().problems == ()
        memory.close()
