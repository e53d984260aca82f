"""The commands switch and jobs."""

from __future__ import annotations

import json

from firsthand.cli.cli import main


def test_a_switch_is_written_where_it_was_asked_for(tmp_path, capsys):
    """For the user and a project; an unknown one is refused."""
    store = ["--store", str(tmp_path / "store")]
    assert main([*store, "agent", "switch", "recall", "off"]) == 0
    assert main([*store, "--json", "agent", "switch", "cues", "off", "--project", str(tmp_path)]) == 0
    assert main([*store, "agent", "switch", "dance", "off"]) == 5
    assert main([*store, "agent", "switch", "cues", "off", "--project", str(tmp_path / "nowhere")]) == 5
    told = {"recall": False, "projects": {str(tmp_path.resolve()): {"cues": False}}}
    assert json.loads((tmp_path / "store" / "settings.json").read_text()) == told
    assert not (tmp_path / ".firsthand.json").exists()
    assert "one of the switches" in capsys.readouterr().err


def test_jobs_are_listed_and_run(tmp_path, capsys):
    """What waits is named with its tries; running tells what became of it, and fails when one failed."""
    from firsthand.agents import jobs

    (tmp_path / "t.jsonl").write_text("no transcript\n")
    job = jobs.Job(jobs.FOLLOW, "default", "a", "codex:1", "codex", str(tmp_path / "t.jsonl"))
    store = ["--store", str(tmp_path / "store")]
    assert main([*store, "agent", "jobs"]) == 0
    jobs.leave(tmp_path / "store", job)
    assert main([*store, "--quiet", "agent", "jobs"]) == 0
    assert capsys.readouterr().out == "follow  codex:1  tried 0 times\n"
    assert main([*store, "--json", "agent", "jobs", "--run"]) == 4
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["tries"], told["dropped"], told["fault"][:14]) == ("follow", 1, False, "SourceRejected")


def test_the_next_prompt_alone_is_put_off_the_record(tmp_path, capsys):
    """A pause of the next prompt is said, with the project that it is of."""
    store = ["--store", str(tmp_path / "store")]
    assert main([*store, "session", "append", "--session", "s", "x"]) == 0
    capsys.readouterr()
    assert main([*store, "session", "pause", "--prompt"]) == 0
    assert "prompt" in "".join(capsys.readouterr())
