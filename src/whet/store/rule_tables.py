"""The tables of what sessions say of rules, and where a rule was reminded of; `{word}` where the dialects differ."""

RULE_FINDINGS = (
    """CREATE TABLE rule_findings (
        session {number} NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
        maker TEXT NOT NULL DEFAULT '',
        head {bytes} NOT NULL,
        record {bytes} NOT NULL,
        PRIMARY KEY (session, maker)
    )""",
    """CREATE TABLE session_reminders (
        agent TEXT NOT NULL,
        session TEXT NOT NULL,
        entry {number} NOT NULL,
        at {real} NOT NULL,
        PRIMARY KEY (agent, session, entry)
    )""",
)

RULE_FINDINGS_OF_A_TEAM = (
    """CREATE TRIGGER rule_findings_have_a_maker BEFORE INSERT OR UPDATE ON rule_findings
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    # Whoever may write what sessions were told may write these, so that a team goes on after its owner has migrated.
    """DO $$ DECLARE member TEXT; BEGIN
        FOR member IN SELECT DISTINCT grantee FROM information_schema.role_table_grants
            WHERE table_schema = current_schema() AND table_name = 'session_tellings' AND privilege_type = 'INSERT'
            AND grantee NOT IN (current_user, 'PUBLIC')
        LOOP
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON rule_findings, session_reminders TO %I', member);
        END LOOP;
    END $$""",
)
