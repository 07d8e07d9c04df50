"""An agent of the person's own, started by a command behind walls: what it sees, and what an attempt of it tells."""

import os
import sys
from pathlib import Path
from threading import Event

import pytest

from whet.agent.tools import launcher
from whet.agent.tools.sandbox import Wall, Walls, probe
from whet.agents.executor import Carried, Errand, Validity
from whet.errors import WhetError
from whet.proving.executing import Grounds, carry_out, grounds_of
from whet.proving.executors import program_of, runner_named
from whet.runs.settings import AgentSettings, Settings

PROBED = probe(os.environ.get("PATH", ""))
WALLS = [PROBED, *([Walls(Wall.LANDLOCK, abi=launcher.version())] if launcher.version() else [])]
pytestmark = pytest.mark.skipif(PROBED.wall is Wall.NONE, reason="no sandbox here")


def done(folder: Path, script: str, grounds: Grounds | None = None, *, seconds: float = 60.0) -> Carried:
    """What came of an agent that runs its task as a shell script."""
    person = folder / "person"
    (folder / "trial" / "work").mkdir(parents=True)
    person.mkdir(exist_ok=True)
    runner = runner_named("mine", Settings(agents=(AgentSettings("mine", "/bin/sh -c {task}"),)))
    errand = Errand(script, folder / "trial" / "work", folder / "trial" / "config", seconds=seconds)
    base = {"PATH": os.environ["PATH"], "HOME": str(person)}
    given = grounds._replace(environment={**base, **grounds.environment}) if grounds else Grounds(base)
    return carry_out(runner, errand, program="/bin/sh", grounds=given, interrupt=Event())


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
    grounds = Grounds({}, hidden=(cases,), readable=(person / "tools",), walls=walls)
    found = done(tmp_path, script, grounds)
    assert answer(found) == "secret", "only the folder that the settings name"
    assert not (person / "x").exists()
    assert not (cases / "x").exists()


def test_it_gets_the_variables_and_files_that_the_settings_name_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "login.json").write_text("token")
    settings = Settings(agents=(AgentSettings("mine", "x {task}", config=(str(tmp_path / "login.json"),),
                                              variables=("MY_TOKEN",)),))  # fmt: skip
    grounds = grounds_of("mine", settings, {"MY_TOKEN": "given", "OTHER_TOKEN": "not"}, hidden=())
    found = done(tmp_path, 'echo "$MY_TOKEN-$OTHER_TOKEN-$(cat "$HOME/login.json")"', grounds)
    assert answer(found) == "given--token"


def test_a_file_for_its_login_that_is_not_there_is_the_persons_mistake(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"nothing\.json cannot be copied for mine"):
        done(tmp_path, "true", Grounds({}, config=(tmp_path / "nothing.json",)))


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
    found = done(tmp_path, "echo begun; sleep 600", seconds=1.0)
    assert (found.validity, found.validity.counts, answer(found)) == (Validity.TIMED_OUT, True, "begun")


def test_workspaces_in_the_persons_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="must not see"):
        done(tmp_path, "true", Grounds({"HOME": str(tmp_path)}))


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
