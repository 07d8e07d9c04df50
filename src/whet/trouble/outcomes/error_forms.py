"""How tools say in plain text that a call did not work: one table a family, scanned in linear time."""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import re2

HEAD = 1_000
TAIL = 4_000
_PREAMBLE = re2.compile(r"^(?:EXECUTION RESULT of \[[^\]\n]{0,80}\]:|OBSERVATION:|Observation:)\s*")
PREAMBLES = ("EXECUTION RESULT of [", "OBSERVATION:", "Observation:")
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

_KINDS = (
    "fatal|internal|unexpected|tool|api|system|server|runtime|execution|http|mcp|network|command|sql|database|"
    "validation|syntax|parse|permission|connection|authentication"
)
_DOING = (
    "executing|running|calling|invoking|while|when|during|in|at|from|reading|writing|editing|opening|fetching|"
    "loading|parsing|processing|creating|occurred|searching|performing|getting|listing|applying|connecting|"
    "finding|accessing|code|updating|deleting|sending|retrieving"
)
_HTTP_NAMES = (
    "client error|server error|bad request|unauthorized|forbidden|not found|method not allowed|too many requests|"
    "internal server error|bad gateway|service unavailable|gateway timeout"
)

_ERRNO = (
    "E(?:NOENT|ACCES|PERM|ISDIR|NOTDIR|EXIST|MFILE|CONNREFUSED|TIMEDOUT|NOTFOUND|PIPE|INVAL|BUSY|ADDRINUSE|"
    "CONNRESET|LOOP|NOSPC|ROFS|AI_AGAIN)"
)

_NAMED = r"[`'\"][^`'\"\n]{1,80}[`'\"]"

# What a reading tool's own error is about; a line of a log that was read seldom is.
READING_REASON = re2.compile(
    r"(?i)not found|no such|does(?:n't| not) exist|permission|\baccess|director|\bpath|\bfiles?\b|too large|"
    r"binary|unsupported|outside|offset|encoding|decode|absolute|tokens?\b|parameter|argument|missing|required|"
    r"ENOENT|EISDIR|EACCES|tool_use_error|pattern|regex|timed out|mcp error"
)

_PLACE = (
    "string|text|old_string|old_str|search (?:block|text|pattern)|snippet|match|occurrence|context|lines?|hunk|"
    "pattern|content|block"
)

REACH = 2_000


class ErrorForm(NamedTuple):
    """A documented wording. The name is the evidence that a person reads."""

    name: str
    pattern: str
    program: str = ""  # the words that the command begins with which decides


class Forms:
    """Forms compiled into one set: one pass over the text, whatever their number.

    `signs` are lower-case words of which every text that has a form has one: most texts have none and are done with.
    """

    def __init__(self, forms: Iterable[ErrorForm], *, signs: tuple[str, ...] = ()) -> None:
        self.forms = tuple(forms)
        self.signs = signs

    @cached_property
    def _set(self) -> re2.Set:
        """Compiled at its first use: many commands decide nothing."""
        compiled = re2.Set.SearchSet()
        for form in self.forms:
            compiled.Add(form.pattern)
        compiled.Compile()
        return compiled

    def first(self, text: str) -> str:
        """The name of the first form in the table's order that the text has, or nothing."""
        if self.signs and not has_any(text.lower(), self.signs):
            return ""
        found = self._set.Match(text)
        return self.forms[min(found)].name if found else ""

    def all(self, text: str) -> tuple[ErrorForm, ...]:
        """All forms that the text has, in the table's order."""
        return tuple(self.forms[number] for number in sorted(self._set.Match(text) or ()))


def has_any(text: str, signs: tuple[str, ...]) -> bool:
    """Whether one of the signs stands in a text."""
    for sign in signs:  # noqa: SIM110 - a generator would cost more than the search
        if sign in text:
            return True
    return False


def head(text: str, length: int = HEAD) -> str:
    """The beginning of a text as a person sees it: one kind of line end, no colours."""
    return _plain(text[:length])


def tail(text: str, length: int = TAIL) -> str:
    """The end of a text as a person sees it."""
    return _plain(text[-length:])


def without_preamble(text: str) -> str:
    """The text without the words that some agent programs put before every result."""
    found = _PREAMBLE.match(text[:HEAD]) if text.startswith(PREAMBLES) else None
    return text[found.end() :] if found else text


def _plain(text: str) -> str:
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    return text.replace("\r\n", "\n") if "\r" in text else text


