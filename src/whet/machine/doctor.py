"""A check-up of the home, its store and its machine: every check, whatever the others found.

What a home needs of its machine is looked at here: versions, the worker, hooks, a provider and a sandbox.
"""

import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import apsw

from whet import __version__
from whet.agent.providers.local_weights import path_of
from whet.agent.tools.sandbox import Wall, probe
from whet.agent.tools.sandbox import note as note_of_walls
from whet.agents.registry import USUAL, first_step, hosts
from whet.errors import WhetError
from whet.machine.home_checks import (
    CheckupPlace,
    CheckupRow,
    Rows,
    check_files,
    check_rights,
    check_space,
    failed,
    ok,
    warning,
)
from whet.machine.looking import FoundAgent, find_agents, how_it_calls, how_to_find, is_on_path
from whet.machine.records import load_record
from whet.machine.store_checks import check_engine, check_store
from whet.own.runs.models import address_of
from whet.shipped.extras import how_to_add
from whet.store.settings_file import load
from whet.store.sqlite import OLDEST_SAFE
from whet.telling.hooks.installing import are_installed, are_outdated, has_plugin, program_in
from whet.telling.targets.settings import last_calls
from whet.work.life import is_worker_alive

TO_KEEP_IT = "To keep it: `nohup whet worker &`, or the start of your container."
WANTED = (
    ("dbos", "work", "background work"),
    ("psycopg", "postgres", "a Postgres database"),
    ("mcp", "mcp", "the MCP server of the plugin"),
)


def check_up(place: CheckupPlace) -> Rows:
    """How everything stands, row by row as it is found.

    What one check cannot do is its row, and keeps no other from looking.
    """
    for name, check in CHECKS:
        place.progress(name)
        yield from _rows(name, check, place)


def _rows(name: str, check: Callable[[CheckupPlace], Rows], place: CheckupPlace) -> Rows:
    try:
        yield from check(place)
    except WhetError as error:
        yield failed(name, error.message, error.advice)
    except OSError as error:
        where = f"{error.filename or place.home.folder}: {error.strerror or error}"
        yield failed(name, where, "Check the path, its permissions and the disk.")


def check_versions(place: CheckupPlace) -> Rows:
    """The programs and libraries that Whet stands on."""
    said = f"Whet {__version__}, Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()}"
    if tuple(int(number) for number in apsw.sqlite_lib_version().split(".")) < OLDEST_SAFE:
        yield failed("versions", f"{said}, which can corrupt databases", "Run `pip install -U apsw`.")
    else:
        yield ok("versions", f"{said}, {sys.platform}")
    for package, extra, use in WANTED:
        try:
            version(package)
        except PackageNotFoundError:
            is_needed = extra == "postgres" and place.home.database_url
            row = (f"{package} is not installed, which {use} needs", f"Run `{how_to_add(extra)}`.")
            if is_needed:
                yield failed("versions", *row)
            elif extra == "work" or (extra == "mcp" and any(each.program for each in load_record(place.home).hooks)):
                yield warning("versions", *row)


def check_worker(place: CheckupPlace) -> Rows:
    """Whether background work is carried out."""
    if is_worker_alive(place.home.folder):
        yield ok("worker", "running")
    elif load_record(place.home).service is not None:
        yield failed("worker", "its service is set up, and it does not run", "Run `whet worker`, which says why.")
    else:
        may_have_service = load_record(place.home).is_empty and not place.home.database_url
        fix = "Run `whet setup`, or `whet worker`." if may_have_service else f"Run `whet worker`. {TO_KEEP_IT}"
        yield warning("worker", "does not run, so nothing is learned by itself", fix)


def check_hooks(place: CheckupPlace) -> Rows:
    """Whether agents tell Whet of their sessions."""
    calls = last_calls(place.home)
    recorded = {each.agent for each in load_record(place.home).hooks}
    found = [each for each in find_agents(place.person, place.environment) if each.name in hosts() and each.config]
    for agent in found:
        yield _hooks(place, agent, calls.get(agent.name), is_recorded=agent.name in recorded)
    if not found:
        yield ok("hooks", "no agent on this machine takes them")


