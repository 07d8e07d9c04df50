"""Hermes: what Whet knows of it."""

from whet.agents.agent import Agent, AgentFiles

AGENT = Agent(
    "hermes",
    records="whet.agents.hermes.records:FORMAT",
    files=AgentFiles(
        folder=".hermes",
        variable="HERMES_HOME",
        everywhere=("SOUL.md",),
        project=(".hermes.md", "HERMES.md", "AGENTS.md", "CLAUDE.md", ".cursorrules"),
        skills="skills",
        has_default=True,
    ),
    executor="whet.agents.executors:HERMES",
    programs=("hermes",),
)
