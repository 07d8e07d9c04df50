"""The statements that make the tables and their triggers, with `{word}` where the dialects differ.

`migrations` puts them in order. A statement that ran anywhere never changes.
"""

# Lets whoever may write one table write others too, so that a team goes on after its owner has migrated.
GRANTED = """DO $$ DECLARE member TEXT; BEGIN
    FOR member IN SELECT DISTINCT grantee FROM information_schema.role_table_grants
        WHERE table_schema = current_schema() AND table_name = '{like}' AND privilege_type = 'INSERT'
        AND grantee NOT IN (current_user, 'PUBLIC')
    LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO %I', member);
    END LOOP;
END $$"""

# The tables of jobs.
JOBS = (
    """CREATE TABLE job_marks (
        home TEXT NOT NULL,
        job TEXT NOT NULL,
        schedule TEXT NOT NULL,
        accounted {real} NOT NULL,
        made {number} NOT NULL,
        PRIMARY KEY (home, job)
    )""",
    """CREATE TABLE job_runs (
        id TEXT PRIMARY KEY,
        home TEXT NOT NULL,
        job TEXT NOT NULL,
        scheduled {real} NOT NULL,
        state TEXT NOT NULL,
        handing TEXT NOT NULL,
        body {bytes} NOT NULL
    )""",
    "CREATE INDEX job_runs_by_job ON job_runs (home, job, scheduled)",
)

JOBS_ADDED = (
    "ALTER TABLE job_marks ADD COLUMN added {real} NOT NULL DEFAULT 0",
    "UPDATE job_marks SET"
    " added = CAST(substr(schedule, length(rtrim(schedule, replace(schedule, ' ', ''))) + 1) AS {real}),"
    " schedule = rtrim(rtrim(schedule, replace(schedule, ' ', ''))) WHERE schedule <> ''",
)

# What the tables of a team say besides: who made a row, as the database saw it, and the seal of the home that did.
#
# A role cannot claim to be another: on a server a trigger names the maker, whatever the row says. A row that others
# change is theirs from then on. In a file of one's own nobody else writes, and the maker of a row stays empty, except
# in the ledger, which names the account.
MAKERS = (
    "ALTER TABLE entries ADD COLUMN maker TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE entries ADD COLUMN seal TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE job_runs ADD COLUMN seal TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE sessions ADD COLUMN maker TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE trial_materials ADD COLUMN maker TEXT NOT NULL DEFAULT ''",
)

# Where a session's messages are held may change without its words changing: those are covered by its head.
SESSION_WORDS = (
    "id, source, native_id, parent_id, title, model, folder, branch, purpose, ending, started, ended, head,"
    " message_count, facts, path, dated, maker"
)

MAKER_TRIGGERS = (
    """CREATE FUNCTION name_maker() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        new.maker := session_user;
        RETURN new;
    END $$""",
    "CREATE TRIGGER entries_have_a_maker BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION name_maker()",
    f"""CREATE TRIGGER sessions_have_a_maker BEFORE INSERT OR UPDATE OF {SESSION_WORDS} ON sessions
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    """CREATE TRIGGER trial_materials_have_a_maker BEFORE INSERT OR UPDATE ON trial_materials
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    # Two members may try the same thing: each has a row of their own.
    "ALTER TABLE trial_materials DROP CONSTRAINT trial_materials_pkey",
    "ALTER TABLE trial_materials ADD PRIMARY KEY (key, maker)",
)

# The tables of what is measured in live sessions.
CANARIES = (
    """CREATE TABLE canary_counts (
        no {key},
        entry {number} NOT NULL,
        unit TEXT NOT NULL,
        told {number} NOT NULL,
        loss {real} NOT NULL,
        sessions {number} NOT NULL,
        at {real} NOT NULL,
        UNIQUE (entry, unit)
    )""",
    """CREATE TABLE canary_deliveries (
        entry {number} NOT NULL,
        file TEXT NOT NULL,
        day TEXT NOT NULL,
        told {number} NOT NULL,
        agents TEXT NOT NULL,
        project TEXT NOT NULL,
        at {real} NOT NULL,
        PRIMARY KEY (entry, file, day)
    )""",
)

CANARY_MEASURES = tuple(
    f"ALTER TABLE canary_counts ADD COLUMN {column} {{number}}"
    for column in ("failed", "corrected", "unchecked", "tokens")
)

# The sessions of each unit, by their ids; empty for what an earlier version counted.
CANARY_SESSIONS = ("ALTER TABLE canary_counts ADD COLUMN ids TEXT NOT NULL DEFAULT ''",)

