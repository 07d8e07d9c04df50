"""One way to put runs together: what differs between a chat, a job, an attempt, a review and a question."""

import json
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from conversations import user
from replies import says
from whet.agent.assembling import Assembled, RunPlace, RunRequest, RunWords, assemble_run
from whet.agent.protocols import Chosen
from whet.agent.providers.choosing import Scripted
from whet.agent.session import OpenSession, SessionRequest
from whet.changes.apply import try_out
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch
from whet.own.runs.models import Model
from whet.own.runs.run import Run
from whet.own.runs.settings import Compaction, PromptSettings, Settings
from whet.proving.replay import Replay
from whet.sessions.transcripts import Purpose, ToolCall
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger
from whet.store.records import restore_prompt

KEY = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
MODEL = Model("scripted-1", window=10_000)
CI = {"PATH": "/usr/bin:/bin", "CI": "1"}
SETTINGS = Settings(compaction=Compaction(at=0.5))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def made(home: Home, database: Database, purpose: Purpose, folder: Path) -> Assembled:
    """A run of a purpose in a folder; its tools are ended at once."""
    (folder / "AGENTS.md").write_text("Plant tulips.\n")
    chosen = Chosen(Scripted([]), MODEL)
    request = RunRequest(SETTINGS, RunPlace(folder, CI), purpose=purpose, id="s-1", chosen=chosen)
    found = assemble_run(home, database, request)
    found.means.toolbox.close()
    return found


@pytest.mark.parametrize("purpose", [Purpose.CHAT, Purpose.JOB, Purpose.TRIAL, Purpose.REVIEW])
def test_a_new_run_has_a_stored_prompt_and_may_use_what_it_is_shown(
    home: Home, database: Database, tmp_path: Path, purpose: Purpose
) -> None:
    run = made(home, database, purpose, tmp_path).run
    assert run.purpose is purpose
    assert restore_prompt(database, run.prompt_key).text == run.system
    assert run.allowed == {definition.name for definition in run.shown} != set()


def test_only_chats_and_jobs_are_drawn_for_and_compacted_as_the_settings_say(
    home: Home, database: Database, tmp_path: Path
) -> None:
    rule = Patch(Form.RULE, Action.ADD, "tulips", "Count the tulips.", trust=Trust.USER)
    try_out(home, database, rule, actor=Actor.PERSON, now=1.0, share=0.999)
    for purpose in (Purpose.CHAT, Purpose.JOB, Purpose.TRIAL, Purpose.REVIEW):
        run, means, *_ = made(home, database, purpose, tmp_path)
        is_live = purpose in (Purpose.CHAT, Purpose.JOB)
        assert (bool(run.draw_id), means.compacting.enabled) == (is_live, is_live)
        assert ("Count the tulips." in run.system) is is_live
        assert run.room == (5_000 if is_live else 7_500)


def test_a_review_is_told_nothing_of_a_machine_on_which_it_does_nothing(
    home: Home, database: Database, tmp_path: Path
) -> None:
    chat, review = (made(home, database, purpose, tmp_path) for purpose in (Purpose.CHAT, Purpose.REVIEW))
    assert (chat.run.folder, review.run.folder) == (str(tmp_path), "")
    assert "Plant tulips." in chat.run.system
    assert "Plant tulips." not in review.run.system
    assert chat.sources is not None
    assert review.sources is not None
    assert "ci" in chat.sources.setting.environments
    assert review.sources.setting.environments == ()


def test_what_the_agent_writes_is_believed_no_more_than_what_it_was_told_but_in_an_attempt(
    home: Home, database: Database, tmp_path: Path
) -> None:
    believed = {}
    for purpose in (Purpose.CHAT, Purpose.TRIAL):
        found = made(home, database, purpose, tmp_path)
        text = f"The tulips of a {purpose} stand in the west."
        call = ToolCall("c1", "memory", f'{{"action": "add", "page": "memory", "text": "{text}"}}')
        found.means.toolbox.answer(call, allowed=found.run.allowed, interrupt=Event())
        believed[purpose] = Ledger(database).entries()[-1].patch.trust
    assert believed == {Purpose.CHAT: Trust.EXTERNAL, Purpose.TRIAL: Trust.AGENT}


def test_a_question_has_its_own_words_and_nothing_of_the_machine(home: Home, database: Database) -> None:
    request = RunRequest(
        SETTINGS,
        words=RunWords(messages=(user("Yes or no?"),), system="You judge."),
        tools=Replay((), ()),
        purpose=Purpose.TRIAL,
        chosen=Chosen(Scripted([]), MODEL),
    )
    run = assemble_run(home, database, request).run
    assert run == Run(run.id, MODEL.name, "You judge.", (user("Yes or no?"),), purpose=Purpose.TRIAL)


def test_a_secret_is_put_back_also_after_another_model_was_chosen(
    home: Home, database: Database, tmp_path: Path
) -> None:
    first = Chosen(Scripted([says("Noted.")]), MODEL)
    asked = SessionRequest(RunRequest(SETTINGS, RunPlace(tmp_path, CI), chosen=first))
    with closing(OpenSession(home, database, asked)) as talk:
        list(talk.turn(f"My token is {KEY}", interrupt=Event()))
        shown = talk.run.messages[0].text.removeprefix("My token is ")
        call = {"name": "write_file", "arguments": json.dumps({"path": "token", "content": shown})}
        lines = ({"calls": [call]}, {"text": "Done."})
        (tmp_path / "second").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        talk.change_model(f"scripted:{tmp_path / 'second'}")
        list(talk.turn("Write it down.", interrupt=Event()))
        assert KEY not in str(talk.run.messages)
    assert (tmp_path / "token").read_text() == KEY


@pytest.mark.parametrize("setting", ["memory", "profile", "session", "platform", "enforcement"])
def test_the_settings_say_what_the_prompt_holds(home: Home, database: Database, tmp_path: Path, setting: str) -> None:
    home.folder.mkdir(exist_ok=True)
    (home.folder / "memory.md").write_text("- The pump is in the shed.\n")
    (home.folder / "user.md").write_text("- I am a gardener.\n")
    values: dict[str, dict[str, Any]] = {
        "memory": {"parts": ("profile",)},
        "profile": {"parts": ("memory",)},
        "session": {"parts": ("memory", "profile", "session")},
        "platform": {"platform": "telegram"},
        "enforcement": {"enforcement": ("always",)},
    }
    marks = {
        "memory": "pump",
        "profile": "gardener",
        "session": "20990101-000000-abcd",
        "platform": "telephone",
        "enforcement": "",
    }
    held = {}
    for chosen in (PromptSettings(), PromptSettings(**values[setting])):
        settings = Settings(model="scripted:x", prompt=chosen)
        request = RunRequest(
            settings,
            RunPlace(tmp_path),
            interactive=True,
            id="20990101-000000-abcd",
            chosen=Chosen(Scripted([]), MODEL),
        )
        found = assemble_run(home, database, request)
        found.means.toolbox.close()
        held[chosen == PromptSettings()] = found.run
    before, after = held[True], held[False]
    assert before.system != after.system
    if setting in ("memory", "profile"):
        assert marks[setting] in before.system
        assert marks[setting] not in after.system
    else:
        assert marks[setting] in after.system
