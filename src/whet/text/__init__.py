"""Words, tokens and quoting: what can be said of any text."""