TEMPLATE_DRAWS = (
    """CREATE TABLE template_draws (
        lot TEXT PRIMARY KEY,
        session TEXT NOT NULL,
        key TEXT NOT NULL,
        name TEXT NOT NULL,
        model TEXT NOT NULL,
        told {number} NOT NULL,
        share {real} NOT NULL,
        at {real} NOT NULL
    )""",
    "CREATE INDEX template_draws_by_key ON template_draws (key, model)",
    """CREATE TABLE template_counts (
        no {key},
        lot TEXT NOT NULL UNIQUE,
        loss {real} NOT NULL,
        sessions {number} NOT NULL,
        at {real} NOT NULL
    )""",
)

SESSION_DRAWS = (
    """CREATE TABLE session_draws (
        entry {number} NOT NULL,
        agent TEXT NOT NULL,
        session TEXT NOT NULL,
        told {number} NOT NULL,
        share {real} NOT NULL,
        at {real} NOT NULL,
        PRIMARY KEY (entry, agent, session)
    )""",
    """CREATE TABLE session_tellings (
        agent TEXT NOT NULL,
        session TEXT NOT NULL,
        entries TEXT NOT NULL,
        at {real} NOT NULL,
        PRIMARY KEY (agent, session)
    )""",
)

SESSION_DRAWS_OF_A_TEAM = (GRANTED.format(tables="session_draws, session_tellings", like="canary_deliveries"),)

# The table of model calls in the background.
BACKGROUND_CALLS = (
    """CREATE TABLE background_calls (
        id TEXT PRIMARY KEY,
        home TEXT NOT NULL,
        day TEXT NOT NULL,
        purpose TEXT NOT NULL,
        tokens {number} NOT NULL,
        dollars {real},
        ended {number} NOT NULL,
        at {real} NOT NULL
    )""",
    "CREATE INDEX background_calls_by_day ON background_calls (home, day)",
)

BACKGROUND_CALLS_OF_A_TEAM = (GRANTED.format(tables="background_calls", like="job_runs"),)

# The table of where a rule was reminded of.
REMINDERS = (
    """CREATE TABLE session_reminders (
        agent TEXT NOT NULL,
        session TEXT NOT NULL,
        entry {number} NOT NULL,
        at {real} NOT NULL,
        PRIMARY KEY (agent, session, entry)
    )""",
)
REMINDERS_OF_A_TEAM = (GRANTED.format(tables="session_reminders", like="session_tellings"),)

# How Postgres takes many messages at once: their words by the megabyte, and what goes with them by the statement.
MESSAGES_IN_BULK = (
    # Words of new messages wait in a list and enter the index together: each word once, not once a message, in a third
    # of the time. A search reads the list too, which takes it a millisecond for a megabyte.
    "ALTER INDEX message_index_by_words SET (fastupdate = on, gin_pending_list_limit = 1024)",  # in KiB
    # A reference is looked up for every row that is added; these rows are only ever added together with their message.
    "ALTER TABLE uses DROP CONSTRAINT IF EXISTS uses_message_fkey",
    "ALTER TABLE message_index DROP CONSTRAINT IF EXISTS message_index_message_fkey",
    # They still go with it, whoever removes it.
    """CREATE FUNCTION drop_uses_and_words() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog AS $$ BEGIN
        EXECUTE format('DELETE FROM %I.uses USING gone WHERE message = gone.no', tg_table_schema);
        EXECUTE format('DELETE FROM %I.message_index USING gone WHERE message = gone.no', tg_table_schema);
        RETURN NULL;
    END $$""",
    """CREATE TRIGGER uses_and_words_go_with_their_messages AFTER DELETE ON messages
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION drop_uses_and_words()""",
)

# The log of claims and of the sessions that were read for them.
#
# They name a session by its id and not by its row: a record that is written anew has another row, and is read once.
CLAIMS = (
    """CREATE TABLE claims (
        number {number} PRIMARY KEY,
        project TEXT NOT NULL,
        maker TEXT NOT NULL DEFAULT '',
        pass TEXT NOT NULL,
        at {real} NOT NULL,
        reader TEXT NOT NULL,
        author TEXT NOT NULL,
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
        session TEXT NOT NULL,
        message {number} NOT NULL,
        words TEXT NOT NULL,
        head {bytes},
        checked {bytes},
        PRIMARY KEY (claim, place)
    )""",
    "CREATE INDEX claim_quotes_by_session ON claim_quotes (session)",
    """CREATE TABLE sessions_read (
        session TEXT NOT NULL,
        maker TEXT NOT NULL DEFAULT '',
        project TEXT NOT NULL,
        pass TEXT NOT NULL,
        head {bytes} NOT NULL,
        messages {number} NOT NULL,
        at {real} NOT NULL,
        PRIMARY KEY (session, maker, pass)
    )""",
    "CREATE INDEX sessions_read_by_pass ON sessions_read (pass)",
)

