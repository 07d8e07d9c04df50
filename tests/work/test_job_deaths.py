"""A worker that dies at any step of a run: each effect happens once, or is reported as what may have happened."""

from pathlib import Path

from lengths import long_on_postgres
from whet.own.jobs.job import Job
from whet.own.jobs.runs import DeliveryOutcome, JobOutcome, JobRecord
from whet.sessions.transcripts import Purpose
from whet.store import job_records
from whet.store.home import Home
from whet.store.opening import opened, owner_of
from whet.work.given import given_orders
from whet.work.job_runs import order
from whet.work.orders import Queue
from work.job_scenes import deaths, lines, ordered, script, write

POINTS = {
    "begin": "after begin",
    "script": "before script",
    "scripted": "after script",
    "agent": "after agent",
    "record": "after record",
    "deliver": "before deliver",
    "delivered": "after deliver",
    "noted": "after note the delivery",
    "nowhere": "",
}
IN_EFFECTS = ("scripted", "agent", "delivered", "nowhere")  # enough for the second database
DONE = '{"calls": [{"name": "finish", "arguments": "{\\"status\\": \\"done\\", \\"report\\": \\"Two leaves.\\"}"}]}'


def prepared(home: Home, folder: Path, model: str) -> tuple[str, ...]:
    """One job for each point of death, with a script and a delivery that leave a mark each time."""
    names = IN_EFFECTS if home.database_url else tuple(POINTS)
    for name in names:
        point = POINTS[name]
        place = folder / name
        place.mkdir()
        if point:
            (place / f"die {point}").touch()
        job = Job(
            name,
            "every 2h",
            added=1.0,
            prompt="Count the leaves.",
            workdir=str(place),
            script="echo rain | tee -a effects",
            model=model,
            deliver="command",
            to="cat > letter; echo sent >> sent",
        )
        write(home, job)
        with given_orders(home) as orders:
            orders.submit(order(ordered(home, job)), Queue.JOBS)
    return names


def outcome(record: JobRecord) -> JobOutcome:
    assert record.result is not None
    return record.result.outcome


@long_on_postgres
def test_each_effect_happens_once_or_is_reported(home: Home, tmp_path: Path) -> None:
    names = prepared(home, tmp_path, script(tmp_path / "model", DONE))
    assert deaths(home, tmp_path) == len(names) - 1
    with opened(home) as database:
        found = {name: job_records.record_of(database, owner_of(home), f"run-{name}") for name in names}
        rows = database.query("SELECT native_id FROM sessions WHERE purpose = ?", (Purpose.JOB.value,))
        assert job_records.open_runs(database, owner_of(home)) == ()
    sessions = [native_id for (native_id,) in rows]
    for name, record in found.items():
        place = tmp_path / name
        assert not list(place.glob("die *")), name
        is_unsure = name in ("script", "scripted")
        assert outcome(record) is (JobOutcome.UNSURE if is_unsure else JobOutcome.DONE), name
        assert lines(place / "effects") == (0 if name == "script" else 1), name
        assert sessions.count(f"job-{name}-run-{name}") == (0 if is_unsure else 1), name
        assert record.handing is (
            DeliveryOutcome.UNSURE if name in ("deliver", "delivered") else DeliveryOutcome.DELIVERED
        ), name
        assert lines(place / "sent") == (0 if name == "deliver" else 1), name
        if is_unsure:
            assert "may have taken effect" in (place / "letter").read_text()
    assert "may have arrived" in found["delivered"].handing_error
