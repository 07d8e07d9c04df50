"""A first import on all cores that is stopped in the middle: nothing that was kept is lost, and nobody goes on."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from command import COMMAND, environment
from lengths import long
from patience import PATIENCE_SECONDS, until
from whet.intake.taking import BATCH_BYTES
from whet.store.home import Home
from whet.store.listing import Filters, count_sessions
from whet.store.opening import opened

SESSIONS = 48
WORDS = "The same long words again. " * (3 * BATCH_BYTES // SESSIONS // 27)


def stored(home: Home) -> int:
    with opened(home) as database:
        return count_sessions(database, Filters())


@long
@pytest.mark.parametrize("home", ["sqlite"], indirect=True)
@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGKILL])
def test_an_import_that_is_stopped_keeps_what_it_had_and_the_next_one_adds_the_rest(
    home: Home, tmp_path: Path, way: signal.Signals
) -> None:
    files, person = tmp_path / "files", tmp_path / "person"
    files.mkdir()
    person.mkdir()
    for number in range(SESSIONS):
        turns = [{"role": "user", "content": f"Task {number}"}, {"role": "assistant", "content": WORDS}]
        (files / f"{number}.jsonl").write_text(json.dumps({"id": f"s{number}", "messages": turns}) + "\n")
    command = [str(COMMAND), "import", "--json", str(files)]
    variables = environment(home.folder, person)
    assert stored(home) == 0  # and the database is there
    begun = subprocess.Popen(
        command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    until(lambda: stored(home) or begun.poll() is not None)
    os.killpg(begun.pid, way) if way is signal.SIGINT else begun.kill()
    # The workers hold these pipes too: they close when the last of them has ended.
    _, said = begun.communicate(timeout=PATIENCE_SECONDS)
    before = stored(home)
    assert 0 < before < SESSIONS
    if way is signal.SIGINT:
        assert begun.returncode == 130
        assert f"{before} sessions were imported before that" in said.decode()
    again = subprocess.run(command, env=variables, capture_output=True, check=True)
    report = json.loads(again.stdout)
    assert (report["imported"], report["unchanged"]) == (SESSIONS - before, before)
    assert stored(home) == SESSIONS