CLAIMS_OF_A_TEAM = (
    """CREATE TRIGGER claims_have_a_maker BEFORE INSERT OR UPDATE ON claims
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    """CREATE TRIGGER claim_quotes_have_a_maker BEFORE INSERT OR UPDATE ON claim_quotes
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    """CREATE TRIGGER sessions_read_have_a_maker BEFORE INSERT OR UPDATE ON sessions_read
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    GRANTED.format(tables="claims, claim_quotes, sessions_read", like="sessions"),
)

# Which messages of people a reader took for corrections; nothing where it did not say.
CORRECTIONS_READ = ("ALTER TABLE sessions_read ADD COLUMN judged {bytes}",)

# What is derived from sessions, in one table. What stood in eight others is made again, so the steps that made these
# do nothing any more: a store that took them has them dropped.
DERIVED = (
    # `name` tells rows of members or projects apart, `session` is 0 for a project. `made_from` is the head of the
    # session, or the numbers of the project's sessions.
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
)
DERIVED_OF_A_FILE = (
    "DROP TRIGGER IF EXISTS lessons_go_with_their_sessions",
    """CREATE TRIGGER derived_goes_with_its_sessions AFTER DELETE ON sessions BEGIN
        DELETE FROM derived WHERE session = old.no;
        DELETE FROM derived WHERE kind = 'lessons' AND session = 0
            AND instr(made_from, CAST(' ' || old.no || ' ' AS BLOB)) > 0;
    END""",
)
DERIVED_OF_A_TEAM = (
    """CREATE TRIGGER derived_has_a_maker BEFORE INSERT OR UPDATE ON derived
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    "DROP TRIGGER IF EXISTS lessons_go_with_their_sessions ON sessions",
    "DROP FUNCTION IF EXISTS drop_lessons",
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
    GRANTED.format(tables="derived", like="sessions"),
)
FORMER = (
    "call_counts",
    "analyses_in_short",
    "session_troubles",
    "analyses",
    "teachings",
    "rule_findings",
    "session_calls",
    "project_lessons",
)
FORMER_TRIGGER = """CREATE TRIGGER lessons_go_with_their_sessions AFTER DELETE ON sessions BEGIN
    DELETE FROM project_lessons WHERE instr(sessions, ' ' || old.no || ' ') > 0;
END"""
WITHOUT_FORMER = tuple(f"DROP TABLE IF EXISTS {table}" for table in FORMER)
WITHOUT_FORMER_OF_A_TEAM = ("DROP FUNCTION IF EXISTS keep_to_its_maker",)

# Values by their key, in one table: prompts, runs, and what trials are made of and came to.
RECORDS = (
    """CREATE TABLE records (
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        maker TEXT NOT NULL DEFAULT '',
        body {bytes} NOT NULL,
        at {real} NOT NULL,
        PRIMARY KEY (kind, key, maker)
    )""",
    "INSERT INTO records (kind, key, body, at) SELECT 'prompt', key, body, created FROM prompts",
    "INSERT INTO records (kind, key, body, at) SELECT 'run', key, body, created FROM runs",
    "INSERT INTO records (kind, key, maker, body, at)"
    " SELECT 'material', key, maker, body, created FROM trial_materials",
    "INSERT INTO records (kind, key, body, at) SELECT 'attempt', key, body, created FROM attempts",
    "INSERT INTO records (kind, key, body, at) SELECT 'trial', id, body, changed FROM trials",
    "INSERT INTO records (kind, key, body, at) SELECT 'worth', key || ' ' || no, body, at FROM template_worths",
)
RECORDS_OF_A_TEAM = (
    # Two members may try the same thing: each has material of their own. The rest is everybody's.
    """CREATE FUNCTION name_maker_of_material() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        new.maker := CASE new.kind WHEN 'material' THEN session_user ELSE '' END;
        RETURN new;
    END $$""",
    """CREATE TRIGGER material_has_a_maker BEFORE INSERT OR UPDATE ON records
    FOR EACH ROW EXECUTE FUNCTION name_maker_of_material()""",
    GRANTED.format(tables="records", like="attempts"),
)

