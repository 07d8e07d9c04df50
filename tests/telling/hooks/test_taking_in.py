"""A session that ended is in the store without anybody doing anything but running the worker."""

import shutil
from pathlib import Path

import pytest

from command import Whet
from telling.hooks.events_of_hosts import call, context, end_of, spooled, start_of


@pytest.fixture
def record(examples: Path, tmp_path: Path) -> Path:
    source = next(path for path in sorted(examples.rglob("*.jsonl")) if '"sessionId"' in path.read_text())
    return Path(shutil.copy(source, tmp_path / "s1.jsonl"))


def test_the_worker_takes_in_what_hooks_left_and_analyses_it(whet: Whet, record: Path, tmp_path: Path) -> None:
    call(whet, "session-end", end_of("s1", tmp_path, record))
    done = whet("worker", "--until-idle")
    assert done.code == 0, done.err
    assert spooled(tmp_path / "home") == []
    [session] = whet("sessions", "--json").json["sessions"]
    assert session["source"] == "claude-code"
    [work] = [each for each in whet("worker", "list", "--json").json["work"] if each["kind"] == "arrivals"]
    assert work["summary"] == "1 sessions from 1 files, 0 could not be read"


def test_any_import_takes_in_what_hooks_left(whet: Whet, record: Path, tmp_path: Path) -> None:
    call(whet, "session-end", end_of("s1", tmp_path, record))
    assert whet("import", "--dry-run", "--json").json["imported"] == 0
    assert len(spooled(tmp_path / "home")) == 1, "a dry run takes nothing"
    assert whet("import", "--json").json["imported"] == 1
    assert whet("import", "--json").json["imported"] == 0


def test_what_an_import_cannot_read_is_said_again_until_it_can(whet: Whet, tmp_path: Path) -> None:
    call(whet, "session-end", end_of("s1", tmp_path, tmp_path / "gone.jsonl"))
    for _ in range(2):
        [skipped] = whet("import", "--json").json["skipped"]
        assert (Path(skipped["path"]).name, skipped["reason"]) == ("gone.jsonl", "No such file or directory")


def test_the_worker_brings_what_hooks_tell_up_to_date(whet: Whet, tmp_path: Path) -> None:
    whet("rules", "add", "brief", "Answer briefly.")
    assert context(call(whet, "session-start", start_of("1", tmp_path)))
    (tmp_path / "home" / "hooks" / "rules.json").write_text('{"frame": "", "budget": 0, "rules": []}')
    assert whet("worker", "--until-idle").code == 0
    assert "briefly" in context(call(whet, "session-start", start_of("2", tmp_path)))
