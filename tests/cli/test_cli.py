"""The frame of the command line: options, errors, exit codes, pipes and terminals."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys

import pytest
from terminal import command

import firsthand
from firsthand import errors
from firsthand.cli.arguments import parser
from firsthand.log.sqlite.log import Log


def every_command(above=None, before=()):
    """Yield each command and group by its words, with its parser."""
    above = parser(("eval",)) if above is None else above
    above.format_help()
    for action in above._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command_parser in action.choices.items():
                yield (*before, name), command_parser
                yield from every_command(command_parser, (*before, name))


OURS = [words for words, _ in every_command() if words[0] != "eval"]
LEAVES = [words for words in OURS if words not in {other[:-1] for other in OURS}]


def test_the_version_is_told(shell):
    """--version prints name and version, as the package says it."""
    said = shell("--version")
    assert (said.code, said.text) == (0, f"firsthand {firsthand.__version__}\n")


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_every_command_has_help_with_examples(shell, words):
    """The help of a command is a sentence and examples, and each example is understood by the parser."""
    said = shell(*words, "--help")
    assert said.code == 0
    assert said.lines[0].startswith(f"usage: firsthand {' '.join(words)}")
    examples = [line.strip() for line in said.text.partition("examples:\n")[2].splitlines()]
    assert examples
    for example in examples:
        typed = example.partition("firsthand ")[2]
        assert typed, example
        assert parser().parse_args(_words(typed)).command_at


def _words(line: str) -> list[str]:
    typed = line.split("   ", maxsplit=1)[0].partition(" | ")[0].partition(" > ")[0].partition(" < ")[0]
    return shlex.split(typed)


def test_there_are_at_most_nineteen_names_at_the_first_level():
    """A newcomer sees eight commands first, and at most nineteen names in all, each with one short line."""
    names = [words[0] for words, _ in every_command() if len(words) == 1]
    assert len(names) <= 19
    assert names[:8] == ["demo", "install", "import", "recall", "show", "timeline", "inspect", "doctor"]


def test_nothing_typed_shows_the_first_screen(shell):
    """Without a command the first screen is shown, of at most 25 lines; a group without one names its commands."""
    said = shell()
    assert (said.code, said.error) == (0, "")
    assert len(said.lines) <= 25
    assert said.text in shell("--help").text + "\n"
    group = shell("store")
    assert (group.code, group.out) == (2, b"")
    assert "verify" in group.error


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("recal x", "firsthand recall"),
        ("verify", "firsthand store verify"),
        ("store verfy", "firsthand store verify"),
        ("sessions", "firsthand session"),
        ("append x", "firsthand session append"),
        ("ledger aprove x", "firsthand ledger approve"),
        ("agents", "firsthand agent"),
        ("digest", "firsthand agent digest"),
    ],
)
def test_a_mistyped_command_says_what_was_meant(shell, typed, meant):
    """An unknown name ends with 2 and names the nearest one, in its group, or where the name stands."""
    said = shell(*typed.split())
    assert (said.code, said.out) == (2, b"")
    assert said.error.splitlines()[0].endswith((meant, f"{meant} list")) or f"{meant} or " in said.error


@pytest.mark.parametrize("words", [["--help"], ["recall", "store", "agent", "session"]])
def test_a_command_imports_no_other(words):
    """The first screen, and a recall whose words are names of commands, load no other command."""
    code = "import sys; from firsthand.cli.cli import main; main(sys.argv[1:]); "
    code += "print(sorted(name for name in sys.modules if name.startswith('firsthand.cli.')), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *words, "--store", "/nowhere"][: 4 + len(words) + 2 * (len(words) > 1)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    loaded = done.stderr.splitlines()[-1]
    assert "firsthand.cli.cli" in loaded
    assert [name for name in ("store", "agent", "session", "ledger", "serve") if f"cli.{name}'" in loaded] == []


def test_a_recall_starts_with_little(tmp_path):
    """The command recall loads no agents, hosts, windows or embedders, and numpy without threads of its own."""
    with firsthand.Memory(tmp_path / "store", embedder="none") as memory:
        memory.session("s").user("The staging port is 8443.")
    code = "import os, sys; from firsthand.cli.cli import main; main(sys.argv[1:]); "
    code += "print(os.environ['OPENBLAS_NUM_THREADS'], *sys.modules, file=sys.stderr)"
    command = [sys.executable, "-P", "-c", code, "recall", "--store", str(tmp_path / "store"), "staging port"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "The staging port is 8443." in done.stdout
    threads, *loaded = done.stderr.splitlines()[-1].split()
    assert threads == "1"
    rooms = ("agents", "agent_space", "hosts", "context", "health", "memory", "session", "server", "index.dense")
    assert [name for name in loaded if name.startswith(tuple(f"firsthand.{room}" for room in rooms))] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("forget",),
        ("session", "append", "x"),
        ("session", "append", "x", "--session", "s", "--kind", "rumour"),
        ("session", "append", "x", "--session", "s", "--expect", "-1"),
        ("session", "append", "x", "--session", "s", "--time", "yesterday"),
        ("recall",),
        ("recall", "x", "--limit", "0"),
        ("recall", "x", "--limit", "1001"),
        ("recall", "x", "--limit", "many"),
        ("recall", "x", "--skip", "-1"),
        ("recall", "x", "--budget", "0"),
        ("recall", "x", "--since", "2026-13-01"),
        ("show",),
        ("timeline", "--until", "soon"),
        ("store", "export", "--all", "--session", "s"),
        ("store", "erase"),
        ("demo", "--store", "x"),
        ("store", "verify", "--hea", "1:0"),
    ],
)
def test_what_is_not_understood_is_a_usage_error(shell, arguments):
    """A wrong command, option or value ends with 2 and a sentence, and touches no store."""
    said = shell(*arguments)
    assert (said.code, said.out) == (2, b"")
    assert said.error
    assert not shell.store.exists()


def test_global_options_stand_before_or_after_the_command(shell):
    """--store, --namespace, --json and --quiet mean the same on both sides of the command's name."""
    shell.append("hello there")
    other = shell.home / "other"
    assert (
        shell("--store", other, "--namespace", "n", "session", "append", "x1", "--session", "s", "--json").json[
            "position"
        ]
        == 1
    )
    before = shell("--store", other, "--namespace", "n", "--json", "--quiet", "session", "list")
    after = shell("session", "list", "--quiet", "--json", "--namespace", "n", "--store", other)
    assert before == after
    assert [one["name"] for one in before.json_lines] == ["s"]
    assert (before.code, before.error) == (0, "")


