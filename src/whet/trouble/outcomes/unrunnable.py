"""Checks that could not run at all: called in a way that does not exist, or where they cannot be. One example each.

A red check is work in progress. A check that never ran tells nothing of the work, and the call was wrong.
"""

from whet.trouble.outcomes.error_forms import ErrorForm, Forms, head, tail

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
REACH = 2_000


def could_not_run(text: str) -> str:
    """Why a check did not run, as far as its output says so; nothing where it ran, however red."""
    if len(text) <= 2 * REACH:
        return UNRUNNABLE.first(head(text, 2 * REACH))
    return UNRUNNABLE.first(head(text, REACH)) or UNRUNNABLE.first(tail(text, REACH))


def probe_error(text: str) -> str:
    """Why a search could not be made as it was asked for; nothing where it was made and found nothing."""
    return PROBE_ERRORS.first(head(text, REACH))
