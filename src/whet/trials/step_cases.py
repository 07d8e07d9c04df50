"""Step cases: one step of a session that failed, the demand that the next call does it, and whether an attempt did."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from whet.ledger.patches import RuleSituation
from whet.lessons.call_patterns import words_of
from whet.lessons.following import was_followed
from whet.sessions.call_effects import Effect
from whet.sessions.lineage import is_ordered
from whet.sessions.shell_lines import WrittenStage, written
from whet.sessions.tool_families import arguments_of, command_of, seen
from whet.sessions.transcripts import Message, Role, ToolCall, Transcript
from whet.sessions.trust import Trust
from whet.trials.cases import Case, Limits
from whet.trials.checks import CallDemand, Check, FinishedRun, mark
from whet.trials.shapes import CallShape, CommandDemand, fits, runs
from whet.trials.ways_to_test import runs_tests
from whet.trouble.outcomes.error_forms import could_not_run
from whet.trouble.outcomes.fingerprints import INCIDENTAL, error_line
from whet.trouble.outcomes.purposes import PATH_KEYS, is_same_purpose, is_shell, path_of, shown_call
from whet.trouble.outcomes.view import JudgedCall, SessionView, gather

OLD_TEXTS = ("old", "old_string", "old_str", "oldString")
NEW_TEXTS = ("new", "new_string", "new_str", "newString")
ASIDES = frozenset(("echo", "head", "tail", "true", "sleep", "wc", "sort", "grep", "tee", "pwd"))
NOTHING: Mapping[int, str] = MappingProxyType({})
REACH = 14  # calls after a failure within which what worked is looked for
MOST_WORDS = 4  # in which two commands may differ, so that what mattered can still be told
SUBCOMMAND = re.compile(r"[A-Za-z][A-Za-z:_-]*")
NAMED = re.compile(r"[\w./-]+")
SIGNS = re.compile(r"[\d_./-]")  # what a name in a request has in it, and no word
CHOICE = re.compile(r"[A-Za-z0-9_.-]{1,30}")
REDIRECTIONS = (">", "<", "2>", "&>")
# What a rule could make an agent do everywhere, without doing anything about the failure.
IRRELEVANT = ("true", "ls", "echo ok", "pwd")
HARMLESS = ("true; ", "true && ", "cd . && ", ": ; ")


class Recovery(NamedTuple):
    """A call that failed, and what worked in its place."""

    failed: JudgedCall
    worked: JudgedCall | None
    way: JudgedCall | None  # what was done with the same file before it worked

    @property
    def asked(self) -> int:
        """Where the step is: of a loop the last failure, so that the others stand in the conversation."""
        return self.failed.exchange.asked


def recoveries(steps: Sequence[JudgedCall], about: Mapping[int, str] = NOTHING) -> Iterator[Recovery]:
    """Every call of a session that failed and for which something worked later.

    A red test is no failed call, and no is an answer to a call that asks whether something is there. What `about` names
    by its message is one all the same, also if it was refused: what goes wrong and what works instead are the same in
    many sessions.
    """
    known = dict(about)
    for index, step in enumerate(steps):
        fix = known.get(step.message)
        is_red = step.effect is Effect.CHECKS and not could_not_run(step.text)
        if step.worked if fix is not None else (not step.failed or is_red or step.effect is Effect.PROBES):
            continue
        later = steps[index + 1 : index + 1 + REACH]
        worked = (_fixed_later(fix, later) if fix else None) or worked_later(step, later) or _tested_later(step, later)
        again = next((each for each in later if each.worked and each.key == step.key), None)
        end = worked or again
        if end is None:
            continue
        between = later[: later.index(end)]
        again_failed = [each.message for each in between if each.failed and _is_alike(step, each)]
        if again_failed:  # the last failure of a loop is the step
            known |= {again_failed[-1]: fix} if fix is not None else {}
            continue
        ways = (each for each in between if each.worked and each.tool != step.tool and path_of(each))
        way = next((each for each in ways if path_of(each) == path_of(step)), None)
        yield Recovery(step, worked, way)


def _fixed_later(fix: str, later: Sequence[JudgedCall]) -> JudgedCall | None:
    """The first call that worked and has all the words of what is known to work."""
    wanted = frozenset(words_of(fix))
    return next((each for each in later if each.worked and wanted <= frozenset(words_of(shown_call(each)))), None)


def worked_later(step: JudgedCall, later: Sequence[JudgedCall]) -> JudgedCall | None:
    """The first call for the same purpose that worked; none where the very same call worked before it."""
    for other in later:
        if other.worked and other.key == step.key:
            return None
        if other.worked and is_same_purpose(step, other):
            return other
    return None


def _tested_later(step: JudgedCall, later: Sequence[JudgedCall]) -> JudgedCall | None:
    """Where tests could not be started, the first call by which tests ran, whatever they are started with."""
    if not runs_tests(step):
        return None
    return next((each for each in later if each.worked and runs_tests(each)), None)


def _is_alike(step: JudgedCall, other: JudgedCall) -> bool:
    return step.key == other.key or is_same_purpose(step, other)


def step_case(name: str, before: tuple[Message, ...], found: Recovery, *, source: str) -> Case | str:
    """The conversation up to the step, and the demand that the next call does it; else why there is no such case.

    What does it is what did it in the session: the command, or the tool and the arguments in which it differed.
    """
    request = next((each.text for each in reversed(before) if is_ordered(each) and each.text.strip()), "")
    shapes = tuple(shape for shape in (_worked_shape(found, request), _way_shape(found)) if shape is not None)
    if not shapes:
        return "what worked in its place differs in too much to tell what mattered"
    failed = found.failed.exchange.call
    done = [each.exchange.call for each in (found.worked, found.way) if each is not None]
    called = {call.name for message in before for call in message.calls}
    new = sorted({call.name for call in (failed, *done)} - called)
    tools = tuple(sorted(called.union(new)))
    case = Case(
        task=request,
        check=Check(calls=CallDemand(one_of=shapes, valid=True), trouble=_trouble(found)),
        name=name, kind="step", tools=tools, source=source, conversation=before, budget=Limits(model_calls=1),
        definitions=tuple(seen(tool, (failed, *done)) for tool in new),
    )  # fmt: skip
    passing = passing_irrelevant(case, failed)
    if passing:
        return f"its check would pass a call that does nothing about the failure ({passing})"
    worked = any(fits(shape, call) for shape in shapes for call in done)
    return case if worked else "its check would fail the call that worked"


def _trouble(found: Recovery) -> RuleSituation:
    """How the failure is known again: the call, its error and what worked in its place."""
    fix = shown_call(found.worked) if found.worked else ""
    return RuleSituation(shown_call(found.failed), error_line(found.failed.text), fix)


def passing_irrelevant(case: Case, failed: ToolCall) -> str:
    """A call that has nothing to do with the failure, or is the failed one in other clothes, and would pass."""
    for call in _irrelevant(case, failed):
        ran = FinishedRun((Message(Role.AGENT, (call,), Trust.AGENT),), before=case.conversation)
        if mark(case.check, ran).passed:
            return command_of(call)[:80] or call.name
    return ""


def _irrelevant(case: Case, failed: ToolCall) -> Iterator[ToolCall]:
    yield failed
    arguments = arguments_of(failed)
    yield _with(failed, {**arguments, **{key: "reworded" for key in INCIDENTAL if key in arguments}})
    key = next((key for key in ("command", "cmd") if isinstance(arguments.get(key), str)), "")
    if key:
        lines = (*IRRELEVANT, *(f"{prefix}{arguments[key]}" for prefix in HARMLESS), f"{arguments[key]} ")
        yield from (_with(failed, {**arguments, key: line}) for line in lines)
    for tool in case.tools:
        yield ToolCall("irrelevant", tool, "{}")
        yield from (ToolCall("irrelevant", tool, f'{{"command": "{line}"}}') for line in IRRELEVANT)


def _with(call: ToolCall, arguments: dict[str, object]) -> ToolCall:
    return msgspec.structs.replace(call, arguments=msgspec.json.encode(arguments).decode())


def _worked_shape(found: Recovery, request: str) -> CallShape | None:
    if found.worked is None:
        return None
    failed, worked = found.failed.exchange.call, found.worked.exchange.call
    if is_shell(found.worked):
        demand = command_demand(command_of(failed), command_of(worked), request)
        return CallShape(command=demand) if demand else None
    old, new = arguments_of(failed), arguments_of(worked)
    path = {key: new[key] for key in PATH_KEYS if isinstance(new.get(key), str)}
    differing = {
        key: value
        for key, value in new.items()
        if old.get(key) != value and key not in (*INCIDENTAL, *NEW_TEXTS, *path)
    }
    if any(old.get(key) != value for key, value in path.items()):
        return CallShape(worked.name, path)  # the place was wrong; the rest is the agent's own business
    telling = all(_is_telling(key, value) for key, value in differing.items())
    return CallShape(worked.name, path | differing) if differing and telling else None


def _is_telling(key: str, value: object) -> bool:
    """Whether an argument can be asked for as it was: the text to replace, or a choice among few."""
    if isinstance(value, str):
        return key in OLD_TEXTS or CHOICE.fullmatch(value) is not None
    return isinstance(value, bool)


def _way_shape(found: Recovery) -> CallShape | None:
    if found.way is None:
        return None
    arguments = arguments_of(found.way.exchange.call)
    path = {key: arguments[key] for key in PATH_KEYS if isinstance(arguments.get(key), str)}
    return CallShape(found.way.tool, path) if path else None


def command_demand(failed: str, worked: str, request: str = "") -> CommandDemand | None:
    """What the command that worked runs and the one that failed did not; None where that cannot be told.

    What it was done to is demanded too, where the failed one or the request names it: else any argument would do.
    """
    old, new = _heads(failed), _heads(worked)
    added = tuple(head for head in new if head not in old)
    was, now = _words(failed), _words(worked)
    more, less = [word for word in now if word not in was], [word for word in was if word not in now]
    asked_for = (word.rstrip("./-") for word in NAMED.findall(request))
    named = frozenset((*was, *(word for word in asked_for if SIGNS.search(word))))
    same = tuple(word for word in _operands(worked) if word in named)
    wanted = new if added else _heads(worked, more) or new[:1]
    demand = CommandDemand(runs=tuple(wanted), words=() if added else tuple(more), alone=True)
    if runs(demand, failed):  # what it lacked are words
        demand = msgspec.structs.replace(demand, words=tuple(more))
    if runs(demand, failed):  # it only had too much
        demand = msgspec.structs.replace(demand, lacks=tuple(less))
    asked = (*demand.words, *demand.lacks)
    demand = msgspec.structs.replace(demand, words=tuple(dict.fromkeys((*demand.words, *same))))
    is_clear = max(len(demand.runs), len(asked)) <= MOST_WORDS and not any(
        " " in each or "\n" in each for each in asked
    )
    return demand if is_clear and not runs(demand, failed) else None


def _heads(line: str, words: Sequence[str] = ()) -> list[str]:
    """What the commands of a line are, of those that have one of these words."""
    stages = (stage for stage in written(line) if _program(stage) not in ASIDES)
    found = (_head(stage) for stage in stages if not words or not frozenset(words).isdisjoint(stage.words))
    return [head for head in dict.fromkeys(found) if head]


def _program(stage: WrittenStage) -> str:
    return stage.words[stage.program].rsplit("/", 1)[-1] if stage.program < len(stage.words) else ""


def _head(stage: WrittenStage) -> str:
    """What a command is: all up to its program, and the module or subcommand behind it."""
    end = stage.program + 1
    rest = stage.words[end:]
    if rest[:1] == ("-m",):
        end += 2
    elif rest and (_program(stage) == "cd" or SUBCOMMAND.fullmatch(rest[0])):
        end += 2 if rest[0] in ("run", "exec") and SUBCOMMAND.fullmatch(rest[1] if rest[1:] else "") else 1
    return " ".join(stage.words[:end])


def _operands(line: str) -> list[str]:
    """The words behind what a command is, without options: what it is done to."""
    stages = [stage for stage in written(line) if _program(stage) not in ASIDES]
    behind = (word for stage in stages for word in stage.words[len(_head(stage).split()) :])
    return [word for word in dict.fromkeys(behind) if not word.startswith(("-", *REDIRECTIONS)) and " " not in word]


def _words(line: str) -> list[str]:
    stages = (stage for stage in written(line) if _program(stage) not in ASIDES)
    found = (word for stage in stages for word in stage.words if not word.startswith(REDIRECTIONS))
    return list(dict.fromkeys(found))


class Handling(NamedTuple):
    """How the situation of a step was handled: None while that is open; by which call, and those made before it."""

    is_handled: bool | None = None
    call: ToolCall | None = None  # the first that does it and worked, or whose answer is still to come
    before: tuple[ToolCall, ...] = ()  # also those that may have run beside it


def handling(check: Check, messages: Sequence[Message]) -> Handling:
    """Whether the first call of the situation was one that does it, and worked.

    A call in the form that went wrong is not, whatever comes after it: that it is put right later is the trouble. Tests
    that ran and are red worked, for the work may still be to do; a call without an answer decides nothing yet.
    """
    if check.calls is None or not check.calls.one_of:
        return Handling()
    view = gather(Transcript("attempt", "attempt", tuple(messages)))
    for step in view.steps:
        made = step.exchange
        if any(fits(shape, made.call) for shape in check.calls.one_of):
            is_open = made.result is None
            if is_open or not step.failed or _is_red(step, check.trouble):
                end = made.asked if made.answered is None else made.answered
                before = (each.exchange for each in view.steps if each is not step)
                calls = tuple(each.call for each in before if each.asked <= end)
                return Handling(None if is_open else True, made.call, calls)
        alone = SessionView(view.transcript, (step,), ())
        if check.trouble != RuleSituation() and was_followed(check.trouble, alone) is False:
            return Handling(is_handled=False)
    return Handling()


def _is_red(step: JudgedCall, trouble: RuleSituation) -> bool:
    """Whether a call that failed ran its tests all the same, and its error is not the one that the case is about."""
    is_check = step.effect is Effect.CHECKS or runs_tests(step)
    return is_check and not could_not_run(step.text) and step.error_line != trouble.error
