"""The other agents that Whet knows: one module or folder each, with all that Whet knows of it."""
