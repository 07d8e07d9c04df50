"""Templates in the agent's own hands: built from sessions that went well, listed, looked at and taken away."""

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from whet.agent.tools.situation import Given, Occasion, failed
from whet.changes.author import Author
from whet.changes.templates import keep, remove
from whet.examples.prefills import as_openai
from whet.examples.templates import MOST_EXAMPLES, Template, described, name_fault
from whet.examples.warm_start import examples
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.ledger.patches import Action
from whet.sessions.activity import Activity
from whet.sessions.transcripts import Transcript
from whet.sessions.trust import Trust
from whet.shipped.guidance.warm import words
from whet.store.database import Database
from whet.store.listing import Filters
from whet.store.opening import opened
from whet.store.recording import SOURCE
from whet.store.template_files import list_templates, load, stored_transcripts

MOST_SESSIONS = 500
LEAST_SESSIONS = 2
USUAL_EXAMPLES = 10
REASON = "built by the agent in a session"


def warm_session(  # noqa: PLR0913 - a parameter each for the model
    occasion: Occasion,
    *,
    action: Literal["build", "list", "load", "delete"],
    name: Annotated[str, Meta(description="such as web-research")] = "",
    activity: Literal["", "code", "file", "research", "mixed"] = "",
    source: Annotated[str, Meta(description="build from this agent only")] = "",
    min_messages: Annotated[int, Meta(ge=0, description="build: skip shorter sessions")] = 0,
    max_sessions: Annotated[int, Meta(ge=1, le=MOST_SESSIONS, description="build: look at so many")] = MOST_SESSIONS,
    max_examples: Annotated[int, Meta(ge=1, le=MOST_EXAMPLES)] = USUAL_EXAMPLES,
) -> Given:
    """Templates: real calls that worked, with which later sessions can begin. `build` mines stored sessions."""
    folder = occasion.situation.home.folder
    if action == "list":
        found = [each.template for each in list_templates(folder) if each.template]
        lines = [f"{template.name} ({template.activity}): {template.description}" for template in found]
        return Given("\n".join(lines) or "There are no templates yet.", trust=Trust.AGENT)
    if wrong := name_fault(name):
        return failed(f"{wrong}. Use lower-case words with hyphens.")
    if action == "load":
        template = load(folder, name)
        shown = as_openai(examples(replace(template, examples=template.examples[:max_examples]), words()))
        return Given(msgspec.json.encode(shown).decode(), trust=Trust.AGENT)
    with opened(occasion.situation.home) as database:
        author = _author(occasion, database, name)
        if action == "delete":
            return _answer_about(remove(author, name))
        stored_ones = stored_transcripts(database, Filters(source=source), limit=max_sessions)
        long_enough = (each for each in stored_ones if len(each.messages) >= min_messages)
        return _build(author, name, Activity(activity) if activity else None, long_enough, max_examples)


def _build(
    author: Author, name: str, activity: Activity | None, found: Iterator[Transcript], max_examples: int
) -> Given:
    from whet.examples.mining import WantedTemplate, mine  # noqa: PLC0415 - it loads all detectors, which few sessions need

    fewest = min(max_examples, WantedTemplate().fewest)
    wanted = WantedTemplate(activity=activity, fewest=fewest, most=max_examples, sessions=min(fewest, LEAST_SESSIONS))
    mined = mine(found, wanted)
    if not mined.examples:
        return failed(f"{mined.used} of {mined.seen} sessions could be mined; they give too few examples.")
    # No word of the agent's stands in it but the name: what it read in this session may have chosen its words.
    made = Template(name, mined.examples, mined.activity, described(mined.examples), created=author.now)
    return _answer_about(keep(author, made))


def _author(occasion: Occasion, database: Database, name: str) -> Author:
    situation = occasion.situation
    trust = occasion.workplace.lineage.trust_of(name)
    origin = PatchOrigin(PatchWriter.AGENT, SOURCE, said=f"{REASON}{occasion.workplace.because(name)}")
    return Author(situation.home, database, Actor.AGENT, trust, situation.now(), situation.session, origin)


def _answer_about(entry: Entry) -> Given:
    what = f"template {entry.patch.name}"
    if entry.step is Step.PROPOSED:
        text = f"Not in force yet, it waits for a person's approval: {what}. Tell the user; do not retry."
    elif entry.patch.action is Action.REMOVE:
        text = f"Removed: {what}."
    else:
        text = f"Done: {what}. Later sessions can begin with it."
    return Given(text, trust=Trust.AGENT)
