"""What code measured of a lesson: exact quotes, how often calls failed and worked, what came back later."""

from whet.lessons.backtests import Backtest
from whet.values import Value


class CallCounts(Value, frozen=True):
    """How often the form that a lesson calls wrong failed, and the one that it recommends worked."""

    seen: int = 0
    failed: int = 0
    tried: int = 0
    worked: int = 0


class LessonMeasures(Value, frozen=True):
    """What code found out about a lesson that a reader claimed.

    `wrong_in` is the file that says something wrong, and `wrong_as` the line. `goes_back` is what the reader should
    put right in how its situation is found.
    """

    quotes: int = 0  # exact ones
    inexact: int = 0
    counts: CallCounts | None = None
    backtest: Backtest | None = None
    missing: tuple[str, ...] = ()  # names that the repository has nowhere
    enforced_in: str = ""  # a linter is set up for it there
    wrong_in: str = ""
    wrong_as: str = ""
    goes_back: str = ""
    is_doubted: bool = False  # a sceptic let it stand
