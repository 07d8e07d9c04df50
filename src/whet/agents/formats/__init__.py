"""Records of sessions: how their files are opened and read, and the formats that belong to no agent on a machine."""
