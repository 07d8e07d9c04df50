"""The plain install: without the extras all else works, and what needs one says which."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command import Done, Whet
from lengths import long
from whet.agent.tools.sandbox import Wall, probe

EXTRAS = ("dbos", "sqlalchemy", "psycopg", "croniter", "mcp", "anyio", "starlette", "uvicorn", "xllamacpp")
# The modules that are an extra's own; all others can be loaded without any.
NEED_WORK = {"whet.work.faults", "whet.work.given", "whet.work.worker", "whet.work.durable"}
NEED_WORK |= {"whet.work.clock"}  # which only a worker looks at
NEED_POSTGRES = {"whet.store.postgres", "whet.machine.tables"}
NEED_MCP = {"whet.mcp.server"}
NEED_WEB = {"whet.web.gate", "whet.web.server"}
LOAD_ALL = """
import importlib, pkgutil, whet
from whet.errors import WhetError
for found in pkgutil.walk_packages(whet.__path__, "whet."):
    try:
        importlib.import_module(found.name)
    except WhetError as error:
        print(found.name, error.advice)
"""
sandboxed = pytest.mark.skipif(probe(os.environ.get("PATH", "")).wall is Wall.NONE, reason="no sandbox here")


@pytest.fixture
def hiding(tmp_path: Path) -> dict[str, str]:
    """An environment in which no extra is installed."""
    folder = tmp_path / "hidden"
    folder.mkdir()
    for name in EXTRAS:
        (folder / f"{name}.py").write_text(f"raise ModuleNotFoundError('No module named {name}', name='{name}')\n")
    return {"PYTHONPATH": str(folder)}


def refused(done: Done, advice: str) -> bool:
    return done.code == 1 and advice in done.err and "Traceback" not in done.err


def test_every_module_but_those_of_an_extra_loads_without_it(hiding: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOAD_ALL], env={**os.environ, **hiding}, capture_output=True, text=True, check=True
    )
    missed = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert set(missed) == NEED_WORK | NEED_POSTGRES | NEED_WEB | NEED_MCP
    assert all("[work]'" in missed[name] for name in NEED_WORK)
    assert all("[postgres]'" in missed[name] for name in NEED_POSTGRES)
    assert all("[web]'" in missed[name] for name in NEED_WEB)
    assert all("[mcp]'" in missed[name] for name in NEED_MCP)


@pytest.mark.parametrize(
    "arguments", [("worker", "--until-idle"), ("worker", "list"), ("try",), ("try", "--background")]
)
def test_work_in_the_background_says_what_to_install(
    whet: Whet, hiding: dict[str, str], arguments: tuple[str, ...]
) -> None:
    assert refused(whet(*arguments, variables=hiding), "[work]'")


def test_a_job_for_a_worker_says_what_to_install(whet: Whet, hiding: dict[str, str], tmp_path: Path) -> None:
    added = whet("jobs", "add", "every 2h", "Look.", "--name", "news", "--workdir", str(tmp_path), variables=hiding)
    assert added.code == 0, added.err
    assert refused(whet("jobs", "run", "news", "--background", variables=hiding), "[work]'")


def test_the_page_says_what_to_install(whet: Whet, hiding: dict[str, str]) -> None:
    assert refused(whet("page", "--no-browser", variables=hiding), "[web]'")


def test_the_mcp_server_says_what_to_install(whet: Whet, hiding: dict[str, str]) -> None:
    assert refused(whet("mcp", variables=hiding), "[mcp]'")


def test_a_team_database_says_what_to_install(whet: Whet, hiding: dict[str, str]) -> None:
    done = whet("sessions", variables={**hiding, "WHET_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/x"})
    assert refused(done, "[postgres]'")


@long
def test_sessions_are_read_judged_and_learned_from(whet: Whet, hiding: dict[str, str], examples: Path) -> None:
    assert whet("import", str(examples), variables=hiding).code == 0
    assert whet("sessions", "--json", variables=hiding).json
    assert whet("lessons", "--json", variables=hiding).code == 0
    assert whet("rules", "add", "read-before-edit", "Read a file before you edit it.", variables=hiding).code == 0
    assert "read-before-edit" in whet("rules", variables=hiding).out


@pytest.fixture
def talked(whet: Whet, hiding: dict[str, str], tmp_path: Path) -> str:
    """A session with a model that reads its lines from a script."""
    script = tmp_path / "script.jsonl"
    script.write_text("".join(json.dumps({"text": text}) + "\n" for text in ("Done.", "Nothing to keep.")))
    assert whet("config", "model", f"scripted:{script}", variables=hiding).code == 0
    return str(whet("run", "Look around.", "--json", variables=hiding).json["session"])


def test_the_agent_answers_and_a_review_behind_a_conversation_is_made_at_once(
    whet: Whet, hiding: dict[str, str], talked: str
) -> None:
    done = whet("learn", "--review", talked, "--background", "--work", "--json", variables=hiding)
    assert done.code == 0, done.err
    assert "work" not in done.json


def test_a_review_for_a_worker_says_what_to_install(whet: Whet, hiding: dict[str, str], talked: str) -> None:
    assert refused(whet("learn", "--review", talked, "--background", variables=hiding), "[work]'")


@long
@sandboxed
@pytest.mark.usefixtures("talked")
def test_a_trial_runs_in_this_process(whet: Whet, hiding: dict[str, str]) -> None:
    for number in range(6):  # fewer could not reach the bar, and the trial would not begin
        whet("cases", "add", "--new", f"fix-the-port-{number}", variables=hiding)
    asked = ("try", "--rule", "Read a file before you edit it.", "--no-placebo")
    assert refused(whet(*asked, variables=hiding), "use --now")
    assert whet(*asked, "--now", "--json", variables=hiding).code == 0
