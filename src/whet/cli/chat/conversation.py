"""A conversation on a terminal or a pipe: how it begins, and turn after turn until the person leaves."""

import os
import subprocess
import sys
import time
from contextlib import closing
from typing import Any

import msgspec

from whet.agent.session import OpenSession, SessionRequest
from whet.agent.tools.situation import ApprovalQuestion
from whet.cli.chat.display import RED, YELLOW, Display
from whet.cli.chat.endings import FINISHED, INTERRUPTED, duration, ended_record, exit_code, failure_words, spent_words
from whet.cli.chat.inputs import Input, Piped, Typed, answered, interruptible
from whet.cli.chat.screen import BOLD, DIM, Screen, cut, drawn
from whet.cli.chat.slash import COMMANDS, ChatStanding, Reaction, is_command, respond
from whet.cli.output import is_json
from whet.errors import WhetError
from whet.improving.reviews_begun import news, reviews_of
from whet.own.runs.run import Ended, Run, Spent
from whet.own.runs.settings import Review
from whet.own.told.review_when import Reviewed, ReviewKind, count, due
from whet.secrets.redactor import secret_values
from whet.sessions.transcripts import Ending, Message, Origin, Role, session_id
from whet.store.database import Database
from whet.store.home import Home
from whet.store.recording import SOURCE
from whet.text.characters import safe
from whet.text.showing import framed, shown

DID_NOT_RUN = "A review failed before it began. To see why, run `whet worker list`."
PROGRAM = "from whet.cli.main import main; main()"


