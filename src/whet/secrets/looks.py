"""What a secret-looking name is, and what a secret-looking value is: the judgement behind the context rules."""

import itertools
import re
from typing import Final

from whet.text.words import names, on_demand

SHORTEST_PASSWORD: Final = 6
SHORTEST_VALUE: Final = 8
STRICT_LENGTH: Final = 16
SCRAMBLED_PASSWORD: Final = 12
LONGEST_VALUE: Final = 8192
SHORTEST_STRONG: Final = 10
LONGEST_STRONG: Final = 64
LONGEST_NAME: Final = 32  # of a file: what is longer and without a second slash is a key
PHRASE_WORDS: Final = 12
LONGEST_WORD: Final = 12  # of letters and digits without a sign between them, in names that people give
CHANCE_CHANGES: Final = 0.45  # of a kind of character to another; of 62 drawn at random .62 do


_SECRET_WORDS = names(
    """
    password passwords passwd passphrase passcode pass pwd pw secret secrets token apikey accesskey secretkey
    privatekey authkey accountkey credential credentials cred creds jwt pat authtoken passwort contraseña
    """
)
_PASSWORD_WORDS = names(
    """
    password passwords passwd passphrase passcode pass pwd pw passwort contraseña
    """
)
_KEY_OWNERS = names(
    """
    api app access secret private auth account signing encryption master service shared webhook admin license
    deploy consumer subscription integration client jwt hmac aes
    """
)
_OPEN_KEYS = names(
    """
    public primary foreign cache sort partition idempotency unique query hash row dict map object translation
    i18n registry lookup index pub publishable react storage item host group
    """
)
# A name that ends so tells of a secret and does not hold it.
_HARMLESS_TAILS = names(
    """
    id ids name names file files path dir folder url uri endpoint type types kind count counts limit limits
    length len size field fields label placeholder hint prompt policy reset regex pattern expiry expires
    expiration ttl ref refs env var variable arn version manager store provider service class usage format
    column min max rules required index list request response error errors message messages validation
    validator strength input form page screen component schema model budget cost costs price rate per sec
    second seconds ms time at date status state enabled disabled support supported config settings option
    options metadata info issuer audience scope scopes header param parameter parameters prefix suffix mask
    masked generator generated handler helper function method test tests spec mock symbol address ratio window
    estimate total used remaining left loc location fingerprint digest text title description example docs
    help
    """
)
# A value made of nothing but such words and small numbers is a stand-in, or a password that protects nothing.
_STAND_INS = names(
    """
    your you my our the a an some any this that is not real here insert enter put add use paste replace
    replaced change changeme me it with from in on of to for and or new old default dummy fake mock mocked
    sample example examples demo test tests testing tester placeholder redacted removed hidden masked secret
    secrets supersecret verysecret super very safe secure insecure strong weak password passwords passwd pass
    pwd passphrase token tokens key keys api apikey access auth bearer basic jwt client private public session
    user users username name admin administrator root guest value values string str text foo bar baz qux hello
    changeit world abc abcd abcdef abcdefg abcdefgh xyz qwerty letmein welcome none null nil undefined true false todo
    tbd na env environment variable var config local localhost dev prod staging production development ci
    github gitlab google aws azure openai anthropic stripe slack postgres postgresql mysql mariadb redis mongo
    mongodb rabbitmq minio db database app application service server bot account refresh id csrf hash hashed
    plain valid invalid wrong correct bad good expired long short random generated unique xxx xxxx sk pk ghp
    one two first second other another same different number int bool boolean object array required optional
    type field input prompt reset forgot confirm base sha md utf hex encoded encrypted hashing bcrypt oauth
    ssh rsa must be at least characters chars min max length please provide set get e g eg ie etc
    """
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-zß-ÿ]+|\d+")
_MARKS = on_demand(
    r"\.\.\.|…|\*\*\*|•|xxxx|XXXX|\$\{|\$\(|\{\{|\}\}|<|>|%\(|\[redacted:|(?i:redacted|placeholder|changeme)"
    r"|(?i:\byour[_\- ]|\byour[a-z]|[_\-]here\b|\bexample\b|\breplace[_\-])"
)
_CODE = on_demand(
    r"[A-Za-z_$]+(?:(?:\.|->|::|\?\.|!\.)[A-Za-z_$]+)+[!?,;]*"  # config.token
    r"|[a-z]\w*(?:\.[a-z][A-Za-z]*){2,}"  # secp256k1.utils.randomPrivateKey
    r"|(?:Big)?U?[Ii]nt\d+(?:Clamped)?(?:Array|_t)?|uint\d+_t|[Ff]loat\d+(?:Array)?"  # the type of a field
    r"|!*[\w.$]+(?:(?:->|::|\?\.)[\w.$]+)*[(\[].*"  # get_token(…), environ[…]
    r"|(?:self|this|process|os|env|ctx|req|request|settings|config|secrets|var|vars|local|data|module)[.\[].*"
    r"|[\w./~@+\-]+\.(?:py|tsx?|jsx?|json|ya?ml|toml|md|txt|go|rs|rb|java|html|css|sh|sql|env|pem|key|lock|cfg|ini|xml|log|svg|png)"
    r"|~?\.{0,2}/(?:[\w.@~{}\-]+/)*[\w.@~{}\-]*"  # a path
    r"|(?:[A-Za-z]|HK[A-Z]{2}):\\.*"  # a path of Windows, a key of its registry
    r"|[a-z][a-z0-9+.\-]*://.*"
    r"|[\w.+\-]+@[\w\-]+\.[\w.\-]+"  # an e-mail address
    r"|![A-Za-z]+|x:\d+:\d+:.*"  # a YAML tag, a line of /etc/passwd
    r"|v?\d+\.\d[\w.\-]*|\d{4}-\d\d-\d\d.*|#[0-9A-Fa-f]{3,8}|0x[0-9A-Fa-f]{1,8}"
)
_SESSION_WORDS = names("session sessionid sid sess auth login remember token jwt")
_NO_PASSWORD = re.compile(
    r"%(?:2[0-9A-F]|3[A-F]|40|5[BDE]|7[BD])|\d\.\d|@[^@]*\."
)  # a sign in an address, a version, a host
_PHRASE_WORD = re.compile(r"\b[a-z]{3,8}\b")
# Words that no list of seed words has, and hardly a sentence does without.
_SENTENCE_WORD = re.compile(r"\b(?:the|and|for|are|was|were|from|has|had|not|but|his|her|its|our|your|which)\b")
_MARK = re.compile(r"[A-Za-z]\w{1,11}?[_.:~\-]")
_HASHED = re.compile(r"(?i:sha|md)\d|h1:|did:")  # and what stands for itself in public
_SEPARATORS = re.compile(r"[^A-Za-z0-9]+")
_CLASSES = tuple(map(re.compile, (r"\d+", r"[A-Z]+", r"[a-z]+")))
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
_TYPED_SYMBOL = re.compile(r"[!@#$%^&*]")
_SYMBOLS = re.compile(r"[^A-Za-z0-9_.\-/:\s]")


