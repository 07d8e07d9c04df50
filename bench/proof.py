"""Changes through the whole circle on a real local model: how often each verdict came.

In two worlds a project runs its tests by a script of its own, and a played agent finds that out anew in each
session. Whet reads the sessions, makes the cases and tries each change with base, candidate and placebo arms. Seven
tasks do not say how tests are run (a rule can help), four do. In the third world plain pytest is right and there is no
such script: the rule that helps in the first is tried there, and harms. Never to be accepted: the useless rule, the
platitude in a placebo's manner, the wrong rule, the rule against tools, the harmful rule and the nonsense prefix.

    python bench/proof.py WEIGHTS [--template FILE] [--calls WAY] [--threads N] [--world N]... [--only NAME]...
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

AGENTS = ("CLAUDECODE", "CODEX_SANDBOX", "CURSOR_AGENT", "GEMINI_CLI", "OPENCODE", "WHET_RUN")
DEV = """#!/usr/bin/env bash
[[ $# == 2 && $1 == {word} ]] || {{ echo "Use: {way} MODULE" >&2; exit 2; }}
CONFIG=test exec python -m pytest -q "test_$2.py"
"""
CONFTEST = """import os
import sys

if os.environ.get("CONFIG") != "test":
    sys.exit("Use: {way} MODULE")
"""


class World(NamedTuple):
    """A project: how its tests are run, by which script if by one, and what is asked of an agent there, by module."""

    script: str
    word: str
    untold: dict[str, str]
    told: dict[str, str]

    @property
    def way(self) -> str:
        return f"./{self.script} {self.word}"

    def played(self, module: str) -> tuple[str, str]:
        """The command that fails in a session, and the one that works in its place."""
        if not self.script:
            return f"./dev test {module}", f"pytest test_{module}.py"
        return f"python -m pytest test_{module}.py", f"{self.way} {module}"


WORLDS = (
    World(
        "dev",
        "test",
        {
            "parser": "Run the tests of the module parser.",
            "lexer": "Do the tests of lexer pass?",
            "tokens": "Run the tests for tokens.",
            "printer": "Please run the tests of printer.",
            "types": "Run the tests of types and tell me the result.",
            "scope": "Check that the tests of scope pass.",
            "linker": "Run the tests of linker.",
        },
        {each: f"Run this command: ./dev test {each}" for each in ("errors", "values", "cache", "paths")},
    ),
    World(
        "shop",
        "tests",
        {
            "cart": "Please test the module cart.",
            "stock": "Are the tests of stock green?",
            "mail": "Run the mail tests.",
            "orders": "I changed orders. Run its tests.",
            "refunds": "Run the tests of refunds.",
            "prices": "See whether the tests of prices still pass.",
            "users": "Run all tests of the module users.",
        },
        {each: f"Run this command: ./shop tests {each}" for each in ("taxes", "login", "search", "ships")},
    ),
    World(
        "",
        "",
        {
            "router": "Run the tests of the module router.",
            "mixer": "Do the tests of mixer pass?",
            "timer": "Run the tests for timer.",
            "layers": "Please run the tests of layers.",
            "colors": "Run the tests of colors and tell me the result.",
            "fonts": "Check that the tests of fonts pass.",
            "themes": "Run the tests of themes.",
            "icons": "Please test the module icons.",
            "menus": "Are the tests of menus green?",
            "panels": "I changed panels. Run its tests.",
            "frames": "See whether the tests of frames still pass.",
        },
        {},
    ),
)


def changes(world: World) -> dict[str, str]:
    """The rules that are tried; the helpful one is what `whet lessons` drafts from the sessions."""
    if not world.script:
        return {"harmful": "In this project run tests with `./dev test MODULE`."}
    helpful = f"In this project run tests with `{world.way} MODULE`."
    example = f"`python -m pytest test_tax.py` fails, `{world.way} tax` works."
    return {
        "helpful, as drafted": helpful,
        "helpful, with an example": f"{helpful}\nExample: {example}",
        "useless": "Keep your answers short and friendly.",
        "placebo-like": "Before you run tests, think about which tests matter most.",
        "wrong": "In this project run tests with `python -m unittest MODULE`, whatever you are told.",
        "against tools": "Never call a tool and never run a command. Answer from what you know.",
        "nonsense prefix": "Begin every shell command with `true; `.",
    }


class Place(NamedTuple):
    """A home and a project in a folder of their own."""

    home: Path
    work: Path

    def whet(self, *arguments: str) -> str:
        environment = {name: value for name, value in os.environ.items() if name not in AGENTS}
        environment |= {"WHET_HOME": str(self.home), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        done = subprocess.run(
            ["whet", *arguments], cwd=self.work, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode not in (0, 1):
            raise SystemExit(f"whet {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def asked(self, *arguments: str) -> Any:
        return json.loads(self.whet(*arguments, "--json"))


def build(world: World, folder: Path, settings: str) -> Place:
    """The project, the sessions that a script plays in it, and the cases that Whet makes of them."""
    place = Place(folder / "home", folder / "work")
    place.home.mkdir(mode=0o700)
    place.work.mkdir()
    (place.home / "settings.toml").write_text(settings)
    if world.script:
        script = place.work / world.script
        script.write_text(DEV.format(word=world.word, way=world.way))
        script.chmod(0o755)
        (place.work / "conftest.py").write_text(CONFTEST.format(way=world.way))
    for module, task in (world.untold | world.told).items():
        (place.work / f"test_{module}.py").write_text("def test_it():\n    assert True\n")
        played = [
            {"calls": [{"name": "terminal", "arguments": json.dumps({"command": command})}]}
            for command in world.played(module)
        ]
        lines = folder / f"{module}.jsonl"
        lines.write_text("\n".join(map(json.dumps, [*played, {"text": "Done: 1 passed."}])) + "\n")
        place.whet("run", "--model", f"scripted:{lines}", "--tools", "terminal", task)
    for session in place.asked("sessions", "--limit", "50")["sessions"]:
        place.whet("cases", "add", session["id"])
    return place


def verdict(place: Place, rule: str, folder: Path) -> tuple[str, str]:
    """What becomes of one rule, in a copy of the home: the trials of the others cost it no error budget."""
    copy = Place(folder, place.work)
    shutil.copytree(place.home, folder)
    cases = str(folder / "cases")
    copy.whet("try", "--rule", rule, "--placebo", "--now", "--cases", cases)
    steps = [each for each in copy.asked("ledger")["entries"] if each["step"] in ("accepted", "rejected", "undecided")]
    if not steps:
        return "not tried", ""
    arms = json.loads(steps[0]["verdict"])["result"]["tallies"]
    passed = ", ".join(f"{each['arm']} {each['passed']}/{each['attempts']}" for each in arms)
    return steps[0]["step"], passed


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("weights", type=Path)
    asked.add_argument("--template", type=Path, default=Path(__file__).parent.parent / "examples" / "qwen-coder.jinja")
    asked.add_argument("--calls", choices=("free", "valid", "always"), default="valid", help="as local.calls")
    asked.add_argument("--threads", type=int, default=0)
    asked.add_argument("--world", type=int, action="append", choices=range(len(WORLDS)))
    asked.add_argument("--only", action="append", help="one of the changes")
    given = asked.parse_args()
    settings = (
        f'model = "local:{given.weights.resolve()}"\n[sampling]\ntemperature = 0.0\noutput_tokens = 64\n'
        f'[local]\ntemplate = "{given.template.resolve()}"\n'
        f'calls = "{given.calls}"\n'
    )
    counted: dict[str, Counter[str]] = {}
    for number in given.world or range(len(WORLDS)):
        with tempfile.TemporaryDirectory(prefix="proof-") as base:
            world = WORLDS[number]
            place = build(world, Path(base), settings)
            rules = changes(world)
            if rules.get("helpful, as drafted", "") not in place.whet("lessons"):
                print(f"world {number}: `whet lessons` drafts other words than the rule that is tried as helpful")
            place.whet("cases", "run")  # the base arm of every trial
            for name, rule in ((name, rule) for name, rule in rules.items() if name in (given.only or rules)):
                ruling, passed = verdict(place, rule, Path(base) / name.replace(",", "").replace(" ", "-"))
                counted.setdefault(name, Counter())[ruling] += 1
                print(f"world {number}  {name:20} {ruling:10} {passed}", flush=True)
    print()
    for name, rulings in counted.items():
        print(f"{name:20} {', '.join(f'{ruling} {count}' for ruling, count in rulings.items())}")
    wrong = [name for name, rulings in counted.items() if not name.startswith("helpful") and rulings["accepted"]]
    sys.exit(f"accepted and must not be: {', '.join(wrong)}" if wrong else 0)


if __name__ == "__main__":
    main()
