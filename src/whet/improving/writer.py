"""Rules written by a model, which sees the facts of a lesson and no word of any session."""

import time
from threading import Event
from typing import NamedTuple

import msgspec

from whet.agent.compaction import Compacting
from whet.agent.protocols import Chosen
from whet.agent.redacting import Secrets
from whet.agent.start import Means, new_id, perform, says
from whet.failures.lessons import Lesson
from whet.ledger.patches import Patch
from whet.proving.replay import Replay
from whet.runs.run import Budget, Ended, Run, Spent
from whet.sessions.transcripts import Ending, Message, Purpose, Role
from whet.sessions.trust import Trust
from whet.shipped.guidance import writing as words
from whet.store.database import Database
from whet.trials.drafts import facts_of, written


class Written(NamedTuple):
    """What a model wrote for a lesson, None where it wrote nothing of use, and what that cost."""

    patch: Patch | None
    spent: Spent = Spent()
    why: str = ""


def write(database: Database, chosen: Chosen, lesson: Lesson, *, interrupt: Event) -> Written:
    """Have a rule written. The request holds the facts of the lesson and nothing that stood in a session."""
    run = run_for(chosen, lesson)
    means = Means(chosen.provider, Replay((), ()), Compacting(lambda: new_id(time.time()), enabled=False), Secrets())
    text, ended = "", Ended(Ending.UNKNOWN)
    for said in perform(database, run, means, interrupt=interrupt):
        if isinstance(said, Message) and said.role is Role.AGENT:
            text = said.text
        elif isinstance(said, Ended):
            ended = said
    patch = written(lesson, text) if ended.ending is Ending.FINISHED else None
    return Written(patch, ended.spent, "" if patch else ended.detail or "the model wrote nothing of use")


def run_for(chosen: Chosen, lesson: Lesson) -> Run:
    """The whole request for a rule."""
    facts = msgspec.json.format(msgspec.json.encode(facts_of(lesson)), indent=2).decode()
    return Run(
        id=new_id(time.time()),
        model=chosen.model.name,
        system=words.system(),
        messages=(says(words.order(facts), now=time.time(), trust=Trust.OPERATOR),),
        purpose=Purpose.TRIAL,
        budget=Budget(model_calls=1),
    )
