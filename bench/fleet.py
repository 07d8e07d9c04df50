"""How trials scale over workers: attempts a second with 1, 2, 4 and 8 workers on one Postgres, against the ideal.

    python bench/fleet.py [--workers 1,2,4,8] [--seconds 3] [--rounds 16] [--reviews]

With `--reviews` the same of reviews, each of a session of its own.

A model on this machine answers every question after so many seconds, whatever it is asked. Each worker carries out two
attempts at a time, so the ideal is two attempts in that time for each worker. Every number of workers gets a trial
with so many rounds of work that all of them are long enough; the clock runs from the first question to the last answer.

The last two columns are fair on a busy machine too: the CPU milliseconds that the workers and the server need for each
attempt, all that they do in that time included, such as looking for work.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import psycopg
from msgspec.structs import replace

import whet
from postgres_server import fresh_schema, serve
from whet.improving import review
from whet.ledger.patches import Action, Form, Patch
from whet.own.told.review_when import ReviewKind
from whet.proving.plan import WantedTrial, order, prepare
from whet.sessions.transcripts import Transcript, session_id
from whet.sessions.trust import Trust
from whet.store.home import Home, prepare_home
from whet.store.opening import opened
from whet.store.rows import Provenance
from whet.store.rows import prepare as prepare_session
from whet.store.sessions import keep
from whet.trials.cases import Case, Limits
from whet.trials.checks import Check
from whet.trials.design import TrialDesign
from whet.trials.shapes import TextDemand
from whet.work.given import WorkState, given_orders
from whet.work.orders import Order, Queue

AT_ONCE = 2  # attempts of one worker, as `whet worker` has it
ANSWER = (
    b'{"id":"1","object":"chat.completion","created":1,"model":"slow","choices":[{"index":0,"finish_reason":"stop",'
    b'"message":{"role":"assistant","content":"yes"}}],"usage":{"prompt_tokens":100,"completion_tokens":1,'
    b'"total_tokens":101}}'
)
STREAM = (
    b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"slow","choices":[{"index":0,'
    b'"delta":{"role":"assistant","content":"yes"},"finish_reason":null}]}\n\n'
    b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"slow","choices":[{"index":0,'
    b'"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":1,"total_tokens":101}}\n\n'
    b"data: [DONE]\n\n"
)


class Measured(NamedTuple):
    """What some workers did: attempts, and the seconds from the first question to the last answer."""

    workers: int
    attempts: int
    seconds: float
    workers_cpu: float
    server_cpu: float


class SlowModel:
    """A model that takes its time, and remembers when it was asked first and when it answered last."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.times: list[tuple[float, float]] = []
        self._lock = threading.Lock()

    def answer(self) -> None:
        began = time.monotonic()
        time.sleep(self.seconds)
        with self._lock:
            self.times.append((began, time.monotonic()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,2,4,8")
    parser.add_argument("--seconds", type=float, default=3.0, help="That the model takes for an answer.")
    parser.add_argument("--rounds", type=int, default=16, help="Attempts for each place at a worker.")
    parser.add_argument("--reviews", action="store_true", help="Reviews in the place of attempts.")
    options = parser.parse_args()
    print(
        "| workers | attempts | a second | ideal | share | CPU ms of workers an attempt | of Postgres |\n"
        "|--:|--:|--:|--:|--:|--:|--:|"
    )
    model = SlowModel(options.seconds)
    with (
        tempfile.TemporaryDirectory(prefix="whet-fleet-") as folder,
        serve(connections=300) as server,
        listening(model) as port,
    ):
        for number in map(int, options.workers.split(",")):
            with fresh_schema(server, f"fleet_{number}") as url:
                home = Home(Path(folder, str(number)), url)
                work = ordered_reviews if options.reviews else ordered_trial
                found = measured(home, number, model, port=port, work=work, rounds=options.rounds)
            rate, ideal = found.attempts / found.seconds, number * AT_ONCE / options.seconds
            cpu = " | ".join(f"{1000 * each / found.attempts:.0f}" for each in (found.workers_cpu, found.server_cpu))
            share = f"{rate / ideal:.0%}"
            print(f"| {number} | {found.attempts} | {rate:.2f} | {ideal:.2f} | {share} | {cpu} |", flush=True)


def measured(
    home: Home, workers: int, model: SlowModel, *, port: int, work: Callable[[Home, int], list[Order]], rounds: int
) -> Measured:
    prepare_home(home)
    (home.folder / "settings.toml").write_text(
        f'model = "slow:model"\n[providers.slow]\nbase_url = "http://127.0.0.1:{port}/v1"\n'
        "[background]\ntokens_per_day = 1000000000\n"
    )
    asked = work(home, workers * AT_ONCE * rounds)
    queue = Queue.REVIEWS if work is ordered_reviews else Queue.TRIALS
    model.times.clear()
    with given_orders(home) as orders, working(home, workers) as processes, psycopg.connect(home.database_url) as rows:
        [backend] = rows.execute("SELECT pg_backend_pid()").fetchone() or (0,)  # a pooler tells another one
        server = int(Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()[1])
        before = sum(map(cpu_seconds, processes)), server_seconds(server)
        ids = [orders.submit(each, queue) for each in asked]
        while any((last := orders.find(id)).is_open for id in ids):
            time.sleep(1)
        after = sum(map(cpu_seconds, processes)), server_seconds(server)
    if last.state is not WorkState.DONE:
        raise SystemExit(f"The work {last.state}: {last.error}")
    seconds = max(end for _, end in model.times) - min(begin for begin, _ in model.times)
    return Measured(workers, len(model.times), seconds, after[0] - before[0], after[1] - before[1])


def ordered_trial(home: Home, attempts: int) -> list[Order]:
    """One trial with so many attempts, half of them in each arm."""
    cases = tuple(
        Case(
            f"Question {number}?",
            name=f"question-{number}",
            check=Check(answer=TextDemand(contains=("yes",))),
            tools=("files",),
            budget=Limits(model_calls=3),
        )
        for number in range(attempts // 2)
    )
    rule = Patch(Form.RULE, Action.ADD, "say-yes", "Say yes to every question.", trust=Trust.USER)
    with opened(home) as database:
        return [order(prepare(home, database, WantedTrial(rule, cases, TrialDesign(placebo=False)), now=time.time()))]


def ordered_reviews(home: Home, reviews: int) -> list[Order]:
    """So many reviews, each of another session of the same words."""
    [said] = whet.read(Path(__file__).parents[1] / "examples" / "sessions" / "codex")
    assert isinstance(said, Transcript)
    sessions = [replace(said, native_id=f"{said.native_id}-{number}") for number in range(reviews)]
    with opened(home) as database:
        for each in sessions:
            keep(database, prepare_session(each), Provenance(each.native_id, 0.0, time.time()))
    ids = [session_id(each.source, each.native_id) for each in sessions]
    return [review.order(review.ReviewRequest(id, len(said.messages), ReviewKind.MEMORY)) for id in ids]


def cpu_seconds(process: int, *, with_ended: bool = False) -> float:
    """What a process has used, in user and system mode, and what its ended children have where they are asked for."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if with_ended else 13])) / os.sysconf("SC_CLK_TCK")


def server_seconds(server: int) -> float:
    """What a Postgres server has used with all its backends, those that ended included."""
    total = cpu_seconds(server, with_ended=True)
    for child in Path(f"/proc/{server}/task/{server}/children").read_text().split():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            total += cpu_seconds(int(child))
    return total


@contextlib.contextmanager
def working(home: Home, workers: int) -> Iterator[list[int]]:
    """So many workers, all of them ready: the ids of their processes."""
    environment = {**os.environ, "WHET_HOME": str(home.folder), "WHET_DATABASE_URL": home.database_url}
    command = [
        str(Path(sys.executable).with_name("whet")),
        "worker",
        "--queue",
        "trials",
        "--queue",
        "attempts",
        "--queue",
        "reviews",
        "--json",
    ]
    started = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(workers)]
    try:
        for worker in started:
            assert worker.stdout is not None
            if not worker.stdout.readline():
                raise SystemExit("A worker did not start.")
        # Each says that it works just before it does: it holds its lock, and a little later takes orders.
        with psycopg.connect(home.database_url, autocommit=True) as rows:
            while rows.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").fetchall()[0][0] < workers:
                time.sleep(0.5)
        time.sleep(2 + workers)
        yield [worker.pid for worker in started]
    finally:
        for worker in started:
            worker.terminate()
        for worker in started:
            worker.wait(60)
            assert worker.stdout is not None
            worker.stdout.close()


@contextlib.contextmanager
def listening(model: SlowModel) -> Iterator[int]:
    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            model.answer()
            is_stream = b'"stream":true' in body.replace(b" ", b"")
            answer = STREAM if is_stream else ANSWER
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


if __name__ == "__main__":
    main()
