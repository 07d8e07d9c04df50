"""Aider: one Markdown file a repository, with every session ever held there, to which the program appends.

A line marks each start of the program; the person's words stand behind `#### `, its own output behind `> `, and the
model's answer between blank lines, as it is. It ends the first two kinds with two blanks, which tells them from a
heading or a quotation in an answer. The file gives the time of a session's start and of nothing else, in the zone of
its machine, which it does not name: it is taken as UTC. Edits and commands have no ids; each is told by what Aider
prints of it after the answer that asked for it. What a command printed is not in the file.
"""

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

import msgspec

from whet.agents.formats import content
from whet.agents.formats.content import AgentTurn, gathered
from whet.agents.formats.source import Format, Source, Unreadable
from whet.sessions import transcripts
from whet.sessions.transcripts import Disposition, Ending, Message, Origin, Role, Text, Thought, ToolCall, Transcript
from whet.sessions.trust import Trust
from whet.text import fields

VERSION = re.compile(r"Aider v(\S+)$")
MODEL = re.compile(r"(Main model|Model|Editor model): (\S+)")
TOKENS = re.compile(
    r"Tokens: (?P<sent>[\d.,]+[kM]?) sent(?:, (?P<written>[\d.,]+[kM]?) cache write)?"
    r"(?:, (?P<cached>[\d.,]+[kM]?) cache hit)?, (?P<received>[\d.,]+[kM]?) received\."
    r"(?: Cost: \$(?P<cost>[\d.]+) (?:message|request|send))?"
)
OLD_TOKENS = re.compile(
    r"(?P<sent>\d+) prompt tokens, (?P<received>\d+) completion tokens(?:, \$(?P<cost>[\d.]+) cost)?$"
)
APPLIED = re.compile(r"Applied edit to (.+)$")
SKIPPED = re.compile(r"Skipping edits to (.+)$")
MISFORMED = re.compile(r"The LLM did not conform to the edit format\.")
NO_MATCH = re.compile(r"## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in (.+)$")
FOLDER = re.compile(r"Git working dir: (.+)$")
GAVE_UP = re.compile(r"Only \d+ reflections allowed, stopping\.")
QUESTION, ANSWER = "(Y)es/(N)o", re.compile(r"\]: ?\w{0,10}$")
RUN = re.compile(r"Run shell commands?\? .*\]: ?(\w*)$")
PLAN_TAKEN = re.compile(r"Edit the files\? .*\]: ?[ya]\w*$")
STOPPED = "^C again to exit"
BLANK = "<blank>"
# Commands whose argument is a message to the model; Aider writes the message again, as if it was typed once more.
TALK = re.compile(r"/(?:ask|code|architect|context|chat-mode \w+)\s+(.+)$", re.DOTALL)
COMMANDS = ("/", "!")
THINKING = re.compile(r"-{6,}\n► \*\*THINKING\*\*\n(.*?)\n-{6,}\n► \*\*ANSWER\*\*\n", re.DOTALL)
SCALE = {"k": 1_000, "M": 1_000_000}

START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")

NAME = "aider"
FILE = ".aider.chat.history.md"
SNIFFED_LINES = 20
ID_BYTES = 4


def is_question(words: str) -> bool:
    """Whether this is a question of Aider's with the answer that stands for all of its kind."""
    return QUESTION in words and ANSWER.search(words) is not None


def count(number: str | None) -> int:
    """A number of tokens, rounded as Aider rounds it."""
    digits = (number or "0").replace(",", "")
    scale = SCALE.get(digits[-1:], 1)
    try:
        return int(float(digits.rstrip("kM")) * scale)
    except ValueError:
        return 0


def dollars(amount: str | None) -> float | None:
    """The price of one answer, where the program knows the model's."""
    try:
        return float(amount) if amount else None
    except ValueError:
        return None


SAID, OUTPUT, MARK = "#### ", "> ", "  "


class BlockKind(Enum):
    """Whose a block is."""

    START = auto()  # a new session; its text is when it began
    SAID = auto()  # what the person typed
    OUTPUT = auto()  # one thing that Aider printed
    ANSWER = auto()  # what the model answered


class HistoryBlock(NamedTuple):
    """Lines that belong together, without their marks."""

    kind: BlockKind
    text: str


