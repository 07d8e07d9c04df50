"""Attacks by the engine's rows: orders, remembered steps, pickles and schedules."""

import base64
import contextlib
import json
import os
import pickle
import subprocess
from typing import Any

import msgspec
from msgspec.structs import replace

from hostile_jobs import evil_jobs, good, states, write_run
from hostile_sessions import talk
from hostile_stage import NOW, SECONDS, WHET, WORDS, Stage, enqueue, store_material, text_in, words_in_home, write_job
from whet.cli.procedures import with_clock
from whet.own.jobs.runs import DeliveryOutcome, JobOutcome, JobRecord, JobResult, RunState
from whet.store import job_records
from whet.store.opening import opened, owner_of
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep
from whet.trials.attempts import Arm, AttemptConditions, AttemptPlace, AttemptRequest
from whet.trials.cases import Case
from whet.trials.checks import Check
from whet.work import job_runs
from whet.work.given import WORKFLOW, given_orders
from whet.work.orders import Order, Queue
from whet.work.system import NAME, system_of


def orders_in_anothers_queue(stage: Stage) -> tuple[int, int]:
    """Every kind of order, in every queue of alice's, without a seal, with a made-up one and with mallory's own."""
    write_job(stage, good(stage))
    (stage.alice.folder / "settings.toml").write_text(f'model = "scripted:{stage.folder}/script"\n')
    record = next(states(next(evil_jobs(stage)), "forged"))
    with stage.rows() as connection:
        write_run(connection, stage.alice, record)
    case = Case(task=WORDS, name="evil", check=Check(command=stage.mark("check")), tools=("terminal",))
    with opened(stage.mallory) as database:
        keep(database, prepare(talk("planted")), Provenance("/tmp/x", NOW, NOW))
    case_key = store_material(stage.mallory, case)
    ask = AttemptRequest("t", AttemptPlace("", Arm.BASE, 1), case_key, AttemptConditions())
    bodies = {
        "job": msgspec.json.encode(job_runs.JobRequest(record.id)).decode(),
        "delivery": msgspec.json.encode(job_runs.JobRequest(record.id)).decode(),
        "review": '{"session": "planted", "messages": 2, "kind": "memory"}',
        "attempt": msgspec.json.encode(ask).decode(),
    }
    system, theirs = system_of(stage.alice), owner_of(stage.mallory)
    count = 0
    for queue in Queue:
        for kind in with_clock():
            body = bodies.get(kind, "{}")
            for seal in ("", "0" * 32, theirs.seal(WORKFLOW, kind, body)):
                enqueue(stage, system.queue(queue), f"{kind}-{count}", kind, body, seal)
                count += 1
    stage.work()
    with opened(stage.alice) as database:
        made = database.query("SELECT count(*) FROM sessions WHERE native_id <> 'planted'")[0][0]
    return count, stage.marks() + int(made) + words_in_home(stage)


def remembered_steps(stage: Stage) -> tuple[int, int]:
    """What a job's steps are said to have given, in all forms, before alice's worker has begun it."""
    write_job(stage, good(stage))
    jobs = list(evil_jobs(stage))
    count = 0
    with opened(stage.alice) as database, given_orders(stage.alice) as orders:
        for number, job in enumerate(jobs):
            record = JobRecord(f"mine{number}", good(stage), NOW + number, state=RunState.ORDERED)
            job_records.save(database, owner_of(stage.alice), record)
            id = orders.submit(job_runs.order(record), Queue.JOBS)
            forged = replace(record, job=job, state=RunState.RUNNING)
            ended = replace(
                forged, state=RunState.ENDED, handing=DeliveryOutcome.WAITING, result=JobResult(JobOutcome.DONE, WORDS)
            )
            values = (("begin", job_runs.RunStart(forged)), ("script: begin", None), ("record", ended))
            for place, (name, value) in enumerate(values[: number % len(values) + 1], start=1):
                plant(stage, id, place, name, value, sealed=bool(number % 2))
                count += 1
    stage.work()
    return count, stage.marks() + text_in(stage.folder / "out")


