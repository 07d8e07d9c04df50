"""whet chat and whet run: conversations with the agent, one task to its end, and the prompt that either would get."""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click
import msgspec
from msgspec.structs import replace

from whet.agent.assembling import RunPlace, RunRequest, RunWords
from whet.agent.compaction import Said
from whet.agent.session import OpenSession, SessionRequest
from whet.agent.tools.situation import ApprovalQuestion
from whet.agent.tools.toolbox import sets_within
from whet.cli.acting import actor_of, trust_of
from whet.cli.chat.display import (
    Display,
    answer_of,
    duration,
    ended_record,
    exit_code,
    failure_words,
    spent_words,
)
from whet.cli.chat.inputs import answered, interruptible, said_yes
from whet.cli.chat.screen import Screen
from whet.cli.options import allowance_of, budget_option, json_command, model_option, together
from whet.cli.output import copied, fields, give, is_json, plain, print_json, print_json_line, table
from whet.errors import WhetError
from whet.own.runs.run import Ended, Run
from whet.own.runs.settings import Settings
from whet.own.told.passages import Circumstances
from whet.own.told.prompt import Prompt, Tier, assemble
from whet.secrets.redactor import secret_values
from whet.sessions.transcripts import Ending, Message, Origin, Role, Text
from whet.sessions.trust import Trust
from whet.shipped.guidance import notice
from whet.store.folders import text_given
from whet.store.home import Home, find_home
from whet.store.opening import opened
from whet.store.settings_file import load
from whet.telling.context.finding import project_of, said_of
from whet.telling.context.gathering import ContextFolder, PromptRequest, environments, gather, this_machine
from whet.telling.targets.project_names import name_of_project
from whet.text.characters import safe
from whet.text.front_matter import words
from whet.text.quoting import mark_for, quoted, shortened
from whet.text.showing import framed, shown

if TYPE_CHECKING:
    from rich.table import Table


Form = Literal["text", "json", "stream"]
UNKNOWN_ROOM_TOKENS = 100_000


def perform(home: Home, asked: SessionRequest, task: str, material: str, *, form: Form) -> int:
    """Carry a task out, with what was piped in for it, and print what came of it; gives the exit code."""
    with ExitStack() as stack:
        database = stack.enter_context(opened(home))
        progress = stack.enter_context(closing(Screen(sys.stderr)))
        answer = stack.enter_context(closing(Screen(sys.stdout))) if sys.stdout.isatty() and form == "text" else None
        can_ask = sys.stdin.isatty() and sys.stderr.isatty()
        talk = OpenSession(home, database, asked, ask=_ask if can_ask else None, tell=_tell)
        stack.callback(talk.close)
        _say_notes(talk.notes)
        given = _material(material, talk.run.room)
        messages, ended = _follow(talk, task, given, Display(answer, progress), form)
        from whet.improving.reviews_begun import Reviews  # the first request does not wait for it

        reviews = Reviews(talk, asked.run.settings.review)
        reviews.after(ended)
        _say_notes(reviews.news())
    return _report(talk.run.id, messages, ended, form)


def _follow(
    talk: OpenSession, task: str, material: Message | None, display: Display, form: Form
) -> tuple[tuple[Message, ...], Ended]:
    messages: list[Message] = []
    ended = Ended(Ending.UNKNOWN)
    if form == "stream":
        print_json_line({"event": "started", "session": talk.run.id, "model": talk.model})
    with interruptible() as stop:
        display.wait()
        for said in talk.turn(task, interrupt=stop, material=material):
            if form == "stream":
                _print_event(said)
            if isinstance(said, Message):
                messages.append(said)
            if isinstance(said, Ended):
                ended = said
            if not isinstance(said, Run):
                display.show(said)
    return tuple(messages), ended


