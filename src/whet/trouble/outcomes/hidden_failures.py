"""Failures of command lines, read from the command and what it printed when no status tells."""

import re

import re2

from whet.sessions.call_effects import check_of
from whet.sessions.shell_lines import Stage, is_decisive, split
from whet.text.words import names
from whet.trouble.outcomes import envelopes
from whet.trouble.outcomes.check_forms import CHECKS, COMPLAINTS, program_end
from whet.trouble.outcomes.error_forms import NO_COMMAND, STRONG_HEADS, SYSTEM_ERROR, ErrorForm, Forms, head, tail

LAST_LINES = 600


# How agent programs and command-line programs say that a call failed, in words that nothing else prints: a new form
# comes with an answer in which it was seen, for the test. What an agent program writes itself begins or ends the answer
# of any tool; what a program prints counts at the end of a shell's output, with `program` only where that decides.
STARTS = Forms(
    (
        # mini-swe-agent
        ErrorForm("timeout", r"^The last command <command>(?s:.*)</command> timed out and has been killed"),
        ErrorForm("exception", r"^<exception>\s*\S"),
        # OpenCode
        ErrorForm("invalid arguments", r"^(?:Error: )?The \S{1,60} tool was called with invalid arguments"),
        ErrorForm("no such tool", r"^(?:Error: )?Model tried to call unavailable tool"),
        ErrorForm(
            "edit not applied",
            r"^(?:Error: )?(?:Could not find oldString in|oldString not found in|Found multiple matches for oldString|"
            r"No changes to apply: oldString)",
        ),
        ErrorForm(
            "not read before",
            r"^(?:Error: )?(?:You must read (?:the )?file \S+ before|File \S+ has been modified since it was last)",
        ),
        ErrorForm(
            "http status", r"^(?:Error: )?(?:StatusCode: non 2xx status code|Request failed with status code:? \d)"
        ),
        ErrorForm(
            "no such skill",
            r"^(?:Error: )?(?:Skill|Agent|Subagent|Unknown agent type:?) [\"'`]?[\w:./-]{1,80}[\"'`]? "
            r"(?:not found|is not a valid)",
        ),
        # Claude Code
        ErrorForm("not judged", r"^\S{1,60} is temporarily unavailable, so auto mode cannot determine"),
        # Codex
        ErrorForm("command not started", r"^(?:exec_command|shell|write_stdin) failed(?: for `[^\n]*`)?: "),
        ErrorForm("invalid arguments", r"^failed to parse function arguments: "),
        # Cline, Roo Code and OpenHands
        ErrorForm("tool failed", r"^The tool execution failed with the following error:"),
        ErrorForm("tool failed", r"^\[An error occurred during execution\b"),
    )
)
ENDS = Forms(
    (
        ErrorForm("timeout", r"(?i)\b(?:bash|shell|terminal) tool terminated command after exceeding timeout\b"),
        # Shell tools of many agents, below the output
        ErrorForm("timeout", r"(?i)(?:^|\n)\W{0,4}(?:the )?command (?:has )?timed out\b[^\n]{0,200}\s*\z"),
        ErrorForm("timeout", r"(?i)(?:^|\n)\W{0,4}timed out after [\d.]+ ?\w{0,12}\W{0,4}\s*\z"),
        ErrorForm(
            "timeout",
            r"(?i)(?:^|\n)\W{0,4}(?:the )?(?:command|process|execution) (?:has |was )?(?:timed out|killed) after "
            r"[\d.]+ ?\w{0,12}[^\n]{0,120}\s*\z",
        ),
    )
)
LAST = Forms(
    (
        ErrorForm("jq error", r"(?m)^jq: error(?: \(at [^)\n]*\))?: ", program="jq"),
        # Node and its package managers
        ErrorForm(
            "node: no such module",
            r"(?m)^\s*code: '(?:ERR_)?MODULE_NOT_FOUND'|^Error(?: \[ERR_\w+\])?: Cannot find (?:module|package) ",
        ),
        ErrorForm(
            "node: wrong version",
            r"(?mi)^(?:error |npm (?:ERR!|error) )?(?:[\w@/.-]+: )?The engine \"node\" is incompatible|"
            r"ERR_PNPM_UNSUPPORTED_ENGINE|^npm (?:ERR!|error) code EBADENGINE",
        ),
        ErrorForm("pnpm: failed", r"(?m)^\s?ERR_PNPM_\w+"),
        # Usage errors
        ErrorForm("usage error", r"(?m)^[\w./-]{1,60}(?: [\w:-]{1,40}){0,3}: error: \S"),
        ErrorForm(
            "usage error",
            r"(?mi)^(?:[\w./-]{1,40}: )?(?:error: )?(?:unknown|unrecogni[sz]ed|invalid|illegal|no such|unexpected) "
            r"(?:sub-?)?(?:command|option|flag|argument|switch|parameter)s?\b",
        ),
        ErrorForm(
            "usage error",
            r"(?m)^(?:error|Error): (?:the following |missing )(?:required )?(?:arguments?|"
            r"options?)\b",
        ),
        # Programs that say it in words of their own
        ErrorForm("patch: failed", r"(?m)^\d+ out of \d+ hunks? (?:FAILED|failed|ignored)"),
        ErrorForm("git: ignored path", r"(?m)^The following paths are ignored by one of your \.gitignore files:"),
        ErrorForm(
            "git: nothing to commit",
            r"(?m)^(?:nothing to commit|no changes added to commit|nothing added to commit)\b",
            program="git commit",
        ),
        ErrorForm(
            "git: conflict",
            r"(?m)^(?:Automatic merge failed|CONFLICT \(|error: could not apply |\s?! \[(?:remote )?rejected\])",
        ),
        ErrorForm("apt: failed", r"(?m)^E: \S"),
        ErrorForm("pip: failed", r"(?m)^ERROR: (?:Could not|No matching|Failed|Cannot|Invalid)"),
        ErrorForm(
            "docker: failed",
            r"(?m)^(?:docker: )?(?:Error response from daemon:|Cannot connect to the "
            r"Docker daemon)",
        ),
        ErrorForm("kubectl: failed", r"(?m)^(?:Error from server|error: the server )"),
        ErrorForm("aws: failed", r"(?m)^An error occurred \(\w+\) when calling the "),
        ErrorForm("terraform: failed", r"(?m)^│ Error: \S"),
        ErrorForm("cmake: failed", r"(?m)^(?:CMake Error\b|-- Configuring incomplete, errors occurred)"),
        ErrorForm(
            "go: failed",
            r"(?m)^(?:vet(?:\.exe)?: )?\S+\.go:\d+(?::\d+)?: \S|^pattern \S+: directory prefix \S+ does not contain",
            program="go ",
        ),
        ErrorForm("ci: failed", r"(?m)^[^\t\n]+\t(?:fail|pending)\t", program="gh pr checks"),
        ErrorForm("go: failed", r"(?m)^exit status [1-9]\d*\s*\z", program="go run"),
        ErrorForm("java: exception", r'(?m)^Exception in thread "'),
        ErrorForm("php: failed", r"(?m)^(?:PHP )?(?:Fatal|Parse) error: "),
        ErrorForm("ruby: exception", r"(?m)^[\w./-]+\.rb:\d+:in .{1,200}\(\w*(?:Error|Exception)\)"),
    )
)

