"""The plugin from an installed package: `whet setup` has each agent's own program install it, and take it back."""

import json
import os
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from command import Whet, allow, environment
from installed import Installed
from lengths import long
from proving.agents import program
from telling.hooks.hosts import PLUGIN, ROOT
from whet.machine.plugins import lay_out
from whet.store.home import Home
from whet.telling.hooks.installing import are_installed, has_plugin

REST = ("--without", "import", "--without", "target", "--without", "service", "--without", "nightly", "--yes")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("wheel"), ROOT)


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """A person with Claude Code and Codex, whose yes counts without a terminal."""
    person = tmp_path / "person"
    (person / ".claude").mkdir(parents=True)
    (person / ".codex").mkdir()
    allow(tmp_path / "home")
    (tmp_path / "bin").mkdir()
    found = {each: value for each, value in environment(tmp_path / "home", person).items() if each != "PYTHONPATH"}
    return {**found, "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}


def stub(tmp_path: Path, name: str, body: str) -> None:
    path = tmp_path / "bin" / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def content(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(folder)), path.read_bytes()


def test_the_package_is_the_one_from_the_wheel(installed: Installed, variables: dict[str, str]) -> None:
    code = "import whet; print(whet.__file__)"
    found = subprocess.run([installed.python, "-c", code], env=variables, capture_output=True, text=True, check=True)
    assert found.stdout.startswith(str(installed.folder))


def test_what_is_laid_out_is_the_whole_plugin(tmp_path: Path) -> None:
    folder = lay_out(Home(tmp_path / "home"))
    laid = dict(content(folder / "whet"))
    assert {name: laid[name] for name, _ in content(PLUGIN)} == dict(content(PLUGIN))
    assert laid["gemini/skills/whet/SKILL.md"] == laid["skills/whet/SKILL.md"]
    [entry] = json.loads((folder / ".claude-plugin" / "marketplace.json").read_text())["plugins"]
    assert (folder / entry["source"]).resolve() == folder / "whet"
    assert lay_out(Home(tmp_path / "home")) == folder, "a second time changes nothing"


def test_the_agents_own_program_installs_the_plugin_and_removes_it(
    installed: Installed, variables: dict[str, str], tmp_path: Path
) -> None:
    noted = '{"enabledPlugins": {"whet@whet": true}}'
    install = f"echo '{noted}' > $HOME/.claude/settings.json"
    stub(tmp_path, "claude", f'echo "$@" >> {tmp_path}/asked; [ "$2" = install ] && {install}; :')
    shown = installed.run("setup", *REST, variables=variables)
    assert "Installed the plugin in claude-code" in shown
    folder = tmp_path / "home" / "plugin"
    wanted = [f"plugin marketplace add {folder}", "plugin install whet@whet"]
    assert (tmp_path / "asked").read_text().splitlines() == wanted
    assert dict(content(folder / "whet"))["commands/learn.md"] == (PLUGIN / "commands" / "learn.md").read_bytes()
    config = tmp_path / "person"
    assert not are_installed("claude-code", config / ".claude"), "the plugin has the hooks"
    assert are_installed("codex", config / ".codex"), "an agent whose program is not found gets the hooks"
    assert "claude-code" in json.loads(installed.run("status", "--json", variables=variables))["hooks"]
    installed.run("setup", "--undo", "--yes", variables=variables)
    assert (tmp_path / "asked").read_text().splitlines()[2:] == [
        "plugin uninstall whet@whet",
        "plugin marketplace remove whet",
    ]
    assert dict(content(config)) == {}
    assert not folder.exists()


@pytest.fixture
def setup(whet: Whet, variables: dict[str, str]) -> Whet:
    """`whet setup` on that machine, for what does not ask where Whet was installed from."""
    return partial(whet, "setup", variables={"PATH": variables["PATH"]})


def test_the_plugin_of_an_older_whet_is_brought_up_to_date(setup: Whet, tmp_path: Path) -> None:
    noted = '{"enabledPlugins": {"whet@whet": true}}'
    install = f"echo '{noted}' > $HOME/.claude/settings.json"
    stub(tmp_path, "claude", f'echo "$2 $3" >> {tmp_path}/asked; [ "$2" = install ] && {install}; :')
    setup(*REST)
    record = tmp_path / "home" / "setup.json"
    known = json.loads(record.read_text())
    known["hooks"][0]["plugin"] = "another"
    record.write_text(json.dumps(known))
    (tmp_path / "asked").unlink()
    assert "Installed the plugin in claude-code" in setup(*REST).out
    wanted = ["uninstall whet@whet", "marketplace remove", "marketplace add", "install whet@whet"]
    assert (tmp_path / "asked").read_text().splitlines() == wanted
    assert "Nothing to change." in setup(*REST).out
    assert setup("--undo", "--yes").code == 0
    assert dict(content(tmp_path / "person")) == {}


def test_hooks_are_added_where_the_plugin_cannot_be(setup: Whet, tmp_path: Path) -> None:
    stub(tmp_path, "claude", "exit 1")
    assert "Added hooks to" in setup(*REST).out
    assert are_installed("claude-code", tmp_path / "person" / ".claude")


def test_a_plugin_that_cannot_be_removed_is_named_and_stays_on_record(setup: Whet, tmp_path: Path) -> None:
    settings = tmp_path / "person" / ".claude" / "settings.json"
    stub(tmp_path, "claude", "exit 0")
    setup(*REST)
    settings.write_text('{"enabledPlugins": {"whet@whet": true}}')
    stub(tmp_path, "claude", "exit 1")
    left = setup("--undo", "--yes")
    assert (left.code, "claude plugin uninstall whet@whet" in " ".join(left.out.split())) == (1, True)
    settings.unlink()
    assert setup("--undo", "--yes").code == 0
    assert not (tmp_path / "home" / "setup.json").exists()


def copies(config: Path) -> list[Path]:
    """The hooks in the copies that a program made of the plugin."""
    found = [path for path in config.rglob("hooks/*.json") if "gemini" not in path.parts]
    assert found
    return found


def age(home: Path, config: Path) -> None:
    """Have the plugin as an older Whet installed it."""
    for path in copies(config):
        hooks = json.loads(path.read_text())
        del hooks["hooks"]["PreToolUse"]
        path.write_text(json.dumps(hooks))
    record = home / "setup.json"
    known = json.loads(record.read_text())
    known["hooks"] = [{**each, "plugin": ""} for each in known["hooks"]]
    record.write_text(json.dumps(known))


@long
@pytest.mark.parametrize(("name", "agent"), [("claude", "claude-code"), ("codex", "codex")])
def test_real_programs_take_the_plugin_from_the_wheel(
    name: str, agent: str, installed: Installed, variables: dict[str, str], tmp_path: Path
) -> None:
    own = Path(program(name))
    variables["PATH"] = os.pathsep.join([str(own.parent), variables["PATH"]])
    config = tmp_path / "person" / f".{name}"
    assert not has_plugin(agent, config)
    assert f"Installed the plugin in {agent}" in installed.run("setup", *REST, variables=variables)
    assert has_plugin(agent, config)
    assert "done already" in installed.run("setup", "--dry-run", variables=variables)
    age(tmp_path / "home", config)
    assert "Bring Whet's hooks" in installed.run("setup", "--dry-run", variables=variables)
    installed.run("setup", *REST, variables=variables)
    assert [path for path in copies(config) if "PreToolUse" not in path.read_text()] == []
    installed.run("setup", "--undo", "--yes", variables=variables)
    assert not has_plugin(agent, config)
