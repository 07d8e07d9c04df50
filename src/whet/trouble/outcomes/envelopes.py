"""The status that a tool wraps around its answer: JSON envelopes and the exit status that a shell tool prints."""

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
import re2

from whet.sessions.tool_families import Family
from whet.text.words import names
from whet.trouble.outcomes.error_forms import head, tail

EDGE = 400
SMALL_ANSWER = 5  # keys: an error with a hint or two, not a document
# Keys that speak of the call and not of its subject. An answer that has others is somebody's record, in which
# "status": "failed" may be the fact that was asked for.
ENVELOPE_KEYS = names(
    "success ok error errors status message code exit_code returncode exitCode return_code output stdout stderr "
    "result content isError is_error error_type error_code retryable detail details hint suggestion reason type "
    "timed_out duration duration_seconds metadata data warning warnings path command approval statusCode "
    "status_code tool tool_name timeout signal interrupted"
)
WORD_KEYS = ("error", "stderr", "message", "output", "stdout")
EXIT_KEYS = ("exit_code", "returncode", "exitCode", "return_code", "exit_status")
SUCCESS_KEYS = ("success", "ok", "succeeded")
FLAG_KEYS = ("isError", "is_error")
BAD_STATUS = frozenset({"error", "failed", "failure", "fail", "timeout", "timed_out", "blocked", "denied"})
SHELL_KEYS = frozenset(("output", "stdout", "stderr", "metadata", *EXIT_KEYS))
PRINTED_KEYS = frozenset({"output", "stdout", "stderr"})
CONTENT_KEYS = ("content", "output", "stdout", "result", "results", "data", "matches", "files", "text", "lines")
TYPE_KEYS = ("error_type", "errorType", "error_code", "errorCode")
NOTHING_FOUND = ": nothing found"
NO_ERROR = "(not an error)"  # Hermes' word on an exit code that only says that nothing was found

# Each is the form of one agent program's shell tool; the number is the exit status.
_STATUS_AT_HEAD = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        r"(?i)^(?:error: )?exit code:? (-?\d+)(?:\s|$)",  # Claude Code; Codex's apply_patch and shell
        r"(?m)^Process exited with code (-?\d+)$",  # Codex unified exec
        r"^<returncode>(-?\d+)</returncode>",  # mini-swe-agent
        r"(?i)^command (?:failed|exited|finished|completed)[a-z ]* (?:exit )?(?:code|status):? (-?\d+)",
    )
)
_STATUS_AT_TAIL = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        r"(?m)^Exit Code: (-?\d+)$",  # Gemini CLI
        # A line of its own in brackets, which names what ended: OpenHands, Copilot (`<shellId: 51 completed …>`), Droid
        r"(?im)^[\[<(][^\n]{0,80}?\b(?:completed|exited|finished|failed|terminated)[a-z ]* "
        r"(?:exit )?(?:code|status):? (-?\d+)[^\n]{0,3}$",
        r"(?i)(?:^|\n)command (?:exited|failed|finished) with (?:exit )?(?:code|status):? (-?\d+)\.?\s*\Z",  # pi
        r"(?i)(?:^|\n)<?\[?exit[ _]code:? ?(-?\d+)\]?>?\.?\s*\Z",
    )
)
_RUNNING = re2.compile(
    r"(?m)^(?:Process running with session ID \d+|Script running with cell ID)|"
    r"(?i)\b(?:command|process)(?: with id: \S+)?(?: is)? still running\b|^\[The command has no new output after"
)
# A shell line that prints the status of an earlier command itself, as in `make; echo "exit: $?"`.
_ECHOED = re2.compile(
    r"(?im)^[\W_]{0,6}(?:\w+[ _-])?(?:exit|return|rc|status)(?:ed)?(?:[ _-]?(?:code|status))?"
    r"(?:\s*[:=]\s*| )(\d{1,3})\W{0,6}$"
)


class EnvelopeStatus(NamedTuple):
    """What an envelope says: whether the call failed, in which words it says so, and the exit code it gives."""

    failed: bool
    evidence: str
    exit_code: int | None = None
    is_silent: bool = False


def printed_exit_code(text: str, command: str = "") -> int | None:
    """The exit status that a shell tool writes before or after the output, or None."""
    before = _preamble(text)
    found = _first(_STATUS_AT_HEAD, before) if _may_tell_status(before) else None
    if found is not None or "$?" in command:  # with `$?` a status at the end is the command's own print
        return found
    after = tail(text, EDGE)
    return _first(_STATUS_AT_TAIL, after) if _may_tell_status(after) else None


def _may_tell_status(text: str) -> bool:
    """Whether one of the words is there that every status comes with."""
    lowered = text.lower()
    return "code" in lowered or "status" in lowered


def _first(patterns: Iterable[Any], text: str) -> int | None:
    matches = (pattern.search(text) for pattern in patterns)
    return next((int(match.group(1)[:9]) for match in matches if match), None)


def echoed_exit_code(text: str, command: str) -> int:
    """The last status other than 0 that the command line itself printed with `$?`, else 0."""
    if "$?" not in command:
        return 0
    return next((int(code) for code in reversed(_ECHOED.findall(tail(text, EDGE))) if int(code)), 0)


