"""whet jobs: what a person sees of jobs and their runs."""

import time
from pathlib import Path

import pytest

from command import Whet, runner
from whet.store.home import Home
from whet.work.clock import look
from whet.work.given import given_orders

DONE = '{"calls": [{"name": "finish", "arguments": "{\\"status\\": \\"done\\", \\"report\\": \\"Two leaves.\\"}"}]}'


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.jsonl"
    path.write_text(DONE)
    return f"scripted:{path}"


@pytest.fixture
def leaves(whet: Whet, model: str, person: Path) -> str:
    """A job that was added."""
    options = ("--model", model, "--workdir", str(person), "--deliver", "file", "--to", "out.md")
    done = whet("jobs", "add", "every 2h", "Count", "the", "leaves", *options)
    assert done.code == 0, done.err
    assert "Added job count-the-leaves" in done.out
    return "count-the-leaves"


def test_a_job_is_added_run_and_remembered(whet: Whet, leaves: str, tmp_path: Path) -> None:
    ran = whet("jobs", "run", leaves)
    assert (ran.code, ran.out) == (0, "Two leaves.\n")
    assert "Two leaves." in (tmp_path / "out.md").read_text()
    listed = whet("jobs")
    assert leaves in listed.out
    assert "No worker is running the jobs yet" in listed.out
    [run] = whet("jobs", "show", "--runs", leaves, "--json").json["runs"]
    assert (run["outcome"], run["delivery"], run["manual"]) == ("done", "delivered", True)
    assert "Two leaves." in whet("jobs", "show", leaves).out
    shown = whet("jobs", "show", leaves)
    assert 'schedule = "every 2h"' in shown.out
    assert "Two leaves." in shown.out
    session = whet("show", run["session"], "--json").json
    assert session["session"]["purpose"] == "job"
    assert whet("jobs", "show", leaves, "--json").json["last"]["run"] == run["run"]


def test_a_job_is_paused_resumed_removed_and_brought_back(whet: Whet, leaves: str) -> None:
    assert "Paused job" in whet("jobs", "pause", leaves).out
    assert whet("jobs", "--json").json["jobs"][0]["state"] == "paused"
    assert whet("jobs", "pause", "--resume", leaves).code == 0
    assert whet("jobs", "--json").json["jobs"][0]["state"] == "active"
    assert "Removed job" in whet("jobs", "remove", leaves).out
    assert whet("jobs", "--json").json["jobs"] == []
    assert "remove job count-the-leaves" in whet("ledger", "undo").err, "a job is named before it is undone"
    assert whet("ledger", "undo", str(whet("ledger", "--json").json["entries"][0]["id"])).code == 0
    assert whet("jobs", "--json").json["jobs"][0]["name"] == leaves


def test_a_failing_script_is_in_the_history_the_exit_code_and_the_delivery(whet: Whet) -> None:
    script = 'echo "[SILENT] all is well"; exit 3'
    added = whet("jobs", "add", "0 9 * * mon-fri", "--name", "bad", "--script", script, "--deliver", "stdout")
    assert added.code == 0, added.err
    ran = whet("jobs", "run", "bad")
    assert ran.code == 1
    assert ran.out.startswith("bad: FAILED")
    assert "The script exited with 3." in ran.out
    [run] = whet("jobs", "show", "--runs", "--json").json["runs"]
    assert (run["outcome"], run["exit_code"], run["delivery"]) == ("failed", 3, "delivered")
    assert "failed" in whet("jobs").out


def test_a_delivery_that_fails_is_told_wherever_one_looks(whet: Whet) -> None:
    whet("jobs", "add", "every 1d", "--name", "late", "--script", "echo hi", "--deliver", "file", "--to", "no/where")
    assert whet("jobs", "run", "late").code == 1
    assert "Not delivered (failed)" in whet("jobs").out
    [run] = whet("jobs", "show", "--runs", "--json").json["runs"]
    assert (run["outcome"], run["delivery"], run["delivery_tries"]) == ("done", "failed", 1)
    assert run["next_try"] > run["ended"]


@pytest.mark.parametrize(
    ("arguments", "message", "advice"),
    [
        (("every 2x", "hi"), "not a schedule", '"every 2h"'),
        (("every 2h", "hi", "--model", "nobody:x"), "does not name a known provider", "anthropic"),
        (("every 2h", "hi", "--skill", "nope"), "no skill nope", "Skills:"),
        (("every 2h", "hi", "--deliver", "pigeon"), "'pigeon' is not a delivery", "none, file, command, stdout"),
        (("every 2h", "hi", "--workdir", "/nowhere"), "no folder /nowhere", "workdir"),
    ],
)
def test_what_is_not_known_is_told_with_what_is_allowed(
    whet: Whet, arguments: tuple[str, ...], message: str, advice: str
) -> None:
    done = whet("jobs", "add", *arguments)
    assert done.code == 1
    assert message in done.err
    assert advice in done.err
    assert "Traceback" not in done.err


