"""What makes two calls the same call, and two errors the same error."""

import functools
import re
from enum import StrEnum
from typing import NamedTuple

import msgspec
import re2

from whet.sessions.transcripts import ToolCall
from whet.text.words import names

ARGUMENTS_LIMIT = 50_000
FAULT_REACH = 1_500
ERROR_HEAD = 1_500
ERROR_TAIL = 1_500
LINE_LIMIT = 400
FINGERPRINT_LENGTH = 120
# Arguments that say how long or why, not what.
INCIDENTAL = names(
    "description timeout timeout_ms timeout_seconds yield_time_ms max_output_tokens explanation justification "
    "run_in_background toolCallId"
)


class Cause(StrEnum):
    """Who can put it right: the agent by acting differently, or a person by changing the surroundings."""

    AGENT = "agent"
    ENVIRONMENT = "environment"


class EnvironmentFault(NamedTuple):
    """A fault of the surroundings, by the words that programs have for it."""

    name: str
    pattern: str


FAULTS: tuple[EnvironmentFault, ...] = (
    EnvironmentFault(
        "missing program", r"(?i)\bcommand not found\b|is not recognized as an internal or external command"
    ),
    EnvironmentFault("missing program", r"(?i)executable file not found|spawn \S+ ENOENT|exec: \S+: not found"),
    EnvironmentFault("missing program", r"(?:^|\n)(?:/bin/)?(?:ba|z|da)?sh: (?:line )?\d*:? ?\S+: not found"),
    EnvironmentFault(
        "missing package", r"ModuleNotFoundError|ImportError: No module|Cannot find (?:module|package) '[^./]"
    ),
    EnvironmentFault(
        "no network", r"(?i)could not resolve host|name or service not known|temporary failure in name resolution"
    ),
    EnvironmentFault(
        "no network", r"(?i)network is unreachable|no route to host|connection (?:refused|reset)|getaddrinfo"
    ),
    EnvironmentFault("no network", r"ECONNREFUSED|ENOTFOUND|ECONNRESET|EAI_AGAIN|ETIMEDOUT"),
    EnvironmentFault("disk full", r"(?i)no space left on device|ENOSPC|disk quota exceeded"),
    EnvironmentFault("out of memory", r"(?i)out of memory|cannot allocate memory|oom-?kill|heap out of memory"),
    EnvironmentFault(
        "credentials", r"(?i)bad credentials|invalid (?:api[_ ]?key|token|credentials)|token (?:has )?expired"
    ),
    EnvironmentFault(
        "credentials", r"(?i)\b401\b[^\n]{0,40}unauthori[sz]ed|authentication (?:failed|required)|not logged in"
    ),
    EnvironmentFault("credentials", r"(?i)permission denied \(publickey|could not read username"),
    EnvironmentFault("permission", r"(?i)\bpermission denied\b|\boperation not permitted\b|\bEACCES\b|\bEPERM\b"),
    EnvironmentFault("permission", r"(?i)read-only file system|\b403\b[^\n]{0,40}forbidden"),
    EnvironmentFault(
        "rate limit", r"(?i)rate limit(?:ed| exceeded)|too many requests|\b429\b[^\n]{0,30}(?:error|too|rate)"
    ),
    EnvironmentFault(
        "service down", r"(?i)\b50[234]\b[^\n]{0,40}(?:error|gateway|unavailable)|service unavailable|overloaded"
    ),
)
_FAULTS = re2.Set.SearchSet()
for _fault in FAULTS:
    _FAULTS.Add(_fault.pattern)
_FAULTS.Compile()

# In this order: what zsh says has the form that the others would misread.
_MISSING = tuple(
    re2.compile(pattern)
    for pattern in (
        r"command not found: ([\w.+-]+)",
        r"([\w.+-]+): (?:command )?not found",
        r"spawn ([\w.+-]+) ENOENT",
        r"No module named '?([\w.]+)",
        r"Cannot find (?:module|package) '([^'\n]+)'",
        r"'([\w.+-]+)' is not recognized",
    )
)
# What tools wrap around an error, each on its own line or before the message.
_WRAPPING = re.compile(
    r"(?i)^(?:<tool_use_error>|error: |exit code:? -?\d+$|process exited with code -?\d+$"
    r"|chunk id: .*|wall time: .*|original token count: .*|output:$|total output lines: .*|\$ .*|<returncode>.*"
    r"|command (?:failed|exited) .*|stdout:|stderr:|error calling tool[^:]*: )"
)
_ERROR_LINE = re2.compile(
    r"(?i)(?:error|exception)\b|\b(?:fatal|failed|failure|cannot|can't|could not|not found|no such|denied|invalid|"
    r"unexpected|unrecognized|unknown|missing|refused|unable|timed out|timeout|illegal|does not exist)\b"
)


