"""Rules written by a model, which sees the facts of a lesson and no word of any session."""

import time
from threading import Event
from typing import NamedTuple

import msgspec

from whet.agent.assembling import Wish, assemble_run
from whet.agent.protocols import Chosen
from whet.agent.start import carry_out, says
from whet.failures.lessons import Lesson
from whet.ledger.patches import Patch
from whet.proving.replay import Replay
from whet.runs.run import Budget, Spent
from whet.sessions.transcripts import Ending, Purpose, Role
from whet.sessions.trust import Trust
from whet.shipped.guidance import writing as words
from whet.store.database import Database
from whet.store.home import Home
from whet.trials.drafts import facts_of, written


class Written(NamedTuple):
    """What a model wrote for a lesson, None where it wrote nothing of use, and what that cost."""

    patch: Patch | None
    spent: Spent = Spent()
    why: str = ""


def write(home: Home, database: Database, chosen: Chosen, lesson: Lesson, *, interrupt: Event) -> Written:
    """Have a rule written. The request holds the facts of the lesson and nothing that stood in a session."""
    facts = msgspec.json.format(msgspec.json.encode(facts_of(lesson)), indent=2).decode()
    wish = Wish(
        purpose=Purpose.TRIAL,
        budget=Budget(model_calls=1),
        chosen=chosen,
        messages=(says(words.order(facts), now=time.time(), trust=Trust.OPERATOR),),
        toolbox=Replay((), ()),
        system=words.system(),
    )
    made = assemble_run(home, database, wish)
    messages, ended = carry_out(database, made.run, made.means, interrupt=interrupt)
    text = next((each.text for each in reversed(messages) if each.role is Role.AGENT), "")
    patch = written(lesson, text) if ended.ending is Ending.FINISHED else None
    return Written(patch, ended.spent, "" if patch else ended.detail or "the model wrote nothing of use")
