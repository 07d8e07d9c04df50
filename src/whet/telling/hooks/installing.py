"""Hooks put into the config home of an agent without its plugin, and taken out again; nothing else there is touched.

They are the hooks of `plugins/whet`, word for word. A host with both would run both, so the plugin excludes them.
"""

import contextlib
import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from importlib.resources import files as resources
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from whet.agents.agent import AgentHooks
from whet.agents.places import own_folder
from whet.agents.registry import agents, hosts, known
from whet.errors import WhetError
from whet.store import files
from whet.store.home import Home, prepare_home
from whet.telling.hooks.events import CALL, END, FOLDER, REMINDERS, START, has_hooks

MARK = "whet hook "
# Where the program is, for an agent that does not have it on its PATH; what stands on the PATH is asked after that.
OWN_PATH = re.compile(r"^PATH=(?P<folder>'[^']*'|[^\s']+):\"\$PATH\" ")
OWN_PROGRAM = re.compile(rb'^const OWN = "(.*)"$', re.MULTILINE)
NAME = "whet"
PLUGIN = f"{NAME}@"  # as hosts name it, with the marketplace behind it
# A process for each call of a tool would cost too much: the host's shell looks first whether there is a reminder.
UNLESS = f'[ ! -s "${{WHET_HOME:-$HOME/.whet}}/{FOLDER}/{REMINDERS}" ] || '
START_SECONDS, CALL_SECONDS = 8, 3
USUAL_HOME = ".whet"


class HookChange(NamedTuple):
    """The file that an agent reads its hooks from, and whether it had to be changed."""

    path: Path
    is_changed: bool


def install_hooks(agent: str, config: Path, home: Home, program: Path | None = None) -> HookChange:
    """Have an agent call Whet when its sessions start, use the shell and end. What stands in its file stays.

    With a program the hooks find it also where the agent does not have it on its PATH.
    """
    if has_plugin(agent, config):
        raise WhetError(
            f"{agent} has the plugin already, and with further hooks its sessions would be told everything twice.",
            advice="Keep the plugin, or remove it first with the agent's own command.",
        )
    prepare_home(home)
    os.makedirs(home.folder / FOLDER, mode=0o700, exist_ok=True)  # from now on the rules are compiled for hooks
    its = host_hooks(agent)
    if its.script:
        return _put(config, its.file, _script(its, program))
    document = _document(config, its.file)
    hooks = _without_ours(document.get("hooks"), config / its.file)
    for event, groups in hooks_of(agent, program)["hooks"].items():
        hooks[event] = [*hooks.get(event, []), *groups]
    return _put(config, its.file, _encode({**document, "hooks": hooks}))


def remove_hooks(agent: str, config: Path) -> HookChange:
    """Take out what `install_hooks` put in; a file that holds nothing else goes too."""
    its = host_hooks(agent)
    if its.script:
        return _put(config, its.file, None)
    document = _document(config, its.file)
    before = document.pop("hooks", None)
    hooks = _without_ours(before, config / its.file)
    if hooks == (before or {}):
        return HookChange(config / its.file, False)
    left = {**document, "hooks": hooks} if hooks else document
    return _put(config, its.file, _encode(left) if left else None)


def are_installed(agent: str, config: Path) -> bool:
    """Whether all hooks of an agent stand in its config home; those of a plugin are the agent's own to list."""
    there, own = _standing(agent, config)
    return bool(there == own)


def are_outdated(agent: str, config: Path) -> bool:
    """Whether hooks of Whet stand there that are not those of this version."""
    there, own = _standing(agent, config)
    return bool(there) and there != own


def _standing(agent: str, config: Path) -> tuple[Any, Any]:
    """What stands of Whet's hooks in a config home, and what this version puts there."""
    its = host_hooks(agent)
    if its.script:
        return _script_there(its, config), _script(its)
    return _ours(agent, config), hooks_of(agent)["hooks"]


def has_plugin(agent: str, config: Path) -> bool:
    """Whether the plugin is installed and enabled in a config home, as the agent itself notes it."""
    host_hooks(agent)
    found = known(agent)
    plugin = found.plugin if found else None
    if plugin is None:
        return False
    if plugin.noted.endswith("/"):
        return (config / plugin.noted / NAME).exists()
    noted = _notes(config, plugin.notes).get(plugin.noted)
    listed = noted.items() if isinstance(noted, dict) else ()
    plugins = (how for name, how in listed if name.startswith(PLUGIN))
    return any(bool(how.get("enabled", True)) if isinstance(how, dict) else bool(how) for how in plugins)


