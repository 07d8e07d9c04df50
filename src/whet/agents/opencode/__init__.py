"""OpenCode: what Whet knows of it."""

from whet.agents.agent import Agent, AgentFiles, AgentHooks, AgentReading, HostMarks

AGENT = Agent(
    "opencode",
    records="whet.agents.opencode.records:FORMAT",
    files=AgentFiles(
        folder=".config/opencode",
        variable="OPENCODE_CONFIG_DIR",
        everywhere=("AGENTS.md", "~/.claude/CLAUDE.md"),
        project=("AGENTS.md", "CLAUDE.md"),
        skills="~/.agents/skills",
        project_skills=".agents/skills",
    ),
    reading=AgentReading(on_demand=(".agents/skills/*/SKILL.md",)),
    hooks=AgentHooks(
        "plugins/whet.js",
        script="opencode/whet.js",
        # It hands its plugins no path: all sessions are in one database.
        marks=HostMarks(field="sessionID", database=("XDG_DATA_HOME", "~/.local/share", "opencode/opencode.db")),
    ),
    executor="whet.agents.executors:OPENCODE",
    reader="whet.agents.executors:OPENCODE_READER",
    shell=("OPENCODE",),
    programs=("opencode",),
)
