"""Measures outcomes (tool errors from text alone) and activity against labels, and prints one table.

Run: python bench/outcomes.py [DATA]; DATA has sessions/*.jsonl.gz (default: WHET_BENCH_DATA or ../shared/data).
The tune part is what was looked at while the forms were written; the held-out part was only measured.
"""

import gzip
import hashlib
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from activity_labels import KNOWN, UNSEEN, Labelled
from whet.importers import openai_messages
from whet.importers.source import Source
from whet.outcomes.deciding import Outcome, decide
from whet.sessions.activity import classify, kind_of
from whet.sessions.transcripts import Exchange, Text, ToolCall, ToolResult, pair

SETS = ("agentdojo_dev", "intercode_dev", "claude_code_dev", "codex_dev", "tau_airline")
NAIVE = re.compile(r"error|failed|exception|timeout", re.IGNORECASE)
# The documented sentences for a person's refusal and for a cancelled sibling: errors by flag, not failures.
REFUSALS = (
    "The user doesn't want to",
    "<tool_use_error>Sibling tool call errored",
    "<tool_use_error>Cancelled: parallel tool call",
    "[Request interrupted by user",
)
# An anonymiser broke a few escapes ("\u" before a replaced address): mended, so that no session is lost.
BROKEN_ESCAPE = re.compile(r"(\\\\)|\\u(?![0-9a-fA-F]{4})")


class Session(NamedTuple):
    held_out: bool
    exchanges: tuple[Exchange, ...]


class Score(NamedTuple):
    right: int = 0
    wrong: int = 0
    missed: int = 0

    def of(self, *, said: bool, true: bool) -> "Score":
        return Score(self.right + (said and true), self.wrong + (said and not true), self.missed + (true and not said))

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)


class Row(NamedTuple):
    results: int
    naive: Score
    whet: Score
    told_apart: int  # flagged results for which refusal or failure was decided as documented
    flagged: int
    refused: int
    hidden: int  # failures found beside a flag that says ok


def sessions(path: Path) -> Iterator[Session]:
    held_out: dict[str, bool] = {}
    with (
        tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as mended,
        gzip.open(path, "rt", encoding="utf-8") as lines,
    ):
        for line in lines:
            whole = BROKEN_ESCAPE.sub(lambda found: found[1] or "u", line)
            record = json.loads(whole)
            task = (record.get("meta") or {}).get("task_id") or record["id"]
            held_out[record["id"]] = int(hashlib.sha256(task.encode()).hexdigest(), 16) % 10 >= 6
            mended.write(whole)
        mended.flush()
        for transcript in openai_messages.read(Source(Path(mended.name))):
            yield Session(held_out[transcript.native_id], pair(transcript.messages).exchanges)


def measure(exchanges: Iterable[Exchange]) -> Row:
    results = told_apart = flagged = refused = hidden = 0
    naive, whet = Score(), Score()
    for exchange in exchanges:
        result = exchange.result
        if result is None or result.error is None:
            continue
        results += 1
        text = result.text
        outcome = decide(exchange, ignore_flags=True).outcome
        refusal = result.error and text.startswith(REFUSALS)
        if result.error:
            flagged += 1
            refused += refusal
            told_apart += refusal == (outcome in (Outcome.REJECTED, Outcome.CANCELLED))
        else:
            hidden += decide(exchange).outcome is Outcome.FAILED
        failed = result.error and not refusal
        naive = naive.of(said=NAIVE.search(text) is not None, true=failed)
        whet = whet.of(said=outcome is Outcome.FAILED, true=failed)
    return Row(results, naive, whet, told_apart, flagged, refused, hidden)


def line(name: str, part: str, row: Row) -> str:
    scores = (f"{score.precision:.3f} {score.recall:.3f} {score.f1:.3f}" for score in (row.naive, row.whet))
    failures, apart = row.whet.right + row.whet.missed, f"{row.told_apart}/{row.flagged}"
    counts = f"{name:16} {part:9} {row.results:6} {failures:6}"
    return " │ ".join((counts, *scores, f"{apart:>9} {row.refused:7} {row.hidden:6}"))


def show_outcomes(found: dict[str, list[Session]]) -> None:
    print(f"{'':33} failed │ words anywhere    │ Whet, text only   │ told      refused hidden")
    print("set              part      results        │ prec  recall F1   │ prec  recall F1   │ apart")
    for part, held_out in (("tune", False), ("held out", True)):
        rows = {
            name: measure(e for session in all_of if session.held_out is held_out for e in session.exchanges)
            for name, all_of in found.items()
        }
        for name, row in rows.items():
            print(line(name, part, row))
        naive = sum(row.naive.f1 for row in rows.values()) / len(rows)
        whet = sum(row.whet.f1 for row in rows.values()) / len(rows)
        apart, flagged = sum(row.told_apart for row in rows.values()), sum(row.flagged for row in rows.values())
        means = (f"{'':12}{naive:.3f}", f"{'':12}{whet:.3f}", f"{apart / flagged:9.3f}")
        print(" │ ".join((f"{'macro over sets':16} {part:9} {'':13}", *means)))


def macro_f1(calls: Iterable[Labelled]) -> float:
    pairs = [(call.kind, str(kind_of(ToolCall("1", call.tool, call.arguments)))) for call in calls]
    scores = dict.fromkeys(sorted({true for true, _ in pairs}), Score())
    for kind in scores:
        for true, said in pairs:
            scores[kind] = scores[kind].of(said=said == kind, true=true == kind)
    return sum(score.f1 for score in scores.values()) / len(scores)


def show_activity(found: dict[str, list[Session]]) -> None:
    print(f"activity, kinds of {len(KNOWN)} calls with known names:   macro F1 {macro_f1(KNOWN):.3f}")
    print(f"activity, kinds of {len(UNSEEN)} calls with unseen names:   macro F1 {macro_f1(UNSEEN):.3f}")
    for name in ("claude_code_dev", "codex_dev"):
        activities = Counter(str(classify(session.exchanges)) for session in found[name] if session.exchanges)
        print(f"activity of real coding sessions, {name}: {dict(activities.most_common())}")


def show_speed() -> None:
    call = ToolCall("1", "Bash", '{"command": "pytest -q 2>&1 | cat"}')
    bodies = {
        "log": "2024-01-01 error: timeout in line\n" * 31_000,
        "one line": "x" * (1 << 20),
        "JSON envelope": json.dumps({"output": "line\n" * 200_000, "exit_code": 1}),
        "brackets": "[" * (1 << 20),
        "colours": "\x1b[31mfailed\x1b[0m " * 70_000,
    }
    for name, body in bodies.items():
        exchange = Exchange(call=call, asked=0, result=ToolResult("1", (Text(body),)))
        started = time.perf_counter()
        for _ in range(5):
            decide(exchange)
        print(f"speed, 1 MB {name}: {(time.perf_counter() - started) / 5 * 1000:.2f} ms a decision")


def main() -> None:
    data = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("WHET_BENCH_DATA", "../shared/data"))
    found = {name: list(sessions(data / "sessions" / f"{name}.jsonl.gz")) for name in SETS}
    show_outcomes(found)
    show_activity(found)
    show_speed()


if __name__ == "__main__":
    main()
