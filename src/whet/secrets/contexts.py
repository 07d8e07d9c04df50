"""The table of secrets that only their place betrays: private keys, logins, headers, assignments, base64.

The table of passwords that stand on command lines and in SQL, each behind a flag or a word of its program.
"""

from typing import Final

from whet.secrets.vendor_keys import BREAK, QUOTE, START, TOKENS, MatchTest, SecretRule

OPEN: Final = f"(?:{QUOTE})?"
CHARACTER: Final = r"""[^\s"'`\\]"""
_REST = r"[^\n|;&]*?[ ]"
_WHERE = r"[^\n|;&]*[ ]"
_FLAG = (
    r"(?i:password|passwd|passphrase|pass|pwd|token|secret|api-?key|(?:access|private|secret|auth|account)-key"
    r"|credentials?)"
)


_SQL = (
    r"(?i:identified[ ]+(?:with[ ]+\S+[ ]+)?by|(?:with|encrypted|login|superuser|set)[ ]+password)[ ]+"
    rf"{QUOTE}"
)

_ASKING = r"(?i:passw|passphrase|stdin|secret|token|login|unlock|crypt|kinit|openconnect)"
_QUOTES = r"""[\\"'`]*"""
_IS = r"[ \t]*[:=][ \t]*"
_LONG = r"(?:[|>][+\-]?|\"{3}|'{3})"  # opens a text of several lines
_LINE = r"(?:\r?\n|\\+n)"

_PEM_HEAD = r"-----BEGIN[ +][A-Z0-9 +]{0,32}PRIVATE[ +]KEY"
_PEM_END = r"-----END[ +][A-Z0-9 +]{0,32}PRIVATE[ +]KEY"
# Between the lines of a key: its headers, line numbers, the marks of quotes and diffs.
_PEM_BODY = rf"(?:[A-Za-z0-9+/=→|>]|-[A-Za-z0-9+/]|[A-Z][A-Za-z\-]+: [^\n\\]+|<br ?/?>|{BREAK}){{24,}}"
_JWK_MEMBER = rf"{QUOTE}(?:d|p|q|dp|dq|qi|k|priv){QUOTE}[ \t]*:{BREAK}*{QUOTE}([A-Za-z0-9_\-]{{22,}}=?=?){QUOTE}"
_USER = r"""[^\s:/@"'`<>\\]*"""
_HOST = r"[A-Za-z0-9\[$%_]"
_DATABASE = r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|clickhouse|oracle)[+a-z0-9]*"
_SCHEME = r"[a-z][\w\-]{1,24}"
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
_TYPE = r""":[ \t]*&?(?:'\w+[ ])?[A-Za-z_][\w.]{0,30}(?:\[[\w., |]{0,30}\])?\??[ \t]*={1,3}"""  # token: str =
_ASSIGN = (
    rf"""[\\"'`\]* \t]*(?:\[\d*\][ \t]*)?(?:{_TYPE}|=>|<{{1,2}}-|[:?+|]*={{1,3}}|:)\*{{0,2}}[ \t]{{0,16}}"""
    r"""(?:(?:!!?[a-z][\w/]*|&[\w\-]+)[ \t]+)?"""  # a tag or an anchor of YAML
)
_LITERAL = r"(?:[bBrRuUfFnNeEL@]{1,2})?"  # what languages put before a quote: b"…", r'…', N'…', @"…"
_ASSIGNED = (
    rf"""(?:{_LITERAL}"((?:[^"\\\s]|\\[^\s])+)(?:"|$)"""
    rf"""|{_LITERAL}'((?:[^'\\\s]|\\[^\s])+)(?:'|$)"""
    r"""|`([^`\\\s]+)`"""
    r"""|\\+"((?:[^"\\\s]|\\{2,}[^"\\\snrt])+)(?:\\+"|$)"""
    r"""|\\+'([^'\\\s]+)\\+'"""
    r"""|([^\s"'`\\<>;,(){}\[\]|&]{6,})(?:[\s"'`\\;,|&<)}\]]|$))"""
)
_CELL = r"[ \t*`]*[|│][ \t*`]*"
_BRACKET = r"""(?:%?[qQ]{1,2}[(\[{<]|R\\*"\(|\[\[)"""
# The first characters of a value that is not only words or a number; the rest is judged in redaction_values.
_SUSPECT = (
    r"""(?:[bBrRuUfFnNeEL@]{1,2}["'])?[\\"'`]*(?:[A-Za-z_.\-/:,;){}|\]]+[^A-Za-z_.\-/:,;){}|\]\s"'`<>(\[]|[A-Za-z]{12}"""
    r"""|[0-9][0-9.:/\-]*[^0-9.:/\-\s"'`\\<>(){}\[\],;|&]|[!@#$%^&*+=~?][^\s]|[^\s -~])"""
)
# Four characters of base64 that decode to three of printable ASCII; five such in a row are hardly ever chance.
_QUAD = r"(?:[CDI-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_\-])"
_WRAPPED = rf"(?:{_QUAD}{{16,19}}(?:\r?\n|(?:\\+r)?\\+n))*"

