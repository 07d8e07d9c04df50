"""Draws by a hash: the same answer whenever it is asked. Alone here, so that a hook that a host waits for is quick."""

import hashlib

DRAW_BYTES = 8
RANGE = 256.0**DRAW_BYTES


def is_told(canary: str, unit: str, share: float) -> bool:
    """Whether a unit is told a rule: the same answer whenever it is asked, and another one for another rule."""
    body = f"{canary}\0{unit}".encode("utf-8", "surrogatepass")
    drawn = int.from_bytes(hashlib.blake2b(body, digest_size=DRAW_BYTES).digest(), "big")
    return drawn < share * RANGE