# What sessions were told of rules, when they started and at a call, and what they drew.
TELLINGS = (
    # `told` is 0 only for a draw that left the rule out. A session that was told nothing at its start has entry 0.
    """CREATE TABLE tellings (
        kind TEXT NOT NULL,
        agent TEXT NOT NULL,
        session TEXT NOT NULL,
        entry {number} NOT NULL,
        told {number} NOT NULL DEFAULT 1,
        share {real} NOT NULL DEFAULT 1,
        at {real} NOT NULL,
        PRIMARY KEY (kind, agent, session, entry)
    )""",
    "CREATE INDEX tellings_by_entry ON tellings (entry)",
    "INSERT INTO tellings (kind, agent, session, entry, told, share, at)"
    " SELECT 'draw', agent, session, entry, told, share, at FROM session_draws",
    "INSERT INTO tellings (kind, agent, session, entry, at)"
    " SELECT 'reminder', agent, session, entry, at FROM session_reminders",
    "INSERT INTO tellings (kind, agent, session, entry, at)"
    " SELECT 'start', agent, session, 0, at FROM session_tellings",
)
TELLINGS_OF_A_FILE = (
    """INSERT INTO tellings (kind, agent, session, entry, at)
    SELECT DISTINCT 'start', t.agent, t.session, CAST(word.value AS INTEGER), t.at FROM session_tellings AS t
    JOIN json_each('["' || replace(t.entries, ' ', '","') || '"]') AS word
    WHERE word.value <> '' AND word.value NOT GLOB '*[^0-9]*'""",
)
TELLINGS_OF_A_TEAM = (
    """INSERT INTO tellings (kind, agent, session, entry, at)
    SELECT DISTINCT 'start', t.agent, t.session, CAST(word AS BIGINT), t.at FROM session_tellings AS t
    CROSS JOIN unnest(string_to_array(t.entries, ' ')) AS word WHERE word ~ '^[0-9]+$'""",
    GRANTED.format(tables="tellings", like="session_tellings"),
)

# Skills that sessions read and templates that they began with: the same thing, a text in one state in one session.
SHOWN_TEXTS = (
    """CREATE TABLE shown_texts (
        no {key},
        form TEXT NOT NULL,
        name TEXT NOT NULL,
        file TEXT NOT NULL,
        digest TEXT NOT NULL,
        session TEXT NOT NULL,
        at {real} NOT NULL
    )""",
    "CREATE INDEX shown_texts_by_digest ON shown_texts (form, digest)",
    "CREATE INDEX shown_texts_by_session ON shown_texts (session)",
    "INSERT INTO shown_texts (form, name, file, digest, session, at)"
    " SELECT 'skill', skill, file, digest, session, at FROM skill_views ORDER BY no",
    "INSERT INTO shown_texts (form, name, file, digest, session, at)"
    " SELECT 'template', '', '', key, session, at FROM template_uses ORDER BY no",
)
SHOWN_TEXTS_OF_A_TEAM = (GRANTED.format(tables="shown_texts", like="skill_views"),)

# How a drawn session went stands with its draw.
COUNTED_DRAWS = (
    "ALTER TABLE template_draws ADD COLUMN loss {real}",
    "ALTER TABLE template_draws ADD COLUMN sessions {number}",
    "ALTER TABLE template_draws ADD COLUMN counted {number}",  # the first that was counted has the lowest number
    """UPDATE template_draws SET
        loss = (SELECT c.loss FROM template_counts AS c WHERE c.lot = template_draws.lot),
        sessions = (SELECT c.sessions FROM template_counts AS c WHERE c.lot = template_draws.lot),
        counted = (SELECT c.no FROM template_counts AS c WHERE c.lot = template_draws.lot)""",
)
WITHOUT_MERGED = tuple(
    f"DROP TABLE {table}"
    for table in (
        "prompts",
        "runs",
        "trial_materials",
        "attempts",
        "trials",
        "template_worths",
        "session_draws",
        "session_tellings",
        "session_reminders",
        "skill_views",
        "template_uses",
        "template_counts",
    )
)

# What imports left out of each file.
LEFT_OUT = (
    """CREATE TABLE left_out (
        path TEXT NOT NULL,
        reason TEXT NOT NULL,
        number {number} NOT NULL,
        line {number} NOT NULL,
        PRIMARY KEY (path, reason)
    )""",
    # Files that held no session are read once more, so that their reasons are known too.
    "DELETE FROM files WHERE sessions = 0",
)
LEFT_OUT_OF_A_TEAM = (GRANTED.format(tables="left_out", like="files"),)
