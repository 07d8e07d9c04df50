"""The one error that is a person's mistake and not a bug."""


class WhetError(Exception):
    """Something a person can put right: what is wrong, and what to do about it."""

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
