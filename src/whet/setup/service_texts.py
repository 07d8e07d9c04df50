"""The files that have a machine run the worker: a systemd user unit, or a launchd agent. Pure text."""

import plistlib
from collections.abc import Mapping

UNIT_NAME = "whet-worker.service"
LABEL = "whet.worker"
KEYS_FILE = "worker.env"

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
