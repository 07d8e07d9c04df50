"""What `whet setup` would do on this machine: a list of steps, each to do, done already, or not possible. Pure."""

from collections.abc import Iterator
from enum import StrEnum

from whet.values import Value

IMPORT, HOOKS, TARGET, SERVICE, NIGHTLY = "import", "hooks", "target", "service", "nightly"
KINDS = (IMPORT, HOOKS, TARGET, SERVICE, NIGHTLY)


class StepState(StrEnum):
    """Whether a step is still to be done."""

    TO_DO = "to do"
    DONE = "done"
    NOT_POSSIBLE = "not possible"


class SetupStep(Value, frozen=True):
    """One step: what it is about, in words what it does, and how it stands."""

    kind: str
    name: str
    words: str
    state: StepState
    why_not: str = ""


class AgentFacts(Value, frozen=True):
    """An agent as setting up sees it. Hooks and targets that it cannot have are None."""

    name: str
    title: str
    new_files: int = 0
    is_hooked: bool | None = None
    hooks_file: str = ""
    why_no_hooks: str = ""
    is_target: bool | None = None
    target_file: str = ""
    plugin_program: str = ""  # that can install the plugin, which has the hooks
    is_outdated: bool = False  # its hooks, or its plugin, are those of another version


class MachineFacts(Value, frozen=True):
    """All that a plan is made from."""

    agents: tuple[AgentFacts, ...] = ()
    service: str = ""  # the kind of service, empty where the machine has none
    service_file: str = ""
    is_service_there: bool = False
    why_no_service: str = ""
    nightly_at: str = ""
    has_nightly: bool = False
    how_to_add_mcp: str = ""  # the command that does; empty where the MCP server can run


def planned(facts: MachineFacts, *, without: frozenset[str] = frozenset()) -> tuple[SetupStep, ...]:
    """Every step for this machine, in the order in which it is done."""
    return tuple(step for step in _steps(facts) if step.kind not in without)


def _steps(facts: MachineFacts) -> Iterator[SetupStep]:
    for agent in facts.agents:
        if agent.new_files:
            files = "1 new file" if agent.new_files == 1 else f"{agent.new_files:,} new files"
            yield SetupStep(IMPORT, agent.name, f"Import the sessions of {agent.title}: {files}", StepState.TO_DO)
    for agent in facts.agents:
        if agent.is_hooked is not None:
            state = StepState.NOT_POSSIBLE if agent.why_no_hooks else _state(agent.is_hooked)
            yield SetupStep(HOOKS, agent.name, _hook_words(agent), state, agent.why_no_hooks)
    if facts.how_to_add_mcp and any(agent.plugin_program for agent in facts.agents):
        why = f"it needs a library: run `{facts.how_to_add_mcp}`"
        yield SetupStep(HOOKS, "mcp", "Run the plugin's MCP server", StepState.NOT_POSSIBLE, why)
    for agent in facts.agents:
        if agent.is_target is not None:
            words = f"Write rules and skills for {agent.title} to {agent.target_file}"
            yield SetupStep(TARGET, agent.name, words, _state(agent.is_target))
    yield _service(facts)
    words = f"Read new sessions every night at {facts.nightly_at}, within the daily limit"
    yield SetupStep(NIGHTLY, "improve", words, _state(facts.has_nightly))


def _hook_words(agent: AgentFacts) -> str:
    if agent.is_outdated:
        return f"Bring Whet's hooks for {agent.title} up to date"
    if agent.plugin_program:
        return f"Install Whet's plugin (hooks, commands, MCP server) in {agent.title} with {agent.plugin_program}"
    return f"Add Whet's hooks for {agent.title} to {agent.hooks_file}"


def _service(facts: MachineFacts) -> SetupStep:
    if not facts.service or facts.why_no_service:
        words = "Run the worker as a service"
        return SetupStep(SERVICE, "worker", words, StepState.NOT_POSSIBLE, facts.why_no_service)
    words = f"Run the worker as a {facts.service} service: {facts.service_file}"
    return SetupStep(SERVICE, "worker", words, _state(facts.is_service_there))


def _state(is_done: bool) -> StepState:
    return StepState.DONE if is_done else StepState.TO_DO
