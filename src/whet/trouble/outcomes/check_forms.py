"""How programs end when they fail: stack traces, and the closing lines of tests, compilers and linters."""

import re2

from whet.trouble.outcomes.error_forms import ErrorForm, Forms

# The end of a program that stopped with an error: what an interpreter or a shell prints last.
ENDINGS = Forms(
    (
        ErrorForm(
            "traceback",
            r"(?m)^\s*Traceback \(most recent call last\):\n(?:(?s:.*)\n)?\s*(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*"
            r"(?:: [^\n]*)?(?:\n[^\n]*){0,3}\s*\z",
        ),
        ErrorForm(
            "exception",
            r"(?:^|\n)(?:[A-Za-z_][\w.]*\.)?(?:[A-Z]\w*(?:Error|Exception|Exit|Interrupt)|Exception): [^\n]*\s*\z",
        ),
        ErrorForm("node exception", r"\nNode\.js v\d+[\d.]*\s*\z"),
        ErrorForm("panic", r"(?m)^(?:panic: |thread '[^'\n]*' (?:\(\d+\) )?panicked at |fatal error: )"),
        ErrorForm(
            "crash",
            r"(?:^|\n)(?:[^\n]{0,80}: line \d+:\s+\d+ )?(?:Segmentation fault|Aborted|Bus error|Killed|"
            r"Floating point exception|Illegal instruction)(?:\s+\(core dumped\))?[^\n]{0,200}\s*\z",
        ),
    ),
    signs=(
        "traceback",
        "error",
        "exception",
        "exit",
        "interrupt",
        "node.js",
        "panic",
        "segmentation",
        "aborted",
        "killed",
        "illegal",
    ),
)

