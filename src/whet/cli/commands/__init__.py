"""One module a command; none is loaded before it is called."""
