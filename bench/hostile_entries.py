"""Attacks by the ledger: entries on another home's files, rules for its prompt, and names of others."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import psycopg
from msgspec.structs import replace

from hostile_stage import NOW, WORDS, Stage, text_in, words_in_home
from team import ALICE, MALLORY
from whet.changes.apply import apply, redo, settle, undo
from whet.changes.pending import approve
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Action, Form, Patch, digest
from whet.sessions.trust import Trust
from whet.store.ledger import ledger_of
from whet.store.opening import identity_of, opened
from whet.telling.context.gathering import rules_in_force


def insert_entry(connection: Any, entry: Entry, *, maker: str = "", seal: str = "") -> None:
    [number] = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM entries").fetchone()
    connection.execute(
        "INSERT INTO entries (number, step, form, name, home, ends, at, body, maker, seal)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        (number, entry.step.value, entry.patch.form.value, entry.patch.name, entry.home, 0, entry.at,
         msgspec.json.encode(replace(entry, number=number)), maker, seal),
    )  # fmt: skip


def patches_of_files(stage: Stage) -> Iterator[Patch]:
    job = f'schedule = "every 2h"\nscript = "{stage.mark("job")}"\n'
    skill = f"---\nname: evil\ndescription: {WORDS}\n---\n{WORDS}\n"
    yield Patch(Form.JOB, Action.ADD, "evil", job, trust=Trust.OPERATOR)
    yield Patch(Form.SKILL, Action.ADD, "evil", skill, trust=Trust.OPERATOR)
    yield Patch(Form.FILE, Action.ADD, "there/scripts/evil.sh", stage.mark("file"), trust=Trust.OPERATOR)
    yield Patch(Form.NOTE, Action.ADD, "memory/evil", WORDS, trust=Trust.OPERATOR)
    yield Patch(Form.TEMPLATE, Action.ADD, "evil", json.dumps({"text": WORDS}), trust=Trust.OPERATOR)


def entries_on_anothers_files(stage: Stage) -> tuple[int, int]:
    """Changes begun, applied, undone, redone, proposed and approved in alice's name; then alice does all she can."""
    own = identity_of(stage.alice)
    note = Patch(Form.NOTE, Action.ADD, "memory/tea", "The tea is in the tin.", trust=Trust.OPERATOR)
    with opened(stage.alice) as database:
        apply(stage.alice, database, note, actor=Actor.PERSON, now=NOW)
    count = 0
    with stage.rows() as connection:
        for patch in patches_of_files(stage):
            made = Entry(0, Step.APPLIED, patch, Actor.PERSON, NOW, after=patch.after, home=own)
            begun = replace(made, step=Step.BEGUN, intends=Step.APPLIED, batch=2)
            there = replace(begun, patch=note, after=note.after)
            back = replace(
                made, before=digest("x"), after="", patch=replace(patch, action=Action.REMOVE), replaced=patch.text
            )
            for entry in (
                there,
                begun,
                made,
                back,
                replace(made, step=Step.PROPOSED),
                replace(made, step=Step.APPROVED),
            ):
                for maker in ("", ALICE):
                    insert_entry(connection, entry, maker=maker, seal="0" * 32)
                    count += 1
    with opened(stage.alice) as database:
        settle(stage.alice, ledger_of(stage.alice, database), now=NOW)
        for number in range(1, count + 2):
            with contextlib.suppress(WhetError):
                approve(stage.alice, database, number, actor=Actor.PERSON, now=NOW)
        for act in (undo, redo, undo, undo, redo):
            with contextlib.suppress(WhetError):
                act(stage.alice, database, actor=Actor.PERSON, now=NOW)
    stage.work()
    return count, words_in_home(stage) + stage.marks()


def rules_in_anothers_prompt(stage: Stage) -> tuple[int, int]:
    """Rules applied, tried and approved, of every trust and by every actor, as oneself, as nobody and as alice."""
    count = 0
    with stage.rows() as connection:
        for trust in Trust:
            for actor in Actor:
                for step, share in ((Step.APPLIED, 0.0), (Step.CANARY, 0.999)):
                    name = f"{trust.label}-{actor}-{step}"
                    patch = Patch(Form.RULE, Action.ADD, name, f"{WORDS} ({name})", trust=trust)
                    made = Entry(0, step, patch, actor, NOW, after=patch.after, share=share)
                    for entry in (replace(made, step=Step.APPROVED), made):
                        for maker in ("", ALICE, "whet"):
                            insert_entry(connection, replace(entry, maker=maker), maker=maker)
                            count += 1
    target = stage.folder / "AGENTS.md"
    target.write_text("Be kind.\n")
    stage.run("sync", "add", str(target))
    stage.run("sync")
    with opened(stage.alice) as database:
        told = rules_in_force(ledger_of(stage.alice, database).entries(), draw_id="any")
    through = sum(WORDS in rule.text for rule in told)
    return count, through + int(WORDS in stage.run("chat", "--prompt")) + text_in(target)


def makers_claimed(stage: Stage) -> tuple[int, int]:
    """Ways to be recorded as somebody else."""
    patch = Patch(Form.RULE, Action.ADD, "mine", WORDS, trust=Trust.OPERATOR)
    made = Entry(0, Step.APPLIED, patch, Actor.PERSON, NOW, after=patch.after)
    ways = (
        "SET SESSION AUTHORIZATION alice",
        "SET ROLE alice",
        "ALTER TABLE entries DISABLE TRIGGER ALL",
        "SET session_replication_role = replica",
        "DROP TRIGGER entries_have_a_maker ON entries",
        "CREATE OR REPLACE FUNCTION name_maker() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'",
        "ALTER TABLE entries ALTER COLUMN maker SET DEFAULT 'alice'",
        "CREATE TRIGGER z BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION name_maker()",
        "GRANT alice TO mallory",
        "UPDATE entries SET maker = 'alice'",
    )
    for way in ways:
        with stage.rows() as connection:
            with contextlib.suppress(psycopg.Error):
                connection.execute(way.encode())
            with contextlib.suppress(psycopg.Error):
                insert_entry(connection, replace(made, maker=ALICE), maker=ALICE)
    with stage.rows() as connection, contextlib.suppress(psycopg.Error), connection.cursor() as cursor:
        [(number,)] = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM entries").fetchall()
        with cursor.copy("COPY entries (number, step, form, name, home, ends, at, body, maker) FROM STDIN") as copy:
            copy.write_row((number, "applied", "rule", "mine", "", 0, NOW, msgspec.json.encode(made), ALICE))
    with opened(stage.alice) as database:
        found = database.query("SELECT count(*) FROM entries WHERE maker <> ?", (MALLORY,))
    return len(ways) + 1, int(found[0][0]) + int(WORDS in stage.run("chat", "--prompt"))
