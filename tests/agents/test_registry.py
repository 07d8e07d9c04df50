"""One name for each agent, in every command, and each agent's parts where its value says they are."""

from pathlib import Path

import pytest

from command import Whet
from whet import doors
from whet.agents.agent import Agent
from whet.agents.executor import Executor, ProgramReader
from whet.agents.formats.source import Format
from whet.agents.recognising import formats
from whet.agents.registry import AGENTS, canonical, known
from whet.own.runs.settings import AgentSettings, Settings
from whet.proving.executors import runner_named, settings_of


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_what_an_agent_names_is_there_and_carries_its_name(agent: Agent) -> None:
    format_ = doors.named(agent.records)
    assert isinstance(format_, Format)
    assert (format_.name, format_ in formats()) == (agent.name, True)
    assert not agent.executor or isinstance(doors.named(agent.executor), Executor)
    assert not agent.reader or isinstance(doors.named(agent.reader), ProgramReader)
    assert not agent.plugin or agent.hooks


def test_an_agent_has_one_name_and_is_known_by_the_others() -> None:
    names = [name for agent in AGENTS for name in (agent.name, *agent.aliases)]
    assert len(set(names)) == len(names)
    assert (canonical("claude"), canonical("claude-code"), canonical("mine")) == ("claude-code", "claude-code", "mine")
    assert known("") is None


def test_settings_kept_under_an_older_name_still_hold() -> None:
    old, new = AgentSettings("claude", model="old"), AgentSettings("claude-code", model="new")
    assert settings_of("claude-code", Settings(agents=(old,))).model == "old"
    assert settings_of("claude", Settings(agents=(old, new))).model == "new"
    assert runner_named("claude").name == "claude-code"


def test_commands_take_any_of_its_names_and_give_the_one(whet: Whet, examples: Path, tmp_path: Path) -> None:
    whet("import", str(examples / "claude-code"))
    by_either = [whet("sessions", "--source", name, "--json").json["sessions"] for name in ("claude", "claude-code")]
    assert by_either[0] == by_either[1] != []
    added = whet("sync", "add", "claude", "--project", str(tmp_path), "--json").json["target"]
    assert (added["agent"], added["name"]) == ("claude-code", f"claude-code:{tmp_path}")
    assert whet("sync", "remove", "claude").code == 0
