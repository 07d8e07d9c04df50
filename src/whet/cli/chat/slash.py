"""Commands within a conversation: what Whet knows and learned, what it cost, and the way back."""

import re
import time
from collections.abc import Callable
from typing import NamedTuple

from whet.changes import apply
from whet.cli.chat.screen import cut
from whet.errors import WhetError
from whet.ledger.entries import Actor, Change, Entry, State, Step
from whet.ledger.traces import is_last
from whet.own.runs.run import Spent
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger, ledger_of
from whet.store.memory_files import NAMES, MemoryFolder, load
from whet.store.skill_files import list_skills
from whet.store.template_files import list_templates
from whet.text.characters import safe
from whet.text.showing import shown
from whet.text.words import many

COMMAND = re.compile(r"/([a-z?]+)(?:\s+(.*))?", re.DOTALL)
SHOWN = 10
LEARNING = frozenset({Step.APPLIED, Step.CANARY})
KEYS = (
    "Enter sends; Alt-Enter, Ctrl-J or a \\ at the end starts a new line.",
    "Ctrl-C stops the turn; press it twice to leave. Ctrl-D leaves.",
)


class ChatStanding(NamedTuple):
    """Where a conversation stands when a command is typed."""

    home: Home
    database: Database
    model: str
    session: str
    spent: Spent
    width: int = 100


class Reaction(NamedTuple):
    """What a command says, and what changes by it."""

    lines: tuple[str, ...] = ()
    model: str = ""  # the one to talk to from now on
    template: str = ""  # the one to begin with
    leaves: bool = False


class Slash(NamedTuple):
    """One command of a conversation."""

    name: str
    summary: str
    respond: Callable[[ChatStanding, str], Reaction]


def is_command(text: str) -> bool:
    """Whether a turn is a command and not words that begin with a path."""
    return COMMAND.fullmatch(text.strip()) is not None


def respond(text: str, standing: ChatStanding) -> Reaction:
    """Carry a command out; an unknown one, or one that cannot be, gives advice and changes nothing."""
    found = COMMAND.fullmatch(text.strip())
    name, argument = (found[1], (found[2] or "").strip()) if found else ("", "")
    slash = next((each for each in COMMANDS if name in (each.name, ALIASES.get(each.name, each.name))), None)
    if slash is None:
        return Reaction((_unknown(name),))
    try:
        return slash.respond(standing, argument)
    except WhetError as error:
        return Reaction(tuple(safe(line) for line in (error.message, error.advice) if line))


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [each.name for each in COMMANDS], n=1)
    meant = f" Did you mean /{near[0]}?" if near else ""
    return f"There is no command /{name}.{meant} To list the commands, type /help."


def _help(standing: ChatStanding, argument: str) -> Reaction:  # noqa: ARG001 - all commands are called alike
    width = max(len(each.name) for each in COMMANDS)
    return Reaction((*(f"/{each.name:<{width}}  {each.summary}" for each in COMMANDS), *KEYS))


def _undo(standing: ChatStanding, argument: str) -> Reaction:  # noqa: ARG001
    """Take back the last thing that Whet learned by itself, with all that it learned together with it."""
    own = _learned(ledger_of(standing.home, standing.database))
    if not own:
        return Reaction(
            ("Whet has learned nothing that can be undone. To undo your own changes, run `whet ledger undo`.",)
        )
    last = own[-1]
    together = [each for each in own if each is last or (each.batch and each.batch == last.batch)]
    made = [
        apply.revert(standing.home, standing.database, each.number, actor=Actor.PERSON, now=time.time())
        for each in reversed(together)
    ]
    return Reaction(tuple(f"Undone: {_named(entry)}." for entry in made))


def _learned(ledger: Ledger) -> list[Change]:
    """The changes that nobody but Whet decided on and that still stand, the newest last."""
    state = ledger.state()
    own = {entry.number for entry in ledger.entries() if entry.actor is not Actor.PERSON and entry.step in LEARNING}
    return [change for change in state.done if change.number in own and is_last(state, change)]


