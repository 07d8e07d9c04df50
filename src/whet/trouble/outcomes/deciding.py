"""Whether a tool call worked: one decision for each exchange, with the evidence that decided."""

from enum import StrEnum

import re2

from whet.sessions.call_effects import probes
from whet.sessions.shell_lines import split
from whet.sessions.tool_families import Family, command_of, family_of
from whet.sessions.transcripts import Disposition, Exchange, ToolCall
from whet.sessions.trust import Trust, trust_of_tool
from whet.text.words import names, plain_name
from whet.trouble.outcomes import envelopes, error_forms, hidden_failures
from whet.trouble.outcomes.check_forms import program_end
from whet.trouble.outcomes.error_forms import (
    HEADS,
    READING_REASON,
    ErrorForm,
    Forms,
    head,
    tail,
    without_preamble,
)
from whet.trouble.outcomes.hidden_failures import reported
from whet.values import Value

# Sentences of the agent programs that nothing else prints: they hold whatever the tool and however long the text.
OWN_REJECTIONS = Forms(
    (
        ErrorForm("rejected by the user", r"^(?:Error: )?The user doesn't want to (?:proceed|take this action)"),
        ErrorForm("rejected by the user", r"^(?:Error: )?User rejected tool use"),
        ErrorForm("rejected by the user", r"^The user rejected permission to use this specific tool call"),
    ),
    signs=("doesn't want", "reject"),
)
OWN_CANCELLATIONS = Forms(
    (
        ErrorForm("a sibling failed", r"^(?:<tool_use_error>)?(?:Error: )?Sibling tool call errored"),
        ErrorForm("a sibling failed", r"^(?:<tool_use_error>)?Cancelled: parallel tool call"),
        ErrorForm("interrupted", r"^\[Request interrupted by user"),
        ErrorForm("interrupted", r"^\[Operation Cancelled\]"),
        ErrorForm("interrupted", r"(?:^|\n)Command aborted\s*\z"),
    ),
    signs=("sibling", "cancel", "interrupt", "abort"),
)

# The same in anybody's words. These may also be somebody's data, so they count in short answers only.
REJECTIONS = Forms(
    (
        ErrorForm(
            "rejected by the user",
            r"(?i)^\W*(?:error: )?(?:the )?(?:user|operator|human) (?:has )?"
            r"(?:rejected|denied|declined|refused|disallowed|chose not to|did not (?:approve|allow|confirm))\b",
        ),
        ErrorForm(
            "rejected by the user",
            r"(?i)^[^\n]{0,80}\b(?:rejected|denied|declined|refused|disapproved) by "
            r"(?:the )?(?:user|operator|human)\b",
        ),
        ErrorForm("rejected by the user", r"(?i)^\W*BLOCKED: User (?:denied|rejected)"),
        ErrorForm(
            "rejected by the user", r"(?i)^(?:tool|command|operation|action|edit|call)\b[^\n]{0,60} not approved\b"
        ),
    ),
    signs=("reject", "denied", "declin", "refus", "disallow", "chose not", "did not", "disapprov", "not approved"),
)
CANCELLATIONS = Forms(
    (
        ErrorForm(
            "interrupted",
            r"(?i)^[^\n]{0,60}\b(?:interrupted|aborted|cancell?ed|stopped) by (?:the )?(?:user|operator|human)\b",
        ),
        ErrorForm("interrupted", r"(?i)^\W*(?:error: )?(?:the )?user (?:interrupted|aborted|cancell?ed|stopped)\b"),
        ErrorForm(
            "cancelled",
            r"(?i)^\W*(?:tool|command|operation|execution|request)(?: (?:call|execution|use))?(?: was)? "
            r"(?:cancell?ed|aborted|interrupted|skipped)\b",
        ),
        ErrorForm("cancelled", r"(?i)^\[?(?:skipped|cancelled|canceled|aborted)(?:\]|:| due to| because)"),
    ),
    signs=("interrupt", "abort", "cancel", "stopped", "skipped"),
)

