"""Other agents' records, read into transcripts."""
