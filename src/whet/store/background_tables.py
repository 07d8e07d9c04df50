"""The table of model calls in the background, with `{word}` where the dialects differ."""

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

BACKGROUND_CALLS_OF_A_TEAM = (
    # Whoever may write runs of jobs may write these, so that a team goes on after its owner has migrated.
    """DO $$ DECLARE member TEXT; BEGIN
        FOR member IN SELECT DISTINCT grantee FROM information_schema.role_table_grants
            WHERE table_schema = current_schema() AND table_name = 'job_runs' AND privilege_type = 'INSERT'
            AND grantee NOT IN (current_user, 'PUBLIC')
        LOOP
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON background_calls TO %I', member);
        END LOOP;
    END $$""",
)
