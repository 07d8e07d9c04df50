"""What every value is: a frozen struct whose defaults are not encoded."""

import msgspec


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value without identity. Defaults are left out of its encoding, so a new field changes no old hash."""