def words_of(name: str) -> tuple[str, ...]:
    """The words of an identifier in any spelling: `dbPassword`, `DB_PASSWORD`, `db-password`."""
    return tuple(word.lower() for word in _WORD.findall(name))


def is_secret_name(name: str) -> bool:
    """Whether what is assigned to this name is meant to be kept secret."""
    words = [word for word in words_of(name) if not word.isdigit()]
    if not words or words[-1] in _HARMLESS_TAILS or "public" in words or "redacted" in words:
        return False
    return any(word in _SECRET_WORDS or word.endswith(("password", "passwd", "token")) for word in words) or any(
        owner in _KEY_OWNERS and word in ("key", "keys") for owner, word in itertools.pairwise(words)
    )


def is_key_name(name: str) -> bool:
    """Whether the name ends in a bare `key` that may be one, as in `STRIPE_KEY`: its value must be convincing."""
    words = words_of(name)
    return len(words) > 1 and words[-1] == "key" and not _OPEN_KEYS.intersection(words)


def is_password_name(name: str) -> bool:
    return any(word in _PASSWORD_WORDS or word.endswith(("password", "passwd")) for word in words_of(name))


def is_stand_in(value: str) -> bool:
    """Whether the value only shows where a secret goes: `<your-key>`, `xxxx`, `test-token-123`, `${TOKEN}`."""
    if _MARKS().search(value) or value[0] in "$%{[(&*" or len(set(value)) <= 3:
        return True
    if _is_typed_password(value):
        return False
    words = [word.lower() for word in _WORD.findall(value)]
    named = any(word in _STAND_INS for word in words if len(word) > 1)
    return named and all(word in _STAND_INS or (word.isdigit() and _is_run(word)) or len(word) == 1 for word in words)


def is_code(value: str) -> bool:
    """Whether the value is an expression, a path, a version or an address, and not a literal secret."""
    is_key = "/" not in value[1:] and len(value) > LONGEST_NAME and is_mixed(value)
    return bool(_CODE().fullmatch(value)) and not (value[0] == "/" and (is_key or is_scrambled(value)))


