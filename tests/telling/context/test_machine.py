"""Facts about the machine, from its files and variables."""

from pathlib import Path

import pytest

from whet.telling.context.gathering import Machine, environments, this_machine


def facts(root: Path, variables: dict[str, str] | None = None, *, system: str = "linux") -> tuple[str, ...]:
    return environments(Machine(variables or {}, root, system, False))


def test_a_plain_machine_has_nothing_special(tmp_path: Path) -> None:
    assert facts(tmp_path) == ()


def test_the_kernel_tells_wsl(tmp_path: Path) -> None:
    kernel = tmp_path / "proc" / "sys" / "kernel"
    kernel.mkdir(parents=True)
    (kernel / "osrelease").write_text("5.15.153.1-microsoft-standard-WSL2\n")
    assert facts(tmp_path) == ("wsl",)


@pytest.mark.parametrize("mark", [".dockerenv", "run/.containerenv"])
def test_a_mark_tells_a_container(tmp_path: Path, mark: str) -> None:
    (tmp_path / mark).parent.mkdir(exist_ok=True)
    (tmp_path / mark).touch()
    assert facts(tmp_path) == ("container",)


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        ({"TERMUX_VERSION": "0.118"}, ("termux",)),
        ({"PREFIX": "/data/data/com.termux/files/usr"}, ("termux",)),
        ({"CI": "true"}, ("ci",)),
        ({"CI": "false"}, ()),
        ({"SSH_CONNECTION": "10.0.0.1 22"}, ("ssh",)),
        ({"container": "podman", "CI": "1"}, ("ci", "container")),
    ],
)
def test_variables_tell(tmp_path: Path, variables: dict[str, str], found: tuple[str, ...]) -> None:
    assert facts(tmp_path, variables) == found


def test_the_system_and_the_administrator_are_told(tmp_path: Path) -> None:
    assert facts(tmp_path, system="darwin") == ("macos",)
    assert facts(tmp_path, system="win32") == ("windows",)
    assert environments(Machine({}, tmp_path, "linux", True)) == ("root",)


def test_this_machine_can_be_looked_at() -> None:
    assert set(environments(this_machine({"CI": "1"}))) >= {"ci"}
