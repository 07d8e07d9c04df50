"""Checks: how a case tells whether a run did what was asked, without asking the one who did it."""

from collections.abc import Iterator
from typing import Any

import msgspec

from whet.errors import WhetError
from whet.ledger.patches import RuleSituation
from whet.sessions.copies import cold
from whet.sessions.tool_families import object_of
from whet.sessions.transcripts import Message, ToolCall, pair
from whet.trials.shapes import SHOWN, CallShape, TextDemand, fits, pattern_of, text_faults
from whet.trials.test_reports import CarriedCall, OutcomeDemand, comes_to, has_most, outcomes_of
from whet.trouble.outcomes.deciding import Outcome, decide
from whet.trouble.outcomes.fingerprints import call_key
from whet.values import Value


class FileDemand(TextDemand, frozen=True, forbid_unknown_fields=True):
    """What a file must hold in the end, or that it must not be there."""

    absent: bool = False


class CallDemand(Value, frozen=True, forbid_unknown_fields=True):
    """What the calls of a run must be."""

    uses: tuple[CallShape, ...] = ()  # each at least once
    one_of: tuple[CallShape, ...] = ()  # at least one of them
    avoids: tuple[CallShape, ...] = ()
    valid: bool = False  # every call is one that the tools can read
    repeats_failure: bool = True  # False: the same call is never made again after it failed


class CommitFiles(Value, frozen=True, forbid_unknown_fields=True):
    """Files as a commit of the case's repository has them; those that it has not are removed."""

    commit: str
    paths: tuple[str, ...]


class Check(Value, frozen=True, forbid_unknown_fields=True):
    """What must hold after a run. `command` is run in the workspace by whoever carries the case out."""

    command: str = ""
    exit_code: int | None = 0  # None: any, where what it reports decides
    seconds: float = 60.0
    work: tuple[str, ...] = ()  # files that the work may change; then all else that judges it is put back before
    reports: tuple[str, ...] = ()  # tests that the command must report as passed, by their names
    prints: tuple[str, ...] = ()  # lines without their numbers, of which at least half have to come
    twisted: bool = False  # with other numbers in the tests, the right work is known to fail
    numbers: tuple[str, ...] | None = None  # of the right work, where no commit holds it; None: it is not known
    tests: CommitFiles | None = None  # put in place for the command only; the agent never sees them
    put: dict[str, str] = msgspec.field(default_factory=dict)  # the same, by their content
    answer: TextDemand | None = None
    json_schema: dict[str, Any] | None = None  # that the answer must follow
    files: dict[str, FileDemand] = msgspec.field(default_factory=dict)
    calls: CallDemand | None = None
    trouble: RuleSituation = RuleSituation()  # the call that went wrong and what worked instead; made first, it decides
    outcome: OutcomeDemand | None = None  # of a step's call that is carried out, beside what calls demands of it
    rubric: str = ""  # judged by a model that sees the answer and this text alone

    @property
    def is_empty(self) -> bool:
        bare = Check(seconds=self.seconds, exit_code=self.exit_code, tests=self.tests, put=self.put, work=self.work)
        return self == bare


class FinishedRun(Value, frozen=True):
    """What a run left: its messages, its answer, its files, and what the command and the judge said."""

    messages: tuple[Message, ...]
    answer: str = ""
    files: dict[str, str | None] = msgspec.field(default_factory=dict)
    known_tools: tuple[str, ...] = ()
    exit_code: int | None = None
    printed: str = ""  # by the command
    gamed: str = ""  # why what the command said is no sign of the work
    rubric: bool | None = None
    before: tuple[Message, ...] = ()  # what was said and done before the run began
    carried: tuple[CarriedCall, ...] = ()  # of a step, what its commands came to
    handled: bool | None = None  # of a step, whether its situation came up and was handled


class Mark(Value, frozen=True):
    """Whether a run passed; `why` names the first demand that did not hold."""

    passed: bool
    why: str = ""


def mark(check: Check, ran: FinishedRun) -> Mark:
    """The mark of a run. A demand that nobody could look at has not been met."""
    why = next((fault for fault in _faults(check, ran) if fault), "")
    return Mark(not why, why)


def expect_sound(check: Check, name: str) -> None:
    """Raise WhetError for a check that says nothing or that cannot be read."""
    if check.is_empty:
        raise WhetError(
            f"The case {name} has no check.",
            advice="Give it one of: command, answer, json_schema, files, calls, rubric.",
        )
    texts = [check.answer, *check.files.values(), *(text for shape in _shapes(check) for text in shape.texts.values())]
    inputs = (shape.input for shape in _shapes(check) if shape.input)
    for pattern in (*(each for text in texts if text for each in (*text.patterns, *text.none_match)), *inputs):
        pattern_of(pattern, name)


