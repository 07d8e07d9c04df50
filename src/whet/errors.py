"""The one error that is a person's mistake and not a bug."""


class WhetError(Exception):
    """Something a person can put right: what is wrong, and what to do about it.

    >>> import whet
    >>> try:
    ...     whet.read("no/such/folder")
    ... except whet.WhetError as error:
    ...     print(error.message, error.advice)
    There is no file no/such/folder. Give a file, a folder, a glob, or - for standard input.
    """

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