def is_plausible(value: str, *, shortest: int = SHORTEST_VALUE) -> bool:
    """Whether a value in a secret's place is one: long enough, not only words or a number, not code."""
    if not shortest <= len(value) <= LONGEST_VALUE or is_stand_in(value) or is_code(value):
        return False
    if _DIGIT.search(value):
        return bool(_LETTER.search(value) or _SYMBOLS.search(value))
    return bool(_SYMBOLS.search(value.rstrip("!?,;:*"))) or is_scrambled(value)


def is_password(value: str, *, any_word: bool = False) -> bool:
    """Whether a value in a password's place is one. In an environment variable, unknown words may be one too."""
    if any_word and len(value) >= SHORTEST_VALUE and value.isascii() and not value.isdigit():
        return not is_stand_in(value) and not is_code(value)
    return is_plausible(value, shortest=SHORTEST_PASSWORD) or (
        is_scrambled(value, shortest=SCRAMBLED_PASSWORD) and not is_stand_in(value) and not is_code(value)
    )


def is_convincing(value: str, *, shortest: int = STRICT_LENGTH) -> bool:
    """A stricter judgement for places that often hold other things: long, and mixed like something generated."""
    if not is_plausible(value, shortest=shortest):
        return False
    return (len(_DIGIT.findall(value)) >= 2 and len(set(value)) >= 8 and _longest_word(value) < 12) or is_scrambled(
        value
    )


def is_typed_or_scrambled(value: str) -> bool:
    """Whether a value can hardly be a name: what a person typed as a password, or what a program generated."""
    return is_mixed(value) and (is_scrambled(value) or bool(_TYPED_SYMBOL.search(value.replace("#", ""))))


def is_mixed(value: str) -> bool:
    return bool(_DIGIT.search(value) and _LETTER.search(value))


def is_session_name(name: str) -> bool:
    """Whether a cookie of this name stands for its user."""
    return not _SESSION_WORDS.isdisjoint(words_of(name.strip()))


def is_strong(value: str) -> bool:
    """Whether cases, digits and signs are mixed as only a program that makes passwords does it."""
    if not SHORTEST_STRONG <= len(value) <= LONGEST_STRONG or _NO_PASSWORD.search(value) or is_stand_in(value):
        return False
    kinds = ["A" if each.isupper() else "a" if each.islower() else "0" if each.isdigit() else "!" for each in value]
    changes = sum(left != right for left, right in itertools.pairwise(kinds))
    enough = all(kinds.count(kind) >= least for kind, least in (("A", 2), ("a", 2), ("0", 1), ("!", 1)))
    return enough and kinds.count("!") <= len(value) / 3 and changes >= (len(value) - 1) / 2


def is_phrase_name(name: str) -> bool:
    """Whether a name is that of the words from which a wallet is made again."""
    words = words_of(name)
    return "mnemonic" in words or ("phrase" in words and bool({"seed", "recovery", "backup", "wallet"} & {*words}))


def phrase_in(value: str) -> str:
    """The dozen words or two at the beginning of a text that restore a wallet; empty where there are not as many."""
    found = _SENTENCE_WORD.search(value)
    phrase = value[: found.start()] if found else value
    return phrase.rstrip() if len(_PHRASE_WORD.findall(phrase)) >= PHRASE_WORDS else ""


def is_scrambled(value: str, *, shortest: int = STRICT_LENGTH) -> bool:
    """Whether letters change case as often as chance would, which words and camelCase do not."""
    if len(value) < shortest:
        return False
    changes = sum(left.isupper() != right.isupper() for left, right in itertools.pairwise(value))
    return changes >= 0.4 * len(value)


def is_generated(value: str) -> bool:
    """Whether a key's body is what only a program writes: both cases and digits, changing as often as chance has it."""
    parts = _SEPARATORS.split(_MARK.sub("", value, count=1))
    if _HASHED.match(value) or max(map(len, parts)) < LONGEST_WORD or is_stand_in(value):
        return False
    digits, *letters = (len(kind.findall("".join(parts))) for kind in _CLASSES)
    return digits >= 2 and min(letters) >= 3 and digits + sum(letters) >= CHANCE_CHANGES * sum(map(len, parts))


def _is_typed_password(value: str) -> bool:
    """Whether letters, digits and a symbol are mixed as sign-up forms demand: `Password123!` was typed as one."""
    return is_mixed(value) and bool(_TYPED_SYMBOL.search(value))


def _longest_word(value: str) -> int:
    return max((len(word) for word in re.findall(r"[a-z]+", value)), default=0)


def _is_run(digits: str) -> bool:
    return len(digits) <= 4 or digits in "01234567890123456789" or len(set(digits)) <= 2
