"""The table of passwords that stand on command lines and in SQL, each behind a flag or a word of its program."""

from typing import Final

from whet.secrets.vendor_keys import BREAK, QUOTE, START, MatchTest, SecretRule

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


def _behind(programs: str, flag: str, *, value: str = f"({CHARACTER}{{3,}})", gap: str = "[ ]+") -> SecretRule:
    """The password that some programs take behind a flag, after any other arguments."""
    return SecretRule(
        "password",
        rf"\b(?:{programs})[ ](?:{_WHERE})?{flag}",
        rf"\b(?:{programs})[ ](?:{_REST})?{flag}{gap}{OPEN}{value}",
        MatchTest.LOGIN,
    )


COMMANDS: Final = (
    SecretRule(
        "password",
        rf"--?[\w\-]*{_FLAG}[\w\-]*[\s=\\\"'`,]",
        rf"{START}--?((?:\w+-)*{_FLAG}(?:-[a-z]+)*)(?:=|[ \t]+|{QUOTE},[ \t]*){OPEN}({CHARACTER}{{6,}})",
        MatchTest.ASSIGNED,
    ),
    SecretRule(
        "password",
        r"[ ](?:-u|--user|--proxy-user)[^\n]",
        rf"\b(?:curl|wget|http|https|xh)\b[^\n|;]*?[ ](?:-u|--user|--proxy-user)[ =]?{OPEN}"
        rf"([^\s:\"'`\\]+):({CHARACTER}{{3,}})",
        MatchTest.LOGIN,
    ),
    SecretRule("password", r"sshpass[ ]", rf"sshpass[ ]+-p[ ]*{OPEN}({CHARACTER}{{3,}})", MatchTest.LOGIN),
    SecretRule(
        "password",
        r"\b(?:mysql|mariadb)\w*[ ](?:[^\n|;&]*[ ])?-p",
        rf"\b(?:mysql|mariadb)(?:dump|admin|import|sh|check)?[ ](?:{_REST})?-p{OPEN}"
        rf"({CHARACTER}{{6,}})",
        MatchTest.VALUE,
    ),
    SecretRule(
        "password",
        r"redis-cli[ ]",
        rf"\bredis-cli[ ](?:{_REST})?(?:-a|--pass)[ ]+{OPEN}({CHARACTER}{{4,}})",
        MatchTest.LOGIN,
    ),
    SecretRule(
        "password",
        r"\blogin\b[^\n|;&]*[ ]-p[ ]",
        rf"\b(?:docker|podman|helm|az|oc|skopeo)\b{_REST}login\b{_REST}-p[ ]+{OPEN}"
        rf"({CHARACTER}{{4,}})",
        MatchTest.LOGIN,
    ),
    SecretRule("password", r"pass:[^\s]", rf"[ ]-pass(?:in|out)?[ ]+{OPEN}pass:({CHARACTER}{{4,}})", MatchTest.LOGIN),
    SecretRule(
        "password",
        r"sudo[ ]+(?:-\w+[ ]+)*-S",
        rf"echo[ ]+(?:-\w+[ ]+)?{OPEN}([^\s\"'`\\|]{{4,}}){OPEN}[ ]*\|[ ]*sudo[ ]+(?:-\w+[ ]+)*-S",
        MatchTest.LOGIN,
    ),
    SecretRule(
        "password",
        rf"login{BREAK}+\S+?{BREAK}+password",
        rf"\blogin{BREAK}+(\S+?){BREAK}+password{BREAK}+({CHARACTER}{{3,}})",
        MatchTest.LOGIN,
    ),
    _behind(r"(?:un)?zip|sqlcmd|osql|bcp|ipmitool", "-P", gap="[ ]*"),
    _behind(r"7z[azr]?|(?:un)?rar", "-(?:p|hp)", gap=""),
    _behind(r"mongo(?:sh|dump|restore|import|export|stat|top)?|psexec|evil-winrm|crackmapexec|netexec|nxc|cqlsh", "-p"),
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
    SecretRule(
        "password",
        r"-(?:src|dest)?(?:store|key)pass[ ]",
        rf"[ ]-(?:src|dest)?(?:store|key)pass[ ]+{OPEN}({CHARACTER}{{3,}})",
        MatchTest.LOGIN,
    ),
    SecretRule(
        "password",
        r"\b(?:mysqladmin|nmcli)[ ][^\n]*password[ ]",
        rf"\b(?:mysqladmin|nmcli)[ ](?:{_REST})?password[ ]+{OPEN}({CHARACTER}{{6,}})",
        MatchTest.VALUE,
    ),
    # htpasswd -b FILE USER PASSWORD; with -n there is no file
    SecretRule(
        "password",
        r"htpasswd[ ]",
        r"\bhtpasswd[ ]+(?:-\w+(?:[ ]+\d+)?[ ]+)*-[A-Za-z]*b[A-Za-z]*[ ]+(?:-\w+(?:[ ]+\d+)?[ ]+)*(?:[^\s|>]+[ ]+)?"
        rf"([^\s|>]+)[ ]+{OPEN}([^\s\"'`\\|<>&;]{{3,}})",
        MatchTest.LOGIN,
    ),
    SecretRule(
        "password",
        r"\bnet[ ]+use[ ]",
        r"\bnet[ ]+use[ ]+(?:[A-Za-z]:|\*)?[ ]*\\{2,}[^\s\"']+[ ]+(?:/\w+(?::\S+)?[ ]+)*"
        rf"{OPEN}([^\s\"'`\\/*]{CHARACTER}{{2,}})",
        MatchTest.LOGIN,
    ),
    SecretRule(
        "password",
        r"\bnet[ ]+user[ ]",
        rf"\bnet[ ]+user[ ]+{OPEN}([^\s/\"'`\\]+){OPEN}[ ]+{OPEN}([^\s/\"'`\\*]{CHARACTER}{{2,}})",
        MatchTest.VALUE,
    ),
    SecretRule(
        "password",
        r"chpasswd",
        rf"echo[ ]+(?:-\w+[ ]+)?{OPEN}([^\s:\"'`\\]+):([^\s\"'`\\|]{{3,}}){OPEN}[ ]*\|[ ]*"
        r"(?:sudo[ ]+(?:-\w+[ ]+)*)?chpasswd",
        MatchTest.LOGIN,
    ),
    SecretRule("password", _SQL, rf"{_SQL}({CHARACTER}{{3,}}){QUOTE}", MatchTest.LOGIN),
    SecretRule(
        "password",
        r"ConvertTo-SecureString[ ]",
        rf"ConvertTo-SecureString[ ]+(?:-String[ ]+)?{QUOTE}({CHARACTER}{{3,}}){QUOTE}",
        MatchTest.LOGIN,
    ),
    SecretRule(
        "password", rf"\bpsk[ ]*=[ ]*{QUOTE}", rf"\bpsk[ ]*=[ ]*{QUOTE}({CHARACTER}{{6,}}){QUOTE}", MatchTest.VALUE
    ),
    # What a script for expect types where a password is asked for.
    SecretRule(
        "password",
        rf"send[ ]+(?:--[ ]+)?{QUOTE}{CHARACTER}{{3}}",
        rf"assword[^\n]{{0,16}}?{BREAK}+send[ ]+(?:--[ ]+)?{QUOTE}({CHARACTER}{{3,}})\\+[rn]",
        MatchTest.LOGIN,
    ),
)
