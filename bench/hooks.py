"""What a hook costs its host: `whet hook` at the start and the end of a session beside hooks that do nothing.

.venv/bin/python bench/hooks.py [--runs 200] [--rules 30]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from whet.changes.apply import apply, try_out
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.opening import opened

AIM_MS = 500.0
WHET = Path(sys.executable).with_name("whet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rules", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        fill(home, options.rules)
        environment = {**os.environ, "WHET_HOME": str(home.folder), "HOME": folder}
        commands = {
            "empty hook (sh -c :)": ["/bin/sh", "-c", ":"],
            "empty hook (python -c pass)": [sys.executable, "-c", "pass"],
            "session-end": [str(WHET), "hook", "session-end"],
            "session-start": [str(WHET), "hook", "session-start"],
        }
        first = taken(commands["session-start"], environment, folder, 0)
        times: dict[str, list[float]] = {name: [] for name in commands}
        for number in range(options.runs):
            for name, command in commands.items():
                times[name].append(taken(command, environment, folder, number))
        spooled = len(list((home.folder / "spool").glob("session-end-*.json")))
    print(
        f"{'hook':<30}{'median ms':>11}{'worst ms':>10}   ({options.runs} runs each, in turns; {options.rules} rules)"
    )
    for name, found in times.items():
        print(f"{name:<30}{statistics.median(found):>11.1f}{max(found):>10.1f}")
    print(f"the first start of all, which compiles the rules: {first:.0f} ms; files in the spool: {spooled}")
    print(f"the aim for the end of a session is {AIM_MS:.0f} ms; the worst took {max(times['session-end']):.0f}")
    sys.exit(max(times["session-end"]) > AIM_MS or spooled != options.runs)


def fill(home: Home, rules: int) -> None:
    """A home with rules in force, and one canary, so that every start draws and writes what it drew."""
    with opened(home) as database:
        for number in range(rules):
            patch = Patch(Form.RULE, Action.ADD, f"rule-{number}", f"Rule {number}: {'word ' * 20}", trust=Trust.USER)
            apply(home, database, patch, actor=Actor.PERSON, now=time.time())
        canary = Patch(Form.RULE, Action.ADD, "canary", "Answer in a table.", trust=Trust.USER)
        try_out(home, database, canary, actor=Actor.POLICY, now=time.time())


def taken(command: list[str], environment: dict[str, str], folder: str, number: int) -> float:
    body = json.dumps({"session_id": f"s{number}", "cwd": folder, "transcript_path": f"{folder}/s{number}.jsonl"})
    start = time.perf_counter()
    subprocess.run(command, input=body.encode(), check=True, env=environment, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - start) * 1e3


if __name__ == "__main__":
    main()