# What agent programs put before the person's own words on a refusal.
_REASON = re2.compile(
    r"(?is)(?:the user said:|user (?:provided|gave) the following (?:reason|feedback)[^:\n]*:|"
    r"feedback from the user:|reason:)\s*(.+)\z"
)
_AFTER = re2.compile(r"(?is)\n+(?:note:|<system|important:|\[request interrupted).*\z")
REASON_REACH = 4_000
PROGRAMS_WORDS = ("The user wants to clarify these questions", "User did not allow tool call")

SHORT_ANSWER = 1_500
LAST_LINE = 60
FILE_READERS = frozenset({Family.READ, Family.SEARCH})
READERS = FILE_READERS | {Family.FETCH, Family.LOOKUP, Family.DELEGATE}
EDITORS = frozenset({Family.EDIT, Family.WRITE})
# Families whose tools may print an exit status as a shell tool does.
STATUS_PRINTERS = frozenset({Family.SHELL, Family.INTERPRETER, Family.DEVELOP, Family.EDIT, Family.OTHER})
MEASURING = names("test check measure diagnose ping status probe verify validate scan monitor inspect")


def refusal_words(text: str) -> str:
    """What the person said when they refused a call; nothing where they only said no."""
    found = _REASON.search(text[:REASON_REACH])
    words = _AFTER.sub("", found.group(1)).strip() if found else ""
    return "" if words.startswith(PROGRAMS_WORDS) else words


class Outcome(StrEnum):
    """How a call ended."""

    OK = "ok"
    FAILED = "failed"
    REJECTED = "rejected"  # the person refused it
    CANCELLED = "cancelled"  # a sibling failed, or it was interrupted: it was never judged on its own
    UNKNOWN = "unknown"


class Decision(Value, frozen=True):
    """An outcome and, in a few words, what decided it."""

    outcome: Outcome
    evidence: str


# A policy's refusal counts as a failure: nobody looked at this call, and the agent could have known.
OUTCOME_OF_DISPOSITION = {
    Disposition.REJECTED: Decision(Outcome.REJECTED, "record: rejected"),
    Disposition.CANCELLED: Decision(Outcome.CANCELLED, "record: cancelled"),
    Disposition.INTERRUPTED: Decision(Outcome.CANCELLED, "record: interrupted"),
    Disposition.BLOCKED: Decision(Outcome.FAILED, "record: blocked by policy"),
}

NO_ERROR = Decision(Outcome.OK, "flag: no error")
NO_EXIT_CODE = Decision(Outcome.OK, "exit code 0")


def decide(exchange: Exchange) -> Decision:
    """Decide from the record's own status first, then from the answer's form; never from a word inside content."""
    result, call = exchange.result, exchange.call
    if result is None:
        return Decision(Outcome.UNKNOWN, "no result")
    text = without_preamble(result.text.strip())
    if result.disposition is not None:
        return OUTCOME_OF_DISPOSITION[result.disposition]
    if result.error is True:
        return _refusal(call, text) or Decision(Outcome.FAILED, _flag_evidence(call, text))
    if result.error is None and result.exit_code:
        return _from_exit_code(result.exit_code, call, text)
    if result.error is None and result.exit_code is None:
        decision = decide_by_text(call, text)
        return (_hidden(call, text) if decision.outcome is Outcome.OK else None) or decision
    return _despite(NO_ERROR if result.error is False else NO_EXIT_CODE, call, text)


def _despite(decision: Decision, call: ToolCall, text: str) -> Decision:
    """A failure that a status of ok does not show: the tool ran, but what it ran failed."""
    family = family_of(call)
    status = envelopes.read(text, family)
    if status is not None and status.failed:
        return _from_envelope(status, call)
    if family is not Family.SHELL:
        return decision
    if code := envelopes.printed_exit_code(text, command_of(call)):
        return _from_exit_code(code, call, text)
    return _hidden(call, text) or decision


def _hidden(call: ToolCall, text: str) -> Decision | None:
    """The failure of a command whose status the rest of its line hides."""
    found = hidden_failures.hidden_failure(command_of(call), text) if family_of(call) is Family.SHELL else ""
    return Decision(Outcome.FAILED, f"hidden by pipe: {found}") if found else None


