"""The agent's time: how many seconds before each message were the agent's, and how many the person's."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from whet.sessions.call_effects import PROBERS
from whet.sessions.shell_lines import UTILITIES, Stage, split
from whet.sessions.tool_families import Family, arguments_of, command_of, family_of
from whet.sessions.transcripts import Exchange, Message, Origin, Role
from whet.text.words import names, plain_name
from whet.trouble.outcomes.deciding import Outcome
from whet.trouble.outcomes.hidden_failures import is_reader
from whet.trouble.outcomes.view import JudgedCall

# Longer gaps are counted as this long: a command or a thought may take minutes, and a night looks like one.
LONGEST_GAP_SECONDS = 600.0
# Tools that look at a file or change one answer at once: what is longer is a prompt that waits for the person.
LONGEST_QUICK_SECONDS = 30.0
# How long the agent may be at it when somebody types in the middle of its work.
LONGEST_SILENCE_SECONDS = 120.0
QUICK = frozenset({Family.READ, Family.SEARCH, Family.WRITE, Family.EDIT, Family.NEUTRAL})
# Calls that put a question to the person.
ASKING = names(
    "exit_plan_mode enter_plan_mode plan_mode_respond ask_user_question request_user_input ask_user "
    "ask_followup_question clarify question exit_spec_mode"
)
# Calls that wait, though they do nothing.
LINGERING = names("sleep wait task_output sleep_for command_status get_terminal_output read_bash wait_agent")


# Utilities that wait, or start a program of any length.
STARTING = names("at batch dd eval exec find nice nohup sh sleep source time wait xargs .")
# What git does over a network, by hooks, or with every version that there is.
SLOW_GIT = names(
    "clone fetch pull push ls-remote submodule lfs commit merge rebase cherry-pick am gc bisect fsck repack"
)

# A shell tool stops a command after this long where the call sets no limit of its own, as its program documents.
USUAL_LIMIT_SECONDS = {"bash": 120.0}
SLACK_SECONDS = 10.0
SLOWER = 1.1  # a machine may take longer than a limit says
ENVELOPE_LETTERS = 200
_PUT_ASIDE = re.compile(
    r"(?i)\W{0,4}command (?:(?:did not complete|timed out|exceeded)\b[^\n]{0,150}|(?:is )?running in (?:the )?)"
    r"\bbackground"
)
# The words with which calls limit their own time, and how many of their units make a second.
LIMITS = (("timeout", 1000.0), ("timeout_ms", 1000.0), ("timeout_seconds", 1.0), ("yield_time_ms", 1000.0))
LEAST_MILLISECONDS = 1000.0  # a smaller limit is in seconds, whatever its name


def agent_seconds(messages: Sequence[Message], steps: Sequence[JudgedCall]) -> tuple[float, ...]:
    """Of each message, the agent's seconds between the message before it and itself."""
    if all(message.at is None for message in messages):
        return (0.0,) * len(messages)
    asked: dict[int, list[Exchange]] = {}
    for step in steps:
        asked.setdefault(step.exchange.asked, []).append(step.exchange)
    refused = {step.exchange.answered for step in steps if step.decision.outcome is Outcome.REJECTED}
    found: list[float] = []
    running: list[Exchange] = []  # calls that have no result yet
    for index, gap in enumerate(_gaps(messages)):
        role = messages[index].role
        if gap and index not in refused:
            longest = _longest(index, messages, running, gap)
            found.append(gap if gap <= longest.seconds else longest.beyond)
        else:
            found.append(0.0)
        if role is Role.AGENT:
            running = asked.get(index, [])
        elif role is Role.TOOL and running:
            running = [each for each in running if each.answered is None or each.answered > index]
    return tuple(found)


def _gaps(messages: Sequence[Message]) -> Iterator[float]:
    """The seconds before each message; none where a record goes back in time."""
    latest: float | None = None
    for message in messages:
        at = message.at
        yield at - latest if at is not None and latest is not None and at > latest else 0.0
        if at is not None and (latest is None or at > latest):
            latest = at


class _Longest(NamedTuple):
    """How long a gap may be to be the agent's, and how much of one that is longer is."""

    seconds: float
    beyond: float


NOTHING = _Longest(0.0, 0.0)
AT_WORK = _Longest(LONGEST_GAP_SECONDS, LONGEST_GAP_SECONDS)


def _longest(index: int, messages: Sequence[Message], running: Sequence[Exchange], gap: float) -> _Longest:
    """How much of the gap before a message may be the agent's."""
    message = messages[index]
    if message.role is Role.TOOL:
        if any(is_asking(each) for each in running):
            return NOTHING
        if gap <= SLACK_SECONDS:
            return AT_WORK
        return max((_limit(each) for each in running), default=AT_WORK)
    if message.role is Role.USER:
        before = messages[index - 1].role if index else Role.USER
        is_at_work = bool(running) or before is Role.TOOL
        if message.origin is Origin.SUMMARY:
            return AT_WORK
        if message.origin is Origin.INTERRUPT:
            return _Longest(LONGEST_GAP_SECONDS, 0.0)  # only who is at work can be stopped
        # Where nothing came for longer, the agent had stopped without a word.
        return _Longest(LONGEST_SILENCE_SECONDS, 0.0) if is_at_work else NOTHING
    return AT_WORK


def is_asking(exchange: Exchange) -> bool:
    """Whether a call waits for the person."""
    return plain_name(exchange.call.name) in ASKING


def _limit(exchange: Exchange) -> _Longest:
    """How long a call can have run: what is beyond was a prompt that waited for the person."""
    call = exchange.call
    name, family = plain_name(call.name), family_of(call)
    if family in QUICK and name not in LINGERING:
        return _Longest(LONGEST_QUICK_SECONDS, LONGEST_QUICK_SECONDS)
    arguments = arguments_of(call)
    for key, unit in LIMITS:
        limit = arguments.get(key)
        if isinstance(limit, int | float) and limit > 0:
            seconds = limit / unit if limit >= LEAST_MILLISECONDS else float(limit)
            return _within(min(seconds, LONGEST_GAP_SECONDS))
    if family is Family.SHELL and not is_put_aside(exchange) and _is_quick(command_of(call)):
        return _Longest(LONGEST_QUICK_SECONDS, LONGEST_QUICK_SECONDS)
    usual = USUAL_LIMIT_SECONDS.get(name)
    return AT_WORK if usual is None else _within(usual)


def is_put_aside(exchange: Exchange) -> bool:
    """Whether a command's time ran out and it was left to run, as the shell tool says in its first words."""
    head = exchange.result.text[:ENVELOPE_LETTERS] if exchange.result is not None else ""
    if "background" not in head or _PUT_ASIDE.match(head) is None:
        return False
    asked = any(value is True and "background" in key for key, value in arguments_of(exchange.call).items())
    return not asked and not command_of(exchange.call).rstrip().endswith("&")


def _within(seconds: float) -> _Longest:
    return _Longest(seconds * SLOWER + SLACK_SECONDS, min(seconds, LONGEST_QUICK_SECONDS))


def _is_quick(command: str) -> bool:
    """Whether a command only shows something, or moves files and versions about on this machine."""
    stages = split(command)
    return bool(stages) and all(map(_is_quick_stage, stages))


def _is_quick_stage(stage: Stage) -> bool:
    if stage.program == "git":
        return SLOW_GIT.isdisjoint(stage.words[1:])
    is_utility = stage.program in UTILITIES and stage.program not in STARTING
    return is_utility or is_reader(stage) or stage.program in PROBERS