def _material(given: str, room: int | None) -> Message | None:
    """What was piped in, marked as data: its words are no orders of the person. Too much of it loses its middle."""
    if not given.strip():
        return None
    mark = mark_for((given,))
    body, left_out = shortened(given, (room or UNKNOWN_ROOM_TOKENS) // 2, mark=mark)
    if left_out:
        _say_notes((f"{left_out:,} characters in the middle of the input were left out: the model has no room.",))
    text = f"{notice('standard_input')}\n\n{quoted('standard input', body, mark=mark)}"
    return Message(Role.USER, (Text(text),), Trust.EXTERNAL, at=time.time(), origin=Origin.INSERTED)


def _report(session: str, messages: tuple[Message, ...], ended: Ended, form: Form) -> int:
    record = ended_record(session, messages, ended)
    if form == "stream":
        print_json_line({"event": "ended", **record})
    elif form == "json":
        print_json(record)
    elif not sys.stdout.isatty():
        answer = answer_of(messages, ended).rstrip()
        sys.stdout.write(f"{answer}\n" if answer else "")
    elif ended.report and ended.report.text:  # the words have been seen already, but for a report
        with closing(Screen(sys.stdout)) as screen:
            screen.write("\n")
            screen.markdown(answer_of(messages, ended))
    sys.stdout.flush()
    why = failure_words(ended)
    if why and form == "text":
        sys.stderr.write(f"{'Error: ' if ended.ending is Ending.FAILED else ''}{safe(why)}\n")
    if form == "text" and sys.stderr.isatty():
        words = (*spent_words(ended.spent), duration(ended.spent.seconds), f"session {session}")
        sys.stderr.write(f"\n\x1b[2m{' · '.join(words)}\x1b[0m\n")
    return exit_code(ended)


def _print_event(said: Said) -> None:
    if isinstance(said, Message):
        print_json_line({"event": "message", "message": {**msgspec.to_builtins(said), "trust": said.trust.label}})
    elif isinstance(said, Run):
        print_json_line({"event": "continued", "session": said.id})


def _tell(note: str) -> None:
    """A note while somebody waits for the answer: what moves on a terminal gives way."""
    sys.stderr.write("\r\x1b[K" if sys.stderr.isatty() else "")
    _say_notes((note,))


def _say_notes(notes: tuple[str, ...]) -> None:
    for note in notes:
        sys.stderr.write(f"Note: {safe(note)}\n")


def _ask(question: ApprovalQuestion) -> bool:
    rows = framed(question.text, shutil.get_terminal_size().columns)
    sys.stderr.write("\n".join((f"\r\x1b[K{shown(question.lead)}", *rows, "")))
    return answered(lambda: said_yes(question.prompt, sys.stderr))


class RunOptions(NamedTuple):
    """The options as they were given."""

    model: str
    folder: Path | None
    tools: str
    system: Path | None
    resumed: str
    latest: bool
    warm: str
    no_context: bool
    max_calls: int | None = None
    budget: tuple[str, ...] = ()


run_options = together(
    model_option,
    click.option(
        "--folder",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        help="Folder the agent works in. Default: the current folder.",
    ),
    click.option("--tools", default="", help="Tool sets to allow, separated by commas, such as files,terminal."),
    click.option("--system", type=click.Path(path_type=Path), help="File with your own instructions for the agent."),
    click.option("--resume", "resumed", default="", metavar="ID", help="Resume this session."),
    click.option("--continue", "latest", is_flag=True, help="Resume the latest session in this folder."),
    click.option("--warm", default="", metavar="NAME", help="Template to start from; auto picks one."),
    click.option("--no-context", is_flag=True, help="Do not read context files such as AGENTS.md."),
)
prompt_options = together(
    click.option(
        "--prompt", "is_prompt", is_flag=True, help="Print the prompt that the session would get, with sizes, and end."
    ),
    click.option("--date", "day", type=click.DateTime(["%Y-%m-%d"]), hidden=True, help="With --prompt: the date."),
)


def session_for(settings: Settings, given: RunOptions, *, interactive: bool) -> SessionRequest:
    """The session that is asked for: the settings, with what was given over them."""
    tools = tuple(name.strip() for name in given.tools.split(",") if name.strip())
    allowed = msgspec.structs.asdict(allowance_of(given.budget)) if given.budget else {}
    limits = {"model_calls": given.max_calls, **allowed}
    chosen = replace(
        settings,
        model=given.model or settings.model,
        tools=tools or settings.tools,
        prompt=settings.prompt.without("context_files") if given.no_context else settings.prompt,
        budget=replace(settings.budget, **{name: value for name, value in limits.items() if value is not None}),
    )
    if not chosen.model:
        from whet.cli.commands.config import expect_model

        expect_model(chosen)
    own = text_given(given.system, advice="Give a text file in UTF-8.") if given.system else ""
    return SessionRequest(
        RunRequest(chosen, RunPlace(given.folder), RunWords(own), interactive=interactive),
        resumed=given.resumed,
        latest=given.latest,
        template=given.warm,
        # What an agent types may be anybody's.
        trust=min(Trust.USER, trust_of(actor_of(os.environ))),
    )


def show_prompt(given: RunOptions, *, interactive: bool, day: datetime | None) -> int:
    """Print the prompt that a new session would get, in its three tiers, with the size of each part in tokens."""
    home = find_home(os.environ)
    chosen = load(home)
    here = given.folder or Path.cwd()
    provider, _, model = given.model.rpartition(":")
    setting = Circumstances(
        tools=words(given.tools),
        model=model,
        provider=provider,
        purpose="interactive" if interactive else "unattended",
        platform=chosen.prompt.platform,
        environments=environments(this_machine(os.environ)),
        enforcement=chosen.prompt.enforcement,
        project=name_of_project(here),
        folder=str(here),
    )
    project = project_of(here, chosen.trust.projects)
    where = None if given.no_context else ContextFolder(here, project, secret_values(os.environ))
    wanted = PromptRequest(
        setting,
        where,
        day.date() if day else date.today(),  # noqa: DTZ011 - the person's own day is meant
        memory="memory" in chosen.prompt.parts,
        profile="profile" in chosen.prompt.parts,
        sets=sets_within(setting.tools),
    )
    with opened(home) as database:
        prompt = assemble(gather(home, database, wanted))
    for warning in () if is_json() else prompt.warnings:
        click.echo(f"Warning: {plain(warning)}", err=True)
    said = (plain(said_of(project)),) if project else ()
    record = {
        **fields(prompt, "key", "stable", "context", "volatile"),
        "parts": [{**fields(part, "tier", "name", "tokens"), "trust": part.trust.label} for part in prompt.parts],
        "warnings": prompt.warnings,
        "trusted_project": str(project) if project else None,
    }
    return give(record, (*_prompt_lines(prompt), *said))


def _prompt_lines(prompt: Prompt) -> "Iterator[str | Table]":
    for tier in Tier:
        yield f"[dim]── {tier} ──[/]"
        yield from copied(getattr(prompt, tier) or "(nothing)")
        yield ""
    rows = [(str(part.tier), part.name, part.trust.label, f"{part.tokens:,}") for part in prompt.parts]
    rows.append(("", "all", "", f"{sum(part.tokens for part in prompt.parts):,}"))
    yield table(("tier", "part", "trust", "tokens"), rows, numbers=("tokens",))
    yield f"[dim]Key {prompt.key}[/]"


@json_command("chat", epilog="Example: whet chat --continue")
@run_options
@prompt_options
def chat_command(is_prompt: bool, day: datetime | None, **options: Any) -> int:
    """Talk to the agent. Ctrl-C stops a turn; press it twice to leave. /help lists the chat commands, and Alt-Enter
    starts a new line. A program gives `whet run --continue` one turn after the other.
    """
    if is_prompt:
        return show_prompt(RunOptions(**options), interactive=True, day=day)
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or is_json():
        raise WhetError("A conversation needs a terminal.", advice='Give one turn: whet run --continue "and then?"')
    home = find_home(os.environ)
    asked = session_for(load(home), RunOptions(**options), interactive=True)
    from whet.cli.chat.conversation import talk_on_terminal

    with opened(home) as database:
        return talk_on_terminal(home, database, asked)


CODES = (
    "Exit codes: 0 finished, 1 error in settings or options, 2 wrong usage, 3 the provider failed, 4 the budget "
    "ran out, 5 the model refused, 6 the agent reported failure, 7 the answer is empty or cut off, 130 "
    "interrupted."
)


@json_command(
    "run",
    epilog="Example: whet run 'Write a commit message for the staged changes'",
    help="Give the agent one task and print its answer. Piped input is material for the task, or the task itself"
    " if none is given; what is learned from it needs your approval. Progress goes to standard error."
    f"\n\n{CODES}",
)
@click.argument("task", nargs=-1)
@run_options
@click.option("--max-calls", type=click.IntRange(1), help="Maximum model calls per turn.")
@budget_option
@click.option("--stream-json", is_flag=True, help="Print each message as a line of JSON as it arrives.")
@prompt_options
def command(task: tuple[str, ...], stream_json: bool, is_prompt: bool, day: datetime | None, **options: Any) -> int:
    given = RunOptions(**options)
    if is_prompt:
        return show_prompt(given, interactive=False, day=day)
    home = find_home(os.environ)
    is_piped = sys.stdin is not None and not sys.stdin.isatty()
    piped = sys.stdin.buffer.read().decode(errors="replace") if is_piped else ""
    # What is not UTF-8 could be neither sent nor stored.
    words = " ".join(task).encode(errors="replace").decode()
    words, material = (words, piped) if task else (piped, "")
    if not words.strip():
        raise WhetError("No task given.", advice='Give one: whet run "list the files", or pipe it in.')
    asked = session_for(load(home), given, interactive=False)
    if not task:  # nobody knows who wrote it: it is carried out, and believed no more than other material
        asked = asked._replace(trust=Trust.EXTERNAL)

    form: Form = "stream" if stream_json else "json" if is_json() else "text"
    return perform(home, asked, words, material, form=form)
