"""Whether the time for one session grows with its length and no faster: the time for twice as many calls, by stage.

Sessions of several shapes are made to be as bad as a session can be for what reads, pairs, judges and shows them. Each
number is the time for the longer one divided by that for the shorter: 2 where it grows with the length, 4 where it
grows with its square; 3 is the limit. Then a session of half as many and of all calls is written to a file as Claude
Code does, and read, kept, judged, learned from and shown from there, each in a process of its own, with its peak of
memory and that of its largest child.

    python bench/long_sessions.py [--calls 1000] [--whole 200000]
"""

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from whet.cli.shown.sessions import with_troubles
from whet.secrets.redactor import redact
from whet.sessions.activity import classify
from whet.sessions.lineage import own_calls
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult, Transcript, pair, session_id
from whet.sessions.trust import Trust
from whet.store.rows import prepare
from whet.trouble.finding import find_trouble
from whet.trouble.outcomes.view import analyse, gather

ROUNDS = 2


def message(role: Role, *parts: Text | ToolCall | ToolResult) -> Message:
    trust = {Role.USER: Trust.USER, Role.AGENT: Trust.AGENT}.get(role, Trust.TOOL)
    return Message(role, parts, trust)


def asked(number: int, name: str, **arguments: str) -> Message:
    return message(Role.AGENT, ToolCall(f"c{number}", name, json.dumps(arguments)))


def answered(number: int, name: str, text: str, *, error: bool | None = None) -> Message:
    return message(Role.TOOL, ToolResult(f"c{number}", (Text(text),), tool=name, error=error))


def working(count: int) -> Iterator[Message]:
    for number in range(count):
        yield asked(number, "Bash", command=f"cat file{number}.txt")
        yield answered(number, "Bash", f"line {number}")


def retrying(count: int) -> Iterator[Message]:
    for number in range(count):
        yield asked(number, "Bash", command="deploy now to the server please")
        yield answered(number, "Bash", "Error: refused", error=True)


def failing(count: int) -> Iterator[Message]:
    for number in range(count):
        word = "".join(chr(97 + int(digit)) for digit in str(number))
        yield asked(number, "Bash", command=f"run {word}")
        yield answered(number, "Bash", f"Error: {word} broke {word * 2} at {word * 3}", error=True)


def inventing(count: int) -> Iterator[Message]:
    for number in range(count):
        yield asked(number, "Read", file_path=f"/x/missing{number}q.py")
        yield answered(number, "Read", "Error: no such file or directory", error=True)


def checking(count: int) -> Iterator[Message]:
    for number in range(count):
        yield asked(number, "Bash", command=f"pytest -q tests/t{number}.py")
        yield answered(number, "Bash", f"E   assert {number}\n1 failed in 0.1s", error=True)


def claiming(count: int) -> Iterator[Message]:
    for number in range(count):
        yield message(Role.USER, Text(f"no, that is wrong, do {number} again"))
        yield asked(number, "Edit", file_path=f"a{number}.py", old_string="a", new_string="b")
        yield answered(number, "Edit", "Error: not found", error=True)
        yield message(Role.AGENT, Text("Done: I have fixed it, and all tests pass."))


def parallel(count: int) -> Iterator[Message]:
    calls = tuple(ToolCall(f"c{number}", "Read", json.dumps({"file_path": f"f{number}"})) for number in range(count))
    yield message(Role.AGENT, *calls)
    yield message(Role.TOOL, *(ToolResult(call.id, (Text("x"),), tool="Read") for call in calls))


def one_id(count: int) -> Iterator[Message]:
    yield message(Role.AGENT, *(ToolCall("same", "Read", "{}") for _ in range(count)))
    for number in range(count):
        yield message(Role.TOOL, ToolResult("same", (Text(f"x{number}"),), tool="Read"))


def orphaned(count: int) -> Iterator[Message]:
    for number in range(count):
        yield answered(number, "Read", "late")
    for number in range(count):
        yield asked(number, "Read", file_path=f"f{number}")


def secretive(count: int) -> Iterator[Message]:
    for number in range(count):
        yield asked(number, "Bash", command=f"login --password hunterX{number}!q")
        yield answered(number, "Bash", f"Error: password=hunterX{number}!q was refused", error=True)


SHAPES: tuple[Callable[[int], Iterator[Message]], ...] = (
    working,
    retrying,
    failing,
    inventing,
    checking,
    claiming,
    parallel,
    one_id,
    orphaned,
    secretive,
)
Stage = Callable[[Transcript], object]


