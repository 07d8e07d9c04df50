"""Foreign text on a terminal."""

import re

UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def safe(text: str) -> str:
    """Text that a terminal shows and does not obey."""
    return UNSAFE.sub("�", text)
