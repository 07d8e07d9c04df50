"""Large numbers as people say them."""

DIGITS = 3
NAMED = ((10**9, "billion"), (10**6, "million"))


def short(number: float) -> str:
    """A large number, short and plain: 950; 12,300; 4.1 million; 1.2 billion."""
    whole = round(number)
    rounded = round(whole, DIGITS - len(str(abs(whole)))) if abs(whole) >= 10**DIGITS else whole
    for size, name in NAMED:
        if abs(rounded) >= size:
            return f"{rounded / size:.1f}".removesuffix(".0") + f" {name}"
    return f"{rounded:,}"
