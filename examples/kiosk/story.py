"""Thirty sessions of an invented project, a ticket kiosk, with trouble of every kind in them."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from records import Event, asks, compacts, edits, reads, refuses, runs, says

BEGAN = datetime(2026, 4, 6, 8, 30, tzinfo=UTC)
USE = "Use: ./dev test MODULE"
PASSED = "..                                                                       [100%]\n2 passed in 0.01s"
# What a person asks first thing, with the module that it is about. An agent finds out each time anew how tests are run.
OPENINGS = (
    ("fares", "Run the tests of fares."),
    ("routes", "Do the tests of routes pass?"),
    ("seats", "Run the tests for seats."),
    ("stops", "Please run the tests of stops."),
    ("tickets", "Check that the tests of tickets pass."),
    ("refunds", "Are the tests of refunds green?"),
    ("zones", "Run the tests of zones."),
    ("passes", "Run the tests of passes."),
    ("groups", "Please run the tests of groups."),
    ("vouchers", "Please run the tests of vouchers."),
    ("tariffs", "Run the tests of tariffs, please."),
    ("printer", "Check the tests of printer."),
    ("receipts", "Run the tests of receipts."),
    ("payments", "Run the tests of payments and tell me."),
    ("alerts", "Run the tests of alerts, please."),
    ("timetable", "Please run the tests for timetable."),
    ("ledger", "Check the tests of ledger."),
    ("discounts", "Run the tests of discounts and tell me."),
)
MODULES = tuple(module for module, _ in OPENINGS)


class Session(NamedTuple):
    """One session: by which agent, when it began, and what happened in it."""

    agent: str
    at: datetime
    events: tuple[Event, ...]


def tests(module: str) -> Event:
    return runs(f"./dev test {module}", PASSED)


def source(module: str) -> str:
    return f'"""The {module} of the kiosk."""\n\n\ndef count(items):\n    return len(items)\n'


def opening(module: str, words: str) -> list[Event]:
    """A slip: plain pytest fails, its error says what to use, and the agent does so."""
    return [
        asks(words),
        runs(f"python -m pytest -q tests/test_{module}.py", USE, 1),
        tests(module),
        says(f"The tests of {module} pass."),
    ]


def linted() -> list[Event]:
    """A slip that a file is to blame for: CLAUDE.md names a target that is not there."""
    return [
        runs("make lint", "make: *** No rule to make target 'lint'.  Stop.", 2),
        runs("./dev lint", "lint: 18 modules are clean"),
    ]


def migrated(app: str) -> list[Event]:
    """Told and not followed: CLAUDE.md names the right command."""
    return [
        asks(f"Bring the tables of {app} up to date."),
        runs(f"alembic upgrade {app}", "alembic: no settings here, use ./dev migrate APP", 1),
        runs(f"./dev migrate {app}", f"applied 2 migrations to {app}"),
        says(f"The tables of {app} are up to date."),
    ]


def served() -> list[Event]:
    """Waiting: a command that does not end by itself."""
    return [
        asks("Start the kiosk so that I can look at it."),
        runs("./dev serve", "Command timed out after 2m 0.0s", 143, seconds=120),
        runs("./dev serve --detach", "kiosk is up at http://localhost:8080"),
        says("The kiosk is up at http://localhost:8080."),
    ]


def polled() -> list[Event]:
    """Waiting: asking the same again and again."""
    asked = [runs("./dev deploy status", "deploying to staging", seconds=60) for _ in range(4)]
    return [
        asks("Deploy this to staging."),
        runs("./dev deploy staging", "deployment 214 was started"),
        runs("sleep 120", "", seconds=120),
        *asked,
        runs("./dev deploy status", "staging runs deployment 214"),
        says("Staging runs deployment 214."),
    ]


def pushed(branch: str, words: str) -> list[Event]:
    """Stopped: the person refuses a call and says why."""
    return [
        refuses("git push origin main"),
        asks(words, after=20),
        runs(f"git switch -c {branch} && git push -u origin {branch}", f"branch '{branch}' set up to track origin"),
        says(f"Pushed to {branch}; the merge request is open."),
    ]


def priced(module: str, words: str, objection: str) -> list[Event]:
    """Corrected: the person says what the agent got wrong."""
    return [
        asks(words),
        reads(f"kiosk/{module}.py", source(module)),
        edits(f"kiosk/{module}.py", "    return len(items)", "    return 0.9 * sum(items)"),
        tests(module),
        says(f"Done: {module} takes off ten percent."),
        asks(objection),
        edits(f"kiosk/{module}.py", "    return 0.9 * sum(items)", "    return sum(items) * 90 // 100"),
        tests(module),
        says("You're right. Prices stay whole cents now."),
    ]


def red(module: str) -> list[Event]:
    """A red check: three rounds until it is green."""
    failed = (
        f"F.                                                                       [100%]\n"
        f"FAILED tests/test_{module}.py::test_empty - assert None == 0\n1 failed, 1 passed in 0.02s"
    )
    return [
        asks(f"Let {module} skip what is sold out."),
        reads(f"kiosk/{module}.py", source(module)),
        edits(f"kiosk/{module}.py", "    return len(items)", "    return len([i for i in items if i.left]) or None"),
        runs(f"./dev test {module}", failed, 1, seconds=25),
        edits(f"kiosk/{module}.py", ") or None", ") if items else None"),
        runs(f"./dev test {module}", failed, 1, seconds=25),
        edits(f"kiosk/{module}.py", ") if items else None", ")"),
        runs(f"./dev test {module}", PASSED, seconds=25),
        says(f"{module} skips what is sold out, and its tests pass."),
    ]


def claimed(module: str) -> list[Event]:
    """Claimed done and was not: a command of the person shows it."""
    return [
        asks(f"Rename count to total in {module}."),
        edits(f"kiosk/{module}.py", "def count(items):", "def total(items):"),
        says("Done. count is now total everywhere, and everything works."),
        asks(f"It does not: ImportError: cannot import name 'count' from 'kiosk.{module}' in kiosk/app.py."),
        runs("grep -rn 'import count' kiosk", f"kiosk/app.py:3:from kiosk.{module} import count"),
        edits("kiosk/app.py", f"from kiosk.{module} import count", f"from kiosk.{module} import total"),
        tests(module),
        says("You're right, I had missed kiosk/app.py. It imports total now, and the tests pass."),
    ]


def thrown_away(module: str) -> list[Event]:
    """Thrown away: more was changed than was asked for."""
    return [
        asks(f"Fix the typo in the docstring of {module}."),
        reads(f"kiosk/{module}.py", source(module)),
        edits(f"kiosk/{module}.py", "def count(items):\n    return len(items)",
              "class Counter:\n    def __init__(self, items):\n        self.items = items\n\n"
              "    def count(self):\n        return len(self.items)"),
        edits("kiosk/app.py", f"from kiosk.{module} import count", f"from kiosk.{module} import Counter"),
        says("I fixed the typo and made a class of it, which is easier to extend."),
        asks("No. Only the typo: put the rest back."),
        runs("git checkout -- kiosk", "Updated 2 paths from the index"),
        edits(f"kiosk/{module}.py", f'"""The {module} of the kiosk."""', f'"""The {module} of a kiosk."""'),
        says("Only the typo is changed now."),
    ]  # fmt: skip


def compacted(module: str, other: str) -> list[Event]:
    """The context ran out, and the same files are read again."""
    return [
        asks(f"Move what {module} and {other} share into one place."),
        reads(f"kiosk/{module}.py", source(module)),
        reads(f"kiosk/{other}.py", source(other)),
        reads("kiosk/app.py", f"from kiosk.{module} import count\n"),
        compacts(f"The task is to move what {module} and {other} share into kiosk/shared.py. Nothing is changed yet."),
        reads(f"kiosk/{module}.py", source(module)),
        reads(f"kiosk/{other}.py", source(other)),
        edits(f"kiosk/{module}.py", "def count(items):\n    return len(items)", "from kiosk.shared import count"),
        edits(f"kiosk/{other}.py", "def count(items):\n    return len(items)", "from kiosk.shared import count"),
        tests(module),
        tests(other),
        says("Both take count from kiosk/shared.py now."),
    ]


def by_claude() -> list[list[Event]]:
    """Twenty-two sessions; most begin with the tests of a module."""
    commit = runs("git commit -qam 'Take off ten percent'", "")
    cents = "Never use floats for prices."
    more: dict[str, list[Event]] = {
        "fares": priced("fares", "Take ten percent off for students.", f"No, prices are whole cents. {cents}"),
        "seats": red("seats"),
        "stops": [asks("Lint everything."), *linted(), says("All clean.")],
        "tickets": [asks("Commit this and push it."), commit,
                    *pushed("student-fares", "Never push to main. Open a merge request.")],
        "refunds": claimed("refunds"),
        "passes": served(),
        "groups": priced("groups", "Groups of ten get a tenth off.", f"Again: whole cents. {cents}"),
        "vouchers": thrown_away("vouchers"),
        "printer": [asks("Lint it and commit."), *linted(), commit, says("Clean, and committed.")],
        "payments": migrated("payments"),
        "alerts": [asks("Push it."), *pushed("alerts", "Never push to main. Open a merge request.")],
        "timetable": compacted("timetable", "routes"),
        "ledger": migrated("ledger"),
        "discounts": red("discounts"),
    }  # fmt: skip
    opened = [[*opening(module, words), *more.get(module, [])] for module, words in OPENINGS]
    return [
        *opened[:4], polled(), *opened[4:9], migrated("passes"), *opened[9:14],
        [*served(), asks("Thanks. Lint it."), *linted(), says("All clean.")], *opened[14:], claimed("zones"),
    ]  # fmt: skip


def by_codex() -> list[list[Event]]:
    """Eight sessions of another agent in the same project."""
    return [
        [asks("Lint the kiosk."), *linted(), says("The linter is content.")],
        served(),
        red("routes"),
        migrated("vouchers"),
        [asks("What does kiosk/fares.py do?"), reads("kiosk/fares.py", source("fares")), says("It counts items.")],
        claimed("tariffs"),
        [asks("Are all modules clean?"), *linted(), says("Yes.")],
        priced("tariffs", "Off-peak is ten percent cheaper.", "No floats for prices, please: whole cents."),
    ]


def sessions() -> list[Session]:
    """All of them, one or two a working day."""
    told = [("claude-code", each) for each in by_claude()]
    for place, each in enumerate(by_codex()):
        told.insert(2 + 4 * place, ("codex", each))
    days = [BEGAN + timedelta(days=day) for day in range(42)]
    working = [day + timedelta(hours=hours) for day in days if day.weekday() < 5 for hours in (0, 5)]
    return [Session(agent, at, tuple(events)) for (agent, events), at in zip(told, working, strict=False)]
