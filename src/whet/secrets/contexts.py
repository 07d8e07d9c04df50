"""The table of secrets that only their place betrays: private keys, logins, headers, assignments, base64."""

from typing import Final

from whet.secrets.command_lines import CHARACTER, COMMANDS, OPEN
from whet.secrets.vendor_keys import BREAK, QUOTE, TOKENS, MatchTest, SecretRule

_QUOTES = r"""[\\"'`]*"""
_IS = r"[ \t]*[:=][ \t]*"
_LONG = r"(?:[|>][+\-]?|\"{3}|'{3})"  # opens a text of several lines
_LINE = r"(?:\r?\n|\\+n)"

_PEM_HEAD = r"-----BEGIN[ +][A-Z0-9 +]{0,32}PRIVATE[ +]KEY"
# Between the lines of a key: its headers, line numbers, the marks of quotes and diffs.
_PEM_BODY = rf"(?:[A-Za-z0-9+/=→|>]|-[A-Za-z0-9+/]|[A-Z][A-Za-z\-]+: [^\n\\]+|<br ?/?>|{BREAK}){{24,}}"
_JWK_MEMBER = rf"{QUOTE}(?:d|p|q|dp|dq|qi|k|priv){QUOTE}[ \t]*:{BREAK}*{QUOTE}([A-Za-z0-9_\-]{{22,}}=?=?){QUOTE}"
_USER = r"""[^\s:/@"'`<>\\]*"""
_HOST = r"[A-Za-z0-9\[$%_]"
_DATABASE = r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|clickhouse|oracle)[+a-z0-9]*"
_SCHEME = r"(?:bearer|basic|token|apikey|api-key|bot|digest|ssws|key)"
_HASH = r"\$(?:1|2[abxy]|5|6|7|y|gy|apr1|argon2(?:id?|d)|pbkdf2-sha\d+|scrypt)\$"
_AWS_ID = r"(?:AKIA|ASIA)[A-Z0-9]"
_PHRASE_NAME = r"(?i:(?:seed|recovery|backup|mnemonic|wallet)[ _\-]?(?:phrase|words?|seed)|mnemonic)"
_PHRASE_WORD = r"(?:\d{1,2}[.):][ \t]*)?[a-z]{3,8}"
_COOKIE = r"(?:PHPSESSID|JSESSIONID|connect\.sid|ASP\.NET_SessionId)="
_QUERY = (
    r"(?i:access_token|refresh_token|id_token|auth_token|token|api_?key|key|sig|signature|secret|client_secret|password"
    r"|passwd|pwd|auth|code|hmac|jwt|x-amz-(?:signature|credential|security-token)|x-goog-signature)="
)
_SETTERS = r"(?:ENV|setx|SET|config(?:ure)? set|secret set|config:set)[ ]+"
_TAG = r"[\w:.\-]*(?i:password|secret|token|api-?key|passwd)[\w.\-]*"
_SHOUTED = r"\b[A-Z][A-Z0-9_]*(?:PASS|PWD|SECRET|TOKEN|KEY|CRED|PAT|AUTH)[A-Z0-9_]*"
# What people call a password in the languages that most of them speak.
_ABROAD = (
    r"(?i:kennwort|contraseña|mot de passe|senha|wachtwoord|lösenord|adgangskode|hasło|heslo|parola|şifre"
    r"|пароль|パスワード|密码|密碼|비밀번호|كلمة المرور|सांकेतिक शब्द)"
)
_SPOKEN = (
    rf"(?:{_ABROAD}|(?i:passwor[dt]|passcode|passphrase|token|secret|(?:api|access|secret|private) key|credentials?))"
)
_VERB = r"[ \t]+(?i:is|was|to|as|ist|lautet|es|est|é|är|er|to|jest|je)(?i: now| set to)?[ \t]*:?[ \t]+"

