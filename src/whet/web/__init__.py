"""A page on this machine: what sessions, lessons, trials and the ledger hold, to look at and to decide on."""
