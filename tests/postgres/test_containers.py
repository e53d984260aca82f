"""compose.yaml, whose commands run here as plain processes against a server that the tests started."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from postgres_server import OWNER, PostgresServer, installations

from firsthand import Client
from firsthand.log.postgres.log import PostgresLog

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
PASSWORDS = {"POSTGRES_PASSWORD": "a", "OWNER_PASSWORD": "it's", "APPLICATION_PASSWORD": "c"}


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server without any role but the first one's, as an image begins."""
    started = PostgresServer(installations()["embedded"], fsync="off")
    with psycopg.connect(started.dsn("postgres"), autocommit=True) as db:
        db.execute("DROP DATABASE store")
        db.execute("DROP ROLE owner")
        db.execute("DROP ROLE application")
    yield started
    started.close()


@pytest.fixture
def run(server, tmp_path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Run the command of a service, or another one of it, with its environment, hosts and ports mapped to here."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    began: list[subprocess.Popen[str]] = []

    def here(text: str) -> str:
        for name, password in PASSWORDS.items():
            text = text.replace("${" + name + ":?}", password)
        text = text.replace("@postgres/store", f"@/store?host={server.folder}").replace("8321", port)
        return text.replace("/var/lib/firsthand", str(tmp_path)).replace("0.0.0.0", "127.0.0.1")

    def start(service: str, *command: str) -> subprocess.Popen[str]:
        about = SERVICES[service]
        entry = [str(Path(sys.executable).with_name("firsthand")), *(command or about["command"])]
        environment = {name: here(value) for name, value in about["environment"].items()}
        folders = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
        pipe = subprocess.PIPE
        mapped = os.environ | folders | environment
        began.append(subprocess.Popen([here(word) for word in entry], env=mapped, text=True, stdout=pipe, stderr=pipe))
        return began[-1]

    start.url = f"http://127.0.0.1:{port}"  # type: ignore[attr-defined]
    start.here = here  # type: ignore[attr-defined]
    yield start
    for process in began:
        process.terminate()
        process.communicate(timeout=30)


def done(process: subprocess.Popen[str]) -> str:
    """Wait for a command that ends, and give what it printed."""
    answer, remarks = process.communicate(timeout=60)
    assert process.returncode == 0, remarks
    return answer.strip()


def test_the_commands_of_compose_bring_a_team_up(server, run, tmp_path) -> None:
    """Roles, migration, keys, server, health, a round trip, and metrics as Prometheus is told to ask for them."""
    subprocess.run(
        [
            server._programs / "psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", server.folder, "-U", "postgres",
            "-f", ROOT / "deploy" / "roles.sql",
        ],
        env=os.environ | PASSWORDS, check=True,
    )  # fmt: skip
    assert "migrated to version 1" in done(run("migrate"))
    owner = "--postgres", "postgresql://owner@postgres/store"
    keys = {}
    for principal, *grant in (("alice", "shop", "read", "append", "erase"), ("prometheus", "firsthand-audit", "read")):
        done(run("owner", "store", "grant", principal, *grant, *owner))
        keys[principal] = done(run("owner", "store", "key", principal, *owner))
        assert keys[principal].startswith("fhk_")
    serving = run("firsthand")
    for _ in range(200):
        check = subprocess.run(
            [sys.executable, *map(run.here, SERVICES["firsthand"]["healthcheck"]["test"][2:])],
            capture_output=True, check=False,
        )  # fmt: skip
        if check.returncode == 0:
            break
        assert serving.poll() is None, serving.stderr.read()
        time.sleep(0.1)
    else:
        raise AssertionError("the server did not become ready")
    with Client(run.url, token=keys["alice"]) as memory:
        memory.session("deploy").user("The invoice service listens on port 5433.")
        (hit,) = memory.recall("invoice port").hits
        assert memory.expand(hit.pointer) == b"The invoice service listens on port 5433."
        assert "30 days" in memory.erase([hit.pointer]).retained
    assert "firsthand_calls_total" in scraped(run, tmp_path, keys["prometheus"])
    with pytest.raises(urllib.error.HTTPError, match="403"):
        scraped(run, tmp_path, keys["alice"])
    log = PostgresLog(server.dsn(OWNER))
    assert log.verify(namespace="shop").ok
    log.close()


def scraped(run: Any, folder: Path, key: str) -> str:
    """Ask for metrics by what deploy/prometheus.yml says."""
    (job,) = yaml.safe_load((ROOT / "deploy" / "prometheus.yml").read_text(encoding="utf-8"))["scrape_configs"]
    ((target,),) = (group["targets"] for group in job["static_configs"])
    assert target.partition(":")[0] in SERVICES
    mounted = {volume.split(":")[1] for volume in SERVICES["prometheus"]["volumes"]}
    assert job["authorization"]["credentials_file"] in mounted
    (folder / "prometheus.key").write_text(key + "\n", encoding="utf-8")
    credentials = (folder / "prometheus.key").read_text(encoding="utf-8").strip()  # as Prometheus reads it
    url = "http://" + run.here(target).replace("firsthand", "127.0.0.1") + job["metrics_path"]
    request = urllib.request.Request(url, headers={"Authorization": f"{job['authorization']['type']} {credentials}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def test_what_compose_mounts_is_there() -> None:
    """Every file of the repository that it names exists, every named volume is declared, and what is needed ends."""
    for about in SERVICES.values():
        for volume in about.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("./") and not source.endswith(".key"):  # keys are made, and kept out of the repository
                assert (ROOT / source).is_file()
            assert source.startswith("./") or source in COMPOSE["volumes"]
        assert set(about.get("depends_on", {})) <= SERVICES.keys()
    assert (ROOT / SERVICES["migrate"]["build"]["dockerfile"]).is_file()
    names = [line.partition("=")[0] for line in (ROOT / "deploy" / "example.env").read_text().splitlines()]
    assert names == [*PASSWORDS]
    copied = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8").split("COPY ")[1].split("./")[0].split()
    assert all((ROOT / name).exists() for name in copied)
