"""At the end of a turn the person is told what it left for other programs to run."""

import json
from contextlib import closing
from pathlib import Path
from threading import Event

from whet.agent.assembling import RunPlace, RunRequest
from whet.agent.session import OpenSession, SessionRequest
from whet.own.runs.settings import Settings
from whet.store.database import Database
from whet.store.home import Home


def told(home: Home, database: Database, folder: Path, *calls: tuple[str, dict[str, str]]) -> list[str]:
    """What the person hears in a session with these calls."""
    work = folder / "work"
    work.mkdir()
    lines = [{"calls": [{"name": name, "arguments": json.dumps(arguments)}]} for name, arguments in calls]
    (folder / "replies").write_text("\n".join(json.dumps(line) for line in (*lines, {"text": "Done."})))
    heard: list[str] = []
    request = RunRequest(Settings(model=f"scripted:{folder / 'replies'}"), RunPlace(work))
    with closing(OpenSession(home, database, SessionRequest(request), tell=heard.append)) as talk:
        list(talk.turn("Do it.", interrupt=Event()))
        assert talk.news == heard
    return heard


def test_a_changed_makefile_is_reported_once(home: Home, database: Database, tmp_path: Path) -> None:
    call = ("write_file", {"path": "Makefile", "content": "all:\n\ttrue\n"})
    [line] = told(home, database, tmp_path, call, call)
    assert line.startswith("Other programs will run or obey these changed files: Makefile (")


def test_what_nobody_could_be_asked_about_is_not_written(home: Home, database: Database, tmp_path: Path) -> None:
    assert told(home, database, tmp_path, ("write_file", {"path": ".envrc", "content": "evil"})) == []
    assert not (tmp_path / "work" / ".envrc").exists()


def test_ordinary_work_is_not_talked_about(home: Home, database: Database, tmp_path: Path) -> None:
    assert told(home, database, tmp_path, ("write_file", {"path": "main.py", "content": "print()"})) == []
