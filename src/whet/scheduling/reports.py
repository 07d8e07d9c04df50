"""Reports on their way to people: to a file, a command, a webhook or standard output."""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from whet.errors import WhetError
from whet.jobs.job import address, expect_address
from whet.jobs.runs import JobRecord, letter, moment
from whet.net.http import Client, Waits, route_to
from whet.net.interrupting import Interrupted
from whet.net.wire import TransportFailed
from whet.scheduling.programs import Program, run
from whet.store import files

COMMAND_SECONDS = 60.0
WEBHOOK_SECONDS = 30.0
TRIES = 5
SHOWN_CHARACTERS = 300


class Surroundings(NamedTuple):
    """What a delivery is made with."""

    folder: Path  # of the job
    environment: Mapping[str, str]
    interrupt: Event
    command_seconds: float = COMMAND_SECONDS


def may_be_repeated(record: JobRecord) -> bool:
    """Whether handing over twice leaves what handing over once does. A sent message cannot be taken back."""
    return record.job.deliver == "file"


def deliver(record: JobRecord, surroundings: Surroundings) -> None:
    """Hand a report over; raises WhetError where it did not arrive."""
    match record.job.deliver:
        case "file":
            _to_file(record, surroundings)
        case "command":
            _to_command(record, surroundings)
        case "webhook":
            _to_webhook(record, surroundings)
        case "stdout":
            sys.stdout.buffer.write(letter(record).encode(errors="replace"))
            sys.stdout.buffer.flush()
        case "none":
            return


def _to_file(record: JobRecord, surroundings: Surroundings) -> None:
    """Written whole or not at all. A report that stands there already is not added again."""
    target = Path(os.path.expanduser(address(record.job.to, surroundings.environment)))
    place = files.at(surroundings.folder / target)
    if not place.root.is_dir():
        raise WhetError(f"There is no folder {place.root}.", advice="Create it, or deliver to another file.")
    text = letter(record)
    for attempt in range(1, TRIES + 1):
        old = files.read(place)
        before = files.decoded(old or b"", place.path)
        if text in before and not (record.job.replace and before != text):
            return
        after = text if record.job.replace or not before else f"{before.rstrip()}\n\n{text}"
        try:
            files.write(place, after.encode(), expected=old)
            return
        except files.Conflict:
            if attempt == TRIES:
                raise


def _to_command(record: JobRecord, surroundings: Surroundings) -> None:
    line = address(record.job.to, surroundings.environment)
    program = Program(
        line,
        surroundings.folder,
        {**surroundings.environment, "WHET_RUN": record.id},
        surroundings.command_seconds,
        letter(record),
    )
    ran = run(program, interrupt=surroundings.interrupt)
    if ran.exit_code != 0:
        why = "did not end in time and was killed" if ran.exit_code is None else f"exited with {ran.exit_code}"
        raise WhetError(f"The command {why}.", advice=ran.output.strip()[-SHOWN_CHARACTERS:])


def _to_webhook(record: JobRecord, surroundings: Surroundings) -> None:
    url = address(record.job.to, surroundings.environment)
    expect_address(url)
    parts = urlsplit(url)
    client = Client(
        route_to(f"{parts.scheme}://{parts.netloc}", surroundings.environment),
        now=time.monotonic,
        waits=Waits(bytes_seconds=WEBHOOK_SECONDS),
    )
    headers = {"Content-Type": "application/json", "Idempotency-Key": record.id, "User-Agent": "whet"}
    path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    try:
        response = client.post(path, headers, msgspec.json.encode(message(record)), interrupt=surroundings.interrupt)
        status = response.status
        response.end()
    except TransportFailed as failure:
        raise WhetError(f"The webhook could not be reached: {failure.message}.", advice=failure.advice) from failure
    except Interrupted as error:
        raise WhetError("The delivery was stopped.", advice="Whet will try again.") from error
    if not 200 <= status < 300:
        raise WhetError(f"The webhook answered with status {status}.", advice="Check its address.")


def message(record: JobRecord) -> dict[str, object]:
    """What a webhook is sent."""
    result = record.result
    if result is None:
        raise AssertionError("only a finished run has a report")
    return {
        "job": record.job.name,
        "run": record.id,
        "scheduled": moment(record.scheduled),
        "outcome": result.outcome.value,
        "report": result.report,
        "error": result.error,
        "notes": result.notes,
        "exit_code": result.exit_code,
        "missed": record.missed_count,
        "session": result.session,
        "model": result.model,
        "provider": result.provider,
        "text": letter(record),
    }
