"""Mutants that live because nobody could tell them from the original, each with the reason.

By module, line with the changed part marked, and change, as `bench/mutants.py` lists what is alive.
"""

LENGTH = "both are of the same length"
KEPT = "how many answers are kept shows in no answer"
PLACE = "of a value that is a whole string the place is not asked for"
MEMORY = "it is more memory than any pattern needs"

EQUIVALENT: dict[tuple[str, str, str], str] = {
    (module, line, change): reason
    for module, line, change, reason in (
        ("ledger/folding", "@dataclass(slots=«True»)", "to False", "slots save memory, and nobody adds a field"),
        ("sessions/trust", "@functools.lru_cache(maxsize=«1024»)", "to 1025", KEPT),
        ("sessions/lineage", "for length in range(1, RUN + «1»):", "to 2", "nobody asks for runs of four"),
        ("secrets/redactor", "ROUNDS = «16»", "to 17", "no text is known that needs as many rounds"),
        ("secrets/redactor", "self._learned = «False»", "to True", "the same literals are made once more"),
        (
            "secrets/redactor",
            "return self._placeholder(FoundSecret(«0», 0, kind, canonical(value), exact=False), value)",
            "to 1",
            PLACE,
        ),
        (
            "secrets/redactor",
            "return self._placeholder(FoundSecret(0, «0», kind, canonical(value), exact=False), value)",
            "to 1",
            PLACE,
        ),
        (
            "secrets/redactor",
            "return items if all(new is old for new, old in zip(changed, items, strict=«True»)) else changed",
            "to False",
            LENGTH,
        ),
        ("secrets/scan", "PATTERN_MEMORY_BYTES = «64» << 20", "to 65", MEMORY),
        ("secrets/scan", "PATTERN_MEMORY_BYTES = 64 << «20»", "to 21", MEMORY),
        ("secrets/scan", "if «literals is not None and is_known»:", "to Or", "where no gate is open, nothing is found"),
        ("secrets/scan", "@functools.lru_cache(maxsize=«1024»)", "to 1025", KEPT),
        ("secrets/scan", "@functools.lru_cache(maxsize=«256»)", "to 257", KEPT),
        ("secrets/scan", "chosen, last = list(taken), -«1»", "to 2", "every place is after both"),
        (
            "evidence/betting",
            "held = [part * (1 + size * move) for part, (size, _) in zip(held, BETS, strict=«True»)]",
            "to False",
            LENGTH,
        ),
        (
            "evidence/betting",
            "logs = [log + _log_won(size, new) for log, (size, _) in zip(logs, BETS, strict=«True»)]",
            "to False",
            LENGTH,
        ),
        (
            "evidence/betting",
            "weighted = [math.log(weight) + log for log, (_, weight) in zip(logs, BETS, strict=«True»)]",
            "to False",
            LENGTH,
        ),
        (
            "evidence/betting",
            "if capital <= 0 or «capital >= wanted»:",
            "GtE to Gt",
            "a goal that is just reached takes a bet of nothing",
        ),
        (
            "evidence/error_budget",
            "least = [0.0, *(min(pair) for pair in zip([*least[1:], math.inf], taken, strict=«True»))]",
            "to False",
            LENGTH,
        ),
        ("trials/canaries", "return «drawn < share * RANGE»", "Lt to LtE", "one draw in 2^64 is the share itself"),
        (
            "trials/canaries",
            "sides = zip(constant(known), constant(-move for move in known), strict=«True»)",
            "to False",
            LENGTH,
        ),
    )
}