# A secret's word ends its name or is followed by a new word: `token`, `tokenValue`, `TOKEN_2`, but not `tokens`.
_WORD = (
    r"(?:(?i:passw(?:or)?ds?|passphrase|passcode|passwort|pwd|secret(?:s|_?key)?|token|api[_\-. ]?key|(?:access"
    r"|private|auth|account|signing|encryption|master|service|shared|webhook|admin|license|deploy|consumer|subscription"
    r"|client|jwt|hmac|app)[_\-. ]?key|credentials?|contraseña)|(?:\b|_)(?i:pass|pw|pat|creds?|jwt)"
    r"|[a-z](?:Pass|Pat|Creds?|Jwt))(?:[_\-A-Z0-9][\w\-]*)?"
)
_ASSIGN = (
    r"""[\\"'`\]* \t]*(?::[ \t]*(?:str|string|String|Optional\[str\]|&str)[ \t]*)?"""
    r"""(?:=>|[:?+|]*={1,3}|:)\*{0,2}[ \t]{0,16}"""
)
_ASSIGNED = (
    r"""(?:"((?:[^"\\\s]|\\[^\s])+)(?:"|$)"""
    r"""|'((?:[^'\\\s]|\\[^\s])+)(?:'|$)"""
    r"""|`([^`\\\s]+)`"""
    r"""|\\+"((?:[^"\\\s]|\\{2,}[^"\\\snrt])+)(?:\\+"|$)"""
    r"""|\\+'([^'\\\s]+)\\+'"""
    r"""|([^\s"'`\\<>;,(){}\[\]|&]{6,})(?:[\s"'`\\;,|&<)}\]]|$))"""
)
# The first characters of a value that is not only words or a number; the rest is judged in redaction_values.
_SUSPECT = (
    r"""[\\"'`]*(?:[A-Za-z_.\-/:,;){}|\]]+[^A-Za-z_.\-/:,;){}|\]\s"'`<>(\[]|[A-Za-z]{16}"""
    r"""|[0-9][0-9.:/\-]*[^0-9.:/\-\s"'`\\<>(){}\[\],;|&]|[!@#$%^&*+=~?][^\s]|[^\s -~])"""
)
# Four characters of base64 that decode to three of printable ASCII; five such in a row are hardly ever chance.
_QUAD = r"(?:[CDI-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_\-])"
_WRAPPED = rf"(?:{_QUAD}{{16,19}}(?:\r?\n|(?:\\+r)?\\+n))*"

KEYS: Final = (
    SecretRule("private-key", _PEM_HEAD, rf"{_PEM_HEAD}(?:[ +]BLOCK)?-----{BREAK}*({_PEM_BODY})"),
    SecretRule("private-key", r"Private-Lines: ", rf"Private-Lines: \d+{BREAK}+((?:[A-Za-z0-9+/=]|{BREAK}){{24,}})"),
    # The private members of a JSON Web Key; only who holds the key has them beside its kind.
    SecretRule("private-key", f"kty{QUOTE}", rf"kty{QUOTE}[^{{}}]*?{_JWK_MEMBER}"),
    SecretRule("private-key", f"kty{QUOTE}", rf"{_JWK_MEMBER}[^{{}}]*?kty{QUOTE}"),
    SecretRule("password-hash", _HASH, rf"({_HASH}[./A-Za-z0-9$=,+\-]{{20,}})"),
    SecretRule(
        "aws-secret-key",
        rf"{_AWS_ID}{{12}}",
        rf"{_AWS_ID}{{16}}(?:[^A-Za-z0-9][\x00-\x7f]{{0,80}}?)?[^A-Za-z0-9/+]"
        r"([A-Za-z0-9/+]{40})(?:[^\w/+=]|$)",
        MatchTest.MIXED,
    ),
    SecretRule(
        "twilio-key",
        r"AC[0-9a-f]{32}",
        r"\bAC[0-9a-f]{32}[^0-9A-Za-z](?:[\x00-\x7f]{0,40}?[^0-9A-Za-z])?([0-9a-f]{32})(?:[^0-9A-Za-z]|$)",
        MatchTest.MIXED,
    ),
    SecretRule(
        "fernet-key",
        r"(?i:fernet)",
        r"(?i:fernet)[^\n]{0,40}?[^\w\-+/]([A-Za-z0-9_\-]{43}=)(?:[^\w=]|$)",
        MatchTest.MIXED,
    ),
    SecretRule(
        "telegram-token",
        r"\d:[\w\-]{35}",
        r"(?i:telegram|bot)[^\n]{0,40}?(\d{8,10}:[A-Za-z0-9_\-]{35})(?:[^\w\-]|$)",
        MatchTest.MIXED,
    ),
    SecretRule(
        "seed-phrase",
        _PHRASE_NAME,
        rf"{_PHRASE_NAME}{_QUOTES}[ \t]*(?:(?i:is|was|are)[ \t]+|[:=]|{BREAK}){BREAK}*{_QUOTES}{BREAK}*"
        rf"((?:{_PHRASE_WORD},?{BREAK}{{1,4}}){{11,23}}{_PHRASE_WORD})",
        MatchTest.PHRASE,
    ),
)

