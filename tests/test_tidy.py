"""The rules of the house that a machine can check: rooms, imports, handlers, sizes, docstrings, leftovers."""

from __future__ import annotations

import ast
import importlib.util
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest

import firsthand

HOME = Path(__file__).parent.parent
SOURCE = HOME / "src" / "firsthand"
EVALUATIONS = HOME / "packages" / "firsthand-evals" / "src" / "firsthand_evals"
"""A distribution of its own, on top of the package; here a room named ``evals``."""

# The first part of a module's name below the package gives its room; it imports from rooms further down this list
# and from its own. An import for typing and one inside a function count as any other.
ROOMS = """
    errors value | environment | moment tokens fence printable | event | pointer | answer record window json_codec
    | unasked | formats | log | index | space | storage | agent_space | recall | notes | ledger | context hosts | agents
    | health | session | telemetry | memory | memory_verbs | client async_memory | sync | __init__ | server | adapters
    | proxy | cli | __main__ | evals
"""
LEVELS = {room: level for level, rooms in enumerate(ROOMS.split("|")) for room in rooms.split()}
PURE = {
    "errors", "value", "event", "moment", "pointer", "tokens", "fence", "printable", "unasked",
    "answer", "record", "window", "formats",
}  # fmt: skip
READ_FILES = {"tokens.tokenizers", "unasked.secret_library"}  # a tokenizer of the caller's; rules that a library brings
PURE_MAY_NOT_IMPORT = {"apsw", "socket", "subprocess", "sqlite3", "pathlib", "tempfile", "shutil"}

SLOW = {"dataclasses", "http.client", "importlib.metadata", "inspect"}
SLOW |= {f"firsthand.index.{name}" for name in ("dense", "stats", "embed.named", "embed.port")}
"""Of the standard library or for vectors, 10 to 40 ms each, and seldom needed: imported where they are used."""
FUNCTION_LINES_MAX = 60
FILE_LINES_MAX = 600
EMPTY_NAMES = {"one", "found", "told", "held", "shown", "kept", "given", "said"}
"""Names of variables that say nothing of what they hold."""
EMPTY_NAMES_SHARE = 0.02
NOUNS_LIKE_PARTICIPLES = {"ranking", "embedding"}
IRREGULAR_PARTICIPLES = EMPTY_NAMES | {"made", "written", "learned", "drawn", "chosen", "sent", "lost", "left"}
LONGER_FUNCTIONS: dict[str, str] = {}  # "module.function": why
LONGER_FILES: dict[str, str] = {}  # "path below src/firsthand": why
BROAD_HANDLERS_THAT_ANSWER: dict[str, str] = {  # "path:function" of a door's outermost frame: why
    "server/hook_client.py:main": "a host must not be disturbed by a fault of ours; it stands on standard error",
    "server/spool.py:_try": "whatever a kept call raises is why it is not recorded: logged, tried again, set aside",
    "server/daemon.py:_work": "the outermost frame of a worker; the fault is logged, and the hook keeps its call",
    "server/http_server.py:_run": "the outermost frame of the thread of pages; the fault is logged, hooks go on",
    "server/teams/gateway.py:__call__": "the outermost frame of a request; its class and place are logged, no words",
    "adapters/guard.py:_safely": "a framework's run does not end by our fault; it is logged, kept and told",
    "proxy/exchange.py:converse": "the outermost frame of a request; it is passed through, and the header says why",
    "proxy/exchange.py:_recorded": "the request has gone out; the header says that it was not recorded, and why",
    "proxy/exchange.py:_settle": "what a model said is its client's whatever our store does; the class is logged",
    "server/daemon_jobs.py:_run": "the outermost frame of the thread of jobs; the fault is logged, then tried again",
}


@dataclass(eq=False)
class Module:
    """One file of the package, read and parsed once."""

    path: Path
    name: str  # below the package, dotted; "__init__" for the package itself
    text: str
    tree: ast.Module

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree))

    @property
    def room(self) -> str:
        return self.name.split(".")[0]

    @property
    def is_door(self) -> bool:
        return self.room in {"cli", "server"} or self.name.startswith("evals.commands.")

    def __str__(self) -> str:
        if self.path.is_relative_to(EVALUATIONS):
            return f"evals/{self.path.relative_to(EVALUATIONS)}"
        return str(self.path.relative_to(SOURCE))


