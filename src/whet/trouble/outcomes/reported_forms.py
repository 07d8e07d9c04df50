"""The table of reports: how agent programs and command-line programs say that a call failed, one real example each.

A new form comes in here, with an answer in which it was seen; a test asks every example. `where` says how far the words
can be believed: what an agent program writes itself begins or ends the answer of any tool; what a program prints counts
at the end of a shell's output, and with `program` only where that program decides the status of the line.
"""

from enum import StrEnum
from typing import NamedTuple

from whet.sessions.shell_lines import Stage, is_decisive
from whet.trouble.outcomes.error_forms import ErrorForm, Forms, head, tail

LAST_LINES = 600


class AnswerPart(StrEnum):
    """Which part of an answer a report stands in."""

    START = "start"  # the answer begins with it, whatever the tool
    END = "end"  # the answer ends with it, whatever the tool
    LAST = "last"  # the last words of a shell's output, hints and notices left out


class Report(NamedTuple):
    """One way in which a failure is reported. The name is the evidence that a person reads."""

    name: str
    where: AnswerPart
    pattern: str
    example: str
    program: str = ""  # the words that a deciding command begins with


REPORTS: tuple[Report, ...] = (
    # mini-swe-agent
    Report(
        "timeout",
        AnswerPart.START,
        r"^The last command <command>(?s:.*)</command> timed out and has been killed",
        "The last command <command>pytest -q</command> timed out and has been killed.\nThe output of the command was:",
    ),
    Report(
        "exception",
        AnswerPart.START,
        r"^<exception>\s*\S",
        "<exception>An error occurred while executing the command: Command timed out after 60 seconds</exception>\n"
        "<returncode>-1</returncode>\n<output>\n</output>",
    ),
    Report(
        "jq error",
        AnswerPart.LAST,
        r"(?m)^jq: error(?: \(at [^)\n]*\))?: ",
        'jq: error (at <stdin>:3132): Cannot index string with string "labels"',
        program="jq",
    ),
    # OpenCode
    Report(
        "invalid arguments",
        AnswerPart.START,
        r"^(?:Error: )?The \S{1,60} tool was called with invalid arguments",
        'The todowrite tool was called with invalid arguments: SchemaError(Missing key\n  at ["todos"]).',
    ),
    Report(
        "no such tool",
        AnswerPart.START,
        r"^(?:Error: )?Model tried to call unavailable tool",
        "Model tried to call unavailable tool 'str_replace'. Available tools: bash, edit, read, write.",
    ),
    Report(
        "edit not applied",
        AnswerPart.START,
        r"^(?:Error: )?(?:Could not find oldString in|oldString not found in|Found multiple matches for oldString|"
        r"No changes to apply: oldString)",
        "Could not find oldString in the file. It must match exactly, including whitespace and line endings.",
    ),
    Report(
        "not read before",
        AnswerPart.START,
        r"^(?:Error: )?(?:You must read (?:the )?file \S+ before|File \S+ has been modified since it was last read)",
        "You must read file /src/app.ts before overwriting it. Use the Read tool first",
    ),
    Report(
        "http status",
        AnswerPart.START,
        r"^(?:Error: )?(?:StatusCode: non 2xx status code|Request failed with status code:? \d)",
        "StatusCode: non 2xx status code (404 GET https://example.org/docs)",
    ),
    Report(
        "no such skill",
        AnswerPart.START,
        r"^(?:Error: )?(?:Skill|Agent|Subagent|Unknown agent type:?) [\"'`]?[\w:./-]{1,80}[\"'`]? "
        r"(?:not found|is not a valid)",
        'Skill "deploy" not found. Available skills: release, review',
    ),
    Report(
        "timeout",
        AnswerPart.END,
        r"(?i)\b(?:bash|shell|terminal) tool terminated command after exceeding timeout\b",
        "(no output)\n\n<shell_metadata>\nshell tool terminated command after exceeding timeout 120000 ms.\n"
        "</shell_metadata>",
    ),
    # Claude Code
    Report(
        "not judged",
        AnswerPart.START,
        r"^\S{1,60} is temporarily unavailable, so auto mode cannot determine",
        "claude-sonnet-5 is temporarily unavailable, so auto mode cannot determine the safety of Agent right now.",
    ),
    # Codex
    Report(
        "command not started",
        AnswerPart.START,
        r"^(?:exec_command|shell|write_stdin) failed(?: for `[^\n]*`)?: ",
        'exec_command failed for `/bin/zsh -lc ls`: CreateProcess { message: "Rejected" }',
    ),
    Report(
        "invalid arguments",
        AnswerPart.START,
        r"^failed to parse function arguments: ",
        "failed to parse function arguments: missing field `cmd` at line 1 column 20",
    ),
    # Cline, Roo Code and OpenHands
    Report(
        "tool failed",
        AnswerPart.START,
        r"^The tool execution failed with the following error:",
        "The tool execution failed with the following error:\n<error>\nFile not found: src/a.ts\n</error>",
    ),
    Report(
        "tool failed",
        AnswerPart.START,
        r"^\[An error occurred during execution\b",
        "[An error occurred during execution.]",
    ),
    # Shell tools of many agents, below the output
    Report(
        "timeout",
        AnswerPart.END,
        r"(?i)(?:^|\n)\W{0,4}(?:the )?(?:command|process|execution) (?:has |was )?(?:timed out|killed) after "
        r"[\d.]+ ?\w{0,12}[^\n]{0,120}\s*\z",
        "collecting …\n[Command timed out after 180s]",
    ),
    # Node and its package managers
    Report(
        "node: no such module",
        AnswerPart.LAST,
        r"(?m)^\s*code: '(?:ERR_)?MODULE_NOT_FOUND'|^Error(?: \[ERR_\w+\])?: Cannot find (?:module|package) ",
        "Error: Cannot find module '/app/dist/index.js'\nRequire stack:\n- /app/run.js\n    at Module._load {\n"
        "  code: 'MODULE_NOT_FOUND',\n  requireStack: [ '/app/run.js' ]\n}",
    ),
    Report(
        "node: wrong version",
        AnswerPart.LAST,
        r"(?mi)^(?:error |npm (?:ERR!|error) )?(?:[\w@/.-]+: )?The engine \"node\" is incompatible|"
        r"ERR_PNPM_UNSUPPORTED_ENGINE|^npm (?:ERR!|error) code EBADENGINE",
        'error vite@7.1.2: The engine "node" is incompatible with this module. Expected version "^20.19.0". Got '
        '"18.20.4"\nerror Found incompatible module.',
    ),
    Report("pnpm: failed", AnswerPart.LAST, r"(?m)^\s?ERR_PNPM_\w+", " ERR_PNPM_NO_SCRIPT  Missing script: typecheck"),
    # Usage errors
    Report(
        "usage error",
        AnswerPart.LAST,
        r"(?m)^[\w./-]{1,60}(?: [\w:-]{1,40}){0,3}: error: \S",
        "usage: manage.py runserver [-h] [--noreload]\nmanage.py runserver: error: unrecognized arguments: --skip",
    ),
    Report(
        "usage error",
        AnswerPart.LAST,
        r"(?mi)^(?:[\w./-]{1,40}: )?(?:error: )?(?:unknown|unrecogni[sz]ed|invalid|illegal|no such|unexpected) "
        r"(?:sub-?)?(?:command|option|flag|argument|switch|parameter)s?\b",
        "error: unknown option '--no-color'\n(Did you mean --color?)",
    ),
    Report(
        "usage error",
        AnswerPart.LAST,
        r"(?m)^(?:error|Error): (?:the following |missing )(?:required )?(?:arguments?|"
        r"options?)\b",
        "error: the following required arguments were not provided:\n  <PATH>\n\n"
        "Usage: tool convert <PATH>\n\nFor more information, try '--help'.",
    ),
    # Programs that say it in words of their own
    Report(
        "patch: failed",
        AnswerPart.LAST,
        r"(?m)^\d+ out of \d+ hunks? (?:FAILED|failed|ignored)",
        "patching file a.py\nHunk #1 FAILED at 145.\n1 out of 3 hunks FAILED -- saving rejects to file a.py.rej",
    ),
    Report(
        "git: ignored path",
        AnswerPart.LAST,
        r"(?m)^The following paths are ignored by one of your \.gitignore files:",
        "The following paths are ignored by one of your .gitignore files:\ndist\nhint: Use -f if you really want to "
        "add them.",
    ),
    Report(
        "git: nothing to commit",
        AnswerPart.LAST,
        r"(?m)^(?:nothing to commit|no changes added to commit|nothing added to commit)\b",
        "On branch main\nnothing to commit, working tree clean",
        program="git commit",
    ),
    Report(
        "git: conflict",
        AnswerPart.LAST,
        r"(?m)^(?:Automatic merge failed|CONFLICT \(|error: could not apply |\s?! \[(?:remote )?rejected\])",
        "CONFLICT (content): Merge conflict in a.py\nAutomatic merge failed; fix conflicts and then commit the result.",
    ),
    Report("apt: failed", AnswerPart.LAST, r"(?m)^E: \S", "Reading package lists...\nE: Unable to locate package jqq"),
    Report(
        "pip: failed",
        AnswerPart.LAST,
        r"(?m)^ERROR: (?:Could not|No matching|Failed|Cannot|Invalid)",
        "ERROR: Could "
        "not find a version that satisfies the requirement jqq\nERROR: No matching distribution found for jqq",
    ),
    Report(
        "docker: failed",
        AnswerPart.LAST,
        r"(?m)^(?:docker: )?(?:Error response from daemon:|Cannot connect to the "
        r"Docker daemon)",
        "Error response from daemon: No such container: web",
    ),
    Report(
        "kubectl: failed",
        AnswerPart.LAST,
        r"(?m)^(?:Error from server|error: the server )",
        'Error from server (NotFound): pods "web" not found',
    ),
    Report(
        "aws: failed",
        AnswerPart.LAST,
        r"(?m)^An error occurred \(\w+\) when calling the ",
        "An error occurred (AccessDenied) when calling the ListBuckets operation: Access Denied",
    ),
    Report(
        "terraform: failed",
        AnswerPart.LAST,
        r"(?m)^│ Error: \S",
        "╷\n│ Error: Reference to undeclared resource\n│ \n│   on main.tf line 3\n╵",
    ),
    Report(
        "cmake: failed",
        AnswerPart.LAST,
        r"(?m)^(?:CMake Error\b|-- Configuring incomplete, errors occurred)",
        "CMake Error at CMakeLists.txt:4 (find_package):\n-- Configuring incomplete, errors occurred!",
    ),
    Report(
        "go: failed",
        AnswerPart.LAST,
        r"(?m)^(?:vet(?:\.exe)?: )?\S+\.go:\d+(?::\d+)?: \S|^pattern \S+: directory prefix \S+ does not contain",
        "# example.org/web/cache\ncache/file.go:204:13: possible misuse of unsafe.Pointer",
        program="go ",
    ),
    Report(
        "ci: failed",
        AnswerPart.LAST,
        r"(?m)^[^\t\n]+\t(?:fail|pending)\t",
        "build\tpass\t7s\thttps://example.org/1\t\ntest (linux)\tfail\t1m9s\thttps://example.org/2\t",
        program="gh pr checks",
    ),
    Report("go: failed", AnswerPart.LAST, r"(?m)^exit status [1-9]\d*\s*\z", "boom\nexit status 2", program="go run"),
    Report(
        "java: exception",
        AnswerPart.LAST,
        r'(?m)^Exception in thread "',
        'Exception in thread "main" java.lang.NullPointerException\n\tat Main.main(Main.java:5)',
    ),
    Report(
        "php: failed",
        AnswerPart.LAST,
        r"(?m)^(?:PHP )?(?:Fatal|Parse) error: ",
        "PHP Fatal error:  Uncaught Error: Call to undefined function foo() in /app/a.php:3",
    ),
    Report(
        "ruby: exception",
        AnswerPart.LAST,
        r"(?m)^[\w./-]+\.rb:\d+:in .{1,200}\(\w*(?:Error|Exception)\)",
        "a.rb:3:in 'foo': undefined local variable or method 'bar' (NameError)",
    ),
)


def _set(where: AnswerPart) -> Forms:
    return Forms(
        ErrorForm(str(number), report.pattern) for number, report in enumerate(REPORTS) if report.where is where
    )


_STARTS, _ENDS, _LAST = (_set(where) for where in AnswerPart)


def reported(text: str) -> str:
    """The report of an agent program that an answer begins or ends with, whatever the tool."""
    found = _STARTS.first(head(text)) or _ENDS.first(tail(text, LAST_LINES))
    return REPORTS[int(found)].name if found else ""


def reported_by_program(stages: tuple[Stage, ...], text: str, *, by_any: bool) -> str:
    """The report of a program at the end of what a command line printed; `by_any`, also of one without a name here."""
    found = (REPORTS[int(number)] for number in _LAST.all(tail(text, LAST_LINES)))
    return next((one.name for one in found if (_decides(stages, one.program) if one.program else by_any)), "")


def _decides(stages: tuple[Stage, ...], program: str) -> bool:
    return any(" ".join(stage.words).startswith(program) and is_decisive(stages, i) for i, stage in enumerate(stages))
