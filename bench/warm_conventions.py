"""Conventions through the circle of a warm start on the embedded model: how often each was followed.

A project has a way of its own to do something. A played agent finds it out anew in each of eighteen sessions: a call
fails, the next one works. `whet templates create --lesson` makes a template of the first six, `whet cases add --lesson`
cases of the last twelve, and `whet try --template` runs them without the template, with it, and with a placebo. The
conventions and their requests were written down before the first run, and every run is reported.

    python bench/warm_conventions.py WEIGHTS [--only NAME]... [--threads N]
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from proof import Place

SETTINGS = """model = "local:{weights}"
[sampling]
temperature = 0.0
output_tokens = 64
[local]
calls = "always"
[trust]
commands = true
"""


class Convention(NamedTuple):
    """What an agent would call, what works here, the project's files, and how people ask for it; `{it}` varies."""

    fails: str
    works: str
    files: dict[str, str]
    wordings: tuple[str, ...]
    things: tuple[str, ...]


CONVENTIONS = {
    "lint by a script": Convention(
        "python -m flakes {it}.py",
        "scripts/lint.sh {it}",
        {
            "flakes.py": "import sys\nsys.exit('flakes: no settings here, run scripts/lint.sh NAME')\n",
            "scripts/lint.sh": '#!/bin/sh\n[ -n "$1" ] && echo "lint: $1 is clean"\n',
        },
        ("Lint the {it} module.", "Is {it} clean for the linter?", "Please lint {it}.", "Run the linter on {it}.",
         "Check the style of {it}.", "Lint {it} and tell me what it says."),
        ("router", "parser", "views", "models", "forms", "mailer", "cache", "queue", "worker", "session", "tokens",
         "signals", "storage", "uploads", "exports", "metrics", "alerts", "billing"),
    ),
    "a setting before the command": Convention(
        "python report.py {it}",
        "REPORT_ENV=local python report.py {it}",
        {
            "report.py": "import os\nimport sys\n\nif os.environ.get('REPORT_ENV') != 'local':\n"
            "    sys.exit('REPORT_ENV is not set, use REPORT_ENV=local')\nprint('report', sys.argv[1], 'written')\n",
        },
        ("Write the {it} report.", "Make me the report on {it}.", "Please run the {it} report.",
         "I need the {it} report again.", "Run the report for {it}.", "Can you create the {it} report?"),
        ("sales", "stock", "refunds", "visits", "orders", "costs", "margins", "returns", "leads", "signups", "churn",
         "payroll", "travel", "energy", "traffic", "growth", "hiring", "support"),
    ),
    "another program's subcommand": Convention(
        "python manage.py migrate {it}",
        "bin/db up {it}",
        {
            "manage.py": "import sys\nsys.exit('manage.py: migrations moved, see bin/db up APP')\n",
            "bin/db": '#!/bin/sh\n[ "$1" = up ] && [ -n "$2" ] && echo "applied 3 migrations to $2"\n',
        },
        ("Migrate {it}.", "Run the migrations of {it}.", "Please bring the {it} tables up to date.",
         "Apply the new migrations to {it}.", "The {it} app needs its migrations.", "Migrate the {it} app, please."),
        ("accounts", "catalog", "basket", "payments", "shipping", "reviews", "coupons", "search", "blog", "pages",
         "polls", "tickets", "ledger", "stores", "loyalty", "feeds", "media", "themes"),
    ),
}  # fmt: skip


def build(convention: Convention, folder: Path, settings: str) -> Place:
    """The project with its history, and eighteen sessions that a script plays in it."""
    place = Place(folder / "home", folder / "work")
    place.home.mkdir(mode=0o700)
    (place.home / "settings.toml").write_text(settings)
    for name, text in convention.files.items():
        path = place.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    for line in ("init -q", "add .", "-c user.name=Bench -c user.email=bench@example.org commit -qm Start"):
        subprocess.run(["git", *line.split()], cwd=place.work, check=True)
    for number, thing in enumerate(convention.things):
        played = [
            {"calls": [{"name": "terminal", "arguments": json.dumps({"command": command.format(it=thing)})}]}
            for command in (convention.fails, convention.works)
        ]
        lines = folder / f"{thing}.jsonl"
        lines.write_text("\n".join(map(json.dumps, [*played, {"text": "Done."}])) + "\n")
        asked = convention.wordings[number % len(convention.wordings)].format(it=thing)
        place.whet("run", "--model", f"scripted:{lines}", "--tools", "terminal", asked)
    return place


def tried(place: Place) -> str:
    """What became of the convention, with the numbers of every arm; or how far it came."""
    lessons = place.asked("lessons")["lessons"]
    if not lessons:
        return "no lesson"
    place.whet("templates", "create", "--name", "convention", "--lesson", lessons[0]["id"])
    waiting = place.asked("lessons", "--waiting")["waiting"]
    if not waiting:
        return "no template"
    place.whet("lessons", "approve", str(waiting[0]["id"]), "--yes")
    made = place.asked("cases", "add", "--lesson", lessons[0]["id"])
    if not made["cases"]:
        return f"no cases: {made['left_out']}"
    place.whet("try", "--template", "convention", "--placebo", "--now")
    rulings = [
        each for each in place.asked("ledger")["entries"] if each["step"] in ("accepted", "rejected", "undecided")
    ]
    if not rulings:
        return "no verdict"
    arms = json.loads(rulings[0]["verdict"])["result"]["tallies"]
    passed = ", ".join(f"{each['arm']} {each['passed']} of {each['attempts']}" for each in arms)
    return f"{rulings[0]['step']}: {passed} ({lessons[0]['draft']})"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("weights", type=Path)
    asked.add_argument("--only", action="append", choices=CONVENTIONS)
    asked.add_argument("--threads", type=int, default=0)
    given = asked.parse_args()
    settings = SETTINGS.format(weights=given.weights.resolve(), threads=given.threads)
    for name in given.only or CONVENTIONS:
        with tempfile.TemporaryDirectory(prefix="warm-") as base:
            began = time.monotonic()
            place = build(CONVENTIONS[name], Path(base), settings)
            print(f"{name}: {tried(place)}, {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