# A check that did not pass, each in the words of its program.
CHECKS = Forms(
    (
        ErrorForm("pytest: failed", r"(?m)^=*\s?(?:\d+ \w+, )*[1-9]\d* (?:failed|errors?)\b[^\n]* in [\d.]+s"),
        ErrorForm("pytest: failed", r"(?m)^(?:FAILED|ERROR) [\w./\\-]+\.py(?:::|\b)"),
        ErrorForm("unittest: failed", r"(?m)^FAILED \((?:failures|errors|unexpected successes)=\d"),
        ErrorForm("jest: failed", r"(?m)^\s*(?:Tests?|Test Suites|Test Files|Snapshots):?\s+[1-9]\d* failed\b"),
        ErrorForm("mocha: failed", r"(?m)^\s+[1-9]\d* failing$"),
        ErrorForm("bun test: failed", r"(?m)^\s*[1-9]\d* fail$"),
        ErrorForm("node test: failed", r"(?m)^(?:#|ℹ) fail [1-9]"),
        ErrorForm("go test: failed", r"(?m)^(?:--- FAIL: |FAIL(?:\s|$))"),
        ErrorForm("cargo: failed", r"(?m)^(?:test result: FAILED|error: could not compile|error\[E\d{4}\]:)"),
        ErrorForm("rspec: failed", r"(?m)^\d+ examples?, [1-9]\d* failures?"),
        ErrorForm(
            "minitest: failed",
            r"(?m)^\d+ (?:runs|tests), \d+ assertions, (?:[1-9]\d* failures|\d+ failures, [1-9]\d* errors)",
        ),
        ErrorForm("phpunit: failed", r"(?m)^(?:FAILURES!|ERRORS!)$"),
        ErrorForm("dotnet: failed", r"(?m)^(?:Build FAILED|Failed!\s+- Failed:\s+[1-9])"),
        ErrorForm("maven: failed", r"(?m)^\[(?:ERROR|INFO)\] BUILD FAILURE"),
        ErrorForm("gradle: failed", r"(?m)^(?:FAILURE: Build failed|BUILD FAILED in )"),
        ErrorForm("make: failed", r"(?m)^g?make(?:\[\d+\])?: \*\*\* "),
        ErrorForm("ninja: failed", r"(?m)^ninja: build stopped"),
        ErrorForm("compiler error", r"(?m)^[\w./\\+-]+:\d+(?::\d+)?: (?:fatal )?error: "),
        ErrorForm("tsc: failed", r"(?m)^[^\s()]+(?:\(\d+,\d+\)|:\d+:\d+)(?::| -) error TS\d+: "),
        ErrorForm("npm: failed", r"(?m)^npm (?:ERR!|error) (?:code|errno|Test failed|Lifecycle|Missing script)"),
        ErrorForm(
            "script: failed",
            r"(?m)^(?:error: script \"[^\"\n]+\" (?:exited with code|was terminated)|"
            r"error Command failed with exit code|\s?ELIFECYCLE\s)",
        ),
        ErrorForm("bundler: failed", r"(?m)^(?:> Build error occurred|Failed to compile\.|✘ \[ERROR\] |ERROR in \./)"),
        ErrorForm(
            "linter: failed",
            r"(?m)^(?:Found [1-9]\d* errors?\b|✖ \d+ problems? \([1-9]\d* errors?|✖ [1-9]\d* errors?\b)",
        ),
        ErrorForm("markdownlint: failed", r"(?m)^\S+:\d+(?::\d+)? (?:error )?MD\d{3}/"),
        ErrorForm("playwright: failed", r"(?m)^\s+[1-9]\d* failed$"),
        ErrorForm("hook: failed", r"(?m)^husky - [\w-]+ (?:script|hook) (?:failed|exited)"),
    ),
    signs=("fail", "err", "***", "stopped", "md", "elifecycle", "terminated", "husky"),
)
_PLACE = r"[\w./\\@-]+\.\w{1,8}[:(]\d+"
_FAULTS = "errors?|failures?|issues?|problems?|offen[cs]es?|violations?"
# What a check of any name prints where it found something: a place called an error, or a line that counts them. In the
# output of another program such a line may be about anything.
COMPLAINTS = Forms(
    (
        #   error • Undefined name 'x' • lib/main.dart:3:5 • undefined_identifier
        ErrorForm("check: failed", rf"(?m)^\W{{0,6}}error\b[^\n]{{0,300}}\W{_PLACE}"),
        # lib/cart.ex(3,5) - error: undefined function
        ErrorForm("check: failed", rf"(?m)^\W{{0,4}}{_PLACE}(?:[:,]\d+)?\W{{1,5}}(?:fatal )?error\b"),
        # error: unused variable: `x`, and on the next line where
        ErrorForm("check: failed", rf"(?m)^error(?:\[\w+\])?: [^\n]+\n\W{{1,20}}{_PLACE}"),
        # 2 issues found. (ran in 2.1s); 1 file inspected, 1 offense detected; Found 3 errors in 2 files
        ErrorForm(
            "check: failed",
            rf"(?im)^\W{{0,6}}(?:error\W{{1,3}})?(?:\d+ [\w/ ]{{1,40}}, )*(?:found )?[1-9]\d* (?:{_FAULTS})"
            r"(?: found| detected| in \d+ \w+){0,2}[.!]?(?: \((?:ran in )?[\d.]+ ?m?s\))?[ \t]*$",
        ),
    ),
    signs=("error", "fail", "issue", "problem", "offen", "violation"),
)
RED_CHECKS = tuple({form.name for form in (*CHECKS.forms, *COMPLAINTS.forms)})

_TRACEBACK = "Traceback (most recent call last):"
_RAISED = re2.compile(r"^\s*(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*: (.+)$")
LEAST_MESSAGE = 6


def program_end(end: str) -> str:
    """The form in which a program ended with an error; nothing where it caught the error and only tells of it."""
    found = ENDINGS.first(end)
    return "" if found == "traceback" and _was_caught(end) else found


def _was_caught(end: str) -> bool:
    """Whether the words of an error stand beside its traceback too: the program had them and went on."""
    lines = end.split("\n")
    traces = [place for place, line in enumerate(lines) if line.strip() == _TRACEBACK]
    margin = len(lines[traces[-1]]) - len(lines[traces[-1]].lstrip())
    after = range(traces[-1] + 1, len(lines))
    raised = next((place for place in after if lines[place][: margin + 1].strip()), None)
    found = _RAISED.search(lines[raised]) if raised is not None else None
    if raised is None or found is None:
        return False
    message = found.group(1).strip()
    beside = "\n".join((*lines[: traces[0]], *lines[raised + 1 :]))
    return "Remainder of file ignored" in beside or (len(message) >= LEAST_MESSAGE and message in beside)
