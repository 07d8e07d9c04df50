"""The command opens a page of its own: with decisions in a person's terminal, and only to look at elsewhere."""

import os
import pty
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

from command import COMMAND, Whet, environment
from patience import PATIENCE_SECONDS, until


def free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


@contextmanager
def started(home: Path, person: Path, *, on_terminal: bool, variables: dict[str, str] | None = None) -> Iterator[str]:
    """The address that `whet page` prints, while it runs."""
    reading, writing = pty.openpty() if on_terminal else os.pipe()
    process = subprocess.Popen(
        [COMMAND, "page", "--no-browser", "--port", str(free_port())],
        stdin=writing if on_terminal else subprocess.DEVNULL,
        stdout=writing,
        stderr=writing,
        env={**environment(home, person), "TERM": "dumb", **(variables or {})},
    )
    os.close(writing)
    try:
        shown = b""
        while not (found := re.search(rb"http://\S+token=[\w-]+\s", shown)):
            piece = os.read(reading, 4096)
            assert piece, shown
            shown += piece
        yield found.group().decode().strip()
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
        os.close(reading)


def waiting_at(address: str) -> str:
    """What the page shows as pending, asked for as a browser does."""
    opener = build_opener(HTTPCookieProcessor())
    with opener.open(address, timeout=PATIENCE_SECONDS) as answer:
        found = re.search(r'href="/([^"]+)"', answer.read().decode())
        assert found is not None
    with opener.open(f"{address.partition('?')[0]}{found[1]}lessons", timeout=PATIENCE_SECONDS) as answer:
        return str(answer.read().decode())


def test_a_person_at_a_terminal_can_decide_and_nobody_else(whet: Whet, tmp_path: Path, person: Path) -> None:
    home = tmp_path / "home"
    whet("rules", "add", "tidy", "Remove unused imports.", allowed=False)
    with started(home, person, on_terminal=True) as address:
        assert "Approve exactly this" in waiting_at(address)
    with started(home, person, on_terminal=False) as address:
        shown = waiting_at(address)
        assert "Remove unused imports." in shown
        assert "Approve exactly this" not in shown
    with started(home, person, on_terminal=True, variables={"CLAUDECODE": "1"}) as address:
        assert "Approve exactly this" not in waiting_at(address)


def test_a_port_that_is_taken_is_named(whet: Whet) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = whet("page", "--no-browser", "--port", str(taken.getsockname()[1]))
    assert done.code == 1
    assert "cannot be used" in done.err


def test_the_browser_is_started_without_the_token(tmp_path: Path, person: Path) -> None:
    """Everybody on a machine can read the command line of a browser, and only its owner a file of mode 600."""
    browser = tmp_path / "browser"
    seen = tmp_path / "seen"
    script = f'#!/bin/sh\necho "$*" > {seen}\nstat -c %a "${{1#file://}}" >> {seen}\ncat "${{1#file://}}" >> {seen}\n'
    browser.write_text(script)
    browser.chmod(0o755)
    command = [str(COMMAND), "page", "--port", str(free_port())]
    variables = {**environment(tmp_path / "home", person), "BROWSER": f"{browser} %s"}
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        until(lambda: seen.exists() and seen.read_text().endswith("</a>\n"))
        process.send_signal(signal.SIGINT)
    arguments, mode, page = seen.read_text().split("\n", 2)
    assert arguments.startswith("file://")
    assert ("token" in arguments, mode, "token=" in page) == (False, "600", True)
    assert not Path(arguments.removeprefix("file://")).exists()
