"""How a conversation begins: on a terminal, or line by line from a pipe."""

import os
import sys
from contextlib import closing
from typing import Any

import msgspec

from whet.agent.session import SessionRequest, Talk
from whet.cli.chat.conversation import Conversation
from whet.cli.chat.inline import BOLD, DIM
from whet.cli.chat.inputs import Piped, Typed
from whet.cli.chat.interrupts import interruptible
from whet.cli.chat.screen import Screen
from whet.cli.chat.slash import COMMANDS
from whet.cli.shown.endings import FINISHED, ended_record, exit_code
from whet.runs.run import Ended
from whet.secrets.redactor import secret_values
from whet.sessions.transcripts import Message
from whet.store.database import Database
from whet.store.home import Home
from whet.text.characters import safe


def talk_on_terminal(home: Home, database: Database, asked: SessionRequest) -> int:
    with Screen(sys.stdout) as screen:
        asking: list[Conversation] = []
        talk = Talk(
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


def talk_in_lines(home: Home, database: Database, asked: SessionRequest, *, as_json: bool) -> int:
    """Each line of standard input is a turn; with `as_json` each answer is a line of JSON."""
    source = Piped(sys.stdin.buffer)
    with Screen(sys.stdout) as screen, closing(Talk(home, database, asked, tell=_note)) as talk:
        for note in talk.notes:
            _note(note)
        if not as_json:
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


def _answered(talk: Talk, text: str) -> tuple[dict[str, Any], int]:
    messages: list[Message] = []
    code, ended = FINISHED, None
    with interruptible() as stop:
        for said in talk.turn(text, interrupt=stop):
            if isinstance(said, Message):
                messages.append(said)
            elif isinstance(said, Ended):
                code, ended = exit_code(said), said
    return (ended_record(talk.run.id, tuple(messages), ended) if ended else {}), code