def _notes(config: Path, name: str) -> dict[str, Any]:
    if not name.endswith(".toml"):
        return _document(config, name)
    try:
        return tomllib.loads((files.read(_place(config, name)) or b"").decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return {}  # the agent reads no plugin from it either


def program_in(agent: str, config: Path) -> str:
    """The program that hooks in a config home name by its whole path; empty where they trust in the agent's PATH."""
    its = host_hooks(agent)
    if its.script:
        found = OWN_PROGRAM.search(files.read(_place(config, its.file)) or b"")
        return str(msgspec.json.decode(b'"%b"' % found[1])) if found else ""
    hooks = _document(config, its.file).get("hooks")
    starts = hooks.get("SessionStart") if isinstance(hooks, dict) else None
    for group in starts if isinstance(starts, list) else ():
        found_path = OWN_PATH.match(group["hooks"][0]["command"]) if _is_ours(group) else None
        if found_path:
            return str(Path(shlex.split(found_path["folder"])[0], "whet"))
    return ""


def hooks_of(agent: str, program: Path | None = None) -> dict[str, Any]:
    """The hooks of an agent as its file spells them. A `whet` that fails or is gone is no failure of the hook.

    Where an agent whose time is up stops the shell alone, and waits for what that began, the shell gives way to `whet`.
    """
    its = host_hooks(agent)
    own = f'PATH={shlex.quote(str(program.parent))}:"$PATH" ' if program and "'" not in str(program) else ""

    def hooks(event: str, seconds: int, unless: str = "") -> list[dict[str, Any]]:
        call = f"{MARK}{event} --agent {agent}"
        command = unless + own + (f"exec {call}" if its.gives_way else f"{call} || :")
        return [{"type": "command", "command": command, "timeout": seconds * its.second}]

    return {
        "hooks": {
            "SessionStart": [{"hooks": hooks(START, START_SECONDS)}],
            its.at_call: [{"matcher": its.shell, "hooks": hooks(CALL, CALL_SECONDS, UNLESS)}],
            "SessionEnd": [{"hooks": hooks(END, its.end_seconds)}],
        }
    }


def _ours(agent: str, config: Path) -> dict[str, list[Any]]:
    """The hooks of Whet that stand in an agent's file."""
    hooks = _document(config, host_hooks(agent).file).get("hooks")
    named = hooks.items() if isinstance(hooks, dict) else ()
    lists = {event: groups for event, groups in named if isinstance(groups, list)}
    found = {event: [group for group in groups if _is_ours(group)] for event, groups in lists.items()}
    # As they stand where no program is named by its path.
    return {
        event: [
            {**group, "hooks": [{**each, "command": _bare(each["command"])} for each in group["hooks"]]}
            for group in groups
        ]
        for event, groups in found.items()
        if groups
    }


def _without_ours(hooks: Any, path: Path) -> dict[str, list[Any]]:
    """The hooks of others; an event that had ours alone is left out."""
    found = {} if hooks is None else hooks
    if not isinstance(found, dict) or not all(isinstance(groups, list) for groups in found.values()):
        raise WhetError(
            f"The hooks in {path} are not in the form that Whet knows.",
            advice="Put the file right, or install the plugin instead.",
        )
    kept = {event: [group for group in groups if not _is_ours(group)] for event, groups in found.items()}
    return {event: groups for event, groups in kept.items() if groups}


def _is_ours(group: Any) -> bool:
    calls = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(calls, list) or not all(isinstance(each, dict) for each in calls):
        return False
    commands = [each.get("command") for each in calls]
    return bool(commands) and all(
        isinstance(each, str) and _bare(each).removeprefix(UNLESS).startswith((MARK, f"exec {MARK}"))
        for each in commands
    )


def _bare(command: str) -> str:
    head = UNLESS if command.startswith(UNLESS) else ""
    return head + OWN_PATH.sub("", command.removeprefix(UNLESS))


def _document(config: Path, file: str) -> dict[str, Any]:
    body = files.read(_place(config, file))
    try:
        found = msgspec.json.decode(body) if body and body.strip() else {}
    except UnicodeDecodeError as error:
        raise _unreadable(config / file, "it is not UTF-8 text") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise _unreadable(config / file, str(error)) from error
    if not isinstance(found, dict):
        raise _unreadable(config / file, "it is not a JSON object")
    return found


def _unreadable(path: Path, why: str) -> WhetError:
    return WhetError(f"{path} cannot be read: {why}.", advice="Put the file right, then try again.")


def _put(config: Path, file: str, body: bytes | None) -> HookChange:
    """The file as it should be, written only where it differs; None takes it away."""
    there = _place(config, file)
    standing = files.read(there)
    if standing == body:
        return HookChange(there.path, False)
    if body is not None:
        config.mkdir(mode=0o700, parents=True, exist_ok=True)
        files.write(there, body, expected=standing)
    elif standing is not None:
        files.remove(there, expected=standing)
    return HookChange(there.path, True)


def _place(config: Path, file: str) -> files.Place:
    return files.beneath(Path(os.path.realpath(config)), *file.split("/"))


def _script_there(its: AgentHooks, config: Path) -> bytes | None:
    """The script in a config home as it stands where no program is named by its path."""
    found = files.read(_place(config, its.file))
    return None if found is None else OWN_PROGRAM.sub(b'const OWN = ""', found)


def _script(its: AgentHooks, program: Path | None = None) -> bytes:
    shipped = resources("whet.shipped").joinpath("plugins", "whet", its.script).read_bytes()
    return OWN_PROGRAM.sub(lambda _: b"const OWN = " + msgspec.json.encode(str(program or "")), shipped)


def _encode(document: dict[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def host_hooks(agent: str) -> AgentHooks:
    """What Whet knows of an agent's hooks; raises WhetError where it has none."""
    found = known(agent)
    if found is None or found.hooks is None:
        raise WhetError(f"Whet has no hooks for {agent}.", advice=f"Agents with hooks: {', '.join(hosts())}.")
    return found.hooks


def installed_hosts(home: Home, person: Path, environment: Mapping[str, str]) -> frozenset[str]:
    """The agents of a person whose plugin or hooks use this home, as their own files name them."""
    if home.folder != person / USUAL_HOME and not has_hooks(home.folder):
        return frozenset()  # agents call the usual home, unless they were set up for this one
    folders = {
        agent.name: own_folder(agent.files, person=person, environment=environment)
        for agent in agents()
        if agent.hooks and agent.files
    }
    return frozenset(name for name, config in folders.items() if config.is_dir() and _calls(name, config))


def _calls(agent: str, config: Path) -> bool:
    with contextlib.suppress(WhetError):  # a file that cannot be read: the agent does not read hooks from it either
        return has_plugin(agent, config) or are_installed(agent, config)
    return False
