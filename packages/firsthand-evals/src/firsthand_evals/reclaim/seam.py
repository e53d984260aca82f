"""The seam between the evaluation and a memory under test: what a memory is asked to do, and what is held to.

A memory is ``write(messages, budget) -> text``: it is given a session and may carry so
many characters into the next one. It may also answer ``recall(query) -> text``. A plain
function ``write`` is a memory too. The invariant: what is carried is never longer than
the budget, whatever was written; that it had to be cut is kept and reported. A memory
sees sessions and questions, never the problem, the answer or the truth.

It knows no policy and no reader.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from traceback import extract_tb, format_exception_only
from types import ModuleType
from typing import Any, Protocol, cast

import firsthand
from firsthand import InvalidArgument
from firsthand.errors import MemoryFault, ModelError
from firsthand.value import value

BUDGET_CHARACTERS = 600
BUDGET_CHARACTERS_MAX = 1_000_000
RECALLED_CHARACTERS_MAX = 20_000
"""Of one answer of ``recall``; what is longer is cut, and the pull says so."""
TOLD_CHARACTERS_MAX = 1_000
"""Of what an error of a memory says about itself."""
SUFFIX = ".py"
_FILE_MODULES = "file:"
"""What the names of modules begin with that were loaded from a file: no import statement can say it."""

Messages = Sequence[Mapping[str, str]]


class Memory(Protocol):
    """A memory under test; ``recall`` is optional and therefore not named here (see `recalls`)."""

    def write(self, messages: Messages, budget: int) -> str:
        """Write what is carried out of a session into the next one.

        Called once for each session, in order. What was carried into the session stands in its first message,
        of the role ``system``.

        Args:
            messages: of one session: mappings with ``role`` (system, user, assistant) and ``content``.
            budget: characters that may be carried.
        """
        ...


class Writes:
    """A memory made of a function ``write``."""

    def __init__(self, write: Callable[[Messages, int], str]) -> None:
        self.write = write


@value
class Subject:
    """A memory under test by its name, made anew for each problem.

    Attributes:
        make: gives a fresh memory; called once for each item, so that no problem leaks into another one.
        policy: True for a hand-made note of the paper: it knows the problem, which no memory under test does.
        shared: True when ``make`` gives one and the same object, so that cases must not be asked at once.
    """

    name: str
    make: Callable[..., Memory]
    policy: bool = False
    shared: bool = False


@value
class Carried:
    """What came over from a session.

    Attributes:
        text: what is carried, at most ``budget`` characters.
        used: characters of it.
        written: characters that the memory gave.
        over: True when those were more than the budget, and the text was cut.
    """

    text: str
    budget: int
    used: int
    written: int
    over: bool


@value
class Pull:
    """One question to a memory while a correction was answered.

    Attributes:
        text: what it answered, as the reader got it; ``characters`` of it; ``cut`` when it was longer.
    """

    query: str
    text: str
    characters: int
    cut: bool


def subject(thing: Any, name: str = "") -> Subject:
    """Make a subject of a memory, a class or factory of memories, or a function ``write``.

    A class or a function without arguments is called for each problem. An object is used for all of them as it is. A
    function that could be called either way, such as one behind a decorator, is a ``write``.
    """
    named = name or str(getattr(thing, "name", "") or getattr(thing, "__name__", "") or type(thing).__name__)
    if isinstance(thing, Subject):
        return thing
    if isinstance(thing, type) and not takes(thing, 0):
        raise InvalidArgument(
            f"a class of memories is made without arguments; {thing.__name__} wants some: give a factory"
        )
    if isinstance(thing, type) and not callable(getattr(thing, "write", None)):
        raise InvalidArgument(f"a class of memories has write(messages, budget) -> str; {thing.__name__} has none")
    if isinstance(thing, type) or (not hasattr(thing, "write") and takes(thing, 0) and not takes(thing, 2)):
        return Subject(named, lambda: memory(thing()))
    made = memory(thing)
    return Subject(named, lambda: made, shared=made is thing)


def memory(thing: Any) -> Memory:
    """Give a memory as the evaluation uses it."""
    if callable(getattr(thing, "write", None)):
        return cast("Memory", thing)
    if takes(thing, 2):
        return Writes(thing)
    raise InvalidArgument(
        "a memory under test has write(messages, budget) -> str, or is such a function; "
        f"got {thing!r:.120} (see docs/test-your-memory.md)"
    )


def load(address: str) -> Subject:
    """Load a memory under test by its address; see `named`."""
    return subject(named(address), address)


def named(address: str) -> Any:
    """Load what an address names: ``./file.py:name``, or ``module:name`` of an installed package.

    A file is loaded alone: its folder does not join the import path, and no compiled copy beside it is read.
    """
    where, _, name = address.rpartition(":")
    is_file = where.endswith(SUFFIX)
    if not all(part.isidentifier() for part in (*(() if is_file else where.split(".")), *name.split("."))):
        raise InvalidArgument(
            "a memory is named ./file.py:name, or module:name of an installed package, such as ./mine.py:write; "
            f"got {address!r}"
        )
    try:
        thing: Any = _file(Path(where).resolve()) if is_file else import_module(where)
    except OSError as error:
        raise InvalidArgument(f"cannot read {where!r}: {error.strerror}; name a file such as ./mine.py") from error
    except ImportError as error:
        raise InvalidArgument(f"cannot import {where!r} ({error}); {_remedy(where, name)}") from error
    except (Exception, SystemExit) as error:  # whatever their module does when it is imported
        raise InvalidArgument(f"importing {where!r} failed: {_told(error)}; mend it and run again") from error
    for part in name.split("."):
        if not hasattr(thing, part):
            raise InvalidArgument(f"module {where!r} has no {name!r}; expected a memory, a class of them, or write()")
        thing = getattr(thing, part)
    return thing


def _file(path: Path) -> ModuleType:
    """Run a file as a module, once; nothing else can be imported by its name, so that it stands in for no library."""
    name = f"{_FILE_MODULES}{path}"
    if name not in sys.modules:
        module = ModuleType(name)
        module.__file__ = str(path)
        code = compile(path.read_bytes(), str(path), "exec")
        sys.modules[name] = module  # dataclasses and pickles look their module up
        try:
            exec(code, module.__dict__)  # noqa: S102 - the file that the user named, and no cached copy of it
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def _remedy(where: str, name: str) -> str:
    """Say how to name what cannot be imported."""
    if where.endswith(SUFFIX):
        return "a file is loaded alone: install what it imports, or name the folder of that in PYTHONPATH"
    return f"install it, or name a file by its path: ./{where.replace('.', '/')}{SUFFIX}:{name}"


@contextmanager
def made(subject: Subject, problem: object) -> Iterator[Memory]:
    """Make the memory of a case, and close it afterwards if it has a ``close``.

    Raises:
        MemoryFault: it could not be made or closed.
    """
    with blamed(subject.name, "could not be made"):
        memory = subject.make(problem) if subject.policy else subject.make()
    try:
        yield memory
    finally:
        close = getattr(memory, "close", None)
        if callable(close):
            with blamed(subject.name, "could not be closed"):
                close()


def carry(memory: Memory, messages: Messages, budget: int) -> Carried:
    """Let a memory write, and hold it to its budget.

    Args:
        budget: characters, 0 to 1,000,000.

    Raises:
        InvalidArgument: an argument is not what it should be.
        MemoryFault: it raised, or wrote no text.
        ModelError: a memory that asks a model got no reply.
    """
    if isinstance(budget, bool) or not isinstance(budget, int) or not 0 <= budget <= BUDGET_CHARACTERS_MAX:
        raise InvalidArgument(
            f"a budget is a whole number of characters, 0 to {BUDGET_CHARACTERS_MAX:,}; got {budget!r}"
        )
    with blamed(_name(memory), "raised in write()"):
        text: object = memory.write([dict(message) for message in messages], budget)
    if not isinstance(text, str):
        raise MemoryFault(f"write gives text; {_name(memory)} gave {described(text)}")
    text = str.__str__(text)  # a class of theirs may cut, count or compare as it likes
    kept = text[:budget]
    return Carried(kept, budget, len(kept), len(text), len(text) > budget)


def recalls(memory: Memory) -> bool:
    """Say whether a memory can be asked."""
    return callable(getattr(memory, "recall", None))


def pull(memory: Memory, query: str) -> Pull:
    """Ask a memory.

    Raises:
        MemoryFault: it raised, or what it answers is no text.
        ModelError: a memory that asks a model got no reply.
    """
    with blamed(_name(memory), "raised in recall()"):
        text: object = cast("Any", memory).recall(query)
    if not isinstance(text, str):
        raise MemoryFault(f"recall gives text; {_name(memory)}.recall gave {described(text)}")
    text = str.__str__(text)
    kept = text[:RECALLED_CHARACTERS_MAX]
    return Pull(query, kept, len(kept), len(text) > len(kept))


@contextmanager
def blamed(name: str, what: str) -> Iterator[None]:
    """Name the memory whose code an error came from; a model's own error goes on as it is."""
    try:
        yield
    except ModelError:
        raise
    except (Exception, SystemExit) as error:  # whatever their code does: it ends no run
        raise MemoryFault(f"{name} {what}: {_told(error)}; mend it and run again") from error