def decide_by_text(call: ToolCall, text: str) -> Decision:
    """Text alone: a refusal, the status that the tool prints, its envelope, then the error forms of its family."""
    if refusal := _refusal(call, text):
        return refusal
    family = family_of(call)
    if family is Family.SHELL and envelopes.is_still_running(text):
        return Decision(Outcome.UNKNOWN, "still running")
    code = envelopes.printed_exit_code(text, command_of(call)) if family in STATUS_PRINTERS else None
    if code is not None:
        return Decision(Outcome.OK, "exit code 0") if code == 0 else _from_exit_code(code, call, text)
    if status := envelopes.read(text, family):
        return _from_envelope(status, call)
    form = _form(call, family, text)
    # A tool that has nothing to complain of says so by an ordinary answer, or by none.
    return Decision(Outcome.FAILED, f"form: {form}") if form else Decision(Outcome.OK, "no error form")


def _form(call: ToolCall, family: Family, text: str) -> str:
    """The error form of the call's family that the text has, or nothing."""
    if report := reported(text):
        return report
    start = head(text)
    if family is Family.SHELL:
        return hidden_failures.failure(command_of(call), text)
    if family is Family.INTERPRETER:
        return program_end(tail(text)) or HEADS.first(start)
    if family in READERS:
        about = family not in FILE_READERS or READING_REASON.search(start) is not None
        return HEADS.first(start) if about and len(text) <= SHORT_ANSWER else ""
    found = (error_forms.EDITOR_HEADS.first(start) if family in EDITORS else "") or HEADS.first(start)
    # What a tool measures may fail without a fault of the tool: "Speed test failed: no connection" is an answer.
    return "" if found == "failed" and not MEASURING.isdisjoint(plain_name(call.name).split("_")) else found


def _refusal(call: ToolCall, text: str) -> Decision | None:
    """A person's no, or a call that was not let to finish, where the answer is in such words and not a stranger's."""
    if trust_of_tool(call.name) <= Trust.EXTERNAL:
        return None
    start = head(text)
    short = len(text) <= SHORT_ANSWER
    if found := OWN_REJECTIONS.first(start) or (short and REJECTIONS.first(start)):
        return Decision(Outcome.REJECTED, f"form: {found}")
    found = OWN_CANCELLATIONS.first(start) or OWN_CANCELLATIONS.first(tail(text, LAST_LINE))
    if found := found or (short and CANCELLATIONS.first(start)):
        return Decision(Outcome.CANCELLED, f"form: {found}")
    return None


def _from_exit_code(code: int, call: ToolCall, text: str) -> Decision:
    if refusal := _refusal(call, text):
        return refusal
    if code == -1 and envelopes.is_still_running(text):
        return Decision(Outcome.UNKNOWN, "still running")
    return Decision(Outcome.FAILED, _exit_evidence(code, call, text))


def _flag_evidence(call: ToolCall, text: str) -> str:
    code = envelopes.printed_exit_code(text, command_of(call)) if family_of(call) in STATUS_PRINTERS else None
    return _exit_evidence(code, call, text) if code else "flag: is_error"


def _from_envelope(status: envelopes.EnvelopeStatus, call: ToolCall) -> Decision:
    evidence = status.evidence
    if status.exit_code == 1 and status.is_silent and _looks_for_something(call):
        evidence += envelopes.NOTHING_FOUND
    return Decision(Outcome.FAILED if status.failed else Outcome.OK, evidence)


def _exit_evidence(code: int, call: ToolCall, text: str) -> str:
    """The exit code; where it only means that nothing was found, those words too."""
    silent = code == 1 and not envelopes.output_of(text)
    return f"exit code {code}" + (envelopes.NOTHING_FOUND if silent and _looks_for_something(call) else "")


def _looks_for_something(call: ToolCall) -> bool:
    stages = split(command_of(call))
    return bool(stages) and probes(stages[-1])
