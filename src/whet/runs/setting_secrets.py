"""Settings hold no secrets: what looks like one is refused, with advice on where it belongs."""

import re
from typing import Any

from whet.errors import WhetError
from whet.runs.setting_texts import dotted

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
# What the well-known issuers put at the front of a key. A second scan, of everything, is at `whet config set`.
KEY_FORM = re.compile(r"(sk|gsk|xai|rk|pk|ghp|gho|hf|nvapi|pplx|tvly|csk|fw|r8)[-_][A-Za-z0-9_-]{16,}|AIza[\w-]{30,}")
SECRET_NAMES = ("key", "api_key", "apikey", "token", "secret", "password", "auth")
SECRET_ADVICE = (
    "Keys stay in the environment: `export MY_KEY=…`, then `whet config set providers.NAME.key_variable MY_KEY`."
)


def refuse_secret(path: tuple[str, ...], value: Any) -> None:
    """Raise WhetError for a secret in a setting, without saying it again."""
    key = dotted(path)
    texts = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
    named = path[-1].lower().replace("-", "_") in SECRET_NAMES
    if any(KEY_FORM.search(text) for text in texts) or (named and texts):
        raise WhetError(f"{key} would hold a secret, and settings hold none.", advice=SECRET_ADVICE)
    if path[-1] in ("key_variable", "variables") and not all(VARIABLE.fullmatch(text) or not text for text in texts):
        raise WhetError(f"{key} must be the name of an environment variable.", advice=SECRET_ADVICE)
    if path[-1] in ("base_url", "url") and any("@" in text.partition("://")[2].partition("/")[0] for text in texts):
        raise WhetError(f"{key} holds a password.", advice=SECRET_ADVICE)
