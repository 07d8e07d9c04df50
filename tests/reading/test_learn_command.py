"""`whet learn` as a person runs it: it says what it takes, asks, reads, and goes on after kill -9 and Ctrl-C."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from claimed_sessions import keep_sessions
from command import COMMAND, Whet, environment
from lengths import long
from patience import until
from reading.readers import days, long_session, sessions_in
from whet.agents.executor import MARK
from whet.reading.readers import ReaderQuestion
from whet.store.home import Home
from whet.store.opening import opened

# Stands for an agent's program: it keeps each prompt, and answers as a reader that finds one thing, or as a sceptic.
PROGRAM = """#!{python}
import json, os, pathlib, sys, time
sys.path[:0] = {path!r}
from reading.readers import claiming
from whet.reading.readers import ReaderQuestion
prompt = sys.stdin.read()
system = sys.argv[sys.argv.index("--system-prompt") + 1]
place = pathlib.Path({place!r})
number = len(list(place.glob("prompt-*")))
(place / f"prompt-{{number}}").write_text(prompt)
if (place / "hang").exists() and number == 1:
    time.sleep(600)
usage = {{"input_tokens": len(prompt) // 4, "output_tokens": 50}}
print(json.dumps({{"result": claiming(ReaderQuestion(system, prompt)), "is_error": False, "usage": usage}}))
"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    place = tmp_path / "programs"
    place.mkdir()
    program = place / "claude"
    path = [str(Path(__file__).parents[1])]
    program.write_text(PROGRAM.format(python=sys.executable, path=path, place=str(place)))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return place


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    place = tmp_path / "shop"
    place.mkdir()
    return place


def on_path(programs: Path) -> dict[str, str]:
    return {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


def prompts(programs: Path) -> list[str]:
    return [path.read_text() for path in sorted(programs.glob("prompt-*"))]


def test_it_says_who_reads_and_what_it_takes_and_begins_only_after_a_yes(
    whet: Whet, tmp_path: Path, programs: Path, shop: Path
) -> None:
    with opened(Home(tmp_path / "home")) as database:
        keep_sessions(database, days(shop, 3))
    foretold = whet("learn", "--dry-run", folder=shop, variables=on_path(programs))
    assert "claude-code would read 3 unread sessions" in foretold.out
    assert "within your plan" in foretold.out
    asked = whet("learn", folder=shop, variables=on_path(programs))
    assert (asked.code, prompts(programs)) == (1, [])
    assert "--yes" in asked.err
    by_agent = whet("learn", "--yes", folder=shop, variables={**on_path(programs), "CLAUDECODE": "1"})
    assert (by_agent.code, prompts(programs)) == (1, [])


def test_it_reads_shows_what_came_of_it_and_does_not_read_again(
    whet: Whet, tmp_path: Path, programs: Path, shop: Path
) -> None:
    with opened(Home(tmp_path / "home")) as database:
        keep_sessions(database, days(shop, 3))
    done = whet("learn", "--yes", "--json", folder=shop, variables=on_path(programs))
    assert done.code == 0, done.err
    [project] = done.json["projects"]
    assert (project["sessions"], project["claims"], project["kept"]) == (3, 1, 1)
    assert all(each.startswith(MARK) for each in prompts(programs))
    assert "Install packages with `bun add`" in whet("lessons", "--project", str(shop)).out
    again = whet("learn", "--yes", folder=shop, variables=on_path(programs))
    assert "Every session has been read." in again.out
    assert len(prompts(programs)) == 2


def test_an_answer_without_end_is_cut_off_asked_for_once_more_and_counted(
    whet: Whet, tmp_path: Path, programs: Path, shop: Path
) -> None:
    with opened(Home(tmp_path / "home")) as database:
        keep_sessions(database, days(shop, 2))
    (programs / "claude").write_text(f"#!{sys.executable}\nprint('x' * 9_000_000)\n")
    said = whet("learn", "--with", "claude", "--yes", folder=shop, variables=on_path(programs))
    assert "nothing new, 1 line of no use" in said.out
    assert "2 calls" in said.out
    assert "longer than 1 MB" in whet("lessons", "--dropped", folder=shop).out


def test_with_a_key_it_says_the_dollars_or_that_they_are_the_provider_s(
    whet: Whet, tmp_path: Path, programs: Path, shop: Path
) -> None:
    with opened(Home(tmp_path / "home")) as database:
        keep_sessions(database, days(shop, 3))
    variables = {**on_path(programs), "ANTHROPIC_API_KEY": "k"}
    assert "at your provider's prices" in whet("learn", "--dry-run", folder=shop, variables=variables).out


def test_a_reader_that_is_not_there_is_named(whet: Whet, tmp_path: Path, shop: Path) -> None:
    with opened(Home(tmp_path / "home")) as database:
        keep_sessions(database, days(shop, 3))
    assert "cannot read" in whet("learn", "--with", "cursor", folder=shop).err
    unknown = whet("learn", "--with", "nobody", folder=shop).err
    assert "There is no reader nobody" in unknown
    named = re.search(r"`whet config (\S+) NAME`", unknown)
    assert named is not None
    assert whet("config", named[1], "claude").code == 0
    assert "No session of this folder is stored." in whet("learn", folder=tmp_path).err


@pytest.mark.parametrize("stop", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_after_it_was_stopped_the_next_run_goes_on_and_shows_no_session_twice(
    whet: Whet, tmp_path: Path, programs: Path, shop: Path, person: Path, stop: signal.Signals
) -> None:
    with opened(Home(tmp_path / "home")) as database:
        keep_sessions(database, [long_session(f"long{day}", shop, day) for day in range(30)])
    (programs / "hang").touch()
    variables = {**environment(tmp_path / "home", person), **on_path(programs)}
    with subprocess.Popen([COMMAND, "learn", "--yes"], cwd=shop, env=variables, stderr=subprocess.PIPE) as run:
        until(lambda: (programs / "prompt-1").exists())
        os.kill(run.pid, stop)
        _, said = run.communicate()
    if stop is signal.SIGINT:
        assert run.returncode == 1
        assert b"What was read until then is kept.\n`whet learn` goes on from there." in said
        with opened(Home(tmp_path / "home")) as database:
            read = [id[:8] for (id,) in database.query("SELECT DISTINCT session FROM sessions_read")]
        assert sorted(read) == sorted(sessions_in(ReaderQuestion("", prompts(programs)[0]))), "a pass is done or lost"
    (programs / "hang").unlink()
    done = whet("learn", "--yes", "--json", folder=shop, variables=on_path(programs))
    assert done.code == 0, done.err
    first, _, *after = prompts(programs)
    shown = [id for each in (first, *after) for id in sessions_in(ReaderQuestion("", each))]
    assert len(shown) == len(set(shown)) == 30
    assert json.loads(done.out)["projects"][0]["sessions"] == 30 - len(sessions_in(ReaderQuestion("", first)))


@long
def test_a_night_reads_what_is_new_with_the_reader_that_is_set(whet: Whet, tmp_path: Path, programs: Path) -> None:
    pytest.importorskip("dbos", reason="durable work is an extra")
    assert "No reader is set" in whet("learn", "--background").out
    assert whet("config", "reading.reader", "claude").code == 0
    with opened(Home(tmp_path / "home")) as database:
        keep_sessions(database, days(Path("/srv/shop"), 3))
    work = whet("learn", "--background", "--json").json["work"]
    done = whet("worker", "--until-idle", "--queue", "reviews", variables=on_path(programs))
    assert done.code == 0, done.err
    shown = whet("worker", "list", work).out
    assert "claude-code read 3 sessions of /srv/shop: 1 claim passed the checks" in shown
    assert len(shown.splitlines()) < 25
    assert "Every session has been read." in whet("learn", "--background").out
    assert len(prompts(programs)) == 2
