"""A conversation on a terminal: how it begins, turn after turn, and the commands that Whet itself answers."""

import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import closing
from difflib import get_close_matches

from whet.agent.session import OpenSession, SessionRequest
from whet.agent.tools.situation import ApprovalQuestion
from whet.changes import apply
from whet.cli.chat.display import FINISHED, INTERRUPTED, RED, YELLOW, Display, duration, failure_words, spent_words
from whet.cli.chat.inputs import Typed, answered, interruptible, said_yes
from whet.cli.chat.screen import BOLD, DIM, Screen
from whet.cli.output import fitted
from whet.errors import WhetError
from whet.improving.reviews_begun import Reviews
from whet.ledger.entries import Actor, Change, Entry, Step
from whet.ledger.folding import is_last
from whet.own.runs.run import Ended, Run, Spent, together
from whet.own.runs.settings import Review
from whet.secrets.redactor import secret_values
from whet.sessions.transcripts import Ending, Origin, Role
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger, ledger_of
from whet.store.memory_files import NAMES, MemoryFolder, load
from whet.store.skill_files import list_skills
from whet.store.template_files import usable
from whet.text.characters import safe
from whet.text.showing import framed, shown
from whet.text.words import many

COMMAND = re.compile(r"/([a-z?]+)(?:\s+(.*))?", re.DOTALL)
SHOWN = 10
LEARNING = frozenset({Step.APPLIED, Step.CANARY})
KEYS = (
    "Enter sends; Alt-Enter, Ctrl-J or a \\ at the end starts a new line.",
    "Ctrl-C stops the turn; press it twice to leave. Ctrl-D leaves.",
)
Lines = tuple[str, ...] | None  # what a command says; None where the person leaves
RECAPPED = 4


class Conversation:
    """The person's side of a talk: what is typed goes to the agent or to Whet itself, what comes back is shown."""

    def __init__(self, talk: OpenSession, screen: Screen, review: Review) -> None:
        self.talk = talk
        self._reviews = Reviews(talk, review)
        self._screen = screen
        self._display = Display(screen, screen)
        self.spent = Spent()

    def go(self, source: Typed) -> int:
        """Take turns until the person leaves; gives the exit code."""
        tired = False  # whether Ctrl-C was pressed at the prompt already
        while True:
            for line in self._reviews.news():  # before the person is asked for the next words
                self._screen.line(safe(line), DIM)
            try:
                text = source.read()
            except KeyboardInterrupt:
                if tired:
                    return INTERRUPTED
                tired = True
                self._screen.line("To leave, press Ctrl-C again, press Ctrl-D, or type /quit.", DIM)
                continue
            tired = False
            if text is None:
                return FINISHED
            if not text.strip():
                continue
            if is_command(text):
                if self._respond(text):
                    return FINISHED
            elif not self._turn(text):
                return INTERRUPTED

    def ask(self, question: ApprovalQuestion) -> bool:
        """Ask whether a call may be carried out. Ctrl-C is a no, and stops the turn."""
        self._screen.line(shown(question.lead), YELLOW)
        for row in framed(question.text, self._screen.width):
            self._screen.line(row)
        return answered(lambda: said_yes(question.prompt, sys.stdout))

    def status(self) -> str:
        """The line below the prompt: model, tokens, cost."""
        return " · ".join((self.talk.model, *spent_words(self.spent)))

    def recap(self) -> None:
        """The last messages of a conversation that goes on."""
        said = [message for message in self.talk.run.messages if message.origin is Origin.TURN and message.text]
        spoken = [message for message in said if message.role in (Role.USER, Role.AGENT)]
        if len(spoken) > RECAPPED:
            self._screen.line(f"… {len(spoken) - RECAPPED} earlier messages", DIM)
        for message in spoken[-RECAPPED:]:
            if message.role is Role.USER:
                self._screen.line(fitted(" ".join(f"› {safe(message.text)}".split()), self._screen.width - 1), DIM)
            else:
                self._screen.markdown(message.text)

    def _respond(self, text: str) -> bool:
        """Carry a command out; gives whether the person leaves."""
        name, _, argument = text.strip().removeprefix("/").partition(" ")
        act = ACTS.get(ALIASES.get(name, name))
        try:
            lines = act(self, argument.strip()) if act else _unknown(name)
        except WhetError as error:
            lines = tuple(safe(line) for line in (error.message, error.advice) if line)
        for line in lines or ():
            self._screen.line(fitted(" ".join(line.split()), self._screen.width))
        return lines is None

    def _turn(self, text: str) -> bool:
        """One turn of the agent; gives False where the person left in the middle of it."""
        self._display.wait()
        ended: Ended | None = None
        try:
            with interruptible() as stop:
                for said in self.talk.turn(text, interrupt=stop):
                    if not isinstance(said, Run):
                        self._display.show(said)
                    ended = said if isinstance(said, Ended) else ended
        except KeyboardInterrupt:
            self._screen.line("Left before the turn had stopped. To resume, run `whet chat --continue`.", DIM)
            return False
        if ended is not None:
            self._close(ended)
            self._reviews.after(ended)
        return True

    def _close(self, ended: Ended) -> None:
        self.spent = together((self.spent, ended.spent))
        if ended.ending is Ending.INTERRUPTED:
            self._screen.line("Stopped. What should the agent do instead?", YELLOW)
        elif ended.ending is not Ending.FINISHED:
            self._screen.line(safe(failure_words(ended)), RED)
        if ended.report is not None and ended.report.text:
            self._screen.markdown(ended.report.text)
        self._screen.line()
        self._screen.line(" · ".join((*spent_words(ended.spent), duration(ended.spent.seconds))), DIM)


