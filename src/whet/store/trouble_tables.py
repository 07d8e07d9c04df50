"""The table of the trouble of each session, with `{word}` where the dialects differ."""

SESSION_TROUBLES = (
    # `record` has all but the words of people, which stand in `words`: roll-ups read many records and no words.
    """CREATE TABLE session_troubles (
        session {number} PRIMARY KEY REFERENCES analyses (session) ON DELETE CASCADE,
        counts {number} NOT NULL,
        heads {bytes} NOT NULL,
        checks {bytes} NOT NULL,
        record {bytes} NOT NULL,
        words {bytes} NOT NULL
    )""",
)
SESSION_TROUBLES_OF_A_TEAM = (
    # Whoever may write analyses may write these, so that a team goes on after its owner has migrated.
    """DO $$ DECLARE member TEXT; BEGIN
        FOR member IN SELECT DISTINCT grantee FROM information_schema.role_table_grants
            WHERE table_schema = current_schema() AND table_name = 'analyses' AND privilege_type = 'INSERT'
            AND grantee NOT IN (current_user, 'PUBLIC')
        LOOP
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON session_troubles TO %I', member);
        END LOOP;
    END $$""",
    """CREATE TRIGGER session_troubles_have_a_maker BEFORE INSERT OR UPDATE ON session_troubles
    FOR EACH ROW EXECUTE FUNCTION keep_to_its_maker()""",
)
