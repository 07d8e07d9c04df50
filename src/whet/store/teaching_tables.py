"""The table of what each session teaches, with `{word}` where the dialects differ."""

TEACHINGS = (
    """CREATE TABLE teachings (
        session {number} PRIMARY KEY REFERENCES sessions (no) ON DELETE CASCADE,
        head {bytes} NOT NULL,
        version {number} NOT NULL,
        record {bytes} NOT NULL,
        maker TEXT NOT NULL DEFAULT ''
    )""",
)

TEACHINGS_OF_A_TEAM = (
    """CREATE TRIGGER teachings_have_a_maker BEFORE INSERT OR UPDATE ON teachings
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    # Whoever may write analyses may write these, so that a team goes on after its owner has migrated.
    """DO $$ DECLARE member TEXT; BEGIN
        FOR member IN SELECT DISTINCT grantee FROM information_schema.role_table_grants
            WHERE table_schema = current_schema() AND table_name = 'analyses' AND privilege_type = 'INSERT'
            AND grantee NOT IN (current_user, 'PUBLIC')
        LOOP
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON teachings TO %I', member);
        END LOOP;
    END $$""",
)