def talk_on_terminal(home: Home, database: Database, asked: SessionRequest) -> int:
    with closing(Screen(sys.stdout)) as screen:
        asking: list[Conversation] = []
        talk = OpenSession(
            home,
            database,
            asked,
            ask=lambda question: asking[0].ask(question),
            tell=lambda note: screen.line(safe(note), DIM),
        )
        with closing(talk):
            conversation = Conversation(talk, screen, asked.run.settings.review)
            asking.append(conversation)
            screen.line(safe(f"Whet · {talk.model} · {talk.folder}"), BOLD)
            screen.line("/help lists the commands; Ctrl-C stops a turn, Ctrl-D leaves.", DIM)
            for note in talk.notes:
                screen.line(safe(note), DIM)
            conversation.recap()
            source = Typed(
                home.folder,
                names=[f"/{name}" for name in ACTS],
                status=conversation.status,
                secrets=secret_values(os.environ),
            )
            try:
                code = conversation.go(source)
            except KeyboardInterrupt:
                code = INTERRUPTED
            if talk.run.messages:
                screen.line(f"To resume: whet chat --resume {talk.run.id}", DIM)
            return code


def is_command(text: str) -> bool:
    """Whether a turn is a command and not words that begin with a path."""
    return COMMAND.fullmatch(text.strip()) is not None


def _unknown(name: str) -> Lines:
    near = get_close_matches(name, ACTS, n=1)
    meant = f" Did you mean /{near[0]}?" if near else ""
    return (f"There is no command /{name}.{meant} To list the commands, type /help.",)


def _help(_chat: Conversation, _argument: str) -> Lines:
    """List the commands."""
    width = max(map(len, ACTS))
    return (*(f"/{name:<{width}}  {act.__doc__}" for name, act in ACTS.items()), *KEYS)


def _undo(chat: Conversation, _argument: str) -> Lines:
    """Undo the last thing that Whet learned, with all that came with it; repeat for the one before."""
    own = _learned(ledger_of(chat.talk.home, chat.talk.database))
    if not own:
        return ("Whet has learned nothing that can be undone. To undo your own changes, run `whet ledger undo`.",)
    last = own[-1]
    together = [each for each in own if each is last or (each.batch and each.batch == last.batch)]
    made = [
        apply.revert(chat.talk.home, chat.talk.database, each.number, actor=Actor.PERSON, now=time.time())
        for each in reversed(together)
    ]
    return tuple(f"Undone: {_named(entry)}." for entry in made)


