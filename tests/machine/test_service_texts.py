"""Service files: whatever stands in a path, the machine reads it back as it was."""

import plistlib

from hypothesis import given
from hypothesis import strategies as st

from whet.machine.services import plist_text, unit_text

PATHS = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=("Cs", "Cc")), max_size=30)


@given(PATHS, PATHS)
def test_a_launchd_agent_runs_the_worker_with_its_home(program: str, home: str) -> None:
    found = plistlib.loads(plist_text(program, {"WHET_HOME": home}).encode())
    assert found["ProgramArguments"] == [program, "worker"]
    assert found["EnvironmentVariables"] == {"WHET_HOME": home}
    assert found["RunAtLoad"] is True
    assert found["KeepAlive"] == {"SuccessfulExit": False}


def test_a_unit_runs_the_worker_and_reads_keys_from_the_home() -> None:
    lines = unit_text("/opt/whet", {"WHET_HOME": "/h", "PATH": "/bin"}, home="/h").splitlines()
    assert 'ExecStart="/opt/whet" worker' in lines
    assert 'Environment="PATH=/bin"' in lines
    assert 'Environment="WHET_HOME=/h"' in lines
    assert "EnvironmentFile=-/h/worker.env" in lines
    assert "WantedBy=default.target" in lines


def test_what_systemd_would_read_as_its_own_is_escaped() -> None:
    text = unit_text('/a b/100%/$x/"q"/\\w', {"WHET_HOME": "/100%/$x"}, home="/100%")
    assert 'ExecStart="/a b/100%%/$$x/\\"q\\"/\\\\w" worker' in text
    assert 'Environment="WHET_HOME=/100%%/$x"' in text
    assert "EnvironmentFile=-/100%%/worker.env" in text
