"""What a hook costs its host: at the start and the end of a session and at a call, beside hooks that do nothing.

.venv/bin/python bench/hooks.py [--runs 200] [--rules 30]
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from whet.changes.apply import apply, try_out
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, RuleSituation, Scope
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.opening import opened
from whet.telling.hooks.compiling import compile_now
from whet.telling.hooks.installing import hooks_of

AIM_MS = 500.0
WHET = Path(sys.executable).with_name("whet")
QUIET = "call, no rule to remind of"


class HookTime(NamedTuple):
    """How long a host waits for a hook, and the processor time of it, which other work changes little."""

    waited: float
    worked: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rules", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        fill(home, options.rules)
        quiet = Home(Path(folder) / "quiet")
        fill(quiet, options.rules)
        environment = {**os.environ, "WHET_HOME": str(home.folder), "HOME": folder}
        environment["PATH"] = f"{WHET.parent}{os.pathsep}{os.environ['PATH']}"
        at_rest, at_call = {**environment, "WHET_HOME": str(quiet.folder)}, call_hook()
        remind(home)
        commands = {
            "empty hook (sh -c :)": ["/bin/sh", "-c", ":"],
            "empty hook (python -c pass)": [sys.executable, "-c", "pass"],
            "session-end": [str(WHET), "hook", "session-end"],
            "session-start": [str(WHET), "hook", "session-start"],
            QUIET: [*at_call, "pytest -q"],
            "call, of no rule": [*at_call, "ls"],
            "call, reminded": [*at_call, "pytest -q"],
        }
        first = taken(commands["session-start"], at_rest, folder, 0).waited
        times: dict[str, list[HookTime]] = {name: [] for name in commands}
        for number in range(options.runs):
            for name, command in commands.items():
                times[name].append(taken(command, at_rest if name == QUIET else environment, folder, number))
        spooled = len(list((home.folder / "spool").glob("session-end-*.json")))
        reminded = len(list((home.folder / "spool").glob("tool-call-*.json")))
    print(f"{options.runs} runs each, in turns; {options.rules} rules; load {os.getloadavg()[0]:.0f}; milliseconds")
    print(f"{'hook':<30}{'median':>8}{'worst':>8}{'median of processor':>22}")
    for name, found in times.items():
        waited, used = zip(*found, strict=True)
        print(f"{name:<30}{statistics.median(waited):>8.1f}{max(waited):>8.1f}{statistics.median(used):>22.1f}")
    worst = max(each.waited for each in times["session-end"])
    print(f"the first start of all, which compiles the rules: {first:.0f} ms; files in the spool: {spooled}")
    print(f"reminders given: {reminded}")
    print(f"the aim for the end of a session is {AIM_MS:.0f} ms; the worst took {worst:.0f}")
    sys.exit(worst > AIM_MS or not spooled == reminded == options.runs)


def fill(home: Home, rules: int) -> None:
    """A home with rules in force, and one canary, so that every start draws and writes what it drew."""
    with opened(home) as database:
        for number in range(rules):
            patch = Patch(Form.RULE, Action.ADD, f"rule-{number}", f"Rule {number}: {'word ' * 20}", trust=Trust.USER)
            apply(home, database, patch, actor=Actor.PERSON, now=time.time())
        canary = Patch(Form.RULE, Action.ADD, "canary", "Answer in a table.", trust=Trust.USER)
        try_out(home, database, canary, actor=Actor.POLICY, now=time.time())


def remind(home: Home) -> None:
    """One of the rules, to be reminded of at a command."""
    situation = RuleSituation("pytest -q", "no database", "./dev test")
    patch = Patch(
        Form.RULE, Action.ADD, "tests", "Run ./dev test.", Scope(at_call=True), trust=Trust.USER, situation=situation
    )
    with opened(home) as database:
        apply(home, database, patch, actor=Actor.PERSON, now=time.time())
    compile_now({"WHET_HOME": str(home.folder)})


def call_hook() -> list[str]:
    """The hook at a call as Claude Code runs it, in the shell; what follows is the command of the call."""
    [group] = hooks_of("claude-code")["hooks"]["PreToolUse"]
    return ["/bin/sh", "-c", group["hooks"][0]["command"]]


def taken(command: list[str], environment: dict[str, str], folder: str, number: int) -> HookTime:
    event = {"session_id": f"s{number}", "cwd": folder, "transcript_path": f"{folder}/s{number}.jsonl"}
    body = json.dumps({**event, "tool_name": "Bash", "tool_input": {"command": command[-1]}})
    before, start = worked(), time.perf_counter()
    subprocess.run(command, input=body.encode(), check=True, env=environment, stdout=subprocess.DEVNULL)
    waited = time.perf_counter() - start
    return HookTime(waited * 1e3, (worked() - before) * 1e3)


def worked() -> float:
    """The processor seconds of all that was started so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
