"""Pairing over real sessions: results with their calls by id, the exceptions, and what naive ways get wrong.

WHET_BENCH_DATA=../shared/data .venv/bin/python bench/pairing.py
"""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from whet.agents.formats.source import Source, Unreadable
from whet.agents.recognising import recognise
from whet.sessions.transcripts import Exchange, Message, Role, ToolCall, ToolResult, Transcript, pair

DATA = Path(os.environ.get("WHET_BENCH_DATA", "../shared/data"))
COLUMNS = ("sessions", "calls", "parallel", "answered", "unanswered", "orphans", "reused ids")


def main() -> None:
    print(f"{'source':<28}" + "".join(f"{name:>11}" for name in COLUMNS) + f"{'n-th wrong':>12}{'next wrong':>12}")
    whole: Counter[str] = Counter()
    exceptions: Counter[tuple[str, str]] = Counter()
    for name, files in groups():
        counts: Counter[str] = Counter()
        for transcript in transcripts(files, counts):
            count(transcript, counts)
        whole += counts
        exceptions.update({(key, name): number for key, number in counts.items() if ":" in key and number})
        if counts["calls"] or counts["orphans"]:
            print(row(name, counts))
    print(row("all", whole))
    print("\nexceptions and what they are")
    for (what, name), number in sorted(exceptions.items()):
        print(f"  {number:>5}  {name:<28}  {what}")


def groups() -> Iterator[tuple[str, list[Path]]]:
    for path in sorted((DATA / "sessions").glob("*.jsonl.gz")):
        yield path.name.removesuffix(".jsonl.gz"), [path]
    for folder in sorted(path for path in (DATA / "samples").iterdir() if path.is_dir()):
        yield f"samples/{folder.name}", sorted(path for path in folder.rglob("*") if path.is_file())


def transcripts(files: list[Path], counts: Counter[str]) -> Iterator[Transcript]:
    """Every session of the files; what is not one is counted."""
    for path in files:
        try:
            source = Source(path)
            known = recognise(source)
            if known is None:
                counts["file: not a session of a known format"] += 1
                continue
            yield from known.read(source)
        except Unreadable:
            counts["file: unreadable"] += 1
            continue
        for skipped in source.skipped:
            counts["line: not JSON" if skipped.reason.startswith("not JSON") else f"line: {skipped.reason}"] += 1


def count(transcript: Transcript, counts: Counter[str]) -> None:
    messages = transcript.messages
    exchanges, orphans = pair(messages)
    answered = [exchange for exchange in exchanges if exchange.result is not None]
    assert all(exchange.result and exchange.result.call_id == exchange.call.id for exchange in answered)
    counts["sessions"] += 1
    counts["calls"] += len(exchanges)
    counts["parallel"] += sum(len(message.calls) for message in messages if len(message.calls) > 1)
    counts["answered"] += len(answered)
    counts["unanswered"] += len(exchanges) - len(answered)
    counts["orphans"] += len(orphans)
    counts["nth wrong"] += wrong(answered, nth_with_nth(messages))
    counts["next wrong"] += wrong(answered, next_tool_message(messages))
    counts["orphan: no call with its id in the record"] += len(orphans)
    for exchange in exchanges:
        if exchange.result is None:
            counts[f"unanswered: {why_unanswered(messages, exchange)}"] += 1
    count_reused(exchanges, counts)


def count_reused(exchanges: tuple[Exchange, ...], counts: Counter[str]) -> None:
    """Ids that a record uses again: harmless where each is answered before its next use."""
    latest: dict[str, Exchange] = {}
    for exchange in exchanges:
        before = latest.get(exchange.call.id)
        latest[exchange.call.id] = exchange
        if before is None:
            continue
        counts["reused ids"] += 1
        settled = before.answered is not None and before.answered < exchange.asked
        counts[f"reused id: {'answered before its next use' if settled else 'open when used again, so by order'}"] += 1


def why_unanswered(messages: tuple[Message, ...], exchange: Exchange) -> str:
    later = [message for message in messages[exchange.asked + 1 :] if message.role is not Role.TOOL]
    if not later:
        return "the record ends with the call"
    if later[0].role is Role.USER:
        return "the person went on before it was answered"
    return "the agent went on, no result recorded"


def nth_with_nth(messages: tuple[Message, ...]) -> dict[int, ToolResult]:
    """The first naive way: the n-th call of the session gets the n-th result."""
    calls = [part for message in messages for part in message.parts if isinstance(part, ToolCall)]
    results = [part for message in messages for part in message.parts if isinstance(part, ToolResult)]
    return {id(call): result for call, result in zip(calls, results, strict=False)}


def next_tool_message(messages: tuple[Message, ...]) -> dict[int, ToolResult]:
    """The second naive way: each call gets the first result that follows it."""
    found: dict[int, ToolResult] = {}
    following: ToolResult | None = None
    for message in reversed(messages):
        if following is not None:
            found.update((id(call), following) for call in message.calls)
        following = message.results[0] if message.results else following
    return found


def wrong(answered: list[Exchange], guessed: dict[int, ToolResult]) -> int:
    """How many answered calls a naive way gives another result, or none."""
    return sum(guessed.get(id(exchange.call)) is not exchange.result for exchange in answered)


def row(name: str, counts: Counter[str]) -> str:
    cells = "".join(f"{counts[column]:>11,}" for column in COLUMNS)
    answered = counts["answered"] or 1
    shares = "".join(f"{counts[key] / answered:>12.1%}" for key in ("nth wrong", "next wrong"))
    return f"{name:<28}{cells}{shares}"


if __name__ == "__main__":
    main()
