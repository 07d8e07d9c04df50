"""What agents are told and read: their files, hooks and folders, written and looked at."""