HEAD_LINES = 3
ONE_LINE = 300
TAIL_LINES = 6
# Programs that show what others wrote: a failure in their output is somebody's text, not their own.
READERS = names(
    "cat bat less more head tail grep egrep fgrep rg ag ack sed awk gawk cut sort uniq wc tr tee nl od xxd strings "
    "jq yq find fd ls tree stat file echo printf diff comm column fold rev tac zcat zgrep xmllint hexdump "
    "journalctl true false cd pwd export set unset source sleep date which type basename dirname xargs read test "
    "[ [[ for case in dmesg man history . :"
)
READER_SUBCOMMANDS = {
    "git": names("log show diff blame grep status branch ls-files cat-file reflog rev-parse config remote"),
    "gh": names("run pr issue api release search"),
    "docker": names("logs ps images inspect"),
    "kubectl": names("logs get describe"),
    "npm": names("view ls list outdated"),
}
# A program's remark that leaves its exit status at 0.
REMARK = re2.compile(
    r"(?i)\bwarning\b|binary file .*matches|binary file matches|removing leading|entering directory|"
    r"leaving directory|nothing to be done|^downloading |^finding module|is up to date|\bnotice\b|\binfo\b|"
    r"file changed as we read"
)
_SHELL_COMPLAINT = re2.compile(
    r"^(?:-|/\S*/)?(?:ba|z|da|k|fi|a)?sh: ?(?:(?:line )?\d+: ?|-c: (?:line \d+: )?)?(.+)$|"
    r"^(?:zsh|\(eval\)):\d*:? ?(.+)$|: -c: line \d+: (.+)$"
)
_NOT_FOUND = re2.compile(
    r"^(?:(?:command not found|no such file or directory|permission denied): (\S+)|([a-z]+): .{1,300}: (?:No such file "
    r"or directory|Not a directory|Permission denied)|(.{1,300}?): (?:command not found|"
    r"not found|No such file or directory|Permission denied|cannot execute.*|Is a directory))"
)
_SHELL_SYNTAX = re2.compile(
    r"(?i)^(?:syntax error|unexpected |unmatched |parse error|bad substitution|can't open |.{0,80}: (?:syntax error|"
    r"bad substitution|unbound variable|event not found|invalid |ambiguous redirect|cannot create|"
    r"argument list too long))"
)
_STREAM = re.compile(r"(?i)^\[?stderr\]?:\s*")  # how some shell tools mark the lines that are no answer
_PROGRAM_COMPLAINT = re2.compile(r"^(?:/\S*/)?([A-Za-z0-9_.+-]{1,40}): (.+)$")
_REFUSED = re2.compile(
    r"(?i)no such file or directory|permission denied|not found|cannot |can't |missing |invalid |unrecognized |"
    r"unknown |syntax error|unexpected |must precede|not a directory|is a directory|illegal |failed|too many|"
    r"requires |not permitted|refus"
)
_ERROR_LINE = r"^(?:error|Error|ERROR|fatal|FATAL|fatal error)(?:\[[^\]\n]{1,40}\])?: "
OPENINGS = Forms(
    (
        ErrorForm("error head", _ERROR_LINE),
        ErrorForm("error head", r"^Error(?: executing| running|\z)"),  # a shell tool that has nothing else to say
        ErrorForm("exception", r"^(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception): "),
        NO_COMMAND,
    )
)
# A shell tool that could not even start its command has nothing but the system's answer.
SYSTEM_ERRORS = Forms((SYSTEM_ERROR,))
CLOSINGS = Forms(
    (
        ErrorForm("error ending", _ERROR_LINE),
        ErrorForm("usage error", r"^[\w./-]{1,60}: error: "),
    )
)


