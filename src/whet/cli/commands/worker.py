"""whet worker: carry out the work that waits."""

import os
import signal
import sys
from threading import Event
from typing import TYPE_CHECKING

import click

from whet.cli.options import json_option
from whet.cli.output import print_json_line, say

if TYPE_CHECKING:
    from whet.engine.orders import Queue
    from whet.store.home import Home

QUEUES = ("reviews", "jobs", "trials", "attempts", "chores")
LOOK_SECONDS = 2.0


@click.command(
    "worker",
    epilog="Example: whet worker --queue reviews --queue jobs",
    help="Run queued work: reviews, jobs and trials. Several workers can share the queues. If a worker is killed, "
    "the next one resumes its work. Ctrl-C stops it after the current steps, a second Ctrl-C at once.",
)
@click.option(
    "--queue",
    "queues",
    multiple=True,
    type=click.Choice(QUEUES),
    help="Process only this queue. Repeatable. Default: all queues.",
)
@click.option("--concurrency", default=2, type=click.IntRange(1, 64), help="Maximum number of tasks at once per queue.")
@click.option("--until-idle", is_flag=True, help="Stop when nothing is left to do.")
@json_option
def command(queues: tuple[str, ...], concurrency: int, until_idle: bool, as_json: bool) -> int:
    import whet.engine.library  # noqa: F401 - says what is missing before anything is promised
    from whet.engine.orders import Queue
    from whet.store.home import find_home

    chosen = [Queue(name) for name in queues or QUEUES]
    home = find_home(os.environ)
    if until_idle:
        return work_off(home, chosen, concurrency=concurrency)
    if as_json:
        print_json_line({"queues": [queue.value for queue in chosen]})
        sys.stdout.flush()
    else:
        say(f"Working on {', '.join(chosen)}. To list the work, run `whet work`. Ctrl-C stops.")
    return work_off(home, chosen, concurrency=concurrency, until_idle=False)


def work_off(home: "Home", queues: "list[Queue]", *, concurrency: int, until_idle: bool = True) -> int:
    """Carry out what waits on some queues, until nothing is left or somebody stops it."""
    from whet.cli.procedures import with_clock
    from whet.engine.worker import launched
    from whet.text.characters import safe

    def tell(trouble: str) -> None:
        click.echo(safe(f"{trouble} Waiting for it." if trouble else "The server is back."), err=True)

    stop = _stopping()
    with launched(home, with_clock(), queues=queues, concurrency=concurrency, tell=tell) as worker:
        while not stop.is_set():
            worker.look_after()
            if until_idle and (worker.is_idle() or worker.is_held_up()):
                break
            stop.wait(LOOK_SECONDS)
    return 0


def _stopping() -> Event:
    """Set by Ctrl-C and by a polite kill; the second one ends the program at once, as a crash does."""
    stop = Event()

    def heed(number: int, _frame: object) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, heed)
    return stop