def _told(error: BaseException) -> str:
    """Say what an error of theirs is, and where it came from; one that cannot say what it is, is named all the same."""
    said = f"SyntaxError: {error}" if isinstance(error, SyntaxError) else format_exception_only(error)[0].strip()
    if len(said) > TOLD_CHARACTERS_MAX:
        said = f"{said[:TOLD_CHARACTERS_MAX]} … {len(said) - TOLD_CHARACTERS_MAX:,} more characters"
    return f"{said}{_line(error)}"


def _line(error: BaseException) -> str:
    """Give the innermost line of their code that an error came through; empty when it is in none."""
    packages = (str(Path(__file__).parents[1]), str(Path(firsthand.__file__).parent))
    ours = (*packages, "<frozen", import_module.__code__.co_filename)
    frame_summaries = [
        frame_summary
        for frame_summary in extract_tb(error.__traceback__)
        if not frame_summary.filename.startswith(ours)
    ]
    return f" ({Path(frame_summaries[-1].filename).name}:{frame_summaries[-1].lineno})" if frame_summaries else ""


def _name(memory: Memory) -> str:
    made_of = memory.write if isinstance(memory, Writes) else type(memory)
    return str(getattr(made_of, "__name__", type(made_of).__name__))


def described(thing: object) -> str:
    """Say what came in place of text, and what to do; what would have to be awaited is closed."""
    if not callable(getattr(thing, "__await__", None)):
        return f"{type(thing).__name__}: return a str"
    close = getattr(thing, "close", None)
    if callable(close):
        close()  # or Python warns of it later, somewhere else
    return f"{type(thing).__name__}: give a function that is not async, such as one that calls asyncio.run"


def takes(thing: object, arguments: int) -> bool:
    """Say whether something can be called with so many arguments, and no names; no when Python cannot tell."""
    from inspect import signature  # noqa: PLC0415 - slow to import, and only this asks

    if not callable(thing):
        return False
    try:
        signature(thing).bind(*[None] * arguments)
    except (TypeError, ValueError):  # it cannot be called so, or is built in and says nothing of itself
        return False
    return True
