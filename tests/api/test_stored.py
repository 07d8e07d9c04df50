"""Programs see in the store what the commands show."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import whet as front
from command import Whet, environment
from whet.store.side_by_side import POOL_FROM_MESSAGES

UNGUARDED = "import whet\nwith whet.Store() as store:\n    print([lesson.tool for lesson in store.lessons()])\n"


@pytest.fixture
def home(tmp_path: Path, whet: Whet, examples: Path) -> Path:
    assert whet("import", str(examples)).code == 0
    return tmp_path / "home"


def test_sessions_search_and_transcripts_agree_with_the_commands(home: Path, whet: Whet) -> None:
    with front.Store(home) as store:
        listed = [session.id for session in store.sessions()]
        hits = [(hit.session_id, hit.position) for hit in store.search("order", role="tool", limit=5)]
        assert store.transcript(listed[0]).id == listed[0]
    assert listed == [each["id"] for each in whet("sessions", "--all", "--limit", "100", "--json").json["sessions"]]
    said = whet("search", "order", "--role", "tool", "--limit", "5", "--json").json["hits"]
    assert hits == [(each["session"], each["message"]) for each in said]


def test_sessions_are_narrowed_by_what_is_given(home: Path) -> None:
    with front.Store(home) as store:
        every = store.sessions()
        assert len(store.sessions(limit=2)) == 2
        assert {session.source for session in store.sessions(source="codex")} == {"codex"}
        middle = every[len(every) // 2].dated
        newer = store.sessions(since=middle)
        assert newer == store.sessions(since=datetime.fromtimestamp(middle, UTC))
        assert 0 < len(newer) < len(every)
        assert store.search("order", source="codex") == []
        with pytest.raises(TypeError, match="sorce"):
            store.sessions(sorce="codex")  # type: ignore[call-arg]


def test_rules_are_those_in_force(home: Path, whet: Whet) -> None:
    whet("rules", "add", "tidy", "Remove unused imports.")
    with front.Store(home) as store:
        assert [(rule.name, rule.text) for rule in store.rules()] == [("tidy", "Remove unused imports.")]
        whet("ledger", "undo")
        assert store.rules() == ()


def test_a_program_without_a_guarded_main_gets_the_lessons_of_many_sessions(tmp_path: Path, whet: Whet) -> None:
    said = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good morning."}]
    (tmp_path / "long.json").write_text(json.dumps({"messages": said * (POOL_FROM_MESSAGES // 2)}))
    assert whet("import", "long.json").code == 0
    (tmp_path / "program.py").write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "program.py")],
        env=environment(tmp_path / "home", tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_what_is_not_there_is_said(home: Path) -> None:
    with front.Store(str(home)) as store:
        with pytest.raises(front.WhetError, match="No session has the id nowhere"):
            store.transcript("nowhere")
        with pytest.raises(front.WhetError, match="no template orchids"):
            store.template("orchids")
