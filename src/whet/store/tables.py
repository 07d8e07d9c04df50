"""The statements that make the tables and their triggers, with `{word}` where the dialects differ.

One that ran anywhere never changes; what changes is a step after them (`MIGRATIONS` in `opening.py`).
"""

TABLES = (
    # A session that goes on from another one has its first `base_count` messages in that one, its `base`.
    """CREATE TABLE sessions (
        no {key},
        id TEXT NOT NULL UNIQUE,
        source TEXT NOT NULL, native_id TEXT NOT NULL, parent_id TEXT NOT NULL,
        title TEXT NOT NULL, model TEXT NOT NULL, folder TEXT NOT NULL, branch TEXT NOT NULL,
        purpose TEXT NOT NULL, ending TEXT NOT NULL, started {real}, ended {real},
        head {bytes} NOT NULL,
        message_count {number} NOT NULL,
        base {number} REFERENCES sessions (no),
        base_count {number} NOT NULL DEFAULT 0,
        input_tokens {number} NOT NULL, output_tokens {number} NOT NULL, cached_tokens {number} NOT NULL,
        cost_dollars {real},
        facts {bytes} NOT NULL,
        path TEXT NOT NULL,
        dated {real} NOT NULL,
        imported_at {real} NOT NULL,
        maker TEXT NOT NULL DEFAULT '',
        project TEXT NOT NULL DEFAULT ''
    )""",
    "CREATE INDEX sessions_by_time ON sessions (dated)",
    "CREATE INDEX sessions_by_base ON sessions (base)",
    "CREATE INDEX sessions_by_path ON sessions (path)",
    "CREATE INDEX sessions_by_parent ON sessions (parent_id)",
    """CREATE TABLE messages (
        no {key},
        id {bytes} NOT NULL UNIQUE,
        session {number} NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
        position {number} NOT NULL,
        role TEXT NOT NULL,
        at {real},
        model TEXT NOT NULL,
        body {bytes} NOT NULL,
        UNIQUE (session, position)
    )""",
    """CREATE TABLE uses (
        message {number} NOT NULL{of_a_message},
        tool TEXT NOT NULL,
        PRIMARY KEY (message, tool)
    )""",
    """CREATE TABLE files (
        path TEXT PRIMARY KEY,
        size {number} NOT NULL,
        modified {number} NOT NULL,
        reader TEXT NOT NULL,
        sessions {number} NOT NULL
    )""",
    # What imports left out of each file.
    """CREATE TABLE left_out (
        path TEXT NOT NULL, reason TEXT NOT NULL,
        number {number} NOT NULL, line {number} NOT NULL,
        PRIMARY KEY (path, reason)
    )""",
    """CREATE TABLE entries (
        number {number} PRIMARY KEY,
        step TEXT NOT NULL, form TEXT NOT NULL, name TEXT NOT NULL, home TEXT NOT NULL,
        ends {number} NOT NULL,
        at {real} NOT NULL,
        body {bytes} NOT NULL,
        maker TEXT NOT NULL DEFAULT '',
        seal TEXT NOT NULL DEFAULT '',
        hash {bytes}
    )""",
    "CREATE INDEX entries_by_step ON entries (step)",
    "CREATE INDEX entries_by_what_they_end ON entries (ends)",
    """CREATE TABLE job_marks (
        home TEXT NOT NULL, job TEXT NOT NULL,
        schedule TEXT NOT NULL,
        accounted {real} NOT NULL,
        made {number} NOT NULL,
        added {real} NOT NULL DEFAULT 0,
        PRIMARY KEY (home, job)
    )""",
    """CREATE TABLE job_runs (
        id TEXT PRIMARY KEY,
        home TEXT NOT NULL, job TEXT NOT NULL,
        scheduled {real} NOT NULL,
        state TEXT NOT NULL,
        handing TEXT NOT NULL,
        body {bytes} NOT NULL,
        seal TEXT NOT NULL DEFAULT ''
    )""",
    "CREATE INDEX job_runs_by_job ON job_runs (home, job, scheduled)",
    # What is measured in live sessions; `ids` are the sessions of a unit.
    """CREATE TABLE canary_counts (
        no {key},
        entry {number} NOT NULL, unit TEXT NOT NULL,
        told {number} NOT NULL,
        loss {real} NOT NULL,
        sessions {number} NOT NULL,
        at {real} NOT NULL,
        failed {number}, corrected {number}, unchecked {number}, tokens {number},
        ids TEXT NOT NULL DEFAULT '',
        UNIQUE (entry, unit)
    )""",
    """CREATE TABLE canary_deliveries (
        entry {number} NOT NULL, file TEXT NOT NULL, day TEXT NOT NULL,
        told {number} NOT NULL,
        agents TEXT NOT NULL, project TEXT NOT NULL,
        at {real} NOT NULL,
        PRIMARY KEY (entry, file, day)
    )""",
    # How a drawn session went stands with its draw; the first that was counted has the lowest number.
    """CREATE TABLE template_draws (
        lot TEXT PRIMARY KEY,
        session TEXT NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL, model TEXT NOT NULL,
        told {number} NOT NULL,
        share {real} NOT NULL,
        at {real} NOT NULL,
        loss {real}, sessions {number}, counted {number}
    )""",
    "CREATE INDEX template_draws_by_key ON template_draws (key, model)",
    # What sessions were told of rules, when they started and at a call, and what they drew. `told` is 0 only for a
    # draw that left the rule out. A session that was told nothing at its start has entry 0.
    """CREATE TABLE tellings (
        kind TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, entry {number} NOT NULL,
        told {number} NOT NULL DEFAULT 1,
        share {real} NOT NULL DEFAULT 1,
        at {real} NOT NULL,
        PRIMARY KEY (kind, agent, session, entry)
    )""",
    "CREATE INDEX tellings_by_entry ON tellings (entry)",
    # Skills that sessions read and templates that they began with: a text in one state in one session.
    """CREATE TABLE shown_texts (
        no {key},
        form TEXT NOT NULL, name TEXT NOT NULL, file TEXT NOT NULL, digest TEXT NOT NULL,
        session TEXT NOT NULL,
        at {real} NOT NULL
    )""",
    "CREATE INDEX shown_texts_by_digest ON shown_texts (form, digest)",
    "CREATE INDEX shown_texts_by_session ON shown_texts (session)",
    """CREATE TABLE background_calls (
        id TEXT PRIMARY KEY,
        home TEXT NOT NULL, day TEXT NOT NULL, purpose TEXT NOT NULL,
        tokens {number} NOT NULL,
        dollars {real},
        ended {number} NOT NULL,
        at {real} NOT NULL
    )""",
    "CREATE INDEX background_calls_by_day ON background_calls (home, day)",
    # The log of claims and of the sessions that were read for them. They name a session by its id and not by its row:
    # a record that is written anew has another row, and is read once.
    """CREATE TABLE claims (
        number {number} PRIMARY KEY,
        project TEXT NOT NULL,
        maker TEXT NOT NULL DEFAULT '',
        pass TEXT NOT NULL,
        at {real} NOT NULL,
        reader TEXT NOT NULL, author TEXT NOT NULL,
        claim TEXT NOT NULL,
        misplaced {number} NOT NULL,
        dropped TEXT NOT NULL,
        record {bytes} NOT NULL
    )""",
    "CREATE INDEX claims_by_project ON claims (project, maker, claim)",
    "CREATE INDEX claims_by_pass ON claims (pass)",
    """CREATE TABLE claim_quotes (
        claim {number} NOT NULL REFERENCES claims (number) ON DELETE CASCADE,
        place {number} NOT NULL,
        maker TEXT NOT NULL DEFAULT '',
        session TEXT NOT NULL, message {number} NOT NULL, words TEXT NOT NULL,
        head {bytes}, checked {bytes},
        PRIMARY KEY (claim, place)
    )""",
    "CREATE INDEX claim_quotes_by_session ON claim_quotes (session)",
    # `judged` says which messages a reader took for corrections; nothing where it did not say.
    """CREATE TABLE sessions_read (
        session TEXT NOT NULL,
        maker TEXT NOT NULL DEFAULT '',
        project TEXT NOT NULL, pass TEXT NOT NULL,
        head {bytes} NOT NULL,
        messages {number} NOT NULL,
        at {real} NOT NULL,
        judged {bytes},
        PRIMARY KEY (session, maker, pass)
    )""",
    "CREATE INDEX sessions_read_by_pass ON sessions_read (pass)",
    # What is derived from sessions. `name` tells rows of members or projects apart, `session` is 0 for a project.
    # `made_from` is the head of the session, or the numbers of the project's sessions.
    """CREATE TABLE derived (
        kind TEXT NOT NULL,
        session {number} NOT NULL,
        name TEXT NOT NULL DEFAULT '',
        maker TEXT NOT NULL DEFAULT '',
        version TEXT NOT NULL,
        made_from {bytes} NOT NULL,
        counts {number} NOT NULL DEFAULT 1,
        record {bytes} NOT NULL,
        PRIMARY KEY (kind, session, name)
    ) {clustered}""",
    "CREATE INDEX derived_by_session ON derived (session)",
    # Values by their key: prompts, runs, and what trials are made of and came to.
    """CREATE TABLE records (
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        maker TEXT NOT NULL DEFAULT '',
        body {bytes} NOT NULL,
        at {real} NOT NULL,
        PRIMARY KEY (kind, key, maker)
    )""",
)
OF_A_FILE = (
    """CREATE VIRTUAL TABLE message_index USING fts5 (
        words, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
    )""",
    "INSERT INTO message_index (message_index, rank) VALUES ('hashsize', 16777216)",
    "INSERT INTO message_index (message_index, rank) VALUES ('pgsz', 16000)",
    "INSERT INTO message_index (message_index, rank) VALUES ('automerge', 16)",
    """CREATE TRIGGER messages_leave_the_index AFTER DELETE ON messages BEGIN
        DELETE FROM message_index WHERE rowid = old.no;
    END""",
    """CREATE TRIGGER entries_stay_as_they_are BEFORE UPDATE ON entries BEGIN
        SELECT RAISE(ABORT, 'an entry of the ledger is never changed');
    END""",
    """CREATE TRIGGER entries_stay BEFORE DELETE ON entries BEGIN
        SELECT RAISE(ABORT, 'an entry of the ledger is never removed');
    END""",
    # INSERT OR REPLACE would remove a row without its trigger; a number that follows the last is none's.
    """CREATE TRIGGER entries_follow_one_another BEFORE INSERT ON entries
    WHEN new.number <> (SELECT coalesce(max(number), 0) + 1 FROM entries) BEGIN
        SELECT RAISE(ABORT, 'an entry of the ledger follows the last one');
    END""",
    """CREATE TRIGGER derived_goes_with_its_sessions AFTER DELETE ON sessions BEGIN
        DELETE FROM derived WHERE session = old.no;
        DELETE FROM derived WHERE kind = 'lessons' AND session = 0
            AND instr(made_from, CAST(' ' || old.no || ' ' AS BLOB)) > 0;
    END""",
)
# Where a session's messages are held may change without its words changing: those are covered by its head.
SESSION_WORDS = (
    "id, source, native_id, parent_id, title, model, folder, branch, purpose, ending, started, ended, head,"
    " message_count, facts, path, dated, maker"
)
OF_A_TEAM = (
    # Rows of these are only ever added together with their message: a reference would be looked up for every one.
    "CREATE TABLE message_index (message BIGINT NOT NULL, words TSVECTOR NOT NULL)",
    # Words of new messages wait in a list and enter the index together: each word once, not once a message, in a third
    # of the time. A search reads the list too, which takes it a millisecond for a megabyte. The limit is in KiB.
    "CREATE INDEX message_index_by_words ON message_index USING gin (words)"
    " WITH (fastupdate = on, gin_pending_list_limit = 1024)",
    "CREATE INDEX message_index_by_message ON message_index (message)",
    # They still go with it, whoever removes it.
    """CREATE FUNCTION drop_uses_and_words() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog AS $$ BEGIN
        EXECUTE format('DELETE FROM %I.uses USING gone WHERE message = gone.no', tg_table_schema);
        EXECUTE format('DELETE FROM %I.message_index USING gone WHERE message = gone.no', tg_table_schema);
        RETURN NULL;
    END $$""",
    """CREATE TRIGGER uses_and_words_go_with_their_messages AFTER DELETE ON messages
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION drop_uses_and_words()""",
    """CREATE FUNCTION keep_entries() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'an entry of the ledger is never changed or removed';
    END $$""",
    """CREATE TRIGGER entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION keep_entries()""",
    """CREATE FUNCTION follow_entries() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF new.number <> (SELECT coalesce(max(number), 0) + 1 FROM entries) THEN
            RAISE EXCEPTION 'an entry of the ledger follows the last one';
        END IF;
        RETURN new;
    END $$""",
    """CREATE TRIGGER entries_follow_one_another BEFORE INSERT ON entries
    FOR EACH ROW EXECUTE FUNCTION follow_entries()""",
    # Who made a row, as the database saw it: a role cannot claim to be another, whatever the row says. A row that
    # others change is theirs from then on. In a file of one's own nobody else writes, and the maker of a row stays
    # empty, except in the ledger, which names the account.
    """CREATE FUNCTION name_maker() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        new.maker := session_user;
        RETURN new;
    END $$""",
    "CREATE TRIGGER entries_have_a_maker BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION name_maker()",
    f"""CREATE TRIGGER sessions_have_a_maker BEFORE INSERT OR UPDATE OF {SESSION_WORDS} ON sessions
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    *(
        f"CREATE TRIGGER {trigger} BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION name_maker()"
        for trigger, table in (
            ("claims_have_a_maker", "claims"),
            ("claim_quotes_have_a_maker", "claim_quotes"),
            ("sessions_read_have_a_maker", "sessions_read"),
            ("derived_has_a_maker", "derived"),
        )
    ),
    # Two members may try the same thing: each has material of their own. The rest is everybody's.
    """CREATE FUNCTION name_maker_of_material() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        new.maker := CASE new.kind WHEN 'material' THEN session_user ELSE '' END;
        RETURN new;
    END $$""",
    """CREATE TRIGGER material_has_a_maker BEFORE INSERT OR UPDATE ON records
    FOR EACH ROW EXECUTE FUNCTION name_maker_of_material()""",
    # Whoever forgets a session removes what every member derived from it.
    """CREATE FUNCTION drop_derived() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog AS $$ BEGIN
        EXECUTE format('DELETE FROM %I.derived WHERE session = $1', tg_table_schema) USING old.no;
        EXECUTE format('DELETE FROM %I.derived WHERE kind = ''lessons'' AND session = 0'
            ' AND position($1 in made_from) > 0', tg_table_schema) USING convert_to(' ' || old.no || ' ', 'UTF8');
        RETURN NULL;
    END $$""",
    """CREATE TRIGGER derived_goes_with_its_sessions AFTER DELETE ON sessions
    FOR EACH ROW EXECUTE FUNCTION drop_derived()""",
)