def _list_learned(chat: Conversation, _argument: str) -> Lines:
    """List what Whet learned by itself, newest first."""
    ledger = ledger_of(chat.talk.home, chat.talk.database)
    own, waiting = _learned(ledger), len(ledger.state().pending)
    if not own and not waiting:
        return ("Whet has learned nothing yet.",)
    lines = [
        f"{each.number:>4}  {_named(ledger.entry(each.number))}: {shown(each.after.text) if each.after else 'removed'}"
        for each in own[::-1][:SHOWN]
    ]
    if len(own) > SHOWN:
        lines.append(f"… and {len(own) - SHOWN} more: whet ledger")
    if waiting:
        need = "needs" if waiting == 1 else "need"
        lines.append(f"{many(waiting, 'change')} {need} your approval: whet lessons --waiting")
    return (*lines, "To undo the newest, type /undo.") if own else tuple(lines)


def _model(chat: Conversation, argument: str) -> Lines:
    """Show the model; /model provider:name changes it."""
    if not argument:
        return (f"{chat.talk.model}. To change it, type /model provider:name.",)
    chat.talk.change_model(argument)
    return (f"Now talking to {chat.talk.model}.",)


def _skills(chat: Conversation, _argument: str) -> Lines:
    """List the skills that the agent can read."""
    found = (each.value for each in list_skills(chat.talk.home.folder) if each.value)
    lines = tuple(f"{skill.name}: {shown(skill.description)}" for skill in found)
    return lines or ("No skills yet. To create one, run `whet skills create`.",)


def _memory(chat: Conversation, _argument: str) -> Lines:
    """List the notes that the agent gets."""
    folder = MemoryFolder(chat.talk.home.folder)
    lines = tuple(f"{name}: {shown(note.text)}" for name in NAMES for note in load(folder, name).notes)
    return lines or ("No notes yet. To add one, run `whet memory add`.",)


def _warm(chat: Conversation, argument: str) -> Lines:
    """List the templates; /warm NAME starts from one."""
    if argument:
        chat.talk.begin_with(argument)
        return (f"The session starts from the template {safe(argument)}.",)
    lines = tuple(f"{each.name}: {shown(each.description)}" for each in usable(chat.talk.home.folder))
    if not lines:
        return ("No templates yet. To create one from your sessions, run `whet templates create`.",)
    return (*lines, "To start from one, type /warm NAME, or /warm auto to let Whet choose.")


def _cost(chat: Conversation, _argument: str) -> Lines:
    """Show the cost of this conversation so far."""
    calls = many(chat.spent.model_calls, "model call")
    return (f"{', '.join((calls, *spent_words(chat.spent)))}. Session {chat.talk.run.id}.",)


def _quit(_chat: Conversation, _argument: str) -> Lines:
    """Leave."""
    return None


def _learned(ledger: Ledger) -> list[Change]:
    """The changes that nobody but Whet decided on and that still stand, the newest last."""
    state = ledger.state()
    own = {entry.number for entry in ledger.entries() if entry.actor is not Actor.PERSON and entry.step in LEARNING}
    return [change for change in state.done if change.number in own and is_last(state, change)]


def _named(entry: Entry) -> str:
    return f"{entry.patch.form} {safe(entry.patch.name)}"


ACTS: dict[str, Callable[[Conversation, str], Lines]] = {
    "help": _help,
    "undo": _undo,
    "learned": _list_learned,
    "model": _model,
    "skills": _skills,
    "memory": _memory,
    "warm": _warm,
    "cost": _cost,
    "quit": _quit,
}
ALIASES = {"exit": "quit", "?": "help"}
