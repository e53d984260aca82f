"""What the files of a server and its backups hold of what was erased, with encryption and without."""

from __future__ import annotations

import shutil

import psycopg
import pytest
from log_suite import NAMESPACE, user
from postgres_server import OWNER, PostgresServer
from sealed_stores import canary, events_of, files_with, remember

from firsthand.errors import Erased
from firsthand.log.postgres.log import PostgresLog, make
from firsthand.pointer import parse


def dumped(server: PostgresServer, database: str) -> str:
    """Give all of a database as pg_dump writes it, bytes in hexadecimal."""
    file = server.folder / "dump.sql"
    server._run("pg_dump", "-h", str(server.folder), "-U", "postgres", "-f", str(file), database)
    return file.read_text(encoding="utf-8")


def test_no_file_of_the_server_ever_holds_a_plain_byte(log, server, database) -> None:
    """Encrypted, neither tables nor the server's log nor a base backup hold what was said, before or after erasure."""
    words = canary()
    names = remember(log, words)
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        db.execute("CHECKPOINT")
    server.backup()
    assert log.reader.event(NAMESPACE, names[0]).content == words
    assert (files_with(server.folder, words), words.hex() in dumped(server, database)) == ([], False)
    with psycopg.connect(server.dsn("postgres", database)) as db:
        assert db.execute("SELECT count(salt), count(body) FROM firsthand.event").fetchone() == (0, 4)
    log.erase(NAMESPACE, names)
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        db.execute("CHECKPOINT")
    assert files_with(server.folder, words) == []


def test_without_encryption_erased_bytes_stay_in_log_and_backups(server, database) -> None:
    """Plain, tables are clean after erasure, vacuum and checkpoint; the server's log and a base backup are not."""
    make(server.dsn(OWNER, database), retention_days=30)
    plain, words = PostgresLog(server.dsn(database=database)), canary()
    names = remember(plain, words)
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        db.execute("CHECKPOINT")
    assert words.hex() in dumped(server, database)
    backup = server.backup()
    erased = plain.erase(NAMESPACE, names)
    with psycopg.connect(server.dsn("postgres", database), autocommit=True) as db:
        db.execute("VACUUM FULL firsthand.event")
        db.execute("VACUUM FULL firsthand.artifact")
        db.execute("CHECKPOINT")
    found = files_with(server.folder, words)
    assert any(path.startswith(str(backup / "base")) for path in found)
    assert any("/data/pg_wal/" in path and not path.startswith(str(backup)) for path in found)
    assert not any(path.startswith(str(server.folder / "data" / "base")) for path in found)
    assert "30 days, until 20" in erased.retained
    assert "30 days, until 20" in plain.erase(NAMESPACE, names).retained
    assert plain.erase(NAMESPACE, []).retained == ""
    assert plain.verify(namespace=NAMESPACE).ok
    plain.close()


def test_a_backup_made_before_an_erasure_holds_the_others_alone(log, again, server, database, keys, tmp_path) -> None:
    """An old backup gives every event but the erased ones; with a copy of the keys made before, those too."""
    kept, erased = canary(), canary()
    remember(log, kept)
    names = remember(log, erased)
    head = log.verify(namespace=NAMESPACE).head
    backup = server.backup()
    shutil.copytree(keys, tmp_path / "copied")
    answer = log.erase(NAMESPACE, names, "asked")
    assert "cannot be read any more" in answer.retained
    restored = PostgresServer(server._programs, copy_of=backup)
    try:
        old = again(dsn=restored.dsn(database=database))
        contents = events_of(old)
        assert contents[:3] == [kept, b"{}", b""]
        assert contents[3].startswith(kept)
        assert contents[4:] == [None] * 4
        with pytest.raises(Erased):
            list(old.reader.expand(NAMESPACE, parse(f"fh:{names[0]}")))
        assert old.verify(namespace=NAMESPACE, heads=[head]).head == head
        assert events_of(again(str(tmp_path / "copied"), restored.dsn(database=database)))[4] == erased
    finally:
        old.close()
        restored.close()


def test_a_place_whose_key_is_gone_is_written_anew(log, again, server, database) -> None:
    """A database that was taken back to before an erasure takes new events where the erased ones stood."""
    log.append([user("first")], namespace=NAMESPACE, session="s")
    backup = server.backup()
    (second,) = log.append([user("second")], namespace=NAMESPACE, session="s")
    log.erase(NAMESPACE, [second.id])
    restored = PostgresServer(server._programs, copy_of=backup)
    back = again(dsn=restored.dsn(database=database))
    try:
        back.append([user("other")], namespace=NAMESPACE, session="s")
        assert events_of(back) == [b"first", b"other"]
        assert back.verify(namespace=NAMESPACE).ok
    finally:
        back.close()
        restored.close()
    assert events_of(log)[:2] == [b"first", None]
