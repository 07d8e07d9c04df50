"""What the tables of a team say besides: who made a row, as the database saw it, and the seal of the home that did.

A role cannot claim to be another: on a server a trigger names the maker, whatever the row says. A row that others
change is theirs from then on. In a file of one's own nobody else writes, and the maker of a row stays empty, except
in the ledger, which names the account.
"""

MAKERS = (
    "ALTER TABLE entries ADD COLUMN maker TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE entries ADD COLUMN seal TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE job_runs ADD COLUMN seal TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE sessions ADD COLUMN maker TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE analyses ADD COLUMN maker TEXT NOT NULL DEFAULT ''",
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
    # Whoever compares sessions with one another writes the scores of all.
    """CREATE TRIGGER analyses_have_a_maker BEFORE INSERT OR UPDATE OF session, head, version, record, maker ON analyses
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    """CREATE TRIGGER trial_materials_have_a_maker BEFORE INSERT OR UPDATE ON trial_materials
    FOR EACH ROW EXECUTE FUNCTION name_maker()""",
    # Two members may try the same thing: each has a row of their own.
    "ALTER TABLE trial_materials DROP CONSTRAINT trial_materials_pkey",
    "ALTER TABLE trial_materials ADD PRIMARY KEY (key, maker)",
)
