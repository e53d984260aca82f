"""The program that a host runs at each of its hooks: ``PYTHON -I -S -E .../hook_client.py HOST [--store P]``.

It loads the parts of a hook's process, each from its own compiled file and without
the package: importing that, and ``site``, would take longer than the whole answer.
The invariant: it ends with 0, and nothing that went wrong reaches the host.

It knows neither hooks nor the daemon. ``firsthand hook HOST`` runs the same parts.
"""

import sys
from _frozen_importlib import module_from_spec
from _frozen_importlib_external import spec_from_file_location

TYPE_CHECKING = False  # known to type checkers by its name; `typing` would cost 3 ms
if TYPE_CHECKING:
    from typing import Any

_DOORS = __file__.rpartition("/")[0] or "."


def load(name: str) -> "Any":
    """Load one of the parts by its name, or the package's ``environment``."""
    where = f"{_DOORS}/../{name}.py" if name == "environment" else f"{_DOORS}/{name}.py"
    spec = spec_from_file_location(f"firsthand_{name}", where)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(arguments: list[str]) -> int:
    """Answer one hook, or be the daemon; always give 0."""
    try:
        if arguments[:1] == ["--daemon"]:
            load("hook_start").find_package()
            from firsthand.server.daemon import serve

            serve(arguments[1], int(arguments[2]), tuple(arguments[3:6]))
        else:
            load("hook_protocol").run(load, arguments)
    except BaseException as error:  # noqa: BLE001 - the host must not be disturbed by a fault of ours
        sys.stderr.write(f"firsthand: {type(error).__name__}: {error}\n")  # hosts show it in their own logs alone
    return 0


if __name__ == "__main__":
    import os

    code = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)  # an interpreter that tidies up takes a millisecond, and lets a late alarm end it as an error