def _hooks(place: CheckupPlace, agent: FoundAgent, last_call: float | None, *, is_recorded: bool) -> CheckupRow:
    name, config = agent.name, agent.config
    assert config is not None  # others take no hooks
    try:
        installed = are_installed(name, config) or has_plugin(name, config)
        is_lost = installed and not _find_program(place, name, config)
        if are_outdated(name, config):
            return warning("hooks", f"{agent.title} has the hooks of another Whet", "Run `whet setup` again.")
    except WhetError as error:
        return failed("hooks", error.message, error.advice)
    if is_lost:
        program = Path(sys.executable).with_name("whet")
        return warning("hooks", f"{agent.title} does not find the program `whet` for its hooks", how_to_find(program))
    if last_call is not None:
        return ok("hooks", f"{agent.title} {how_it_calls(name, last_call)}")
    if installed:
        advice = first_step(name) or "start a session in it"
        fix = f"{advice[0].upper()}{advice[1:]}."
        return warning("hooks", f"{agent.title} has Whet's hooks, and was not yet seen calling", fix)
    if is_recorded:
        return failed("hooks", f"{agent.title} had Whet's hooks, and they are gone", "Run `whet setup` again.")
    return warning("hooks", f"{agent.title} does not call Whet", "Run `whet setup`.")


def _find_program(place: CheckupPlace, agent: str, config: Path) -> bool:
    named = "" if has_plugin(agent, config) else program_in(agent, config)
    return os.access(named, os.X_OK) or is_on_path(place.person, place.environment)


def check_provider(place: CheckupPlace) -> Rows:
    """Whether the chosen model can be asked; no request is made."""
    settings = load(place.home)
    if not settings.model:
        on_agent = f"or try changes on your agent: `whet try --agent {USUAL}`."
        fix = f"Run `whet config model PROVIDER:NAME`, {on_agent}"
        yield warning("provider", "no model is set", fix)
        return
    endpoint, model = address_of(settings)
    if endpoint.kind == "local":
        path = path_of(model, place.home)
        if path.exists():
            yield ok("provider", f"the model {path} is there")
        else:
            yield failed("provider", f"the model {path} is missing", "Run `whet models pull`.")
    elif endpoint.key_variable and not place.environment.get(endpoint.key_variable):
        fix = f"Run `export {endpoint.key_variable}=…`; the worker's service reads it from worker.env."
        yield failed("provider", f"{settings.model} needs {endpoint.key_variable}, which is not set", fix)
    else:
        yield ok("provider", f"{settings.model} is set; `whet config --check` sends it a request")


def check_sandbox(place: CheckupPlace) -> Rows:
    """What holds the agent's commands back here."""
    settings, walls = load(place.home).sandbox, probe()
    gaps = note_of_walls(walls, network=settings.network, required=settings.required)
    if walls.wall is Wall.NONE:
        yield failed("sandbox", "none works here", gaps)
    elif walls.wall is Wall.LANDLOCK:
        yield warning("sandbox", f"{walls.wall}: {gaps}", "Install bubblewrap.")
    else:
        yield ok("sandbox", f"{walls.wall}: {gaps}" if gaps else str(walls.wall))


# Rights come first: opening the store closes a home that was open to others. What reads the whole store comes last.
CHECKS: tuple[tuple[str, Callable[[CheckupPlace], Rows]], ...] = (
    ("permissions", check_rights),
    ("disk", check_space),
    ("versions", check_versions),
    ("files", check_files),
    ("worker", check_worker),
    ("hooks", check_hooks),
    ("provider", check_provider),
    ("sandbox", check_sandbox),
    ("background work", check_engine),
    ("database", check_store),
)