def output_of(text: str) -> str:
    """What the command itself printed, without the status lines that the tool puts before it."""
    before, mark, _ = text[:EDGE].partition("\nOutput:")
    if mark:
        return text[len(before) + len(mark) :].strip()
    first, _, rest = text.partition("\n")
    return rest.strip() if _STATUS_AT_HEAD[0].match(first) or _STATUS_AT_HEAD[3].match(first) else text


def contents(text: str) -> str:
    """The words that an envelope carries, its errors first; a text that is no envelope is its own contents."""
    answer = _first_object(text)
    if not answer:
        return text
    said = (_value(answer[key]) for key in WORD_KEYS if key in answer)
    return "\n".join(words.strip() for words in said if isinstance(words, str) and words.strip()) or text


def is_still_running(text: str) -> bool:
    """Whether a shell tool answered before its command ended."""
    return any(_RUNNING.search(part) is not None for part in (_preamble(text), tail(text, EDGE)))


def _preamble(text: str) -> str:
    """The lines that a tool writes before the output."""
    return head(text, EDGE).partition("\nOutput:\n")[0]


def read(text: str, family: Family) -> EnvelopeStatus | None:
    """The status in the top level of the first JSON value, or None when the text is no envelope of this family."""
    answer = _first_object(text)
    if not answer or not _is_envelope(answer, family):
        return None
    for key in EXIT_KEYS:
        if key in answer and (code := _value(answer[key])) is not None and isinstance(code, int):
            if NO_ERROR in str(_value(answer.get("exit_code_meaning"))):
                return EnvelopeStatus(False, f"envelope: {key}={code}{NOTHING_FOUND}", code)
            return EnvelopeStatus(code != 0, f"envelope: {key}={code}", code, _is_silent(answer))
    for key in SUCCESS_KEYS:
        if isinstance(flag := _value(answer.get(key)), bool):
            return EnvelopeStatus(not flag, f"envelope: {key}={str(flag).lower()}")
    for key in FLAG_KEYS:
        if isinstance(flag := _value(answer.get(key)), bool):
            return EnvelopeStatus(flag, f"envelope: {key}={str(flag).lower()}")
    return _from_words(answer)


def _from_words(answer: dict[str, object]) -> EnvelopeStatus | None:
    status = _value(answer.get("status"))
    own = answer.keys() <= ENVELOPE_KEYS
    if isinstance(status, str) and own and status.lower() in BAD_STATUS:
        return EnvelopeStatus(True, f"envelope: status={status.lower()}")
    metadata = _value(answer.get("metadata"))
    if isinstance(metadata, dict) and isinstance(code := metadata.get("exit_code"), int):
        return EnvelopeStatus(code != 0, f"envelope: metadata.exit_code={code}", code, _is_silent(answer))
    error = _value(answer.get("error"))
    if error and (isinstance(error, str | dict) or error is True):
        return EnvelopeStatus(True, "envelope: error")
    kind = next((key for key in TYPE_KEYS if _value(answer.get(key))), "")
    if kind and (own or len(answer) <= SMALL_ANSWER):
        return EnvelopeStatus(True, f"envelope: {kind}")
    if "error" in answer or (own and isinstance(status, str) and status.lower() in ("success", "ok", "completed")):
        return EnvelopeStatus(False, "envelope: no error")
    return None


def _is_silent(answer: dict[str, object]) -> bool:
    printed = (answer.get(key) for key in ("output", "stdout", "stderr", "error"))
    return all(bytes(said) in (b'""', b"null") if isinstance(said, msgspec.Raw) else not said for said in printed)


def _is_envelope(answer: dict[str, object], family: Family) -> bool:
    """What a shell, a reader or a page shows may be JSON of any kind; only the tool's own wrapping counts."""
    if family in (Family.SHELL, Family.INTERPRETER):
        whole = bool(answer.keys() & PRINTED_KEYS) and not answer.keys().isdisjoint(EXIT_KEYS)
        return whole or (bool(answer.keys() & SHELL_KEYS) and answer.keys() <= ENVELOPE_KEYS)
    if family in (Family.READ, Family.SEARCH, Family.FETCH):
        brought = [_value(answer[key]) for key in CONTENT_KEYS if key in answer]
        alone = len(answer) <= SMALL_ANSWER or (bool(brought) and not any(brought))
        return answer.keys() <= ENVELOPE_KEYS or ("error" in answer and alone)
    return True


def _first_object(text: str) -> dict[str, object] | None:
    """The first value's keys with their values, unread where the JSON decoder allows it."""
    if not text[:EDGE].lstrip().startswith("{"):
        return None
    try:
        raw: dict[str, object] = dict(msgspec.json.decode(text, type=dict[str, msgspec.Raw]))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return _first_of_many(text)
    return raw


def _first_of_many(text: str) -> dict[str, object] | None:
    """Guards and hooks append their words to a result: the value before them still is the envelope."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _value(found: object) -> object:
    return msgspec.json.decode(found) if isinstance(found, msgspec.Raw) else found