def blocks(lines: Iterable[str]) -> Iterator[HistoryBlock]:
    """The blocks of a history, in order; empty ones are left out."""
    kind, held, last = BlockKind.ANSWER, list[str](), ""
    for line in lines:
        found = _kind(line, kind, last)
        if found is not kind or (found is BlockKind.OUTPUT and line.startswith(OUTPUT)) or found is BlockKind.START:
            yield from _block(kind, held)
            kind, held = found, []
        held.append(line)
        last = line
    yield from _block(kind, held)


def _kind(line: str, kind: BlockKind, last: str) -> BlockKind:
    """Whose a line is, by its marks, and after output by the line before it."""
    if START.match(line):
        return BlockKind.START
    if line.startswith(SAID) and line.endswith(MARK):
        return BlockKind.SAID
    # A text of several lines has the marks before its first and behind its last, and blank lines between.
    is_open = kind is BlockKind.OUTPUT and (bool(line) or not last.endswith(MARK))
    if is_open or (line.startswith(OUTPUT) and line.endswith(MARK)):
        return BlockKind.OUTPUT
    return BlockKind.ANSWER


def _block(kind: BlockKind, held: list[str]) -> Iterator[HistoryBlock]:
    if kind is BlockKind.START:
        text = START.sub(r"\1", held[0])
    elif kind is BlockKind.SAID:
        text = "\n".join(line.removeprefix(SAID).removesuffix(MARK) for line in held).strip()
    elif kind is BlockKind.OUTPUT:
        text = "\n".join([held[0].removeprefix(OUTPUT), *held[1:]]).strip() if held else ""
    else:
        text = "\n".join(held).strip()
    if text:
        yield HistoryBlock(kind, text)


EDIT, SHELL = "edit_file", "shell"


@dataclass(slots=True)
class PrintedOutcome:
    """What Aider printed of one edit or command that an answer asked for."""

    call: ToolCall
    lines: list[str]
    error: bool | None = None
    disposition: Disposition | None = None


@dataclass(slots=True)
class AiderChat:
    """What has been read of a session."""

    started: str
    entries: list[AgentTurn | Message | PrintedOutcome] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)  # since the last entry
    turn: AgentTurn | None = None  # the latest answer, while nobody has spoken since
    open: PrintedOutcome | None = None  # the outcome that goes on in what is printed next
    first: str = ""  # what was typed first
    model: str = ""
    editor: str = ""
    version: str = ""
    folder: str = ""
    ending_detail: str = ""
    repeated: str = ""  # a message that Aider writes once more
    calls: int = 0
    is_marked: bool = False  # by the blanks that tell who spoke; an editor may have taken them away
    is_waiting: bool = False  # for an answer
    is_stopped: bool = False  # by the person, while it waited
    is_plan_taken: bool = False  # an architect's answer, which Aider then gives to the editor as if it was typed


def take(chat: AiderChat, block: HistoryBlock) -> None:
    """Add a block to its session."""
    chat.is_marked = chat.is_marked or block.kind is not BlockKind.ANSWER
    if block.kind is BlockKind.SAID:
        _take_said(chat, block.text)
    elif block.kind is BlockKind.OUTPUT:
        _take_output(chat, block.text)
    else:
        _take_answer(chat, block.text)


def finish(chat: AiderChat) -> tuple[Message, ...]:
    """The messages of a session that is over, or is as far as the file goes.

    The file lies in the repository, and may have come with it: what the agent says in it, anybody can have written.
    """
    _place_printed(chat)
    _place_interrupt(chat)
    found = gathered(
        content.answered(
            content.result(
                entry.call.id,
                "\n".join(entry.lines),
                tool=entry.call.name,
                error=entry.error,
                disposition=entry.disposition,
            )
        )
        if isinstance(entry, PrintedOutcome)
        else entry
        for entry in chat.entries
    )
    return tuple(msgspec.structs.replace(message, trust=min(message.trust, _most(message))) for message in found)


def _most(message: Message) -> Trust:
    return Trust.TOOL if message.role is Role.AGENT else message.trust


def ending(chat: AiderChat, messages: tuple[Message, ...]) -> Ending:
    if chat.ending_detail:
        return Ending.FAILED
    if any(message.origin is Origin.INTERRUPT for message in messages[-1:]):
        return Ending.INTERRUPTED
    has_answer = any(message.role is Role.AGENT for message in messages)
    return Ending.FINISHED if has_answer and not chat.is_waiting else Ending.UNKNOWN