class Reviews:
    """What a conversation has had reviewed. The next turn never waits for a review: it outruns it."""

    def __init__(self, talk: OpenSession, settings: Review) -> None:
        self._talk = talk
        self._settings = settings
        self._begun: dict[str, list[Reviewed]] = {}
        self._faults: list[str] = []
        self._at_work: list[subprocess.Popen[bytes]] = []
        self._told_until = time.time()

    def after(self, ended: Ended) -> None:
        """Begin the review that a finished turn calls for, if it does and no other is at work."""
        run = self._talk.run
        begun = self._begun.setdefault(run.id, [])
        known = (*reviews_of(self._talk.database, session_id(SOURCE, run.id)), *begun)
        tools = (definition.name for definition in run.shown)
        kind = due(count(run.messages, known), ended.ending, self._settings, tools)
        if kind is not None:
            begun.append(Reviewed(kind, len(run.messages)))
            self._start(kind)

    def news(self) -> tuple[str, ...]:
        """What reviews have learned since this was last asked: a line for each that learned anything or failed."""
        since, self._told_until = self._told_until, time.time()
        lines, self._faults = self._faults, []
        lines += [DID_NOT_RUN for process in self._at_work if process.poll()]
        self._at_work = [process for process in self._at_work if process.returncode is None]
        for run in self._begun:
            lines += news(self._talk.home, self._talk.database, session_id(SOURCE, run), since=since)
        return tuple(lines)

    def _start(self, kind: ReviewKind) -> None:
        """In a process that outlives this one. Should it not get far, the next worker finds what it queued."""
        run = self._talk.run
        command = [sys.executable, "-c", PROGRAM, "learn", "--review", run.id, "--kind", kind.value, "--background"]
        model = self._settings.model or self._talk.model
        try:
            begun = subprocess.Popen(
                [*command, "--work", "--with", model],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._at_work.append(begun)
        except OSError as error:
            self._faults.append(
                f"The review did not start: {error}. To start it yourself, run `whet learn --review {run.id}`."
            )


RECAPPED = 4


class Conversation:
    """The person's side of a talk: what is typed goes to the agent or to Whet itself, what comes back is shown."""

    def __init__(self, talk: OpenSession, screen: Screen, *, review: Review | None = None) -> None:
        self._talk = talk
        self._reviews = Reviews(talk, review) if review else None
        self._screen = screen
        self._display = Display(screen, screen)
        self._input: Input | None = None
        self._code = FINISHED
        self.spent = Spent()

    def go(self, source: Input) -> int:
        """Take turns until the person leaves; gives the exit code."""
        self._input = source
        try:
            return self._take_turns(source)
        except KeyboardInterrupt:
            return INTERRUPTED

    def _take_turns(self, source: Input) -> int:
        tired = False  # whether Ctrl-C was pressed at the prompt already
        while True:
            self._tell_news()
            try:
                text = source.read()
            except KeyboardInterrupt:
                if tired:
                    return INTERRUPTED
                tired = True
                self._screen.line("To leave, press Ctrl-C again, press Ctrl-D, or type /quit.", DIM)
                continue
            tired = False
            if text is None:  # a script wants to know how the last turn ended, a person knows
                return FINISHED if self._screen.is_terminal else self._code
            if not text.strip():
                continue
            if is_command(text):
                if self._command(text):
                    return FINISHED
            elif not self._turn(text):
                return INTERRUPTED

    def _tell_news(self) -> None:
        """What reviews have learned meanwhile, before the person is asked for the next words."""
        for line in self._reviews.news() if self._reviews else ():
            self._screen.line(safe(line), DIM)

    def ask(self, question: ApprovalQuestion) -> bool:
        """Ask whether a call may be carried out. Ctrl-C is a no, and stops the turn."""
        source = self._input
        if source is None:
            return False
        self._screen.line(shown(question.lead), YELLOW)
        for row in framed(question.text, self._screen.width):
            self._screen.line(row)
        return answered(lambda: source.confirm(question.prompt))

    def status(self) -> str:
        """The line below the prompt: model, tokens, cost."""
        return " · ".join((self._talk.model, *spent_words(self.spent)))

    def recap(self) -> None:
        """The last messages of a conversation that goes on."""
        said = [message for message in self._talk.run.messages if message.origin is Origin.TURN and message.text]
        spoken = [message for message in said if message.role in (Role.USER, Role.AGENT)]
        if len(spoken) > RECAPPED:
            self._screen.line(f"… {len(spoken) - RECAPPED} earlier messages", DIM)
        for message in spoken[-RECAPPED:]:
            _show_again(message, self._screen)

    def _command(self, text: str) -> bool:
        """Carry a command out; gives whether the person leaves."""
        standing = ChatStanding(
            self._talk.home,
            self._talk.database,
            self._talk.model,
            self._talk.run.id,
            self.spent,
            self._screen.width,
        )
        reaction = respond(text, standing)
        for line in (*reaction.lines, *self._changed(reaction)):
            self._screen.line(line)
        return reaction.leaves

    def _changed(self, reaction: Reaction) -> tuple[str, ...]:
        """Make the changes to the talk that a command asks for, and say what became of them."""
        try:
            if reaction.model:
                self._talk.change_model(reaction.model)
                return (f"Now talking to {self._talk.model}.",)
            if reaction.template:
                self._talk.begin_with(reaction.template)
                return (f"The session starts from the template {safe(reaction.template)}.",)
        except WhetError as error:
            return (safe(error.message), safe(error.advice))
        return ()

    def _turn(self, text: str) -> bool:
        """One turn of the agent; gives False where the person left in the middle of it."""
        self._display.wait()
        ended: Ended | None = None
        try:
            with interruptible() as stop:
                for said in self._talk.turn(text, interrupt=stop):
                    if not isinstance(said, Run):
                        self._display.show(said)
                    ended = said if isinstance(said, Ended) else ended
        except KeyboardInterrupt:
            self._screen.line("Left before the turn had stopped. To resume, run `whet chat --continue`.", DIM)
            return False
        if ended is not None:
            self._close(ended)
            if self._reviews is not None:
                self._reviews.after(ended)
        return True

    def _close(self, ended: Ended) -> None:
        self.spent = added(self.spent, ended.spent)
        self._code = exit_code(ended)
        if ended.ending is Ending.INTERRUPTED:
            self._screen.line("Stopped. What should the agent do instead?", YELLOW)
        elif ended.ending is not Ending.FINISHED:
            self._screen.line(safe(failure_words(ended)), RED)
        if ended.report is not None and ended.report.text:
            self._screen.write(drawn(ended.report.text, self._screen))
        if self._screen.is_terminal:
            self._screen.line()
            words = (*spent_words(ended.spent), duration(ended.spent.seconds))
            self._screen.line(" · ".join(words), DIM)


def added(one: Spent, other: Spent) -> Spent:
    """What two runs cost together."""
    known = [each for each in (one.dollars, other.dollars) if each is not None]
    return Spent(
        one.model_calls + other.model_calls,
        one.input + other.input,
        one.output + other.output,
        one.cached + other.cached,
        one.seconds + other.seconds,
        sum(known) if known else None,
    )


def _show_again(message: Message, screen: Screen) -> None:
    if message.role is Role.USER:
        screen.line(cut(f"› {safe(message.text)}", screen.width - 1), DIM)
    else:
        screen.write(drawn(message.text, screen))


def talk_on_terminal(home: Home, database: Database, asked: SessionRequest) -> int:
    with Screen(sys.stdout) as screen:
        asking: list[Conversation] = []
        talk = OpenSession(
            home,
            database,
            asked,
            ask=lambda question: asking[0].ask(question),
            tell=lambda note: screen.line(safe(note), DIM),
        )
        with closing(talk):
            conversation = Conversation(talk, screen, review=asked.run.settings.review)
            asking.append(conversation)
            screen.line(safe(f"Whet · {talk.model} · {talk.folder}"), BOLD)
            screen.line("/help lists the commands; Ctrl-C stops a turn, Ctrl-D leaves.", DIM)
            for note in talk.notes:
                screen.line(safe(note), DIM)
            conversation.recap()
            source = Typed(
                home.folder,
                names=[f"/{each.name}" for each in COMMANDS],
                status=conversation.status,
                secrets=secret_values(os.environ),
            )
            code = conversation.go(source)
            if talk.run.messages:
                screen.line(f"To resume: whet chat --resume {talk.run.id}", DIM)
            return code


def talk_in_lines(home: Home, database: Database, asked: SessionRequest) -> int:
    """Each line of standard input is a turn; with --json each answer is a line of JSON."""
    source = Piped(sys.stdin.buffer)
    with Screen(sys.stdout) as screen, closing(OpenSession(home, database, asked, tell=_note)) as talk:
        for note in talk.notes:
            _note(note)
        if not is_json():
            return Conversation(talk, screen, review=asked.run.settings.review).go(source)
        code = FINISHED
        while (text := source.read()) is not None:
            if text.strip():
                record, code = _answered(talk, text)
                sys.stdout.buffer.write(msgspec.json.encode(record) + b"\n")
                sys.stdout.buffer.flush()
        return code


def _note(note: str) -> None:
    """Beside the answers, which a program may read."""
    sys.stderr.write(f"Note: {safe(note)}\n")


def _answered(talk: OpenSession, text: str) -> tuple[dict[str, Any], int]:
    messages: list[Message] = []
    code, ended = FINISHED, None
    with interruptible() as stop:
        for said in talk.turn(text, interrupt=stop):
            if isinstance(said, Message):
                messages.append(said)
            elif isinstance(said, Ended):
                code, ended = exit_code(said), said
    return (ended_record(talk.run.id, tuple(messages), ended) if ended else {}), code
