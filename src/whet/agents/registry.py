"""Every agent that Whet knows: those that come with it, and those that other packages add through the door."""

from collections.abc import Iterator
from functools import cache

from whet import doors
from whet.agents.agent import Agent, AgentReading
from whet.agents.claude_code import AGENT as CLAUDE_CODE
from whet.agents.codex import AGENT as CODEX
from whet.agents.cursor import AGENT as CURSOR
from whet.agents.gemini import AGENT as GEMINI
from whet.agents.hermes import AGENT as HERMES
from whet.agents.opencode import AGENT as OPENCODE

# Where several could know a record, the first one reads it. Those of which Whet knows the records alone stand here.
AGENTS: tuple[Agent, ...] = (
    CLAUDE_CODE,
    CODEX,
    Agent(
        "copilot",
        records="whet.agents.copilot:FORMAT",
        shell=("COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"),
        programs=("copilot",),
        reading=AgentReading(
            always=(".github/copilot-instructions.md", "AGENTS.md"), on_demand=(".github/instructions/**.md",)
        ),
    ),
    GEMINI,
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
    HERMES,
    OPENCODE,
    Agent(
        "goose",
        records="whet.agents.goose:FORMAT",
        shell=("GOOSE_TERMINAL",),
        programs=("goose", "goosed"),
        reading=AgentReading((".goosehints", "AGENTS.md")),
    ),
    Agent("aider", records="whet.agents.aider.records:FORMAT", is_in_projects=True, programs=("aider",)),
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
    CURSOR,
)
USUAL = CLAUDE_CODE.name  # where nothing says which agent a person has


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
