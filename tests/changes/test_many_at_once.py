"""Eight processes that apply and revert at once lose nothing; one that is killed leaves old or new."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from lengths import examples, long_on_postgres
from whet.changes.apply import settle, undo
from whet.changes.places import place_of
from whet.ledger.entries import CHANGES, Actor, Key, Step
from whet.ledger.patches import Form
from whet.own.told import note_pages
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.opening import opened

WORKER = Path(__file__).with_name("ledger_worker.py")
PROCESSES = 8
ROUNDS = 4


def start(home: Home, worker: int, rounds: int) -> "subprocess.Popen[str]":
    command = [sys.executable, str(WORKER), str(home.folder), home.database_url, str(worker), str(rounds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def page_texts(home: Home, name: str) -> list[str]:
    path = home.folder / f"{name}.md"
    return [note.text for note in note_pages.placed(path.read_text() if path.exists() else "")]


@long_on_postgres
def test_eight_processes_lose_nothing(home: Home) -> None:
    with opened(home) as database:
        ledger_of(home, database)
    processes = [start(home, worker, ROUNDS) for worker in range(PROCESSES)]
    outputs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * PROCESSES
    kept = {name for output in outputs for name in json.loads(output)}
    with opened(home) as database:
        ledger = ledger_of(home, database)
        state, entries = ledger.state(), ledger.entries()
        assert (ledger.faults(), ledger.lost()) == ((), "")
    assert {f"{item.form} {item.name}" for item in state.items if item.name != "shared"} == kept
    assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
    assert state.unfinished == ()
    assert sorted(page_texts(home, "user")) == sorted(item.text for item in state.notes)
    for item in state.of(Form.TEMPLATE):
        assert place_of(home, item.key).path.read_text() == item.text
    lines = (home.folder / "jobs" / "shared.toml").read_text().splitlines()
    assert sorted(lines) == sorted(f"line w{w}n{n}" for w in range(PROCESSES) for n in range(ROUNDS))
    # Nothing is applied that is not logged: each change of a file was announced, and then confirmed or abandoned.
    begun = {entry.number for entry in entries if entry.step is Step.BEGUN}
    ended = {entry.begun for entry in entries if entry.step in CHANGES | {Step.ABANDONED} and entry.begun}
    assert begun == ended


def test_a_killed_process_leaves_old_or_new(home: Home) -> None:
    moments = random.Random(7)
    for _ in range(examples(12)):
        process = start(home, 0, 0)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(moments.uniform(0.0, 0.06))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        with opened(home) as database:
            ledger = ledger_of(home, database)
            settle(home, ledger, now=0.0)
            state = ledger.state()
            assert (ledger.faults(), ledger.lost()) == ((), "")
        assert state.unfinished == ()
        path = place_of(home, Key(Form.TEMPLATE, "churn")).path
        template = state.get(Form.TEMPLATE, "churn")
        assert (path.read_text() if path.exists() else None) == (template.text if template else None)
        assert page_texts(home, "memory") == [note.text for note in state.notes]
        # The next process starts from nothing again.
        undo_all(home)


def undo_all(home: Home) -> None:
    with opened(home) as database:
        while ledger_of(home, database).state().items:
            undo(home, database, actor=Actor.PERSON, now=0.0)
