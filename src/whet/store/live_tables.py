"""The tables of what is measured in live sessions, with `{word}` where the dialects differ."""

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

SESSION_DRAWS_OF_A_TEAM = (
    # Whoever may write deliveries may write these, so that a team goes on after its owner has migrated.
    """DO $$ DECLARE member TEXT; BEGIN
        FOR member IN SELECT DISTINCT grantee FROM information_schema.role_table_grants
            WHERE table_schema = current_schema() AND table_name = 'canary_deliveries' AND privilege_type = 'INSERT'
            AND grantee NOT IN (current_user, 'PUBLIC')
        LOOP
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON session_draws, session_tellings TO %I', member);
        END LOOP;
    END $$""",
)