BLOCKED = (
    ErrorForm("blocked by policy", r"^Permission to (?:use|read|edit) \S+ .{0,400}has been denied"),
    ErrorForm("blocked by policy", r"^Claude requested permissions to .{0,400}but you haven't granted it"),
    ErrorForm("blocked by policy", r"^PreToolUse:\S+ (?:\[[^\]]{0,200}\] )?hook"),
    ErrorForm(
        "blocked by policy", r"(?i)^\W*(?:BLOCKED:|(?:command |call |tool )?blocked by (?:policy|a? ?hook|sandbox))"
    ),
)
# Forms that no program prints by itself: they hold whatever the command was.
STRONG_HEADS = Forms(
    (
        ErrorForm("tool_use_error", r"^<tool_use_error>"),
        *BLOCKED,
        ErrorForm("mcp error", r"^MCP error -?\d+"),
        ErrorForm("invalid arguments", r"^(?:InputValidationError|Invalid tool (?:call|arguments|parameters))"),
        ErrorForm("tool failed", r"^[a-z_]{3,40} (?:verification )?failed: "),
        ErrorForm(
            "no such tool",
            r"(?i)^(?:error: )?(?:no such tool|unknown tool|tool [`'\"]?[\w.:-]{1,80}[`'\"]? not found)",
        ),
        ErrorForm("timeout", r"(?i)^(?:the )?(?:command|execution|process) (?:has )?timed out\b"),
        ErrorForm("timeout", r"^EXECUTION TIMED OUT"),
        ErrorForm("error", r"^Error\z"),  # a shell tool whose command failed without a word
    )
)

