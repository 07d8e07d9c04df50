"""An agent of the person's own, started by a command behind walls: what it sees, and what an attempt of it tells."""

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event

import pytest

from whet.agent.tools import launcher
from whet.agent.tools.sandbox import Wall, Walls, probe
from whet.agents.executor import Carried, ProgramTask, Validity
from whet.errors import WhetError
from whet.own.runs.settings import AgentSettings, Settings
from whet.proving.executing import AgentAccess, carry_out, grounds_of, network_said
from whet.proving.executors import program_of, runner_named

PROBED = probe(os.environ.get("PATH", ""))
WALLS = [PROBED, *([Walls(Wall.LANDLOCK, abi=launcher.version())] if launcher.version() else [])]
pytestmark = pytest.mark.skipif(PROBED.wall is Wall.NONE, reason="no sandbox here")


def done(folder: Path, script: str, grounds: AgentAccess | None = None, *, seconds: float = 60.0) -> Carried:
    """What came of an agent that runs its task as a shell script."""
    person = folder / "person"
    (folder / "trial" / "work").mkdir(parents=True)
    person.mkdir(exist_ok=True)
    runner = runner_named("mine", Settings(agents=(AgentSettings("mine", "/bin/sh -c {task}"),)))
    errand = ProgramTask(script, folder / "trial" / "work", folder / "trial" / "config", seconds=seconds)
    base = {"PATH": os.environ["PATH"], "HOME": str(person)}
    given = grounds._replace(environment={**base, **grounds.environment}) if grounds else AgentAccess(base)
    return carry_out(runner, errand, program="/bin/sh", grounds=given, interrupt=Event())


class Served(ThreadingHTTPServer):
    """A server on this machine that answers, and counts how often it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.hits = 0

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class _Answering(BaseHTTPRequestHandler):
    server: Served

    def do_GET(self) -> None:
        self.server.hits += 1
        self.send_response(200)
        self.send_header("Content-Length", "8")
        self.end_headers()
        self.wfile.write(b"answered")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that is not temporary, so that a private /tmp alone hides nothing."""
    above = Path(__file__).parents[2] / "build"
    above.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=above) as folder:
        yield Path(folder)


@contextmanager
def serving() -> Iterator[Served]:
    """A server on this machine that answers."""
    server = Served()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def answer(found: Carried) -> str:
    assert found.transcript is not None
    return found.transcript.messages[-1].text


def test_what_it_prints_is_its_answer_where_it_leaves_no_record(tmp_path: Path) -> None:
    found = done(tmp_path, "echo done; echo noise >&2; touch made")
    assert (found.validity, answer(found)) == (Validity.VALID, "done")
    assert (tmp_path / "trial" / "work" / "made").exists()


@pytest.mark.parametrize("walls", WALLS, ids=lambda walls: walls.wall.value)
def test_it_sees_nothing_of_the_persons_folder_or_the_cases(tmp_path: Path, walls: Walls) -> None:
    person, cases = tmp_path / "person", tmp_path / "cases"
    for folder in (person, cases, person / "tools"):
        folder.mkdir()
        (folder / "words").write_text("secret\n")
    script = f"cat {person}/words {cases}/words; cat {person}/tools/words; touch {person}/x {cases}/x; true"
    grounds = AgentAccess({}, hidden=(cases,), readable=(person / "tools",), walls=walls)
    found = done(tmp_path, script, grounds)
    assert answer(found) == "secret", "only the folder that the settings name"
    assert not (person / "x").exists()
    assert not (cases / "x").exists()


@pytest.mark.parametrize("walls", WALLS, ids=lambda walls: walls.wall.value)
def test_a_shim_on_the_search_path_starts_what_its_manager_keeps(place: Path, walls: Walls) -> None:
    kept, shims = (place / "person" / ".pyenv" / part for part in ("versions", "shims"))
    for folder in (kept, shims):
        folder.mkdir(parents=True)
    for file, does in ((kept / "python9", "echo nine"), (shims / "python9", 'exec "$PYENV_ROOT/versions/python9"')):
        file.write_text(f"#!/bin/sh\n{does}\n")
        file.chmod(0o755)
    (place / "person" / "words").write_text("secret\n")
    path = f"{shims}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as trial:
        script = f"python9; cat {place}/person/words; touch {kept}/x; true"
        grounds = AgentAccess({"PATH": path, "HOME": str(place / "person")}, walls=walls)
        assert answer(done(Path(trial), script, grounds)) == "nine"
    assert not (kept / "x").exists()


def test_it_gets_the_variables_and_files_that_the_settings_name_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "login.json").write_text("token")
    settings = Settings(agents=(AgentSettings("mine", "x {task}", config=(str(tmp_path / "login.json"),),
                                              variables=("MY_TOKEN",)),))  # fmt: skip
    grounds = grounds_of("mine", settings, {"MY_TOKEN": "given", "OTHER_TOKEN": "not"}, hidden=())
    found = done(tmp_path, 'echo "$MY_TOKEN-$OTHER_TOKEN-$(cat "$HOME/login.json")"', grounds)
    assert answer(found) == "given--token"


