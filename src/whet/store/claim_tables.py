"""The log of claims and of the sessions that were read for them, with `{word}` where the dialects differ.

They name a session by its id and not by its row: a record that is written anew has another row, and is not read again.
"""

from whet.store.database import Database

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
    # Of each session the calls that patterns are counted in; made anew at any time.
    """CREATE TABLE session_calls (
        session {number} NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
        maker TEXT NOT NULL DEFAULT '',
        head {bytes} NOT NULL,
        version {number} NOT NULL,
        record {bytes} NOT NULL,
        PRIMARY KEY (session, maker)
    )""",
)

CLAIMS_OF_A_TEAM = (
    """CREATE TRIGGER claims_have_a_maker BEFORE INSERT OR UPDATE ON claims
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    """CREATE TRIGGER claim_quotes_have_a_maker BEFORE INSERT OR UPDATE ON claim_quotes
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    """CREATE TRIGGER sessions_read_have_a_maker BEFORE INSERT OR UPDATE ON sessions_read
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    """CREATE TRIGGER session_calls_have_a_maker BEFORE INSERT OR UPDATE ON session_calls
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    # Whoever may write what sessions teach may write these, so that a team goes on after its owner has migrated.
    """DO $$ DECLARE member TEXT; BEGIN
        FOR member IN SELECT DISTINCT grantee FROM information_schema.role_table_grants
            WHERE table_schema = current_schema() AND table_name = 'teachings' AND privilege_type = 'INSERT'
            AND grantee NOT IN (current_user, 'PUBLIC')
        LOOP
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE'
                ' ON claims, claim_quotes, sessions_read, session_calls TO %I', member);
        END LOOP;
    END $$""",
)

# First what was claimed of this session, or without a quote in a pass that read it, and has no quote from another one.
FORGOTTEN = (
    """DELETE FROM claims WHERE (pass IN (SELECT pass FROM sessions_read WHERE session = ?)
        OR claim IN (SELECT o.claim FROM claims AS o JOIN claim_quotes AS q ON q.claim = o.number WHERE q.session = ?))
        AND NOT EXISTS (SELECT 1 FROM claims AS o JOIN claim_quotes AS q ON q.claim = o.number
            WHERE q.session <> ? AND o.claim <> '' AND o.claim = claims.claim
            AND o.project = claims.project AND o.maker = claims.maker)""",
    "DELETE FROM claim_quotes WHERE session = ?",
    "DELETE FROM sessions_read WHERE session = ?",
)


def forget_claims(database: Database, session: str) -> None:
    """Remove the quotes from a session, whoever's reader made them, and the claims that rest on no other session."""
    for statement in FORGOTTEN:
        database.execute(statement, (session,) * statement.count("?"))