ADDRESSES: Final = (
    SecretRule(
        "sentry-dsn",
        r"://[0-9a-f]{32}[:@]",
        r"https?://([0-9a-f]{32}(?::[0-9a-f]{32})?)@[\w.\-]+(?::\d+)?/(?:[\w\-]+/)*\d+",
        MatchTest.MIXED,
    ),
    SecretRule(
        "password",
        r"://[^\s/:@]*:[^\s/@]+@",
        rf"""[A-Za-z][A-Za-z0-9+.\-]{{1,24}}://({_USER}):([^\s/"'`<>\\]{{2,256}})@{_HOST}""",
        MatchTest.LOGIN,
    ),
    SecretRule(
        "password",
        rf"{_DATABASE}://[^\s/:@]*:",
        rf"""{_DATABASE}://({_USER}):([^\s"'`<>\\@]{{2,256}})@{_HOST}""",
        MatchTest.LOGIN,
    ),
    # A line of .pgpass: host, port, database, user and password.
    SecretRule(
        "password",
        r":(?:5432|5433|6432|6543|\*):",
        r"(?m:^|\\n|[\"'`\s])[\w.*\-]+:(?:5432|5433|6432|6543|\*):[\w*$\-]+:([^:\s\"'`]+):((?:[^\s:\"'`\\]|\\[:\\]){4,})",
        MatchTest.LOGIN,
    ),
    SecretRule(
        "signature",
        rf"[?&](?:amp;)?{_QUERY}",
        rf"[?&](?:amp;)?{_QUERY}([A-Za-z0-9_.~+/%=\-:]{{8,}})",
        MatchTest.CONVINCING,
    ),
    SecretRule("signature", r"sig=[A-Za-z0-9%+/]{16}", r"\bsig=([A-Za-z0-9%+/]{40,}={0,2})", MatchTest.CONVINCING),
)

HEADERS: Final = (
    SecretRule(
        "authorization",
        r"(?i:authorization)[\\\"'`\])]*[ \t]*[:=,]",
        rf"(?i:authorization)[\\\"'`\])]*[ \t]*[:=,][ \t]*{OPEN}[ \t]*(?:(?i:{_SCHEME})[ \t:]+)?"
        r"([A-Za-z0-9._~+/=\-:]{8,})",
        MatchTest.VALUE,
    ),
    SecretRule(
        "authorization",
        r"(?i:bearer)[ \t]+[A-Za-z0-9._~+/=\-]{16}",
        r"(?i:bearer)[ \t]+([A-Za-z0-9._~+/=\-]{16,})",
        MatchTest.CONVINCING,
    ),
    SecretRule(
        "cookie",
        rf"(?i:cookie){_QUOTES}{_IS}",
        rf"(?i:cookie){_QUOTES}{_IS}{OPEN}([^\r\n\"'`\\]{{8,}})",
        MatchTest.COOKIES,
    ),
    SecretRule(
        "cookie",
        r"(?:--cookie|-b)[ =][\\\"'` ]*[^\s=]+=",
        rf"(?:--cookie|-b)[ =][ ]*{OPEN}([^\s=]+=[^\r\n\"'`\\]{{8,}})",
        MatchTest.COOKIES,
    ),
    SecretRule("cookie", _COOKIE, rf"{_COOKIE}([^\s;\"'\\&]{{8,}})", MatchTest.VALUE),
)

