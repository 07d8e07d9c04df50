"""Claude Code: what Whet knows of it."""

from whet.agents.agent import Agent, AgentFiles, AgentHooks, AgentPlugin, AgentReading, HostMarks

AGENT = Agent(
    "claude-code",
    aliases=("claude",),
    records="whet.agents.claude_code.records:FORMAT",
    files=AgentFiles(
        folder=".claude",
        variable="CLAUDE_CONFIG_DIR",
        everywhere=("CLAUDE.md",),
        project=("CLAUDE.md", ".claude/CLAUDE.md"),
        skills="skills",
        project_skills=".claude/skills",
    ),
    reading=AgentReading(
        always=("CLAUDE.local.md", ".claude/rules/**.md"),
        on_demand=(".claude/skills/*/SKILL.md", ".claude/commands/**.md", ".claude/agents/**.md"),
        memory=("projects/{project}/memory/MEMORY.md",),
        follows_imports=True,
    ),
    models=("claude", "opus", "sonnet", "haiku"),
    hooks=AgentHooks("settings.json", marks=HostMarks(unattended=("CLAUDE_CODE_ENTRYPOINT", "sdk"))),
    plugin=AgentPlugin(
        "claude",
        add=(("plugin", "marketplace", "add", "{folder}"), ("plugin", "install", "whet@whet")),
        remove=(("plugin", "uninstall", "whet@whet"), ("plugin", "marketplace", "remove", "whet")),
        notes="settings.json",
        noted="enabledPlugins",
    ),
    executor="whet.agents.executors:CLAUDE",
    reader="whet.agents.executors:CLAUDE_READER",
    shell=("CLAUDECODE",),
    programs=("claude",),
)
