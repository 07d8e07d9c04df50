"""whet prompt: printed, compared, kept and read again."""

from pathlib import Path

import pytest

from command import Whet

ALWAYS = ("prompt", "--no-context", "--date", "2026-10-01")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "api").mkdir()
    (folder / "AGENTS.md").write_text("Use tabs.\n")
    (folder / "api" / "CLAUDE.md").write_text("\x1b[2JTests are in api/tests. [/red]\n")
    return folder


def test_the_prompt_is_printed_with_the_size_of_each_part(whet: Whet, project: Path) -> None:
    done = whet("prompt", "--folder", str(project / "api"), "--tools", "Bash,memory", "--model", "gpt-5")
    assert done.code == 0
    assert "# Terminal" in done.out
    assert "# Use the tools" in done.out
    assert done.out.index("Use tabs.") < done.out.index("Tests are in api/tests. [/red]")
    assert "\x1b" not in done.out
    assert "guidance: terminal" in done.out
    assert "Key " in done.out


def test_the_json_has_the_tiers_and_their_parts(whet: Whet, project: Path) -> None:
    found = whet("prompt", "--folder", str(project), "--json", "--date", "2026-10-01", "--provider", "nobody").json
    assert set(found) == {"key", "stable", "context", "volatile", "parts", "warnings", "trusted_project"}
    assert "Use tabs." in found["context"]
    assert found["volatile"] == "Today is Thursday, 2026-10-01.\nProvider: nobody."
    assert {part["trust"] for part in found["parts"]} == {"operator", "external"}
    assert all(part["tokens"] > 0 for part in found["parts"])


def test_the_same_command_gives_the_same_key_and_another_day_only_another_volatile_tier(whet: Whet) -> None:
    first, second = (whet(*ALWAYS, "--json").json for _ in range(2))
    assert first == second
    later = whet("prompt", "--no-context", "--date", "2026-10-02", "--json").json
    assert later["key"] != first["key"]
    assert (later["stable"], later["context"]) == (first["stable"], first["context"])


def test_options_decide_what_is_said(whet: Whet) -> None:
    def stable(*options: str) -> str:
        return str(whet(*ALWAYS, "--json", *options).json["stable"])

    tools = ("--tools", "terminal")
    assert "# Use the tools" in stable(*tools, "--model", "gpt-5")
    assert "# Use the tools" not in stable(*tools, "--model", "gpt-5", "--enforcement", "never")
    assert "# Use the tools" in stable(*tools, "--model", "claude-5", "--enforcement", "claude,mistral")
    assert "# Nobody is watching" in stable("--purpose", "unattended")
    assert "shown in a terminal" in stable("--platform", "cli")
    assert "which model you are" not in stable()
    assert "which model you are" in stable("--provider", "alibaba")


def test_a_kept_prompt_is_read_again_and_compared(whet: Whet, tmp_path: Path) -> None:
    key = whet(*ALWAYS, "--keep", "--json").json["key"]
    same = whet(*ALWAYS, "--diff", key)
    assert "No difference" in same.out
    (tmp_path / "home" / "SOUL.md").write_text("I am a gardener.")
    changed = whet(*ALWAYS, "--diff", key[:8])
    assert "+I am a gardener." in changed.out
    assert "-You are a careful" in changed.out
    assert whet(*ALWAYS, "--diff", key, "--json").json["changed"] == ["stable"]
    assert whet("prompt", key, "--json").json["stable"].startswith("You are a careful")
    assert "gardener" in whet(*ALWAYS).out


def test_printing_keeps_nothing(whet: Whet) -> None:
    key = whet(*ALWAYS, "--json").json["key"]
    done = whet("prompt", key)
    assert done.code == 1
    assert "No prompt with the key" in done.err


def test_warnings_go_to_the_person(whet: Whet, project: Path) -> None:
    (project / "GEMINI.md").symlink_to("/etc/hostname")
    done = whet("prompt", "--folder", str(project))
    assert "GEMINI.md: it is a link that leaves the repository" in done.err
    assert "# What could not be read" in done.out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--date", "tomorrowish"), "is not a date"),
        (("--folder", "/nowhere/at/all"), "There is no folder"),
        (("--diff", "zz"), "is not the key of a prompt"),
    ],
)
def test_a_mistake_gives_advice(whet: Whet, options: tuple[str, ...], complaint: str) -> None:
    done = whet("prompt", *options)
    assert done.code == 1
    assert complaint in done.err
    assert "Traceback" not in done.err


def test_a_secret_of_the_environment_does_not_get_into_the_prompt(whet: Whet, project: Path) -> None:
    (project / "AGENTS.md").write_text("Deploy with swordfish-42-harbour.")
    variables = {"DEPLOY_TOKEN": "swordfish-42-harbour"}
    assert "swordfish" not in whet("prompt", "--folder", str(project), variables=variables).out


def test_the_sizes_alone_are_printed_without_the_words(whet: Whet) -> None:
    told = whet("prompt", "--sizes").out
    assert "identity" in told
    assert "── stable ──" not in told
