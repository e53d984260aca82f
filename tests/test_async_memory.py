"""AsyncMemory: the suite of every memory, and what only one whose calls are done in a thread can meet."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time

import pytest
from awaited import Awaited
from memory_suite import MemorySuite

from firsthand import AsyncMemory, AsyncSession, InvalidArgument, Memory, NotAStore, Session, SessionWindow
from firsthand.async_memory import AsyncExecutor, AsyncWindow
from firsthand.context.executors import Executor
from firsthand.errors import StoreClosed
from firsthand.event import IdMaker

NO_VERBS = {
    Memory: {"agent", "decided", "index_moment", "tokenizer", "stemmer", "census", "vectors", "wake"},
    Session: set(), SessionWindow: set(), Executor: {"executor"},
}  # fmt: skip
"""Of the core's own, or asked by `run`."""


class TestAsyncMemory(MemorySuite):
    """A memory of this process, awaited."""

    @pytest.fixture
    def memory(self, tmp_path):
        loop = asyncio.new_event_loop()
        memory = AsyncMemory(tmp_path / "store", embedder="none")
        yield Awaited(memory, loop)
        assert loop.run_until_complete(memory.verify()).problems == ()
        loop.run_until_complete(memory.close())
        loop.close()


@pytest.fixture
def store(tmp_path):
    """A folder whose store verifies at the end."""
    yield tmp_path / "store"
    with Memory(tmp_path / "store", embedder="none") as memory:
        assert memory.verify().ok


@pytest.mark.parametrize(
    ("plain", "awaited"),
    [(Memory, AsyncMemory), (Session, AsyncSession), (SessionWindow, AsyncWindow), (Executor, AsyncExecutor)],
)
def test_every_verb_is_awaited(plain, awaited):
    """Each public method has its twin under the same name, with the same arguments."""
    verbs = {name for name, member in inspect.getmembers(plain, inspect.isfunction) if not name.startswith("_")}
    names = {name for name in dir(awaited) if not name.startswith("_")}
    assert verbs - names == NO_VERBS[plain]
    for name in verbs & names:
        assert [*inspect.signature(getattr(plain, name)).parameters] == [
            *inspect.signature(getattr(awaited, name)).parameters
        ]


def test_the_loop_goes_on_while_a_call_is_done(store):
    """A call that takes long holds up the calls behind it, and not the event loop."""

    async def main():
        async with AsyncMemory(store, embedder="none") as memory:
            begun = threading.Event()
            free = threading.Event()

            def wait(_memory):
                begun.set()
                return free.wait(10)

            slow = asyncio.create_task(memory.run(wait))
            behind = asyncio.create_task(memory.session("s").user("behind"))
            await asyncio.to_thread(begun.wait)
            assert [slow.done(), behind.done()] == [False, False]
            whole = await memory.verify()  # reads the whole store: beside them
            free.set()
            assert (await slow, (await behind).position, whole.ok) == (True, 1, True)

    asyncio.run(main())


def test_calls_are_done_in_the_order_in_which_they_were_made(store):
    """Fifty appends that nobody awaited in between stand in the log in their order."""

    async def main():
        async with AsyncMemory(store, embedder="none") as memory:
            session = memory.session("s")
            await asyncio.gather(*(session.user(str(number)) for number in range(50)))
            assert [event.text async for event in session.events()] == [str(number) for number in range(50)]

    asyncio.run(main())


def test_a_cancelled_await_takes_back_what_has_not_begun(store):
    """What is at work when its await is cancelled is done to its end; what waits is not done; the next call works."""

    async def main():
        async with AsyncMemory(store, embedder="none") as memory:
            session, begun, free = memory.session("s"), threading.Event(), threading.Event()

            def work(memory):
                begun.set()
                free.wait(10)
                memory.session("s").user("at work")

            at_work = asyncio.create_task(memory.run(work))
            waiting = asyncio.create_task(session.user("waiting"))
            await asyncio.to_thread(begun.wait)
            for task in (at_work, waiting):
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            free.set()
            identifier = IdMaker()()
            await session.user("next", id=identifier)
            assert not (await session.user("next", id=identifier)).new  # a retry under an id is safe
            assert [event.text async for event in session.events()] == ["at work", "next"]

    asyncio.run(main())


def test_an_iterator_that_is_broken_off_lets_the_store_go(store):
    """Of many events the first few may be read; the memory closes, more than once too, and its threads end."""
    before, memory = threading.active_count(), AsyncMemory(store, embedder="none")

    async def main():
        async with memory:
            session = memory.session("s")
            await asyncio.gather(*(session.user("x" * 100) for _ in range(200)))
            async for event in session.events():
                if event.position == 3:
                    break
            assert threading.active_count() - before <= 2
            assert len([event async for event in memory.events()]) == 200
            await memory.close()
        with pytest.raises(StoreClosed, match="open it again"):
            await memory.head()

    asyncio.run(main())
    until = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() == before


def test_what_cannot_be_opened_is_the_first_calls_error(tmp_path, store):
    """Making a memory opens nothing; the error is that of `Memory`, and the same memory works once it is mended."""

    async def main():
        memory = AsyncMemory(store, create=False, embedder="none")
        with pytest.raises(NotAStore):
            await memory.head()
        Memory(store, embedder="none").close()
        assert (await memory.head()).startswith("0:")
        await memory.close()
        with pytest.raises(InvalidArgument):
            async with AsyncMemory(tmp_path / "other", embedder="none", read_only=3):
                pass

    asyncio.run(main())


def test_windows_and_executors_are_awaited(store):
    """A session's window keeps its budget, and an executor below it finishes into it."""

    async def main():
        async with AsyncMemory(store, embedder="none") as memory:
            session = memory.session("s", agent="ada")
            window = session.window(2_500)
            for number in range(30):
                await window.add({"role": "user", "content": f"Look at worker {number}. " + "It writes lines. " * 30})
                assert (await window.request()).tokens <= 2_500
            receipts = [receipt async for receipt in window.receipts()]
            assert (receipts != [], (await window.run(lambda window: window.state)).cycle) == (True, len(receipts))
            executor = session.executor("tests", task="Run them.")
            await executor.window(2_000).request([{"role": "user", "content": "Which?"}])
            finished = await executor.finish("All pass.")
            below = [below.event.text async for below in memory.open_span(finished.pointer)]
            assert below[0] == "Run them."

    asyncio.run(main())
