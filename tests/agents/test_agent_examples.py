"""The example sessions of the agents' own formats are read whole."""

from pathlib import Path

import pytest

from whet.agents import copilot, droid, pi, qwen
from whet.agents import recognising as registry
from whet.agents.claude_code import records as claude_code
from whet.agents.codex import records as codex
from whet.agents.formats.source import Format, Source
from whet.agents.gemini import records as gemini
from whet.sessions.transcripts import Ending, pair

SESSIONS = Path(__file__).parents[2] / "examples" / "sessions"
AGENTS = (claude_code.FORMAT, codex.FORMAT, copilot.FORMAT, gemini.FORMAT, pi.FORMAT, qwen.FORMAT, droid.FORMAT)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_every_call_of_an_example_has_its_result(agent: Format) -> None:
    files = sorted((SESSIONS / agent.name).rglob("*.jsonl"))
    assert files
    for path in files:
        source = Source(path)
        assert [known.name for known in registry.formats() if known.sniff(source)] == [agent.name]
        (transcript,) = agent.read(source)
        exchanges, orphans = pair(transcript.messages)
        assert all(exchange.result for exchange in exchanges)
        assert not orphans
        assert not source.skipped
        assert transcript.ending is Ending.FINISHED
        assert transcript.folder


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_an_example_lies_as_the_agent_would_lay_it(agent: Format) -> None:
    """The last parts of its path match one of the places where the agent keeps its sessions."""
    for path in (SESSIONS / agent.name).rglob("*.jsonl"):
        inside = path.relative_to(SESSIONS / agent.name)
        assert any(inside.match("/".join(place.split("/")[-len(inside.parts) :])) for place in agent.places)
