"""What makes two calls the same call, and two errors the same error."""

import re
from typing import NamedTuple

import msgspec

from whet.sessions.transcripts import ToolCall
from whet.text.words import names

ARGUMENTS_LIMIT = 50_000
ERROR_HEAD = 1_500
ERROR_TAIL = 1_500
LINE_LIMIT = 400
# Arguments that say how long or why, not what.
INCIDENTAL = names(
    "description timeout timeout_ms timeout_seconds yield_time_ms max_output_tokens explanation justification "
    "run_in_background toolCallId"
)


# What tools wrap around an error, each on its own line or before the message.
_WRAPPING = re.compile(
    r"(?i)^(?:<tool_use_error>|error: |exit code:? -?\d+$|process exited with code -?\d+$"
    r"|chunk id: .*|wall time: .*|original token count: .*|output:$|total output lines: .*|\$ .*|<returncode>.*"
    r"|command (?:failed|exited) .*|stdout:|stderr:|error calling tool[^:]*: )"
)
# From what says most to what says least: a line of an earlier sort is taken wherever it stands.
_RAISED = re.compile(
    r"^(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Interrupt|Timeout|\.error)(?: \[\w+\])?: \S", re.ASCII
)
_TELLING = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        r"(?i)^(?:error|fatal(?: error)?|err!|panic|ERR_\w+)\b(?:\[[^\]]{1,40}\])?:? \S|^\w[\w.+-]{0,40}: error: ",
        r"(?i)^(?:[\w./()-]{1,60}: ){1,3}(?:[^:]{1,80}: )?(?:no such file|command not found|not found|permission denied"
        r"|cannot |can't |could not |invalid |unrecognized |unknown |missing |is a directory|not a directory)",
        r"(?i)(?:error|exception)\b|\b(?:fatal|failed|failure|cannot|can't|could not|not found|no such|denied|invalid|"
        r"unexpected|unrecognized|unknown|missing|refused|unable|timed out|timeout|illegal|does not exist)\b",
    )
)
# Words that say only that something failed; what failed stands elsewhere.
_EMPTY_WORDS = re.compile(
    r"(?i)^(?:\W*(?:\[[\w:.-]+\]\s*)?(?:error:?\s*)?(?:task|command|script|process|lifecycle|build|job)\b[^:]{0,60}"
    r"\b(?:failed|exited|terminated)\b[^:]{0,40}|\W*errors?\W*|npm (?:ERR!|error) (?:code|errno|path|command)\b.*"
    r"|\W*ELIFECYCLE.*|error: script .*|error Command failed.*|FAILED|failure:?)\Z",
    re.ASCII,
)
_TRACEBACK = "Traceback (most recent call last):"


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
    lines = [(raw.strip()[:LINE_LIMIT], line) for raw in _ends(text).split("\n") if (line := _unwrapped(raw))]
    if not lines:
        return ""
    if _TRACEBACK in text and (raised := next((line for raw, line in reversed(lines) if _RAISED.search(raw)), "")):
        return raised
    telling = [each for each in lines if not _EMPTY_WORDS.search(each[0])] or lines
    for pattern in (_RAISED, *_TELLING):
        if found := next((line for raw, line in telling if pattern.search(raw)), ""):
            return found
    return telling[0][1]


def _ends(text: str) -> str:
    if len(text) <= ERROR_HEAD + ERROR_TAIL:
        return text
    return text[:ERROR_HEAD] + "\n" + text[-ERROR_TAIL:]


def tells(line: str) -> bool:
    """Whether a line says what went wrong, and not only that something did."""
    return not _EMPTY_WORDS.search(line) and any(pattern.search(line) for pattern in (_RAISED, *_TELLING))


def _unwrapped(line: str) -> str:
    line = line.strip()[:LINE_LIMIT].removesuffix("</tool_use_error>")
    while line and (found := _WRAPPING.match(line)):
        line = line[found.end() :].strip()
    return line
