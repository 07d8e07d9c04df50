"""Writes the invented project and its thirty sessions: python examples/kiosk/build.py FOLDER

FOLDER/kiosk is the project, a git repository; FOLDER/sessions holds the sessions as Claude Code and Codex record them.
The same folder gives the same bytes, whenever it is run.
"""

import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

from records import ClaudeCode, Codex
from story import MODULES, sessions, source

HERE = Path(__file__).parent
TEST = """from kiosk.{module} import count


def test_some():
    assert count([1]) == 1


def test_empty():
    assert count([]) == 0
"""
WHEN = "2026-04-05T12:00:00Z"
HISTORY = {
    "GIT_AUTHOR_NAME": "Noor", "GIT_AUTHOR_EMAIL": "noor@example.org", "GIT_AUTHOR_DATE": WHEN,
    "GIT_COMMITTER_NAME": "Noor", "GIT_COMMITTER_EMAIL": "noor@example.org", "GIT_COMMITTER_DATE": WHEN,
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
}  # fmt: skip


def write_project(folder: Path) -> None:
    """The code, with one commit from before the first session."""
    shutil.copytree(HERE / "project", folder)
    (folder / "kiosk").mkdir()
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "kiosk" / "__init__.py").write_text('"""A ticket kiosk."""\n')
    (folder / "kiosk" / "app.py").write_text("from kiosk.fares import count\n")
    for module in MODULES:
        (folder / "kiosk" / f"{module}.py").write_text(source(module))
        (folder / "tests" / f"test_{module}.py").write_text(TEST.format(module=module))
    for line in ("init -q -b main", "add .", "commit -qm Kiosk"):
        subprocess.run(["git", *line.split()], cwd=folder, check=True, env=os.environ | HISTORY)


def write_sessions(folder: Path, project: Path) -> None:
    """Each session in the place where its agent would keep it."""
    name = str(project).replace("/", "-")
    for number, session in enumerate(sessions()):
        id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"kiosk/{number}"))
        if session.agent == "codex":
            path = (
                folder
                / "codex"
                / session.at.strftime("%Y/%m/%d")
                / f"rollout-{session.at:%Y-%m-%dT%H-%M-%S}-{id}.jsonl"
            )
            text = Codex(id, str(project), session.at).text(list(session.events))
        else:
            path = folder / "claude-code" / name / f"{id}.jsonl"
            text = ClaudeCode(id, str(project), session.at).text(list(session.events))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    write_project(folder / "kiosk")
    write_sessions(folder / "sessions", folder / "kiosk")


if __name__ == "__main__":
    main()
