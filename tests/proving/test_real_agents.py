"""The real programs of other agents carry out an errand against a model on loopback, and leave their record."""

import json
import os
import subprocess
from pathlib import Path
from threading import Event

import pytest

from lengths import long
from proving.agents import MODELS, NAMES, configure, instructions, program
from proving.obedient import Mind, obedient
from whet.agent.tools import launcher
from whet.agent.tools.sandbox import Wall, Walls
from whet.agents.executor import Carried, ProgramTask, Validity
from whet.proving.executing import AgentAccess, carry_out
from whet.proving.executors import runner_named, version_of
from whet.sessions.lineage import is_typed
from whet.sessions.tool_families import command_of

MIND = Mind(rule="./dev test", told="./dev test", untold="pytest -q")
RULE = "In this project run the tests with `./dev test`; plain `pytest` fails.\n"
TASK = "--help: run the tests."  # it begins like an option, and is none
SAMPLED = [NAMES[0], *(pytest.param(name, marks=long) for name in NAMES[1:])]


def workspace(folder: Path) -> Path:
    work = folder / "work"
    work.mkdir()
    (work / "dev").write_text("#!/bin/sh\necho all passed\ntouch ran\n")
    (work / "dev").chmod(0o755)
    subprocess.run(["git", "init", "-q"], cwd=work, check=True)
    return work


def carried(
    name: str, folder: Path, *, told: bool, refuse_with: int = 0, walls: Walls | None = None
) -> tuple[Carried, Path]:
    found = program(name)
    work = workspace(folder)
    runner = runner_named(name)
    if told:
        (work / instructions(name)).write_text(RULE)
    with obedient(MIND) as server:
        server.refuse_with = refuse_with
        environment = configure(name, folder / "config", server)
        errand = ProgramTask(TASK, work, folder / "config", model=MODELS[name], seconds=300.0)
        return carry_out(
            runner, errand, program=found, grounds=AgentAccess(environment, walls=walls), interrupt=Event()
        ), work


@pytest.mark.parametrize("name", SAMPLED)
def test_an_agent_does_what_its_instructions_say_and_its_record_comes_back(name: str, tmp_path: Path) -> None:
    found, work = carried(name, tmp_path, told=True)
    assert (found.validity, found.why) == (Validity.VALID, "")
    assert found.transcript is not None
    said = [message.text.strip('"') for message in found.transcript.messages if is_typed(message)]
    assert said == [TASK]
    calls = [call for message in found.transcript.messages for call in message.calls]
    assert [command_of(call) for call in calls] == ["./dev test"]
    assert (work / "ran").exists()
    assert found.usage.input > 0
    assert found.model
    assert found.version or version_of(runner_named(name), program(name), os.environ)


@long
def test_hermes_begins_with_examples(tmp_path: Path) -> None:
    example = [{"role": "user", "content": "Check it."}, {"role": "assistant", "content": "All is well."}]
    with obedient(MIND) as server:
        environment = configure("hermes", tmp_path / "config", server)
        errand = ProgramTask(TASK, workspace(tmp_path), tmp_path / "config", model="m", examples=json.dumps(example))
        hermes, found = runner_named("hermes"), program("hermes")
        carried = carry_out(hermes, errand, program=found, grounds=AgentAccess(environment), interrupt=Event())
        first = server.asked[0][1]["messages"]
    assert [message["content"] for message in first[1:]] == ["Check it.", "All is well.", TASK]
    assert carried.validity is Validity.VALID


@long
@pytest.mark.parametrize("name", NAMES)
def test_without_the_rule_it_does_something_else(name: str, tmp_path: Path) -> None:
    found, work = carried(name, tmp_path, told=False)
    assert found.transcript is not None
    calls = [call for message in found.transcript.messages for call in message.calls]
    assert [command_of(call) for call in calls] == ["pytest -q"]
    assert not (work / "ran").exists()


@long
@pytest.mark.skipif(not launcher.version(), reason="the kernel has no Landlock")
@pytest.mark.parametrize("name", NAMES)
def test_it_works_behind_landlock_too(name: str, tmp_path: Path) -> None:
    found, work = carried(name, tmp_path, told=True, walls=Walls(Wall.LANDLOCK, abi=launcher.version()))
    assert (found.validity, found.why) == (Validity.VALID, "")
    assert (work / "ran").exists()


@long
@pytest.mark.parametrize("name", NAMES)
def test_a_login_that_is_refused_makes_no_valid_attempt(name: str, tmp_path: Path) -> None:
    found, _ = carried(name, tmp_path, told=True, refuse_with=401)
    assert (found.validity, bool(found.why)) == (Validity.NO_LOGIN, True)
