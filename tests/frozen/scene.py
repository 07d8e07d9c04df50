"""A home in which much was decided, and all that it then says: `python -m frozen.scene FOLDER` prints that as JSON.

Run in a process of its own, so that every command sees an environment, a folder and a clock's zone that are the same on
every machine. Commands run inside this process, the hooks as their hosts run them.
"""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from command import COMMAND, allow
from frozen.readings import read_examples
from frozen.same_everywhere import Run, digests_of_dated, plain, without_machine
from taught_sessions import claude_rows, proposed
from whet.changes.apply import apply
from whet.cli.main import main as whet_main
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, PatchOrigin, RuleSituation, Scope
from whet.sessions.trust import Trust
from whet.store.home import find_home
from whet.store.opening import opened

EXAMPLES = Path(__file__).parents[2] / "examples"
MODIFIED = 1_773_500_000  # of every session's file: some formats date a session by it
# Formats whose sessions or projects are known by where their file lies: their ids are another on every machine.
NAMED_BY_PLACE = ("aider", "hermes-trajectory", "mini-swe-agent", "openhands")
HOSTS = ("claude-code", "codex", "gemini")
SESSIONS = ("frozen-1", "frozen-2", "frozen-3")
FAILING = "pytest -q tests/test_basket.py"
SKILL = "# Tea\n\n1. Warm the pot.\n2. Wait four minutes.\n"
PROMPT = (
    "chat",
    "--prompt",
    "--tools",
    "terminal,memory,skills",
    "--model",
    "claude-sonnet-4-5",
    "--date",
    "2026-10-01",
)

# What a person reads or a program takes in, by the name of its golden file.
SAID: dict[str, tuple[str, ...]] = {
    "status": ("status",),
    "report": ("report",),
    "report-claude-code": ("report", "--source", "claude-code"),
    "sessions": ("sessions", "--all", "--limit", "100"),
    "sessions-of-a-project": ("sessions", "--folder", "/home/noor/shop"),
    "search": ("search", "test", "--limit", "20"),
    "lessons-all": ("lessons", "--all"),
    "rules": ("rules",),
    "rules-show": ("rules", "show"),
    "skills": ("skills",),
    "skills-show": ("skills", "show", "tea"),
    "ledger": ("ledger", "--all"),
    "ledger-show": ("ledger", "show", "1"),
    "ledger-why": ("ledger", "show", "basket"),
    "memory": ("memory",),
    "memory-search": ("search", "--notes", "staging"),
    "templates": ("templates",),
    "templates-show": ("templates", "show", "ferry"),
    "jobs": ("jobs",),
    "jobs-show": ("jobs", "show", "news"),
    "config": ("config",),
    "cases": ("cases",),
    "cases-show": ("cases", "show", "port"),
    "judge": ("judge", str(EXAMPLES / "outcomes.csv")),
    "judge-details": ("judge", str(EXAMPLES / "outcomes.csv"), "--details", "--growing"),
    "report-counts": ("report", "--counts"),
    "lessons-waiting": ("lessons", "--waiting"),
    "live": ("live",),
    "live-look": ("live", "look"),
    "sync-targets": ("sync", "--targets"),
}


class Stage(NamedTuple):
    """Where it all happens."""

    root: Path

    @property
    def person(self) -> Path:
        return self.root / "person"

    @property
    def shop(self) -> Path:
        return self.person / "shop"

    def said(self, *arguments: str, given: str = "") -> str:
        """What a command prints."""
        code, out = run(arguments, given)
        if code:
            raise RuntimeError(f"whet {' '.join(arguments)} ended with {code}: {out}")
        return out

    def json(self, *arguments: str, given: str = "") -> Any:
        return json.loads(self.said(*arguments, "--json", given=given))


def run(arguments: tuple[str, ...], given: str) -> tuple[int, str]:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    sys.argv = ["whet", *arguments]
    sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            whet_main()
        except SystemExit as end:
            code = end.code
    out.seek(0)
    return code if isinstance(code, int) else 0, out.read()


def freeze(root: Path) -> dict[str, str]:
    """Everything to be compared, by the name of its golden file."""
    stage, began = Stage(root), time.time()
    found = dict(_everything(stage))
    dated = digests_of_dated(found["ledger.json"])
    times = Run(root, EXAMPLES, began, time.time())
    return {name: plain(text, times, dated) for name, text in found.items()}


def _everything(stage: Stage) -> Iterator[tuple[str, str]]:
    prepare(stage)
    yield "readings.json", _lines(read_examples(stage.root / "sessions", stage.root))
    for name in NAMED_BY_PLACE:
        shutil.rmtree(stage.root / "sessions" / name)
    yield "import.json", stage.said("import", str(stage.root / "sessions"), "--json")
    yield "lessons.json", stage.said("lessons", "--json")
    yield "lessons-show.json", stage.said("lessons", "show", "1", "--json")
    decide(stage)
    yield "hooks-start.json", _lines(dict(starts(stage)))
    yield "hooks-call.json", _lines(dict(calls(stage)))
    yield "sync.json", stage.said("sync", "--json")
    yield from written(stage)
    for name, arguments in SAID.items():
        yield f"{name}.json", stage.said(*arguments, "--json")
    for session in stage.json("sessions", "--source", "codex")["sessions"]:
        yield "show.json", stage.said("show", session["id"], "--full", "--json")
    yield "prompt.json", without_machine(stage.said(*PROMPT, "--folder", str(stage.shop), "--json"))


