"""The job that improves every night: its script leaves the work to the worker, which survives a crash.

New sessions are read where a reader is set. Changes are tried only where the person named a budget for that.
"""

import re
import shlex
from collections.abc import Iterable

from whet.errors import WhetError
from whet.jobs.job import Job

NAME = "improve"
BUDGET = "--budget"


def nightly_job(at: str, options: Iterable[str] = (), *, program: str, timezone: str, now: float) -> Job:
    """The job for a time of day such as 03:30; raises WhetError for what is none."""
    found = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", at)
    if found is None:
        raise WhetError(f"{at} is not a time of day.", advice="Give a time such as 03:30.")
    given = tuple(options)
    words = ("try", "--background", *given) if BUDGET in given else ("learn", "--background")
    script = shlex.join([program, *words])
    return Job(NAME, f"{int(found[2])} {int(found[1])} * * *", timezone=timezone, script=script, added=now)
