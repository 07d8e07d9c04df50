"""How fast sessions are analysed from their file, beside the rival's loop over the same bytes."""

import gzip
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import rival_detector
from labelled import path_of
from whet.failures.analysis import analyse
from whet.failures.score import Weights
from whet.importers import openai_messages
from whet.importers.source import Source
from whet.shipped.data import failure_weights


def speed(names: Sequence[str]) -> tuple[float, float, float]:
    """MB/s of the rival and of Whet over the same JSON Lines files, and the milliseconds of one line of 1 MB."""
    weights = failure_weights()
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
        for path in files:
            for transcript in openai_messages.read(Source(path)):
                analyse(transcript, weights)
        ours = size / 1e6 / (time.process_time() - began)
        return rival, ours, long_line(Path(scratch) / "long.jsonl", weights)


def long_line(path: Path, weights: Weights) -> float:
    text = "retry timeout error: request failed, connection timed out. " * 18_000
    call = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "cat log"}'}}
    messages = [
        {"role": "user", "content": "Look at the log."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "name": "bash", "content": text},
        {"role": "assistant", "content": "It is a long log."},
    ]
    path.write_text(json.dumps({"id": "long", "messages": messages}) + "\n")
    best = min(_timed(path, weights) for _ in range(3))
    return best * 1000


def _timed(path: Path, weights: Weights) -> float:
    began = time.process_time()
    for transcript in openai_messages.read(Source(path)):
        analyse(transcript, weights)
    return time.process_time() - began
