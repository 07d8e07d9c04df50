"""Whether a worker runs, as status, doctor and `whet worker list` tell it: by its lock, and not by a clock."""

import contextlib
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from command import COMMAND, Whet, environment
from patience import until


@pytest.fixture
def worker(tmp_path: Path, person: Path) -> "subprocess.Popen[bytes]":
    """A worker of one queue, which has no clock."""
    started = subprocess.Popen(
        [COMMAND, "worker", "--queue", "reviews"],
        env=environment(tmp_path / "home", person), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    until(lambda: any((tmp_path / "home" / "workers").glob("*.lock")) or started.poll() is not None)
    return started


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_worker_is_running_until_it_ends(
    how: signal.Signals, worker: "subprocess.Popen[bytes]", whet: Whet, tmp_path: Path
) -> None:
    until(lambda: (tmp_path / "home" / "workers" / "last").exists())
    assert whet("status", "--json").json["worker"]["running"]
    assert "running" in next(row["text"] for row in whet("doctor", "--json").json["checks"] if row["name"] == "worker")
    worker.send_signal(how)
    worker.communicate()
    found = whet("status", "--json").json["worker"]
    assert not found["running"]
    assert found["last_seen"] is not None
    assert "last ran " in whet("status").out


def test_what_a_dead_worker_had_begun_waits_for_another(whet: Whet, tmp_path: Path) -> None:
    options = ("--model", f"scripted:{tmp_path / 'none.jsonl'}", "--workdir", str(tmp_path))
    assert whet("jobs", "add", "every 2h", "Count", "the", "leaves", *options).code == 0
    assert whet("jobs", "run", "count-the-leaves", "--background").code == 0
    shown = whet("worker", "list", variables={"COLUMNS": "200"}).out
    assert "job " in shown
    assert "To run it, start `whet worker`." in shown
    # as a worker leaves it that took the order and died
    statement = "UPDATE workflow_status SET status = 'PENDING', executor_id = 'gone' WHERE name = 'carry_out'"
    begin(tmp_path / "home" / "engine.db", statement)
    assert "waits for a worker" in whet("worker", "list", variables={"COLUMNS": "200"}).out
    work = whet("status", "--json").json["work"]
    assert (work["queued"], work["running"]) == (1, 0)


def begin(path: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def test_where_no_service_is_possible_nothing_leads_back_to_setup(whet: Whet, person: Path) -> None:
    (person / ".codex").mkdir()
    variables = {"PATH": "/usr/bin:/bin"}
    assert "(`whet setup`)" in next(line for line in whet("status").out.splitlines() if line.startswith("Worker"))
    shown = " ".join(whet("setup", "--yes", variables={**variables, "DBUS_SESSION_BUS_ADDRESS": "none"}).out.split())
    assert "It needs a worker, which does not run here: start `whet worker`." in shown
    assert "No reader is set, so nothing is read: `whet config reading.reader claude`." in shown
    worker = next(line for line in whet("status").out.splitlines() if line.startswith("Worker"))
    assert "`whet worker`" in worker
    assert "`whet setup`" not in worker
    row = next(row for row in whet("doctor", "--json").json["checks"] if row["name"] == "worker")
    assert "whet worker" in row["fix"]
    assert "whet setup" not in row["fix"]
