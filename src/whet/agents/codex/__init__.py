"""Codex: what Whet knows of it."""

from whet.agents.agent import Agent, AgentFiles, AgentHooks, AgentPlugin, AgentReading, HostMarks

AGENT = Agent(
    "codex",
    records="whet.agents.codex.records:FORMAT",
    files=AgentFiles(
        folder=".codex",
        variable="CODEX_HOME",
        everywhere=("AGENTS.override.md", "AGENTS.md"),
        project=("AGENTS.override.md", "AGENTS.md"),
        skills="~/.agents/skills",  # its own skills folder is read too, but out of date
        project_skills=".agents/skills",
    ),
    reading=AgentReading(on_demand=(".agents/skills/*/SKILL.md",)),
    models=("gpt", "codex", "o1", "o3", "o4"),
    hooks=AgentHooks(
        "hooks.json",
        marks=HostMarks(record=r"(?:^|/)rollout-[^/]*$|/\.codex/"),
        end_seconds=3,  # it grants no more, and says so to the person if more is asked
        # Its hooks do nothing, and say nothing, until the person trusts them.
        first_step="start `codex` once and trust Whet's hooks (`/hooks`)",
    ),
    plugin=AgentPlugin(
        "codex",
        add=(("plugin", "marketplace", "add", "{folder}"), ("plugin", "add", "whet@whet")),
        remove=(("plugin", "remove", "whet@whet"), ("plugin", "marketplace", "remove", "whet")),
        notes="config.toml",
        noted="plugins",
    ),
    executor="whet.agents.executors:CODEX",
    reader="whet.agents.executors:CODEX_READER",
    shell=("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_CI", "CODEX_THREAD_ID"),
    programs=("codex",),
)
