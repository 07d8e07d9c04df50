"""Signals that lie in the calls: loops, failures, timeouts, things invented, things done over, budgets."""

import itertools
from collections.abc import Iterator, Sequence

import re2

from whet.failures.environment import Cause
from whet.failures.fingerprints import error_line
from whet.failures.phrases import shortened
from whet.failures.signals import Kind, Signal
from whet.failures.view import JudgedCall, SessionView
from whet.outcomes.check_forms import RED_CHECKS
from whet.outcomes.envelopes import NOTHING_FOUND
from whet.outcomes.hidden_failures import is_reader
from whet.outcomes.unrunnable import could_not_run, probe_error
from whet.sessions.arguments import command_of
from whet.sessions.call_effects import Effect
from whet.sessions.example_marks import SILENCE
from whet.sessions.shell_lines import split
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import Ending, Message, Origin, Role
from whet.sessions.trust import Trust
from whet.text.words import names, plain_name

LOOP_FAILURES = 3
SIMILAR_LOOP_FAILURES = 6
SIMILAR_SHARE = 0.9
REREADS = 3
SHORT_ANSWER = 200
STRANDED_CALLS = 8
RESULT_REACH = 800
KEY_REACH = 2_000
LAST_WORD = 200
# Calls that wait for the person, who need not answer.
ASKING = names("exit_plan_mode ask_user_question request_user_input ask_user ask_followup_question clarify question")
ECHOED = "hidden by pipe: exit code"

_TIMEOUT = re2.compile(
    r"(?i)\btimed[ -]?out\b|\btime-?out (?:after|exceeded|expired|reached|of \d)|\bdeadline exceeded\b"
    r"|\bETIMEDOUT\b|\bTimeout(?:Error|Exception|Expired)\b|\bexceeded (?:the )?(?:time limit|timeout)\b|^timeout\b"
)
_STOPPED = re2.compile(r"(?i)(?:^|\n)\W{0,4}(?:the )?(?:command|process|execution) (?:has )?timed out\b[^\n]*\s*\z")
_NO_TOOL = re2.compile(
    r"(?i)\b(?:tool|function)\W{1,3}[\w.:-]+\W{0,3}(?: is| was)? (?:not (?:found|available|exist|defined)|unknown)"
    r"|\b(?:no such|unknown|invalid|unrecognized|unsupported) (?:tool|function)\b|\bToolNotFound"
    r"|\bunsupported call\b|\brequested function \S+ is not available"
)
_BUDGET = re2.compile(
    r"(?i)\b(?:exit due to (?:the )?(?:cost|step|call|time|token|budget|context|limit)[\w ]*|LimitsExceeded|"
    r"(?:cost|step|call|turn|time|budget) limit|max(?:imum)?(?: number of)? (?:turns|steps|iterations|tool calls)|"
    r"(?:turn|step|iteration|token|cost|"
    r"budget|context) (?:limit|budget) (?:was |has been )?(?:reached|exceeded|exhausted)|context (?:length|window) "
    r"(?:exceeded|full)|exceeded the (?:maximum|context)|prompt is too long|ran out of (?:context|tokens|budget))"
)
# The same as the whole last word of a record, whoever is said to have spoken it.
_BUDGET_END = re2.compile(
    r"(?i)^\W*(?:exit(?:ed)?:? (?:due to|because of) [\w ]{0,30}(?:cost|step|call|time|token|budget|context|limit)|"
    r"LimitsExceeded|(?:agent )?(?:stopped|terminated)(?: due to|:| because)[\w ]{0,30} (?:limit|budget|turns)|"
    r"max(?:imum)?(?: number of)? (?:turns|steps|iterations)(?: \(?\d+\)?)? (?:reached|exceeded))"
)