def _named(entry: Entry) -> str:
    return f"{entry.patch.form} {safe(entry.patch.name)}"


def _list_learned(standing: ChatStanding, argument: str) -> Reaction:  # noqa: ARG001
    ledger = ledger_of(standing.home, standing.database)
    own, state = _learned(ledger), ledger.state()
    if not own and not state.pending:
        return Reaction(("Whet has learned nothing yet.",))
    lines = [_line(ledger.entry(change.number), change, standing.width) for change in own[::-1][:SHOWN]]
    more = [f"… and {len(own) - SHOWN} more: whet ledger"] if len(own) > SHOWN else []
    return Reaction((*lines, *more, *_waiting(state), *(["To undo the newest, type /undo."] if own else [])))


def _line(entry: Entry, change: Change, width: int) -> str:
    words = shown(change.after.text) if change.after else "removed"
    return cut(f"{entry.number:>4}  {_named(entry)}: {words}", width)


def _waiting(state: State) -> tuple[str, ...]:
    number = len(state.pending)
    return (
        (f"{many(number, 'change')} {'needs' if number == 1 else 'need'} your approval: whet lessons --waiting",)
        if number
        else ()
    )


def _model(standing: ChatStanding, argument: str) -> Reaction:
    if not argument:
        return Reaction((f"{standing.model}. To change it, type /model provider:name.",))
    return Reaction(model=argument)


def _skills(standing: ChatStanding, argument: str) -> Reaction:  # noqa: ARG001
    found = [each for each in list_skills(standing.home.folder) if each.skill]
    if not found:
        return Reaction(("No skills yet. To create one, run `whet skills create`.",))
    return Reaction(
        tuple(cut(f"{each.name}: {shown(each.skill.description)}", standing.width) for each in found if each.skill)
    )


def _memory(standing: ChatStanding, argument: str) -> Reaction:  # noqa: ARG001
    lines = [
        cut(f"{name}: {shown(note.text)}", standing.width)
        for name in NAMES
        for note in load(MemoryFolder(standing.home.folder), name).notes
    ]
    return Reaction(tuple(lines) or ("No notes yet. To add one, run `whet memory add`.",))


def _warm(standing: ChatStanding, argument: str) -> Reaction:
    if argument:
        return Reaction(template=argument)
    found = [each for each in list_templates(standing.home.folder) if each.template]
    if not found:
        return Reaction(("No templates yet. To create one from your sessions, run `whet templates create`.",))
    lines = [cut(f"{each.name}: {shown(each.template.description)}", standing.width) for each in found if each.template]
    return Reaction((*lines, "To start from one, type /warm NAME, or /warm auto to let Whet choose."))


def _cost(standing: ChatStanding, argument: str) -> Reaction:  # noqa: ARG001
    spent = standing.spent
    share = f" ({100 * spent.cached / spent.input:.0f} % cached)" if spent.input else ""
    money = f"${spent.dollars:.4f}" if spent.dollars is not None else "price unknown"
    tokens = f"{spent.input:,} tokens in{share}, {spent.output:,} out"
    return Reaction((f"{many(spent.model_calls, 'model call')}, {tokens}, {money}. Session {standing.session}.",))


def _quit(standing: ChatStanding, argument: str) -> Reaction:  # noqa: ARG001
    return Reaction(leaves=True)


COMMANDS = (
    Slash("help", "List the commands.", _help),
    Slash("undo", "Undo the last thing that Whet learned; repeat for the one before.", _undo),
    Slash("learned", "List what Whet learned by itself, newest first.", _list_learned),
    Slash("model", "Show the model; /model provider:name changes it.", _model),
    Slash("skills", "List the skills that the agent can read.", _skills),
    Slash("memory", "List the notes that the agent gets.", _memory),
    Slash("warm", "List the templates; /warm NAME starts from one.", _warm),
    Slash("cost", "Show the cost of this conversation so far.", _cost),
    Slash("quit", "Leave.", _quit),
)
ALIASES = {"quit": "exit", "help": "?"}
