"""How Postgres takes many messages at once: their words by the megabyte, and what goes with them by the statement."""

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
