"""A red check is work in progress; a check that could not run at all is a call that was wrong."""

import pytest

from whet.outcomes.unrunnable import could_not_run


@pytest.mark.parametrize(
    "output",
    [
        "error: unrecognized subcommand 'bun'\n\nUsage: rtk [OPTIONS]",
        "zsh: command not found: pytest",
        'npm error Missing script: "test:unit"',
        "Build daemon is disabled on this host. Use: ./gradlew --no-daemon :x:test",
        "ERROR: file or directory not found: tests/unit",
        "/usr/bin/python3: No module named pytest",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        "No tests found, exiting with code 1",
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
