"""The names that can be typed, the first screen of help, and what each command and group is read with.

A command's arguments stand beside it, in the file of its group: `COMMANDS` names the
file, which is imported when its name is typed or its help is asked for. So the first
screen, and a recall at every prompt, import no other command.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn, TypeVar

from firsthand import InvalidArgument, Kind, Moment, __version__, environment, moment
from firsthand.cli.exits import USAGE

Run = str | Callable[..., int]
"""What a command runs: a function of its arguments and the output, or where it is: ``module:function``."""

COMMANDS: Mapping[str, tuple[str, str]] = {
    "demo": ("demo", "see it work on this machine, in seconds"),
    "install": ("install", "connect the agents on this machine"),
    "import": ("imports", "take in past sessions of your agents"),
    "recall": ("recall", "find what was said or done"),
    "show": ("events:add_show", "read what a pointer names, byte for byte"),
    "timeline": ("events:add_timeline", "list events in the order they were recorded"),
    "inspect": ("inspect", "look at the memory in a browser"),
    "doctor": ("doctor", "check the memory; say what is wrong and what to type"),
    "session": ("session", "sessions, what their models were sent, and recording"),
    "store": ("store", "prove, copy, export, repair and erase"),
    "agent": ("agent", "what agents remember and are told unasked"),
    "ledger": ("ledger", "which statements hold, and rules made of them"),
    "note": ("note", "what was learned, with its sources"),
    "eval": ("eval", "the papers' evaluations, on any memory"),
    "serve": ("serve", "run the server of hooks, pages and MCP"),
    "mcp": ("mcp", "serve recall to any host that speaks MCP"),
    "proxy": ("proxy", "a lossless window for any client, by its base URL"),
    "uninstall": ("uninstall", "take firsthand out of agents, or remove it all"),
    "hook": ("hook", "answer one hook; your agents' hosts run this"),
}
"""By name: the file of the command or group, with the function if it is not `add`, and its line on the first screen."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "session": ("list", "append", "export", "window", "anatomy", "pause", "resume"),
    "store": (
        "verify", "size", "prune", "head", "accept-head", "export", "restore", "backup", "erase", "rebuild", "follow",
        "sync", "migrate", "new-key", "distribute", "move", "key", "grant", "limit",
    ),
    "agent": (
        "list", "enrol", "episodes", "close", "preamble", "cues", "inbox", "files", "digest", "sleep", "switch", "jobs",
        "cost",
    ),
    "ledger": (
        "list", "show", "facts", "supersede", "retract", "assert", "restore", "undo", "waiting", "approve",
        "entries", "propose", "quarantine", "sweep",
    ),
    "note": ("add", "check"),
}  # fmt: skip
"""The commands of each group, so that a mistyped one is recognised before any is imported."""

LIMIT_MAX = 1_000_000_000
_N = TypeVar("_N", int, float)
FIRST = 8
"""So many of the commands are what a newcomer needs."""

_ABOUT = """Your agents remember: what was said, run and decided comes back when it matters,
word for word, with a pointer to its source. A folder of yours; no key, no model."""

_OPTIONS = """options of every command:
  --store PATH       folder of the store; else $FIRSTHAND_STORE, or ~/.firsthand
  --namespace NAME   the tenant; else $FIRSTHAND_NAMESPACE, or default
  --json             answer in JSON, one line an item
  --quiet            no remarks and no progress
  -h, --help         help on any command; --version prints the version"""

EXIT_CODES = """exit codes:
  0    done, or found, however likely it is that it answers
  1    nothing found: no hit, no such event or session, its content erased; a claim is contradicted
  2    the command was not understood
  3    damaged: bytes are not what was written (store verify found problems)
  4    the store is busy, full, or failed
  5    refused: not a store, a newer one, read-only, no pointer, not importable
  130  interrupted;  141  whoever read the output went away"""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help of one width, whatever the terminal, so that the command reference is the same everywhere."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=110, max_help_position=30)