def stages() -> dict[str, Stage]:
    return {
        "redact": redact,
        "prepare": prepare,
        "pair": lambda transcript: pair(transcript.messages),
        "gather": gather,
        "classify": lambda transcript: classify(pair(transcript.messages).exchanges),
        "lineage": own_calls,
        "analyse": analyse,
        "trouble": find_trouble,
        "show": lambda transcript: sum(map(len, _shown(transcript.messages))),
    }


def _shown(messages: tuple[Message, ...]) -> Iterator[str]:
    return with_troubles(messages, (), range(len(messages)), full=False)


def seconds(stage: Stage, transcript: Transcript) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        gc.collect()
        started = time.process_time()
        stage(transcript)
        best = min(best, time.process_time() - started)
    return best


def transcript_of(shape: Callable[[int], Iterator[Message]], count: int) -> Transcript:
    return Transcript("bench", f"{shape.__name__}{count}", tuple(shape(count)))


def compare(calls: int) -> None:
    print(f"| stage | {' | '.join(shape.__name__ for shape in SHAPES)} |")
    print(f"|---|{'--:|' * len(SHAPES)}")
    pairs = []
    for shape in SHAPES:
        pairs.append([transcript_of(shape, size) for size in (calls, 2 * calls)])
    for name, stage in stages().items():
        row = []
        for short, long in pairs:
            row.append(f"{seconds(stage, long) / max(seconds(stage, short), 1e-9):.1f}")
        print(f"| {name} | {' | '.join(row)} |", flush=True)


def written(path: Path, calls: int) -> None:
    """A session as Claude Code leaves it: failures of many sorts, claims after them, files that nobody named."""
    with path.open("w") as out:
        for number in range(calls):
            for place, (kind, block) in enumerate(blocks(number)):
                said = {"role": kind, "id": f"m{number}-{place}", "content": [block]}
                named = {"sessionId": "s", "uuid": f"{number}-{place}", "timestamp": "2026-01-01T00:00:00Z"}
                out.write(json.dumps({"type": kind, **named, "message": said}) + "\n")


def blocks(number: int) -> Iterator[tuple[str, dict[str, object]]]:
    word, id = "".join(chr(97 + int(digit)) for digit in str(number)), f"t{number}"
    tool, given = ("Bash", {"command": f"pytest {word}.py"}) if number % 2 else ("Read", {"file_path": f"/x/{word}.py"})
    yield "assistant", {"type": "tool_use", "id": id, "name": tool, "input": given}
    failed = f"Error: no such file {word}"
    yield "user", {"type": "tool_result", "tool_use_id": id, "content": failed, "is_error": True}
    if number % 10 == 0:
        yield "assistant", {"type": "text", "text": "Done, and all tests pass."}
        yield "user", {"type": "text", "text": "no, wrong"}


WHOLE = {
    "read and redact (whet import --dry-run)": ("import", "{file}", "--dry-run"),
    "read, keep and index (whet import)": ("import", "{file}"),
    "judge (whet report)": ("report",),
    "learn (whet lessons)": ("lessons",),
    "show (whet show)": ("show", "{id}"),
}


def run_whole(calls: int) -> dict[str, tuple[float, float]]:
    """The seconds of CPU time and the most megabytes of each command on a session of so many calls."""
    measured: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "s.jsonl")
        written(file, calls)
        environment = {**os.environ, "WHET_HOME": f"{folder}/home", "HOME": folder}
        for name, words in WHOLE.items():
            given = [word.format(file=file, id=session_id("claude-code", "s")) for word in words]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, __file__, "--run", *given]
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            measured[name] = seconds, float(Path(folder, "home", "peak").read_text())
    return measured


def run_command(words: list[str]) -> None:
    """`whet` in this process, with its peak of memory written beside its store."""
    from whet.cli.group import group

    group.main(words, prog_name="whet", standalone_mode=False)
    # What the kernel counts for the process itself would include its parent, whose copy it was.
    own = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    peak = int(own.split()[1]) + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    Path(os.environ["WHET_HOME"]).mkdir(exist_ok=True)
    Path(os.environ["WHET_HOME"], "peak").write_text(str(peak / 1024))


def main() -> None:
    if sys.argv[1:2] == ["--run"]:
        run_command(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--whole", type=int, default=200_000)
    options = parser.parse_args()
    if options.calls:
        compare(options.calls)
    half, whole = run_whole(options.whole // 2), run_whole(options.whole)
    print(f"\n| command | {options.whole // 2:,} calls | {options.whole:,} calls | ratio | peak MB | peak MB |")
    print("|---|--:|--:|--:|--:|--:|")
    for name in WHOLE:
        (short, small), (long, large) = half[name], whole[name]
        print(f"| {name} | {short:.1f} s | {long:.1f} s | {long / short:.1f} | {small:.0f} | {large:.0f} |")


if __name__ == "__main__":
    main()
