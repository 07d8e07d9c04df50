"""On a full or a read-only disk reading goes on, and an import says what it kept."""

import json
import os
import random
from pathlib import Path

import pytest

from command import Whet, runner
from disks import fill_up, mounted, remount
from lengths import long

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a small file system")
READING = ("sessions", "search", "lessons", "report", "ledger", "rules", "status", "doctor")


def write_sessions(folder: Path, count: int, *, words: int = 4000) -> None:
    """Sessions of Claude Code, each with words of its own."""
    folder.mkdir()
    for number in range(count):
        seeded = random.Random(number)
        text = " ".join(f"{seeded.getrandbits(48):x}" for _ in range(words))
        message = {"role": "user", "content": f"Please look at lantern {text}"}
        line = {"type": "user", "uuid": f"u{number}", "sessionId": f"s{number}", "cwd": "/w", "message": message}
        body = json.dumps({**line, "timestamp": "2026-01-01T00:00:00Z", "version": "2.0.0"})
        (folder / f"s{number}.jsonl").write_text(f"{body}\n")


def read_all(whet: Whet) -> dict[str, str]:
    """What reading commands say to those who see nothing."""
    done = {name: whet(name, *(("lantern",) if name == "search" else ())) for name in READING}
    return {name: each.err or each.out for name, each in done.items() if each.code and name != "doctor"}


@long
def test_an_import_on_a_full_disk_says_what_it_kept_and_reading_goes_on(tmp_path: Path, person: Path) -> None:
    disk = tmp_path / "disk"
    write_sessions(tmp_path / "sessions", 400)
    with mounted(disk, "size=24m,mode=0700"):
        whet = runner(disk / "home", person)
        assert whet("import", str(tmp_path / "sessions" / "s0.jsonl")).code == 0
        assert whet("lessons").code == 0
        done = whet("import", str(tmp_path / "sessions"))
        assert done.code == 1
        assert "The import stopped: The disk is full" in done.err
        assert "nothing was changed" not in done.err
        fill_up(disk)
        kept = whet("sessions", "--json").json["total"]
        assert 0 < kept < 400
        assert f"{kept - 1:,} sessions were imported before that." in done.err
        assert read_all(whet) == {}
        assert whet("import", str(tmp_path / "sessions")).code == 1
        assert whet("backup", str(tmp_path / "b.zip"), "--json").json["sessions"] == kept
        assert "Free some space" in whet("backup", str(disk / "b.zip")).err
        (disk / "filler").unlink()
        remount(disk, "size=400m")
        assert whet("import", str(tmp_path / "sessions")).code == 0
        assert whet("sessions", "--json").json["total"] == 400


def test_reading_works_on_a_read_only_disk(tmp_path: Path, person: Path) -> None:
    disk = tmp_path / "disk"
    write_sessions(tmp_path / "sessions", 5, words=20)
    with mounted(disk, "size=48m,mode=0700"):
        whet = runner(disk / "home", person)
        assert whet("import", str(tmp_path / "sessions")).code == 0
        assert whet("lessons").code == 0  # what is known of the sessions is shown from now on
        remount(disk, "ro")
        assert read_all(whet) == {}
        done = whet("import", str(tmp_path / "sessions" / "s1.jsonl"), "--format", "claude-code")
        assert whet("sessions", "--json").json["total"] == 5
        assert "Traceback" not in done.err
        assert whet("rules", "add", "brief", "Answer briefly.", allowed=False).code == 1
        assert "read-only" in whet("worker", "--until-idle").err.splitlines()[-1]
        assert whet("backup", str(tmp_path / "b.zip"), "--json").json["sessions"] == 5
