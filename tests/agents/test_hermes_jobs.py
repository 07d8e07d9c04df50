"""Jobs of Hermes: every kind of schedule, and what cannot be had here."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agents.hermes.jobs import HermesJob, HermesPlace, read
from whet.errors import WhetError
from whet.own.jobs.job import next_after, schedule_of

NOW = 1_790_000_000.0
PLACE = HermesPlace(Path("/home/me/.hermes"), "/work", "Europe/Berlin", NOW)


def hermes_job(**changes: Any) -> dict[str, Any]:
    """A job as Hermes writes it."""
    return {
        "id": "faf8d91da716",
        "name": "Morning News",
        "prompt": "What is new?",
        "skills": ["research"],
        "skill": "research",
        "model": None,
        "provider": None,
        "base_url": None,
        "script": None,
        "no_agent": False,
        "context_from": None,
        "schedule": {"kind": "cron", "expr": "0 9 * * *", "display": "0 9 * * *"},
        "schedule_display": "0 9 * * *",
        "repeat": {"times": None, "completed": 0},
        "enabled": True,
        "state": "scheduled",
        "paused_at": None,
        "created_at": "2026-03-01T10:00:00+01:00",
        "next_run_at": "2026-03-02T09:00:00+01:00",
        "last_status": None,
        "deliver": "local",
        "origin": None,
        "enabled_toolsets": None,
        "workdir": None,
        **changes,
    }


def one(**changes: Any) -> HermesJob:
    [found] = read(json.dumps({"jobs": [hermes_job(**changes)], "updated_at": "2026-03-01"}), PLACE)
    return found


def test_a_job_is_taken_with_its_skills_its_folder_and_its_zone() -> None:
    job = one().job
    assert job is not None
    assert (job.name, job.prompt, job.skills) == ("morning-news", "What is new?", ("research",))
    assert (job.schedule, job.timezone, job.workdir) == ("0 9 * * *", "Europe/Berlin", "/work")
    assert (job.repeat, job.paused, job.deliver) == (0, False, "none")


def test_every_kind_of_schedule_is_known() -> None:
    interval = one(schedule={"kind": "interval", "minutes": 90, "display": "every 90m"}).job
    once = one(schedule={"kind": "once", "run_at": "2027-01-01T09:00:00+00:00"}, repeat={"times": 1}).job
    assert interval is not None
    assert once is not None
    assert next_after(schedule_of(interval), NOW) == NOW + 5400
    assert next_after(schedule_of(once), NOW) == 1_798_794_000.0
    assert once.repeat == 0
    assert one(schedule="every 2h").job is not None


def test_what_is_left_of_a_repetition_is_taken() -> None:
    job = one(repeat={"times": 5, "completed": 2}).job
    assert job is not None
    assert job.repeat == 3


@pytest.mark.parametrize("changes", [{"enabled": False}, {"state": "paused"}])
def test_a_paused_job_stays_paused(changes: dict[str, Any]) -> None:
    job = one(**changes).job
    assert job is not None
    assert job.paused


def test_a_script_without_an_agent_is_the_whole_job() -> None:
    job = one(script="watch it.py", no_agent=True).job
    assert job is not None
    assert (job.prompt, job.script) == ("", "python3 '/home/me/.hermes/scripts/watch it.py'")


def test_a_model_is_taken_with_its_provider_only() -> None:
    both = one(model="gpt-5", provider="openai")
    alone = one(model="gpt-5")
    assert both.job is not None
    assert alone.job is not None
    assert (both.job.model, alone.job.model) == ("openai:gpt-5", "")
    assert "set model" in alone.notes[0]


def test_a_delivery_that_is_not_there_is_told() -> None:
    found = one(deliver="telegram:1234")
    assert found.job is not None
    assert "telegram:1234" in found.notes[0]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"state": "completed"}, "ended"),
        ({"schedule": {"kind": "once", "run_at": "2020-01-01T00:00:00Z"}}, "past"),
        ({"schedule": {"kind": "moon"}, "schedule_display": ""}, "not a schedule"),
        ({"prompt": "", "skills": []}, "nothing to do"),
    ],
)
def test_what_cannot_be_taken_says_why(changes: dict[str, Any], fault: str) -> None:
    found = one(**changes)
    assert found.job is None
    assert fault in found.fault


def test_two_of_one_name_get_two_names() -> None:
    found = read(json.dumps([hermes_job(), hermes_job()]), PLACE, taken=("morning-news-2",))
    assert [each.name for each in found] == ["morning-news", "morning-news-3"]


@pytest.mark.parametrize("text", ["", "nonsense", "3", '{"other": 1}', '"jobs"'])
def test_what_is_no_file_of_jobs_is_refused(text: str) -> None:
    with pytest.raises(WhetError):
        read(text, PLACE)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(sorted(hermes_job())), JSON))
def test_whatever_a_field_holds_a_job_is_taken_or_left_with_a_reason(changes: dict[str, Any]) -> None:
    found = one(**changes)
    assert (found.job is None) == bool(found.fault)
