"""Every format that Whet reads, the most particular first; the first that knows a file reads it."""

from collections.abc import Iterator
from functools import cache

from whet import doors
from whet.agents.agent import Agent
from whet.agents.formats import atif, mini_swe_agent, openai_messages, openhands, sharegpt
from whet.agents.formats.source import Format, Source
from whet.agents.registry import AGENTS, agents

# Those that belong to no agent on a machine: benchmarks', which are particular, and at last those by which sessions are
# exchanged. They are no entry points of Whet's own: a checkout works with whatever metadata was installed last.
FORMATS: tuple[Format, ...] = (
    mini_swe_agent.FORMAT,
    openhands.FORMAT,
    atif.FORMAT,
    sharegpt.TRAJECTORY_FORMAT,
    sharegpt.FORMAT,
    openai_messages.FORMAT,
)


@cache
def formats() -> tuple[Format, ...]:
    """Those of the agents, then those that belong to none; of other packages none can take another's name or place."""
    found: dict[str, Format] = {}
    for addition, each in (*_of_agents(), *_added()):
        if each.name not in {known.name for known in FORMATS} | found.keys():
            found[each.name] = each
        else:
            doors.warn(addition, f"there is a format {each.name} already")
    return (*found.values(), *FORMATS)


def format_named(name: str) -> Format:
    return next(known for known in formats() if known.name == name)


def recognise(source: Source) -> Format | None:
    """The format that a file is in, by its content."""
    return next((known for known in formats() if known.sniff(source)), None)


def _of_agents() -> Iterator[tuple[doors.Addition, Format]]:
    for agent in agents():
        if agent.records:
            addition = doors.Addition(agent.name, agent.records.partition(".")[0].partition(":")[0], agent.records)
            yield from ((addition, each) for each in _loaded(addition, agent))


def _loaded(addition: doors.Addition, agent: Agent) -> tuple[Format, ...]:
    return (doors.named(agent.records),) if agent in AGENTS else doors.loaded(addition, Format)


def _added() -> Iterator[tuple[doors.Addition, Format]]:
    for addition in doors.additions(doors.FORMATS):
        yield from ((addition, each) for each in doors.loaded(addition, Format))
