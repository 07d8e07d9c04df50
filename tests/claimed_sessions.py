"""Sessions of one project on three days, and what a reader claims of the first two of them."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from conversations import agent, call, conversation, shell, user
from whet.lessons.claims import (
    CheckPlace,
    Claim,
    ClaimCarrier,
    ClaimCheck,
    ClaimOperation,
    ClaimSource,
    Quote,
    ReadBy,
    SessionRead,
)
from whet.sessions.transcripts import Message, Transcript
from whet.store import sessions
from whet.store.claims import keep_pass
from whet.store.database import Database
from whet.store.listing import Filters, list_sessions
from whet.store.rows import Provenance, prepare

DAY = 86_400.0
FIRST_DAY = 1_770_000_000.0
READER = ReadBy("opus")
ASKED = "please never push to main yourself"
CHECK = ClaimCheck(CheckPlace.COMMAND, r"\bnpm install", r"\bbun (add|install)")
INSTALL = Claim(
    ClaimOperation.NEW,
    "install",
    "Install packages with `bun add`, not with `npm install`.",
    "Before packages are installed",
    source=ClaimSource.RECOVERY,
    check=CHECK,
)
PUSH = Claim(
    ClaimOperation.NEW,
    "push",
    "Never push to main.",
    "When the work is done",
    source=ClaimSource.PERSON,
    carrier=ClaimCarrier.FILE,
)


def session(name: str, folder: Path | str, day: int, *, pad: int = 0) -> Transcript:
    """A session in which npm failed and bun worked, and in which the person asked not to push."""
    turns = (
        user(f"Install left-pad for {name}."),  # 0
        shell("npm install left-pad", f"npm error Unsupported URL Type workspace: {name}", error=True),  # 1, 2
        call("Read", {"file_path": f"{folder}/package.json"}, "{}"),  # 3, 4
        shell("bun add left-pad", "installed left-pad"),  # 5, 6
        agent("Installed, and pushed."),  # 7
        user(ASKED),  # 8
        agent("I will not."),  # 9
    )
    made = conversation(*turns, *(agent(f"Note {number}.") for number in range(pad)), native_id=name, source="codex")
    start = FIRST_DAY + day * DAY
    messages: list[Message] = [replace(each, at=start + 30.0 * place) for place, each in enumerate(made.messages)]
    return replace(made, messages=tuple(messages), folder=str(folder), started=start)


def keep_sessions(database: Database, transcripts: Sequence[Transcript]) -> list[SessionRead]:
    for each in transcripts:
        kept = Provenance(f"/{each.native_id}", each.started or 1.0, 2.0)
        sessions.keep(database, prepare(each), kept)
    stored = {each.id: each for each in list_sessions(database, Filters(), limit=10_000)}
    return [SessionRead(each.id, stored[each.id].head, stored[each.id].message_count) for each in transcripts]


def claim_of(read: Sequence[SessionRead], claim: Claim, message: int, words: str) -> Claim:
    return replace(claim, quotes=tuple(Quote(each.session, message, words) for each in read))


def claimed(read: Sequence[SessionRead]) -> tuple[Claim, ...]:
    """Two claims, each with a quote from every one of these sessions."""
    return (
        claim_of(read, INSTALL, 1, "npm install left-pad"),
        claim_of(read, PUSH, 8, "never push to main"),
    )


def keep_claimed(database: Database, project: str, read: Sequence[SessionRead], *, at: float = FIRST_DAY) -> None:
    assert keep_pass(database, project, read, claimed(read), reader=READER, now=at)
