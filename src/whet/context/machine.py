"""What kind of machine the agent runs on, as words that guidance can ask for."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

SYSTEMS = {"darwin": "macos", "win32": "windows", "cygwin": "windows"}
KERNEL = Path("proc/sys/kernel/osrelease")
CONTAINER_MARKS = (Path(".dockerenv"), Path("run/.containerenv"))
CONTAINER_VARIABLES = ("container", "KUBERNETES_SERVICE_HOST")
OFF = ("", "0", "false", "no")


class Machine(NamedTuple):
    """Where to look."""

    variables: Mapping[str, str]
    root: Path
    system: str
    is_administrator: bool


def this_machine(variables: Mapping[str, str]) -> Machine:
    return Machine(variables, Path("/"), sys.platform, hasattr(os, "geteuid") and os.geteuid() == 0)


def environments(machine: Machine) -> tuple[str, ...]:
    """The words that fit, in the order of the alphabet."""
    variables = machine.variables
    facts = {
        "ci": variables.get("CI", "").lower() not in OFF,
        "container": any((machine.root / mark).exists() for mark in CONTAINER_MARKS)
        or any(variables.get(name) for name in CONTAINER_VARIABLES),
        "root": machine.is_administrator,
        "ssh": bool(variables.get("SSH_CONNECTION")),
        "termux": "TERMUX_VERSION" in variables or "com.termux" in variables.get("PREFIX", ""),
        "wsl": "microsoft" in _kernel(machine).lower(),
    }
    if machine.system in SYSTEMS:
        facts[SYSTEMS[machine.system]] = True
    return tuple(sorted(name for name, holds in facts.items() if holds))


def _kernel(machine: Machine) -> str:
    try:
        return (machine.root / KERNEL).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""  # not Linux, or closed to us: nothing speaks for WSL
