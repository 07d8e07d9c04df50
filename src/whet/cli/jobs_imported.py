"""Jobs of Hermes on their way in: each waits for a person."""

import os
import time
from pathlib import Path

from whet.agents.hermes import jobs as hermes_jobs
from whet.agents.hermes.jobs import HermesJob
from whet.context.zone import local_zone
from whet.store.disk import text_given

FILE_BYTES = 20_000_000
REASON = "a job of Hermes"


def read_jobs(file: Path, *, workdir: str, taken: tuple[str, ...]) -> tuple[HermesJob, ...]:
    """The jobs in a file of Hermes; `taken` are names that none of them gets."""
    place = hermes_jobs.HermesPlace(
        file.absolute().parent.parent,
        str(Path(os.path.expanduser(workdir or ".")).absolute()),
        local_zone(os.environ),
        time.time(),
    )
    return hermes_jobs.read(_text(file), place, taken=taken)


def _text(path: Path) -> str:
    return text_given(path, advice="Give Hermes' cron/jobs.json.", most=FILE_BYTES)
