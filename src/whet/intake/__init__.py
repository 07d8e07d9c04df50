"""Other agents' records on disk, found, read, redacted and kept in the store."""
