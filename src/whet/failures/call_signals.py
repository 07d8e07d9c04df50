"""Signals that lie in the calls: loops, failures, timeouts, things invented, things done over, budgets."""

from collections.abc import Iterator

import re2

from whet.failures.environment import Cause
from whet.failures.fingerprints import error_line
from whet.failures.phrases import shortened
from whet.failures.signals import Kind, Signal
from whet.failures.view import JudgedCall, SessionView
from whet.sessions.arguments import arguments_of
from whet.sessions.call_effects import Effect
from whet.sessions.example_marks import SILENCE
from whet.sessions.transcripts import Ending, Message, Origin, Role
from whet.sessions.trust import Trust

LOOP_FAILURES = 3
SIMILAR_LOOP_FAILURES = 6
SIMILAR_SHARE = 0.9
REREADS = 3
REREADS_AFTER_COMPACTION = 2
STRANDED_CALLS = 8
RESULT_REACH = 800
KEY_REACH = 2_000
PATH_KEYS = ("file_path", "path", "filename", "file", "filepath", "target_file", "notebook_path", "absolute_path")

_TIMEOUT = re2.compile(
    r"(?i)\btimed[ -]?out\b|\btime-?out (?:after|exceeded|expired|reached|of \d)|\bdeadline exceeded\b"
    r"|\bETIMEDOUT\b|\bTimeout(?:Error|Exception|Expired)\b|\bexceeded (?:the )?(?:time limit|timeout)\b|^timeout\b"
)
_NO_TOOL = re2.compile(
    r"(?i)\b(?:tool|function)\W{1,3}[\w.:-]+\W{0,3}(?: is| was)? (?:not (?:found|available|exist|defined)|unknown)"
    r"|\b(?:no such|unknown|invalid|unrecognized|unsupported) (?:tool|function)\b|\bToolNotFound"
    r"|\bunsupported call\b|\brequested function \S+ is not available"
)
_NO_FILE = re2.compile(
    r"(?i)no such file|\b(?:file|path|directory)\b[^\n]{0,60}\b(?:does not exist|doesn't exist|not found)\b|\bENOENT\b"
    r"|\bFileNotFound|(?:cannot|could not|can't) find (?:the )?(?:file|path)\b"
)
# The check did not run at all: it was called in a way that does not exist.
_MISUSE = re2.compile(
    r"(?i)\b(?:unrecognized|unknown|unexpected|invalid) (?:sub)?(?:command|option|argument|flag)\b|\bscript not found\b"
    r"|\bmissing script\b|\bno rule to make target\b|\bfile or directory not found\b"
)
_BUDGET = re2.compile(
    r"(?i)\b(?:max(?:imum)?(?: number of)? (?:turns|steps|iterations|tool calls)|(?:turn|step|iteration|token|cost|"
    r"budget|context) (?:limit|budget) (?:was |has been )?(?:reached|exceeded|exhausted)|context (?:length|window) "
    r"(?:exceeded|full)|exceeded the (?:maximum|context)|prompt is too long|ran out of (?:context|tokens|budget))"
)


def retry_loops(evidence: SessionView) -> Iterator[Signal]:
    """The same call failed three times, or hardly changed ones failed in the same way one after another."""
    failed: dict[str, int] = {}
    looping: set[str] = set()
    for step in evidence.failures:
        failed[step.key] = failed.get(step.key, 0) + 1
        if failed[step.key] == LOOP_FAILURES:
            looping.add(step.tool)
            yield _signal(Kind.RETRY_LOOP, step, confidence=0.95)
    for step in _similar_loops(evidence):
        if step.tool not in looping:
            looping.add(step.tool)
            yield _signal(Kind.RETRY_LOOP, step, confidence=0.7)


def _similar_loops(evidence: SessionView) -> Iterator[JudgedCall]:
    """The last step of each run of failures with one fingerprint and nearly one set of arguments."""
    run: list[JudgedCall] = []
    for step in evidence.steps:
        same = (
            bool(run)
            and step.failed
            and step.tool == run[-1].tool
            and step.fingerprint == run[-1].fingerprint
            and _alike(step.key, run[-1].key)
        )
        run = [*run, step] if same else [step] if step.failed else []
        if len(run) == SIMILAR_LOOP_FAILURES:
            yield step


def _alike(one: str, other: str) -> bool:
    if one == other:
        return True
    first, second = set(one[:KEY_REACH].split()), set(other[:KEY_REACH].split())
    return len(first) >= 4 and len(first & second) >= SIMILAR_SHARE * len(first | second)