def test_quiet_says_nothing_beside_the_answer(shell):
    """With --quiet standard error is empty and the answer is the same."""
    pointer = shell.append("hello there")
    loud, quiet = shell("recall", "hello"), shell("recall", "hello", "--quiet")
    assert pointer in loud.error
    assert quiet.error == ""
    assert quiet.lines[:2] == loud.lines[:2]


NO_EVENT = "fh:" + "0" * 26


@pytest.mark.parametrize(
    "typed",
    [
        "recall x", f"show {NO_EVENT}", "timeline", "session list", "session window s", "session export s",
        "store size", "store verify", "store head", "store export", f"store erase {NO_EVENT}", "store rebuild",
        "store backup b", "store follow", "store prune pages", "agent cost",
        "agent list", "agent episodes", "agent preamble", "agent inbox",
        "agent files", "agent digest", "agent sleep", "ledger list", "ledger waiting", "ledger entries",
        f"note add x --source {NO_EVENT}",
    ],
)  # fmt: skip
def test_a_store_that_is_not_there_is_refused(shell, typed):
    """A command that reads makes no store: it says that there is none, and how to make one."""
    said = shell(*typed.split())
    assert (said.code, said.out) == (5, b"")
    assert "there is no store in" in said.error
    assert said.error.count("\n") == 1
    assert not shell.store.exists()


@pytest.mark.files_only("damages firsthand.db")
def test_a_damaged_database_is_damaged(shell):
    """A database whose beginning is overwritten ends with 3 and a sentence, for every way in."""
    shell.append("hello there")
    shell.damaged = True
    file = shell.store / "firsthand.db"
    data = bytearray(file.read_bytes())
    data[: 4096 * 2] = os.urandom(4096 * 2)
    file.write_bytes(data)
    for arguments in (
        ("recall", "hello"),
        ("timeline",),
        ("store", "verify"),
        ("session", "append", "x", "--session", "s"),
    ):
        said = shell(*arguments)
        assert said.code in {3, 5}, said
        assert said.error.startswith("firsthand: ")
        assert "Traceback" not in said.error


