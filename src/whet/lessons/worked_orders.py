"""Worked orders: the different commands that did the work for one request, in the order in which each last worked."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from whet.failures.purposes import is_shell, path_of
from whet.failures.view import JudgedCall, SessionView
from whet.outcomes.hidden_failures import READERS
from whet.sessions.arguments import command_of
from whet.sessions.call_effects import checks_in
from whet.sessions.lineage import is_typed
from whet.sessions.shell_lines import Stage, split
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import Origin, Role
from whet.sessions.trust import Trust
from whet.text.words import names
from whet.values import Value

FEWEST_STEPS = 3
MOST_STEPS = 40
WRITTEN_LETTERS = 160
ASKED_LETTERS = 200
# Programs that look, wait, or move files about: what they are called with is of that time alone.
ASIDE = READERS | names(
    "mkdir rm cp mv touch chmod ln curl wget kill pkill lsof ps pgrep wait break continue exit return done node python "
    "python3 perl ruby env exec eval local trap shift let if then else while until do"
)
LOOKING = {
    "git": names(
        "log show diff blame grep status branch ls-files ls-tree ls-remote cat-file reflog rev-parse config remote "
        "fetch stash check-ignore merge-base describe reset restore worktree version help shortlog rev-list"
    ),
    "gh": names("view list diff checks status api watch auth search browse"),
    "docker": names("logs ps images inspect"),
    "kubectl": names("logs get describe"),
    "npm": names("view ls list outdated why help"),
}
TWO_WORDS = names("run exec compose")  # npm run build, docker compose up
VALUED = names("--filter -F -C --prefix -w --workspace --cwd -p --project")
_PROGRAM = re.compile(r"[A-Za-z][\w.+-]*")
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:_-]*")
_SCRIPT = re.compile(r"\A(?:(?:\./|[\w-]+/)[\w./-]+|[\w-]+\.(?:sh|py|js|ts|mjs))")
_REDIRECTION = re.compile(r"\d?[<>]|&>")
_SKILL = re.compile(r"^Base directory for this skill: (\S+)")


class WorkedStep(Value, frozen=True):
    """One command by its form, as it was written, where it worked, and the text that had told the agent of it."""

    form: str
    written: str
    message: int
    is_check: bool = False
    trust: Trust = Trust.TOOL  # the lowest of all that had been read when it was run
    told_in: str = ""


class WorkedOrder(Value, frozen=True):
    """The steps for one request, each once, as they last worked."""

    session: str
    asked: str
    message: int
    steps: tuple[WorkedStep, ...]
    at: float | None = None


class _Ran(NamedTuple):
    form: str
    written: str
    call: JudgedCall


class _ToldText(NamedTuple):
    message: int
    name: str
    text: str


def worked_orders(view: SessionView) -> Iterator[WorkedOrder]:
    """What was run for each request of a session, where that were several different commands."""
    messages = view.transcript.messages
    requests = [index for index, message in enumerate(messages) if is_typed(message) and message.text.strip()]
    starts = sorted({0, *requests})
    found = {
        asked: steps
        for asked, end in pairwise([*starts, len(messages)])
        if len(steps := _last_worked(each for each in view.steps if asked <= each.exchange.asked < end)) >= FEWEST_STEPS
    }
    if not found:
        return
    told = tuple(_told(view))
    for asked, steps in found.items():
        words = " ".join(messages[asked].text.split())[:ASKED_LETTERS] if asked in requests else ""
        kept = tuple(_sourced(step, told) for step in steps[-MOST_STEPS:])
        yield WorkedOrder(view.transcript.id, words, asked, kept, messages[asked].at)


def form_of_stage(stage: Stage) -> str:
    """A command by its program and subcommand; nothing for one that only looks or is an aside."""
    words = _plain_words(stage)
    script = stage.words[0] if _SCRIPT.fullmatch(stage.words[0]) else ""
    if stage.program in ("bash", "sh", "python", "python3", "node") and words and _SCRIPT.fullmatch(words[0]):
        script, words = words[0], words[1:]
    if not script and (stage.program in ASIDE or not _PROGRAM.fullmatch(stage.program)):
        return ""
    most = 2 if stage.program == "gh" or (words and words[0] in TWO_WORDS) else 1
    named: list[str] = []
    for word in words[:most]:
        if not _SUBCOMMAND.fullmatch(word):
            break
        named.append(word)
    looking = LOOKING.get(stage.program)
    if looking is not None and (not named or looking & set(named)):
        return ""
    return " ".join((script or stage.program, *named))


def _plain_words(stage: Stage) -> list[str]:
    """The words after the program that are neither options nor values of options."""
    found: list[str] = []
    is_value = False
    for word in stage.words[1:]:
        if not is_value and not word.startswith("-"):
            found.append(word)
        is_value = word in VALUED
    return found


def _last_worked(calls: Iterable[JudgedCall]) -> list[_Ran]:
    """Each form where it last ran; one that failed then is not among them."""
    last: dict[str, _Ran] = {}
    for call in calls:
        for stage in split(command_of(call.exchange.call)) if is_shell(call) else ():
            form = form_of_stage(stage) if stage.words else ""
            if form:
                last.pop(form, None)
                if call.worked:
                    last[form] = _Ran(form, _written(stage), call)
    return list(last.values())


def _written(stage: Stage) -> str:
    """The command without where its output goes."""
    return " ".join(word for word in stage.words if not _REDIRECTION.match(word))[:WRITTEN_LETTERS]


def _told(view: SessionView) -> Iterator[_ToldText]:
    """The texts for agents that a session saw: what programs inserted, and pages that it read."""
    for index, message in enumerate(view.transcript.messages):
        if message.role is Role.SYSTEM or message.origin is Origin.INSERTED:
            skill = _SKILL.match(message.text)
            yield _ToldText(index, skill[1] if skill else "the instructions of the session", message.text)
    for step in view.steps:
        path = path_of(step)
        if step.worked and path.endswith(".md") and family_of(step.exchange.call) is Family.READ:
            yield _ToldText(step.message, path, step.text)


def _sourced(ran: _Ran, told: Iterable[_ToldText]) -> WorkedStep:
    """The step with whose words it is, and the text before it that names its command."""
    message = ran.call.message
    named = re.compile(rf"(?<![\w-]){re.escape(ran.form)}(?![\w-])")
    source = next((each.name for each in told if each.message < message and named.search(each.text)), "")
    return WorkedStep(ran.form, ran.written, message, bool(checks_in(ran.written)), ran.call.trust, source)
