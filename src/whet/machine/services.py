"""The worker as a service of the person who runs Whet: its file, and the program of the machine that starts it.

A systemd user unit, or a launchd agent.
"""

import os
import plistlib
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from whet.errors import WhetError
from whet.shipped.extras import FOR_SETUP, how_to_add, is_there
from whet.store.home import Home

UNIT_NAME = "whet-worker.service"
LABEL = "whet.worker"
KEYS_FILE = "worker.env"
SECONDS = 30
# The address of a shared database may hold a password, which must not stand in a file of the machine.
PASSED_ON = ("PATH", "WHET_HOME")

UNIT = """\
# Written by `whet setup`; `whet setup --undo` removes it.
[Unit]
Description=Whet: background work

[Service]
ExecStart={command}
{environment}
# API keys for background work, as NAME=value lines; the file may be missing.
EnvironmentFile=-{keys}
Restart=on-failure
RestartSec=30
Nice=10

[Install]
WantedBy=default.target
"""
Control = Callable[[tuple[str, ...]], bool]


class Service(NamedTuple):
    """How this machine runs the worker: its file, and what starts and stops it. Without a kind, it cannot."""

    kind: str = ""  # systemd or launchd
    path: Path = Path()
    text: str = ""
    start: tuple[tuple[str, ...], ...] = ()
    stop: tuple[tuple[str, ...], ...] = ()
    after_removal: tuple[tuple[str, ...], ...] = ()
    why_not: str = ""


def control(command: tuple[str, ...]) -> bool:
    """Run one command of this machine's or an agent's own program; whether it worked. The only place that does."""
    nothing = subprocess.DEVNULL  # a question has no one to answer it, and no one reads what is said
    try:
        started = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
    except OSError:
        return False
    try:
        return started.wait(SECONDS) == 0
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)  # with what it started: some programs start themselves once more
        started.wait()
        return False


def service_for(
    home: Home, person: Path, environment: Mapping[str, str], *, program: Path, platform: str, run: Control = control
) -> Service:
    """The service of this machine, or why there is none."""
    if home.database_url:
        why = "WHET_DATABASE_URL is set, and its password must not stand in a service file: run `whet worker` yourself"
        return Service(why_not=why)
    if not is_there("work"):
        missing = [extra for extra in FOR_SETUP if not is_there(extra)]
        return Service(why_not=f"background work needs a library: run `{how_to_add(*missing)}`")
    passed = {name: environment[name] for name in PASSED_ON if environment.get(name)} | {"WHET_HOME": str(home.folder)}
    if any("\n" in value for value in passed.values()):
        return Service(why_not="a path contains a line break")
    if platform == "darwin":
        return _launchd(person, program, passed)
    if not run(("systemctl", "--user", "show-environment")):
        return Service(why_not="systemd runs no services for you here: run `whet worker` yourself")
    folder = Path(environment.get("XDG_CONFIG_HOME") or person / ".config") / "systemd" / "user"
    systemctl = ("systemctl", "--user")
    return Service(
        "systemd",
        folder / UNIT_NAME,
        unit_text(str(program), passed, home=str(home.folder)),
        start=((*systemctl, "daemon-reload"), (*systemctl, "enable", "--now", UNIT_NAME)),
        stop=((*systemctl, "disable", "--now", UNIT_NAME),),
        after_removal=((*systemctl, "daemon-reload"),),
    )


def _launchd(person: Path, program: Path, passed: Mapping[str, str]) -> Service:
    path = person / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    domain = f"gui/{os.getuid()}"
    return Service(
        "launchd",
        path,
        plist_text(str(program), passed),
        start=(("launchctl", "bootstrap", domain, str(path)),),
        stop=(("launchctl", "bootout", f"{domain}/{LABEL}"),),
    )


def start(service: Service, run: Control = control) -> None:
    """Have the machine run the worker, now and from its next start on."""
    for command in service.start:
        if not run(command):
            raise WhetError(
                f"The service was written to {service.path}, but did not start: `{' '.join(command)}` failed.",
                advice="Run that command to see why, or `whet setup --undo` to remove the service.",
            )


def unit_text(program: str, environment: Mapping[str, str], *, home: str) -> str:
    """A systemd user unit that runs the worker; what systemd would read as its own is escaped."""
    lines = [f"Environment={_quoted(f'{name}={value}')}" for name, value in sorted(environment.items())]
    keys = f"{home}/{KEYS_FILE}".replace("%", "%%")
    return UNIT.format(command=f"{_quoted(program, '$')} worker", environment="\n".join(lines), keys=keys)


def plist_text(program: str, environment: Mapping[str, str]) -> str:
    """A launchd agent that runs the worker, from login on, and again where it fails."""
    agent = {
        "Label": LABEL,
        "ProgramArguments": [program, "worker"],
        "EnvironmentVariables": dict(environment),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
    }
    return plistlib.dumps(agent).decode()


def _quoted(text: str, doubled: str = "") -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    for character in ("%", *doubled):
        plain = plain.replace(character, character * 2)
    return f'"{plain}"'
