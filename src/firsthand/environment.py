"""The one place where environment variables are read, but for the hooks' client, a script that imports no package."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

NAMESPACE = "default"
"""What a command takes where none is named."""
ADDRESS_FILE = "firsthand.address"
"""In a folder that stands for a store elsewhere: where that is."""
ADDRESS_MAX = 240
REPLICAS_MB = 20_000
HOST_VARIABLES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "GEMINI_CLI_HOME")


def default_store() -> Path:
    """Give the store that is used when none is named: ``$FIRSTHAND_STORE``, else ``~/.firsthand``.

    Of a store at an address it is this machine's folder; see `store_folder`.

    Raises:
        InvalidArgument: the user has no home.
    """
    named = os.environ.get("FIRSTHAND_STORE", "") or "~/.firsthand"
    return _in_home(named) if named.startswith("~") else store_path(named)


def tiktoken_cache() -> Path:
    """Give the folder in which tiktoken keeps the files of its encodings."""
    named = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    return Path(named or Path(tempfile.gettempdir(), "data-gym-cache"))


def is_address(store: object) -> bool:
    """Say whether what names a store is the address of one in PostgreSQL."""
    return isinstance(store, str) and store.startswith(("postgresql://", "postgres://"))


def store_path(named: str) -> Path:
    """Give the folder of a store by its path or its address; see `store_folder`.

    Raises:
        InvalidArgument: it is an address of something else.
    """
    if is_address(named):
        return store_folder(named)
    scheme, _, rest = named.partition(":")
    if not (rest.startswith("/") and len(scheme) > 1 and scheme.replace("+", "").isalnum()):
        return Path(named)
    what = "a folder, or the address of a store in PostgreSQL such as postgresql://application@db.example/store"
    then = ". A server is asked by firsthand.Client, and its sessions brought here by: firsthand store sync URL"
    errors = import_module("firsthand.errors")
    raise errors.InvalidArgument(
        f"expected {what}; got {without_password(named)!r:.120}" + (then if scheme in {"http", "https"} else "")
    )


def without_password(address: str) -> str:
    """Give an address without the password that may stand in it."""
    scheme, mark, rest = address.partition("://")
    if not mark:
        return " ".join(word for word in address.split(" ") if not word.startswith(("password=", "sslpassword=")))
    user, at, rest = rest.rpartition("@")
    place, question, query = rest.partition("?")
    fields = "&".join(field for field in query.split("&") if not field.startswith(("password=", "sslpassword=")))
    return f"{scheme}://{user.partition(':')[0]}{at}{place}{question if fields else ''}{fields}"


def store_name(folder: Path) -> str:
    """Give what people know a store by: its folder, or the address that the folder stands for, without a password."""
    file = folder / ADDRESS_FILE
    return without_password(file.read_text(encoding="utf-8").strip()) if file.is_file() else str(folder)


def store_folder(address: str) -> Path:
    """Give this machine's folder for a store at an address, made, with the address in it.

    ``$XDG_DATA_HOME/firsthand/stores``, else ``~/.local/share/firsthand/stores``, and the address without a password;
    `firsthand.server.hook_client` has it, too.

    Raises:
        InvalidArgument: the address is too long for the name of a folder.
    """
    plain = without_password(address).partition("://")[2].replace("?", "&", 1)
    name = "postgresql-" + "".join(sign if sign.isalnum() or sign in "-." else f"_{ord(sign):02x}" for sign in plain)
    if len(name.encode()) > ADDRESS_MAX:
        errors = import_module("firsthand.errors")
        raise errors.InvalidArgument(
            f"expected an address of at most {ADDRESS_MAX} bytes as the name of a folder; got {len(name)}. Put it into "
            "a service file of libpq: postgresql:///?service=NAME"
        )
    data = os.environ.get("XDG_DATA_HOME", "")
    folder = (Path(data) if data.startswith("/") else _in_home("~/.local/share")) / "firsthand" / "stores" / name
    file = folder / ADDRESS_FILE
    if not file.is_file() or file.read_text(encoding="utf-8") != address:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = folder / f"{ADDRESS_FILE}.{os.getpid()}"
        new.touch(mode=0o600)
        new.write_text(address, encoding="utf-8")
        new.replace(file)
    return folder


def default_namespace() -> str:
    """Give the namespace that is used when none is named: ``$FIRSTHAND_NAMESPACE``, else ``default``."""
    return os.environ.get("FIRSTHAND_NAMESPACE", "") or NAMESPACE


def default_embedder() -> str | None:
    """Give the word of the embedder that is used when none is named: ``$FIRSTHAND_EMBEDDER``; None without one."""
    return os.environ.get("FIRSTHAND_EMBEDDER") or None


def embedder_key() -> str | None:
    """Give the key for an embedder behind an endpoint: ``$FIRSTHAND_EMBEDDER_KEY``; None without one."""
    return os.environ.get("FIRSTHAND_EMBEDDER_KEY") or None


def store_keys() -> str:
    """Give where the keys of encrypted stores are, a folder or ``command:PROGRAM``: ``$FIRSTHAND_KEYS``; else empty."""
    return os.environ.get("FIRSTHAND_KEYS", "")


def model_key() -> str | None:
    """Give the key for a model that an experiment asks: ``$FIRSTHAND_MODEL_KEY``; None without one."""
    return os.environ.get("FIRSTHAND_MODEL_KEY") or None


def telemetry_content() -> bool:
    """Say whether spans may hold words, by OpenTelemetry's own variable."""
    return os.environ.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "").lower() in {"true", "1"}


