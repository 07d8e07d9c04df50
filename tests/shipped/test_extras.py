"""The advice to add an extra names what this Whet was installed from, and never a package of a stranger's."""

import pytest

from whet.shipped.extras import command_for, how_to_add

PRESENT = ["web"]


@pytest.mark.parametrize(
    ("prefix", "origin", "command"),
    [
        ("/home/a/venv", "/home/a/whet", "pip install '/home/a/whet[work]'"),
        ("/home/a/venv", "git+https://x.org/w.git", "pip install 'whet[work] @ git+https://x.org/w.git'"),
        ("/home/a/venv", "", "pip install '.[work]' in a clone of Whet"),
        ("/home/a/.local/share/uv/tools/whet", "/home/a/whet", "uv tool install --force '/home/a/whet[web,work]'"),
        ("/home/a/.local/pipx/venvs/whet", "/home/a/whet", "pipx install --force '/home/a/whet[web,work]'"),
    ],
)
def test_the_command_is_that_of_who_installed_it(prefix: str, origin: str, command: str) -> None:
    assert command_for(["work"], origin, prefix=prefix, present=PRESENT) == command


def test_several_extras_are_added_by_one_command() -> None:
    command = command_for(["work", "mcp"], "/home/a/whet", prefix="/home/a/venv", present=PRESENT)
    assert command == "pip install '/home/a/whet[mcp,work]'"


def test_this_whet_is_installed_from_where_it_came() -> None:
    command = how_to_add("work")
    assert "'whet[" not in command or " @ " in command
    assert "[work]" in command