class Parser(argparse.ArgumentParser):
    """Reads one command or group; it learns its arguments when it is first used."""

    def __init__(self, *, learn: Callable[[Parser], None] | None = None, **settings: Any) -> None:
        super().__init__(formatter_class=_Formatter, allow_abbrev=False, **settings)
        self._learn = learn
        self._group: Any = None

    def describe(self, run: Run, sentence: str, examples: str) -> None:
        """Say what the command does, with examples, and give it the options of every command."""
        lines = "\n".join(f"  {line.strip()}" for line in examples.strip().splitlines())
        self.description, self.epilog = sentence, f"examples:\n{lines}"
        self.set_defaults(command_at=run, prog=self.prog)
        add_options(self, first=False)

    def command(self, name: str, run: Run, sentence: str, examples: str) -> Parser:
        """Add a command to this group."""
        if self._group is None:
            self._group = self.add_subparsers(title="commands", metavar="COMMAND")
            self.set_defaults(command_at=self._refuse, prog=self.prog)
            add_options(self, first=False)
        return command(self._group, name, run, sentence, examples)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read what was typed."""
        self._know()
        return super().parse_known_args(args, namespace)

    def format_help(self) -> str:
        """Give the help."""
        self._know()
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Say what was not understood and where the help is; exit with 2."""
        self.exit(USAGE, f"firsthand: {message}\nhelp: {self.prog} --help\n")

    def _know(self) -> None:
        learn, self._learn = self._learn, None
        if learn is not None:
            learn(self)

    def _refuse(self, *_: object) -> int:
        """Name the commands of a group that was typed alone."""
        self.print_help(sys.stderr)
        return USAGE

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.metavar == "COMMAND" and action.choices is not None and value not in action.choices:
            self.error(_unknown(value, self.prog))
        super()._check_value(action, value)


class _First(Parser):
    """Reads the whole line; its help is the first screen."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read what was typed, to the last word."""
        chosen, more = self.parse_known_args(args, namespace)
        if more:
            self.exit(USAGE, f"firsthand: unrecognized arguments: {' '.join(more)}\nhelp: {chosen.prog} --help\n")
        return chosen

    def format_help(self) -> str:
        """Give the first screen with what goes with every command."""
        return f"{first_screen()}\n\n{_OPTIONS}\n\n{EXIT_CODES}\n"


def first_screen() -> str:
    """Give what a newcomer sees first: what this is, eight commands, and where the others are."""
    lines = [_ABOUT, "usage: firsthand COMMAND ...", "", "start here:"]
    for number, (name, (_, line)) in enumerate(COMMANDS.items()):
        if number == FIRST:
            lines += ["", "more, each with --help:"]
        if name != "hook":  # which hosts run, and nobody types
            lines.append(f"  {name:<10} {line}")
    return "\n".join(lines)


def parser(words: Sequence[str] = ()) -> Parser:
    """Make the parser of the whole command line.

    Args:
        words: what was typed; only the commands among it are made, or with ``eval`` all of every distribution.
    """
    top = _First(prog="firsthand")
    top.add_argument("--version", action="version", version=f"firsthand {__version__}")
    top.set_defaults(command_at="arguments:say_first_screen", prog="firsthand")
    add_options(top, first=True)
    commands = top.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for name in [name for name in COMMANDS if name in words and "eval" not in words] or COMMANDS:
        file, line = COMMANDS[name]
        if name != "eval" or not _evaluations(commands, words):
            commands.add_parser(name, help=line, description=f"{line[0].upper()}{line[1:]}.", learn=_learner(file))
    return top


def say_first_screen(chosen: argparse.Namespace, out: Any) -> int:  # noqa: ARG001 - the shape of a command
    """Show the first screen to who typed no command."""
    out.line(first_screen())
    return 0


def command(commands: Any, name: str, run: Run, sentence: str, examples: str) -> Parser:
    """Add a command; other distributions are handed this function to add theirs."""
    made: Parser = commands.add_parser(name, help=sentence[0].lower() + sentence[1:].rstrip("."))
    made.describe(run, sentence, examples)
    return made