def calculate_in_one_thread() -> None:
    """Keep numpy from starting threads when it is imported, in a process of our own: to start them costs 30 ms."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def home() -> Path:
    """Give the user's home folder.

    Raises:
        InvalidArgument: the user has none.
    """
    return _in_home("~")


def _in_home(path: str) -> Path:
    expanded = os.path.expanduser(path)
    if expanded.startswith("~"):
        errors = import_module("firsthand.errors")  # not at the top: a hook's client loads this file alone
        raise errors.InvalidArgument(
            f"expected a home folder for {path}, and this user has none, neither in HOME nor in the list of users. "
            "Set HOME, or name the store by its path: --store PATH or FIRSTHAND_STORE"
        )
    return Path(expanded)


def runtime_folder() -> str:
    """Give the folder of the daemon's socket and the hooks' log; empty when the user has no home.

    ``$XDG_RUNTIME_DIR/firsthand``, else ``~/.firsthand/run``.
    """
    named = os.environ.get("XDG_RUNTIME_DIR", "")
    path = f"{named}/firsthand" if named.startswith("/") else os.path.expanduser("~/.firsthand/run")
    return "" if path.startswith("~") else path


def state_folder() -> Path | None:
    """Give the folder for what a user's programs keep from one run to the next; None when the user has no home.

    ``$XDG_STATE_HOME/firsthand``, else ``~/.local/state/firsthand``.
    """
    named = os.environ.get("XDG_STATE_HOME", "")
    above = named if named.startswith("/") else os.path.expanduser("~/.local/state")
    return None if above.startswith("~") else Path(above) / "firsthand"


def heads_folder() -> Path | None:
    """Give the folder for the heads of this user's stores; None when the user has no home."""
    folder = state_folder()
    return None if folder is None else folder / "heads"


def replicas_folder() -> Path:
    """Give the folder for this machine's replicas of stores that lie elsewhere; what is in it can be made again."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if cache.startswith("/") else _in_home("~/.cache")) / "firsthand" / "replicas"


def replicas_bytes_max() -> int:
    """Give how much disk this machine's replicas may take: ``$FIRSTHAND_REPLICAS_MB`` million bytes, else 20,000.

    Raises:
        InvalidArgument: the variable is no number.
    """
    named = os.environ.get("FIRSTHAND_REPLICAS_MB", "") or str(REPLICAS_MB)
    if not named.isdecimal():
        errors = import_module("firsthand.errors")
        raise errors.InvalidArgument(
            f"expected a whole number of megabytes in FIRSTHAND_REPLICAS_MB; got {named!r:.80}"
        )
    return int(named) * 1_000_000


def objects() -> str:
    """Give the object store for large payloads of a store in PostgreSQL: ``$FIRSTHAND_OBJECTS``; empty without one."""
    return os.environ.get("FIRSTHAND_OBJECTS", "")


def objects_over() -> int:
    """Give the bytes over which a payload lies in the object store: ``$FIRSTHAND_OBJECTS_OVER``, else a MiB."""
    return _number("FIRSTHAND_OBJECTS_OVER", 1 << 20, "bytes")


def postgres_timeout_s() -> int:
    """Give how long PostgreSQL is waited for that says nothing: ``$FIRSTHAND_POSTGRES_TIMEOUT`` seconds, else 30."""
    return _number("FIRSTHAND_POSTGRES_TIMEOUT", 30, "seconds", least=1)


def _number(name: str, usual: int, unit: str, least: int = 0) -> int:
    text = os.environ.get(name, "") or str(usual)
    if not text.isdecimal() or int(text) < least:
        errors = import_module("firsthand.errors")
        raise errors.InvalidArgument(f"{name} is a number of {unit}, such as {usual}; got {text[:80]!r}")
    return int(text)


def host_folders() -> dict[str, Path]:
    """Give the folders that hosts' own variables name, by variable; those that are not set are left out."""
    named = {variable: os.environ.get(variable, "") for variable in HOST_VARIABLES}
    return {variable: _in_home(folder) for variable, folder in named.items() if folder}


