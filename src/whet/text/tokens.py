"""How many tokens a text costs, as an estimate that needs no model."""

from collections.abc import Iterable

BYTES_PER_TOKEN = 4


def estimate(text: str) -> int:
    """About the number of tokens: bytes tell more than characters do, for other scripts cost more tokens each."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def head(text: str, tokens: int) -> str:
    """The beginning of a text that costs at most so many tokens."""
    return text.encode("utf-8", "replace")[: max(tokens, 0) * BYTES_PER_TOKEN].decode("utf-8", "ignore")


def tail(text: str, tokens: int) -> str:
    """The end of a text that costs at most so many tokens."""
    body = text.encode("utf-8", "replace")
    return body[max(len(body) - max(tokens, 0) * BYTES_PER_TOKEN, 0) :].decode("utf-8", "ignore")


def fitting(lines: Iterable[str], budget: int) -> tuple[str, ...]:
    """The lines that a budget has room for, in their order and each once; one that is too long is passed over."""
    every = tuple(dict.fromkeys(lines))
    if estimate("\n".join(every)) <= budget:
        return every
    kept, left = [], budget
    for line in every:
        cost = estimate(f"{line}\n")
        if cost <= left:
            kept.append(line)
            left -= cost
    return tuple(kept)