def _take_said(chat: AiderChat, words: str) -> None:
    _place_printed(chat)
    _place_interrupt(chat)
    chat.turn, chat.open, chat.ending_detail = None, None, ""
    chat.first = chat.first or words
    repeated, chat.repeated = chat.repeated, ""
    if words == BLANK:
        return
    if chat.is_plan_taken or words == repeated:
        chat.is_waiting = True
        return
    if found := TALK.match(words):
        words = chat.repeated = found[1].strip()
    elif words.startswith(COMMANDS) or is_question(words):
        chat.entries.append(content.spoken(Role.USER, [Text(words)], origin=Origin.INSERTED))
        return
    chat.is_waiting = True
    chat.entries += content.said([Text(words)])


def _take_answer(chat: AiderChat, words: str) -> None:
    _place_printed(chat)
    chat.repeated, chat.ending_detail = "", ""
    model = chat.editor if chat.is_plan_taken and chat.editor else chat.model
    chat.turn, chat.open = AgentTurn(_parts(words), model=model), None
    chat.entries.append(chat.turn)
    chat.is_waiting = chat.is_plan_taken = False
    _place_interrupt(chat)


def _parts(words: str) -> list[transcripts.Part]:
    found = THINKING.match(words)
    if not found:
        return [Text(words)]
    parts: list[transcripts.Part] = [Thought(found[1].strip()), Text(words[found.end() :].strip())]
    return [part for part in parts if isinstance(part, Text | Thought) and part.text]


def _take_output(chat: AiderChat, words: str) -> None:
    _note_facts(chat, words)
    if words == STOPPED:
        chat.is_stopped = chat.is_stopped or chat.is_waiting
    elif _took_usage(chat, words):
        chat.open = None
    elif chat.turn is None or not _took_outcome(chat, chat.turn, words):
        chat.printed.append(words)


def _note_facts(chat: AiderChat, words: str) -> None:
    if found := VERSION.match(words):
        chat.version = found[1]
    elif found := MODEL.match(words):
        if found[1] == "Editor model":
            chat.editor = found[2]
        else:
            chat.model = found[2]
    elif found := FOLDER.match(words):
        chat.folder = found[1]
    elif PLAN_TAKEN.match(words):
        chat.is_plan_taken = True
    elif GAVE_UP.match(words):
        chat.ending_detail = words


def _took_usage(chat: AiderChat, words: str) -> bool:
    found = TOKENS.match(words) or OLD_TOKENS.match(words)
    if not found:
        return False
    given = found.groupdict()
    if chat.turn is not None and chat.turn.usage is None:
        chat.turn.usage = transcripts.Usage(
            input=count(given["sent"]),
            output=count(given["received"]),
            cached=count(given.get("cached")),
            cache_written=count(given.get("written")),
            cost_dollars=dollars(given["cost"]),
        )
    return True


def _took_outcome(chat: AiderChat, turn: AgentTurn, words: str) -> bool:
    """Whether a line tells of an edit or a command of the answer before it, or goes on with one."""
    if found := APPLIED.match(words):
        _add(chat, turn, EDIT, {"path": found[1]}, words).error = False
        chat.open = None
    elif found := SKIPPED.match(words):
        _add(chat, turn, EDIT, {"path": found[1]}, words).disposition = Disposition.REJECTED
        chat.open = None
    elif MISFORMED.match(words):
        _add(chat, turn, EDIT, {}, words).error = True
        chat.is_waiting = True  # Aider hands the fault to the model, which answers again
    elif (found := NO_MATCH.match(words)) and chat.open is not None and chat.open.error:
        _add_mismatch(chat, turn, chat.open, found[1], words)
    elif (found := RUN.match(words)) and chat.printed:
        _take_command(chat, turn, chat.printed.pop(), words, is_run=found[1].lower().startswith(("y", "a")))
    elif chat.open is not None and chat.open.error:
        chat.open.lines.append(words)
    else:
        return False
    return True


def _take_command(chat: AiderChat, turn: AgentTurn, command: str, words: str, *, is_run: bool) -> None:
    """A command that the answer proposed. What it printed is not recorded, so one that was run has no result."""
    if is_run:
        turn.parts.append(_call(chat, SHELL, {"command": command}))
        chat.printed.append(words)
    else:
        _add(chat, turn, SHELL, {"command": command}, words).disposition = Disposition.REJECTED
    chat.open = None


