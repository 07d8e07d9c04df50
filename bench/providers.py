"""What asking a model costs before the model does anything, beside the vendors' libraries and a common HTTP client.

.venv/bin/python bench/providers.py [--runs 200]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[0] = str(ROOT / "tests")  # in place of this folder, whose agent.py bears the name of a folder of tests

from msgspec.structs import replace  # noqa: E402

from agent.loopback import Loopback, playing, streamed  # noqa: E402 - the tests' server plays the endpoint
from agent.providers.vendor_streams import openai_answer  # noqa: E402
from whet.agent.providers.choosing import asking  # noqa: E402
from whet.net.wire import Interrupted  # noqa: E402
from whet.own.runs.models import Model  # noqa: E402
from whet.own.runs.run import Run, grown  # noqa: E402
from whet.own.runs.settings import Endpoint  # noqa: E402
from whet.sessions.tool_families import Definition  # noqa: E402
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult  # noqa: E402
from whet.sessions.trust import Trust  # noqa: E402

ANYWAY = "import whet.own.runs.settings, whet.shipped.guidance, whet.agent.protocols, whet.shipped.data"
IMPORTS = {
    "nothing": "pass",
    "http.client and ssl": "import http.client, ssl",
    "what whet loads anyway": ANYWAY,
    "the same and all providers": f"{ANYWAY}, whet.agent.providers.choosing",
    "httpx2": "import httpx2",
    "openai": "import openai",
    "anthropic": "import anthropic",
}
ANSWER = openai_answer({"content": "Done."})
TURNS = 20
RESULT_CHARACTERS = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    imports()
    requests(options.runs)
    interrupts(max(options.runs // 10, 5))


def imports(runs: int = 7) -> None:
    """CPU time of a process that imports and ends, in turns."""
    taken: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for _ in range(runs):
        for name, code in IMPORTS.items():
            process = subprocess.Popen([sys.executable, "-c", code])
            _, process.returncode, used = os.wait4(process.pid, 0)
            assert process.returncode == 0, code
            taken[name].append((used.ru_utime + used.ru_stime) * 1e3)
    base = statistics.median(taken["nothing"])
    print(f"{'import':<34}{'CPU ms':>9}   (above an empty program, median of {runs})")
    for name, found in taken.items():
        print(f"{name:<34}{statistics.median(found) - base:>9.0f}")


def requests(runs: int) -> None:
    """From the tool's result to the moment in which the endpoint has the whole next request, on a kept connection."""
    run = conversation()
    with playing(streamed(ANSWER)) as server:
        provider = asking(Endpoint("bench", "openai", server.base_url), Model("m"), key="", environment={})
        body = provider.request(run)
        ways: dict[str, Callable[[], None]] = {
            "whet": lambda: deque(provider.reply(run, interrupt=threading.Event()), maxlen=0).clear(),
            "httpx2, bytes made before": by_httpx2(server, body),
            "openai": by_openai(server, json.loads(body)),
        }
        print(f"\n{'result to request':<34}{'ms':>9}{'p95':>7}   ({len(body):,} bytes, {runs} times, in turns)")
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for count in range(runs + 5):
            for name, way in ways.items():
                begun = time.perf_counter()
                way()
                if count >= 5:
                    taken[name].append((server.received_at - begun) * 1e3)
        for name, found in taken.items():
            print(f"{name:<34}{statistics.median(found):>9.2f}{statistics.quantiles(found, n=20)[-1]:>7.2f}")
        begun = time.perf_counter()
        for _ in range(runs):
            provider.request(run)
        print(f"{'  of it making the bytes':<34}{(time.perf_counter() - begun) / runs * 1e3:>9.2f}")
        provider.close()


def interrupts(runs: int) -> None:
    """From the interrupt to the end of an answer that stalls."""
    taken = []
    for _ in range(runs):
        with playing(streamed(ANSWER[:50], ending="stall")) as server:
            provider = asking(Endpoint("bench", "openai", server.base_url), Model("m"), key="", environment={})
            interrupt = threading.Event()
            at: list[float] = []

            def stop(server: Loopback = server, interrupt: threading.Event = interrupt, at: list[float] = at) -> None:
                server.stalled.wait()
                time.sleep(0.12)
                at.append(time.perf_counter())
                interrupt.set()

            threading.Thread(target=stop).start()
            try:
                list(provider.reply(conversation(), interrupt=interrupt))
            except Interrupted:
                taken.append((time.perf_counter() - at[0]) * 1e3)
    print(f"\n{'interrupt to end':<34}{statistics.median(taken):>9.1f}   worst {max(taken):.1f} ms of {len(taken)}")


def conversation() -> Run:
    """A session in which a tool has just answered."""
    schema = '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}'
    tools = tuple(Definition(f"tool_{number}", "Does a thing. " * 10, schema) for number in range(10))
    run = Run(id="bench", model="m", system="You are an agent. " * 200, shown=tools)
    run = grown(run, Message(role=Role.USER, parts=(Text("Look."),), trust=Trust.USER))
    for turn in range(TURNS):
        call = ToolCall(f"call_{turn}", "tool_1", '{"path": "a.txt"}')
        answer = ToolResult(call.id, (Text("x" * RESULT_CHARACTERS),), call.name)
        run = grown(
            run,
            Message(role=Role.AGENT, parts=(Text("I look."), call), trust=Trust.AGENT),
            Message(role=Role.TOOL, parts=(answer,), trust=Trust.TOOL),
        )
    return replace(run, allowed=frozenset({"tool_1"}))


def by_httpx2(server: Loopback, body: bytes) -> Callable[[], None]:
    import httpx2

    client = httpx2.Client()

    def ask() -> None:
        headers = {"Content-Type": "application/json"}
        with client.stream("POST", f"{server.base_url}/chat/completions", content=body, headers=headers) as response:
            for _ in response.iter_raw():
                pass

    return ask


def by_openai(server: Loopback, body: dict[str, object]) -> Callable[[], None]:
    import openai

    client = openai.OpenAI(base_url=server.base_url, api_key="none")

    def ask() -> None:
        for _ in client.chat.completions.create(**body):  # type: ignore[call-overload]  # the same fields, as a mapping
            pass

    return ask


if __name__ == "__main__":
    main()