def _store(named: str) -> str:
    """Give the folder of the store that is named; of one at an address, this machine's."""
    try:
        return named and str(environment.store_path(named))
    except InvalidArgument as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def add_options(parser: argparse.ArgumentParser, *, first: bool) -> None:
    """Add the options that every command takes; those after its name do not undo those before it."""

    def default(value: object) -> Any:
        return value if first else argparse.SUPPRESS

    group = parser.add_argument_group("options of every command")
    group.add_argument(
        "--store", metavar="PATH", type=_store, default=default(None), help="folder of the store, or its address"
    )
    group.add_argument("--namespace", metavar="NAME", default=default(None), help="the tenant; default: default")
    group.add_argument("--json", action="store_true", default=default(False), help="answer in JSON, one line an item")
    group.add_argument("--quiet", action="store_true", default=default(False), help="no remarks and no progress")


def _learner(file: str) -> Callable[[Parser], None]:
    def learn(made: Parser) -> None:
        module, _, function = file.partition(":")
        getattr(import_module(f"firsthand.cli.{module}"), function or "add")(made)

    return learn


def _evaluations(commands: Any, words: Sequence[str]) -> bool:
    """Let the distribution of the evaluations add ``eval``; say whether it was typed and is installed."""
    if "eval" not in words:
        return False
    add = import_module("firsthand.cli.eval").installed()
    if add is None:
        return False
    add(commands, command)
    return True


def _unknown(word: str, prog: str) -> str:
    """Say that there is no such command, and which ones were probably meant."""
    import difflib

    paths = [*COMMANDS, *(f"{group} {name}" for group, names in GROUPS.items() for name in names)]
    group = prog.partition(" ")[2]
    names: dict[str, list[str]] = {}
    for path in paths:
        names.setdefault(path.rpartition(" ")[2], []).append(path)
    close = difflib.get_close_matches(word, names, n=3, cutoff=0.6)
    close = [name for name in close if name == word] or close
    meant = [path for name in close for path in names[name]]
    meant = [path for path in meant if path.startswith(f"{group} ")] or meant
    sentence = f"there is no command {word!r}" + (f" in the group {group!r}" if group else "")
    return sentence + (f"; did you mean: {' or '.join(f'firsthand {path}' for path in meant[:3])}" if meant else "")


# values -----------------------------------------------------------------------------------------------


def number(low: int, high: int = LIMIT_MAX) -> Callable[[str], int]:
    """Take a whole number within limits."""
    return _within(int, low, high, f"a whole number from {low} to {high:,}")


def decimal(low: float, high: float) -> Callable[[str], float]:
    """Take a number within limits."""
    return _within(float, low, high, f"a number from {low:g} to {high:g}")


def _within(read: Callable[[str], _N], low: _N, high: _N, expected: str) -> Callable[[str], _N]:
    def taken(text: str) -> _N:
        try:
            number = read(text)
        except ValueError:
            number = low - 1
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"expected {expected}; got {text!r}")
        return number

    return taken


def kind(text: str) -> Kind:
    """Take a kind of event by its word."""
    try:
        return Kind(text.lower().replace("-", "_"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a kind; got {text!r}. Kinds: {', '.join(Kind)}") from None


def pair(text: str) -> tuple[str, str]:
    """Take a name and a field, such as ``content=text``."""
    name, equals, field = text.partition("=")
    if not (name and equals and field):
        raise argparse.ArgumentTypeError(f"expected NAME=FIELD such as content=text; got {text!r}")
    return name, field


def time(text: str) -> Moment:
    """Take a date, a date with a time, or seconds since 1970."""
    seconds = text.replace(".", "", 1).isdigit() and len(text) > len("20260131")
    read = moment.parse(float(text) if seconds else text)
    if read is None:
        raise argparse.ArgumentTypeError(
            f"expected a time such as 2026-01-31, 2026-01-31T12:00:00+01:00 or seconds since 1970; got {text!r}"
        )
    return read
