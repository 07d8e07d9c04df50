"""Memory, skills and templates for the agent: read freely, and changed through the ledger only."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from whet.agent.tools.situation import CallContext, ToolOutput, failed
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Action, Form, PatchOrigin, PatchWriter, Proof
from whet.own.examples.templates import MOST_EXAMPLES, Template, described, name_fault
from whet.own.examples.warm_start import as_openai, examples
from whet.own.told.memory import NoteChange, Refusal, complaint
from whet.own.told.skills import FILE
from whet.sessions.activity import Activity
from whet.sessions.transcripts import Transcript, session_id
from whet.sessions.trust import Trust
from whet.shipped.guidance.warm import words
from whet.store.listing import Filters
from whet.store.opening import opened
from whet.store.recording import SOURCE
from whet.store.skill_files import list_skills
from whet.store.template_files import list_templates, load, stored_transcripts

if TYPE_CHECKING:
    from whet.changes.writing import Author

MOST_SESSIONS = 500
LEAST_SESSIONS = 2
USUAL_EXAMPLES = 10
ACTIONS = {"add": Action.ADD, "replace": Action.CHANGE, "remove": Action.REMOVE}


def memory(
    occasion: CallContext,
    *,
    action: Literal["list", "add", "replace", "remove"],
    page: Annotated[Literal["memory", "user"], Meta(description="user: about the person")] = "memory",
    text: str = "",
    match: Annotated[str, Meta(description="id or words of the note to replace or remove")] = "",
) -> ToolOutput:
    """Notes that last beyond this session."""
    from whet.changes.writing import notes_of, remember  # noqa: PLC0415 - the first request does not wait for it

    with _author(occasion, text or match) as author:
        try:
            if action == "list":
                notes = notes_of(author, page)
                lines = [f"{note.id}  {note.text}" for note in notes.notes]
                size = f"{notes.size} of {notes.limit} characters used."
                return ToolOutput("\n".join([*lines, size]), trust=Trust.AGENT)
            made = remember(author, page, [NoteChange(ACTIONS[action], text, match)])
            if isinstance(made, Refusal):
                raise complaint(made)
            return _answer_about(made)
        except WhetError as error:
            return _refused(error)


def skills(  # noqa: PLR0913 - a tool takes what its model may say
    occasion: CallContext,
    *,
    action: Literal["list", "view", "create", "patch", "write_file", "archive"],
    name: str = "",
    file: Annotated[str, Meta(description="such as references/guide.md")] = FILE,
    description: Annotated[str, Meta(description="for create: what it is for, and when to use it")] = "",
    text: Annotated[str, Meta(description="for create and write_file: the whole text; for patch: the new words")] = "",
    old: Annotated[str, Meta(description="for patch: the words to replace, which occur once")] = "",
) -> ToolOutput:
    """Skills: how kinds of tasks are done here. View one before you use or change it."""
    from whet.changes import writing  # noqa: PLC0415 - as above

    with _author(occasion, f"{description}\n{text}") as author:
        try:
            if action == "list":
                found = [each.value for each in list_skills(author.home.folder) if each.value]
                lines = [f"{each.name}: {each.description}" for each in found]
                return ToolOutput("\n".join(lines) or "There are no skills yet.", trust=Trust.AGENT)
            if action == "view":
                return _view(author, name, file)
            if action == "create":
                return _answer_about([writing.create(author, name, description, text)])
            if action == "patch":
                return _answer_about([writing.patch(author, name, old, text, file)])
            if action == "write_file":
                return _answer_about([writing.write_file(author, name, file, text)])
            return _answer_about([writing.archive(author, name)])
        except WhetError as error:
            return _refused(error)


def warm_session(  # noqa: PLR0913 - a parameter each for the model
    occasion: CallContext,
    *,
    action: Literal["build", "list", "load", "delete"],
    name: Annotated[str, Meta(description="such as web-research")] = "",
    activity: Literal["", "code", "file", "research", "mixed"] = "",
    source: Annotated[str, Meta(description="build from this agent only")] = "",
    min_messages: Annotated[int, Meta(ge=0, description="build: skip shorter sessions")] = 0,
    max_sessions: Annotated[int, Meta(ge=1, le=MOST_SESSIONS, description="build: look at so many")] = MOST_SESSIONS,
    max_examples: Annotated[int, Meta(ge=1, le=MOST_EXAMPLES)] = USUAL_EXAMPLES,
) -> ToolOutput:
    """Templates: real calls that worked, with which later sessions can begin. `build` mines stored sessions."""
    folder = occasion.situation.home.folder
    if action == "list":
        found = [each.value for each in list_templates(folder) if each.value]
        lines = [f"{template.name} ({template.activity}): {template.description}" for template in found]
        return ToolOutput("\n".join(lines) or "There are no templates yet.", trust=Trust.AGENT)
    if wrong := name_fault(name):
        return failed(f"{wrong}. Use lower-case words with hyphens.")
    if action == "load":
        template = load(folder, name)
        shown = as_openai(examples(replace(template, examples=template.examples[:max_examples]), words()))
        return ToolOutput(msgspec.json.encode(shown).decode(), trust=Trust.AGENT)
    from whet.changes.writing import remove_named  # noqa: PLC0415 - as above

    with _author(occasion, name, how="built") as author:
        if action == "delete":
            return _template_answer(remove_named(author, Form.TEMPLATE, name))
        stored_ones = stored_transcripts(author.database, Filters(source=source), limit=max_sessions)
        long_enough = (each for each in stored_ones if len(each.messages) >= min_messages)
        return _build(author, name, Activity(activity) if activity else None, long_enough, max_examples)


def _build(
    author: "Author", name: str, activity: Activity | None, found: Iterator[Transcript], max_examples: int
) -> ToolOutput:
    from whet.changes.writing import keep_template  # noqa: PLC0415 - as above
    from whet.own.examples.mining import WantedTemplate, mine  # noqa: PLC0415 - it loads all detectors, which few sessions need

    fewest = min(max_examples, WantedTemplate().fewest)
    wanted = WantedTemplate(activity=activity, fewest=fewest, most=max_examples, sessions=min(fewest, LEAST_SESSIONS))
    mined = mine(found, wanted)
    if not mined.examples:
        return failed(f"{mined.used} of {mined.seen} sessions could be mined; they give too few examples.")
    # No word of the agent's stands in it but the name: what it read in this session may have chosen its words.
    made = Template(name, mined.examples, mined.activity, described(mined.examples), created=author.now)
    return _template_answer(keep_template(author, made))


def _view(author: "Author", name: str, file: str) -> ToolOutput:
    from whet.changes import writing  # noqa: PLC0415 - as above

    viewed = writing.view(author, name, file)
    also = f"\n[files: {', '.join(viewed.files)}; in {author.home.folder / 'skills' / name}]" if viewed.files else ""
    return ToolOutput(viewed.text + also, trust=viewed.trust)


@contextlib.contextmanager
def _author(occasion: CallContext, text: str, *, how: str = "written") -> "Iterator[Author]":
    """The agent as the writer of this text, on a connection of its own: calls may come from any thread."""
    from whet.changes.writing import Author  # noqa: PLC0415 - as above

    situation = occasion.situation
    trust = occasion.workplace.lineage.trust_of(text)
    with opened(situation.home) as database:
        now = situation.now()
        proof = Proof(session_id(SOURCE, situation.session), kind=situation.occasion)
        said = f"{how} by the agent in {situation.occasion}{occasion.workplace.because(text)}"
        origin = PatchOrigin(PatchWriter.AGENT, SOURCE, said=said)
        yield Author(situation.home, database, Actor.AGENT, trust, now, situation.session, origin, (proof,))


def _refused(error: WhetError) -> ToolOutput:
    """What Whet says about a change is its own word: it makes nothing foreign of what the agent writes next."""
    return failed(f"{error.message} {error.advice}".strip())


def _answer_about(entries: Iterable[Entry]) -> ToolOutput:
    """What became of a change, so that the model does not take what waits for what is done."""
    made = tuple(entries)
    if not made:
        return ToolOutput("That is there already; nothing was changed.", trust=Trust.AGENT)
    waiting = [_named(entry) for entry in made if entry.step is Step.PROPOSED]
    if waiting:
        text = f"Not in force yet, it waits for a person's approval: {', '.join(waiting)}. Tell the user; do not retry."
        return ToolOutput(text, trust=Trust.AGENT)
    done = ", ".join(map(_named, made))
    text = f"Done: {done}. It counts from the next session on; change it further without viewing it again."
    return ToolOutput(text, trust=Trust.AGENT)


def _template_answer(entry: Entry) -> ToolOutput:
    if entry.step is Step.PROPOSED:
        return _answer_about([entry])
    is_removed = entry.patch.action is Action.REMOVE
    text = f"Removed: {_named(entry)}." if is_removed else f"Done: {_named(entry)}. Later sessions can begin with it."
    return ToolOutput(text, trust=Trust.AGENT)


def _named(entry: Entry) -> str:
    return f"{entry.patch.form} {entry.patch.name}"