def tool_failures(evidence: SessionView) -> Iterator[Signal]:
    """A call that failed, once a tool and sort of error. Checks and probes count only when they stayed red."""
    seen: set[tuple[str, str]] = set()
    recovered = {step.tool: index for index, step in enumerate(evidence.steps) if step.worked}
    last_of_key = {step.key: step for step in evidence.steps}
    for index, step in enumerate(evidence.steps):
        if not step.failed or (step.tool, step.fingerprint) in seen:
            continue
        if step.effect is Effect.PROBES or (step.effect is Effect.CHECKS and _is_work(evidence, step, last_of_key)):
            continue
        seen.add((step.tool, step.fingerprint))
        yield _signal(Kind.TOOL_FAILURE, step, confidence=0.6 if recovered.get(step.tool, -1) > index else 0.9)


def _is_work(evidence: SessionView, step: JudgedCall, last_of_key: dict[str, JudgedCall]) -> bool:
    """Whether a failed check was part of the work: it did not stay the last word on that check."""
    if step.fault or _MISUSE.search(error_line(step.text)):
        return False
    return not last_of_key[step.key].failed or step not in evidence.trailing_failures


def timeouts(evidence: SessionView) -> Iterator[Signal]:
    """A call that failed because its time ran out, once a tool."""
    seen: set[str] = set()
    for step in evidence.failures:
        if step.tool in seen or not _timed_out(step):
            continue
        seen.add(step.tool)
        yield _signal(Kind.TIMEOUT, step, confidence=0.9)


def _timed_out(step: JudgedCall) -> bool:
    if "timeout" in step.decision.evidence or "timed out" in step.decision.evidence:
        return True
    result = step.exchange.result
    if result is not None and result.exit_code == 124:
        return True
    if step.effect is Effect.CHECKS:
        # A test may speak of timeouts; only the tool's own first words say that the check ran out of time.
        return _TIMEOUT.search(step.text[:100]) is not None
    return _TIMEOUT.search(error_line(step.text)) is not None


def inventions(evidence: SessionView) -> Iterator[Signal]:
    """A tool that does not exist, or a file that nobody had mentioned and that is not there."""
    for step in evidence.failures:
        head = step.text[:RESULT_REACH]
        if _NO_TOOL.search(head):
            yield _signal(Kind.HALLUCINATION, step, confidence=0.9)
        elif step.effect in (Effect.READS, Effect.CHANGES) and _NO_FILE.search(head):
            name = _named_file(step)
            if name and not _mentioned(evidence, name, before=step.exchange.asked):
                yield _signal(Kind.HALLUCINATION, step, confidence=0.6)


def _named_file(step: JudgedCall) -> str:
    arguments = arguments_of(step.exchange.call)
    path = next((value for key in PATH_KEYS if isinstance(value := arguments.get(key), str)), "")
    name = path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    return name if "." in name and len(name) > 3 else ""


def _mentioned(evidence: SessionView, name: str, *, before: int) -> bool:
    for message in evidence.transcript.messages[:before]:
        if name in message.text or any(name in call.arguments for call in message.calls):
            return True
        if any(name in result.text for result in message.results):
            return True
    return False


def rereads(evidence: SessionView) -> Iterator[Signal]:
    """The same question asked again although the record holds the answer, unchanged."""
    answers: dict[str, tuple[str, int]] = {}
    for step in evidence.steps:
        if step.effect is not Effect.READS or not step.worked or step.is_empty:
            continue
        text, times = answers.get(step.key, ("", 0))
        times = times + 1 if text == step.text else 1
        answers[step.key] = (step.text, times)
        compacted = step.message > evidence.first_after
        if times == (REREADS_AFTER_COMPACTION if compacted else REREADS):
            yield _signal(Kind.CONTEXT_LOSS, step, confidence=0.7, cause=Cause.AGENT)


def budgets(evidence: SessionView) -> Iterator[Signal]:
    """The session was cut off: by its own word, by the program's, or stranded among failures without an answer."""
    transcript = evidence.transcript
    if transcript.ending is Ending.BUDGET:
        yield _cut_off(evidence, transcript.ending_detail or "the budget was spent", 0.95)
        return
    own = [message for message in transcript.messages if message != SILENCE]
    for message in own[-3:]:
        if _is_programs_word(message) and (found := _BUDGET.search(message.text[:RESULT_REACH])):
            yield _cut_off(evidence, shortened(message.text[found.start() :]), 0.8)
            return
    stranded = evidence.final is None and len(evidence.trailing_failures) >= 2
    if stranded and len(evidence.steps) >= STRANDED_CALLS and transcript.messages[-1].role is Role.TOOL:
        yield _cut_off(evidence, shortened(error_line(evidence.steps[-1].text)), 0.5)


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


def _signal(kind: Kind, step: JudgedCall, *, confidence: float, cause: Cause | None = None) -> Signal:
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
