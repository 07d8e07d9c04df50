"""A worker for the tests, as a program: it dies where it is told to, once, by kill -9."""

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from whet.own.runs.run import Spent
from whet.store.home import Home, find_home
from whet.values import Value
from whet.work.orders import Done, Failed, Procedure, Procedures, Queue, Steps, Unsure, encoded
from whet.work.worker import launched

STEPS = ("first", "second", "third")
LETTER = "letter"
PAID = Spent(model_calls=1, input=70, output=5, dollars=0.25)


def die_at(folder: Path, point: str) -> None:
    """Die by kill -9 at the point that the test named; the point is taken away, so that it happens once."""
    try:
        (folder / f"die-{point}").rename(folder / f"died-{point}")
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def effect(folder: Path, name: str) -> Callable[[], str]:
    """Write a line for each time that it is run, between two points of death."""

    def run() -> str:
        die_at(folder, f"before-{name}")
        with (folder / name).open("a") as file:
            file.write(f"{os.getpid()}\n")
        die_at(folder, f"after-{name}")
        return name

    return run


def tale(_home: Home, steps: Steps, body: str) -> Done:
    """Three steps that may be repeated, and one that may not."""
    folder = Path(body)
    told = [steps.do(name, effect(folder, name), str) for name in STEPS]
    die_at(folder, "between")
    try:
        told.append(steps.once(LETTER, effect(folder, LETTER), str))
    except Unsure:
        told.append("unsure")
    return Done(summary=" ".join(told))


def crowd(_home: Home, steps: Steps, body: str) -> Done:
    """Many parts, spread over the workers."""
    folder = Path(body)
    asks = ((f"{steps.id}/{number}", f"{folder}/part-{number}") for number in range(12))
    values = steps.spread("part", asks, str)
    return Done(summary=f"{len(set(values))} parts")


def part(_home: Home, steps: Steps, body: str) -> Done:
    path = Path(body)
    steps.do("write", effect(path.parent, path.name), str)
    return Done(value=f'"{path.name}"')


class Load(Value, frozen=True):
    """A request, and what a step gives."""

    folder: str
    queues: tuple[Queue, ...] = ()


def carrying(_home: Home, steps: Steps, load: Load) -> Done:
    """Steps that give values, between which the worker can die."""
    first = steps.do("first", lambda: Load(load.folder, (Queue.JOBS,)), Load)
    die_at(Path(first.folder), "between")
    return Done(value=encoded(steps.once("letter", lambda: Load(first.folder, (*first.queues, *load.queues)), Load)))


def failing(_home: Home, steps: Steps, body: str) -> Done:
    """Fails until the file is there."""

    def need() -> str:
        if not Path(body).exists():
            raise Failed("The file is not there.", advice="Make it.", spent=PAID)
        return "there"

    steps.do("before", effect(Path(body).parent, "before"), str)
    return Done(summary=steps.do("need", need, str))


def leading(_home: Home, steps: Steps, body: str) -> Done:
    """Three parts, one of which fails until the file is there."""
    folder = Path(body)
    parts = (("part", f"{folder}/one"), ("needy", f"{folder}/needed"), ("part", f"{folder}/two"))
    for kind, path in parts:
        steps.spread(kind, ((f"{steps.id}/{path}", path),), str)
    return Done(summary="led")


def shy(_home: Home, steps: Steps, body: str) -> Done:
    """A part that is put back twice."""
    path = Path(body)
    steps.do("write", effect(path.parent, path.name), str)
    is_ready = len(path.read_text().splitlines()) > 2
    return Done(value=f'"{path.name}"') if is_ready else Done(put_back="not yet")


def patient(_home: Home, steps: Steps, body: str) -> Done:
    """Two shy parts, and then a step that fails until the file is there."""
    folder = Path(body)
    values = steps.spread("shy", [(f"{steps.id}/{number}", f"{folder}/shy-{number}") for number in range(2)], str)
    failing(_home, steps, f"{folder}/needed")
    return Done(summary=" ".join(values).replace('"', ""))


def rolling(_home: Home, steps: Steps, body: str) -> Done:
    """Forty parts, of which only four are wanted in the end."""
    folder = Path(body)
    asks = [(f"{steps.id}/{number}", f"{folder}/part-{number}") for number in range(40)]
    ahead = iter(asks)
    first = steps.spread("part", asks[:2], str, ahead=ahead)
    die_at(folder, "between")
    second = steps.spread("part", asks[2:4], str, ahead=ahead)
    steps.withdraw()
    return Done(summary=" ".join(first + second).replace('"', ""))


def endless(_home: Home, steps: Steps, body: str) -> Done:
    """Runs until it is told to stop."""

    def wait() -> str:
        Path(body).touch()
        return "stopped" if steps.interrupt.wait(600) else "never stopped"

    return Done(summary=steps.do("wait", wait, str))


def overtaken(_home: Home, steps: Steps, body: str) -> Done:
    """Is in its first step while the store becomes newer than its worker."""
    folder = Path(body)

    def wait() -> str:
        effect(folder, "begun")()
        while not (folder / "is-newer").exists():
            time.sleep(0.1)
        time.sleep(1.1)  # longer than the last look at the version counts
        return ""

    steps.do("wait", wait, str)
    return Done(summary=steps.do("after", lambda: "ended", str))


def deadly(_home: Home, steps: Steps, body: str) -> Done:
    """Kills every worker that touches it."""

    def kill() -> str:
        with Path(body).open("a") as file:
            file.write("x")
        os.kill(os.getpid(), signal.SIGKILL)
        return ""

    return Done(summary=steps.do("kill", kill, str))


PROCEDURES: Procedures = {
    "tale": Procedure(Queue.JOBS, tale, str),
    "crowd": Procedure(Queue.TRIALS, crowd, str),
    "part": Procedure(Queue.ATTEMPTS, part, str),
    "carrying": Procedure(Queue.JOBS, carrying, Load),
    "failing": Procedure(Queue.JOBS, failing, str),
    "needy": Procedure(Queue.ATTEMPTS, failing, str),
    "leading": Procedure(Queue.TRIALS, leading, str),
    "shy": Procedure(Queue.ATTEMPTS, shy, str),
    "patient": Procedure(Queue.TRIALS, patient, str),
    "rolling": Procedure(Queue.TRIALS, rolling, str),
    "endless": Procedure(Queue.JOBS, endless, str),
    "overtaken": Procedure(Queue.REVIEWS, overtaken, str),
    "deadly": Procedure(Queue.JOBS, deadly, str),
}


def main(procedures: Procedures = PROCEDURES, queues: Sequence[Queue] = tuple(Queue), *, concurrency: int = 1) -> None:
    """Work until nothing is left."""
    with launched(find_home(os.environ), procedures, queues=queues, concurrency=concurrency) as worker:
        while True:
            worker.look_after()
            if worker.is_idle():
                break
            time.sleep(0.1)


def one_after_another(work: Callable[[], None], *, most: int) -> list[int]:
    """How workers ended, of which each goes on where the one before died: forks, so that all is loaded once."""
    ends: list[int] = []
    while not ends or (ends[-1] < 0 and len(ends) < most):
        child = os.fork()
        if child == 0:
            work()
            os._exit(0)
        ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    return ends


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.stdout.write(" ".join(map(str, one_after_another(main, most=int(sys.argv[1])))))
    else:
        main()