def test_a_file_for_its_login_that_is_not_there_is_the_persons_mistake(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"nothing\.json cannot be copied for mine"):
        done(tmp_path, "true", AgentAccess({}, config=(tmp_path / "nothing.json",)))


@pytest.mark.parametrize(
    ("script", "validity"),
    [
        ("exit 3", Validity.CRASHED),
        ("echo 'HTTP 429: too many requests' >&2; exit 1", Validity.LIMITED),
        ("echo 'Error: not logged in' >&2; exit 1", Validity.NO_LOGIN),
    ],
)
def test_what_kept_it_from_working_makes_no_valid_attempt(tmp_path: Path, script: str, validity: Validity) -> None:
    found = done(tmp_path, script)
    assert (found.validity, found.validity.counts) == (validity, False)
    assert found.why


def test_time_that_runs_out_counts_as_what_it_came_to(tmp_path: Path) -> None:
    # A busy machine may need more than a second to begin.
    tries = (done(tmp_path / str(seconds), "echo begun; sleep 600", seconds=seconds) for seconds in (1.0, 8.0, 64.0))
    found = next((each for each in tries if each.transcript), None)
    assert found is not None
    assert (found.validity, found.validity.counts, answer(found)) == (Validity.TIMED_OUT, True, "begun")


def test_workspaces_in_the_persons_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="must not see"):
        done(tmp_path, "true", AgentAccess({"HOME": str(tmp_path)}))


def test_an_agent_is_known_by_its_name_or_by_its_command() -> None:
    settings = Settings(agents=(AgentSettings("mine", f"{sys.executable} -m mine {{task}}"),))
    assert program_of(runner_named("mine", settings)) == sys.executable
    for name, advice in (("nobody", "agents.nobody.command"), ("", "Known are claude")):
        with pytest.raises(WhetError) as raised:
            runner_named(name, settings)
        assert advice in raised.value.advice
    without_task = Settings(agents=(AgentSettings("mine", "mine --quiet"),))
    with pytest.raises(WhetError, match="no place for the task"):
        program_of(runner_named("mine", without_task))


@pytest.mark.parametrize("walls", WALLS, ids=lambda walls: walls.wall.value)
def test_it_sees_the_system_and_its_workspace_and_no_other_project(place: Path, walls: Walls) -> None:
    other = place / "other"
    other.mkdir(parents=True)
    (other / ".env").write_text("KEY=secret\n")
    found = done(place, f"cat {other}/.env; ls {place}/other; cat /etc/passwd | wc -l", AgentAccess({}, walls=walls))
    assert "secret" not in answer(found)
    assert ".env" not in answer(found)
    assert int(answer(found)) > 0


ASKING = f"""{os.path.realpath(sys.executable)} - <<'END'
import socket, urllib.request
def got(ask):
    try:
        return ask()
    except OSError as error:
        return "nothing"
print(got(lambda: urllib.request.urlopen("{{0}}", timeout=5).read().decode()))
print(got(lambda: socket.create_connection(("127.0.0.1", {{1}}), 3) and "reached"))
print(got(lambda: socket.create_connection(("192.0.2.1", 80), 3) and "reached"))
print(got(lambda: urllib.request.urlopen("http://example.com/", timeout=5) and "reached"))
print(got(lambda: socket.getaddrinfo("example.com", 80) and "resolved"))
END"""


@pytest.mark.skipif(PROBED.wall is not Wall.BUBBLEWRAP, reason="only bubblewrap gives a network of its own")
def test_it_reaches_the_endpoint_that_is_named_and_nothing_else(tmp_path: Path) -> None:
    with serving() as model, serving() as other:
        grounds = AgentAccess({}, endpoints=(f"{model.url}/v1",))
        found = done(tmp_path, ASKING.format(model.url, other.port), grounds)
        assert (model.hits, other.hits) == (1, 0)
    assert answer(found).split() == ["answered", *["nothing"] * 4]


@pytest.mark.skipif(PROBED.wall is not Wall.BUBBLEWRAP, reason="only bubblewrap gives a network of its own")
def test_the_address_in_a_variable_is_an_endpoint(tmp_path: Path) -> None:
    with serving() as model:
        grounds = AgentAccess({"MY_BASE_URL": model.url}, variables=("MY_BASE_URL",))
        found = done(tmp_path, ASKING.format(model.url, 9), grounds)
    assert answer(found).split()[0] == "answered"


def test_what_the_network_will_be_is_said_before() -> None:
    settings = Settings(
        agents=(AgentSettings("mine", "x {task}"), AgentSettings("own", "x {task}", endpoints=("a.b",)))
    )
    held, open_ = Walls(Wall.BUBBLEWRAP, "bwrap"), Walls(Wall.LANDLOCK, abi=7)
    assert network_said("own", settings, {}, walls=held) == "Of the network it reaches only a.b."
    assert "no address of its model is known" in network_said("mine", settings, {}, walls=held)
    assert "is open: under landlock" in network_said("own", settings, {}, walls=open_)
    assert "only api.anthropic.com" in network_said("claude-code", settings, {}, walls=held)
    named = {"ANTHROPIC_BASE_URL": "https://gateway.local/x"}
    assert network_said("claude-code", settings, named, walls=held) == "Of the network it reaches only gateway.local."
