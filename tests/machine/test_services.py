"""The service of each kind of machine, chosen by its name."""

import os
import plistlib
from pathlib import Path

from whet.machine.services import Service, service_for
from whet.store.home import Home

# What launchd.plist(5) calls these keys, and the types that it reads there.
LAUNCHD_TYPES = {
    "Label": str,
    "ProgramArguments": list,
    "EnvironmentVariables": dict,
    "RunAtLoad": bool,
    "KeepAlive": dict,
    "ProcessType": str,
}


def service_of(platform: str, *, answers: bool = True, database: str = "") -> Service:
    variables = {"PATH": "/opt/homebrew/bin:/usr/bin", "OPENAI_API_KEY": "sk-secret"}
    home = Home(Path("/Users/ann/.whet"), database)
    program = Path("/Users/ann/.local/bin/whet")
    return service_for(home, Path("/Users/ann"), variables, program=program, platform=platform, run=lambda _: answers)


def test_a_mac_has_a_launchd_agent_of_the_person() -> None:
    service = service_of("darwin")
    assert service.kind == "launchd"
    assert service.path == Path("/Users/ann/Library/LaunchAgents/whet.worker.plist")
    assert service.start == (("launchctl", "bootstrap", f"gui/{os.getuid()}", str(service.path)),)
    assert service.stop == (("launchctl", "bootout", f"gui/{os.getuid()}/whet.worker"),)


def test_a_launchd_agent_has_only_keys_that_launchd_knows_and_no_secret() -> None:
    found = plistlib.loads(service_of("darwin").text.encode())
    assert {name: type(value) for name, value in found.items()} == LAUNCHD_TYPES
    assert found["Label"] == service_of("darwin").path.stem
    assert found["EnvironmentVariables"] == {"PATH": "/opt/homebrew/bin:/usr/bin", "WHET_HOME": "/Users/ann/.whet"}


def test_linux_has_a_systemd_unit_where_systemd_answers() -> None:
    assert service_of("linux").path == Path("/Users/ann/.config/systemd/user/whet-worker.service")
    assert "whet worker" in service_of("linux", answers=False).why_not


def test_the_password_of_a_database_stands_in_no_file() -> None:
    for platform in ("darwin", "linux"):
        assert service_of(platform, database="postgresql://ann:secret@host/whet").text == ""