def reported(text: str) -> str:
    """The report of an agent program that an answer begins or ends with, whatever the tool."""
    return STARTS.first(head(text)) or ENDS.first(tail(text, LAST_LINES))


def reported_by_program(stages: tuple[Stage, ...], text: str, *, by_any: bool) -> str:
    """The report of a program at the end of what a command line printed; `by_any`, also of one without a name here."""
    found = LAST.all(tail(text, LAST_LINES))
    return next((one.name for one in found if (_decides(stages, one.program) if one.program else by_any)), "")


def _decides(stages: tuple[Stage, ...], program: str) -> bool:
    return any(" ".join(stage.words).startswith(program) and is_decisive(stages, i) for i, stage in enumerate(stages))


def hidden_failure(command: str, text: str) -> str:
    """A check or program that failed though the line's status is 0, because what follows it hides its status."""
    stages = split(command)
    # The last command of a line always decides.
    if not any(not is_reader(stage) and not is_decisive(stages, index) for index, stage in enumerate(stages[:-1])):
        return ""
    if code := envelopes.echoed_exit_code(text, command):
        return f"exit code {code}"
    end = tail(text)
    found = _red(stages, end) or (ending if (ending := program_end(end)) == "traceback" else "")
    return found or _hidden_by_cutting(stages, text)


def _red(stages: tuple[Stage, ...], end: str) -> str:
    """How an output says that a check did not pass: in its program's own words, or as any check does."""
    return CHECKS.first(end) or (COMPLAINTS.first(end) if any(map(check_of, stages)) else "")


