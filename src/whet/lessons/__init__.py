"""What sessions teach: the person's words, recoveries, facts of the place and remedies, found, merged and written."""
