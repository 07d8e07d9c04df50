"""How fast sessions are analysed from their file, beside the rival's loop over the same bytes.

.venv/bin/python bench/detection_speed.py

One core each, by processor time: real Claude Code and Codex sessions and those of tool agents, alone and together; then
the projects' files on one core and on all.
"""

import gzip
import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import rival_detector
from labelled import folder as sessions_folder
from labelled import path_of
from whet.agents.formats import openai_messages
from whet.agents.formats.source import Source
from whet.intake.reading import read_transcripts
from whet.sessions.copies import NO_PLACES
from whet.sessions.transcripts import Transcript
from whet.store.rows import uncollected
from whet.store.side_by_side import process_pool
from whet.trouble.finding import gather_own, trouble_of
from whet.trouble.outcomes.view import analysis_of_view

MIX = ("agentdojo_dev", "claude_code_dev", "codex_dev")


def look(transcript: Transcript) -> None:
    """All that is found in a session when it is stored: its analysis and its trouble."""
    own = gather_own(transcript, NO_PLACES)
    analysis_of_view(own.view, transcript, copied=NO_PLACES)
    trouble_of(own.view)


def look_at_file(path: Path) -> int:
    found = [each for each in read_transcripts(path) if isinstance(each, Transcript)]
    for transcript in found:
        look(transcript)
    return len(found)


def speed(names: Sequence[str]) -> tuple[float, float, float]:
    """MB/s of the rival and of Whet over the same JSON Lines files, and the milliseconds of one line of 1 MB."""
    with tempfile.TemporaryDirectory() as scratch:
        files, size = [], 0
        for name in names:
            path = Path(scratch) / f"{name}.jsonl"
            path.write_bytes(gzip.decompress(path_of(name).read_bytes()))
            files.append(path)
            size += path.stat().st_size
        began = time.process_time()
        for path in files:
            for line in path.open("rb"):
                try:
                    rival_detector.detect(json.loads(line)["messages"])
                except ValueError:
                    continue
        rival = size / 1e6 / (time.process_time() - began)
        began = time.process_time()
        with uncollected():  # as an import and a scan work
            for path in files:
                for transcript in openai_messages.read(Source(path)):
                    look(transcript)
        ours = size / 1e6 / (time.process_time() - began)
        return rival, ours, long_line(Path(scratch) / "long.jsonl")


def scaling(folder: Path) -> tuple[float, float, int]:
    """Seconds for all files of the projects on one core and on all, and how many cores there are."""
    files = sorted(folder.rglob("*.jsonl.gz"))
    cores = os.cpu_count() or 1
    took = []
    for processors in (1, cores):
        began = time.perf_counter()
        with process_pool(processors) as pool:
            sum(pool.map(look_at_file, files))
        took.append(time.perf_counter() - began)
    return took[0], took[1], cores


def long_line(path: Path) -> float:
    text = "retry timeout error: request failed, connection timed out. " * 18_000
    call = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "cat log"}'}}
    messages = [
        {"role": "user", "content": "Look at the log."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "name": "bash", "content": text},
        {"role": "assistant", "content": "It is a long log."},
    ]
    path.write_text(json.dumps({"id": "long", "messages": messages}) + "\n")
    best = min(_timed(path) for _ in range(3))
    return best * 1000


def _timed(path: Path) -> float:
    began = time.process_time()
    for transcript in openai_messages.read(Source(path)):
        look(transcript)
    return time.process_time() - began


def main() -> None:
    print("| sessions | rival, MB/s | Whet, MB/s | times |")
    print("|---|--:|--:|--:|")
    for names in (*((name,) for name in MIX), MIX):
        rival, ours, line = speed(names)
        print(f"| {' + '.join(names)} | {rival:.1f} | {ours:.0f} | {ours / rival:.1f} |", flush=True)
    print(f"one line of 1 MB: {line:.0f} ms")
    alone, together, cores = scaling(sessions_folder().parent / "projects")
    print(f"projects: {alone:.1f} s on one core, {together:.1f} s on {cores} ({alone / together:.2f} times)")


if __name__ == "__main__":
    main()