def _hidden_by_cutting(stages: tuple[Stage, ...], text: str) -> str:
    """How the one program of a line failed whose output the rest only shortens: what is printed is its own."""
    own = [stage for stage in stages if not is_reader(stage)]
    if len(own) != 1 or own[0].joiner != "|":
        return ""
    alone = (own[0]._replace(joiner=""),)
    complaint = _complaint(alone, text)
    is_own = complaint.startswith(("shell: ", f"{own[0].program}: "))
    return complaint if is_own else reported_by_program(alone, text, by_any=True)


def failure(command: str, text: str) -> str:
    """How the output says that the line failed, or nothing. For results that carry no status at all."""
    if strong := STRONG_HEADS.first(head(text)):
        return strong
    if len(text) <= ONE_LINE and ": " not in text and (said := SYSTEM_ERRORS.first(text.strip())):
        return said  # with the name of a program before it, that program has to be the one that decides
    stages = split(command)
    if complaint := _complaint(stages, text):
        return complaint
    only_shows = stages and all(is_reader(stage) or not is_decisive(stages, i) for i, stage in enumerate(stages))
    if only_shows:
        return reported_by_program(stages, text, by_any=False)
    end = tail(text)
    return (
        program_end(end)
        or _red(stages, end)
        or reported_by_program(stages, text, by_any=True)
        or OPENINGS.first(head(text, 400))
        or CLOSINGS.first(end[end.rfind("\n") + 1 :])
    )


def is_reader(stage: Stage) -> bool:
    """Whether a command only shows what is written elsewhere."""
    subcommands = READER_SUBCOMMANDS.get(stage.program)
    if subcommands is not None:
        return next((word for word in stage.words[1:] if not word.startswith("-")), "") in subcommands
    return stage.program in READERS


def _complaint(stages: tuple[Stage, ...], text: str) -> str:
    """A line in which the shell, or a program whose status is the line's, says what it could not do."""
    first, last = head(text).split("\n")[:HEAD_LINES], tail(text).split("\n")[-TAIL_LINES:]
    lines = list(dict.fromkeys(_STREAM.sub("", line.strip()) for line in first + last if line.strip()))
    for line in lines:
        if ":" not in line:
            continue
        shell, said = _SHELL_COMPLAINT.search(line), _PROGRAM_COMPLAINT.match(line)
        if shell and _is_shell_failure(stages, next(filter(None, shell.groups())), is_last=line == lines[-1]):
            return "shell: " + ("command not found" if "not found" in line else "error")
        if said and not shell and _is_own_failure(stages, said.group(1), said.group(2)):
            return f"{said.group(1)}: error"
        # Nothing else was printed: what follows by && in the line has not run.
        if said and len(lines) == 1 and _stops_line(stages, said.group(1)):
            return f"{said.group(1)}: error"
    return ""


def _stops_line(stages: tuple[Stage, ...], program: str) -> bool:
    return len(stages) > 1 and stages[0].program == program and stages[0].joiner == "&&"


def _programs(stage: Stage) -> tuple[str, ...]:
    """The programs that a stage runs: its own, and those that `find -exec` runs for it."""
    pairs = zip(stage.words, stage.words[1:], strict=False)
    return (stage.program, *(word for before, word in pairs if before in ("-exec", "-execdir", "-ok")))


def _is_shell_failure(stages: tuple[Stage, ...], message: str, *, is_last: bool) -> bool:
    if message.startswith("no matches found"):  # zsh drops the one command that has the pattern
        return len(stages) == 1
    missing = _NOT_FOUND.match(message)
    if missing is None:
        return _SHELL_SYNTAX.match(message) is not None
    program = next(filter(None, missing.groups())).rsplit("/", 1)[-1]
    places = [index for index, stage in enumerate(stages) if stage.program == program]
    return any(is_decisive(stages, place) for place in places) if places else is_last


def _is_own_failure(stages: tuple[Stage, ...], program: str, message: str) -> bool:
    """Whether the complaint is of a program that decides the line's status."""
    if REMARK.search(message):
        return False
    program = "git" if program == "fatal" else program
    places = [index for index, stage in enumerate(stages) if program in _programs(stage)]
    if places:
        return any(is_decisive(stages, place) for place in places)
    # The line names it in a way that could not be split: then only a plain refusal counts.
    named = any(program in " ".join(stage.words) for i, stage in enumerate(stages) if is_decisive(stages, i))
    return named and _REFUSED.search(message) is not None
