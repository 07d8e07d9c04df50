"""What a real local model proposes when it reviews six conversations, by the cautious order and by the one that ships.

    python bench/review_stances.py WEIGHTS [--template FILE] [--threads N] [--only NAME]... [--key FILE]

The conversations (`data/review_sessions.json`) are written for this: four teach something, two do not. Each is reviewed
in two homes, of which one has the order of old in its `guidance/review`; one server answers all. The proposals are
printed shuffled and without their stance, for a reader to judge; the key says which is whose, and what the model said.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from threading import Event
from typing import Any

from whet.agent.protocols import Chosen
from whet.agent.providers.choosing import provider_for
from whet.changes import skill_changes
from whet.changes.author import Author
from whet.importers import claude_code
from whet.importers.source import Source
from whet.improving.review import ReviewRequest, look_back, made_by
from whet.ledger.entries import Actor
from whet.runs.settings import Local, Settings
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.listing import find
from whet.store.opening import opened
from whet.store.preparing import prepare
from whet.store.sessions import Provenance, keep, load
from whet.told.review_when import ReviewKind

BENCH = Path(__file__).parent
SKILL = "Run `pytest test_MODULE.py`."


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("weights", type=Path)
    asked.add_argument("--template", type=Path, default=BENCH.parent / "examples" / "qwen-coder.jinja")
    asked.add_argument("--threads", type=int, default=2)
    asked.add_argument("--only", action="append", default=[], help="a conversation by its name; repeatable")
    asked.add_argument("--key", type=Path, default=Path("review_stances_key.json"))
    given = asked.parse_args()
    local = Local(context_tokens=8192, threads=given.threads, slots=1, template=str(given.template.resolve()))
    settings = Settings(model=f"local:{given.weights.resolve()}", local=local)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        chosen = provider_for(settings, environment=os.environ, home=Home(Path(folder)))
        for name, said in json.loads((BENCH / "data" / "review_sessions.json").read_text()).items():
            for stance in ("cautious", "active"):
                if not given.only or name in given.only:
                    found.append(reviewed(name, said, stance, chosen))
                    given.key.write_text(json.dumps(found, indent=1))
                    print(f"{len(found)}: {found[-1]['seconds']:.0f} s", file=sys.stderr)
    random.Random(len(found)).shuffle(found)
    for number, one in enumerate(found):
        print(f"\n## {number}. {one['session']}")
        for change in one["changes"] or ["(nothing)"]:
            print(f"- {change}")


def reviewed(name: str, said: list[list[Any]], stance: str, chosen: Chosen) -> dict[str, Any]:
    """One conversation, reviewed in a home of its own."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        home.folder.mkdir()
        (home.folder / "settings.toml").write_text(
            'model = "llamacpp:any"\n[review]\nseconds = 900\n'
        )  # `chosen` answers
        if stance == "cautious":
            (home.folder / "guidance" / "review").mkdir(parents=True)
            for text in (BENCH / "data" / "review_cautious").glob("*.md"):
                (home.folder / "guidance" / "review" / text.name).write_text(text.read_text())
        file = Path(folder) / "s1.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in recorded(said)))
        with opened(home) as database:
            author = Author(home, database, Actor.AGENT, Trust.AGENT, time.time(), "before", "learned")
            skill_changes.create(author, "running-tests", "How tests are run. Use before running tests.", SKILL)
            for transcript in claude_code.read(Source(file)):
                keep(database, prepare(transcript), Provenance(str(file), time.time(), time.time()))
            begun, session = time.monotonic(), find(database, "s1")
            ask = ReviewRequest(session.id, session.message_count, ReviewKind.COMBINED)
            outcome = look_back(
                home, database, ask, environment=os.environ, interrupt=Event(), supply=lambda *_: chosen
            )
            made = made_by(home, database, outcome.session)
            shown = load(database, find(database, outcome.session)).messages
        return {
            "session": name,
            "stance": stance,
            "seconds": time.monotonic() - begun,
            "ending": outcome.ending,
            "spent": [outcome.spent.model_calls, outcome.spent.input, outcome.spent.output],
            "changes": [f"{each.step} {each.patch.form} {each.patch.name}: {each.patch.text}" for each in made],
            "said": [message.text or repr(message.parts)[:400] for message in shown[2:]],
        }


def recorded(said: list[list[Any]]) -> list[dict[str, Any]]:
    """The conversation as Claude Code keeps it."""
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
