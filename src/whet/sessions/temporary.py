"""Temporary folders: what runs in them is mostly a test or a tool's own errand, and not a person's work."""

TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders", "/dev/shm")


def is_temporary(folder: str) -> bool:
    """Whether a folder is one that tests and tools make and throw away."""
    return any(folder == each or folder.startswith(f"{each}/") for each in TEMPORARY)
