"""Hooks in the config home of an agent: put in once, taken out without a trace, and nothing of the person's touched."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from command import Whet
from telling.hooks.hosts import PLUGIN, ROOT
from whet import __version__
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


MANIFESTS = [".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "gemini/gemini-extension.json"]
PAGES = sorted([*PLUGIN.glob("commands/*.md"), *PLUGIN.glob("skills/*/SKILL.md")])


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_every_manifest_names_this_version(manifest: str) -> None:
    found = json.loads((PLUGIN / manifest).read_text())
    assert (found["name"], found["version"]) == ("whet", __version__)


def test_the_marketplace_leads_to_the_plugin() -> None:
    [entry] = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())["plugins"]
    assert (ROOT / entry["source"]).resolve() == PLUGIN


def test_the_package_has_the_same_marketplace() -> None:
    own, shipped = (
        json.loads((folder / ".claude-plugin" / "marketplace.json").read_text()) for folder in (ROOT, PLUGIN.parent)
    )
    [entry] = shipped["plugins"]
    assert (PLUGIN.parent / entry["source"]).resolve() == PLUGIN
    entry["source"] = own["plugins"][0]["source"]
    assert shipped == own


def test_every_host_brings_the_mcp_server() -> None:
    server = {"whet": {"command": "whet", "args": ["mcp"]}}
    assert json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"] == server
    assert json.loads((PLUGIN / ".codex-plugin" / "plugin.json").read_text())["mcpServers"] == "./.mcp.json"
    geminis = json.loads((PLUGIN / "gemini" / "gemini-extension.json").read_text())["mcpServers"]["whet"]
    assert 0 < geminis.pop("timeout") <= 30_000, "it waits for its servers, ten minutes by default"
    assert geminis == server["whet"]
    assert 'command: ["whet", "mcp"]' in (PLUGIN / "opencode" / "whet.js").read_text()


def test_all_hosts_share_one_folder_of_skills() -> None:
    assert (PLUGIN / "gemini" / "skills").resolve() == PLUGIN / "skills"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_every_command_that_a_page_names_is_one(page: Path, whet: Whet) -> None:
    named = {tuple(found.split()) for found in re.findall(r"`whet ((?:[a-z]+ ?){1,2})", page.read_text())}
    assert named
    for words in named:
        done = whet(words[0], "--help")
        assert done.code == 0, f"{page.name} names whet {words[0]}"
        if len(words) > 1:
            assert words[1] in done.out, f"{page.name} names whet {' '.join(words)}"
