"""Where agents read, and that a new file never hides what an agent reads now."""

from pathlib import Path

import pytest

from whet.agents.places import reading
from whet.agents.registry import AGENTS, known


def file_of(name: str, person: Path, project: Path | None = None, **environment: str) -> str:
    agent = known(name)
    assert agent
    assert agent.files
    found = reading(agent.files, person=person, environment=environment, project=project).file
    return str(found.relative_to(project or person)) if found else ""


@pytest.mark.parametrize(
    ("name", "everywhere", "in_a_project"),
    [
        ("claude-code", ".claude/CLAUDE.md", "CLAUDE.md"),
        ("codex", ".codex/AGENTS.md", "AGENTS.md"),
        ("hermes", ".hermes/SOUL.md", "AGENTS.md"),
        ("cursor", "", ".cursor/rules/whet.mdc"),
        ("opencode", ".config/opencode/AGENTS.md", "AGENTS.md"),
        ("gemini", ".gemini/GEMINI.md", "GEMINI.md"),
    ],
)
def test_every_agent_has_its_file(name: str, everywhere: str, in_a_project: str, tmp_path: Path) -> None:
    assert file_of(name, tmp_path) == everywhere
    assert file_of(name, tmp_path, tmp_path) == in_a_project
    assert {agent.name for agent in AGENTS if agent.files} == {
        "claude-code",
        "codex",
        "hermes",
        "cursor",
        "opencode",
        "gemini",
    }


@pytest.mark.parametrize(
    ("name", "there", "chosen"),
    [
        ("codex", "AGENTS.override.md", "AGENTS.override.md"),
        ("hermes", ".hermes.md", ".hermes.md"),
        ("hermes", "CLAUDE.md", "CLAUDE.md"),
        ("opencode", "CLAUDE.md", "CLAUDE.md"),
        ("claude-code", ".claude/CLAUDE.md", ".claude/CLAUDE.md"),
    ],
)
def test_the_file_that_is_read_now_is_chosen(name: str, there: str, chosen: str, tmp_path: Path) -> None:
    (tmp_path / there).parent.mkdir(exist_ok=True)
    (tmp_path / there).write_text("# Mine\n")
    assert file_of(name, tmp_path, tmp_path) == chosen


def test_opencode_goes_on_reading_the_file_of_claude(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "CLAUDE.md").write_text("# Mine\n")
    assert file_of("opencode", tmp_path) == ".claude/CLAUDE.md"


def test_the_environment_can_move_the_folder_of_an_agent(tmp_path: Path) -> None:
    assert file_of("codex", tmp_path, CODEX_HOME=str(tmp_path / "elsewhere")) == "elsewhere/AGENTS.md"
    assert file_of("hermes", tmp_path, HERMES_HOME=str(tmp_path / "profile")) == "profile/SOUL.md"
