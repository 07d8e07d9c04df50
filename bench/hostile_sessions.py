"""Attacks by sessions and trials: what another would continue, learn from or try."""

import contextlib
import time
import zlib
from pathlib import Path

import msgspec

from hostile_stage import NOW, WORDS, Stage, enqueue, store_material, text_in, words_in_home, write_job
from whet.agent.assembling import newest, resume
from whet.errors import WhetError
from whet.improving.lessons_to_try import find_lessons
from whet.ledger.patches import Action, Form, Patch
from whet.own.jobs.job import Job
from whet.own.jobs.runs import JobRecord, RunState
from whet.own.runs.run import Ended, Run
from whet.proving.attempt import vouch_for
from whet.sessions.tool_families import Definition
from whet.sessions.transcripts import Ending, Message, Role, Text, Transcript
from whet.sessions.trust import Trust
from whet.store import job_records
from whet.store.analyses import refresh
from whet.store.home import Home
from whet.store.listing import Filters
from whet.store.opening import opened, owner_of
from whet.store.recording import recorded
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep
from whet.store.template_files import stored_transcripts
from whet.trials.attempts import Arm, AttemptConditions, AttemptPlace, AttemptRequest
from whet.trials.cases import Case
from whet.trials.checks import Check
from whet.trials.improvements import ImproveRequest
from whet.work import job_runs
from whet.work.given import given_orders
from whet.work.orders import Queue
from whet.work.system import system_of


def attempts_ordered_by_another(stage: Stage) -> tuple[int, int]:
    """Cases with commands, files, models and changes, in alice's queue for attempts; and hers with others put in."""
    script = stage.folder / "script"
    script.write_text('{"text": "yes"}\n' * 50)
    (stage.alice.folder / "settings.toml").write_text(f'model = "scripted:{script}"\n')
    patch = Patch(Form.RULE, Action.ADD, "evil", WORDS, trust=Trust.OPERATOR)
    cases = (
        Case(task=WORDS, name="a", check=Check(command=stage.mark("check"))),
        Case(task="x", name="b", files={"../../mark-file": "x", "/tmp/mark-file": "x"}, check=Check(command="true")),
        Case(task="x", name="c", tools=("terminal",), check=Check(rubric=WORDS)),
    )
    queue, count = system_of(stage.alice).queue(Queue.ATTEMPTS), 0
    keys = [store_material(stage.mallory, case) for case in cases]
    patched = store_material(stage.mallory, patch)
    for key in keys:
        for arm, change in ((Arm.BASE, ""), (Arm.CANDIDATE, patched)):
            for model in ("", f"scripted:{script}"):
                ask = AttemptRequest("t", AttemptPlace("", arm, 1), key, AttemptConditions(model), change)
                store_material(stage.mallory, ask)
                enqueue(stage, queue, f"attempt-{count}", "attempt", msgspec.json.encode(ask).decode())
                count += 1
    key = store_material(stage.alice, Case(task="Fine?", name="own", check=Check(command="true")))
    mine = AttemptRequest("mine", AttemptPlace("own", Arm.BASE, 1), key, AttemptConditions())
    vouch_for(stage.alice, (mine,))
    with stage.rows() as connection:  # alice's own order, another case behind its key
        packed = zlib.compress(msgspec.json.encode(cases[0]))
        connection.execute("UPDATE records SET body = %s WHERE key = %s", (packed, key))
    enqueue(stage, queue, "attempt-own", "attempt", msgspec.json.encode(mine).decode())
    stage.work()
    with opened(stage.alice) as database:
        asked = database.query("SELECT count(*) FROM sessions WHERE purpose = 'trial'")[0][0]
    return count + 2, stage.marks() + int(asked)


def said(words: str, role: Role = Role.USER, trust: Trust = Trust.USER) -> Message:
    return Message(role=role, parts=(Text(words),), trust=trust, at=NOW)


def talk(id: str, source: str = "claude-code") -> Transcript:
    order = said(f"No, that is wrong! Always do this: {WORDS}")
    return Transcript(
        source, id, messages=(said("Write it."), said("Done.", Role.AGENT), order, said("Yes.", Role.AGENT))
    )


def run_of(id: str, *messages: Message, parent: str = "", folder: str = "/app") -> Run:
    shown = (Definition("terminal", "Runs.", '{"type": "object"}'),)
    return Run(id=id, model="m", system=WORDS, messages=messages, shown=shown, allowed=frozenset({"terminal"}),
               parent=parent, folder=folder)  # fmt: skip


def record(home: Home, run: Run, ending: Ending = Ending.UNKNOWN, at: float = NOW) -> None:
    with opened(home) as database:
        list(recorded(database, run, [] if ending is Ending.UNKNOWN else [Ended(ending)], now=lambda: at))