def plant(stage: Stage, id: str, place: int, name: str, value: Any, *, sealed: bool) -> None:
    text = msgspec.json.encode({"value": msgspec.json.encode(value).decode()}).decode()
    stored = f"{'0' * 32}\n{text}" if sealed else text
    with stage.rows() as connection:
        connection.execute(
            f"INSERT INTO {stage.shop.engine}.operation_outputs (workflow_uuid, function_id, function_name, output,"
            " serialization, retention_timestamp) VALUES (%s, %s, %s, %s, 'portable_json', 0)".encode(),
            (id, place, name, json.dumps(stored)),
        )


class Bomb:
    """What a pickle can be: a command."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (self.command,)


def pickles(stage: Stage) -> tuple[int, int]:
    """In every column of the engine that is decoded, before every command that reads one."""
    engine, count = stage.shop.engine, 0
    with given_orders(stage.alice) as orders:
        ids = [orders.submit(Order("watch", f"k{number}"), Queue.CHORES) for number in range(4)]

    def bomb(name: str) -> str:
        return base64.b64encode(pickle.dumps(Bomb(stage.mark(name)))).decode()

    columns = {
        "workflow_input": ("inputs",),
        "workflow_output": ("output", "error"),
        "workflow_status": ("inputs", "output", "error"),
    }
    with stage.rows() as connection:
        for id in ids:
            connection.execute(f"INSERT INTO {engine}.workflow_output VALUES (%s, '', '', 0)".encode(), (id,))
            connection.execute(
                f"INSERT INTO {engine}.operation_outputs (workflow_uuid, function_id, function_name, output, error,"
                " serialization, retention_timestamp) VALUES (%s, 1, 'look', %s, %s, 'py_pickle', 0)".encode(),
                (id, bomb(f"step-{id}"), bomb(f"error-{id}")),
            )
            count += 2
        for table, names in columns.items():
            for name in names:
                text = bomb(f"{table}-{name}")
                connection.execute(f"UPDATE {engine}.{table} SET {name} = %s".encode(), (text,))
                count += 1
        connection.execute(f"UPDATE {engine}.workflow_status SET serialization = 'py_pickle'".encode())
        states = ("ENQUEUED", "SUCCESS", "ERROR", "CANCELLED")
        for id, state in zip(ids, states, strict=True):
            connection.execute(
                f"UPDATE {engine}.workflow_status SET status = %s WHERE workflow_uuid = %s".encode(), (state, id)
            )
        connection.execute(
            f"INSERT INTO {engine}.workflow_schedules (schedule_id, schedule_name, workflow_name, schedule, context)"
            " VALUES ('x', 'x', 'carry_out', '* * * * * *', %s)".encode(),
            (bomb("schedule"),),
        )
        count += 1
    for command in (("worker", "list"), ("worker", "list", "--all", "--json"), *(("worker", "list", id) for id in ids)):
        stage.run(*command)
    stage.work()
    return count, stage.marks()


def schedules(stage: Stage) -> tuple[int, int]:
    """Schedules that order what mallory likes, once a second, in alice's queues."""
    write_job(stage, good(stage))
    record = next(states(next(evil_jobs(stage)), "forged"))
    system = system_of(stage.alice)
    with stage.rows() as connection:
        write_run(connection, stage.alice, record)
        for number, queue in enumerate(Queue):
            connection.execute(
                f"INSERT INTO {stage.shop.engine}.workflow_schedules (schedule_id, schedule_name, workflow_name,"
                " schedule, context, queue_name, application_name)"
                " VALUES (%s, %s, 'carry_out', '* * * * * *', %s, %s, %s)".encode(),
                (f"s{number}", f"s{number}", json.dumps(f'{{"run": "{record.id}"}}'), system.queue(queue), NAME),
            )
    environment = {**os.environ, "WHET_HOME": str(stage.alice.folder), "WHET_DATABASE_URL": stage.alice.database_url}
    worker = subprocess.Popen([WHET, "worker"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        worker.wait(timeout=15)
    worker.terminate()
    worker.wait(timeout=SECONDS)
    return len(Queue), stage.marks()