def test_an_interrupt_ends_with_130(shell, monkeypatch):
    """Ctrl-C ends with 130 and says what is kept."""
    shell.append("hello there")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Log, "verify", interrupted)
        said = shell("store", "verify")
    assert (said.code, said.error) == (130, "interrupted; what was acknowledged is kept\n")


def test_a_reader_that_goes_away_ends_it_quietly(shell):
    """When the reader of a long output goes away, the command ends with 141 and without a word."""
    shell.append(b"line of text\n" * 100_000)
    (pointer,) = [one["pointer"] for one in shell("timeline", "--json").json_lines]
    process = subprocess.Popen(
        command(("show", pointer)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=shell.environment()
    )
    assert process.stdout.read(5) == b"line "
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 141


def test_without_standard_streams_nothing_breaks(shell):
    """A process that is started with its streams closed does its work and shows no traceback."""
    shell.append("x")
    for closed in (">&-", "2>&-", "<&- >&-"):
        typed = f"exec {' '.join(command(('store', 'size')))} {closed}"
        done = subprocess.run(["bash", "-c", typed], capture_output=True,
                              env=shell.environment(), timeout=60, check=False)  # fmt: skip
        assert done.returncode == 0, done
        assert b"Traceback" not in done.stderr


def test_every_error_has_an_exit_code():
    """Each error of the tree is named by an exit code, damage, busy and full by codes of their own."""
    from firsthand.cli.cli import _CODES

    tree = [error for error in vars(errors).values() if isinstance(error, type)]
    codes = {error.__name__: next(code for kind, code in _CODES if issubclass(error, kind)) for error in tree}
    assert codes == {
        "FirsthandError": 5, "StoreError": 5, "NotAStore": 5, "StoreNewer": 5, "StoreOlder": 5,
        "StoreReadOnly": 5, "StoreBusy": 4, "StoreMoved": 4, "KeyMissing": 5,
        "StoreFull": 4, "StoreFailed": 4, "StoreReplaced": 4,
        "StoreDamaged": 3, "StoreClosed": 4, "AppendError": 5, "InvalidDraft": 5,
        "IdConflict": 5, "StaleExpectation": 5, "PointerError": 5, "MalformedPointer": 5, "Unresolvable": 1,
        "Erased": 1, "QueryError": 5, "InvalidArgument": 5, "SourceRejected": 5, "FormatError": 5,
        "DecisionRefused": 5, "ServerFailed": 5,
        "ModelError": 5, "ModelUnavailable": 5, "ModelRefused": 5, "ReplyUnknown": 5,
        "CapReached": 5, "MemoryFault": 5,
    }  # fmt: skip


def test_a_terminal_gets_colour_unless_it_is_not_wanted(shell):
    """A terminal gets colour and lines that fit; NO_COLOR and TERM=dumb take the colour away, a pipe never has it."""
    shell.append("find the needle here " + "and much more hay " * 30)
    coloured = shell.on_terminal("recall", "needle")
    assert b"\x1b[1;33mneedle\x1b[0m" in coloured.out
    for settings in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert b"\x1b" not in shell.on_terminal("recall", "needle", **settings).out
    plain = shell.on_terminal("recall", "needle", NO_COLOR="1").out.decode()
    assert max(len(line) for line in plain.splitlines() if line.startswith("   |")) == 100
    piped = shell.process("recall", "needle")
    assert b"\x1b" not in piped.out
    assert "\x1b" not in piped.error
    assert max(len(line) for line in piped.lines) > 200


def test_stored_text_does_not_reach_a_terminal_as_it_is(shell):
    """A stored escape sequence, in content and in names, is written out in every command that shows it."""
    evil = "\x1b]0;owned\x07 \u202e needle"
    pointer = shell.append(evil, "evil\u202e session", "user_message", "--agent", "\u2066agent")
    for arguments in (
        ("recall", "needle"),
        ("timeline",),
        ("session", "list"),
        ("show", pointer),
    ):
        said = shell.on_terminal(*arguments, NO_COLOR="1")
        assert said.code == 0
        assert b"\x1b" not in said.out, arguments
        assert b"\x07" not in said.out
        assert "\u202e".encode() not in said.out
        assert b"\\u20" in said.out


def test_an_output_that_is_not_utf8_still_shows_what_it_can(shell):
    """On a terminal or pipe of another encoding, signs that it lacks are written out."""
    shell.append("日本 needle")
    said = shell.process("recall", "needle", PYTHONIOENCODING="ascii")
    assert said.code == 0
    assert b"\\u65e5\\u672c needle" in said.out
