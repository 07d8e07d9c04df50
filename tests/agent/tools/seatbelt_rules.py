"""Reads a profile of `sandbox-exec` as its language is described: filters are joined by or, the last rule decides."""

import re
from typing import NamedTuple

Form = str | list["Form"]
_TOKEN = re.compile(r'\s*(?:(\()|(\))|"((?:[^"\\]|\\.)*)"|([^\s()"]+))', re.DOTALL)


class ProfileRule(NamedTuple):
    """One rule: whether it allows, the operations it is about, and its filters; none fits everything."""

    allows: bool
    operations: tuple[str, ...]
    filters: tuple[list[Form], ...]


def rules_of(text: str) -> list[ProfileRule]:
    forms = _forms(text)
    assert forms[0] == ["version", "1"]
    assert forms[1] == ["deny", "default"]
    return [_rule(form) for form in forms[2:] if isinstance(form, list)]


def allows(rules: list[ProfileRule], operation: str, value: str) -> bool:
    """Whether an operation is allowed on a path, or on the name of a service."""
    decided = False  # deny default
    for rule in rules:
        if any(_covers(each, operation) for each in rule.operations) and (
            not rule.filters or any(_fits(each, value) for each in rule.filters)
        ):
            decided = rule.allows
    return decided


def _covers(pattern: str, operation: str) -> bool:
    return operation == pattern or (pattern.endswith("*") and operation.startswith(pattern[:-1]))


def _fits(one: list[Form], value: str) -> bool:
    kind, word = str(one[0]), str(one[1])
    if kind == "subpath":
        return value == word or value.startswith(word.rstrip("/") + "/")
    if kind == "regex":
        return re.search(word, value) is not None
    return kind in ("literal", "global-name", "sysctl-name") and value == word


def _rule(form: list[Form]) -> ProfileRule:
    words = tuple(each for each in form[1:] if isinstance(each, str))
    return ProfileRule(form[0] == "allow", words, tuple(each for each in form[1:] if isinstance(each, list)))


def _forms(text: str) -> list[Form]:
    stack: list[list[Form]] = [[]]
    at = 0
    while at < len(text.rstrip()):
        found = _TOKEN.match(text, at)
        assert found is not None, text[at : at + 40]
        at = found.end()
        opened, closed, quoted, word = found.groups()
        if opened:
            stack.append([])
        elif closed:
            whole = stack.pop()
            stack[-1].append(whole)
        else:
            stack[-1].append(word or re.sub(r"\\(.)", r"\1", quoted or "", flags=re.DOTALL))
    assert len(stack) == 1
    return stack[0]
