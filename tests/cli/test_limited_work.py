"""The daily limit as a person sees it: work waits for another day and says so, and the foreground does not."""

from pathlib import Path

import pytest

from command import Whet

DONE = '{"calls": [{"name": "finish", "arguments": "{\\"status\\": \\"done\\", \\"report\\": \\"Two leaves.\\"}"}]}'


@pytest.fixture
def leaves(whet: Whet, person: Path, tmp_path: Path) -> str:
    """A job, in a home whose background work may spend nothing."""
    (tmp_path / "model.jsonl").write_text(DONE)
    options = ("--model", f"scripted:{tmp_path / 'model.jsonl'}", "--workdir", str(person))
    assert whet("jobs", "add", "every 2h", "Count", "the", "leaves", *options).code == 0
    assert whet("config", "background.tokens_per_day", "0").code == 0
    return "count-the-leaves"


def test_background_work_beyond_the_limit_waits_and_goes_on_when_there_is_room(whet: Whet, leaves: str) -> None:
    assert whet("jobs", "run", leaves, "--background").code == 0
    assert whet("worker", "--until-idle", "--queue", "jobs").code == 0
    [work] = whet("worker", "list", "--json").json["work"]
    assert work["state"] == "running"
    assert work["waits_until"] is not None
    shown = whet("worker", "list").out
    assert "waits for the daily limit until" in shown
    assert whet("config", "background.tokens_per_day", "100000").code == 0
    assert whet("worker", "--until-idle", "--queue", "jobs").code == 0
    [work] = whet("worker", "list", "--json").json["work"]
    assert (work["state"], work["waits_until"]) == ("done", None)
    [run] = whet("jobs", "show", "--runs", leaves, "--json").json["runs"]
    assert run["outcome"] == "done"


def test_a_run_that_a_person_waits_for_is_not_limited(whet: Whet, leaves: str) -> None:
    assert whet("jobs", "run", leaves).out == "Two leaves.\n"
