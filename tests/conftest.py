"""What the tests stand on: a home folder of their own and both real databases."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from hypothesis import HealthCheck, settings

from command import Whet, runner
from disks import fast_folder
from lengths import SHORT, WHOLE
from postgres_server import address_of, copied_database, serve
from warm_process import cool
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened

if TYPE_CHECKING:
    from team import Team


def pytest_configure(config: pytest.Config) -> None:
    """Fewer examples where long tests are left out. WHET_EXAMPLES=1000 looks longer for what breaks a property."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background: tests interrupt what they started
        signal.signal(signal.SIGINT, signal.default_int_handler)
    is_short = config.getoption("markexpr") == "not long"
    settings.register_profile(
        "whet",
        deadline=None,  # tests never measure time: a busy machine is no failure
        suppress_health_check=[HealthCheck.too_slow],
        max_examples=int(os.environ.get("WHET_EXAMPLES") or (SHORT if is_short else WHOLE)),
    )
    settings.load_profile("whet")


def pytest_sessionfinish() -> None:
    cool()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Say at the very end that the sandbox was not tested, where it was not."""
    yield
    skipped = [str(report.longrepr) for report in terminalreporter.getreports("skipped")]
    count = sum("bubblewrap" in reason for reason in skipped)
    if count:
        why = "does not work here" if shutil.which("bwrap") else "is not installed"
        tests = "sandbox test was" if count == 1 else "sandbox tests were"
        terminalreporter.write_line(f"{count} {tests} skipped: bubblewrap {why}", yellow=True)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A real Postgres server, started for this run."""
    with serve() as url:
        yield url


@pytest.fixture(scope="session")
def postgres_template(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database on that server with the tables of an empty store."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE empty_store")
    with opened(Home(tmp_path_factory.mktemp("template"), address_of(postgres_url, "empty_store"))):
        return "empty_store"


@pytest.fixture(params=["sqlite", "postgres"])
def home(request: pytest.FixtureRequest) -> Iterator[Home]:
    """An empty home on each database in turn."""
    with tempfile.TemporaryDirectory(prefix="whet-home-", dir=fast_folder(), ignore_cleanup_errors=True) as folder:
        if request.param == "sqlite":
            yield Home(Path(folder) / "home")
            return
        server: str = request.getfixturevalue("postgres_url")
        template: str = request.getfixturevalue("postgres_template")
        with copied_database(server, template, f"test_{abs(hash(request.node.nodeid))}") as url:
            yield Home(Path(folder) / "home", url)


@pytest.fixture
def shop(postgres_url: str, tmp_path: Path) -> "Iterator[Team]":
    """A team that shares a store."""
    from team import team  # noqa: PLC0415 - it loads the engine

    with team(postgres_url, f"shop_{abs(hash(str(tmp_path)))}", tmp_path / "owner") as made:
        yield made


@pytest.fixture
def database(home: Home) -> Iterator[Database]:
    with opened(home) as database:
        yield database


@pytest.fixture
def person(tmp_path: Path) -> Path:
    """A person's own folder, in which no agent has left anything yet."""
    folder = tmp_path / "person"
    folder.mkdir()
    return folder


@pytest.fixture
def whet(tmp_path: Path, person: Path) -> Whet:
    return runner(tmp_path / "home", person)


@pytest.fixture
def examples() -> Path:
    """Sessions of every format that come with the project."""
    return Path(__file__).parents[1] / "examples" / "sessions"
