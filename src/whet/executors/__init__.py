"""Other agents as runners of attempts: a workspace, a config home, one order, and the record that it leaves."""
