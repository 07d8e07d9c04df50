"""What a model proposes when it reviews conversations, by the cautious order and by the one that ships.

    python bench/review_stances.py WEIGHTS [--template FILE] [--threads N]      a local model
    python bench/review_stances.py --by-hand FOLDER                             whoever writes the answers (by_hand.py)
    either: [--pieces FILE] [--only NAME]... [--stance NAME]... [--orders NAME=FOLDER]... [--key FILE]

The conversations of `data/review_sessions.json` are written for this: four teach something, two do not. `--pieces` are
cut from files of Claude Code instead: a JSON object `{"NAME": ["FILE.jsonl.gz", FIRST LINE, LAST LINE]}`. Each is
reviewed in a home of its own, with the texts of its stance in `guidance/review`. By hand all wait at once, every other
conversation by the other stance first. `review_readers.py` makes the shuffled list for readers from the key.
"""

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock
from typing import Any, NamedTuple

from by_hand import MODEL, HandPlayed
from whet.agent.protocols import Chosen
from whet.agent.providers.choosing import provider_for
from whet.agents import claude_code
from whet.agents.formats.source import Source
from whet.changes import writing
from whet.changes.writing import Author
from whet.improving.review import RECORD_TOKENS, ReviewRequest, look_back
from whet.improving.reviews_begun import made_by
from whet.ledger.entries import Actor
from whet.ledger.patches import PatchOrigin
from whet.own.runs.settings import Endpoint, LocalModelSettings, ModelFacts, Settings
from whet.own.runs.shortening import plain_record
from whet.own.told.review_when import ReviewKind
from whet.sessions.transcripts import ToolResult
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.listing import find
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep, load

BENCH = Path(__file__).parent
CAUTIOUS = BENCH / "data" / "review_cautious"
STANDING_SKILL = "running-tests"  # that each home has before
SKILL = "Run `pytest test_MODULE.py`."
PATIENCE_SECONDS = 36_000.0


class Sitting(NamedTuple):
    """One conversation to be reviewed by one stance, whose texts stand in a folder (None: those that ship)."""

    name: str
    lines: list[dict[str, Any]]
    stance: str
    orders: Path | None


def main() -> None:
    given = asked()
    stances = {"cautious": CAUTIOUS, "active": None} | {
        name: Path(folder) for name, _, folder in (each.partition("=") for each in given.orders)
    }
    chosen = given.stance or ["cautious", "active"]
    sittings = [
        Sitting(name, lines, stance, stances[stance])
        for number, (name, lines) in enumerate(conversations(given.pieces))
        if not given.only or name in given.only
        for stance in chosen[:: 1 if number % 2 else -1]
    ]
    found = by_hand(sittings, given) if given.by_hand else by_model(sittings, given)
    print(f"{len(found)} reviews in {given.key}", file=sys.stderr)


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path, nargs="?")
    parser.add_argument("--by-hand", type=Path, help="the folder for requests and answers")
    parser.add_argument("--template", type=Path, default=BENCH.parent / "examples" / "qwen-coder.jinja")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pieces", type=Path, help="conversations cut from files of Claude Code")
    parser.add_argument("--only", action="append", default=[], help="a conversation by its name; repeatable")
    parser.add_argument("--stance", action="append", default=[], help="cautious, active, or one of --orders")
    parser.add_argument("--orders", action="append", default=[], help="NAME=FOLDER: another stance, by its texts")
    parser.add_argument("--key", type=Path, default=Path("review_stances_key.json"))
    return parser.parse_args()


