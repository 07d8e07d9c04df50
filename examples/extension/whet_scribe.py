"""All that a package may add to Whet: an agent, a kind of trouble, lessons and a command. Scribe itself is made up.

Everything of the agent is in this one file: its format of record, the files it reads, its hooks and how it is run.
"""

import os
from collections.abc import Iterator
from typing import Any

import click

from whet.agents.agent import Agent, AgentFiles, AgentHooks
from whet.agents.executor import Executor, ProgramLaunch, ProgramTask
from whet.agents.formats import content
from whet.agents.formats.source import Format, Source
from whet.improving.learned import LessonScope, SourceOfLessons
from whet.improving.taught import Progress
from whet.ledger.patches import Action, Form, Patch
from whet.lessons.record import Lesson, LessonEvidence, LessonPiece, LessonSource, ProjectLessons, id_of
from whet.sessions.transcripts import Message, Role, Text, ToolCall, Transcript
from whet.store.database import Database
from whet.store.home import Home, find_home
from whet.store.listing import list_sessions
from whet.store.opening import opened
from whet.text import fields
from whet.trouble.course import SessionCourse, Stretch
from whet.trouble.kinds import ChangeKind, KindOfTrouble

NAME = "scribe"


def sniff(source: Source) -> bool:
    """Whether a file is one of ours, by what stands in it."""
    return source.kind == "jsonl" and bool(source.sample) and "scribe" in source.sample[0]


def read(source: Source) -> Iterator[Transcript]:
    """The one session of a file: a first line about it, then a line a message, call or result."""
    records = [record.value for record in source.session_records()]
    tools = {fields.text(each, "call"): fields.text(each, "tool") for each in records if "tool" in each}
    messages = tuple(message for each in records[1:] if (message := _message(each, tools)))
    yield content.completed(
        Transcript(
            source=NAME,
            native_id=fields.text(records[0], "scribe"),
            messages=messages,
            model=fields.text(records[0], "model"),
            folder=fields.text(records[0], "folder"),
        )
    )


def _message(record: dict[str, Any], tools: dict[str, str]) -> Message | None:
    at, call = fields.seconds(record.get("at")), fields.text(record, "call")
    if "asks" in record:
        return content.spoken(Role.USER, [Text(fields.text(record, "asks"))], at=at)
    if "says" in record:
        return content.spoken(Role.AGENT, [Text(fields.text(record, "says"))], at=at)
    if "tool" in record:
        asked = ToolCall(call, tools[call], fields.json_text(record.get("input", {})))
        return content.spoken(Role.AGENT, [asked], at=at)
    if "output" in record:
        failed = fields.flag(record, "failed")
        return content.answered(content.result(call, record["output"], tool=tools.get(call, ""), error=failed), at=at)
    return None


FORMAT = Format(NAME, "Scribe", sniff, read, places=(".scribe/sessions/*.jsonl",))


def launch(errand: ProgramTask, program: str) -> ProgramLaunch:
    """How one order is given to it, with a config home of its own."""
    model = ("--model", errand.model) if errand.model else ()
    return ProgramLaunch((program, "--quiet", *model, errand.task), {"SCRIBE_HOME": str(errand.config)})


EXECUTOR = Executor("scribe", launch, ("sessions", "*.jsonl"), variables=("SCRIBE_KEY",))

AGENT = Agent(
    NAME,
    records=f"{__name__}:FORMAT",
    files=AgentFiles(folder=".scribe", variable="SCRIBE_HOME", everywhere=("SCRIBE.md",), project=("SCRIBE.md",)),
    hooks=AgentHooks("hooks.json", shell="shell"),
    executor=f"{__name__}:EXECUTOR",
    shell=("SCRIBE_SHELL",),
)


def bare_tests(course: SessionCourse) -> Iterator[Stretch]:
    """Runs of pytest by a bare name."""
    for move in course.moves:
        if "pytest" in move.step.exchange.call.arguments:
            yield Stretch("bare_tests", move.asked, move.answered, move.step.tool, "pytest without make")


BARE_TESTS = KindOfTrouble(
    "bare_tests",
    label="runs tests by a bare name",
    sentence="runs the tests by a bare name instead of make",
    change=ChangeKind.RULE,
    detectors=(bare_tests,),
)


def scribe_lessons(_: Home, database: Database, scope: LessonScope, __: Progress) -> tuple[ProjectLessons, ...]:
    """What Scribe's sessions teach: it waits for a person's yes as any other lesson does."""
    found = list_sessions(database, scope.filters._replace(source=NAME), limit=1_000)
    seen = tuple(LessonPiece(LessonSource.RECOVERY, each.id, 0, "pytest without make") for each in found)
    if not seen:
        return ()
    rule = "Run the tests with make."
    patch = Patch(Form.RULE, Action.ADD, "scribe-tests", rule)
    evidence = LessonEvidence(LessonSource.RECOVERY, seen, len(seen), 1.0)
    return (ProjectLessons("", (Lesson(id_of("", rule), "", rule, "running tests", rule, patch, evidence),)),)


LESSONS = SourceOfLessons(NAME, scribe_lessons)


@click.command("scribes", help="Count the sessions of Scribe.")
def scribes() -> int:
    with opened(find_home(os.environ)) as database:
        [(number,)] = database.query("SELECT count(*) FROM sessions WHERE source = ?", (NAME,))
    click.echo(f"{number} sessions of Scribe.")
    return 0
