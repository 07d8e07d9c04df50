"""The tutorial and the first commands of the README, run as they are written."""

import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from command import COMMAND, on_a_terminal
from lengths import long
from proving.obedient import PlannedCall, obedient

ROOT = Path(__file__).parents[1]
MODULES = "cart|price|stock|order|mail|tax|login|refund|search|coupon|ship|invoice"
OWN_WORDS = "# The shop\n\n- Prices are in cents.\n"


class RuleFollower(NamedTuple):
    """A model that runs the tests of the module it is asked about: as it is told, else with pytest."""

    plan: tuple[PlannedCall, ...] = ()

    def next(self, told: str, results: list[str]) -> str:  # noqa: ARG002 - a step has none
        module = re.search(rf"\b({MODULES})\b", told)
        if module is None:
            return ""
        knows = "run `./dev test" in told
        return f"./dev test {module[1]}" if knows else f"python -m pytest tests/test_{module[1]}.py"


def blocks(page: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)


def run_on_a_terminal(tmp_path: Path, commands: str, variables: dict[str, str], *, key: str = "") -> tuple[int, str]:
    """Run commands in one shell, in a folder that has the examples; the key decides on a change that waits."""
    shutil.copytree(ROOT / "examples", tmp_path / "clone" / "examples")
    script = tmp_path / "commands.sh"
    script.write_text(f"set -eu\ncd {tmp_path / 'clone'}\nPATH={COMMAND.parent}:$PATH\n{commands}")
    return on_a_terminal(
        tmp_path, key, program=("bash", str(script)), columns=160, prompt="q quit", variables=variables
    )


@pytest.fixture
def shown(tmp_path: Path) -> str:
    """What a person sees who runs the whole tutorial and approves the rule."""
    with obedient(RuleFollower()) as server:
        variables = {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": server.url, "NO_PROXY": "127.0.0.1"}
        commands = "".join(blocks("docs/tutorial.md", "sh"))
        code, shown = run_on_a_terminal(tmp_path, commands, variables, key="a")
    assert code == 0, shown
    return shown.replace("\r\n", "\n")


@long
def test_the_tutorial_proves_a_rule_and_takes_it_back(shown: str, tmp_path: Path) -> None:
    told = [line for block in blocks("docs/tutorial.md", "text") for line in block.splitlines()]
    assert told
    for line in told:
        assert line in shown
    assert "accepted" in shown
    assert "10 of 10" in shown
    assert shown.endswith(OWN_WORDS)
    assert (tmp_path / "clone" / "build" / "tutorial" / "shop" / "CLAUDE.md").read_text() == OWN_WORDS
    assert not (tmp_path / "home").exists(), "the home of the person is left alone"


def test_the_five_commands_of_the_readme_run(tmp_path: Path) -> None:
    [first] = [block for block in blocks("README.md", "sh") if block.startswith("whet import ")]
    assert len(first.splitlines()) == 5
    code, shown = run_on_a_terminal(tmp_path, "whet import examples/sessions\n" + first, {})
    assert code == 0, shown
    assert "./dev test MODULE" in shown
