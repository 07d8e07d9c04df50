"""What a person types on a terminal: several lines, with history."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TextIO

import msgspec

from whet.secrets.redactor import Redactor

if TYPE_CHECKING:
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

PROMPT = "› "
CONTINUATION = "  "
FILE_NAME = "chat_history"


@contextlib.contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets. The second raises KeyboardInterrupt, wherever the program is."""
    stop = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the form of a signal handler
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def answered(ask: Callable[[], bool]) -> bool:
    """Ask in the middle of a turn. Ctrl-C is a no, and asks the agent to stop; elsewhere than before a person, no."""
    if threading.current_thread() is not threading.main_thread():
        return False
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return ask()
    except KeyboardInterrupt:
        pass  # which only leaves the question: the handler of the turn is told below
    finally:
        signal.signal(signal.SIGINT, before)
    signal.raise_signal(signal.SIGINT)
    return False


class Typed:
    """Turns from a terminal. Enter sends; Alt-Enter, Ctrl-J or a backslash at the end begins another line."""

    def __init__(
        self, folder: Path, *, names: Sequence[str], status: Callable[[], str], secrets: tuple[str, ...] = ()
    ) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter
        from prompt_toolkit.history import History
        from prompt_toolkit.styles import Style

        class KeptInput(History):
            def load_history_strings(self) -> Iterator[str]:
                yield from reversed(typed_before(folder))

            def store_string(self, string: str) -> None:
                remember(folder, string, secrets=secrets)

        self._session: PromptSession[str] = PromptSession(
            history=KeptInput(),
            multiline=True,
            key_bindings=_bindings(),
            prompt_continuation=CONTINUATION,
            bottom_toolbar=lambda: f" {status()}",
            completer=WordCompleter(list(names), sentence=True),
            complete_while_typing=False,
            enable_open_in_editor=True,
            reserve_space_for_menu=0,
            style=Style.from_dict({"bottom-toolbar": "noreverse fg:ansibrightblack", "prompt": "bold ansicyan"}),
        )

    def read(self) -> str | None:
        """The next turn, or None at the end. Raises KeyboardInterrupt for Ctrl-C on an empty line."""
        from prompt_toolkit.application import get_app

        early = threading.Event()  # Ctrl-C before the prompt takes the keys, which must not break its start

        def heed() -> None:
            if early.is_set():
                get_app().exit(exception=KeyboardInterrupt())

        before = signal.signal(signal.SIGINT, lambda *_: early.set())
        try:
            return self._session.prompt([("class:prompt", PROMPT)], pre_run=heed)
        except EOFError:
            return None
        finally:
            signal.signal(signal.SIGINT, before)


def said_yes(question: str, stream: TextIO) -> bool:
    """Ask on this stream; what is not a clear yes is a no."""
    stream.write(f"{question} [y/N] ")
    stream.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _bindings() -> "KeyBindings":
    from prompt_toolkit.key_binding import KeyBindings

    bindings = KeyBindings()

    @bindings.add("enter")
    def _send(event: "KeyPressEvent") -> None:
        buffer = event.current_buffer
        if buffer.document.text_before_cursor.endswith("\\") and not buffer.document.text_after_cursor.strip():
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        elif buffer.text.strip():
            buffer.validate_and_handle()

    @bindings.add("escape", "enter")
    @bindings.add("c-j")
    def _another_line(event: "KeyPressEvent") -> None:
        event.current_buffer.insert_text("\n")

    @bindings.add("c-c")
    def _clear_or_leave(event: "KeyPressEvent") -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt(), style="class:aborting")

    return bindings


def typed_before(folder: Path) -> list[str]:
    """What was typed, the oldest first; a line that a crash cut short is left out."""
    path, found = folder / FILE_NAME, []
    for line in path.read_bytes().split(b"\n") if path.exists() else ():
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
            found.append(msgspec.json.decode(line, type=str))
    return found


def remember(folder: Path, text: str, *, secrets: tuple[str, ...] = ()) -> None:
    """Add what was typed."""
    line = msgspec.json.encode(Redactor(secrets).text(text)) + b"\n"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    with os.fdopen(os.open(folder / FILE_NAME, flags, 0o600), "ab") as file:
        file.write(line)
