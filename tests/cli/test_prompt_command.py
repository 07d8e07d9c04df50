"""What Whet's own agent would be told, printed."""

from pathlib import Path

import pytest

from command import Whet

ALWAYS = ("chat", "--prompt", "--no-context", "--date", "2026-10-01")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "api").mkdir()
    (folder / "AGENTS.md").write_text("Use tabs.\n")
    (folder / "api" / "CLAUDE.md").write_text("\x1b[2JTests are in api/tests. [/red]\n")
    return folder


def test_the_prompt_is_printed_with_the_size_of_each_part(whet: Whet, project: Path) -> None:
    done = whet("chat", "--prompt", "--folder", str(project / "api"), "--tools", "Bash,memory", "--model", "gpt-5")
    assert done.code == 0
    assert "# Terminal" in done.out
    assert "# Use the tools" in done.out
    assert done.out.index("Use tabs.") < done.out.index("Tests are in api/tests. [/red]")
    assert "\x1b" not in done.out
    assert "guidance: terminal" in done.out
    assert "Key " in done.out


def test_the_json_has_the_tiers_and_their_parts(whet: Whet, project: Path) -> None:
    options = ("--folder", str(project), "--json", "--date", "2026-10-01", "--model", "nobody:m")
    found = whet("chat", "--prompt", *options).json
    assert set(found) == {"key", "stable", "context", "volatile", "parts", "warnings", "trusted_project"}
    assert "Use tabs." in found["context"]
    assert "Today is Thursday, 2026-10-01." in found["volatile"]
    assert "Provider: nobody." in found["volatile"]
    assert {part["trust"] for part in found["parts"]} == {"operator", "external"}
    assert all(part["tokens"] > 0 for part in found["parts"])


def test_the_same_command_gives_the_same_key_and_another_day_only_another_volatile_tier(whet: Whet) -> None:
    first, second = (whet(*ALWAYS, "--json").json for _ in range(2))
    assert first == second
    later = whet("chat", "--prompt", "--no-context", "--date", "2026-10-02", "--json").json
    assert later["key"] != first["key"]
    assert (later["stable"], later["context"]) == (first["stable"], first["context"])


def test_options_and_settings_decide_what_is_said(whet: Whet) -> None:
    def stable(*options: str) -> str:
        return str(whet(*ALWAYS, "--json", *options).json["stable"])

    tools = ("--tools", "terminal")
    assert "# Use the tools" in stable(*tools, "--model", "gpt-5")
    assert "# Nobody is watching" not in stable()
    assert "# Nobody is watching" in whet("run", *ALWAYS[1:], "--json").json["stable"]
    assert "shown in a terminal" in stable()
    assert "which model you are" not in stable()
    assert "which model you are" in stable("--model", "alibaba:m")
    assert whet("config", "prompt.enforcement", "claude,mistral").code == 0
    assert "# Use the tools" not in stable(*tools, "--model", "gpt-5")
    assert "# Use the tools" in stable(*tools, "--model", "claude-5")


def test_warnings_go_to_the_person(whet: Whet, project: Path) -> None:
    (project / "GEMINI.md").symlink_to("/etc/hostname")
    done = whet("chat", "--prompt", "--folder", str(project))
    assert "GEMINI.md: it is a link that leaves the repository" in done.err
    assert "# What could not be read" in done.out


def test_a_mistake_gives_advice(whet: Whet) -> None:
    done = whet("chat", "--prompt", "--date", "tomorrowish")
    assert (done.code, "does not match the format" in done.err, "Traceback" in done.err) == (2, True, False)


def test_a_secret_of_the_environment_does_not_get_into_the_prompt(whet: Whet, project: Path) -> None:
    (project / "AGENTS.md").write_text("Deploy with swordfish-42-harbour.")
    variables = {"DEPLOY_TOKEN": "swordfish-42-harbour"}
    assert "swordfish" not in whet("chat", "--prompt", "--folder", str(project), variables=variables).out
