"""Jobs: files that people write, read strictly."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.own.jobs.job import (
    SENSES,
    SETS,
    Job,
    address,
    check,
    is_withheld,
    name_for,
    next_after,
    read,
    schedule_of,
    tools_of,
    written,
)

NOW = 1_790_000_000.0
PLAIN = Job("news", "every 2h", added=NOW, prompt="What is new?", workdir="/work")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def told(text: str) -> WhetError:
    with pytest.raises(WhetError) as caught:
        read(text, name="news")
    return caught.value


@given(
    st.builds(
        Job,
        name=st.just("news"),
        schedule=st.sampled_from(["every 2h", "0 9 * * mon-fri", "2026-12-01 09:00", "in 30m"]),
        timezone=st.sampled_from(["UTC", "Europe/Berlin"]),
        added=st.integers(1, 1_700_000_000).map(float),
        prompt=TEXTS.filter(str.strip),
        skills=st.lists(TEXTS, max_size=3).map(tuple),
        script=TEXTS,
        model=TEXTS,
        workdir=TEXTS.filter(bool),
        remote=st.booleans(),
        tools=st.lists(st.sampled_from(SETS)).map(tuple),
        deliver=st.sampled_from(["file", "command"]),
        to=TEXTS.filter(str.strip),
        repeat=st.integers(0, 9),
        paused=st.booleans(),
        seconds=st.floats(1, 1e6),
    )
)
def test_what_is_written_is_read_as_the_same_job(job: Job) -> None:
    assert read(written(job), name="news") == job


def test_every_field_has_a_key_with_its_sense() -> None:
    assert set(SENSES) == {"name", *Job.__struct_fields__} - {"name"}


def test_several_lines_are_written_as_people_write_them() -> None:
    job = Job("news", "every 2h", prompt="Look.\n  Then say 'yes'.\n", workdir="/work")
    assert "prompt = '''\nLook.\n  Then say 'yes'.\n'''" in written(job)
    assert read(written(job), name="news") == job


def test_an_unknown_key_is_an_error_that_names_the_nearest() -> None:
    error = told('schedule = "every 2h"\nprompt = "x"\nwork_dir = "/x"\n')
    assert "work_dir, which is unknown" in error.message
    assert "Did you mean workdir?" in error.advice
    assert "repeat" in error.advice


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schedule = every 2h", "cannot be read"),
        (f"schedule = {'[' * 100_000}", "cannot be read"),
        ('schedule = "every 2h"\nprompt = 3', "prompt of the job news must be text"),
        (
            'schedule = "every 2h"\nprompt = "x"\nworkdir = "/w"\nskills = "one"',
            "skills of the job news must be a list",
        ),
        ('schedule = "every 2h"\nprompt = "x"\nworkdir = "/w"\ndeliver = "pigeon"', "one of 'none', 'file', 'command'"),
        ('schedule = "every 2h"\nprompt = "x"\nworkdir = "/w"\ndeliver = "file"', "does not say which"),
        ('schedule = "every 2h"\nprompt = "x"\nworkdir = "/w"\nto = "/x"', "but not how"),
        ('schedule = "every 2h"\nprompt = "x"\nworkdir = "/w"\nrepeat = -1', "repeat of the job news is less than 0"),
        ('schedule = "every 2h"\nprompt = "x"\nworkdir = "/w"\nadded = "today"', "must be a date and time"),
        ('schedule = "every 2h"\nprompt = "x"', "has no working folder"),
        ('schedule = "every 2h"', "nothing to do"),
        ('schedule = "now and then"\nprompt = "x"', "not a schedule"),
        ('schedule = "in 30m"\nprompt = "x"\nworkdir = "/w"', "its start is unknown"),
        ('schedule = "every 2h"\nprompt = "x"\nworkdir = "/w"\ntimezone = "Mars"', "no time zone"),
        ('schedule = "every 2h"\nprompt = "x"\nworkdir = "/w"\ntools = ["chat"]', "tool chat .* is not known"),
        (
            'schedule = "every 2h"\nprompt = "x"\nworkdir = "/w"\ntools = ["mcp__slack__send_message"]',
            "talks to people or creates jobs",
        ),
    ],
)
def test_what_cannot_be_carried_out_is_told_with_what_is_allowed(text: str, message: str) -> None:
    with pytest.raises(WhetError, match=message) as caught:
        read(text, name="news")
    assert caught.value.advice


def test_a_job_by_hand_needs_no_date() -> None:
    job = read('schedule = "every 2h"\nscript = "date"\n', name="news")
    assert next_after(schedule_of(job), 7300.0) == 14_400.0


def test_a_run_always_has_a_way_to_end_and_no_terminal_on_anothers_machine() -> None:
    assert "finish" in tools_of(Job("news", tools=("files",)))
    assert "terminal" in tools_of(Job("news"))
    assert "terminal" not in tools_of(Job("news", remote=True))
    assert "terminal" not in tools_of(Job("news", remote=True, tools=("terminal", "files")))
    assert not {"servers", "chat", "all"} & set(tools_of(Job("news")))


@pytest.mark.parametrize("tool", ["mcp__mail__send", "mcp__x__ask_user", "mcp__cron__add", "mcp__chat__post_message"])
def test_tools_that_speak_ask_or_schedule_are_withheld(tool: str) -> None:
    assert is_withheld(tool)
    assert not is_withheld("mcp__files__read")


@given(st.text(max_size=80), st.lists(st.text(string.ascii_lowercase, min_size=1, max_size=3)))
def test_a_name_is_always_a_name_and_always_new(words: str, taken: list[str]) -> None:
    name = name_for(words, taken)
    assert name not in taken
    assert name_for(words, [*taken, name]) != name
    check(Job(name, "every 2h", script="x"))


def test_where_a_report_goes_may_be_a_variable() -> None:
    assert address("$HOOK", {"HOOK": "https://x/y"}) == "https://x/y"
    assert address("/plain", {}) == "/plain"
    with pytest.raises(WhetError, match=r"\$HOOK is not set"):
        address("$HOOK", {})
