"""The statements of the files that agents read: what each one names, and what can be shown of it."""