@cache
def modules() -> tuple[Module, ...]:
    found = []
    for path in sorted([*SOURCE.rglob("*.py"), *EVALUATIONS.rglob("*.py")]):
        below = path.relative_to(EVALUATIONS if path.is_relative_to(EVALUATIONS) else SOURCE).with_suffix("").parts
        parts = ("evals", *below) if path.is_relative_to(EVALUATIONS) else below
        name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
        text = path.read_text(encoding="utf-8")
        found.append(Module(path, name, text, ast.parse(text)))
    return tuple(found)


@cache
def names_of_modules() -> frozenset[str]:
    return frozenset(module.name for module in modules())


@cache
def imports(module: Module, *, typing_too: bool) -> tuple[tuple[str, int], ...]:
    """Give the names below the package that a module imports, as far as they are modules, with their lines."""
    return tuple(_imports(module, typing_too=typing_too))


def _imports(module: Module, *, typing_too: bool) -> Iterator[tuple[str, int]]:
    known = names_of_modules()
    only_typing = {
        id(inner)
        for node in module.nodes
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    package = module.name.split(".") if module.path.name == "__init__.py" else module.name.split(".")[:-1]
    for node in module.nodes:
        if not typing_too and id(node) in only_typing:
            continue
        if isinstance(node, ast.Import):
            wanted = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package[: len(package) - (node.level - 1)] if module.name != "__init__" else []
                base = ".".join(["firsthand", *above, *([node.module] if node.module else [])])
            wanted = [(base, alias.name) for alias in node.names]
        else:
            continue
        for name, part in wanted:
            base = re.sub(r"^firsthand_evals\b", "firsthand.evals", name)
            if base != "firsthand" and not base.startswith("firsthand."):
                continue
            below = base.removeprefix("firsthand").lstrip(".")
            deeper = f"{below}.{part}".lstrip(".") if part else below
            yield (deeper if deeper in known else below or "__init__"), node.lineno


def test_every_module_is_in_a_known_room():
    """Every file of the package belongs to a room that has a level."""
    assert [str(module) for module in modules() if module.room not in LEVELS] == []


def test_imports_go_down():
    """A module imports only from lower levels and from its own room."""
    upward = [
        f"{module}:{line} imports {target}"
        for module in modules()
        for target, line in imports(module, typing_too=True)
        if LEVELS[target.split(".")[0]] >= LEVELS[module.room] and target.split(".")[0] != module.room
    ]
    assert upward == []


def test_the_evaluations_import_public_names():
    """The evaluations use the package as a stranger would: its public names, and the rooms that stand here."""
    rooms = {
        "value",
        "tokens",
        "printable",
        "environment",
        "cli",
        "formats",
        "hosts",
        "ledger",
        "event",
        "recall.query",
    }
    rooms |= {"agents.hook_answer", "health.job_runner", "notes.distill", "record", "errors", "moment", "unasked"}
    rooms |= {"agents.reminders", "agents.validity", "context.tools", "index.words", "index.tokenizer"}
    public = set(firsthand.__all__)
    wrong = [
        f"{module}:{node.lineno} imports {name.name} of {node.module}"
        for module in modules()
        if module.room == "evals"
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("firsthand.")
        for name in node.names
        if name.name in public or not {node.module.removeprefix("firsthand."), node.module.split(".")[1]} & rooms
    ]
    assert wrong == []


def test_no_import_cycles():
    """No module is reached again from itself by what it imports, for typing and inside functions too."""
    graph = {
        module.name: {
            target for target, _ in imports(module, typing_too=True) if target not in (module.name, "__init__")
        }
        for module in modules()
    }
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> list[str]:
        if name in above:
            return [*above[above.index(name) :], name]
        if name in done:
            return []
        for target in sorted(graph.get(name, ())):
            if target != name and (cycle := visit(target, (*above, name))):
                return cycle
        done.add(name)
        return []

    assert [cycle for name in sorted(graph) if (cycle := visit(name, ()))] == []


@cache
def needs_an_extra(name: str) -> bool:
    """Say whether a module is of a library that an extra brings, or one of ours that imports such a library."""
    ours = next((module for module in modules() if f"firsthand.{module.name}" == name), None)
    if ours is None:
        return name.split(".", maxsplit=1)[0] not in {*sys.stdlib_module_names, "apsw", "backports", "firsthand"}
    return any(needs_an_extra(target) for node in ours.tree.body for target in named_by(ours, node))


def named_by(module: Module, node: ast.AST) -> list[str]:
    """Give the full names of what a statement imports, as far as they may be modules."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom) or not node.level:
        return [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    base = ".".join(["firsthand", *module.name.split(".")[: -node.level], *([node.module] if node.module else [])])
    return [base] if node.module else [f"{base}.{alias.name}" for alias in node.names]


def test_imports_stand_at_the_top():
    """Only commands and adapters import inside a function, and others what an extra brings or what is slow to load."""
    inside = {
        f"{module}:{node.lineno} imports {name}"
        for module in modules()
        if module.room not in {"cli", "adapters", "server", "evals"}
        for _, function in functions(module)
        for node in ast.walk(function)
        for name in named_by(module, node)
        if name not in SLOW and not needs_an_extra(name)
    }
    assert inside == set()


def test_pure_modules_do_no_input_or_output():
    """The values at the bottom of the house import nothing that reaches files, sockets or a database."""
    wrong = [
        f"{module}:{node.lineno} imports {name}"
        for module in modules()
        if module.room in PURE and module.name not in READ_FILES
        for node in module.nodes
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
        if name.split(".")[0] in PURE_MAY_NOT_IMPORT
    ]
    assert wrong == []


def test_sqlite_is_spoken_where_its_tables_are():
    """Only the log in SQLite and its indexes know apsw; nobody above them runs a statement or holds a connection."""
    below = ("log.sqlite.", "index.")
    wrong = [
        f"{module}:{node.lineno}"
        for module in modules()
        if not module.name.startswith(below) and module.room != "evals"
        for node in module.nodes
        if (isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "apsw" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "apsw")
        or (isinstance(node, ast.Attribute) and ast.unparse(node).endswith("reader.db") and module.name != "space")
        or (isinstance(node, ast.Attribute) and node.attr == "execute" and not module.name.startswith("log.postgres."))
    ]
    assert wrong == []


# handlers ------------------------------------------------------------------------------------------


@cache
def comments(module: Module) -> frozenset[int]:
    """Give the lines that carry a comment other than a directive to a tool."""
    tokens = tokenize.generate_tokens(io.StringIO(module.text).readline)
    return frozenset(
        token.start[0]
        for token in tokens
        if token.type == tokenize.COMMENT and not re.fullmatch(r"#\s*(noqa|type:|fmt:|pragma)[^-]*", token.string)
    )


def handlers(module: Module) -> Iterator[tuple[ast.FunctionDef | None, ast.Try, ast.ExceptHandler]]:
    """Yield each handler with the function and the try around it."""

    def walk(node: ast.AST, function: ast.FunctionDef | None):
        for child in ast.iter_child_nodes(node):
            inside = child if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) else function
            if isinstance(child, ast.Try):
                for handler in child.handlers:
                    yield inside, child, handler
            yield from walk(child, inside)

    yield from walk(module.tree, None)


def is_silent(handler: ast.ExceptHandler) -> bool:
    """Say whether a handler does nothing but go on, or give a constant in place of what went wrong."""
    return all(
        isinstance(statement, (ast.Pass, ast.Continue, ast.Break))
        or (
            isinstance(statement, ast.Return) and (statement.value is None or isinstance(statement.value, ast.Constant))
        )
        for statement in handler.body
    )


def promised(function: ast.FunctionDef | None, handler: ast.ExceptHandler) -> bool:
    """Say whether the function's own docstring tells what the constant means that the handler gives."""
    told = (ast.get_docstring(function) or "") if function is not None else ""
    says = r"\b(whether|say|true|false)\b"
    words = {None: r"\bNone\b", False: says, True: says, "": r"\bempty\b"}
    return all(
        isinstance(statement, ast.Return)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value in words
        and re.search(words[statement.value.value], told, re.IGNORECASE) is not None
        for statement in handler.body
    )


def test_no_silent_handler():
    """A handler that swallows an error says why in a comment, or its function's docstring tells what it gives then."""
    wrong = []
    for module in modules():
        for function, tried, handler in handlers(module):
            span = range(tried.body[-1].end_lineno or handler.lineno, (handler.end_lineno or handler.lineno) + 2)
            if is_silent(handler) and not promised(function, handler) and not comments(module) & set(span):
                wrong.append(f"{module}:{handler.lineno}")
    assert wrong == []


def test_broad_handlers_raise_again():
    """A handler of everything ends by raising, except where a door meets the outside."""
    wrong = []
    for module in modules():
        for function, _, handler in handlers(module):
            caught = "" if handler.type is None else ast.unparse(handler.type)
            if not re.search(r"\b(Exception|BaseException)\b", caught) and caught:
                continue
            where = f"{module}:{function.name if function else ''}"
            if not isinstance(handler.body[-1], ast.Raise) and where not in BROAD_HANDLERS_THAT_ANSWER:
                wrong.append(f"{where} line {handler.lineno}")
    assert wrong == []


def test_suppress_names_what_it_suppresses():
    """`contextlib.suppress` is never given a broad class."""
    wrong = [
        f"{module}:{node.lineno}"
        for module in modules()
        for node in module.nodes
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("suppress")
        and any(ast.unparse(argument) in {"Exception", "BaseException"} for argument in node.args)
    ]
    assert wrong == []


# one place for each thing --------------------------------------------------------------------------


def test_the_environment_is_read_in_one_file():
    """Only `environment.py` reads environment variables; a door may expand the ``~`` of a path that was typed."""
    wrong = [
        f"{module}:{node.lineno}"
        for module in modules()
        if module.name not in {"environment", "server.hook_client"}  # a script that imports nothing of the package
        for node in module.nodes
        if (isinstance(node, ast.Attribute) and ast.unparse(node) in {"os.environ", "os.getenv", "os.environb"})
        or (isinstance(node, ast.Attribute) and (node.attr == "expanduser" or ast.unparse(node) == "Path.home"))
        if not (
            module.is_door and isinstance(node, ast.Attribute) and node.attr == "expanduser"
        )  # a path that was typed
    ]
    assert wrong == []


def test_no_print_outside_doors():
    """Only a door writes to the terminal."""
    wrong = [
        f"{module}:{node.lineno}"
        for module in modules()
        if not module.is_door
        for node in module.nodes
        if (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print")
        or (isinstance(node, ast.Attribute) and ast.unparse(node) in {"sys.stdout", "sys.stderr"})
    ]
    assert wrong == []


def test_every_error_raised_is_of_the_tree():
    """What is raised is of `errors.py`, or of the few built-in classes that a pure function documents."""
    builtin = {"ValueError", "TypeError", "KeyError", "AttributeError", "OSError", "SystemExit"}
    tree = {
        node.name
        for module in modules()
        if module.name == "errors"
        for node in module.tree.body
        if isinstance(node, ast.ClassDef)
    }
    foreign = {"Exception", "BaseException", "RuntimeError", "NotImplementedError"}
    wrong = []
    for module in modules():
        for node in module.nodes:
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
                continue
            name = ast.unparse(node.exc.func).split(".")[-1]
            if name in foreign and name not in tree | builtin:
                wrong.append(f"{module}:{node.lineno} raises {name}")
    assert wrong == []


def test_no_leftovers():
    """No file holds a note to do later, a stub, a debugger or a path of one machine."""
    words = re.compile(
        r"\b(TO" + r"DO|FIX" + r"ME|XXX|HACK)\b|NotImplemented" + r"Error|breakpoint\(\)|pdb\."
        r"|(?<![\w.])/(work|shared|repo)/\w"
    )
    wrong = [
        f"{path.relative_to(HOME)}:{number}: {line.strip()[:80]}"
        for folder in (SOURCE, EVALUATIONS, HOME / "tests", EVALUATIONS.parents[1] / "tests")
        for path in sorted(folder.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if words.search(line) and path != Path(__file__)
    ]
    assert wrong == []


# names ---------------------------------------------------------------------------------------------


def names_bound(tree: ast.AST) -> Iterator[str]:
    """Yield the names of variables, parameters and fields; a field ``said`` is the API's word for what users said."""
    fields = {id(node.target) for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if not (node.id == "said" and id(node) in fields):
                yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs)) and node.name is not None:
            yield node.name


def test_names_say_what_they_hold():
    """Of the names bound in a room under 2 % are words that could stand for anything, such as ``one`` and ``found``."""
    bound: dict[str, list[str]] = {}
    for module in modules():
        if module.room != "evals":
            bound.setdefault(module.room, []).extend(names_bound(module.tree))
    shares = {room: sum(name in EMPTY_NAMES for name in names) / len(names) for room, names in bound.items() if names}
    assert {room: share for room, share in shares.items() if share >= EMPTY_NAMES_SHARE} == {}


def test_a_file_is_named_by_a_noun():
    """The last word of a file's name is no gerund and no participle, but for nouns that look like one."""
    wrong = [
        str(module)
        for module in modules()
        if module.room not in {"evals", "index", "recall"}
        for word in [module.path.stem.rpartition("_")[2]]
        if word not in NOUNS_LIKE_PARTICIPLES and (word.endswith(("ing", "ed")) or word in IRREGULAR_PARTICIPLES)
    ]
    assert wrong == []


# sizes and docstrings ------------------------------------------------------------------------------


def functions(module: Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield every function with its dotted name."""

    def walk(node: ast.AST, prefix: str):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield f"{prefix}.{child.name}", child
                yield from walk(child, f"{prefix}.{child.name}")
            elif isinstance(child, ast.ClassDef):
                yield from walk(child, f"{prefix}.{child.name}")
            else:
                yield from walk(child, prefix)

    yield from walk(module.tree, module.name)


def test_functions_are_short():
    """A function has at most 60 lines, or a written reason; a reason that is no longer needed goes."""
    long = {
        name: (node.end_lineno or 0) - node.lineno + 1
        for module in modules()
        for name, node in functions(module)
        if (node.end_lineno or 0) - node.lineno + 1 > FUNCTION_LINES_MAX
    }
    assert {name: size for name, size in long.items() if name not in LONGER_FUNCTIONS} == {}
    assert set(LONGER_FUNCTIONS) <= set(long)


def test_files_are_short():
    """A file has at most 600 lines, or a written reason; a reason that is no longer needed goes."""
    long = {str(module): len(module.text.splitlines()) for module in modules()}
    long = {name: size for name, size in long.items() if size > FILE_LINES_MAX}
    assert {name: size for name, size in long.items() if name not in LONGER_FILES} == {}
    assert set(LONGER_FILES) <= set(long)


def test_no_room_grows():
    """A room has no more lines than its budget, or than it had when they were last recorded: the figure only falls."""
    spec = importlib.util.spec_from_file_location("rooms", HOME / "tools" / "rooms.py")
    rooms = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rooms)
    allowed = {room: max(budget, rooms.recorded().get(room, 0)) for room, budget in rooms.BUDGETS.items()}
    assert {room: count for room, count in rooms.lines().items() if count > allowed[room]} == {}


def test_every_module_and_public_name_has_a_docstring():
    """Every module, public class and public function says what it is for; a method whose name says it all may not."""
    wrong = []
    for module in modules():
        if module.text.strip() and not ast.get_docstring(module.tree):
            wrong.append(str(module))
        wrong += [
            f"{module}:{node.lineno} {node.name}"
            for node in module.tree.body
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            and not node.name.startswith("_")
            and not ast.get_docstring(node)
        ]
    assert wrong == []


def files_of_tests(pattern: str) -> Iterator[Path]:
    """Yield the test files of both distributions."""
    yield from (HOME / "tests").rglob(pattern)
    yield from (EVALUATIONS.parents[1] / "tests").rglob(pattern)


def test_every_test_states_its_property():
    """Every test function has a docstring, and no test replaces code by a mock."""
    wrong = []
    for path in sorted(files_of_tests("test_*.py")):
        text = path.read_text(encoding="utf-8")
        wrong += [
            f"{path.relative_to(HOME)}:{node.lineno} {node.name}"
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not ast.get_docstring(node)
        ]
        if re.search(r"^\s*(from|import) unittest" + r"\.mock|\bMagic" + r"Mock\b", text, re.MULTILINE):
            wrong.append(f"{path.relative_to(HOME)} mocks")
    assert wrong == []


@pytest.mark.parametrize("room", ["event", "answer", "errors"])
def test_the_rules_look_at_real_files(room):
    """The checks above see the package's files, so that a moved folder cannot make them pass on nothing."""
    assert room in {module.name for module in modules()}
    assert len(modules()) > 30
    assert any(True for module in modules() for _ in imports(module, typing_too=False))


def test_no_two_test_files_share_a_name():
    """Test files import their helpers by bare names, so two of one name would stand in for each other."""
    names = [path.name for path in files_of_tests("*.py") if path.name not in {"conftest.py", "__init__.py"}]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []
