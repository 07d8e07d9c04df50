"""Whose words a command takes for the person's: those typed on a terminal, and what the owner declared besides."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from agent.loopback import playing
from cli.chat.answers import calls, whet_at, words
from cli.chat.seat import seated
from command import COMMAND, KEPT_VARIABLES, Whet, allow, environment
from whet.agents.registry import agents
from whet.cli.acting import actor_of
from whet.ledger.entries import Actor

NOTE = "The bell rings at noon."
MARKS = (
    "CLINE_ACTIVE", "GOOSE_TERMINAL", "AMP_CURRENT_THREAD_ID", "QWEN_CODE", "AGENT", "AI_AGENT", "CLAUDECODE",
    "CODEX_CI", "GEMINI_CLI", "OPENCODE", "CURSOR_AGENT", "COPILOT_CLI", "PI_CODING_AGENT",
    "OPENCLAW_SHELL", "ANTIGRAVITY_AGENT", "CRUSH", "OPENCODE_PID", "COPILOT_LOADER_PID", "CLAUDE_CODE_REMOTE",
)  # fmt: skip
COMMANDS = (
    ("memory", "add", NOTE),
    ("rules", "add", "bell", NOTE),
    ("skills", "create", "ringing", "--description", "Ring the bell. Use at noon.", "-f", "-"),
    ("jobs", "add", "every 2h", NOTE, "--name", "bell"),
)


def put_in_force(home: Path) -> list[str]:
    """What stands in the files of the home."""
    return [name for name in ("memory.md", "skills/ringing/SKILL.md", "jobs/bell.toml") if (home / name).exists()]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_without_a_terminal_words_wait(whet: Whet, tmp_path: Path, command: tuple[str, ...]) -> None:
    done = whet(*command, stdin="Ring it.\n", allowed=False)
    assert done.code == 0
    assert "needs a person's approval" in done.out.lower()
    assert "trust.commands" in done.out
    assert put_in_force(tmp_path / "home") == []
    assert whet("rules", "--json").json == {"rules": []}
    assert len(whet("lessons", "--waiting", "--json").json["waiting"]) == 1


def test_it_takes_both_the_option_and_the_setting(whet: Whet, tmp_path: Path) -> None:
    whet("memory", "add", NOTE, "--yes", allowed=False)
    assert put_in_force(tmp_path / "home") == []
    allow(tmp_path / "home")
    whet("memory", "add", "The bell is of brass.", allowed=False)
    assert put_in_force(tmp_path / "home") == []
    whet("memory", "add", "The bell is from 1720.", "--yes", allowed=False)
    assert (tmp_path / "home" / "memory.md").read_text().count("The bell") == 1
    assert whet("memory", "add", "Eve rings it.", "--yes", variables={"CLAUDECODE": "1"}).code == 0
    assert "Eve" not in (tmp_path / "home" / "memory.md").read_text()


def test_on_a_terminal_words_are_the_persons(tmp_path: Path, person: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT_VARIABLES)}
    environment = {**kept, "HOME": str(person), "WHET_HOME": str(tmp_path / "home")}
    with seated([str(COMMAND), "memory", "add", NOTE], environment=environment, folder=tmp_path) as seat:
        seat.expect("Added note")
        assert seat.leave() == 0
    assert put_in_force(tmp_path / "home") == ["memory.md"]


@pytest.mark.parametrize("key", ["trust.projects", "trust.commands"])
def test_whom_to_trust_is_said_on_a_terminal_only(whet: Whet, tmp_path: Path, key: str) -> None:
    done = whet("config", key, "true" if key == "trust.commands" else str(tmp_path))
    assert done.code == 1
    assert "terminal" in done.err
    allow(tmp_path / "home")
    assert whet("config", "--unset", "trust.commands").code == 1


def test_a_task_that_was_piped_in_is_carried_out_and_is_not_the_persons_word(tmp_path: Path, person: Path) -> None:
    noted = calls("memory", action="add", text=NOTE)
    with playing(noted, words("Noted."), noted, words("Noted.")) as server:
        whet = whet_at(tmp_path / "home", person, server.base_url)
        assert whet("run", stdin=f"{NOTE}\n").out == "Noted.\n"
        assert put_in_force(tmp_path / "home") == []
        assert whet("run", NOTE).out == "Noted.\n"
        assert put_in_force(tmp_path / "home") == ["memory.md"]


def test_a_task_that_an_agent_gives_is_not_the_persons_word(tmp_path: Path, person: Path) -> None:
    with playing(calls("memory", action="add", text=NOTE), words("Noted.")) as server:
        whet = whet_at(tmp_path / "home", person, server.base_url)
        assert whet("run", NOTE, variables={"CODEX_SANDBOX": "1"}).code == 0
    assert put_in_force(tmp_path / "home") == []


@pytest.mark.parametrize("is_declared", [False, True])
def test_a_project_that_its_owner_declared_teaches_without_asking(
    tmp_path: Path, person: Path, is_declared: bool
) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "AGENTS.md").write_text("Use tabs.\n")
    (project / "bells.txt").write_text("Seven bells.\n")
    plays = (
        calls("read_file", path="bells.txt"),
        calls("memory", action="add", text="There are seven bells in the tower."),
        words("Noted."),
    )
    with playing(*plays) as server:
        whet = whet_at(tmp_path / "home", person, server.base_url)
        if is_declared:
            with (tmp_path / "home" / "settings.toml").open("a") as settings:
                settings.write(f'[trust]\nprojects = ["{project}"]\n')
        done = whet("run", "How many bells?", "--folder", str(project))
        assert done.code == 0, done.err
    shown = whet("chat", "--prompt", "--folder", str(project), "--json").json
    trusts = {part["name"]: part["trust"] for part in shown["parts"]}
    assert put_in_force(tmp_path / "home") == (["memory.md"] if is_declared else [])
    assert shown["trusted_project"] == (str(project) if is_declared else None)
    assert trusts["files: AGENTS.md"] == ("tool" if is_declared else "external")
    if is_declared:
        assert "trust.projects" in done.err
        assert "trust.projects" in whet("chat", "--prompt", "--folder", str(project)).out
        [entry] = [each for each in whet("ledger", "--json").json["entries"] if each["step"] == "applied"]
        assert f"counts as the owner's words, by the setting trust.projects ({project})" in entry["reason"]


def test_a_shell_with_the_marks_of_an_agent_is_no_persons(whet: Whet, tmp_path: Path) -> None:
    assert {name for name in MARKS if actor_of({name: "1"}) is Actor.PERSON} == set()
    whet("memory", "add", NOTE, variables={MARKS[0]: "1"})
    assert put_in_force(tmp_path / "home") == []


def test_the_programs_of_agents_are_known() -> None:
    assert {"aider", "goose", "amp", "cline", "qwen", "claude"} <= {name for each in agents() for name in each.programs}


@pytest.mark.parametrize("program", ["aider", "claude"])
@pytest.mark.parametrize("own_session", [False, True])
def test_a_shell_below_an_agent_is_no_persons_without_any_mark(
    tmp_path: Path, person: Path, program: str, own_session: bool
) -> None:
    home = tmp_path / "home"
    allow(home)
    setsid = "setsid -w " if own_session else ""
    line = f"{setsid}bash -c '{COMMAND} memory add --yes \"{NOTE}\"; true'; true"
    command = ["bash", "-c", f"exec -a {program} bash -c {shlex.quote(line)}"]
    subprocess.run(command, env=environment(home, person), check=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert put_in_force(home) == []


def test_a_shell_below_an_agent_is_no_persons_in_a_terminal_of_its_own(tmp_path: Path, person: Path) -> None:
    home = tmp_path / "home"
    allow(home)
    line = f"setsid -w script -qec '{COMMAND} memory add --yes \"{NOTE}\"' /dev/null; true"
    command = ["bash", "-c", f"exec -a claude bash -c {shlex.quote(line)}"]
    subprocess.run(command, env=environment(home, person), check=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert put_in_force(home) == []


@pytest.mark.parametrize(
    "place",
    [
        "node_modules/@anthropic-ai/claude-code/cli.sh",
        "node_modules/cline/dist/cli.sh",
        "codex-x86_64-unknown-linux-musl",
    ],
)
def test_an_agent_is_known_by_its_package_and_beneath_the_name_of_a_release(
    tmp_path: Path, person: Path, place: str
) -> None:
    home = tmp_path / "home"
    allow(home)
    script = tmp_path / place
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f"{COMMAND} memory add --yes '{NOTE}'\ntrue\n")
    run = ["bash", str(script)] if "/" in place else ["bash", "-c", f"exec -a {place} bash {script}"]
    subprocess.run(run, env=environment(home, person), check=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert put_in_force(home) == []


def test_a_shell_that_a_script_of_an_agents_name_opened_is_no_persons(tmp_path: Path, person: Path) -> None:
    home = tmp_path / "home"
    allow(home)
    script = tmp_path / "aider"
    script.write_text(f"#!/bin/bash\n{COMMAND} memory add --yes '{NOTE}'\ntrue\n")
    script.chmod(0o755)
    subprocess.run([script], env=environment(home, person), check=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert put_in_force(home) == []