def retry_loops(evidence: SessionView) -> Iterator[Signal]:
    """The same call failed three times with the same error and nothing was changed between, or nearly the same did."""
    if len(evidence.failures) < LOOP_FAILURES:
        return
    failed: dict[str, list[str]] = {}
    looping: set[str] = set()
    for step in evidence.steps:
        if _may_help(step):
            failed.clear()
        if not step.failed:
            continue
        errors = failed.setdefault(step.key, [])
        if errors and errors[-1] != step.fingerprint:
            errors.clear()
        errors.append(step.fingerprint)
        if len(errors) == LOOP_FAILURES:
            looping.add(step.tool)
            yield _signal(Kind.RETRY_LOOP, step, confidence=0.95)
    for step in _similar_loops(evidence):
        if step.tool not in looping:
            looping.add(step.tool)
            yield _signal(Kind.RETRY_LOOP, step, confidence=0.7)


def _may_help(step: JudgedCall) -> bool:
    """Whether a step may have changed what made another fail, so that trying that again is no loop."""
    return step.worked and step.effect in (Effect.CHANGES, Effect.RUNS)


def _similar_loops(evidence: SessionView) -> Iterator[JudgedCall]:
    """The last step of each run of failures with one fingerprint and nearly one set of arguments."""
    last: JudgedCall | None = None
    length = 0
    for step in evidence.steps:
        same = (
            last is not None
            and step.failed
            and step.effect is not Effect.CHECKS
            and step.tool == last.tool
            and step.fingerprint == last.fingerprint
            and _alike(step.key, last.key)
        )
        last = step if step.failed else None
        length = length + 1 if same else int(step.failed)
        if length == SIMILAR_LOOP_FAILURES:
            yield step


def _alike(one: str, other: str) -> bool:
    if one == other:
        return True
    first, second = set(one[:KEY_REACH].split()), set(other[:KEY_REACH].split())
    return len(first) >= 4 and len(first & second) >= SIMILAR_SHARE * len(first | second)


def tool_failures(evidence: SessionView) -> Iterator[Signal]:
    """A call that failed, once a tool and sort of error. A red check is work; one that could not run is a failure."""
    if not evidence.failures:
        return
    seen: set[tuple[str, str]] = set()
    recovered = {step.tool: index for index, step in enumerate(evidence.steps) if step.worked}
    for index, step in enumerate(evidence.steps):
        if not step.failed or (step.tool, step.fingerprint) in seen:
            continue
        if is_answer(step):
            continue
        seen.add((step.tool, step.fingerprint))
        known = 0.6 if recovered.get(step.tool, -1) > index else 0.9
        yield _signal(Kind.TOOL_FAILURE, step, confidence=0.4 if is_expected(step) else known)


def is_answer(step: JudgedCall) -> bool:
    """Whether a failure is what the call was made to find out: a probe's no, a check that ran and is red."""
    if step.effect is Effect.PROBES:
        return not probe_error(step.text)
    is_red = step.effect is Effect.CHECKS or step.decision.evidence.endswith(RED_CHECKS)
    return is_red and not could_not_run(step.text)


def is_expected(step: JudgedCall) -> bool:
    """Whether the agent asked for the status itself, wanted no error shown, or only found nothing."""
    evidence = step.decision.evidence
    if evidence.endswith(NOTHING_FOUND) or evidence.startswith(ECHOED):
        return True
    command = command_of(step.exchange.call) if family_of(step.exchange.call) is Family.SHELL else ""
    silenced = "2>/dev/null" in command or "|| true" in command
    return silenced and all(map(is_reader, split(command)))


def timeouts(evidence: SessionView) -> Iterator[Signal]:
    """A call that failed because its time ran out, once a tool."""
    seen: set[str] = set()
    for step in evidence.failures:
        if step.tool in seen or not timed_out(step):
            continue
        seen.add(step.tool)
        yield _signal(Kind.TIMEOUT, step, confidence=0.9)


def timed_out(step: JudgedCall) -> bool:
    if "timeout" in step.decision.evidence or "timed out" in step.decision.evidence:
        return True
    result = step.exchange.result
    if result is not None and result.exit_code == 124:
        return True
    if step.effect in (Effect.CHECKS, Effect.RUNS):
        # What it ran may speak of timeouts; only the tool's own first or last words say that its time ran out.
        return _TIMEOUT.search(step.text[:100]) is not None or _STOPPED.search(step.text[-200:]) is not None
    return _TIMEOUT.search(error_line(step.text)) is not None


