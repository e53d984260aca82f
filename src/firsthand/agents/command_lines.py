"""Shell commands as lines that can be compared, and the files that a call changes, by the form of its arguments.

    line("cd /x && CI=1 npm test")                  "npm test"
    repeats("npm run build && npm test", "npm test")  True: it ends in it

The invariant: of a script nothing is read but its own words; what a call changes is what an editor's argument, a
patch or a redirection names.

Pure. It knows no event, and not what a command does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from firsthand.formats import commands

READ_CHARACTERS = 4_000
_SETTING = re.compile(
    r"\A(?:(?:cd|pushd)\s[^&;|\n]*(?:&&|;|\n)\s*|export\s+\w+=\S*\s*(?:&&|;|\n)\s*|env\s+(?=\w+=)"
    r"|[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s\"';&|]*)(?:\s+|\s*(?:&&|;)\s*))+"
)
_JOINED = re.compile(r"(?:&&|;|\n|(?<!\|)\|)\s*\Z")
_READS = frozenset(
    """
    ls cat head tail less grep egrep rg ag find fd pwd cd echo printf wc which type stat file tree diff du df ps env
    date whoami uname sed awk sort uniq cut jq sleep kill
    """.split()  # noqa: SIM905 - names of programs, to be read as such
)
"""Programs that look and change nothing, the commonest of all."""
_VIEWED = re.compile(r"\s*(?:2>&1\s*)?(?<!\|)\|(?!\|)\s*(?:head|tail|less|e?grep|rg|sort|uniq|wc)\b[^;&\n]*\Z")
_CHANGES = re.compile(r"[;&>`\n]|\$\(|\s-(?:i|delete|exec)\b")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_PARTS = re.compile(r"&&|[;|\n]")
_CODE = re.compile(r"\s(?:-c|-e|--eval)\s+[\"']")
_EDITORS = frozenset(
    """
    write edit multiedit notebookedit create createfile writefile editfile writetofile strreplaceeditor
    strreplacebasededittool strreplace insert replace applydiff inserteditintofile replacestringinfile
    multireplacestringinfile searchreplace
    """.split()  # noqa: SIM905 - names of tools, to be read as such
)
_VIEWS = frozenset({"view", "undo_edit"})
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.{1,300})$", re.MULTILINE)
_REDIRECTED = re.compile(
    r"(?:^|[^<>&0-9=-])>{1,2} ?(?![&(])(?P<to>[\w./~+-]{2,200})|\btee (?:-a )?(?P<tee>[\w./~+-]{2,200})"
    r"|\bsed (?:-\S+ )*-i\S* (?:-e )?(?:'[^']{0,300}'|\"[^\"]{0,300}\"|\S+) (?P<sed>[\w./~+-]{2,200})"
)
_SCRATCH = ("/dev/", "/tmp/", "/var/tmp/", "/private/tmp/")  # noqa: S108 - such files are left out, none is written


def line(command: str) -> str:
    """Give a command as one line, less the changes of folder and the settings before it."""
    return " ".join(_SETTING.sub("", command.strip()[:READ_CHARACTERS]).split())


def repeats(later: str, earlier: str) -> bool:
    """Say whether a line is an earlier one again, or a longer one that ends in it.

    Of an earlier line that a viewer shortened (``npm test | head``) only what was viewed counts.
    """
    viewed = _unviewed(earlier)
    if viewed != earlier:
        later, earlier = _unviewed(later), viewed
    if later == earlier:
        return True
    return later.endswith(earlier) and _JOINED.search(later[: len(later) - len(earlier)]) is not None


def _unviewed(line: str) -> str:
    """Give a line without the viewer that its output was piped to."""
    plain = _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), line)
    view = _VIEWED.search(plain)
    return line[: view.start()] if view is not None else line


def looks_only(command: str) -> bool:
    """Say whether a command looks at something and changes nothing, as far as its form tells."""
    plain = _SETTING.sub("", command.strip())
    bare = _QUOTED.sub("''", plain)
    programs = [part.split(maxsplit=1)[:1] for part in bare.split("|")]
    return all(program and program[0] in _READS for program in programs) and _CHANGES.search(bare) is None


def is_script(command: str) -> bool:
    """Say whether a command brings code of its own: several lines, or a text after ``-c`` or ``-e``."""
    return "\n" in _SETTING.sub("", command.strip()) or _CODE.search(command) is not None


def command_of(arguments: str) -> str:
    """Give the shell command of a call, whole; empty when it is none."""
    fields = _object(arguments)
    if fields is None:
        return "" if arguments.lstrip().startswith(("{", "[")) else arguments.strip()
    command = fields.get("command", fields.get("cmd", fields.get("script")))
    if isinstance(command, list):
        command = command[-1] if command and isinstance(command[-1], str) else ""
    known = any(isinstance(fields.get(name), str) for name in commands.PATHS)  # an editor's, whose command is a verb
    return command.strip() if isinstance(command, str) and not known else ""


def files_of(tool: str, arguments: str) -> tuple[str, ...]:
    """Give the files that a call changes, as far as its arguments say so."""
    patched = _PATCHED.findall(arguments.replace("\\n", "\n")) if "*** " in arguments else []
    if patched:
        return tuple(dict.fromkeys(path.strip() for path in patched))
    fields, name = _object(arguments), tool.rpartition("__")[2].rpartition(".")[2]
    if fields is not None and name.replace("_", "").replace("-", "").casefold() in _EDITORS:
        paths = commands.paths(arguments)
        return paths[:1] if fields.get("command") not in _VIEWS else ()
    matches = _REDIRECTED.finditer(command_of(arguments).partition("<<")[0][:READ_CHARACTERS])
    paths = tuple(dict.fromkeys(match[match.lastgroup or 0] for match in matches))
    return tuple(path for path in paths if ("." in path.strip("./") or "/" in path) and not path.startswith(_SCRATCH))


def gone_by(command: str) -> tuple[str, ...]:
    """Give the files that a command moves away or removes, as far as its words say so."""
    gone: list[str] = []
    for part in _PARTS.split(command[:READ_CHARACTERS]):
        words = [word.strip("'\"") for word in part.split()]
        words = words[1:] if words[:1] == ["git"] else words
        operands = [word for word in words[1:] if not word.startswith("-")]
        if words[:1] in (["mv"], ["rm"]):
            gone += operands[:-1] if words[0] == "mv" else operands
    return tuple(gone)


def _object(arguments: str) -> Mapping[str, object] | None:
    """Read arguments as a JSON object; None when they are none, or cut off."""
    if not arguments.lstrip().startswith("{"):
        return None
    try:
        fields = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None