def _add_mismatch(chat: AiderChat, turn: AgentTurn, fault: PrintedOutcome, path: str, words: str) -> None:
    """A block that did not match names its file: the first one says what the fault was about."""
    if fault.call.arguments == "{}":
        named = ToolCall(fault.call.id, EDIT, fields.json_text({"path": path}))
        turn.parts[turn.parts.index(fault.call)] = named
        fault.call = named
        fault.lines.append(words)
    else:
        _add(chat, turn, EDIT, {"path": path}, words).error = True


def _add(chat: AiderChat, turn: AgentTurn, tool: str, arguments: dict[str, str], words: str) -> PrintedOutcome:
    call = _call(chat, tool, arguments)
    turn.parts.append(call)
    outcome = PrintedOutcome(call, [words])
    _place_printed(chat)
    chat.entries.append(outcome)
    chat.open = outcome
    return outcome


def _call(chat: AiderChat, tool: str, arguments: dict[str, str]) -> ToolCall:
    chat.calls += 1
    return ToolCall(f"{tool}-{chat.calls}", tool, fields.json_text(arguments))


def _place_printed(chat: AiderChat) -> None:
    if chat.printed:
        words = [Text("\n".join(chat.printed))]
        chat.entries.append(content.spoken(Role.USER, words, origin=Origin.INSERTED))
        chat.printed = []


def _place_interrupt(chat: AiderChat) -> None:
    if chat.is_stopped:
        chat.entries.append(content.spoken(Role.USER, [Text("^C")], origin=Origin.INTERRUPT))
        chat.is_stopped = False


def sniff(source: Source) -> bool:
    """Whether one of the first lines says that a chat began."""
    return source.kind == "other" and any(
        line.body is not None and START.match(_decoded(line.body))
        for line in itertools.islice(source.lines(), SNIFFED_LINES)
    )


def read(source: Source) -> Iterator[Transcript]:
    used = Counter[str]()
    for number, chat in enumerate(_chats(source)):
        if number >= source.limits.session_records:
            raise Unreadable(f"more than {source.limits.session_records:,} sessions")
        messages = finish(chat)
        if messages and not chat.is_marked:
            source.skip(f"{chat.started}: the blanks at the ends of its lines, which tell who spoke, are gone")
        elif any(message.origin is Origin.TURN for message in messages):  # else it was started and left
            yield _transcript(source, chat, messages, used)


def _chats(source: Source) -> Iterator[AiderChat]:
    chat: AiderChat | None = None
    for block in blocks(_lines(source)):
        if block.kind is BlockKind.START:
            if chat is not None:
                yield chat
            chat = AiderChat(block.text)
        elif chat is not None:
            take(chat, block)
    if chat is not None:
        yield chat


def _lines(source: Source) -> Iterator[str]:
    for number, body, complete in source.lines():
        if body is None:
            source.skip(f"line longer than {source.limits.line_bytes >> 20} MiB", number)
        elif not complete:
            source.skip("line not finished yet", number)
        else:
            yield _decoded(body)


def _decoded(body: bytes) -> str:
    return body.decode(errors="replace").removesuffix("\r")


def _transcript(source: Source, chat: AiderChat, messages: tuple[Message, ...], used: Counter[str]) -> Transcript:
    began = chat.started.replace(" ", "T")
    return Transcript(
        source=NAME,
        native_id=_identity(f"{began}-{hashlib.blake2b(chat.first.encode(), digest_size=ID_BYTES).hexdigest()}", used),
        messages=messages,
        model=next((message.model for message in messages if message.model), chat.model),
        folder=_folder(source, chat),
        version=chat.version,
        ending=ending(chat, messages),
        ending_detail=chat.ending_detail,
        started=fields.seconds(began),
        ended=fields.seconds(began),  # no later time is known
    )


def _folder(source: Source, chat: AiderChat) -> str:
    """Where the file lies, as that is where the repository does: one that came with it could name another project.

    A copy under another name, or one on standard input, lies anywhere.
    """
    here = "" if source.name == "-" else str(source.path.absolute().parent)
    return here if source.path.name == FILE else chat.folder or here


def _identity(wanted: str, used: Counter[str]) -> str:
    """When it began and what was said first: that stays while the file grows, and where it is moved."""
    used[wanted] += 1
    return wanted if used[wanted] == 1 else f"{wanted}-{used[wanted]}"


FORMAT = Format(NAME, "Aider", sniff, read, beside=(FILE,))
