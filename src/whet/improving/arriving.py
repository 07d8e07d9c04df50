"""Sessions of other agents as they end: what their hooks left is imported, analysed and counted for each canary."""

import os
import time

from whet.engine.orders import Done, Steps
from whet.hooks.arrivals import take_spool
from whet.improving.template_ideas import propose_templates
from whet.improving.watch import look
from whet.secrets.redactor import secret_values
from whet.store.analyses import refresh
from whet.store.home import Home
from whet.store.opening import opened


def arrive(home: Home, steps: Steps, body: str) -> Done:  # noqa: ARG001 - it looks at all there is
    """Take in what waits. What was taken in before a crash is not taken in again."""

    def act() -> str:
        with opened(home) as database:
            taken = take_spool(home, database, secrets=secret_values(os.environ), now=time.time())
            refresh(database, progress=lambda _: None)
            look(home, database, now=time.time())
            propose_templates(home, database, now=time.time())
        return f"{taken.report.sessions} sessions from {taken.done} files, {len(taken.kept)} could not be read"

    return Done(steps.do("take in", act, str))
