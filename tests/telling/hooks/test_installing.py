"""Hooks in the config home of an agent: put in once, taken out without a trace, and nothing of the person's touched."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from telling.hooks.hosts import PLUGIN
from whet.errors import WhetError
from whet.store.home import Home
from whet.telling.hooks.installing import are_installed, has_plugin, hooks_of, install_hooks, program_in, remove_hooks

HOSTS = ["claude-code", "codex", "gemini", "opencode"]
MINE = {"type": "command", "command": "say done"}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def content(config: Path) -> dict[str, bytes]:
    return {str(path.relative_to(config)): path.read_bytes() for path in config.rglob("*") if path.is_file()}


@pytest.mark.parametrize("agent", HOSTS)
def test_hooks_are_installed_once_and_removed_without_a_trace(agent: str, home: Home, tmp_path: Path) -> None:
    config = tmp_path / "config"
    assert not are_installed(agent, config)
    assert install_hooks(agent, config, home).is_changed
    assert are_installed(agent, config)
    before = content(config)
    assert not install_hooks(agent, config, home).is_changed
    assert content(config) == before
    assert remove_hooks(agent, config).is_changed
    assert content(config) == {}
    assert not are_installed(agent, config)
    assert not remove_hooks(agent, config).is_changed


@pytest.mark.parametrize("agent", HOSTS)
def test_hooks_find_the_program_by_its_own_path(agent: str, home: Home, tmp_path: Path) -> None:
    config, program = tmp_path / "config", tmp_path / "a venv" / "bin" / "whet"
    install_hooks(agent, config, home, program)
    assert are_installed(agent, config)
    assert program_in(agent, config) == str(program)
    assert install_hooks(agent, config, home).is_changed, "brought back to the PATH"
    assert program_in(agent, config) == ""
    assert not install_hooks(agent, config, home).is_changed
    install_hooks(agent, config, home, program)
    remove_hooks(agent, config)
    assert content(config) == {}


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini"])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_hook_runs_its_own_program_and_else_the_one_on_the_path(agent: str, is_there: bool, tmp_path: Path) -> None:
    for name in ("own venv", "path"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "whet").write_text(f"#!/bin/sh\necho {name}: $@\n")
        (tmp_path / name / "whet").chmod(0o755)
    program = tmp_path / "own venv" / "whet"
    [[group], *_] = hooks_of(agent, program)["hooks"].values()
    if not is_there:
        program.unlink()
    command, path = group["hooks"][0]["command"], f"{tmp_path / 'path'}:/usr/bin:/bin"
    done = subprocess.run(["/bin/sh", "-c", command], env={"PATH": path}, capture_output=True, text=True, check=True)
    assert done.stdout == f"{'own venv' if is_there else 'path'}: hook session-start --agent {agent}\n"


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini"])
@pytest.mark.parametrize(
    "mine",
    [
        {"model": "opus", "permissions": {"allow": ["Bash(ls:*)"]}},
        {"hooks": {"SessionStart": [{"hooks": [MINE]}], "Stop": [{"hooks": [MINE]}]}, "theme": "dark"},
        {"hooks": {"SessionEnd": [{"matcher": "clear", "hooks": [MINE]}]}},
    ],
)
def test_what_is_the_persons_stays(agent: str, mine: dict[str, Any], home: Home, tmp_path: Path) -> None:
    file = tmp_path / ("hooks.json" if agent == "codex" else "settings.json")
    file.write_text(json.dumps(mine))
    install_hooks(agent, tmp_path, home)
    found = json.loads(file.read_text())
    for event, groups in mine.get("hooks", {}).items():
        assert found["hooks"][event][: len(groups)] == groups
    assert {**found, "hooks": None} == {**mine, "hooks": None}
    remove_hooks(agent, tmp_path)
    assert json.loads(file.read_text()) == mine


@pytest.mark.parametrize("body", ["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": 3}}'])
def test_a_file_that_cannot_be_understood_is_left_alone(body: str, home: Home, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(body)
    with pytest.raises(WhetError):
        install_hooks("claude-code", tmp_path, home)
    assert (tmp_path / "settings.json").read_text() == body


@pytest.mark.parametrize(
    ("agent", "file", "body"),
    [
        ("claude-code", "settings.json", '{"enabledPlugins": {"whet@whet": true}}'),
        ("codex", "config.toml", '[plugins."whet@whet"]\nenabled = true\n'),
        ("gemini", "extensions/whet/gemini-extension.json", "{}"),
    ],
)
def test_who_has_the_plugin_gets_no_second_hooks(agent: str, file: str, body: str, home: Home, tmp_path: Path) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(body)
    assert has_plugin(agent, tmp_path)
    with pytest.raises(WhetError, match="has the plugin already"):
        install_hooks(agent, tmp_path, home)
    (tmp_path / file).write_text(body.replace("true", "false"))
    assert has_plugin(agent, tmp_path) is (agent == "gemini")


def test_an_agent_without_hooks_is_refused(home: Home, tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="no hooks for cursor"):
        install_hooks("cursor", tmp_path, home)


@pytest.mark.parametrize(
    ("agent", "file"),
    [("claude-code", "hooks/hooks.json"), ("codex", "hooks/codex.json"), ("gemini", "gemini/hooks/hooks.json")],
)
def test_the_plugin_has_the_same_hooks(agent: str, file: str) -> None:
    assert json.loads((PLUGIN / file).read_text()) == hooks_of(agent)


def test_the_plugin_has_the_same_script_for_opencode(home: Home, tmp_path: Path) -> None:
    install_hooks("opencode", tmp_path, home)
    assert (tmp_path / "plugins" / "whet.js").read_text() == (PLUGIN / "opencode" / "whet.js").read_text()
