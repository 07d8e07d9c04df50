"""How agent programs say that a person refused a call, or that it was not let to finish."""

import re2

from whet.trouble.outcomes.error_forms import ErrorForm, Forms

# Sentences of the agent programs that nothing else prints: they hold whatever the tool and however long the text.
OWN_REJECTIONS = Forms(
    (
        ErrorForm("rejected by the user", r"^(?:Error: )?The user doesn't want to (?:proceed|take this action)"),
        ErrorForm("rejected by the user", r"^(?:Error: )?User rejected tool use"),
        ErrorForm("rejected by the user", r"^The user rejected permission to use this specific tool call"),
    ),
    signs=("doesn't want", "reject"),
)
OWN_CANCELLATIONS = Forms(
    (
        ErrorForm("a sibling failed", r"^(?:<tool_use_error>)?(?:Error: )?Sibling tool call errored"),
        ErrorForm("a sibling failed", r"^(?:<tool_use_error>)?Cancelled: parallel tool call"),
        ErrorForm("interrupted", r"^\[Request interrupted by user"),
        ErrorForm("interrupted", r"^\[Operation Cancelled\]"),
        ErrorForm("interrupted", r"(?:^|\n)Command aborted\s*\z"),
    ),
    signs=("sibling", "cancel", "interrupt", "abort"),
)

# The same in anybody's words. These may also be somebody's data, so they count in short answers only.
REJECTIONS = Forms(
    (
        ErrorForm(
            "rejected by the user",
            r"(?i)^\W*(?:error: )?(?:the )?(?:user|operator|human) (?:has )?"
            r"(?:rejected|denied|declined|refused|disallowed|chose not to|did not (?:approve|allow|confirm))\b",
        ),
        ErrorForm(
            "rejected by the user",
            r"(?i)^[^\n]{0,80}\b(?:rejected|denied|declined|refused|disapproved) by "
            r"(?:the )?(?:user|operator|human)\b",
        ),
        ErrorForm("rejected by the user", r"(?i)^\W*BLOCKED: User (?:denied|rejected)"),
        ErrorForm(
            "rejected by the user", r"(?i)^(?:tool|command|operation|action|edit|call)\b[^\n]{0,60} not approved\b"
        ),
    ),
    signs=("reject", "denied", "declin", "refus", "disallow", "chose not", "did not", "disapprov", "not approved"),
)
CANCELLATIONS = Forms(
    (
        ErrorForm(
            "interrupted",
            r"(?i)^[^\n]{0,60}\b(?:interrupted|aborted|cancell?ed|stopped) by (?:the )?(?:user|operator|human)\b",
        ),
        ErrorForm("interrupted", r"(?i)^\W*(?:error: )?(?:the )?user (?:interrupted|aborted|cancell?ed|stopped)\b"),
        ErrorForm(
            "cancelled",
            r"(?i)^\W*(?:tool|command|operation|execution|request)(?: (?:call|execution|use))?(?: was)? "
            r"(?:cancell?ed|aborted|interrupted|skipped)\b",
        ),
        ErrorForm("cancelled", r"(?i)^\[?(?:skipped|cancelled|canceled|aborted)(?:\]|:| due to| because)"),
    ),
    signs=("interrupt", "abort", "cancel", "stopped", "skipped"),
)

# What agent programs put before the person's own words on a refusal.
_REASON = re2.compile(
    r"(?is)(?:the user said:|user (?:provided|gave) the following (?:reason|feedback)[^:\n]*:|"
    r"feedback from the user:|reason:)\s*(.+)\z"
)
_AFTER = re2.compile(r"(?is)\n+(?:note:|<system|important:|\[request interrupted).*\z")
REASON_REACH = 4_000
PROGRAMS_WORDS = ("The user wants to clarify these questions", "User did not allow tool call")


def refusal_words(text: str) -> str:
    """What the person said when they refused a call; nothing where they only said no."""
    found = _REASON.search(text[:REASON_REACH])
    words = _AFTER.sub("", found.group(1)).strip() if found else ""
    return "" if words.startswith(PROGRAMS_WORDS) else words