def _shapes(check: Check) -> tuple[CallShape, ...]:
    calls = check.calls or CallDemand()
    return (*calls.uses, *calls.one_of, *calls.avoids)


def _faults(check: Check, ran: FinishedRun) -> Iterator[str]:
    if check.command:
        yield ran.gamed
        yield from command_faults(check, ran.exit_code, ran.printed)
    if check.answer is not None:
        yield from (f"the answer {fault}" for fault in text_faults(check.answer, ran.answer))
    if check.json_schema is not None:
        yield _schema(check.json_schema, ran.answer)
    for path, wanted in sorted(check.files.items()):
        yield from _file(path, wanted, ran.files.get(path))
    if ran.handled is False:
        yield "the call went wrong as it did before"
    if check.outcome is not None and ran.carried and not any(comes_to(check.outcome, each) for each in ran.carried):
        yield "no call came to what the one that worked did"
    if check.calls is not None:
        yield from _calls(check.calls, ran)
    if check.rubric and not ran.rubric:
        yield "the judge was not asked" if ran.rubric is None else "the judge says no"


def command_faults(check: Check, exit_code: int | None, printed: str) -> Iterator[str]:
    """What a check's command did not say of the work: its exit code, the tests that passed, the lines it prints."""
    if exit_code is None or check.exit_code not in (None, exit_code):
        yield f"the command gave {exit_code if exit_code is not None else 'nothing'}, not {check.exit_code or 0}"
    reported = outcomes_of(printed) if check.reports else {}
    yield from (f"{name} was not reported as passed" for name in check.reports if not reported.get(name))
    if not has_most(check.prints, printed):
        yield "the command did not print what it prints when the work is done"


def _file(path: str, wanted: FileDemand, text: str | None) -> Iterator[str]:
    if wanted.absent:
        yield f"{path} is there" if text is not None else ""
    elif text is None:
        yield f"{path} is not there"
    else:
        yield from (f"{path} {fault}" for fault in text_faults(wanted, text))


def _schema(schema: dict[str, Any], answer: str) -> str:
    import fastjsonschema  # noqa: PLC0415 - only cases with a schema need it

    try:
        value = msgspec.json.decode(answer)
    except msgspec.MsgspecError:
        return "the answer is not JSON"
    try:
        fastjsonschema.compile(schema)(value)
    except fastjsonschema.JsonSchemaValueException as fault:
        return f"the answer does not follow the schema: {fault.message}"[:SHOWN]
    except fastjsonschema.JsonSchemaDefinitionException as fault:
        raise WhetError(f"A schema of a check cannot be used: {fault}", advice="Correct it in its case.") from fault
    return ""


def _calls(wanted: CallDemand, ran: FinishedRun) -> Iterator[str]:
    made = [call for message in ran.messages for call in message.calls]
    for shape in wanted.uses:
        yield "" if any(fits(shape, call) for call in made) else f"{shape.tool} was not called as wanted"
    if wanted.one_of and not any(fits(shape, call) for shape in wanted.one_of for call in made):
        yield "no call was one that does it"
    for shape in wanted.avoids:
        yield f"{shape.tool} was called as it must not be" if any(fits(shape, call) for call in made) else ""
    if wanted.valid:
        yield from (fault for fault in (_validity(call, ran.known_tools) for call in made) if fault)
        yield "" if made else "no tool was called"
    if not wanted.repeats_failure and _repeats(ran.before, ran.messages):
        yield "a call was repeated after it had failed"


def _validity(call: ToolCall, known: tuple[str, ...]) -> str:
    if known and call.name not in known:
        return f"{call.name} is no tool"
    return "" if object_of(call) is not None else f"the arguments of {call.name} are no JSON object"


def _repeats(before: tuple[Message, ...], messages: tuple[Message, ...]) -> bool:
    """Whether the run made a call again that had failed, in it or before it."""
    failed: set[str] = set()
    before = cold(before)
    for exchange in pair((*before, *messages)).exchanges:
        made = call_key(exchange.call)
        if made in failed and exchange.asked >= len(before):
            return True
        if exchange.result is not None and decide(exchange).outcome is Outcome.FAILED:
            failed.add(made)
    return False
