"""An errand carried out: the program started in its workspace, stopped when its time is over, and its record read."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from threading import Event

from whet.executors.errands import Carried, Errand, Executor, Left, ProgramLaunch

ALLOWED = (
    "PATH", "LANG", "LC_ALL", "TERM", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY",
    "NO_PROXY", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY",
    "GEMINI_API_KEY", "GOOGLE_API_KEY",
)  # fmt: skip
OUTPUT_LIMIT = 8 << 20
LOOK_SECONDS = 0.2
GRACE_SECONDS = 5.0


def carry_out(
    executor: Executor, errand: Errand, *, program: str, environment: Mapping[str, str], interrupt: Event
) -> Carried:
    """Start the agent, wait for it, and read what it left. It sees its workspace and its own home, and no other."""
    errand.config.mkdir(parents=True, exist_ok=True)
    launch = executor.launch(errand, program)
    return executor.carried(errand, run(launch, errand, environment=environment, interrupt=interrupt))


def run(launch: ProgramLaunch, errand: Errand, *, environment: Mapping[str, str], interrupt: Event) -> Left:
    """Run a program in a group of its own, so that all that it started ends with it."""
    allowed = {name: environment[name] for name in ALLOWED if name in environment}
    variables = {**allowed, "HOME": str(errand.config), **launch.variables}
    if os.geteuid() == 0:
        variables["IS_SANDBOX"] = "1"  # without it Claude Code refuses to work for root
    began = time.monotonic()
    with (
        open(errand.config / "output", "w+b") as output,
        open(errand.config / "errors", "w+b") as errors,
        subprocess.Popen(
            launch.words, cwd=errand.workspace, env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
            start_new_session=True,
        ) as process,
    ):  # fmt: skip
        code = _wait(process, errand.seconds, interrupt)
        seconds = time.monotonic() - began
        output.seek(0)
        errors.seek(0)
        return Left(
            output.read(OUTPUT_LIMIT).decode("utf-8", "replace"),
            errors.read(OUTPUT_LIMIT).decode("utf-8", "replace"),
            code,
            seconds,
        )


def _wait(process: subprocess.Popen[bytes], seconds: float, interrupt: Event) -> int | None:
    """How the program ended; None where it had to be stopped."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and not interrupt.is_set():
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(LOOK_SECONDS)
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
            return None
    return None