class Variable(NamedTuple):
    """What varies from one occurrence to the next and becomes a mark; `sign` is in every text that has one."""

    sign: str
    pattern: str
    mark: str


# In this order: the earlier ones hold what the later ones would cut to pieces.
VARIABLES: tuple[Variable, ...] = (
    Variable("://", r"https?://\S+", "URL"),
    Variable("@", r"[\w.+-]+@[\w-]+\.[\w.]+", "EMAIL"),
    Variable("/", r"(?:[A-Za-z]:)?(?:[\w.@~+-]*/)+[\w.@~+-]*", "PATH"),
    Variable(
        ".",
        r"\b[\w-]+\.(?:[jt]sx?|py|md|json|ya?ml|toml|txt|rs|go|java|rb|css|html|sh|c|h|cpp|lock|docx|xlsx|csv)\b",
        "PATH",
    ),
    Variable('"', r'"[^"\n]*"', "VALUE"),
    Variable("“", r"“[^”\n]*”", "VALUE"),
    Variable("`", r"`[^`\n]*`", "VALUE"),
    Variable("'", r"(?:^|\W)'[^'\n]*'", " VALUE"),
    Variable("", r"\b[0-9a-fA-F]{8}-[0-9a-fA-F-]{12,}\b|\b0x[0-9a-fA-F]+\b|\b[0-9a-f]{7,}\b", "ID"),
    Variable("", r"\d+(?:[.,:]\d+)*", "N"),
)
_SUBSTITUTIONS = tuple((variable.sign, re2.compile(variable.pattern), variable.mark) for variable in VARIABLES)


def call_key(call: ToolCall) -> str:
    """Equal for the same tool with the same arguments, however they are spelled."""
    arguments = call.arguments
    if len(arguments) <= ARGUMENTS_LIMIT:
        try:
            value = msgspec.json.decode(arguments)
        except (msgspec.DecodeError, ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            kept = {name: item for name, item in value.items() if name not in INCIDENTAL}
            return f"{call.name}\0{msgspec.json.encode(kept, order='sorted').decode()}"
    return f"{call.name}\0{' '.join(arguments.split())}"


def error_line(text: str) -> str:
    """The line of a failed result that says what went wrong."""
    first = ""
    for raw in _ends(text).split("\n"):
        line = _unwrapped(raw)
        if line and _ERROR_LINE.search(raw[:LINE_LIMIT]):
            return line
        first = first or line
    return first


def fingerprint(text: str) -> str:
    """Equal for the same kind of error: the error line without its names, places and numbers."""
    return _normalised(error_line(text))


@functools.lru_cache(maxsize=4096)
def _normalised(line: str) -> str:
    for sign, pattern, mark in _SUBSTITUTIONS:
        if sign in line:
            line = pattern.sub(mark, line)
    return " ".join(line.split())[:FINGERPRINT_LENGTH].lower()


def fault_of(text: str) -> str:
    """The fault of the surroundings that an error names, or nothing."""
    head = text[:FAULT_REACH]
    found = _FAULTS.Match(head)
    if not found:
        return ""
    name: str = FAULTS[min(found)].name
    if not name.startswith("missing"):
        return name
    what: str = next((match.group(1) for pattern in _MISSING if (match := pattern.search(head)) is not None), "")
    return f"{name}: {what}" if what else name


def _ends(text: str) -> str:
    if len(text) <= ERROR_HEAD + ERROR_TAIL:
        return text
    return text[:ERROR_HEAD] + "\n" + text[-ERROR_TAIL:]


def _unwrapped(line: str) -> str:
    line = line.strip()[:LINE_LIMIT].removesuffix("</tool_use_error>")
    while line and (found := _WRAPPING.match(line)):
        line = line[found.end() :].strip()
    return line
