"""A worker for the tests of a lost server, as a program: its orders wait until the server was away."""

import time
from pathlib import Path

from whet.store.home import Home
from whet.store.opening import opened
from whet.work.orders import Done, Procedure, Procedures, Queue, Steps
from work.engine_worker import effect, main

LOOK_SECONDS = 0.1


def enduring(home: Home, steps: Steps, body: str) -> Done:
    """A step that may not be repeated and one that uses the store, both under way while the server is away."""
    path = Path(body)

    def wait() -> str:
        done = effect(path.parent, path.name)()
        while not (path.parent / "is-back").exists():
            time.sleep(LOOK_SECONDS)
        return done

    def look_up() -> str:
        with opened(home) as database:
            (path.parent / f"{path.name}-opened").touch()
            while not (path.parent / "is-back-again").exists():
                time.sleep(LOOK_SECONDS)
            with database.writing():
                [(count,)] = database.query("SELECT count(*) FROM sessions")
        return str(count)

    return Done(summary=steps.once("wait", wait, str), value=f'"{steps.do("look up", look_up, str)}"')


PROCEDURES: Procedures = {"enduring": Procedure(Queue.ATTEMPTS, enduring, str)}


if __name__ == "__main__":
    main(PROCEDURES, [Queue.ATTEMPTS], concurrency=2)