def test_a_job_that_is_not_there_is_told_with_those_that_are(whet: Whet, leaves: str) -> None:
    for action in ("show", "run", "pause"):
        done = whet("jobs", action, "nothing")
        assert done.code == 1
        assert f"Jobs: {leaves}." in done.err


def test_a_broken_file_is_listed_and_fails(whet: Whet, leaves: str, tmp_path: Path) -> None:
    (tmp_path / "home" / "jobs" / "mine.toml").write_text('schedul = "every 2h"')
    done = whet("jobs")
    assert done.code == 1
    assert "Did you mean schedule?" in done.out
    assert leaves in done.out


def test_a_job_that_an_agent_adds_waits_for_the_person(whet: Whet) -> None:
    done = whet("jobs", "add", "every 1m", "--script", "echo hi", "--name", "mine", variables={"WHET_RUN": "x"})
    assert done.code == 0
    assert "Needs a person's approval: job mine" in done.out
    assert whet("jobs", "--json").json["jobs"] == []


def test_a_worker_runs_what_is_due_and_what_was_missed(whet: Whet, leaves: str, tmp_path: Path) -> None:
    _add_long_ago(Home(tmp_path / "home"), leaves)
    assert whet("worker", "--until-idle", "--queue", "jobs", "--queue", "chores").code == 0
    [run] = whet("jobs", "show", "--runs", "--json").json["runs"]
    assert (run["outcome"], run["manual"], run["delivery"]) == ("done", False, "delivered")
    assert run["missed"] > 1000
    assert "earlier times were missed" in (tmp_path / "out.md").read_text()
    queued = whet("jobs", "run", leaves, "--background", "--json").json
    assert whet("worker", "list", queued["work"], "--json").json["state"] == "queued"
    assert [work["kind"] for work in whet("worker", "list", "--json").json["work"]] == ["job", "job"]
    assert "No worker has run the jobs since" in whet("jobs").out, "it has ended"


def test_looking_at_jobs_loads_no_engine(person: Path, tmp_path: Path) -> None:
    whet = runner(tmp_path / "home", person)
    whet("jobs", "add", "every 2h", "--script", "echo hi", "--name", "mine")
    for command in (["jobs"], ["jobs", "show"], ["jobs", "run", "mine"], ["jobs", "pause", "mine"]):
        done = whet(*command, variables={"PYTHONPROFILEIMPORTTIME": "1"})
        assert " dbos" not in done.err, command


def test_a_worker_of_the_queue_jobs_alone_runs_and_delivers_what_is_due(whet: Whet, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    whet("jobs", "add", "every 2h", "--name", "late", "--script", "echo hi", "--deliver", "file", "--to", "to/out.md")
    _add_long_ago(home, "late")
    assert whet("worker", "--until-idle", "--queue", "reviews").code == 0
    assert whet("jobs", "show", "--runs", "--json").json["runs"] == [], "other queues are not its business"
    assert whet("worker", "--until-idle", "--queue", "jobs").code == 0
    [run] = whet("jobs", "show", "--runs", "--json").json["runs"]
    assert (run["outcome"], run["manual"], run["delivery"]) == ("done", False, "failed")
    look(home, now=time.time() + 3_600)
    with given_orders(home) as orders:
        assert {(work.kind, work.queue) for work in orders.all()} == {("job", "jobs"), ("delivery", "jobs")}


def test_a_run_that_called_the_model_often_is_reviewed_by_the_worker(whet: Whet, leaves: str, tmp_path: Path) -> None:
    (tmp_path / "home" / "settings.toml").write_text("[review]\nevery = 1\n")
    assert whet("jobs", "run", leaves, "--background").code == 0
    whet("worker", "--queue", "jobs", "--until-idle")
    assert [work["kind"] for work in whet("worker", "list", "--json").json["work"]].count("review") == 1


def _add_long_ago(home: Home, name: str) -> None:
    path = home.folder / "jobs" / f"{name}.toml"
    text = path.read_text()
    added = next(line for line in text.splitlines() if line.startswith("added"))
    path.write_text(text.replace(added, "added = 2026-01-01T00:00:00Z"))