def prepare(stage: Stage) -> None:
    """Sessions of every format with times of their own, a project of the person's, and settings that allow commands."""
    sessions = stage.root / "sessions"
    shutil.copytree(EXAMPLES / "sessions", sessions)
    (stage.shop / ".git").mkdir(parents=True)
    (stage.shop / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (stage.shop / ".git" / "config").write_text('[remote "origin"]\nurl = https://example.org/basket.git\n')
    for name in ("one", "two", "three"):
        rows = claude_rows(name, stage.shop)
        text = "\n".join(json.dumps(row) for row in rows)
        (sessions / "claude-code" / f"taught-{name}.jsonl").write_text(f"{text}\n")
    for number, path in enumerate(sorted(sessions.rglob("*"))):
        os.utime(path, (MODIFIED + 60 * number,) * 2)
    for folder in (".claude", ".codex", ".gemini"):
        (stage.person / folder).mkdir()
    (stage.person / ".claude" / "CLAUDE.md").write_text("# Mine\n\nBe kind.\n")
    (stage.shop / "AGENTS.md").write_text("The basket is in basket.py.\n")
    allow(stage.root / "home")


def decide(stage: Stage) -> None:
    """Something of every kind: added, proposed, approved, refused, waiting, undone, tried live."""
    first, second, third = [lesson["id"] for lesson in stage.json("lessons")["lessons"]][:3]
    proposed(find_home(os.environ), first, second, third)
    approved, refused = (entry["id"] for entry in stage.json("lessons", "--waiting")["waiting"][:2])
    stage.said("lessons", "approve", str(approved), "--yes")
    stage.said("lessons", "refuse", str(refused))
    stage.said("rules", "add", "basket", "Call the basket by its name.", "--project", str(stage.shop), "--yes")
    stage.said("rules", "add", "brief", "Answer briefly.", "--yes")
    stage.said("rules", "add", "patient", "Wait for the tests to end.", "--model", "gpt-5", "--yes")
    remind_of_the_tests()
    stage.said("rules", "add", "loud", "Answer in capitals.", "--yes")
    stage.said("ledger", "undo")
    stage.said(
        "skills", "create", "tea", "--description", "Make tea. Use it before a review.", "-f", "-", "--yes", given=SKILL
    )
    stage.said("memory", "add", "The staging server is rebuilt every Monday.", "--yes")
    stage.said("memory", "add", "--about-user", "Prefers tables.", "--yes")
    for agent in HOSTS:  # a canary is for sessions that somebody tells of it
        hook("session-start", agent, {"session_id": "frozen-0", "cwd": "/"})
    stage.said("live", "start", "--rule", "Read a file before you edit it.", "--share", "0.5", "--yes")
    stage.said(
        "jobs", "add", "0 9 * * mon-fri", "What changed?", "--name", "news", "--timezone", "Europe/Berlin",
        "--workdir", str(stage.shop), "--yes",
    )  # fmt: skip
    ferry = next(
        each["id"] for each in stage.json("sessions", "--limit", "100")["sessions"] if "ferry" in each["folder"]
    )
    [made] = stage.json("templates", "create", ferry, "--name", "ferry", "--went-well")["entries"]
    stage.said("lessons", "approve", str(made["id"]), "--yes")
    stage.said("cases", "add", "--new", "port")
    for agent in HOSTS:
        stage.said("sync", "add", agent)
        stage.said("sync", "add", agent, "--project", str(stage.shop))


def remind_of_the_tests() -> None:
    """A rule told again at the call that goes wrong: no command makes one by itself."""
    home = find_home(os.environ)
    forms = RuleSituation("pytest -q", "no database", "./dev test")
    patch = Patch(
        Form.RULE, Action.ADD, "dev-test", "Run the tests with ./dev test.", Scope(at_call=True),
        origin=PatchOrigin(said="seen in 3 sessions"), trust=Trust.USER, situation=forms,
    )  # fmt: skip
    with opened(home) as database:
        apply(home, database, patch, actor=Actor.PERSON, now=time.time())


def starts(stage: Stage) -> Iterator[tuple[str, str]]:
    """What each host's sessions are told when they start, in the project and elsewhere."""
    for agent in HOSTS:
        for session in SESSIONS:
            body = {"session_id": session, "cwd": str(stage.shop), "source": "startup"}
            yield f"{agent} {session}", hook("session-start", agent, {**body, "hook_event_name": "SessionStart"})
        yield f"{agent} elsewhere", hook("session-start", agent, {"session_id": "frozen-1", "cwd": "/"})


def calls(stage: Stage) -> Iterator[tuple[str, str]]:
    """What each host is reminded of at a call that a rule is about; nothing the second time and at other calls."""
    for agent in HOSTS:
        for name, command in (("first", FAILING), ("again", FAILING), ("other", "ls")):
            body = {"session_id": "frozen-1", "cwd": str(stage.shop), "tool_name": "Bash"}
            yield f"{agent} {name}", hook("tool-call", agent, {**body, "tool_input": {"command": command}})


def hook(event: str, agent: str, body: dict[str, Any]) -> str:
    command = [str(COMMAND), "hook", event, "--agent", agent]
    return subprocess.run(command, input=json.dumps(body), capture_output=True, text=True, check=True).stdout


def written(stage: Stage) -> Iterator[tuple[str, str]]:
    """Every file of the person's that tells agents something, by a name at which no agent reads it."""
    for name in ("CLAUDE.md", "AGENTS.md", "GEMINI.md", "SKILL.md"):
        for path in sorted(stage.person.rglob(name)):
            parts = (part.removeprefix(".") for part in path.relative_to(stage.person).parts)
            yield f"files/{'/'.join(parts)}.txt", path.read_text()


def _lines(found: object) -> str:
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    said = freeze(Path(sys.argv[1]))
    sys.stdout.write(json.dumps(said))
