"""The one error that is a person's mistake and not a bug."""


class WhetError(Exception):
    """Something a person can put right: what is wrong, and what to do about it.

    >>> import whet
    >>> try:
    ...     whet.judge([0.5, 70])
    ... except whet.WhetError as error:
    ...     print(error.message, error.advice)
    A difference must be between -1 and 1, not 70. Scale scores to 0 … 1 first.
    """

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
