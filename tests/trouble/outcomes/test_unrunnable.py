"""A red check is work in progress; a check that could not run at all is a call that was wrong."""

import pytest

from whet.trouble.outcomes.unrunnable import could_not_run, probe_error


@pytest.mark.parametrize(
    "output",
    [
        "error: unrecognized subcommand 'bun'\n\nUsage: rtk [OPTIONS]",
        "zsh: command not found: pytest",
        'npm error Missing script: "test:unit"',
        "Build daemon is disabled on this host. Use: ./gradlew --no-daemon :x:test",
        "ERROR: file or directory not found: tests/unit",
        "/usr/bin/bash: line 1: cd: src: No such file or directory",
        "(eval):cd:1: no such file or directory: web",
        "/usr/bin/python3: No module named pytest",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        "No tests found, exiting with code 1",
        "pattern ./...: directory prefix . does not contain main module or its selected dependencies",
        "fatal: pathspec 'src/writer.go' did not match any files",
        'error The engine "node" is incompatible with this module.',
    ],
)
def test_a_check_that_never_ran_says_why(output: str) -> None:
    assert could_not_run(output)


@pytest.mark.parametrize(
    "output",
    [
        "1 failed, 3 passed in 0.1s",
        "src/a.ts(3,5): error TS2304: Cannot find name 'x'.",
        "AssertionError: expected 3 to be 4\n\n 12 pass\n 1 fail",
        "error[E0425]: cannot find value `x` in this scope",
    ],
)
def test_a_red_check_did_run(output: str) -> None:
    assert not could_not_run(output)


@pytest.mark.parametrize(
    ("output", "is_error"),
    [
        ("rg: unrecognized flag -", True),
        ('rg: the literal "\\n" is not allowed in a regex', True),
        ("rg: src/evaluate.ts: No such file or directory (os error 2)", True),
        ("ls: cannot access 'x': No such file or directory", False),
        ("", False),
    ],
)
def test_a_search_that_went_wrong_is_told_from_one_that_found_nothing(output: str, is_error: bool) -> None:
    assert bool(probe_error(output)) is is_error