HTTP_STATUS = ErrorForm(
    "http status",
    rf"(?i)^\W{{0,4}}(?:HTTP(?:/[\d.]+)?(?: error| status)?:? ?[45]\d\d\b|[45]\d\d (?:{_HTTP_NAMES}))",
)
# What the system answers when it cannot do something (the strings of POSIX's strerror), as the whole of an answer;
# programs in Rust add the number.
SYSTEM_ERROR = ErrorForm(
    "system error",
    r"(?i)^[^\n]{0,300}\(os error \d+\)\s*\z|^(?:[^\n]{1,200}: )?(?:no such file or directory|permission denied|"
    r"is a directory|not a directory|file exists|directory not empty|operation not permitted|no space left on device|"
    r"read-only file system|too many open files|argument list too long|exec format error|connection refused|"
    r"connection reset by peer|broken pipe|device or resource busy|address already in use|text file busy|"
    r"input/output error|too many levels of symbolic links|file name too long|cannot allocate memory|"
    r"no route to host|network is unreachable|connection timed out|invalid argument|bad file descriptor)\s*\z",
)
# Something that was asked for by its name does not exist: `Agent type 'tester' not found. Available: …`
NO_SUCH_NAME = ErrorForm(
    "no such name",
    rf"(?i)^(?:error: )?(?:[a-z_-]{{2,30}} ){{1,4}}(?:{_NAMED} (?:was |is |could )?"
    r"(?:not (?:be )?(?:found|recogni[sz]ed|registered|available|defined)|unknown|does(?:n't| not) exist)\b"
    r"|[\w:./-]{2,80} not found(?:[.:,;]|\s*\z))",
)
NO_COMMAND = ErrorForm(
    "no command",
    r"(?i)^No (?:SQL|query|command|code|bash code|action)\b[^\n]{0,40} (?:was |were )?(?:found|given|provided)",
)
# A tool's answer that is nothing but an error, at the very beginning of the text.
HEADS = Forms(
    (
        *STRONG_HEADS.forms,
        SYSTEM_ERROR,
        NO_SUCH_NAME,
        ErrorForm("traceback", r"^Traceback \(most recent call last\)"),
        ErrorForm(
            "exception",
            r"^(?:[A-Za-z_][\w.]*\.)?(?:[A-Z]\w*(?:Error|Exception|Failure|Fault|Timeout)|Exception)\b(?: \[\w+\])?:"
            r"(?:\s|$)",
        ),
        ErrorForm("exception", r"^[A-Z][a-z]\w*(?:Error|Exception)$"),
        ErrorForm("error", rf"(?i)^[\W_]{{0,6}}(?:(?:{_KINDS}) )*error\b[*_]{{0,2}}\s*(?:\(|\[|:|-|—|!|#|\d|$|\n)"),
        ErrorForm("error", r"^(?:[A-Z][a-z]+ ){1,4}(?:Error|Exception)(?::\s|\s*\n|\s*\z)"),
        ErrorForm("error", rf"(?i)^[\W_]{{0,6}}error (?:{_DOING})\b"),
        ErrorForm("error", r"(?i)^an? (?:\w+ )?(?:error|exception) (?:has )?(?:occurred|happened|was)\b"),
        ErrorForm(
            "failed", r"(?i)^\W{0,4}(?:failed|failure|unable|couldn't|could not|cannot|can't)(?: to\b|:| [a-z]+ )"
        ),
        ErrorForm("failed", r"(?i)^\w{2,40}(?: \w{2,20}){0,3} failed(?::|\.| with\b| because\b| due\b)"),
        ErrorForm("errno", rf"^{_ERRNO}:? "),
        ErrorForm(
            "invalid arguments",
            r"(?i)^(?:invalid|missing|unknown|unrecognized|unsupported|malformed|bad) "
            r"[`'\"\w]{1,40}(?: [`'\"\w]{1,40}){0,4}[:.\s]",
        ),
        ErrorForm(
            "no such tool",
            r"(?i)^(?:tool|function|command) [`'\"]?[\w.:-]{1,80}[`'\"]? (?:does not exist|doesn't exist|"
            r"is not (?:available|found|a valid|recognized|registered|supported))",
        ),
        ErrorForm(
            "timeout",
            r"(?i)^\W{0,4}(?:the )?(?:request|operation|tool|query|call|connection)?\s?(?:has |was )?"
            r"(?:timed out|timeout (?:after|exceeded|reached|of))\b",
        ),
        HTTP_STATUS,
        ErrorForm(
            "http status",
            r"(?i)^[^\n]{0,60}\b(?:failed|responded|returned|request)[^\n]{0,40} "
            r"(?:status(?: code)?|http):? ?[45]\d\d\b",
        ),
        ErrorForm("browser error", r"^(?:### Error|net::ERR_|page\.\w+: |(?:locator|browserType)\.\w+: )"),
        ErrorForm("search failed", r"(?i)^search failed\b"),
        ErrorForm(
            "no such file",
            r"(?i)^(?:the )?(?:file|path|directory|folder|image|resource)\b[^\n]{0,300}(?:not found|does not exist|"
            r"doesn't exist|no such file|cannot be|could not be|is too large|exceeds|must be|already exists|"
            r"is a directory|has not been read)",
        ),
        ErrorForm(
            "sql error",
            r"(?i)^(?:near \"[^\"\n]*\": syntax error|no such (?:table|column|function): |ambiguous column name: |"
            r"You have an error in your SQL syntax|ORA-\d{5}|SQLSTATE\[?\w{5}|Msg \d+, Level \d+)",
        ),
        NO_COMMAND,
    )
)


# What an editing tool says when the place to change is not there.
EDITOR_HEADS = Forms(
    (
        ErrorForm(
            "edit not applied",
            r"(?i)^[^\n]{0,40}\bno (?:replacement|changes?|edits?) (?:was|were) (?:performed|made|applied)",
        ),
        ErrorForm(
            "edit not applied",
            rf"(?i)^[^\n]{{0,120}}\b(?:{_PLACE})s?\b[^\n]{{0,60}}\b(?:not found|not match|no match|did not appear|"
            r"does not (?:appear|exist|match)|is not unique|not unique)",
        ),
        ErrorForm(
            "edit not applied",
            r"(?i)^[^\n]{0,20}\b(?:failed to find|could not find|couldn't find|no match(?:es)? (?:found )?for|"
            r"cannot find|unable to find|did not find)\b",
        ),
        ErrorForm(
            "edit not applied",
            r"(?i)^(?:Found \d+ (?:matches|occurrences)|multiple (?:matches|occurrences))[^\n]{0,80}"
            r"(?:but|unique|ambiguous|expected)",
        ),
        ErrorForm("edit not applied", r"(?i)^Your proposed edit has introduced new syntax error"),
        ErrorForm(
            "edit not applied",
            r"(?i)^[^\n]{0,40}\b(?:edit|patch|diff|replacement|write|change)s? (?:was |were |could )?"
            r"(?:not (?:be )?applied|rejected|verification failed)",
        ),
        ErrorForm(
            "stale file",
            r"(?i)^(?:the )?file has (?:been (?:unexpectedly )?(?:modified|changed)|changed|not been read)",
        ),
    )
)