def conversations(pieces: Path | None) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each conversation as Claude Code keeps it."""
    if pieces is None:
        for name, said in json.loads((BENCH / "data" / "review_sessions.json").read_text()).items():
            yield name, recorded(said)
        return
    for name, cut in json.loads(pieces.read_text()).items():
        if isinstance(cut[0], list):
            yield name, recorded(cut)
            continue
        file, first, last = cut
        with gzip.open(file, "rt") as opened_file:
            yield name, [json.loads(line) for line in opened_file][first : last + 1]


def by_model(sittings: list[Sitting], given: argparse.Namespace) -> list[dict[str, Any]]:
    """One after the other, by one server."""
    local, window = LocalModelSettings(template=str(given.template.resolve())), ModelFacts("local", window=8192)
    settings = Settings(model=f"local:{given.weights.resolve()}", local=local, models=(window,))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        chosen = provider_for(settings, environment=os.environ, home=Home(Path(folder)))
        for sitting in sittings:
            found.append(reviewed(sitting, chosen))
            given.key.write_text(json.dumps(found, indent=1))
    return found


def by_hand(sittings: list[Sitting], given: argparse.Namespace) -> list[dict[str, Any]]:
    """All first stances at once, then all second ones: nobody answers a conversation twice in one round."""
    server, found, lock = HandPlayed(given.by_hand), [], Lock()

    def play(sitting: Sitting) -> None:
        name = f"{sitting.name}-{sitting.stance}".replace(" ", "-")
        end = Endpoint("hand", base_url=server.base_url(name), timeout_seconds=PATIENCE_SECONDS, retries=0)
        settings = Settings(model=f"hand:{MODEL}", providers=(end,))
        with tempfile.TemporaryDirectory() as folder:
            chosen = provider_for(settings, environment=os.environ, home=Home(Path(folder)))
        one = reviewed(sitting, chosen)
        with lock:
            found.append(one)
            given.key.write_text(json.dumps(found, indent=1))

    stances = len({each.stance for each in sittings})
    for turn in range(stances):
        with ThreadPoolExecutor(len(sittings)) as crowd:
            list(crowd.map(play, sittings[turn::stances]))
    server.close()
    return found


def reviewed(sitting: Sitting, chosen: Chosen) -> dict[str, Any]:
    """One conversation, reviewed in a home of its own."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        texts = home.folder / "guidance" / "review"
        texts.mkdir(parents=True)
        (home.folder / "settings.toml").write_text('model = "llamacpp:any"\n')  # `chosen` answers
        for text in sitting.orders.glob("*.md") if sitting.orders else ():
            (texts / text.name).write_text(text.read_text())
        file = Path(folder) / "s1.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in sitting.lines))
        with opened(home) as database:
            author = Author(
                home, database, Actor.AGENT, Trust.AGENT, time.time(), "before", PatchOrigin(said="learned")
            )
            writing.create(author, STANDING_SKILL, "How tests are run. Use before running tests.", SKILL)
            for transcript in claude_code.read(Source(file)):
                keep(database, prepare(transcript), Provenance(str(file), time.time(), time.time()))
            session = max(find_all(database), key=lambda each: each.message_count)
            ask = ReviewRequest(session.id, session.message_count, ReviewKind.COMBINED)
            outcome = look_back(
                home, database, ask, environment=os.environ, interrupt=Event(), supply=lambda *_: chosen
            )
            made = made_by(home, database, outcome.session)
            shown = load(database, find(database, outcome.session)).messages
            record = plain_record(load(database, session).messages, RECORD_TOKENS)
        return {
            "session": sitting.name,
            "stance": sitting.stance,
            "ending": outcome.ending,
            "spent": [outcome.spent.model_calls, outcome.spent.input, outcome.spent.output],
            "first_input": next((each.usage.input for each in shown if each.usage), 0),
            "calls": [f"{call.name} {call.arguments}" for message in shown for call in message.calls],
            "refused": [
                part.text for message in shown for part in message.parts if isinstance(part, ToolResult) and part.error
            ],
            "changes": [[each.step, each.patch.form, each.patch.name, each.patch.text] for each in made],
            "said": shown[-1].text,
            "record": record,
        }


def find_all(database: Any) -> list[Any]:
    return [find(database, row[0]) for row in database.query("SELECT id FROM sessions")]


def recorded(said: list[list[Any]]) -> list[dict[str, Any]]:
    """A written conversation as Claude Code keeps it."""
    about = {"sessionId": "s1", "cwd": "/home/ada/shop", "userType": "external", "entrypoint": "cli"}
    lines: list[dict[str, Any]] = []
    for number, (kind, *rest) in enumerate(said):
        at = {**about, "timestamp": f"2026-03-01T09:{number:02}:00Z"}
        if kind == "call":
            tool, arguments, result = rest
            use = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": arguments}
            back = {"type": "tool_result", "tool_use_id": f"t{number}", "content": result}
            lines.append({**at, "type": "assistant", "message": {"id": f"m{number}", "role": kind, "content": [use]}})
            lines[-1]["message"]["role"] = "assistant"
            lines.append({**at, "type": "user", "message": {"role": "user", "content": [back]}})
        else:
            lines.append({**at, "type": kind, "message": {"id": f"m{number}", "role": kind, "content": rest[0]}})
    return lines


if __name__ == "__main__":
    main()
