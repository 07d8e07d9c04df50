"""How programs end when they fail: stack traces, and the closing lines of tests, compilers and linters."""

from whet.outcomes.error_forms import Form, Forms

# The end of a program that stopped with an error: what an interpreter or a shell prints last.
ENDINGS = Forms(
    (
        Form(
            "traceback",
            r"(?m)^\s*Traceback \(most recent call last\):\n(?:(?s:.*)\n)?\s*(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*"
            r"(?:: [^\n]*)?(?:\n[^\n]*){0,3}\s*\z",
        ),
        Form("exception", r"(?:^|\n)(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Exit|Interrupt): [^\n]*\s*\z"),
        Form("node exception", r"\nNode\.js v\d+[\d.]*\s*\z"),
        Form("panic", r"(?m)^(?:panic: |thread '[^'\n]*' (?:\(\d+\) )?panicked at |fatal error: )"),
        Form(
            "crash",
            r"(?:^|\n)(?:[^\n]{0,80}: line \d+:\s+\d+ )?(?:Segmentation fault|Aborted|Bus error|Killed|"
            r"Floating point exception|Illegal instruction)(?:\s+\(core dumped\))?[^\n]{0,200}\s*\z",
        ),
    )
)

# A check that did not pass, each in the words of its program.
CHECKS = Forms(
    (
        Form("pytest: failed", r"(?m)^=*\s?(?:\d+ \w+, )*[1-9]\d* (?:failed|errors?)\b[^\n]* in [\d.]+s"),
        Form("pytest: failed", r"(?m)^(?:FAILED|ERROR) [\w./\\-]+\.py(?:::|\b)"),
        Form("unittest: failed", r"(?m)^FAILED \((?:failures|errors|unexpected successes)=\d"),
        Form("jest: failed", r"(?m)^\s*(?:Tests?|Test Suites|Test Files|Snapshots):?\s+[1-9]\d* failed\b"),
        Form("mocha: failed", r"(?m)^\s+[1-9]\d* failing$"),
        Form("bun test: failed", r"(?m)^\s*[1-9]\d* fail$"),
        Form("node test: failed", r"(?m)^(?:#|ℹ) fail [1-9]"),
        Form("go test: failed", r"(?m)^(?:--- FAIL: |FAIL(?:\s|$))"),
        Form("cargo: failed", r"(?m)^(?:test result: FAILED|error: could not compile|error\[E\d{4}\]:)"),
        Form("rspec: failed", r"(?m)^\d+ examples?, [1-9]\d* failures?"),
        Form(
            "minitest: failed",
            r"(?m)^\d+ (?:runs|tests), \d+ assertions, (?:[1-9]\d* failures|\d+ failures, [1-9]\d* errors)",
        ),
        Form("phpunit: failed", r"(?m)^(?:FAILURES!|ERRORS!)$"),
        Form("dotnet: failed", r"(?m)^(?:Build FAILED|Failed!\s+- Failed:\s+[1-9])"),
        Form("maven: failed", r"(?m)^\[(?:ERROR|INFO)\] BUILD FAILURE"),
        Form("gradle: failed", r"(?m)^(?:FAILURE: Build failed|BUILD FAILED in )"),
        Form("make: failed", r"(?m)^g?make(?:\[\d+\])?: \*\*\* "),
        Form("ninja: failed", r"(?m)^ninja: build stopped"),
        Form("compiler error", r"(?m)^[\w./\\+-]+:\d+(?::\d+)?: (?:fatal )?error: "),
        Form("tsc: failed", r"(?m)^[^\s()]+(?:\(\d+,\d+\)|:\d+:\d+)(?::| -) error TS\d+: "),
        Form("npm: failed", r"(?m)^npm (?:ERR!|error) (?:code|errno|Test failed|Lifecycle|Missing script)"),
        Form(
            "script: failed",
            r"(?m)^(?:error: script \"[^\"\n]+\" (?:exited with code|was terminated)|"
            r"error Command failed with exit code|\s?ELIFECYCLE\s)",
        ),
        Form("bundler: failed", r"(?m)^(?:> Build error occurred|Failed to compile\.|✘ \[ERROR\] |ERROR in \./)"),
        Form("linter: failed", r"(?m)^(?:Found [1-9]\d* errors?\b|✖ \d+ problems? \([1-9]\d* errors?)"),
        Form("playwright: failed", r"(?m)^\s+[1-9]\d* failed$"),
        Form("hook: failed", r"(?m)^husky - [\w-]+ (?:script|hook) (?:failed|exited)"),
    )
)
