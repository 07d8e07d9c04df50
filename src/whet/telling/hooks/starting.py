"""What a session is told when it starts: the rules compiled for hooks, drawn for this session, none of them twice.

What it is reminded of at a call: rules whose calls it is among, each once.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from whet.agents.places import reading
from whet.agents.registry import known
from whet.lessons.call_patterns import CallPattern, is_matched
from whet.telling.hooks.events import CALL, FOLDER, REMINDED, HostEvent, is_for, put_in_spool, spool_name
from whet.telling.targets.project_names import name_of_project
from whet.text import words
from whet.trials.draws import is_told

MOST_BYTES = 1 << 20
MOST_FOLDERS = 40


class SessionDraw(NamedTuple):
    """Whether a session is told a canary, and by which share that was drawn."""

    entry: int
    told: bool
    share: float


class StartingText(NamedTuple):
    """The text for the context, empty where there is nothing to tell, what was drawn, and which entries are in it."""

    text: str
    draws: tuple[SessionDraw, ...] = ()
    entries: tuple[int, ...] = ()


def unit_of_session(agent: str, session: str) -> str:
    """What is drawn for: one session of one agent."""
    return f"{agent}:{session}"


def starting_text(compiled: Mapping[str, Any], event: HostEvent, environment: Mapping[str, str]) -> StartingText:
    """The rules that hold for this project, agent and session, within the budget, without those in its files."""
    draws: list[SessionDraw] = []
    told: list[Mapping[str, Any]] = []
    for rule in _candidates(compiled, event, environment):
        item: Mapping[str, Any] | None = rule
        while item is not None and item["canary"]:
            is_drawn = is_told(item["canary"], unit_of_session(event.agent, event.session), item["share"])
            draws.append(SessionDraw(item["entry"], is_drawn, item["share"]))
            if is_drawn:
                break
            item = item["before"]
        told += [item] if item is not None else []
    body = "\n".join(dict.fromkeys(item["line"] for item in told))
    text = compiled["frame"].replace("{body}", body) if body else ""
    return StartingText(text, tuple(draws), tuple(item["entry"] for item in told))


def _candidates(
    compiled: Mapping[str, Any], event: HostEvent, environment: Mapping[str, str]
) -> Iterator[Mapping[str, Any]]:
    """The rules that there is room for, the operator's first: for canaries whether they are told or not, so that what
    is drawn for does not depend on the draw.
    """
    project = name_of_project(event.folder)
    holding = [rule for rule in compiled["rules"] if is_for(rule, event, project=project)]
    standing = _standing(event, environment) if holding else ""
    # Where its file has a say in a rule, old or new, the session is not drawn for: it would hear both.
    free = [rule for rule in holding if not any(f"\n{each['line']}\n" in standing for each in _chain(rule))]
    free.sort(key=lambda rule: not rule["operator"])
    longest = [max((each["line"] for each in _chain(rule)), key=words.estimate) for rule in free]
    fitting = frozenset(words.fitting(longest, compiled["budget"] - words.estimate(compiled["frame"])))
    return (rule for rule, line in zip(free, longest, strict=True) if line in fitting)


def _chain(rule: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A rule and, where it is a canary, what stood in its place before."""
    item: Mapping[str, Any] | None = rule
    while item is not None:
        yield item
        item = item["before"] if item["canary"] else None


def _standing(event: HostEvent, environment: Mapping[str, str]) -> str:
    """What stands in the files of instructions that the agent reads in this folder and everywhere."""
    agent = known(event.agent)
    if agent is None or agent.files is None:
        return ""
    files = agent.files
    folder = Path(event.folder)
    above = [None, *([folder, *folder.parents][:MOST_FOLDERS] if folder.is_absolute() else [])]
    person = Path(os.path.expanduser("~"))
    found = (reading(files, person=person, environment=environment, project=each).file for each in above)
    return "\n".join(["", *(_text(file) for file in dict.fromkeys(found) if file is not None), ""])


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
    except OSError:
        return ""


def reminding_text(home: str, compiled: Mapping[str, Any], event: HostEvent) -> str:
    """The rules that are for this call and that its session was not reminded of yet; it is on record that it was."""
    fitting = [rule for rule in compiled["reminders"] if _fits(rule, event)]
    given = [rule for rule in fitting if _is_first(home, rule["entry"], event)]
    if not given:
        return ""
    entries = [rule["entry"] for rule in given]
    put_in_spool(home, CALL, event.agent, event.session, entries=entries)
    body = "\n".join(dict.fromkeys(rule["line"] for rule in given))
    return str(compiled["frame"]).replace("{body}", body)


def _fits(rule: Mapping[str, Any], event: HostEvent) -> bool:
    is_meant = is_for(rule, event, project=None) and is_matched(CallPattern(*rule["calls"]), event.command)
    return is_meant and (not rule["project"] or is_for(rule, event, project=name_of_project(event.folder)))


def _is_first(home: str, entry: int, event: HostEvent) -> bool:
    """Leave the mark of a reminder; False where it is there already. Calls that run side by side leave one."""
    folder = os.path.join(home, FOLDER, REMINDED)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, spool_name(str(entry), event.agent, event.session))
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    return True
