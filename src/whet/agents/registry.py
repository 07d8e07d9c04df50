"""Every agent that Whet knows: those that come with it, and those that other packages add through the door."""

from collections.abc import Iterator
from functools import cache

from whet import doors
from whet.agents.agent import Agent, AgentFiles, AgentHooks, AgentPlugin, AgentReading, HostMarks

# Where several could know a record, the first one reads it.
AGENTS: tuple[Agent, ...] = (
    Agent(
        "claude-code",
        aliases=("claude",),
        records="whet.agents.claude_code:FORMAT",
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
    ),
    Agent(
        "codex",
        records="whet.agents.codex:FORMAT",
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
    ),
    Agent(
        "copilot",
        records="whet.agents.copilot:FORMAT",
        shell=("COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"),
        programs=("copilot",),
        reading=AgentReading(
            always=(".github/copilot-instructions.md", "AGENTS.md"), on_demand=(".github/instructions/**.md",)
        ),
    ),
    Agent(
        "gemini",
        records="whet.agents.gemini:FORMAT",
        files=AgentFiles(
            folder=".gemini",
            everywhere=("GEMINI.md",),
            project=("GEMINI.md",),
            skills="~/.agents/skills",
            project_skills=".agents/skills",
        ),
        reading=AgentReading(on_demand=(".agents/skills/*/SKILL.md",), follows_imports=True),
        models=("gemini", "gemma"),
        hooks=AgentHooks(
            "settings.json",
            marks=HostMarks(record=r"/\.gemini/"),
            shell="run_shell_command",
            at_call="AfterTool",  # it takes what is said before a call for nobody
            second=1_000,
            gives_way=True,
        ),
        plugin=AgentPlugin(
            "gemini",
            add=(("extensions", "link", "{folder}/whet/gemini", "--consent"),),
            remove=(("extensions", "uninstall", "whet"),),
            notes="settings.json",
            noted="extensions/",
        ),
        executor="whet.agents.executors:GEMINI",
        reader="whet.agents.executors:GEMINI_READER",
        shell=("GEMINI_CLI",),
        programs=("gemini",),
    ),
    Agent(
        "qwen",
        records="whet.agents.qwen:FORMAT",
        shell=("QWEN_CODE",),
        programs=("qwen",),
        reading=AgentReading(("QWEN.md",)),
    ),
    Agent("droid", records="whet.agents.droid:FORMAT", programs=("droid",), reading=AgentReading(("AGENTS.md",))),
    Agent("vscode", records="whet.agents.vscode:FORMAT"),
    Agent("pi", records="whet.agents.pi:FORMAT", shell=("PI_CODING_AGENT",), programs=("pi",)),
    Agent(
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
    ),
    Agent(
        "opencode",
        records="whet.agents.opencode:FORMAT",
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
    ),
    Agent(
        "goose",
        records="whet.agents.goose:FORMAT",
        shell=("GOOSE_TERMINAL",),
        programs=("goose", "goosed"),
        reading=AgentReading((".goosehints", "AGENTS.md")),
    ),
    Agent("aider", records="whet.agents.aider:FORMAT", is_in_projects=True, programs=("aider",)),
    Agent(
        "amp",
        records="whet.agents.amp:FORMAT",
        shell=("AMP_CURRENT_THREAD_ID",),
        programs=("amp",),
        reading=AgentReading(("AGENTS.md",)),
    ),
    Agent(
        "cline",
        records="whet.agents.cline:FORMAT",
        shell=("CLINE_ACTIVE",),
        programs=("cline",),
        reading=AgentReading((".clinerules", ".clinerules/**.md")),
    ),
    Agent("continue", records="whet.agents.continue_cli:FORMAT", programs=("cn",)),
    Agent(
        "cursor",
        records="whet.agents.cursor:FORMAT",
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
    ),
)
USUAL = AGENTS[0].name  # where nothing says which agent a person has


def agents() -> tuple[Agent, ...]:
    """All of them, those of other packages last."""
    return (*AGENTS, *_added())


def known(name: str) -> Agent | None:
    """The agent of this name or alias. Other packages are asked only where Whet's own do not have it."""
    return _named(AGENTS, name) or (_named(_added(), name) if name else None)


def canonical(name: str) -> str:
    """The one name of an agent that may be given, or kept from earlier, by another; other names stay as they are."""
    found = known(name)
    return found.name if found else name


def hosts() -> tuple[str, ...]:
    """The agents that can call Whet by hooks."""
    return tuple(agent.name for agent in agents() if agent.hooks)


@cache
def _added() -> tuple[Agent, ...]:
    return tuple(_usable())


def _usable() -> Iterator[Agent]:
    taken = {name for agent in AGENTS for name in (agent.name, *agent.aliases)}
    for addition in doors.additions(doors.AGENTS):
        for agent in doors.loaded(addition, Agent):
            if taken.isdisjoint((agent.name, *agent.aliases)):
                taken.update((agent.name, *agent.aliases))
                yield agent
            else:
                doors.warn(addition, f"there is an agent {agent.name} already")


def _named(those: tuple[Agent, ...], name: str) -> Agent | None:
    return next((agent for agent in those if name == agent.name or name in agent.aliases), None)


def first_step(agent: str) -> str:
    """What an agent asks of a person before it calls its hooks; empty where it asks nothing."""
    found = known(agent)
    return found.hooks.first_step if found and found.hooks else ""