def passing_python() -> str:
    """Say what kind of folder the running interpreter lives in that is emptied by itself; empty where it stays."""
    named = {"UV_CACHE_DIR": "uv's cache", "PIP_CACHE_DIR": "pip's cache", "XDG_CACHE_HOME": "a cache"}
    folders = [(Path(os.environ[name]), kind) for name, kind in named.items() if os.environ.get(name)]
    for folder, kind in folders:
        if Path(sys.prefix).is_relative_to(folder):
            return kind
    cached = {".cache", "Caches", "archive-v0", "environments-v2"} & {*Path(sys.prefix).parts}
    return f"a cache ({cached.pop()})" if cached else ""


def extra_command(extra: str) -> str:
    """Give the command that adds an extra to this very installation: from the index or a clone, by uv, pipx or pip."""
    source = _source_folder()
    if extra != "agents" and import_module("importlib.util").find_spec("starlette"):
        extra = f"agents,{extra}"  # what uv and pipx install anew has those extras alone that are named
    package = shlex.quote(f"{source or 'firsthand'}[{extra}]")
    tool = _tool()
    if tool == "uv":
        return f"uv tool install --force {package}"
    if tool == "pipx":
        return f"pipx install --force {package}"
    return f"{shlex.quote(sys.executable)} -m pip install {package}"


def removal_command() -> str:
    """Give the command that removes this installation."""
    tool = _tool()
    return {
        "uv": "uv tool uninstall firsthand", "pipx": "pipx uninstall firsthand",
    }.get(tool, f"{shlex.quote(sys.executable)} -m pip uninstall firsthand")  # fmt: skip


def _tool() -> str:
    """Name the tool that made the environment of this Python; empty for an ordinary one."""
    parts = Path(sys.prefix).parts
    pairs = {*pairwise(parts)}
    return "uv" if ("uv", "tools") in pairs else "pipx" if ("pipx", "venvs") in pairs else ""


def _source_folder() -> str:
    """Give the folder that Firsthand was installed from, a clone; empty for an installation from the index."""
    metadata = import_module("importlib.metadata")  # slow to import, and seldom asked
    try:
        text = metadata.distribution("firsthand").read_text("direct_url.json")
    except metadata.PackageNotFoundError:  # run from its sources
        return str(Path(__file__).parents[2])
    url = json.loads(text)["url"] if text else ""
    return unquote(urlsplit(url).path) if url.startswith("file://") and not url.endswith(".whl") else ""


def plain_output() -> bool:
    """Say whether the user asked for output without colour (https://no-color.org)."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def has_display() -> bool:
    """Say whether a window can be opened here: on macOS and Windows always, elsewhere where a display is named."""
    return sys.platform in {"darwin", "win32"} or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def for_commands(**settings: str) -> dict[str, str]:
    """Give the environment for a command to run in: this one, with some settings of its own."""
    return {**os.environ, **settings}


_HANDED_ON = "_FIRSTHAND_HANDED_ON"


def hand_on(lock: int, port: int) -> None:
    """Have this process keep two descriptors when it executes itself anew, and leave their numbers for it."""
    for descriptor in (lock, port):
        os.set_inheritable(descriptor, True)
    os.environ[_HANDED_ON] = f"{os.getpid()} {lock} {port}"


def handed_on() -> tuple[int, int] | None:
    """Give the lock and the port's socket that this process had before it began anew; None where it did not."""
    process, *descriptors = map(int, os.environ.get(_HANDED_ON, "0").split())
    if process != os.getpid():
        return None
    lock, port = descriptors
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return lock, port
