"""The record that an agent left in its config home, read by the importers as any other."""

from pathlib import Path

from whet.executors.errands import Carried, Left, Validity
from whet.importers.source import Skipped
from whet.intake.reading import read_transcripts
from whet.sessions.transcripts import Transcript, Usage


def newest_transcript(folder: Path, pattern: str) -> Transcript | None:
    """The main session of the newest record below a folder; None where there is none that can be read."""
    files = sorted((path for path in folder.rglob(pattern) if path.is_file()), key=lambda path: path.stat().st_mtime_ns)
    for path in reversed(files):
        found = [item for item in read_transcripts(path) if not isinstance(item, Skipped)]
        own = [item for item in found if not item.parent and item.messages]
        if own:
            return max(own, key=lambda item: item.started or 0.0)
    return None


def without_record(left: Left) -> Carried:
    """An errand that left nothing to read: it tells nothing, and says why."""
    why = left.errors.strip() or left.output.strip() or "it left no record"
    validity = Validity.TIMED_OUT if left.exit_code is None else Validity.CRASHED
    return Carried(None, Usage(), validity, why.splitlines()[-1][:200], seconds=left.seconds)
