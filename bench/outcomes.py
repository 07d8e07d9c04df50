"""Measures outcomes (tool errors from text alone) and activity against labels, and prints one table.

Run: python bench/outcomes.py [DATA]; DATA has sessions, projects and samples (default: WHET_BENCH_DATA or
../shared/data). A family is left out where no failed answer of it was looked at while the table of reports was written.
Every family is measured twice: as recorded, and with the printed exit status taken away, as agents answer that print
none (OpenCode).
"""

import gzip
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from activity_labels import KNOWN, UNSEEN, Labelled
from whet.agents.formats import openai_messages
from whet.agents.formats.source import Source
from whet.evidence.intervals import wilson
from whet.intake.reading import read_transcripts
from whet.sessions.activity import classify, kind_of
from whet.sessions.transcripts import Exchange, Text, ToolCall, ToolResult, Transcript, pair
from whet.trouble.outcomes.deciding import Decision, Outcome, decide, decide_by_text
from whet.trouble.outcomes.error_forms import without_preamble

SETS = ("agentdojo_dev", "intercode_dev", "tau_airline", "claude_code_dev", "swebench_mini_gemini3_dev")
SEEN_PROJECTS = ("context-evaluator", "oh-my-posh")
LEFT_OUT = ("bashkit_dev", "codex_dev", "cipher-box", "pi")
PRINTED_STATUS = re.compile(
    r"(?m)^(?:Error: )?Exit code:? -?\d+\n?|^<returncode>-?\d+</returncode>\n?|^Process exited with code -?\d+\n?|"
    r"^</?output>\n?|^Chunk ID:.*\n|^Wall time:.*\n|^Original token count:.*\n|^Output:\n|"
    r"\n*Command exited with code -?\d+\s*$|^\[exit code: \d+\]\n?"
)
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


Session = tuple[Exchange, ...]


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
    bare: Score  # where the tool's own line about the exit status is taken away
    hidden: int  # failures found beside a flag that says ok


def sessions(path: Path) -> Iterator[Session]:
    with (
        tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as mended,
        gzip.open(path, "rt", encoding="utf-8") as lines,
    ):
        for line in lines:
            mended.write(BROKEN_ESCAPE.sub(lambda found: found[1] or "u", line))
        mended.flush()
        for transcript in openai_messages.read(Source(Path(mended.name))):
            yield pair(transcript.messages).exchanges


def raw_sessions(folder: Path) -> Iterator[Session]:
    for path in sorted(folder.glob("*.jsonl*")):
        for transcript in read_transcripts(path):
            if isinstance(transcript, Transcript):
                yield pair(transcript.messages).exchanges


def flag_of(result: ToolResult | None) -> bool | None:
    """Whether the source says that the call failed; None where it does not say."""
    if result is None or result.disposition is not None or result.text.startswith(REFUSALS):
        return None
    if result.error is not None:
        return result.error
    return None if result.exit_code is None else result.exit_code != 0


def by_text(exchange: Exchange, answer: str) -> Decision:
    """What the answer alone tells, without the record's flag, exit code and disposition."""
    return decide_by_text(exchange.call, without_preamble(answer.strip()))


def measure(exchanges: Iterable[Exchange]) -> Row:
    results = hidden = 0
    naive, whet, bare = Score(), Score(), Score()
    for exchange in exchanges:
        result = exchange.result
        failed = flag_of(result)
        if failed is None or result is None:
            continue
        results += 1
        hidden += not failed and decide(exchange).outcome is Outcome.FAILED
        naive = naive.of(said=NAIVE.search(result.text) is not None, true=failed)
        whet = whet.of(said=by_text(exchange, result.text).outcome is Outcome.FAILED, true=failed)
        text = PRINTED_STATUS.sub("", result.text)
        if text.strip() or not failed:  # a failure without a word cannot be told
            bare = bare.of(said=by_text(exchange, text).outcome is Outcome.FAILED, true=failed)
    return Row(results, naive, whet, bare, hidden)


def line(name: str, row: Row) -> str:
    scores = (f"{score.precision:.2f} {score.recall:.2f}" for score in (row.naive, row.whet, row.bare))
    low, high = wilson(row.whet.right, row.whet.right + row.whet.missed)
    failures = row.whet.right + row.whet.missed
    columns = (f"{row.results} | {failures}", *scores, f"{low:.2f}–{high:.2f}", str(row.hidden))
    return f"| {name} | {' | '.join(columns)} |"


def show_outcomes(found: dict[str, list[Session]]) -> None:
    print("| family | results | failed | words anywhere | Whet | without printed status | recall 95 % | hidden |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    rows = {name: measure(exchange for session in all_of for exchange in session) for name, all_of in found.items()}
    for name, row in rows.items():
        print(line(f"{name}{' (left out)' if name in LEFT_OUT else ''}", row))
    for title, names in (("all", tuple(rows)), ("left out", LEFT_OUT)):
        part = [rows[name] for name in names]
        means = (
            f"precision {mean(score.precision for score in scores):.2f}, recall {mean(s.recall for s in scores):.2f}"
            for scores in ([row.whet for row in part], [row.bare for row in part])
        )
        print(f"{title}: {'; without printed status '.join(means)}")


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
        activities = Counter(str(classify(session)) for session in found[name] if session)
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
    found |= {name: list(raw_sessions(data / "projects" / name)) for name in SEEN_PROJECTS}
    found |= {
        name: list(sessions(data / "sessions" / f"{name}.jsonl.gz")) for name in LEFT_OUT if name.endswith("_dev")
    }
    found |= {"cipher-box": list(raw_sessions(data / "projects" / "cipher-box"))}
    found |= {"pi": list(raw_sessions(data / "samples" / "pi"))}
    show_outcomes(found)
    show_activity(found)
    show_speed()


if __name__ == "__main__":
    main()