# Vendors mark their keys with a short name before them. Nothing else that people write has a name and then so many
# letters and digits without any order; the ids of calls and answers have at most 29 of them.
_MARKED = (
    r"(?:[a-z][a-z0-9]{1,11}|[A-Z][A-Z0-9]{1,11})(?:[_.:~\-][A-Za-z0-9]{1,12}){0,3}"
    r"[_.:~|\-][A-Za-z0-9_\-]{30,200}={0,2}"
)
KEYS: Final = (
    SecretRule(
        "api-key",
        r"[A-Za-z0-9][_.:~|\-][A-Za-z0-9_\-]{30}",
        rf"{START}({_MARKED})(?:[^A-Za-z0-9_+/=@\-]|$)",
        MatchTest.GENERATED,
    ),
    SecretRule("private-key", _PEM_HEAD, rf"{_PEM_HEAD}(?:[ +]BLOCK)?-----{BREAK}*({_PEM_BODY})"),
    # The end of a key whose beginning is not in the text.
    SecretRule(
        "private-key",
        _PEM_END,
        rf"(?:^|[^\-\s\\]){BREAK}*?((?:[A-Za-z0-9+/]{{16,80}}={{0,2}}{BREAK}+)+){_PEM_END}",
    ),
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

# A password that a program made: where one stands says nothing, it is known by itself.
_TYPED = r"A-Za-z0-9!@#$%^*_+~?\-.&,;"
STRONG: Final = SecretRule(
    "password",
    r"[A-Za-z0-9_+~?\-.&,;][!@#$%^*?~]+[A-Za-z0-9_+~?\-.&,;]",
    rf"(?:^|[^{_TYPED}/\\]|\\[nrt])([A-Za-z0-9!?~^][{_TYPED}]*[!@#$%^*?~][{_TYPED}]+)(?:[^{_TYPED}/]|$)",
    MatchTest.STRONG,
)

ENCODED: Final = SecretRule(
    "base64", f"{_QUAD}{{5}}", rf"({_WRAPPED}{_QUAD}{{5,}}[A-Za-z0-9+/_\-]{{0,3}}={{0,2}})", MatchTest.BASE64
)

# What hides a secret from the patterns above: an escaped character, or a percent-encoded one, with line breaks.
HIDDEN: Final = r"\\u00[2-7][0-9A-Fa-f]|\\/|%(?:[2-7][0-9A-Fa-f]|0[9AaDd])"
HIDDEN_UNIT: Final = r"\\+u00[2-7][0-9A-Fa-f]|\\+/|%(?:25)*(?:[2-7][0-9A-Fa-f]|0[9AaDd])"
# Between the words of a list of arguments, as programs are given command lines: ["mysql", "-u", "root", "-psecret"].
ARGUMENTS: Final = rf"{QUOTE},[ ]?{QUOTE}-"
ARGUMENTS_UNIT: Final = rf"{QUOTE},[ ]?{QUOTE}"
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


def _password(gate: str, pattern: str, check: MatchTest = MatchTest.LOGIN) -> SecretRule:
    return SecretRule("password", gate, pattern, check)


def _secret(gate: str, pattern: str, check: MatchTest = MatchTest.ASSIGNED) -> SecretRule:
    return SecretRule("secret", gate, pattern, check)


def _behind(programs: str, flag: str, *, value: str = f"({CHARACTER}{{3,}})", gap: str = "[ ]+") -> SecretRule:
    """The password that some programs take behind a flag, after any other arguments."""
    return _password(
        rf"\b(?:{programs})[ ](?:{_WHERE})?{flag}", rf"\b(?:{programs})[ ](?:{_REST})?{flag}{gap}{OPEN}{value}"
    )


COMMANDS: Final = (
    _password(
        rf"--?[\w\-]*{_FLAG}[\w\-]*[\s=\\\"'`,]",
        rf"{START}--?((?:\w+-)*{_FLAG}(?:-[a-z]+)*)(?:=|[ \t]+|{QUOTE},[ \t]*){OPEN}({CHARACTER}{{6,}})",
        MatchTest.ASSIGNED,
    ),
    _password(
        r"[ ](?:-u|--user|--proxy-user)[^\n]",
        rf"\b(?:curl|wget|http|https|xh)\b[^\n|;]*?[ ](?:-u|--user|--proxy-user)[ =]?{OPEN}"
        rf"([^\s:\"'`\\]+):({CHARACTER}{{3,}})",
    ),
    _password(
        r"\b(?:mysql|mariadb)\w*[ ](?:[^\n|;&]*[ ])?-p",
        rf"\b(?:mysql|mariadb)(?:dump|admin|import|sh|check)?[ ](?:{_REST})?-p{OPEN}"
        rf"({CHARACTER}{{6,}})",
        MatchTest.VALUE,
    ),
    _password(r"pass:[^\s]", rf"[ ]-pass(?:in|out)?[ ]+{OPEN}pass:({CHARACTER}{{4,}})"),
    _password(
        r"sudo[ ]+(?:-\w+[ ]+)*-S",
        rf"echo[ ]+(?:-\w+[ ]+)?{OPEN}([^\s\"'`\\|]{{4,}}){OPEN}[ ]*\|[ ]*sudo[ ]+(?:-\w+[ ]+)*-S",
    ),
    # What a line types into a program that asks for a secret.
    _password(
        r"(?:echo|printf)[ ]",
        rf"(?:echo|printf)[ ]+(?:-\w+[ ]+)*{OPEN}([^\s\"'`\\|]{{6,}}){OPEN}[ ]*\|[^\n]{{0,200}}?{_ASKING}",
        MatchTest.VALUE,
    ),
    _password("<<<", rf"{_ASKING}[^\n|;]{{0,120}}<<<[ ]*{OPEN}({CHARACTER}{{6,}})", MatchTest.VALUE),
    _password(
        rf"(?i:auth)=\({QUOTE}", rf"(?i:auth)=\({QUOTE}([^\s\"'`\\]+){QUOTE},[ ]*{QUOTE}({CHARACTER}{{3,}}){QUOTE}\)"
    ),
    _password(
        rf"login{BREAK}+\S+?{BREAK}+password", rf"\blogin{BREAK}+(\S+?){BREAK}+password{BREAK}+({CHARACTER}{{3,}})"
    ),
    _behind(r"(?:un)?zip|sqlcmd|osql|bcp|ipmitool", "-P", gap="[ ]*"),
    _behind(r"7z[azr]?|(?:un)?rar", "-(?:p|hp)", gap=""),
    _behind(r"mongo(?:sh|dump|restore|import|export|stat|top)?|psexec|evil-winrm|crackmapexec|netexec|nxc|cqlsh", "-p"),
    _behind("sshpass", "-p", gap="[ ]*"),
    _behind("redis-cli", "(?:-a|--pass)"),
    _behind(r"(?:docker|podman|helm|az|oc|skopeo)\b[^\n|;&]*[ ]login", "-p"),
    _behind(r"gh\b[^\n|;&]*[ ]secret[ ]+set", "(?:-b|--body)", gap="[ =]+"),
    _behind(r"git\b[^\n|;&]*[ ]config", r"[\w.:/\-]*\.password"),
    _behind("keytool|jarsigner|apksigner", "-(?:src|dest)?(?:store|key)pass"),
    _behind(r"ldap[a-z]+", "-w"),
    _behind(r"snmp[a-z]+", "-[cAX]"),
    _behind("openssl", "-k"),
    _behind(r"[a-z]*freerdp\d?", "/p:", gap=""),
    _behind("lftp", "-u", gap="[ ]*", value=rf"([^\s,\"'`\\]+),({CHARACTER}{{3,}})"),
    # smbclient -U user%password
    _behind(
        r"smbclient|rpcclient|smbget|smbmap|winexe|wmic|net|samba-tool|pth-[a-z]+",
        "(?:-U|--user(?:name)?)",
        gap="[ =]?",
        value=rf"([^\s%\"'`]+)%({CHARACTER}{{3,}})",
    ),
    _behind("sqlplus|expdp|impdp|sqlldr", "", gap="", value=r"([\w$#]+)/([^\s\"'`\\@/]{3,})(?:[@\s\"'`\\]|$)"),
    _password(
        r"\b(?:mysqladmin|nmcli)[ ][^\n]*password[ ]",
        rf"\b(?:mysqladmin|nmcli)[ ](?:{_REST})?password[ ]+{OPEN}({CHARACTER}{{6,}})",
        MatchTest.VALUE,
    ),
    # htpasswd -b FILE USER PASSWORD; with -n there is no file
    _password(
        r"htpasswd[ ]",
        r"\bhtpasswd[ ]+(?:-\w+(?:[ ]+\d+)?[ ]+)*-[A-Za-z]*b[A-Za-z]*[ ]+(?:-\w+(?:[ ]+\d+)?[ ]+)*(?:[^\s|>]+[ ]+)?"
        rf"([^\s|>]+)[ ]+{OPEN}([^\s\"'`\\|<>&;]{{3,}})",
    ),
    _password(
        r"\bnet[ ]+use[ ]",
        r"\bnet[ ]+use[ ]+(?:[A-Za-z]:|\*)?[ ]*\\{2,}[^\s\"']+[ ]+(?:/\w+(?::\S+)?[ ]+)*"
        rf"{OPEN}([^\s\"'`\\/*]{CHARACTER}{{2,}})",
    ),
    _password(
        r"\bnet[ ]+user[ ]",
        rf"\bnet[ ]+user[ ]+{OPEN}([^\s/\"'`\\]+){OPEN}[ ]+{OPEN}([^\s/\"'`\\*]{CHARACTER}{{2,}})",
        MatchTest.VALUE,
    ),
    _password(
        r"chpasswd",
        rf"echo[ ]+(?:-\w+[ ]+)?{OPEN}([^\s:\"'`\\]+):([^\s\"'`\\|]{{3,}}){OPEN}[ ]*\|[ ]*"
        r"(?:sudo[ ]+(?:-\w+[ ]+)*)?chpasswd",
    ),
    _password(_SQL, rf"{_SQL}({CHARACTER}{{3,}}){QUOTE}"),
    _password(
        r"(?i:identified[ ]+by[ ]|password[ ]+\$)",
        r"(?i:identified[ ]+by[ ]+|password[ ]+\${2})([^\s\"'`;\\$]{6,})",
        MatchTest.VALUE,
    ),
    _password(
        r"ConvertTo-SecureString[ ]", rf"ConvertTo-SecureString[ ]+(?:-String[ ]+)?{QUOTE}({CHARACTER}{{3,}}){QUOTE}"
    ),
    _password(rf"\bpsk[ ]*=[ ]*{QUOTE}", rf"\bpsk[ ]*=[ ]*{QUOTE}({CHARACTER}{{6,}}){QUOTE}", MatchTest.VALUE),
    # What a script for expect types where a password is asked for.
    _password(
        rf"send[ ]+(?:--[ ]+)?{QUOTE}{CHARACTER}{{3}}",
        rf"assword[^\n]{{0,16}}?{BREAK}+send[ ]+(?:--[ ]+)?{QUOTE}({CHARACTER}{{3,}})\\+[rn]",
    ),
)


ADDRESSES: Final = (
    SecretRule(
        "sentry-dsn",
        r"://[0-9a-f]{32}[:@]",
        r"https?://([0-9a-f]{32}(?::[0-9a-f]{32})?)@[\w.\-]+(?::\d+)?/(?:[\w\-]+/)*\d+",
        MatchTest.MIXED,
    ),
    _password(
        r"://[^\s/:@]*:[^\s/@]+@", rf"""[A-Za-z][A-Za-z0-9+.\-]{{1,24}}://({_USER}):([^\s/"'`<>\\]{{2,256}})@{_HOST}"""
    ),
    _password(rf"{_DATABASE}://[^\s/:@]*:", rf"""{_DATABASE}://({_USER}):([^\s"'`<>\\@]{{2,256}})@{_HOST}"""),
    _password(r"jdbc:oracle:", r"jdbc:oracle:[a-z0-9]+:([\w$#]+)/([^\s\"'`<>\\]{2,256})@"),
    _password(r":pserver:", r":pserver:([^\s:@]+):([^\s\"'`<>\\]{2,256})@"),
    # A link that lets in whoever has it.
    SecretRule(
        "signature",
        r"/(?i:reset|confirm|verif|invit|activat|magic|unsubscribe)",
        r"/(?i:reset|confirm|verif|invit|activat|magic|unsubscribe)[\w\-]*/([A-Za-z0-9_\-]{32,})",
        MatchTest.GENERATED,
    ),
    # A line of .pgpass: host, port, database, user and password.
    _password(
        r":(?:5432|5433|6432|6543|\*):",
        r"(?m:^|\\n|[\"'`\s])[\w.*\-]+:(?:5432|5433|6432|6543|\*):[\w*$\-]+:([^:\s\"'`]+):((?:[^\s:\"'`\\]|\\[:\\]){4,})",
    ),
    SecretRule(
        "signature",
        rf"[?&](?:amp;)?{_QUERY}",
        rf"[?&](?:amp;)?{_QUERY}([A-Za-z0-9_.~+/%=\-:]{{8,}})",
        MatchTest.CONVINCING,
    ),
    SecretRule("signature", r"sig=[A-Za-z0-9%+/]{16}", r"\bsig=([A-Za-z0-9%+/]{40,}={0,2})", MatchTest.CONVINCING),
)


ASSIGNMENTS: Final = (
    _secret(rf"{_SETTERS}[\w.\-]*{_WORD}", rf"{_SETTERS}([\w.\-]+)[ ]+{OPEN}([^\s\"'`\\=]{{6,}})"),
    _secret(f"<{_TAG}>", rf"<({_TAG})>{BREAK}*(?:<[Vv]alue>|<!\[CDATA\[)?([^<>\s\]]{{6,}})(?:\]\]>)?<"),
    _secret(
        rf"{_WORD}{_QUOTES}{_IS}[\[({{]",
        rf"([\w.\-]*{_WORD}){_QUOTES}{_IS}[\[({{]{BREAK}*(?:{QUOTE}\w+{QUOTE}{_IS})?{QUOTE}({CHARACTER}{{6,}}){QUOTE}",
    ),
    _secret(rf"={QUOTE}{_TAG}{QUOTE}>", rf"={QUOTE}({_TAG}){QUOTE}>([^<>\s]{{6,}})<"),
    # In YAML and the like a value may have a name of its own, or begin on the next line.
    _secret(
        rf"{_WORD}{_QUOTES}{_IS}(?:&|{_LONG}?{_LINE})",
        rf"{_WORD}{_QUOTES}{_IS}(?:&[\w\-]+[ \t]+|{_LONG}?{_LINE}[ \t]*){_QUOTES}([^\s\"'`\\<>:]{{16,}})",
        MatchTest.CONVINCING,
    ),
    _secret(rf"{_ABROAD}[ \t]?[:：=]", rf"({_ABROAD})[ \t]?[:：=][ \t]*{OPEN}([^\s\"'`\\<>]{{6,}})", MatchTest.VALUE),
    _secret(rf"<key>{_TAG}</key>", rf"<key>({_TAG})</key>{BREAK}*<(?:string|data)>{BREAK}*([^<>\s]{{6,}}){BREAK}*</"),
    _secret(
        rf"{_WORD}{_QUOTES},?{BREAK}*{_QUOTES}(?i:value){_QUOTES}{_IS}",
        rf"(?i:name|key){_QUOTES}{_IS}{OPEN}([\w.\-]+){_QUOTES},?{BREAK}*{_QUOTES}(?i:value){_QUOTES}{_IS}{OPEN}"
        rf"({CHARACTER}{{6,}})",
    ),
    _secret(
        rf"{_WORD}{QUOTE}[ \t]*,[ \t]*{QUOTE}",
        rf"\([ \t]*{QUOTE}([\w.\-]+){QUOTE}[ \t]*,[ \t]*{QUOTE}({CHARACTER}{{6,}}){QUOTE}",
    ),
    _secret(
        rf"{_SPOKEN}{_VERB}\*{{0,2}}{_SUSPECT}", rf"([\w\-]*{_SPOKEN}){_VERB}(?:{QUOTE}|\*\*)?([^\s\"'`\\<>]{{6,}})"
    ),
    _secret(
        rf"{_SPOKEN}[ \t]+[\\\"'`(]*[A-Za-z0-9_\-+/=.]{{16}}",
        rf"{_SPOKEN}[ \t]+[\\\"'`(]*([A-Za-z0-9_\-+/=.]{{16,}})",
        MatchTest.CONVINCING,
    ),
    _secret(rf"{_SPOKEN}[ \t]+\(?\\*`{_SUSPECT}", rf"([\w\-]*{_SPOKEN})[ \t]+\(?\\*`({CHARACTER}{{6,}})\\*`"),
    _secret(
        rf"""{_WORD}[\\"'`)\]]*[ \t]*(?:\|\||\?\?|or)[ \t]*{QUOTE}{_SUSPECT}""",
        rf"""([\w.\-]*{_WORD})[\\"'`)\]]*[ \t]*(?:\|\||\?\?|or)[ \t]*{QUOTE}({CHARACTER}{{6,}}){QUOTE}""",
    ),
    # A row of a table: a name in one cell, its value in the next.
    _secret(
        rf"{_WORD}{_CELL}[^\s|]",
        rf"[|│][ \t*`]*((?:[\w.\-]+[ ])*[\w.\-]*{_WORD}){_CELL}([^\s|│`]{{8,}})[ \t*`]*[|│]",
        MatchTest.CELL,
    ),
    _secret(
        rf"(?i:set|with)_?{_WORD}\([ \t]*{QUOTE}",
        rf"((?i:set|with)_?[\w.\-]*{_WORD})\([ \t]*{QUOTE}({CHARACTER}{{6,}}){QUOTE}[ \t]*\)",
    ),
    _secret(rf"#define[ \t]+\w*{_WORD}", rf"#define[ \t]+(\w*{_WORD})[ \t]+{QUOTE}({CHARACTER}{{6,}}){QUOTE}"),
    # `password("…")`, and `… password …` or `… TOKEN --body …` on a command line.
    _secret(
        rf"{_WORD}\([ \t]*{QUOTE}",
        rf"([\w.\-]*{_WORD})\([ \t]*{QUOTE}({CHARACTER}{{6,}}){QUOTE}[ \t]*\)",
        MatchTest.CELL,
    ),
    _secret(
        rf"[ ][\w.\-]*{_WORD}[ ]",
        rf"[ ]([\w.\-]*{_WORD})(?:[ ]+[\w\-]+)?[ ]+{OPEN}([^\s\"'`\\|<>(){{}}\[\]]{{8,}})(?:[\s\"'`\\]|$)",
        MatchTest.TYPED,
    ),
    # What a language quotes with a letter and brackets: q(…), %q{…}, R"(…)", [[…]].
    _secret(rf"{_WORD}{_ASSIGN}{_BRACKET}", rf"([\w.\-]*{_WORD}){_ASSIGN}{_BRACKET}([^\s()\[\]{{}}<>]{{6,}})[)\]}}>]"),
    _secret(rf"{_SHOUTED}=[^\s]", rf"({_SHOUTED})=({CHARACTER}{{6,}})"),
    _secret(f"{_WORD}{_ASSIGN}{_SUSPECT}", rf"([\w.\-]*{_WORD}){_ASSIGN}{_ASSIGNED}"),
    _secret(
        rf"(?i:key){_ASSIGN}{_QUOTES}[A-Za-z0-9+/_\-.=]{{16}}",
        rf"([\w.\-]*(?i:key)){_ASSIGN}{_QUOTES}([A-Za-z0-9+/_\-.=]{{16,}})",
    ),
    _secret(
        rf"(?i:auth){_QUOTES}{_IS}{_QUOTES}[A-Za-z0-9+/=]{{12}}",
        rf"(?i:\b_?auth){_QUOTES}{_IS}{_QUOTES}([A-Za-z0-9+/=]{{12,}})",
        MatchTest.CONVINCING,
    ),
)

RULES: Final = (*TOKENS, *KEYS, *ADDRESSES, *HEADERS, *COMMANDS, *ASSIGNMENTS, STRONG, ENCODED)