ASSIGNMENTS: Final = (
    SecretRule(
        "secret",
        rf"{_SETTERS}[\w.\-]*{_WORD}",
        rf"{_SETTERS}([\w.\-]+)[ ]+{OPEN}([^\s\"'`\\=]{{6,}})",
        MatchTest.ASSIGNED,
    ),
    SecretRule("secret", f"<{_TAG}>", rf"<({_TAG})>{BREAK}*(?:<[Vv]alue>)?([^<>\s]{{6,}})<", MatchTest.ASSIGNED),
    SecretRule("secret", rf"={QUOTE}{_TAG}{QUOTE}>", rf"={QUOTE}({_TAG}){QUOTE}>([^<>\s]{{6,}})<", MatchTest.ASSIGNED),
    # In YAML and the like a value may have a name of its own, or begin on the next line.
    SecretRule(
        "secret",
        rf"{_WORD}{_QUOTES}{_IS}(?:&|{_LONG}?{_LINE})",
        rf"{_WORD}{_QUOTES}{_IS}(?:&[\w\-]+[ \t]+|{_LONG}?{_LINE}[ \t]*){_QUOTES}([^\s\"'`\\<>:]{{16,}})",
        MatchTest.CONVINCING,
    ),
    SecretRule(
        "secret",
        rf"{_ABROAD}[ \t]?[:：=]",
        rf"({_ABROAD})[ \t]?[:：=][ \t]*{OPEN}([^\s\"'`\\<>]{{6,}})",
        MatchTest.VALUE,
    ),
    SecretRule(
        "secret",
        rf"<key>{_TAG}</key>",
        rf"<key>({_TAG})</key>{BREAK}*<(?:string|data)>{BREAK}*([^<>\s]{{6,}}){BREAK}*</",
        MatchTest.ASSIGNED,
    ),
    SecretRule(
        "secret",
        rf"{_WORD}{_QUOTES},?{BREAK}*{_QUOTES}(?i:value){_QUOTES}{_IS}",
        rf"(?i:name|key){_QUOTES}{_IS}{OPEN}([\w.\-]+){_QUOTES},?{BREAK}*{_QUOTES}(?i:value){_QUOTES}{_IS}{OPEN}"
        rf"({CHARACTER}{{6,}})",
        MatchTest.ASSIGNED,
    ),
    SecretRule(
        "secret",
        rf"{_WORD}{QUOTE}[ \t]*,[ \t]*{QUOTE}",
        rf"\([ \t]*{QUOTE}([\w.\-]+){QUOTE}[ \t]*,[ \t]*{QUOTE}({CHARACTER}{{6,}}){QUOTE}",
        MatchTest.ASSIGNED,
    ),
    SecretRule(
        "secret",
        rf"{_SPOKEN}{_VERB}\*{{0,2}}{_SUSPECT}",
        rf"([\w\-]*{_SPOKEN}){_VERB}(?:{QUOTE}|\*\*)?([^\s\"'`\\<>]{{6,}})",
        MatchTest.ASSIGNED,
    ),
    SecretRule(
        "secret",
        rf"{_SPOKEN}[ \t]+[\\\"'`(]*[A-Za-z0-9_\-+/=.]{{16}}",
        rf"{_SPOKEN}[ \t]+[\\\"'`(]*([A-Za-z0-9_\-+/=.]{{16,}})",
        MatchTest.CONVINCING,
    ),
    SecretRule(
        "secret",
        rf"{_SPOKEN}[ \t]+\(?\\*`{_SUSPECT}",
        rf"([\w\-]*{_SPOKEN})[ \t]+\(?\\*`({CHARACTER}{{6,}})\\*`",
        MatchTest.ASSIGNED,
    ),
    SecretRule(
        "secret",
        rf"""{_WORD}[\\"'`)\]]*[ \t]*(?:\|\||\?\?|or)[ \t]*{QUOTE}{_SUSPECT}""",
        rf"""([\w.\-]*{_WORD})[\\"'`)\]]*[ \t]*(?:\|\||\?\?|or)[ \t]*{QUOTE}({CHARACTER}{{6,}}){QUOTE}""",
        MatchTest.ASSIGNED,
    ),
    SecretRule("secret", rf"{_SHOUTED}=[^\s]", rf"({_SHOUTED})=({CHARACTER}{{6,}})", MatchTest.ASSIGNED),
    SecretRule("secret", f"{_WORD}{_ASSIGN}{_SUSPECT}", rf"([\w.\-]*{_WORD}){_ASSIGN}{_ASSIGNED}", MatchTest.ASSIGNED),
    SecretRule(
        "secret",
        rf"(?i:key){_ASSIGN}{_QUOTES}[A-Za-z0-9+/_\-.=]{{16}}",
        rf"([\w.\-]*(?i:key)){_ASSIGN}{_QUOTES}([A-Za-z0-9+/_\-.=]{{16,}})",
        MatchTest.ASSIGNED,
    ),
    SecretRule(
        "secret",
        rf"(?i:auth){_QUOTES}{_IS}{_QUOTES}[A-Za-z0-9+/=]{{12}}",
        rf"(?i:\b_?auth){_QUOTES}{_IS}{_QUOTES}([A-Za-z0-9+/=]{{12,}})",
        MatchTest.CONVINCING,
    ),
)

