"""The example sessions as the importers read them, in short."""

import hashlib
import re
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from whet.agents.formats.source import Source
from whet.agents.recognising import recognise
from whet.sessions.transcripts import Transcript

DIGEST_BYTES = 12
PLACE = re.compile(r"^[0-9a-f]{10}(?=-)")  # of a session that is known by where its file lies


def read_examples(folder: Path, root: Path) -> dict[str, list[dict[str, Any]]]:
    """Every session below the folder by its file: what is in it, and a digest of all that was read."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        source = Source(path)
        known = recognise(source)
        if known is not None:
            found[str(path.relative_to(folder))] = [in_short(each, root) for each in known.read(source)]
    return found


def in_short(transcript: Transcript, root: Path) -> dict[str, Any]:
    name = PLACE.sub("<place>", transcript.native_id)
    text = msgspec.json.encode(transcript).decode().replace(transcript.native_id, name).replace(str(root), "<root>")
    return {
        "source": transcript.source,
        "native_id": name,
        "messages": dict(sorted(Counter(f"{each.role}, {each.trust.label}" for each in transcript.messages).items())),
        "calls": sum(len(each.calls) for each in transcript.messages),
        "results": sum(len(each.results) for each in transcript.messages),
        "digest": hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).hexdigest(),
    }
