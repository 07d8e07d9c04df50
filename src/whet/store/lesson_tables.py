"""The table of what each project taught when it was last looked at, with `{word}` where the dialects differ.

A row goes with any session that it was made from, so that nothing of a forgotten one stays.
"""

PROJECT_LESSONS = (
    """CREATE TABLE project_lessons (
        project TEXT NOT NULL,
        maker TEXT NOT NULL DEFAULT '',
        key TEXT NOT NULL,
        sessions TEXT NOT NULL,
        record {bytes} NOT NULL,
        PRIMARY KEY (project, maker)
    )""",
)

PROJECT_LESSONS_OF_A_FILE = (
    """CREATE TRIGGER lessons_go_with_their_sessions AFTER DELETE ON sessions BEGIN
        DELETE FROM project_lessons WHERE instr(sessions, ' ' || old.no || ' ') > 0;
    END""",
)

PROJECT_LESSONS_OF_A_TEAM = (
    """CREATE TRIGGER project_lessons_have_a_maker BEFORE INSERT OR UPDATE ON project_lessons
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    # Whoever forgets a session removes what every member learned from it.
    """CREATE FUNCTION drop_lessons() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog AS $$ BEGIN
        EXECUTE format('DELETE FROM %I.project_lessons WHERE position($1 in sessions) > 0', tg_table_schema)
            USING ' ' || old.no || ' ';
        RETURN NULL;
    END $$""",
    """CREATE TRIGGER lessons_go_with_their_sessions AFTER DELETE ON sessions
    FOR EACH ROW EXECUTE FUNCTION drop_lessons()""",
    """DO $$ DECLARE member TEXT; BEGIN
        FOR member IN SELECT DISTINCT grantee FROM information_schema.role_table_grants
            WHERE table_schema = current_schema() AND table_name = 'teachings' AND privilege_type = 'INSERT'
            AND grantee NOT IN (current_user, 'PUBLIC')
        LOOP
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON project_lessons TO %I', member);
        END LOOP;
    END $$""",
)
