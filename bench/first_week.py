"""One real repository, from import to a live verdict: `python bench/first_week.py REPOSITORY VENV [--most 40]`.

A person works in a clone of a Python repository with the real Claude Code; its model is on loopback, and errs, recovers
and obeys by seeded chance. Tests need the virtual environment, which Claude does not know: `python3 -m pytest` has no
pytest. What the person would see is printed as it happens; at five sessions a day it is dated from a Monday on.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

sys.path.pop(0)  # beside this script `hooks` is another one
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from command import on_a_terminal, runner
from proving.obedient import PlannedCall, obedient
from telling.hooks.hosts import Host, install
from whet.improving.watch import look
from whet.lessons.rungs import CanaryMove
from whet.store.home import Home
from whet.store.opening import opened

ERRS, RECOVERS, OBEYS = 0.95, 0.97, 0.97
WRONG, RIGHT = "python3 -m pytest -q tests/{file}", "PYTHONPATH=src .venv/bin/python -m pytest -q tests/{file}"
BEGAN, A_DAY = date(2026, 3, 2), 5
ASKED = re.compile(r"Run the tests in (\w+\.py)")


class Colleague:
    """Takes the Python of the machine unless a rule names the virtual environment, and mostly finds it afterwards."""

    plan: tuple[PlannedCall, ...] = ()

    def __init__(self) -> None:
        self._chance = random.Random(11)

    def next(self, told: str, results: list[str]) -> str:
        found = ASKED.findall(told)
        file = found[-1] if found else "test_basic.py"
        if len(results) == 1 and "No module named pytest" in results[0] and self._chance.random() < RECOVERS:
            return RIGHT.format(file=file)
        if results:
            return ""
        knows = ".venv/bin/python" in told and self._chance.random() < OBEYS
        return (RIGHT if knows or self._chance.random() > ERRS else WRONG).format(file=file)


class Story:
    """The person's clone, their Claude Code, and what has happened so far."""

    def __init__(self, base: Path, repository: Path, venv: Path) -> None:
        self.folder = base / "person" / repository.name
        subprocess.run(["git", "clone", "-q", str(repository), str(self.folder)], check=True)
        (self.folder / ".venv").symlink_to(venv)
        self.tests = sorted(each.name for each in (self.folder / "tests").glob("test_*.py"))
        self.whet = runner(base / "home", base / "person")
        self.sessions = 0

    def work(self, host: Host, count: int) -> None:
        for _ in range(count):
            file = self.tests[self.sessions % len(self.tests)]
            done = host.run(self.folder, task=f"Run the tests in {file}.")
            assert done.returncode == 0, done.stderr
            self.sessions += 1

    def say(self, words: str) -> None:
        day = BEGAN + timedelta(days=self.sessions // A_DAY)
        print(f"{day:%a %d %b}, {self.sessions:2} sessions  {words}", flush=True)

    def run(self, *arguments: str, **variables: str) -> str:
        done = self.whet(*arguments, folder=self.folder, variables=variables)
        told = "\n    ".join(line for line in (done.out + done.err).splitlines() if line.strip())
        self.say(f"$ whet {' '.join(arguments)}\n    {told}")
        return done.out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("venv", type=Path)
    parser.add_argument("--most", type=int, default=40)
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="story-", dir=Path.home(), ignore_cleanup_errors=True) as temporary:
        base = Path(temporary).resolve()
        (base / "person").mkdir()
        story = Story(base, options.repository.resolve(), options.venv.absolute())
        with obedient(Colleague()) as server:
            tell(story, install("claude", base, server), options.most)
    print(f"\n{story.sessions} real sessions of Claude Code in {(time.monotonic() - began) / 60:.0f} minutes.")


def tell(story: Story, host: Host, most: int) -> None:
    host.variables["PATH"] = "/usr/bin:/bin:" + host.variables["PATH"]
    claude = {"CLAUDE_CONFIG_DIR": host.variables["CLAUDE_CONFIG_DIR"]}
    story.work(host, A_DAY)
    story.run("import", **claude)
    story.run("report")
    story.run("lessons")
    [chosen] = story.whet("lessons", "--json", folder=story.folder).json["lessons"][:1]
    base = story.folder.parents[1]
    own = {name: host.variables[name] for name in ("HOME", "WHET_HOME", "CLAUDE_CONFIG_DIR", "PATH")}
    _, shown = on_a_terminal(base, "y\n", "live", "start", chosen["id"], variables=own, columns=120)
    story.say(f"$ whet live start {chosen['id']}\n    " + "\n    ".join(shown.splitlines()))
    home = Home(base / "home")
    while story.sessions < most:
        story.work(host, 5 if story.sessions == A_DAY else 1)
        story.whet("import", folder=story.folder, variables=claude)
        # A session counts once it has been quiet for a while, so the person looks the next morning.
        with opened(home) as database:
            [seen] = look(home, database, now=time.time(), settled_seconds=0.0).canaries
        found = seen.counts.comparison
        told, untold = (100 * (loss or 0.0) for loss in (found.loss_told, found.loss_untold))
        failed = f"failed in {told:.0f} % of {found.told} with it, in {untold:.0f} % of {found.untold} without"
        story.say(f"{found.decision.value}: {failed}")
        if found.decision is not CanaryMove.WAIT:
            break
    story.run("live")
    story.run("rules")


if __name__ == "__main__":
    main()