UNRUNNABLE = Forms(
    (
        # error: unrecognized subcommand 'bun'
        ErrorForm(
            "no such command",
            r"(?im)\b(?:unrecognized|unknown|unexpected|invalid|no such) "
            r"(?:sub-?)?(?:command|option|argument|flag|switch)\b",
        ),
        # zsh: command not found: pytest
        ErrorForm("no such program", r"(?im)\bcommand not found\b|: not found$|is not recognized as an internal"),
        # npm error Missing script: "test:unit"
        ErrorForm("no such script", r"(?im)\bmissing script\b|\bscript not found\b|\bno rule to make target\b"),
        # error: no bin target named `nextest`
        ErrorForm("no such target", r"(?im)^error: no (?:such (?:command|target|task)|[\w ]{1,20} target named)\b"),
        # Task 'lint' not found in root project; nx: Cannot find configuration for task web:test
        ErrorForm(
            "no such task",
            r"(?im)\btask [`'\"]?[\w:.-]+[`'\"]? (?:was )?not found\b|cannot find configuration for task",
        ),
        # ERROR: file or directory not found: tests/unit
        ErrorForm("no such place", r"(?im)^(?:ERROR: )?file or directory not found: "),
        # bash: line 1: cd: src: No such file or directory
        ErrorForm("no such folder", r"(?im)^[^\n]{0,60}\bcd:(?:\d+:)? [^\n]{0,200}no such file or directory"),
        # python: No module named pytest
        ErrorForm("no such module", r"(?im)^\S*python[\w.]*: no module named "),
        # No tests found, exiting with code 1; no test files
        ErrorForm("no tests", r"(?im)^\s*no tests? (?:found|files?|matched|collected|ran)\b|^collected 0 items$"),
        # Build daemon is disabled on this host. Use: ./gradlew --no-daemon
        ErrorForm(
            "disabled here", r"(?im)\bis (?:disabled|not available|not supported|not allowed) (?:on|in|here|for) "
        ),
        # pattern ./...: directory prefix . does not contain main module or its selected dependencies
        ErrorForm(
            "no such package", r"(?m)^(?:pattern \S+: |go: ).*(?:does not contain|outside|cannot find) .*\bmodule\b"
        ),
        # fatal: pathspec 'src/writer.go' did not match any files; a commit that a hook stopped is a red check
        ErrorForm(
            "git", r"(?m)^(?:fatal: (?:pathspec|not a git repository|ambiguous argument|bad revision)|error: pathspec) "
        ),
        # Cannot connect to the Docker daemon at unix:///var/run/docker.sock
        ErrorForm("no daemon", r"(?im)\bcannot connect to the \w+ daemon\b"),
        # usage: pytest [options]; Usage: ./dev test MODULE
        ErrorForm("usage", r"(?m)^(?:usage|Usage|USAGE|Use): \S"),
        # The engine "node" is incompatible with this module
        ErrorForm("wrong version", r"(?im)\bengine [`'\"]?node[`'\"]? is incompatible|\bunsupported engine\b"),
    )
)
# A search or a look that went wrong itself; that nothing is there, is an answer.
PROBE_ERRORS = Forms(
    (
        # rg: unrecognized flag -; grep: invalid option -- 'y'
        ErrorForm("no such option", r"(?im)^(?:\S*/)?[a-z]+: (?:unrecognized|unknown|invalid|illegal) \w+"),
        # rg: the literal "\n" is not allowed in a regex; grep: Unmatched [, [^
        ErrorForm("bad pattern", r"(?im)^(?:rg|e?grep|ag|fd): .*(?:regex|unmatched|invalid|not allowed|unclosed)"),
        # rg: src/evaluate.ts: No such file or directory (os error 2)
        ErrorForm("no such place", r"(?im)^(?:rg|ag|fd): .*no such file or directory"),
    )
)


def could_not_run(text: str) -> str:
    """Why a check did not run, as far as its output says so; nothing where it ran, however red."""
    if len(text) <= 2 * REACH:
        return UNRUNNABLE.first(head(text, 2 * REACH))
    return UNRUNNABLE.first(head(text, REACH)) or UNRUNNABLE.first(tail(text, REACH))


def probe_error(text: str) -> str:
    """Why a search could not be made as it was asked for; nothing where it was made and found nothing."""
    return PROBE_ERRORS.first(head(text, REACH))
