"""The real programs of four hosts with the plugin in a config home of their own, and a model on loopback."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from command import COMMAND, environment
from proving.agents import MODELS, configure, program
from proving.obedient import Obedient

ROOT = Path(__file__).parents[3]
PLUGIN = ROOT / "src" / "whet" / "shipped" / "plugins" / "whet"
AGENTS = {"claude": "claude-code", "codex": "codex", "opencode": "opencode", "gemini": "gemini"}
TASK = "Run the tests."
SECONDS = 300


class Host(NamedTuple):
    """A program that is ready to run, with the plugin and the `whet` that its hooks find."""

    name: str
    path: str
    variables: dict[str, str]

    @property
    def agent(self) -> str:
        return AGENTS[self.name]

    def run(self, folder: Path, *options: str, task: str = TASK) -> subprocess.CompletedProcess[str]:
        """One task in a folder, as a person would give it without sitting there."""
        order = (f"--prompt={task}",) if self.name == "gemini" else ("--", task)
        return subprocess.run(
            [self.path, *ARGUMENTS[self.name], *options, *order],
            cwd=folder, env=self.variables, capture_output=True, text=True, timeout=SECONDS, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip


def install(name: str, tmp_path: Path, server: Obedient, *, whet: Path = COMMAND, plugin: bool = True) -> Host:
    """The program with the plugin installed as its own commands do it."""
    path, config, person = program(name), tmp_path / "config", tmp_path / "person"
    person.mkdir(exist_ok=True)
    found = {**environment(tmp_path / "home", person), **configure(name, config, server), **_variables(name, config)}
    found["PATH"] = os.pathsep.join([str(_only(whet, tmp_path / "bin")), _without_whet(os.environ["PATH"])])
    host = Host(name, path, found)
    if not plugin:
        return host
    for arguments in INSTALLING[name]:
        subprocess.run([path, *arguments], env=found, check=True, capture_output=True, timeout=SECONDS)
    if name == "opencode":
        plugins = config / "config" / "opencode" / "plugins"
        plugins.mkdir(parents=True)
        shutil.copy(PLUGIN / "opencode" / "whet.js", plugins)
    return host


def _only(whet: Path, folder: Path) -> Path:
    """A folder with this `whet` in it and nothing else; an empty one where there is none."""
    folder.mkdir()
    if whet.exists():
        (folder / "whet").symlink_to(whet)
    return folder


def _without_whet(path: str) -> str:
    return os.pathsep.join(each for each in path.split(os.pathsep) if not Path(each, "whet").exists())


def _variables(name: str, config: Path) -> dict[str, str]:
    if name == "opencode":
        return {
            "XDG_CONFIG_HOME": str(config / "config"), "XDG_DATA_HOME": str(config / "data"),
            "XDG_STATE_HOME": str(config / "state"), "XDG_CACHE_HOME": str(config / "cache"),
        }  # fmt: skip
    variable = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME", "gemini": "GEMINI_CLI_HOME"}[name]
    return {variable: str(config), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


INSTALLING: dict[str, tuple[tuple[str, ...], ...]] = {
    "claude": (("plugin", "marketplace", "add", str(ROOT)), ("plugin", "install", "whet@whet")),
    "codex": (("plugin", "marketplace", "add", str(ROOT)), ("plugin", "add", "whet@whet")),
    "gemini": (("extensions", "link", str(PLUGIN / "gemini"), "--consent"),),
    "opencode": (),
}
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "claude": ("-p", "--output-format", "json", "--model", MODELS["claude"], "--allowedTools", "Bash"),
    "codex": ("exec", "--json", "-s", "workspace-write", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
    "gemini": ("--output-format", "json", "--approval-mode", "yolo", "--skip-trust", "-m", MODELS["gemini"]),
    "opencode": ("run", "--format", "json", "-m", MODELS["opencode"]),
}
