"""Cursor: what Whet knows of it."""

from whet.agents.agent import Agent, AgentFiles

AGENT = Agent(
    "cursor",
    records="whet.agents.cursor.records:FORMAT",
    files=AgentFiles(
        folder=".cursor",  # rules for every project are kept in the program's own settings
        project=(".cursor/rules/whet.mdc",),
        skills="skills",
        project_skills=".cursor/skills",
        preamble=b"---\ndescription: Rules that Whet learned from sessions\nalwaysApply: true\n---\n",
    ),
    shell=("CURSOR_AGENT",),
    programs=("cursor-agent",),
)