def inventions(evidence: SessionView) -> Iterator[Signal]:
    """A tool that does not exist: a slip, which the failed call shows already, more often than an invention."""
    for step in evidence.failures:
        head = step.text[:RESULT_REACH]
        if _NO_TOOL.search(head):
            yield _signal(Kind.HALLUCINATION, step, confidence=0.4)


def rereads(evidence: SessionView) -> Iterator[Signal]:
    """The same file read again and again although the record holds its content, unchanged. Often it has a reason."""
    answers: dict[str, tuple[str, int]] = {}
    for step in evidence.steps:
        if family_of(step.exchange.call) is not Family.READ or not step.worked or len(step.text) < SHORT_ANSWER:
            continue
        text, times = answers.get(step.key, ("", 0))
        # What stood before a compaction is no longer before the agent's eyes.
        fresh = text == step.text and not _compacted_between(evidence, step)
        times = times + 1 if fresh else 1
        answers[step.key] = (step.text, times)
        if times == REREADS:
            yield _signal(Kind.CONTEXT_LOSS, step, confidence=0.3, cause=Cause.AGENT)


def _compacted_between(evidence: SessionView, step: JudgedCall) -> bool:
    return evidence.first_after < step.message


def budgets(evidence: SessionView) -> Iterator[Signal]:
    """The session was cut off: by its own word, by the program's, on an open call, or stranded among failures."""
    transcript = evidence.transcript
    if transcript.ending is Ending.BUDGET:
        yield _cut_off(evidence, transcript.ending_detail or "the budget was spent", 0.95)
        return
    own = _last_messages(transcript.messages)
    for message in own:
        if _is_programs_word(message) and (found := _BUDGET.search(message.text[:RESULT_REACH])):
            yield _cut_off(evidence, shortened(message.text[found.start() :]), 0.8)
            return
    last = own[-1].text if own else ""
    if len(last) <= LAST_WORD and (found := _BUDGET_END.search(last)):
        yield _cut_off(evidence, last, 0.8)
        return
    if _ends_on_call(evidence):
        yield _cut_off(evidence, f"the record ends on a call that was not answered: {evidence.steps[-1].tool}", 0.3)
        return
    stranded = evidence.final is None and len(evidence.trailing_failures) >= 2
    if stranded and len(evidence.steps) >= STRANDED_CALLS and transcript.messages[-1].role is Role.TOOL:
        yield _cut_off(evidence, shortened(error_line(evidence.steps[-1].text)), 0.5)


def _last_messages(messages: Sequence[Message]) -> list[Message]:
    """The last three that are no example's silence, the last one last."""
    found = itertools.islice((message for message in reversed(messages) if message != SILENCE), 3)
    return list(found)[::-1]


def _ends_on_call(evidence: SessionView) -> bool:
    """Whether the record ends on a call that nobody answered, and nobody says why."""
    last = evidence.steps[-1] if evidence.steps else None
    if last is None or last.exchange.result is not None or plain_name(last.tool) in ASKING:
        return False
    return last.exchange.asked == evidence.last_message and evidence.transcript.ending is Ending.UNKNOWN


def _is_programs_word(message: Message) -> bool:
    return message.role is Role.SYSTEM or message.origin is Origin.INSERTED


def _cut_off(evidence: SessionView, quote: str, confidence: float) -> Signal:
    return Signal(
        kind=Kind.BUDGET_SPENT,
        message=max(0, len(evidence.transcript.messages) - 1),
        quote=shortened(quote),
        cause=Cause.AGENT,
        trust=Trust.TOOL,
        confidence=confidence,
    )


def _signal(kind: str, step: JudgedCall, *, confidence: float, cause: Cause | None = None) -> Signal:
    if cause is None:
        cause = Cause.ENVIRONMENT if step.fault else Cause.AGENT
    return Signal(
        kind=kind,
        message=step.message,
        call_id=step.exchange.call.id,
        quote=shortened(error_line(step.text) if step.failed else step.text) or step.decision.evidence,
        cause=cause,
        trust=step.trust,
        confidence=confidence,
        tool=step.tool,
        fingerprint=step.fault or step.fingerprint if step.failed else "",
    )
