"""Cursor: what Whet knows of it."""

from whet.agents.agent import Agent, AgentFiles, AgentReading

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
    reading=AgentReading(
        always=("AGENTS.md", ".cursorrules"), on_demand=(".cursor/rules/**.mdc", ".cursor/skills/*/SKILL.md")
    ),
    shell=("CURSOR_AGENT",),
    programs=("cursor-agent",),
)
