"""How agent programs say that a person refused a call, or that it was not let to finish."""

from whet.outcomes.error_forms import Form, Forms

# Sentences of the agent programs that nothing else prints: they hold whatever the tool and however long the text.
OWN_REJECTIONS = Forms(
    (
        Form("rejected by the user", r"^(?:Error: )?The user doesn't want to (?:proceed|take this action)"),
        Form("rejected by the user", r"^(?:Error: )?User rejected tool use"),
        Form("rejected by the user", r"^The user rejected permission to use this specific tool call"),
    )
)
OWN_CANCELLATIONS = Forms(
    (
        Form("a sibling failed", r"^(?:<tool_use_error>)?(?:Error: )?Sibling tool call errored"),
        Form("a sibling failed", r"^(?:<tool_use_error>)?Cancelled: parallel tool call"),
        Form("interrupted", r"^\[Request interrupted by user"),
        Form("interrupted", r"^\[Operation Cancelled\]"),
        Form("interrupted", r"(?:^|\n)Command aborted\s*\z"),
    )
)

# The same in anybody's words. These may also be somebody's data, so they count in short answers only.
REJECTIONS = Forms(
    (
        Form(
            "rejected by the user",
            r"(?i)^\W*(?:error: )?(?:the )?(?:user|operator|human) (?:has )?"
            r"(?:rejected|denied|declined|refused|disallowed|chose not to|did not (?:approve|allow|confirm))\b",
        ),
        Form(
            "rejected by the user",
            r"(?i)^[^\n]{0,80}\b(?:rejected|denied|declined|refused|disapproved) by "
            r"(?:the )?(?:user|operator|human)\b",
        ),
        Form("rejected by the user", r"(?i)^\W*BLOCKED: User (?:denied|rejected)"),
        Form("rejected by the user", r"(?i)^(?:tool|command|operation|action|edit|call)\b[^\n]{0,60} not approved\b"),
    )
)
CANCELLATIONS = Forms(
    (
        Form(
            "interrupted",
            r"(?i)^[^\n]{0,60}\b(?:interrupted|aborted|cancell?ed|stopped) by (?:the )?(?:user|operator|human)\b",
        ),
        Form("interrupted", r"(?i)^\W*(?:error: )?(?:the )?user (?:interrupted|aborted|cancell?ed|stopped)\b"),
        Form(
            "cancelled",
            r"(?i)^\W*(?:tool|command|operation|execution|request)(?: (?:call|execution|use))?(?: was)? "
            r"(?:cancell?ed|aborted|interrupted|skipped)\b",
        ),
        Form("cancelled", r"(?i)^\[?(?:skipped|cancelled|canceled|aborted)(?:\]|:| due to| because)"),
    )
)