ENCODED: Final = SecretRule(
    "base64", f"{_QUAD}{{5}}", rf"({_WRAPPED}{_QUAD}{{5,}}[A-Za-z0-9+/_\-]{{0,3}}={{0,2}})", MatchTest.BASE64
)
RULES: Final = (*TOKENS, *KEYS, *ADDRESSES, *HEADERS, *COMMANDS, *ASSIGNMENTS, ENCODED)

# What hides a secret from the patterns above: an escaped character, or a percent-encoded one, with line breaks.
HIDDEN: Final = r"\\u00[2-7][0-9A-Fa-f]|\\/|%(?:[2-7][0-9A-Fa-f]|0[9AaDd])"
HIDDEN_UNIT: Final = r"\\+u00[2-7][0-9A-Fa-f]|\\+/|%(?:25)*(?:[2-7][0-9A-Fa-f]|0[9AaDd])"
# What a terminal obeys and nobody sees: colours, titles, links, moves, in plain and in the spellings of programs. A
# colour is known without the character before it too, which many logs drop.
_COLOUR = r"\[[0-?]*[ -/]*[@-~]"
_TITLE = r"\][^\x07\x1b\n]*(?:\x07|\x1b\\|\\+(?:u0007|x07|a))"
ESCAPES: Final = (
    rf"[\x{{200b}}-\x{{200f}}\x{{2060}}\x{{feff}}\x{{ad}}]|\\\r?\n[ \t]*"  # nothing to see, a line that goes on
    rf"|[\x1b\x{{241b}}](?:{_COLOUR}|{_TITLE}|P[0-9;]*[$+]?[a-z|]?|[()#][0-9A-Za-z]|[=>78cDEHMNOZ])"
    rf"|\x{{9b}}[0-?]*[ -/]*[@-~]"
    rf"|(?:\\+u00[19][bB]|\\+[xX][19][bB]|\\+e|\\+0?33|\^\[)(?:{_COLOUR}|{_TITLE})|\[[0-9]{{1,3}}(?:;[0-9]{{1,3}})*m"
)