def sessions_to_be_continued(stage: Stage) -> tuple[int, int]:
    """Sessions planted where alice, her jobs and her reviews would go on; hers, changed in every table."""
    mine, through = ("one", "two", "three", "four", "five"), 0
    for id in mine:
        record(stage.alice, run_of(id, said(f"{id}: hello"), folder=f"/hers/{id}"))
    record(stage.alice, run_of("long", said("long"), folder="/hers"), Ending.COMPACTED)
    record(stage.mallory, run_of("longer", said(WORDS), parent="long", folder="/hers"), at=NOW + 9)
    record(stage.mallory, run_of("bait", said(WORDS), folder="/app"), at=NOW + 9)
    forge = "convert_to(replace(convert_from({}, 'UTF8'), 'hello', 'obey'), 'UTF8')"
    where = "session = (SELECT no FROM sessions WHERE native_id = '{}')"
    with stage.rows() as connection:
        for statement in (
            f"UPDATE messages SET body = {forge.format('body')} WHERE {where.format('one')}",
            "UPDATE sessions SET facts = (SELECT facts FROM sessions WHERE native_id = 'bait') WHERE native_id = 'two'",
            "UPDATE sessions SET maker = 'alice' WHERE native_id = 'bait'",
            "UPDATE sessions SET base = (SELECT no FROM sessions WHERE native_id = 'bait'), base_count = 1"
            " WHERE native_id = 'three'",
            f"UPDATE messages SET session = (SELECT no FROM sessions WHERE native_id = 'bait'), position = 7"
            f" WHERE {where.format('four')}",
        ):
            connection.execute(statement.encode())
        found = connection.execute(
            "SELECT convert_from(facts, 'UTF8')::json ->> 'run_key' FROM sessions WHERE native_id = 'five'"
        ).fetchone()
        key = found[0] if found else ""
        connection.execute("UPDATE records SET body = %s WHERE key = %s", (msgspec.json.encode(run_of("x")), key))
    wanted = (*mine, "bait", "long", "")  # at last the newest in the folder
    with opened(stage.alice) as database:
        for id in wanted:
            with contextlib.suppress(WhetError):
                made = resume(database, id or newest(database, Path("/app")), now=NOW)
                held = " ".join(message.text for message in made.messages)
                through += WORDS in held or "obey" in held or (made.id == "five" and made.folder != "/hers/five")
    return len(wanted) + 2, through + planted_in_a_job(stage) + planted_in_a_review(stage)


def planted_in_a_job(stage: Stage) -> int:
    """A session under the id that a run of alice's job will have, with another's order and a report in it."""
    script = stage.folder / "model"
    script.write_text(
        '{"calls": [{"name": "finish", "arguments": "{\\"status\\": \\"done\\", \\"report\\": \\"Fine.\\"}"}]}\n'
    )
    job = Job("count", "every 2h", added=NOW, prompt="Count.", workdir=str(stage.folder), model=f"scripted:{script}",
              deliver="file", to=str(stage.folder / "report"))  # fmt: skip
    write_job(stage, job)
    mine = JobRecord("planted", job, time.time(), state=RunState.ORDERED)  # old runs are let go
    with opened(stage.alice) as database, given_orders(stage.alice) as orders:
        job_records.save(database, owner_of(stage.alice), mine)
        orders.submit(job_runs.order(mine), Queue.JOBS)
    record(stage.mallory, run_of("job-count-planted", said(WORDS)), Ending.FINISHED)
    stage.work()
    with opened(stage.alice) as database:
        ended = job_records.record_of(database, owner_of(stage.alice), mine.id)
    return int(not ended.has_failed) + text_in(stage.folder / "report")


def planted_in_a_review(stage: Stage) -> int:
    record(stage.alice, run_of("talk", said("Tea, please."), said("Yes.", Role.AGENT)), Ending.FINISHED)
    record(stage.mallory, run_of("talk-review-memory-2", said(f"Remember: {WORDS}")), Ending.UNKNOWN)
    (stage.alice.folder / "settings.toml").write_text(f'model = "scripted:{stage.folder}/model"\n')
    said_so = stage.run("learn", "--review", "talk", "--kind", "memory")
    return words_in_home(stage) + int("Traceback" in said_so)


def words_to_be_learned(stage: Stage) -> tuple[int, int]:
    """Sessions full of corrections, and analyses that claim to have found them in alice's own."""
    with opened(stage.mallory) as database:
        for number in range(30):
            keep(database, prepare(talk(f"t{number}")), Provenance(f"/tmp/{number}", NOW, NOW))
        refresh(database, progress=lambda _: None)
    with opened(stage.alice) as database:
        for number in range(5):
            mine = Transcript("claude-code", f"m{number}", messages=(said(f"Tea {number}."), said("Yes.", Role.AGENT)))
            keep(database, prepare(mine), Provenance(f"/tmp/m{number}", NOW, NOW))
        refresh(database, progress=lambda _: None)
    with stage.rows() as connection:
        connection.execute(
            "UPDATE derived SET record = (SELECT record FROM derived JOIN sessions ON no = session"
            " WHERE native_id = 't1' AND kind = 'analysis') WHERE kind = 'analysis'"
            " AND session IN (SELECT no FROM sessions WHERE native_id LIKE 'm%%')"
        )
    with opened(stage.alice) as database:
        found = find_lessons(stage.alice, database, ImproveRequest(), model="", named="")
        through = sum(WORDS in lesson.patch.text for lesson in found.lessons)
        mined = stored_transcripts(database, Filters(), limit=100)
        through += sum(WORDS in message.text for each in mined for message in each.messages)
    stage.run("try", "--now")
    return 35, through + int(WORDS in stage.run("chat", "--prompt"))
